//! Broken scripts say where they are broken and what to do; no text makes the parser panic.

use expect_test::{Expect, expect};
use heeler_script::{BlockView, MessageView, Player, RequestView, Script};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

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
fn fields_are_read_by_their_names_alone() {
    for text in ["[{\"text\":\"a\"}]", "[\"next\"]", "[[reply]]\ntext = 1", "null", "\"text\""] {
        refuses(
            "a.jsonl",
            text,
            expect![[r#"
                a.jsonl:1: each line is one reply, an object;
                a list of them is not JSON Lines;
                write one `{...}` a line, with nothing around or between them
            "#]],
        );
    }
    refuses(
        "a.jsonl",
        "{\"text\":\"a\"},\n[\"next\"]",
        expect![[r#"
        a.jsonl:1: trailing characters at column 13 (each line is one reply);
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.toml",
        "reply = [\n  [\"next\"]\n]",
        expect![[r#"
        a.toml:2: invalid type: sequence,
        expected fields by their names;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.toml",
        "script = [true]\n[[reply]]\ntext = 'a'",
        expect![[r#"
        a.toml:1: invalid type: sequence,
        expected fields by their names;
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    refuses(
        "a.jsonl",
        "{\"script\":[true]}\n{\"text\":\"a\"}",
        expect![[r#"
        a.jsonl:1: invalid type: sequence,
        expected fields by their names at column 11 (each line is one reply);
        docs/guide/scripted-models.md lists every field
    "#]],
    );
    for (field, value) in [
        ("when", "[\"a\"]"),
        ("expect", "[\"a\"]"),
        ("blocks", "[[\"a\"]]"),
        ("usage", "[1,2]"),
        ("error", "[503]"),
        ("cut", "[1]"),
        ("stall", "[1]"),
    ] {
        let text = format!("{{\"{field}\":{value}}}");
        let error = Script::parse_named("a.jsonl", &text).unwrap_err().to_string();
        assert!(
            error.contains("invalid type: sequence, expected fields by their names"),
            "{error}"
        );
    }
    let nothing = r#"{"text":"a","when":null,"usage":null,"error":null,"cut":null,"stall":null}"#;
    Script::parse_named("a.jsonl", nothing).unwrap();
}

#[test]
fn a_block_is_exactly_one_thing() {
    let block = |fields: &str| format!("[[reply]]\ntext = \"a\"\n[[reply.blocks]]\n{fields}\n");
    refuses(
        "a.toml",
        &block("id = \"x\""),
        expect![[r#"
            a.toml:4: a block needs exactly one of `text`, `thinking`, `redacted`, `call`, `opaque`;
            found none;
            docs/guide/scripted-models.md lists every field
        "#]],
    );
    refuses(
        "a.toml",
        &block("text = \"x\"\ncall = \"read\""),
        expect![[r#"
            a.toml:5: a block needs exactly one of `text`, `thinking`, `redacted`, `call`, `opaque`;
            found text and call;
            docs/guide/scripted-models.md lists every field
        "#]],
    );
    refuses(
        "a.toml",
        &block("text = \"x\"\nsignature = \"s\""),
        expect![[r#"
            a.toml:5: `signature` belongs to a `thinking` block, this is a `text` block;
            docs/guide/scripted-models.md lists every field
        "#]],
    );
    refuses(
        "a.toml",
        &block("call = \"x\"\ninput = {}\ninput_raw = \"\""),
        expect![[r#"
            a.toml:6: `input` and `input_raw` exclude each other;
            docs/guide/scripted-models.md lists every field
        "#]],
    );
    refuses(
        "a.toml",
        &block("opaque = 3"),
        expect![[r#"
            a.toml:4: `opaque` needs an object, the block as the provider writes it;
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
        "a.jsonl",
        "",
        expect![[r#"
        a.jsonl: the script has no reply;
        add a line, such as `{"text": "hello"}`
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
            use `repeat`, or `loop` in a first line `{"script": {"loop": true}}`
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
fn a_file_without_an_end_is_too_long() {
    let error = Script::load(std::path::Path::new("/dev/zero")).unwrap_err();
    expect![[r#"
        /dev/zero: the script is longer than 16777216 bytes;
        split it
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
    fn no_text_makes_the_parser_panic(text in "(?s).{0,200}") {
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

    /// Every field with any value, one reply a line: a line is read, or it is named.
    #[test]
    fn no_reply_on_a_line_makes_the_parser_or_the_player_panic(
        replies in prop::collection::vec(reply(), 1..4),
        options in prop::option::of(prop::collection::vec((select(&OPTIONS[..]), value()), 0..3)),
    ) {
        let options = options.map(|fields| json!({"script": object(fields)}));
        let values: Vec<Value> = options.into_iter().chain(replies).collect();
        let text: String = values.iter().map(|value| format!("{value}\n")).collect();
        match Script::parse_named("a.jsonl", &text) {
            Err(error) => {
                prop_assert!(error.line().is_none_or(|line| (1..=values.len()).contains(&line)));
                prop_assert!(error.to_string().starts_with("a.jsonl"));
            }
            Ok(script) => {
                prop_assert_eq!(script.replies.len(), values.len() - usize::from(has_options(&values)));
                let mut player = Player::new(script);
                for _ in 0..3 {
                    let _ = player.answer(&RequestView::of([MessageView::user([BlockView::text("a")])]));
                }
            }
        }
    }
}

const OPTIONS: [&str; 5] = ["loop", "usage", "epoch", "conversations", "verbatim"];

const FIELDS: [&str; 18] = [
    "for", "when", "expect", "capture", "verbatim", "text", "blocks", "stop", "usage", "delay_ms",
    "chunks", "error", "cut", "stall", "headers", "repeat", "input", "unknown",
];

/// A reply with a few fields; most of them of the right form.
fn reply() -> impl Strategy<Value = Value> {
    let right = select(vec![
        ("text", json!("a {{x}}")),
        ("text", json!("")),
        ("blocks", json!([{"call": "bash", "input_raw": "{\"a"}])),
        ("blocks", json!([{"thinking": "t", "signature": "s"}, {"text": "a"}])),
        ("when", json!({"messages_count": 1})),
        ("expect", json!({"last_user_contains": ["a", "b"]})),
        ("capture", json!({"x": "(a+)"})),
        ("capture", json!({"x": "("})),
        ("cut", json!({"bytes": u64::MAX})),
        ("cut", json!({"events": 0})),
        ("stall", json!({"events": 1})),
        ("error", json!({"status": 529, "type": "overloaded_error", "retry_after": 1e300})),
        ("delay_ms", json!(u64::MAX)),
        ("repeat", json!(u64::MAX)),
        ("repeat", json!(0)),
        ("chunks", json!(usize::MAX)),
        ("stop", json!("max_tokens")),
        ("headers", json!({"a\r\nb": "c"})),
        ("usage", json!({"input": u64::MAX, "output": u64::MAX})),
    ]);
    let right = right.prop_map(|(name, value)| (name, value));
    let field = prop_oneof![6 => right, 1 => (select(&FIELDS[..]), value())];
    prop::collection::vec(field, 0..4).prop_map(object)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(?s).{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let fields = (select(&FIELDS[..]), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            prop::collection::vec(fields, 0..4).prop_map(object),
        ]
    })
}

fn object(fields: Vec<(&'static str, Value)>) -> Value {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn has_options(values: &[Value]) -> bool {
    values.first().is_some_and(|value| value.get("script").is_some())
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
