//! When a process is struck, and how.

use super::running::Running;
use crate::dice::Dice;

/// One strike.
#[derive(Debug)]
pub(super) struct Strike {
    moment: Moment,
    pub(super) means: Means,
}

/// How a process is struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// SIGKILL.
    Kill,
    /// SIGTERM, so many times.
    Terminate { times: usize },
    /// SIGINT, so many times.
    Interrupt { times: usize },
    /// SIGSTOP; somebody else tries to open the session; then this.
    Stop { then: AfterStop },
}

/// What follows a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterStop {
    Continue,
    Kill,
}

/// The moment, by what can be seen from outside.
#[derive(Debug)]
enum Moment {
    /// So many events were seen.
    Events(usize),
    /// An event of this type was seen, so many polls ago.
    EventOf(&'static str, usize),
    /// The journal grew by so many records.
    Records(usize),
    /// The journal grew by so many bytes.
    Bytes(usize),
    /// So many polls passed.
    Polls(usize),
}

impl Strike {
    pub(super) fn draw(dice: &mut Dice) -> Self {
        let moment = match dice.roll(0..=9) {
            0 | 1 => Moment::Events(dice.roll(1..=60)),
            2..=4 => {
                let kinds = [
                    "attempt_started",
                    "text_delta",
                    "tool_input_delta",
                    "call_started",
                    "call_started",
                    "call_finished",
                    "retry",
                    "usage",
                ];
                Moment::EventOf(dice.pick(kinds), dice.pick([0, 0, 1, 2, 5, 20, 60]))
            }
            5 | 6 => Moment::Records(dice.roll(1..=30)),
            7 => Moment::Bytes(dice.roll(1..=30_000)),
            8 => Moment::Polls(dice.roll(0..=25)),
            _ => Moment::Polls(dice.roll(0..=300)),
        };
        let times = dice.pick([1, 1, 2]);
        let means = match dice.roll(0..=15) {
            0 | 1 => Means::Terminate { times },
            2 | 3 => Means::Interrupt { times },
            4 => Means::Stop { then: AfterStop::Kill },
            5 => Means::Stop { then: AfterStop::Continue },
            _ => Means::Kill,
        };
        Self { moment, means }
    }

    /// Whether the moment is there. `growth` reads what the journal grew by.
    pub(super) fn is_due(&self, running: &Running, growth: impl FnOnce() -> Growth) -> bool {
        match self.moment {
            Moment::Events(n) => n <= running.events.len(),
            Moment::EventOf(kind, polls) => {
                let first = running.events.iter().find(|event| event.kind == kind);
                first.is_some_and(|event| event.poll + polls <= running.polls)
            }
            Moment::Polls(n) => n <= running.polls,
            Moment::Records(n) => n <= growth().records,
            Moment::Bytes(n) => n <= growth().bytes,
        }
    }
}

/// What a journal grew by since its process began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    pub(super) records: usize,
    pub(super) bytes: usize,
}
