//! A schema as a document: the schemas in it, and where references lead.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use crate::SchemaError;
use crate::draft::{Draft, Holds};
use crate::problem::short;

/// What a document is called that does not say so itself.
const UNNAMED: &str = "json-schema:///";
/// The most bytes for the places and names of all schemas in a document, and for what leads to them.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// The schemas of a document, in the order in which they were found, with what refers to them.
pub(crate) struct Document<'d> {
    top: &'d Value,
    pub(crate) parts: Vec<Part<'d>>,
    by_place: HashMap<String, usize>,
    pub(crate) resources: Vec<Resource>,
    by_uri: HashMap<String, usize>,
    /// What dynamic references may lead to that lead elsewhere by themselves.
    pub(crate) taken_over: Vec<usize>,
    bytes: usize,
}

/// One schema.
#[derive(Clone)]
pub(crate) struct Part<'d> {
    pub(crate) value: &'d Value,
    /// As a JSON pointer.
    pub(crate) place: String,
    pub(crate) resource: usize,
}

/// A part of the document with a name of its own, that of the document first.
pub(crate) struct Resource {
    uri: String,
    root: usize,
    pub(crate) draft: Draft,
    anchors: HashMap<String, usize>,
    /// Those of the anchors that references may lead to from further in.
    pub(crate) dynamic: HashMap<String, usize>,
}

/// Where a reference leads.
pub(crate) struct Target {
    pub(crate) part: usize,
    /// The anchor it leads to, if that is a dynamic one.
    pub(crate) dynamic: Option<String>,
}

impl<'d> Document<'d> {
    /// Finds the schemas of a document.
    pub(crate) fn read(top: &'d Value) -> Result<Self, SchemaError> {
        let draft = declared(top, "")?.unwrap_or(Draft::Of2020);
        let resource = Resource::new(UNNAMED.to_owned(), 0, draft);
        let mut document = Self {
            top,
            parts: Vec::new(),
            by_place: HashMap::new(),
            resources: vec![resource],
            by_uri: HashMap::from([(UNNAMED.to_owned(), 0)]),
            taken_over: Vec::new(),
            bytes: 0,
        };
        document.add(top, String::new(), 0)?;
        Ok(document)
    }

    pub(crate) fn draft(&self, part: &Part<'_>) -> Draft {
        self.resources[part.resource].draft
    }

    /// The schema at a place where one was found.
    pub(crate) fn at(&self, place: &str) -> Result<usize, SchemaError> {
        let found = self.by_place.get(place).copied();
        found.ok_or_else(|| SchemaError::new(place, "there is no schema"))
    }

    /// Whether references may lead to the whole of this resource from further in, by `$recursiveAnchor`.
    pub(crate) fn is_recursive(&self, resource: usize) -> bool {
        self.resources[resource].dynamic.contains_key("")
    }

