//! Every key of a settings file: what it may hold, whose say counts, and what people read of it.
//!
//! One table for whoever needs to know: the reader, `heeler config`, the JSON schema, and the tests
//! that hold docs/settings.md to it. Adding a key is adding its row to `table` and its field to
//! `preferences`.

mod outside;
mod preferences;
mod schema;
mod table;
mod template;
#[cfg(test)]
mod tests;
mod value;

pub use preferences::{
    Attribution, ContextPreferences, KeyStyle, LimitPreferences, ModelPreferences, NotePreferences,
    Preferences, StatusField, TuiPreferences,
};
pub use schema::schema;
pub use table::{
    ATTRIBUTION, AUTO_COMPACT, CALLS, CALLS_AT_ONCE, CHARS_PER_TOKEN, CONTEXT_LIMIT, COST, KEYS,
    MODEL, NOTES_ENABLED, NOTES_FILE_BYTES, NOTES_NAMES, NOTES_TOTAL_BYTES, OUTPUT_MAX, REPEATS,
    RESULT_CHARS, ROUNDS, SECONDS, TAIL, THINKING, TOKENS, TUI_BELL, TUI_KEYS, TUI_PLAIN,
    TUI_STATUS, TUI_THEME,
};
pub use template::template;
pub use value::KeyValue;

use crate::layer::{Values, unknown_name};
use crate::source::Aspect;

/// A key, with all that is to be known of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name, with the tables it stands in: `context.limit`.
    pub path: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// What holds when nobody says anything, as TOML; empty when there is nothing.
    pub default: &'static str,
    /// What becomes of several files that say something.
    pub merge: Merge,
    /// What a repository's file may say.
    pub scope: Scope,
    /// Variables that say the same; the first that is set counts.
    pub variables: &'static [&'static str],
    /// What it means, for people.
    pub words: &'static str,
}

/// What a key may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Switch,
    /// A whole number.
    Number {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
        /// What is counted.
        unit: &'static str,
    },
    /// A whole number that ends something; 0 is no limit.
    Limit {
        /// The most.
        max: u64,
        /// What is counted.
        unit: &'static str,
    },
    /// An amount in dollars, kept in billionths; 0 is no limit.
    Dollars,
    /// One of these.
    Choice(&'static [&'static str]),
    /// Several of these, each once.
    Choices(&'static [&'static str]),
    /// A text of one line.
    Name {
        /// The most characters.
        chars_max: usize,
    },
    /// How much a model reasons: a name, or a number of tokens.
    Effort,
    /// True, false, or a text.
    SwitchOrText {
        /// The most characters.
        chars_max: usize,
    },
    /// Names of files, without folders.
    FileNames {
        /// The most names.
        count_max: usize,
    },
    /// What a reader of its own takes apart; its JSON schema.
    Outside(&'static str),
}

/// What becomes of several files that say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// All of it counts.
    All,
    /// One of them is enough.
    Any,
    /// The most specific counts.
    MostSpecific,
    /// The most specific counts, name by name.
    ByName,
}

/// What a repository's file may say without the user's trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of it: it can only forbid.
    Anybody,
    /// What is lower, or narrower, than what holds without it; all of it once it is trusted.
    Lowers(Aspect),
    /// Nothing; all of it once it is trusted.
    Trusted(Aspect),
    /// Nothing, whatever is trusted.
    Own,
}

impl Key {
    /// The key of this name, with the tables it stands in.
    #[must_use]
    pub fn named(path: &str) -> Option<&'static Self> {
        KEYS.into_iter().find(|key| key.path == path)
    }

    /// The key that somebody asks for, and the whole name where the key holds names: `env.NAME`.
    ///
    /// # Errors
    /// When there is none; the text says what may have been meant.
    pub fn find(asked: &str) -> Result<(&'static Self, Option<String>), String> {
        let asked = asked.trim();
        let path = if asked == "permissions.defaultMode" { "permissions.mode" } else { asked };
        if let Some(key) = Self::named(path) {
            return Ok((key, None));
        }
        let of_names = match path.split_once('.') {
            Some(("env", _)) => Some("env"),
            Some(("hooks", _)) => Some("hooks"),
            Some(("models", _)) => Some("models.\"PROVIDER/NAME\""),
            _ => None,
        };
        if let Some(key) = of_names.and_then(Self::named) {
            return Ok((key, Some(path.to_owned())));
        }
        let inner = KEYS.into_iter().filter(|key| key.place().0 == path).map(|key| key.path);
        let inner: Vec<&str> = inner.collect();
        let known: Vec<&str> = KEYS.into_iter().map(|key| key.path).collect();
        Err(match inner.is_empty() {
            true => unknown_name(&format!("`{path}`"), "setting", path, &known),
            false => format!("`{path}` is a table; ask for one of {}", inner.join(", ")),
        })
    }

    /// The table it stands in, and its name there; a key of the file itself is in none.
    #[must_use]
    pub fn place(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or(("", self.path))
    }

    /// Whether a limit lets more through than what holds, or than the default where nothing does.
    pub(crate) fn is_raised(&self, value: &KeyValue, holds: &Values) -> bool {
        let default = self.default_value();
        let held = holds.get(self.path).map(|setting| &setting.value).or(default.as_ref());
        reach(value) > held.map_or(u64::MAX, reach)
    }
}

/// How much a limit lets through: none lets everything.
fn reach(limit: &KeyValue) -> u64 {
    match limit {
        KeyValue::Number(n) if *n > 0 => *n,
        _ => u64::MAX,
    }
}
