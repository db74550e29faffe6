//! `models`: what is known of models beside the catalogue, and who answers when one cannot.

use heeler_core::{LongPrices, Prices};

use super::fields::{Fields, list, text, wrong};
use super::{Reading, Setting};
use crate::SettingsError;
use crate::document::{Entry, Node, Value};

/// The most models that one file may name as a fallback.
pub const FALLBACKS_MAX: usize = 16;
/// The most dollars a million tokens may cost: more is a typing error.
const PRICE_MAX: f64 = 1_000_000.0;
/// The most tokens of a window or a reply.
const TOKENS_MAX: i64 = 1_000_000_000;

/// What is known of one model; what is `None` stays as the catalogue has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelSetting {
    /// Input and output together, in tokens.
    pub window: Option<u64>,
    /// The most it can write in one reply, in tokens.
    pub output_max: Option<u64>,
    /// What it charges.
    pub prices: Option<Prices>,
}

impl Reading<'_> {
    pub(super) fn models(&mut self, node: &Node) -> Result<(), SettingsError> {
        let name = &self.source.name;
        let Value::Table(entries) = &node.value else {
            return Err(wrong(name, "models", node, "a table"));
        };
        for entry in entries {
            let read = self.model_or_fallback(entry);
            self.keep(read);
        }
        Ok(())
    }

    fn model_or_fallback(&mut self, entry: &Entry) -> Result<(), SettingsError> {
        let Entry { key, line, node } = entry;
        let path = format!("models.{key:?}");
        if key == "fallback" {
            return self.fallback(node);
        }
        if key.split_once('/').is_none_or(|(a, b)| a.is_empty() || b.is_empty()) {
            let why = format!(
                "`{path}` is no model; write its full name, as in \
                 [models.\"openai/gpt-6.2-sol\"], or `fallback` for a list of models"
            );
            return Err(SettingsError::at(&self.source.name, *line, why));
        }
        let value = self.model(&path, node)?;
        let setting = Setting { value, source: self.at(*line) };
        self.layer.models.push((key.clone(), setting));
        Ok(())
    }

    fn fallback(&mut self, node: &Node) -> Result<(), SettingsError> {
        let name = &self.source.name;
        let nodes = list(name, "models.fallback", node)?;
        if nodes.len() > FALLBACKS_MAX {
            let why = format!("`models.fallback` has more than {FALLBACKS_MAX} models");
            return Err(SettingsError::at(name, node.line, why));
        }
        let names = nodes.iter().map(|node| text(name, "models.fallback", node).map(str::to_owned));
        let value = names.collect::<Result<Vec<_>, _>>()?;
        self.layer.fallback = Some(Setting { value, source: self.at(node.line) });
        Ok(())
    }

    fn model(&self, path: &str, node: &Node) -> Result<ModelSetting, SettingsError> {
        let name = &self.source.name;
        let mut fields = Fields::of(name, path, node)?;
        let window = self.tokens(&mut fields, "window")?;
        let output_max = self.tokens(&mut fields, "output_max")?;
        let prices = fields.table("prices")?.map(|fields| self.prices(fields)).transpose()?;
        let long = fields.table("long")?.map(|fields| self.long(fields)).transpose()?;
        fields.finish(self.unknown())?;
        let prices = match (prices, long) {
            (Some(prices), long) => Some(Prices { long, ..prices }),
            (None, None) => None,
            (None, Some(_)) => {
                let why = format!("`{path}.long` needs `prices` beside it");
                return Err(SettingsError::at(name, node.line, why));
            }
        };
        Ok(ModelSetting { window, output_max, prices })
    }

    fn long(&self, mut fields: Fields<'_>) -> Result<LongPrices, SettingsError> {
        let over = self.tokens(&mut fields, "over")?;
        let Some(over) = over else { return Err(self.missing(&fields, "over")) };
        let Prices { input, output, cache_write, cache_read, .. } = self.prices(fields)?;
        Ok(LongPrices { over, input, output, cache_write, cache_read })
    }

    /// Dollars per million tokens; a cache costs what input costs, where nothing is said of it.
    fn prices(&self, mut fields: Fields<'_>) -> Result<Prices, SettingsError> {
        let mut price = |key| self.price(&mut fields, key);
        let (input, output) = (price("input")?, price("output")?);
        let (cache_write, cache_read) = (price("cache_write")?, price("cache_read")?);
        let Some(input) = input else { return Err(self.missing(&fields, "input")) };
        let Some(output) = output else { return Err(self.missing(&fields, "output")) };
        fields.finish(self.unknown())?;
        Ok(Prices {
            input,
            output,
            cache_write: cache_write.unwrap_or(input),
            cache_read: cache_read.unwrap_or(input),
            long: None,
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is cast is within the limits above"
    )]
    fn price(
        &self,
        fields: &mut Fields<'_>,
        key: &'static str,
    ) -> Result<Option<u64>, SettingsError> {
        let Some(node) = fields.take(key)? else { return Ok(None) };
        let dollars = match node.value {
            Value::Integer(number) => Some(f64::from(i32::try_from(number).unwrap_or(i32::MAX))),
            Value::Fraction(number) => Some(number),
            _ => None,
        };
        let dollars = dollars.filter(|dollars| (0.0..=PRICE_MAX).contains(dollars));
        let expected = "dollars per million tokens, from 0 to 1000000";
        let wrong = || wrong(&self.source.name, &fields.path_of(key), node, expected);
        // A dollar per million tokens is a thousand billionths per token.
        dollars.map(|dollars| Some((dollars * 1000.0).round() as u64)).ok_or_else(wrong)
    }

    fn tokens(
        &self,
        fields: &mut Fields<'_>,
        key: &'static str,
    ) -> Result<Option<u64>, SettingsError> {
        let Some(node) = fields.take(key)? else { return Ok(None) };
        match node.value {
            Value::Integer(tokens @ 1..=TOKENS_MAX) => Ok(Some(tokens.unsigned_abs())),
            _ => {
                let path = fields.path_of(key);
                Err(wrong(
                    &self.source.name,
                    &path,
                    node,
                    "a number of tokens from 1 to 1000000000",
                ))
            }
        }
    }

    fn missing(&self, fields: &Fields<'_>, key: &str) -> SettingsError {
        let why = format!("`{}` is missing; add it", fields.path_of(key));
        SettingsError::at(&self.source.name, fields.line(), why)
    }
}
