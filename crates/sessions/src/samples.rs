//! Events for tests.

use heeler_core::{Message, RawJson, StopReason, Timestamp, Usage};

use crate::{RecordedEvent, RecordedEventKind, TurnId};

pub(crate) fn event(kind: RecordedEventKind) -> RecordedEvent {
    RecordedEvent::new(TurnId(255), 1, Timestamp(5), kind)
}

/// One of each kind, and a failed call.
pub(crate) fn kinds() -> Vec<RecordedEventKind> {
    let usage = Usage { input: 10, output: 2, ..Usage::default() };
    let end = |id: &str, output: &str, error: Option<&str>| RecordedEventKind::ToolCallEnd {
        tool_use_id: id.into(),
        tool: "Read".into(),
        output: output.into(),
        error: error.map(str::to_owned),
    };
    vec![
        RecordedEventKind::TurnStart { history: [Message::user("Wie heißt du?")].into() },
        RecordedEventKind::ModelRequest,
        RecordedEventKind::ModelResponse {
            message: Message::assistant("heeler"),
            usage,
            stop: StopReason::EndTurn,
        },
        RecordedEventKind::RetryAttempt {
            attempt: 1,
            wait_millis: 1_000,
            error: "overloaded".into(),
        },
        RecordedEventKind::ToolCallStart {
            tool_use_id: "t1".into(),
            tool: "Read".into(),
            input: RawJson::parse(r#"{"path": "a"}"#).unwrap(),
        },
        end("t1", "text", None),
        end("t2", "", Some("no such file")),
        RecordedEventKind::TurnEnd { usage },
        RecordedEventKind::TurnError { error: "50 rounds are over".into(), usage },
    ]
}
