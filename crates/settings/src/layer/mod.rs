//! What one file says, each value with the place it stands at.

mod asks;
mod exec_form;
mod fields;
mod hooks;
mod models;
mod permissions;
mod preferences;
mod rule;
mod sandbox;
#[cfg(test)]
mod tests;
mod web;

pub(crate) use asks::Values;
pub use hooks::{HOOK_TIMEOUT_SECONDS_MAX, HOOKS_MAX, HookSetting};
pub use models::{FALLBACKS_MAX, ModelSetting};
pub use permissions::{REPOSITORY_RULES_BYTES_MAX, REPOSITORY_RULES_MAX, RULES_MAX};
pub(crate) use rule::idle;
pub use rule::rule_on_folder;
pub use web::{SearchSetting, WEB_HOSTS_MAX};

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use heeler_core::{Mode, Rule};

use crate::SettingsError;
use crate::document::{self, Entry, Node, Value};
use crate::keys::{Key, KeyValue};
use crate::source::{Aspect, Context, Place, Source};
pub(crate) use fields::unknown_name;
use fields::{Fields, Unknown, text};

/// The most mistakes of one file that are told.
pub(crate) const MISTAKES_MAX: usize = 100;

/// A value, and where it comes from: a file and its line, or a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// What was set.
    pub value: T,
    /// Where.
    pub source: String,
}

/// Something a person should know of a file that works all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file and its line.
    pub source: String,
    /// What is to be known.
    pub text: String,
}

/// How commands are confined, the widest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confinement {
    /// Not at all.
    Off,
    /// As well as this machine can.
    On,
    /// Or they do not run.
    Required,
}

/// What a rule has to do with an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The rule.
    pub rule: Rule,
    /// A command line, a path or an address, as the rule's tool takes it.
    pub text: String,
    /// Whether the rule has to match it.
    pub matches: bool,
    /// The file and its line.
    pub source: String,
}

/// What one source says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Where it stands.
    pub place: Place,
    /// What it was trusted with; only asked of a repository's files.
    pub trusted: BTreeSet<Aspect>,
    /// Rules of every effect.
    pub rules: Vec<Rule>,
    /// What those rules have to match, and what not.
    pub examples: Vec<Example>,
    /// The mask on top of the rules.
    pub mode: Option<Setting<Mode>>,
    /// Where the mode bypass is ruled out.
    pub bypass_ruled_out: Option<String>,
    /// Folders that are read as the workspace is; absolute.
    pub folders: Vec<Setting<PathBuf>>,
    /// Commands that run by themselves.
    pub hooks: Vec<HookSetting>,
    /// Where all hooks are switched off, those of other files too.
    pub hooks_off: Option<String>,
    /// Variables of commands, by name.
    pub environment: Vec<(String, Setting<String>)>,
    /// Whether commands are confined.
    pub confinement: Option<Setting<Confinement>>,
    /// Folders that confined commands may write, beside the workspace; absolute.
    pub writable: Vec<Setting<PathBuf>>,
    /// Whether confined commands reach the network.
    pub network: Option<Setting<bool>>,
    /// What is known of models, by their full names.
    pub models: Vec<(String, Setting<ModelSetting>)>,
    /// Who answers, in this order, when the model that was chosen cannot.
    pub fallback: Option<Setting<Vec<String>>>,
    /// Who searches the web; never of a repository.
    pub search: Option<Setting<SearchSetting>>,
    /// Where the one is that needs an address; never of a repository.
    pub search_address: Option<Setting<String>>,
    /// Hosts that may be fetched from although they are not of the public internet; never of a
    /// repository.
    pub web_hosts: Vec<Setting<String>>,
    /// The keys that are rows of [`KEYS`](crate::KEYS).
    pub values: Vec<(&'static Key, Setting<KeyValue>)>,
    /// What a person should know of it.
    pub notes: Vec<Note>,
    /// What cannot be meant and could be passed over.
    pub problems: Vec<SettingsError>,
    /// What cannot be read or cannot be meant, and may not be passed over where anything runs.
    pub mistakes: Vec<SettingsError>,
}

impl Layer {
    /// A layer that says nothing, for a caller to fill.
    #[must_use]
    pub fn empty(place: Place) -> Self {
        Self {
            place,
            trusted: BTreeSet::new(),
            rules: Vec::new(),
            examples: Vec::new(),
            mode: None,
            bypass_ruled_out: None,
            folders: Vec::new(),
            hooks: Vec::new(),
            hooks_off: None,
            environment: Vec::new(),
            confinement: None,
            writable: Vec::new(),
            network: None,
            models: Vec::new(),
            fallback: None,
            search: None,
            search_address: None,
            web_hosts: Vec::new(),
            values: Vec::new(),
            notes: Vec::new(),
            problems: Vec::new(),
            mistakes: Vec::new(),
        }
    }

