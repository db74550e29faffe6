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
        expect!["FILE:3:1: this is no JSON: expected value; mend it, or move the file away"],
    );
    check(
        Format::Json,
        "{\"a\":",
        expect![
            "FILE:1:5: this is no JSON: EOF while parsing a value; mend it, or move the file away"
        ],
    );
    check(Format::Json, " \n", expect![""]);
    check(
        Format::Json,
        "{}\n{}",
        expect!["FILE:2:1: this is no JSON: trailing characters; mend it, or move the file away"],
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
            "FILE:2:5: this is no TOML: string values must be quoted, expected literal string, in `b`; mend it, or move the file away"
        ],
    );
    check(
        Format::Toml,
        "[a]\nb = 1\n[a]\n",
        expect!["FILE:3:2: this is no TOML: duplicate key, in `a`; mend it, or move the file away"],
    );
    check(
        Format::Toml,
        "a = 99999999999999999999",
        expect![[r#"
        1: .a = Other("a number that is too large")
    "#]],
    );
    let error = read(Format::Toml, "FILE", b"a = 1\nb = '\xff'").unwrap_err();
    assert_eq!(error.to_string(), "FILE:2:6: this is no UTF-8 text; save the file as UTF-8");
}

/// What can be read of a text, and all that is wrong with it.
fn check_salvaged(format: Format, text: &str, expected: Expect) {
    let Salvaged { root, mistakes } = salvage(format, "FILE", "mend it", text.as_bytes());
    let mut shown = String::new();
    show("", &root, &mut shown);
    for mistake in mistakes {
        writeln!(shown, "{mistake}").unwrap();
    }
    expected.assert_eq(&shown);
}

#[test]
fn of_toml_all_is_read_that_touches_no_broken_line() {
    let check = |text, expected| check_salvaged(Format::Toml, text, expected);
    check(
        "a = 1\n[permissions]\nmode = ask\ndeny = [\n 'Bash',\n Read,\n 'Edit',\n]\n\n[limits]\nrounds = 3\n",
        expect![[r#"
            1: .a = Integer(1)
            5: .permissions.deny[0] = Text("Bash")
            7: .permissions.deny[1] = Text("Edit")
            11: .limits.rounds = Integer(3)
            FILE:3:8: this is no TOML: string values must be quoted, expected literal string, in `permissions.mode`; mend it, or move the file away
            FILE:6:2: this is no TOML: string values must be quoted, expected literal string, in `permissions.deny`; mend it, or move the file away
        "#]],
    );
    check(
        "[permissions\ndeny = ['Bash']\n[limits]\nrounds = 3\n",
        expect![[r#"
        4: .limits.rounds = Integer(3)
        FILE:1:13: this is no TOML: unclosed table, expected `]`; mend it, or move the file away
    "#]],
    );
    check(
        "[a]\nb = 1\n[c]\nd = 1\n[a]\ne = 1\n[f]\ng = 1\n",
        expect![[r#"
        4: .c.d = Integer(1)
        2: .a.b = Integer(1)
        6: .a.e = Integer(1)
        8: .f.g = Integer(1)
        FILE:5:2: this is no TOML: duplicate key, in `a`; mend it, or move the file away
    "#]],
    );
    check(
        "[a]\nb = 'x\nc = 'y'\n",
        expect![[r#"
        3: .a.c = Text("y")
        FILE:2:7: this is no TOML: invalid literal string, expected `'`, in `a.b`; mend it, or move the file away
    "#]],
    );
    check(
        "[a]\nb = [ 'x',\n[c]\nd = 1\n",
        expect![[r#"
        2: .a.b[0] = Text("x")
        FILE:3:2: this is no TOML: string values must be quoted, expected literal string, in `a.b`; mend it, or move the file away
        FILE:4:1: this is no TOML: missing comma between array elements, expected `,`, in `a.b`; mend it, or move the file away
    "#]],
    );
    check(
        "a = 1\nb = \"\"\"\nx\n[c]\nd = 1\n",
        expect![[r#"
        1: .a = Integer(1)
        FILE:6:1: this is no TOML: invalid multi-line basic string, expected `"`, in `b`; mend it, or move the file away
    "#]],
    );
    check(
        "[a]\nb = 1\n[[h.P]]\nx = { y = 1, z = }\nw = 1\n[[h.P]]\nw = 2\n",
        expect![[r#"
            2: .a.b = Integer(1)
            5: .h.P[0].w = Integer(1)
            7: .h.P[1].w = Integer(2)
            FILE:4:18: this is no TOML: invalid literal string, expected `'`, in `h.P.x.z`; mend it, or move the file away
        "#]],
    );
    check(
        "[a]\nnonsense\nb = 1\n",
        expect![[r#"
            3: .a.b = Integer(1)
            FILE:2:9: this is no TOML: key with no value, expected `=`, in `a`; mend it, or move the file away
        "#]],
    );
    check(
        "[a]\nb = 1\n\u{e4} nonsense\n[[h.P]]\nx = { y = 1, z = }\nw = 1\n",
        expect![[r#"
            2: .a.b = Integer(1)
            6: .h.P[0].w = Integer(1)
            FILE:3:3: this is no TOML: key with no value, expected `=`, in `a`; mend it, or move the file away
            FILE:5:18: this is no TOML: invalid literal string, expected `'`, in `h.P.x.z`; mend it, or move the file away
        "#]],
    );
}

#[test]
fn of_json_all_is_read_that_stands_before_the_mistake() {
    let check = |text, expected| check_salvaged(Format::Json, text, expected);
    check(
        "{\"a\": [1, {\"b\": \"x,]\"},\n tru], \"c\": 1}",
        expect![[r#"
        1: .a[0] = Integer(1)
        1: .a[1].b = Text("x,]")
        FILE:2:5: this is no JSON: expected ident; mend it, or move the file away
    "#]],
    );
    check(
        "{\"a\": {\"b\": 1},\n\"c\": 2,\n}",
        expect![[r#"
        1: .a.b = Integer(1)
        2: .c = Integer(2)
        FILE:3:1: this is no JSON: key must be a string; mend it, or move the file away
    "#]],
    );
    check(
        "{\"a\": 1",
        expect![[r#"
        FILE:1:7: this is no JSON: EOF while parsing an object; mend it, or move the file away
    "#]],
    );
    check(
        "nonsense",
        expect![[r#"
        FILE:1:2: this is no JSON: expected ident; mend it, or move the file away
    "#]],
    );
    check(
        "{}\n{}",
        expect![[r#"
        FILE:2:1: this is no JSON: trailing characters; mend it, or move the file away
    "#]],
    );
    check(
        "{\"a\": 1,\n\"b\": \"\\ud800\",\n\"c\": 1}",
        expect![[r#"
        1: .a = Integer(1)
        FILE:2: this is no JSON: unexpected end of hex escape; mend it, or move the file away
    "#]],
    );
}

#[test]
fn lines_that_are_no_text_are_lost_and_the_others_are_not() {
    let Salvaged { root, mistakes } =
        salvage(Format::Toml, "FILE", "mend it", b"a = 1\nb = '\xff'\nc = 2\n");
    let mut shown = String::new();
    show("", &root, &mut shown);
    expect![[r#"
        1: .a = Integer(1)
        3: .c = Integer(2)
        [SettingsError { message: "FILE:2:6: this is no UTF-8 text; save the file as UTF-8" }]"#]]
    .assert_eq(&format!("{shown}{mistakes:?}"));
}

#[test]
fn a_file_of_mistakes_takes_no_longer_than_one_of_its_size() {
    let limit = usize::try_from(FILE_BYTES_MAX).unwrap();
    for line in ["x\n", "a = [\n", "[[a]]\nx = \n"] {
        let text = line.repeat(limit / line.len());
        let Salvaged { mistakes, .. } = salvage(Format::Toml, "FILE", "mend it", text.as_bytes());
        assert!((1..=MISTAKES_MAX).contains(&mistakes.len()), "{line:?}: {}", mistakes.len());
    }
    let dotted = format!("{} = \n", ["a"; 100_000].join("."));
    salvage(Format::Toml, "FILE", "mend it", dotted.as_bytes());
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
