//! The box around an agent's commands: its walls, and whether this machine can make it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heeler_core::{Rule, RuleEffect};
use heeler_sandbox::{Confines, Launcher, LauncherError, Network, Probe, ProbeLine};
use heeler_settings::{Confinement, Loaded};
use heeler_tools::PrivateTemp;

use crate::{Environment, SetupError, home_folder};

/// What a surface says of the box, beside the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// What the settings say; without them there is one.
    #[default]
    AsSettings,
    /// There is none.
    Off,
}

/// Places in a workspace that decide what later runs; commands may read them.
const PROTECTED: [&str; 21] = [
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules",
    ".heeler",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".mcp.json",
    ".envrc",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".gitmodules",
    ".cargo/config",
    ".cargo/config.toml",
    ".exrc",
    ".nvim.lua",
];

/// Places in a home that hold keys, passwords and what was said to others; commands see none.
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

/// Tools whose rules are on what is read, and on what is written: what these deny at one place, a
/// confined command cannot do there either.
const READS: [&str; 4] = ["Read", "Grep", "Glob", "LS"];
const WRITES: [&str; 2] = ["Edit", "Write"];

/// The file in heeler's home that says for which boot of the machine the box was tried.
const TRIED_FILE: &str = "sandbox-tried";

/// Whether commands are to be confined.
pub(crate) fn is_wanted(sandbox: Sandbox, loaded: &Loaded) -> bool {
    let by_settings = loaded.confinement.as_ref().map(|setting| setting.value);
    sandbox == Sandbox::AsSettings && by_settings != Some(Confinement::Off)
}

/// The folder for temporary files of confined commands.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn private_temp(environment: &Environment) -> Result<PrivateTemp, SetupError> {
    let temp = environment.get("TMPDIR")?.map_or_else(|| "/tmp".into(), PathBuf::from);
    PrivateTemp::new(&temp).map_err(|error| {
        let why = format!("no temporary folder for commands in {}: {error}", temp.display());
        SetupError::new(why)
    })
}

/// The walls around this workspace.
///
/// # Errors
/// When a variable is no text.
pub(crate) fn confines(
    environment: &Environment,
    workspace: &Path,
    loaded: &Loaded,
    temp: &Path,
) -> Result<Confines, SetupError> {
    let mut confines = Confines::new(workspace, temp);
    confines.protected.extend(PROTECTED.map(PathBuf::from));
    confines.writable.extend(loaded.writable.iter().map(|folder| folder.value.clone()));
    if let Some(git) = git_folder_outside(workspace) {
        let own = ["hooks", "config", "config.worktree", "modules"];
        confines.protected.extend(own.map(|name| git.join(name)));
        confines.writable.push(git);
    }
    if let Some(home) = environment.get("HOME")? {
        confines.secrets.extend(SECRETS.map(|place| Path::new(home).join(place)));
    }
    confines.secrets.push(home_folder(environment)?);
    for rule in loaded.rules.iter().filter(|rule| rule.effect == RuleEffect::Deny) {
        let Some(place) = place_of(rule, workspace) else { continue };
        if READS.iter().any(|tool| rule.tool.eq_ignore_ascii_case(tool)) {
            confines.secrets.push(place);
        } else if WRITES.iter().any(|tool| rule.tool.eq_ignore_ascii_case(tool)) {
            confines.protected.push(place);
        }
    }
    if loaded.network.as_ref().is_some_and(|network| network.value) {
        confines.network = Network::Full;
    }
    Ok(confines)
}

/// The one place that a rule on paths names, if it names one: patterns are for the verdict alone.
fn place_of(rule: &Rule, workspace: &Path) -> Option<PathBuf> {
    let argument = rule.argument.as_deref()?;
    let place = argument.strip_suffix("/**").unwrap_or(argument).trim_end_matches('/');
    if place.is_empty() || place.contains(['*', '?', '[', '{', '\\']) {
        return None;
    }
    Some(match place.strip_prefix("//") {
        Some(absolute) => Path::new("/").join(absolute),
        None => workspace.join(place.trim_start_matches("./").trim_start_matches('/')),
    })
}

