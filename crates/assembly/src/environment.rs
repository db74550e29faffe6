//! The variables a process was started with, taken once.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use crate::SetupError;

/// Folders in which things are kept, whatever folder somebody works in.
const HOMES: [&str; 2] = ["HEELER_HOME", "HOME"];

/// Variables by name.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The names of those whose value is no text.
    unreadable: BTreeSet<String>,
}

impl Environment {
    /// This process's variables.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self::of(std::env::vars_os())
    }

    fn of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut environment = Self::default();
        for (name, value) in variables {
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => drop(environment.variables.insert(name, value)),
                Err(_) => drop(environment.unreadable.insert(name)),
            }
        }
        environment
    }

    /// The value of a variable; an empty one counts as absent.
    ///
    /// # Errors
    /// When it is set to what is no text: what somebody set is never passed over in silence. When it is a
    /// home and a part of a path: each reader would take it from another folder.
    pub fn get(&self, name: &str) -> Result<Option<&str>, SetupError> {
        if self.unreadable.contains(name) {
            let why = format!("the value of {name} is not UTF-8 text; set it again, or unset it");
            return Err(SetupError::new(why));
        }
        let value = self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty());
        match value {
            Some(home) if HOMES.contains(&name) && Path::new(home).is_relative() => {
                Err(SetupError::new(format!(
                    "{name}={home} depends on the folder heeler is started in; set it to the whole path, \
                     from / on"
                )))
            }
            value => Ok(value),
        }
    }

    /// These, and this one, for whoever reads them here.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a variable for whoever reads it here; the process's own stay.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Every variable whose value is text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(variables: T) -> Self {
        Self { variables: heeler_core::gathered(variables), unreadable: BTreeSet::new() }
    }
}

impl std::fmt::Debug for Environment {
    /// Names only: values may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_value_that_is_no_text_is_told_when_it_is_asked_for() {
        let bytes = OsString::from_vec(vec![b'/', 0xff]);
        let pairs = [("HEELER_HOME".into(), bytes), ("HOME".into(), "/home/user".into())];
        let environment = Environment::of(pairs);
        assert_eq!(environment.get("HOME").unwrap(), Some("/home/user"));
        assert_eq!(environment.get("HEELER_MODEL").unwrap(), None);
        assert_eq!(
            environment.get("HEELER_HOME").unwrap_err().to_string(),
            "the value of HEELER_HOME is not UTF-8 text; set it again, or unset it"
        );
        assert_eq!(environment.iter().count(), 1);
    }

    #[test]
    fn a_home_that_is_a_part_of_a_path_is_told_when_it_is_asked_for() {
        for name in HOMES {
            let told = |value: &str| {
                let environment = Environment::default().with(name, value);
                environment
                    .get(name)
                    .map(|value| value.map(str::to_owned))
                    .map_err(|e| e.to_string())
            };
            assert_eq!(told(""), Ok(None));
            assert_eq!(told("/x"), Ok(Some("/x".to_owned())));
            for part in ["x", ".", "./x", "~"] {
                let why = told(part).unwrap_err();
                assert!(why.starts_with(&format!("{name}={part} depends on the folder")), "{why}");
            }
        }
        let environment = Environment::default().with("XDG_DATA_HOME", "x");
        assert_eq!(environment.get("XDG_DATA_HOME").unwrap(), Some("x"));
    }
}
