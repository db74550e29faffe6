//! What is committed: what was named and reviewed, and nothing else.

use expect_test::expect;

use super::{Repository, check};
use crate::harness::Case;

pub(crate) const CASES: &[Case] = crate::cases![
    only_what_is_named_and_was_reviewed_is_committed,
    the_first_commit_and_removed_files,
    what_changed_since_the_review_is_refused,
    a_review_counts_from_the_next_reply_on,
    only_what_was_shown_to_its_last_line_is_committed,
    what_a_long_line_hides_at_its_end_is_shown_first,
    what_cannot_be_committed_is_refused_with_the_reason,
    a_merge_in_the_middle_is_left_alone,
    checks_and_hooks_have_their_say,
    who_commits_meanwhile_is_not_overwritten,
    a_branch_that_is_locked_is_told_as_such,
];

/// What a person sees of the last commit, the index and the files.
const LOOK: &str =
    "$ git show --stat=60 --format='%s%n%b' HEAD; git status --short; git log --format=%s";

async fn only_what_is_named_and_was_reviewed_is_committed() {
    check(
        &[
            "$ echo a > a; echo b > b; git add .; git commit -qm One",
            "$ echo staged > b; git add b; echo later > b; echo a2 > a; git add a; echo a3 > a; mkdir d; echo n > d/new; echo u > untracked",
            "git_commit {\"message\": \"Two\\n\\n# why\", \"paths\": [\"a\", \"d\"]}",
            "git_commit {\"message\": \"Two\\n\\n# why\", \"paths\": [\"a\", \"d\"]}",
            LOOK,
            "$ git diff --cached; git fsck --no-dangling",
            "git_commit {\"message\": \"Again\", \"paths\": [\"a\"]}",
        ],
        expect![[r#"
            > $ echo a > a; echo b > b; git add .; git commit -qm One
            > $ echo staged > b; git add b; echo later > b; echo a2 > a; git add a; echo a3 > a; mkdir d; echo n > d/new; echo u > untracked
            > git_commit {"message": "Two\n\n# why", "paths": ["a", "d"]}
            error: nothing was committed yet: this session has not seen what would be. Review it now; then call git_commit again with the same paths, which commits exactly this:
            2 files:
            M a
            A d/new
            diff --git a/a b/a
            index 7898192..d616f73 100644
            --- a/a
            +++ b/a
            @@ -1 +1 @@
            -a
            +a3
            diff --git a/d/new b/d/new
            new file mode 100644
            index 0000000..8ba3a16
            --- /dev/null
            +++ b/d/new
            @@ -0,0 +1 @@
            +n
            > git_commit {"message": "Two\n\n# why", "paths": ["a", "d"]}
            093b84b88454 Two
            M a
            A d/new
            {"id":"093b84b88454f4544ffd6da6c23a549d6f77751a","files":["a","d/new"]}
            > $ git show --stat=60 --format='%s%n%b' HEAD; git status --short; git log --format=%s
            Two
            # why


             a     | 2 +-
             d/new | 1 +
             2 files changed, 2 insertions(+), 1 deletion(-)
            MM b
            ?? untracked
            Two
            One
            > $ git diff --cached; git fsck --no-dangling
            diff --git a/b b/b
            index 6178079..19d9cc8 100644
            --- a/b
            +++ b/b
            @@ -1 +1 @@
            -b
            +staged
            > git_commit {"message": "Again", "paths": ["a"]}
            error: nothing to commit: these paths are as in the last commit
        "#]],
    )
    .await;
}

async fn the_first_commit_and_removed_files() {
    check(
        &[
            "$ echo a > a; echo b > b; git add b",
            "git_diff {\"paths\": [\"a\"]}",
            "git_commit {\"message\": \"First\", \"paths\": [\"a\"]}",
            LOOK,
            "$ rm a",
            "git_diff {\"paths\": [\"a\"]}",
            "git_commit {\"message\": \"Without\", \"paths\": [\"a\"]}",
            LOOK,
        ],
        expect![[r#"
            > $ echo a > a; echo b > b; git add b
            > git_diff {"paths": ["a"]}
            1 file:
            A a
            diff --git a/a b/a
            new file mode 100644
            index 0000000..7898192
            --- /dev/null
            +++ b/a
            @@ -0,0 +1 @@
            +a
            > git_commit {"message": "First", "paths": ["a"]}
            f42c991d96d6 First
            A a
            {"id":"f42c991d96d66137d755825f8896fb29c1a0538f","files":["a"]}
            > $ git show --stat=60 --format='%s%n%b' HEAD; git status --short; git log --format=%s
            First


             a | 1 +
             1 file changed, 1 insertion(+)
            A  b
            First
            > $ rm a
            > git_diff {"paths": ["a"]}
            1 file:
            D a
            diff --git a/a b/a
            deleted file mode 100644
            index 7898192..0000000
            --- a/a
            +++ /dev/null
            @@ -1 +0,0 @@
            -a
            > git_commit {"message": "Without", "paths": ["a"]}
            6a4175f6528f Without
            D a
            {"id":"6a4175f6528f893d453c023239ba1d6b403d903d","files":["a"]}
            > $ git show --stat=60 --format='%s%n%b' HEAD; git status --short; git log --format=%s
            Without


             a | 1 -
             1 file changed, 1 deletion(-)
            A  b
            Without
            First
        "#]],
    )
    .await;
}

async fn what_changed_since_the_review_is_refused() {
    check(
        &[
            "$ echo a > a; git add .; git commit -qm One; echo b > a",
            "git_diff {\"paths\": [\"a\"]}",
            "$ echo c > a",
            "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}",
            "$ echo b > a",
            "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}",
            "$ git show --format=%s HEAD",
        ],
        expect![[r#"
            > $ echo a > a; git add .; git commit -qm One; echo b > a
            > git_diff {"paths": ["a"]}
            1 file:
            M a
            diff --git a/a b/a
            index 7898192..6178079 100644
            --- a/a
            +++ b/a
            @@ -1 +1 @@
            -a
            +b
            > $ echo c > a
            > git_commit {"message": "Two", "paths": ["a"]}
            error: nothing was committed yet: this session has not seen what would be. Review it now; then call git_commit again with the same paths, which commits exactly this:
            1 file:
            M a
            diff --git a/a b/a
            index 7898192..f2ad6c7 100644
            --- a/a
            +++ b/a
            @@ -1 +1 @@
            -a
            +c
            > $ echo b > a
            > git_commit {"message": "Two", "paths": ["a"]}
            6a88588d3a82 Two
            M a
            {"id":"6a88588d3a82b73c2160c84d4940389e7e2b9b64","files":["a"]}
            > $ git show --format=%s HEAD
            Two

            diff --git a/a b/a
            index 7898192..6178079 100644
            --- a/a
            +++ b/a
            @@ -1 +1 @@
            -a
            +b
        "#]],
    )
    .await;
}

async fn a_review_counts_from_the_next_reply_on() {
    let mut repository = Repository::new();
    repository.step("$ echo a > a").await;
    let commit = r#"{"message": "One", "paths": ["a"]}"#;
    repository.round = 5;
    for _ in 0..2 {
        let said = repository.call("git_commit", commit).await;
        assert!(said.starts_with("error: nothing was committed yet"), "{said}");
    }
    repository.round = 6;
    let said = repository.call("git_commit", commit).await;
    assert!(said.contains("One\nA a\n"), "{said}");
}

async fn what_cannot_be_committed_is_refused_with_the_reason() {
    check(
        &[
            "$ echo a > a; git add .; git commit -qm One; git init -q sub; cd sub; echo x > x; git add x; git commit -qm Sub",
            "git_commit {\"message\": \" \\n\", \"paths\": [\"a\"]}",
            "git_commit {\"message\": \"x\", \"paths\": []}",
            "git_commit {\"message\": \"x\", \"paths\": [\".\"]}",
            "git_commit {\"message\": \"x\", \"paths\": [\"$W/../work\"]}",
            "git_commit {\"message\": \"x\", \"paths\": [\"a\"]}",
            "git_commit {\"message\": \"x\", \"paths\": [\"nowhere\"]}",
            "git_commit {\"message\": \"x\", \"paths\": [\"sub\"]}",
            "git_commit {\"message\": \"x\", \"paths\": [\"a\"], \"checks\": [\"\"]}",
            "$ printf 'key = \"AKIA%s\"\\n' Z7QK4MDR2XWV8HTP > a",
            "git_commit {\"message\": \"x\", \"paths\": [\"a\"]}",
            LOOK,
        ],
        expect![[r#"
            > $ echo a > a; git add .; git commit -qm One; git init -q sub; cd sub; echo x > x; git add x; git commit -qm Sub
            > git_commit {"message": " \n", "paths": ["a"]}
            error: the message is empty; say what was done and why
            > git_commit {"message": "x", "paths": []}
            error: name the paths to commit; git_status shows which differ
            > git_commit {"message": "x", "paths": ["."]}
            error: `.` is the whole work tree, with whatever others are doing in it; name the files and folders that you changed
            > git_commit {"message": "x", "paths": ["$W/../work"]}
            error: `$W/../work` is the whole work tree, with whatever others are doing in it; name the files and folders that you changed
            > git_commit {"message": "x", "paths": ["a"]}
            error: nothing to commit: these paths are as in the last commit
            > git_commit {"message": "x", "paths": ["nowhere"]}
            error: git could not take these paths (exit code 128): fatal: pathspec 'nowhere' did not match any files
            > git_commit {"message": "x", "paths": ["sub"]}
            error: sub is a repository of its own; name files outside of it, or add it as a submodule with Bash
            > git_commit {"message": "x", "paths": ["a"], "checks": [""]}
            error: checks are at most 8 command lines of 1 to 8192 bytes; write longer ones to a file and run that
            > $ printf 'key = "AKIA%s"\n' Z7QK4MDR2XWV8HTP > a
            > git_commit {"message": "x", "paths": ["a"]}
            error: nothing was committed: what looks like a secret would be in it: AWS key id in a; take it out, or, if it is none, ask the user to commit it
            > $ git show --stat=60 --format='%s%n%b' HEAD; git status --short; git log --format=%s
            One


             a | 1 +
             1 file changed, 1 insertion(+)
             M a
            ?? sub/
            One
        "#]],
    )
    .await;
}

async fn a_merge_in_the_middle_is_left_alone() {
    check(
        &[
            "$ echo a > a; git add .; git commit -qm One; git switch -qc other; echo o > a; git commit -qam Other; git switch -q main; echo m > a; git commit -qam Main; git merge other",
            "git_status {}",
            "git_commit {\"message\": \"x\", \"paths\": [\"a\"]}",
            "$ git merge --abort; git rebase other >/dev/null 2>&1; echo y > b",
            "git_commit {\"message\": \"x\", \"paths\": [\"b\"]}",
        ],
        expect![[r#"
            > $ echo a > a; git add .; git commit -qm One; git switch -qc other; echo o > a; git commit -qam Other; git switch -q main; echo m > a; git commit -qam Main; git merge other
            Auto-merging a
            CONFLICT (content): Merge conflict in a
            Automatic merge failed; fix conflicts and then commit the result.
            > git_status {}
            ## main
            a merge is in the middle
            UU a
            {"branch":"main","ahead":0,"behind":0,"operation":"merge","files":[{"state":"UU","path":"a"}],"n_more":0}
            > git_commit {"message": "x", "paths": ["a"]}
            error: a merge is in the middle, which a commit of some paths would break; finish it with Bash (`git merge --continue`) or leave it to the user
            > $ git merge --abort; git rebase other >/dev/null 2>&1; echo y > b
            > git_commit {"message": "x", "paths": ["b"]}
            error: a rebase is in the middle, which a commit of some paths would break; finish it with Bash (`git rebase --continue`) or leave it to the user
        "#]],
    )
    .await;
}

async fn checks_and_hooks_have_their_say() {
    let hook = |name: &str, line: &str| {
        format!(
            "$ printf '#!/bin/sh\\n%s\\n' '{line}' > .git/hooks/{name}; chmod +x .git/hooks/{name}"
        )
    };
    let commit = |checks: &str| {
        format!("git_commit {{\"message\": \"Two\", \"paths\": [\"a\"], \"checks\": [{checks}]}}")
    };
    let steps = [
        "$ echo a > a; git add .; git commit -qm One; echo b > a".to_owned(),
        "git_diff {\"paths\": [\"a\"]}".to_owned(),
        commit("\"echo fine\", \"echo FAILED; echo why >&2; false\", \"touch never\""),
        commit("\"echo changed > a\""),
        "$ echo b > a".to_owned(),
        hook("pre-commit", "git diff --cached --name-only; exit 1"),
        commit(""),
        hook("pre-commit", "echo h > h; git add h"),
        commit(""),
        hook("pre-commit", "exit 0"),
        hook("commit-msg", "echo Id: 1 >> \"$1\""),
        hook("post-commit", "echo done > $W/posted"),
        commit("\"echo FAILED\""),
        "$ git log -1 --format='%s%n%b'; cat posted; git show --format= --name-only HEAD; ls"
            .to_owned(),
    ];
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    check(&steps, expect![[r#"
        > $ echo a > a; git add .; git commit -qm One; echo b > a
        > git_diff {"paths": ["a"]}
        1 file:
        M a
        diff --git a/a b/a
        index 7898192..6178079 100644
        --- a/a
        +++ b/a
        @@ -1 +1 @@
        -a
        +b
        > git_commit {"message": "Two", "paths": ["a"], "checks": ["echo fine", "echo FAILED; echo why >&2; false", "touch never"]}
        error: nothing was committed: the check `echo FAILED; echo why >&2; false` failed (exit code 1); put that right first. The end of what it said:
        FAILED
        why
        > git_commit {"message": "Two", "paths": ["a"], "checks": ["echo changed > a"]}
        error: nothing was committed: a check, or somebody meanwhile, changed these files; review them with git_diff, then commit again
        > $ echo b > a
        > $ printf '#!/bin/sh\n%s\n' 'git diff --cached --name-only; exit 1' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
        > git_commit {"message": "Two", "paths": ["a"], "checks": []}
        error: nothing was committed: git could not commit, since the hook pre-commit refuses (exit code 1): a
        > $ printf '#!/bin/sh\n%s\n' 'echo h > h; git add h' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
        > git_commit {"message": "Two", "paths": ["a"], "checks": []}
        error: nothing was committed: a hook of the repository changed what would be, so it is no longer what was reviewed; look at the files with git_diff, then commit again
        > $ printf '#!/bin/sh\n%s\n' 'exit 0' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
        > $ printf '#!/bin/sh\n%s\n' 'echo Id: 1 >> "$1"' > .git/hooks/commit-msg; chmod +x .git/hooks/commit-msg
        > $ printf '#!/bin/sh\n%s\n' 'echo done > $W/posted' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit
        > git_commit {"message": "Two", "paths": ["a"], "checks": ["echo FAILED"]}
        d21625c594f2 Two
        M a
        {"id":"d21625c594f2bb4108ff187ccd4e215e7beb0310","files":["a"]}
        > $ git log -1 --format='%s%n%b'; cat posted; git show --format= --name-only HEAD; ls
        Two Id: 1

        done
        a
        a
        h
        posted
    "#]]).await;
}

async fn who_commits_meanwhile_is_not_overwritten() {
    let steps = [
        "$ echo a > a; git add .; git commit -qm One; echo b > a; echo c > c; git add c",
        "git_diff {\"paths\": [\"a\"]}",
        // The hook stands for somebody who commits at the worst moment.
        "$ printf '#!/bin/sh\\nunset GIT_INDEX_FILE; rm .git/hooks/pre-commit; git commit -qm Theirs\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}",
        "$ git log --format=%s; git status --short",
        "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}",
        "$ git log --format=%s --name-status; git status --short",
    ];
    check(&steps, expect![[r#"
        > $ echo a > a; git add .; git commit -qm One; echo b > a; echo c > c; git add c
        > git_diff {"paths": ["a"]}
        1 file:
        M a
        diff --git a/a b/a
        index 7898192..6178079 100644
        --- a/a
        +++ b/a
        @@ -1 +1 @@
        -a
        +b
        > $ printf '#!/bin/sh\nunset GIT_INDEX_FILE; rm .git/hooks/pre-commit; git commit -qm Theirs\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
        > git_commit {"message": "Two", "paths": ["a"]}
        error: nothing was committed, since somebody else committed just now: git could not move the branch (exit code 128): fatal: update_ref failed for ref 'HEAD': cannot lock ref 'HEAD': is at aabb1bf036cbbee9b2f3b2b0156bd60f6eabd795 but expected f466caadd6dea45f73da1ae4ed6d39ee86c39816; look with git_log, then call again
        > $ git log --format=%s; git status --short
        Theirs
        One
         M a
        > git_commit {"message": "Two", "paths": ["a"]}
        59cab1710fed Two
        M a
        {"id":"59cab1710fed0067c6b09c916b4265e86844a975","files":["a"]}
        > $ git log --format=%s --name-status; git status --short
        Two

        M	a
        Theirs

        A	c
        One

        A	a
    "#]]).await;
}

async fn only_what_was_shown_to_its_last_line_is_committed() {
    let mut repository = Repository::new();
    repository.step("$ seq 1 20000 > a").await;
    let commit = "git_commit {\"message\": \"One\", \"paths\": [\"a\"]}";
    let diff = |offset: u64| format!("git_diff {{\"paths\": [\"a\"], \"offset\": {offset}}}");
    let first = |said: &str| said.lines().next().unwrap().to_owned();
    // A page with nothing on it shows nothing, and what comes behind a gap is not all.
    repository.step(&diff(9_999_999)).await;
    let said = repository.step(&diff(19_000)).await;
    assert!(said.ends_with("+20000\n"), "{said}");
    let said = repository.step(commit).await;
    assert_eq!(
        first(&said),
        "error: nothing was committed yet: this session has not seen what would be. Review it \
         now, to its last line; then call git_commit again with the same paths, which commits \
         exactly this:"
    );
    // Of `(lines 1 to 2 of 3; ...)`.
    let end = |said: &str| -> u64 {
        let last = said.lines().last().unwrap();
        last.split(" to ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let one = end(&said);
    let mut said = repository.step(commit).await;
    let next = format!("this session has not seen all that would be: line {} comes next.", one + 1);
    assert!(first(&said).contains(&next), "{said}");
    assert!(said.contains(&format!("\n+{}\n", one + 1 - 6)), "{said}");
    while !said.ends_with("+20000\n") {
        said = repository.step(&diff(end(&said) + 1)).await;
    }
    let said = repository.step(commit).await;
    assert!(said.contains(" One\nA a\n"), "{said}");
}

async fn what_a_long_line_hides_at_its_end_is_shown_first() {
    let mut repository = Repository::new();
    repository
        .step("$ { head -c 99000 /dev/zero | tr '\\0' a; echo PAYLOAD; echo b; } > min.js")
        .await;
    let diff = |offset: u64| format!("git_diff {{\"paths\": [\"min.js\"], \"offset\": {offset}}}");
    let commit = "git_commit {\"message\": \"One\", \"paths\": [\"min.js\"]}";
    let said = repository.step(&diff(1)).await;
    assert!(
        said.contains("\n(a line of more than 1000 characters goes on in the next, "),
        "{said}"
    );
    assert!(!said.contains("PAYLOAD"), "{said}");
    let mut shown = said;
    let mut n_pages = 0;
    while !shown.contains("PAYLOAD\n+b\n") {
        n_pages += 1;
        shown = repository.step(commit).await;
        assert!(shown.starts_with("error: nothing was committed yet: "), "{shown}");
    }
    assert_eq!(n_pages, 2);
    let said = repository.step(commit).await;
    assert!(said.contains(" One\nA min.js\n"), "{said}");
}

async fn a_branch_that_is_locked_is_told_as_such() {
    let steps = [
        "$ echo a > a; git add .; git commit -qm One; echo b > a",
        "git_diff {\"paths\": [\"a\"]}",
        "$ touch \".git/$(git symbolic-ref HEAD).lock\"",
        "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}",
        "$ git log --format=%s; git status --short",
    ];
    check(&steps, expect![[r#"
        > $ echo a > a; git add .; git commit -qm One; echo b > a
        > git_diff {"paths": ["a"]}
        1 file:
        M a
        diff --git a/a b/a
        index 7898192..6178079 100644
        --- a/a
        +++ b/a
        @@ -1 +1 @@
        -a
        +b
        > $ touch ".git/$(git symbolic-ref HEAD).lock"
        > git_commit {"message": "Two", "paths": ["a"]}
        error: nothing was committed, and nobody else committed either. Call again when what git names is out of the way, or ask the user: git could not move the branch (exit code 128): fatal: update_ref failed for ref 'HEAD': cannot lock ref 'HEAD': Unable to create '$W/.git/refs/heads/main.lock': File exists.

        Another git process seems to be running in this repository, e.g.
        an editor opened by 'git commit'. Please make sure all processes
        are terminated then try again. If it still fails, a git process
        may have crashed in this repository earlier:
        remove the file manually to continue.
        > $ git log --format=%s; git status --short
        One
         M a
    "#]]).await;
}
