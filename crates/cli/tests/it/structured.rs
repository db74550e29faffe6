//! `--output-schema`: an answer as JSON that fits, or none.

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::MockServer;
use serde_json::json;

use crate::fifo::Fifo;
use crate::processes::wait_until_gone;
use crate::support::World;

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {"cents": {"type": "integer", "minimum": 1}, "of": {"type": "string"}},
  "required": ["cents"],
  "additionalProperties": false
}"#;

fn world() -> World {
    let world = World::new();
    // With the mark that some editors put before a text.
    world.write("work/sum.json", format!("\u{feff}{SCHEMA}"));
    world
}

/// What `exec` with the schema comes to: its code, its stdout, and what the user is told last.
fn check(script: &str, code: i32, stdout: Expect, told: Expect) {
    let world = world();
    let arguments = ["--output-schema", "sum.json", "the sum?"];
    let output = world.exec(script, &arguments).run().exits(code);
    stdout.assert_eq(&output.stdout);
    let last: Vec<&str> = output.stderr.lines().skip_while(|l| !l.contains("tokens in")).collect();
    told.assert_eq(&world.plain(&last[1..].join("\n")));
    let json = world.exec(script, &[&["--json"], &arguments[..]].concat()).run().exits(code);
    let terminal = json.terminal();
    let given = terminal.get("structured_output").map(|it| format!("{it}\n")).unwrap_or_default();
    assert_eq!(given, output.stdout);
    // What is stored of both plays again.
    for id in world.ids() {
        world.heeler(&["replay", &id]).run().exits(0);
    }
}

