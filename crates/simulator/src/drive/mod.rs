//! One session in virtual time: what the engine's driver does with effects and records, as a small
//! deterministic loop around the shipped machine.
//!
//! Each step settles what is pending (one append for all that starts together), else lets somebody
//! act, a process die, or the next flying effect land.

mod checkpoint;
mod death;
mod land;
mod people;
mod start;
mod works;

use std::collections::{BTreeMap, VecDeque};

use heeler_core::{
    CallId, CompactionFailed, Durability, Effect, EffectId, EffectKind, Entry, Event, Input,
    Opened, Prices, Record, Reply, Settings, SteeringId, Timestamp, ToolOutput, WakeCause,
};
use heeler_turn::State;
use heeler_turn::state::Announcer;

use checkpoint::Checkpoint;
use works::Work;

use crate::chance::Chance;
use crate::check::{Checker, Invariant, Violation};
use crate::matrix::{Fault, Matrix};
use crate::model::{Ending, Memory};
use crate::run::{Arm, Run};
use crate::scene::Scene;
use crate::store::{Fate, Store};

/// More steps than any run takes that ends at all.
const STEPS_MAX: u32 = 20_000;

/// Why a process stops.
pub(crate) enum Stop {
    /// It dies; what was written stays.
    Dies { loses_power: bool },
    /// An invariant does not hold.
    Breaks(Box<Violation>),
}

impl From<Violation> for Stop {
    fn from(violation: Violation) -> Self {
        Self::Breaks(Box::new(violation))
    }
}

/// An effect that was started and has not come to an end.
struct Flight {
    /// When it lands; `None` when it waits for a person.
    lands_at: Option<u64>,
    cargo: Cargo,
}

impl Flight {
    fn at(lands_at: u64, cargo: Cargo) -> Self {
        Self { lands_at: Some(lands_at), cargo }
    }
}

/// What an effect will come to.
enum Cargo {
    Model(Ending),
    Summary(Result<Reply, CompactionFailed>),
    Call { output: ToolOutput, millis: u64, hangs: bool },
    Ask(Option<heeler_core::Decision>),
    Wake(WakeCause),
}

/// What happened in a run, in numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    turns: u64,
    crashes: u64,
}

/// One session and everything around it.
struct World<'a> {
    chance: &'a mut Chance,
    checker: Checker,
    matrix: Matrix,
    counts: Counts,
    store: Store,
    checkpoint: Checkpoint,
    scene: Scene,
    memory: Memory,
    /// Answers that the provider has written, by its ids of them; no process takes them along.
    kept: Vec<Reply>,
    /// The prices of the model that was asked last.
    asked_prices: Option<Prices>,
    now: u64,
    state: State,
    flights: BTreeMap<EffectId, Flight>,
    /// Work that goes on after its call, in this process.
    works: BTreeMap<CallId, Work>,
    /// The settings this process was given.
    settings: Settings,
    system_version: u32,
    tools_version: u32,
    /// Inputs that wait in memory for the end of the running turn.
    queue: VecDeque<Input>,
    compaction_wanted: bool,
    undo_wanted: bool,
    is_active: bool,
    inputs_said: u32,
    steered: Vec<SteeringId>,
}

/// Runs one session from its first process to its last.
pub(crate) fn play(mut chance: Chance) -> Run {
    let mut world = World::new(&mut chance);
    let result = world.run();
    let World { matrix, counts, store, .. } = world;
    let journal = store.entries().to_vec();
    let Counts { turns, crashes } = counts;
    Run { result, turns, crashes, matrix, journal, tape: chance.into_tape() }
}

impl<'a> World<'a> {
    fn new(chance: &'a mut Chance) -> Self {
        let scene = Scene::draw(chance);
        Self {
            checker: Checker::default(),
            matrix: Matrix::of(Arm::Machine),
            counts: Counts::default(),
            store: Store::default(),
            checkpoint: Checkpoint::default(),
            memory: Memory::default(),
            kept: Vec::new(),
            asked_prices: None,
            now: 1_000_000,
            state: State::new(),
            flights: BTreeMap::new(),
            works: BTreeMap::new(),
            settings: scene.settings.clone(),
            system_version: 0,
            tools_version: 0,
            queue: VecDeque::new(),
            compaction_wanted: false,
            undo_wanted: false,
            is_active: false,
            inputs_said: 0,
            steered: Vec::new(),
            scene,
            chance,
        }
    }

