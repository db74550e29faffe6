//! The checker: it watches a run from outside and says what must never be.
//!
//! It keeps a ledger of its own from the records and events, and calls nothing of the machine that
//! it checks. Read in this order: `ledger` (what must be true after each record), `account`
//! (one turn), `money` (what answers used and cost), `context` (how much it is), `kept` (whose words a summary has), `pruning` (which results
//! were cut short), `reasoning` (what a provider refused of it is gone), `undo` (whether they come back), `batch` (the calls of one answer), `works` (what goes on after its call), `permission` (what may run), `request`, `fold`.

mod account;
mod batch;
mod context;
mod fold;
mod kept;
mod ledger;
mod money;
mod permission;
mod pruning;
mod reasoning;
mod request;
mod undo;
mod works;

use std::collections::BTreeMap;
use std::fmt;

use heeler_core::{
    AcceptedAnswer, CallId, Effect, EffectKind, Entry, Event, Facts, ModelRequest, RawJson,
    Reserve, Seq, Timestamp, View,
};
use heeler_turn::State;
use heeler_turn::state::Announcer;

use ledger::Ledger;
use request::Sent;

use crate::tools;

pub(crate) use batch::collide;
pub(crate) use fold::{outcomes_commute, same as same_state, views_agree};
pub(crate) use money::is_as_told;

