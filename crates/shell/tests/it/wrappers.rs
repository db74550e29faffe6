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
        let said = read(line, &PLACE);
        let is_seen = said.commands.iter().any(|command| command.plain.starts_with(&["rm".into()]));
        assert!(is_seen, "{line}: {said:?}");
    }
}
