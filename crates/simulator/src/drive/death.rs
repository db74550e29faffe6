//! Processes that die: when, in the middle of what, and what is gone with them.

use heeler_core::{Effect, Timestamp};
use heeler_turn::{State, fork};

use super::people::is_cut_back;
use super::{Stop, World};
use crate::matrix::Fault;
use crate::store::Fate;

/// How often a process that dies leaves a session of which a fork goes on, in percent.
const FORKED: u32 = 8;
/// The same while the conversation is due to be cut back, as it seldom is.
const FORKED_WHILE_CUT: u32 = 50;

impl World<'_> {
    /// What is flying, and what only this process knew, is gone.
    pub(super) fn die(&mut self, loses_power: bool) {
        self.counts.crashes += 1;
        self.flights.clear();
        self.works.clear();
        self.queue.clear();
        self.compaction_wanted = false;
        self.undo_wanted = false;
        self.checker.process_died(&self.state, self.store.entries());
        if loses_power {
            self.store.lose_power(self.chance);
            self.lose_checkpoint();
        }
        let forked = if is_cut_back(&self.state.pending()) { FORKED_WHILE_CUT } else { FORKED };
        if !loses_power && self.chance.percent(forked) {
            self.fork();
        }
        let later = self.chance.pick(&[10, 0, 100_000]);
        // Another machine's clock may be behind.
        self.now = if self.chance.percent(10) { self.now - 50 } else { self.now + later };
    }

    /// What goes on is a fork of all there is.
    fn fork(&mut self) {
        let Ok(session) = "source".parse() else { return };
        let fork = fork::fork(self.store.entries(), &session, None, Timestamp(self.now));
        // Of a session in which nothing was said there is none.
        let Ok(fork) = fork else { return };
        // The process may have died right after it wrote.
        let mut forked = State::new();
        self.store.entries().iter().for_each(|entry| forked.apply(entry));
        self.matrix.hit(Fault::Fork, &forked.pending());
        self.store.continue_with(fork.closing);
    }

    pub(super) fn has_crash(&mut self) -> bool {
        let times = if self.works.is_empty() { 1 } else { 2 };
        self.scene.crashes_left > 0 && self.chance.percent(times * self.scene.crashes)
    }

    pub(super) fn crash(&mut self, pending: &[Effect]) -> Stop {
        self.scene.crashes_left = self.scene.crashes_left.saturating_sub(1);
        let loses_power = self.chance.percent(self.scene.power);
        self.matrix.hit(if loses_power { Fault::PowerLost } else { Fault::Killed }, pending);
        self.lose_works(pending);
        Stop::Dies { loses_power }
    }

    /// What goes on in the background ends with its process.
    pub(super) fn lose_works(&mut self, pending: &[Effect]) {
        if !self.works.is_empty() {
            self.matrix.hit(Fault::WorkLost, pending);
        }
    }

    pub(super) fn fate(&mut self) -> Fate {
        if !self.has_crash() {
            return Fate::Lives;
        }
        self.chance.pick(&[Fate::DiesBefore, Fate::DiesAfter, Fate::Torn, Fate::Refused])
    }
}
