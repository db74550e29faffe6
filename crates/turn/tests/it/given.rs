//! A conversation that was said elsewhere: taken as it is where it is valid, put right where not.

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{
    Block, Entry, Image, Input, Message, RawJson, Record, Role, Timestamp, ToolResult, ToolUse,
};
use heeler_turn::{CharacterEstimate, History, State};
use proptest::prelude::*;

use crate::checker;

/// One message a line: `user` or `model`, then blocks between ` | `: `call ID`, `result ID`,
/// `image`, or words.
fn messages(script: &str) -> Vec<Message> {
    let message = |line: &str| {
        let (who, said) = line.split_once(' ').unwrap_or((line, ""));
        let role = if who == "user" { Role::User } else { Role::Assistant };
        Message { role, blocks: said.split(" | ").map(block).collect() }
    };
    script.lines().map(str::trim).filter(|line| !line.is_empty()).map(message).collect()
}

fn block(text: &str) -> Block {
    match text.split_once(' ').unwrap_or((text, "")) {
        ("call", id) => Block::from(ToolUse {
            id: id.into(),
            name: "t".into(),
            input: RawJson::empty_object(),
            invalid: None,
            cache: None,
        }),
        ("result", id) => Block::from(ToolResult {
            tool_use_id: id.into(),
            content: vec![Block::text(format!("of {id}"))],
            is_error: false,
            cache: None,
        }),
        ("image", _) => {
            Block::from(Image { media_type: "image/png".into(), data: "AAAA".into(), cache: None })
        }
        _ => Block::text(text),
    }
}

fn given(messages: &[Message]) -> History {
    let mut history = History::new(Arc::new(CharacterEstimate::new(4)));
    let appended = history.push_given(messages);
    assert!(history.messages().iter().eq(&appended));
    history
}

/// What becomes of a conversation.
fn check(script: &str, expected: Expect) {
    let history = given(&messages(script));
    assert_eq!(checker::history_faults(&history, true), Vec::<String>::new());
    let block = |block: &Block| match block {
        Block::ToolUse(call) => format!("call {}", call.id),
        Block::ToolResult(result) => {
            let text: String = result.content.iter().filter_map(Block::as_text).collect();
            format!("result {}: {text}", result.tool_use_id)
        }
        Block::Image(_) => "image".to_owned(),
        other => other.as_text().unwrap_or("?").to_owned(),
    };
    let message = |message: &Arc<Message>| {
        let who = if message.role == Role::User { "user" } else { "model" };
        let said: Vec<String> = message.blocks.iter().map(block).collect();
        format!("{who} {}", said.join(" | "))
    };
    let shown: Vec<String> = history.messages().iter().map(message).collect();
    expected.assert_eq(&shown.join("\n"));
}

#[test]
fn a_valid_conversation_stays_word_for_word() {
    let said = messages(
        "user hello | image
         user and more
         model hm | call a | call b
         user result a | result b | image | thanks
         model bye
         user again
         model call c",
    );
    let kept: Vec<Message> = given(&said).messages().iter().map(|m| (**m).clone()).collect();
    assert_eq!(kept, said);
}

#[test]
fn what_no_provider_takes_is_put_right() {
    check(
        "user go
         model call a | call b | call c
         user stop | result c | result a | result z",
        expect![[r#"
            user go
            model call a | call b | call c
            user result a: of a | result b: The result of this call was lost. | result c: of c | stop"#]],
    );
    check(
        "model hello
         user result a",
        expect![[r#"
            user (The beginning of this conversation was lost.)
            model hello"#]],
    );
    check(
        "user go
         model call a | call a
         user result a | result a
         model call a
         model well
         user result a",
        expect![[r#"
            user go
            model call a | call call_1
            user result a: of a | result call_1: of a
            model call call_0
            user result call_0: The result of this call was lost.
            model well"#]],
    );
}

#[test]
fn it_comes_before_all_else_or_not_at_all() {
    let mut state = State::new();
    let mut seq = 0;
    let mut write = |state: &mut State, record| {
        seq += 1;
        state.apply(&Entry { seq, at: Timestamp(seq), record });
    };
    let messages = vec![Message::user("one")];
    write(&mut state, Record::HistoryGiven { messages: messages.clone() });
    assert_eq!((state.history.len(), state.misfits, state.turn.is_some()), (1, 0, false));
    // An input without words lets the model answer what was given.
    write(
        &mut state,
        Record::Input(Box::new(Input { blocks: Vec::new(), origin: Default::default() })),
    );
    assert_eq!((state.history.len(), state.turn.is_some()), (1, true));
    assert!(!state.pending().is_empty());
    write(&mut state, Record::HistoryGiven { messages });
    assert_eq!((state.history.len(), state.misfits), (1, 1));
}

fn any_message() -> impl Strategy<Value = Message> {
    let id = || prop::sample::select(vec!["a", "b", ""]);
    let block = prop_oneof![
        id().prop_map(|id| block(&format!("call {id}"))),
        id().prop_map(|id| block(&format!("result {id}"))),
        Just(block("image")),
        Just(block("words")),
        Just(block(" ")),
    ];
    let role = prop::sample::select(vec![Role::User, Role::Assistant]);
    (role, prop::collection::vec(block, 0..5)).prop_map(|(role, blocks)| Message { role, blocks })
}

proptest! {
    #[test]
    fn whatever_is_given_becomes_a_valid_conversation_that_stays_as_it_is(
        messages in prop::collection::vec(any_message(), 0..8)
    ) {
        let history = given(&messages);
        prop_assert_eq!(checker::history_faults(&history, true), Vec::<String>::new());
        let once: Vec<Message> = history.messages().iter().map(|m| (**m).clone()).collect();
        let again = given(&once);
        let twice: Vec<Message> = again.messages().iter().map(|m| (**m).clone()).collect();
        prop_assert_eq!(twice, once);
    }
}
