//! Keys at a request: those meant for something else, and those that are not its own.

use expect_test::expect;

use super::tests::{check, ls, question};
use crate::app::guard::ALONE_MILLIS;
use crate::app::testing::*;
use crate::app::*;
use crate::composer::KeyStyle;

const ONCE: &str = "Decide(PermissionId { call: CallId { turn: 1, round: 1, index: 0 }, \
                    answered_before: 0 }, Once)\n";
const NEXT_ONCE: &str = "Decide(PermissionId { call: CallId { turn: 1, round: 1, index: 1 }, \
                         answered_before: 0 }, Once)\n";

#[test]
fn who_is_writing_answers_nothing_that_opens_meanwhile() {
    let mut play = Play::quick(60, 24);
    play.sees(begins()).types("and ").passes(300);
    play.sees(ls(0));
    for key in "also ny".chars() {
        assert_eq!(play.types(&key.to_string()).asks(), "", "{key}");
        play.passes(300);
    }
    check(
        &mut play,
        expect![[r#"
            ────

            ? Run this command?
              $ ls
              no rule speaks of it
              send what you wrote, or clear it, to answer
            > and also ny▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    // The window wakes to show what the keys mean, and only for that.
    let now = play.now;
    play.app.is_plain = true;
    assert_eq!(play.app.wakes_at(now), Some(now.plus(400)));
    play.passes(400);
    assert_eq!(play.app.wakes_at(play.now), None);
    assert!(play.shows().contains("  y  once"));
    assert_eq!(play.answers("y").asks(), ONCE);
    let (id, by) = (PermissionId::first(call_id(0)), "terminal".into());
    play.sees(Event::PermissionDecided { id, decision: Decision::Once, by });
    assert!(play.shows().contains("> and also ny▏"));
}

/// Each: what is done before a request opens, what is pressed when, and what comes of it.
#[test]
fn a_key_answers_when_it_was_meant_to() {
    for (name, before, waits, after, key, expected) in [
        ("nothing was written", "", 0, 499, "y", ""),
        ("nothing was written, and it was seen", "", 0, 500, "y", ONCE),
        ("it was sent", "go<CR>", 0, 0, "y", ""),
        ("it was sent long ago", "go<CR>", 60_000, 499, "y", ""),
        ("it was sent, and it was seen", "go<CR>", 0, 500, "y", ONCE),
        ("writing, long ago", "a", 60_000, 499, "y", ""),
        ("writing, long ago, and it was seen", "a", 60_000, 500, "y", ONCE),
        ("writing", "a", 100, 599, "y", ""),
        ("stopped writing", "a", 100, 600, "y", ONCE),
        ("wrote and deleted it", "a<BS>", 1_500, 499, "y", ""),
        ("wrote and deleted it long ago", "a<BS>", 2_000, 500, "y", ONCE),
        ("it is new, and stops it", "", 0, 0, "<Esc>", "Cancel\n"),
        ("writing, and stops it", "a", 0, 0, "<Esc>", "Cancel\n"),
        ("writing, and stops it", "a", 0, 0, "<C-c>", "Cancel\n"),
    ] {
        let mut play = Play::quick(60, 24);
        play.sees(begins()).types(before);
        play.passes(waits).asks();
        play.sees(ls(0)).passes(after);
        assert_eq!(play.answers(key).asks(), expected, "{name}");
    }
}

/// A terminal that stands still shows no request, however long it is there.
#[test]
fn no_key_answers_what_the_terminal_does_not_show() {
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).passes(60_000);
    play.app.unseen(play.now);
    assert_eq!(play.types("y").asks(), "");
    assert!(play.shows().contains("> y▏"), "{}", play.shows());
    // What was written with it goes on as ever.
    play.types("<BS>").passes(700);
    play.app.unseen(play.now);
    assert_eq!(play.passes(499).types("y").asks(), "");
    assert_eq!(play.types("<BS>").passes(700).answers("y").asks(), ONCE);
    // A terminal that takes all at once took it in now, whatever was drawn long before.
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).passes(60_000);
    play.app.unseen(play.now);
    assert_eq!(play.passes(499).types("y<BS>").asks(), "");
    // One that did so long ago holds nothing any more.
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).passes(60_000);
    let before = play.now;
    play.passes(500).app.unseen(before);
    assert_eq!(play.answers("y").asks(), ONCE);
    // Where nothing is asked, nothing is held.
    let mut play = Play::quick(60, 24);
    play.app.unseen(play.now);
    play.sees(begins()).sees(ls(0)).passes(500);
    assert_eq!(play.answers("y").asks(), ONCE);
}

