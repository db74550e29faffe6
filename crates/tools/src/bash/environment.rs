//! Which variables of ours a command sees.

use std::collections::BTreeMap;

/// Variables that make programs work and hold no secrets.
const NAMES: [&str; 30] = [
    "CARGO_HOME",
    "CONDA_PREFIX",
    "DENO_DIR",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NVM_BIN",
    "NVM_DIR",
    "PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SDKMAN_DIR",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];
/// Families of such variables.
const PREFIXES: [&str; 2] = ["LC_", "XDG_"];
/// How many settings git finds in its environment.
const GIT_SETTINGS: &str = "GIT_CONFIG_COUNT";
/// Settings that keep a few files, which anybody may write into the workspace, from saying what git runs
/// there: a folder that is laid out like a repository is none unless it is named as such, and git neither
/// looks what differs in the repositories within the one it works in, nor goes on in those by itself.
const SAFE_GIT: [(&str, &str); 7] = [
    ("safe.bareRepository", "explicit"),
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.submodule", "short"),
    ("status.submoduleSummary", "false"),
    // Before those that it would say the same of.
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
];
/// What a name never holds, in whatever family.
const SECRET_WORDS: [&str; 5] = ["CREDENTIAL", "KEY", "PASSWORD", "SECRET", "TOKEN"];

/// The variables a command sees: those of `vars` that are known to be harmless, and a terminal
/// that can do nothing. Sorted by name; of two with one name the later stays.
#[must_use]
pub fn allowed_environment(vars: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut allowed: BTreeMap<String, String> =
        heeler_core::gathered(vars.filter(|(name, _)| is_allowed(name)));
    allowed.insert("TERM".into(), "dumb".into());
    allowed.into_iter().collect()
}

/// These with the settings of [`SAFE_GIT`] after those that they may hold.
pub(super) fn with_safe_git(mut environment: Vec<(String, String)>) -> Vec<(String, String)> {
    let value = |name: &str| environment.iter().rev().find(|(other, _)| other == name);
    // With a count that is none git refuses to start; this one it takes.
    let n_settings: u32 =
        value(GIT_SETTINGS).and_then(|(_, count)| count.trim().parse().ok()).unwrap_or_default();
    let n_all = n_settings.saturating_add(SAFE_GIT.len() as u32);
    let mut added = vec![(GIT_SETTINGS.to_owned(), n_all.to_string())];
    for (number, (name, value)) in (n_settings..n_all).zip(SAFE_GIT) {
        added.push((format!("GIT_CONFIG_KEY_{number}"), name.to_owned()));
        added.push((format!("GIT_CONFIG_VALUE_{number}"), value.to_owned()));
    }
    environment.retain(|(name, _)| added.iter().all(|(other, _)| other != name));
    environment.extend(added);
    environment
}

fn is_allowed(name: &str) -> bool {
    let is_known = NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let upper = name.to_ascii_uppercase();
    is_known && !SECRET_WORDS.iter().any(|word| upper.contains(word))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(names: &str, expected: &str) {
        let vars = names.split_whitespace().map(|name| (name.to_owned(), name.to_lowercase()));
        let names: Vec<String> = allowed_environment(vars).into_iter().map(|(n, _)| n).collect();
        assert_eq!(names.join(" "), expected);
    }

    #[test]
    fn only_known_names_pass() {
        check(
            "USER PATH HOME LC_ALL XDG_CACHE_HOME FOO",
            "HOME LC_ALL PATH TERM USER XDG_CACHE_HOME",
        );
        check("ANTHROPIC_API_KEY AWS_SECRET_ACCESS_KEY GITHUB_TOKEN PGPASSWORD", "TERM");
        check("GIT_DIR GIT_ASKPASS BASH_ENV ENV LD_PRELOAD SSH_AUTH_SOCK PROMPT_COMMAND", "TERM");
    }

    #[test]
    fn a_name_that_sounds_secret_never_passes() {
        check("XDG_TOKEN LC_Secret XDG_API_key LC_PASSWORD XDG_CREDENTIALS", "TERM");
        for name in NAMES {
            assert!(is_allowed(name), "{name} is listed and refused");
        }
    }

    #[test]
    fn the_terminal_is_dumb_and_the_later_value_stays() {
        let vars = [("TERM", "xterm"), ("HOME", "/a"), ("HOME", "/b")];
        let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let expected = [("HOME", "/b"), ("TERM", "dumb")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(allowed_environment(vars.into_iter()), expected);
    }

    /// What git is told after these, by name and value.
    fn git_told(given: &[(&str, &str)]) -> String {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let given = given.iter().map(owned).collect();
        let told = with_safe_git(given).into_iter().map(|(name, value)| format!("{name}={value}"));
        told.collect::<Vec<_>>().join("\n")
    }

    fn check_git(given: &[(&str, &str)], expected: Expect) {
        expected.assert_eq(&git_told(given));
    }

    #[test]
    fn a_repository_without_a_git_folder_has_to_be_named_and_none_within_is_looked_into() {
        check_git(
            &[("HOME", "/a")],
            expect![[r#"
            HOME=/a
            GIT_CONFIG_COUNT=7
            GIT_CONFIG_KEY_0=safe.bareRepository
            GIT_CONFIG_VALUE_0=explicit
            GIT_CONFIG_KEY_1=diff.ignoreSubmodules
            GIT_CONFIG_VALUE_1=dirty
            GIT_CONFIG_KEY_2=diff.submodule
            GIT_CONFIG_VALUE_2=short
            GIT_CONFIG_KEY_3=status.submoduleSummary
            GIT_CONFIG_VALUE_3=false
            GIT_CONFIG_KEY_4=submodule.recurse
            GIT_CONFIG_VALUE_4=false
            GIT_CONFIG_KEY_5=fetch.recurseSubmodules
            GIT_CONFIG_VALUE_5=false
            GIT_CONFIG_KEY_6=push.recurseSubmodules
            GIT_CONFIG_VALUE_6=no"#]],
        );
        check_git(
            &[
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
                ("GIT_CONFIG_VALUE_0", "all"),
                ("GIT_CONFIG_VALUE_1", "left over"),
            ],
            expect![[r#"
                GIT_CONFIG_KEY_0=safe.bareRepository
                GIT_CONFIG_VALUE_0=all
                GIT_CONFIG_COUNT=8
                GIT_CONFIG_KEY_1=safe.bareRepository
                GIT_CONFIG_VALUE_1=explicit
                GIT_CONFIG_KEY_2=diff.ignoreSubmodules
                GIT_CONFIG_VALUE_2=dirty
                GIT_CONFIG_KEY_3=diff.submodule
                GIT_CONFIG_VALUE_3=short
                GIT_CONFIG_KEY_4=status.submoduleSummary
                GIT_CONFIG_VALUE_4=false
                GIT_CONFIG_KEY_5=submodule.recurse
                GIT_CONFIG_VALUE_5=false
                GIT_CONFIG_KEY_6=fetch.recurseSubmodules
                GIT_CONFIG_VALUE_6=false
                GIT_CONFIG_KEY_7=push.recurseSubmodules
                GIT_CONFIG_VALUE_7=no"#]],
        );
        // A count that is none counts as none at all.
        assert_eq!(git_told(&[("GIT_CONFIG_COUNT", "many")]), git_told(&[]));
    }
}
