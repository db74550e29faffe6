//! Vim's keys, played.

mod motions;
mod objects;
mod operators;
mod undo;
mod visual;

use expect_test::{Expect, expect};

use super::super::testing::{check_with, settings};
use super::super::{Composer, ComposerSettings, KeyStyle};

/// Plays keys from insert mode on; the mode stands in the last line.
#[track_caller]
fn check(script: &str, expected: Expect) {
    check_with(vim(), 40, script, expected);
}

fn vim() -> Composer {
    Composer::new(ComposerSettings { keys: KeyStyle::Vim, ..settings() })
}

#[test]
fn escape_leaves_insert_first_and_is_passed_on_then() {
    check(
        "one<Esc>",
        expect![[r#"
        > on|e
        -- NORMAL
    "#]],
    );
    check(
        "one<Esc><Esc>",
        expect![[r#"
        > on|e
        -- NORMAL
        ignored Esc KeyModifiers(0x0)
    "#]],
    );
    check(
        "one<Esc>d<Esc>x",
        expect![[r#"
        > o|n
        -- NORMAL
    "#]],
    );
    check(
        "one<Esc>0itwo <Esc>$a!<CR>next",
        expect![[r#"
        > next|
        -- INSERT
        submit "two one!"
    "#]],
    );
    check(
        "<Esc>?<C-c>",
        expect![[r#"
            > |Ask anything
            -- NORMAL
            ignored Char('c') KeyModifiers(CONTROL)
        "#]],
    );
    check(
        "one<Esc>I-<Esc>A-<Esc>otwo<Esc>Ozero",
        expect![[r#"
        > -one-
          zero|
          two
        -- INSERT
    "#]],
    );
}

#[test]
fn pastes_are_letters_to_vim() {
    check(
        "see <lines 9><Esc>x",
        expect![[r#"
        > see|_
        -- NORMAL
    "#]],
    );
    check(
        "see <lines 9><Esc>xP",
        expect![[r#"
        > see|[pasted 9 lines]_
        -- NORMAL
    "#]],
    );
    check(
        "<lines 9><Esc>za<Esc>gg",
        expect![[r#"
        > |line 1
          line 2
          line 3
          line 4
          line 5
          line 6
        (above 0, below 4)
        -- NORMAL
        ignored Esc KeyModifiers(0x0)
    "#]],
    );
}
