//! `--stream-input`: a program talks to the session through pipes while it works.

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::MockServer;
use rustix::process::{Resource, Rlimit, Signal, prlimit};
use serde_json::{Value, json};

use crate::fifo::Fifo;
use crate::hooks::set;
use crate::running::Running;
use crate::support::{MODEL, Output, World};

const STREAM: &str = "--stream-input";
/// A model that answers whatever it is asked.
const ANY: &str = "[script]\nloop = true\n[[reply]]\ntext = \"heard\"\n";

fn input(text: &str) -> Value {
    json!({"type": "input", "text": text})
}

/// The ends of turns and what was refused, one a line, and the last line.
fn ends(world: &World, output: &Output) -> String {
    let told = output.events().into_iter().filter_map(|event| {
        Some(match event["type"].as_str().unwrap() {
            "turn_finished" => format!(
                "{} {} {}: {}\n",
                event["turn"], event["outcome"], event["exit_code"], event["answer"]
            ),
            "input_error" => format!("line {}: {}\n", event["line"], event["message"]),
            "session_finished" => format!("end {}\n", event["exit_code"]),
            _ => return None,
        })
    });
    let told: String = told.collect();
    assert_eq!(output.events().last().unwrap()["type"], "session_finished");
    world.plain(&told)
}

fn check(script: &str, arguments: &[&str], stdin: &str, code: i32, expected: Expect) {
    let world = World::new();
    let arguments = [&[STREAM], arguments].concat();
    let output = world.exec(script, &arguments).stdin(stdin).run().exits(code);
    expected.assert_eq(&ends(&world, &output));
}

/// Begins a session that is talked to.
fn start(world: &World, script: &str, arguments: &[&str]) -> Running {
    world.exec(script, &[&[STREAM], arguments].concat()).open_stdin().start()
}

