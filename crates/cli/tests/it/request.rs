//! `show --request`: past requests, byte for byte as they went over the wire.

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::MockServer;
use regex::Regex;

use crate::support::World;

/// Two turns of several requests each.
const TALK: &str = r#"
[script]
usage = { input = 100, output = 7, cache_read = 30 }
[[reply]]
blocks = [
  { thinking = "hm", signature = "s" },
  { text = "I will look." },
  { call = "LS", input = { path = "." } },
  { call = "Read", input = { file_path = "absent.txt" } },
]
[[reply]]
text = "It is empty."
[[reply]]
blocks = [{ call = "Write", input = { file_path = "new.txt", content = "é\n" } }]
[[reply]]
text = "There is a file now."
"#;

fn talk(world: &World) -> MockServer {
    let server = MockServer::start(Script::parse(TALK).unwrap());
    world.exec_at(&server, &["what is here?"]).run().exits(0);
    let arguments = ["--continue", "--permission-mode", "accept-edits", "make a file"];
    world.exec_at(&server, &arguments).run().exits(0);
    server
}

/// Every past request of the only session, as `--raw` prints it.
fn raw(world: &World, n_requests: usize) -> Vec<Vec<u8>> {
    let [id] = world.ids().try_into().unwrap();
    let print = |n: usize| {
        let output =
            world.heeler(&["show", &id, "--request", &n.to_string(), "--raw"]).run().exits(0);
        assert_eq!(output.stderr, "");
        output.stdout.into_bytes()
    };
    (1..=n_requests).map(print).collect()
}

#[test]
fn raw_is_what_went_over_the_wire() {
    let world = World::new();
    let sent = talk(&world).requests();
    let sent: Vec<_> = sent.into_iter().map(|request| request.body).collect();
    assert_eq!(sent.len(), 4);
    assert!(raw(&world, 4) == sent, "other bytes than were sent");
}

#[test]
fn also_after_retries_compactions_and_other_settings() {
    let world = World::new();
    let call = "[[reply]]\nblocks = [{ call = \"LS\", input = { path = \".\" } }]\n";
    let failure = "[[reply]]\nerror = { status = 529, type = \"overloaded_error\", \
                   message = \"busy\", retry_after = 0 }\n";
    let texts = ["one", "a summary", "two", "three"];
    let texts = texts.map(|text| format!("[[reply]]\ntext = \"{text}\"\n")).concat();
    let head = "[script]\nepoch = \"may change\"\n".to_owned();
    let script = head + failure + &call.repeat(5) + &texts;
    let server = MockServer::start(Script::parse(&script).unwrap());
    let long = "a long prompt ".repeat(1000);
    world.exec_at(&server, &[&long]).run().exits(0);
    let small = world.exec_at(&server, &["--continue", &"and now? ".repeat(1000)]);
    small.env("HEELER_CONTEXT_LIMIT", "6500").run().exits(0);
    let other = ["exec", "--model", "claude-haiku-4-5", "--continue", "another model"];
    world.heeler(&other).at(&server).run().exits(0);
    let sent: Vec<_> = server.requests().into_iter().map(|request| request.body).collect();
    // A summary belongs to no turn, and has no number.
    let is_summary = |body: &Vec<u8>| {
        String::from_utf8_lossy(body).contains("Summarize the conversation so far")
    };
    assert_eq!(sent.iter().position(is_summary), Some(7));
    let sent: Vec<_> = sent.into_iter().filter(|body| !is_summary(body)).collect();
    assert!(raw(&world, sent.len()) == sent, "other bytes than were sent");
}

