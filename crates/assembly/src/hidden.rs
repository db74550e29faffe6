//! What is taken out of everything that is shown, sent or kept.

use heeler_secrets::Secrets;
use heeler_settings::{Loaded, SettingsError};

use crate::{Environment, Keys};

/// The secrets among these variables, among those that the settings give to commands, and the keys that
/// are kept in a file, whoever's model answers. And why some of those may not be among them, in words for
/// the user.
#[must_use]
pub fn hidden(environment: &Environment, loaded: &Loaded) -> (Secrets, Option<SettingsError>) {
    // Without a home there is no such file.
    let kept = Keys::of(environment).ok().map(|keys| keys.in_file());
    let (kept, unread) = kept.unwrap_or_default();
    let kept = kept.iter().map(|(name, key)| (name.as_str(), key.expose()));
    let given = loaded.environment.iter().map(|(name, set)| (name.as_str(), set.value.as_str()));
    (Secrets::of_variables(environment.iter().chain(given).chain(kept)), unread)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::keys::KEY_BYTES_MAX;
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
        let (secrets, unread) = hidden(&environment, &Loaded::default());
        let shown =
            "[redacted: OPENAI_API_KEY], [redacted: BRAVE_SEARCH_API_KEY], [redacted: DB_PASSWORD]";
        assert_eq!(secrets.redact(text), shown);
        assert!(unread.is_none());
    }

    /// Whether the key of a file of keys is hidden, and what is told of the file.
    fn check(mode: u32, file: &str, is_hidden: bool, told: Expect) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.toml");
        std::fs::write(&path, file).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let home = folder.path().to_str().unwrap();
        let environment = Environment::default().with("HEELER_HOME", home);
        let (secrets, unread) = hidden(&environment, &Loaded::default());
        let redacted = secrets.redact("the key: k3Qm9vT2xW8bN5rJ").into_owned();
        assert_eq!(!redacted.contains("k3Qm9vT2xW8bN5rJ"), is_hidden, "{file}: {redacted}");
        let unread = unread.map(|unread| unread.to_string().replace(home, "HOME"));
        told.assert_eq(&unread.unwrap_or_default());
    }

    #[test]
    fn a_key_that_is_refused_for_use_is_hidden_all_the_same() {
        let key = "[openai]\nkey = 'k3Qm9vT2xW8bN5rJ'\n";
        // Others can read it.
        check(0o644, key, true, expect![""]);
        // Beside rows that are none, or of somebody whom this heeler does not know.
        check(0o600, &format!("[foo]\nbar = 1\n{key}"), true, expect![""]);
        check(0o600, &format!("{key}since = 2020\n"), true, expect![""]);
        check(0o600, &key.replace("openai", "someone-else"), true, expect![""]);
        check(0o600, "openai = 'k3Qm9vT2xW8bN5rJ'", true, expect![""]);
        // In a row that is written otherwise.
        check(0o600, &key.replace("key", "api_key"), true, expect![""]);
        check(0o600, &key.replace("key", "Key"), true, expect![""]);
        check(0o600, &key.replace("openai", "openai.work"), true, expect![""]);
        check(0o600, "openai = ['k3Qm9vT2xW8bN5rJ']", true, expect![""]);
        check(0o600, "openai = [[{ a = [{ b = 'k3Qm9vT2xW8bN5rJ' }] }]]", true, expect![""]);
        // Beside what is no TOML.
        check(
            0o600,
            &format!("{key}[brave]\nkey = = 7\n"),
            true,
            expect![
                "HOME/keys.toml: keys in it may be shown and kept as they are: the file is broken; remove it, and run `heeler login PROVIDER` again"
            ],
        );
        check(
            0o600,
            &format!("broken\n{key}"),
            true,
            expect![
                "HOME/keys.toml: keys in it may be shown and kept as they are: the file is broken; remove it, and run `heeler login PROVIDER` again"
            ],
        );
        check(
            0o600,
            &key.replace('\'', ""),
            true,
            expect![
                "HOME/keys.toml: keys in it may be shown and kept as they are: the file is broken; remove it, and run `heeler login PROVIDER` again"
            ],
        );
        check(
            0o600,
            "k3Qm9vT2xW8bN5rJ",
            true,
            expect![
                "HOME/keys.toml: keys in it may be shown and kept as they are: the file is broken; remove it, and run `heeler login PROVIDER` again"
            ],
        );
        for broken in [
            "openai = { key = 'k3Qm9vT2xW8bN5rJ' }\n=",
            "openai={key=k3Qm9vT2xW8bN5rJ}",
            "[openai]\nkey = 'k3Qm9vT2xW8bN5rJ',",
            "{\"openai\":{\"key\":\"k3Qm9vT2xW8bN5rJ\"}}",
            "openai: [k3Qm9vT2xW8bN5rJ]",
            "openai:k3Qm9vT2xW8bN5rJ",
            "[openai] key = 'k3Qm9vT2xW8bN5rJ'",
            "the key of openai is k3Qm9vT2xW8bN5rJ",
        ] {
            check(
                0o600,
                broken,
                true,
                expect![
                    "HOME/keys.toml: keys in it may be shown and kept as they are: the file is broken; remove it, and run `heeler login PROVIDER` again"
                ],
            );
        }
        // None that could be read.
        check(0o600, "", false, expect![""]);
    }

    /// Words that could be keys, so many that no pattern holds them, or so long.
    #[test]
    fn what_floods_the_file_uncovers_nothing_else() {
        let word = |number: usize| {
            format!("{:016x}", (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        };
        let long: String = (0..KEY_BYTES_MAX).map(word).collect();
        let key_long: String = (0..KEY_BYTES_MAX / 16).map(word).collect();
        let longest: Vec<String> =
            (0..200).map(|number| format!("{number}{}", &key_long[3..])).collect();
        let many: Vec<String> = (0..20_000).map(word).collect();
        for flood in [&[long][..], &longest, &many] {
            let broken = format!("[openai]\nkey = = 'k3Qm9vT2xW8bN5rJ'\n{}", flood.join("\n"));
            let rows = format!("brave = ['k3Qm9vT2xW8bN5rJ', '{}']", flood.join("', '"));
            for file in [broken, rows] {
                let folder = tempfile::tempdir().unwrap();
                std::fs::write(folder.path().join("keys.toml"), file).unwrap();
                let environment = Environment::default()
                    .with("HEELER_HOME", folder.path().to_str().unwrap())
                    .with("DB_PASSWORD", "h0rse-battery-Staple");
                let (secrets, unread) = hidden(&environment, &Loaded::default());
                let shown = secrets.redact("h0rse-battery-Staple, k3Qm9vT2xW8bN5rJ").into_owned();
                assert!(shown.starts_with("[redacted: DB_PASSWORD], [redacted: "), "{shown}");
                assert!(unread.is_some());
            }
        }
    }
}
