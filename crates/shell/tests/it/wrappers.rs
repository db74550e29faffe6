//! Programs that run another, and names that decide which one that is.

use expect_test::expect;
use heeler_shell::{ConcernKind, read};

use crate::PLACE;
use crate::lines::check;

#[test]
fn wrappers_are_read_as_they_read_themselves() {
    // Values that stand in the same word or nowhere, a way of quoting of its own, a machine before the
    // command, and a plus that is a folder.
    check(r#"xargs --eof ./evil ls"#, expect!["runs xargs --eof ./evil ls | ./evil ls {}"]);
    check(
        r#"xargs --max-lines ./evil ls"#,
        expect!["runs xargs --max-lines ./evil ls | ./evil ls {}"],
    );
    check(
        r#"xargs -E end -L 2 ./evil ls"#,
        expect!["runs xargs -E end -L 2 ./evil ls | ./evil ls {}"],
    );
    check(
        r#"env -S "A='\\\\' ls ' rm x #'" y"#,
        expect![[r#"
        runs env -S A='\\' ls ' rm x #' y
        NotUnderstood: env takes its words apart in a way of its own"#]],
    );
    check(
        r#"env -S 'rm\_-rf\_src'"#,
        expect![[r#"
        runs env -S rm\_-rf\_src
        NotUnderstood: env takes its words apart in a way of its own"#]],
    );
    check(
        r#"env -S 'ls -l'"#,
        expect![[r#"
        runs env -S ls -l | env ls -l | ls -l
        only reads"#]],
    );
    check(
        r#"setarch x86_64 rm -rf src"#,
        expect![[r#"
        runs setarch x86_64 rm -rf src | rm -rf src
        writes /space/project/src
        Irreversible: removes src for good"#]],
    );
    check(
        r#"setarch -R rm -rf src"#,
        expect![[r#"
        runs setarch -R rm -rf src | rm -rf src
        writes /space/project/src
        Irreversible: removes src for good"#]],
    );
    check(
        r#"find . -maxdepth 0 -exec env -C + rm -rf ../src \;"#,
        expect![[r#"
        runs find . -maxdepth 0 -exec env -C + rm -rf ../src ; | env -C + rm -rf ../src {} | rm -rf ../src {}
        writes /space/project/src
        Irreversible: removes ../src for good
        Irreversible: removes {} for good"#]],
    );
    check(
        r#"find . -exec rm {} +"#,
        expect![[r#"
        runs find . -exec rm {} + | rm {}
        Irreversible: removes {} for good"#]],
    );
}

#[test]
fn what_bash_itself_looks_up_decides_what_runs() {
    check(
        "BASH_CMDS[ls]=./evil; ls",
        expect![[r#"
            runs ls
            NotUnderstood: BASH_CMDS makes a word mean something else"#]],
    );
    check(
        "POSIXLY_CORRECT=1\nBASH_ALIASES[ls]='touch a'\nls",
        expect![[r#"
            runs ls
            Environment: POSIXLY_CORRECT decides what runs
            NotUnderstood: BASH_ALIASES makes a word mean something else"#]],
    );
}

#[test]
fn what_talks_to_a_repository_may_be_told_which_program_does() {
    let decides = |line| {
        let concerns = read(line, &PLACE).concerns;
        concerns.iter().any(|concern| concern.kind == ConcernKind::Environment)
    };
    for line in [
        "git push --receive-pack='./x; git-receive-pack' . HEAD:refs/heads/z",
        "git push --exec=./x . HEAD",
        "git push --rece ./x . HEAD",
        "git ls-remote --exec=./x .",
        "git fetch-pack --exec=./x .",
        "git send-pack --receive-pack=./x .",
        "git send-email --to-cmd ./x a.patch",
        "git archive --remote=. --exec=./x HEAD",
    ] {
        assert!(decides(line), "{line}");
    }
    assert!(!decides("git push -u origin main"));
}

#[test]
fn a_command_in_the_value_of_an_option_or_variable_is_hidden_from_no_rule() {
    for line in [
        "git fetch --upload-pack='rm victim;:' .",
        "git ls-remote --upload-pack='rm victim;:' .",
        "git clone -u 'rm victim;:' . x",
        "git push --exec='rm a' .",
        "git archive --remote=. --exec='rm a' HEAD",
        "git difftool --extcmd='rm a'",
        "git difftool -x 'rm a'",
        "git grep -Orm x",
        "git grep --open-files-in-pager='rm a' x",
        "rsync -e 'rm a' x host:y",
        "rsync --rsh='rm a' x host:y",
        "GIT_PAGER='rm a' git -p log",
        "PAGER='rm a' git log",
        "EDITOR='rm a' git commit",
        "GIT_SSH_COMMAND='rm a;:' git fetch",
        "LESSOPEN='|rm a' less x",
        "export EDITOR='rm a'; git commit",
        "git -c core.pager='rm a' -p log",
        "git -c core.editor='rm a' commit",
        "git -c core.sshCommand='rm a;:' fetch",
        "git -c alias.x='!rm a' x",
        "git -c diff.external='rm a' diff",
        "git filter-branch --tree-filter 'rm a'",
        "git filter-branch -f --index-filter='rm a' HEAD",
        "git merge-index -o rm -a",
        "ssh -o ProxyCommand='rm a' host",
        "ssh host -o LocalCommand='rm a'",
        "scp -S 'rm a' x host:y",
        "gcc -wrapper rm,a a.c",
        "sqlite3 db '.shell rm a'",
        "sqlite3 db <<< '.sh rm a'",
        "svn diff --diff-cmd 'rm'",
        "psql -c '\\! rm a'",
        "sftp host <<< '!rm a'",
    ] {
        check_seen(line);
    }
}

#[test]
fn options_and_assignments_of_a_wrapper_are_not_its_command() {
    for line in [
        "unshare --map-user 0 rm victim",
        "unshare -rm --propagation private rm victim",
        "unshare --mount-proc rm victim",
        "nsenter --target 1 rm victim",
        "nsenter -t 1 -m -p rm victim",
        "sudo x=y rm a",
        "sudo -u root x=y z=1 rm a",
        "sudo x=y -u root rm a",
        "sudo -D / rm a",
        "sudo -s <<< 'rm a'",
        "su <<< 'rm a'",
        "chroot . <<< 'rm a'",
        "bwrap --dev-bind / / rm a",
        "bwrap --unshare-all --ro-bind / / --dev /dev --setenv A b -- rm a",
        "bwrap -- rm a",
        "proot -r / rm a",
        "capsh -- -c 'rm a'",
        "capsh --user=nobody -- -c 'rm a'",
        "systemd-nspawn -D / rm a",
        "sandbox-exec -p x rm a",
        "conda run -n env rm a",
        "conda run --no-capture-output -p ./env rm a",
        "pixi run rm a",
        "pyenv exec rm a",
        "rbenv exec rm a",
        "nodenv exec rm a",
        "volta run --node 20 rm a",
        "fnm exec --using=20 rm a",
        "nvm exec 20 rm a",
        "op run -- rm a",
        "op run --env-file=.env -- rm a",
        "aws-vault exec name -- rm a",
        "aws-vault exec -d 1h name -- rm a",
        "retry rm a",
        "retry -t 3 rm a",
        "sshpass -p x rm a",
        "doppler run -- rm a",
        "chamber exec name -- rm a",
    ] {
        check_seen(line);
    }
}

/// A rule on `rm` sees it.
fn check_seen(line: &str) {
    let said = read(line, &PLACE);
    let is_seen = said.commands.iter().any(|command| command.plain.starts_with(&["rm".into()]));
    assert!(is_seen, "{line}: {said:?}");
}

#[test]
fn a_user_before_a_command_hides_none() {
    check(
        "su nobody -c 'rm -rf src'",
        expect![[r#"
            runs su nobody -c rm -rf src | rm -rf src
            writes /space/project/src
            Leaves: asks for other rights
            Irreversible: removes src for good"#]],
    );
}

#[test]
fn a_user_or_root_before_a_command_hides_it_from_no_rule() {
    for line in [
        "su - nobody -c 'rm -rf src'",
        "runuser nobody -c 'rm -rf src'",
        "runuser - nobody -c 'rm -rf src'",
        "runuser -l nobody -c 'rm -rf src'",
        "runuser -u nobody rm -rf src",
        "runuser -u nobody -- rm -rf src",
        "runuser --user=nobody rm -rf src",
        "chroot . rm -rf src",
        "chroot --userspec=1:1 --groups 1,2 . rm -rf src",
        "chroot --userspec 1:1 -- . rm -rf src",
    ] {
        check_seen(line);
    }
}
