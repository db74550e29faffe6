//! Visual mode, and what it looks like.

use expect_test::expect;
use ratatui::style::{Modifier, Style};

use super::super::super::ComposerStyles;
use super::super::super::testing::{play, steps};
use super::{check, vim};

#[test]
fn visual_mode_shows_what_it_takes() {
    check(
        "one two three<Esc>bvey",
        expect![[r#"
        > one two |three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>bvbd",
        expect![[r#"
        > one |hree
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0viwcx<Esc>",
        expect![[r#"
        > |x two three
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<C-j>three<Esc>kVkd",
        expect![[r#"
        > |three
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<C-j>three<Esc>VkJ",
        expect![[r#"
        > one
          two| three
        -- NORMAL
    "#]],
    );
    check(
        "one two<Esc>vb~",
        expect![[r#"
        > one |TWO
        -- NORMAL
    "#]],
    );
    check(
        "one two<Esc>yiwbvep",
        expect![[r#"
        > |two two
        -- NORMAL
    "#]],
    );
    check(
        "one two<Esc>vbohd",
        expect![[r#"
        > one |o
        -- NORMAL
    "#]],
    );
    check(
        "one two<Esc>vb<Esc>x",
        expect![[r#"
        > one |wo
        -- NORMAL
    "#]],
    );
}

#[test]
fn what_is_chosen_is_drawn_so() {
    let mut composer = vim();
    for step in steps("one two<C-j>three<Esc>kvj") {
        play(&mut composer, &step);
    }
    let selection = Style::new().add_modifier(Modifier::REVERSED);
    let drawn = composer.lines(40, 6, &ComposerStyles { selection, ..ComposerStyles::default() });
    let spans = drawn.lines.iter().flat_map(|line| &line.spans);
    let chosen: Vec<_> =
        spans.filter(|span| span.style == selection).map(|span| span.content.as_ref()).collect();
    expect![[r#"
        [
            "two",
            " ",
            "three",
        ]
    "#]]
    .assert_debug_eq(&chosen);
}
