//! What is told of files of every kind.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use expect_test::expect;

use super::FileInfo;
use crate::testing::{Folder, check, check_in};

#[test]
fn each_kind_of_content_is_told() {
    let folder = Folder::new(&[
        ("lf", "a\nb\n"),
        ("crlf", "\u{e9}\r\nb\r\n"),
        ("mixed", "a\r\nb\nc"),
        ("mark", "\u{feff}a\n"),
        ("empty", ""),
    ]);
    folder.write("binary", b"a\0b", 7);
    folder.write("latin", b"caf\xe9\n", 8);
    folder.write("wide", b"\xff\xfea\0", 9);
    std::fs::set_permissions(folder.path("lf"), Permissions::from_mode(0o4751)).unwrap();
    check_in(
        &folder,
        &[
            r#"file_info {"path": "lf", "hash": true}"#,
            r#"file_info {"path": "crlf"}"#,
            r#"file_info {"path": "mixed"}"#,
            r#"file_info {"path": "mark"}"#,
            r#"file_info {"path": "empty"}"#,
            r#"file_info {"path": "binary"}"#,
            r#"file_info {"path": "latin"}"#,
            r#"file_info {"path": "wide"}"#,
        ],
        expect![[r#"
            > file_info {"path": "lf", "hash": true}
            lf: file
            4 bytes, mode 4751, changed 2001-09-09T01:46:40Z
            ASCII, 2 lines, line ends LF
            SHA-256 911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2
            > file_info {"path": "crlf"}
            crlf: file
            7 bytes, mode 0644, changed 2001-09-09T01:46:41Z
            UTF-8, 2 lines, line ends CRLF
            > file_info {"path": "mixed"}
            mixed: file
            6 bytes, mode 0644, changed 2001-09-09T01:46:42Z
            ASCII, 3 lines, line ends mixed
            > file_info {"path": "mark"}
            mark: file
            5 bytes, mode 0644, changed 2001-09-09T01:46:43Z
            UTF-8 with a byte order mark, 1 line, line ends LF
            > file_info {"path": "empty"}
            empty: file
            0 bytes, mode 0644, changed 2001-09-09T01:46:44Z
            ASCII, 0 lines
            > file_info {"path": "binary"}
            binary: file
            3 bytes, mode 0644, changed 2001-09-09T01:46:47Z
            binary
            > file_info {"path": "latin"}
            latin: file
            5 bytes, mode 0644, changed 2001-09-09T01:46:48Z
            text that is not UTF-8, 1 line, line ends LF
            > file_info {"path": "wide"}
            wide: file
            4 bytes, mode 0644, changed 2001-09-09T01:46:49Z
            UTF-16, little-endian
        "#]],
    );
}

#[test]
fn links_are_followed_and_told_and_lead_nowhere_else() {
    check(
        &[("d/a", "x"), ("link", "->d/a"), ("gone", "->nothing"), ("out", "->/etc/hostname")],
        &[
            r#"file_info {"path": "link"}"#,
            r#"file_info {"path": "gone"}"#,
            r#"file_info {"path": "d/b"}"#,
        ],
        expect![[r#"
            > file_info {"path": "link"}
            d/a: file, named by a link to d/a
            1 byte, mode 0644, changed 2001-09-09T01:46:40Z
            ASCII, 1 line
            > file_info {"path": "gone"}
            error: cannot look up gone: $W/gone is a symbolic link to something that does not exist
            > file_info {"path": "d/b"}
            error: d/b does not exist; use Glob or LS to find it
        "#]],
    );
    let folder = Folder::new(&[("out", "->/etc")]);
    let said = folder.play("file_info", r#"{"path": "out/passwd"}"#);
    assert!(said.contains("leads out of the workspace"), "{said}");
}

#[test]
fn a_folder_and_a_socket_are_looked_at_and_not_opened() {
    let folder = Folder::new(&[("d/a", "x")]);
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    let said = folder.play("file_info", r#"{"path": "d"}"#);
    assert!(said.starts_with("d: folder\n"), "{said}");
    let said = folder.play("file_info", r#"{"path": "socket"}"#);
    assert!(said.starts_with("socket: socket\n0 bytes, mode "), "{said}");
}

#[test]
fn what_is_too_large_is_not_looked_through() {
    let folder = Folder::new(&[("fits", "1234"), ("large", "12345")]);
    let tool = Arc::new(FileInfo::with_scan(4));
    let said = |path: &str| {
        let input = format!(r#"{{"path": "{path}", "hash": true}}"#);
        folder.say(folder.run(Arc::clone(&tool) as _, &input))
    };
    assert!(said("fits").contains("ASCII, 1 line\nSHA-256 "));
    assert!(
        said("large").ends_with("(its content was not looked through: it has more than 4 bytes)\n")
    );
}
