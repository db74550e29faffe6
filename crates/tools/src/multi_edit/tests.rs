//! What `MultiEdit` promises, played on real files.

use expect_test::expect;
use serde_json::json;

use super::*;
use crate::testing::{Folder, check};

#[test]
fn edits_follow_each_other_all_or_none() {
    check(
        &[("a.rs", "one\ntwo\nthree\n")],
        &[
            r#"MultiEdit {"file_path":"a.rs","edits":[{"old_string":"one","new_string":"1"}]}"#,
            r#"Read {"file_path":"a.rs","limit":1}"#,
            r#"MultiEdit {"file_path":"a.rs","edits":[{"old_string":"one","new_string":"1"},{"old_string":"1\ntwo","new_string":"1\n2"}]}"#,
            r#"MultiEdit {"file_path":"a.rs","edits":[{"old_string":"1","new_string":"one"},{"old_string":"four","new_string":"4"}]}"#,
            r#"MultiEdit {"file_path":"a.rs","edits":[{"old_string":"1","new_string":"x"},{"old_string":"x","new_string":"1"}]}"#,
            r#"MultiEdit {"file_path":"a.rs","edits":[]}"#,
            r#"MultiEdit {"file_path":"a.rs","edits":[{"old_string":"","new_string":"x"}]}"#,
            r#"MultiEdit {"file_path":"b.rs","edits":[{"old_string":"x","new_string":"y"}]}"#,
            r#"MultiEdit {"file_path":"b.rs","edits":[{"old_string":"","new_string":"x x\n"},{"old_string":"x","new_string":"y","replace_all":true}]}"#,
        ],
        expect![[r#"
            > MultiEdit {"file_path":"a.rs","edits":[{"old_string":"one","new_string":"1"}]}
            error: a.rs has not been read in this session; Read it, then try again
            > Read {"file_path":"a.rs","limit":1}
                 1	one
            (2 more of 3 lines; continue with offset 2)
            > MultiEdit {"file_path":"a.rs","edits":[{"old_string":"one","new_string":"1"},{"old_string":"1\ntwo","new_string":"1\n2"}]}
            Edited a.rs, 2 edits:
                 1 -one
                 1 +1
                 2  two
                 3  three
                 1  1
                 2 -two
                 2 +2
                 3  three
            > MultiEdit {"file_path":"a.rs","edits":[{"old_string":"1","new_string":"one"},{"old_string":"four","new_string":"4"}]}
            error: edit 2 of 2: old_string was not found in a.rs; nothing in the file is much like it, so Read the file again
            None of the edits was made.
            > MultiEdit {"file_path":"a.rs","edits":[{"old_string":"1","new_string":"x"},{"old_string":"x","new_string":"1"}]}
            error: the edits together leave a.rs as it is
            > MultiEdit {"file_path":"a.rs","edits":[]}
            error: there are 0 edits; from 1 to 200 are possible
            > MultiEdit {"file_path":"a.rs","edits":[{"old_string":"","new_string":"x"}]}
            error: edit 1 of 1: old_string is empty; name the text to replace
            None of the edits was made.
            > MultiEdit {"file_path":"b.rs","edits":[{"old_string":"x","new_string":"y"}]}
            error: b.rs does not exist; did you mean a.rs?
            > MultiEdit {"file_path":"b.rs","edits":[{"old_string":"","new_string":"x x\n"},{"old_string":"x","new_string":"y","replace_all":true}]}
            Created b.rs, 2 edits:
                 1 -x x
                 1 +y y
            == a.rs "1\n2\nthree\n"
            == b.rs "y y\n"
        "#]],
    );
}

#[test]
fn edits_are_bounded() {
    let folder = Folder::new(&[("a", &"x\n\n\n\n\n\n\n\n\n".repeat(4))]);
    folder.play("Read", r#"{"file_path":"a","limit":1}"#);
    let one = json!({"old_string": "a", "new_string": "b"});
    let input = json!({"file_path": "a", "edits": vec![one; MULTI_EDITS_MAX + 1]});
    let said = folder.play("MultiEdit", &input.to_string());
    assert_eq!(said, "error: there are 201 edits; from 1 to 200 are possible");
    let one =
        |old: &str, new: &str| json!({"old_string": old, "new_string": new, "replace_all": true});
    let (x, y) = ("x".repeat(100), "y".repeat(100));
    let edits: Vec<_> = [one("x", &x)]
        .into_iter()
        .chain((0..60).map(|n| if n % 2 == 0 { one(&x, &y) } else { one(&y, &x) }))
        .collect();
    let said = folder.play("MultiEdit", &json!({"file_path": "a", "edits": edits}).to_string());
    assert!(said.len() < SHOWN_BYTES_MAX + 200 && said.ends_with("more bytes]"), "{}", said.len());
}
