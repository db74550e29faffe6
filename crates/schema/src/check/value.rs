//! What keywords demand of a value by itself.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::{BYTES_A_STEP, Check, Found, Spot, words};
use crate::equal::are_equal;
use crate::keyword::{Bound, Counted, Keyword, Limit, Types};
use crate::number;

impl<'s> Check<'s> {
    /// Holds a value to a keyword that names no other schema.
    pub(super) fn value<'v>(
        &mut self,
        keyword: &'s Keyword,
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
    ) {
        if self.allows(keyword, spot.value) || !self.fails(found) {
            return;
        }
        let problem = self.tell(found, spot, words::said(keyword, &self.schema.patterns));
        if let Keyword::Types(wanted) = keyword {
            problem.wanted = Some(*wanted);
        }
    }

    fn allows(&mut self, keyword: &Keyword, value: &Value) -> bool {
        match (keyword, value) {
            (Keyword::Never, _) => false,
            (Keyword::Types(wanted), value) => wanted.meets(Types::of(value)),
            (Keyword::Enum(values), value) => values.iter().any(|one| are_equal(one, value)),
            (Keyword::Const(one), value) => are_equal(one, value),
            (Keyword::Limit(limit, than), Value::Number(number)) => is_within(number, *limit, than),
            (Keyword::MultipleOf(of), Value::Number(number)) => number::is_multiple(number, of),
            (Keyword::Count(Counted::Chars, bound, than), Value::String(text)) => {
                bound.allows(text.chars().count(), *than)
            }
            (Keyword::Count(Counted::Items, bound, than), Value::Array(items)) => {
                bound.allows(items.len(), *than)
            }
            (Keyword::Count(Counted::Fields, bound, than), Value::Object(fields)) => {
                bound.allows(fields.len(), *than)
            }
            (Keyword::Pattern(pattern), Value::String(text)) => self.matches(*pattern, text),
            _ => true,
        }
    }

    /// Whether a pattern is found in a text.
    pub(super) fn matches(&mut self, pattern: usize, text: &str) -> bool {
        let pattern = &self.schema.patterns[pattern];
        let found = match self.take(text.len() / BYTES_A_STEP) {
            true => pattern.is_in(text, |steps| self.take(steps)),
            false => None,
        };
        self.is_spent |= found.is_none();
        found.unwrap_or_default()
    }
}

impl Bound {
    pub(super) fn allows(self, count: usize, than: u64) -> bool {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        match self {
            Self::Min => count >= than,
            Self::Max => count <= than,
        }
    }
}

fn is_within(number: &Number, limit: Limit, than: &Number) -> bool {
    let order = number::compare(number, than);
    match limit {
        Limit::AtLeast => order != Ordering::Less,
        Limit::AtMost => order != Ordering::Greater,
        Limit::Above => order == Ordering::Greater,
        Limit::Below => order == Ordering::Less,
    }
}