#[test]
fn an_answer_that_does_not_fit_goes_back_and_the_one_that_does_is_alone_on_stdout() {
    let script = r#"
        [[reply]]
        blocks = [{ text = "Let me see." }, { call = "submit", input = { cents = 0 } }]
        [[reply]]
        expect = { tool_result_contains = "less than the minimum", tool_result_is_error = true }
        text = "It is 12.50."
        [[reply]]
        expect = { last_user_contains = "calling `submit`" }
        blocks = [{ call = "submit", input = { of = "a  \"b\"", cents = 1250 } }]
    "#;
    check(
        script,
        0,
        expect![[r#"
            {"of":"a  \"b\"","cents":1250}
        "#]],
        expect![""],
    );
}

#[test]
fn a_text_that_fits_is_taken_and_a_harmless_mistake_put_right() {
    check(
        "[[reply]]\ntext = '''\n{\n  \"cents\": 7\n}\n'''",
        0,
        expect![[r#"
            {"cents":7}
        "#]],
        expect![""],
    );
    check(
        "[[reply]]\nblocks = [{ call = \"submit\", input = { cents = \"7\" } }]",
        0,
        expect![[r#"
            {"cents":7}
        "#]],
        expect![""],
    );
}

#[test]
fn after_five_wrong_answers_there_is_none() {
    let wrong: String = (1..=5)
        .map(|n| format!("[[reply]]\nblocks = [{{ call = \"submit\", input = {{ x = {n} }} }}]\n"))
        .collect();
    let script = format!("{wrong}[[reply]]\ntext = \"never\"\nstall = {{ events = 1 }}");
    check(
        &script,
        6,
        expect![""],
        expect![[r#"
            heeler: the model gave no answer that fits sum.json in 5 attempts: invalid input for submit: the input: Additional properties are not allowed ('x' was unexpected); the input: "cents" is a required property. Nothing was run; call it again with a corrected input
            heeler: go on with `heeler exec --resume ID PROMPT`"#]],
    );
    // One that insists on the same answer is ended by the limit on repeated calls.
    check(
        "[script]\nloop = true\n[[reply]]\nblocks = [{ call = \"submit\", input = { cents = 0 } }]",
        6,
        expect![""],
        expect![[r#"
            heeler: the model gave no answer that fits sum.json in 5 attempts: invalid input for submit: `/cents`: 0 is less than the minimum of 1. Nothing was run; call it again with a corrected input
            heeler: go on with `heeler exec --resume ID PROMPT`"#]],
    );
    check(
        "[script]\nloop = true\n[[reply]]\ntext = \"I will not.\"",
        6,
        expect![""],
        expect![[r#"
        heeler: the model gave no answer that fits sum.json: not valid JSON: expected value at line 1 column 1
        heeler: go on with `heeler exec --resume ID PROMPT`"#]],
    );
    // An end of another kind keeps its own code.
    check(
        "[[reply]]\ntext = \"I cannot\\nhelp.\"\nstop = \"refusal\"",
        1,
        expect![""],
        expect![[r#"
            heeler: the model refused to go on: I cannot help.
            heeler: what was refused stays in this session, and may be refused again: begin a new session"#]],
    );
}

/// A lower limit on repeated calls ends it sooner, and one that other calls reach is a limit.
#[test]
fn a_limit_on_repeated_calls_counts_as_what_was_repeated() {
    let world = world();
    let looped = "[script]\nloop = true\n[[reply]]\n";
    let wrong = "{ call = \"submit\", input = { cents = 0 } }";
    let other = "{ call = \"Read\", input = { file_path = \"absent\" } }";
    for (repeats, calls, code, told) in [
        (2, wrong, 6, "in 2 attempts: "),
        (3, wrong, 6, "in 3 attempts: "),
        (3, other, 4, "the limit of repeated failing calls is reached"),
    ] {
        world.write("home/settings.toml", format!("[limits]\nrepeats = {repeats}\n"));
        let arguments = ["--output-schema", "sum.json", "the sum?"];
        let script = format!("{looped}blocks = [{calls}]");
        let output = world.exec(&script, &arguments).run().exits(code);
        assert!(output.stderr.contains(told), "{}", output.stderr);
    }
}

/// The limit is that of the call that was repeated, whatever else failed beside it.
#[test]
fn beside_a_repeated_call_another_may_fail() {
    let world = world();
    world.write("home/settings.toml", "[limits]\nrepeats = 3\n");
    let wrong = "{ call = \"submit\", input = { cents = 0 } }";
    let other = "{ call = \"Read\", input = { file_path = \"absent\" } }";
    for (calls, besides, code) in [(wrong, other, 6), (other, wrong, 4)] {
        let rounds = [calls.to_owned(), calls.to_owned(), format!("{calls}, {besides}")];
        let replies = rounds.map(|calls| format!("[[reply]]\nblocks = [{calls}]\n"));
        let script = format!("{}[[reply]]\ntext = \"never\"", replies.concat());
        let output = world.exec(&script, &["--output-schema", "sum.json", "the sum?"]).run();
        output.exits(code);
    }
}

/// What a hook refuses at the end is put right by the answer after it.
#[test]
fn the_newest_answer_of_a_turn_counts() {
    let world = world();
    let command = "[ -e refused ] && exit 0; echo > refused; echo 'it is 2' >&2; exit 2";
    let hook = format!(r#"{{"hooks":[{{"type":"command","command":"{command}"}}]}}"#);
    let settings = format!(r#"{{"hooks":{{"Stop":[{hook}]}}}}"#);
    let settings = world.write("settings.json", settings).display().to_string();
    let arguments = ["--settings", &settings, "--output-schema", "sum.json", "the sum?"];
    let first = r#"
        [[reply]]
        blocks = [
          { call = "submit", input = { cents = 1 } },
          { call = "submit", input = { cents = 9 } },
        ]
    "#;
    for (second, expected) in [
        (r#"blocks = [{ call = "submit", input = { cents = 2 } }]"#, "{\"cents\":2}\n"),
        (r#"text = "It stays as it is.""#, "{\"cents\":1}\n"),
    ] {
        let script = format!(
            "{first}\n[[reply]]\nexpect = {{ last_user_contains = \"it is 2\" }}\n{second}\n"
        );
        let output = world.exec(&script, &arguments).run().exits(0);
        assert_eq!(output.stdout, expected);
        std::fs::remove_file(world.path("work/refused")).unwrap();
    }
}

/// An answer is its own turn's.
#[test]
fn an_answer_of_a_turn_that_a_limit_ended_is_none_of_the_next() {
    let world = world();
    let script = r#"
        [[reply]]
        blocks = [
          { call = "submit", input = { cents = 1 } },
          { call = "Bash", input = { command = "true" } },
        ]
        [[reply]]
        text = "just text"
        [[reply]]
        expect = { last_user_contains = "calling `submit`" }
        blocks = [{ call = "submit", input = { cents = 2 } }]
    "#;
    let settings = world.write("settings.json", r#"{"limits":{"calls":1}}"#).display().to_string();
    let arguments = ["--stream-input", "--settings", &settings, "--output-schema", "sum.json"];
    let stdin = "{\"type\":\"input\",\"text\":\"a\"}\n{\"type\":\"input\",\"text\":\"b\"}\n";
    let output = world.exec(script, &arguments).stdin(stdin).run();
    let ends = output.of_type("turn_finished");
    let given: Vec<_> = ends.iter().map(|end| end["structured_output"]["cents"].clone()).collect();
    assert_eq!(given, [json!(1), json!(2)], "{}", output.stdout);
}

#[test]
fn a_file_that_is_no_schema_is_named_with_the_place() {
    let world = world();
    let check = |name: &str, text: Option<&str>, told: Expect| {
        if let Some(text) = text {
            world.write(&format!("work/{name}"), text);
        }
        let arguments = ["--output-schema", name, "the sum?"];
        let output = world.exec("[[reply]]\ntext = \"hi\"", &arguments).run().exits(2);
        told.assert_eq(&world.plain(&output.stderr));
    };
    check(
        "absent.json",
        None,
        expect![[r#"
        heeler: cannot use --output-schema absent.json: No such file or directory (os error 2)
    "#]],
    );
    check(
        ".",
        None,
        expect![[r#"
        heeler: cannot use --output-schema .: it is a folder
    "#]],
    );
    check(
        "text.json",
        Some("{\n  \"type\" \"object\"\n}"),
        expect![[r#"
        heeler: cannot use --output-schema text.json: the schema is no JSON: not valid JSON: expected `:` at line 2 column 10
    "#]],
    );
    check(
        "list.json",
        Some(r#"{"type": "array"}"#),
        expect![[r#"
        heeler: cannot use --output-schema list.json: the schema's top type is "array", and a tool's input is an object; wrap it in one
    "#]],
    );
    check(
        "wrong.json",
        Some(r#"{"type": "object", "properties": {"a": {"type": "text"}}}"#),
        expect![[r#"
            heeler: cannot use --output-schema wrong.json: the schema is no JSON Schema: at `/properties/a/type`: "text" is no type of a JSON value
        "#]],
    );
    check(
        "long.json",
        Some(&format!("{{\"type\":\"object\"{}}}", " ".repeat(300_000))),
        expect![[r#"
            heeler: cannot use --output-schema long.json: it is longer than 262144 bytes; every request carries it
        "#]],
    );
    assert!(world.journals().is_empty());
}

#[test]
fn an_answer_that_was_accepted_before_a_kill_is_not_asked_for_again() {
    let world = world();
    let mut ends = Fifo::new(&world.path("work/ends"));
    let _gate = Fifo::new(&world.path("work/gate"));
    let hook = json!({ "type": "command", "command": "echo > ends; read l < gate" });
    let settings = json!({ "hooks": { "Stop": [{ "matcher": "", "hooks": [hook] }] } });
    std::fs::create_dir(world.path(".claude")).unwrap();
    let settings = world.write(".claude/settings.json", settings.to_string());
    let script = "[[reply]]\nblocks = [{ call = \"submit\", input = { cents = 3 } }]";
    let server = MockServer::start(Script::parse(script).unwrap());
    let arguments = ["--output-schema", "sum.json"];
    let running = world.exec_at(&server, &[&arguments[..], &["the sum?"]].concat()).start();
    ends.wait();
    assert_eq!(running.kill().code, 137);
    wait_until_gone(&world);
    std::fs::remove_file(settings).unwrap();

    let resumed = world.exec_at(&server, &[&arguments[..], &["--continue"]].concat());
    assert_eq!(resumed.run().exits(0).stdout, "{\"cents\":3}\n");
    assert_eq!((server.requests().len(), server.violations()), (1, vec![]));
}
