//! The drafts of the standard, and what tells them apart.

use serde_json::{Map, Value};

/// In the order in which they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Four,
    Six,
    Seven,
    Of2019,
    Of2020,
}

/// How a keyword's value holds schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// It is one.
    One,
    /// It is a list of some.
    Several,
    /// It is either.
    OneOrSeveral,
    /// It names some.
    Named,
    /// It names some, or what else is demanded.
    NamedOrNames,
}

impl Draft {
    /// What `$schema` says.
    pub(crate) fn named(uri: &str) -> Option<Self> {
        let name = uri.trim_end_matches('#');
        let name = name.strip_prefix("https://").or_else(|| name.strip_prefix("http://"))?;
        match name.strip_prefix("json-schema.org/")? {
            "draft-04/schema" => Some(Self::Four),
            "draft-06/schema" => Some(Self::Six),
            "draft-07/schema" => Some(Self::Seven),
            "draft/2019-09/schema" => Some(Self::Of2019),
            "draft/2020-12/schema" => Some(Self::Of2020),
            _ => None,
        }
    }

    /// The name of a schema, by which others refer to it.
    pub(crate) fn id(self, schema: &Value) -> Option<&Value> {
        schema.get(if self == Self::Four { "id" } else { "$id" })
    }

    /// A reference is all there is in a schema, whatever stands beside it.
    pub(crate) fn is_reference(self, schema: &Value) -> bool {
        self <= Self::Seven && schema.get("$ref").is_some_and(Value::is_string)
    }

    /// Where the schemas in a schema of these keywords are.
    pub(crate) fn holds(self, keyword: &str, keywords: &Map<String, Value>) -> Option<Holds> {
        let lists_items = || keywords.get("items").is_some_and(Value::is_array);
        Some(match keyword {
            "additionalProperties" | "not" => Holds::One,
            "additionalItems" if self < Self::Of2020 || lists_items() => Holds::One,
            "contains" | "propertyNames" if self >= Self::Six => Holds::One,
            "if" | "then" | "else" if self >= Self::Seven => Holds::One,
            "unevaluatedItems" | "unevaluatedProperties" if self >= Self::Of2019 => Holds::One,
            "contentSchema" if self >= Self::Of2019 => Holds::One,
            "items" => Holds::OneOrSeveral,
            "allOf" | "anyOf" | "oneOf" => Holds::Several,
            "prefixItems" if self >= Self::Of2020 => Holds::Several,
            "definitions" | "properties" | "patternProperties" => Holds::Named,
            "$defs" | "dependentSchemas" if self >= Self::Of2019 => Holds::Named,
            "dependencies" => Holds::NamedOrNames,
            _ => return None,
        })
    }
}
