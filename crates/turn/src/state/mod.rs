//! A session as a fold over its journal.
//!
//! [`State::apply`] is total: any sequence of records, with holes, repeats or out of order, gives
//! some state with a valid history. A record that does not fit is ignored and counted.

mod announce;
mod background;
mod calls;
mod compaction;
mod crash;
mod epoch;
mod fork;
mod hooks;
mod look;
mod model;
mod permission;
mod plan;
mod queue;
mod told;
mod turn;
mod undo;
mod weight;

use std::sync::Arc;

use heeler_core::{
    Bill, Cost, Entry, EpochCause, Event, ForkOrigin, Limits, Message, Mode, RawJson, Record,
    Reread, Rule, Seq, SessionName, Settings, StateView, SteeringId, Timestamp, TurnOutcome, Usage,
    View,
};
use rpds::{HashTrieMapSync, HashTrieSetSync};
use serde::{Deserialize, Serialize};

pub use announce::Announcer;
pub use background::BackgroundWork;
pub use compaction::Compaction;
pub use crash::CutOffCall;
pub use epoch::Epoch;
pub use permission::objection;
pub use queue::QueuedInput;
pub use told::Told;
pub use turn::{Call, CallStatus, Phase, Repeats, Turn};
use undo::Replaced;

use crate::bugs::{Bug, is_on};
use crate::calibration::Calibration;
use crate::checkpoint;
use crate::chosen::Chosen;
use crate::estimate::{self, CharacterEstimate, TokenEstimate};
use crate::history::History;
use crate::words;

/// Everything that is true of a session.
///
/// What is not skipped here is what a [checkpoint](mod@crate::checkpoint) keeps; what is skipped is made
/// again from the rest when one is read.
#[derive(Clone, Serialize, Deserialize)]
pub struct State {
    /// The last applied record's place.
    pub seq: Seq,
    /// The latest time any record was written but a name, as the clock of the process that runs tells it.
    pub now: Timestamp,
    /// Counts the processes that owned the session.
    pub incarnation: u64,
    /// The settings in force.
    pub settings: Settings,
    /// Which model was chosen, whichever is in force.
    pub chosen: Chosen,
    /// The prompt's prefix in force.
    pub epoch: Option<Epoch>,
    /// Why the next request needs a new epoch, if it does.
    pub epoch_due: Option<EpochCause>,
    /// The conversation.
    pub history: History,
    /// The running turn.
    pub turn: Option<Turn>,
    /// Turns begun so far.
    pub turns: u32,
    /// Answers of the model so far, over all turns.
    rounds: u64,
    /// Inputs that wait for the next safe point, in order.
    pub steering: Vec<QueuedInput>,
    /// Work of calls that goes on after them, oldest first.
    pub background: Vec<BackgroundWork>,
    /// The compaction that is due or runs.
    pub compaction: Option<Compaction>,
    /// Compactions begun so far.
    pub compactions: u32,
    /// Calls that ran when they were last cancelled: they were answered at once, and may have gone
    /// on for a moment.
    given_up: Vec<CutOffCall>,
    /// What the last of them replaced, until it stands again.
    replaced: Option<Replaced>,
    /// Rules granted by decisions in this session.
    pub grants: Vec<Rule>,
    /// The mode for which plan mode was left by a decision.
    pub left_plan: Option<Mode>,
    /// Tokens of the session.
    pub usage: Usage,
    /// Money of the session.
    pub cost: Cost,
    /// Whether it cost more than that, as prices of some of its calls are not known.
    pub cost_is_partial: bool,
    /// What new epochs cost the session, within its tokens and money.
    pub reread: Reread,
    /// The epoch of the last answer, and the input it was asked with.
    last_input: Option<(u32, u64)>,
    /// How far the estimate is off, as the model's own calls showed.
    pub calibration: Calibration,
    /// How the last turn ended.
    pub last_outcome: Option<TurnOutcome>,
    /// Records that did not fit: more than none means the journal has a hole.
    pub misfits: u64,
    /// What a person calls the session.
    pub name: Option<SessionName>,
    /// The session whose beginning it shares.
    pub forked: Option<ForkOrigin>,
    #[serde(serialize_with = "checkpoint::map_in_order")]
    values: HashTrieMapSync<String, RawJson>,
    #[serde(serialize_with = "checkpoint::set_in_order")]
    steering_seen: HashTrieSetSync<SteeringId>,
    #[serde(skip, default = "estimate::by_characters")]
    estimate: Arc<dyn TokenEstimate>,
    #[serde(skip)]
    custom_estimate: bool,
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    /// A session to which nothing happened yet.
    #[must_use]
    pub fn new() -> Self {
        let settings = Settings::default();
        let estimate: Arc<dyn TokenEstimate> =
            Arc::new(CharacterEstimate::new(settings.estimate.chars_per_token));
        Self {
            seq: 0,
            now: Timestamp(0),
            incarnation: 0,
            settings,
            chosen: Chosen::default(),
            epoch: None,
            epoch_due: None,
            history: History::new(Arc::clone(&estimate)),
            turn: None,
            turns: 0,
            rounds: 0,
            steering: Vec::new(),
            background: Vec::new(),
            compaction: None,
            compactions: 0,
            given_up: Vec::new(),
            replaced: None,
            grants: Vec::new(),
            left_plan: None,
            usage: Usage::default(),
            cost: Cost::default(),
            cost_is_partial: false,
            reread: Reread::default(),
            last_input: None,
            calibration: Calibration::default(),
            last_outcome: None,
            misfits: 0,
            name: None,
            forked: None,
            values: HashTrieMapSync::new_sync(),
            steering_seen: HashTrieSetSync::new_sync(),
            estimate,
            custom_estimate: false,
        }
    }

