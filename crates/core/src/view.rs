//! A watcher's picture of a session: a fold over events.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::growing::{clear_text, push_text};
use crate::{
    Bill, CallId, Changed, Cost, Event, Message, PermissionId, PermissionReason, RawJson, Rule,
    SteeringId, TurnOutcome, Usage,
};

/// What is true of a session for a watcher. A snapshot at one moment plus the events after it
/// gives the same view as the state itself: that is the promise of the event log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct View {
    /// The conversation as the model sees it; cheap to clone.
    #[schemars(with = "Vec<Message>")]
    pub messages: Messages,
    /// The running turn.
    pub turn: Option<TurnView>,
    /// How the last turn ended.
    pub last_outcome: Option<TurnOutcome>,
    /// Requests somebody must decide, in order of asking.
    pub permissions: Vec<OpenPermission>,
    /// Inputs that wait for the next safe point.
    pub steering: Vec<SteeringId>,
    /// Whether a compaction runs.
    pub compacting: bool,
    /// Tokens of the session.
    pub usage: Usage,
    /// Money of the session.
    pub cost: Cost,
    /// Whether the session cost more than that, as prices of some of its calls are not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_is_partial: bool,
}

/// A conversation that is cheap to clone and to append to.
pub type Messages = rpds::VectorSync<Arc<Message>>;

/// The running turn.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct TurnView {
    /// The turn.
    pub turn: u32,
    /// Its calls that started or finished in the current round, by index.
    pub calls: Vec<CallView>,
    /// Text of the running attempt; provisional.
    pub draft: String,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallView {
    /// The call.
    pub call: CallId,
    /// The tool's name.
    pub name: String,
    /// How far it is.
    pub status: CallStatus,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It runs.
    Running,
    /// It succeeded.
    Succeeded,
    /// It failed, was denied or cancelled.
    Failed,
}

/// A request somebody must decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenPermission {
    /// Its id; the answer names it.
    pub id: PermissionId,
    /// The tool.
    pub tool: String,
    /// The raw input the call would run with.
    #[serde(serialize_with = "as_json")]
    #[schemars(with = "serde_json::Value")]
    pub input: RawJson,
    /// What the call does, in at most 100 characters.
    pub summary: String,
    /// Why somebody is asked.
    pub reason: PermissionReason,
    /// The rule that would let this and its like run from now on; `None` when each has to be looked
    /// at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offer: Option<Rule>,
    /// Why the answer before could not be used, told to who gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objection: Option<String>,
}

/// Writes raw JSON as itself, for readers outside; only ever serialised.
fn as_json<S: serde::Serializer>(raw: &RawJson, serializer: S) -> Result<S::Ok, S::Error> {
    raw.value().serialize(serializer)
}

impl View {
    /// Money of the session, as it is told.
    #[must_use]
    pub fn bill(&self) -> Bill {
        Bill {
            cost: self.cost,
            is_partial: self.cost_is_partial,
            is_estimated: self.usage.is_estimated,
        }
    }

