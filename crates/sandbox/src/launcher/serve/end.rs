//! How commands end by themselves, at a bound or by an order, with all that they left behind.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use super::super::tree;
use super::{LOOK_EVERY, Server};
use crate::confinement::{Bound, Boxes, Watch};
use crate::wire::Report;
use crate::{Exit, Killed};

/// How long the processes of one command may take to die.
const KILL_WAIT: Duration = Duration::from_secs(1);
/// How much longer it pauses than it looked, when there is much to look at.
const LOOK_SHARE: u32 = 2;

impl Server {
    /// Reports the commands that have ended, and reaps what they left.
    pub(super) fn child_ended(&mut self) {
        let ids: Vec<u64> = self.running.keys().copied().collect();
        let ended: Vec<(u64, Exit)> =
            ids.into_iter().filter_map(|id| Some((id, self.new_exit(id)?))).collect();
        // After their ends were seen, for what they left became our own child before; we have none
        // but commands. Where children cannot be listed, nothing is known.
        let is_alone = !self.reap_orphans() && cfg!(target_os = "linux");
        for (id, exit) in ended {
            let bound = self.final_bound(id);
            self.report(&Report::Exited { id, exit, is_gone: is_alone, bound });
            if is_alone {
                self.forget(id);
            }
        }
    }

    /// Kills the confined commands that have reached a bound.
    pub(super) fn look(&mut self) {
        let begun = Instant::now();
        let ids: Vec<u64> = self.running.keys().copied().collect();
        for id in ids {
            let Some(bound) = self.bound_of(id) else { continue };
            if let Some(running) = self.running.get_mut(&id) {
                running.bound.get_or_insert(bound);
            }
            self.kill_tree(id);
        }
        let pause = LOOK_EVERY.max(begun.elapsed() * LOOK_SHARE);
        self.next_look = tokio::time::Instant::now() + pause;
    }

    /// Asks a command's group to end, if the command is known still: then its number is its own.
    pub(super) fn ask_to_end(&self, id: u64) {
        let Some(running) = self.running.get(&id) else { return };
        let asked = [Some(Signal::TERM), running.has_terminal.then_some(Signal::HUP)];
        for signal in asked.into_iter().flatten() {
            // An error means that nobody is in it.
            let _ = rustix::process::kill_process_group(running.pid, signal);
        }
    }

    /// Kills what is left of a command, reports, and forgets it.
    pub(super) fn kill(&mut self, id: u64) {
        let killed = self.kill_tree(id);
        self.note_exit(id);
        // Once more, since what it left ran on until now.
        let bound = self.final_bound(id);
        self.forget(id);
        self.report(&Report::Killed { id, killed, bound });
    }

    /// Kills everything: the parent is gone.
    pub(super) fn kill_all(&mut self) {
        let deadline = Instant::now() + KILL_WAIT;
        let mut untouchable: Vec<Pid> = Vec::new();
        // Only once: what is dead is reaped below, and a group's number may then be another's.
        while let Some((_, running)) = self.running.pop_first() {
            let _ = rustix::process::kill_process_group(running.pid, Signal::KILL);
            self.released.push(running.pid);
        }
        // Nobody is in them any more, and who stands in them ends.
        self.boxes = Boxes::default();
        loop {
            self.reap_orphans();
            let mut left = tree::descendants(tree::children(rustix::process::getpid()));
            // The heir is the last to go: somebody may kill this process on the way.
            left.retain(|pid| !untouchable.contains(pid) && !self.is_own(*pid));
            if left.is_empty() || Instant::now() >= deadline {
                return;
            }
            untouchable.extend(tree::kill_and_wait(&left, deadline));
        }
    }

    fn kill_tree(&mut self, id: u64) -> Killed {
        let deadline = Instant::now() + KILL_WAIT;
        let mut doomed: BTreeSet<i32> = BTreeSet::new();
        // What ended by itself is not counted.
        self.reap_orphans();
        let mut untouchable: Vec<Pid> = Vec::new();
        loop {
            let Some(running) = self.running.get(&id) else { return Killed::default() };
            let pid = running.pid;
            // Counted before anything dies, since what dies may be reaped before the next look.
            let found = tree::descendants(self.roots(id));
            doomed.extend(found.into_iter().filter(|other| *other != pid).map(Pid::as_raw_pid));
            // First, since it reaches all of a group at once. An error means nobody is in it.
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
            self.note_exit(id);
            self.reap_orphans();
            let mut left = tree::descendants(self.roots(id));
            left.retain(|pid| !untouchable.contains(pid));
            if left.is_empty() || Instant::now() >= deadline {
                let n_survivors = left.len() + untouchable.len();
                let n_killed = doomed.len().saturating_sub(n_survivors);
                return Killed { n_killed, n_survivors };
            }
            untouchable.extend(tree::kill_and_wait(&left, deadline));
        }
    }

