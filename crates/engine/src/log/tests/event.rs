//! Events in one line each: `text 0 hello`, or `child text 0 hello` for another agent's.

use std::collections::HashMap;
use std::sync::Arc;

use heeler_core::{
    AgentPath, CallId, CompactionCause, Cost, Decision, Envelope, Event, FinalAnswer, Message,
    OpenPermission, PermissionId, PermissionReason, ProviderErrorKind, RawJson, SteeringId,
    TurnOutcome, Usage,
};

/// Makes events of lines, and knows how far each block is.
#[derive(Default)]
pub(super) struct Maker {
    offsets: HashMap<(AgentPath, &'static str, u32), u64>,
}

impl Maker {
    pub(super) fn make(&mut self, line: &str) -> Envelope {
        let (agent, line) = match line.strip_prefix("child ") {
            Some(rest) => (AgentPath(vec![call(7)]), rest),
            None => (AgentPath::default(), line),
        };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let event = match word {
            "text" | "think" | "input" | "gap" => self.delta(&agent, word, rest),
            "attempt" => {
                self.offsets.retain(|(other, ..), _| *other != agent);
                Event::AttemptStarted { round: 1, attempt: 1 }
            }
            _ => plain(word, rest),
        };
        Envelope { seq: None, agent, event }
    }

    fn delta(&mut self, agent: &AgentPath, word: &str, rest: &str) -> Event {
        let (block, text) = rest.split_once(' ').unwrap();
        let (block, text) = (block.parse().unwrap(), text.to_owned());
        let kind = match word {
            "think" => "think",
            "input" => "input",
            _ => "text",
        };
        let end = self.offsets.entry((agent.clone(), kind, block)).or_default();
        // After a gap, a delta does not continue what was before.
        let offset = *end + u64::from(word == "gap");
        *end = offset + text.len() as u64;
        match kind {
            "think" => Event::ThinkingDelta { block, offset, text },
            "input" => Event::ToolInputDelta { block, offset, text },
            _ => Event::TextDelta { block, offset, text },
        }
    }
}

fn plain(word: &str, rest: &str) -> Event {
    let text = rest.to_owned();
    let number = || rest.parse::<u32>().unwrap();
    let id = || SteeringId(rest.to_owned());
    match word {
        "progress" => {
            let (index, text) = rest.split_once(' ').unwrap();
            Event::CallProgress { call: call(index.parse().unwrap()), text: text.into() }
        }
        "beat" => Event::Heartbeat { turn: 1, round: number() },
        "usage" => {
            let total = Usage { output: u64::from(number()), ..Usage::default() };
            let usage = Usage { output: 1, ..Usage::default() };
            Event::Usage {
                usage,
                cost: None,
                total,
                total_cost: Cost(total.output),
                cost_is_partial: false,
                reread: None,
            }
        }
        "turn" => Event::TurnStarted { turn: number() },
        "user" => Event::Message { message: Arc::new(Message::user(text)) },
        "assistant" => Event::Message { message: Arc::new(Message::assistant(text)) },
        "retry" => Event::Retry {
            attempt: 1,
            kind: ProviderErrorKind::Network,
            message: text,
            wait_millis: None,
        },
        "started" => {
            let (name, summary) = ("tool".into(), String::new());
            Event::CallStarted { call: call(number()), index: number(), name, summary }
        }
        "finished" => {
            let (name, summary) = ("tool".into(), String::new());
            let (call, index, is_error) = (call(number()), number(), number() % 2 == 1);
            Event::CallFinished { call, index, name, is_error, summary, millis: 1 }
        }
        "asked" => Event::PermissionRequested(OpenPermission {
            id: PermissionId::first(call(number())),
            tool: "tool".into(),
            input: RawJson::empty_object(),
            summary: String::new(),
            reason: PermissionReason::Repeated(5),
            offer: None,
            objection: None,
        }),
        "decided" => Event::PermissionDecided {
            id: PermissionId::first(call(number())),
            decision: Decision::Once,
            by: "test".into(),
        },
        "queued" => Event::SteeringQueued { id: id() },
        "delivered" => Event::SteeringDelivered { id: id() },
        "compacting" => {
            Event::CompactionStarted { cause: CompactionCause::Manual, tokens_before: 1 }
        }
        "compacted" => Event::Compacted {
            cut: u64::from(number()),
            message: Arc::new(Message::user("summary")),
            tokens_after: 1,
            cost: None,
        },
        "notice" => Event::Notice { text },
        "end" => {
            let (turn, outcome) = (number(), TurnOutcome::Done);
            Event::TurnFinished { turn, outcome, answer: FinalAnswer::default() }
        }
        other => panic!("no event is called {other}"),
    }
}

fn call(index: u32) -> CallId {
    CallId { turn: 1, round: 1, index }
}

/// An event as a line, with its place if it is a delta.
pub(super) fn show(envelope: &Envelope) -> String {
    let child = if envelope.agent.is_main() { "" } else { "child " };
    let event = match &envelope.event {
        Event::TextDelta { block, offset, text } => format!("text {block}@{offset} {text}"),
        Event::ThinkingDelta { block, offset, text } => format!("think {block}@{offset} {text}"),
        Event::ToolInputDelta { block, offset, text } => format!("input {block}@{offset} {text}"),
        Event::CallProgress { call, text } => format!("progress {} {text}", call.index),
        Event::Heartbeat { round, .. } => format!("beat {round}"),
        Event::Usage { total, .. } => format!("usage {}", total.output),
        Event::Notice { text } => format!("notice {text}"),
        Event::AttemptStarted { .. } => "attempt".into(),
        Event::TurnFinished { turn, .. } => format!("end {turn}"),
        other => format!("{other:?}"),
    };
    format!("{child}{event}")
}
