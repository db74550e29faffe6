//! Text objects.

use expect_test::expect;

use super::check;

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
