//! Every exit code, with what the user and a program are told.

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::MockServer;

use crate::support::World;

/// Plays a script and checks the exit code, the outcome, and what the user reads last.
fn check(script: &str, arguments: &[&str], code: i32, outcome: Expect, complaint: Expect) {
    let world = World::new();
    let arguments = [arguments, &["hello"]].concat();
    let output = world.exec(script, &arguments).run().exits(code);
    let told: Vec<&str> = output.stderr.lines().skip_while(|l| !l.contains("tokens in")).collect();
    complaint.assert_eq(&world.plain(&told[1..].join("\n")));
    let world = World::new();
    let output = world.exec(script, &[&["--json"], &arguments[..]].concat()).run().exits(code);
    outcome.assert_eq(&world.plain(&output.terminal()["outcome"].to_string()));
}

#[test]
fn done_is_0() {
    check("[[reply]]\ntext = \"hi\"", &[], 0, expect![[r#""done""#]], expect![[r#""#]]);
    // A denied call alone does not change the code.
    let denied = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "touch denied" } }]
        [[reply]]
        expect = { tool_result_contains = "Not allowed", tool_result_is_error = true }
        text = "I may not."
    "#;
    check(denied, &["--no-sandbox"], 0, expect![[r#""done""#]], expect![[r#""#]]);
    // A reply with nothing in it ends the turn.
    check("[[reply]]\n", &[], 0, expect![[r#""done""#]], expect![[r#""#]]);
}

#[test]
fn a_refusal_and_a_cut_reply_are_1() {
    let refusal = "[[reply]]\ntext = \"no\"\nstop = \"refusal\"";
    check(
        refusal,
        &[],
        1,
        expect![[r#""refused""#]],
        expect![[r#"
            heeler: the model refused to go on
            heeler: what was refused stays in this session, and may be refused again: begin a new session"#]],
    );
    let cut = "[[reply]]\ntext = \"once upon a\"\nstop = \"max_tokens\"";
    check(
        cut,
        &[],
        1,
        expect![[r#""truncated""#]],
        expect![[r#"
        heeler: the answer was cut at the model's token limit
        heeler: go on with `heeler exec --resume ID PROMPT`"#]],
    );
}

#[test]
fn the_text_of_a_cut_reply_is_still_the_answer() {
    let world = World::new();
    let cut = "[[reply]]\ntext = \"once upon a\"\nstop = \"max_tokens\"";
    assert_eq!(world.exec(cut, &["hello"]).run().exits(1).stdout, "once upon a\n");
}

#[test]
fn a_model_that_insists_on_a_denied_call_is_3() {
    let insists = r#"
        [script]
        loop = true
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "touch denied" } }]
    "#;
    check(
        insists,
        &["--no-sandbox"],
        3,
        expect![[
            r#"{"denied":{"reason":"it runs the command `touch denied`, which no rule allows, and nobody can be asked in the mode allow-listed"}}"#
        ]],
        expect![[r#"
        heeler: ended by a denial: it runs the command `touch denied`, which no rule allows, and nobody can be asked in the mode allow-listed
        heeler: go on with `heeler exec --resume ID PROMPT`"#]],
    );
}

#[test]
fn a_model_that_repeats_a_failing_call_is_4() {
    let repeats = r#"
        [script]
        loop = true
        [[reply]]
        blocks = [{ call = "Read", input = { file_path = "absent" } }]
    "#;
    check(
        repeats,
        &[],
        4,
        expect![[r#"{"limit":{"limit":"repeats"}}"#]],
        expect![[r#"
        heeler: the limit of repeated failing calls is reached
        heeler: go on with `heeler exec --resume ID PROMPT`"#]],
    );
}

#[test]
fn a_provider_that_refuses_is_5() {
    let refused = r#"
        [[reply]]
        error = { status = 401, type = "authentication_error", message = "invalid x-api-key" }
    "#;
    check(
        refused,
        &[],
        5,
        expect![[r#"{"provider_failed":{"kind":"auth","message":"invalid x-api-key"}}"#]],
        expect![[r#"
        heeler: invalid x-api-key
        heeler: go on with `heeler exec --resume ID PROMPT`"#]],
    );
}

#[test]
fn over_http_the_message_names_the_status_and_the_next_step() {
    let script = r#"
        [[reply]]
        error = { status = 403, type = "permission_error", message = "not for you" }
    "#;
    check_http(
        script,
        expect![[r#"
            heeler: session ID with anthropic/claude-sonnet-5-5
            heeler: 0 tokens in (0 cached), 0 out, $0.0000
            heeler: Anthropic did not accept the key (HTTP 403, request req_1): not for you
            Check what the key in ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN may use; if none is set, keep another key with `heeler login anthropic`.
            heeler: go on with `heeler exec --resume ID PROMPT`
        "#]],
    );
    // A wait that is longer than anybody would wait is not waited.
    let script = r#"
        [[reply]]
        error = { status = 529, type = "overloaded_error", message = "later", retry_after = 86400 }
    "#;
    check_http(
        script,
        expect![[r#"
            heeler: session ID with anthropic/claude-sonnet-5-5
            heeler: 0 tokens in (0 cached), 0 out, $0.0000
            heeler: Anthropic is overloaded (HTTP 529, request req_1): later
            It asks to wait 1440 minutes.
            heeler: go on with `heeler exec --resume ID PROMPT`
        "#]],
    );
}

fn check_http(script: &str, stderr: Expect) {
    let world = World::new();
    let server = MockServer::start(Script::parse(script).unwrap());
    let output = world.exec_at(&server, &["hello"]).run().exits(5);
    stderr.assert_eq(&world.plain(&output.stderr));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_failed_request_is_sent_again_and_the_turn_goes_on() {
    let world = World::new();
    let overloaded = r#"
        [[reply]]
        error = { status = 529, type = "overloaded_error", message = "try later", retry_after = 0 }
        [[reply]]
        text = "half of an ans"
        cut = { hard = true }
        [[reply]]
        text = "the answer"
    "#;
    let server = MockServer::start(Script::parse(overloaded).unwrap());
    let output = world.exec_at(&server, &["--json", "hello"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "the answer");
    let kinds: Vec<_> = output.of_type("retry").iter().map(|retry| retry["kind"].clone()).collect();
    assert_eq!(kinds, ["overloaded", "network"]);
    assert_eq!(server.violations(), [""; 0]);
}
