//! What `Write` promises, played on real files.

use std::fs;

use expect_test::expect;

use super::*;
use crate::guard::FILE_BYTES_MAX;
use crate::testing::{Folder, check};

#[test]
fn a_new_file_brings_its_folders() {
    check(
        &[],
        &[
            r#"Write {"file_path":"src/deep/a.rs","content":"one\ntwo"}"#,
            r#"Write {"file_path":"b.rs","content":"one\n"}"#,
            r#"Write {"file_path":"empty","content":""}"#,
        ],
        expect![[r#"
            > Write {"file_path":"src/deep/a.rs","content":"one\ntwo"}
            Created src/deep/a.rs (2 lines)
            > Write {"file_path":"b.rs","content":"one\n"}
            Created b.rs (1 line)
            > Write {"file_path":"empty","content":""}
            Created empty (0 lines)
            == b.rs "one\n"
            == empty ""
            == src/deep/a.rs "one\ntwo"
        "#]],
    );
}

/// A file that speaks of the marker may hold a secret, too, and then the marker is shown for both.
#[test]
fn a_marker_of_the_files_own_does_not_stand_for_another() {
    let key = "KEY=sk\n# shows [redacted: key] in logs\n";
    check(
        &[("a", key), ("b", key)],
        &[
            r#"Read {"file_path":"a"}"#,
            r##"Write {"file_path":"a","content":"KEY=[redacted: key]\n# shows [redacted: key] in logs\n"}"##,
            r##"Write {"file_path":"a","content":"# shows [redacted: key]\n"}"##,
            r#"Read {"file_path":"b"}"#,
            r#"Edit {"file_path":"b","old_string":"KEY=sk","new_string":"KEY=[redacted: key]"}"#,
            r##"Edit {"file_path":"b","old_string":"# shows [redacted: key]","new_string":"# has [redacted: key]"}"##,
            r##"apply_patch {"input":"*** Begin Patch\n*** Update File: b\n KEY=sk\n-# has [redacted: key] in logs\n+# has [redacted: key]\n+# and [redacted: key]\n*** End Patch\n"}"##,
            r##"apply_patch {"input":"*** Begin Patch\n*** Update File: b\n KEY=sk\n-# has [redacted: key] in logs\n+# has [redacted: key]\n*** End Patch\n"}"##,
        ],
        expect![[r##"
            > Read {"file_path":"a"}
                 1	KEY=sk
                 2	# shows [redacted: key] in logs
            > Write {"file_path":"a","content":"KEY=[redacted: key]\n# shows [redacted: key] in logs\n"}
            error: the text holds `[redacted: ...]`, which stands for a secret that you were not shown, so it would not be written to a as it is; change the parts around it with Edit, or leave the place to the user
            > Write {"file_path":"a","content":"# shows [redacted: key]\n"}
            Updated a (1 line)
            > Read {"file_path":"b"}
                 1	KEY=sk
                 2	# shows [redacted: key] in logs
            > Edit {"file_path":"b","old_string":"KEY=sk","new_string":"KEY=[redacted: key]"}
            error: the text holds `[redacted: ...]`, which stands for a secret that you were not shown, so it would not be written to b as it is; change the parts around it with Edit, or leave the place to the user
            > Edit {"file_path":"b","old_string":"# shows [redacted: key]","new_string":"# has [redacted: key]"}
            Edited b:
                 1  KEY=sk
                 2 -# shows [redacted: key] in logs
                 2 +# has [redacted: key] in logs
            > apply_patch {"input":"*** Begin Patch\n*** Update File: b\n KEY=sk\n-# has [redacted: key] in logs\n+# has [redacted: key]\n+# and [redacted: key]\n*** End Patch\n"}
            error: the text holds `[redacted: ...]`, which stands for a secret that you were not shown, so it would not be written to b as it is; change the parts around it with Edit, or leave the place to the user
            Nothing was changed.
            > apply_patch {"input":"*** Begin Patch\n*** Update File: b\n KEY=sk\n-# has [redacted: key] in logs\n+# has [redacted: key]\n*** End Patch\n"}
            Updated b:
                 1  KEY=sk
                 2 -# has [redacted: key] in logs
                 2 +# has [redacted: key]
            == a "# shows [redacted: key]\n"
            == b "KEY=sk\n# has [redacted: key]\n"
        "##]],
    );
}

#[test]
fn what_was_put_aside_is_not_written_back() {
    let content = "a\n[media://5a2f is one\n";
    check(
        &[("style.css", "url(data:image/png;base64,iVBO)\n"), ("own", content)],
        &[
            r#"Read {"file_path":"style.css"}"#,
            r#"Write {"file_path":"style.css","content":"url([media://5a2f image/png 300 B in /s/5a2f])\n"}"#,
            r#"Write {"file_path":"new","content":"url([media://5a2f image/png 300 B])\n"}"#,
            r#"Edit {"file_path":"style.css","old_string":"url([media://5a2f image/png 300 B])","new_string":""}"#,
            r#"Edit {"file_path":"style.css","old_string":"url(","new_string":"url([media://5a2f image/png 300 B]"}"#,
            r#"MultiEdit {"file_path":"style.css","edits":[{"old_string":"url(","new_string":"url([media://5a2f image/png 300 B]"}]}"#,
            r#"Read {"file_path":"own"}"#,
            r#"Write {"file_path":"own","content":"b\n[media://5a2f is one\n"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"style.css"}
                 1	url(data:image/png;base64,iVBO)
            > Write {"file_path":"style.css","content":"url([media://5a2f image/png 300 B in /s/5a2f])\n"}
            error: the text holds `[media://...]`, which stands for data that you were not shown, so it would not be written to style.css as it is; change the parts around it with Edit, or leave the place to the user
            > Write {"file_path":"new","content":"url([media://5a2f image/png 300 B])\n"}
            error: the text holds `[media://...]`, which stands for data that you were not shown, so it would not be written to new as it is; change the parts around it with Edit, or leave the place to the user
            > Edit {"file_path":"style.css","old_string":"url([media://5a2f image/png 300 B])","new_string":""}
            error: the text holds `[media://...]`, which stands for data that you were not shown, so it would not be written to style.css as it is; change the parts around it with Edit, or leave the place to the user
            > Edit {"file_path":"style.css","old_string":"url(","new_string":"url([media://5a2f image/png 300 B]"}
            error: the text holds `[media://...]`, which stands for data that you were not shown, so it would not be written to style.css as it is; change the parts around it with Edit, or leave the place to the user
            > MultiEdit {"file_path":"style.css","edits":[{"old_string":"url(","new_string":"url([media://5a2f image/png 300 B]"}]}
            error: the text holds `[media://...]`, which stands for data that you were not shown, so it would not be written to style.css as it is; change the parts around it with Edit, or leave the place to the user
            > Read {"file_path":"own"}
                 1	a
                 2	[media://5a2f is one
            > Write {"file_path":"own","content":"b\n[media://5a2f is one\n"}
            Updated own (2 lines)
            == own "b\n[media://5a2f is one\n"
        "#]],
    );
}

#[test]
fn what_was_redacted_is_not_written_back() {
    let written = r#"Write {"file_path":".env","content":"KEY=[redacted: Anthropic key]\n"}"#;
    check(
        &[(".env", "KEY=1\n"), ("doc", "`[redacted: x]` is a marker\n")],
        &[
            r#"Read {"file_path":".env"}"#,
            written,
            r#"Write {"file_path":"b","content":"[redacted: secret]"}"#,
            r#"Read {"file_path":"doc"}"#,
            r#"Write {"file_path":"doc","content":"`[redacted: x]` is one\n"}"#,
            r#"Write {"file_path":"doc","content":"`[redacted: y]` is one\n"}"#,
        ],
        expect![[r#"
            > Read {"file_path":".env"}
                 1	KEY=1
            > Write {"file_path":".env","content":"KEY=[redacted: Anthropic key]\n"}
            error: the text holds `[redacted: ...]`, which stands for a secret that you were not shown, so it would not be written to .env as it is; change the parts around it with Edit, or leave the place to the user
            > Write {"file_path":"b","content":"[redacted: secret]"}
            error: the text holds `[redacted: ...]`, which stands for a secret that you were not shown, so it would not be written to b as it is; change the parts around it with Edit, or leave the place to the user
            > Read {"file_path":"doc"}
                 1	`[redacted: x]` is a marker
            > Write {"file_path":"doc","content":"`[redacted: x]` is one\n"}
            Updated doc (1 line)
            > Write {"file_path":"doc","content":"`[redacted: y]` is one\n"}
            error: the text holds `[redacted: ...]`, which stands for a secret that you were not shown, so it would not be written to doc as it is; change the parts around it with Edit, or leave the place to the user
            == doc "`[redacted: x]` is one\n"
        "#]],
    );
}

#[test]
fn a_file_is_replaced_only_by_who_has_seen_it() {
    check(
        &[("a.txt", "old\n"), ("link", "->a.txt")],
        &[
            r#"Write {"file_path":"a.txt","content":"new\n"}"#,
            r#"Read {"file_path":"link"}"#,
            r#"Write {"file_path":"a.txt","content":"new\n"}"#,
            r#"Write {"file_path":"a.txt","content":"new\n"}"#,
            r#"Write {"file_path":"link","content":"newer\n"}"#,
        ],
        expect![[r#"
            > Write {"file_path":"a.txt","content":"new\n"}
            error: a.txt has not been read in this session; Read it, then try again
            > Read {"file_path":"link"}
                 1	old
            > Write {"file_path":"a.txt","content":"new\n"}
            Updated a.txt (1 line)
            > Write {"file_path":"a.txt","content":"new\n"}
            a.txt already has exactly this content; nothing was written
            > Write {"file_path":"link","content":"newer\n"}
            Updated link (1 line)
            == a.txt "newer\n"
        "#]],
    );
}

#[test]
fn what_was_not_shown_is_not_replaced() {
    let write = r#"Write {"file_path":"a","content":"x\n"}"#;
    check(
        &[("a", "1\n2\n3\n4\n5\n"), ("long", &format!("1\n{}\n3\n", "x".repeat(2_001)))],
        &[
            r#"Read {"file_path":"a","limit":2}"#,
            r#"Read {"file_path":"a","offset":4,"limit":1}"#,
            write,
            r#"Read {"file_path":"a","offset":2,"limit":2}"#,
            r#"Edit {"file_path":"a","old_string":"5","new_string":"five"}"#,
            write,
            r#"Read {"file_path":"a"}"#,
            r#"Read {"file_path":"a","limit":1}"#,
            r#"Edit {"file_path":"a","old_string":"five","new_string":"5"}"#,
            write,
            r#"Read {"file_path":"long","limit":1}"#,
            r#"Read {"file_path":"long","offset":3}"#,
            r#"Write {"file_path":"long","content":"x\n"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a","limit":2}
                 1	1
                 2	2
            (3 more of 5 lines; continue with offset 3)
            > Read {"file_path":"a","offset":4,"limit":1}
                 4	4
            (1 more of 5 lines; continue with offset 5)
            > Write {"file_path":"a","content":"x\n"}
            error: a would lose what you have not seen: of its 5 lines only 1-2, 4 were shown to you as they are; Read the others, or change parts of it with Edit
            > Read {"file_path":"a","offset":2,"limit":2}
                 2	2
                 3	3
            (2 more of 5 lines; continue with offset 4)
            > Edit {"file_path":"a","old_string":"5","new_string":"five"}
            Edited a:
                 2  2
                 3  3
                 4  4
                 5 -5
                 5 +five
            > Write {"file_path":"a","content":"x\n"}
            error: a would lose what you have not seen: of its 5 lines none is known to you; Read the others, or change parts of it with Edit
            > Read {"file_path":"a"}
                 1	1
                 2	2
                 3	3
                 4	4
                 5	five
            > Read {"file_path":"a","limit":1}
                 1	1
            (4 more of 5 lines; continue with offset 2)
            > Edit {"file_path":"a","old_string":"five","new_string":"5"}
            Edited a:
                 2  2
                 3  3
                 4  4
                 5 -five
                 5 +5
            > Write {"file_path":"a","content":"x\n"}
            Updated a (1 line)
            > Read {"file_path":"long","limit":1}
                 1	1
            (2 more of 3 lines; continue with offset 2)
            > Read {"file_path":"long","offset":3}
                 3	3
            > Write {"file_path":"long","content":"x\n"}
            error: long would lose what you have not seen: of its 3 lines only 1, 3 were shown to you as they are; Read the others, or change parts of it with Edit
            == a "x\n"
        "#]],
    );
    let folder = Folder::new(&[("a", "")]);
    let said = |lines: u64, content: &[u8]| {
        folder.write("a", content, lines);
        folder.play("Read", r#"{"file_path":"a"}"#);
        folder.play("Write", r#"{"file_path":"a","content":"y\n"}"#)
    };
    expect!["error: a would lose what you have not seen: of its 3000 lines only 1-2000 were shown to you as they are; Read the others, or change parts of it with Edit"].assert_eq(&said(1, "x\n".repeat(3_000).as_bytes()));
    let mut odd = [&[b'x'; 999][..], b"\n"].concat().repeat(9);
    odd.extend(b"caf\xe9\n");
    expect!["error: a would lose what you have not seen: of its 10 lines only 1-9 were shown to you as they are; Read the others, or change parts of it with Edit"].assert_eq(&said(2, &odd));
}

#[test]
fn what_read_does_not_show_of_a_text_is_kept() {
    check(
        &[("both", "\u{feff}a\r\nb\r\n"), ("ends", "a\r\nb"), ("mixed", "\u{feff}a\r\nb\n")],
        &[
            r#"Read {"file_path":"both"}"#,
            r#"Write {"file_path":"both","content":"a\nb\n"}"#,
            r#"Write {"file_path":"both","content":"c\nd\n"}"#,
            r#"Write {"file_path":"both","content":"\ufeffa\r\nd\n"}"#,
            r#"Read {"file_path":"ends"}"#,
            r#"Write {"file_path":"ends","content":"c\n\nd\n"}"#,
            r#"Read {"file_path":"mixed"}"#,
            r#"Write {"file_path":"mixed","content":"c\nd\n"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"both"}
                 1	a
                 2	b
            > Write {"file_path":"both","content":"a\nb\n"}
            both already has exactly this content; nothing was written
            > Write {"file_path":"both","content":"c\nd\n"}
            Updated both (2 lines; byte order mark and CRLF line ends kept)
            > Write {"file_path":"both","content":"\ufeffa\r\nd\n"}
            Updated both (2 lines)
            > Read {"file_path":"ends"}
                 1	a
                 2	b
            > Write {"file_path":"ends","content":"c\n\nd\n"}
            Updated ends (3 lines; CRLF line ends kept)
            > Read {"file_path":"mixed"}
                 1	a
                 2	b
            > Write {"file_path":"mixed","content":"c\nd\n"}
            Updated mixed (2 lines; byte order mark kept)
            == both "\u{feff}a\r\nd\n"
            == ends "c\r\n\r\nd\r\n"
            == mixed "\u{feff}c\nd\n"
        "#]],
    );
}

#[test]
fn a_file_that_changed_meanwhile_must_be_read_again() {
    let folder = Folder::new(&[("a.txt", "old\n")]);
    folder.play("Read", r#"{"file_path":"a.txt"}"#);
    folder.write("a.txt", b"theirs\n", 1);
    let input = r#"{"file_path":"a.txt","content":"mine\n"}"#;
    let said = folder.play("Write", input);
    assert!(said.contains("has changed since you last read or wrote it; Read it"), "{said}");
    assert_eq!(fs::read_to_string(folder.path("a.txt")).unwrap(), "theirs\n");
    folder.play("Read", r#"{"file_path":"a.txt"}"#);
    expect!["Updated a.txt (1 line)"].assert_eq(&folder.play("Write", input));
}

#[test]
fn odd_places_are_refused_and_nothing_is_left_behind() {
    check(
        &[("folder/x", ""), ("dangling", "->nowhere"), ("out", "->/tmp")],
        &[
            r#"Write {"file_path":"folder","content":"x"}"#,
            r#"Write {"file_path":"folder/x/y","content":"x"}"#,
            r#"Write {"file_path":"dangling","content":"x"}"#,
            r#"Write {"file_path":"dangling/deep","content":"x"}"#,
            r#"Write {"file_path":"out/heeler-was-here","content":"x"}"#,
            r#"Write {"file_path":"","content":"x"}"#,
        ],
        expect![[r#"
            > Write {"file_path":"folder","content":"x"}
            error: folder is a folder; use LS to list it
            > Write {"file_path":"folder/x/y","content":"x"}
            error: cannot look up folder/x/y: Not a directory (os error 20)
            > Write {"file_path":"dangling","content":"x"}
            error: cannot look up dangling: $W/dangling is a symbolic link to something that does not exist
            > Write {"file_path":"dangling/deep","content":"x"}
            error: cannot look up dangling/deep: $W/dangling is a symbolic link to something that does not exist
            > Write {"file_path":"out/heeler-was-here","content":"x"}
            error: out/heeler-was-here leads out of the workspace through a symbolic link, to /tmp/heeler-was-here; permission was given for the path inside only, so name the real path if you need that file
            > Write {"file_path":"","content":"x"}
            error: an empty path is a folder; use LS to list it
        "#]],
    );
}

#[test]
fn content_is_bounded() {
    let folder = Folder::new(&[]);
    // JSON of that size is refused earlier; a caller with a typed input gets here.
    let content = "x".repeat(FILE_BYTES_MAX as usize + 1);
    let input = WriteInput { file_path: "a".into(), content };
    let error = write(&folder.context(), &input).unwrap_err().to_string();
    assert_eq!(error, "the content has 33554433 bytes; at most 33554432 can be written at once");
    assert!(folder.listing().is_empty());
}

#[test]
fn a_file_too_large_to_be_seen_is_not_replaced() {
    let folder = Folder::new(&[("a.txt", "x")]);
    let file = fs::File::options().write(true).open(folder.path("a.txt")).unwrap();
    file.set_len(FILE_BYTES_MAX + 1).unwrap();
    let said = folder.play("Write", r#"{"file_path":"a.txt","content":"y"}"#);
    assert!(said.contains("files of more than 33554432 bytes cannot be changed"), "{said}");
}

#[test]
fn a_file_that_read_never_shows_is_not_said_to_be_read_first() {
    let folder = Folder::new(&[("nul.bin", "a\0b")]);
    expect!["error: nul.bin has not been read in this session; Read does not show it (it contains NUL bytes), so change it with a command"].assert_eq(&folder.play("Write", r#"{"file_path":"nul.bin","content":"x"}"#));
}

#[test]
fn other_names_of_a_file_are_said_to_keep_what_it_was() {
    let folder = Folder::new(&[("a.txt", "old\n")]);
    fs::hard_link(folder.path("a.txt"), folder.path("b.txt")).unwrap();
    folder.play("Read", r#"{"file_path":"a.txt"}"#);
    let edit = r#"{"file_path":"a.txt","old_string":"old","new_string":"new"}"#;
    expect![[r#"
        Edited a.txt (a file of its own now: its other hard links keep the old content):
             1 -old
             1 +new
    "#]]
    .assert_eq(&folder.play("Edit", edit));
    assert_eq!(fs::read_to_string(folder.path("b.txt")).unwrap(), "old\n");
    expect!["Updated a.txt (1 line)"]
        .assert_eq(&folder.play("Write", r#"{"file_path":"a.txt","content":"x"}"#));
    fs::remove_file(folder.path("b.txt")).unwrap();
    fs::hard_link(folder.path("a.txt"), folder.path("b.txt")).unwrap();
    expect![
        "Updated a.txt (1 line) (a file of its own now: its other hard links keep the old content)"
    ]
    .assert_eq(&folder.play("Write", r#"{"file_path":"a.txt","content":"y"}"#));
}
