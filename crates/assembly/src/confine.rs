//! How far an agent reaches, the box around its commands that follows from it, and whether this
//! machine can make one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heeler_core::{PROTECTED, Reach, Rule, RuleEffect, is_protected};
use heeler_sandbox::{Confines, Launcher, LauncherError, Network, Probe, ProbeLine};
use heeler_settings::{Confinement, Loaded};
use heeler_tools::PrivateTemp;

use crate::denied::{Walls, denied_by};
use crate::dotfiles::{home_in, settings_in};
use crate::programs::programs;
use crate::secret_places::secrets;
use crate::{Environment, SetupError, git};

/// What a surface says of the box, beside the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// What the settings say; without them there is one.
    #[default]
    AsSettings,
    /// There is none.
    Off,
}

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
        let why = format!(
            "no temporary folder for commands in {}: {error}; set TMPDIR to a folder that you can write",
            temp.display()
        );
        SetupError::new(why)
    })
}

/// How far an agent reaches that works here.
///
/// # Errors
/// When a variable is no text.
pub(crate) fn reach(
    environment: &Environment,
    workspace: &Path,
    loaded: &Loaded,
) -> Result<Reach, SetupError> {
    let mut reach = Reach {
        writable: loaded.writable.iter().map(|folder| folder.value.clone()).collect(),
        protected: PROTECTED.map(PathBuf::from).into(),
        secrets: secrets(environment, workspace)?,
        network: loaded.network.as_ref().is_some_and(|network| network.value),
        ..Reach::default()
    };
    reach.protected.extend(reach.writable.iter().flat_map(|folder| decides_in(folder)));
    git::extend(&mut reach, environment, workspace)?;
    reach.protected.extend(programs(environment, workspace, loaded)?);
    let writable = loaded.writable.iter().map(|folder| folder.value.as_path());
    for folder in [workspace].into_iter().chain(writable) {
        if let Some(home) = home_in(environment, folder)? {
            reach.protected.extend(settings_in(&home));
        }
    }
    let denials = loaded.rules.iter().filter(|rule| rule.effect == RuleEffect::Deny);
    reach.denied.extend(denials.flat_map(denied_by));
    Ok(reach)
}

/// What of it lies in the workspace and has no name that is protected everywhere, for verdicts: under the
/// name `named` of the workspace.
pub(crate) fn protected_in(reach: &Reach, workspace: &Path, named: &str) -> Vec<String> {
    let real = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let inner = reach.protected.iter().filter_map(|place| {
        place.strip_prefix(workspace).or_else(|_| place.strip_prefix(&real)).ok()?.to_str()
    });
    let inner: BTreeSet<&str> =
        heeler_core::gathered(inner.filter(|place| !place.is_empty() && !is_protected(place)));
    inner.into_iter().map(|place| format!("{}/{place}", named.trim_end_matches('/'))).collect()
}

/// What decides what later runs in another folder that may be written, also in one that is itself the
/// first folder of such a name.
fn decides_in(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let inner = |place: &str| {
        let (first, rest) = place.split_once('/')?;
        folder.ends_with(first).then(|| folder.join(rest))
    };
    let inner = PROTECTED.into_iter().filter_map(inner);
    inner.chain(PROTECTED.map(|place| folder.join(place))).collect()
}

/// The walls of the box that follow from how far an agent reaches.
fn confines(reach: &Reach, walls: Walls, workspace: &Path, temp: &Path) -> Confines {
    let mut confines = Confines::new(workspace, temp);
    confines.writable.clone_from(&reach.writable);
    confines.protected.clone_from(&reach.protected);
    confines.secrets.clone_from(&reach.secrets);
    confines.secrets.extend(walls.secrets);
    confines.protected.extend(walls.protected);
    confines.protected.extend(unmade_secrets(reach, workspace));
    if reach.network {
        confines.network = Network::Full;
    }
    confines
}

