//! Declarations of tools that a provider runs itself, or trained its models on, field by field.

use heeler_core::{ProviderItem, RawJson};
use serde::Serialize;
use serde_json::{Map, Value};

/// About where the user is, for tools that search the web.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct UserLocation {
    /// The city, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// The country, as two letters of ISO 3166-1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The region, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The time zone, as IANA names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// A declaration so far.
pub(crate) struct Declared(Map<String, Value>);

impl Declared {
    /// A declaration of this type.
    pub(crate) fn new(kind: &str) -> Self {
        Self(Map::new()).set("type", kind)
    }

    /// Sets a field. A value that has no form in JSON is left out, and so is one that is nothing.
    pub(crate) fn set(mut self, name: &str, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value)
            && !value.is_null()
        {
            self.0.insert(name.to_owned(), value);
        }
        self
    }

    /// Sets a field to a list, unless that is empty.
    pub(crate) fn set_list(self, name: &str, list: &[String]) -> Self {
        if list.is_empty() { self } else { self.set(name, list) }
    }

    /// Sets where the user is.
    pub(crate) fn set_location(self, location: Option<&UserLocation>) -> Self {
        match location {
            Some(location) => {
                self.set("user_location", Self::new("approximate").with_all(location).0)
            }
            None => self,
        }
    }

    /// Sets all fields that a value has.
    pub(crate) fn with_all(mut self, value: &impl Serialize) -> Self {
        if let Ok(Value::Object(fields)) = serde_json::to_value(value) {
            self.0.extend(fields);
        }
        self
    }

    /// The declaration as a part of another.
    pub(crate) fn value(self) -> Value {
        Value::Object(self.0)
    }

    /// The declaration, in this dialect.
    pub(crate) fn item(self, dialect: &str) -> ProviderItem {
        ProviderItem::new(dialect, RawJson::from_value(&self.value()))
    }
}
