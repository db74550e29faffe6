//! Where keys, passwords and what was said to others are kept: nothing that an agent runs reads it.

use std::path::{Path, PathBuf};

use crate::{Environment, SetupError, home_folder};

/// Places in a home that hold keys, passwords and what was said to others; nothing reads them.
const SECRETS: [&str; 44] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".git-credentials",
    ".password-store",
    ".terraform.d",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".config/gh",
    ".config/gcloud",
    ".config/git/credentials",
    ".config/rclone",
    ".config/op",
    ".config/sops",
    ".config/heeler",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".mozilla",
    ".thunderbird",
    ".local/share/keyrings",
    ".local/share/heeler",
    ".local/share/opencode",
    ".bash_history",
    ".zsh_history",
];

/// Variables that say where else such places are, apart by `:`, and what in them is one.
const SECRET_PLACES: [(&str, &str); 15] = [
    ("GNUPGHOME", ""),
    ("AWS_SHARED_CREDENTIALS_FILE", ""),
    ("AWS_CONFIG_FILE", ""),
    ("AZURE_CONFIG_DIR", ""),
    ("CLOUDSDK_CONFIG", ""),
    ("KUBECONFIG", ""),
    ("DOCKER_CONFIG", ""),
    ("NETRC", ""),
    ("PGPASSFILE", ""),
    ("NPM_CONFIG_USERCONFIG", ""),
    ("GH_CONFIG_DIR", ""),
    ("PASSWORD_STORE_DIR", ""),
    ("CARGO_HOME", "credentials"),
    ("CARGO_HOME", "credentials.toml"),
    ("HISTFILE", ""),
];

/// What nobody reads or writes who works here.
///
/// # Errors
/// When a variable is no text.
pub(crate) fn secrets(
    environment: &Environment,
    workspace: &Path,
) -> Result<Vec<PathBuf>, SetupError> {
    let home = environment.get("HOME")?.map(Path::new);
    let mut secrets: Vec<PathBuf> = Vec::new();
    secrets.extend(home.iter().flat_map(|home| SECRETS.map(|place| home.join(place))));
    for (name, usual) in [("XDG_CONFIG_HOME", ".config/"), ("XDG_DATA_HOME", ".local/share/")] {
        if let Some(folder) = environment.get(name)? {
            let moved = SECRETS.iter().filter_map(|place| place.strip_prefix(usual));
            secrets.extend(moved.map(|place| Path::new(folder).join(place)));
        }
    }
    for (name, within) in SECRET_PLACES {
        let places = environment.get(name)?.unwrap_or_default();
        // Nothing within is the place itself; joined, it would be a folder.
        secrets.extend(std::env::split_paths(places).map(|place| match within {
            "" => place,
            within => place.join(within),
        }));
    }
    // Where somebody works is no secret to the agent that works there, and a whole home is none.
    secrets.retain(|place| {
        let is_whole = home.is_some_and(|home| home.starts_with(place));
        place.is_absolute() && !workspace.starts_with(place) && !is_whole
    });
    secrets.push(home_folder(environment)?);
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_variable_moves_is_as_secret_as_before() {
        let environment = [
            ("HOME", "/home/me"),
            ("XDG_CONFIG_HOME", "/moved/config"),
            ("KUBECONFIG", "/k/one:/k/two:relative"),
            ("DOCKER_CONFIG", "/home"),
            ("GNUPGHOME", "/space"),
            ("CARGO_HOME", "/cargo"),
        ];
        let environment = environment
            .into_iter()
            .fold(Environment::default(), |all, (name, value)| all.with(name, value));
        let found = secrets(&environment, Path::new("/space/project")).unwrap();
        for (place, expected) in [
            ("/home/me/.ssh", true),
            ("/moved/config/gh", true),
            ("/moved/config/git/credentials", true),
            ("/k/two", true),
            ("/cargo/credentials.toml", true),
            ("relative", false),
            ("/home", false),
            ("/space", false),
        ] {
            assert_eq!(found.iter().any(|found| found == Path::new(place)), expected, "{place}");
        }
    }
}
