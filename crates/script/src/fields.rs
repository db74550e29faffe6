//! Kinds of field value: one or a list of them, fields by name, and a regular expression.

use std::fmt;
use std::marker::PhantomData;

use regex::Regex;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A list that may be written as its only element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl From<&str> for OneOrMany<String> {
    fn from(text: &str) -> Self {
        Self(vec![text.to_owned()])
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items)
    }
}

impl<T> FromIterator<T> for OneOrMany<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<'de> Deserialize<'de> for OneOrMany<String> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor)
    }
}

impl<'de> Deserialize<'de> for OneOrMany<bool> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BoolsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = OneOrMany<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany)
    }
}

struct BoolsVisitor;

impl<'de> Visitor<'de> for BoolsVisitor {
    type Value = OneOrMany<bool>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false or a list of them")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(OneOrMany(vec![value]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany)
    }
}

/// Fields by name: a derived reader would take a list for them, by their places.
pub(crate) struct Named<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamedVisitor(PhantomData)).map(Self)
    }
}

struct NamedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NamedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fields by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields))
    }
}

/// Reads a field whose value has fields.
pub(crate) fn named<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Named::deserialize(deserializer).map(|Named(value)| value)
}

/// The same of one that may be null.
pub(crate) fn named_or_null<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let value = Option::<Named<T>>::deserialize(deserializer)?;
    Ok(value.map(|Named(value)| value))
}

/// The same of a list of them.
pub(crate) fn list_of_named<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list = Vec::<Named<T>>::deserialize(deserializer)?;
    Ok(list.into_iter().map(|Named(value)| value).collect())
}

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(Regex);

impl Pattern {
    /// The first group of the first match, or all of it when there is no group.
    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        let found = self.0.captures(text)?;
        found.get(1).or_else(|| found.get(0)).map(|found| found.as_str())
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text).map(Self).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            serde::de::Error::custom(format!("`{text}` is no regular expression: {reason}"))
        })
    }
}
