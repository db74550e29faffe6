//! What is said of the tools that show and change files.

use crate::claim::{Claim, claim};

/// Real images of one pixel, as base64.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";
const JPEG: &str = "/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z";
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const WEBP: &str = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==";

pub(crate) fn claims() -> Vec<Claim> {
    [reads(), writes(), edits()].into_iter().flatten().collect()
}

fn reads() -> Vec<Claim> {
    let lines: String = (1..=2_500).map(|n| format!("line {n}\n")).collect();
    let long = format!("{}yzEND", "x".repeat(1_999));
    const SHOWS: &str = "Reads a text file as numbered lines (number, tab, line), or shows a png, jpeg, gif or webp image.";
    let picture = |base64: &str| {
        let made = format!(r#"Bash {{"command": "echo {base64} | base64 -d > a"}}"#);
        claim("Read", SHOWS, &[], &[&made, r#"Read {"file_path": "a"}"#], &["[image/", "!error"])
    };
    vec![
        picture(PNG),
        picture(JPEG),
        picture(GIF),
        picture(WEBP),
        claim("Read", SHOWS, &[("a", "one\n")], &[r#"Read {"file_path": "a"}"#], &["1\tone"]),
        claim(
            "Read",
            "Gives 2000 lines unless told otherwise; use offset and limit for the rest.",
            &[("a", &lines)],
            &[r#"Read {"file_path": "a"}"#],
            &["2000\tline 2000\n", "!line 2001", "offset 2001"],
        ),
        claim(
            "Read",
            "Lines are cut at 2000 characters.",
            &[("a", &long)],
            &[r#"Read {"file_path": "a"}"#],
            &["xy", "!z"],
        ),
        claim(
            "Read",
            "Relative paths start at the workspace.",
            &[("b/a", "deep")],
            &[r#"Read {"file_path": "b/a"}"#],
            &["1\tdeep"],
        ),
        claim(
            "Read",
            "A file must be read before it can be changed.",
            &[("a", "one")],
            &[r#"Edit {"file_path": "a", "old_string": "one", "new_string": "two"}"#],
            &["error: ", "read"],
        ),
        claim("Read", "File to read.", &[("a", "one")], &[r#"Read {"file_path": "a"}"#], &["one"]),
        claim(
            "Read",
            "First line, from 1.",
            &[("a", "one\ntwo")],
            &[r#"Read {"file_path": "a", "offset": 2}"#],
            &["2\ttwo", "!one"],
        ),
        claim(
            "Read",
            "Number of lines.",
            &[("a", "one\ntwo")],
            &[r#"Read {"file_path": "a", "limit": 1}"#],
            &["1\tone", "!two"],
        ),
    ]
}

fn writes() -> Vec<Claim> {
    const NEW: &str = r#"Write {"file_path": "b/c/a", "content": "whole"}"#;
    vec![
        claim(
            "Write",
            "Writes a whole file, creating folders as needed.",
            &[],
            &[NEW, r#"Read {"file_path": "b/c/a"}"#],
            &["1\twhole"],
        ),
        claim(
            "Write",
            "An existing file is replaced, and only if you have read it in this session.",
            &[("b/c/a", "other")],
            &[NEW],
            &["error: ", "read"],
        ),
        claim(
            "Write",
            "An existing file is replaced, and only if you have read it in this session.",
            &[("b/c/a", "other")],
            &[r#"Read {"file_path": "b/c/a"}"#, NEW, r#"Read {"file_path": "b/c/a"}"#],
            &["1\twhole", "!other"],
        ),
        claim(
            "Write",
            "To change a part of a file use Edit.",
            &[("a", "one two")],
            &[
                r#"Read {"file_path": "a"}"#,
                r#"Edit {"file_path": "a", "old_string": "two", "new_string": "2"}"#,
                r#"Read {"file_path": "a"}"#,
            ],
            &["1\tone 2"],
        ),
        claim("Write", "File to write.", &[], &[NEW], &["!error", "b/c/a"]),
        claim(
            "Write",
            "Its whole content.",
            &[],
            &[NEW, r#"Read {"file_path": "b/c/a"}"#],
            &["1\twhole"],
        ),
    ]
}

fn edits() -> Vec<Claim> {
    const READ: &str = r#"Read {"file_path": "a"}"#;
    const EDIT: &str = r#"Edit {"file_path": "a", "old_string": "two", "new_string": "2"}"#;
    const ALL: &str =
        r#"Edit {"file_path": "a", "old_string": "two", "new_string": "2", "replace_all": true}"#;
    vec![
        claim(
            "Edit",
            "Replaces text in a file you have read in this session.",
            &[("a", "one two")],
            &[EDIT],
            &["error: ", "read"],
        ),
        claim(
            "Edit",
            "Replaces text in a file you have read in this session.",
            &[("a", "one two")],
            &[READ, EDIT, READ],
            &["one 2"],
        ),
        claim(
            "Edit",
            "old_string must occur once, unless replace_all is true, and be the file's text; other indentation or quotes are forgiven where one place can be meant.",
            &[("a", "two two")],
            &[READ, EDIT],
            &["error: "],
        ),
        claim(
            "Edit",
            "old_string must occur once, unless replace_all is true, and be the file's text; other indentation or quotes are forgiven where one place can be meant.",
            &[("a", "fn a() {\n        say(\"two\");\n        end();\n}\n")],
            &[
                READ,
                r#"Edit {"file_path": "a", "old_string": "    say(\u201ctwo\u201d);\n    end();\n", "new_string": "    say(\u201c2\u201d);\n    end();\n"}"#,
                READ,
            ],
            &["        say(\"2\");", "        end();"],
        ),
        claim(
            "Edit",
            "Leave out the line numbers that Read shows.",
            &[("a", "one two")],
            &[READ, EDIT],
            &["!error"],
        ),
        claim(
            "Edit",
            "Line ends and byte order mark are kept.",
            &[("a", "\u{feff}one\r\ntwo\r\n")],
            &[READ, EDIT],
            &["=\u{feff}one\r\n2\r\n"],
        ),
        claim(
            "Edit",
            "An empty old_string creates a new file.",
            &[],
            &[r#"Edit {"file_path": "a", "old_string": "", "new_string": "2"}"#, READ],
            &["1\t2"],
        ),
        claim("Edit", "File to change.", &[("a", "two")], &[READ, EDIT], &["!error"]),
        claim(
            "Edit",
            "Text to replace, copied from the file.",
            &[("a", "two")],
            &[READ, EDIT, READ],
            &["!two"],
        ),
        claim("Edit", "Text to put there.", &[("a", "two")], &[READ, EDIT, READ], &["1\t2"]),
        claim(
            "Edit",
            "Replace every occurrence.",
            &[("a", "two two")],
            &[READ, ALL, READ],
            &["1\t2 2"],
        ),
    ]
}
