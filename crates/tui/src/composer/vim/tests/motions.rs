//! Motions.

use expect_test::expect;

use super::check;

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
