//! What the composer does, key by key.

use expect_test::expect;

use super::testing::{check, check_at, check_with, composer};

#[test]
fn what_is_typed_stands_there_and_is_sent() {
    check(
        "",
        expect![[r#"
        > |Ask anything
    "#]],
    );
    check(
        "hello<C-a>x",
        expect![[r#"
        > x|hello
    "#]],
    );
    check(
        "hello<CR>next",
        expect![[r#"
        > next|
        submit "hello"
    "#]],
    );
    check(
        "  <CR>",
        expect![[r#"
        >   |
        ignored Enter KeyModifiers(0x0)
    "#]],
    );
}

#[test]
fn lines_are_broken_by_many_keys() {
    check(
        "a<S-CR>b<A-CR>c<C-j>d\\<CR>e",
        expect![[r#"
        > a
          b
          c
          d
          e|
    "#]],
    );
    // One new line, as some terminals send it; a second key makes a second.
    check(
        "a\\<CR><C-j>b<C-j>c\\<CR>d<C-j>e",
        expect![[r#"
            > a
              b
              c
              d
              e|
        "#]],
    );
    check(
        "a\\\\<CR>",
        expect![[r#"
        > |Ask anything
        submit "a\\\\"
    "#]],
    );
    check(
        "one\\<CR>two<CR>",
        expect![[r#"
        > |Ask anything
        submit "one\ntwo"
    "#]],
    );
}

#[test]
fn an_empty_composer_passes_on_what_it_has_no_use_for() {
    check(
        "<Up><Esc><C-c><C-d><Tab><S-BackTab><C-t><Down>",
        expect![[r#"
        > |Ask anything
        ignored Up KeyModifiers(0x0)
        ignored Esc KeyModifiers(0x0)
        ignored Char('c') KeyModifiers(CONTROL)
        ignored Char('d') KeyModifiers(CONTROL)
        ignored Tab KeyModifiers(0x0)
        ignored BackTab KeyModifiers(SHIFT)
        ignored Char('t') KeyModifiers(CONTROL)
        ignored Down KeyModifiers(0x0)
    "#]],
    );
    check(
        "? is it?",
        expect![[r#"
        > ? is it?|
    "#]],
    );
}

#[test]
fn readline_moves() {
    check(
        "one two-three<A-b>|<A-b>|<C-b><C-b>|<A-f>|<C-e>|<C-f>",
        expect![[r#"
        > one| |two|-|three||
    "#]],
    );
    check(
        "one<C-j>two<C-a>|<C-p>|<C-n><C-n><Home>|<End>|<A-lt>|<A-gt>",
        expect![[r#"
        > |o|ne
          ||two||
        ignored Char('n') KeyModifiers(CONTROL)
    "#]],
    );
    check(
        "one two<C-Left>|<A-Left>|<C-Right>|<C-Home>|<C-End>|",
        expect![[r#"
        > ||one| |two||
    "#]],
    );
}

#[test]
fn readline_deletes_and_keeps() {
    check(
        "one two/three<C-w>|",
        expect![[r#"
        > one ||
    "#]],
    );
    check(
        "one two/three<A-BS>|",
        expect![[r#"
        > one two/||
    "#]],
    );
    check(
        "one two<A-b><A-d>|<C-y>",
        expect![[r#"
        > one |two|
    "#]],
    );
    check(
        "one two three<C-w><C-w>|<C-y>",
        expect![[r#"
        > one |two three|
    "#]],
    );
    check(
        "one two<A-b><C-k><C-u>|<C-y>",
        expect![[r#"
        > |one two|
    "#]],
    );
    check(
        "one<C-j>two<C-a><C-u>",
        expect![[r#"
        > one|two
    "#]],
    );
    check(
        "one<C-j>two<Up><C-e><C-k>",
        expect![[r#"
        > one|two
    "#]],
    );
    check(
        "ab<C-h><C-b><C-d>",
        expect![[r#"
        > |Ask anything
    "#]],
    );
    check(
        "ab<Left><Left><Del><End><BS>",
        expect![[r#"
        > |Ask anything
    "#]],
    );
}

#[test]
fn older_cuts_take_the_place_of_newer_ones() {
    check(
        "first<C-u>second<C-u><C-y><A-y>",
        expect![[r#"
        > first|
    "#]],
    );
    check(
        "first<C-u>second<C-u><C-y><A-y><A-y>",
        expect![[r#"
        > second|
    "#]],
    );
    check(
        "first<C-u>x<A-y>",
        expect![[r#"
        > x|
    "#]],
    );
}

#[test]
fn letters_change_places() {
    check(
        "teh<C-t>",
        expect![[r#"
        > the|
    "#]],
    );
    check(
        "abcd<Left><Left><C-t>",
        expect![[r#"
        > acb|d
    "#]],
    );
    check(
        "a<C-t>",
        expect![[r#"
        > a|
    "#]],
    );
}

#[test]
fn typing_is_taken_back_by_words() {
    check(
        "one two three<C-_>",
        expect![[r#"
        > one two |
    "#]],
    );
    check(
        "one two three<C-7><C-/>",
        expect![[r#"
        > one |
    "#]],
    );
    check(
        "one two<C-w><C-_>",
        expect![[r#"
        > one two|
    "#]],
    );
    check(
        "one two three<C-x><C-u><A-_>",
        expect![[r#"
        > one two three|
    "#]],
    );
}

#[test]
fn wide_characters_keep_the_cursor_where_an_input_method_writes() {
    check(
        "\u{65E5}\u{672C}<Left>",
        expect![[r#"
        > 日|本
    "#]],
    );
    // A family is one character, a flag too.
    check(
        "a\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}b<Left><Left>",
        expect![[r#"
        > a|👨‍👩‍👧b
    "#]],
    );
    check(
        "\u{1F1E9}\u{1F1EA}\u{1F1EB}\u{1F1F7}<Left><BS>",
        expect![[r#"
        > |🇫🇷
    "#]],
    );
    check(
        "e\u{301}x<Left><BS>",
        expect![[r#"
        > |x
    "#]],
    );
    check_at(
        14,
        "\u{65E5}\u{672C}\u{8A9E}\u{65E5}\u{672C}\u{8A9E}",
        expect![[r#"
        > 日本語日本
          語|
    "#]],
    );
}

#[test]
fn rows_break_after_blanks_and_scroll() {
    check_at(
        20,
        "one two three four five<Up>",
        expect![[r#"
        > one two t|hree_
          four five
    "#]],
    );
    check_at(
        20,
        "seventeen_letters abc",
        expect![[r#"
        > seventeen_letters_
          abc|
    "#]],
    );
    check_at(
        20,
        "sixteen_letters_ abc<C-a><C-f>",
        expect![[r#"
        > s|ixteen_letters__
          abc
    "#]],
    );
    check_at(
        20,
        "an_extraordinarily_long_word",
        expect![[r#"
        > an_extraordinaril
          y_long_word|
    "#]],
    );
    check(
        "1<C-j>2<C-j>3<C-j>4<C-j>5<C-j>6<C-j>7<C-j>8<Up><Up>",
        expect![[r#"
          3
          4
          5
          6|
          7
          8
        (above 2, below 0)
    "#]],
    );
    check(
        "1<C-j>2<C-j>3<C-j>4<C-j>5<C-j>6<C-j>7<C-j>8<A-lt>",
        expect![[r#"
        > |1
          2
          3
          4
          5
          6
        (above 0, below 2)
    "#]],
    );
}

#[test]
fn up_and_down_aim_at_one_column() {
    check(
        "a longer line<C-j>two<C-j>another line<Up>|<BS><Up>|",
        expect![[r#"
        > a l||onger line
          two
          another line
    "#]],
    );
    check(
        "a longer line<C-j>two<C-j>another line<Up><Up>|",
        expect![[r#"
        > a longer lin||e
          two
          another line
    "#]],
    );
}

#[test]
fn nothing_that_moves_a_terminal_is_shown_as_it_is() {
    check(
        "<paste a\u{1b}[31mb\u{7}\u{9b}1m\u{202e}c\td\r\ne\rf\u{200b}\u{e0200}>",
        expect![[r#"
        > a␛[31mb␇�1m�c    d
          e
          f�|
    "#]],
    );
}

#[test]
fn clearing_can_be_taken_back() {
    let mut composer = composer();
    composer.insert("precious");
    composer.clear();
    assert!(composer.is_empty());
    check_with(
        composer,
        40,
        "<C-_>",
        expect![[r#"
        > precious|
    "#]],
    );
}
