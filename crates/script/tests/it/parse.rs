//! Broken scripts say where they are broken and what to do; no text makes the parser panic.

use expect_test::{Expect, expect};
use heeler_script::Script;
use proptest::prelude::*;

#[track_caller]
fn refuses(name: &str, text: &str, expected: Expect) {
    match Script::parse_named(name, text) {
        Ok(script) => panic!("accepted: {script:?}"),
        Err(error) => expected.assert_eq(&lines(&error)),
    }
}

/// One line a clause.
fn lines(error: &impl ToString) -> String {
    let clauses = error.to_string().replace("; ", ";\n").replace(", expected", ",\nexpected");
    format!("{clauses}\n")
}

#[test]
fn a_syntax_error_names_its_line() {
    refuses(
        "a.toml",
        "[[reply]]\ntext = \"a\"\n[[reply]]\ntext = ",
        expect![[r#"
        a.toml:4: string values must be quoted,
        expected literal string;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.jsonl",
        "{\"text\":\"a\"}\n\n{\"text\":",
        expect![[r#"
        a.jsonl:3: EOF while parsing a value at column 8 (each line is one reply);
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.jsonl",
        "{\n  \"text\": \"a\"\n}",
        expect![[r#"
        a.jsonl:1: EOF while parsing an object at column 1 (each line is one reply);
        docs/guide/scripted-models.md lists every field
    "#]],
    );
}

#[test]
fn an_unknown_field_names_the_known_ones() {
    refuses(
        "a.toml",
        "[[reply]]\ntext = \"a\"\n\n[[reply]]\ntxt = \"b\"",
        expect![[r#"
        a.toml:5: unknown field `txt`,
        expected one of `for`, `when`, `expect`, `capture`, `verbatim`, `text`, `blocks`, `stop`, `usage`, `delay_ms`, `chunks`, `error`, `cut`, `stall`, `headers`, `repeat`;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.jsonl",
        r#"{"expect":{"user":"x"}}"#,
        expect![[r#"
        a.jsonl:1: unknown field `user`,
        expected one of `last_user_contains`, `system_contains`, `tool_result_contains`, `tool_result_is_error`, `messages_count`, `tools_contain`, `model` at column 17 (each line is one reply);
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.toml",
        "lop = true\n[[reply]]\ntext = \"a\"",
        expect![[r#"
        a.toml:1: unknown field `lop`,
        expected `script` or `reply`;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.jsonl",
        r#"{"script":{"loop":1}}"#,
        expect![[r#"
        a.jsonl:1: invalid type: integer `1`,
        expected a boolean at column 19 (each line is one reply);
        docs/guide/scripted-models.md lists every field
    "#]],
    );
}

#[test]
fn a_block_is_exactly_one_thing() {
    let block = |fields: &str| format!("[[reply]]\ntext = \"a\"\n[[reply.blocks]]\n{fields}\n");
    refuses(
        "a.toml",
        &block("id = \"x\""),
        expect![[r#"
        a.toml:3: a block needs exactly one of `text`, `thinking`, `redacted`, `call`, `opaque`;
        found none;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.toml",
        &block("text = \"x\"\ncall = \"read\""),
        expect![[r#"
        a.toml:3: a block needs exactly one of `text`, `thinking`, `redacted`, `call`, `opaque`;
        found text and call;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.toml",
        &block("text = \"x\"\nsignature = \"s\""),
        expect![[r#"
        a.toml:3: `signature` belongs to a `thinking` block, this is a `text` block;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.toml",
        &block("call = \"x\"\ninput = {}\ninput_raw = \"\""),
        expect![[r#"
        a.toml:3: `input` and `input_raw` exclude each other;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.toml",
        &block("opaque = 3"),
        expect![[r#"
        a.toml:3: `opaque` needs an object, the block as the provider writes it;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
}

#[test]
fn a_reply_that_cannot_be_played_is_refused() {
    let reply = |fields: &str| format!("\n[[reply]]\n{fields}\n");
    refuses(
        "a.toml",
        "",
        expect![[r#"
            a.toml: the script has no reply;
            add one, such as `[[reply]]` with `text = "hello"`
        "#]],
    );
    refuses(
        "a.toml",
        &reply("repeat = 0"),
        expect![[r#"
        a.toml:2: `repeat` is 0;
        remove the reply, or give it a count of 1 or more
    "#]],
    );
    refuses(
        "a.toml",
        &reply("cut = {}\nstall = {}"),
        expect![[r#"
        a.toml:2: `cut` and `stall` exclude each other;
        keep one of them
    "#]],
    );
    refuses(
        "a.toml",
        &reply("cut = { events = 1, bytes = 1 }"),
        expect![[r#"
        a.toml:2: `cut` has both `events` and `bytes`;
        keep one of them
    "#]],
    );
    refuses(
        "a.toml",
        &reply("text = \"a\"\nerror = { status = 529 }"),
        expect![[r#"
        a.toml:2: an `error` with a `status` comes instead of blocks;
        remove the blocks, or `status` for a failure after them
    "#]],
    );
    refuses(
        "a.toml",
        &reply("error = { status = 200 }"),
        expect![[r#"
        a.toml:2: `error.status` is not a failure;
        use 400 to 599
    "#]],
    );
    refuses(
        "a.toml",
        &reply("error = { }\nstall = {}"),
        expect![[r#"
        a.toml:2: `error` excludes `cut` and `stall`;
        keep one of them
    "#]],
    );
    refuses(
        "a.toml",
        &reply("capture = { line = '(' }"),
        expect![[r#"
        a.toml:3: `(` is no regular expression: unclosed group;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.toml",
        &reply("text = \"{{line}}\""),
        expect![[r#"
        a.toml:2: `{{line}}` stands for nothing: no reply up to here captures `line`;
        add it to `capture`, or set `verbatim = true` for literal braces
    "#]],
    );
    refuses(
        "a.toml",
        &reply("for = \"lunch\""),
        expect![[r#"
        a.toml:3: unknown variant `lunch`,
        expected `next` or `summary`;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
}

#[test]
fn every_limit_is_reached() {
    refuses(
        "a",
        &" ".repeat(16 * 1024 * 1024 + 1),
        expect![[r#"
        a: the script is longer than 16777216 bytes;
        split it
    "#]],
    );
    refuses(
        "a.jsonl",
        &"{}\n".repeat(100_001),
        expect![[r#"
        a.jsonl: the script has more than 100000 replies;
        use `repeat`, or `loop` in `[script]`
    "#]],
    );
    let blocks = vec![r#"{"text":"a"}"#; 1_001].join(",");
    refuses(
        "a.jsonl",
        &format!(r#"{{"blocks":[{blocks}]}}"#),
        expect![[r#"
        a.jsonl:1: `blocks` has more than 1000 entries;
        split the reply
    "#]],
    );
    refuses(
        "a.jsonl",
        r#"{"chunks":1000001}"#,
        expect![[r#"
        a.jsonl:1: `chunks` is more than 1000000;
        use a smaller number
    "#]],
    );
    let deep = format!(r#"{{"blocks":[{{"call":"a","input":{}}}]}}"#, "[".repeat(100_000));
    refuses(
        "a.jsonl",
        &deep,
        expect![[r#"
        a.jsonl:1: recursion limit exceeded at column 156 (each line is one reply);
        docs/guide/scripted-models.md lists every field
    "#]],
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = Script::load(std::path::Path::new("no/such/script.toml")).unwrap_err();
    expect![[r#"
        no/such/script.toml: cannot be read: No such file or directory (os error 2);
        check the path and that it is a UTF-8 file
    "#]]
    .assert_eq(&lines(&error));
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
