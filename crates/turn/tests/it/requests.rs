//! What is sent to a model: the prefix in force, the conversation, and what the settings say.

use std::sync::Arc;

use heeler_core::{EpochCause, EpochStarted, ModelRequest, RawJson, Record, ToolDefinition};
use heeler_turn::{State, compact};

use crate::door::Play;

/// A session whose model sees one tool.
fn play() -> Play {
    let mut play = Play::of("set chars=1 model=p/m\nuser one\nreply two\nuser three\nreply four");
    let tool = ToolDefinition::new("read", "Reads.", RawJson::empty_object());
    play.write(Record::EpochStarted(Box::new(EpochStarted {
        epoch: 2,
        cause: EpochCause::Tools,
        system: "You read.".into(),
        tools: vec![tool],
        provider_tools: Vec::new(),
        model: "p/m".into(),
        system_hash: String::new(),
        tools_hash: String::new(),
    })));
    play
}

fn said(request: &ModelRequest) -> Vec<String> {
    request.messages.iter().map(|message| message.message.text()).collect()
}

#[test]
fn a_request_is_the_prefix_and_the_whole_conversation() {
    let state = play().state;
    let request = state.request(77).unwrap();
    assert_eq!((&*request.model, &*request.system), ("m", "You read."));
    assert_eq!((request.tools[0].name.as_str(), request.tools.len()), ("read", 1));
    assert_eq!((request.output_max, request.epoch, request.stable), (77, 2, 4));
    assert_eq!(said(&request), ["one", "two", "three", "four"]);
    assert!(State::new().request(77).is_none());
}

#[test]
fn a_summary_is_asked_for_with_the_same_prefix() {
    let state = play().state;
    let (request, summary) =
        (state.request(77).unwrap(), state.summary_request(2, None, 55).unwrap());
    assert_eq!(said(&summary), ["one", "two", compact::INSTRUCTION]);
    assert_eq!((summary.output_max, summary.stable), (55, 3));
    let focused = state.summary_request(2, Some("the tests"), 55).unwrap();
    let asked = said(&focused).pop().unwrap();
    assert!(asked.starts_with(compact::INSTRUCTION) && asked.ends_with("this:\nthe tests"));
    let more = asked.chars().count() - compact::INSTRUCTION.chars().count();
    assert_eq!(
        state.estimate_summary(2, Some("the tests")),
        state.estimate_summary(2, None) + more as u64
    );
    assert!(Arc::ptr_eq(&request.tools, &summary.tools));
    assert!(Arc::ptr_eq(&request.system, &summary.system));
    assert!(State::new().summary_request(2, None, 55).is_err());
}

#[test]
fn a_summary_is_asked_for_when_its_own_request_fits() {
    let mut state = play().state;
    // The prompt, the tool, two messages, and what asks for the summary.
    let tokens = 9 + 12 + 3 + 3 + compact::INSTRUCTION.chars().count() as u64;
    assert_eq!(state.estimate_summary(2, None), tokens);
    state.settings.estimate.context_limit = Some(tokens);
    state.settings.compaction.keep_tail = 2;
    assert!(state.summary_request(2, None, 55).is_ok());
    assert_eq!(state.compaction_cut(None), Some(2));
    state.settings.estimate.context_limit = Some(tokens - 1);
    assert!(state.summary_request(2, None, 55).is_err());
    assert_eq!(state.compaction_cut(None), Some(1));
}

#[test]
fn the_prefix_needs_room_when_the_conversation_is_cut_back_too() {
    let mut play = play();
    let lines = ["large 1000", "reply five | read 0", "set context=1500 keep=1", "large 470"];
    lines.iter().for_each(|line| play.line(line));
    play.line("no summary");
    assert!(play.shown().contains("trimmed to 2"), "{}", play.shown());
    // The prompt, the note about what is gone, and what was said last: the tools are none again.
    let note = play.state.history.messages().first().unwrap().text().chars().count() as u64;
    assert_eq!(play.state.estimate(), 9 + note + 470);
}

#[test]
fn all_of_it_is_estimated() {
    let state = play().state;
    let whole = state.breakdown();
    // The tool: its name, its description and `{}`.
    assert_eq!((whole.system, whole.tools, whole.messages), (9, 12, 3 + 3 + 5 + 4));
    assert_eq!((whole.total(), state.estimate()), (36, 36));
}
