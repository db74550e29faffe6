//! The judge of a live session: it sees what comes out of the engine, never into it.
//!
//! It knows the durable records, the requests, what tools did, what watchers saw ([`reader`]) and
//! what calls of the API answered ([`answers`]). Records are checked by the same ledger as in the
//! simulation of the machine; the fold kept here only tells it what they announce.
//!
//! [`reader`]: super::reader
//! [`answers`]: super::answers

use std::collections::{BTreeMap, BTreeSet};

use heeler_core::{
    CallId, Effect, Entry, Event, Facts, ModelRequest, PermissionId, RawJson, Record, Reply,
    Reserve, Seq, StopReason, ToolOutput,
};
use heeler_turn::State;
use heeler_turn::state::Announcer;

use super::answers::Known;
use super::reader::Reader;
use super::works::Works;
use crate::check::{Checked, Checker, Invariant, collide, ensure, is_as_told, same_state};
use crate::tools;

/// The longest an append takes.
pub(super) const LATE_MILLIS_MAX: u64 = 300;
/// How much later than it should a thing may happen while appends are slow.
const SLACK_MILLIS: u64 = 20 * LATE_MILLIS_MAX;
/// How long a cancelled tool has.
const GRACE_MILLIS: u64 = 250;
/// The longest a cancel may take, when others wait before it.
pub(super) const CANCEL_MILLIS_MAX: u64 = GRACE_MILLIS + SLACK_MILLIS;

/// How far a halt of the process's session is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    No,
    Asked,
    Answered,
}

/// Sees and judges.
pub(super) struct Judge {
    checker: Checker,
    /// What the durable records announce is read off this fold.
    pub(super) state: State,
    /// What watchers of this process are to see, in order.
    pub(super) announced: Vec<(Seq, Event)>,
    pub(super) known: Known,
    pub(super) readers: Vec<Reader>,
    pub(super) now: u64,
    /// The store refused an append of this process: nothing may happen any more.
    pub(super) is_broken: bool,
    /// Somebody closes the session.
    pub(super) is_closing: bool,
    /// Somebody halts the session, or has.
    pub(super) halt: Halt,
    reserve: Reserve,
    /// The whole answer the model gave last.
    answer: Option<Reply>,
    /// Attempts that were sent, and the record that announced each.
    sent: BTreeMap<(u32, u32, u32), Seq>,
    /// Tools that work, by the number of the run.
    running: BTreeMap<u32, Running>,
    runs: u32,
    /// Calls whose tools worked when their process died, until they were cleared away after.
    left: BTreeSet<CallId>,
    /// The limit of calls at once when each was started.
    rooms: BTreeMap<CallId, u32>,
    /// What tools gave in this process; `None` when they were stopped or crashed.
    returned: BTreeMap<CallId, Option<ToolOutput>>,
    pub(super) works: Works,
    decided: BTreeSet<String>,
    streams_open: u32,
    call_timeout_millis: u64,
}

/// A call while its tool works.
struct Running {
    call: CallId,
    facts: Facts,
    since: u64,
}

impl Judge {
    pub(super) fn new(call_timeout_millis: u64) -> Self {
        Self {
            checker: Checker::with_wall_slack(SLACK_MILLIS),
            state: State::new(),
            announced: Vec::new(),
            known: Known::default(),
            readers: Vec::new(),
            now: 0,
            is_broken: false,
            is_closing: false,
            halt: Halt::No,
            reserve: Reserve::default(),
            answer: None,
            sent: BTreeMap::new(),
            running: BTreeMap::new(),
            runs: 0,
            left: BTreeSet::new(),
            rooms: BTreeMap::new(),
            returned: BTreeMap::new(),
            works: Works::default(),
            decided: BTreeSet::new(),
            streams_open: 0,
            call_timeout_millis,
        }
    }

    /// What has to be done by the records so far.
    pub(super) fn pending(&self) -> Vec<Effect> {
        self.state.pending()
    }

    /// Whether something runs that comes to an end by itself, or once it is answered.
    pub(super) fn is_busy(&self) -> bool {
        !self.is_broken && (self.state.turn.is_some() || self.state.compaction.is_some())
    }

