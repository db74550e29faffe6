//! Repositories that are not all in one folder, and commits that are to be signed.

use expect_test::expect;

use super::{Repository, check};
use crate::harness::Case;

pub(crate) const CASES: &[Case] = crate::cases![
    a_linked_work_tree_is_worked_in_as_any,
    a_submodule_is_taken_as_it_is_checked_out,
    nothing_of_a_submodule_runs,
    within_a_submodule_it_is_the_submodule_that_counts,
    the_users_own_program_signs_what_is_to_be_signed,
    no_program_of_the_repository_signs,
];

/// A work tree beside the first, in which the session works.
const LINKED: &str = "$ echo a > a; git add .; git commit -qm One; git worktree add -q ../linked";

async fn a_linked_work_tree_is_worked_in_as_any() {
    let mut repository = Repository::new();
    repository.step(LINKED).await;
    repository.works_in("linked");
    let mut said = String::new();
    for step in [
        "$ echo b > a; echo n > n",
        "git_status {}",
        "git_diff {\"paths\": [\"a\"]}",
        "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}",
        "git_log {}",
        "$ git status --short --branch; git -C ../work status --short --branch; git -C ../work log --format=%s",
        // What is in the middle of the other tree is no matter here.
        "$ cd ../work; git switch -qc third HEAD; echo m > a; git commit -qam Third; git merge -q linked 2>&1 | tail -1",
        "$ echo c > a",
        "git_status {}",
    ] {
        said += &format!("> {step}\n{}\n", repository.step(step).await.trim_end());
    }
    expect![[r#"
        > $ echo b > a; echo n > n

        > git_status {}
        ## linked
         M a
        ?? n
        {"branch":"linked","ahead":0,"behind":0,"files":[{"state":" M","path":"a"},{"state":"??","path":"n"}],"n_more":0}
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
        > git_commit {"message": "Two", "paths": ["a"]}
        6a88588d3a82 Two
        M a
        {"id":"6a88588d3a82b73c2160c84d4940389e7e2b9b64","files":["a"]}
        > git_log {}
        6a88588 2001-02-03 04:05:06 +0000 Ada: Two
        f466caa 2001-02-03 04:05:06 +0000 Ada: One
        {"commits":[{"id":"6a88588","date":"2001-02-03 04:05:06 +0000","author":"Ada","subject":"Two"},{"id":"f466caa","date":"2001-02-03 04:05:06 +0000","author":"Ada","subject":"One"}]}
        > $ git status --short --branch; git -C ../work status --short --branch; git -C ../work log --format=%s
        ## linked
        ?? n
        ## main
        One
        > $ cd ../work; git switch -qc third HEAD; echo m > a; git commit -qam Third; git merge -q linked 2>&1 | tail -1
        Automatic merge failed; fix conflicts and then commit the result.
        > $ echo c > a

        > git_status {}
        ## linked
         M a
        ?? n
        {"branch":"linked","ahead":0,"behind":0,"files":[{"state":" M","path":"a"},{"state":"??","path":"n"}],"n_more":0}
    "#]].assert_eq(&said);
}

/// A submodule `sub` of a repository beside, which is one commit ahead of what is recorded.
const SUBMODULE: &str = "$ git init -q ../lib; cd ../lib; echo x > x; git add x; git commit -qm L; \
    cd ../work; git -c protocol.file.allow=always submodule --quiet add ../lib sub; \
    git commit -qm One; cd sub; echo y > x; git commit -qam L2; echo z > x";

async fn a_submodule_is_taken_as_it_is_checked_out() {
    check(
        &[
            SUBMODULE,
            "$ mkdir d; echo f > d/f",
            "git_status {}",
            "git_diff {\"paths\": [\"sub\", \"d\"]}",
            "git_commit {\"message\": \"Two\", \"paths\": [\"sub\", \"d\"]}",
            "$ git show --format=%s --name-status --ignore-submodules=none; git status --short; cat sub/x",
            "git_commit {\"message\": \"Three\", \"paths\": [\"sub/x\"]}",
            "$ rm -rf sub",
            "git_commit {\"message\": \"Gone\", \"paths\": [\"sub\"]}",
            "git_commit {\"message\": \"Gone\", \"paths\": [\"sub\"]}",
            "$ echo file > sub",
            "git_diff {\"paths\": [\"sub\"]}",
        ],
        expect![[r#"
            > $ git init -q ../lib; cd ../lib; echo x > x; git add x; git commit -qm L; cd ../work; git -c protocol.file.allow=always submodule --quiet add ../lib sub; git commit -qm One; cd sub; echo y > x; git commit -qam L2; echo z > x
            > $ mkdir d; echo f > d/f
            > git_status {}
            ## main
             M sub
            ?? d/
            {"branch":"main","ahead":0,"behind":0,"files":[{"state":" M","path":"sub"},{"state":"??","path":"d/"}],"n_more":0}
            > git_diff {"paths": ["sub", "d"]}
            2 files:
            A d/f
            M sub
            diff --git a/d/f b/d/f
            new file mode 100644
            index 0000000..6a69f92
            --- /dev/null
            +++ b/d/f
            @@ -0,0 +1 @@
            +f
            diff --git a/sub b/sub
            index 2a01b2f..115d69d 160000
            --- a/sub
            +++ b/sub
            @@ -1 +1 @@
            -Subproject commit 2a01b2f2fdcf9d3c9dee6e9e22e1730bf527d2ee
            +Subproject commit 115d69d7a7bd59def88848e9310c3c62ad4d35c3
            > git_commit {"message": "Two", "paths": ["sub", "d"]}
            8f7d97671151 Two
            A d/f
            M sub
            {"id":"8f7d976711515f9303f0f8b055baedfc405e84c5","files":["d/f","sub"]}
            > $ git show --format=%s --name-status --ignore-submodules=none; git status --short; cat sub/x
            Two

            A	d/f
            M	sub
             m sub
            z
            > git_commit {"message": "Three", "paths": ["sub/x"]}
            error: git could not take these paths (exit code 128): fatal: Pathspec 'sub/x' is in submodule 'sub'
            > $ rm -rf sub
            > git_commit {"message": "Gone", "paths": ["sub"]}
            error: nothing was committed yet: this session has not seen what would be. Review it now; then call git_commit again with the same paths, which commits exactly this:
            1 file:
            D sub
            diff --git a/sub b/sub
            deleted file mode 160000
            index 115d69d..0000000
            --- a/sub
            +++ /dev/null
            @@ -1 +0,0 @@
            -Subproject commit 115d69d7a7bd59def88848e9310c3c62ad4d35c3
            > git_commit {"message": "Gone", "paths": ["sub"]}
            0f7a1640f1df Gone
            D sub
            {"id":"0f7a1640f1df0a78e45800be2695460b8a0e6718","files":["sub"]}
            > $ echo file > sub
            > git_diff {"paths": ["sub"]}
            1 file:
            A sub
            diff --git a/sub b/sub
            new file mode 100644
            index 0000000..f73f309
            --- /dev/null
            +++ b/sub
            @@ -0,0 +1 @@
            +file
        "#]],
    )
    .await;
}

async fn nothing_of_a_submodule_runs() {
    let mut repository = Repository::new();
    repository.step(SUBMODULE).await;
    let trap = r#"$ cd sub; lay() { printf '#!/bin/sh\ntouch "%s"\ncat\n' "$W/../ran-$1" > "../../$1"; chmod +x "../../$1"; }
        lay clean; lay monitor
        git config filter.trap.clean "$W/../clean"; git config core.fsmonitor "$W/../monitor"
        folder=$(git rev-parse --absolute-git-dir); mkdir -p $folder/info; echo 'x filter=trap' > $folder/info/attributes
        touch -d 2001-01-01 x"#;
    repository.step(trap).await;
    repository.shell("rm -f ran-*");
    for call in [
        "git_status {}",
        "git_diff {}",
        "git_diff {\"base\": \"HEAD\"}",
        "git_diff {\"paths\": [\"sub\"]}",
        "git_commit {\"message\": \"Two\", \"paths\": [\"sub\"]}",
    ] {
        let said = repository.step(call).await;
        assert!(!said.starts_with("error"), "{call}: {said}");
    }
    assert_eq!(repository.shell("ls -d ran-* 2>/dev/null"), "");
    // That they are traps at all.
    repository.step("$ touch -d 2002-01-01 sub/x; git status").await;
    let sprung = repository.shell("ls -d ran-*");
    assert!(sprung.contains("ran-clean") && sprung.contains("ran-monitor"), "{sprung}");
}

async fn within_a_submodule_it_is_the_submodule_that_counts() {
    let mut repository = Repository::new();
    repository.step(SUBMODULE).await;
    repository.works_in("work/sub");
    let mut said = String::new();
    for step in [
        "git_status {}",
        "git_commit {\"message\": \"L3\", \"paths\": [\"x\"]}",
        "git_commit {\"message\": \"L3\", \"paths\": [\"x\"]}",
        "$ git log --format=%s; git -C .. log --format=%s",
    ] {
        said += &format!("> {step}\n{}\n", repository.step(step).await.trim_end());
    }
    expect![[r#"
        > git_status {}
        ## master...origin/master [ahead 1, behind 0]
         M x
        {"branch":"master","upstream":"origin/master","ahead":1,"behind":0,"files":[{"state":" M","path":"x"}],"n_more":0}
        > git_commit {"message": "L3", "paths": ["x"]}
        error: nothing was committed yet: this session has not seen what would be. Review it now; then call git_commit again with the same paths, which commits exactly this:
        1 file:
        M x
        diff --git a/x b/x
        index 975fbec..b680253 100644
        --- a/x
        +++ b/x
        @@ -1 +1 @@
        -y
        +z
        > git_commit {"message": "L3", "paths": ["x"]}
        d2835c474745 L3
        M x
        {"id":"d2835c4747455828fd73623367676d0208ddec68","files":["x"]}
        > $ git log --format=%s; git -C .. log --format=%s
        L3
        L2
        L
        One
    "#]].assert_eq(&said);
}

/// A program that signs as git asks for it, and leaves a file behind.
const SIGNER: &str = r#"$ printf '#!/bin/sh\ncat > /dev/null\ntouch "%s"\necho "[GNUPG:] SIG_CREATED D" >&2\nprintf -- "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n"\n' "$W/../signed" > ../signer
    chmod +x ../signer; mkdir -p "$HOME"; echo a > a"#;

async fn the_users_own_program_signs_what_is_to_be_signed() {
    check(
        &[
            SIGNER,
            "$ git config --global gpg.program $W/../signer",
            "git_diff {\"paths\": [\"a\"]}",
            // Whether it is to be signed may be the repository's say.
            "$ git config commit.gpgsign true",
            "git_commit {\"message\": \"One\", \"paths\": [\"a\"]}",
            "$ git cat-file commit HEAD | grep -v '^ $'; ls ../signed",
            "$ git config --global gpg.program $W/../nowhere; echo b > a",
            "git_diff {\"paths\": [\"a\"]}",
            "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}",
            "$ git log --format=%s; git config commit.gpgsign maybe",
            "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}",
            "$ git config commit.gpgsign false",
            "git_commit {\"message\": \"Two\", \"paths\": [\"a\"]}",
        ],
        expect![[r#"
            > $ printf '#!/bin/sh\ncat > /dev/null\ntouch "%s"\necho "[GNUPG:] SIG_CREATED D" >&2\nprintf -- "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n"\n' "$W/../signed" > ../signer
                chmod +x ../signer; mkdir -p "$HOME"; echo a > a
            > $ git config --global gpg.program $W/../signer
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
            > $ git config commit.gpgsign true
            > git_commit {"message": "One", "paths": ["a"]}
            80c405460cca One
            A a
            {"id":"80c405460ccaa555c17cd1509f824977cb89ce5c","files":["a"]}
            > $ git cat-file commit HEAD | grep -v '^ $'; ls ../signed
            tree aaff74984cccd156a469afa7d9ab10e4777beb24
            author Ada <ada@example.org> 981173106 +0000
            committer Ada <ada@example.org> 981173106 +0000
            gpgsig -----BEGIN PGP SIGNATURE-----
             abc
             -----END PGP SIGNATURE-----

            One
            ../signed
            > $ git config --global gpg.program $W/../nowhere; echo b > a
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
            > git_commit {"message": "Two", "paths": ["a"]}
            error: git could not make the commit (exit code 1): fatal: cannot exec '$W/../nowhere': No such file or directory
            error: gpg failed to sign the data:
            (no gpg output)
            > $ git log --format=%s; git config commit.gpgsign maybe
            One
            > git_commit {"message": "Two", "paths": ["a"]}
            error: git could not tell whether commits are signed (exit code 128): fatal: bad boolean config value 'maybe' for 'commit.gpgsign'
            > $ git config commit.gpgsign false
            > git_commit {"message": "Two", "paths": ["a"]}
            013f5974ff61 Two
            M a
            {"id":"013f5974ff61117a876a792a9bc2e27e31312c89","files":["a"]}
        "#]],
    )
    .await;
}

async fn no_program_of_the_repository_signs() {
    check(
        &[
            SIGNER,
            "$ git config --global commit.gpgsign true; git config gpg.program $W/../signer",
            "git_diff {\"paths\": [\"a\"]}",
            "git_commit {\"message\": \"One\", \"paths\": [\"a\"]}",
            "$ git config --unset gpg.program; git config gpg.format ssh; git config gpg.ssh.defaultKeyCommand $W/../signer",
            "git_commit {\"message\": \"One\", \"paths\": [\"a\"]}",
            "$ git config --unset gpg.ssh.defaultKeyCommand; git config gpg.ssh.program $W/../signer",
            "git_commit {\"message\": \"One\", \"paths\": [\"a\"]}",
            "$ git log 2>&1; ls ../signed 2>&1",
            // What signs nothing may be named as anybody likes.
            "$ git config commit.gpgsign false",
            "git_commit {\"message\": \"One\", \"paths\": [\"a\"]}",
            "$ git config --unset gpg.format; git config gpg.program $W/../signer; ls ../signed 2>&1; git commit -qS --amend -m Trap; ls ../signed",
        ],
        expect![[r#"
            > $ printf '#!/bin/sh\ncat > /dev/null\ntouch "%s"\necho "[GNUPG:] SIG_CREATED D" >&2\nprintf -- "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n"\n' "$W/../signed" > ../signer
                chmod +x ../signer; mkdir -p "$HOME"; echo a > a
            > $ git config --global commit.gpgsign true; git config gpg.program $W/../signer
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
            > git_commit {"message": "One", "paths": ["a"]}
            error: nothing was committed: commits here are to be signed, and this repository's own settings name the program in gpg.program, which is not run here; commit with `git commit` in Bash, or ask the user
            > $ git config --unset gpg.program; git config gpg.format ssh; git config gpg.ssh.defaultKeyCommand $W/../signer
            > git_commit {"message": "One", "paths": ["a"]}
            error: nothing was committed: commits here are to be signed, and this repository's own settings name the program in gpg.ssh.defaultkeycommand, which is not run here; commit with `git commit` in Bash, or ask the user
            > $ git config --unset gpg.ssh.defaultKeyCommand; git config gpg.ssh.program $W/../signer
            > git_commit {"message": "One", "paths": ["a"]}
            error: nothing was committed: commits here are to be signed, and this repository's own settings name the program in gpg.ssh.program, which is not run here; commit with `git commit` in Bash, or ask the user
            > $ git log 2>&1; ls ../signed 2>&1
            fatal: your current branch 'main' does not have any commits yet
            ls: cannot access '../signed': No such file or directory
            > $ git config commit.gpgsign false
            > git_commit {"message": "One", "paths": ["a"]}
            f466caadd6de One
            A a
            {"id":"f466caadd6dea45f73da1ae4ed6d39ee86c39816","files":["a"]}
            > $ git config --unset gpg.format; git config gpg.program $W/../signer; ls ../signed 2>&1; git commit -qS --amend -m Trap; ls ../signed
            ls: cannot access '../signed': No such file or directory
            ../signed
        "#]],
    )
    .await;
}
