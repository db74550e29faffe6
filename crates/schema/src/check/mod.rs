//! Holds a value to a compiled schema.

mod found;
mod items;
mod object;
mod value;
mod words;

use serde_json::Value;

pub(crate) use found::{Found, Seen};
use found::{Path, Scope, Spot};
pub(crate) use words::told;

use crate::Schema;
use crate::equal;
use crate::keyword::Keyword;
use crate::problem::{Problem, Words};

/// The most steps of one check: a schema that is looked at, with what it compares. Whoever checks an
/// answer waits for it, and hears nothing else: at about 50 nanoseconds a step this is some tens of
/// milliseconds, and many times what a large document takes by an everyday schema.
const STEPS_MAX: usize = 1_000_000;
/// So many more for each of the values in what is checked: a long list takes longer to read, too.
const STEPS_OF_VALUE: usize = 8;
/// What it costs to look for a property among those that are named.
const NAME_STEPS: usize = 2;
/// What a problem costs that is kept, beside its path.
const PROBLEM_STEPS: usize = 10;
/// So many bytes of a text or a name cost a step.
pub(crate) const BYTES_A_STEP: usize = 64;
/// The most schemas within one another that are looked at.
const DEPTH_MAX: usize = 400;
/// The most problems that are kept of a value, and how many fewer of each way in which it might fit.
pub(crate) const PROBLEMS_MAX: usize = 64;
const ALTERNATIVE_SHARE: usize = 4;
/// The most ways of which it is kept why a value does not fit.
const ALTERNATIVES_MAX: usize = 32;

pub(crate) fn accepts(schema: &Schema, value: &Value) -> bool {
    Check::of(schema, value).holds(value)
}

pub(crate) fn problems<'v>(schema: &Schema, value: &'v Value, max: usize) -> Vec<Problem<'v>> {
    let mut check = Check::of(schema, value);
    // First whether it fits at all: why it does not fit one of several ways takes steps, too, though it
    // may fit another.
    if check.holds(value) {
        return Vec::new();
    }
    let mut found = Found::keeping(max.max(1));
    // With the steps that are left; what was found before they are spent is true of it.
    if !check.is_spent {
        check.whole(value, &mut found);
    }
    if found.problems.is_empty() {
        let words = "checking this against the schema takes too long, or goes too deep";
        return vec![Problem::new(String::new(), value, Words::Plain(words.to_owned()))];
    }
    found.problems
}

struct Check<'s> {
    schema: &'s Schema,
    steps_left: usize,
    /// It went too long or too deep, so nothing that is found from then on counts.
    is_spent: bool,
}

impl<'s> Check<'s> {
    fn of(schema: &'s Schema, value: &Value) -> Self {
        let more = equal::size(value).saturating_mul(STEPS_OF_VALUE);
        Self { schema, steps_left: STEPS_MAX.saturating_add(more), is_spent: false }
    }

    /// Whether a value fits.
    fn holds(&mut self, value: &Value) -> bool {
        let mut found = Found::keeping(0);
        self.whole(value, &mut found);
        found.is_valid && !self.is_spent
    }

