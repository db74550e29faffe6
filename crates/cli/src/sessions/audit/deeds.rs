//! What a session did beyond reading, and what it was denied, from a fold over its journal.

use std::fmt;

use heeler_core::{
    Access, CallId, Decision, Entry, Event, Facts, HookVerdict, Journal, PermissionDecided,
    RawJson, Record, Seq, Timestamp, input_summary,
};
use heeler_turn::State;
use heeler_turn::state::{Announcer, Call, CallStatus};
use serde::Serialize;

use super::edits::{Edit, Edits};
use super::plan::LeftPlan;
use crate::permissions::NOT_ALLOWED;
use crate::say::one_line;

/// What a fold found.
pub(super) struct Audited {
    pub(super) deeds: Vec<Deed>,
    pub(super) leaves: Vec<LeftPlan>,
    pub(super) misfits: u64,
}

/// A side effect, or a call that was denied.
#[derive(Debug, Serialize)]
pub(super) struct Deed {
    /// The record that started or denied it.
    pub(super) seq: Seq,
    /// When.
    pub(super) at: Timestamp,
    /// The call.
    pub(super) call: CallId,
    /// The tool as the model wrote it.
    pub(super) tool: String,
    /// What it did, shortly.
    pub(super) summary: String,
    /// The whole input.
    pub(super) input: String,
    /// What somebody made of the model's input before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) edits: Vec<Edit>,
    /// What it touches.
    pub(super) accesses: Vec<Access>,
    /// The rule, mode or decision that let it run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allowed_by: Option<String>,
    /// What came of it.
    #[serde(flatten)]
    pub(super) ending: Ending,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub(super) enum Ending {
    /// It did what it should.
    Done { output: String, millis: u64 },
    /// It failed, was cancelled, or its process died; what it had changed stays changed.
    Failed { output: String, millis: u64 },
    /// Its process died, and it was run again: running it twice is harmless.
    RunAgain,
    /// The journal tells no end: it runs, or its process died.
    Open,
    /// It did not run.
    Denied { by: String },
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done { output, .. } => {
                write!(f, "done: {}", one_line(output))
            }
            Self::Failed { output, .. } => {
                write!(f, "failed: {}", one_line(output))
            }
            Self::RunAgain => f.write_str("with its process, and it was run again"),
            Self::Open => f.write_str("not yet: it runs, or its process died"),
            Self::Denied { by } => write!(f, "denied: {by}"),
        }
    }
}

/// Folds the journal, and keeps what was done or denied, in order.
pub(super) fn of(journal: &Journal) -> Audited {
    let mut fold = Fold {
        state: State::new(),
        edits: Edits::default(),
        deeds: Vec::new(),
        leaves: Vec::new(),
    };
    for entry in &journal.entries {
        fold.take(entry);
    }
    Audited { deeds: fold.deeds, leaves: fold.leaves, misfits: fold.state.misfits }
}

struct Fold {
    state: State,
    edits: Edits,
    deeds: Vec<Deed>,
    leaves: Vec<LeftPlan>,
}

impl Fold {
    fn take(&mut self, entry: &Entry) {
        let started = self.started();
        self.edits.take(entry, &self.state);
        self.leaves.extend(LeftPlan::by(entry, &self.state));
        let mut seen = Announcer::collecting();
        self.state.apply_announcing(entry, &mut seen);
        if let Record::CallStarted { call } = &entry.record {
            self.start(entry, *call);
        }
        for event in seen.into_events() {
            if let Event::CallFinished { call, is_error, summary: output, millis, .. } = event {
                let ending = match is_error {
                    true => Ending::Failed { output, millis },
                    false => Ending::Done { output, millis },
                };
                if let Some(open) = self.open(call) {
                    open.ending = ending;
                } else if !started.contains(&call) {
                    self.finish_unstarted(entry, call, ending);
                }
            }
        }
    }

