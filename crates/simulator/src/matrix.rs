//! Which fault met which pending effect, and how often.

use std::fmt;

use heeler_core::{Effect, EffectKind, Entry, Record, WakeCause};

use crate::run::Arm;

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($name:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $kind { $($name,)* }

        impl $kind {
            const ALL: &[Self] = &[$(Self::$name,)*];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

names! {
    /// What goes wrong, or comes at a bad moment.
    Fault {
        Killed = "process killed",
        PowerLost = "power lost",
        TornAppend = "append torn",
        RefusedAppend = "append refused",
        Interrupt = "interrupt",
        WallTime = "wall time over",
        Steer = "steer",
        SteerTwice = "steer twice",
        TakeBack = "take back",
        Queue = "input while running",
        Approve = "approve",
        ApproveTwice = "approve twice",
        Deny = "deny",
        DenyAndStop = "deny and stop",
        Edit = "approve edited",
        LeavePlan = "leave plan mode",
        Grant = "approve for session",
        Rule = "rule granted",
        Limits = "limits changed",
        Policy = "policy changed",
        Settings = "settings changed",
        System = "prompt changed",
        Compact = "compact by hand",
        Undo = "compaction undone",
        Rename = "session renamed",
        Fork = "session forked",
        Stale = "stale outcome",
        ModelTransient = "model overloaded",
        ModelCut = "stream cut",
        ModelOverflow = "context overflow",
        ModelFatal = "model refuses request",
        ReasoningRefused = "reasoning refused",
        ModelSpoiled = "odd answer",
        CallFailed = "tool failed",
        CallHung = "tool hung",
        SummaryFailed = "summary failed",
        Reread = "answer read again",
        WorkEnds = "background result",
        WorkCancelled = "background cancelled",
        WorkLost = "background lost",
        FactsChanged = "facts changed",
        SlowAppend = "append slow",
        DropTurn = "turn dropped",
        Late = "decide late",
        Tools = "tools changed",
        ModelStalled = "stream stalls",
        ModelCrashed = "provider panics",
        CallCrashed = "tool panics",
        SlowReader = "slow watcher",
        LostReader = "watcher dropped",
        Closed = "closed in the middle",
        Halted = "halted in the middle",
        WorkAwaited = "background awaited",
        WorkClosed = "background at close",
    }
}

names! {
    /// What was pending when it happened.
    Pending {
        Epoch = "epoch",
        Compact = "compact",
        Trim = "trim",
        Prune = "prune",
        Model = "model",
        Plan = "plan",
        Ask = "ask",
        Run = "run",
        Retry = "retry",
        Wall = "wall",
        Finish = "finish",
        Idle = "idle",
    }
}

impl Pending {
    fn of(effect: &Effect) -> Self {
        match &effect.kind {
            EffectKind::StartEpoch { .. } => Self::Epoch,
            EffectKind::Compact { .. } => Self::Compact,
            EffectKind::Trim(_) => Self::Trim,
            EffectKind::Prune(_) => Self::Prune,
            EffectKind::CallModel { .. } => Self::Model,
            EffectKind::PlanCall { .. } => Self::Plan,
            EffectKind::AskPermission { .. } => Self::Ask,
            EffectKind::RunCall { .. } => Self::Run,
            EffectKind::Wake { cause: WakeCause::Retry, .. } => Self::Retry,
            EffectKind::Wake { cause: WakeCause::WallTime, .. } => Self::Wall,
            EffectKind::FinishTurn { .. } => Self::Finish,
        }
    }

    /// The effect that a record is all there is to: it is written with what made it due, and only
    /// meanwhile can anything meet it.
    fn written_with(entry: &Entry) -> Option<Self> {
        match &entry.record {
            Record::EpochStarted(_) => Some(Self::Epoch),
            Record::Trimmed(_) => Some(Self::Trim),
            Record::Pruned(_) => Some(Self::Prune),
            Record::CallPlanned { .. } => Some(Self::Plan),
            _ => None,
        }
    }
}

/// What is pending at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment([bool; Pending::ALL.len()]);

impl Moment {
    /// The moment at which effects are due and records are being written.
    pub(crate) fn of(pending: &[Effect], writing: &[Entry]) -> Self {
        let mut seen = [false; Pending::ALL.len()];
        pending.iter().for_each(|effect| seen[Pending::of(effect) as usize] = true);
        // What is written while somebody is asked follows from the answer.
        if !seen[Pending::Ask as usize] {
            let written = writing.iter().filter_map(Pending::written_with);
            written.for_each(|effect| seen[effect as usize] = true);
        }
        seen[Pending::Idle as usize] = pending.is_empty();
        Self(seen)
    }
}

/// Hits of each fault on each pending effect.
#[derive(Debug, Clone)]
pub struct Matrix {
    arm: Arm,
    hits: Vec<[u64; Pending::ALL.len()]>,
}

impl Matrix {
    /// No hits yet.
    pub(crate) fn of(arm: Arm) -> Self {
        Self { arm, hits: vec![[0; Pending::ALL.len()]; Fault::ALL.len()] }
    }

    /// Something happens while effects are due.
    pub(crate) fn hit(&mut self, fault: Fault, pending: &[Effect]) {
        self.meet(fault, Moment::of(pending, &[]));
    }

    /// Something meets what is pending at a moment.
    pub(crate) fn meet(&mut self, fault: Fault, Moment(seen): Moment) {
        let row = &mut self.hits[fault as usize];
        row.iter_mut().zip(seen).for_each(|(hits, seen)| *hits += u64::from(seen));
    }

    fn cells(&self) -> impl Iterator<Item = (Fault, Pending, u64)> {
        let faults = Fault::ALL.iter().filter(|fault| is_of(self.arm, **fault));
        faults.flat_map(|fault| {
            let row = self.hits[*fault as usize];
            Pending::ALL.iter().map(move |pending| (*fault, *pending, row[*pending as usize]))
        })
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (row, more) in self.hits.iter_mut().zip(&other.hits) {
            row.iter_mut().zip(more).for_each(|(hits, more)| *hits += more);
        }
    }

    /// Cells that can be reached and were, but fewer than `hits_min` times; by name.
    #[must_use]
    pub fn rare(&self, hits_min: u64) -> Vec<String> {
        let rare = self.cells().filter(|(fault, pending, hits)| {
            *hits < hits_min && is_reachable(self.arm, *fault, *pending)
        });
        rare.map(tell).collect()
    }

    /// Cells that were hit though they were held unreachable; by name.
    #[must_use]
    pub fn surprising(&self) -> Vec<String> {
        let surprising = self.cells().filter(|(fault, pending, hits)| {
            *hits > 0 && !is_reachable(self.arm, *fault, *pending)
        });
        surprising.map(tell).collect()
    }
}

fn tell((fault, pending, hits): (Fault, Pending, u64)) -> String {
    format!("{} x {}: {hits}", fault.name(), pending.name())
}

/// Whether a fault can come about in a simulation of this kind.
fn is_of(arm: Arm, fault: Fault) -> bool {
    match arm {
        Arm::Machine => (fault as usize) < Fault::SlowAppend as usize,
        // Outcomes come once, rules come with settings, and the engine keeps time by itself; the
        // provider around it keeps nothing, and forks are made where no engine runs.
        Arm::Engine => !matches!(
            fault,
            Fault::Stale | Fault::Rule | Fault::WallTime | Fault::Reread | Fault::Fork
        ),
    }
}

/// Whether a fault can meet an effect at all: what comes from an effect's own work meets that
/// effect and those that may be pending beside it.
fn is_reachable(arm: Arm, fault: Fault, pending: Pending) -> bool {
    use Pending::{Ask, Compact, Idle, Model, Plan, Run, Wall};
    match fault {
        Fault::Approve
        | Fault::ApproveTwice
        | Fault::Deny
        | Fault::DenyAndStop
        | Fault::Edit
        | Fault::LeavePlan
        | Fault::Grant => matches!(pending, Ask | Run | Wall | Plan),
        // A call that only looks may begin while the answer still streams.
        Fault::CallFailed | Fault::CallHung | Fault::CallCrashed => {
            matches!(pending, Ask | Run | Wall | Plan) || (arm, pending) == (Arm::Engine, Model)
        }
        Fault::ModelTransient
        | Fault::ModelCut
        | Fault::ModelOverflow
        | Fault::ModelFatal
        | Fault::ModelStalled
        | Fault::ModelCrashed
        | Fault::Reread
        | Fault::ModelSpoiled => matches!(pending, Model | Wall),
        // It is found out when a call is about to start.
        Fault::FactsChanged => matches!(pending, Ask | Run | Wall | Plan),
        Fault::ReasoningRefused => matches!(pending, Model | Compact | Wall),
        Fault::SummaryFailed => matches!(pending, Compact | Wall),
        // What is idle has nothing to interrupt, and nothing to wait for.
        Fault::WallTime | Fault::Interrupt | Fault::Queue => pending != Idle,
        _ => true,
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<22}", "fault \\ pending")?;
        for pending in Pending::ALL {
            write!(f, "{:>9}", pending.name())?;
        }
        for fault in Fault::ALL.iter().filter(|fault| is_of(self.arm, **fault)) {
            write!(f, "\n{:<22}", fault.name())?;
            for pending in Pending::ALL {
                match self.hits[*fault as usize][*pending as usize] {
                    0 if !is_reachable(self.arm, *fault, *pending) => write!(f, "{:>9}", "-")?,
                    hits => write!(f, "{hits:>9}")?,
                }
            }
        }
        Ok(())
    }
}