    /// A new session that estimates with a real tokenizer instead of counting characters.
    #[must_use]
    pub fn with_estimate(estimate: Arc<dyn TokenEstimate>) -> Self {
        let mut state = Self::new();
        state.history.set_estimate(Arc::clone(&estimate));
        state.estimate = estimate;
        state.custom_estimate = true;
        state
    }

    /// Whether somebody's own tokenizer estimates.
    pub(crate) fn has_own_estimate(&self) -> bool {
        self.custom_estimate
    }

    /// Makes again what a checkpoint leaves out.
    pub(crate) fn restore(&mut self) {
        let chars_per_token = self.settings.estimate.chars_per_token;
        self.estimate = Arc::new(CharacterEstimate::new(chars_per_token));
        self.history.restore(Arc::clone(&self.estimate));
    }

    /// The next attempt is due.
    fn waits_no_more(&mut self) {
        if let Some(Phase::Model { retry_at, .. }) = self.turn.as_mut().map(|turn| &mut turn.phase)
        {
            *retry_at = None;
        }
    }

    /// Takes one record in. Total and deterministic; reads nothing but the entry.
    pub fn apply(&mut self, entry: &Entry) {
        self.apply_announcing(entry, &mut Announcer::silent());
    }

    /// As [`State::apply`], and tells what watchers see of it.
    pub fn apply_announcing(&mut self, entry: &Entry, out: &mut Announcer) {
        if entry.seq <= self.seq {
            self.misfits += 1;
            return;
        }
        if entry.seq != self.seq + 1 {
            self.misfits += 1;
            // What is missing may have withdrawn them.
            self.withdraw_grants();
            if let Some(turn) = &mut self.turn {
                turn.has_hole = true;
            }
            out.say(|| Event::Notice { text: words::HOLE.into() });
        }
        self.seq = entry.seq;
        self.pass_time(entry);
        self.apply_record(&entry.record, out);
    }

    /// What the time of a record says of the clock and of how long the turn has run.
    fn pass_time(&mut self, entry: &Entry) {
        let elapsed = entry.at.since(self.now);
        let is_set_back = entry.at < self.now;
        match &entry.record {
            // Whoever names a session need not go on with it: nobody knows by this that its turn ran.
            Record::Named { .. } => return,
            // The clock was set back since: what was to wait for a time of the old one would wait for
            // as long again.
            Record::Opened(_) if is_set_back => {
                self.now = entry.at;
                return self.waits_no_more();
            }
            // Somebody did wait, by a clock that nobody sets.
            Record::TimePassed if is_set_back => self.waits_no_more(),
            Record::Opened(_) => {}
            _ => {
                if let Some(turn) = &mut self.turn {
                    turn.wall_spent_millis = turn.wall_spent_millis.saturating_add(elapsed);
                }
            }
        }
        self.now = self.now.max(entry.at);
    }