    /// Lives the session to its end through all its processes.
    fn run(&mut self) -> Result<(), Violation> {
        let mut steps = 0;
        let result = loop {
            match self.live(&mut steps) {
                Ok(()) => break self.checker.end(self.store.entries(), &self.state),
                Err(Stop::Breaks(violation)) => break Err(*violation),
                Err(Stop::Dies { loses_power }) => self.die(loses_power),
            }
        };
        self.counts.turns = u64::from(self.state.turns);
        result
    }

    /// One process, from taking the session over to its end.
    fn live(&mut self, steps: &mut u32) -> Result<(), Stop> {
        self.open()?;
        loop {
            *steps += 1;
            if *steps > STEPS_MAX || self.chance.is_overdrawn() {
                return Err(Violation::new(Invariant::Ends, "the run never ends").into());
            }
            if !self.step()? {
                return Ok(());
            }
        }
    }

    fn open(&mut self) -> Result<(), Stop> {
        let whole = self.checker.read(self.store.entries(), self.store.synced())?;
        self.state = self.resume(whole)?;
        self.is_active = false;
        self.settings = self.state.settings_to_go_on_with(self.settings.clone());
        let build = "simulated".to_owned();
        let incarnation = self.state.incarnation + 1;
        let mut records = vec![Record::Opened(Opened { incarnation, build })];
        if self.state.settings != self.settings {
            records.push(Record::SettingsChanged(Box::new(self.settings.clone())));
        }
        self.write(records, Durability::Written)
    }

    /// Does one thing. `false` when nothing is left to do.
    fn step(&mut self) -> Result<bool, Stop> {
        if !self.is_active {
            return self.step_before_resumed();
        }
        self.begin_queued_turn()?;
        self.undo_compaction_if_wanted()?;
        self.begin_wanted_compaction()?;
        let pending = self.state.pending();
        self.checker.pending(&self.state, &pending)?;
        self.abort_what_is_gone(&pending);
        let new: Vec<Effect> = pending
            .iter()
            .filter(|effect| !self.flights.contains_key(&effect.id))
            .cloned()
            .collect();
        if self.has_crash() {
            return Err(self.crash(&pending));
        }
        // Somebody may come between a record and the effects it brings, and so may an outcome.
        let comes = self.comes_between(&pending);
        if !new.is_empty() && comes && self.act()? {
            return Ok(true);
        }
        if !new.is_empty() && self.ends_some_work()? {
            return Ok(true);
        }
        let waits = !self.flights.is_empty()
            && !new.iter().any(keeps_time)
            && self.chance.percent(self.scene.postpones);
        if new.is_empty() || waits {
            return self.wait();
        }
        let new = self.some_of(new);
        self.start(new)?;
        Ok(true)
    }

    /// Nothing runs before somebody wants the session to go on, but people may already act.
    fn step_before_resumed(&mut self) -> Result<bool, Stop> {
        if self.has_act(1) && self.chance.percent(50) {
            self.act()?;
        }
        self.is_active = true;
        Ok(true)
    }

    /// A driver may start effects one by one, in an order of its own; but it always keeps time.
    fn some_of(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        if !self.chance.percent(self.scene.postpones) {
            return effects;
        }
        let (mut some, mut others): (Vec<_>, Vec<_>) = effects.into_iter().partition(keeps_time);
        if !others.is_empty() {
            // What asks or runs while others are not looked up yet is the rarer case.
            let rarity = |at: &usize| match &others[*at].kind {
                EffectKind::AskPermission { .. } => 0,
                EffectKind::PlanCall { .. } => 2,
                _ => 1,
            };
            let rarest = (0..others.len()).map(|at| rarity(&at)).min();
            let mut rare: Vec<usize> = (0..others.len()).collect();
            rare.retain(|at| Some(rarity(at)) == rarest);
            let at = self.chance.pick(&rare);
            some.push(others.swap_remove(at));
        }
        some
    }