/// What tools keep in a home that may be written, and is not there: no command makes it for them. What
/// a rule closes may be made by whoever builds it, and is closed from the next command on.
fn unmade_secrets(reach: &Reach, workspace: &Path) -> Vec<PathBuf> {
    let named = || std::iter::once(workspace).chain(reach.writable.iter().map(PathBuf::as_path));
    let real = named().filter_map(|folder| folder.canonicalize().ok());
    let roots: Vec<PathBuf> = named().map(Path::to_owned).chain(real).collect();
    let is_unmade = |place: &&PathBuf| {
        roots.iter().any(|root| place.starts_with(root)) && place.symlink_metadata().is_err()
    };
    reach.secrets.iter().filter(is_unmade).cloned().collect()
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
    // What is no plain file is neither waited for nor written over.
    let before = heeler_settings::read_file(&tried, TRIED_FILE);
    if !boot.is_empty()
        && matches!(&before, Ok(Some(before)) if before.as_slice() == now.as_bytes())
    {
        return Ok(None);
    }
    let probe = launcher.probe().await?;
    if probe.can_confine() && before.is_ok() {
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
    /// Asks about every command, where what rules deny by pattern is more than the box holds.
    pub(crate) asks: Option<Rule>,
}

/// Makes what a box around this workspace needs.
///
/// # Errors
/// As [`private_temp`].
pub(crate) fn make(
    environment: &Environment,
    workspace: &Path,
    reach: &Reach,
) -> Result<Made, SetupError> {
    let temp = private_temp(environment)?;
    let walls = Walls::new(reach, workspace);
    let asks = walls.asks();
    let confines = Arc::new(confines(reach, walls, workspace, temp.path()));
    Ok(Made { confines, temp, asks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_is_protected_in_every_folder_that_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["space", "other/.git", "bare.git/objects", "real", ".cargo"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("other/.git/config"), "[core] hooksPath = hooks\n").unwrap();
        fs::write(root.join("bare.git/HEAD"), "ref: x").unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        let writable = ["other", "bare.git", "link", ".cargo"]
            .map(|name| heeler_settings::Setting { value: root.join(name), source: "test".into() });
        let loaded = Loaded { writable: writable.into(), ..Loaded::default() };
        let environment = Environment::default().with("HEELER_HOME", "/h");
        let reach = reach(&environment, &root.join("space"), &loaded).unwrap();
        for (name, expected) in [
            ("other/.git/hooks", true),
            ("other/.envrc", true),
            ("other/hooks", true),
            ("bare.git/hooks", true),
            ("real/.git/config", true),
            (".cargo/config.toml", true),
            (".cargo", false),
            ("other/.git", false),
        ] {
            assert_eq!(reach.protected.contains(&root.join(name)), expected, "{name}");
        }
    }

    #[test]
    fn what_a_home_starts_with_is_protected_wherever_the_home_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("users/me")).unwrap();
        fs::create_dir_all(root.join("space")).unwrap();
        let home = root.join("users/me");
        for (writable, expected) in [("users/me", true), ("users", true), ("other", false)] {
            let value = root.join(writable);
            let writable = vec![heeler_settings::Setting { value, source: "test".into() }];
            let loaded = Loaded { writable, ..Loaded::default() };
            let environment = Environment::default().with("HEELER_HOME", "/h");
            let environment = environment.with("HOME", home.to_str().unwrap());
            let reach = reach(&environment, &root.join("space"), &loaded).unwrap();
            for name in [".bashrc", ".config/autostart"] {
                let place = home.join(name);
                assert_eq!(reach.protected.contains(&place), expected, "{name}");
            }
        }
    }

    #[test]
    fn a_box_has_the_walls_that_are_whole_places() {
        let rules = ["Read(/keys/**)", "Edit(lib)", "Read(**/.env)"].into_iter();
        let rules = rules.map(|rule| Rule::parse(rule, RuleEffect::Deny, "test").unwrap());
        let denied = rules.flat_map(|rule| denied_by(&rule)).collect();
        let reach = Reach { denied, secrets: vec!["/keys".into()], ..Reach::default() };
        let space = Path::new("/space");
        let confines = confines(&reach, Walls::new(&reach, space), space, Path::new("/tmp"));
        assert_eq!(confines.secrets, [Path::new("/keys"), Path::new("/space/keys")]);
        assert_eq!(confines.protected, [Path::new("lib")]);
        assert_eq!(confines.network, Network::None);
    }

    #[test]
    fn what_tools_keep_is_not_made_for_them_and_what_rules_close_may_be() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir_all(home.join(".aws")).unwrap();
        let denied = Rule::parse("Read(dist/**)", RuleEffect::Deny, "test").unwrap();
        let secrets = [".aws", ".ssh"].map(|name| home.join(name));
        let secrets = secrets.into_iter().chain(["/elsewhere/.ssh".into()]).collect();
        let denied = denied_by(&denied).into_iter().collect();
        let reach = Reach { denied, secrets, ..Reach::default() };
        let confines = confines(&reach, Walls::new(&reach, &home), &home, Path::new("/tmp"));
        assert_eq!(confines.protected, [home.join(".ssh")]);
        assert!(confines.secrets.contains(&home.join("dist")));
    }
}
