//! One session through a storm: begun, struck, resumed, until it is done.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use heeler_core::Record;
use heeler_testkit::MockServer;
use rustix::process::Signal;

use super::check::{self, After};
use super::journal::{Found, Place};
use super::running::{End, Ended, Running};
use super::strike::{AfterStop, Growth, Means, Strike};
use super::totals::{self, Totals};
use super::workload::{BOARD, FINAL, Workload};
use super::world::{Commands, World};
use crate::dice::Dice;

/// A session that needs more processes than this comes to no end.
const PROCESSES_MAX: usize = 200;
/// One session in so many has a disk that is nearly full.
const DISK_EVERY: u64 = 8;
/// One session in so many has its commands outside of the box.
const OUTSIDE_EVERY: u64 = 3;
/// A second signal of the same kind comes after at most so many polls.
const TWICE_POLLS_MAX: usize = 5;
/// What a full disk is called.
const DISK_FULL: &str = "No space left on device";

/// Where a session runs, and with what.
pub(super) struct Harbor<'a> {
    pub(super) base: &'a Path,
    pub(super) binary: &'a Path,
    pub(super) disks: bool,
    pub(super) boxes: bool,
    /// Who says nothing for longer hangs.
    pub(super) patience: Duration,
}

/// A session on its way.
struct Session {
    dice: Dice,
    patience: Duration,
    world: World,
    workload: Workload,
    server: MockServer,
    strikes_left: usize,
    /// Silent streams whose readers were struck.
    n_stalls_met: usize,
    /// The journal as it was after the last process.
    journal: Found,
    /// The next process gets a prompt, whatever the journal says.
    needs_prompt: bool,
    /// The process has nothing to do but to end a turn that was told to stop.
    only_stops: bool,
    /// Another process had the session while this one was stopped, so this one must have come to its end.
    has_let_go: bool,
    totals: Totals,
}

/// What struck a process, and what was going on then.
#[derive(Clone, Copy)]
struct Struck {
    signal: &'static str,
    place: Option<Place>,
}

/// Runs the session of this seed.
pub(super) fn run(seed: u64, harbor: &Harbor<'_>) -> Result<Totals> {
    let mut dice = Dice::new(seed);
    // Neither is drawn, so that no run of sessions is without.
    let is_disk = seed.is_multiple_of(DISK_EVERY) && harbor.disks;
    let strikes_left = dice.roll(6..=16);
    let n_rounds = strikes_left + dice.roll(2..=8);
    let workload = Workload::draw(&mut dice, n_rounds);
    let commands = match harbor.boxes && !seed.is_multiple_of(OUTSIDE_EVERY) {
        true => Commands::InBox,
        false => Commands::Outside,
    };
    let world = World::make(harbor, seed, is_disk, commands)?;
    fs::write(world.workspace().join(BOARD), workload.board())?;
    let server = MockServer::builder(workload.script.clone()).chunking(workload.chunking).start();
    let mut totals = Totals::of_session(is_disk);
    if commands == Commands::InBox {
        totals.note(totals::BOXED);
    }
    let mut session = Session {
        dice,
        patience: harbor.patience,
        world,
        workload,
        server,
        strikes_left,
        n_stalls_met: 0,
        journal: Found::default(),
        needs_prompt: false,
        only_stops: false,
        has_let_go: false,
        totals,
    };
    match session.run() {
        Ok(()) => session.finish(),
        Err(error) => {
            session.world.end_processes();
            Err(error)
        }
    }
}

impl Session {
    fn run(&mut self) -> Result<()> {
        for n in 0.. {
            ensure!(n < PROCESSES_MAX, "after {PROCESSES_MAX} processes it is still not done");
            let is_over = self.process().with_context(|| format!("process {}", n + 1))?;
            if is_over {
                break;
            }
        }
        self.check_end()
    }

    /// Counts what there was, and removes it.
    fn finish(mut self) -> Result<Totals> {
        self.totals.requests = self.server.status().requests as u64;
        self.totals.add_journal(&self.journal);
        self.world.remove()?;
        Ok(self.totals)
    }

