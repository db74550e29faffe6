//! Keys that `heeler login` keeps: in the system's keyring, or in a file of heeler's home.
//!
//! A variable that is set wins, and then nothing is read here. The file says for each provider
//! where its key is, so a keyring is only asked for what it holds.
//!
//! Invariant: no key leaves but into the environment that its owner is made of, whose values are
//! known as secrets from then on.

mod file;
mod owner;
mod ring;

use std::path::PathBuf;

use heeler_providers::Secret;
use heeler_settings::SettingsError;

use self::file::{KeyFile, Row};
pub use self::owner::KeyOwner;
pub(crate) use self::owner::{BRAVE, TAVILY};
use crate::{Environment, SetupError, home_folder};

/// The shortest text that is taken for a key, in bytes.
pub const KEY_BYTES_MIN: usize = 8;
/// The longest text that is taken for a key, in bytes.
pub const KEY_BYTES_MAX: usize = 4096;

/// The keys that are kept for a user.
#[derive(Debug, Clone)]
pub struct Keys {
    file: KeyFile,
}

/// Where a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// In this variable, which wins.
    Variable(&'static str),
    /// In the system's keyring.
    Keyring,
    /// In this file.
    File(PathBuf),
}

/// Where a key is to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepKey {
    /// In the keyring if there is one, else in the file.
    Anywhere,
    /// In the file.
    InFile,
}

impl Keys {
    /// The keys of whoever has these variables.
    ///
    /// # Errors
    /// When heeler has no home folder.
    pub fn of(environment: &Environment) -> Result<Self, SetupError> {
        Ok(Self { file: KeyFile::in_folder(home_folder(environment)?) })
    }

    /// Whether a text can be a key: one word that a header can carry, neither a syllable nor a
    /// book.
    ///
    /// # Errors
    /// When it cannot, with what is wrong with it.
    pub fn check(key: &Secret) -> Result<(), SetupError> {
        check_shape(key)
    }

    /// Where somebody's key is, if there is one.
    ///
    /// # Errors
    /// When the file cannot be used, as when others can read it.
    pub fn place(
        &self,
        owner: &KeyOwner,
        environment: &Environment,
    ) -> Result<Option<KeyPlace>, SetupError> {
        if let Some(variable) = set_variable(owner, environment) {
            return Ok(Some(KeyPlace::Variable(variable)));
        }
        Ok(self.file.row(owner.row())?.map(|row| match row {
            Row::Keyring => KeyPlace::Keyring,
            Row::Key(_) => KeyPlace::File(self.file.path().to_owned()),
        }))
    }

    /// Keeps a key instead of the one its owner had; gives where.
    ///
    /// # Errors
    /// When the text can be no key, or the file cannot be used.
    pub fn keep(
        &self,
        owner: &KeyOwner,
        key: &Secret,
        keep: KeepKey,
    ) -> Result<KeyPlace, SetupError> {
        check_shape(key)?;
        let name = owner.row();
        let in_ring = keep == KeepKey::Anywhere && ring::keep(name, key).is_ok();
        if in_ring {
            self.file.change(name, Some(Row::Keyring))?;
            return Ok(KeyPlace::Keyring);
        }
        // What an earlier login left there would be a key that nobody knows of.
        if matches!(self.file.row(name)?, Some(Row::Keyring)) {
            // A keyring that is gone for good must not be in the way.
            let _ = ring::forget(name);
        }
        self.file.change(name, Some(Row::Key(key.clone())))?;
        Ok(KeyPlace::File(self.file.path().to_owned()))
    }

    /// Forgets a key; whether there was one.
    ///
    /// # Errors
    /// When the file cannot be used, or the keyring that holds the key does not answer.
    pub fn forget(&self, owner: &KeyOwner) -> Result<bool, SetupError> {
        let name = owner.row();
        let Some(row) = self.file.row(name)? else { return Ok(false) };
        if matches!(row, Row::Keyring) {
            ring::forget(name).map_err(|why| unanswered(owner, &why))?;
        }
        self.file.change(name, None)?;
        Ok(true)
    }