#[test]
fn inputs_are_turns_one_after_the_other_and_the_end_of_stdin_ends_it() {
    let script = r#"
        [[reply]]
        expect = { last_user_contains = "zero" }
        text = "0"
        [[reply]]
        expect = { last_user_contains = "one" }
        text = "1"
        [[reply]]
        expect = { last_user_contains = "two" }
        text = "2"
    "#;
    let stdin = format!("{}\n\n{}", input("one"), input("two"));
    check(
        script,
        &["zero"],
        &stdin,
        0,
        expect![[r#"
        1 "done" 0: "0"
        2 "done" 0: "1"
        3 "done" 0: "2"
        end 0
    "#]],
    );
    check(
        ANY,
        &[],
        "",
        0,
        expect![[r#"
        end 0
    "#]],
    );
}

#[test]
fn a_broken_line_is_named_and_the_session_goes_on() {
    let long = "x".repeat(11 * 1024 * 1024);
    let stdin = format!(
        "{{\n[]\n{long}\n{}\n{}\n{}\n",
        json!({"type": "take_back", "id": "a"}),
        json!({"type": "decide", "id": {"call": "1.1.0"}, "decision": "once"}),
        input("hello")
    );
    check(
        ANY,
        &[],
        &stdin,
        0,
        expect![[r#"
        line 1: "not valid JSON: EOF while parsing an object at line 1 column 1"
        line 2: "missing field `type` at line 1 column 2; a line is {\"type\":\"input\",\"text\":...}, or a steer, take_back, decide or cancel: see `heeler schema input`"
        line 3: "it is longer than 10485760 bytes"
        line 4: "there is no `a` that waits: the model has read it, or it never was"
        line 5: "there is no open request 1.1.0: somebody decided it already, or its call ended"
        1 "done" 0: "heard"
        end 0
    "#]],
    );
}

#[test]
fn a_prompt_of_stdin_is_refused_and_an_unusable_model_told() {
    check(
        ANY,
        &["-"],
        "",
        2,
        expect![[r#"
        end 2
    "#]],
    );
    let world = World::new();
    let output = world.heeler(&["exec", "--model", "gpt-0", STREAM]).stdin("").run().exits(2);
    expect![[r#"
        end 2
    "#]]
    .assert_eq(&ends(&world, &output));
}

#[test]
fn a_word_reaches_the_running_turn_unless_it_is_taken_back() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "echo > began; read l < gate" } }]
        [[reply]]
        expect = { last_user_contains = "to the left" }
        text = "left"
    "#;
    let mut began = Fifo::new(&world.path("work/began"));
    let mut gate = Fifo::new(&world.path("work/gate"));
    let mut running = start(&world, script, &["--allow", "Bash", "go"]);
    began.wait();
    running.say(json!({"type": "steer", "id": "a", "text": "to the left"}));
    running.say(json!({"type": "steer", "text": "to the right"}));
    for id in ["a", "line-2"] {
        assert_eq!(running.wait_for("steering_queued")["id"], id);
    }
    running.say(json!({"type": "take_back", "id": "line-2"}));
    assert_eq!(running.wait_for("steering_taken_back")["id"], "line-2");
    running.say(json!({"type": "take_back", "id": "line-2"}));
    assert_eq!(running.wait_for("input_error")["line"], 4);
    gate.open();
    assert_eq!(running.wait_for("steering_delivered")["id"], "a");
    assert_eq!(running.wait_for("turn_finished")["answer"], "left");
    running.close_stdin();
    let output = running.finish().exits(0);
    assert!(!world.journal_lines().concat().contains("to the right\",\"cache"));
    expect![[r#"
        line 4: "there is no `line-2` that waits: the model has read it, or it never was"
        1 "done" 0: "left"
        end 0
    "#]]
    .assert_eq(&ends(&world, &output));
}

#[test]
fn words_of_a_session_that_is_gone_on_with_are_new_words() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "echo > began; read l < gate" } }]
        [[reply]]
        expect = { last_user_contains = "to the left" }
        text = "left"
    "#;
    let mut began = Fifo::new(&world.path("work/began"));
    let mut gate = Fifo::new(&world.path("work/gate"));
    for (arguments, id) in [(&[][..], "line-1"), (&["--continue"], "line-1-2")] {
        let arguments = [arguments, &["--allow", "Bash", "go"]].concat();
        let mut running = start(&world, script, &arguments);
        began.wait();
        running.say(json!({"type": "steer", "text": "to the left"}));
        assert_eq!(running.wait_for("steering_queued")["id"], id);
        gate.open();
        assert_eq!(running.wait_for("steering_delivered")["id"], id);
        running.close_stdin();
        running.finish().exits(0);
    }
}

#[test]
fn notes_that_change_between_inputs_are_told_with_the_next_one() {
    let world = World::new();
    let script = r#"script.epoch = "may change"
        reply = [{ expect = { system_contains = "Use make." }, text = "1" },
            { expect = { system_contains = ["Use just.", "Tabs."] }, text = "2" }]"#;
    world.write("work/AGENTS.md", "Use make.");
    let mut running = start(&world, script, &["one"]);
    running.wait_for("turn_finished");
    world.write("work/AGENTS.md", "Use just. @gone.md");
    world.write("work/CLAUDE.md", "Tabs.");
    running.say(input("two"));
    assert_eq!(running.wait_for("turn_finished")["answer"], "2");
    running.wait_for_stderr("a new epoch begins: AGENTS.md changed, CLAUDE.md is new");
    running.wait_for_stderr("notes: gone.md, which AGENTS.md:1 imports, is not there");
    running.kill();
}

#[test]
fn a_name_that_was_used_before_is_told_of() {
    let world = World::new();
    let script = "[[reply]]\ntext = \"heard\"\n";
    for said in [true, false] {
        let mut running = start(&world, script, if said { &[][..] } else { &["--continue"] });
        running.say(json!({"type": "steer", "id": "a", "text": "go"}));
        if said {
            running.wait_for("turn_finished");
        } else {
            let error = running.wait_for("input_error");
            assert_eq!(
                error["message"],
                "something was said by the id `a` before in this session; use another one"
            );
        }
        running.close_stdin();
        running.finish().exits(0);
    }
}

/// Calls a command that has to be asked about, then says how it went.
const ASKS: &str = r#"
    [[reply]]
    blocks = [{ call = "Bash", input = { command = "touch made" } }]
    [[reply]]
    text = "it went"
"#;

/// What becomes of the command after this answer.
fn check_answer(answer: &Value, made: bool, expected: Expect) {
    let world = World::new();
    let mut running = start(&world, ASKS, &["--permission-mode", "ask", "--no-sandbox", "go"]);
    let id = running.wait_for("permission_requested")["id"].clone();
    running.say(json!({"type": "decide", "id": id, "decision": answer}));
    running.wait_for("turn_finished");
    running.close_stdin();
    let output = running.finish();
    assert_eq!(world.workspace().join("made").exists(), made);
    assert_eq!(world.workspace().join("other").exists(), answer.get("edited").is_some());
    expected.assert_eq(&ends(&world, &output));
}

#[test]
fn requests_for_permission_are_answered() {
    check_answer(
        &json!("once"),
        true,
        expect![[r#"
        1 "done" 0: "it went"
        end 0
    "#]],
    );
    check_answer(
        &json!({"session": {"rule": "Bash(touch:*)"}}),
        true,
        expect![[r#"
        1 "done" 0: "it went"
        end 0
    "#]],
    );
    check_answer(
        &json!({"always": {"rule": "Bash(touch:*)"}}),
        true,
        expect![[r#"
        1 "done" 0: "it went"
        end 0
    "#]],
    );
    check_answer(
        &json!({"edited": {"input": {"command": "touch other"}}}),
        false,
        expect![[r#"
        1 "done" 0: "it went"
        end 0
    "#]],
    );
    check_answer(
        &json!({"deny": {"reason": "no"}}),
        false,
        expect![[r#"
        1 "done" 0: "it went"
        end 0
    "#]],
    );
    check_answer(
        &json!({"deny_and_stop": {}}),
        false,
        expect![[r#"
        1 {"denied":{"reason":"The user denied this call."}} 3: ""
        end 3
    "#]],
    );
}

#[test]
fn nobody_is_asked_about_a_change_that_its_tool_would_refuse() {
    let script = r#"
        [[reply]]
        blocks = [{ call = "Edit", input = { file_path = "a.txt", old_string = "old", new_string = "new" } }]
        [[reply]]
        expect = { tool_result_contains = "a.txt has not been read in this session; Read it, then try again", tool_result_is_error = true }
        blocks = [{ call = "Read", input = { file_path = "a.txt" } }]
        [[reply]]
        blocks = [{ call = "Edit", input = { file_path = "a.txt", old_string = "odd", new_string = "new" } }]
        [[reply]]
        expect = { tool_result_contains = "old_string", tool_result_is_error = true }
        blocks = [
          { call = "Edit", input = { file_path = "../outside.txt", old_string = "old", new_string = "new" } },
          { call = "Edit", input = { file_path = "a.txt", old_string = "old", new_string = "new" } },
        ]
        [[reply]]
        text = "done"
    "#;
    let world = World::new();
    world.write("work/a.txt", "old\n");
    world.write("outside.txt", "old\n");
    let mut running = start(&world, script, &["--permission-mode", "ask", "go"]);
    // Of the files that would be asked about, only those that could be changed; and of what lies
    // outside nothing is told unasked.
    for (summary, answer) in [("../outside.txt", "deny"), ("a.txt", "once")] {
        let asked = running.wait_for("permission_requested");
        assert!(asked["summary"].as_str().unwrap().contains(summary), "{asked}");
        let decision = if answer == "deny" { json!({"deny": {}}) } else { json!("once") };
        running.say(json!({"type": "decide", "id": asked["id"], "decision": decision}));
    }
    running.wait_for("turn_finished");
    running.close_stdin();
    let output = running.finish();
    assert_eq!(output.of_type("permission_requested").len(), 2);
    assert_eq!(world.worked("a.txt"), "new\n");
    expect![[r#"
        1 "done" 0: "done"
        end 0
    "#]]
    .assert_eq(&ends(&world, &output));
    world.heeler(&["replay", &world.ids()[0]]).run().exits(0);
}

#[test]
fn a_rule_for_good_holds_in_the_next_session() {
    let world = World::new();
    let arguments = ["--permission-mode", "ask", "--no-sandbox", "go"];
    let mut running = start(&world, ASKS, &arguments);
    let id = running.wait_for("permission_requested")["id"].clone();
    running.say(
        json!({"type": "decide", "id": id, "decision": {"always": {"rule": "Bash(touch:*)"}}}),
    );
    running.wait_for("turn_finished");
    running.close_stdin();
    running.finish().exits(0);
    std::fs::remove_file(world.workspace().join("made")).unwrap();
    world.exec(ASKS, &["--no-sandbox", "go"]).run().exits(0);
    assert!(world.workspace().join("made").exists());
}

#[test]
fn once_stdin_has_ended_requests_are_denied() {
    let world = World::new();
    let arguments = [STREAM, "--permission-mode", "ask", "--no-sandbox", "go"];
    let output = world.exec(ASKS, &arguments).stdin("").run().exits(0);
    assert!(!world.workspace().join("made").exists());
    assert_eq!(output.of_type("permission_decided")[0]["by"], "stream-input");
    expect![[r#"
        1 "done" 0: "it went"
        end 0
    "#]]
    .assert_eq(&ends(&world, &output));
}

#[test]
fn a_turn_is_cancelled_and_the_next_begins() {
    let world = World::new();
    let script =
        "[[reply]]\ntext = \"a long story\"\nstall = { events = 3 }\n[[reply]]\ntext = \"b\"";
    let server = MockServer::start(Script::parse(script).unwrap());
    let arguments = ["exec", "--model", MODEL, STREAM, "go"];
    let mut running = world.heeler(&arguments).at(&server).open_stdin().start();
    running.wait_for("text_delta");
    running.say(input("more"));
    running.say(json!({"type": "cancel"}));
    running.wait_for("turn_finished");
    running.wait_for("turn_finished");
    running.close_stdin();
    let output = running.finish().exits(0);
    expect![[r#"
        1 "cancelled" 130: "a long story"
        2 "done" 0: "b"
        end 0
    "#]]
    .assert_eq(&ends(&world, &output));
}

#[test]
fn a_signal_stops_what_runs_and_what_waits() {
    let world = World::new();
    let script = "[[reply]]\ntext = \"a long story\"\nstall = { events = 3 }";
    let server = MockServer::start(Script::parse(script).unwrap());
    let arguments = ["exec", "--model", MODEL, STREAM, "go"];
    let mut running = world.heeler(&arguments).at(&server).open_stdin().start();
    running.wait_for("text_delta");
    running.say(input("more"));
    running.say("?");
    running.wait_for("input_error");
    running.signal(Signal::INT);
    let output = running.finish().exits(130);
    expect![[r#"
        line 2: "not valid JSON: expected value at line 1 column 1"
        line 1: "no turn was begun: cancelled"
        1 "cancelled" 130: "a long story"
        end 130
    "#]]
    .assert_eq(&ends(&world, &output));
    // Programs read it, so it names no command that goes on.
    assert_eq!(output.events().last().unwrap()["message"], "cancelled");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_word_that_waits_when_a_signal_comes_is_left_for_the_next_run() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "echo > began; read l < gate" } }]
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "echo > side" } }]
        [[reply]]
        text = "done"
    "#;
    let mut began = Fifo::new(&world.path("work/began"));
    let _gate = Fifo::new(&world.path("work/gate"));
    for signal in [Signal::INT, Signal::TERM] {
        let mut running = start(&world, script, &["--allow", "Bash", "go"]);
        began.wait();
        running.say(json!({"type": "steer", "id": "a", "text": "and the other one"}));
        running.wait_for("steering_queued");
        running.signal(signal);
        let output = running.finish().exits(130);
        assert_eq!(ends(&world, &output).lines().next(), Some("1 \"cancelled\" 130: \"\""));
        assert!(!world.path("work/side").exists());
        let next =
            "[[reply]]\nexpect = { last_user_contains = \"and the other one\" }\ntext = \"yes\"";
        assert_eq!(world.exec(next, &["--continue"]).run().exits(0).stdout, "yes\n");
    }
}

#[test]
fn what_a_hook_hears_keeps_nothing_else_waiting() {
    let world = World::new();
    set(&world, "UserPromptSubmit", "grep -q slow || exit 0; echo > began; read l < gate; exit 0");
    let mut began = Fifo::new(&world.path("work/began"));
    let _gate = Fifo::new(&world.path("work/gate"));
    let script = "[[reply]]\ntext = \"a long story\"\nstall = { events = 3 }";
    let server = MockServer::start(Script::parse(script).unwrap());
    let arguments = ["exec", "--model", MODEL, STREAM, "go"];
    let mut running = world.heeler(&arguments).at(&server).open_stdin().start();
    running.wait_for("text_delta");
    running.say(json!({"type": "steer", "id": "a", "text": "slow"}));
    began.wait();
    running.say(json!({"type": "take_back", "id": "b"}));
    assert_eq!(running.wait_for("input_error")["line"], 2);
    running.say(json!({"type": "cancel"}));
    assert_eq!(running.wait_for("turn_finished")["outcome"], "cancelled");
    running.say(json!({"type": "take_back", "id": "a"}));
    running.close_stdin();
    running.finish().exits(130);
}

#[test]
fn an_input_that_comes_to_nothing_is_told_whatever_began_a_turn_before() {
    for first in ["input", "steer"] {
        let world = World::new();
        set(
            &world,
            "UserPromptSubmit",
            "grep -q slow || exit 0; echo > began; read l < gate; exit 0",
        );
        let mut began = Fifo::new(&world.path("work/began"));
        let _gate = Fifo::new(&world.path("work/gate"));
        let mut running = start(&world, ANY, &[]);
        running.say(json!({"type": first, "text": "hello"}));
        running.wait_for("turn_finished");
        running.say(input("slow"));
        began.wait();
        running.say(json!({"type": "cancel"}));
        let told = running.wait_for("input_error");
        assert_eq!(
            (&told["line"], &told["message"]),
            (&json!(2), &json!("no turn was begun: cancelled"))
        );
        running.close_stdin();
        running.finish();
    }
}

#[test]
fn a_killed_session_goes_on_with_what_was_pending() {
    let world = World::new();
    let script = r#"
        [[reply]]
        text = "a long story"
        stall = { events = 3 }
        [[reply]]
        text = "a"
        [[reply]]
        text = "b"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let arguments = ["exec", "--model", MODEL, STREAM];
    let mut running = world.heeler(&arguments).at(&server).open_stdin().start();
    running.say(input("one"));
    running.wait_for("text_delta");
    running.kill();
    let resumed = world.heeler(&[&arguments[..], &["--continue"]].concat()).at(&server);
    let output = resumed.stdin(input("two").to_string()).run().exits(0);
    expect![[r#"
        1 "done" 0: "a"
        2 "done" 0: "b"
        end 0
    "#]]
    .assert_eq(&ends(&world, &output));
}

/// More comes of such a turn at once than waits for anybody, so that a new snapshot stands in its end's place.
#[test]
fn a_turn_whose_end_is_passed_over_is_told_all_the_same() {
    let world = World::new();
    let text = "0123456789 ".repeat(900_000);
    let script = format!(
        "[script]\nloop = true\nconversations = \"many\"\n[[reply]]\ntext = \"{text}\"\nchunks = 200\n"
    );
    let stdin = format!("{}\n{}\n{}\n", input("one"), input("two"), input("three"));
    let output = world.exec(&script, &[STREAM]).stdin(stdin).run().exits(0);
    assert!(!output.of_type("resync").is_empty());
    assert!(output.of_type("input_error").is_empty());
    let ends = output.of_type("turn_finished");
    let turns: Vec<&Value> = ends.iter().map(|end| &end["turn"]).collect();
    assert_eq!(turns, [1, 2, 3]);
    assert!(ends.iter().all(|end| end["answer"] == *text), "{}", ends.len());
}

#[test]
fn each_turn_has_an_answer_of_its_own_that_fits() {
    let world = World::new();
    world.write("work/n.json", r#"{"type": "object", "required": ["n"]}"#);
    let script = r#"
        [[reply]]
        blocks = [{ call = "submit", input = { n = 1 } }]
        [[reply]]
        blocks = [{ call = "submit", input = { n = 2 } }]
    "#;
    let stdin = format!("{}\n{}\n", input("one"), input("two"));
    let arguments = [STREAM, "--output-schema", "n.json"];
    let output = world.exec(script, &arguments).stdin(stdin).run().exits(0);
    let ends = output.of_type("turn_finished");
    let given: Vec<&Value> = ends.iter().map(|end| &end["structured_output"]["n"]).collect();
    assert_eq!(given, [1, 2]);
}

#[test]
fn a_journal_that_cannot_be_written_between_turns_ends_it_with_the_reason() {
    let world = World::new();
    let script = r#"
        [script]
        epoch = "may change"
        [[reply]]
        blocks = [{ call = "ToolSearch", input = { query = "exec" } }]
        [[reply]]
        blocks = [{ call = "exec", input = { action = "run", background = true, command = "read line < gate" } }]
        [[reply]]
        text = "it runs"
    "#;
    let mut gate = Fifo::new(&world.path("work/gate"));
    let mut running = start(&world, script, &["--allow", "Bash", "--allow", "exec", "serve"]);
    running.wait_for("turn_finished");
    let length = std::fs::metadata(world.journal()).unwrap().len();
    let full = Rlimit { current: Some(length), maximum: Some(length) };
    prlimit(Some(running.pid()), Resource::Fsize, full).unwrap();
    gate.open();
    let output = running.finish().exits(1);
    assert_eq!(ends(&world, &output), "1 \"done\" 0: \"it runs\"\nend 1\n");
    let last = output.events().pop().unwrap();
    let told = last["message"].as_str().unwrap();
    assert!(told.contains("so the session ended here: cannot append to"), "{told}");
    assert!(told.contains("File too large"), "{told}");
}
