//! Members of an answer that have no form of ours, kept as the server wrote them.
//!
//! They stand in an opaque block as one object, and those that a server wants back are written
//! into the message again: `reasoning_details`, `annotations`, and what this version does not know.

use std::borrow::Cow;
use std::collections::BTreeMap;

use heeler_core::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The member that holds reasoning as text.
pub(super) const REASONING_MEMBER: &str = "reasoning_content";
/// The member of an opaque block that stands behind a call, with what the server added to the call.
pub(super) const CALL_MEMBER: &str = "tool_call";
/// The member whose items come in pieces, each with the index of what it is a piece of.
pub(super) const DETAILS_MEMBER: &str = "reasoning_details";
/// The fields of such an item whose pieces are appended.
const PIECEMEAL: [&str; 3] = ["text", "summary", "data"];
/// The most members that are kept.
const MEMBERS_MAX: usize = 64;

/// A string that is borrowed unless it has escapes, as a key too.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// An object's members, each as its bytes.
pub(super) type Members<'a> = BTreeMap<Key<'a>, &'a RawValue>;

/// Members as they are so far. Their order is that of their names, however they came.
#[derive(Debug, Default)]
pub(super) struct Extras(BTreeMap<String, Growth>);

/// A member that may come in pieces.
#[derive(Debug)]
enum Growth {
    /// A string: pieces are appended.
    Text(String),
    /// A list: items are appended, raw JSON each.
    Items(Vec<String>),
    /// A list whose items come in pieces.
    Details(Vec<Detail>),
    /// Anything else: the last is kept.
    Other(String),
}

/// An item of a list that comes in pieces.
#[derive(Debug)]
struct Detail {
    /// Its bytes, while it is of one piece.
    raw: Option<String>,
    fields: Map<String, Value>,
}

impl Extras {
    /// Takes in a member, or more of it. What says nothing is left out.
    pub(super) fn add(&mut self, name: &str, raw: &str) {
        let Some(more) = Growth::of(name, raw) else { return };
        let has_room = self.0.len() < MEMBERS_MAX;
        match self.0.get_mut(name) {
            Some(growth) => growth.grow(more),
            None if has_room => {
                self.0.insert(name.to_owned(), more);
            }
            None => {}
        }
    }

    /// Takes in those members of an object that are wanted.
    pub(super) fn extend(&mut self, object: &str, is_wanted: impl Fn(&str) -> bool) {
        let members: Members<'_> = serde_json::from_str(object).unwrap_or_default();
        for (name, raw) in members.iter().filter(|(name, _)| is_wanted(&name.0)) {
            self.add(&name.0, raw.get());
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is one of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// One object of all, under a name where one is given. What is too deep or too long to be kept
    /// is lost, and the answer is not.
    pub(super) fn raw(&self, name: Option<&str>) -> Option<RawJson> {
        let mut members = Vec::new();
        self.write_members(&mut members);
        let members = String::from_utf8(members).ok()?;
        let members = members.strip_prefix(',')?;
        let object = match name {
            Some(name) => format!(r#"{{"{name}":{{{members}}}}}"#),
            None => format!("{{{members}}}"),
        };
        RawJson::parse(&object).ok()
    }

    /// Writes the members, each with a comma before it.
    pub(super) fn write_members(&self, out: &mut Vec<u8>) {
        for (name, growth) in &self.0 {
            out.push(b',');
            crate::json::string(out, name);
            out.push(b':');
            growth.write(out);
        }
    }

    /// A member's bytes.
    pub(super) fn member_of(object: &str, name: &str) -> Option<String> {
        let members: Members<'_> = serde_json::from_str(object).ok()?;
        Some(members.get(&Key(name.into()))?.get().to_owned())
    }
}

impl Growth {
    /// `None` for what says nothing.
    fn of(name: &str, raw: &str) -> Option<Self> {
        match raw.as_bytes().first() {
            Some(b'"') => {
                let text: String = serde_json::from_str(raw).ok()?;
                (!text.is_empty()).then_some(Self::Text(text))
            }
            Some(b'[') if name == DETAILS_MEMBER => {
                let mut details = Vec::new();
                items(raw)?.into_iter().for_each(|item| Detail::add(&mut details, item));
                (!details.is_empty()).then_some(Self::Details(details))
            }
            Some(b'[') => Some(Self::Items(items(raw)?)).filter(|items| !items.is_empty()),
            _ => (raw != "null").then(|| Self::Other(raw.to_owned())),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Items(items) if items.is_empty())
    }

    fn grow(&mut self, more: Self) {
        match (self, more) {
            (Self::Text(text), Self::Text(more)) => text.push_str(&more),
            (Self::Items(items), Self::Items(more)) => items.extend(more),
            (Self::Details(details), Self::Details(more)) => {
                more.into_iter().for_each(|detail| detail.add_to(details));
            }
            (grown, more) => *grown = more,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => crate::json::string(out, text),
            Self::Items(items) => list(out, items.iter().map(|item| item.as_str().into())),
            Self::Details(details) => list(out, details.iter().map(Detail::bytes)),
            Self::Other(raw) => out.extend_from_slice(raw.as_bytes()),
        }
    }
}

impl Detail {
    fn add(details: &mut Vec<Self>, raw: String) {
        let fields = serde_json::from_str(&raw).unwrap_or_default();
        Self { raw: Some(raw), fields }.add_to(details);
    }

    /// Adds it to the list. One of the same index and type as the last is a piece of that: its
    /// texts are appended, and what else it tells wins.
    fn add_to(self, details: &mut Vec<Self>) {
        match details.last_mut() {
            Some(last) if last.goes_on_with(&self) => last.append(self.fields),
            _ => details.push(self),
        }
    }

    fn goes_on_with(&self, more: &Self) -> bool {
        let same = |name| self.fields.get(name) == more.fields.get(name);
        more.fields.contains_key("index") && same("index") && same("type")
    }

    fn append(&mut self, more: Map<String, Value>) {
        self.raw = None;
        for (name, value) in more {
            match (self.fields.get_mut(&name), value) {
                (Some(_), Value::Null) => {}
                (Some(Value::String(text)), Value::String(more))
                    if PIECEMEAL.contains(&name.as_str()) =>
                {
                    text.push_str(&more);
                }
                (_, value) => {
                    self.fields.insert(name, value);
                }
            }
        }
    }

    fn bytes(&self) -> Cow<'_, str> {
        match &self.raw {
            Some(raw) => raw.into(),
            None => Value::Object(self.fields.clone()).to_string().into(),
        }
    }
}

fn items(raw: &str) -> Option<Vec<String>> {
    let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    Some(items.iter().map(|item| item.get().to_owned()).collect())
}

fn list<'a>(out: &mut Vec<u8>, items: impl Iterator<Item = Cow<'a, str>>) {
    out.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_bytes());
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(objects: &[&str], expected: Expect) {
        let mut extras = Extras::default();
        objects.iter().for_each(|object| extras.extend(object, |name| name != "no"));
        let raw = extras.raw(None);
        expected.assert_eq(raw.as_ref().map_or("none", RawJson::get));
    }

