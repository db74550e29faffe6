//! Looking back while a turn runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use heeler_core::TurnOutcome;

use super::testing::*;
use super::*;
use crate::text::{CodePlace, Highlighted, Uncolored};

/// Counts how often code is drawn.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Highlight for Counted {
    fn classes(&self, place: &CodePlace, code: &str) -> Highlighted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Uncolored.classes(place, code)
    }
}

/// A session of so many turns, each with code, and the page over it.
fn long(turns: usize) -> (Play, Arc<Counted>) {
    let counted = Arc::new(Counted::default());
    let mut play = Play::new(80, 24);
    play.app.highlight = Arc::clone(&counted) as _;
    for n in 0..turns {
        play.sees(begins()).sees(said(&format!("question {n}")));
        let text = format!("answer {n}\n\n```rust\nlet n = {n};\n```\n");
        play.sees(replies(&text, &[("Bash", r#"{"command":"make"}"#)]));
        play.sees(results(&[("one\ntwo", false)])).sees(finishes(TurnOutcome::Done));
    }
    play.shows();
    play.types("<C-t>");
    (play, counted)
}

#[test]
fn of_a_page_what_changed_is_made_anew_and_nothing_else() {
    let (mut play, counted) = long(200);
    let at_once = |play: &mut Play| {
        play.shows();
        counted.0.swap(0, Ordering::Relaxed)
    };
    assert!(at_once(&mut play) >= 200);
    // A turn goes on below: text as it comes, a call, its end.
    play.sees(begins()).sees(said("more")).sees(attempt());
    for n in 0..20 {
        play.sees(writes(&format!("```rust\nlet m = {n};\n```\n\n")));
        let n_drawn = at_once(&mut play);
        assert!(n_drawn <= n + 1, "{n_drawn} for the answer that streams");
    }
    assert_eq!(at_once(&mut play), 0, "nothing changed");
    play.sees(replies("Done.", &[("Bash", r#"{"command":"sleep"}"#)]));
    at_once(&mut play);
    play.sees(starts(0, "Bash", "Bash: sleep"));
    for text in ["one\n", "two\n"] {
        play.sees(Event::CallProgress { call: call_id(0), text: text.into() });
        assert_eq!(at_once(&mut play), 0, "the answer is done");
    }
}

#[test]
fn who_looks_back_can_suspend() {
    let (mut play, _) = long(2);
    play.asks();
    assert_eq!(play.types("<C-z>").asks(), "Suspend\n");
    assert!(play.shows().contains("q: back"), "{}", play.shows());
    assert_eq!(play.types("/z<C-z>").asks(), "Suspend\n");
    assert!(play.shows().contains("/z"), "{}", play.shows());
}

#[test]
fn who_looks_back_goes_on_looking_at_the_same_while_a_turn_runs() {
    let (mut play, _) = long(20);
    let end = play.shows();
    play.types("<PageUp>").shows();
    let above_hint = |page: String| page.lines().take(23).collect::<Vec<_>>().join("\n");
    let looked_at = above_hint(play.shows());
    play.sees(begins()).sees(said("more")).sees(attempt());
    for text in ["One.\n\n", "Two.\n\nThree.\n\n", "Four.\n\n"] {
        play.sees(writes(text));
        assert_eq!(above_hint(play.shows()), looked_at);
    }
    // At the end it follows.
    play.types("G");
    assert!(play.shows().contains("Four."));
    play.sees(writes("Five."));
    assert!(play.shows().contains("Five.") && play.shows() != end);
}

#[test]
fn what_is_searched_for_is_edited_and_pasted() {
    for (keys, expected) in [
        ("/one<C-u>two", "/two"),
        ("/one<C-a>", "/one"),
        ("/one<C-c>", "q: back"),
        ("/one", "/one pasted"),
    ] {
        let (mut play, _) = long(2);
        play.shows();
        play.types(keys);
        if expected.contains("pasted") {
            play.happens(Happened::Pasted(" pasted".into()));
        }
        let page = play.shows();
        assert!(page.lines().last().unwrap().contains(expected), "{keys}: {page}");
        assert_eq!(play.app.composer.text(), "");
    }
}

/// Whatever was kept, the page is the one that somebody sees who opens it now.
#[test]
fn a_page_that_was_kept_is_the_one_that_is_made_anew() {
    let (mut play, _) = long(20);
    let check = |play: &mut Play, what: &str| {
        let kept = play.shows();
        play.app.paged = None;
        assert_eq!(kept, play.shows(), "{what}");
    };
    check(&mut play, "opened");
    play.sees(begins()).sees(said("more")).sees(attempt()).sees(thinks("Hm.")).passes(2_000);
    check(&mut play, "thinks");
    play.sees(writes("One.\n\nTwo"));
    check(&mut play, "writes");
    play.sees(Event::Retry {
        attempt: 1,
        kind: heeler_core::ProviderErrorKind::Network,
        message: "cut".into(),
        wait_millis: Some(1),
    });
    check(&mut play, "begins again");
    play.sees(attempt()).sees(replies("One.", &[("Bash", r#"{"command":"make"}"#), ("LS", "{}")]));
    check(&mut play, "calls");
    play.sees(asked(0, "Bash", r#"{"command":"make"}"#, None));
    check(&mut play, "asks");
    play.sees(starts(0, "Bash", "Bash: make")).sees(ends(0, "Bash", false, 3));
    check(&mut play, "one is done");
    play.sees(results(&[("x", false), ("y", false)]));
    check(&mut play, "both are");
    play.happens(Happened::Resized(50, 20)).passes(RESIZED_MILLIS);
    check(&mut play, "has another size");
    play.sees(replies("End.", &[])).sees(finishes(TurnOutcome::Done));
    check(&mut play, "ends");
}

#[test]
fn a_paste_while_something_covers_what_is_written_stands_there_afterwards() {
    let (mut play, _) = long(2);
    play.happens(Happened::Pasted("pasted".into())).types("q");
    assert_eq!(play.app.composer.text(), "pasted");
    // A list is narrowed by a line, and by no more than that.
    let mut play = Play::new(70, 24);
    play.happens(Happened::Sessions(Vec::new())).happens(Happened::Pasted("apples".into()));
    assert!(play.shows().contains("Go on with which session? apples"), "{}", play.shows());
    play.happens(Happened::Pasted("two\nlines".into())).types("<Esc>");
    assert_eq!(play.app.composer.text(), "two\nlines");
}
