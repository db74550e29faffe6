//! What rules ask of a line: whether its commands begin with some words.

use expect_test::{Expect, expect};
use heeler_shell::read;

use crate::PLACE;

/// Which commands surely begin with the words, and which may.
fn check(line: &str, prefix: &str, expected: Expect) {
    let words: Vec<&str> = prefix.split(' ').collect();
    let read = read(line, &PLACE);
    let commands = read.commands.iter().map(|command| {
        let surely = command.begins_with(&words);
        let maybe = command.may_begin_with(&words);
        let fits = match (surely, maybe) {
            (true, _) => "is",
            (false, true) => "may be",
            (false, false) => "is not",
        };
        format!("{} {fits} {prefix}", command.words.join(" "))
    });
    expected.assert_eq(&commands.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_command_is_found_behind_paths_options_and_wrappers() {
    check(
        "git -C x -c a.b=c push -q",
        "git push",
        expect!["git -C x -c a.b=c push -q is git push"],
    );
    check("/usr/bin/git push", "git push", expect!["/usr/bin/git push is git push"]);
    check("git log push", "git push", expect!["git log push is not git push"]);
    check("./git push", "git push", expect!["./git push may be git push"]);
    check("GIT push", "git push", expect!["GIT push is git push"]);
    check("$x push", "git push", expect!["$x push may be git push"]);
    check("git $x", "git push", expect!["git $x may be git push"]);
    check(
        "cargo +nightly test -p a",
        "cargo test",
        expect!["cargo +nightly test -p a is cargo test"],
    );
    check(
        "timeout 5 sh -c 'git push'; npm test",
        "git push",
        expect![[r#"
            timeout 5 sh -c git push is not git push
            sh -c git push is not git push
            git push is git push
            npm test is not git push"#]],
    );
}

#[test]
fn a_line_fits_where_all_its_commands_do() {
    let line = read("cargo test 2>&1 | tail -5", &PLACE);
    assert!(line.all_begin_with(&[&["cargo", "test"], &["tail"]]));
    assert!(!line.all_begin_with(&[&["cargo", "test"]]));
    assert!(!read("", &PLACE).all_begin_with(&[&["cargo"]]));
    assert!(line.any_may_begin_with(&["tail"]));
    assert!(!line.any_may_begin_with(&["git"]));
}