    /// The turn that runs.
    pub(super) fn running_turn(&self) -> Option<u32> {
        self.state.turn.as_ref().map(|turn| turn.number)
    }

    /// The request that waits for an answer the longest.
    pub(super) fn open_request(&self) -> Option<PermissionId> {
        self.state.view().permissions.first().map(|open| open.id)
    }

    /// A process reads the journal.
    pub(super) fn opened(&mut self, entries: &[Entry], synced: Seq) -> Checked {
        self.state = self.checker.read(entries, synced)?;
        let written = entries.len() as u64;
        self.known.forget_after(written);
        self.sent.retain(|_, seq| *seq <= written);
        // Of one that began early, or whose start was lost, nobody knows.
        let is_start =
            |entry: &Entry, of| matches!(entry.record, Record::CallStarted { call } if call == of);
        let opened = entries.iter().rposition(|entry| matches!(entry.record, Record::Opened(_)));
        let since = &entries[opened.unwrap_or_default()..];
        self.left.retain(|call| since.iter().any(|entry| is_start(entry, *call)));
        self.decided.clear();
        // The last process may have written what it never heard of.
        let mut fold = State::new();
        for entry in entries {
            self.note_decision(entry)?;
            let mut out = Announcer::collecting();
            fold.apply_announcing(entry, &mut out);
            self.known.learn(entry, &out.into_events());
        }
        Ok(())
    }

    /// The process is gone, and all that it did with it.
    pub(super) fn process_ended(&mut self, entries: &[Entry]) {
        self.checker.process_died(&self.state, entries);
        self.announced.clear();
        self.readers.clear();
        self.is_broken = false;
        self.is_closing = false;
        self.halt = Halt::No;
        self.answer = None;
        self.left.extend(std::mem::take(&mut self.running).into_values().map(|ran| ran.call));
        self.returned.clear();
        self.works = Works::default();
        self.streams_open = 0;
    }

    pub(super) fn store_refused(&mut self) {
        self.is_broken = true;
    }

    /// Records are handed to the store, at the place after the last.
    pub(super) fn appends(&self, entries: &[Entry], first: Seq) -> Checked {
        self.still_works("an append")?;
        let in_order = (first..).zip(entries).all(|(seq, entry)| entry.seq == seq);
        ensure(in_order, Invariant::RecordsFit, || {
            format!("records are appended at another place than {first}")
        })
    }

    /// Records are durable from now on.
    pub(super) fn written(&mut self, entries: &[Entry], synced: Seq) -> Checked {
        let last = entries.last().map_or(self.state.seq, |entry| entry.seq);
        self.checker.written(last, synced);
        for entry in entries {
            self.is_true(entry)?;
            let mut out = Announcer::collecting();
            let misfits = self.state.misfits;
            self.state.apply_announcing(entry, &mut out);
            let events = out.into_events();
            self.checker.applied(entry, &events, &self.state)?;
            ensure(self.state.misfits == misfits, Invariant::RecordsFit, || {
                format!("record {} ({}) says what cannot be", entry.seq, entry.record.kind())
            })?;
            self.known.learn(entry, &events);
            self.announced.extend(events.into_iter().map(|event| (entry.seq, event)));
        }
        Ok(())
    }