    /// The keys that stand in the file, with the variables they stand for, and why some may be missing. Of
    /// those that are refused for use, too. What a keyring holds is asked for only where it is needed: a
    /// person may have to unlock it.
    pub(crate) fn in_file(&self) -> (Vec<(String, Secret)>, Option<SettingsError>) {
        let variable = |row: String| {
            let owner = KeyOwner::named(&row).and_then(|owner| owner.variables.first().copied());
            owner.map_or_else(|| format!("{}_API_KEY", row.to_ascii_uppercase()), str::to_owned)
        };
        let (keys, unread) = self.file.found();
        (keys.into_iter().map(|(row, key)| (variable(row), key)).collect(), unread)
    }

    fn get(&self, owner: &KeyOwner) -> Result<Option<Secret>, SetupError> {
        let name = owner.row();
        match self.file.row(name)? {
            None => Ok(None),
            Some(Row::Key(key)) => Ok(Some(key)),
            Some(Row::Keyring) => {
                let key = ring::get(name).map_err(|why| unanswered(owner, &why))?;
                key.map(Some).ok_or_else(|| unanswered(owner, "it has no such key any more"))
            }
        }
    }
}

/// Gives the environment the key that is kept for this owner, unless a variable has one.
pub(crate) fn fill(environment: &mut Environment, owner: &KeyOwner) -> Result<(), SetupError> {
    let Some(variable) = owner.variables.first() else { return Ok(()) };
    if set_variable(owner, environment).is_some() {
        return Ok(());
    }
    if let Some(key) = Keys::of(environment)?.get(owner)? {
        environment.set(variable, key.expose());
    }
    Ok(())
}

fn set_variable(owner: &KeyOwner, environment: &Environment) -> Option<&'static str> {
    let is_set = |name: &&&str| {
        environment.get(name).ok().flatten().is_some_and(|value| !value.trim().is_empty())
    };
    owner.variables.iter().find(is_set).copied()
}

fn check_shape(key: &Secret) -> Result<(), SetupError> {
    let key = key.expose();
    let why = match key.len() {
        0 => "there is no key; nothing is kept".to_owned(),
        len if len < KEY_BYTES_MIN => {
            format!("that is no key: it has {len} characters; copy it whole")
        }
        len if len > KEY_BYTES_MAX => {
            format!("that is no key: it has more than {KEY_BYTES_MAX} characters; copy it alone")
        }
        _ if key.bytes().all(|byte| byte.is_ascii_graphic()) => return Ok(()),
        _ => "that is no key: it has spaces, or characters that no header can carry; copy it alone"
            .to_owned(),
    };
    Err(SetupError::new(why))
}