    fn whole<'v>(&mut self, value: &'v Value, found: &mut Found<'v>) {
        let scope = Scope { resource: self.schema.nodes[0].resource, outer: None };
        self.node(0, Spot { value, path: &Path::Top, scope: &scope, depth: 0 }, found);
    }

    /// Takes steps. There are none left after a check that went too far.
    fn take(&mut self, steps: usize) -> bool {
        match self.steps_left.checked_sub(steps) {
            Some(left) => self.steps_left = left,
            None => self.is_spent = true,
        }
        !self.is_spent
    }

    /// Holds a value to a node, and says what of it was looked at.
    fn node<'v>(&mut self, node: usize, spot: Spot<'_, 'v>, found: &mut Found<'v>) -> Seen<'v> {
        let node = &self.schema.nodes[node];
        let mut seen = Seen::default();
        if spot.depth > DEPTH_MAX {
            self.is_spent = true;
        }
        if !self.take(node.weight + extent(spot.value)) {
            found.is_valid = false;
            return seen;
        }
        let own = Scope { resource: node.resource, outer: Some(spot.scope) };
        let is_same = spot.scope.resource == node.resource;
        let scope = if is_same { spot.scope } else { &own };
        let spot = Spot { scope, depth: spot.depth + 1, ..spot };
        for keyword in &node.keywords {
            self.keyword(keyword, spot, found, &mut seen);
            if found.is_full() || self.is_spent {
                break;
            }
        }
        seen
    }

    /// What schemas say of the value as a whole; the rest is for `items`, `object` and `value`.
    fn keyword<'v>(
        &mut self,
        keyword: &'s Keyword,
        spot: Spot<'_, 'v>,
        found: &mut Found<'v>,
        seen: &mut Seen<'v>,
    ) {
        match keyword {
            Keyword::Reference(node) => seen.join(self.node(*node, spot, found)),
            Keyword::DynamicReference(node, anchor) => {
                self.take(spot.depth * (1 + anchor.len() / BYTES_A_STEP));
                let node = self.dynamic(anchor, spot.scope).unwrap_or(*node);
                seen.join(self.node(node, spot, found));
            }
            Keyword::AllOf(nodes) => {
                for node in nodes {
                    seen.join(self.node(*node, spot, found));
                }
            }
            Keyword::AnyOf(nodes) => {
                let fits = self.alternatives(nodes, usize::MAX, spot, found, seen);
                if let Err(problems) = fits
                    && self.fails(found)
                {
                    self.tell(found, spot, words::fits_none("anyOf")).alternatives = problems;
                }
            }
            Keyword::OneOf(nodes) => match self.alternatives(nodes, 2, spot, found, seen) {
                Ok(1) => {}
                Ok(_) => {
                    if self.fails(found) {
                        self.tell(found, spot, words::fits_several());
                    }
                }
                Err(problems) => {
                    if self.fails(found) {
                        self.tell(found, spot, words::fits_none("oneOf")).alternatives = problems;
                    }
                }
            },
            Keyword::Not(node, told) => {
                if self.fits(*node, spot).is_some() && self.fails(found) {
                    self.tell(found, spot, words::not_allowed(told));
                }
            }
            Keyword::If { test, then, otherwise } => {
                let tested = self.fits(*test, spot);
                let next = if tested.is_some() { then } else { otherwise };
                seen.join(tested.unwrap_or_default());
                if let Some(node) = next {
                    seen.join(self.node(*node, spot, found));
                }
            }
            _ => match spot.value {
                Value::Array(items) => self.items(keyword, items, spot, found, seen),
                Value::Object(fields) => self.fields(keyword, fields, spot, found, seen),
                _ => self.value(keyword, spot, found),
            },
        }
    }

    /// How many of these nodes a value fits, up to so many; or why it fits none.
    fn alternatives<'v>(
        &mut self,
        nodes: &[usize],
        most: usize,
        spot: Spot<'_, 'v>,
        found: &Found<'v>,
        seen: &mut Seen<'v>,
    ) -> Result<usize, Vec<Vec<Problem<'v>>>> {
        // One is enough, unless it matters how many, or what each of them looked at.
        let most = if most > 2 && !self.schema.remembers { 1 } else { most };
        let (mut count, mut problems, mut lost) = (0, Vec::new(), Seen::default());
        for node in nodes {
            let kept =
                if problems.len() < ALTERNATIVES_MAX { found.max / ALTERNATIVE_SHARE } else { 0 };
            let mut inner = Found::keeping(kept);
            let looked_at = self.node(*node, spot, &mut inner);
            if inner.is_valid {
                count += 1;
                seen.join(looked_at);
            } else {
                lost.join(looked_at);
                problems.push(inner.problems);
            }
            if count >= most || self.is_spent {
                break;
            }
        }
        if count > 0 {
            return Ok(count);
        }
        // It does not fit anyway, and that nothing looked at its parts is no further problem.
        seen.join(lost);
        Err(problems)
    }

    /// What was looked at by a node that a value fits.
    fn fits<'v>(&mut self, node: usize, spot: Spot<'_, 'v>) -> Option<Seen<'v>> {
        let mut inner = Found::keeping(0);
        let seen = self.node(node, spot, &mut inner);
        inner.is_valid.then_some(seen)
    }

    /// The schema of this anchor that is furthest out of those that led here.
    fn dynamic(&self, anchor: &str, scope: &Scope<'_>) -> Option<usize> {
        let scopes = std::iter::successors(Some(scope), |scope| scope.outer);
        let anchors = scopes.filter_map(|scope| {
            self.schema.dynamic_anchors.get(scope.resource)?.get(anchor).copied()
        });
        anchors.last()
    }

    /// Notes that a value does not fit; whether it is to be said why.
    fn fails(&mut self, found: &mut Found<'_>) -> bool {
        found.is_valid = false;
        found.problems.len() < found.max && self.take(PROBLEM_STEPS)
    }

    /// Says why a value does not fit.
    fn tell<'f, 'v>(
        &mut self,
        found: &'f mut Found<'v>,
        spot: Spot<'_, 'v>,
        words: Words,
    ) -> &'f mut Problem<'v> {
        let path = spot.path.to_string();
        self.take(path.len());
        found.problems.push_mut(Problem::new(path, spot.value, words))
    }
}

/// What it costs to look at a value, without what is in its parts.
fn extent(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.keys().map(|name| 1 + name.len() / BYTES_A_STEP).sum(),
        Value::String(text) => text.len() / BYTES_A_STEP,
        _ => 0,
    }
}
