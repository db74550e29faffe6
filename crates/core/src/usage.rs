//! Tokens and money.

use std::fmt;
use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens of one or more model calls. The four input and output counters do not overlap: `input`,
/// `cache_write` and `cache_read` are three parts of what the model read. A provider that counts
/// cached tokens within its input (OpenAI, OpenRouter and those compatible with them do, Anthropic
/// does not) is decoded with them taken out of `input`; reasoning stays within `output` for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// The part of `output` spent on reasoning, where the provider tells.
    pub reasoning: u64,
    /// What the provider says it charges for it, where it does: it knows better than any list of
    /// prices whom it asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charged: Option<Cost>,
    /// Whether some of it is an estimate, since a server told nothing of what it used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_estimated: bool,
}

impl Usage {
    /// What it costs: what the provider says, else by the prices, where they are known.
    #[must_use]
    pub fn cost(&self, prices: Option<&Prices>) -> Option<Cost> {
        self.charged.or_else(|| Some(prices?.cost(self)))
    }

    /// Whether it costs something that nobody knows: it came without a cost.
    #[must_use]
    pub fn is_unpriced(&self, cost: Option<Cost>) -> bool {
        cost.is_none() && self.total() > 0
    }

    /// Everything the model read: fresh, cached and newly cached.
    #[must_use]
    pub fn input_total(&self) -> u64 {
        self.input.saturating_add(self.cache_write).saturating_add(self.cache_read)
    }

    /// How much of the input was read from the cache, in whole percent; `None` without input,
    /// and where nobody told it.
    #[must_use]
    pub fn cache_hit_percent(&self) -> Option<u64> {
        if self.is_estimated {
            return None;
        }
        let (read, total) = (u128::from(self.cache_read), u128::from(self.input_total()));
        u64::try_from((read * 100).checked_div(total)?).ok()
    }

    /// Input and output together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_total().saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        if let Some(more) = other.charged {
            *self.charged.get_or_insert_default() += more;
        }
        self.is_estimated |= other.is_estimated;
    }
}

/// What a new epoch cost: input that the model had read before, and that could not be read from the
/// cache because what stands before it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reread {
    /// Tokens.
    pub tokens: u64,
    /// How much more they cost than the cache would have, when prices are known.
    pub cost: Option<Cost>,
}

impl std::ops::AddAssign for Reread {
    fn add_assign(&mut self, more: Self) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        if let Some(cost) = more.cost {
            *self.cost.get_or_insert_default() += cost;
        }
    }
}

impl Reread {
    /// Of a call that used this, when the one before it, in another epoch, had so much input.
    #[must_use]
    pub fn of(usage: &Usage, before: u64, prices: Option<Prices>) -> Option<Self> {
        let tokens = before.min(usage.input.saturating_add(usage.cache_write));
        // The cache's is the dearer one, so it is what would not have been paid.
        let cache_write = tokens.min(usage.cache_write);
        let paid = Usage { input: tokens - cache_write, cache_write, ..Usage::default() };
        let cached = Usage { cache_read: tokens, ..Usage::default() };
        let cost = prices.map(|prices| {
            let prices = prices.at(usage.input_total());
            Cost(prices.cost(&paid).0.saturating_sub(prices.cost(&cached).0))
        });
        (tokens > 0).then_some(Self { tokens, cost })
    }
}

/// Money in billionths of a US dollar, so that sums are exact.
///
/// ```
/// use heeler_core::Cost;
///
/// let mut cost = Cost::from_dollars(0.25);
/// cost += Cost(1_000_000);
/// assert_eq!((cost.dollars(), cost.to_string().as_str()), (0.251, "$0.2510"));
/// ```
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Cost(pub u64);

impl Cost {
    /// From dollars; negative and absurd amounts become the nearest possible one.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, which is what is wanted"
    )]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * 1e9).round() as u64)
    }

    /// In dollars.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.dollars())
    }
}

/// Money as it is told: a model whose prices nobody knows is not for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bill {
    /// What is known of it.
    pub cost: Cost,
    /// Whether there is more, which is not known.
    pub is_partial: bool,
    /// Whether some of the tokens are an estimate.
    pub is_estimated: bool,
}