    /// Nothing is to be started: time passes until something happens.
    fn wait(&mut self) -> Result<bool, Stop> {
        let next = self.next_flight();
        let work = self.next_work();
        if self.has_act(1) {
            let first = next.map(|(at, _)| at).into_iter().chain(work.map(|(at, _)| at)).min();
            let until = first.map_or(1000, |at| at.saturating_sub(self.now).min(1000));
            self.now += u64::from(self.chance.below(u32::try_from(until).unwrap_or(1000) + 1));
            if self.act()? {
                return Ok(true);
            }
        }
        if let Some((at, call)) = work
            && next.is_none_or(|(flight, _)| at <= flight)
            && self.waits_for_works()
        {
            self.now = self.now.max(at);
            self.end_work(call)?;
            return Ok(true);
        }
        if let Some((at, id)) = next {
            self.now = self.now.max(at);
            self.check_outcomes_commute()?;
            self.land(id)?;
            return Ok(true);
        }
        if self.state.turn.is_some() || self.state.compaction.is_some() {
            return self.settle_what_waits_for_people();
        }
        self.say_next()
    }

    /// The flight that lands first; one of them when several do.
    fn next_flight(&mut self) -> Option<(u64, EffectId)> {
        let first = self.flights.values().filter_map(|flight| flight.lands_at).min()?;
        let landing: Vec<EffectId> = self
            .flights
            .iter()
            .filter(|(_, flight)| flight.lands_at == Some(first))
            .map(|(id, _)| *id)
            .collect();
        Some((first, self.chance.pick(&landing)))
    }

    fn abort_what_is_gone(&mut self, pending: &[Effect]) {
        self.flights.retain(|id, _| pending.iter().any(|effect| effect.id == *id));
    }

    /// Writes records, applies them and tells watchers, in that order, unless the process dies.
    fn write(&mut self, records: Vec<Record>, durability: Durability) -> Result<(), Stop> {
        if records.is_empty() {
            return Ok(());
        }
        let at = Timestamp(self.now);
        let entries: Vec<Entry> = (self.state.seq + 1..)
            .zip(records)
            .map(|(seq, record)| Entry { seq, at, record })
            .collect();
        let fate = self.fate();
        self.store.append(&entries, durability, fate, self.chance);
        match fate {
            Fate::Lives => {}
            Fate::DiesBefore | Fate::DiesAfter => {
                let pending = self.state.pending();
                return Err(self.crash(&pending));
            }
            Fate::Torn | Fate::Refused => {
                let torn = fate == Fate::Torn;
                let fault = if torn { Fault::TornAppend } else { Fault::RefusedAppend };
                let pending = self.state.pending();
                self.matrix.hit(fault, &pending);
                self.lose_works(&pending);
                self.scene.crashes_left -= 1;
                return Err(Stop::Dies { loses_power: false });
            }
        }
        self.checker.written(self.state.seq + entries.len() as u64, self.store.synced());
        for entry in &entries {
            let mut out = Announcer::collecting();
            self.state.apply_announcing(entry, &mut out);
            let events: Vec<Event> = out.into_events();
            self.checker.applied(entry, &events, &self.state)?;
        }
        if self.chance.percent(5) {
            self.checker.watch_late(&self.state);
        }
        self.follow_works();
        self.keep_checkpoint()?;
        Ok(())
    }

    /// Two outcomes of one batch give the same state in either order.
    fn check_outcomes_commute(&mut self) -> Result<(), Stop> {
        let landing: Vec<(EffectId, &Cargo)> = self
            .flights
            .iter()
            .filter(|(id, _)| matches!(id, EffectId::Run(_)))
            .map(|(id, flight)| (*id, &flight.cargo))
            .collect();
        if landing.len() < 2 || !self.chance.percent(40) {
            return Ok(());
        }
        let records: Vec<Record> =
            landing.iter().filter_map(|(id, cargo)| land::call_record(*id, cargo)).collect();
        Ok(crate::check::outcomes_commute(&self.state, Timestamp(self.now), &records)?)
    }
}

fn keeps_time(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Wake { .. })
}
