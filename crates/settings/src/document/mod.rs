//! A settings file as a tree of values that know their lines, whichever format it was written in.

mod json;
#[cfg(test)]
mod tests;
mod toml;

use crate::SettingsError;
use crate::layer::MISTAKES_MAX;

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

/// What could be read of a file, and what is wrong with the rest.
pub(crate) struct Salvaged {
    pub(crate) root: Node,
    /// One a line at most, in the order of the lines.
    pub(crate) mistakes: Vec<SettingsError>,
}

/// Reads a file as far as it can be read; `name` is what errors call it, and `mend` says how it is
/// mended. Of TOML everything counts that touches no broken line, of JSON what stands before the
/// first mistake.
pub(crate) fn salvage(format: Format, name: &str, mend: &str, content: &[u8]) -> Salvaged {
    if content.len() as u64 > FILE_BYTES_MAX {
        let why = format!("the file has more than {FILE_BYTES_MAX} bytes; make it shorter");
        let root = Node { line: 1, value: Value::Table(Vec::new()) };
        return Salvaged { root, mistakes: vec![SettingsError::of_file(name, why)] };
    }
    let mut broken = lines_without_text(content);
    let text = String::from_utf8_lossy(content);
    // Editors of other systems begin files with a mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = Lines::of(text);
    let root = match format {
        Format::Json => json::salvage(text, &lines, &mut broken),
        Format::Toml => toml::salvage(text, &lines, &mut broken),
    };
    // One mistake makes several, and the first of a line says what is wrong.
    heeler_core::sort_by_key(&mut broken, |broken| broken.line);
    broken.dedup_by_key(|broken| broken.line);
    let told = broken.into_iter().take(MISTAKES_MAX).map(|broken| broken.told(name, mend));
    let mistakes = told.collect();
    Salvaged { root, mistakes }
}

/// Reads a file that is sound, or says the first that is wrong.
pub(crate) fn read(format: Format, name: &str, content: &[u8]) -> Result<Node, SettingsError> {
    let Salvaged { root, mistakes } = salvage(format, name, "mend it", content);
    mistakes.into_iter().next().map_or(Ok(root), Err)
}

/// The lines that are no UTF-8 text.
fn lines_without_text(content: &[u8]) -> Vec<Broken> {
    let lines = content.split(|byte| *byte == b'\n').zip(1..);
    let bad = lines.filter_map(|(bytes, line)| Some((std::str::from_utf8(bytes).err()?, line)));
    let broken = bad.map(|(error, line)| Broken {
        line,
        column: Some(error.valid_up_to() + 1),
        why: "this is no UTF-8 text; save the file as UTF-8".to_owned(),
        is_grammar: false,
    });
    broken.collect()
}

/// What is wrong with a text, and where.
struct Broken {
    line: usize,
    /// From 1, in characters.
    column: Option<usize>,
    why: String,
    /// Whether it is a mistake in the format, which may hide anything.
    is_grammar: bool,
}

impl Broken {
    fn grammar(place: (usize, usize), why: String) -> Self {
        Self { line: place.0, column: Some(place.1), why, is_grammar: true }
    }

    fn too_deep(line: usize) -> Self {
        let why = format!("values nest more than {DEPTH_MAX} deep; flatten them");
        Self { line, column: None, why, is_grammar: false }
    }

    fn told(self, name: &str, mend: &str) -> SettingsError {
        let Self { line, column, mut why, is_grammar } = self;
        if is_grammar {
            why += &format!("; {mend}, or move the file away");
        }
        match column {
            Some(column) => SettingsError::at(&format!("{name}:{line}"), column, why),
            None => SettingsError::at(name, line, why),
        }
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

    /// The line and the column of this byte of the text, in characters, from 1.
    fn place(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.at(offset);
        let before = text.get(self.begin(line)..offset).unwrap_or_default();
        (line, 1 + before.chars().count())
    }

    /// The byte at a line and a column as serde_json counts them: both from 1, columns in bytes.
    fn offset(&self, line: usize, column: usize) -> usize {
        self.begin(line) + column.saturating_sub(1)
    }

    fn begin(&self, line: usize) -> usize {
        line.checked_sub(2).and_then(|before| self.0.get(before)).map_or(0, |end| end + 1)
    }
}