    /// Where a reference leads that stands in this resource.
    pub(crate) fn resolve(&mut self, from: usize, reference: &str) -> Result<Target, SchemaError> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let lost = |why: &str| {
            let reference = short(&reference.into());
            SchemaError::new("", format!("the reference {reference} {why}"))
        };
        let resource = if uri.is_empty() {
            from
        } else {
            let uri = self.joined(from, uri)?.ok_or_else(|| lost("is no URI"))?;
            let known = self.by_uri.get(&uri).copied();
            known.ok_or_else(|| lost("leads out of the schema, and nothing is fetched"))?
        };
        let fragment =
            percent_decode_str(fragment).decode_utf8().map_err(|_| lost("is no text"))?;
        let Resource { root, anchors, dynamic, .. } = &self.resources[resource];
        if fragment.is_empty() {
            return Ok(Target { part: *root, dynamic: None });
        }
        if !fragment.starts_with('/') {
            let part = anchors.get(&*fragment).ok_or_else(|| lost("leads to no anchor"))?;
            let dynamic = dynamic.contains_key(&*fragment).then(|| fragment.into_owned());
            return Ok(Target { part: *part, dynamic });
        }
        let place = format!("{}{fragment}", self.parts[*root].place);
        self.spend(place.len())?;
        let part = match self.by_place.get(&place) {
            Some(part) => *part,
            None => {
                let top = self.top;
                let value = top.pointer(&place).ok_or_else(|| lost("leads to nothing"))?;
                let resource = self.resource_around(&place);
                self.add(value, place, resource)?
            }
        };
        Ok(Target { part, dynamic: None })
    }

    /// A reference seen from a resource, without its fragment; `None` for what is no URI.
    fn joined(&mut self, from: usize, uri: &str) -> Result<Option<String>, SchemaError> {
        let base = &self.resources[from].uri;
        let joined = Url::parse(base).and_then(|base| base.join(uri)).ok().map(|mut joined| {
            joined.set_fragment(None);
            String::from(joined)
        });
        self.spend(base.len() + uri.len())?;
        Ok(joined)
    }

    /// The resource of the innermost schema that a place is in.
    fn resource_around(&self, place: &str) -> usize {
        let mut outer = place;
        while let Some((out, _)) = outer.rsplit_once('/') {
            if let Some(part) = self.by_place.get(out) {
                return self.parts[*part].resource;
            }
            outer = out;
        }
        0
    }

    /// Adds a schema with all that are in it.
    fn add(
        &mut self,
        value: &'d Value,
        place: String,
        resource: usize,
    ) -> Result<usize, SchemaError> {
        let first = self.push(value, place, resource)?;
        let mut next = first;
        while next < self.parts.len() {
            let part = self.parts[next].clone();
            match part.value {
                Value::Object(_) => self.open(next, part)?,
                Value::Bool(_) => {}
                other => {
                    let why = format!(
                        "{} is no schema: it has to be an object or a boolean",
                        short(other)
                    );
                    return Err(SchemaError::new(&part.place, why));
                }
            }
            next += 1;
        }
        Ok(first)
    }

    fn push(
        &mut self,
        value: &'d Value,
        place: String,
        resource: usize,
    ) -> Result<usize, SchemaError> {
        self.spend(place.len())?;
        match self.by_place.entry(place.clone()) {
            // Of two ways to one place the first counts; they lead to the same.
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(vacant) => {
                let part = *vacant.insert(self.parts.len());
                self.parts.push(Part { value, place, resource });
                Ok(part)
            }
        }
    }

    /// Each place has all names on the way to it, so a few long ones would fill the memory.
    fn spend(&mut self, bytes: usize) -> Result<(), SchemaError> {
        self.bytes += bytes;
        let is_too_large = self.bytes > BYTES_MAX;
        if is_too_large { Err(SchemaError::new("", "the schema is too large")) } else { Ok(()) }
    }

    /// Takes up a schema's names, and the schemas in it.
    fn open(&mut self, index: usize, part: Part<'d>) -> Result<(), SchemaError> {
        let mut resource = part.resource;
        if !self.draft(&part).is_reference(part.value) {
            resource = self.named(index, &part)?;
            self.parts[index].resource = resource;
            self.anchored(index, resource, &part)?;
        }
        let draft = self.resources[resource].draft;
        let Value::Object(keywords) = part.value else { return Ok(()) };
        for (keyword, says) in keywords {
            let Some(holds) = draft.holds(keyword, keywords) else { continue };
            let place = below(&part.place, keyword);
            match (holds, says) {
                (Holds::Several | Holds::OneOrSeveral, Value::Array(list)) => {
                    for (index, schema) in list.iter().enumerate() {
                        self.push(schema, format!("{place}/{index}"), resource)?;
                    }
                }
                (Holds::One | Holds::OneOrSeveral, schema) => {
                    self.push(schema, place, resource)?;
                }
                (Holds::Named | Holds::NamedOrNames, Value::Object(schemas)) => {
                    for (name, schema) in schemas {
                        if holds == Holds::Named || !schema.is_array() {
                            self.push(schema, below(&place, name), resource)?;
                        }
                    }
                }
                (Holds::Several, other) => {
                    return Err(SchemaError::new(
                        &place,
                        format!("{} is no list of schemas", short(other)),
                    ));
                }
                (Holds::Named | Holds::NamedOrNames, other) => {
                    let why = format!("{} is no object with schemas", short(other));
                    return Err(SchemaError::new(&place, why));
                }
            }
        }
        Ok(())
    }

    /// The resource of a schema: a new one, if it has a name of its own.
    fn named(&mut self, index: usize, part: &Part<'d>) -> Result<usize, SchemaError> {
        let (outer, draft) = (part.resource, self.draft(part));
        let Some(id) = draft.id(part.value) else { return Ok(outer) };
        let wrong =
            |why: &str| SchemaError::new(&part.place, format!("the id {} {why}", short(id)));
        let id = id.as_str().ok_or_else(|| wrong("is no text"))?;
        let (uri, anchor) = id.split_once('#').unwrap_or((id, ""));
        if !anchor.is_empty() && draft > Draft::Seven {
            return Err(wrong("has a fragment, for which there is `$anchor`"));
        }
        let mut resource = outer;
        if !uri.is_empty() {
            let uri = self.joined(outer, uri)?.ok_or_else(|| wrong("is no URI"))?;
            if index > 0 {
                let draft = declared(part.value, &part.place)?.unwrap_or(draft);
                resource = self.resources.len();
                self.resources.push(Resource::new(uri.clone(), index, draft));
            } else {
                self.resources[0].uri.clone_from(&uri);
            }
            if self.by_uri.insert(uri, resource).is_some_and(|other| other != resource) {
                return Err(wrong("is that of another schema, too"));
            }
        }
        if !anchor.is_empty() {
            self.anchor(index, resource, anchor, &part.place)?;
        }
        Ok(resource)
    }

    /// Takes up the anchors of a schema.
    fn anchored(
        &mut self,
        index: usize,
        resource: usize,
        part: &Part<'d>,
    ) -> Result<(), SchemaError> {
        let draft = self.resources[resource].draft;
        let anchor = |keyword: &str| match part.value.get(keyword) {
            Some(Value::String(name)) if is_anchor(name) => Ok(Some(name)),
            Some(other) => {
                let why =
                    format!("{} is no name of letters, digits, `-`, `.` and `_`", short(other));
                Err(SchemaError::new(&below(&part.place, keyword), why))
            }
            None => Ok(None),
        };
        if draft >= Draft::Of2019
            && let Some(name) = anchor("$anchor")?
        {
            self.anchor(index, resource, name, &part.place)?;
        }
        if draft >= Draft::Of2020
            && let Some(name) = anchor("$dynamicAnchor")?
        {
            self.anchor(index, resource, name, &part.place)?;
            self.resources[resource].dynamic.insert(name.clone(), index);
            self.taken_over.push(index);
        }
        let is_recursive = part.value.get("$recursiveAnchor") == Some(&Value::Bool(true));
        if draft == Draft::Of2019 && is_recursive && index == self.resources[resource].root {
            self.resources[resource].dynamic.insert(String::new(), index);
            self.taken_over.push(index);
        }
        Ok(())
    }

    fn anchor(
        &mut self,
        index: usize,
        resource: usize,
        name: &str,
        place: &str,
    ) -> Result<(), SchemaError> {
        match self.resources[resource].anchors.insert(name.to_owned(), index) {
            Some(other) if other != index => Err(SchemaError::new(
                place,
                format!("another schema has the anchor {}, too", short(&name.into())),
            )),
            _ => Ok(()),
        }
    }
}

impl Resource {
    fn new(uri: String, root: usize, draft: Draft) -> Self {
        let (anchors, dynamic) = (HashMap::new(), HashMap::new());
        Self { uri, root, draft, anchors, dynamic }
    }
}

/// The place of what has this name at a place.
pub(crate) fn below(place: &str, name: &str) -> String {
    format!("{place}/{}", escaped(name))
}

/// A name as it stands in a JSON pointer (RFC 6901).
#[must_use]
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The draft that a schema says it is of.
fn declared(schema: &Value, place: &str) -> Result<Option<Draft>, SchemaError> {
    let Some(uri) = schema.get("$schema") else { return Ok(None) };
    let known = uri.as_str().and_then(Draft::named);
    let why = || format!("{} is no draft of JSON Schema that is known here", short(uri));
    known.map(Some).ok_or_else(|| SchemaError::new(&below(place, "$schema"), why()))
}

fn is_anchor(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(is_part)
}