    /// The launcher's own children that belong to a command: itself while it lives, what it left
    /// behind, and adopted processes that belong to nobody.
    fn roots(&self, id: u64) -> Vec<Pid> {
        let mut roots = tree::children(rustix::process::getpid());
        roots.retain(|pid| !self.is_own(*pid));
        roots.extend(self.adopted_elsewhere());
        roots.retain(|pid| match self.running.iter().find(|(_, other)| other.pid == *pid) {
            Some((other_id, running)) => *other_id == id && running.exit.is_none(),
            None => {
                let mark = tree::mark_of(*pid);
                let owner = self.running.iter().find(|(_, other)| Some(other.mark) == mark);
                owner.is_none_or(|(owner_id, _)| *owner_id == id)
            }
        });
        roots
    }

    /// Whether a process is one of those that serve this one: it is nobody's command.
    fn is_own(&self, pid: Pid) -> bool {
        self.boxes.has_porter(pid) || self.heir.as_ref().is_some_and(|heir| heir.pid() == pid)
    }

    /// The bound that a confined command has reached now, if it is not being ended for another.
    fn bound_of(&self, id: u64) -> Option<Bound> {
        let running = self.running.get(&id).filter(|running| !running.waits)?;
        let watch = running.watch.as_ref()?;
        let mut pids = tree::descendants(self.roots(id));
        if !pids.contains(&running.pid) {
            // It ended, and what it wrote still counts.
            pids.push(running.pid);
        }
        watch.look(&pids)
    }

    /// Reports a command that ended, once.
    fn note_exit(&mut self, id: u64) {
        if let Some(exit) = self.new_exit(id) {
            let bound = self.final_bound(id);
            self.report(&Report::Exited { id, exit, is_gone: false, bound });
        }
    }

    /// How a command ended, the first time that it can be told.
    fn new_exit(&mut self, id: u64) -> Option<Exit> {
        let running = self.running.get_mut(&id).filter(|running| running.exit.is_none())?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = rustix::process::waitid(WaitId::Pid(running.pid), options).ok()??;
        let code = status.exit_status().map(Exit::Code);
        running.exit = code.or_else(|| status.terminating_signal().map(Exit::Signal));
        running.exit
    }

    /// The bound that a command reached in its life or just before its end. One that still waited
    /// did nothing: what came to be meanwhile is somebody else's.
    fn final_bound(&mut self, id: u64) -> Option<Bound> {
        let running = self.running.get_mut(&id).filter(|running| !running.waits)?;
        let changed = running.watch.as_ref().and_then(Watch::restore);
        running.bound = running.bound.take().or(changed);
        running.bound.clone()
    }

    fn forget(&mut self, id: u64) {
        if let Some(running) = self.running.remove(&id) {
            self.released.push(running.pid);
            self.reap_released();
        }
    }

    /// Reaps adopted processes and forgotten commands that are dead. Returns whether there were
    /// adopted ones, dead or not: what one of them leaves becomes our child in its place.
    fn reap_orphans(&mut self) -> bool {
        self.reap_released();
        let mut orphans = tree::children(rustix::process::getpid());
        orphans.retain(|pid| {
            !self.running.values().any(|running| running.pid == *pid) && !self.is_own(*pid)
        });
        for pid in &orphans {
            self.bury(*pid);
        }
        !orphans.is_empty() || !self.adopted_elsewhere().is_empty()
    }

    /// What commands left to the first processes of their namespaces.
    fn adopted_elsewhere(&self) -> Vec<Pid> {
        self.boxes.reapers().flat_map(tree::children).collect()
    }

    /// Reaps an adopted process if it is dead. What it wrote counts for its command, if that is
    /// watched.
    fn bury(&mut self, pid: Pid) {
        let mark = if self.has_watched() { tree::mark_of(pid) } else { None };
        let owner = self.running.values_mut().find(|running| Some(running.mark) == mark);
        // An error or nothing: it is not dead yet, or gone.
        let reap = || _ = reap(pid);
        match owner.and_then(|running| running.watch.as_mut()) {
            Some(watch) => watch.bury(reap),
            None => reap(),
        }
    }

    fn has_watched(&self) -> bool {
        self.running.values().any(|running| running.watch.is_some())
    }

    fn reap_released(&mut self) {
        self.released.retain(|pid| matches!(reap(*pid), Ok(None)));
    }
}

fn reap(pid: Pid) -> rustix::io::Result<Option<(Pid, rustix::process::WaitStatus)>> {
    rustix::process::waitpid(Some(pid), WaitOptions::NOHANG)
}
