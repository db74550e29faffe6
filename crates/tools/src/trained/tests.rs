//! What the trained shapes promise, played on real files.

use expect_test::expect;
use heeler_core::Tool as _;

use super::*;
use crate::testing::check;

#[test]
fn the_editor_views_creates_replaces_and_inserts() {
    check(
        &[("a.rs", "one\ntwo\nthree\n"), ("folder/b", "x")],
        &[
            r#"str_replace_based_edit_tool {"command":"str_replace","path":"a.rs","old_str":"two","new_str":"2"}"#,
            r#"str_replace_based_edit_tool {"command":"view","path":"a.rs","view_range":[2,-1]}"#,
            r#"str_replace_based_edit_tool {"command":"view","path":"a.rs","view_range":[1,2]}"#,
            r#"str_replace_based_edit_tool {"command":"view","path":"a.rs","view_range":[2,1]}"#,
            r#"str_replace_based_edit_tool {"command":"view","path":"folder"}"#,
            r#"str_replace_based_edit_tool {"command":"str_replace","path":"a.rs","old_str":"two","new_str":"2"}"#,
            r#"str_replace_based_edit_tool {"command":"str_replace","path":"a.rs","old_str":"e","new_str":"2"}"#,
            r#"str_replace_based_edit_tool {"command":"str_replace","path":"a.rs","old_str":"2\n"}"#,
            r#"str_replace_based_edit_tool {"command":"insert","path":"a.rs","insert_line":1,"insert_text":"new\n"}"#,
            r#"str_replace_based_edit_tool {"command":"insert","path":"a.rs","insert_line":3,"insert_text":"last"}"#,
            r#"str_replace_based_edit_tool {"command":"insert","path":"a.rs","insert_line":9,"insert_text":"x"}"#,
            r#"str_replace_based_edit_tool {"command":"insert","path":"a.rs","insert_line":0}"#,
            r#"str_replace_based_edit_tool {"command":"create","path":"a.rs","file_text":"x"}"#,
            r#"str_replace_based_edit_tool {"command":"create","path":"new/c","file_text":"x\n"}"#,
            r#"str_replace_based_edit_tool {"command":"str_replace","path":"new/c","old_str":"","new_str":"2"}"#,
        ],
        expect![[r#"
            > str_replace_based_edit_tool {"command":"str_replace","path":"a.rs","old_str":"two","new_str":"2"}
            error: a.rs has not been read in this session; view it, then try again
            > str_replace_based_edit_tool {"command":"view","path":"a.rs","view_range":[2,-1]}
                 2	two
                 3	three
            > str_replace_based_edit_tool {"command":"view","path":"a.rs","view_range":[1,2]}
                 1	one
                 2	two
            (1 more of 3 lines; continue with offset 3)
            > str_replace_based_edit_tool {"command":"view","path":"a.rs","view_range":[2,1]}
            error: view_range [2, 1] is none; give the first and the last line, from 1, or -1 for the end
            > str_replace_based_edit_tool {"command":"view","path":"folder"}
            folder (1 entry)
                  1B  b
            > str_replace_based_edit_tool {"command":"str_replace","path":"a.rs","old_str":"two","new_str":"2"}
            Edited a.rs:
                 1  one
                 2 -two
                 2 +2
                 3  three
            > str_replace_based_edit_tool {"command":"str_replace","path":"a.rs","old_str":"e","new_str":"2"}
            error: old_str occurs 3 times in a.rs (at lines 1, 3, 3); add text around it until it is unique
            > str_replace_based_edit_tool {"command":"str_replace","path":"a.rs","old_str":"2\n"}
            Edited a.rs:
                 1  one
                 2 -2
                 2  three
            > str_replace_based_edit_tool {"command":"insert","path":"a.rs","insert_line":1,"insert_text":"new\n"}
            Edited a.rs:
                 1  one
                 2 +new
                 3  three
            > str_replace_based_edit_tool {"command":"insert","path":"a.rs","insert_line":3,"insert_text":"last"}
            Edited a.rs:
                 1  one
                 2  new
                 3  three
                 4 +last
            > str_replace_based_edit_tool {"command":"insert","path":"a.rs","insert_line":9,"insert_text":"x"}
            error: insert_line 9 is none; a.rs has 4 lines
            > str_replace_based_edit_tool {"command":"insert","path":"a.rs","insert_line":0}
            error: insert needs insert_text
            > str_replace_based_edit_tool {"command":"create","path":"a.rs","file_text":"x"}
            error: a.rs exists, and create only makes new files; use str_replace
            > str_replace_based_edit_tool {"command":"create","path":"new/c","file_text":"x\n"}
            Created new/c (1 line)
            > str_replace_based_edit_tool {"command":"str_replace","path":"new/c","old_str":"","new_str":"2"}
            error: old_str is empty; name the text to replace
            == a.rs "one\nnew\nthree\nlast\n"
            == new/c "x\n"
        "#]],
    );
}

#[test]
fn the_editors_facts_are_those_of_what_it_does() {
    let facts = |command: &str| {
        let input = format!(r#"{{"command":"{command}","path":"a"}}"#);
        let input = RawJson::parse(&input).unwrap();
        TextEditor::default().facts(&input, "/space").accesses
    };
    use heeler_core::Access::{Read, Write};
    assert_eq!(facts("view"), [Read("/space/a".into())]);
    for command in ["create", "str_replace", "insert"] {
        assert_eq!(facts(command), [Write("/space/a".into())], "{command}");
    }
}

#[test]
fn the_vendor_gets_its_own_declaration() {
    let definition = TextEditor::default().definition();
    let raw = definition.raw.unwrap();
    assert_eq!(raw.provider, "anthropic");
    assert_eq!(
        raw.json.value(),
        serde_json::json!({"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"})
    );
    assert_eq!(definition.name, "str_replace_based_edit_tool");
}
