//! What is said of the tools for git.

use crate::claim::{Claim, among, claim};

/// A first commit, which is the same whenever it is made.
const FIRST: &str = r#"Bash {"command": "export GIT_AUTHOR_DATE=2001-02-03T04:05:06Z GIT_COMMITTER_DATE=2001-02-03T04:05:06Z; git init -q; echo one > a; echo two > b; git add .; git commit -qm First"}"#;
/// A second one, of `a` alone.
const SECOND: &str = r#"Bash {"command": "export GIT_AUTHOR_DATE=2001-02-03T04:05:07Z GIT_COMMITTER_DATE=2001-02-03T04:05:07Z; echo 1 > a; git commit -qam Second -m why"}"#;
/// Two files that differ, one of them staged, and a new one.
const CHANGE: &str = r#"Bash {"command": "echo 1 > a; git add a; echo 2 > b; echo new > c"}"#;

/// After the first commit and what these calls do.
fn said(
    tool: &'static str,
    words: &'static str,
    calls: &[&str],
    says: &'static [&'static str],
) -> Claim {
    claim(tool, words, &[], &[&[FIRST], calls].concat(), says)
}

pub(crate) fn claims() -> Vec<Claim> {
    [statuses(), differences(), logs(), commits(), named()].into_iter().flatten().collect()
}