    /// What a command line says: rules whose source is their flag, and a mode.
    ///
    /// # Errors
    /// When a rule can never match: what it forbids would run.
    pub fn of_flags(
        rules: Vec<Rule>,
        mode: Option<Setting<Mode>>,
        context: &Context,
    ) -> Result<Self, SettingsError> {
        let mut layer = Self { mode, ..Self::empty(Place::Flags) };
        for rule in rules {
            let flag = rule.source.clone();
            let refused = |why: String| SettingsError::of_file(&flag, why);
            let readings = rule::readings(rule, Place::Flags, context).map_err(refused)?;
            if let Some(why) = rule::idle(&readings[0], context) {
                return Err(refused(format!("`{}` {why}", readings[0])));
            }
            layer.rules.extend(readings);
        }
        Ok(layer)
    }

    /// Reads a file, whole or not at all.
    ///
    /// # Errors
    /// When it is broken, or says something that cannot be meant; names file, line and next step.
    pub fn read(source: &Source, context: &Context) -> Result<Self, SettingsError> {
        let layer = Self::salvage(source, context);
        layer.mistakes.first().map_or(Ok(()), |mistake| Err(mistake.clone()))?;
        Ok(layer)
    }

    /// Reads what can be read of a file; the rest is among [`mistakes`](Self::mistakes). For
    /// whoever only looks: nothing may run by it.
    #[must_use]
    pub fn salvage(source: &Source, context: &Context) -> Self {
        let mend = match source.place.edit_command() {
            Some(command) => format!("mend it with `{command}`"),
            None => "mend it".to_owned(),
        };
        let read = document::salvage(source.format(), &source.name, &mend, &source.content);
        let mut layer = Self { trusted: source.trusted.clone(), ..Self::empty(source.place) };
        if let Some((path, node)) = part_of(source.place, &read.root, context) {
            let mut reading = Reading { source, context, layer: &mut layer };
            match Fields::of(&source.name, &path, node) {
                Ok(fields) => reading.whole(fields),
                Err(error) => reading.layer.mistakes.push(error),
            }
        }
        if !read.mistakes.is_empty() {
            // What seems to be wrong beside what could not be read may only lack that.
            layer.mistakes = read.mistakes;
        }
        layer.mistakes.truncate(MISTAKES_MAX);
        layer
    }
}

/// The part of a file that is about this workspace, and its name.
fn part_of<'a>(place: Place, root: &'a Node, context: &Context) -> Option<(String, &'a Node)> {
    if place != Place::Saved {
        return Some((String::new(), root));
    }
    let Value::Table(entries) = &root.value else { return None };
    let own = entries.iter().find(|entry| entry.key == context.workspace)?;
    Some((format!("{:?}", own.key), &own.node))
}

/// A file on its way to a layer.
struct Reading<'a> {
    source: &'a Source,
    context: &'a Context,
    layer: &'a mut Layer,
}

impl<'a> Reading<'a> {
    fn whole(&mut self, mut fields: Fields<'a>) {
        self.table(&mut fields, "permissions", Self::permissions);
        self.key(&mut fields, "hooks", Self::hooks);
        self.key(&mut fields, "disableAllHooks", Self::no_hooks);
        self.key(&mut fields, "env", Self::environment);
        if self.is_foreign() {
            // Of another program's sandbox we know neither what it holds nor what it lets through.
            let read = self.their_preferences(&mut fields);
            self.keep(read);
        } else {
            self.table(&mut fields, "sandbox", Self::sandbox);
            self.key(&mut fields, "models", Self::models);
            self.table(&mut fields, "web_search", Self::web_search);
            self.table(&mut fields, "web_fetch", Self::web_fetch);
            self.preferences(&mut fields);
        }
        if self.unknown() == Unknown::Refused {
            self.layer.mistakes.extend(fields.strangers());
        } else {
            self.note_miscased(&fields);
        }
    }

    /// Says of a file that may hold keys we know nothing of, which of them were meant for us.
    fn note_miscased(&mut self, fields: &Fields<'_>) {
        for (line, why) in fields.miscased() {
            self.note(line, why);
        }
    }

