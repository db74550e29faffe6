//! What a finished `exec` gives: the answer, the events, the terminal event in a file.

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::{Chunking, MockServer};
use serde_json::Value;

use crate::fifo::Fifo;
use crate::support::{MODEL, Output, World};

/// One round of two calls, then the answer.
const TWO_ROUNDS: &str = r#"
[script]
usage = { input = 100, output = 7, cache_read = 30 }
[[reply]]
blocks = [
  { text = "I will look." },
  { call = "LS", input = { path = "." } },
  { call = "Read", input = { file_path = "absent.txt" } },
]
[[reply]]
expect = { tool_result_contains = ["notes.txt", "absent.txt"], tool_result_is_error = [false, true] }
text = "There are notes."
"#;

fn check(world: &World, output: &Output, stdout: Expect, stderr: Expect) {
    stdout.assert_eq(&world.plain(&output.stdout));
    stderr.assert_eq(&world.plain(&output.stderr));
}

#[test]
fn the_answer_alone_is_on_stdout_and_progress_on_stderr() {
    let world = World::new();
    world.write("work/notes.txt", "hello\n");
    let output = world.exec(TWO_ROUNDS, &["what is here?"]).run().exits(0);
    check(
        &world,
        &output,
        expect![[r#"
        There are notes.
    "#]],
        expect![[r#"
            heeler: session ID with script:WORLD/script.toml
            I will look.
              > LS: .
              > Read: absent.txt
              ! Read: absent.txt does not exist; use Glob or LS to find it
            heeler: 260 tokens in (60 cached), 14 out, cost not known
        "#]],
    );
}

#[test]
fn quiet_says_what_went_wrong_and_verbose_says_all() {
    let world = World::new();
    world.write("work/notes.txt", "hello\n");
    let quiet = world.exec(TWO_ROUNDS, &["-q", "what is here?"]).run().exits(0);
    check(
        &world,
        &quiet,
        expect![[r#"
        There are notes.
    "#]],
        expect![""],
    );
    let failed = "[[reply]]\nerror = { status = 401, type = \"auth\", message = \"no such key\" }";
    let quiet = world.exec(failed, &["--quiet", "what is here?"]).run().exits(5);
    check(
        &world,
        &quiet,
        expect![""],
        expect![[r#"
        heeler: no such key
        heeler: go on with `heeler exec --resume ID PROMPT`
    "#]],
    );
    let thinks = r#"
        [script]
        usage = { input = 100, output = 7, cache_read = 30 }
        [[reply]]
        blocks = [
          { thinking = "What is\u001b[2J there?", signature = "s" },
          { call = "LS", input = { path = "." } },
        ]
        [[reply]]
        text = "There are notes."
    "#;
    let verbose = world.exec(thinks, &["--verbose", "what is here?"]).run().exits(0);
    let times = regex::Regex::new(r"\(\d+\.\d s\)").unwrap();
    let verbose = Output { stderr: times.replace_all(&verbose.stderr, "(T s)").into(), ..verbose };
    check(
        &world,
        &verbose,
        expect![[r#"
        There are notes.
    "#]],
        expect![[r#"
            heeler: session ID with script:WORLD/script.toml
              . model call 1
              . 130 tokens in (30 cached), 7 out
              ? What is␛[2J there?
              > LS: .
              < LS: . (1 entry) 6B notes.txt (T s)
              . model call 2
              . 130 tokens in (30 cached), 7 out
            heeler: 260 tokens in (60 cached), 14 out, cost not known
        "#]],
    );
    world.exec(TWO_ROUNDS, &["-q", "-v", "what is here?"]).run().exits(2);
}

#[test]
fn a_name_that_no_tool_can_have_is_cut() {
    let world = World::new();
    let name = "n".repeat(5000);
    let script = format!(
        "[[reply]]\nblocks = [{{ call = \"{name}\", input = {{}} }}]\n[[reply]]\ntext = \"hi\""
    );
    let output = world.exec(&script, &["hello"]).run().exits(0);
    check(
        &world,
        &output,
        expect![[r#"
        hi
    "#]],
        expect![[r#"
        heeler: session ID with script:WORLD/script.toml
          ! nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…: there is no tool called `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…
        heeler: 5293 tokens in (0 cached), 2 out, cost not known
    "#]],
    );
}

#[test]
fn over_http_it_is_the_same_and_the_key_is_sent() {
    let world = World::new();
    world.write("work/notes.txt", "hello\n");
    let script = heeler_script::Script::parse(TWO_ROUNDS).unwrap();
    let server = MockServer::builder(script).chunking(Chunking::Bytes(3)).start();
    let output = world.exec_at(&server, &["what is here?"]).run().exits(0);
    assert_eq!(server.violations(), [""; 0]);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(server.requests()[0].header("x-api-key"), Some("test-key"));
    check(
        &world,
        &output,
        expect![[r#"
        There are notes.
    "#]],
        expect![[r#"
            heeler: session ID with anthropic/claude-sonnet-5-5
            I will look.
              > LS: .
              > Read: absent.txt
              ! Read: absent.txt does not exist; use Glob or LS to find it
            heeler: 260 tokens in (60 cached), 14 out, $0.0005
        "#]],
    );
}

#[test]
fn json_is_one_versioned_event_a_line_and_ends_with_the_terminal_event() {
    let world = World::new();
    world.write("work/notes.txt", "hello\n");
    let output = world.exec(TWO_ROUNDS, &["--json", "what is here?"]).run().exits(0);
    assert!(output.stdout.ends_with('\n'));
    let events = output.events();
    assert!(events.iter().all(|event| event["v"] == 1), "{}", output.stdout);
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    expect!["session_started turn_started message epoch_started attempt_started text_delta tool_input_delta tool_input_delta usage message call_started call_started call_finished call_finished message attempt_started text_delta usage message turn_finished"].assert_eq(&kinds.join(" "));
    let seqs: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert!(seqs.is_sorted(), "{seqs:?}");
    expect![[r#"{"v":1,"type":"turn_finished","session":"ID","turn":1,"outcome":"done","exit_code":0,"answer":"There are notes.","usage":{"input":200,"output":14,"cache_write":0,"cache_read":60,"reasoning":0},"cost_usd":0.0,"cost_is_partial":true,"cache_hit_percent":23}"#]].assert_eq(&world.plain(&output.terminal().to_string()));
    // What is journalled was seen, and the other way round.
    assert_eq!(world.journal_lines().len() as u64, 2 + seqs.last().unwrap());
}

#[test]
fn the_terminal_event_is_written_to_a_file_whole() {
    let world = World::new();
    world.write("work/notes.txt", "hello\n");
    let file = world.write("work/result.json", "older and much longer ".repeat(1000));
    let arguments = ["--json", "--result-json", "result.json", "what is here?"];
    let output = world.exec(TWO_ROUNDS, &arguments).run().exits(0);
    let last = output.stdout.lines().last().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{last}\n"));
    let names = std::fs::read_dir(world.workspace()).unwrap().map(|e| e.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["notes.txt", "result.json"]);
}

#[test]
fn a_pipe_gets_the_terminal_event_and_holds_nobody_up_who_reads_none() {
    let world = World::new();
    let mut pipe = Fifo::new(&world.path("work/pipe"));
    let exec = || world.exec("[[reply]]\ntext = \"hi\"", &["--result-json", "pipe", "hello"]).run();
    exec().exits(0);
    pipe.wait();
    drop(pipe);
    let output = exec().exits(1);
    check(
        &world,
        &output,
        expect![[r#"
        hi
    "#]],
        expect![[r#"
        heeler: session ID with script:WORLD/script.toml
        heeler: cannot write pipe: nobody reads it
        heeler: 1980 tokens in (0 cached), 1 out, cost not known
    "#]],
    );
}

#[test]
fn the_terminal_event_is_written_whatever_goes_wrong() {
    let world = World::new();
    let arguments = ["exec", "--model", "gpt-0", "--result-json", "result.json", "hello"];
    world.heeler(&arguments).run().exits(2);
    let result: Value = serde_json::from_str(&world.worked("result.json")).unwrap();
    expect![[r#"{"v":1,"type":"turn_finished","session":null,"turn":0,"outcome":{"failed":{"message":"there is no model `gpt-0`; use PROVIDER/NAME, such as anthropic/claude-sonnet-5-5, or script:PATH, and see `heeler models` for what there is"}},"exit_code":2,"answer":"","usage":{"input":0,"output":0,"cache_write":0,"cache_read":0,"reasoning":0},"cost_usd":0.0}"#]].assert_eq(&world.plain(&result.to_string()));
    let printed = world.heeler(&["exec", "--json", "--model", "gpt-0", "hello"]).run().exits(2);
    assert_eq!((printed.events().len(), printed.terminal()), (1, result));
    // Into a folder that is not there it cannot go; that is told.
    let arguments = ["--result-json", "absent/result.json", "hello"];
    let output = world.exec("[[reply]]\ntext = \"hi\"", &arguments).run().exits(2);
    check(
        &world,
        &output,
        expect![""],
        expect![[r#"
            heeler: cannot write absent/result.json: there is no folder absent; make it first
        "#]],
    );
    // A dash is stdout elsewhere, and no file that anybody looks for.
    let arguments = ["--result-json", "-", "hello"];
    let output = world.exec("[[reply]]\ntext = \"hi\"", &arguments).run().exits(2);
    check(
        &world,
        &output,
        expect![""],
        expect![[r#"
        heeler: --result-json takes a file; --json prints the event to stdout (./- is a file)
    "#]],
    );
}

#[test]
fn a_model_whose_prices_nobody_knows_is_not_told_as_free() {
    let world = World::new();
    let ask = |model: &str, flags: &[&str]| {
        let server = MockServer::start(Script::parse("[[reply]]\ntext = \"hi\"").unwrap());
        let arguments = [&["exec", "--model", model], flags, &["hello"]].concat();
        world.heeler(&arguments).at(&server).run().exits(0)
    };
    let unpriced = "anthropic/claude-foo";
    let told = ask(unpriced, &[]).stderr;
    assert!(told.trim_end().ends_with(" out, cost not known"), "{told}");
    let end = ask(unpriced, &["--json"]).terminal();
    assert_eq!((&end["cost_usd"], &end["cost_is_partial"]), (&0.0.into(), &true.into()));
    // Where they are known, nothing is said of that.
    let end = ask(MODEL, &["--json"]).terminal();
    assert!(end["cost_usd"].as_f64().unwrap() > 0.0 && end["cost_is_partial"].is_null());
}