    fn start(&mut self, entry: &Entry, id: CallId) {
        if let Some(open) = self.open(id) {
            open.ending = Ending::RunAgain;
        }
        let deed = match self.call(id) {
            None => unknown(entry, id),
            Some(call) => match &call.status {
                CallStatus::Started { .. } if !is_side_effect(&call.facts) => return,
                CallStatus::Started { by, .. } => {
                    self.deed(entry, call, Some(by.clone()), Ending::Open)
                }
                // Records before it are missing, so nobody knows what it touched.
                _ => self.deed(entry, call, None, Ending::Open),
            },
        };
        self.deeds.push(deed);
    }

    /// A call got its result whose start was not seen: it was denied, it never ran for another
    /// reason, or it ran and the record of its start is missing.
    fn finish_unstarted(&mut self, entry: &Entry, id: CallId, ending: Ending) {
        let Some(call) = self.call(id) else { return };
        let ran = matches!(entry.record, Record::CallFinished { .. });
        let only_read = !call.facts.accesses.is_empty() && !is_side_effect(&call.facts);
        let ending = match denial(entry, call) {
            Some(by) => Ending::Denied { by },
            None if ran && !only_read => ending,
            None => return,
        };
        let deed = self.deed(entry, call, None, ending);
        self.deeds.push(deed);
    }

    fn deed(&self, entry: &Entry, call: &Call, allowed_by: Option<String>, ending: Ending) -> Deed {
        Deed {
            seq: entry.seq,
            at: entry.at,
            call: call.id,
            tool: call.name.clone(),
            summary: input_summary(&call.name, call.input.get()),
            input: call.input.get().to_owned(),
            edits: self.edits.of(call.id),
            accesses: call.facts.accesses.clone(),
            allowed_by,
            ending,
        }
    }

    /// The calls that run.
    fn started(&self) -> Vec<CallId> {
        let calls = self.state.turn.iter().flat_map(|turn| &turn.calls);
        let started = calls.filter(|call| matches!(call.status, CallStatus::Started { .. }));
        started.map(|call| call.id).collect()
    }

    fn call(&self, id: CallId) -> Option<&Call> {
        self.state.turn.as_ref()?.calls.iter().find(|call| call.id == id)
    }

    fn open(&mut self, id: CallId) -> Option<&mut Deed> {
        self.deeds.iter_mut().rev().find(|deed| deed.call == id && deed.ending == Ending::Open)
    }
}

/// Whether a call may have changed something, or told somebody something.
fn is_side_effect(facts: &Facts) -> bool {
    facts.accesses.iter().any(|access| !matches!(access, Access::Read(_)))
}

/// Who or what denied a call that did not run, if anybody did: a call may also be invalid, past a
/// limit, or cancelled.
fn denial(entry: &Entry, call: &Call) -> Option<String> {
    let CallStatus::Done(output) = &call.status else { return None };
    let text = output.text_content();
    if let Some(by) = text.strip_prefix(NOT_ALLOWED) {
        let by = by.trim_end_matches('.');
        return Some(match &entry.record {
            Record::PermissionDecided(decided) if is_denial(&decided.decision) => {
                format!("{by} (decision of {})", decided.by)
            }
            _ => by.to_owned(),
        });
    }
    match &entry.record {
        Record::PermissionDecided(decided) if decided.id.call == call.id => {
            let PermissionDecided { decision, by, .. } = &**decided;
            match decision {
                Decision::Deny { reason } | Decision::DenyAndStop { reason } => {
                    let reason = reason.as_deref().map(str::trim).filter(|r| !r.is_empty());
                    Some(match reason {
                        Some(reason) => format!("decision of {by}: {reason}"),
                        None => format!("decision of {by}"),
                    })
                }
                Decision::Once
                | Decision::Session { .. }
                | Decision::Always { .. }
                | Decision::Edited { .. }
                | Decision::LeavePlan { .. } => None,
            }
        }
        Record::HookAnswered(answered) if answered.call == Some(call.id) => stop(&answered.verdict),
        Record::CallPlanned(planned) if planned.call == call.id => {
            call.hook.as_ref().and_then(stop)
        }
        _ => None,
    }
}

