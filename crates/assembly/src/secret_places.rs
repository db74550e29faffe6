//! Where keys, passwords and what was said to others are kept: nothing that an agent runs reads it.

use std::path::{Path, PathBuf};

use crate::{Environment, SetupError, home_folder};

/// Places in a home that hold keys, passwords and what was said to others; nothing reads them.
const SECRETS: [&str; 58] = [
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
    ".terraformrc",
    ".databrickscfg",
    ".kaggle",
    ".pip/pip.conf",
    ".pulumi/credentials.json",
    ".composer/auth.json",
    ".cache/huggingface/token",
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
    ".config/glab-cli",
    ".config/rclone",
    ".config/pip/pip.conf",
    ".config/composer/auth.json",
    ".config/containers/auth.json",
    ".config/helm/registry.json",
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
    ".psql_history",
    ".mysql_history",
];

/// Variables that say where else such places are, apart by `:`, and what in them is one.
const SECRET_PLACES: [(&str, &str); 39] = [
    ("GNUPGHOME", ""),
    ("AWS_SHARED_CREDENTIALS_FILE", ""),
    ("AWS_CONFIG_FILE", ""),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", ""),
    ("AZURE_CONFIG_DIR", ""),
    ("AZURE_FEDERATED_TOKEN_FILE", ""),
    ("CLOUDSDK_CONFIG", ""),
    ("CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", ""),
    ("GOOGLE_APPLICATION_CREDENTIALS", ""),
    ("BOTO_CONFIG", ""),
    ("KUBECONFIG", ""),
    ("HELM_REGISTRY_CONFIG", ""),
    ("DOCKER_CONFIG", ""),
    ("REGISTRY_AUTH_FILE", ""),
    ("NETRC", ""),
    ("PGPASSFILE", ""),
    ("RCLONE_CONFIG", ""),
    ("TF_CLI_CONFIG_FILE", ""),
    ("DATABRICKS_CONFIG_FILE", ""),
    ("KAGGLE_CONFIG_DIR", ""),
    ("ANSIBLE_VAULT_PASSWORD_FILE", ""),
    ("SOPS_AGE_KEY_FILE", ""),
    ("NPM_CONFIG_USERCONFIG", ""),
    ("PIP_CONFIG_FILE", ""),
    ("GH_CONFIG_DIR", ""),
    ("GLAB_CONFIG_DIR", ""),
    ("PASSWORD_STORE_DIR", ""),
    ("CLAUDE_CONFIG_DIR", ""),
    ("CODEX_HOME", ""),
    ("HF_TOKEN_PATH", ""),
    ("PULUMI_HOME", "credentials.json"),
    ("COMPOSER_HOME", "auth.json"),
    ("GRADLE_USER_HOME", "gradle.properties"),
    ("CARGO_HOME", "credentials"),
    ("CARGO_HOME", "credentials.toml"),
    ("ZDOTDIR", ".zsh_history"),
    ("HISTFILE", ""),
    ("PSQL_HISTORY", ""),
    ("MYSQL_HISTFILE", ""),
];

/// Folders of what the system makes up. Who wants no history or no settings names a file there.
const NO_STORAGE: [&str; 2] = ["/dev", "/proc"];

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
        let places = std::env::split_paths(places).map(|place| match within {
            "" => place,
            within => place.join(within),
        });
        secrets.extend(places.filter(|place| place.is_absolute() && may_hold(place)));
    }
    // Where somebody works is no secret to the agent that works there, and a whole home is none.
    secrets.retain(|place| {
        let is_whole = home.is_some_and(|home| home.starts_with(place));
        place.is_absolute() && !workspace.starts_with(place) && !is_whole
    });
    secrets.push(home_folder(environment)?);
    Ok(secrets)
}

/// Whether something can be kept there, now or later: a device or a pipe that were closed would be
/// missed by every command.
fn may_hold(place: &Path) -> bool {
    let is_storage = !NO_STORAGE.iter().any(|folder| place.starts_with(folder));
    let is_kept = match place.metadata() {
        Ok(about) => about.is_file() || about.is_dir(),
        Err(_) => true,
    };
    is_storage && is_kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_nothing_is_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap().to_owned();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("link")).unwrap();
        std::fs::write(folder.path().join("key.json"), "").unwrap();
        let (key, link) = (format!("{home}/key.json"), format!("{home}/link"));
        let environment = [
            ("HOME", &*home),
            ("KUBECONFIG", "/dev/null"),
            ("HISTFILE", "/proc/self/fd/3"),
            ("NETRC", "/dev/fd/63"),
            ("PGPASSFILE", &*link),
            ("GOOGLE_APPLICATION_CREDENTIALS", &*key),
            ("CODEX_HOME", "/codex"),
        ];
        let environment = environment
            .into_iter()
            .fold(Environment::default(), |all, (name, value)| all.with(name, value));
        let found = secrets(&environment, Path::new("/space")).unwrap();
        let home = |name: &str| folder.path().join(name);
        assert!(!found.iter().any(|place| place.starts_with("/dev") || place.starts_with("/proc")));
        for (place, expected) in [
            (home("link"), false),
            (home(".zsh_history"), true),
            (home(".psql_history"), true),
            (home("key.json"), true),
            (PathBuf::from("/codex"), true),
        ] {
            assert_eq!(found.contains(&place), expected, "{place:?}");
        }
    }

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
