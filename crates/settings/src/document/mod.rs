//! A settings file as a tree of values that know their lines, whichever format it was written in.

mod json;
#[cfg(test)]
mod tests;
mod toml;

use crate::SettingsError;

/// Bytes of the longest file that is read.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// How deep values may nest; what we read needs five.
pub(crate) const DEPTH_MAX: usize = 32;

/// A format of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Toml,
}

/// A value, and the line it begins in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

/// What settings are made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Integer(i64),
    Fraction(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// What no setting is: a date, nothing, a number out of bounds.
    Other(&'static str),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) line: usize,
    pub(crate) key: String,
    pub(crate) node: Node,
}

impl Value {
    /// What kind of value this is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "true or false",
            Self::Integer(_) => "a number",
            Self::Fraction(_) => "a fraction",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(kind) => kind,
        }
    }
}

/// Reads a whole file; `name` is what errors call it.
pub(crate) fn read(format: Format, name: &str, content: &[u8]) -> Result<Node, SettingsError> {
    if content.len() as u64 > FILE_BYTES_MAX {
        let why = format!("the file has more than {FILE_BYTES_MAX} bytes; make it shorter");
        return Err(SettingsError::of_file(name, why));
    }
    let text = std::str::from_utf8(content).map_err(|error| {
        let line = 1 + content[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count();
        SettingsError::at(name, line, "this is no UTF-8 text; save the file as UTF-8")
    })?;
    // Editors of other systems begin files with a mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::of(text);
    let read = match format {
        Format::Json => json::read(text, &lines),
        Format::Toml => toml::read(text, &lines),
    };
    read.map_err(|Broken { line, why }| SettingsError::at(name, line, why))
}

/// What is wrong with a text, and where.
struct Broken {
    line: usize,
    why: String,
}

impl Broken {
    fn too_deep(line: usize) -> Self {
        Self { line, why: format!("values nest more than {DEPTH_MAX} deep; flatten them") }
    }
}

/// Where the lines of a text end.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect())
    }

    /// The number of the line that holds this byte, from 1.
    fn at(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|end| *end < offset)
    }
}