macro_rules! invariants {
    ($($name:ident,)*) => {
        /// What must hold in every run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names say it")]
        pub enum Invariant { $($name,)* }

        impl Invariant {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

invariants! {
    RequestIsValid,
    RequestIsHistory,
    PrefixIsStable,
    DeniedNeverRuns,
    OnlyAllowedRuns,
    JudgedAsItIs,
    InvalidNeverRuns,
    SideEffectOnce,
    PaidOnce,
    ResultsInCallOrder,
    ResultIsOutput,
    CollidingNeverOverlap,
    ExclusiveRunsAlone,
    AtOnceLimit,
    SaidOnceInOrder,
    OneTerminalEvent,
    OutcomeIsTrue,
    RoundLimit,
    CallLimit,
    TokenLimit,
    CostLimit,
    WallLimit,
    RepeatLimit,
    RepeatIsTold,
    DeathsAreBounded,
    AttemptsGrow,
    CancelEndsEffects,
    ViewIsFold,
    WrittenFirst,
    SyncedFirst,
    UsageIsSum,
    CostIsProduct,
    CalibrationIsLearned,
    FoldFromScratch,
    CheckpointIsFold,
    OutcomesCommute,
    CompactionKeepsTail,
    CompactionComesFirst,
    CompactionsAreBounded,
    CompactionGains,
    SummaryKeepsWords,
    OverflowsAreBounded,
    TrimKeepsTheLast,
    PruningSparesTheTail,
    PruningIsEnough,
    PruningComesFirst,
    RefusedReasoningIsGone,
    UndoBringsBack,
    FitsTheWindow,
    Ends,
    RecordsFit,
    ReplyIsAnswer,
    DecidedOnce,
    DeadCallsAreClearedAway,
    EventsAreRecords,
    AnswersAreTrue,
    BrokenStops,
    HaltedBeginsNothing,
    NothingLeaks,
    CallTimeLimit,
    CancelIsPrompt,
    WorkEndsOnce,
    WorkIsTold,
}

/// An invariant that does not hold.
#[derive(Debug, Clone)]
pub struct Violation {
    /// Which one.
    pub invariant: Invariant,
    /// What was seen.
    pub detail: String,
}

impl Violation {
    pub(crate) fn new(invariant: Invariant, detail: impl Into<String>) -> Self {
        Self { invariant, detail: detail.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.invariant, self.detail)
    }
}

pub(crate) type Checked = Result<(), Violation>;

/// `Ok` when `holds`; the words are made only when needed.
pub(crate) fn ensure(
    holds: bool,
    invariant: Invariant,
    detail: impl FnOnce() -> String,
) -> Checked {
    if holds { Ok(()) } else { Err(Violation::new(invariant, detail())) }
}

/// Watches one session through all its processes.
#[derive(Default)]
pub(crate) struct Checker {
    /// What the journal says, as the checker reads it.
    ledger: Ledger,
    /// A reader that was there when the process opened the session.
    early: View,
    /// One that came later.
    late: Option<View>,
    /// How often calls ran that must not run twice, over all processes.
    executed: BTreeMap<CallId, u32>,
    sent: Vec<Sent>,
    written: Seq,
    synced: Seq,
    before_death: Option<State>,
    wall_slack_millis: u64,
}

impl Checker {
    /// One for a driver whose appends take time, so that it notices the wall time's end later.
    pub(crate) fn with_wall_slack(millis: u64) -> Self {
        Self {
            ledger: Ledger::with_wall_slack(millis),
            wall_slack_millis: millis,
            ..Self::default()
        }
    }

    /// The attempt that is out: turn, round, attempt.
    pub(crate) fn attempt(&self) -> (u32, u32, u32) {
        self.ledger.attempt()
    }

    /// A process reads the journal: the fold from scratch, checked record by record.
    pub(crate) fn read(&mut self, entries: &[Entry], synced: Seq) -> Result<State, Violation> {
        self.ledger = Ledger::with_wall_slack(self.wall_slack_millis);
        self.written = entries.len() as u64;
        self.synced = synced;
        let mut state = State::new();
        for entry in entries {
            let mut out = Announcer::collecting();
            state.apply_announcing(entry, &mut out);
            self.ledger.apply(entry, &out.into_events())?;
            self.ledger.agrees(&state)?;
        }
        if let Some(mut before) = self.before_death.take()
            && before.seq <= self.written
        {
            let unseen = usize::try_from(before.seq).unwrap_or(usize::MAX);
            entries[unseen..].iter().for_each(|entry| before.apply(entry));
            fold::same(&before, &state, Invariant::FoldFromScratch)?;
        }
        self.sent.retain(|sent| sent.seq <= self.written);
        self.early = state.view();
        self.late = None;
        Ok(state)
    }

    /// The process is gone; the next one must arrive where it was.
    pub(crate) fn process_died(&mut self, state: &State, entries: &[Entry]) {
        let is_known = state.seq <= entries.len() as u64;
        self.before_death = is_known.then(|| state.clone());
    }

    pub(crate) fn written(&mut self, written: Seq, synced: Seq) {
        self.written = written;
        self.synced = synced;
    }

    /// A record was applied and watchers were told.
    pub(crate) fn applied(&mut self, entry: &Entry, events: &[Event], state: &State) -> Checked {
        ensure(entry.seq <= self.written, Invariant::WrittenFirst, || {
            format!("record {} is seen and not written", entry.seq)
        })?;
        self.ledger.apply(entry, events)?;
        self.ledger.agrees(state)?;
        for event in events {
            self.shown(event);
        }
        let view = state.view();
        let whole = events.iter().any(|event| matches!(event, Event::TurnFinished { .. }));
        fold::views_agree(&self.early, &view, whole)?;
        if let Some(late) = &self.late {
            fold::views_agree(late, &view, whole)?;
        }
        Ok(())
    }

    /// Something is shown that is no record.
    pub(crate) fn shown(&mut self, event: &Event) {
        self.early.apply(event);
        if let Some(late) = &mut self.late {
            late.apply(event);
        }
    }

    /// A reader comes late.
    pub(crate) fn watch_late(&mut self, state: &State) {
        self.late = Some(state.view());
    }

    pub(crate) fn pending(&self, state: &State, pending: &[Effect]) -> Checked {
        let finish = |e: &Effect| matches!(e.kind, EffectKind::FinishTurn { .. });
        let only_ends = pending.len() == 1 && pending.iter().all(finish);
        ensure(only_ends || !self.ledger.is_interrupted(), Invariant::CancelEndsEffects, || {
            format!("after the interrupt in record {} there is more to do", state.seq)
        })?;
        let repeated = |(at, effect): (usize, &Effect)| {
            pending[..at].iter().any(|earlier| earlier.id == effect.id)
        };
        ensure(!pending.iter().enumerate().any(repeated), Invariant::Ends, || {
            "two pending effects have one id".into()
        })
    }

    /// A model request goes out.
    pub(crate) fn requested<'a>(
        &mut self,
        request: Option<&'a ModelRequest>,
        reserve: Reserve,
    ) -> Result<&'a ModelRequest, Violation> {
        let Some(request) = request else {
            return Err(Violation::new(Invariant::RequestIsValid, "there is no request"));
        };
        ensure(self.ledger.model_runs(), Invariant::WrittenFirst, || {
            "a request is sent that the journal does not know".into()
        })?;
        ensure(self.ledger.accepted().is_none(), Invariant::PaidOnce, || {
            format!("asked again for what is kept as {:?}", self.ledger.accepted())
        })?;
        request::valid(request, self.ledger.last_stop_was_pause())?;
        request::is_history(request, self.ledger.log())?;
        ensure(request.output_max == reserve.output, Invariant::TokenLimit, || {
            format!("{} tokens asked, {} reserved", request.output_max, reserve.output)
        })?;
        let estimate = self.ledger.estimate(request);
        ensure(estimate <= reserve.input, Invariant::TokenLimit, || {
            format!("the request has {estimate} tokens, {} are reserved", reserve.input)
        })?;
        let limit = self.ledger.limit();
        let fits = estimate <= limit || !self.ledger.settings.compaction.automatic;
        ensure(fits, Invariant::FitsTheWindow, || {
            format!("{estimate} tokens are sent and {limit} fit")
        })?;
        self.send(request)?;
        Ok(request)
    }

    /// An answer that the provider keeps is read, which costs nothing.
    pub(crate) fn reads_again(&self, answer: &AcceptedAnswer) -> Checked {
        let is_known = self.ledger.model_runs() && self.ledger.accepted() == Some(answer);
        ensure(is_known, Invariant::PaidOnce, || {
            format!("{answer:?} is read, and the journal says {:?}", self.ledger.accepted())
        })
    }

    /// Somebody wants back what was replaced, and gets it or not.
    pub(crate) fn undoes(&self, works: bool) -> Checked {
        if works { Ok(()) } else { self.ledger.cannot_restore() }
    }

    /// A summary is asked for.
    pub(crate) fn requested_summary(&mut self, request: &ModelRequest) -> Checked {
        request::valid(request, false)?;
        let (estimate, limit) = (self.ledger.estimate(request), self.ledger.limit());
        ensure(estimate <= limit, Invariant::FitsTheWindow, || {
            format!("a summary is asked for with {estimate} tokens, and {limit} fit")
        })?;
        if let Some(sent) = self.sent.last() {
            request::head_agrees(sent, request, self.ledger.compactions())?;
        }
        Ok(())
    }

    fn send(&mut self, request: &ModelRequest) -> Checked {
        let compactions = self.ledger.compactions();
        let sent = Sent { seq: self.written, compactions, request: request.clone() };
        if let Some(before) = self.sent.last() {
            request::prefix_is_stable(before, &sent)?;
        }
        self.sent.push(sent);
        Ok(())
    }

    /// Whether a record says that a call runs.
    pub(crate) fn is_started(&self, call: CallId) -> bool {
        self.ledger.running_since(call).is_some()
    }

    /// What a call was judged by, and the record since which it runs.
    pub(crate) fn judged_by(&self, call: CallId) -> Option<(&Facts, Seq)> {
        Some((self.ledger.facts_of(call)?, self.ledger.running_since(call)?))
    }

    /// A call that only looks begins before the answer that asks for it is whole.
    pub(crate) fn may_look(&self, call: CallId, name: &str, facts: &Facts) -> Checked {
        let is_wanted = self.ledger.model_runs() || self.ledger.asks_for(call);
        ensure(is_wanted, Invariant::WrittenFirst, || {
            format!("{call} runs, and neither a record nor an answer asks for it")
        })?;
        ensure(self.ledger.allows(name, facts), Invariant::OnlyAllowedRuns, || {
            format!("{call} ({name}) begins early and nobody allowed it")
        })
    }

    /// A call runs now.
    pub(crate) fn executes(&mut self, call: CallId, name: &str, input: &RawJson) -> Checked {
        let started = self.ledger.running_since(call);
        ensure(started.is_some(), Invariant::WrittenFirst, || {
            format!("{call} runs and no record says so")
        })?;
        let facts = tools::facts(name, input).unwrap_or_default();
        if facts.replay_safe {
            return Ok(());
        }
        ensure(started.is_some_and(|seq| seq <= self.synced), Invariant::SyncedFirst, || {
            format!("{call} ({name}) runs before its start is synced")
        })?;
        let times = self.executed.entry(call).or_default();
        *times += 1;
        ensure(*times == 1, Invariant::SideEffectOnce, || {
            format!("{call} ({name}) ran {times} times")
        })
    }

    /// The session is over.
    pub(crate) fn end(&self, entries: &[Entry], state: &State) -> Checked {
        let mut scratch = State::new();
        entries.iter().for_each(|entry| scratch.apply(entry));
        fold::same(&scratch, state, Invariant::FoldFromScratch)?;
        fold::views_agree(&self.early, &state.view(), true)?;
        ensure(state.turn.is_none(), Invariant::Ends, || "a turn is left".into())
    }
}

/// The time of a record beside others of one moment.
pub(crate) fn entry_at(
    state: &State,
    at: Timestamp,
    n: usize,
    record: heeler_core::Record,
) -> Entry {
    Entry { seq: state.seq + 1 + n as u64, at, record }
}