#[test]
fn a_summary_says_where_the_tokens_are() {
    let world = World::new();
    let server = talk(&world);
    let [id] = world.ids().try_into().unwrap();
    let output = world.heeler(&["show", &id, "--request", "2"]).run().exits(0);
    // What the tools and the system prompt weigh is not the point here.
    let rules = [
        (r"(?m)^ +\d+ +\d+ % [=#] (tool|system).*\n", "<$1>\n"),
        (r" +\d+ %", "  N %"),
        (r"\d+ (tokens,|of them|bytes)", "N $1"),
        (r"about \$\d\.\d+ sent the first time, \$\d\.\d+", "about $$N sent the first time, $$N"),
    ];
    let summary = rules.iter().fold(world.plain(&output.stderr), |text, (pattern, name)| {
        Regex::new(pattern).unwrap().replace_all(&text, *name).into_owned()
    });
    expect![[r#"
        request 2 of 4: turn 1, round 2, attempt 1, anthropic/claude-sonnet-5-5, N bytes

          tokens  share
        <tool>
        <tool>
        <tool>
        <tool>
        <tool>
        <tool>
        <tool>
        <tool>
        <tool>
        <tool>
        <tool>
        <system>
               3  N % = user text: what is here?
               0  N % = assistant thinking: hm
               3  N % = assistant text: I will look.
               3  N % = assistant tool_use: LS {"path":"."}
               7  N % = assistant tool_use: Read {"file_path":"absent.txt"}
               4  N % = user tool_result: (empty directory)
              13  N % = user tool_result: absent.txt does not exist; use Glob or LS to fi…
        about N tokens, N of them before the last cache marker (= and #)
        #: what was read from the cache, by the model's own count
        about $N sent the first time, $N again
        counted by the model: 130 tokens in (23 % cached: 30 read, 0 written, 100 neither), 7 out, $0.0003
    "#]]
    .assert_eq(&summary);
    let printed: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(printed, server.requests()[1].json());
    assert!(output.stdout.starts_with("{\n  \"model\": "), "{}", output.stdout);
}

#[test]
fn what_a_new_epoch_cost_is_told() {
    let world = World::new();
    let talk = "[script]\nepoch = \"may change\"\nloop = true\n\
                usage = { input = 100, output = 7, cache_read = 30, cache_write = 20 }\n\
                [[reply]]\ntext = \"hi\"";
    let server = MockServer::start(Script::parse(talk).unwrap());
    world.exec_at(&server, &["one"]).run().exits(0);
    world.exec_at(&server, &["--continue", "two"]).run().exits(0);
    let other = ["exec", "--model", "claude-opus-5-5", "--json", "--continue", "three"];
    let third = world.heeler(&other).at(&server).run().exits(0);
    // Opus reads at $0.2 a million tokens what it reads anew at $4, or writes at $5.
    let cost = 20 * (5000 - 200) + 100 * (4000 - 200);
    let reread = serde_json::json!({ "tokens": 120, "cost": cost });
    assert_eq!(third.terminal()["reread"], reread);
    assert_eq!(third.terminal()["cache_hit_percent"], 20);
    let told = third.events().into_iter().filter(|event| event["type"] == "usage");
    assert_eq!(told.map(|event| event["reread"].clone()).collect::<Vec<_>>(), [reread]);
    let [id] = world.ids().try_into().unwrap();
    let anew = "120 tokens were read anew, not from the cache, for $0.0005 more";
    let shown = world.heeler(&["show", &id]).run().exits(0).stdout;
    assert!(shown.contains(&format!("cache      new epochs: {anew}")), "{shown}");
    let request = |n| world.heeler(&["show", &id, "--request", n]).run().exits(0).stderr;
    assert!(request("3").contains(&format!("a new epoch began with it: {anew}")));
    assert!(!request("2").contains("anew"), "it had the same prefix");
}

#[test]
fn a_scripted_model_is_told_as_one() {
    let world = World::new();
    world.exec("[[reply]]\ntext = \"hi\"", &["hello"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let output = world.heeler(&["show", &id, "--request", "1"]).run().exits(0);
    assert!(output.stderr.contains("a scripted model is sent no bytes"), "{}", output.stderr);
    assert!(output.stdout.contains("\"text\": \"hello\""), "{}", output.stdout);
}

#[test]
fn a_number_that_is_none_and_a_journal_that_is_damaged() {
    let world = World::new();
    talk(&world);
    let [id] = world.ids().try_into().unwrap();
    let check = |arguments: &[&str], code, stderr: Expect| {
        let output = world.heeler(&[&["show", &id], arguments].concat()).run().exits(code);
        stderr.assert_eq(&world.plain(&output.stderr));
    };
    check(
        &["--request", "5"],
        2,
        expect![[r#"
        heeler: session ID has no model request 5; it has 4, from 1 to 4
    "#]],
    );
    check(
        &["--request", "0"],
        2,
        expect![[r#"
        error: invalid value '0' for '--request <N>': 0 is not in 1..18446744073709551615

        For more information, try '--help'.
    "#]],
    );
    check(
        &["--raw"],
        2,
        expect![[r#"
        error: the following required arguments were not provided:
          --request <N>

        Usage: heeler show --request <N> --raw <ID>

        For more information, try '--help'.
    "#]],
    );
    let lines = world.journal_lines();
    let changed = lines.concat().replacen("I will look.", "I will loot.", 1);
    std::fs::write(world.journal(), changed).unwrap();
    check(&["--request", "1", "--raw"], 0, expect![[""]]);
    check(
        &["--request", "2", "--raw"],
        0,
        expect![[r#"
        heeler: damaged: line 7: the line's checksum is wrong; what was sent may have been something else
    "#]],
    );
    std::fs::write(world.journal(), &lines[0]).unwrap();
    check(
        &["--request", "1"],
        2,
        expect![[r#"
        heeler: session ID has sent no model request yet
    "#]],
    );
}
