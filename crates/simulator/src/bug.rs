//! The bugs seeded in the shipped code, of the machine and of the engine.

use heeler_engine::bugs as engine;
use heeler_turn::bugs as machine;

use crate::run::Arm;

/// A bug that can be switched on, and the simulation that has to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// One of the machine's.
    Machine(machine::Bug),
    /// One of the engine's.
    Engine(engine::Bug),
}

impl Bug {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let machine = machine::Bug::ALL.iter().copied().map(Self::Machine);
        machine.chain(engine::Bug::ALL.iter().copied().map(Self::Engine))
    }

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine(bug) => bug.name(),
            Self::Engine(bug) => bug.name(),
        }
    }

    /// The simulation that has to find it.
    #[must_use]
    pub fn arm(self) -> Arm {
        match self {
            Self::Machine(_) => Arm::Machine,
            Self::Engine(_) => Arm::Engine,
        }
    }
}

/// Switches one bug on for this thread, or none. `false` when bugs are compiled out.
pub fn turn_on(bug: Option<Bug>) -> bool {
    let of_machine = bug.and_then(|bug| match bug {
        Bug::Machine(bug) => Some(bug),
        Bug::Engine(_) => None,
    });
    let of_engine = bug.and_then(|bug| match bug {
        Bug::Engine(bug) => Some(bug),
        Bug::Machine(_) => None,
    });
    machine::turn_on(of_machine) && engine::turn_on(of_engine)
}