fn statuses() -> Vec<Claim> {
    const SHOWS: &str = "Shows which files differ from the last commit, as `git status --short --branch` does, at most 500.";
    const SAME: &[&str] = &["## main\n", "\nM  a\n", "\n M b\n", "\n?? c"];
    vec![
        said("git_status", SHOWS, &[CHANGE, "git_status {}"], SAME),
        said(
            "git_status",
            SHOWS,
            &[CHANGE, r#"Bash {"command": "git status --short --branch"}"#],
            SAME,
        ),
        among(
            510,
            "f#",
            claim(
                "git_status",
                SHOWS,
                &[],
                &[r#"Bash {"command": "git init -q"}"#, "git_status {}"],
                &["?? f0000\n", "?? f0499\n", "!f0500", "10 or more other files"],
            ),
        ),
        said(
            "git_status",
            "Files and folders; default all.",
            &[CHANGE, r#"git_status {"paths": ["a"]}"#],
            &["M  a", "!M b", "!?? c"],
        ),
    ]
}

fn differences() -> Vec<Claim> {
    const BETWEEN: &str =
        "Shows what differs between the last commit and the files, staged or not.";
    const PATHS: &str = "With paths it shows what git_commit of these would commit, new files included, and is the review which that needs.";
    const ALL: &str = "Files and folders; default all.";
    const BASE: &str =
        "The commit or range to compare with, such as `main` or `v1..v2`; default the last commit.";
    const TAGS: &str = r#"Bash {"command": "git tag v1; echo 1 > a; git commit -qam Second; git tag v2; echo 3 > a"}"#;
    let shown = |words, calls: &[&str], says| said("git_diff", words, calls, says);
    vec![
        shown(BETWEEN, &[CHANGE, "git_diff {}"], &["-one\n+1", "-two\n+2"]),
        shown(PATHS, &[CHANGE, r#"git_diff {"paths": ["a", "c"]}"#], &["-one\n+1", "+new", "!+2"]),
        shown(
            PATHS,
            &[
                CHANGE,
                r#"git_diff {"paths": ["a", "c"]}"#,
                r#"git_commit {"message": "Second", "paths": ["a", "c"]}"#,
            ],
            &["Second\nM a\nA c", "!error"],
        ),
        shown(ALL, &[CHANGE, "git_diff {}"], &["a/a", "a/b"]),
        shown(ALL, &[CHANGE, r#"git_diff {"paths": ["b"]}"#], &["!a/a", "a/b"]),
        shown(
            "What is staged instead.",
            &[CHANGE, r#"git_diff {"staged": true}"#],
            &["-one\n+1", "!+2"],
        ),
        shown(BASE, &[TAGS, r#"git_diff {"base": "v1..v2"}"#], &["-one\n+1", "!+3"]),
        shown(BASE, &[TAGS, r#"git_diff {"base": "v1"}"#], &["-one\n+3"]),
        shown(BASE, &[TAGS, "git_diff {}"], &["-1\n+3"]),
        shown(
            "First line to show, from 1.",
            &[CHANGE, r#"git_diff {"offset": 2}"#],
            &["index ", "!diff --git a/a"],
        ),
    ]
}

fn logs() -> Vec<Claim> {
    const LISTS: &str = "Lists commits, newest first: id, date, author, first line of the message.";
    const COUNT: &str = "Gives 20 unless told otherwise, at most 200.";
    const MANY: &str = r#"Bash {"command": "git init -q; for i in $(seq 1 210); do printf 'commit refs/heads/main\ncommitter Ada <a@b> %d +0000\ndata 5\nc%04d\n' $((1000000000 + i)) $i; done | git fast-import --quiet"}"#;
    const ALL: &str = "Files and folders; default all.";
    const RANGE: &str = "Commit or range, such as `main..topic`; default what is checked out.";
    const TOPIC: &str = r#"Bash {"command": "git checkout -qb topic; git commit -q --allow-empty -m Third; git checkout -q main"}"#;
    let listed = |words, calls: &[&str], says| said("git_log", words, calls, says);
    let many = |call: &str, says| claim("git_log", COUNT, &[], &[MANY, call], says);
    vec![
        listed(
            LISTS,
            &[SECOND, "git_log {}"],
            &[
                " 2001-02-03 04:05:07 +0000 Ada: Second\n",
                " 2001-02-03 04:05:06 +0000 Ada: First",
                "!why",
            ],
        ),
        listed(LISTS, &[SECOND, r#"git_log {"max_count": 1}"#], &["Second", "!First"]),
        many("git_log {}", &["c0210", "c0191", "!c0190"]),
        many(r#"git_log {"max_count": 900}"#, &["c0210", "c0011", "!c0010"]),
        listed(ALL, &[SECOND, r#"git_log {"paths": ["b"]}"#], &["First", "!Second"]),
        listed(ALL, &[SECOND, "git_log {}"], &["First", "Second"]),
        listed(
            RANGE,
            &[SECOND, TOPIC, r#"git_log {"revision": "main..topic"}"#],
            &["Third", "!Second"],
        ),
        listed(RANGE, &[SECOND, TOPIC, "git_log {}"], &["Second", "!Third"]),
        listed(
            "Number of commits.",
            &[SECOND, r#"git_log {"max_count": 1}"#],
            &["Second", "!First"],
        ),
        listed(
            "Commits to leave out first.",
            &[SECOND, r#"git_log {"skip": 1}"#],
            &["!Second", "First"],
        ),
    ]
}

const COMMIT: &str = r#"git_commit {"message": "Second\n\nwhy", "paths": ["a"]}"#;
const REVIEW: &str = r#"git_diff {"paths": ["a"]}"#;
const SHOW: &str = r#"Bash {"command": "git show --format=%s%n%b HEAD; git status --short"}"#;

fn commits() -> Vec<Claim> {
    const NAMED: &str =
        "Commits the named paths as they are now, and nothing that others have staged.";
    const FIRST_SEEN: &str = "What is committed has to be reviewed first: git_diff with the same paths shows it, or else the first call does and commits nothing.";
    const CHECKS: &str = "Up to 8 checks run before.";
    let committed = |words, calls: &[&str], says| said("git_commit", words, calls, says);
    let checked = |checks: &str| {
        format!(r#"git_commit {{"message": "Second", "paths": ["a"], "checks": [{checks}]}}"#)
    };
    let (eight, nine) = ([r#""echo it >> ran""#; 8].join(", "), [r#""true""#; 9].join(", "));
    vec![
        committed(
            NAMED,
            &[
                r#"Bash {"command": "echo staged > a; echo 2 > b; git add .; echo 1 > a"}"#,
                REVIEW,
                COMMIT,
                SHOW,
            ],
            &["Second\nwhy\n", "-one\n+1", "!+2", "!staged", "\nM  b"],
        ),
        committed(
            FIRST_SEEN,
            &[CHANGE, COMMIT],
            &["error: ", "nothing was committed yet", "-one\n+1"],
        ),
        committed(FIRST_SEEN, &[CHANGE, COMMIT, SHOW], &["First", "!Second"]),
        committed(FIRST_SEEN, &[CHANGE, COMMIT, COMMIT], &["Second\nM a", "!error"]),
        committed(FIRST_SEEN, &[CHANGE, REVIEW, COMMIT], &["Second\nM a", "!error"]),
        committed(
            CHECKS,
            &[
                CHANGE,
                REVIEW,
                &checked(&eight),
                r#"Bash {"command": "wc -l < ran; git log -1 --format=%s"}"#,
            ],
            &["8\nSecond"],
        ),
        committed(CHECKS, &[CHANGE, REVIEW, &checked(&nine)], &["error: ", "8"]),
        committed(
            "Command lines that have to succeed first, such as `cargo test`.",
            &[CHANGE, REVIEW, &checked(r#""test -e a", "echo why not; exit 2""#)],
            &["error: ", "why not"],
        ),
        committed(
            "Command lines that have to succeed first, such as `cargo test`.",
            &[CHANGE, REVIEW, &checked(r#""false""#), SHOW],
            &["First", "!Second"],
        ),
    ]
}

fn named() -> Vec<Claim> {
    const PATHS: &str = r#"["a", "d"]"#;
    let commit = format!(r#"git_commit {{"message": "Second", "paths": {PATHS}}}"#);
    vec![
        said(
            "git_commit",
            "What was done and why.",
            &[CHANGE, REVIEW, COMMIT, SHOW],
            &["Second\nwhy\n"],
        ),
        said(
            "git_commit",
            "Files and folders to commit, new and removed ones too; nothing else is.",
            &[
                r#"Bash {"command": "rm a; mkdir d; echo n > d/new; echo 2 > b; echo u > other"}"#,
                &format!(r#"git_diff {{"paths": {PATHS}}}"#),
                &commit,
                r#"Bash {"command": "git show --name-status --format="}"#,
            ],
            &["D\ta\nA\td/new", "!b", "!other"],
        ),
    ]
}
