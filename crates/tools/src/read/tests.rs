//! What `Read` promises, played on real files.

use std::sync::Arc;

use expect_test::expect;

use super::*;
use crate::testing::{Folder, check};

#[test]
fn lines_are_numbered_and_there_is_no_phantom_line() {
    check(
        &[("a.txt", "one\ntwo\n"), ("b.txt", "one\n\ntwo"), ("empty.txt", "")],
        &[
            r#"Read {"file_path":"a.txt"}"#,
            r#"Read {"file_path":"b.txt"}"#,
            r#"Read {"file_path":"empty.txt"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.txt"}
                 1	one
                 2	two
            > Read {"file_path":"b.txt"}
                 1	one
                 2	
                 3	two
            > Read {"file_path":"empty.txt"}
            (the file is empty)
        "#]],
    );
}

#[test]
fn a_part_says_how_to_go_on() {
    check(
        &[("a.txt", "1\n2\n3\n4\n5\n")],
        &[
            r#"Read {"file_path":"a.txt","limit":2}"#,
            r#"Read {"file_path":"a.txt","offset":3,"limit":2}"#,
            r#"Read {"file_path":"a.txt","offset":5,"limit":2}"#,
            r#"Read {"file_path":"a.txt","offset":6}"#,
            r#"Read {"file_path":"a.txt","offset":0,"limit":0}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.txt","limit":2}
                 1	1
                 2	2
            (3 more of 5 lines; continue with offset 3)
            > Read {"file_path":"a.txt","offset":3,"limit":2}
                 3	3
                 4	4
            (1 more of 5 lines; continue with offset 5)
            > Read {"file_path":"a.txt","offset":5,"limit":2}
                 5	5
            > Read {"file_path":"a.txt","offset":6}
            error: offset 6 is past the end: a.txt has 5 lines
            > Read {"file_path":"a.txt","offset":0,"limit":0}
                 1	1
            (4 more of 5 lines; continue with offset 2)
        "#]],
    );
}

#[test]
fn byte_order_marks_and_carriage_returns_are_not_shown() {
    check(
        &[("a.txt", "\u{feff}one\r\ntwo\r\n")],
        &[r#"Read {"file_path":"a.txt"}"#],
        expect![[r#"
            > Read {"file_path":"a.txt"}
                 1	one
                 2	two
        "#]],
    );
}

#[test]
fn what_cannot_be_read_says_why() {
    let folder = Folder::new(&[
        ("src/parser.rs", ""),
        ("src/Printer.rs", ""),
        ("nul.bin", "a\0b"),
        ("dangling", "->nowhere"),
    ]);
    folder.write("latin.txt", b"caf\xe9 noir", 9);
    folder.write("utf16.txt", b"\xff\xfea\0", 9);
    let answers: Vec<_> = [
        "src/parsr.rs",
        "src/printer.rs",
        "src/parser.py",
        "src/zzz",
        "no/such/folder.rs",
        "src",
        "nul.bin",
        "latin.txt",
        "utf16.txt",
        "dangling",
        "src/parser.rs/x",
        "../..",
        "/dev/null",
    ]
    .iter()
    .map(|path| folder.play("Read", &format!(r#"{{"file_path":"{path}"}}"#)) + "\n")
    .collect();
    expect![[r#"
        error: src/parsr.rs does not exist; did you mean src/parser.rs?
        error: src/printer.rs does not exist; did you mean src/Printer.rs, src/parser.rs?
        error: src/parser.py does not exist; did you mean src/parser.rs?
        error: src/zzz does not exist; use Glob or LS to find it
        error: no/such/folder.rs does not exist; the deepest folder there is .
        error: src is a folder; use LS to list it
        error: nul.bin is a binary file (3 bytes; it contains NUL bytes) and cannot be shown as text
             1	caf� noir
        (bytes that are no UTF-8 are shown as �; Edit keeps those that its texts leave out)

        error: utf16.txt is a binary file (4 bytes; it looks like UTF-16 text, which only Grep can read) and cannot be shown as text
        error: cannot look up dangling: $W/dangling is a symbolic link to something that does not exist
        error: cannot look up src/parser.rs/x: Not a directory (os error 20)
        error: ../.. is a folder; use LS to list it
        error: /dev/null is not a regular file but a pipe, socket or device
    "#]].assert_eq(&answers.concat());
}

#[test]
fn links_may_stay_inside_but_not_lead_out() {
    check(
        &[("a.txt", "inside\n"), ("link.txt", "->a.txt"), ("out", "->/"), ("sub/up", "->../a.txt")],
        &[
            r#"Read {"file_path":"link.txt"}"#,
            r#"Read {"file_path":"sub/up"}"#,
            r#"Read {"file_path":"out/etc/passwd"}"#,
            r#"Read {"file_path":"out/no/such/file"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"link.txt"}
                 1	inside
            > Read {"file_path":"sub/up"}
                 1	inside
            > Read {"file_path":"out/etc/passwd"}
            error: out/etc/passwd leads out of the workspace through a symbolic link, to /etc/passwd; permission was given for the path inside only, so name the real path if you need that file
            > Read {"file_path":"out/no/such/file"}
            error: out/no/such/file leads out of the workspace through a symbolic link, to /no/such/file; permission was given for the path inside only, so name the real path if you need that file
        "#]],
    );
}

#[test]
fn a_path_outside_is_read_when_it_is_named_as_such() {
    let (folder, other) = (Folder::new(&[]), Folder::new(&[("b.txt", "outside\n")]));
    let path = other.path("b.txt");
    let said = folder.play("Read", &format!(r#"{{"file_path":"{}"}}"#, path.display()));
    assert_eq!(said, "     1\toutside\n");
}

#[test]
fn long_lines_are_cut_between_characters() {
    let line = "\u{e9}".repeat(READ_LINE_CHARS_MAX + 5);
    let exact = "x".repeat(READ_LINE_CHARS_MAX);
    let folder = Folder::new(&[("a.txt", &format!("{line}\n{exact}\nlast\n"))]);
    let said = folder.play("Read", r#"{"file_path":"a.txt"}"#);
    let shown = "\u{e9}".repeat(READ_LINE_CHARS_MAX);
    assert_eq!(
        said,
        format!("     1\t{shown} [... 10 more bytes]\n     2\t{exact}\n     3\tlast\n")
    );
}

#[test]
fn a_key_that_a_cut_goes_through_is_not_shown_in_part() {
    let key = "ghp_q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuC";
    let line = |from: usize| format!("{}{key} {}\n", "\u{1f415} ".repeat(from / 2), "y".repeat(99));
    let lines: String =
        (READ_LINE_CHARS_MAX - 50..=READ_LINE_CHARS_MAX).step_by(2).map(line).collect();
    let folder = Folder::new(&[("a.txt", &lines)]);
    let mut said = String::new();
    for offset in [1, 12, 23] {
        let input = format!(r#"{{"file_path":"a.txt","offset":{offset},"limit":11}}"#);
        said += &folder.play("Read", &input);
    }
    assert_eq!(said.matches("[redacted: GitHub token] [... ").count(), 19);
    assert_eq!(said.matches(key).count(), 6);
    assert!(!said.replace(key, "").contains("ghp_"), "{said}");
}

#[test]
fn a_result_is_bounded_and_reading_on_reaches_every_line() {
    let lines: Vec<_> = (1..=300).map(|n| format!("{n:01000}")).collect();
    let folder = Folder::new(&[("a.txt", &lines.join("\n"))]);
    let (mut offset, mut seen) = (1, 0);
    loop {
        let said = folder.play("Read", &format!(r#"{{"file_path":"a.txt","offset":{offset}}}"#));
        assert!(said.len() <= READ_OUTPUT_BYTES_MAX + 100, "{} bytes", said.len());
        seen += said.lines().filter(|line| line.contains('\t')).count();
        let Some((_, next)) = said.split_once("continue with offset ") else { break };
        offset = next.trim_end_matches(")\n").parse().unwrap();
    }
    assert_eq!(seen, 300);
}

#[test]
fn more_lines_than_the_default_are_left_for_later() {
    let folder = Folder::new(&[("a.txt", &"x\n".repeat(READ_LINES_DEFAULT as usize + 1))]);
    let said = folder.play("Read", r#"{"file_path":"a.txt"}"#);
    assert!(said.ends_with("  2000\tx\n(1 more of 2001 lines; continue with offset 2001)\n"));
}

/// A tool whose limits a test can reach.
fn small() -> Arc<Read> {
    let limits =
        Limits { scan_bytes_max: 128 * 1024, hash_bytes_max: 16, ..Read::default().limits };
    Arc::new(Read { limits, ..Read::default() })
}

#[test]
fn a_large_file_is_not_read_to_its_end() {
    let folder = Folder::new(&[("a.txt", &"0123456\n".repeat(100_000))]);
    let read = |input: &str| folder.say(folder.run(small(), input));
    expect![[r#"
          8000	0123456
          8001	0123456
        (more lines; continue with offset 8002)
    "#]]
    .assert_eq(&read(r#"{"file_path":"a.txt","offset":8000,"limit":2}"#));
    expect!["error: line 90000 was not found in the first 131072 bytes of a.txt; search the file with Grep"].assert_eq(&read(r#"{"file_path":"a.txt","offset":90000}"#));
    assert!(folder.context().state.0.is_empty(), "a part of a file is not knowledge of it");
}

#[test]
fn the_hash_covers_the_whole_file_whatever_part_is_shown() {
    let folder = Folder::new(&[("a.txt", "one\ntwo\n")]);
    folder.play("Read", r#"{"file_path":"a.txt","limit":1}"#);
    let key = format!("file:{}", folder.path("a.txt").display());
    let hash = guard::hash(b"one\ntwo\n");
    assert!(hash.starts_with("c3f9c8c2"), "SHA-256 in hexadecimal");
    assert_eq!(folder.context().state.get(&key), Some((hash.clone(), [(1, 1)])));
    folder.play("Read", r#"{"file_path":"a.txt","offset":2}"#);
    assert_eq!(folder.context().state.get(&key), Some((hash, (), 2)));
}

#[test]
fn images_are_shown_and_bounded() {
    let folder = Folder::new(&[]);
    folder.write("a.png", b"\x89PNG\r\n\x1a\n-", 1);
    folder.write("b.txt", b"GIF89a-", 1);
    folder.write("c.webp", b"RIFF\0\0\0\0WEBP", 1);
    folder.write("d.jpg", b"\xff\xd8\xff\xe0", 1);
    let mut big = b"\x89PNG\r\n\x1a\n".to_vec();
    big.resize(READ_IMAGE_BYTES_MAX as usize + 1, 7);
    folder.write("big.png", &big, 1);
    let answers: Vec<_> = ["a.png", "b.txt", "c.webp", "d.jpg", "big.png"]
        .iter()
        .map(|path| folder.play("Read", &format!(r#"{{"file_path":"{path}"}}"#)) + "\n")
        .collect();
    expect![[r#"
        [image/png iVBORw0KGgot]
        (a.png: image/png, 9 bytes)
        [image/gif R0lGODlhLQ==]
        (b.txt: image/gif, 7 bytes)
        [image/webp UklGRgAAAABXRUJQ]
        (c.webp: image/webp, 12 bytes)
        [image/jpeg /9j/4A==]
        (d.jpg: image/jpeg, 4 bytes)
        error: big.png is an image of 20971521 bytes; at most 20971520 can be shown, so make a smaller copy first
    "#]].assert_eq(&answers.concat());
}

#[test]
fn a_character_cut_by_the_head_is_still_text() {
    let text = format!("{}\u{e9}\n", "x".repeat(HEAD_BYTES - 1));
    assert_eq!(binary(&text.as_bytes()[..HEAD_BYTES]), None);
    let folder = Folder::new(&[("a.txt", &text)]);
    let said = folder.play("Read", r#"{"file_path":"a.txt"}"#);
    assert!(said.contains("more bytes"), "{said}");
}

#[test]
fn a_text_with_some_bytes_of_an_older_encoding_is_shown_and_edited() {
    let folder = Folder::new(&[]);
    folder.write("a.c", b"/* caf\xe9 */\nint a;\nint b;\n", 9);
    folder.write("russian.txt", b"\xcf\xf0\xe8\xe2\xe5\xf2\n", 9);
    let said: String = [
        ("Read", r#"{"file_path":"russian.txt"}"#),
        ("Read", r#"{"file_path":"a.c"}"#),
        ("Read", r#"{"file_path":"a.c","offset":2}"#),
        ("Edit", r#"{"file_path":"a.c","old_string":"int a;","new_string":"int a; /* � */"}"#),
        ("Edit", r#"{"file_path":"a.c","old_string":"int a;","new_string":"int c;"}"#),
        ("Write", r#"{"file_path":"a.c","content":"int d;"}"#),
    ]
    .map(|(name, input)| folder.play(name, input) + "\n")
    .concat();
    expect![[r#"
        error: russian.txt is a binary file (7 bytes; it is not valid UTF-8) and cannot be shown as text
             1	/* caf� */
             2	int a;
             3	int b;
        (bytes that are no UTF-8 are shown as �; Edit keeps those that its texts leave out)

             2	int a;
             3	int b;

        error: the text holds �, which stands for bytes of a.c that are no UTF-8, so it would not be written as it is; change the parts around them
        Edited a.c:
             1  /* caf� */
             2 -int a;
             2 +int c;
             3  int b;

        error: a.c would lose what you have not seen: of its 3 lines none is known to you; Read the others, or change parts of it with Edit
    "#]].assert_eq(&said);
    let now = std::fs::read(folder.path("a.c")).unwrap();
    assert_eq!(now, b"/* caf\xe9 */\nint c;\nint b;\n");
}
