//! The sections whose keys are rows of a table: `model`, `context`, `limits`, `notes`,
//! `attribution`, `tui`.

use super::fields::Fields;
use super::{Reading, Setting};
use crate::SettingsError;
use crate::document::{Node, Value};
use crate::keys::{ATTRIBUTION, KEYS, Key, KeyValue};
use crate::source::Place;

/// What is to be done about what cannot be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// Nothing runs: something else would be done than what was asked for, and could not be undone.
    Stops,
    /// It is told and passed over; the rest counts.
    IsPassedOver,
}

/// Each section, and what its mistakes do. Who mistypes `model.default` may have meant that nothing
/// leaves the machine, who mistypes a limit that it ends a turn, and who mistypes `attribution` what
/// is published; the others change what is seen, not what is done.
const SECTIONS: [(&str, Wrong); 5] = [
    ("model", Wrong::Stops),
    ("context", Wrong::IsPassedOver),
    ("limits", Wrong::Stops),
    ("notes", Wrong::IsPassedOver),
    ("tui", Wrong::IsPassedOver),
];

/// What Claude Code's files call `attribution`.
const THEIR_ATTRIBUTION: &str = "includeCoAuthoredBy";

impl<'a> Reading<'a> {
    /// Reads these sections of a file of ours.
    pub(super) fn preferences(&mut self, fields: &mut Fields<'a>) {
        for (name, wrong) in SECTIONS {
            let found = fields.take(name);
            if let Some(Some(node)) = self.bear(wrong, found) {
                let read = self.section(name, wrong, node);
                self.bear(wrong, read);
            }
        }
        self.key(fields, ATTRIBUTION.path, |reading, node| {
            let setting = reading.value(&ATTRIBUTION, node)?;
            reading.layer.values.push((&ATTRIBUTION, setting));
            Ok(())
        });
    }

    /// Reads what another program's file says of the same things.
    pub(super) fn their_preferences(
        &mut self,
        fields: &mut Fields<'a>,
    ) -> Result<(), SettingsError> {
        let Some(node) = fields.take(THEIR_ATTRIBUTION)? else { return Ok(()) };
        if let Value::Bool(on) = node.value {
            let value = KeyValue::Switch(on);
            let setting = Setting { value, source: self.at(node.line) };
            self.layer.values.push((&ATTRIBUTION, setting));
        } else {
            let why = format!("`{THEIR_ATTRIBUTION}` is passed over: it is not true or false");
            self.note(node.line, why);
        }
        Ok(())
    }

    fn section(
        &mut self,
        section: &'static str,
        wrong: Wrong,
        node: &'a Node,
    ) -> Result<(), SettingsError> {
        let mut fields = Fields::of(&self.source.name, section, node)?;
        let keys = KEYS.into_iter().filter(|key| key.place().0 == section);
        for key in keys {
            let found = fields.take(key.place().1);
            let Some(Some(node)) = self.bear(wrong, found) else { continue };
            let read = self.value(key, node);
            if let Some(setting) = self.bear(wrong, read) {
                self.layer.values.push((key, setting));
            }
        }
        for stranger in fields.strangers() {
            self.bear(wrong, Err::<(), _>(stranger));
        }
        Ok(())
    }

    fn value(&self, key: &'static Key, node: &Node) -> Result<Setting<KeyValue>, SettingsError> {
        let why = || format!("`{}` has to be {}", key.path, key.kind.words());
        let error = || SettingsError::at(&self.source.name, node.line, why());
        let value = key.kind.read(&node.value).ok_or_else(error)?;
        Ok(Setting { value, source: self.at(node.line) })
    }

    /// What was read; a mistake is kept to be told.
    fn bear<T>(&mut self, wrong: Wrong, read: Result<T, SettingsError>) -> Option<T> {
        match wrong {
            Wrong::Stops => self.keep(read),
            Wrong::IsPassedOver => read.map_err(|error| self.layer.problems.push(error)).ok(),
        }
    }
}

impl super::Layer {
    /// What variables say, by whoever knows them: an empty one counts as absent.
    ///
    /// # Errors
    /// When one says what cannot be meant; names it, and says what it has to be.
    pub fn of_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let mut layer = Self::empty(Place::Variables);
        for key in KEYS {
            let mut set = key.variables.iter().filter_map(|name| Some((*name, variable(name)?)));
            let Some((name, given)) = set.find(|(_, given)| !given.is_empty()) else { continue };
            let Some(value) = key.kind.read_variable(&given) else {
                let words = key.kind.words();
                let why = format!("{name}={given} is not usable; set it to {words}");
                return Err(SettingsError::plain(why));
            };
            layer.values.push((key, Setting { value, source: name.to_owned() }));
        }
        Ok(layer)
    }

    /// These values, as a command line says them: each with its flag.
    #[must_use]
    pub fn with_values(mut self, values: Vec<(&'static Key, Setting<KeyValue>)>) -> Self {
        self.values.extend(values);
        self
    }
}
