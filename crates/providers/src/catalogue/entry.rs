//! One model of the catalogue, as the file has it and as it is asked for.

use heeler_core::{LongPrices, Prices};
use serde::Deserialize;

/// What is known of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Input and output together, in tokens.
    pub window: u64,
    /// The most it can write in one reply, in tokens.
    pub output_max: u64,
    /// What it charges.
    pub prices: Prices,
    /// What else it can do, in the order of [`Ability`].
    pub abilities: Vec<Ability>,
}

/// What a model can do beside reading and writing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// Sees images.
    Images,
    /// Calls tools.
    Tools,
    /// Reasons before it answers.
    Reasoning,
    /// How much it reasons is set by a name, such as `high`.
    Effort,
    /// How much it reasons is set by a number of tokens.
    Budget,
}

impl Ability {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Images => "images",
            Self::Tools => "tools",
            Self::Reasoning => "reasoning",
            Self::Effort => "effort",
            Self::Budget => "budget",
        }
    }
}

impl CatalogueEntry {
    /// Whether the model can do this.
    #[must_use]
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities.contains(&ability)
    }
}

/// One block of `models.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model {
    pub(super) name: String,
    #[serde(default)]
    aliases: Vec<String>,
    window: u64,
    output_max: u64,
    prices: MillionPrices,
    long: Option<LongMillionPrices>,
    abilities: Vec<Ability>,
}

impl Model {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.aliases.iter().chain([&self.name]).map(String::as_str)
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    pub(super) fn entry(self) -> CatalogueEntry {
        let long = self.long.map(|long| {
            let prices = long.prices.per_token(None);
            LongPrices {
                over: long.over,
                input: prices.input,
                output: prices.output,
                cache_write: prices.cache_write,
                cache_read: prices.cache_read,
            }
        });
        CatalogueEntry {
            window: self.window,
            output_max: self.output_max,
            prices: self.prices.per_token(long),
            abilities: self.abilities,
        }
    }
}

/// Dollars per million tokens.
#[derive(Deserialize)]
struct MillionPrices {
    input: f64,
    output: f64,
    /// The input's where there is none.
    cache_write: Option<f64>,
    /// The input's where there is none.
    cache_read: Option<f64>,
}

#[derive(Deserialize)]
struct LongMillionPrices {
    over: u64,
    #[serde(flatten)]
    prices: MillionPrices,
}

impl MillionPrices {
    fn per_token(&self, long: Option<LongPrices>) -> Prices {
        // A dollar per million tokens is a thousand billionths per token.
        let billionths = |dollars: f64| (dollars * 1000.0).round() as u64;
        Prices {
            input: billionths(self.input),
            output: billionths(self.output),
            cache_write: billionths(self.cache_write.unwrap_or(self.input)),
            cache_read: billionths(self.cache_read.unwrap_or(self.input)),
            long,
        }
    }
}
