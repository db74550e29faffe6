//! The words for what is wrong, as a model reads them.

use serde_json::Value;

use crate::keyword::{Bound, Counted, Keyword, Limit};
use crate::pattern::Pattern;
use crate::problem::{Words, beginning, shortened};

/// Of more values or names than these only some are told.
const TOLD_MAX: usize = 16;
/// The most characters of each.
const TOLD_CHARS_MAX: usize = 400;

/// What is said of a value that a keyword does not allow.
pub(super) fn said(keyword: &Keyword, patterns: &[Pattern]) -> Words {
    Words::OfValue(match keyword {
        Keyword::Types(wanted) => {
            format!("is not of type{} {wanted}", if wanted.is_one() { "" } else { "s" })
        }
        Keyword::Enum(values) => {
            format!("is not one of {}", listed(values.iter().map(told), "or"))
        }
        Keyword::Const(one) => return Words::Plain(format!("{} was expected", told(one))),
        Keyword::Limit(limit, than) => match limit {
            Limit::AtLeast => format!("is less than the minimum of {than}"),
            Limit::AtMost => format!("is greater than the maximum of {than}"),
            Limit::Above => format!("is less than or equal to the minimum of {than}"),
            Limit::Below => format!("is greater than or equal to the maximum of {than}"),
        },
        Keyword::MultipleOf(of) => format!("is not a multiple of {of}"),
        Keyword::Count(counted, bound, than) => {
            let is = match (counted, bound) {
                (Counted::Chars, Bound::Min) => "is shorter than",
                (Counted::Chars, Bound::Max) => "is longer than",
                (_, Bound::Min) => "has less than",
                (_, Bound::Max) => "has more than",
            };
            let things = match (counted, *than == 1) {
                (Counted::Chars, true) => "character",
                (Counted::Chars, false) => "characters",
                (Counted::Items, true) => "item",
                (Counted::Items, false) => "items",
                (Counted::Fields, true) => "property",
                (Counted::Fields, false) => "properties",
            };
            format!("{is} {than} {things}")
        }
        Keyword::Pattern(pattern) => {
            format!("does not match \"{}\"", shortened(&patterns[*pattern].text, TOLD_CHARS_MAX))
        }
        _ => "is not allowed here".to_owned(),
    })
}

pub(super) fn fits_none(keyword: &str) -> Words {
    let words = format!("is not valid under any of the schemas listed in the '{keyword}' keyword");
    Words::OfValue(words)
}

pub(super) fn fits_several() -> Words {
    let words = "is valid under more than one of the schemas listed in the 'oneOf' keyword";
    Words::OfValue(words.to_owned())
}

pub(super) fn not_allowed(schema: &str) -> Words {
    Words::ForValue(format!("{schema} is not allowed for"))
}

pub(super) fn required(name: &str) -> Words {
    Words::Plain(format!("{} is a required property", told(&name.into())))
}

/// A property that another one asks for.
pub(super) fn required_with(name: &str, other: &str) -> Words {
    let [name, other] = [name, other].map(|name| told(&name.into()));
    Words::Plain(format!("{name} is a required property where {other} is given"))
}

pub(super) fn repeated(index: usize) -> Words {
    Words::OfValue(format!("has non-unique elements, of which item {index} repeats one before it"))
}

/// How many items were found that `contains` asks for, and how many there should be.
pub(super) fn contained(count: u64, bound: Bound, than: u64) -> Words {
    let at = if bound == Bound::Min { "at least" } else { "at most" };
    Words::OfValue(format!("has {count} items that fit 'contains' instead of {at} {than}"))
}

/// Items or properties that no schema knows, each in short.
pub(super) fn unexpected(what: &str, names: impl Iterator<Item = String>) -> Words {
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    let were = if names.len() == 1 { "was" } else { "were" };
    let names = listed(names.into_iter(), "and");
    Words::Plain(format!("{what} are not allowed ({names} {were} unexpected)"))
}

/// A name, or its beginning.
pub(super) fn named(name: &str) -> String {
    shortened(name, TOLD_CHARS_MAX)
}

/// A value, or its beginning.
pub(crate) fn told(value: &Value) -> String {
    beginning(value, TOLD_CHARS_MAX)
}

/// `a, b or c`, with a number for those that are too many.
fn listed(all: impl Iterator<Item = String>, joint: &str) -> String {
    let mut all: Vec<String> = all.collect();
    if all.len() > TOLD_MAX {
        let more = all.len() - TOLD_MAX;
        all.truncate(TOLD_MAX);
        all.push(format!("{more} more"));
    }
    match all.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} {joint} {last}", first.join(", ")),
        _ => all.concat(),
    }
}
