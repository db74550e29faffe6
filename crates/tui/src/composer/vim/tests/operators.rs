//! Operators on what they take: motions, lines, single letters.

use expect_test::expect;

use super::check;

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
