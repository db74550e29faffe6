//! Pastes and images: what stands in the text as one piece.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use expect_test::expect;

use super::kills::KILLS_MAX;
use super::testing::{check, check_with, composer, play, steps};
use super::{
    Answer, Attachment, Draft, HELD_BYTES_MAX, History, PASTE_BYTES_MAX, TEXT_BYTES_MAX,
    UNDO_BYTES_MAX, UNDO_GROUPS_MAX, UNFOLD_BYTES_MAX, UNITS_MAX,
};

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
        > [pasted 20 lines]explain
          next|
    "#]],
    );
}

#[test]
fn who_takes_back_what_was_sent_writes_on_where_they_were() {
    let mut composer = composer();
    composer.take_back("second");
    play(&mut composer, &steps("<Left>")[0]);
    composer.take_back("first");
    check_with(
        composer,
        40,
        "!",
        expect![[r#"
        > first
          secon!|d
    "#]],
    );
}

#[test]
fn a_long_name_of_an_image_is_shortened() {
    let mut composer = composer();
    composer.attach(Attachment::of_bytes(format!("{}\n.png", "a".repeat(50)), *b"x"));
    check_with(
        composer,
        60,
        "",
        expect![[r#"
        > [image: aaaaaaaaaaaaaaaaaaa..aaaaaaaaaaaaaa?.png]|
    "#]],
    );
}

#[test]
fn text_and_what_is_held_have_a_most() {
    // Short pastes stay text until there is too much of it, and are folded then.
    let mut composer = composer();
    let short = "x".repeat(1_000);
    for _ in 0..=TEXT_BYTES_MAX / short.len() {
        composer.paste(&short);
    }
    assert_eq!(composer.editor.text().len() / 1_000, TEXT_BYTES_MAX / 1_000);
    check_with(
        composer,
        40,
        "<C-k><C-u><C-y><C-y>",
        expect![[r#"
          xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
          xxx[pasted 1 kB]|
        (above 7076, below 0)
        notice The text is as long as it can be, 256 kB. Put the rest into a file and name it with @
    "#]],
    );

    let mut composer = self::composer();
    let long = "x".repeat(PASTE_BYTES_MAX);
    for _ in 0..HELD_BYTES_MAX / PASTE_BYTES_MAX {
        assert_eq!(composer.paste(&long), Answer::Changed);
    }
    let answer = composer.paste(&"x".repeat(2_000));
    assert!(matches!(answer, Answer::Notice(_)), "{answer:?}");
}

#[test]
fn so_many_changes_and_cuts_are_kept() {
    let mut composer = composer();
    for _ in 0..UNDO_GROUPS_MAX + 10 {
        composer.insert("x");
    }
    while composer.editor.buffer.undo() {}
    assert_eq!(composer.text().len(), 10);

    let mut composer = self::composer();
    let half = "x".repeat(TEXT_BYTES_MAX / 5);
    for _ in 0..UNDO_BYTES_MAX / half.len() + 10 {
        composer.set_text("");
        composer.set_text(&half);
    }
    let mut groups = 0;
    while composer.editor.buffer.undo() {
        groups += 1;
    }
    assert_eq!(groups, UNDO_BYTES_MAX / half.len());

    let mut composer = self::composer();
    for number in 0..KILLS_MAX + 10 {
        composer.insert(&number.to_string());
        for step in steps("<C-u>") {
            play(&mut composer, &step);
        }
    }
    assert_eq!(composer.editor.kills.texts().count(), KILLS_MAX);
}

#[test]
fn for_what_is_taken_back_there_is_always_room() {
    let long = "a".repeat(60 * 1024);
    let mut composer = composer();
    for n in 0..6 {
        composer.take_back(&*format!("{n}{long}"));
    }
    let all: Vec<String> = (0..6).rev().map(|n| format!("{n}{long}")).collect();
    assert!(composer.text() == all.join("\n"), "{} bytes", composer.text().len());
}

#[test]
fn what_was_written_before_something_older_is_recalled_stands_there_when_that_is_sent() {
    let key = |code, modifiers| KeyEvent::new(code, modifiers);
    for finds in [false, true] {
        let mut composer = composer();
        composer.set_history(History::new([Draft::from("older"), Draft::from("other")]));
        composer.insert("a draft");
        if finds {
            composer.key(key(KeyCode::Char('r'), KeyModifiers::CONTROL));
            composer.paste("old");
            composer.key(key(KeyCode::Enter, KeyModifiers::NONE));
        } else {
            composer.recall_older();
            composer.recall_older();
        }
        assert_eq!(composer.text(), "older");
        let sent = composer.key(key(KeyCode::Enter, KeyModifiers::NONE));
        assert!(matches!(sent, Answer::Submit(sent) if sent.text == "older"));
        assert_eq!(composer.text(), "a draft");
    }
}