    /// A record tells what happened outside.
    fn is_true(&mut self, entry: &Entry) -> Checked {
        match &entry.record {
            Record::Opened(_) => {
                let fail = || format!("{:?} were not cleared away after", self.left);
                ensure(self.left.is_empty(), Invariant::DeadCallsAreClearedAway, fail)?;
            }
            Record::ModelStarted(started) => self.reserve = started.reserve,
            Record::ModelReplied(replied) if replied.reply.stop != StopReason::Interrupted => {
                let said = self.answer.take();
                let is_it = said.as_ref().is_some_and(|said| is_answer(said, &replied.reply));
                return ensure(is_it, Invariant::ReplyIsAnswer, || {
                    format!("record {}: the model said {said:?}", entry.seq)
                });
            }
            Record::CallStarted { call } => {
                self.rooms.insert(*call, self.state.settings.limits.calls_at_once);
            }
            Record::CallFinished { call, output, .. } => return self.is_output(*call, output),
            Record::PermissionDecided(_) => return self.note_decision(entry),
            Record::SteeringQueued(queued) => {
                if let Some(call) = queued.background {
                    return self.works.is_result(call, &queued.input);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn note_decision(&mut self, entry: &Entry) -> Checked {
        let Record::PermissionDecided(decided) = &entry.record else { return Ok(()) };
        let is_first = self.decided.insert(decided.id.to_string());
        ensure(is_first, Invariant::DecidedOnce, || {
            format!("{} is decided a second time, by {}", decided.id, decided.by)
        })
    }

    fn is_output(&self, call: CallId, output: &ToolOutput) -> Checked {
        let fails = |words: &str| {
            let words = format!("{call}: {words}");
            move || words
        };
        let ended = self.running.values().all(|running| running.call != call);
        ensure(ended, Invariant::ResultIsOutput, fails("a result, and its tool still works"))?;
        let Some(returned) = self.returned.get(&call) else {
            return ensure(output.is_error, Invariant::ResultIsOutput, fails("it never ran"));
        };
        let Some(returned) = returned else {
            let told = output.is_error;
            return ensure(
                told,
                Invariant::ResultIsOutput,
                fails("stopped, and told as a success"),
            );
        };
        let same = output.text_content().starts_with(&returned.text_content())
            && (output.is_error || !returned.is_error);
        ensure(same, Invariant::ResultIsOutput, || {
            format!("{call} gave {returned:?}, the record says {output:?}")
        })
    }

    /// Whether the next request is for a summary: nothing else is asked while one is made.
    pub(super) fn asks_for_summary(&self) -> bool {
        self.state.compaction.is_some()
    }

    /// What was reserved for a request.
    pub(super) fn reserve(&self, request: &ModelRequest) -> Reserve {
        match self.asks_for_summary() {
            true => Reserve { input: self.state.estimate(), output: request.output_max },
            false => self.reserve,
        }
    }

    /// A request reaches the model.
    pub(super) fn requested(&mut self, request: &ModelRequest) -> Checked {
        self.may_begin("a request")?;
        if self.asks_for_summary() {
            return self.checker.requested_summary(request);
        }
        self.checker.requested(Some(request), self.reserve)?;
        let attempt = self.checker.attempt();
        let is_first = self.sent.insert(attempt, self.state.seq).is_none();
        ensure(is_first, Invariant::AttemptsGrow, || format!("{attempt:?} is sent twice"))
    }

    /// The model's answer is whole.
    pub(super) fn answered(&mut self, reply: &Reply) -> Checked {
        self.answer = Some(reply.clone());
        Ok(())
    }

    pub(super) fn stream_opens(&mut self) -> Checked {
        self.streams_open += 1;
        Ok(())
    }

    pub(super) fn stream_closes(&mut self) -> Checked {
        self.streams_open -= 1;
        Ok(())
    }

    /// A tool begins to work, in the run of this number, and touches these; the world changed last when
    /// that many records were written, or were just being written.
    pub(super) fn tool_starts(
        &mut self,
        call: CallId,
        (name, input): (&str, &RawJson),
        facts: Facts,
        changed_after: Seq,
    ) -> Checked {
        self.may_begin("a call")?;
        ensure(tools::fits(name, input), Invariant::InvalidNeverRuns, || {
            format!("{call} ({name}) works on {}, which it does not take", input.get())
        })?;
        match tools::is_read_only(name) && !self.checker.is_started(call) {
            // It may begin while the answer that asks for it still streams.
            true => self.checker.may_look(call, name, &facts)?,
            false => self.checker.executes(call, name, input)?,
        }
        let judged = self.checker.judged_by(call);
        let is_as_judged =
            judged.is_none_or(|(judged, since)| since <= changed_after || *judged == facts);
        ensure(is_as_judged, Invariant::JudgedAsItIs, || {
            format!("{call} ({name}) was judged by {judged:?}, and touches {facts:?}")
        })?;
        // What changed when calls that started together were on their way, nobody could know.
        let facts = judged.map_or(facts, |(judged, _)| judged.clone());
        // A lower limit may have come between the record and the tool.
        let now = self.state.settings.limits.calls_at_once;
        let limit = self.rooms.get(&call).copied().unwrap_or(now);
        let beside = self.running.len();
        let room = limit == 0 || beside < limit as usize;
        ensure(room, Invariant::AtOnceLimit, || format!("{call} runs beside {beside} others"))?;
        let meets = self.running.values().find(|other| collide(&other.facts, &facts));
        ensure(meets.is_none(), Invariant::CollidingNeverOverlap, || {
            format!("{call} ({name}) works while another works on the same")
        })?;
        self.returned.insert(call, None);
        self.runs += 1;
        self.running.insert(self.runs, Running { call, facts, since: self.now });
        Ok(())
    }

    /// A tool looks into a call that somebody is to be asked about.
    pub(super) fn tool_checks(&mut self, call: CallId) -> Checked {
        self.may_begin("a look")?;
        let is_new = !self.checker.is_started(call) && self.state.settings.policy.interactive;
        ensure(is_new, Invariant::WrittenFirst, || {
            format!("{call} is looked into, and nobody is to be asked about it")
        })
    }

    /// A tool clears away what a call left, and may do so again and again.
    pub(super) fn tool_clears(&mut self, call: CallId) -> Checked {
        self.may_begin("a clean-up")?;
        self.left.remove(&call);
        ensure(self.running.is_empty(), Invariant::DeadCallsAreClearedAway, || {
            format!("{call} is cleared away after beside {} that work", self.running.len())
        })
    }

    /// The number of the run that began last.
    pub(super) fn last_run(&self) -> u32 {
        self.runs
    }

    /// A tool gives what it has.
    pub(super) fn tool_returns(&mut self, call: CallId, output: &ToolOutput) -> Checked {
        self.returned.insert(call, Some(output.clone()));
        Ok(())
    }

    /// A tool works no more: it came to its end, or was stopped.
    pub(super) fn tool_ends(&mut self, run: u32) -> Checked {
        let Some(Running { call, since, .. }) = self.running.remove(&run) else { return Ok(()) };
        let worked = self.now.saturating_sub(since);
        let limit = self.call_timeout_millis + GRACE_MILLIS + SLACK_MILLIS;
        ensure(worked <= limit, Invariant::CallTimeLimit, || {
            format!("{call} worked for {worked} milliseconds, {limit} are allowed")
        })
    }

    /// The session was closed, whole or broken, and whoever closed it was told.
    pub(super) fn closed(&self, is_leased: bool, synced: Option<Seq>) -> Checked {
        let left = (self.running.len(), self.streams_open, is_leased);
        ensure(left == (0, 0, false), Invariant::NothingLeaks, || {
            format!("closed, and there are still: (calls, streams, lease) {left:?}")
        })?;
        self.works.closed(&self.state, self.is_broken)?;
        let seq = self.state.seq;
        let is_synced = synced.is_none_or(|synced| synced == seq);
        ensure(self.is_broken || is_synced, Invariant::SyncedFirst, || {
            format!("closed at record {seq}, synced up to {synced:?}")
        })
    }

    /// The engine's own state is what the journal says. Where work goes on, the journal may have grown
    /// by what it came to since the state was given.
    pub(super) fn is_state(&self, state: &State) -> Checked {
        if state.seq < self.state.seq && self.works.any() {
            return Ok(());
        }
        same_state(state, &self.state, Invariant::FoldFromScratch)
    }

    /// All is over.
    pub(super) fn end(&self, entries: &[Entry]) -> Checked {
        self.checker.end(entries, &self.state)
    }

    fn may_begin(&self, what: &str) -> Checked {
        self.still_works(what)?;
        ensure(self.halt != Halt::Answered, Invariant::HaltedBeginsNothing, || {
            format!("{what} after the session was halted")
        })
    }

    fn still_works(&self, what: &str) -> Checked {
        ensure(!self.is_broken, Invariant::BrokenStops, || {
            format!("{what} after the journal could not be written")
        })
    }
}

/// Whether the reply that is written is the one that was given.
fn is_answer(said: &Reply, written: &Reply) -> bool {
    let same = Reply { usage: written.usage, ..said.clone() };
    same == *written && is_as_told(&said.usage, &written.usage)
}
