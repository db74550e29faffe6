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
    check("git -C x -c a.b=c push -q", expect!["git -C x -c a.b=c push -q is git push -q"]);
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
fn what_may_be_another_program_is_not_certain() {
    check("./git push", expect!["./git push may be git push"]);
    check("GIT push", expect!["GIT push is git push"]);
    check("$x push", expect!["$x push may be $x push"]);
    check("git $x", expect!["git $x may be git $x"]);
}