    /// Reads a key of the file, if it is there.
    fn key(
        &mut self,
        fields: &mut Fields<'a>,
        key: &'static str,
        read: impl FnOnce(&mut Self, &'a Node) -> Result<(), SettingsError>,
    ) {
        let found = fields.take(key);
        if let Some(Some(node)) = self.keep(found) {
            let read = read(self, node);
            self.keep(read);
        }
    }

    /// Reads a table of the file, if it is there.
    fn table(
        &mut self,
        fields: &mut Fields<'a>,
        key: &'static str,
        read: impl FnOnce(&mut Self, Fields<'a>) -> Result<(), SettingsError>,
    ) {
        let found = fields.table(key);
        if let Some(Some(table)) = self.keep(found) {
            let read = read(self, table);
            self.keep(read);
        }
    }

    /// What was read; a mistake is kept, so that the rest is read all the same.
    fn keep<T>(&mut self, read: Result<T, SettingsError>) -> Option<T> {
        read.map_err(|error| self.layer.mistakes.push(error)).ok()
    }

    fn no_hooks(&mut self, node: &Node) -> Result<(), SettingsError> {
        let Value::Bool(off) = node.value else {
            let expected = "true or false";
            return Err(fields::wrong(&self.source.name, "disableAllHooks", node, expected));
        };
        self.layer.hooks_off = off.then(|| self.at(node.line));
        Ok(())
    }

    fn environment(&mut self, node: &Node) -> Result<(), SettingsError> {
        let Value::Table(entries) = &node.value else {
            return Err(fields::wrong(&self.source.name, "env", node, "a table"));
        };
        for entry in entries {
            let read = self.variable(entry);
            self.keep(read);
        }
        Ok(())
    }

    fn variable(&mut self, entry: &Entry) -> Result<(), SettingsError> {
        let (name, key, line) = (&self.source.name, &entry.key, entry.line);
        let value = text(name, &format!("env.{key}"), &entry.node)?;
        let is_name = !key.is_empty() && !key.contains(['=', '\0']);
        if !is_name || value.contains('\0') {
            let why = format!("`env.{key}` cannot be a variable; rename it, or remove it");
            return Err(SettingsError::at(name, line, why));
        }
        if self.is_foreign() && is_secret(key) {
            self.note(line, format!(
                "the variable {key} looks like a secret and is not given to commands; to give it \
                 to them, set it in heeler's own settings.toml"
            ));
            return Ok(());
        }
        let setting = Setting { value: value.to_owned(), source: self.at(line) };
        self.layer.environment.push((key.clone(), setting));
        Ok(())
    }

    /// A folder, absolute; `~` is the home folder, and all else is in the workspace.
    fn folder(&self, path: &str, node: &Node) -> Result<Setting<PathBuf>, SettingsError> {
        let name = &self.source.name;
        let given = text(name, path, node)?;
        let refused = |why: &str| {
            SettingsError::at(name, node.line, format!("`{path}`: the folder `{given}` {why}"))
        };
        let home = self.context.homes.first();
        let place = match given.strip_prefix('~') {
            Some(below) if below.is_empty() || below.starts_with('/') => {
                let home = home.ok_or_else(|| refused("needs a home folder; set HOME"))?;
                PathBuf::from(format!("{home}{below}"))
            }
            Some(_) => return Err(refused("names another user's home; write the whole path")),
            None if given.trim().is_empty() => return Err(refused("has no name; remove it")),
            None => Path::new(&self.context.workspace).join(given),
        };
        Ok(Setting { value: without_dots(&place), source: self.at(node.line) })
    }

    fn note(&mut self, line: usize, text: String) {
        let source = self.at(line);
        self.layer.notes.push(Note { source, text });
    }

    fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.source.name)
    }

    /// Whether the file belongs to another program, and so holds more than we know of.
    fn is_foreign(&self) -> bool {
        let given = self.source.place == Place::Given;
        self.source.place.is_foreign() || (given && self.source.format() == document::Format::Json)
    }

    fn unknown(&self) -> Unknown {
        if self.is_foreign() { Unknown::Ignored } else { Unknown::Refused }
    }
}

/// Whether a variable's name says that its value is nobody's business.
fn is_secret(name: &str) -> bool {
    const WORDS: [&str; 5] = ["CREDENTIAL", "KEY", "PASSWORD", "SECRET", "TOKEN"];
    let name = name.to_ascii_uppercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// A path without `.` and `..`, by its letters.
fn without_dots(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, component| {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
        plain
    })
}
