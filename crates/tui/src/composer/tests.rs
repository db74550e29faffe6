//! What the composer does, key by key.

use expect_test::expect;

use super::testing::{check, check_at, check_with, composer};
use super::{Attachment, PASTE_BYTES_MAX, UNFOLD_BYTES_MAX, UNITS_MAX};

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
        "<Up><Esc><C-c><C-d><Tab><S-BackTab>?<C-t><Down>",
        expect![[r#"
        > |Ask anything
        ignored Up KeyModifiers(0x0)
        ignored Esc KeyModifiers(0x0)
        ignored Char('c') KeyModifiers(CONTROL)
        ignored Char('d') KeyModifiers(CONTROL)
        ignored Tab KeyModifiers(0x0)
        ignored BackTab KeyModifiers(SHIFT)
        ignored Char('?') KeyModifiers(0x0)
        ignored Char('t') KeyModifiers(CONTROL)
        ignored Down KeyModifiers(0x0)
    "#]],
    );
    check(
        "is it?",
        expect![[r#"
        > is it?|
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
fn the_text_goes_to_an_editor_and_comes_back() {
    check(
        "so<C-g>",
        expect![[r#"
        > so|
        editor "so"
    "#]],
    );
    check(
        "so<C-x><C-e>",
        expect![[r#"
        > so|
        editor "so"
    "#]],
    );
    let mut composer = composer();
    composer.paste(&"pasted\n".repeat(20));
    composer.attach(Attachment::of_bytes("clip.png", *b"x"));
    let text = composer.text();
    composer.set_text(&format!("before\n{text} after\n"));
    check_with(
        composer,
        40,
        "<C-_><A-_>",
        expect![[r#"
        > before
          [pasted 20 lines][image: clip.png]_
          after|
    "#]],
    );
}

#[test]
fn a_long_paste_is_one_unit() {
    check(
        "see <lines 132>!<Left><Left>|",
        expect![[r#"
        > see ||[pasted 132 lines]!
    "#]],
    );
    check(
        "see <lines 9><BS>",
        expect![[r#"
        > see |
    "#]],
    );
    check(
        "see <lines 9><C-w>|<C-y>",
        expect![[r#"
        > see |[pasted 9 lines]|
    "#]],
    );
    check(
        "see <lines 9><CR>",
        expect![[r#"
        > |Ask anything
        submit "see line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n" shown "see [pasted 9 lines]" with []
    "#]],
    );
    check(
        "see <paste one\\ntwo>",
        expect![[r#"
        > see one
          two|
    "#]],
    );
    check(
        "<lines 9><A-o>",
        expect![[r#"
          line 5
          line 6
          line 7
          line 8
          line 9
          |
        (above 4, below 0)
    "#]],
    );
    check(
        "<lines 9><Left><C-x><C-o><C-_>",
        expect![[r#"
        > |[pasted 9 lines]
    "#]],
    );
    check(
        "no paste<A-o>",
        expect![[r#"
        > no paste|
        ignored Char('o') KeyModifiers(ALT)
    "#]],
    );
}

#[test]
fn a_cut_paste_comes_back_in_the_next_message() {
    check(
        "<lines 9><C-u>first<CR><C-y><CR>",
        expect![[r#"
        > |Ask anything
        submit "first"
        submit "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n" shown "[pasted 9 lines]" with []
    "#]],
    );
}

#[test]
fn dragged_images_are_attached() {
    check(
        "look <paste /space/a.png> and <paste '/space/b c.JPG' >",
        expect![[r#"
        > look [image: a.png] and_
          [image: b c.JPG]|
    "#]],
    );
    check(
        "<paste /space/b\\ c.JPG file:///space/d%20e.webp><CR>",
        expect![[r#"
            > |Ask anything
            submit "[image: b c.JPG][image: d e.webp]" shown "[image: b c.JPG][image: d e.webp]" with [Path("/space/b c.JPG"), Path("/space/d e.webp")]
        "#]],
    );
    check(
        "<paste /space/some picture.gif>",
        expect![[r#"
        > [image: some picture.gif]|
    "#]],
    );
    check(
        "<paste /space/none.png>",
        expect![[r#"
        > /space/none.png|
    "#]],
    );
    check(
        "<paste /space/a.png and more>",
        expect![[r#"
        > /space/a.png and more|
    "#]],
    );
    check(
        "<paste /space/f.txt>",
        expect![[r#"
        > /space/f.txt|
    "#]],
    );
    check(
        "<paste \"/space/b c.JPG\" '/space/a.png'>",
        expect![[r#"
        > [image: b c.JPG][image: a.png]|
    "#]],
    );
    check(
        "<paste a.png>",
        expect![[r#"
        > a.png|
    "#]],
    );
    check(
        "<paste file:///space/%zz.png>",
        expect![[r#"
        > file:///space/%zz.png|
    "#]],
    );
    check(
        "<paste '/space/open.png>",
        expect![[r#"
        > '/space/open.png|
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
fn limits_are_told() {
    let mut full = composer();
    full.set_text(&"x".repeat(UNFOLD_BYTES_MAX));
    assert_eq!(full.draft().shown().len(), UNFOLD_BYTES_MAX);
    full.set_text(&"x".repeat(UNFOLD_BYTES_MAX + 1));
    check_with(
        full,
        40,
        "<A-o>",
        expect![[r#"
        > [pasted 65 kB]|
        notice This paste is too long to be unfolded here (over 64 kB); Ctrl-G opens everything in your editor
    "#]],
    );

    let mut composer = composer();
    let answer = composer.paste(&"x".repeat(PASTE_BYTES_MAX + 1));
    expect![[r#"
        Notice(
            "This paste is 17 MB long, and 16 are taken. Put it into a file and name it with @",
        )
    "#]]
    .assert_debug_eq(&answer);
    let paste = "x\n".repeat(9);
    for _ in 0..UNITS_MAX {
        assert_eq!(composer.paste(&paste), super::Answer::Changed);
    }
    expect![[r#"
        Notice(
            "No more than 1000 pastes and images, 64 MB together, go into one message. Put this one into a file and name it with @",
        )
    "#]].assert_debug_eq(&composer.paste(&paste));
}

#[test]
fn what_was_sent_is_taken_back_in_front() {
    let mut sent = composer();
    sent.paste(&"pasted\n".repeat(20));
    sent.insert("explain");
    let mut composer = composer();
    composer.insert("next");
    composer.take_back(sent.draft());
    check_with(
        composer,
        40,
        "",
        expect![[r#"
        > [pasted 20 lines]explain|
          next
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
