//! Taking a table apart, so that nothing in it is overlooked.

use crate::SettingsError;
use crate::document::{Entry, Node, Value};

/// The least likeness, from 0 to 1, of a name that is suggested.
const LIKENESS_MIN: f64 = 0.6;

/// What to do with keys that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// The file is ours: a key that we do not know is a typing error.
    Refused,
    /// The file belongs to another program.
    Ignored,
}

/// A table whose keys are taken one by one.
pub(crate) struct Fields<'a> {
    name: &'a str,
    /// The table's own name, with a dot behind it; empty for the file itself.
    path: String,
    line: usize,
    entries: &'a [Entry],
    asked: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of a table; `path` says which, for errors.
    pub(crate) fn of(name: &'a str, path: &str, node: &'a Node) -> Result<Self, SettingsError> {
        let Value::Table(entries) = &node.value else {
            return Err(wrong(name, path, node, "a table"));
        };
        let path = if path.is_empty() { String::new() } else { format!("{path}.") };
        Ok(Self { name, path, line: node.line, entries, asked: Vec::new() })
    }

    /// The value of a key. Two of one name are an error: one of them would be overlooked.
    pub(crate) fn take(&mut self, key: &'static str) -> Result<Option<&'a Node>, SettingsError> {
        self.asked.push(key);
        let mut found = self.entries.iter().filter(|entry| entry.key == key);
        let first = found.next();
        if let Some(second) = found.next() {
            let why = format!("`{}{key}` is given twice; merge the two", self.path);
            return Err(SettingsError::at(self.name, second.line, why));
        }
        Ok(first.map(|entry| &entry.node))
    }

    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<&'a str>, SettingsError> {
        let Some(node) = self.take(key)? else { return Ok(None) };
        text(self.name, &format!("{}{key}", self.path), node).map(Some)
    }

    /// A list's values; nothing when there is no such key.
    pub(crate) fn list(&mut self, key: &'static str) -> Result<&'a [Node], SettingsError> {
        let Some(node) = self.take(key)? else { return Ok(&[]) };
        list(self.name, &format!("{}{key}", self.path), node)
    }

    /// Another table in this one.
    pub(crate) fn table(&mut self, key: &'static str) -> Result<Option<Fields<'a>>, SettingsError> {
        let Some(node) = self.take(key)? else { return Ok(None) };
        Self::of(self.name, &format!("{}{key}", self.path), node).map(Some)
    }

    /// What a key of this table is called in messages.
    pub(crate) fn path_of(&self, key: &str) -> String {
        format!("{}{key}", self.path)
    }

    /// Where the table begins.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// Refuses keys that nobody asked for, when that is wanted.
    pub(crate) fn finish(self, unknown: Unknown) -> Result<(), SettingsError> {
        let stranger = self.strangers().next();
        stranger.filter(|_| unknown == Unknown::Refused).map_or(Ok(()), Err)
    }

    /// What is wrong with each key that nobody asked for.
    pub(crate) fn strangers(&self) -> impl Iterator<Item = SettingsError> {
        let strangers = self.entries.iter().filter(|entry| !self.asked.contains(&&*entry.key));
        strangers.map(|entry| {
            let what = format!("`{}{}`", self.path, entry.key);
            let why = unknown_name(&what, "setting", &entry.key, &self.asked);
            SettingsError::at(self.name, entry.line, why)
        })
    }

    /// The line and the whole name of each key that nobody asked for, and whether it may have been meant for
    /// `key`, or for any other that was asked for in other letters' case.
    pub(crate) fn strange(&self, key: &str) -> Vec<(usize, String, bool)> {
        let strangers = self.entries.iter().filter(|entry| !self.asked.contains(&&*entry.key));
        let told = |entry: &Entry| {
            let is_miscased = self.asked.iter().any(|asked| asked.eq_ignore_ascii_case(&entry.key));
            let may_be = is_miscased || likeness(key, &entry.key.to_lowercase()) >= LIKENESS_MIN;
            (entry.line, self.path_of(&entry.key), may_be)
        };
        strangers.map(told).collect()
    }

    /// The line and the words for each key that nobody asked for, but in other letters' case: whoever
    /// else has keys in the file would not call one so.
    pub(crate) fn miscased(&self) -> Vec<(usize, String)> {
        let strangers = self.entries.iter().filter(|entry| !self.asked.contains(&&*entry.key));
        let told = |entry: &Entry| {
            let key = &entry.key;
            let meant = self.asked.iter().find(|asked| asked.eq_ignore_ascii_case(key))?;
            let path = &self.path;
            let why = format!("`{path}{key}` sets nothing: the setting is called `{path}{meant}`");
            Some((entry.line, why))
        };
        strangers.filter_map(told).collect()
    }
}

/// Says that a name is not known, and which one may have been meant.
pub(crate) fn unknown_name(what: &str, kind: &str, name: &str, known: &[&str]) -> String {
    let name = name.to_lowercase();
    let nearest = known
        .iter()
        .map(|known| (likeness(&known.to_lowercase(), &name), known))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match nearest {
        Some((_, nearest)) => format!("{what} is no {kind}; did you mean `{nearest}`?"),
        None => format!("{what} is no {kind}; there are {}", known.join(", ")),
    }
}

fn likeness(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(one, other)
}

pub(crate) fn text<'a>(name: &str, path: &str, node: &'a Node) -> Result<&'a str, SettingsError> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong(name, path, node, "a text")),
    }
}

pub(crate) fn list<'a>(
    name: &str,
    path: &str,
    node: &'a Node,
) -> Result<&'a [Node], SettingsError> {
    match &node.value {
        Value::List(list) => Ok(list),
        _ => Err(wrong(name, path, node, "a list")),
    }
}

/// Says that a value is of another kind than it has to be.
pub(crate) fn wrong(name: &str, path: &str, node: &Node, expected: &str) -> SettingsError {
    let what = if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") };
    let why = format!("{what} has to be {expected}, and is {}", node.value.kind());
    SettingsError::at(name, node.line, why)
}
