//! What is said of single lines, one for each thing that the reader knows.

use expect_test::{Expect, expect};
use heeler_shell::read;

use crate::PLACE;

pub(crate) fn check(line: &str, expected: Expect) {
    let read = read(line, &PLACE);
    let commands: Vec<String> =
        read.commands.iter().map(|command| command.words.join(" ")).collect();
    let mut text = format!("runs {}", commands.join(" | "));
    if !read.writes.is_empty() {
        text.push_str(&format!("\nwrites {}", read.writes.join(" ")));
    }
    for concern in &read.concerns {
        text.push_str(&format!("\n{:?}: {}", concern.kind, concern.why));
    }
    if read.is_read_only {
        text.push_str("\nonly reads");
    }
    expected.assert_eq(&text);
}

#[test]
fn what_only_looks_only_reads() {
    check(
        "ls -la | head",
        expect![[r#"
        runs ls -la | head
        only reads"#]],
    );
    check(
        "git status && git diff --stat",
        expect![[r#"
        runs git status | git diff --stat
        only reads"#]],
    );
    check(
        "git branch; command -v git",
        expect![[r#"
        runs git branch | command -v git
        only reads"#]],
    );
    check("f() { ls; }; f", expect!["runs ls | f"]);
    check(
        "find . -name '*.rs' | xargs wc -l",
        expect![[r#"
            runs find . -name *.rs | xargs wc -l | wc -l {}
            only reads"#]],
    );
    check("git branch new", expect!["runs git branch new"]);
    check("git merge-tree a b", expect!["runs git merge-tree a b"]);
    check("git branch -d old", expect!["runs git branch -d old"]);
    check(
        "sort a -o b",
        expect![[r#"
        runs sort a -o b
        writes /space/project/b"#]],
    );
    check(
        "",
        expect![[r#"
        runs 
        only reads"#]],
    );
    check(
        "# only a remark",
        expect![[r#"
        runs 
        only reads"#]],
    );
}

#[test]
fn paths_are_followed_through_folders_and_variables() {
    check(
        "cd src && echo a > b.txt 2>/dev/null",
        expect![[r#"
        runs cd src | echo a
        writes /space/project/src/b.txt"#]],
    );
    check(
        "(cd /etc); cd docs; echo a > ../b",
        expect![[r#"
        runs cd /etc | cd docs | echo a
        writes /space/project/b"#]],
    );
    check(
        "pushd /etc; popd; echo a > b",
        expect![[r#"
        runs pushd /etc | popd | echo a
        writes /space/project/b"#]],
    );
    check(
        "cd \"$TMPDIR\" && rm -rf build",
        expect![[r#"
        runs cd /space/temp/private | rm -rf build
        writes /space/temp/private/build"#]],
    );
    check(
        "T=$(mktemp -d); cp a \"$T/b\"; rm -rf \"$(mktemp -d)\"",
        expect!["runs mktemp -d | cp a $T/b | mktemp -d | rm -rf $(mktemp -d)"],
    );
    check(
        "cp x ../y",
        expect![[r#"
        runs cp x ../y
        writes /space/y
        Leaves: writes to /space/y, which is outside of the workspace"#]],
    );
    check(
        "cp vendor/.envrc .",
        expect![[r#"
        runs cp vendor/.envrc .
        writes /space/project
        Leaves: writes to /space/project/.envrc, which is protected: programs read it as orders"#]],
    );
    check(
        "echo a > \"$x/../b\"; echo a > /opt/$x",
        expect![[r#"
        runs echo a | echo a
        Leaves: writes to /opt, which is outside of the workspace"#]],
    );
    check(
        "rm -f -- \"$x\" ./$y '*'",
        expect![[r#"
        runs rm -f -- $x ./$y *
        writes /space/project/*"#]],
    );
    check(
        "rm -f .git/index.lock",
        expect![[r#"
        runs rm -f .git/index.lock
        writes /space/project/.git/index.lock"#]],
    );
}

#[test]
fn commands_within_commands_are_found() {
    check(
        "cat <<EOF | bash\nls $(git push)\nEOF",
        expect![[r#"
        runs git push | cat | bash
        Leaves: git push talks to another repository
        NotUnderstood: a shell runs what it reads"#]],
    );
    check(
        "bash <<'EOF'\ncd docs\necho $HOME > a\nEOF",
        expect![[r#"
        runs bash | cd docs | echo /home/user
        writes /space/project/docs/a /space/project/a"#]],
    );
    check(
        "find . -name '*.o' -exec rm {} +",
        expect![[r#"
        runs find . -name *.o -exec rm {} + | rm {}
        Irreversible: removes {} for good"#]],
    );
    check(
        "xargs -I% cp % /etc/x",
        expect![[r#"
        runs xargs -I% cp % /etc/x | cp % /etc/x
        writes /etc/x
        Leaves: writes to /etc/x, which is outside of the workspace"#]],
    );
    check(
        "env -S 'A=b git push' x",
        expect![[r#"
        runs env -S A=b git push x | env A=b git push x | git push x
        Leaves: git push talks to another repository"#]],
    );
    check(
        "command git push",
        expect![[r#"
        runs command git push | git push
        Leaves: git push talks to another repository"#]],
    );
    check(
        "sed -i.bak s/a/b/ x.txt; awk '{print > \"out\"}' y",
        expect![[r#"
        runs sed -i.bak s/a/b/ x.txt | awk {print > "out"} y
        writes /space/project/x.txt /space/project/out"#]],
    );
    check(
        "cargo +nightly --config a.b=c test",
        expect![[r#"
        runs cargo +nightly --config a.b=c test
        Environment: decides which programs cargo runs"#]],
    );
    check(
        "trap 'rm -r a' EXIT",
        expect![[r#"
        runs trap rm -r a EXIT | rm -r a
        writes /space/project/a
        Irreversible: removes a for good"#]],
    );
}

#[test]
fn options_make_the_difference() {
    check("git rm --cached -r a; git rm a", expect!["runs git rm --cached -r a | git rm a"]);
    check("git restore --staged a", expect!["runs git restore --staged a"]);
    check(
        "git restore --staged --worktree a",
        expect![[r#"
        runs git restore --staged --worktree a
        Irreversible: git restore overwrites what is in files"#]],
    );
    check(
        "git clean -nd; git clean -fd",
        expect![[r#"
        runs git clean -nd | git clean -fd
        Irreversible: git clean removes files for good"#]],
    );
    check(
        "git checkout main; git checkout -b a/b; git checkout a.rs",
        expect![[r#"
        runs git checkout main | git checkout -b a/b | git checkout a.rs
        Irreversible: git checkout of paths overwrites what is in them"#]],
    );
    check(
        "git --bare status",
        expect![[r#"
        runs git --bare status
        Environment: another repository's settings decide what git runs"#]],
    );
    check(
        "git -c user.name=x -c core.editor=vi commit",
        expect![[r#"
            runs git -c user.name=x -c core.editor=vi commit | vi
            Environment: core.editor decides what git runs"#]],
    );
    check(
        "kill %1 $! \"$PID\"; kill $PPID",
        expect![[r#"
        runs kill %1 $! $PID | kill $PPID
        Leaves: signals the process $PPID"#]],
    );
    check(
        "chmod +x a; chmod u+s b",
        expect![[r#"
        runs chmod +x a | chmod u+s b
        writes /space/project/a /space/project/b
        Leaves: gives a program the rights of its owner"#]],
    );
}

#[test]
fn what_does_not_parse_runs_nothing_that_is_known() {
    check(
        "x=1 f() { ls; }",
        expect![[r#"
        runs 
        NotUnderstood: it does not parse as shell"#]],
    );
    check(
        "echo 'a",
        expect![[r#"
        runs 
        NotUnderstood: it does not parse as shell"#]],
    );
}

#[test]
fn assignments_that_decide_what_runs_are_told_from_others() {
    check(
        "GIT_EDITOR=true GIT_TRACE=1 GIT_AUTHOR_NAME=x MANPAGER=cat git log",
        expect![[r#"
        runs git log
        only reads"#]],
    );
    check(
        "BASH_ENV=cat bash x.sh",
        expect![[r#"
        runs bash x.sh
        Environment: BASH_ENV decides what runs"#]],
    );
    check(
        "BAT_PAGER=./x bat a",
        expect![[r#"
            runs ./x | bat a
            Environment: BAT_PAGER decides what runs"#]],
    );
    check(
        "HOME=$HOME PATH=\"$PATH\" LANG=C ls",
        expect![[r#"
        runs ls
        only reads"#]],
    );
    check(
        "IFS=, read -r a b; IFS=x",
        expect![[r#"
            runs read -r a b
            only reads"#]],
    );
    check(
        "for GIT_DIR in a; do :; done",
        expect![[r#"
        runs :
        Environment: GIT_DIR decides what runs"#]],
    );
    check(
        "read \"$name\"",
        expect![[r#"
        runs read $name
        Environment: which variable is set is computed: $name"#]],
    );
}

#[test]
fn branches_and_tags_are_not_lost_among_options_that_list() {
    check(
        "git branch -r -D origin/a",
        expect![[r#"
        runs git branch -r -D origin/a
        Irreversible: git branch drops commits"#]],
    );
    check(
        "git tag -n -d v1",
        expect![[r#"
        runs git tag -n -d v1
        Irreversible: git tag loses what it named"#]],
    );
    check(
        "git checkout Makefile",
        expect![[r#"
        runs git checkout Makefile
        Irreversible: git checkout of paths overwrites what is in them"#]],
    );
    check("rsync -an --delete a/ b/", expect!["runs rsync -an --delete a/ b/"]);
}

#[test]
fn what_is_in_the_private_temp_may_go() {
    check(
        "T=$(mktemp -d); cp a \"$T/b\"; rm -rf \"$T\"",
        expect!["runs mktemp -d | cp a $T/b | rm -rf $T"],
    );
    check(
        "T=$(mktemp -d); T=src; rm -rf \"$T\"",
        expect![[r#"
        runs mktemp -d | rm -rf $T
        Irreversible: removes $T for good"#]],
    );
    check(
        "for i in 1 2; do T=$(mktemp -d); rm -rf \"$T\"; read T; done",
        expect![[r#"
            runs mktemp -d | rm -rf $T | read T
            Irreversible: removes $T for good"#]],
    );
    check(
        "T=$(mktemp -d); rm -rf \"$T/../../x\"",
        expect![[r#"
        runs mktemp -d | rm -rf $T/../../x
        Irreversible: removes $T/../../x for good"#]],
    );
}

#[test]
fn a_program_is_only_known_where_the_system_has_it() {
    check("./ls; cat x", expect!["runs ./ls | cat x"]);
    check(
        "/usr/bin/ls",
        expect![[r#"
        runs /usr/bin/ls
        only reads"#]],
    );
    check(
        "bash -n x.sh",
        expect![[r#"
        runs bash -n x.sh
        only reads"#]],
    );
    check(
        "bash -n +n -c 'git push'",
        expect![[r#"
        runs bash -n +n -c git push | git push
        Leaves: git push talks to another repository"#]],
    );
}

#[test]
fn places_that_are_made_of_what_is_written_are_not_asked_about() {
    check(
        "mkdir -p \"$(dirname \"$f\")\"",
        expect![[r#"runs dirname $f | mkdir -p $(dirname "$f")"#]],
    );
    check(
        "cp a \"$(which b)\"",
        expect![[r#"
        runs which b | cp a $(which b)
        NotUnderstood: where it writes is computed: $(which b)"#]],
    );
    check(
        "tool --out=~/x; tool out=~/x; dd of=~/x",
        expect![[r#"
        runs tool --out=~/x | tool out=/home/user/x | dd of=/home/user/x
        writes /home/user/x
        Irreversible: dd overwrites what it is given
        Leaves: writes to /home/user/x, which is outside of the workspace"#]],
    );
    check(
        "gcc -o../y z.c",
        expect![[r#"
        runs gcc -o../y z.c
        writes /space/y
        Leaves: writes to /space/y, which is outside of the workspace"#]],
    );
}

#[test]
fn shells_are_seen_through_whatever_they_read() {
    check(
        "bash --rcfile <(echo 'git push') -ic ls",
        expect![[r#"
        runs echo git push | bash --rcfile ( echo 'git push' ) -ic ls | ls
        NotUnderstood: the script is computed: ( echo 'git push' )"#]],
    );
    check(
        "bash -c bash <<< 'git push'",
        expect![[r#"
        runs bash -c bash | bash | git push
        Leaves: git push talks to another repository"#]],
    );
    check(
        "echo git push | fish",
        expect![[r#"
        runs echo git push | fish
        NotUnderstood: a shell runs what it reads"#]],
    );
    check(
        "(sh) <<< 'git push'",
        expect![[r#"
            runs sh | git push
            Leaves: git push talks to another repository"#]],
    );
    check(
        "bash < x.sh",
        expect![[r#"
        runs bash
        NotUnderstood: a shell runs what it reads"#]],
    );
    check(
        "alias; alias ls=x",
        expect![[r#"
            runs alias | alias ls=x
            NotUnderstood: an alias makes a word mean something else"#]],
    );
    check(
        "yarn rimraf src; yarn test; pnpm $x",
        expect![[r#"
        runs yarn rimraf src | rimraf src | yarn test | pnpm $x | $x
        Irreversible: removes folders for good
        NotUnderstood: which command runs is computed: $x"#]],
    );
    check(
        "sed -n \"${a},${b}p\" f; awk \"NR==$n\" f",
        expect!["runs sed -n ${a},${b}p f | awk NR==$n f"],
    );
}

#[test]
fn programs_of_git_that_stand_alone_do_what_git_does() {
    check(
        "/usr/lib/git-core/git-clean -fdx",
        expect![[r#"
        runs /usr/lib/git-core/git-clean -fdx
        Irreversible: git clean removes files for good"#]],
    );
    check(
        "git-reset --hard; git-filter-repo --force",
        expect![[r#"
        runs git-reset --hard | git-filter-repo --force
        Irreversible: git reset throws changes away
        Irreversible: git rewrites or drops history"#]],
    );
    check(
        "cd /out && git-push",
        expect![[r#"
        runs cd /out | git-push
        Leaves: git push talks to another repository"#]],
    );
    check("git-status --short", expect!["runs git-status --short"]);
}
