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
/// What a name never holds, in whatever family.
const SECRET_WORDS: [&str; 5] = ["CREDENTIAL", "KEY", "PASSWORD", "SECRET", "TOKEN"];

/// The variables a command sees: those of `vars` that are known to be harmless, and a terminal
/// that can do nothing. Sorted by name; of two with one name the later stays.
#[must_use]
pub fn allowed_environment(vars: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut allowed: BTreeMap<String, String> = vars.filter(|(name, _)| is_allowed(name)).collect();
    allowed.insert("TERM".into(), "dumb".into());
    allowed.into_iter().collect()
}

fn is_allowed(name: &str) -> bool {
    let is_known = NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let upper = name.to_ascii_uppercase();
    is_known && !SECRET_WORDS.iter().any(|word| upper.contains(word))
}

#[cfg(test)]
mod tests {
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
}
