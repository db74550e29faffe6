//! What a keyword may say.

use std::collections::HashSet;

use serde_json::{Number, Value};

use super::Read;
use crate::SchemaError;
use crate::document::below;
use crate::draft::Draft::{Four, Of2019, Seven, Six};
use crate::keyword::{Keyword, Limit, Types};
use crate::number;
use crate::problem::short;

/// Holds remarks, which demand nothing of a value, to what they may say.
pub(super) fn check(read: &Read<'_>) -> Result<(), SchemaError> {
    let draft = read.draft;
    match read.keyword {
        "$schema" | "title" | "description" | "format" => read.text().map(drop),
        "$comment" | "contentEncoding" | "contentMediaType" if draft >= Seven => {
            read.text().map(drop)
        }
        "examples" if draft >= Six => read.list().map(drop),
        "readOnly" | "writeOnly" if draft >= Seven => read.flag().map(drop),
        "deprecated" if draft >= Of2019 => read.flag().map(drop),
        "minContains" | "maxContains" if draft >= Of2019 => read.count().map(drop),
        "exclusiveMinimum" | "exclusiveMaximum" if draft == Four => read.flag().map(drop),
        "$vocabulary" if draft >= Of2019 => {
            let vocabulary = read.says.as_object().ok_or_else(|| read.wrong("is no object"))?;
            let is_told = vocabulary.values().all(Value::is_boolean);
            if is_told { Ok(()) } else { Err(read.wrong("has to say true or false of each")) }
        }
        _ => Ok(()),
    }
}

impl Read<'_> {
    pub(super) fn place(&self) -> String {
        below(&self.part.place, self.keyword)
    }

    pub(super) fn wrong(&self, why: &str) -> SchemaError {
        SchemaError::new(&self.place(), format!("{} {why}", short(self.says)))
    }

    pub(super) fn text(&self) -> Result<&str, SchemaError> {
        self.says.as_str().ok_or_else(|| self.wrong("is no text"))
    }

    pub(super) fn flag(&self) -> Result<bool, SchemaError> {
        self.says.as_bool().ok_or_else(|| self.wrong("is neither true nor false"))
    }

    pub(super) fn list(&self) -> Result<&Vec<Value>, SchemaError> {
        self.says.as_array().ok_or_else(|| self.wrong("is no list"))
    }

    pub(super) fn number(&self) -> Result<&Number, SchemaError> {
        self.says.as_number().ok_or_else(|| self.wrong("is no number"))
    }

    /// A number of things; one beyond all is as good as the largest.
    pub(super) fn count(&self) -> Result<u64, SchemaError> {
        let wrong = || self.wrong("is no whole number of things");
        let number = self.number()?;
        match number::whole(number) {
            Some(count) if count >= 0 => Ok(u64::try_from(count).unwrap_or(u64::MAX)),
            None if number::is_whole(number) && number.as_f64() > Some(0.0) => Ok(u64::MAX),
            _ => Err(wrong()),
        }
    }

    pub(super) fn factor(&self) -> Result<Number, SchemaError> {
        let number = self.number()?;
        let is_positive = number.as_f64().is_some_and(|number| number > 0.0);
        if is_positive { Ok(number.clone()) } else { Err(self.wrong("is not above zero")) }
    }

    /// A limit, which the oldest draft makes another by a word beside it.
    pub(super) fn limit(&self, limit: Limit) -> Result<Keyword, SchemaError> {
        let excludes =
            |keyword| self.draft == Four && self.keywords.get(keyword) == Some(&Value::Bool(true));
        let limit = match limit {
            Limit::AtLeast if excludes("exclusiveMinimum") => Limit::Above,
            Limit::AtMost if excludes("exclusiveMaximum") => Limit::Below,
            other => other,
        };
        Ok(Keyword::Limit(limit, self.number()?.clone()))
    }

    /// Names that differ.
    pub(super) fn names(&self) -> Result<Vec<String>, SchemaError> {
        let names = self.list()?.iter().map(|name| name.as_str().map(str::to_owned));
        let names = names.collect::<Option<Vec<_>>>();
        let names = names.ok_or_else(|| self.wrong("is no list of names"))?;
        let mut seen = HashSet::new();
        if !names.iter().all(|name| seen.insert(name)) {
            return Err(self.wrong("has a name twice"));
        }
        Ok(names)
    }

    pub(super) fn types(&self) -> Result<Types, SchemaError> {
        let names = match self.says {
            Value::String(name) => vec![name.clone()],
            _ => self.names()?,
        };
        let mut types = Types::default();
        for name in &names {
            let what = if self.says.is_string() { "is" } else { "has what is" };
            let unknown = || self.wrong(&format!("{what} no type of a JSON value"));
            types = types.with(Types::named(name).ok_or_else(unknown)?);
        }
        if names.is_empty() { Err(self.wrong("has to have a type")) } else { Ok(types) }
    }

    /// How many items are not for `items` to say.
    pub(super) fn prefix(&self) -> usize {
        let prefix = self.keywords.get("prefixItems").and_then(Value::as_array);
        prefix.filter(|_| self.draft > Of2019).map_or(0, Vec::len)
    }

    /// What an object says by name, each read as a keyword in this one's place.
    pub(super) fn pairs<T>(
        &self,
        mut read: impl FnMut(&str, &Read<'_>) -> Result<T, SchemaError>,
    ) -> Result<Vec<T>, SchemaError> {
        let pairs = self.says.as_object().ok_or_else(|| self.wrong("is no object"))?;
        let mut part = self.part.clone();
        part.place = self.place();
        let pair = |(name, says): (&String, &Value)| {
            read(name, &Read { keyword: name, says, part: &part, ..*self })
        };
        pairs.iter().map(pair).collect()
    }
}
