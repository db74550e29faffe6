//! Where keys, passwords and what was said to others are kept: nothing that an agent runs reads it.

mod list;

use std::fs::File;
use std::path::{Path, PathBuf};

use self::list::{BY_VARIABLE, IN_HOME, KERBEROS, MOVED, OF_MACHINE};
use crate::{Environment, SetupError, home_folder};

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
    let in_home = || IN_HOME.iter().flat_map(|(_, places)| places.iter());
    let mut secrets: Vec<PathBuf> = Vec::new();
    if let Some(home) = home {
        // Hundreds, of which where somebody works is in none or one: looked at without the long way to it.
        let works_in = workspace.strip_prefix(home).ok();
        let places = in_home().filter(|place| !works_in.is_some_and(|at| at.starts_with(place)));
        secrets.extend(places.map(|place| home.join(place)));
    }
    let mut others: Vec<PathBuf> = Vec::new();
    for (name, usual) in MOVED {
        if let Some(folder) = environment.get(name)? {
            let moved = in_home().filter_map(|place| place.strip_prefix(usual));
            others.extend(moved.map(|place| Path::new(folder).join(place)));
        }
    }
    for (name, within) in BY_VARIABLE {
        let places = environment.get(name)?.unwrap_or_default();
        // Nothing within is the place itself; joined, it would be a folder.
        let places = std::env::split_paths(places).map(|place| match within {
            "" => place,
            within => place.join(within),
        });
        others.extend(places.filter(|place| place.is_absolute() && may_hold(place)));
    }
    let of_machine = OF_MACHINE.iter().map(PathBuf::from).chain([kerberos()]);
    others.extend(of_machine.filter(|place| is_readable(place)));
    // Where somebody works is no secret to the agent that works there, and a whole home is none.
    others.retain(|place| {
        let is_whole = home.is_some_and(|home| home.starts_with(place));
        place.is_absolute() && !workspace.starts_with(place) && !is_whole
    });
    secrets.append(&mut others);
    secrets.push(home_folder(environment)?);
    Ok(secrets)
}

fn kerberos() -> PathBuf {
    format!("{KERBEROS}{}", rustix::process::getuid().as_raw()).into()
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

/// Whether this user may read it at all: who may not needs no wall around it, which costs a look at each
/// entry of the folders above.
fn is_readable(place: &Path) -> bool {
    // Nothing else is opened: it may never end.
    place.metadata().is_ok_and(|it| it.is_file() || it.is_dir()) && File::open(place).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::expect_file;

    use super::*;

    /// The page lists all of them.
    #[test]
    fn the_page_is_what_the_list_is() {
        let mut page = String::from(PAGE_BEGINS);
        for (what, places) in IN_HOME {
            write!(page, "\n## {what}\n\n").unwrap();
            places.iter().for_each(|place| writeln!(page, "- `~/{place}`").unwrap());
        }
        page.push_str("\n## Moved by variables\n\n");
        for (name, usual) in MOVED {
            writeln!(page, "- `{name}`: what is above in `~/{usual}`, there as well").unwrap();
        }
        for (name, within) in BY_VARIABLE {
            let slash = if within.is_empty() { "" } else { "/" };
            writeln!(page, "- `${name}{slash}{within}`").unwrap();
        }
        page.push_str("\n## Of the machine, where you may read it\n\n");
        OF_MACHINE.iter().for_each(|place| writeln!(page, "- `{place}`").unwrap());
        writeln!(page, "- `{KERBEROS}UID`").unwrap();
        page.push_str("- `/proc/*/environ` and `/proc/*/mem`, threads' as well; commands in the sandbox see their own\n");
        page.push_str(PAGE_ENDS);
        expect_file!["../../../../docs/secret-places.md"].assert_eq(&page);
    }

    const PAGE_BEGINS: &str = "\
# Secret places

What is closed to heeler's own file tools in every mode, and to commands in the sandbox: nothing of it is
read or written, whatever rule or person allows it, whether it is there yet or not. A command that a rule,
a mode or a person lets out of the sandbox has your own rights. How it is held: [confinement.md](confinement.md).
Keys in other places are closed by a rule of yours, such as `deny = [\"Read(~/keys/**)\"]`
([settings.md](settings.md#rules)). heeler's own home, wherever it is, is always closed.

The folder that is worked in is no secret to the session there, nor is one that holds your home.
";
    const PAGE_ENDS: &str = "
## Not closed

- `~/.cargo/config.toml`, `~/.bundle/config`, `~/.hgrc`, `~/.cabal/config` and `NuGet.Config`: builds stop without
  them, and few hold a key. Where yours does, keep it where the tool has another file for it, or add a rule.
- What is in the folder that is worked in, such as `.env`: `deny = [\"Read(**/.env)\"]` closes it.
- Keys in variables are no files: of your variables commands get those alone that are known to hold none.
";

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
    fn what_tools_keep_in_a_home_is_found() {
        let environment = Environment::default().with("HOME", "/home/me");
        let found = secrets(&environment, Path::new("/space")).unwrap();
        for place in [
            ".config/github-copilot/apps.json",
            ".config/hub",
            ".oci/config",
            ".config/doctl/config.yaml",
            ".fly/config.yml",
            ".netlify/config.json",
            ".wrangler/config/default.toml",
            ".snowflake/config.toml",
            ".huggingface/token",
            ".curlrc",
            ".wgetrc",
            ".config/crush/crush.json",
            ".local/share/crush/crush.json",
            ".ollama/id_ed25519",
            ".python_history",
            ".config/fish/fish_variables",
            ".config/nix/nix.conf",
            ".vscode-server/data/User/globalStorage",
        ] {
            let place = Path::new("/home/me").join(place);
            assert!(found.iter().any(|found| place.starts_with(found)), "{place:?}");
        }
        // What builds need is not.
        for place in [".cargo", ".config", ".local/share", ".ollama", ".cache/huggingface"] {
            assert!(!found.contains(&Path::new("/home/me").join(place)), "{place}");
        }
        for place in [PathBuf::from("/etc/shadow"), kerberos()] {
            assert_eq!(found.contains(&place), File::open(&place).is_ok(), "{place:?}");
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
            ("XDG_STATE_HOME", "/moved/state"),
            ("XDG_CACHE_HOME", "/moved/cache"),
            ("HF_HOME", "/hf"),
            ("KRB5CCNAME", "FILE:/k5/cache"),
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
            ("/moved/state/syncthing", true),
            ("/moved/cache/huggingface/token", true),
            ("/hf/token", true),
            ("/hf", false),
            ("/k5/cache", true),
            ("relative", false),
            ("/home", false),
            ("/space", false),
        ] {
            assert_eq!(found.iter().any(|found| found == Path::new(place)), expected, "{place}");
        }
    }
}
