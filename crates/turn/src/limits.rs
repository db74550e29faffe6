//! When a turn ends whatever the model wants.

use heeler_core::{LimitKind, Reserve, Settings, ThinkingSettings};

use crate::bugs::{Bug, is_on};
use crate::state::{Phase, State, Turn};

/// How many processes may die in one effect before the turn ends with an error.
pub const DEATHS_MAX: u32 = 3;
/// The smallest output limit worth sending; below it the turn ends instead.
pub const OUTPUT_TOKENS_MIN: u64 = 256;
/// How often hooks may refuse one turn its end.
pub const ENDS_REFUSED_MAX: u32 = 8;
/// How often the input of one call may be changed by those who are asked about it.
pub const EDITS_MAX: u32 = 8;
/// How often a call may be judged again since it touches something else when it is about to start.
pub const FACTS_CHANGED_MAX: u32 = 8;
/// The most calls that a request to leave plan mode names.
pub const PLAN_CALLS_NAMED_MAX: usize = 32;
/// The context limit when neither the catalogue nor the settings know one, in estimated tokens.
pub const CONTEXT_LIMIT_DEFAULT: u64 = 180_000;
/// The most tokens a summary may have, beside those that the model thinks with first.
pub const SUMMARY_TOKENS_MAX: u64 = 8192;

/// The most estimated tokens a request may have under these settings.
#[must_use]
pub fn context_limit(settings: &Settings) -> u64 {
    let model = &settings.model;
    settings.estimate.context_limit.unwrap_or_else(|| match model.window {
        Some(window) => window.saturating_sub(model.output_max).max(1),
        None => CONTEXT_LIMIT_DEFAULT,
    })
}

/// What the next model call may cost at most, or the limit that forbids it.
///
/// The output limit shrinks to what the turn has left, so that a budget is used up rather than
/// given back, but never below [`OUTPUT_TOKENS_MIN`].
///
/// # Errors
/// The limit that is reached.
pub fn reserve(state: &State, turn: &Turn) -> Result<Reserve, LimitKind> {
    let limits = &state.settings.limits;
    let rounds_max = limits.rounds.saturating_add(u32::from(is_on(Bug::RoundOverrun)));
    if limits.rounds != 0 && turn.rounds_spent >= rounds_max {
        return Err(LimitKind::Rounds);
    }
    let output_max = state.settings.model.output_max.max(1);
    // A request that is out already does not deliver what was queued since.
    let input = match turn.phase {
        Phase::Model { started: true, .. } => state.estimate(),
        _ => state.estimate_due(),
    };
    let output_min = OUTPUT_TOKENS_MIN.saturating_add(thinking_budget(&state.settings));
    afford(state, turn, input, output_min.min(output_max), output_max)
}

/// What a compaction may cost at most: the first `cut` messages read, a whole summary written.
///
/// # Errors
/// The limit that forbids it.
pub fn reserve_summary(state: &State, turn: &Turn, cut: usize) -> Result<Reserve, LimitKind> {
    let input = state.estimate_summary(cut, None);
    let output = summary_output_max(&state.settings);
    afford(state, turn, input, output, output)
}

/// The output limit of a summary's request.
#[must_use]
pub fn summary_output_max(settings: &Settings) -> u64 {
    let thoughts = match settings.model.parameters.thinking {
        Some(ThinkingSettings::Effort(_)) => SUMMARY_TOKENS_MAX,
        _ => thinking_budget(settings),
    };
    settings.model.output_max.clamp(1, SUMMARY_TOKENS_MAX.saturating_add(thoughts))
}

/// The tokens of each answer that the model may think with: no answer may be shorter.
fn thinking_budget(settings: &Settings) -> u64 {
    match settings.model.parameters.thinking {
        Some(ThinkingSettings::Budget(tokens)) => tokens,
        _ => 0,
    }
}

/// As much output as tokens and money are left for, from `output_min` to `output_max`.
fn afford(
    state: &State,
    turn: &Turn,
    input: u64,
    output_min: u64,
    output_max: u64,
) -> Result<Reserve, LimitKind> {
    let limits = &state.settings.limits;
    let mut output = output_max;
    if let (1.., Some(prices)) = (limits.cost, &state.settings.model.prices) {
        let prices = prices.to_reserve(input);
        let cache_write = if is_on(Bug::CostOverrun) { 0 } else { prices.cache_write };
        let input_cost = input.saturating_mul(prices.input.max(cache_write));
        let spent = turn.cost_spent.0.saturating_add(input_cost);
        let left = limits.cost.checked_sub(spent).ok_or(LimitKind::Cost)?;
        // A free model costs nothing, however long it answers.
        output = output.min(left.checked_div(prices.output).unwrap_or(u64::MAX));
        if output < output_min {
            return Err(LimitKind::Cost);
        }
    }
    // Without prices what providers charged is known all the same, once it is spent.
    if limits.cost != 0 && turn.cost_spent.0 >= limits.cost && state.settings.model.prices.is_none()
    {
        return Err(LimitKind::Cost);
    }
    if limits.tokens != 0 {
        let before = if is_on(Bug::TokenOverrun) { 0 } else { turn.tokens_spent };
        let spent = before.saturating_add(input);
        output = output.min(limits.tokens.saturating_sub(spent));
        if output < output_min {
            return Err(LimitKind::Tokens);
        }
    }
    Ok(Reserve { input, output })
}
