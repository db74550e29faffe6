//! What answers used and cost, counted by the checker itself: `core` counts for the machine.

use heeler_core::{Cost, Prices, Usage};

/// Adds what one more answer used.
pub(super) fn add(sum: &mut Usage, more: &Usage) {
    sum.input += more.input;
    sum.output += more.output;
    sum.cache_write += more.cache_write;
    sum.cache_read += more.cache_read;
    sum.reasoning += more.reasoning;
    sum.is_estimated |= more.is_estimated;
    if let Some(Cost(more)) = more.charged {
        let Cost(before) = sum.charged.unwrap_or_default();
        sum.charged = Some(Cost(before + more));
    }
}

/// Whether what is written of an answer is what its provider told, but for an estimate of what it told
/// nothing of, which is marked.
pub(crate) fn is_as_told(told: &Usage, written: &Usage) -> bool {
    let mut estimated = *told;
    if read(told) == 0 {
        estimated.input = written.input;
    }
    if told.output == 0 {
        estimated.output = written.output;
    }
    estimated.is_estimated = estimated != *told;
    read(written) > 0 && *written == estimated
}

/// All that the model read and wrote; reasoning is in what it wrote.
pub(super) fn tokens(usage: &Usage) -> u64 {
    read(usage) + usage.output
}

/// What it cost: what the provider says, else each part at its own price, which is another one
/// where the request is long.
pub(super) fn cost(usage: &Usage, prices: Option<&Prices>) -> Option<Cost> {
    if usage.charged.is_some() {
        return usage.charged;
    }
    let prices = prices?;
    let (input, output, cache_write, cache_read) = match prices.long {
        Some(long) if read(usage) > long.over => {
            (long.input, long.output, long.cache_write, long.cache_read)
        }
        _ => (prices.input, prices.output, prices.cache_write, prices.cache_read),
    };
    let written = usage.output * output;
    let cached = usage.cache_write * cache_write + usage.cache_read * cache_read;
    Some(Cost(usage.input * input + cached + written))
}

fn read(usage: &Usage) -> u64 {
    usage.input + usage.cache_write + usage.cache_read
}