    /// One process from its start to its end; true when the session is done.
    fn process(&mut self) -> Result<bool> {
        let arguments = self.arguments();
        let command = self.world.exec(&self.server, &arguments);
        let mut running = Running::start(command, self.patience)?;
        let ridden = self.ride(&mut running);
        let finished = ridden.and_then(|struck| Ok((struck, running.finish()?)));
        let (struck, ended) = finished.with_context(|| self.whereabouts(&running))?;
        // One that a silent stream had struck meanwhile has no words left to say so.
        if std::mem::take(&mut self.has_let_go) && struck.is_none() {
            let words = ended.words();
            ensure!(words.contains(DISK_FULL), "two processes had the session: {words}");
        }
        let n_stalls = self.server.status().stalled;
        (self.n_stalls_met..n_stalls).for_each(|_| self.totals.note(totals::STALLED));
        self.n_stalls_met = n_stalls;
        if self.dice.one_in(2) {
            self.world.wait_until_gone()?;
        }
        let journal = Found::read(&self.world.home())?;
        journal.check_all_read()?;
        self.check_process(&journal, &ended)?;
        self.count(&journal, &ended, struck);
        self.journal = journal;
        self.judge(&ended, struck)
    }

    /// Where the session stands, for whoever has to find out why a process does not end.
    fn whereabouts(&self, running: &Running) -> String {
        let stands = match Found::read(&self.world.home()) {
            Ok(journal) => journal.shown(),
            Err(error) => format!("a journal that cannot be read: {error:#}"),
        };
        format!("{stands}; {}; alive: {}", running.shown(), self.world.shown_processes())
    }

