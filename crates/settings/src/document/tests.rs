//! Both formats give one tree.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// The tree of a text, a line a value, or what is wrong with it.
fn check(format: Format, text: &str, expected: Expect) {
    let shown = match read(format, "FILE", text.as_bytes()) {
        Ok(node) => {
            let mut shown = String::new();
            show("", &node, &mut shown);
            shown
        }
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

fn show(path: &str, node: &Node, shown: &mut String) {
    match &node.value {
        Value::Table(entries) => {
            for entry in entries {
                show(&format!("{path}.{}", entry.key), &entry.node, shown);
            }
        }
        Value::List(nodes) => {
            for (n, node) in nodes.iter().enumerate() {
                show(&format!("{path}[{n}]"), node, shown);
            }
        }
        value => writeln!(shown, "{}: {path} = {value:?}", node.line).unwrap(),
    }
}

#[test]
fn both_formats_give_one_tree() {
    check(
        Format::Json,
        "{\n \"a\": {\"b\": [\n\"x\", true,\n{\"c\": -3}]},\n\n\"d\": 1.5, \"e\": null}\n",
        expect![[r#"
            3: .a.b[0] = Text("x")
            3: .a.b[1] = Bool(true)
            4: .a.b[2].c = Integer(-3)
            6: .d = Fraction(1.5)
            6: .e = Other("null")
        "#]],
    );
    check(
        Format::Toml,
        "# first\nd = 1.5\n[a]\nb = [\n'x', true,\n{ c = -3 },\n]\n[[z]]\ny = 1\n[[z]]\ny = 1979-05-27\n",
        expect![[r#"
            2: .d = Fraction(1.5)
            5: .a.b[0] = Text("x")
            5: .a.b[1] = Bool(true)
            6: .a.b[2].c = Integer(-3)
            9: .z[0].y = Integer(1)
            11: .z[1].y = Other("a date")
        "#]],
    );
    check(
        Format::Json,
        "\u{feff}{\"a\": \"\\u00e4\"}",
        expect![[r#"
        1: .a = Text("ä")
    "#]],
    );
}

#[test]
fn what_is_broken_is_told_with_its_line() {
    check(
        Format::Json,
        "{\n\"a\": [1,\n]}",
        expect!["FILE:3: this is no JSON: expected value; mend it, or move the file away"],
    );
    check(
        Format::Json,
        "{\"a\":",
        expect![
            "FILE:1: this is no JSON: EOF while parsing a value; mend it, or move the file away"
        ],
    );
    check(Format::Json, " \n", expect![""]);
    check(
        Format::Json,
        "{}\n{}",
        expect!["FILE:2: this is no JSON: trailing characters; mend it, or move the file away"],
    );
    check(
        Format::Json,
        "{\n\n\"a\": \"\\ud800\"}",
        expect![
            "FILE:3: this is no JSON: unexpected end of hex escape; mend it, or move the file away"
        ],
    );
    check(
        Format::Toml,
        "a = 1\nb = \n",
        expect![
            "FILE:2: this is no TOML: string values must be quoted, expected literal string; mend it, or move the file away"
        ],
    );
    check(
        Format::Toml,
        "[a]\nb = 1\n[a]\n",
        expect!["FILE:3: this is no TOML: duplicate key; mend it, or move the file away"],
    );
    check(
        Format::Toml,
        "a = 99999999999999999999",
        expect![[r#"
        1: .a = Other("a number that is too large")
    "#]],
    );
    let error = read(Format::Toml, "FILE", b"a = 1\nb = '\xff'").unwrap_err();
    assert_eq!(error.to_string(), "FILE:2: this is no UTF-8 text; save the file as UTF-8");
}

#[test]
fn depth_and_size_have_limits() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(Format::Json, "FILE", nested(DEPTH_MAX + 1).as_bytes()).is_ok());
    for text in [nested(DEPTH_MAX + 2), nested(100_000)] {
        let error = read(Format::Json, "FILE", text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "FILE:1: values nest more than 32 deep; flatten them");
    }
    assert!(read(Format::Toml, "FILE", format!("a = {}", nested(DEPTH_MAX)).as_bytes()).is_ok());
    for depth in [DEPTH_MAX + 1, 100_000] {
        let text = format!("a = {}", nested(depth));
        assert!(read(Format::Toml, "FILE", text.as_bytes()).is_err());
    }
    let limit = usize::try_from(FILE_BYTES_MAX).unwrap();
    assert!(read(Format::Toml, "FILE", " ".repeat(limit).as_bytes()).is_ok());
    let error = read(Format::Toml, "FILE", " ".repeat(limit + 1).as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "FILE: the file has more than 1048576 bytes; make it shorter");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>, text in "[\\[\\]{}\",:=.a1\n #'-]{0,60}") {
        for format in [Format::Json, Format::Toml] {
            let _ = read(format, "FILE", &bytes);
            let _ = read(format, "FILE", text.as_bytes());
        }
    }
}
