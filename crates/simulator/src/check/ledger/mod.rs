//! The checker's own account of a session: what the records say, kept apart from the machine.

mod heard;
mod refused;
mod shortened;

use std::collections::HashSet;
use std::sync::Arc;

use heeler_core::{
    AcceptedAnswer, Block, CallId, CompactionStarted, Cost, Entry, Event, Facts, Input, Message,
    Mode, ModelReplied, ModelRequest, ModelStarted, Prices, ProviderErrorKind, Record, Rule, Seq,
    Settings, SteeringId, SteeringQueued, StopReason, TurnOutcome, Usage,
};
use heeler_turn::State;

use super::account::TurnAccount;
use super::batch::Batch;
use super::context::{self, Context};
use super::kept::Words;
use super::undo::Replaced;
use super::works::Works;
use super::{Checked, Invariant, ensure, money, permission, request};
use refused::Refused;

/// What is said and not heard yet.
#[derive(Debug)]
struct Waiting {
    seq: Seq,
    id: SteeringId,
    text: String,
    is_background: bool,
}

/// What the journal says so far.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) settings: Settings,
    pub(super) grants: Vec<Rule>,
    /// The mode for which somebody left plan mode.
    left_plan: Option<Mode>,
    log: Vec<Arc<Message>>,
    pub(super) turn: Option<TurnAccount>,
    turns: u32,
    queue: Vec<Waiting>,
    works: Works,
    steering_seen: HashSet<SteeringId>,
    compaction: Option<CompactionStarted>,
    compactions: u32,
    replaced: Option<Replaced>,
    /// What a provider that cannot verify reasoning was asked for; the reasoning goes with this record.
    refused: Option<Refused>,
    usage: Usage,
    cost: Cost,
    cost_is_partial: bool,
    now: u64,
    epoch: u32,
    context: Context,
    words: Words,
    incarnation: u64,
    /// How much later than the wall time a record may still come.
    wall_slack_millis: u64,
    /// The prices of the model that was asked last.
    asked_prices: Option<Prices>,
}

impl Ledger {
    pub(super) fn with_wall_slack(millis: u64) -> Self {
        Self { wall_slack_millis: millis, ..Self::default() }
    }

    /// The attempt that is out: turn, round, attempt.
    pub(super) fn attempt(&self) -> (u32, u32, u32) {
        let turn = self.turn.as_ref();
        turn.map_or((0, 0, 0), |turn| (turn.number, turn.attempt.0, turn.attempt.1))
    }

