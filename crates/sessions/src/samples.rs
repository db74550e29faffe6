//! Events for tests.

use heeler_core::{Message, RawJson, StopReason, Timestamp, Usage};

use crate::{RunEvent, RunEventKind, TurnId};

pub(crate) fn event(kind: RunEventKind) -> RunEvent {
    RunEvent::new(TurnId(255), 1, Timestamp(5), kind)
}

/// One of each kind, and a failed call.
pub(crate) fn kinds() -> Vec<RunEventKind> {
    let usage = Usage { input: 10, output: 2, ..Usage::default() };
    let end = |id: &str, output: &str, error: Option<&str>| RunEventKind::ToolCallEnd {
        tool_use_id: id.into(),
        tool: "Read".into(),
        output: output.into(),
        error: error.map(str::to_owned),
    };
    vec![
        RunEventKind::TurnStart { history: [Message::user("Wie heißt du?")].into() },
        RunEventKind::ModelRequest,
        RunEventKind::ModelResponse {
            message: Message::assistant("heeler"),
            usage,
            stop: StopReason::EndTurn,
        },
        RunEventKind::RetryAttempt { attempt: 1, wait_millis: 1_000, error: "overloaded".into() },
        RunEventKind::ToolCallStart {
            tool_use_id: "t1".into(),
            tool: "Read".into(),
            input: RawJson::parse(r#"{"path": "a"}"#).unwrap(),
        },
        end("t1", "text", None),
        end("t2", "", Some("no such file")),
        RunEventKind::TurnEnd { usage },
        RunEventKind::TurnError { error: "50 rounds are over".into(), usage },
    ]
}