    fn arguments(&mut self) -> Vec<&'static str> {
        let needs_prompt = std::mem::take(&mut self.needs_prompt) || !self.journal.is_pending();
        let prompt = needs_prompt || self.dice.one_in(6);
        let mut arguments = Vec::new();
        if !self.journal.whole.is_empty() {
            self.totals.resumes += 1;
            arguments.push("--continue");
        }
        self.only_stops = self.journal.is_stopping() && !prompt;
        arguments.extend(prompt.then_some("sail through the storm"));
        arguments
    }

    /// Watches a process until it ends or is struck dead.
    fn ride(&mut self, running: &mut Running) -> Result<Option<Struck>> {
        let mut strike = (self.strikes_left > 0).then(|| Strike::draw(&mut self.dice));
        while running.poll()? {
            let is_due = strike.as_ref().is_some_and(|s| s.is_due(running, || self.growth()));
            // Nothing but a strike ends a silent stream in time.
            let is_silent = self.server.status().stalled > self.n_stalls_met;
            if !is_due && !is_silent {
                continue;
            }
            let means = strike.take().map_or(Means::Kill, |strike| strike.means);
            self.strikes_left = self.strikes_left.saturating_sub(1);
            if let Some(struck) = self.strike(running, means)? {
                return Ok(Some(struck));
            }
        }
        Ok(None)
    }

    fn growth(&self) -> Growth {
        let (records, bytes) = Found::measure(&self.world.home());
        Growth {
            records: records.saturating_sub(self.journal.entries.len()),
            bytes: bytes.saturating_sub(self.journal.whole.len()),
        }
    }

    /// Strikes; `None` when the process goes on.
    fn strike(&mut self, running: &mut Running, means: Means) -> Result<Option<Struck>> {
        match means {
            Means::Kill => {
                running.signal(Signal::KILL)?;
                Ok(Some(Struck { signal: "SIGKILL", place: None }))
            }
            Means::Terminate { times } => self.ask(running, Signal::TERM, "SIGTERM", times),
            Means::Interrupt { times } => self.ask(running, Signal::INT, "SIGINT", times),
            // Before that, the session is nobody's.
            Means::Stop { .. } if !running.saw("session_started") => {
                self.strike(running, Means::Kill)
            }
            Means::Stop { then } => self.stop(running, then),
        }
    }

    /// Asks the process to end.
    fn ask(
        &mut self,
        running: &mut Running,
        signal: Signal,
        name: &'static str,
        times: usize,
    ) -> Result<Option<Struck>> {
        let place = Found::read(&self.world.home())?.place(&self.journal);
        running.signal(signal)?;
        for _ in 1..times {
            for _ in 0..self.dice.roll(0..=TWICE_POLLS_MAX) {
                running.poll()?;
            }
            running.signal(signal)?;
        }
        Ok(Some(Struck { signal: name, place: Some(place) }))
    }

    /// Stops the process; meanwhile the session is still its own.
    fn stop(&mut self, running: &mut Running, then: AfterStop) -> Result<Option<Struck>> {
        running.signal(Signal::STOP)?;
        if running.is_stopped()? {
            let before = Found::read(&self.world.home())?;
            let is_over =
                matches!(before.entries.last(), Some(e) if e.record.kind() == "turn_finished");
            let command = self.world.exec(&self.server, &["--continue"]);
            let second = Running::start(command, self.patience)?.finish()?;
            let words = second.words();
            let is_idle = words.contains("nothing left to finish");
            let is_refused = words.contains("is in use") || is_over && is_idle;
            if !is_refused && (is_idle || words.contains(DISK_FULL)) {
                // The owner met a full disk first, and was stopped between letting go and its end, so
                // it still has to say so. If not even its turn was written, the other has nothing
                // to finish.
                self.has_let_go = true;
                self.totals.note("stopped when a full disk had ended them");
                running.signal(Signal::CONT)?;
                return Ok(None);
            }
            ensure!(
                is_refused && second.end == End::Code(2),
                "a second process is not refused while the owner is stopped: {:?} {words}",
                second.end
            );
            let after = Found::read(&self.world.home())?;
            let is_same = before.whole == after.whole || is_over;
            ensure!(is_same, "a second process wrote while the owner was stopped");
            self.totals.note(totals::REFUSED);
        }
        if then == AfterStop::Kill {
            running.signal(Signal::KILL)?;
            return Ok(Some(Struck { signal: "SIGSTOP+KILL", place: None }));
        }
        running.signal(Signal::CONT)?;
        self.totals.note(totals::CONTINUED);
        Ok(None)
    }

    /// Checks what must hold after each process.
    fn check_process(&self, journal: &Found, ended: &Ended) -> Result<()> {
        check::process(&After {
            written_before: &self.journal.whole,
            written: &journal.whole,
            last: journal.last_seq(),
            shown: ended.events.iter().filter_map(|event| event.seq).max().unwrap_or_default(),
            questions: journal.count("model_started"),
            requests: self.server.status().requests,
            violations: &self.server.violations(),
        })
    }

    fn count(&mut self, journal: &Found, ended: &Ended, struck: Option<Struck>) {
        self.totals.torn += u64::from(journal.torn_bytes > 0);
        let Some(struck) = struck else { return };
        let place = struck.place.unwrap_or_else(|| journal.place(&self.journal));
        match ended.end {
            End::Signal(_) | End::Code(130) => self.totals.died(struck.signal, place),
            End::Code(_) => self.totals.note("ended before the signal came"),
        }
    }

    /// Whether the session is done; refuses an end that nothing explains.
    fn judge(&mut self, ended: &Ended, struck: Option<Struck>) -> Result<bool> {
        let words = ended.words();
        ensure!(!words.contains("panicked"), "it panicked: {words}");
        let signal = struck.map(|struck| struck.signal);
        let is_asked = matches!(signal, Some("SIGTERM" | "SIGINT"));
        let is_full = self.world.disk.is_some() && words.contains(DISK_FULL);
        let saw_start = ended.events.iter().any(|event| event.kind == "session_started");
        match ended.end {
            End::Signal(9) if signal.is_some() && !is_asked => {}
            // Nobody listens before the session has begun.
            End::Signal(2 | 15) if is_asked && !saw_start => {}
            End::Code(130) if is_asked || self.only_stops => {}
            End::Code(0) => {
                let answer = ended.terminal().map(|event| event["answer"].clone());
                ensure!(answer.is_some_and(|answer| answer == FINAL), "another answer: {words}");
                return Ok(true);
            }
            End::Code(_) if is_full => {
                self.totals.note(totals::FULL_DISK);
                let bytes = self.dice.roll(8..=128) * 1024;
                if let Some(disk) = &self.world.disk {
                    disk.free(bytes as u64)?;
                }
            }
            End::Code(1) if words.contains("the program died 3 times") => {
                self.totals.note("turns ended by three deaths in one effect");
            }
            End::Code(2) if words.contains("nothing left to finish") => self.needs_prompt = true,
            // A child of the last process may hold its files for a moment.
            End::Code(2) if words.contains("is in use") => {
                self.totals.note("in use for a moment after a kill");
                self.world.wait_until_gone()?;
            }
            End::Code(5) if self.gave_up() => self.totals.note("turns ended by the provider"),
            end => bail!("it ended with {end:?} after {signal:?}: {words}"),
        }
        Ok(false)
    }

    /// Whether the last failure of the provider is one that is tried again, for a while.
    fn gave_up(&self) -> bool {
        let failure = self.journal.entries.iter().rev().find_map(|entry| match &entry.record {
            Record::ModelFailed(failed) => Some(failed.kind),
            _ => None,
        });
        failure.is_some_and(heeler_core::ProviderErrorKind::is_transient)
    }

    fn check_end(&self) -> Result<()> {
        self.world.wait_until_gone()?;
        check::valid(&self.server.violations())?;
        check::effects(&self.world, &self.workload, &self.journal)?;
        let made: Vec<&str> = self.workload.files.keys().map(String::as_str).collect();
        self.world.check_leftovers(&self.journal.session, &made)
    }
}
