//! What is taken back, done again, and counted.

use expect_test::expect;

use super::super::super::Composer;
use super::super::super::testing::{play, steps};
use super::super::{COUNT_MAX, REPEATED_KEYS_MAX};
use super::{check, vim};

#[test]
fn changes_are_taken_back_and_done_again() {
    check(
        "one two three<Esc>dbdbu",
        expect![[r#"
        > one two |e
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>dbdb2u<C-r>",
        expect![[r#"
        > one two |e
        -- NORMAL
    "#]],
    );
    check(
        "one two<Esc>u",
        expect![[r#"
        > one|_
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0dw.",
        expect![[r#"
        > |three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0x2.u",
        expect![[r#"
        > |e two three
        -- NORMAL
    "#]],
    );
    check(
        "one one one<Esc>0cwtwo<Esc>w.w.",
        expect![[r#"
        > two two tw|o
        -- NORMAL
    "#]],
    );
    check(
        "one one one<Esc>0cwtwo<Esc>w.u",
        expect![[r#"
        > two |one one
        -- NORMAL
    "#]],
    );
    check(
        "ab<Esc>ruu.",
        expect![[r#"
        > a|u
        -- NORMAL
    "#]],
    );
    check(
        "<Esc>3iab <Esc>",
        expect![[r#"
        > ab ab ab|_
        -- NORMAL
    "#]],
    );
    check(
        "<Esc>2iab <Esc>.",
        expect![[r#"
        > ab abab ab|__
        -- NORMAL
    "#]],
    );
}

#[test]
fn counts_and_repeated_keys_have_a_most() {
    let play_all = |composer: &mut Composer, script: &str| {
        for step in steps(script) {
            play(composer, &step);
        }
    };
    let mut composer = vim();
    play_all(&mut composer, "<Esc>99999iab<Esc>");
    assert_eq!(composer.text().len(), COUNT_MAX * 2);

    // A change of more keys is not done again; the one before it is.
    let mut composer = vim();
    let many = "x".repeat(REPEATED_KEYS_MAX + 1);
    play_all(&mut composer, &format!("<Esc>iab<Esc>i{many}<Esc>"));
    let length = composer.text().len();
    play_all(&mut composer, ".");
    assert_eq!(composer.text().len(), length + 2);
}
