//! What a compiled schema is made of.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Number, Value};

use crate::number;

/// A schema within a schema: all its keywords have to agree.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// The part of the document with a name of its own that it belongs to.
    pub(crate) resource: usize,
    /// Those that ask what others have looked at come last.
    pub(crate) keywords: Vec<Keyword>,
    /// About how much there is to compare, for the count of steps.
    pub(crate) weight: usize,
}

/// One demand. Schemas and patterns are named by their index.
#[derive(Debug)]
pub(crate) enum Keyword {
    /// The schema `false`.
    Never,
    Types(Types),
    Enum(Vec<Value>),
    Const(Value),
    Limit(Limit, Number),
    MultipleOf(Number),
    Count(Counted, Bound, u64),
    Pattern(usize),
    PrefixItems(Vec<usize>),
    /// The items behind so many.
    Items {
        after: usize,
        node: usize,
    },
    Contains(Box<Contains>),
    UniqueItems,
    Required(Vec<String>),
    Fields(Box<Fields>),
    PropertyNames(usize),
    /// What is demanded with each of some properties.
    Dependent(Vec<(String, Demand)>),
    AllOf(Vec<usize>),
    AnyOf(Vec<usize>),
    OneOf(Vec<usize>),
    /// The schema, and what is told of it.
    Not(usize, String),
    If {
        test: usize,
        then: Option<usize>,
        otherwise: Option<usize>,
    },
    Reference(usize),
    /// Where it leads by itself, and the anchor by which one further out may take it over.
    DynamicReference(usize, String),
    UnevaluatedItems(usize),
    UnevaluatedProperties(usize),
}

/// Where a number has to be of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    AtLeast,
    Above,
    AtMost,
    Below,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Chars,
    Items,
    Fields,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Min,
    Max,
}

#[derive(Debug)]
pub(crate) struct Contains {
    pub(crate) node: usize,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
}

/// The properties of an object: by name, by pattern, and all others.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) named: HashMap<String, usize>,
    pub(crate) patterns: Vec<(usize, usize)>,
    pub(crate) others: Option<usize>,
}

#[derive(Debug)]
pub(crate) enum Demand {
    /// Other properties.
    Names(Vec<String>),
    /// That the whole fits a schema.
    Schema(usize),
}

/// Types of JSON values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Types(u8);

/// In the order of their bits.
const NAMES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

impl Types {
    /// Those of a value: a whole number is of two.
    pub(crate) fn of(value: &Value) -> Self {
        Self(match value {
            Value::Null => 1,
            Value::Bool(_) => 1 << 1,
            Value::Number(number) if number::is_whole(number) => 1 << 2 | 1 << 3,
            Value::Number(_) => 1 << 3,
            Value::String(_) => 1 << 4,
            Value::Array(_) => 1 << 5,
            Value::Object(_) => 1 << 6,
        })
    }

    pub(crate) fn is_one(self) -> bool {
        self.0.count_ones() == 1
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES.iter().position(|known| *known == name).map(|bit| Self(1 << bit))
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the type of this name is among them.
    #[must_use]
    pub fn contain(self, name: &str) -> bool {
        Self::named(name).is_some_and(|named| self.meets(named))
    }
}

impl fmt::Display for Types {
    /// Their names in quotes, with commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for name in NAMES.iter().filter(|name| self.contain(name)) {
            write!(f, "{separator}\"{name}\"")?;
            separator = ", ";
        }
        Ok(())
    }
}
