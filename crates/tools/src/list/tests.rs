//! What `LS` promises, played on real files.

use expect_test::expect;

use super::*;
use crate::testing::{Folder, check};

#[test]
fn everything_is_listed_by_name() {
    check(
        &[
            ("src/b.rs", "fn main() {}\n"),
            ("src/.hidden", ""),
            ("src/a/x", ""),
            ("src/link", "->b.rs"),
            ("src/big", &"x".repeat(2_000)),
        ],
        &[
            r#"LS {"path":"src"}"#,
            r#"LS {"path":".","ignore":["*"]}"#,
            r#"LS {"path":"src","ignore":["*.rs",".*"]}"#,
            r#"LS {"path":"src/a"}"#,
            r#"LS {"path":""}"#,
        ],
        expect![[r#"
            > LS {"path":"src"}
            src (5 entries)
                  0B  .hidden
                 dir  a/
                 13B  b.rs
                2.0K  big
                link  link -> b.rs
            > LS {"path":".","ignore":["*"]}
            (empty directory)
            > LS {"path":"src","ignore":["*.rs",".*"]}
            src (3 entries)
                 dir  a/
                2.0K  big
                link  link -> b.rs
            > LS {"path":"src/a"}
            src/a (1 entry)
                  0B  x
            > LS {"path":""}
            . (1 entry)
                 dir  src/
        "#]],
    );
}

#[test]
fn what_cannot_be_listed_says_why() {
    check(
        &[("src/a.rs", ""), ("out", "->/")],
        &[
            r#"LS {"path":"scr"}"#,
            r#"LS {"path":"src/a.rs"}"#,
            r#"LS {"path":"out"}"#,
            r#"LS {"path":"src","ignore":["[z-a]"]}"#,
        ],
        expect![[r#"
            > LS {"path":"scr"}
            error: scr does not exist; did you mean src?
            > LS {"path":"src/a.rs"}
            error: src/a.rs is not a folder; use Read
            > LS {"path":"out"}
            error: out leads out of the workspace through a symbolic link, to /; permission was given for the path inside only, so name the real path if you need that file
            > LS {"path":"src","ignore":["[z-a]"]}
            error: `[z-a]` is not a glob: invalid range; 'z' > 'a'
        "#]],
    );
}

#[test]
fn entries_are_bounded() {
    let folder = Folder::new(&[]);
    for n in 0..LIST_ENTRIES_MAX + 1 {
        folder.write(&format!("{n:04}"), b"", 1);
    }
    let said = folder.play("LS", r#"{"path":"."}"#);
    assert!(said.starts_with(". (1001 entries)\n      0B  0000\n"), "{said}");
    assert!(said.ends_with("  0999\n(and 1 more; use Glob to find one of them)\n"), "{said}");
    let small = Arc::new(List { scanned_max: 2, ..List::default() });
    let said = folder.say(folder.run(small, r#"{"path":"."}"#));
    assert!(said.starts_with(". (2 entries)\n"), "{said}");
    assert!(said.ends_with("(stopped after 2 entries)\n"), "{said}");
}

#[test]
fn sizes_are_short() {
    let sizes = [0, 1_023, 1_024, 1_536, 5 << 20, 3 << 30, 2 << 40, 9 << 60].map(size);
    assert_eq!(sizes, ["0B", "1023B", "1.0K", "1.5K", "5.0M", "3.0G", "2.0T", "9437184.0T"]);
}