/// The first letter of the next message comes when a request does: it is written, and so is the rest.
#[test]
fn who_begins_to_write_when_something_is_asked_goes_on_writing() {
    let mut play = Play::quick(60, 24);
    play.sees(begins()).types("go<CR>").passes(5_000).asks();
    play.sees(ls(0));
    check(
        &mut play,
        expect![[r#"
        ────

          waits: go
        ? Run this command?
          $ ls
          no rule speaks of it
             once
             for this session: Bash(ls:*)
             always in this folder: Bash(ls:*)
             no, with a reason
             edit it first
             no, and stop the turn
        claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
    "#]],
    );
    for key in "yes, ".chars() {
        assert_eq!(play.types(&key.to_string()).passes(300).asks(), "", "{key}");
    }
    check(
        &mut play,
        expect![[r#"
            ────

              waits: go
            ? Run this command?
              $ ls
              no rule speaks of it
              send what you wrote, or clear it, to answer
            > yes, ▏
            claude-sonnet-5-5 · ask · ░░░░░░░░ 0% · ⎇ main
        "#]],
    );
    // What was begun here is written on after a pause, and nothing is answered with it.
    assert!(!play.passes(5_000).shows().contains("  y  once"));
    assert_eq!(play.types("y").passes(800).asks(), "");
    assert!(play.types("<C-u>").passes(700).shows().contains("  y  once"));
    assert_eq!(play.answers("y").asks(), ONCE);
    // A question takes what is written once it was seen.
    let mut play = Play::quick(60, 24);
    play.sees(begins()).happens(Happened::Asked(1, question(0, &[])));
    assert!(!play.shows().contains("Enter: answer"), "{}", play.shows());
    play.happens(Happened::Pasted("a draft".into()));
    assert!(play.passes(700).shows().contains("Enter: answer"), "{}", play.shows());
    assert_eq!(play.types("no<CR>").asks(), "Answer(1, Some(\"no\"))\n");
    play.sees(ends(0, "ask_user", false, 1));
    assert!(play.shows().contains("> a draft▏"));
}

#[test]
fn what_is_sent_meanwhile_is_sent() {
    let mut play = Play::quick(60, 24);
    play.sees(begins()).types("be qu").sees(ls(0));
    assert!(play.types("ick<CR>").asks().contains("Steer("));
    assert!(play.shows().contains("waits: be quick"));
    assert_eq!(play.passes(700).answers("y").asks(), ONCE);
}

#[test]
fn who_is_writing_answers_no_question_that_opens_meanwhile() {
    let mut play = Play::quick(60, 24);
    play.sees(begins()).types("half a ");
    play.happens(Happened::Asked(1, question(0, &[])));
    play.types("word").passes(700);
    assert_eq!(play.types("yes<CR>").asks(), "Answer(1, Some(\"yes\"))\n");
    play.sees(ends(0, "ask_user", false, 1));
    assert!(play.shows().contains("> half a word▏"));
}

#[test]
fn a_key_pressed_twice_answers_one_request() {
    let decided = || {
        let (id, by) = (PermissionId::first(call_id(0)), "terminal".into());
        Event::PermissionDecided { id, decision: Decision::Once, by }
    };
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).sees(ls(1)).passes(500);
    assert_eq!(play.answers("yy").asks(), ONCE);
    play.sees(decided()).passes(299);
    assert!(play.shows().contains("  y  once"));
    assert_eq!(play.types("y").asks(), "");
    // Nor one that is still down.
    assert_eq!(play.passes(299).types("y").asks(), "");
    assert_eq!(play.passes(300).answers("y").asks(), NEXT_ONCE);
    // What is written within a request that somebody else answers is no answer to the next.
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).sees(ls(1)).passes(500);
    play.answers("n").types("not").sees(decided());
    assert_eq!(play.types(" yet").asks(), "");
    assert_eq!(play.types("<C-u>").passes(700).answers("y").asks(), NEXT_ONCE);
}

#[test]
fn what_is_written_within_a_request_can_be_written_in_an_editor() {
    for (key, before) in [("e", "ls"), ("n", "")] {
        let mut play = Play::quick(60, 24);
        play.sees(begins()).types("a draft").passes(3_000).sees(ls(0)).passes(500);
        assert_eq!(play.answers(key).types("<C-g>").asks(), format!("Edit({before:?})\n"));
        play.happens(Happened::Edited(Some("written\nelsewhere\n".into())));
        assert!(play.shows().contains("> written\n  elsewhere▏"), "{}", play.shows());
        // One that was closed without a word leaves it.
        play.types("<C-g>").happens(Happened::Edited(None));
        assert!(play.types("<CR>").asks().contains("written\\nelsewhere"));
        // And what is written for the model is the composer's.
        let (id, by) = (PermissionId::first(call_id(0)), "terminal".into());
        play.sees(Event::PermissionDecided { id, decision: Decision::Once, by });
        play.types("<C-g>").happens(Happened::Edited(Some("another draft\n".into())));
        assert!(play.shows().contains("> another draft▏"), "{}", play.shows());
    }
}

#[test]
fn vims_keys_are_vims_within_a_request() {
    let mut play = Play::quick(60, 24);
    play.app.composer.set_keys(KeyStyle::Vim);
    play.app.prompts.set_keys(KeyStyle::Vim);
    play.sees(begins()).sees(ls(0)).passes(500).answers("e").types("<Esc>");
    assert!(play.shows().contains("NORMAL"), "{}", play.shows());
    assert!(play.types("ccpwd<CR>").asks().contains(r#"{"command":"pwd"}"#));
}

#[test]
fn control_d_at_a_request_says_how_to_leave() {
    for key in ["", "n", "y"] {
        let mut play = Play::quick(60, 24);
        play.sees(begins()).sees(ls(0)).passes(500).types(key);
        assert_eq!(play.answers("<C-d>").asks(), "", "{key}");
        assert!(play.shows().contains("Esc stops it, and then Ctrl-D leaves"), "{key}");
    }
    let mut play = Play::guest(60, 24);
    play.sees(begins()).sees(ls(0));
    assert_eq!(play.types("<C-d>").asks(), "Quit\n");
}

/// Each: which keys follow each other how fast, what comes of them, and what is written then.
#[test]
fn a_key_answers_when_no_word_begins_with_it() {
    const ALWAYS: &str = "Always { rule: Rule { effect: Allow, tool: \"Bash\", \
                          argument: Some(\"ls:*\"), source: \"person\" } })\n";
    let decides = |what: &str| ONCE.replace("Once)\n", what);
    for (keys, gap, expected, written) in [
        ("actually, do not fetch that", 199, String::new(), "actually, do not fetch that"),
        ("stop please", 100, String::new(), "stop please"),
        ("Yes, but", 10, String::new(), "Yes, but"),
        ("typo", 150, String::new(), "typo"),
        ("typo", 600, String::new(), "typo"),
        ("dd", 150, decides("DenyAndStop { reason: None })\n"), ""),
        ("eel", 90, String::new(), "eel"),
        ("a", 200, decides(ALWAYS), ""),
        ("A", 200, decides(ALWAYS), ""),
        ("y<CR>", 10, ONCE.to_owned(), ""),
        ("n<CR>", 10, decides("Deny { reason: None })\n"), ""),
        ("no<CR>", 10, decides("Deny { reason: None })\n"), ""),
        ("noo<CR>", 10, decides("Deny { reason: Some(\"oo\") })\n"), ""),
        ("y<BS>", 10, String::new(), ""),
        ("y<Up>", 10, String::new(), ""),
        ("y<Esc>", 10, "Cancel\n".to_owned(), ""),
        ("y<C-c>", 10, "Cancel\n".to_owned(), ""),
        ("y<C-t>q", 10, String::new(), ""),
        ("y<C-z>", 10, "Suspend\n".to_owned(), ""),
        ("h", 10, String::new(), "h"),
        ("1", 10, String::new(), "1"),
    ] {
        let mut play = Play::quick(60, 24);
        play.sees(begins()).sees(ls(0)).passes(500);
        play.types_with_pauses(keys, gap);
        assert_eq!(play.passes(800).asks(), expected, "{keys} every {gap}");
        assert_eq!(play.app.composer.text(), written, "{keys} every {gap}");
    }
}

#[test]
fn a_key_that_was_taken_late_may_be_one_of_a_word() {
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).passes(500);
    let at = play.types("y").now;
    play.app.is_plain = true;
    assert_eq!(play.app.wakes_at(at), Some(at.plus(ALONE_MILLIS)));
    play.types("<BS>");
    assert_eq!(play.app.wakes_at(at), None);
    play.types("y").app.is_plain = false;
    // Nothing else came in between, so that nobody knows when it was pressed.
    play.now = at.plus(5_000);
    assert_eq!(play.types("es").passes(ALONE_MILLIS).asks(), "");
    assert!(play.shows().contains("> yes"));
    // So is what is pasted.
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).passes(500).types("s");
    play.happens(Happened::Pasted("ome words".into()));
    assert_eq!(play.passes(ALONE_MILLIS).asks(), "");
    assert!(play.shows().contains("> some words"));
    // A request that goes takes the key with it.
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).sees(ls(1)).passes(500).types("y");
    let (id, by) = (PermissionId::first(call_id(0)), "another window".into());
    play.sees(Event::PermissionDecided { id, decision: Decision::Once, by });
    assert_eq!(play.passes(60_000).asks(), "");
    // One that can no more be seen is not answered.
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).passes(500).types("y");
    play.happens(Happened::Resized(60, 2));
    assert_eq!(play.passes(ALONE_MILLIS).asks(), "");
}

