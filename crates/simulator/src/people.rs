//! What people and programs answer when they are asked, in both simulations.

use heeler_core::{Decision, Mode, RuleEffect};

use crate::chance::Chance;
use crate::matrix::Fault;
use crate::{scene, tools};

/// How people answer a request.
pub(crate) const ANSWERS: [Fault; 7] = [
    Fault::Approve,
    Fault::ApproveTwice,
    Fault::Deny,
    Fault::Grant,
    Fault::DenyAndStop,
    Fault::Edit,
    Fault::LeavePlan,
];

/// An answer when nobody says what it should be.
pub(crate) fn decision(chance: &mut Chance) -> Decision {
    match chance.below(10) {
        9 => leave_plan(chance),
        8 => edit(chance),
        0..4 => Decision::Once,
        4 => grant(chance),
        5 | 6 => Decision::Deny { reason: None },
        _ => Decision::DenyAndStop { reason: Some("enough".into()) },
    }
}

/// Plan mode is left, or was to be for a mode that a decision cannot give.
pub(crate) fn leave_plan(chance: &mut Chance) -> Decision {
    Decision::LeavePlan { mode: chance.pick(&[Mode::Ask, Mode::AcceptEdits, Mode::Bypass]) }
}

/// An approval of another input.
pub(crate) fn edit(chance: &mut Chance) -> Decision {
    let n = chance.below(5);
    let input = if chance.percent(10) { tools::broken_input() } else { tools::input(n) };
    Decision::Edited { input }
}

/// An approval for more than this call.
pub(crate) fn grant(chance: &mut Chance) -> Decision {
    // One that forbids grants nothing.
    let effect = chance.pick(&[RuleEffect::Allow, RuleEffect::Allow, RuleEffect::Deny]);
    match scene::rule(effect, chance) {
        Some(rule) if chance.percent(30) => Decision::Always { rule },
        Some(rule) => Decision::Session { rule },
        None => Decision::Once,
    }
}
