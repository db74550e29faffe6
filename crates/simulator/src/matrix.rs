//! Which fault met which pending effect, and how often.

use std::fmt;

use heeler_core::{Effect, EffectKind, WakeCause};

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($name:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $kind { $($name,)* }

        impl $kind {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

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
        Grant = "approve for session",
        Rule = "rule granted",
        Limits = "limits changed",
        Policy = "policy changed",
        Settings = "settings changed",
        System = "prompt changed",
        Compact = "compact by hand",
        Stale = "stale outcome",
        ModelTransient = "model overloaded",
        ModelCut = "stream cut",
        ModelOverflow = "context overflow",
        ModelFatal = "model refuses request",
        ModelSpoiled = "odd answer",
        CallFailed = "tool failed",
        CallHung = "tool hung",
        SummaryFailed = "summary failed",
    }
}

names! {
    /// What was pending when it happened.
    Pending {
        Epoch = "epoch",
        Compact = "compact",
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
            EffectKind::CallModel { .. } => Self::Model,
            EffectKind::PlanCall { .. } => Self::Plan,
            EffectKind::AskPermission { .. } => Self::Ask,
            EffectKind::RunCall { .. } => Self::Run,
            EffectKind::Wake { cause: WakeCause::Retry, .. } => Self::Retry,
            EffectKind::Wake { cause: WakeCause::WallTime, .. } => Self::Wall,
            EffectKind::FinishTurn { .. } => Self::Finish,
        }
    }
}

/// Hits of each fault on each pending effect.
#[derive(Debug, Clone)]
pub struct Matrix {
    hits: Vec<[u64; Pending::ALL.len()]>,
}

impl Default for Matrix {
    fn default() -> Self {
        Self { hits: vec![[0; Pending::ALL.len()]; Fault::ALL.len()] }
    }
}

impl Matrix {
    pub(crate) fn hit(&mut self, fault: Fault, pending: &[Effect]) {
        let row = &mut self.hits[fault as usize];
        let mut seen = [false; Pending::ALL.len()];
        pending.iter().for_each(|effect| seen[Pending::of(effect) as usize] = true);
        seen[Pending::Idle as usize] = pending.is_empty();
        row.iter_mut().zip(seen).for_each(|(hits, seen)| *hits += u64::from(seen));
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (row, more) in self.hits.iter_mut().zip(&other.hits) {
            row.iter_mut().zip(more).for_each(|(hits, more)| *hits += more);
        }
    }

    /// Cells that can be reached and were, but fewer than `hits_min` times; by name.
    #[must_use]
    pub fn rare(&self, hits_min: u64) -> Vec<String> {
        let mut rare = Vec::new();
        for fault in Fault::ALL {
            for pending in Pending::ALL {
                let hits = self.hits[*fault as usize][*pending as usize];
                if hits < hits_min && is_reachable(*fault, *pending) {
                    rare.push(format!("{} x {}: {hits}", fault.name(), pending.name()));
                }
            }
        }
        rare
    }

    /// Cells that were hit though they were held unreachable; by name.
    #[must_use]
    pub fn surprising(&self) -> Vec<String> {
        let mut surprising = Vec::new();
        for fault in Fault::ALL {
            for pending in Pending::ALL {
                let hits = self.hits[*fault as usize][*pending as usize];
                if hits > 0 && !is_reachable(*fault, *pending) {
                    surprising.push(format!("{} x {}: {hits}", fault.name(), pending.name()));
                }
            }
        }
        surprising
    }
}

/// Whether a fault can meet an effect at all: what comes from an effect's own work meets that
/// effect and those that may be pending beside it.
fn is_reachable(fault: Fault, pending: Pending) -> bool {
    use Pending::{Ask, Compact, Idle, Model, Plan, Run, Wall};
    match fault {
        Fault::Approve
        | Fault::ApproveTwice
        | Fault::Deny
        | Fault::DenyAndStop
        | Fault::Grant
        | Fault::CallFailed
        | Fault::CallHung => matches!(pending, Ask | Run | Wall | Plan),
        Fault::ModelTransient
        | Fault::ModelCut
        | Fault::ModelOverflow
        | Fault::ModelFatal
        | Fault::ModelSpoiled => matches!(pending, Model | Wall),
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
        for fault in Fault::ALL {
            write!(f, "\n{:<22}", fault.name())?;
            for pending in Pending::ALL {
                match self.hits[*fault as usize][*pending as usize] {
                    0 if !is_reachable(*fault, *pending) => write!(f, "{:>9}", "-")?,
                    hits => write!(f, "{hits:>9}")?,
                }
            }
        }
        Ok(())
    }
}
