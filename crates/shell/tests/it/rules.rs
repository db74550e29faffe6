//! What rules see of a line: its commands without what a rule need not name.

use expect_test::{Expect, expect};
use heeler_shell::{Command, read};

use crate::PLACE;

/// Each command as a rule names it, and whether that surely is what runs.
fn check(line: &str, expected: Expect) {
    let told = |command: &Command| {
        let is_certain = if command.is_certain() { "is" } else { "may be" };
        format!("{} {is_certain} {}", command.words.join(" "), command.plain.join(" "))
    };
    let told: Vec<String> = read(line, &PLACE).commands.iter().map(told).collect();
    expected.assert_eq(&told.join("\n"));
}

#[test]
fn a_command_is_found_behind_paths_options_and_wrappers() {
    check("git -C x -c a.b=c push -q", expect!["git -C x -c a.b=c push -q may be git push -q"]);
    check("/usr/bin/git push", expect!["/usr/bin/git push is git push"]);
    check("git log push", expect!["git log push is git log push"]);
    check("cargo +nightly test -p a", expect!["cargo +nightly test -p a is cargo test -p a"]);
    check(
        "timeout 5 sh -c 'git push'; npm test",
        expect![[r#"
        timeout 5 sh -c git push is timeout 5 sh -c git push
        sh -c git push is sh -c git push
        git push is git push
        npm test is npm test"#]],
    );
    check(
        "cargo test 2>&1 | tail -5",
        expect![[r#"
        cargo test is cargo test
        tail -5 is tail -5"#]],
    );
    check("", expect![[""]]);
}

#[test]
fn a_repository_of_another_folder_is_none_that_a_rule_named() {
    check("git -C . push", expect!["git -C . push is git push"]);
    check(
        "git -C /space/project/ -C ./ push",
        expect!["git -C /space/project/ -C ./ push is git push"],
    );
    check(
        "git -C sub -C /space/project push",
        expect!["git -C sub -C /space/project push is git push"],
    );
    check("git -Csub push", expect!["git -Csub push may be git push"]);
    check("git -C . -C sub push", expect!["git -C . -C sub push may be git push"]);
    check("git -C link/.. push", expect!["git -C link/.. push may be git push"]);
    check("git -C $X push", expect!["git -C $X push may be git push"]);
    check(
        "cd sub; git -C . push",
        expect![[r#"
        cd sub is cd sub
        git -C . push may be git push"#]],
    );
    check("git diff -C . push", expect!["git diff -C . push is git diff -C . push"]);
}

/// The commands that a rule has to allow.
fn check_needed(line: &str, expected: &str) {
    let commands = read(line, &PLACE).commands;
    let needed = commands.iter().filter(|command| !command.is_wrapper);
    let needed: Vec<String> = needed.map(|command| command.words.join(" ")).collect();
    assert_eq!(needed.join(" | "), expected, "{line}");
}

#[test]
fn a_wrapper_that_needs_no_rule_changes_neither_folder_nor_settings() {
    check_needed("env A=b git status", "git status");
    check_needed("env -u RUSTC_BOOTSTRAP cargo test", "cargo test");
    check_needed("env -C . git status", "git status");
    check_needed("env -C sub git status", "env -C sub git status | git status");
    check_needed("env --chdir=sub git status", "env --chdir=sub git status | git status");
    for taken in ["-i", "-iv", "--ignore-env", "-u GIT_CONFIG_COUNT", "--unset=GIT_CONFIG_KEY_0"] {
        let line = format!("env {taken} git status");
        check_needed(&line, &format!("{line} | git status"));
    }
    check_needed("env -S '-i git' status", "env -i git status | git status");
    check_needed("env - git status", "env - git status | git status");
}

#[test]
fn a_program_of_git_that_stands_alone_is_a_verb_of_git() {
    check("git-push -q origin", expect!["git-push -q origin may be git push -q origin"]);
    check(
        "/usr/bin/git-upload-pack .",
        expect!["/usr/bin/git-upload-pack . may be git upload-pack ."],
    );
    check(
        "/usr/lib/git-core/git-stash -q drop",
        expect!["/usr/lib/git-core/git-stash -q drop may be git stash drop -q"],
    );
    check(
        "timeout 5 GIT-Push.exe",
        expect![[r#"
        timeout 5 GIT-Push.exe is timeout 5 GIT-Push.exe
        GIT-Push.exe may be git push"#]],
    );
    check("git-absorb --base main", expect!["git-absorb --base main is git-absorb --base main"]);
    check(
        "git-push() { ls; }; git-push",
        expect![[r#"
        ls is ls
        git-push is git-push"#]],
    );
}

#[test]
fn what_may_be_another_program_is_not_certain() {
    check("./git push", expect!["./git push may be git push"]);
    check("GIT push", expect!["GIT push is git push"]);
    check("$x push", expect!["$x push may be $x push"]);
    check("git $x", expect!["git $x may be git $x"]);
}
