//! When a turn ends whatever the model wants.

use heeler_core::{LimitKind, Reserve};

use crate::state::{State, Turn};

/// How many processes may die in one effect before the turn ends with an error.
pub const DEATHS_MAX: u32 = 3;
/// The smallest output limit worth sending; below it the turn ends instead.
pub const OUTPUT_TOKENS_MIN: u64 = 256;
/// The context limit when neither the catalogue nor the settings know one, in estimated tokens.
pub const CONTEXT_LIMIT_DEFAULT: u64 = 180_000;

/// What the next model call may cost at most, or the limit that forbids it.
///
/// The output limit shrinks to what the turn has left, so that a budget is used up rather than
/// given back, but never below [`OUTPUT_TOKENS_MIN`].
///
/// # Errors
/// The limit that is reached.
pub fn reserve(state: &State, turn: &Turn) -> Result<Reserve, LimitKind> {
    let limits = &state.settings.limits;
    if limits.rounds != 0 && turn.rounds_spent >= limits.rounds {
        return Err(LimitKind::Rounds);
    }
    let input = state.estimate();
    let mut output = state.settings.model.output_max.max(1);
    let output_min = OUTPUT_TOKENS_MIN.min(output);
    if limits.tokens != 0 {
        let left = limits.tokens.saturating_sub(turn.tokens_spent).saturating_sub(input);
        output = output.min(left);
    }
    if let (1.., Some(prices)) = (limits.cost, &state.settings.model.prices) {
        let input_cost = input.saturating_mul(prices.input.max(prices.cache_write));
        let left = limits.cost.saturating_sub(turn.cost_spent.0).saturating_sub(input_cost);
        // A free model costs nothing, however long it answers.
        let affordable = left.checked_div(prices.output).unwrap_or(u64::MAX);
        if affordable < output_min {
            return Err(LimitKind::Cost);
        }
        output = output.min(affordable);
    }
    if output < output_min {
        return Err(LimitKind::Tokens);
    }
    Ok(Reserve { input, output })
}