    #[test]
    fn members_grow_by_their_kind() {
        check(&[], expect!["none"]);
        check(
            &[
                r#"{"a":"x\u00e9","b":[1.50, {"c" : 2}],"no":1,"n":null,"e":"","l":[]}"#,
                r#"{"a":"y","b":[3],"d":{"o":1}}"#,
                r#"{"d":{"o":2},"a":null}"#,
            ],
            expect![[r#"{"a":"xéy","b":[1.50,{"c" : 2},3],"d":{"o":2}}"#]],
        );
    }

    #[test]
    fn pieces_of_details_are_put_together_and_whole_ones_keep_their_bytes() {
        check(
            &[
                r#"{"reasoning_details":[{"type":"reasoning.text","text":"Let","signature":null,"index":0}]}"#,
                r#"{"reasoning_details":[{"type":"reasoning.text","text":" me","index":0}]}"#,
                r#"{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}"#,
                r#"{"reasoning_details":[{ "type":"reasoning.encrypted","data":"\u0041","index":1}]}"#,
                r#"{"reasoning_details":[{"type":"x"},{"type":"x"}]}"#,
            ],
            expect![[
                r#"{"reasoning_details":[{"type":"reasoning.text","text":"Let me","signature":"c2ln","index":0},{ "type":"reasoning.encrypted","data":"\u0041","index":1},{"type":"x"},{"type":"x"}]}"#
            ]],
        );
    }

    #[test]
    fn what_cannot_be_kept_is_left_out() {
        let mut extras = Extras::default();
        extras.add("a", "1");
        assert_eq!(extras.raw(Some("n")).unwrap().get(), r#"{"n":{"a":1}}"#);
        extras.add("deep", &("[".repeat(100) + &"]".repeat(100)));
        assert_eq!(extras.raw(None), None);
    }

    #[test]
    fn there_are_so_many_members_and_no_more() {
        let mut extras = Extras::default();
        (0..100).for_each(|n| extras.add(&n.to_string(), "1"));
        assert_eq!(extras.0.len(), MEMBERS_MAX);
        extras.extend("no object", |_| true);
        assert_eq!(Extras::member_of(r#"{"a": {"b":1 }}"#, "a").as_deref(), Some(r#"{"b":1 }"#));
        assert_eq!(Extras::member_of("[]", "a"), None);
    }
}
