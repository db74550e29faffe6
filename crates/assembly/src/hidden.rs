//! What is taken out of everything that is shown, sent or kept.

use heeler_secrets::Secrets;
use heeler_settings::Loaded;

use crate::{Environment, Keys};

/// The secrets among these variables, among those that the settings give to commands, and the keys that
/// are kept in a file, whoever's model answers.
#[must_use]
pub fn hidden(environment: &Environment, loaded: &Loaded) -> Secrets {
    // Without a home there is no such file, and one that cannot be read gives nobody a key.
    let kept = Keys::of(environment).and_then(|keys| keys.in_file()).unwrap_or_default();
    let kept = kept.iter().map(|(name, key)| (*name, key.expose()));
    let given = loaded.environment.iter().map(|(name, set)| (name.as_str(), set.value.as_str()));
    Secrets::of_variables(environment.iter().chain(given).chain(kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeepKey, KeyOwner, Secret};

    #[test]
    fn keys_that_are_kept_are_hidden_whoever_answers() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let environment = Environment::default()
            .with("HEELER_HOME", home)
            .with("DB_PASSWORD", "h0rse-battery-Staple");
        let keys = Keys::of(&environment).unwrap();
        for (owner, key) in [("openai", "k3Qm9vT2xW8bN5rJ"), ("brave", "BSAq7Zk2Wm9Xr4Tb8Y")] {
            let owner = KeyOwner::named(owner).unwrap();
            keys.keep(&owner, &Secret::new(key), KeepKey::InFile).unwrap();
        }
        let text = "k3Qm9vT2xW8bN5rJ, BSAq7Zk2Wm9Xr4Tb8Y, h0rse-battery-Staple";
        let shown =
            "[redacted: OPENAI_API_KEY], [redacted: BRAVE_SEARCH_API_KEY], [redacted: DB_PASSWORD]";
        assert_eq!(hidden(&environment, &Loaded::default()).redact(text), shown);
        // What cannot be read holds nothing up.
        std::fs::write(folder.path().join("keys.toml"), "broken").unwrap();
        let redacted = hidden(&environment, &Loaded::default()).redact(text).into_owned();
        assert!(redacted.ends_with("[redacted: DB_PASSWORD]"), "{redacted}");
    }
}
