//! Broken scripts say where they are broken and what to do; no text makes the parser panic.

use expect_test::{Expect, expect};
use heeler_script::Script;
use proptest::prelude::*;

#[track_caller]
fn refuses(name: &str, text: &str, expected: Expect) {
    match Script::parse_named(name, text) {
        Ok(script) => panic!("accepted: {script:?}"),
        Err(error) => expected.assert_eq(&error.to_string()),
    }
}

#[test]
fn a_syntax_error_names_its_line() {
    refuses("a.toml", "[[reply]]\ntext = \"a\"\n[[reply]]\ntext = ", expect![[]]);
    refuses("a.jsonl", "{\"text\":\"a\"}\n\n{\"text\":", expect![[]]);
    refuses("a.jsonl", "{\n  \"text\": \"a\"\n}", expect![[]]);
}

#[test]
fn an_unknown_field_names_the_known_ones() {
    refuses("a.toml", "[[reply]]\ntext = \"a\"\n\n[[reply]]\ntxt = \"b\"", expect![[]]);
    refuses("a.jsonl", r#"{"expect":{"user":"x"}}"#, expect![[]]);
    refuses("a.toml", "lop = true\n[[reply]]\ntext = \"a\"", expect![[]]);
    refuses("a.jsonl", r#"{"script":{"loop":1}}"#, expect![[]]);
}

#[test]
fn a_block_is_exactly_one_thing() {
    let block = |fields: &str| format!("[[reply]]\ntext = \"a\"\n[[reply.blocks]]\n{fields}\n");
    refuses("a.toml", &block("id = \"x\""), expect![[]]);
    refuses("a.toml", &block("text = \"x\"\ncall = \"read\""), expect![[]]);
    refuses("a.toml", &block("text = \"x\"\nsignature = \"s\""), expect![[]]);
    refuses("a.toml", &block("call = \"x\"\ninput = {}\ninput_raw = \"\""), expect![[]]);
    refuses("a.toml", &block("opaque = 3"), expect![[]]);
}

#[test]
fn a_reply_that_cannot_be_played_is_refused() {
    let reply = |fields: &str| format!("\n[[reply]]\n{fields}\n");
    refuses("a.toml", "", expect![[]]);
    refuses("a.toml", &reply("repeat = 0"), expect![[]]);
    refuses("a.toml", &reply("cut = {}\nstall = {}"), expect![[]]);
    refuses("a.toml", &reply("cut = { events = 1, bytes = 1 }"), expect![[]]);
    refuses("a.toml", &reply("text = \"a\"\nerror = { status = 529 }"), expect![[]]);
    refuses("a.toml", &reply("error = { status = 200 }"), expect![[]]);
    refuses("a.toml", &reply("error = { }\nstall = {}"), expect![[]]);
    refuses("a.toml", &reply("capture = { line = '(' }"), expect![[]]);
    refuses("a.toml", &reply("text = \"{{line}}\""), expect![[]]);
    refuses("a.toml", &reply("for = \"lunch\""), expect![[]]);
}

#[test]
fn every_limit_is_reached() {
    refuses("a", &" ".repeat(16 * 1024 * 1024 + 1), expect![[]]);
    refuses("a.jsonl", &"{}\n".repeat(100_001), expect![[]]);
    let blocks = vec![r#"{"text":"a"}"#; 1_001].join(",");
    refuses("a.jsonl", &format!(r#"{{"blocks":[{blocks}]}}"#), expect![[]]);
    refuses("a.jsonl", r#"{"chunks":1000001}"#, expect![[]]);
    let deep = format!(r#"{{"blocks":[{{"call":"a","input":{}}}]}}"#, "[".repeat(100_000));
    refuses("a.jsonl", &deep, expect![[]]);
}

#[test]
fn a_missing_file_is_named() {
    let error = Script::load(std::path::Path::new("no/such/script.toml")).unwrap_err();
    expect![[]].assert_eq(&error.to_string());
}

#[test]
fn the_format_is_told_by_the_extension_or_the_first_character() {
    let toml = "# first\n[script]\nloop = true\n\n[[reply]]\ntext = \"a\"\n";
    let lines = "{\"script\":{\"loop\":true}}\n\n{\"text\":\"a\"}\n";
    for (name, text) in [("a", toml), ("a.toml", toml), ("a", lines), ("a.jsonl", lines)] {
        let script = Script::parse_named(name, text).unwrap();
        assert!(script.options.repeat_last);
        assert_eq!(script.replies[0].text.as_deref(), Some("a"));
    }
    assert_eq!(Script::parse(toml).unwrap().replies[0].line, 5);
    assert_eq!(Script::parse(lines).unwrap().replies[0].line, 3);
    Script::parse_named("a.toml", lines).unwrap_err();
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,200}") {
        let _ = Script::parse_named("a.toml", &text);
        let _ = Script::parse_named("a.jsonl", &text);
    }

    /// Texts near to scripts reach further than arbitrary ones.
    #[test]
    fn no_damaged_script_makes_the_parser_panic(
        at in 0usize..400,
        length in 0usize..20,
        insert in r#"[\[\]{}="',\\a1\n$.(]{0,6}"#,
    ) {
        for text in [TOML, LINES] {
            let start = text.floor_char_boundary(at.min(text.len()));
            let end = text.floor_char_boundary((start + length).min(text.len()));
            let damaged = format!("{}{insert}{}", &text[..start], &text[end..]);
            let _ = Script::parse(&damaged);
        }
    }
}

const TOML: &str = r#"
[script]
loop = true
usage = { input = 5 }

[[reply]]
text = "é {{x}}"
capture = { x = '(\d+)' }
expect = { last_user_contains = ["a", "b"], tool_result_is_error = true }
blocks = [
  { thinking = "t", signature = "s" },
  { call = "read", id = "", input = { path = "a", at = 1979-05-27 } },
]
"#;

const LINES: &str = r#"{"script": {"epoch": "may change"}}
{"text": "é", "when": {"messages_count": 3}, "cut": {"bytes": 3}}
{"blocks": [{"call": "bash", "input_raw": "{\"a"}], "stop": "max_tokens"}
{"error": {"status": 529, "type": "overloaded_error", "retry_after": 1}}
"#;