fn unanswered(owner: &KeyOwner, why: &str) -> SetupError {
    SetupError::new(format!(
        "the keyring that holds the key for {} cannot be used: {why}; unlock it, or set {}, or keep \
         the key in a file: `heeler login {} --file`",
        owner.title,
        owner.variables.first().unwrap_or(&""),
        owner.name
    ))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use expect_test::{Expect, expect};
    use tempfile::TempDir;

    use super::*;

    struct Place {
        folder: TempDir,
    }

    impl Place {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap() }
        }

        fn environment(&self, more: &[(&str, &str)]) -> Environment {
            let home = self.folder.path().to_string_lossy().into_owned();
            let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            more.chain([("HEELER_HOME".to_owned(), home)]).collect()
        }

        fn keys(&self) -> Keys {
            Keys::of(&self.environment(&[])).unwrap()
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("keys.toml")
        }

        /// The key that a provider would be made with.
        fn key(&self, more: &[(&str, &str)]) -> Result<Option<String>, String> {
            let mut environment = self.environment(more);
            fill(&mut environment, &anthropic()).map_err(|error| error.to_string())?;
            let key = environment.get("ANTHROPIC_API_KEY").unwrap();
            Ok(key.map(str::to_owned))
        }
    }

    fn anthropic() -> KeyOwner {
        KeyOwner::named("anthropic").unwrap()
    }

    #[test]
    fn a_key_is_kept_and_forgotten_and_a_variable_wins() {
        let place = Place::new();
        let keys = place.keys();
        assert_eq!(place.key(&[]), Ok(None));
        assert!(!keys.forget(&anthropic()).unwrap());
        let kept = keys.keep(&anthropic(), &Secret::new("sk-ant-12345"), KeepKey::InFile).unwrap();
        assert_eq!(kept, KeyPlace::File(place.path()));
        assert_eq!(place.key(&[]), Ok(Some("sk-ant-12345".into())));
        assert_eq!(keys.place(&anthropic(), &place.environment(&[])).unwrap(), Some(kept));
        // Either of its variables is a key of its own.
        let own = [("ANTHROPIC_API_KEY", "sk-own")];
        assert_eq!(place.key(&own), Ok(Some("sk-own".into())));
        assert_eq!(place.key(&[("ANTHROPIC_AUTH_TOKEN", "t")]), Ok(None));
        let seen = keys.place(&anthropic(), &place.environment(&own)).unwrap();
        assert_eq!(seen, Some(KeyPlace::Variable("ANTHROPIC_API_KEY")));
        assert!(keys.forget(&anthropic()).unwrap());
        assert_eq!(place.key(&[]), Ok(None));
    }

    #[test]
    fn what_others_can_read_is_not_used() {
        let place = Place::new();
        let key = Secret::new("sk-ant-12345");
        place.keys().keep(&anthropic(), &key, KeepKey::InFile).unwrap();
        assert_eq!(fs::metadata(place.path()).unwrap().permissions().mode() & 0o777, 0o600);
        for mode in [0o640, 0o604, 0o644, 0o620] {
            fs::set_permissions(place.path(), Permissions::from_mode(mode)).unwrap();
            let refused = place.key(&[]).unwrap_err();
            let path = place.path().display().to_string();
            let expected = format!(
                "{path}: others can use the keys in it (its mode is {mode:o}); run `chmod 600 {path}`, \
                 and replace the keys if anybody may have read them"
            );
            assert_eq!(refused, expected);
            assert!(place.keys().forget(&anthropic()).is_err());
            // A variable needs no file.
            assert!(place.key(&[("ANTHROPIC_API_KEY", "x")]).is_ok());
        }
    }

    #[test]
    fn a_file_that_is_broken_is_told_without_what_it_holds() {
        let place = Place::new();
        for text in ["sk-ant-secret", "[anthropic]\nkey = sk-ant-secret", "anthropic = 'sk-secret'"]
        {
            fs::write(place.path(), text).unwrap();
            fs::set_permissions(place.path(), Permissions::from_mode(0o600)).unwrap();
            let told = place.key(&[]).unwrap_err();
            assert!(told.contains("keys.toml:") && told.contains("heeler login"), "{told}");
            assert!(!told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn what_can_be_no_key_is_not_kept() {
        let long = "k".repeat(KEY_BYTES_MAX + 1);
        check_refused("", expect!["there is no key; nothing is kept"]);
        check_refused("short12", expect!["that is no key: it has 7 characters; copy it whole"]);
        check_refused(
            &long,
            expect!["that is no key: it has more than 4096 characters; copy it alone"],
        );
        for spaced in ["two words here", "sch\u{f6}nes-wort"] {
            check_refused(
                spaced,
                expect![
                    "that is no key: it has spaces, or characters that no header can carry; copy it alone"
                ],
            );
        }
        assert!(check_shape(&Secret::new("k".repeat(KEY_BYTES_MAX))).is_ok());
        assert!(check_shape(&Secret::new(" eight888 \n")).is_ok());
    }

    fn check_refused(key: &str, expected: Expect) {
        expected.assert_eq(&check_shape(&Secret::new(key)).unwrap_err().to_string());
    }
}
