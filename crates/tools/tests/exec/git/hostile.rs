//! Repositories whose settings and files want something to run.

use expect_test::expect;

use super::{Repository, check};
use crate::harness::Case;

pub(crate) const CASES: &[Case] = crate::cases![
    nothing_of_the_repository_runs_when_it_is_looked_at,
    a_filter_of_the_repository_is_no_way_to_commit,
    a_tree_that_lies_elsewhere_is_refused,
    a_tree_that_a_repository_may_have_is_worked_in,
];

/// Everything of a repository that names programs; each leaves a file behind if it runs.
const TRAPS: &str = r#"$ printf 'one\n' > a; echo s > s; echo e > e; git add .; git commit -qm One
    lay() { printf '#!/bin/sh\ntouch "%s"\ncat 2>/dev/null\nexit 0\n' "$W/../ran-$1" > "../$1"; chmod +x "../$1"; }
    for name in monitor external textconv clean process pager signature editor command; do lay $name; done
    printf '#!/bin/sh\ntouch "%s"\nexit 1\n' "$W/../ran-remote" > ../remote; chmod +x ../remote
    for name in post-index-change pre-commit reference-transaction pre-auto-gc; do
        printf '#!/bin/sh\ntouch "%s"\n' "$W/../ran-$name" > .git/hooks/$name; chmod +x .git/hooks/$name
    done
    git config core.fsmonitor "$W/../monitor"
    git config diff.external "$W/../external"
    git config diff.trap.textconv "$W/../textconv"
    git config diff.trap.command "$W/../command"
    git config filter.trap.clean "$W/../clean"
    git config filter.trap.smudge cat; git config filter.trap.required true
    git config filter.two.process "$W/../process"
    git config core.pager "$W/../pager"
    git config pager.log "$W/../pager"
    git config pager.diff "$W/../pager"
    git config core.editor "$W/../editor"
    git config log.showSignature true
    git config gpg.program "$W/../signature"
    git config remote.origin.url "ext::$W/../remote"
    git config protocol.ext.allow always
    git config remote.origin.promisor true
    git config extensions.partialClone origin
    git config core.repositoryFormatVersion 1
    printf 'a diff=trap filter=trap\nb filter=trap\ns filter=two\n' > .gitattributes
    { printf '[filter "pad"]\n'; for i in $(seq 150); do printf 'pad = %060000d\n' 0; done
      cat .git/config; } > ../config; mv ../config .git/config
    printf 'one\ntwo\n' > a; echo new > b; echo e2 > e; touch -d 2001-01-01 s"#;

async fn nothing_of_the_repository_runs_when_it_is_looked_at() {
    let mut repository = Repository::new();
    repository.step(TRAPS).await;
    repository.shell("rm -f ran-*");
    for call in [
        "git_status {}",
        "git_diff {}",
        "git_diff {\"staged\": true}",
        "git_diff {\"paths\": [\"a\", \"b\", \"s\"]}",
        "git_diff {\"base\": \"HEAD\"}",
        "git_log {\"paths\": [\"a\"]}",
    ] {
        let said = repository.step(call).await;
        assert!(!said.starts_with("error"), "{call}: {said}");
    }
    assert_eq!(repository.shell("ls -d ran-* 2>/dev/null"), "");
    // An object that is not here is not fetched either.
    let object = "$(cat ../path)";
    repository.step("$ git rev-parse HEAD:a | sed 's,^..,.git/objects/&/,' > ../path").await;
    repository.step(&format!("$ rm ../ran-*; mv {object} ../object")).await;
    let said = repository.step("git_diff {\"base\": \"HEAD\"}").await;
    assert!(said.starts_with("error: git could not show what differs"), "{said}");
    assert_eq!(repository.shell("ls -d ran-* 2>/dev/null"), "");
    // That they are traps at all.
    let person = format!(
        "$ exec </dev/null; timeout 10 git diff; mv ../object {object}; \
         for line in status diff 'log -p'; do timeout 10 git $line; done"
    );
    repository.step(&person).await;
    let sprung = repository.shell("ls -d ran-*");
    for name in
        ["monitor", "external", "command", "textconv", "clean", "post-index-change", "remote"]
    {
        assert!(sprung.contains(&format!("ran-{name}\n")), "{name}: {sprung}");
    }
}

async fn a_filter_of_the_repository_is_no_way_to_commit() {
    check(
        &[
            "$ git config filter.trap.clean 'touch ran; cat'; echo '*.x filter=trap' > .gitattributes; echo a > a.x; echo b > b",
            "git_commit {\"message\": \"One\", \"paths\": [\"a.x\", \"b\"]}",
            "git_diff {\"paths\": [\"b\"]}",
            "git_commit {\"message\": \"One\", \"paths\": [\"b\"]}",
            "$ git config filter.a=b.clean cat; ls",
            "git_status {}",
        ],
        expect![[r#"
            > $ git config filter.trap.clean 'touch ran; cat'; echo '*.x filter=trap' > .gitattributes; echo a > a.x; echo b > b
            > git_commit {"message": "One", "paths": ["a.x", "b"]}
            error: $W/a.x passes the filter `trap`, a program that this repository's settings name and that is not run here; commit it with `git commit` in Bash
            > git_diff {"paths": ["b"]}
            1 file:
            A b
            diff --git a/b b/b
            new file mode 100644
            index 0000000..6178079
            --- /dev/null
            +++ b/b
            @@ -0,0 +1 @@
            +b
            > git_commit {"message": "One", "paths": ["b"]}
            ba26f8d13593 One
            A b
            {"id":"ba26f8d13593e60a3bbeb0dc614d9e5f72e879bc","files":["b"]}
            > $ git config filter.a=b.clean cat; ls
            a.x
            b
            > git_status {}
            error: the settings of this repository define filters that cannot be switched off: more than 64, or one with `=` in its name; ask the user to look at them
        "#]],
    )
    .await;
}

async fn a_tree_that_lies_elsewhere_is_refused() {
    // A plain folder, another repository, one around this, and one whose repository this file names.
    for other in [
        "mkdir ../other",
        "git init -q ../other",
        "git init -q ..; ln -s . ../other",
        "mkdir ../other; echo 'gitdir: ../work/.git/' > ../other/.git",
    ] {
        let mut repository = Repository::new();
        let elsewhere = "echo secret > ../other/a; git config core.worktree $W/../other";
        repository.step(&format!("$ {other}; {elsewhere}")).await;
        for call in [
            "git_diff {\"paths\": [\"$W/../other/a\"]}",
            "git_status {}",
            "git_commit {\"message\": \"One\", \"paths\": [\"$W/../other/a\"]}",
        ] {
            let said = repository.step(call).await;
            let refused = said.starts_with("error: the settings of this repository name ");
            assert!(refused && !said.contains("+secret"), "{other}: {call}: {said}");
        }
    }
}

async fn a_tree_that_a_repository_may_have_is_worked_in() {
    for there in [
        "mkdir sub",
        "mkdir sub; git config core.worktree $W",
        "git init -q --separate-git-dir ../aside; mkdir sub",
        "mv .git ../aside; ln -s ../aside .git; mkdir sub",
    ] {
        let mut repository = Repository::new();
        repository.step(&format!("$ {there}; echo a > sub/a; ln -s work ../link")).await;
        for folder in ["work", "work/sub", "link", "link/sub"] {
            repository.works_in(folder);
            let said = repository.step("git_status {}").await;
            assert!(said.contains("?? sub/\n"), "{there}: {folder}: {said}");
        }
    }
}
