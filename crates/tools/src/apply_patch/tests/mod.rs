//! What `apply_patch` promises, played on real files.

mod places;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::rc::Rc;

use expect_test::expect;
use proptest::prelude::*;
use rustix::fs::XattrFlags;
use serde_json::json;

use super::*;
use crate::testing::{Folder, check};

const CODE: &str = "fn one() {\n    call(1);\n}\n\nfn two() {\n    call(2);\n}\n";

/// A call with this patch between its first and its last line.
fn patch(body: &str) -> String {
    format!("apply_patch {}", json!({"input": format!("*** Begin Patch\n{body}*** End Patch\n")}))
}

fn read(path: &str) -> String {
    format!("Read {}", json!({"file_path": path, "limit": 1}))
}

#[test]
fn files_are_added_changed_moved_and_deleted() {
    check(
        &[("a.rs", CODE), ("b.rs", "x\n"), ("old/c.rs", "one\ntwo\n")],
        &[
            &read("a.rs"),
            &read("b.rs"),
            &read("old/c.rs"),
            &patch(
                "*** Add File: new/d.rs\n+first\n+\n+last\n*** Update File: a.rs\n@@ fn two() {\n\
                 -    call(2);\n+    call(3);\n*** Delete File: b.rs\n\
                 *** Update File: old/c.rs\n*** Move to: new/c.rs\n@@\n one\n-two\n+2\n",
            ),
            &patch("*** Update File: new/c.rs\n@@\n-2\n+two\n"),
            r#"LS {"path":"."}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.rs","limit":1}
                 1	fn one() {
            (6 more of 7 lines; continue with offset 2)
            > Read {"file_path":"b.rs","limit":1}
                 1	x
            > Read {"file_path":"old/c.rs","limit":1}
                 1	one
            (1 more of 2 lines; continue with offset 2)
            > apply_patch {"input":"*** Begin Patch\n*** Add File: new/d.rs\n+first\n+\n+last\n*** Update File: a.rs\n@@ fn two() {\n-    call(2);\n+    call(3);\n*** Delete File: b.rs\n*** Update File: old/c.rs\n*** Move to: new/c.rs\n@@\n one\n-two\n+2\n*** End Patch\n"}
            Added new/d.rs
            Updated a.rs:
                 3  }
                 4  
                 5  fn two() {
                 6 -    call(2);
                 6 +    call(3);
                 7  }
            Deleted b.rs
            Added new/c.rs:
                 1  one
                 2 -two
                 2 +2
            Deleted old/c.rs
            > apply_patch {"input":"*** Begin Patch\n*** Update File: new/c.rs\n@@\n-2\n+two\n*** End Patch\n"}
            Updated new/c.rs:
                 1  one
                 2 -2
                 2 +two
            > LS {"path":"."}
            . (3 entries)
                 53B  a.rs
                 dir  new/
                 dir  old/
            == a.rs "fn one() {\n    call(1);\n}\n\nfn two() {\n    call(3);\n}\n"
            == new/c.rs "one\ntwo\n"
            == new/d.rs "first\n\nlast\n"
        "#]],
    );
}

#[test]
fn all_or_nothing() {
    check(
        &[("a.rs", CODE), ("b.rs", "x\n"), ("unread", "x\n")],
        &[
            &read("a.rs"),
            &read("b.rs"),
            &patch("*** Add File: new\n+x\n*** Update File: a.rs\n-call(9)\n+call(3)\n"),
            &patch("*** Add File: new\n+x\n*** Delete File: unread\n"),
            &patch("*** Add File: b.rs\n+x\n"),
            &patch("*** Delete File: b.rs\n*** Update File: gone.rs\n-x\n+y\n"),
            &patch("*** Delete File: b.rs\n*** Update File: b.rs\n-x\n+y\n"),
            &patch("*** Update File: b.rs\n*** Move to: a.rs\n-x\n+y\n"),
            &patch("*** Update File: b.rs\n*** Move to: ./b.rs\n-x\n+y\n"),
            &patch("*** Update File: b.rs\n-x\n+x\n"),
            &patch("*** Add File: c\n+k=[redacted: secret]\n"),
        ],
        expect![[r#"
            > Read {"file_path":"a.rs","limit":1}
                 1	fn one() {
            (6 more of 7 lines; continue with offset 2)
            > Read {"file_path":"b.rs","limit":1}
                 1	x
            > apply_patch {"input":"*** Begin Patch\n*** Add File: new\n+x\n*** Update File: a.rs\n-call(9)\n+call(3)\n*** End Patch\n"}
            error: the change at line 5 of the patch was not found in a.rs; the nearest text is:
                 2	    call(1);
            Nothing was changed.
            > apply_patch {"input":"*** Begin Patch\n*** Add File: new\n+x\n*** Delete File: unread\n*** End Patch\n"}
            error: unread has not been read in this session; Read it, then try again
            Nothing was changed.
            > apply_patch {"input":"*** Begin Patch\n*** Add File: b.rs\n+x\n*** End Patch\n"}
            error: b.rs exists; update it, or delete it first with a patch of its own
            Nothing was changed.
            > apply_patch {"input":"*** Begin Patch\n*** Delete File: b.rs\n*** Update File: gone.rs\n-x\n+y\n*** End Patch\n"}
            error: gone.rs does not exist; use Glob or LS to find it
            Nothing was changed.
            > apply_patch {"input":"*** Begin Patch\n*** Delete File: b.rs\n*** Update File: b.rs\n-x\n+y\n*** End Patch\n"}
            error: the patch names b.rs twice; only several updates of one file are possible
            Nothing was changed.
            > apply_patch {"input":"*** Begin Patch\n*** Update File: b.rs\n*** Move to: a.rs\n-x\n+y\n*** End Patch\n"}
            error: a.rs exists; update it, or delete it first with a patch of its own
            Nothing was changed.
            > apply_patch {"input":"*** Begin Patch\n*** Update File: b.rs\n*** Move to: ./b.rs\n-x\n+y\n*** End Patch\n"}
            error: b.rs is to be moved to itself
            Nothing was changed.
            > apply_patch {"input":"*** Begin Patch\n*** Update File: b.rs\n-x\n+x\n*** End Patch\n"}
            error: the patch would leave every file as it is
            > apply_patch {"input":"*** Begin Patch\n*** Add File: c\n+k=[redacted: secret]\n*** End Patch\n"}
            error: the text holds `[redacted: ...]`, which stands for a secret that you were not shown, so it would not be written to c as it is; change the parts around it with Edit, or leave the place to the user
            Nothing was changed.
        "#]],
    );
}

#[test]
fn what_models_wrap_a_patch_in_is_taken_off() {
    let body = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    for (before, after) in [
        ("", ""),
        ("\n", "\n\n"),
        ("```\n", "\n```\n"),
        ("```diff\n", "\n```"),
        ("<<EOF\n", "\nEOF\n"),
        ("apply_patch <<'EOF'\n", "\nEOF\n"),
        ("  ", "  "),
    ] {
        assert!(parse::parse(&format!("{before}{body}{after}")).is_ok(), "{before:?}");
        let with_carriage_returns = format!("{before}{body}{after}").replace('\n', "\r\n");
        assert_eq!(parse::parse(&with_carriage_returns), parse::parse(body), "{before:?}");
    }
}

#[test]
fn a_patch_that_cannot_be_read_is_refused() {
    let refused = |text: &str| parse::parse(text).unwrap_err();
    let said = [
        "",
        "*** Begin Patch\n*** Add File: a\n+x\n",
        "rm -rf x\n*** Begin Patch\n*** Delete File: a\n*** End Patch",
        "*** Begin Patch\n*** Delete File: a\n*** End Patch\nand more text",
        "*** Begin Patch\n*** End Patch",
        "*** Begin Patch\n*** Delete File:\n*** End Patch",
        "*** Begin Patch\n*** Rename File: a\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n@@\n x\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n*** Move to:\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n+x\n*** End of File\n+y\n*** End Patch",
    ]
    .map(refused)
    .join("\n");
    expect![[r#"
        the patch must begin with a line `*** Begin Patch`
        the patch has no line `*** End Patch`; it may have been cut short
        there is other text before the line `*** Begin Patch`
        there is other text after the line `*** End Patch`
        the patch names no file
        line 2 of the patch names no file
        line 2 of the patch should be `*** Add File: PATH`, `*** Update File: PATH`, `*** Delete File: PATH` or `*** End Patch`, but it is: *** Rename File: a
        line 3 of the patch should begin with `+`, as of a file to add, but it is: x
        an update of a file changes nothing in it
        the change at line 3 of the patch neither adds nor removes a line
        line 4 of the patch should begin with a space, `-`, `+` or `@@`, but it is: x
        line 3 of the patch names no file
        line 5 of the patch follows `*** End of File`"#]].assert_eq(&said);
    let many = "*** Delete File: a\n".repeat(PATCH_FILES_MAX + 1);
    let said = refused(&format!("*** Begin Patch\n{many}*** End Patch"));
    assert_eq!(said, "the patch names more than 200 files; split it");
    let folder = Folder::new(&[]);
    let long = json!({"input": "x".repeat(PATCH_BYTES_MAX + 1)}).to_string();
    let said = folder.play("apply_patch", &long);
    assert_eq!(said, "error: the patch has 4194305 bytes; at most 4194304 are possible");
}

#[test]
fn the_facts_name_every_path() {
    let body = "*** Add File: a\n+x\n*** Delete File: ../b\n*** Update File: /etc/c\n\
                *** Move to: d\n-x\n+y\n*** Update File: a\n-x\n+y\n";
    let input = ApplyPatchInput { input: format!("*** Begin Patch\n{body}*** End Patch") };
    let facts = ApplyPatch {}.facts(&input, "/space");
    let expected = ["/space/a", "/b", "/etc/c", "/space/d"];
    let accesses = expected.map(|path| heeler_core::Access::Write(path.to_owned()));
    assert_eq!(facts.accesses, accesses);
    let keys: Vec<_> = facts.resources.iter().map(|one| (one.key.as_str(), one.write)).collect();
    let expected = expected.map(|path| (format!("file:{path}"), true));
    assert_eq!(keys, expected.each_ref().map(|(key, write)| (key.as_str(), *write)));
    assert!(!facts.replay_safe);
}

#[test]
fn a_moved_file_keeps_its_mode_and_links_are_not_followed() {
    let folder = Folder::new(&[("a", "x\n"), ("link", "->a")]);
    fs::set_permissions(folder.path("a"), fs::Permissions::from_mode(0o751)).unwrap();
    folder.play("Read", r#"{"file_path":"a"}"#);
    let play = |body: &str| {
        let call = patch(body);
        folder.play("apply_patch", call.split_once(' ').unwrap().1)
    };
    let said = play("*** Delete File: link\n");
    assert!(said.starts_with("error: link is a symbolic link to a; use Bash"), "{said}");
    let noted =
        rustix::fs::setxattr(folder.path("a"), "user.note", b"mine", XattrFlags::empty()).is_ok();
    // Version 2; the owner may read and write, user 1234 too, the group nothing, as much as the mask,
    // which is what the mode shows for the group, and others nothing.
    let none = u32::MAX;
    let entries = [(1_u16, 7_u16, none), (2, 6, 1234), (4, 0, none), (16, 5, none), (32, 1, none)];
    let entries = entries.map(|(tag, may, id)| {
        [&tag.to_le_bytes()[..], &may.to_le_bytes(), &id.to_le_bytes()].concat()
    });
    let list = [&2_u32.to_le_bytes()[..], &entries.concat()].concat();
    let name = "system.posix_acl_access";
    let listed = rustix::fs::setxattr(folder.path("a"), name, &list, XattrFlags::empty()).is_ok();
    assert_eq!(play("*** Update File: a\n*** Move to: b\n"), "Added b\nDeleted a");
    let has = |name: &str| {
        let mut value = [0; 256];
        let length = rustix::fs::getxattr(folder.path("b"), name, &mut value[..]);
        length.map(|length| value[..length].to_vec()).unwrap_or_default()
    };
    assert!(!noted || has("user.note") == b"mine");
    assert!(!listed || has(name) == list);
    assert_eq!(fs::metadata(folder.path("b")).unwrap().permissions().mode() & 0o777, 0o751);
    assert_eq!(folder.listing(), ["b", "link"]);
}

#[test]
fn what_fails_in_the_middle_is_taken_back() {
    let folder = Folder::new(&[("a", "x\n"), ("b", "x\n"), ("c", "x\n")]);
    let context = folder.context();
    let parts = |path, after: Option<&str>| {
        let place = place::Place::to_write(&context, NAME, path).unwrap();
        let before = guard::load(&place, path).unwrap().map(Rc::new);
        let after = after.map(|text| text.as_bytes().to_vec());
        let (notes, snippets) = (Vec::new(), Vec::new());
        Target { path: path.to_owned(), place, before, after, like: None, notes, snippets }
    };
    let mut targets = vec![
        parts("a", Some("y\n")),
        parts("new", Some("y\n")),
        parts("b", None),
        parts("c", None),
    ];
    // Its removal fails where all else is done: it is a folder by then.
    let before = targets[3].before.as_mut().and_then(Rc::get_mut).unwrap();
    fs::remove_file(folder.path("c")).unwrap();
    fs::create_dir(folder.path("c")).unwrap();
    before.metadata = fs::metadata(folder.path("c")).unwrap();
    let error = carry_out(&context, &mut targets).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot write c: ") && error.ends_with("nothing was changed"),
        "{error}"
    );
    assert_eq!(folder.listing(), ["a", "b", "c"]);
    for path in ["a", "b"] {
        assert_eq!(fs::read_to_string(folder.path(path)).unwrap(), "x\n");
    }
}

#[test]
fn somebody_elses_change_wins() {
    let folder = Folder::new(&[("a", "x\n"), ("b", "x\n")]);
    for path in ["a", "b"] {
        folder.play("Read", &format!(r#"{{"file_path":"{path}"}}"#));
    }
    fs::write(folder.path("b"), "theirs\n").unwrap();
    let call = patch("*** Update File: a\n-x\n+y\n*** Update File: b\n-x\n+y\n");
    let said = folder.play("apply_patch", call.split_once(' ').unwrap().1);
    assert_eq!(
        said,
        "error: b has changed since you last read or wrote it; Read it, then try again\nNothing was changed."
    );
    assert_eq!(fs::read_to_string(folder.path("a")).unwrap(), "x\n");
}

proptest! {
    /// Whatever the text, nothing panics, and what is read says no more paths than it has lines.
    #[test]
    fn any_text_is_read_or_refused(text in "([*@+ -]{0,4}(Begin Patch|Add File: a|Update File: b|End Patch|x)?\n){0,12}") {
        let lines = text.lines().count();
        if let Ok(parts) = parse::parse(&text) {
            prop_assert!(parse::paths(&parts).len() <= lines);
        }
        if let Ok(parts) = parse::parse(&format!("*** Begin Patch\n{text}*** End Patch")) {
            prop_assert!(parse::paths(&parts).len() <= lines);
        }
    }
}
