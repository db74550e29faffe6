//! The conversation: snapshots, memory, and what may enter.

use std::sync::{Arc, Weak};

use heeler_core::{Block, Message, RawJson, Role, ToolResult, ToolUse};
use heeler_turn::{CharacterEstimate, History};

fn history(texts: &[&str]) -> History {
    let mut history = History::new(Arc::new(CharacterEstimate::new(4)));
    for (at, text) in texts.iter().enumerate() {
        match at % 2 {
            0 => history.push_user(vec![Block::text(*text)]),
            _ => history.push_assistant(&[Block::text(*text)], |_| String::new()),
        };
    }
    history
}

fn texts(history: &History) -> Vec<String> {
    history.messages().iter().map(|message| message.text()).collect()
}

#[test]
fn a_snapshot_is_not_disturbed_by_what_comes_later() {
    let mut history = history(&["one", "two", "three", "four"]);
    let snapshot = history.clone();
    history.push_user(vec![Block::text("five")]);
    history.replace_head(3, Message::user("before"));
    assert_eq!(texts(&snapshot), ["one", "two", "three", "four"]);
    assert_eq!(texts(&history), ["before", "four", "five"]);
    assert_eq!((snapshot.weight(), history.weight()), (15, 14));
    assert_eq!((snapshot.request().len(), history.request().len()), (4, 3));
}

#[test]
fn replaced_messages_are_freed_once_no_snapshot_holds_them() {
    let mut history = history(&["one", "two", "three", "four"]);
    let messages: Vec<Weak<Message>> = history.messages().iter().map(Arc::downgrade).collect();
    let requests: Vec<_> = history.request().iter().map(Arc::downgrade).collect();
    let snapshot = history.clone();
    history.replace_head(3, Message::user("before"));
    let alive = || messages.iter().filter(|message| message.upgrade().is_some()).count();
    let encoded = || requests.iter().filter(|message| message.upgrade().is_some()).count();
    assert_eq!((alive(), encoded()), (4, 4));
    drop(snapshot);
    assert_eq!(alive(), 1);
    assert!(encoded() <= 1);
}

#[test]
fn appending_shares_all_that_was_there() {
    let mut history = history(&["one", "two", "three"]);
    let before: Vec<_> = history.request().iter().cloned().collect();
    history.push_assistant(&[Block::text("four")], |_| String::new());
    for (old, new) in before.iter().zip(history.request().iter()) {
        assert!(Arc::ptr_eq(old, new));
    }
}

#[test]
fn a_summary_request_shares_the_conversations_own_prefix() {
    let history = history(&["one", "two", "three", "four"]);
    let head = history.head_and(2, "Summarize.");
    assert!(head.iter().zip(history.request().iter()).take(2).all(|(a, b)| Arc::ptr_eq(a, b)));
    let said: Vec<String> = head.iter().map(|message| message.message.text()).collect();
    assert_eq!(said, ["one", "two", "Summarize."]);
    // A head that ends with the user takes the question into that message.
    let said: Vec<String> = history.head_and(3, "?").iter().map(|m| m.message.text()).collect();
    assert_eq!(said, ["one", "two", "three?"]);
    let whole = history.head_and(9, "?");
    assert!(whole.iter().zip(history.request().iter()).take(4).all(|(a, b)| Arc::ptr_eq(a, b)));
    let said: Vec<String> = whole.iter().map(|m| m.message.text()).collect();
    assert_eq!(said, ["one", "two", "three", "four", "?"]);
}

#[test]
fn only_results_that_were_asked_for_enter_and_missing_ones_are_told() {
    let mut history = history(&["one"]);
    let call = |id: &str| {
        Block::from(ToolUse {
            id: id.into(),
            name: "read".into(),
            input: RawJson::empty_object(),
            invalid: None,
            cache: None,
        })
    };
    let result = |id: &str| ToolResult {
        tool_use_id: id.into(),
        content: vec![Block::text(id)],
        is_error: false,
        cache: None,
    };
    history.push_user(vec![Block::text(""), call("x"), Block::from(result("x"))]);
    assert_eq!(history.len(), 1);
    history.push_assistant(&[call("a"), call("b"), Block::text("")], |_| String::new());
    history.push_results(vec![result("stranger"), result("b")]);
    let results: Vec<(String, bool)> = history
        .messages()
        .last()
        .unwrap()
        .blocks
        .iter()
        .map(|block| match block {
            Block::ToolResult(result) => (result.tool_use_id.clone(), result.is_error),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(results, [("a".to_owned(), true), ("b".to_owned(), false)]);
    assert!(history.push_results(vec![result("b")]).is_none());
}

#[test]
fn calls_nobody_answered_are_answered_before_anything_else_is_said() {
    for user in [true, false] {
        let mut history = history(&["one"]);
        let input = RawJson::empty_object();
        let (id, name) = ("a".to_owned(), "read".to_owned());
        let call = Block::from(ToolUse { id, name, input, invalid: None, cache: None });
        history.push_assistant(&[call], |_| String::new());
        let appended = match user {
            true => history.push_user(vec![Block::text("two")]),
            false => history.push_assistant(&[Block::text("two")], |_| String::new()),
        };
        assert_eq!(appended.len(), 2);
        assert!(matches!(&appended[0].blocks[..], [Block::ToolResult(r)] if r.is_error));
        assert_eq!(crate::checker::history_faults(&history, false), [""; 0]);
    }
}

#[test]
fn ids_that_are_empty_or_taken_are_counted_up() {
    let mut history = history(&["one"]);
    let call = |id: &str| {
        let (id, name, input) = (id.to_owned(), "read".to_owned(), RawJson::empty_object());
        Block::from(ToolUse { id, name, input, invalid: None, cache: None })
    };
    let said = history.push_assistant(&["x", "", "x", "y", ""].map(call), |_| "x".to_owned());
    let ids: Vec<&str> = said[0].tool_uses().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["x", "x_2", "x_3", "y", "x_4"]);
}

#[test]
fn a_conversation_whose_beginning_is_missing_still_begins_with_the_user() {
    let mut history = History::new(Arc::new(CharacterEstimate::new(4)));
    history.push_assistant(&[Block::text("and so on")], |_| String::new());
    let roles: Vec<_> = history.messages().iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant]);
    assert_eq!(texts(&history)[1], "and so on");
}