impl Bill {
    /// Adds what a call used, and what it cost if that is known.
    pub fn add(&mut self, usage: &Usage, cost: Option<Cost>) {
        self.cost += cost.unwrap_or_default();
        self.is_partial |= usage.is_unpriced(cost);
        self.is_estimated |= usage.is_estimated;
    }
}

impl fmt::Display for Bill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { is_partial: false, cost, .. } => cost.fmt(f)?,
            Self { cost: Cost(0), .. } => f.write_str("cost not known")?,
            Self { cost, .. } => write!(f, "{cost} and what is not known")?,
        }
        f.write_str(if self.is_estimated { " (tokens estimated)" } else { "" })
    }
}

/// What a model charges, each in billionths of a dollar per token ($3 a million tokens = 3000).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    /// Fresh input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input written to the cache.
    pub cache_write: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// What long requests cost instead, where that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrices>,
}

/// What a whole request costs that is longer than most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongPrices {
    /// With more input than this, in tokens, whether cached or not.
    pub over: u64,
    /// Fresh input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input written to the cache.
    pub cache_write: u64,
    /// Input read from the cache.
    pub cache_read: u64,
}

impl Prices {
    /// What `usage` of one request costs by these prices, whatever the provider says.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Cost {
        let prices = self.at(usage.input_total());
        let parts = [
            (prices.input, usage.input),
            (prices.output, usage.output),
            (prices.cache_write, usage.cache_write),
            (prices.cache_read, usage.cache_read),
        ];
        Cost(parts.iter().fold(0, |sum, (price, n)| price.saturating_mul(*n).saturating_add(sum)))
    }

    /// The prices of a request with so many input tokens.
    #[must_use]
    pub fn at(&self, input_tokens: u64) -> Self {
        match self.long {
            Some(long) if input_tokens > long.over => Self {
                input: long.input,
                output: long.output,
                cache_write: long.cache_write,
                cache_read: long.cache_read,
                long: None,
            },
            _ => Self { long: None, ..*self },
        }
    }

    /// The prices to reserve for a request that is estimated at so many input tokens. It may turn
    /// out twice as long, and a budget has to hold all the same.
    #[must_use]
    pub fn to_reserve(&self, input_estimate: u64) -> Self {
        self.at(input_estimate.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_a_million_tokens_is_exact() {
        let prices =
            Prices { input: 3000, output: 15_000, cache_write: 3750, cache_read: 300, long: None };
        let usage = Usage { input: 1_000_000, output: 10, ..Usage::default() };
        assert_eq!(prices.cost(&usage), Cost(3_000_150_000));
        assert_eq!(Cost::from_dollars(0.25).0, 250_000_000);
        assert_eq!(Cost::from_dollars(-1.0), Cost(0));
    }

    #[test]
    fn what_a_new_epoch_cost_is_what_the_cache_would_have_spared() {
        let prices = Prices { input: 10, output: 20, cache_write: 12, cache_read: 1, long: None };
        let usage =
            Usage { input: 30, cache_write: 50, cache_read: 20, output: 9, ..Usage::default() };
        let of = |before| Reread::of(&usage, before, Some(prices));
        assert_eq!(of(0), None);
        assert_eq!(of(40), Some(Reread { tokens: 40, cost: Some(Cost(40 * 12 - 40)) }));
        let all = 50 * 12 + 30 * 10 - 80;
        assert_eq!(of(1000), Some(Reread { tokens: 80, cost: Some(Cost(all)) }));
        assert_eq!(Reread::of(&usage, 40, None), Some(Reread { tokens: 40, cost: None }));
        assert_eq!(Reread::of(&Usage::default(), 40, None), None);
        assert_eq!(
            (usage.cache_hit_percent(), Usage::default().cache_hit_percent()),
            (Some(20), None)
        );
    }

    #[test]
    fn a_long_request_costs_what_long_requests_cost_all_of_it() {
        let long = LongPrices { over: 100, input: 20, output: 30, cache_write: 25, cache_read: 2 };
        let prices =
            Prices { input: 10, output: 20, cache_write: 12, cache_read: 1, long: Some(long) };
        let usage = |cache_read| Usage { input: 50, output: 1, cache_read, ..Usage::default() };
        assert_eq!(prices.cost(&usage(50)), Cost(50 * 10 + 20 + 50));
        assert_eq!(prices.cost(&usage(51)), Cost(50 * 20 + 30 + 51 * 2));
        assert_eq!(prices.at(100), Prices { long: None, ..prices });
        assert_eq!((prices.to_reserve(50).input, prices.to_reserve(51).input), (10, 20));
        assert_eq!(prices.to_reserve(u64::MAX).output, 30);
        let short = r#"{"input":1,"output":2,"cache_write":3,"cache_read":4}"#;
        let old: Prices = serde_json::from_str(short).unwrap();
        assert_eq!((old.long, serde_json::to_string(&old).unwrap().as_str()), (None, short));
    }

    #[test]
    fn what_nobody_knows_the_price_of_is_not_told_as_free() {
        let used = Usage { input: 1, ..Usage::default() };
        let mut bill = Bill::default();
        assert_eq!(bill.to_string(), "$0.0000");
        // Known to be free, and not used at all.
        bill.add(&used, Some(Cost(0)));
        bill.add(&Usage::default(), None);
        assert_eq!(bill.to_string(), "$0.0000");
        bill.add(&used, None);
        assert_eq!(bill.to_string(), "cost not known");
        bill.add(&used, Some(Cost(5_000_000)));
        assert_eq!(bill.to_string(), "$0.0050 and what is not known");
        let mut bill = Bill::default();
        bill.add(&Usage { is_estimated: true, ..used }, Some(Cost(5_000_000)));
        bill.add(&used, Some(Cost(0)));
        assert_eq!(bill.to_string(), "$0.0050 (tokens estimated)");
    }

    #[test]
    fn what_a_provider_says_it_charges_counts_before_any_price() {
        let prices = Prices { input: 3, output: 0, cache_write: 0, cache_read: 0, long: None };
        let mut usage = Usage { input: 10, ..Usage::default() };
        assert_eq!((usage.cost(None), usage.cost(Some(&prices))), (None, Some(Cost(30))));
        let free = Usage { charged: Some(Cost(0)), ..usage };
        assert_eq!(free.cost(Some(&prices)), Some(Cost(0)));
        usage += Usage { charged: Some(Cost(5)), ..Usage::default() };
        usage += Usage { charged: Some(Cost(2)), ..Usage::default() };
        assert_eq!(usage.cost(Some(&prices)), Some(Cost(7)));
        // Records from before it was told are read, and written as they were.
        let old = r#"{"input":1,"output":2,"cache_write":3,"cache_read":4,"reasoning":5}"#;
        let read: Usage = serde_json::from_str(old).unwrap();
        assert_eq!((read.charged, serde_json::to_string(&read).unwrap().as_str()), (None, old));
    }

    #[test]
    fn tokens_and_money_add_up_and_never_overflow() {
        let usage = |times: u64| Usage {
            input: times,
            output: 2 * times,
            cache_write: 4 * times,
            cache_read: 8 * times,
            reasoning: times,
            charged: None,
            is_estimated: false,
        };
        let (mut usage, tens, sum) = (usage(1), usage(10), usage(11));
        assert_eq!((usage.input_total(), usage.total()), (13, 15));
        usage += tens;
        assert_eq!(usage, sum);
        usage += Usage { is_estimated: true, ..Usage::default() };
        usage += tens;
        assert!(usage.is_estimated);
        usage += Usage { input: u64::MAX, ..Usage::default() };
        assert_eq!((usage.input, usage.total()), (u64::MAX, u64::MAX));
        let mut cost = Cost::from_dollars(1.5);
        cost += Cost::from_dollars(0.25);
        assert_eq!((cost.dollars(), cost.to_string().as_str()), (1.75, "$1.7500"));
        cost += Cost(u64::MAX);
        assert_eq!(cost, Cost(u64::MAX));
    }
}
