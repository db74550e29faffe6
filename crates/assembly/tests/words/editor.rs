//! What is said of the editor that Anthropic trained its models on.

use crate::claim::{Claim, claim};

const NAME: &str = "str_replace_based_edit_tool";
const VIEW: &str = r#"str_replace_based_edit_tool {"command": "view", "path": "a"}"#;
const REPLACE: &str = r#"str_replace_based_edit_tool {"command": "str_replace", "path": "a", "old_str": "two", "new_str": "2"}"#;
const INSERT: &str = r#"str_replace_based_edit_tool {"command": "insert", "path": "a", "insert_line": 1, "insert_text": "new\n"}"#;
const CREATE: &str =
    r#"str_replace_based_edit_tool {"command": "create", "path": "d/a", "file_text": "whole\n"}"#;

/// In a folder with the lines `one`, `two` and `three` in the file `a`.
fn said(words: &'static str, calls: &[&str], says: &'static [&'static str]) -> Claim {
    claim(NAME, words, &[("a", "one\ntwo\nthree\n"), ("b/c", "")], calls, says)
}

pub(crate) fn claims() -> Vec<Claim> {
    [does(), takes()].into_iter().flatten().collect()
}

fn does() -> Vec<Claim> {
    const ALL: &str = "view shows a file with line numbers, or a folder; create makes a new file; str_replace replaces old_str, which must be in the file once; insert puts insert_text behind line insert_line, 0 for the start.";
    vec![
        said(
            "Views and changes text files.",
            &[VIEW, REPLACE, VIEW],
            &["1\tone\n", "2\t2\n", "=one\n2\nthree\n"],
        ),
        said(ALL, &[VIEW], &["1\tone\n", "2\ttwo\n"]),
        said(
            ALL,
            &[r#"str_replace_based_edit_tool {"command": "view", "path": "b"}"#],
            &["b (1 entry)", "c"],
        ),
        said(
            ALL,
            &[CREATE, r#"str_replace_based_edit_tool {"command": "view", "path": "d/a"}"#],
            &["1\twhole"],
        ),
        said(ALL, &[CREATE, CREATE], &["error: ", "create only makes new files"]),
        said(ALL, &[VIEW, REPLACE], &["=one\n2\nthree\n"]),
        said(
            ALL,
            &[
                VIEW,
                r#"str_replace_based_edit_tool {"command": "str_replace", "path": "a", "old_str": "e", "new_str": "2"}"#,
            ],
            &["error: ", "occurs 3 times", "=one\ntwo\nthree\n"],
        ),
        said(ALL, &[VIEW, INSERT], &["=one\nnew\ntwo\nthree\n"]),
        said(
            ALL,
            &[
                VIEW,
                r#"str_replace_based_edit_tool {"command": "insert", "path": "a", "insert_line": 0, "insert_text": "new\n"}"#,
            ],
            &["=new\none\ntwo\nthree\n"],
        ),
        said("View a file before you change it.", &[REPLACE], &["error: ", "view it"]),
    ]
}

fn takes() -> Vec<Claim> {
    const RANGE: &str = "view: first and last line, from 1; -1 for the end.";
    vec![
        said("What to do.", &[VIEW], &["1\tone"]),
        said("File or folder.", &[VIEW], &["1\tone"]),
        said("Shows a file or a folder.", &[VIEW], &["1\tone"]),
        said("Makes a new file.", &[CREATE], &["Created d/a"]),
        said("Replaces a text.", &[VIEW, REPLACE], &["=one\n2\nthree\n"]),
        said("Inserts lines.", &[VIEW, INSERT], &["=one\nnew\ntwo\nthree\n"]),
        said(
            RANGE,
            &[
                r#"str_replace_based_edit_tool {"command": "view", "path": "a", "view_range": [1, 2]}"#,
            ],
            &["1\tone\n", "2\ttwo\n", "!three"],
        ),
        said(
            RANGE,
            &[
                r#"str_replace_based_edit_tool {"command": "view", "path": "a", "view_range": [2, -1]}"#,
            ],
            &["!one", "2\ttwo\n", "3\tthree"],
        ),
        said(
            "create: the whole content.",
            &[CREATE, r#"str_replace_based_edit_tool {"command": "view", "path": "d/a"}"#],
            &["1\twhole"],
        ),
        said("str_replace: the text to replace.", &[VIEW, REPLACE, VIEW], &["!two"]),
        said("str_replace: the text to put there.", &[VIEW, REPLACE, VIEW], &["2\t2"]),
        said("insert: the line to insert behind.", &[VIEW, INSERT], &["=one\nnew\ntwo\nthree\n"]),
        said("insert: the lines to insert.", &[VIEW, INSERT, VIEW], &["2\tnew\n"]),
    ]
}
