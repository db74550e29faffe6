//! What is known of models before asking them: window, output limit, prices.
//!
//! The data is `models.toml` beside this file.

use std::collections::HashMap;
use std::sync::OnceLock;

use heeler_core::Prices;
use serde::Deserialize;

/// The model that is used when nobody chose one.
pub const DEFAULT_MODEL: &str = "anthropic/claude-sonnet-5-5";

const ANTHROPIC_PREFIX: &str = "anthropic/";

/// What is known of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Input and output together, in tokens.
    pub window: u64,
    /// The most it can write in one reply, in tokens.
    pub output_max: u64,
    /// What it charges.
    pub prices: Prices,
}

/// Looks a model up by `anthropic/NAME` or a bare Claude name, dated or not.
#[must_use]
pub fn lookup(model: &str) -> Option<&'static CatalogueEntry> {
    let name = anthropic_name(model)?;
    let entries = entries();
    entries.get(name).or_else(|| entries.get(undated(name)))
}

/// The name Anthropic knows a model by: NAME of `anthropic/NAME`, or a bare Claude name.
#[must_use]
pub fn anthropic_name(model: &str) -> Option<&str> {
    match model.strip_prefix(ANTHROPIC_PREFIX) {
        Some("") => None,
        Some(name) => Some(name),
        None => model.starts_with("claude-").then_some(model),
    }
}

/// Every name of the catalogue, sorted, for messages that offer a choice.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = entries().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// `name` without a snapshot's date or `-latest`.
fn undated(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((base, "latest")) => base,
        Some((base, date)) if date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => name,
    }
}

fn entries() -> &'static HashMap<String, CatalogueEntry> {
    static ENTRIES: OnceLock<HashMap<String, CatalogueEntry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        #[expect(clippy::expect_used, reason = "the file is part of the program and tested")]
        let file: File = toml::from_str(include_str!("models.toml")).expect("models.toml");
        let with_names = |model: Model| {
            let entry = CatalogueEntry {
                window: model.window,
                output_max: model.output_max,
                prices: model.prices.per_token(),
            };
            model.aliases.into_iter().chain([model.name]).map(move |name| (name, entry))
        };
        file.model.into_iter().flat_map(with_names).collect()
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    model: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    window: u64,
    output_max: u64,
    prices: MillionPrices,
}

/// Dollars per million tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MillionPrices {
    input: f64,
    output: f64,
    cache_write: f64,
    cache_read: f64,
}

impl MillionPrices {
    fn per_token(&self) -> Prices {
        // A dollar per million tokens is a thousand billionths per token.
        let billionths = |dollars: f64| (dollars * 1000.0).round() as u64;
        Prices {
            input: billionths(self.input),
            output: billionths(self.output),
            cache_write: billionths(self.cache_write),
            cache_read: billionths(self.cache_read),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn models_are_found_by_all_their_names() {
        check("anthropic/claude-sonnet-4-5", expect!["200000 64000 3000 15000 3750 300"]);
        check("claude-sonnet-4-5-20250929", expect!["200000 64000 3000 15000 3750 300"]);
        check("claude-opus-4-20250514", expect!["200000 32000 15000 75000 18750 1500"]);
        check("claude-opus-4-0", expect!["200000 32000 15000 75000 18750 1500"]);
        check("claude-haiku-4-5-latest", expect!["200000 64000 1000 5000 1250 100"]);
        check("claude-haiku-5-5", expect!["1000000 128000 500 2500 625 50"]);
        check(DEFAULT_MODEL, expect!["1000000 128000 2000 10000 2500 100"]);
    }

    #[test]
    fn other_models_are_unknown() {
        for model in ["", "anthropic/", "claude-", "claude-next-9", "script:x", "gpt-5", "sonnet"] {
            check(model, expect!["unknown"]);
        }
        check("openai/claude-opus-5", expect!["unknown"]);
        check("claude-sonnet-4-5-2025092", expect!["unknown"]);
    }

    #[test]
    fn every_entry_is_plausible() {
        assert!(names().len() > 10);
        for name in names() {
            let entry = lookup(name).unwrap();
            assert!(entry.output_max < entry.window, "{name}");
            assert!(entry.prices.cache_read < entry.prices.input, "{name}");
            assert!(entry.prices.input < entry.prices.cache_write, "{name}");
            assert!(entry.prices.cache_write < entry.prices.output, "{name}");
        }
    }

    fn check(model: &str, expected: Expect) {
        let found = lookup(model).map_or("unknown".to_owned(), |entry| {
            let Prices { input, output, cache_write, cache_read } = entry.prices;
            let CatalogueEntry { window, output_max, .. } = entry;
            format!("{window} {output_max} {input} {output} {cache_write} {cache_read}")
        });
        expected.assert_eq(&found);
    }
}
