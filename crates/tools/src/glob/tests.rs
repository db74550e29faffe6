//! What `Glob` promises, played on real files.

use expect_test::expect;
use heeler_core::{Access, Facts};

use super::*;
use crate::testing::{Folder, check};

const FILES: &[(&str, &str)] = &[
    (".gitignore", "target\n"),
    (".env", ""),
    (".github/ci.yml", ""),
    ("src/old.rs", ""),
    ("target/out.rs", ""),
    ("src/deep/new.rs", ""),
    ("main.rs", ""),
    ("odd[1].rs", ""),
    ("link.rs", "->main.rs"),
];

#[test]
fn the_newest_come_first() {
    check(
        FILES,
        &[
            r#"Glob {"pattern":"**/*.rs"}"#,
            r#"Glob {"pattern":"*.rs","path":"src"}"#,
            r#"Glob {"pattern":"src/**"}"#,
            r#"Glob {"pattern":"{src,lib}/*.rs"}"#,
            r#"Glob {"pattern":"main.rs"}"#,
            r#"Glob {"pattern":"odd\\[1\\].rs"}"#,
        ],
        expect![[r#"
            > Glob {"pattern":"**/*.rs"}
            link.rs
            odd[1].rs
            main.rs
            src/deep/new.rs
            src/old.rs
            > Glob {"pattern":"*.rs","path":"src"}
            src/old.rs
            > Glob {"pattern":"src/**"}
            src/deep/new.rs
            src/old.rs
            > Glob {"pattern":"{src,lib}/*.rs"}
            src/old.rs
            > Glob {"pattern":"main.rs"}
            main.rs
            > Glob {"pattern":"odd\\[1\\].rs"}
            odd[1].rs
        "#]],
    );
}

#[test]
fn what_is_hidden_or_ignored_is_found_when_it_is_named() {
    check(
        FILES,
        &[
            r#"Glob {"pattern":"*"}"#,
            r#"Glob {"pattern":".*"}"#,
            r#"Glob {"pattern":".github/*"}"#,
            r#"Glob {"pattern":"**/.github/*"}"#,
            r#"Glob {"pattern":"target/*"}"#,
        ],
        expect![[r#"
            > Glob {"pattern":"*"}
            link.rs
            odd[1].rs
            main.rs
            > Glob {"pattern":".*"}
            .env
            .gitignore
            > Glob {"pattern":".github/*"}
            .github/ci.yml
            > Glob {"pattern":"**/.github/*"}
            .github/ci.yml
            > Glob {"pattern":"target/*"}
            target/out.rs
        "#]],
    );
}

#[test]
fn what_finds_nothing_says_so() {
    check(
        FILES,
        &[
            r#"Glob {"pattern":"old.rs"}"#,
            r#"Glob {"pattern":"src/*/*/*.rs"}"#,
            r#"Glob {"pattern":"**/*.{rs"}"#,
            &format!(r#"Glob {{"pattern":"{}x"}}"#, "{".repeat(33)),
            r#"Glob {"pattern":"*/../x"}"#,
            r#"Glob {"pattern":"*","path":"~/x"}"#,
            r#"Glob {"pattern":"*","path":"sr"}"#,
            r#"Glob {"pattern":"*","path":"main.rs"}"#,
            r#"Glob {"pattern":""}"#,
        ],
        expect![[r#"
            > Glob {"pattern":"old.rs"}
            No file matches `old.rs` in . (`**/old.rs` looks in the folders below it too)
            > Glob {"pattern":"src/*/*/*.rs"}
            No file matches `*/*/*.rs` in src
            > Glob {"pattern":"**/*.{rs"}
            error: `**/*.{rs` is not a glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
            > Glob {"pattern":"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{x"}
            error: `{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{x` is too large for a glob
            > Glob {"pattern":"*/../x"}
            error: `..` is possible only at the start of a pattern, not in `*/../x`
            > Glob {"pattern":"*","path":"~/x"}
            error: `~` is a shell's word for a home, and no path; give the absolute path in place of `~/x`
            > Glob {"pattern":"*","path":"sr"}
            error: sr does not exist; did you mean src?
            > Glob {"pattern":"*","path":"main.rs"}
            error: main.rs is not a folder; use Read
            > Glob {"pattern":""}
            error: the pattern names no file; end it with `*` or `**` for all files in a folder
        "#]],
    );
}

#[test]
fn facts_name_the_folder_that_is_searched() {
    let folder = |pattern: &str, path: Option<&str>| {
        let input = GlobInput { pattern: pattern.into(), path: path.map(Into::into) };
        let Facts { accesses, replay_safe, .. } = TypedTool::facts(&Glob::default(), &input, "/w");
        assert!(replay_safe);
        match accesses.as_slice() {
            [Access::Read(path)] => path.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(folder("**/*.rs", None), "/w");
    assert_eq!(folder("src/*.rs", None), "/w/src");
    assert_eq!(folder("src/*.rs", Some("crates/a")), "/w/crates/a/src");
    assert_eq!(folder("/etc/*.conf", Some("src")), "/etc");
    assert_eq!(folder("/*", None), "/");
    assert_eq!(folder("../x/*", None), "/x");
}

#[test]
fn an_absolute_pattern_is_searched_where_it_says() {
    let (folder, other) = (Folder::new(&[]), Folder::new(&[("a.rs", "")]));
    let pattern = other.path("*.rs").display().to_string();
    let said = folder.play("Glob", &format!(r#"{{"pattern":"{pattern}"}}"#));
    assert_eq!(said, format!("{}\n", other.path("a.rs").display()));
}

#[test]
fn results_are_bounded() {
    let folder = Folder::new(&[]);
    for n in 0..GLOB_RESULTS_MAX + 1 {
        folder.write(&format!("{n}.rs"), b"", n as u64);
    }
    let said = folder.play("Glob", r#"{"pattern":"*.rs"}"#);
    assert!(said.starts_with("200.rs\n199.rs\n"), "{said}");
    let end = "1.rs\n(the newest 200 of 201 files; use a narrower pattern for the others)\n";
    assert!(said.ends_with(end), "{said}");
    let small = Arc::new(Glob { entries_max: 3, ..Glob::default() });
    let said = folder.say(folder.run(small, r#"{"pattern":"*.rs"}"#));
    assert!(said.ends_with("(stopped after 3 files and folders; name a narrower path)\n"));
}
