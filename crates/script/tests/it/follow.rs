//! How a script follows conversations: prefixes, epochs, summaries, pauses.

use expect_test::expect;
use heeler_script::{BlockView, MessageView, Player, RequestView, SUMMARY_SENTINEL, Script};

use crate::talk::{Talk, line};

#[test]
fn a_summary_does_not_disturb_the_order() {
    let script = r#"
[script]
summary_contains = "Summarize now"
[[reply]]
for = "summary"
text = "all was well"
[[reply]]
text = "one"
[[reply]]
text = "two"
[[reply]]
text = "three"
"#;
    let mut talk = Talk::new(script).text("a").text("b");
    let kept = talk.messages.clone();
    // The request leaves out what the summary will not replace.
    talk.messages.truncate(2);
    talk = talk.text("Summarize now, please");
    talk.messages = kept.clone();
    talk.messages.splice(
        0..2,
        [
            MessageView::user([BlockView::text(format!("{SUMMARY_SENTINEL}\n\nall was well"))]),
            MessageView::assistant([BlockView::text("go on")]),
        ],
    );
    talk = talk.text("c");
    talk.text("Summarize now").gives(expect![[r#"
        1: one [end_turn]
        2: two [end_turn]
        3: all was well [end_turn]
        4: three [end_turn]
        refused: request 5 finds no reply `for = "summary"` left in s.toml: add one, or set its `repeat`
    "#]]);
}

#[test]
fn a_request_that_does_not_continue_is_refused_and_changes_nothing() {
    let mut talk = Talk::new("[script]\nloop = true\n[[reply]]\ntext = 'yes'").text("a").text("b");
    let kept = talk.messages.clone();
    talk.messages[0] = MessageView::user([BlockView::text("A")]);
    talk = talk.text("c");
    talk.messages = kept;
    talk.text("c").gives(expect![[r#"
        1: yes [end_turn]
        2: yes [end_turn]
        refused: request 3 is not valid: messages[0].content[0]: changed since the previous request:
          it had "a", now "A"
        4: yes [end_turn]
    "#]]);
}

#[test]
fn a_second_summary_is_a_new_prefix_and_the_first_one_is_kept() {
    let summary =
        |text: &str| MessageView::user([BlockView::text(format!("{SUMMARY_SENTINEL}\n\n{text}"))]);
    let mut talk = Talk::new("[script]\nloop = true\n[[reply]]\ntext = 'yes'").text("a");
    talk.messages[0] = summary("first");
    talk = talk.text("b");
    talk.messages[1] = MessageView::assistant([BlockView::text("changed")]);
    talk = talk.text("c");
    talk.messages[0] = summary("second");
    talk.text("d").gives(expect![[r#"
        1: yes [end_turn]
        2: yes [end_turn]
        refused: request 3 is not valid: messages[1].content[0]: changed since the previous request:
          it had "yes", now "changed"
        4: yes [end_turn]
    "#]]);
}

#[test]
fn a_changed_head_needs_a_new_epoch_or_the_scripts_leave() {
    let ask = |options: &str, epochs: [Option<u32>; 2]| {
        let script = format!("[script]\nloop = true\n{options}\n[[reply]]\ntext = 'yes'");
        let mut talk = Talk::new(&script);
        talk.messages.push(MessageView::user([BlockView::text("a")]));
        let first = RequestView { epoch: epochs[0], ..talk.request() };
        let second = RequestView { epoch: epochs[1], system: "Changed.".into(), ..talk.request() };
        talk.player.answer(&first).unwrap();
        talk.player.answer(&second).map(|_| ()).map_err(|mismatch| mismatch.to_string())
    };
    assert_eq!(ask("", [Some(1), Some(2)]), Ok(()));
    assert_eq!(ask("epoch = 'may change'", [None, None]), Ok(()));
    expect![[r#"
        request 2 is not valid: the system prompt changed within an epoch: it had "You help.", now "Changed." (where that is meant, set `epoch = "may change"` in `[script]`)
    "#]].assert_eq(&format!("{}\n", ask("", [None, None]).unwrap_err()));
    // Who says the epoch is the same is believed, whatever the script permits.
    ask("epoch = 'may change'", [Some(1), Some(1)]).unwrap_err();
}

#[test]
fn several_conversations_are_followed_apart() {
    let script = "[script]\nloop = true\nconversations = 'many'\n[[reply]]\ntext = 'yes'";
    let mut player = Player::new(Script::parse(script).unwrap());
    let mut ask = |texts: &[&str]| {
        let message = |(i, text): (usize, &&str)| {
            let block = [BlockView::text(*text)];
            if i % 2 == 0 { MessageView::user(block) } else { MessageView::assistant(block) }
        };
        player.answer(&RequestView::of(texts.iter().enumerate().map(message))).map(|_| ())
    };
    ask(&["a"]).unwrap();
    ask(&["b"]).unwrap();
    ask(&["a", "yes", "c"]).unwrap();
    ask(&["b", "yes", "d"]).unwrap();
    let error = ask(&["a", "yes", "C"]).unwrap_err();
    assert_eq!(error.violations().len(), 1, "{error}");
    // So many others that the first is forgotten.
    for n in 0..1_000 {
        ask(&[&format!("other {n}")]).unwrap();
    }
    ask(&["a", "yes", "C"]).unwrap();
}

#[test]
fn a_paused_reply_is_continued_by_itself_also_after_a_failure() {
    let script = "\
[[reply]]
text = 'searching'
stop = 'pause'
[[reply]]
error = { status = 529 }
[[reply]]
text = 'found'
[[reply]]
text = 'no'";
    let mut talk = Talk::new(script).text("a");
    let request = talk.request();
    for _ in 0..2 {
        talk.log.push_str(&line(&talk.player.answer(&request).unwrap()));
    }
    let refused = talk.player.answer(&request).unwrap_err();
    talk.log.push_str(&refused.to_string());
    talk.gives(expect![[r#"
        1: searching [pause]
        2:  [end_turn]
        3: found [end_turn]
        request 4 is not valid: messages[1]: the last message is not the user's"#]]);
}

#[test]
fn a_request_refused_as_too_large_may_come_back_smaller() {
    let script = "[[reply]]\ntext = 'a'\n[[reply]]\nerror = { status = 413, type = 'request_too_large' }\n[[reply]]\ntext = 'b'";
    let mut talk = Talk::new(script).text("one").text("large");
    talk.messages.truncate(2);
    let talk = talk.text("small");
    assert!(talk.log.ends_with("3: b [end_turn]\n"), "{}", talk.log);
}