    fn apply_record(&mut self, record: &Record, out: &mut Announcer) {
        self.chosen.take(record);
        match record {
            Record::Opened(opened) => self.on_opened(opened, out),
            Record::SettingsChanged(settings) => self.on_settings(settings, out),
            Record::LimitsChanged(limits) => self.on_limits(*limits, out),
            Record::EpochStarted(epoch) => {
                out.say(|| Event::EpochStarted { epoch: epoch.epoch, cause: epoch.cause });
                self.epoch = Some(Epoch::new(epoch, self.estimate.as_ref()));
                self.epoch_due = None;
            }
            Record::HistoryGiven { messages } => self.on_history_given(messages, out),
            Record::Input(input) => self.on_input(input, out),
            Record::ModelStarted(started) => self.on_model_started(started, out),
            Record::ModelAccepted(accepted) => self.on_model_accepted(accepted),
            Record::ModelReplied(replied) => self.on_model_replied(replied, out),
            Record::ModelFailed(failed) => self.on_model_failed(failed, out),
            Record::CallPlanned(planned) => self.on_call_planned(planned, out),
            Record::FactsChanged(changed) => self.on_facts_changed(changed, out),
            Record::CallStarted { call } => self.on_call_started(*call, out),
            Record::CallFinished { call, output, millis, inner_calls } => {
                self.on_call_finished(*call, output, (*millis, *inner_calls), out);
            }
            Record::PermissionAsked(asked) => self.on_permission_asked(asked, out),
            Record::PermissionDecided(decided) => self.on_permission_decided(decided, out),
            Record::RuleGranted(rule) => {
                self.grants.push((**rule).clone());
                self.judge_again(out);
            }
            Record::HookAnswered(answered) => self.on_hook_answered(answered, out),
            Record::SteeringQueued(queued) => self.on_steering_queued(queued, out),
            Record::SteeringTakenBack { id } => {
                let before = self.steering.len();
                self.steering
                    .retain(|q| q.id != *id || q.is_background || is_on(Bug::UnheardTakeBack));
                if self.steering.len() < before {
                    out.say(|| Event::SteeringTakenBack { id: id.clone() });
                }
            }
            Record::Interrupted { cause } => self.on_interrupted(*cause, out),
            Record::CompactionStarted(started) => self.on_compaction_started(started, out),
            Record::Compacted(compacted) => self.on_compacted(compacted, out),
            Record::CompactionFailed(failed) => self.on_compaction_failed(failed, out),
            Record::Trimmed(trimmed) => self.on_trimmed(trimmed, out),
            Record::Pruned(pruned) => self.on_pruned(pruned, out),
            Record::Restored => self.on_restored(out),
            Record::TurnFinished { turn, outcome } => self.on_turn_finished(*turn, outcome, out),
            Record::TimePassed => {}
            Record::Named { name } => self.name.clone_from(name),
            Record::Forked(origin) => self.on_forked(origin, out),
        }
    }

    /// Before a session is gone on with whose journal is damaged, up to this number: what was granted
    /// in it is not known to be so, and a call whose start is lost may have run. Whoever reads the
    /// journal later meets the damage again, so this is written nowhere.
    pub fn distrust(&mut self, lost_up_to: Seq) {
        self.withdraw_grants();
        if let Some(turn) = self.turn.as_mut().filter(|_| lost_up_to > self.seq) {
            turn.has_hole = true;
        }
    }

    /// Takes back what somebody allowed in this session.
    fn withdraw_grants(&mut self) {
        self.grants.clear();
        if self.left_plan.take() == Some(self.settings.policy.mode) {
            self.settings.policy.mode = Mode::Plan;
        }
    }