/// What is stepped through is stepped through at once; the step that decides stands alone.
#[test]
fn among_parts_the_key_that_decides_stands_alone() {
    let mut play = super::tests::multi_edit();
    play.is_quick = true;
    play.types("h").passes(ALONE_MILLIS);
    assert_eq!(play.types("nyy").asks(), "");
    assert!(play.passes(ALONE_MILLIS).asks().contains("Edited"));
    let mut play = super::tests::multi_edit();
    play.is_quick = true;
    play.types("h").passes(ALONE_MILLIS);
    assert_eq!(play.types("stop, all of it").passes(ALONE_MILLIS).asks(), "");
    assert!(play.shows().contains("> stop, all of it"), "{}", play.shows());
}

/// The owner of the session may be suspended: what is written is a message, and is sent as one.
#[test]
fn what_is_written_behind_an_answer_that_nobody_took_yet_is_a_message() {
    for (before, keys, all) in [("", "y", "hello you"), ("draft", "y", "drafthello you")] {
        let mut play = Play::quick(60, 24);
        play.sees(begins()).types(before).passes(3_000).sees(ls(0)).passes(1_000);
        assert_eq!(play.answers(keys).asks(), ONCE);
        assert!(play.shows().contains("  answered; not taken yet\n"), "{}", play.shows());
        // The same key, held down.
        assert_eq!(play.passes(200).types("y").asks(), "");
        play.passes(1_000).types("hello").passes(3_000).happens(Happened::Pasted(" you".into()));
        assert!(play.shows().contains(&format!("> {all}▏")), "{}", play.shows());
        let asks = play.passes(3_000).types("<CR>").asks();
        assert!(asks.contains("Steer(") && asks.contains(all), "{asks}");
        assert!(play.types("<Esc>").asks().ends_with("Cancel\n"));
    }
    // A no with its reason, too.
    let mut play = Play::quick(60, 24);
    play.sees(begins()).sees(ls(0)).passes(1_000).types("nit is late<CR>").passes(1_000);
    play.types("hello").happens(Happened::Pasted(" you".into()));
    assert_eq!(play.app.composer.text(), "hello you");
}

/// What is no JSON is objected to here, what does not fit the tool by the session.
#[test]
fn an_edit_that_does_not_count_is_written_on() {
    let mut play = Play::quick(70, 24);
    let input = r#"{"file_path":"a.txt","content":"b"}"#;
    play.sees(begins()).sees(asked(0, "Write", input, None)).passes(1_000).asks();
    assert_eq!(play.types("e").passes(1_000).types("oops<CR>").asks(), "");
    let shown = play.shows();
    assert!(shown.contains("not usable as an input") && shown.contains("}oops▏"), "{shown}");
    assert!(play.types("<BS><BS><BS><BS><CR>").asks().contains("Edited"));
    let id = PermissionId::first(call_id(0));
    play.happens(Happened::Undecided(id, "it does not fit".into())).passes(1_000);
    let shown = play.shows();
    assert!(shown.contains("it does not fit") && shown.contains("}▏"), "{shown}");
    assert!(play.types("<CR>").asks().contains("Edited"));
}