/// The git folder that a workspace's own commits go to, where it lies elsewhere: in a folder above,
/// or that of the repository whose linked work tree this is.
fn git_folder_outside(workspace: &Path) -> Option<PathBuf> {
    let own = workspace.join(".git");
    if own.is_dir() {
        return None;
    }
    if let Ok(text) = fs::read_to_string(&own) {
        let linked = workspace.join(text.strip_prefix("gitdir:")?.trim());
        // Only what points back is ours: the file itself may be of a hostile repository.
        let back = fs::read_to_string(linked.join("gitdir")).ok()?;
        let is_ours = Path::new(back.trim()).canonicalize().ok()? == own.canonicalize().ok()?;
        let common = fs::read_to_string(linked.join("commondir")).ok()?;
        let common = linked.join(common.trim()).canonicalize().ok()?;
        return (is_ours && is_git_folder(&common)).then_some(common);
    }
    let above = workspace.ancestors().skip(1).map(|folder| folder.join(".git"));
    above.into_iter().find(|folder| is_git_folder(folder))
}

fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}

/// What stands in the way of a box here; `None` when there is nothing.
///
/// What was tried since the machine was started is not tried again: a box that then cannot be made
/// after all refuses its command, so nothing is lost but words.
///
/// # Errors
/// When there is no launcher.
pub(crate) async fn obstacle(
    launcher: &Launcher,
    heeler_home: &Path,
) -> Result<Option<ProbeLine>, LauncherError> {
    let tried = heeler_home.join(TRIED_FILE);
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let now = format!("{} {boot}", env!("CARGO_PKG_VERSION"));
    if !boot.is_empty() && fs::read_to_string(&tried).is_ok_and(|before| before == now) {
        return Ok(None);
    }
    let probe = launcher.probe().await?;
    if probe.can_confine() {
        // Only a saving: without it, it is tried again.
        let _ = fs::write(&tried, now);
    }
    Ok(probe.obstacle().cloned())
}

/// What this machine can do to confine commands.
///
/// # Errors
/// When there is no launcher.
pub async fn probe() -> Result<Probe, LauncherError> {
    Launcher::new().probe().await
}

/// The box of an agent, and what it needs as long as it lives.
pub(crate) struct Made {
    pub(crate) confines: Arc<Confines>,
    pub(crate) temp: PrivateTemp,
}

/// Makes what a box around this workspace needs.
///
/// # Errors
/// As [`confines`] and [`private_temp`].
pub(crate) fn make(
    environment: &Environment,
    workspace: &Path,
    loaded: &Loaded,
) -> Result<Made, SetupError> {
    let temp = private_temp(environment)?;
    let confines = Arc::new(confines(environment, workspace, loaded, temp.path())?);
    Ok(Made { confines, temp })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where commits of `workspace` go when not into it, relative to the folder that holds both.
    fn check(files: &[(&str, &str)], workspace: &str, expected: Option<&str>) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(workspace)).unwrap();
        for (name, text) in files {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text.replace("ROOT", root.to_str().unwrap())).unwrap();
        }
        let found = git_folder_outside(&root.join(workspace));
        assert_eq!(found, expected.map(|path| root.join(path)));
    }

    #[test]
    fn a_linked_work_tree_writes_to_the_repository_that_knows_it() {
        let repository = [("main/.git/HEAD", "ref: x"), ("main/.git/objects/a", "")];
        let linked = [
            ("tree/.git", "gitdir: ROOT/main/.git/worktrees/tree\n"),
            ("main/.git/worktrees/tree/commondir", "../..\n"),
        ];
        let back = [("main/.git/worktrees/tree/gitdir", "ROOT/tree/.git\n")];
        check(&[&repository[..], &linked, &back].concat(), "tree", Some("main/.git"));
        let elsewhere = [("main/.git/worktrees/tree/gitdir", "ROOT/other/.git\n")];
        check(&[&repository[..], &linked, &elsewhere].concat(), "tree", None);
        check(&[&repository[..], &linked].concat(), "tree", None);
    }

    #[test]
    fn a_rule_on_one_place_is_a_wall_there() {
        for (argument, expected) in [
            ("//etc/x", Some("/etc/x")),
            ("./secret.txt", Some("/space/secret.txt")),
            ("/keys/**", Some("/space/keys")),
            (".env", Some("/space/.env")),
            ("**/.env", None),
            ("src/*.rs", None),
            ("/**", None),
        ] {
            let rule = Rule::parse(&format!("Read({argument})"), RuleEffect::Deny, "test").unwrap();
            let place = place_of(&rule, Path::new("/space"));
            assert_eq!(place, expected.map(PathBuf::from), "{argument}");
        }
    }

    #[test]
    fn a_folder_of_a_repository_writes_to_its_git_folder() {
        let repository = [("main/.git/HEAD", "ref: x"), ("main/.git/objects/a", "")];
        check(&repository, "main/crates/core", Some("main/.git"));
        check(&repository, "main", None);
        check(&[("main/.git/HEAD", "ref: x")], "main/crates", None);
    }
}