    fn on_settings(&mut self, settings: &Settings, out: &mut Announcer) {
        let model = |s: &Settings| (s.model.name.clone(), s.model.parameters.clone());
        let is_same = model(settings) == model(&self.settings) || is_on(Bug::StaleEpoch);
        if self.epoch.is_some() && !is_same {
            self.epoch_due = Some(EpochCause::Model);
            // What the former model says is no answer of this one.
            if let Some(turn) = &mut self.turn {
                turn.accepted = None;
            }
        }
        let divisor_changed =
            settings.estimate.chars_per_token != self.settings.estimate.chars_per_token;
        let limits_changed = settings.limits != self.settings.limits;
        self.settings = settings.clone();
        if settings.policy.mode == Mode::Plan {
            self.left_plan = None;
        }
        if divisor_changed && !self.custom_estimate {
            self.estimate = Arc::new(CharacterEstimate::new(settings.estimate.chars_per_token));
            self.history.set_estimate(Arc::clone(&self.estimate));
            // What was learned about one divisor says nothing about another.
            self.calibration = Calibration::default();
            if let Some(epoch) = &mut self.epoch {
                epoch.weigh(self.estimate.as_ref());
            }
        }
        if limits_changed {
            out.say(|| Event::LimitsChanged { limits: settings.limits });
        }
        self.judge_again(out);
    }

    fn on_limits(&mut self, limits: Limits, out: &mut Announcer) {
        self.settings.limits = limits;
        out.say(|| Event::LimitsChanged { limits });
    }

    /// Adds tokens and money to the session and the running turn, with what of them a new epoch cost,
    /// and tells watchers.
    fn spend(
        &mut self,
        usage: &Usage,
        cost: Option<Cost>,
        reread: Option<Reread>,
        out: &mut Announcer,
    ) {
        self.reread += reread.unwrap_or_default();
        self.usage += *usage;
        self.cost += cost.unwrap_or_default();
        self.cost_is_partial |= usage.is_unpriced(cost);
        if let Some(turn) = &mut self.turn {
            let uncounted = if is_on(Bug::UncountedCache) { usage.cache_read } else { 0 };
            turn.tokens_spent = turn.tokens_spent.saturating_add(usage.total() - uncounted);
            turn.cost_spent += cost.unwrap_or_default();
        }
        let (total, total_cost) = (self.usage, self.cost);
        let cost_is_partial = self.cost_is_partial;
        let usage = *usage;
        out.say(|| Event::Usage { usage, cost, total, total_cost, cost_is_partial, reread });
    }

    fn append_user(&mut self, blocks: Vec<heeler_core::Block>, out: &mut Announcer) {
        let appended = self.history.push_user(blocks);
        announce_messages(appended, out);
    }

    /// The number of the round that runs, over all turns, from 1: that of the answer that is awaited,
    /// or else of the one whose calls run.
    #[must_use]
    pub fn round(&self) -> u64 {
        let awaits = |turn: &Turn| matches!(turn.phase, Phase::Model { .. });
        self.rounds + u64::from(self.turn.as_ref().is_some_and(awaits))
    }

    /// The session's typed state.
    #[must_use]
    pub fn values(&self) -> StateView {
        StateView(self.values.clone())
    }

    /// Money of the session, as it is told.
    #[must_use]
    pub fn bill(&self) -> Bill {
        Bill {
            cost: self.cost,
            is_partial: self.cost_is_partial,
            is_estimated: self.usage.is_estimated,
        }
    }

    /// What a watcher's fold over all events would give, drafts aside.
    #[must_use]
    pub fn view(&self) -> View {
        View {
            messages: self.history.messages().clone(),
            turn: self.turn.as_ref().map(Turn::view),
            last_outcome: self.last_outcome.clone(),
            permissions: self.turn.as_ref().map(Turn::open_permissions).unwrap_or_default(),
            steering: self.steering.iter().map(|queued| queued.id.clone()).collect(),
            compacting: self.compaction.is_some(),
            usage: self.usage,
            cost: self.cost,
            cost_is_partial: self.cost_is_partial,
        }
    }
}

fn announce_messages(messages: Vec<Arc<Message>>, out: &mut Announcer) {
    for message in messages {
        out.say(|| Event::Message { message });
    }
}