    pub(super) fn log(&self) -> &[Arc<Message>] {
        &self.log
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.interrupted.is_some() || turn.is_foreign)
    }

    /// The answer that is paid for and not had.
    pub(super) fn accepted(&self) -> Option<&AcceptedAnswer> {
        Some(&self.turn.as_ref()?.accepted.as_ref()?.0)
    }

    pub(super) fn model_runs(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.is_asking)
    }

    pub(super) fn last_stop_was_pause(&self) -> bool {
        let stop = self.turn.as_ref().and_then(|turn| turn.last_stop.as_ref());
        stop == Some(&StopReason::Pause)
    }

    /// How often the head was replaced.
    pub(super) fn compactions(&self) -> u32 {
        self.compactions
    }

    /// The most tokens a request may have.
    pub(super) fn limit(&self) -> u64 {
        context::limit(&self.settings)
    }

    /// The tokens a request is held to have, as the documentation says.
    pub(super) fn estimate(&self, request: &ModelRequest) -> u64 {
        let chars_per_token = self.settings.estimate.chars_per_token;
        self.context.calibrated(request::estimate(request, chars_per_token))
    }

    /// Whether a call may run without anybody being asked.
    pub(super) fn allows(&self, tool: &str, facts: &Facts) -> bool {
        permission::allows(&self.settings.policy, &self.grants, tool, facts)
    }

    /// Whether the last answer asks for a call that has no result yet.
    pub(super) fn asks_for(&self, call: CallId) -> bool {
        let batch = self.turn.as_ref().and_then(|turn| turn.batch.as_ref());
        batch.is_some_and(|batch| batch.waits_for(call))
    }

    pub(super) fn facts_of(&self, call: CallId) -> Option<&Facts> {
        self.turn.as_ref()?.batch.as_ref()?.facts_of(call)
    }

    pub(super) fn running_since(&self, call: CallId) -> Option<Seq> {
        self.turn.as_ref()?.batch.as_ref()?.running_since(call)
    }

    /// Takes in a record and what watchers were told of it.
    pub(super) fn apply(&mut self, entry: &Entry, events: &[Event]) -> Checked {
        self.pass_time(entry)?;
        let turns_before = self.turns;
        let ended = match (&entry.record, &self.turn) {
            (Record::TurnFinished { turn, .. }, Some(running)) => running.number == *turn,
            _ => false,
        };
        let mut said = Vec::new();
        self.take(entry, &mut said)?;
        self.take_events(events, said)?;
        let started = events.iter().filter(|e| matches!(e, Event::TurnStarted { .. })).count();
        ensure(started as u32 == self.turns - turns_before, Invariant::OneTerminalEvent, || {
            format!("record {}: {started} turns are told to begin", entry.seq)
        })?;
        Self::check_terminal(entry, events, ended)
    }

    /// The machine's totals and queue are what the records add up to.
    pub(super) fn agrees(&self, state: &State) -> Checked {
        let sums = (state.usage, state.cost) == (self.usage, self.cost);
        ensure(
            sums && state.cost_is_partial == self.cost_is_partial,
            Invariant::UsageIsSum,
            || format!("{:?} is not {:?}", state.usage, self.usage),
        )?;
        ensure(state.grants == self.grants, Invariant::OnlyAllowedRuns, || {
            format!("{:?} is held to be granted, expected {:?}", state.grants, self.grants)
        })?;
        let learned = (state.calibration.ratio, state.calibration.samples);
        ensure(learned == self.context.learned(), Invariant::CalibrationIsLearned, || {
            format!("{learned:?} is not {:?}", self.context.learned())
        })?;
        let waits = state.steering.iter().map(|q| &q.id).eq(self.queue.iter().map(|said| &said.id));
        ensure(waits, Invariant::SaidOnceInOrder, || {
            format!("{} wait, expected {:?}", state.steering.len(), self.queue)
        })?;
        self.works.agree(state)?;
        let turn = state.turn.as_ref().map(|turn| turn.number);
        let expected = self.turn.as_ref().map(|turn| turn.number);
        ensure(turn == expected, Invariant::OneTerminalEvent, || {
            format!("turn {turn:?} runs, the journal says {expected:?}")
        })?;
        let messages = state.history.messages();
        let same = messages.len() == self.log.len() && messages.last() == self.log.last();
        ensure(same, Invariant::RequestIsHistory, || {
            "the history is not what watchers were told".into()
        })
    }

    fn pass_time(&mut self, entry: &Entry) -> Checked {
        // Whoever names a session may have nothing to do with its turn.
        if matches!(entry.record, Record::Named { .. }) {
            return Ok(());
        }
        let elapsed = entry.at.millis().saturating_sub(self.now);
        self.now = self.now.max(entry.at.millis());
        let wall_max = self.settings.limits.wall_millis;
        let Some(turn) = &mut self.turn else { return Ok(()) };
        if matches!(entry.record, Record::Opened(_)) {
            return Ok(());
        }
        turn.wall_millis += elapsed;
        let ends = matches!(
            entry.record,
            Record::Interrupted { .. }
                | Record::Forked(_)
                | Record::TurnFinished { .. }
                | Record::SettingsChanged(_)
        );
        let over = wall_max != 0 && turn.wall_millis > wall_max + self.wall_slack_millis;
        // Before somebody resumes it, people may still say things to a turn that nothing ends.
        let said = self.wall_slack_millis > 0
            && matches!(
                entry.record,
                Record::SteeringQueued(_)
                    | Record::SteeringTakenBack { .. }
                    | Record::PermissionDecided(_)
                    | Record::CompactionStarted(_)
                    | Record::Restored
            );
        ensure(!over || ends || said || turn.limits_moved, Invariant::WallLimit, || {
            format!("record {} comes after the wall time", entry.seq)
        })
    }

    fn take(&mut self, entry: &Entry, said: &mut Vec<String>) -> Checked {
        match &entry.record {
            Record::Opened(opened) => {
                self.incarnation += 1;
                ensure(opened.incarnation == self.incarnation, Invariant::FoldFromScratch, || {
                    format!("incarnation {} follows another", opened.incarnation)
                })?;
                self.die(entry.seq);
            }
            Record::SettingsChanged(settings) => self.settings_changed(settings),
            Record::LimitsChanged(limits) => {
                self.settings.limits = *limits;
                self.policy_moved(true);
            }
            Record::RuleGranted(rule) => {
                self.grants.push((**rule).clone());
                self.policy_moved(false);
            }
            Record::EpochStarted(epoch) => {
                self.epoch += 1;
                self.context.epoch(epoch);
                ensure(epoch.epoch == self.epoch, Invariant::PrefixIsStable, || {
                    format!("epoch {} is not the next", epoch.epoch)
                })?;
            }
            Record::Input(input) => self.input(entry.seq, input, said),
            Record::SteeringQueued(queued) => self.queued(entry.seq, queued, said),
            Record::SteeringTakenBack { id } => {
                self.queue.retain(|said| said.id != *id || said.is_background);
            }
            Record::ModelStarted(started) => self.model_started(started, said)?,
            Record::ModelAccepted(accepted) => {
                let asking = self.asking(accepted.turn, accepted.round, accepted.attempt);
                if let Some(turn) = asking {
                    let unread = turn.accepted.as_ref().map_or(0, |(_, unread)| *unread);
                    turn.accepted = Some((accepted.answer.clone(), unread));
                }
            }
            Record::ModelReplied(replied) => {
                self.is_priced(&replied.reply.usage, replied.cost)?;
                self.model_replied(replied);
            }
            Record::ModelFailed(failed) => {
                self.is_priced(&failed.usage, failed.cost)?;
                self.spend(&failed.usage, failed.cost);
                if let Some(turn) = self.asking(failed.turn, failed.round, failed.attempt) {
                    turn.is_asking = false;
                    turn.attempt_failed = true;
                    turn.failed(failed.kind);
                    let overflows = failed.kind == ProviderErrorKind::ContextOverflow;
                    turn.overflows += u32::from(overflows);
                    self.answer_refused(failed.kind);
                }
            }
            Record::Compacted(compacted) => {
                self.words.kept = compacted.kept;
                self.spend(&compacted.usage, compacted.cost);
            }
            Record::CompactionFailed(failed) => {
                self.spend(&failed.usage, failed.cost);
                self.summary_failed(failed.kind);
                self.summary_refused(failed.kind);
            }
            Record::CompactionStarted(started) => self.compaction_started(started)?,
            Record::Interrupted { cause } => {
                self.compaction = None;
                if let Some(turn) = &mut self.turn {
                    turn.interrupted = Some(*cause);
                    turn.is_asking = false;
                }
            }
            Record::TurnFinished { turn, outcome } => self.finished(*turn, outcome, said)?,
            Record::CallPlanned(_)
            | Record::FactsChanged(_)
            | Record::CallStarted { .. }
            | Record::CallFinished { .. }
            | Record::PermissionAsked(_)
            | Record::PermissionDecided(_) => self.call_record(entry)?,
            Record::Forked(_) => self.forked(),
            // Simulated sessions have no hooks, and nothing was said before them.
            Record::HistoryGiven { .. }
            | Record::Named { .. }
            | Record::HookAnswered(_)
            | Record::Trimmed(_)
            | Record::Pruned(_)
            | Record::Restored
            | Record::TimePassed => {}
        }
        Ok(())
    }

    /// Nothing of the session that was forked runs or waits here, nobody allowed anything yet, and
    /// what was paid was paid there.
    fn forked(&mut self) {
        self.queue.clear();
        self.works.forget();
        self.compaction = None;
        self.grants.clear();
        if self.left_plan.take() == Some(self.settings.policy.mode) {
            self.settings.policy.mode = Mode::Plan;
        }
        (self.usage, self.cost) = (Usage::default(), Cost::default());
        self.cost_is_partial = false;
        if let Some(turn) = &mut self.turn {
            turn.is_foreign = true;
            turn.is_asking = false;
        }
    }

    fn call_record(&mut self, entry: &Entry) -> Checked {
        let was_planned = self.settings.policy.mode == Mode::Plan;
        let checked = self.batch_record(entry);
        let mode = self.settings.policy.mode;
        if was_planned && mode != Mode::Plan {
            self.left_plan = Some(mode);
        }
        checked
    }

    fn batch_record(&mut self, entry: &Entry) -> Checked {
        let Self { settings, grants, turn: Some(turn), .. } = self else { return Ok(()) };
        let Some(batch) = &mut turn.batch else { return Ok(()) };
        if let Record::CallFinished { call, output, .. } = &entry.record
            && batch.running_since(*call).is_some()
        {
            self.works.begin(*call, output);
        }
        let stops = batch.take(entry, settings, grants, turn.limits_moved, &turn.repeats)?;
        turn.is_stopped_by_denial |= stops;
        Ok(())
    }

    fn settings_changed(&mut self, settings: &Settings) {
        let limits_moved = settings.limits != self.settings.limits
            || settings.model.prices != self.settings.model.prices;
        if settings.estimate.chars_per_token != self.settings.estimate.chars_per_token {
            self.context.forget();
        }
        let model = |s: &Settings| (s.model.name.clone(), s.model.parameters.clone());
        if model(settings) != model(&self.settings)
            && let Some(turn) = &mut self.turn
        {
            turn.accepted = None;
        }
        self.settings = settings.clone();
        self.left_plan.take_if(|_| settings.policy.mode == Mode::Plan);
        self.policy_moved(limits_moved);
    }

    /// Rules, grants or limits are others now.
    fn policy_moved(&mut self, limits_moved: bool) {
        let Self { settings, grants, turn: Some(turn), .. } = self else { return };
        turn.limits_moved |= limits_moved;
        if let Some(batch) = &mut turn.batch {
            batch.judge(settings, grants);
        }
    }

    fn die(&mut self, seq: Seq) {
        for (id, text) in self.works.die() {
            self.steering_seen.insert(id.clone());
            self.queue.push(Waiting { seq, id, text, is_background: true });
        }
        let Some(turn) = &mut self.turn else { return };
        if turn.is_asking {
            turn.is_asking = false;
            turn.deaths += 1;
        }
        if let Some(batch) = &mut turn.batch {
            batch.die();
        }
    }

    fn input(&mut self, seq: Seq, input: &Input, said: &mut Vec<String>) {
        if self.turn.is_some() {
            let id = SteeringId(format!("input-{seq}"));
            self.steering_seen.insert(id.clone());
            self.queue.push(Waiting { seq, id, text: text(input), is_background: false });
            return;
        }
        self.begin();
        said.push(text(input));
    }

    /// Something waits, once: words, or what work that was going on came to.
    fn queued(&mut self, seq: Seq, queued: &SteeringQueued, said: &mut Vec<String>) {
        if self.steering_seen.contains(&queued.id)
            || queued.background.is_some_and(|call| !self.works.end(call))
        {
            return;
        }
        self.steering_seen.insert(queued.id.clone());
        let (id, text) = (queued.id.clone(), text(&queued.input));
        self.queue.push(Waiting { seq, id, text, is_background: queued.background.is_some() });
        if self.turn.is_none() {
            self.begin_from_queue(said);
        }
    }

    fn begin(&mut self) {
        self.turns += 1;
        self.turn = Some(TurnAccount { number: self.turns, ..TurnAccount::default() });
    }

    fn begin_from_queue(&mut self, said: &mut Vec<String>) {
        let wakes = |said: &Waiting| !said.is_background || self.settings.background_wakes;
        if !self.queue.iter().any(wakes) {
            return;
        }
        self.begin();
        said.extend(self.queue.drain(..).map(|said| said.text));
    }

    fn model_started(&mut self, started: &ModelStarted, said: &mut Vec<String>) -> Checked {
        let (limits, prices) = (self.settings.limits, self.settings.model.prices);
        self.asked_prices = prices;
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.number == started.turn) else {
            return Ok(());
        };
        let goes_on = turn.accepted.is_some();
        let compacts = self.compaction.is_some();
        ensure(!compacts || goes_on, Invariant::CompactionComesFirst, || {
            "the model is asked while a compaction stands".into()
        })?;
        turn.may_ask(started, &limits, prices)?;
        turn.ask(started);
        if goes_on {
            // What is written already hears nothing more.
            return Ok(());
        }
        let (due, later): (Vec<Waiting>, _) =
            std::mem::take(&mut self.queue).into_iter().partition(|said| said.seq <= started.up_to);
        self.queue = later;
        said.extend(due.into_iter().map(|said| said.text));
        Ok(())
    }

    fn model_replied(&mut self, replied: &ModelReplied) {
        self.spend(&replied.reply.usage, replied.cost);
        let calls_max = self.settings.limits.calls;
        if self.asking(replied.turn, replied.round, replied.attempt).is_some() {
            let chars_per_token = self.settings.estimate.chars_per_token;
            self.context.learn(&self.log, chars_per_token, &replied.reply.usage);
        }
        let Some(turn) = self.asking(replied.turn, replied.round, replied.attempt) else { return };
        turn.is_asking = false;
        turn.accepted = None;
        turn.deaths = 0;
        turn.rounds += 1;
        turn.compaction_tried = false;
        turn.overflows = 0;
        turn.last_stop = Some(replied.reply.stop.clone());
        let mut batch = Batch::of(replied);
        batch.admit(calls_max, &mut turn.calls);
        turn.batch = (!batch.is_empty()).then_some(batch);
    }

    fn asking(&mut self, number: u32, round: u32, attempt: u32) -> Option<&mut TurnAccount> {
        self.turn.as_mut().filter(|turn| {
            turn.is_asking && turn.number == number && turn.attempt == (round, attempt)
        })
    }

    /// An answer costs what the prices say that were in force when it was asked for.
    fn is_priced(&self, usage: &Usage, cost: Option<Cost>) -> Checked {
        let expected = money::cost(usage, self.asked_prices.as_ref());
        ensure(cost == expected, Invariant::CostIsProduct, || {
            format!("{usage:?} is said to cost {cost:?}, expected {expected:?}")
        })
    }

    fn spend(&mut self, usage: &Usage, cost: Option<Cost>) {
        self.cost_is_partial |= cost.is_none() && money::tokens(usage) > 0;
        let Cost(cost) = cost.unwrap_or_default();
        money::add(&mut self.usage, usage);
        self.cost.0 += cost;
        if let Some(turn) = &mut self.turn {
            turn.tokens += money::tokens(usage);
            turn.cost += cost;
        }
    }

    fn finished(&mut self, number: u32, outcome: &TurnOutcome, said: &mut Vec<String>) -> Checked {
        let Some(turn) = self.turn.take_if(|turn| turn.number == number) else { return Ok(()) };
        turn.outcome_is_true(outcome, &self.settings.limits)?;
        if let TurnOutcome::Failed { message } = outcome
            && message.starts_with(context::CANNOT_FIT)
        {
            self.context.cannot_fit(&self.log, self.waiting_chars(), &self.settings)?;
        }
        self.begin_from_queue(said);
        Ok(())
    }

    /// Characters of what waits to be delivered.
    fn waiting_chars(&self) -> u64 {
        self.queue.iter().map(|said| said.text.chars().count() as u64).sum()
    }

    fn batch(&mut self) -> Option<&mut Batch> {
        self.turn.as_mut()?.batch.as_mut()
    }
}

fn text(input: &Input) -> String {
    input.blocks.iter().filter_map(Block::as_text).collect()
}