    /// Brings the view up to date with one event. Total: an event that does not fit changes
    /// nothing.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { turn } => {
                self.turn = Some(TurnView { turn: *turn, ..TurnView::default() });
            }
            Event::Message { message } => {
                self.messages.push_back_mut(Arc::clone(message));
                if message.role == crate::Role::Assistant {
                    self.forget_draft();
                }
            }
            Event::AttemptStarted { .. } => {
                self.forget_draft();
                if let Some(turn) = &mut self.turn {
                    turn.calls.clear();
                }
            }
            Event::TextDelta { text, .. } => {
                if let Some(turn) = &mut self.turn {
                    push_text(&mut turn.draft, text);
                }
            }
            Event::Retry { .. } => self.forget_draft(),
            Event::Usage { total, total_cost, cost_is_partial, .. } => {
                self.usage = *total;
                self.cost = *total_cost;
                self.cost_is_partial = *cost_is_partial;
            }
            Event::CallStarted { call, name, .. } => {
                self.set_call(*call, name, CallStatus::Running);
            }
            Event::CallFinished { call, name, is_error, .. } => {
                let status = if *is_error { CallStatus::Failed } else { CallStatus::Succeeded };
                self.set_call(*call, name, status);
                self.permissions.retain(|open| open.id.call != *call);
            }
            Event::PermissionRequested(open) => {
                self.permissions.retain(|other| other.id != open.id);
                self.permissions.push(open.clone());
            }
            Event::PermissionDecided { id, .. } => self.permissions.retain(|open| open.id != *id),
            Event::SteeringQueued { id } => self.steering.push(id.clone()),
            Event::SteeringTakenBack { id } | Event::SteeringDelivered { id } => {
                self.steering.retain(|other| other != id);
            }
            Event::CompactionStarted { .. } => self.compacting = true,
            Event::CompactionFailed { .. } => self.compacting = false,
            Event::Compacted { cut, message, .. } => {
                self.compacting = false;
                let tail = self.messages.iter().skip(usize::try_from(*cut).unwrap_or(usize::MAX));
                self.messages = std::iter::once(message).chain(tail).cloned().collect();
            }
            Event::Trimmed { messages, .. }
            | Event::Restored { messages, .. }
            | Event::ItemsLeftOut { messages, .. }
            | Event::ReasoningLeftOut { messages, .. } => {
                self.messages = messages.iter().cloned().collect();
            }
            Event::Pruned { changed, .. } => {
                for Changed { at, message } in changed {
                    let at = usize::try_from(*at).unwrap_or(usize::MAX);
                    self.messages.set_mut(at, Arc::clone(message));
                }
            }
            Event::TurnFinished { outcome, .. } => {
                self.turn = None;
                self.permissions.clear();
                self.compacting = false;
                self.last_outcome = Some(outcome.clone());
            }
            Event::ThinkingDelta { .. }
            | Event::ToolInputDelta { .. }
            | Event::CallProgress { .. }
            | Event::ToolText { .. }
            | Event::HookStarted { .. }
            | Event::HookFinished { .. }
            | Event::EpochStarted { .. }
            | Event::LimitsChanged { .. }
            | Event::Heartbeat { .. }
            | Event::Notice { .. } => {}
        }
    }

    fn forget_draft(&mut self) {
        if let Some(turn) = &mut self.turn {
            clear_text(&mut turn.draft);
        }
    }

    fn set_call(&mut self, call: CallId, name: &str, status: CallStatus) {
        let Some(turn) = &mut self.turn else { return };
        match turn.calls.iter_mut().find(|view| view.call == call) {
            Some(view) => view.status = status,
            None => {
                let place = turn.calls.partition_point(|view| view.call < call);
                turn.calls.insert(place, CallView { call, name: name.to_owned(), status });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;

    fn call(index: u32) -> CallId {
        CallId { turn: 1, round: 1, index }
    }

    fn asks(index: u32, summary: &str) -> Event {
        Event::PermissionRequested(OpenPermission {
            id: PermissionId::first(call(index)),
            tool: "Bash".into(),
            input: RawJson::parse(r#"{"command":"ls"}"#).unwrap(),
            summary: summary.into(),
            reason: PermissionReason::Repeated(5),
            offer: None,
            objection: None,
        })
    }

    fn runs(index: u32) -> Event {
        Event::CallStarted { call: call(index), index, name: "Bash".into(), summary: "".into() }
    }

    fn ends(index: u32, is_error: bool) -> Event {
        let (name, summary) = ("Bash".into(), "".into());
        Event::CallFinished { call: call(index), index, name, is_error, summary, millis: 1 }
    }

    fn writes(text: &str) -> Event {
        Event::TextDelta { block: 0, offset: 0, text: text.into() }
    }

    fn says(message: Message) -> Event {
        Event::Message { message: Arc::new(message) }
    }

    fn attempt() -> Event {
        Event::AttemptStarted { round: 1, attempt: 1 }
    }

    /// What a watcher sees after these events, on one line.
    fn check(events: &[Event], expected: &str) {
        let mut view = View::default();
        events.iter().for_each(|event| view.apply(event));
        let mut seen: Vec<String> = view.messages.iter().map(|message| message.text()).collect();
        if let Some(turn) = &view.turn {
            seen.push(format!("turn {} `{}`", turn.turn, turn.draft));
            seen.extend(turn.calls.iter().map(|one| format!("{} {:?}", one.call, one.status)));
        }
        seen.extend(view.permissions.iter().map(|open| format!("{}? {}", open.id, open.summary)));
        seen.extend(view.steering.iter().map(|id| format!("waits {}", id.0)));
        seen.extend(view.compacting.then(|| "compacting".to_owned()));
        seen.extend(view.last_outcome.iter().map(|outcome| format!("{outcome:?}")));
        assert_eq!(seen.join(", "), expected);
    }

    const BEGINS: Event = Event::TurnStarted { turn: 1 };

    fn done() -> Event {
        Event::TurnFinished { turn: 1, outcome: TurnOutcome::Done, answer: "a".into() }
    }

    #[test]
    fn a_draft_lasts_until_its_message_or_another_attempt() {
        let begun = [BEGINS, says(Message::user("q")), attempt(), writes("dra"), writes("ft")];
        let after = |event: Event| [&begun[..], &[event]].concat();
        check(&begun, "q, turn 1 `draft`");
        check(&after(says(Message::user("more"))), "q, more, turn 1 `draft`");
        check(&after(says(Message::assistant("a"))), "q, a, turn 1 ``");
        check(&after(attempt()), "q, turn 1 ``");
        let retry = Event::Retry {
            attempt: 1,
            kind: crate::ProviderErrorKind::Network,
            message: "cut".into(),
            wait_millis: Some(1),
        };
        check(&after(retry), "q, turn 1 ``");
        check(&after(done()), "q, Done");
        check(&[writes("before any turn")], "");
    }

    #[test]
    fn calls_stand_in_call_order_until_the_next_request() {
        let running = [BEGINS, runs(1), runs(0), ends(1, true)];
        check(&running, "turn 1 ``, 1.1.0 Running, 1.1.1 Failed");
        check(
            &[&running[..], &[ends(0, false), ends(2, true)]].concat(),
            "turn 1 ``, 1.1.0 Succeeded, 1.1.1 Failed, 1.1.2 Failed",
        );
        check(&[&running[..], &[attempt()]].concat(), "turn 1 ``");
    }

    #[test]
    fn a_request_is_open_until_it_is_answered_or_its_call_ends() {
        let asked = [BEGINS, asks(0, "a"), asks(1, "b"), asks(0, "again")];
        let after = |event: Event| [&asked[..], &[event]].concat();
        check(&asked, "turn 1 ``, 1.1.1? b, 1.1.0? again");
        let decided = Event::PermissionDecided {
            id: PermissionId::first(call(0)),
            decision: Decision::Once,
            by: "me".into(),
        };
        check(&after(decided), "turn 1 ``, 1.1.1? b");
        check(&after(ends(1, true)), "turn 1 ``, 1.1.1 Failed, 1.1.0? again");
        check(&after(done()), "Done");
    }

    #[test]
    fn what_waits_is_listed_until_it_is_delivered_or_taken_back() {
        let id = |name: &str| SteeringId(name.into());
        let queued = |name| Event::SteeringQueued { id: id(name) };
        let waiting = [queued("a"), queued("b"), queued("c")];
        check(&waiting, "waits a, waits b, waits c");
        let taken = Event::SteeringTakenBack { id: id("b") };
        let delivered = Event::SteeringDelivered { id: id("a") };
        check(&[&waiting[..], &[taken, delivered]].concat(), "waits c");
    }

    #[test]
    fn a_compaction_replaces_the_head_of_the_conversation() {
        let begun = [
            says(Message::user("one")),
            says(Message::user("two")),
            says(Message::user("three")),
            Event::CompactionStarted { cause: crate::CompactionCause::Manual, tokens_before: 9 },
        ];
        let compacted = |cut| {
            let message = Arc::new(Message::user("sum"));
            [&begun[..], &[Event::Compacted { cut, message, tokens_after: 3, cost: None }]].concat()
        };
        check(&begun, "one, two, three, compacting");
        check(&compacted(2), "sum, three");
        check(&compacted(u64::MAX), "sum");
        let failed = Event::CompactionFailed { error: "x".into() };
        check(&[&begun[..], &[failed]].concat(), "one, two, three");
    }

    #[test]
    fn a_pruned_message_stands_where_it_stood() {
        let said = [says(Message::user("one")), says(Message::user("two"))];
        let pruned = |at| {
            let changed = vec![Changed { at, message: Arc::new(Message::user("short")) }];
            let (results, chars, items) = (1, 9, 0);
            let (tokens_before, tokens_after) = (2, 1);
            Event::Pruned { changed, results, chars, items, tokens_before, tokens_after }
        };
        check(&[&said[..], &[pruned(0)]].concat(), "short, two");
        check(&[&said[..], &[pruned(u64::MAX)]].concat(), "one, two");
    }

    #[test]
    fn tokens_and_money_are_those_of_the_session() {
        let mut view = View::default();
        let total = Usage { input: 5, ..Usage::default() };
        view.apply(&Event::Usage {
            usage: total,
            cost: None,
            total,
            total_cost: Cost(7),
            cost_is_partial: true,
            reread: None,
        });
        assert_eq!(
            (view.usage, view.bill()),
            (total, Bill { cost: Cost(7), is_partial: true, is_estimated: false })
        );
    }

    #[test]
    fn the_input_of_an_open_request_is_written_as_json() {
        let line = serde_json::to_string(&asks(0, "a")).unwrap();
        assert!(line.contains(r#""input":{"command":"ls"}"#), "{line}");
    }
}
