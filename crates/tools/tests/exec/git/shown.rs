//! What the tools that only look show.

use std::sync::Arc;

use expect_test::expect;
use heeler_core::{Access, RawJson, ToolContext};

use super::{Repository, check};
use crate::harness::Case;

pub(crate) const CASES: &[Case] = crate::cases![
    what_differs_is_shown_with_new_files,
    each_part_of_history_is_shown,
    what_is_long_is_shown_in_pages,
    a_page_and_new_files_fit_one_result,
    names_are_never_options,
    facts_are_those_of_the_command_lines,
];

async fn what_differs_is_shown_with_new_files() {
    check(
        &[
            "git_status {}",
            "git_log {}",
            "$ printf 'one\\ntwo\\n' > a; mkdir d; echo x > d/b; git add a d; git commit -qm 'One'",
            "$ printf 'one\\n2\\n' > a; git rm -q d/b; echo new > 'n w'; echo i > ignored; echo ignored > .git/info/exclude",
            "git_status {}",
            "git_diff {}",
            "git_diff {\"staged\": true}",
            "git_diff {\"paths\": [\"n w\"]}",
            "git_diff {\"paths\": [\"ignored\"]}",
            "git_diff {\"paths\": [\"*\"]}",
            "$ git status --short; find .git -name '*.lock'",
        ],
        expect![[r#"
            > git_status {}
            ## main
            nothing differs
            {"branch":"main","ahead":0,"behind":0,"files":[],"n_more":0}
            > git_log {}
            no commit yet
            {"commits":[]}
            > $ printf 'one\ntwo\n' > a; mkdir d; echo x > d/b; git add a d; git commit -qm 'One'
            > $ printf 'one\n2\n' > a; git rm -q d/b; echo new > 'n w'; echo i > ignored; echo ignored > .git/info/exclude
            > git_status {}
            ## main
             M a
            D  d/b
            ?? n w
            {"branch":"main","ahead":0,"behind":0,"files":[{"state":" M","path":"a"},{"state":"D ","path":"d/b"},{"state":"??","path":"n w"}],"n_more":0}
            > git_diff {}
            diff --git a/a b/a
            index 814f4a4..99b356d 100644
            --- a/a
            +++ b/a
            @@ -1,2 +1,2 @@
             one
            -two
            +2
            diff --git a/d/b b/d/b
            deleted file mode 100644
            index 587be6b..0000000
            --- a/d/b
            +++ /dev/null
            @@ -1 +0,0 @@
            -x
            new files, shown when they are named:
            n w
            > git_diff {"staged": true}
            diff --git a/d/b b/d/b
            deleted file mode 100644
            index 587be6b..0000000
            --- a/d/b
            +++ /dev/null
            @@ -1 +0,0 @@
            -x
            > git_diff {"paths": ["n w"]}
            1 file:
            A n w
            diff --git a/n w b/n w
            new file mode 100644
            index 0000000..3e75765
            --- /dev/null
            +++ b/n w	
            @@ -0,0 +1 @@
            +new
            > git_diff {"paths": ["ignored"]}
            error: git could not take these paths (exit code 1): The following paths are ignored by one of your .gitignore files:
            ignored
            > git_diff {"paths": ["*"]}
            error: git could not take these paths (exit code 128): fatal: pathspec '*' did not match any files
            > $ git status --short; find .git -name '*.lock'
             M a
            D  d/b
            ?? "n w"
        "#]],
    )
    .await;
}

async fn each_part_of_history_is_shown() {
    check(
        &[
            "$ for n in 1 2 3; do echo $n > a; git add a; git commit -qm \"Change $n\"; done; git branch old HEAD~2",
            "git_log {\"max_count\": 2}",
            "git_log {\"skip\": 2, \"max_count\": 2}",
            "git_log {\"revision\": \"old..main\", \"paths\": [\"nothing\"]}",
            "git_diff {\"base\": \"old\"}",
            "git_diff {\"base\": \"old..main~1\", \"paths\": [\"a\"]}",
            "git_log {\"revision\": \"nowhere\"}",
        ],
        expect![[r#"
            > $ for n in 1 2 3; do echo $n > a; git add a; git commit -qm "Change $n"; done; git branch old HEAD~2
            > git_log {"max_count": 2}
            ddecf54 2001-02-03 04:05:06 +0000 Ada: Change 3
            91fd455 2001-02-03 04:05:06 +0000 Ada: Change 2
            (there are more; skip 2 shows them)
            {"commits":[{"id":"ddecf54","date":"2001-02-03 04:05:06 +0000","author":"Ada","subject":"Change 3"},{"id":"91fd455","date":"2001-02-03 04:05:06 +0000","author":"Ada","subject":"Change 2"}]}
            > git_log {"skip": 2, "max_count": 2}
            ff43136 2001-02-03 04:05:06 +0000 Ada: Change 1
            {"commits":[{"id":"ff43136","date":"2001-02-03 04:05:06 +0000","author":"Ada","subject":"Change 1"}]}
            > git_log {"revision": "old..main", "paths": ["nothing"]}
            no commits
            {"commits":[]}
            > git_diff {"base": "old"}
            diff --git a/a b/a
            index d00491f..00750ed 100644
            --- a/a
            +++ b/a
            @@ -1 +1 @@
            -1
            +3
            > git_diff {"base": "old..main~1", "paths": ["a"]}
            diff --git a/a b/a
            index d00491f..0cfbf08 100644
            --- a/a
            +++ b/a
            @@ -1 +1 @@
            -1
            +2
            > git_log {"revision": "nowhere"}
            error: git could not list commits (exit code 128): fatal: ambiguous argument 'nowhere': unknown revision or path not in the working tree.
            Use '--' to separate paths from revisions, like this:
            'git <command> [<revision>...] -- [<file>...]'
        "#]],
    )
    .await;
}

async fn what_is_long_is_shown_in_pages() {
    let mut repository = Repository::new();
    repository.step("$ seq 1 20000 > a").await;
    let first = repository.step("git_diff {\"paths\": [\"a\"]}").await;
    let last = first.lines().last().unwrap();
    let offset = last.split(' ').find_map(|word| word.parse::<u64>().ok().filter(|n| *n > 1));
    assert!(last.contains("of 20006; git_diff of the same with offset"), "{last}");
    let end = offset.unwrap();
    let next = format!("git_diff {{\"paths\": [\"a\"], \"offset\": {}}}", end + 1);
    let second = repository.step(&next).await;
    let [_, _, line, ..] = second.lines().collect::<Vec<_>>()[..] else { panic!("{second}") };
    // Six lines stand before the first of the file.
    assert_eq!(line, format!("+{}", end + 1 - 6));
}

async fn a_page_and_new_files_fit_one_result() {
    let mut repository = Repository::new();
    repository
        .step("$ seq 2000 > a; git add a; git commit -qm One; seq 5000 9000 > a; mkdir d")
        .await;
    for n in 0..120 {
        let text = "a line of a new file\n".repeat(30);
        std::fs::write(repository.work().join(format!("d/{n}-{}", "n".repeat(150))), text).unwrap();
    }
    for chars_max in [4_000, 10_000, 30_000, 200_000] {
        for (input, expected) in [
            ("{}", "new files, shown when they are named:\nd/0-n"),
            (r#"{"new_text": true}"#, "diff --git a/d/0-n"),
        ] {
            let context = ToolContext { result_chars_max: chars_max, ..repository.context() };
            let tool = Arc::clone(repository.tool("git_diff"));
            let output = tool.call(context, RawJson::parse(input).unwrap()).await.unwrap();
            let text = output.text_content();
            let n_chars = text.chars().count();
            assert!(n_chars <= chars_max, "{n_chars} of {chars_max} for {input}");
            // The page's end, then what is new, and how many of that are not named.
            let (page, new) = text.split_once("shows more)\n").unwrap();
            assert!(page.starts_with("diff --git a/a b/a\n"), "{page}");
            assert!(page.len() + 1_000 > chars_max.min(48_000) / 2, "{}", page.len());
            assert!(new.starts_with(expected), "{new}");
            assert!(new.ends_with(" more)\n"), "{new}");
        }
    }
}

async fn names_are_never_options() {
    check(
        &[
            "$ echo a > a; git add a; git commit -qm One; echo b > ./--output=x; echo c > ./-h",
            "git_diff {\"base\": \"--output=$W/x\"}",
            "git_log {\"revision\": \"--all\"}",
            "git_diff {\"paths\": [\"--output=x\"]}",
            "git_diff {\"paths\": [\":/\"]}",
            "git_diff {\"paths\": [\"../outside\"]}",
            "git_status {\"paths\": [\"-h\"]}",
            "$ ls",
        ],
        expect![[r#"
            > $ echo a > a; git add a; git commit -qm One; echo b > ./--output=x; echo c > ./-h
            > git_diff {"base": "--output=$W/x"}
            error: `--output=$W/x` begins with a dash, so it is no name of a commit; give a branch, a tag, or an id
            > git_log {"revision": "--all"}
            error: `--all` begins with a dash, so it is no name of a commit; give a branch, a tag, or an id
            > git_diff {"paths": ["--output=x"]}
            1 file:
            A --output=x
            diff --git a/--output=x b/--output=x
            new file mode 100644
            index 0000000..6178079
            --- /dev/null
            +++ b/--output=x
            @@ -0,0 +1 @@
            +b
            > git_diff {"paths": [":/"]}
            error: git could not take these paths (exit code 128): fatal: pathspec ':/' did not match any files
            > git_diff {"paths": ["../outside"]}
            error: git could not take these paths (exit code 128): fatal: ../outside: '../outside' is outside repository at '$W'
            > git_status {"paths": ["-h"]}
            ## main
            ?? -h
            {"branch":"main","ahead":0,"behind":0,"files":[{"state":"??","path":"-h"}],"n_more":0}
            > $ ls
            --output=x
            -h
            a
        "#]],
    )
    .await;
}

async fn facts_are_those_of_the_command_lines() {
    let repository = Repository::new();
    let mut said = String::new();
    for (name, input) in [
        ("git_status", r#"{"paths": ["a b"]}"#),
        ("git_diff", r#"{"base": "main", "paths": ["it's"]}"#),
        ("git_log", "{}"),
        ("git_commit", r#"{"message": "It's\n\nall; rm -rf /", "paths": ["a"]}"#),
        (
            "git_commit",
            r#"{"message": "x", "paths": ["a"], "checks": ["make test", "rm -rf build"]}"#,
        ),
        // Each check starts in the workspace, wherever the one before it went.
        ("git_commit", r#"{"message": "x", "paths": ["a"], "checks": ["cd sub", "rm ../x"]}"#),
    ] {
        let facts = repository.tool(name).facts(&RawJson::parse(input).unwrap(), "/space");
        let [Access::Shell(line)] = facts.accesses.as_slice() else { panic!("{facts:?}") };
        let words = |it: &heeler_core::ShellCommand| format!("  {:?}\n", it.words);
        let commands: String = line.commands.iter().map(words).collect();
        let whys: String = line.concerns.iter().map(|it| format!("  {}\n", it.why)).collect();
        said += &format!(
            "{name} reads: {} alone: {} only looks: {}\n{commands}{whys}",
            line.is_read_only,
            facts.exclusive,
            repository.metadata(name).read_only
        );
    }
    expect![[r#"
        git_status reads: true alone: false only looks: true
          ["git", "status", "--short", "--branch", "--", "a b"]
        git_diff reads: true alone: false only looks: true
          ["git", "diff", "--no-ext-diff", "--no-textconv", "main", "--", "it's"]
        git_log reads: true alone: false only looks: true
          ["git", "log", "--no-patch", "HEAD"]
        git_commit reads: false alone: true only looks: false
          ["git", "commit", "--only", "--message=It's\n\nall; rm -rf /", "--", "a"]
        git_commit reads: false alone: true only looks: false
          ["make", "test"]
          ["rm", "-rf", "build"]
          ["git", "commit", "--only", "--message=x", "--", "a"]
          removes build for good
        git_commit reads: false alone: true only looks: false
          ["cd", "sub"]
          ["rm", "../x"]
          ["git", "commit", "--only", "--message=x", "--", "a"]
          writes to /x, which is outside of the workspace
    "#]]
    .assert_eq(&said);
}