fn is_denial(decision: &Decision) -> bool {
    matches!(decision, Decision::Deny { .. } | Decision::DenyAndStop { .. })
}

/// A hook that denied a call and ended the turn with it.
fn stop(verdict: &HookVerdict) -> Option<String> {
    let HookVerdict::Stop { by, reason } = verdict else { return None };
    Some(format!("the hook `{by}` stopped the turn: {reason}"))
}

/// A call of which only the start could be read.
fn unknown(entry: &Entry, call: CallId) -> Deed {
    Deed {
        seq: entry.seq,
        at: entry.at,
        call,
        tool: String::new(),
        summary: "a call of which nothing else is known".to_owned(),
        input: RawJson::empty_object().get().to_owned(),
        edits: Vec::new(),
        accesses: Vec::new(),
        allowed_by: None,
        ending: Ending::Open,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{
        Block, CallPlan, CallPlanned, Few, HookAnswered, HookEvent, Input, ModelReplied,
        ModelStarted, Opened, PermissionAsked, PermissionId, PermissionReason, Policy, Reply,
        Reserve, SessionHeader, Settings, StopReason, ToolOutput, ToolUse, Usage,
    };

    use super::*;

    /// The id of the call at this place of the only batch.
    fn id(index: u32) -> CallId {
        CallId { turn: 1, round: 1, index }
    }

    /// Three calls that ask, and that may run twice when they are called `again`.
    fn beginning(names: [&str; 3]) -> Vec<Record> {
        let call = |name: &&str| {
            Block::from(ToolUse {
                id: String::new(),
                name: (*name).to_owned(),
                input: RawJson::empty_object(),
                invalid: None,
                cache: None,
            })
        };
        let reply = Reply {
            blocks: names.iter().map(call).collect(),
            stop: StopReason::ToolUse,
            usage: Usage::default(),
            provider_id: None,
        };
        let policy = Policy { interactive: true, ..Policy::default() };
        let (turn, round, attempt) = (1, 1, 1);
        let started =
            ModelStarted { turn, round, attempt, epoch: 1, up_to: 0, reserve: Reserve::default() };
        let mut records = vec![
            Record::Opened(Opened { incarnation: 1, build: String::new() }),
            Record::SettingsChanged(Box::new(Settings { policy, ..Settings::default() })),
            Record::Input(Box::new(Input::text("go"))),
            Record::ModelStarted(started),
            Record::ModelReplied(Box::new(ModelReplied {
                turn,
                round,
                attempt,
                reply,
                cost: None,
            })),
        ];
        for (index, name) in (0..).zip(names) {
            let accesses = vec![Access::Opaque(name.to_owned())];
            let facts = Facts { accesses, replay_safe: name == "again", ..Facts::default() };
            let plan = CallPlan::Ready { facts, input: None, notes: Few::default(), hook: None };
            records.push(Record::CallPlanned(Box::new(CallPlanned {
                call: id(index),
                answered_before: 0,
                plan,
            })));
            let reason = PermissionReason::Policy(String::new());
            let id = PermissionId::first(id(index));
            records.push(Record::PermissionAsked(Box::new(PermissionAsked { id, reason })));
        }
        records
    }

    fn decided(index: u32, decision: Decision) -> Record {
        let (id, by) = (PermissionId::first(id(index)), "terminal".to_owned());
        Record::PermissionDecided(Box::new(PermissionDecided { id, decision, by }))
    }

    fn finished(index: u32) -> Record {
        let output = Box::new(ToolOutput::text("well"));
        Record::CallFinished { call: id(index), output, millis: 1, inner_calls: 0 }
    }

    /// Leaves out the records that are `None`, so that the journal has a hole there.
    fn check(records: Vec<Option<Record>>, expected: Expect) {
        let entries = (1..)
            .zip(records)
            .filter_map(|(seq, record)| Some(Entry { seq, at: Timestamp(seq), record: record? }));
        let id = "a".parse().unwrap();
        let journal = Journal {
            header: SessionHeader { id, created: Timestamp(0), workspace: String::new() },
            entries: entries.collect(),
            damage: Vec::new(),
            torn_bytes: 0,
        };
        let Audited { deeds, leaves, misfits } = of(&journal);
        let deeds = deeds.iter().map(|deed| {
            let Deed { seq, call, tool, edits, allowed_by, ending, .. } = deed;
            let edits: String = edits.iter().map(|edit| format!("{edit}, ")).collect();
            format!("{seq}: {call} {tool:?}, {edits}{allowed_by:?}, {ending}\n")
        });
        let leaves: String = leaves.iter().map(|left| format!("{left}\n")).collect();
        expected.assert_eq(&format!("{leaves}{}{misfits} misfits\n", deeds.collect::<String>()));
    }

    #[test]
    fn decisions_are_told_with_who_decided() {
        let mut records = beginning(["one", "two", "three"]);
        records.extend([
            decided(0, Decision::Once),
            Record::CallStarted { call: id(0) },
            decided(1, Decision::Deny { reason: None }),
            finished(0),
            decided(2, Decision::DenyAndStop { reason: Some("not today".to_owned()) }),
        ]);
        check(
            records.into_iter().map(Some).collect(),
            expect![[r#"
            13: 1.1.0 "one", Some("decision of terminal"), done: well
            14: 1.1.1 "two", None, denied: decision of terminal
            16: 1.1.2 "three", None, denied: decision of terminal: not today
            0 misfits
        "#]],
        );
    }

    #[test]
    fn an_edited_input_is_told_with_what_it_was_before() {
        let mut records = beginning(["one", "two", "three"]);
        let input = RawJson::parse(r#"{"n":1}"#).unwrap();
        let plan = CallPlan::Ready {
            facts: Facts { accesses: vec![Access::Opaque("one".into())], ..Facts::default() },
            input: None,
            notes: Few::default(),
            hook: None,
        };
        let planned = CallPlanned { call: id(0), answered_before: 1, plan };
        records.extend([
            decided(0, Decision::Edited { input }),
            Record::CallPlanned(Box::new(planned)),
            Record::CallStarted { call: id(0) },
            finished(0),
        ]);
        check(
            records.into_iter().map(Some).collect(),
            expect![[r#"
            14: 1.1.0 "one", by terminal: {} became {"n":1}, Some("decision of terminal"), done: well
            0 misfits
        "#]],
        );
    }

    #[test]
    fn leaving_plan_mode_and_staying_are_told_with_who_decided() {
        use heeler_core::Mode;

        let in_plan = |decision| {
            let mut records = beginning(["one", "two", "three"]);
            let policy = Policy {
                mode: Mode::Plan,
                interactive: true,
                asks_to_leave_plan: true,
                ..Policy::default()
            };
            let settings = Settings { policy, ..Settings::default() };
            records[1] = Record::SettingsChanged(Box::new(settings));
            records.retain(|record| !matches!(record, Record::PermissionAsked(_)));
            let calls = ["one", "two", "three"].map(str::to_owned).to_vec();
            let reason = PermissionReason::LeavePlan { calls, more: 0 };
            let id = PermissionId::first(id(0));
            records.push(Record::PermissionAsked(Box::new(PermissionAsked { id, reason })));
            records.push(decided(0, decision));
            records.into_iter().map(Some).collect()
        };
        check(
            in_plan(Decision::LeavePlan { mode: Mode::AcceptEdits }),
            expect![[r#"
            plan mode was left for accept-edits by terminal: one; two; three
            0 misfits
        "#]],
        );
        let reason = Some("not yet".to_owned());
        check(
            in_plan(Decision::Deny { reason }),
            expect![[r#"
            10: 1.1.0 "one", None, denied: plan mode is read-only, and this call does something that is not described (one). The user stays in plan mode: not yet (decision of terminal)
            10: 1.1.1 "two", None, denied: plan mode is read-only, and this call does something that is not described (two). The user stays in plan mode: not yet (decision of terminal)
            10: 1.1.2 "three", None, denied: plan mode is read-only, and this call does something that is not described (three). The user stays in plan mode: not yet (decision of terminal)
            0 misfits
        "#]],
        );
    }

    #[test]
    fn what_hooks_allowed_and_denied_is_told_with_their_names() {
        let answered = |index, verdict| {
            let (event, call) = (HookEvent::PermissionRequest, Some(id(index)));
            let context = Vec::new();
            Record::HookAnswered(Box::new(HookAnswered { event, call, verdict, context }))
        };
        let [by, reason, why] = ["guard", "not today", "it took too long"].map(str::to_owned);
        let mut records = beginning(["one", "two", "three"]);
        records.extend([
            answered(0, HookVerdict::Allow { by: by.clone(), reason: None }),
            Record::CallStarted { call: id(0) },
            answered(1, HookVerdict::Broken { by: by.clone(), why }),
            finished(0),
            answered(2, HookVerdict::Stop { by, reason }),
        ]);
        check(
            records.into_iter().map(Some).collect(),
            expect![[r#"
            13: 1.1.0 "one", Some("decision of the hook `guard`"), done: well
            14: 1.1.1 "two", None, denied: the hook `guard` is broken (it took too long), so the call was not run; nobody denied it, and trying again helps only once the hook is mended
            16: 1.1.2 "three", None, denied: the hook `guard` stopped the turn: not today
            0 misfits
        "#]],
        );
    }

    #[test]
    fn a_stop_denies_one_call_and_an_interruption_none() {
        let mut records = beginning(["one", "two", "three"]);
        records.extend([
            decided(0, Decision::Once),
            Record::CallStarted { call: id(0) },
            Record::Interrupted { cause: heeler_core::InterruptCause::Cancelled },
        ]);
        check(
            records.into_iter().map(Some).collect(),
            expect![[r#"
            13: 1.1.0 "one", Some("decision of terminal"), failed: Cancelled before it finished. Anything it had already changed is still changed.
            0 misfits
        "#]],
        );
        let mut records = beginning(["one", "two", "three"]);
        records.push(decided(1, Decision::DenyAndStop { reason: None }));
        check(
            records.into_iter().map(Some).collect(),
            expect![[r#"
            12: 1.1.1 "two", None, denied: decision of terminal
            0 misfits
        "#]],
        );
    }

    #[test]
    fn what_ran_twice_is_listed_twice() {
        let mut records = beginning(["again", "two", "three"]);
        records.extend([
            decided(0, Decision::Once),
            Record::CallStarted { call: id(0) },
            Record::Opened(Opened { incarnation: 2, build: String::new() }),
            Record::CallStarted { call: id(0) },
            finished(0),
        ]);
        check(
            records.into_iter().map(Some).collect(),
            expect![[r#"
            13: 1.1.0 "again", Some("decision of terminal"), with its process, and it was run again
            15: 1.1.0 "again", Some("decision of terminal"), done: well
            0 misfits
        "#]],
        );
    }

    #[test]
    fn holes_hide_no_call() {
        let mut records: Vec<_> =
            beginning(["one", "two", "three"]).into_iter().map(Some).collect();
        // The start of one call is lost, the whole beginning of another.
        records.extend([Some(decided(0, Decision::Once)), None, Some(finished(0))]);
        let elsewhere = CallId { turn: 7, round: 1, index: 0 };
        records.push(Some(Record::CallStarted { call: elsewhere }));
        check(
            records,
            expect![[r#"
            14: 1.1.0 "one", None, done: well
            15: 7.1.0 "", None, not yet: it runs, or its process died
            2 misfits
        "#]],
        );
    }
}
