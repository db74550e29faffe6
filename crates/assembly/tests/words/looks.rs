//! What is said of the tools that look for files and what is in them.

use crate::claim::{Claim, among, claim};

pub(crate) fn claims() -> Vec<Claim> {
    [globs(), greps(), lists()].into_iter().flatten().collect()
}

fn globs() -> Vec<Claim> {
    vec![
        among(
            250,
            "f#",
            claim(
                "Glob",
                "Finds files whose path matches a glob, newest first, at most 200.",
                &[("a.x", "")],
                &[r#"Glob {"pattern": "f*"}"#],
                &["f0249\nf0248", "!f0049", "!a.x"],
            ),
        ),
        claim(
            "Glob",
            "`*` stays within one folder, `**` crosses folders.",
            &[("a.x", ""), ("b/c.x", "")],
            &[r#"Glob {"pattern": "*.x"}"#],
            &["a.x", "!c.x"],
        ),
        claim(
            "Glob",
            "`*` stays within one folder, `**` crosses folders.",
            &[("a.x", ""), ("b/c.x", "")],
            &[r#"Glob {"pattern": "**/*.x"}"#],
            &["a.x", "b/c.x"],
        ),
        claim(
            "Glob",
            "Honors .gitignore; hidden files only if the pattern names them.",
            &[(".gitignore", "no"), ("no", ""), (".h", ""), ("yes", "")],
            &[r#"Glob {"pattern": "*"}"#],
            &["yes", "!no", "!.h"],
        ),
        claim(
            "Glob",
            "Honors .gitignore; hidden files only if the pattern names them.",
            &[(".h", "")],
            &[r#"Glob {"pattern": ".*"}"#],
            &[".h"],
        ),
        claim(
            "Glob",
            "Paths are relative to the workspace.",
            &[("b/c.x", "")],
            &[r#"Glob {"pattern": "*.x", "path": "b"}"#],
            &["b/c.x", "!$W"],
        ),
        claim(
            "Glob",
            "Such as `src/**/*.{ts,tsx}`.",
            &[("src/a/b.tsx", ""), ("src/a.ts", ""), ("src/a.rs", "")],
            &[r#"Glob {"pattern": "src/**/*.{ts,tsx}"}"#],
            &["src/a/b.tsx", "src/a.ts", "!a.rs"],
        ),
        claim(
            "Glob",
            "Folder to search; default the workspace.",
            &[("b/c.x", ""), ("a.x", "")],
            &[r#"Glob {"pattern": "*.x", "path": "b"}"#],
            &["c.x", "!a.x"],
        ),
    ]
}

fn greps() -> Vec<Claim> {
    let many: String = (0..400).map(|n| format!("hit {n}\n")).collect();
    let long = format!("hit{}END", "x".repeat(600));
    vec![
        claim(
            "Grep",
            "Searches file contents, line by line.",
            &[("a", "one\ntwo")],
            &[r#"Grep {"pattern": "one.*two"}"#],
            &["!a\n"],
        ),
        claim(
            "Grep",
            "Searches file contents, line by line.",
            &[("a", "one\ntwo")],
            &[r#"Grep {"pattern": "tw."}"#],
            &["a"],
        ),
        claim(
            "Grep",
            "Honors .gitignore; skips binary files, and hidden ones unless glob names them.",
            &[(".gitignore", "no"), ("no", "hit"), (".h", "hit"), ("bin", "\0hit"), ("yes", "hit")],
            &[r#"Grep {"pattern": "hit"}"#],
            &["yes", "!no", "!.h", "!bin"],
        ),
        claim(
            "Grep",
            "Honors .gitignore; skips binary files, and hidden ones unless glob names them.",
            &[(".h", "hit")],
            &[r#"Grep {"pattern": "hit", "glob": ".h"}"#],
            &[".h"],
        ),
        claim(
            "Grep",
            "Results are sorted by path, at most 250 lines unless head_limit says otherwise; lines are cut at 500 characters.",
            &[("b", "hit"), ("a", "hit")],
            &[r#"Grep {"pattern": "hit"}"#],
            &["a\nb"],
        ),
        claim(
            "Grep",
            "Results are sorted by path, at most 250 lines unless head_limit says otherwise; lines are cut at 500 characters.",
            &[("a", &many)],
            &[r#"Grep {"pattern": "hit", "output_mode": "content"}"#],
            &["hit 249", "!hit 250"],
        ),
        claim(
            "Grep",
            "Regular expression (Rust syntax).",
            &[("a", "ab12")],
            &[r#"Grep {"pattern": "\\p{L}+\\d{2}$"}"#],
            &["a"],
        ),
        claim(
            "Grep",
            "File or folder; default the workspace.",
            &[("a", "hit"), ("b/c", "hit")],
            &[r#"Grep {"pattern": "hit", "path": "b"}"#],
            &["b/c", "!a"],
        ),
        claim(
            "Grep",
            "Such as `*.rs` or `src/**`; `!` excludes.",
            &[("a.rs", "hit"), ("a.py", "hit")],
            &[r#"Grep {"pattern": "hit", "glob": "!*.py"}"#],
            &["a.rs", "!a.py"],
        ),
        claim(
            "Grep",
            "File type, such as rust, py, js.",
            &[("a.rs", "hit"), ("a.py", "hit")],
            &[r#"Grep {"pattern": "hit", "type": "py"}"#],
            &["a.py", "!a.rs"],
        ),
        claim(
            "Grep",
            "What to show.",
            &[("a", "hit\nhit")],
            &[r#"Grep {"pattern": "hit", "output_mode": "count"}"#],
            &["2"],
        ),
        claim(
            "Grep",
            "Ignore case.",
            &[("a", "HIT")],
            &[r#"Grep {"pattern": "hit", "-i": true}"#],
            &["a"],
        ),
        claim(
            "Grep",
            "Line numbers; default true.",
            &[("a", "x\nhit")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content"}"#],
            &["2"],
        ),
        claim(
            "Grep",
            "Line numbers; default true.",
            &[("a", "x\nhit")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "-n": false}"#],
            &["hit", "!2"],
        ),
        claim(
            "Grep",
            "Lines after.",
            &[("a", "u\nhit\nv\nw")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "-A": 1}"#],
            &["v", "!u", "!w"],
        ),
        claim(
            "Grep",
            "Lines before.",
            &[("a", "t\nu\nhit\nv")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "-B": 1}"#],
            &["u", "!v"],
        ),
        claim(
            "Grep",
            "Lines around.",
            &[("a", "u\nhit\nv\nw")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "-C": 1}"#],
            &["u", "v", "!w"],
        ),
        claim(
            "Grep",
            "Output lines.",
            &[("a", &many)],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "head_limit": 2}"#],
            &["hit 1", "!hit 2"],
        ),
        claim(
            "Grep",
            "Let matches span lines.",
            &[("a", "one\ntwo")],
            &[r#"Grep {"pattern": "one.two", "multiline": true}"#],
            &["a"],
        ),
        claim(
            "Grep",
            "Results are sorted by path, at most 250 lines unless head_limit says otherwise; lines are cut at 500 characters.",
            &[("a", &long)],
            &[r#"Grep {"pattern": "hit", "output_mode": "content"}"#],
            &["hitxx", "!END"],
        ),
    ]
}

fn lists() -> Vec<Claim> {
    const ALL: &str = "Lists one folder, hidden and ignored entries included: size (or `dir`, `link`) and name, sorted by name, at most 1000.";
    vec![
        claim(
            "LS",
            ALL,
            &[(".gitignore", "no"), ("no", "abc"), ("d/deep", ""), ("l", "->no")],
            &[r#"LS {"path": "."}"#],
            &[".gitignore", "no", "dir", "link", "!deep"],
        ),
        among(
            1_050,
            "f#",
            claim("LS", ALL, &[], &[r#"LS {"path": "."}"#], &["f0000", "f0999", "!f1000"]),
        ),
        claim(
            "LS",
            "Folder to list.",
            &[("b/c", ""), ("a", "")],
            &[r#"LS {"path": "b"}"#],
            &["c", "!a\n"],
        ),
        claim(
            "LS",
            "Globs of names to leave out.",
            &[("a.o", ""), ("b.c", "")],
            &[r#"LS {"path": ".", "ignore": ["*.o"]}"#],
            &["b.c", "!a.o"],
        ),
    ]
}
