//! What is known of models before asking them: window, output limit, prices, abilities.
//!
//! The data is `models.toml` beside this file. A look-up reads the one block that is asked for: a
//! process asks for one or two models in its life.

mod entry;
mod names;

pub use entry::{Ability, CatalogueEntry};
pub use names::{bare_name, full_name};

use entry::Model;
pub(crate) use names::undated;

/// The model that is used when nobody chose one.
pub const DEFAULT_MODEL: &str = "anthropic/claude-sonnet-5-5";

const DATA: &str = include_str!("models.toml");
const BLOCK: &str = "[[model]]\n";

/// Looks a model up by its full name `provider/NAME`, dated or not, or by a bare one that
/// [`full_name`] knows.
#[must_use]
pub fn lookup(model: &str) -> Option<CatalogueEntry> {
    let full = full_name(model)?;
    let name = names::priced_as(&full);
    find(&name).or_else(|| find(undated(&name)))
}

/// The full name of every model of the catalogue, aliases left out, in the order of the file: by
/// provider, the newest first.
#[must_use]
pub fn names() -> Vec<String> {
    blocks().map(|block| read(block).name).collect()
}

fn find(name: &str) -> Option<CatalogueEntry> {
    let quoted = format!("\"{name}\"");
    let named = blocks().filter(|block| block.contains(&quoted)).map(read);
    named.into_iter().find(|model| model.is_called(name)).map(Model::entry)
}

fn blocks() -> impl Iterator<Item = &'static str> {
    DATA.split(BLOCK).skip(1)
}

fn read(block: &str) -> Model {
    #[expect(clippy::expect_used, reason = "the file is part of the program and tested")]
    heeler_toml::read(block).expect("models.toml")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::{Expect, expect};
    use heeler_core::Prices;

    use super::*;

    #[test]
    fn models_are_found_by_all_their_names() {
        check("anthropic/claude-sonnet-4-5", expect!["200000 64000 3000/15000/3750/300"]);
        check("claude-sonnet-4-5-20250929", expect!["200000 64000 3000/15000/3750/300"]);
        check("claude-opus-4-20250514", expect!["200000 32000 15000/75000/18750/1500"]);
        check("claude-opus-4-0", expect!["200000 32000 15000/75000/18750/1500"]);
        check("claude-haiku-4-5-latest", expect!["200000 64000 1000/5000/1250/100"]);
        check(
            "claude-haiku-5-5",
            expect!["1000000 128000 100/500/125/10, over 100000: 500/2500/625/50"],
        );
        check(DEFAULT_MODEL, expect!["1000000 128000 2000/10000/2500/100"]);
        check(
            "gpt-5.5-2026-04-23",
            expect!["1050000 128000 5000/30000/5000/500, over 272000: 10000/45000/10000/1000"],
        );
        check("openai-chat/gpt-5-mini", expect!["400000 128000 250/2000/250/25"]);
        check("deepseek/deepseek-v4-flash", expect!["1000000 384000 300/1200/300/6"]);
        check("groq/openai/gpt-oss-120b", expect!["131072 65536 150/600/150/75"]);
        check("mistral/mistral-large-2512", expect!["262144 262144 500/1500/500/500"]);
    }

    #[test]
    fn other_models_are_unknown() {
        for model in ["", "/", "anthropic/", "claude-", "claude-next-9", "script:x", "sonnet"] {
            check(model, expect!["unknown"]);
        }
        check("openai/claude-opus-5", expect!["unknown"]);
        check("claude-sonnet-4-5-2025092", expect!["unknown"]);
        check("openrouter/gpt-5.5", expect!["unknown"]);
        check("gpt-oss-120b", expect!["unknown"]);
    }

    #[test]
    fn every_entry_is_plausible() {
        let mut called = BTreeSet::new();
        for block in blocks() {
            let model = read(block);
            for name in model.names() {
                assert!(called.insert(name.to_owned()), "{name} is there twice");
            }
            let (name, entry) = (model.name.clone(), model.entry());
            assert_eq!(lookup(&name), Some(entry.clone()), "{name}");
            assert!(entry.output_max <= entry.window, "{name}");
            assert!(entry.can(Ability::Tools), "{name}");
            let rungs = [entry.prices, entry.prices.at(u64::MAX)];
            for Prices { input, output, cache_write, cache_read, .. } in rungs {
                assert!(0 < cache_read && cache_read <= input, "{name}");
                assert!(input <= cache_write && cache_write <= output, "{name}");
            }
            assert!(rungs[0].input <= rungs[1].input && rungs[0].output <= rungs[1].output);
        }
        assert!(called.len() > 80);
    }

    fn check(model: &str, expected: Expect) {
        let found = lookup(model).map_or("unknown".to_owned(), |entry| {
            let rung = |prices: Prices| {
                let Prices { input, output, cache_write, cache_read, .. } = prices;
                format!("{input}/{output}/{cache_write}/{cache_read}")
            };
            let CatalogueEntry { window, output_max, prices, .. } = entry;
            let long = prices.long.map_or(String::new(), |long| {
                format!(", over {}: {}", long.over, rung(prices.at(u64::MAX)))
            });
            format!("{window} {output_max} {}{long}", rung(prices))
        });
        expected.assert_eq(&found);
    }
}
