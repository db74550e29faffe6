//! Vim's keys, played.

use expect_test::{Expect, expect};
use ratatui::style::{Modifier, Style};

use super::super::testing::{check_with, play, settings, steps};
use super::super::{Composer, ComposerSettings, ComposerStyles, KeyStyle};
use super::{COUNT_MAX, REPEATED_KEYS_MAX};

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
        ignored Char('?') KeyModifiers(0x0)
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
fn motions() {
    check(
        "one two-three four<Esc>bb",
        expect![[r#"
        > one two-|three four
        -- NORMAL
    "#]],
    );
    check(
        "one two-three four<Esc>0w",
        expect![[r#"
        > one |two-three four
        -- NORMAL
    "#]],
    );
    check(
        "one two-three four<Esc>02w",
        expect![[r#"
        > one two|-three four
        -- NORMAL
    "#]],
    );
    check(
        "one two-three four<Esc>02Wh",
        expect![[r#"
        > one two-three| four
        -- NORMAL
    "#]],
    );
    check(
        "one two-three four<Esc>0e",
        expect![[r#"
        > on|e two-three four
        -- NORMAL
    "#]],
    );
    check(
        "one two-three four<Esc>0eE",
        expect![[r#"
        > one two-thre|e four
        -- NORMAL
    "#]],
    );
    check(
        "one two-three four<Esc>BB",
        expect![[r#"
        > one |two-three four
        -- NORMAL
    "#]],
    );
    check(
        "  one<C-j>two<C-j>three<Esc>gg",
        expect![[r#"
        >   |one
          two
          three
        -- NORMAL
    "#]],
    );
    check(
        "  one<C-j>two<C-j>three<Esc>2G$",
        expect![[r#"
        >   one
          tw|o
          three
        -- NORMAL
    "#]],
    );
    check(
        "  one<C-j>two<C-j>three<Esc>kkG",
        expect![[r#"
        >   one
          two
          |three
        -- NORMAL
    "#]],
    );
    check(
        "  one<Esc>0l^",
        expect![[r#"
        >   |one
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<Esc>0hk$l",
        expect![[r#"
        > on|e
          two
        -- NORMAL
    "#]],
    );
    check(
        "a,b,c,d<Esc>0f,;",
        expect![[r#"
        > a,b|,c,d
        -- NORMAL
    "#]],
    );
    check(
        "a,b,c,d<Esc>0t,;",
        expect![[r#"
        > a,|b,c,d
        -- NORMAL
    "#]],
    );
    check(
        "a,b,c,d<Esc>F,;,",
        expect![[r#"
        > a,b,c|,d
        -- NORMAL
    "#]],
    );
    check(
        "a,b,c,d<Esc>T,;",
        expect![[r#"
        > a,b,|c,d
        -- NORMAL
    "#]],
    );
    check(
        "a,b,c,d<Esc>2F,x",
        expect![[r#"
        > a,b|c,d
        -- NORMAL
    "#]],
    );
}

#[test]
fn operators_take_motions() {
    check(
        "one two three<Esc>0dw",
        expect![[r#"
        > |two three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>02dw",
        expect![[r#"
        > |three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0d2w",
        expect![[r#"
        > |three
        -- NORMAL
    "#]],
    );
    check(
        "one two<C-j>three<Esc>kdw",
        expect![[r#"
        > one|_
          three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0wcwTWO<Esc>",
        expect![[r#"
        > one TW|O three
        -- NORMAL
    "#]],
    );
    check(
        "a two<Esc>0cwx<Esc>",
        expect![[r#"
        > |x two
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0de",
        expect![[r#"
        > | two three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>db",
        expect![[r#"
        > one two |e
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0dft",
        expect![[r#"
        > |wo three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0dtw",
        expect![[r#"
        > |wo three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0wD",
        expect![[r#"
        > one|_
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>0wCx",
        expect![[r#"
        > one x|
        -- INSERT
    "#]],
    );
    check(
        "one two three<Esc>0wy$P",
        expect![[r#"
        > one two thre|etwo three
        -- NORMAL
    "#]],
    );
    check(
        "one<Esc>0dq",
        expect![[r#"
        > |one
        -- NORMAL
    "#]],
    );
}

#[test]
fn lines_are_taken_whole() {
    check(
        "one<C-j>two<C-j>three<Esc>kdd",
        expect![[r#"
        > one
          |three
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<C-j>three<Esc>ddp",
        expect![[r#"
        > one
          two
          |three
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<C-j>three<Esc>ggddjp",
        expect![[r#"
        > two
          three
          |one
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<C-j>three<Esc>ggdj",
        expect![[r#"
        > |three
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<C-j>three<Esc>gg2ddp",
        expect![[r#"
        > three
          |one
          two
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<C-j>three<Esc>kdG",
        expect![[r#"
        > |one
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<C-j>three<Esc>kdgg",
        expect![[r#"
        > |three
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<Esc>yyP",
        expect![[r#"
        > one
          |two
          two
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<Esc>Y2p",
        expect![[r#"
        > one
          two
          |two
          two
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<Esc>ccx<Esc>kSy",
        expect![[r#"
        > y|
          x
        -- INSERT
    "#]],
    );
    check(
        "one<C-j>  two<C-j>three<Esc>ggJJ",
        expect![[r#"
        > one two| three
        -- NORMAL
    "#]],
    );
    check(
        "one<C-j>two<C-j>three<Esc>gg3J",
        expect![[r#"
        > one two| three
        -- NORMAL
    "#]],
    );
    check(
        "one<Esc>dd",
        expect![[r#"
        > |Ask anything
        -- NORMAL
    "#]],
    );
}

#[test]
fn single_letters() {
    check(
        "abcd<Esc>xp",
        expect![[r#"
        > abc|d
        -- NORMAL
    "#]],
    );
    check(
        "abcd<Esc>0xp",
        expect![[r#"
        > b|acd
        -- NORMAL
    "#]],
    );
    check(
        "abcd<Esc>02x3P",
        expect![[r#"
        > ababa|bcd
        -- NORMAL
    "#]],
    );
    check(
        "abcd<Esc>XX",
        expect![[r#"
        > a|d
        -- NORMAL
    "#]],
    );
    check(
        "abcd<Esc>0srs<Esc>",
        expect![[r#"
        > r|sbcd
        -- NORMAL
    "#]],
    );
    check(
        "abcd<Esc>0rx",
        expect![[r#"
        > |xbcd
        -- NORMAL
    "#]],
    );
    check(
        "abcd<Esc>02r-",
        expect![[r#"
        > -|-cd
        -- NORMAL
    "#]],
    );
    check(
        "abcd<Esc>09r-",
        expect![[r#"
        > |abcd
        -- NORMAL
    "#]],
    );
    check(
        "aBcd<Esc>0~~~",
        expect![[r#"
        > AbC|d
        -- NORMAL
    "#]],
    );
    check(
        "aBcd<Esc>04~",
        expect![[r#"
        > AbC|D
        -- NORMAL
    "#]],
    );
}

#[test]
fn text_objects() {
    check(
        "one two three<Esc>bbdiw",
        expect![[r#"
        > one | three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>bbdaw",
        expect![[r#"
        > one |three
        -- NORMAL
    "#]],
    );
    check(
        "one two three<Esc>daw",
        expect![[r#"
        > one tw|o
        -- NORMAL
    "#]],
    );
    check(
        "one two-x three<Esc>bbbbdaW",
        expect![[r#"
        > one |three
        -- NORMAL
    "#]],
    );
    check(
        "say \"one two\" now<Esc>bbdi\"",
        expect![[r#"
        > say "|" now
        -- NORMAL
    "#]],
    );
    check(
        "say \"one two\" now<Esc>0da\"",
        expect![[r#"
        > say | now
        -- NORMAL
    "#]],
    );
    check(
        "say 'it'<Esc>0ci'x",
        expect![[r#"
        > say 'x|'
        -- INSERT
    "#]],
    );
    check(
        "f(a, g(b), c)<Esc>hdi(",
        expect![[r#"
        > f(|)
        -- NORMAL
    "#]],
    );
    check(
        "f(a, g(b), c)<Esc>0fbda(",
        expect![[r#"
        > f(a, g|, c)
        -- NORMAL
    "#]],
    );
    check(
        "{[<lt>x>]}<Esc>0fxda<lt>di[ci{y",
        expect![[r#"
        > {y|}
        -- INSERT
    "#]],
    );
    check(
        "none<Esc>di(x",
        expect![[r#"
        > no|n
        -- NORMAL
    "#]],
    );
    check(
        "see <lines 9> now<Esc>bhdiw",
        expect![[r#"
        > see [pasted 9 lines]|now
        -- NORMAL
    "#]],
    );
}

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
