//! What in a user's home decides what later runs, for a folder that is the home or holds it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::{Environment, SetupError};

/// Places in a home that shells, desktops and git start with. What else begins with a dot there is
/// protected as well, as long as it exists: a box has no patterns.
const STARTS: [&str; 37] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshenv",
    ".zshrc",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    ".tmux.conf",
    ".screenrc",
    ".emacs",
    ".emacs.d",
    ".vim",
    ".gitconfig",
    ".hgrc",
    ".curlrc",
    ".wgetrc",
    ".config/autostart",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/nvim",
    ".config/systemd",
    ".local/bin",
];

/// The user's home by its name below a folder that may be written, where that is the home or holds it.
///
/// # Errors
/// When a variable is no text.
pub(crate) fn home_in(
    environment: &Environment,
    folder: &Path,
) -> Result<Option<PathBuf>, SetupError> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Some(home) = environment.get("HOME")?.map(Path::new) else { return Ok(None) };
    let home = real(home);
    let below = home.strip_prefix(real(folder)).ok();
    // Without the slash that joining nothing leaves at the end.
    Ok(below.map(|below| folder.join(below).components().collect()))
}

/// What in a home decides what later runs.
pub(crate) fn settings_in(home: &Path) -> BTreeSet<PathBuf> {
    let is_setting = |name: &OsStr| name.as_bytes().starts_with(b".");
    // What cannot be listed has the usual names still.
    let entries = fs::read_dir(home).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let found = entries.filter(|name| is_setting(name)).map(|name| home.join(name));
    found.chain(STARTS.map(|name| home.join(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The home as the workspace sees it; what holds both is `ROOT`.
    fn check_home(home: &str, workspace: &str, expected: Option<&str>) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("user/project")).unwrap();
        std::os::unix::fs::symlink("user", root.join("link")).unwrap();
        let home = root.join(home);
        let environment = Environment::default().with("HOME", home.to_str().unwrap());
        let found = home_in(&environment, &root.join(workspace)).unwrap();
        assert_eq!(found, expected.map(|path| root.join(path)), "{home:?} {workspace}");
    }

    #[test]
    fn a_workspace_may_be_the_home_or_hold_it() {
        check_home("user", "user", Some("user"));
        check_home("user/", "", Some("user"));
        check_home("link", "user", Some("user"));
        check_home("user", "link", Some("link"));
        check_home("user", "user/project", None);
        check_home("user", "us", None);
        assert_eq!(home_in(&Environment::default(), Path::new("/")).unwrap(), None);
    }

    #[test]
    fn what_a_home_starts_with_is_protected_there_or_not() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".config")).unwrap();
        for name in [".bashrc", ".own", "notes"] {
            fs::write(home.path().join(name), "").unwrap();
        }
        let found = settings_in(home.path());
        for (name, expected) in [
            (".bashrc", true),
            (".own", true),
            (".config", true),
            (".config/autostart", true),
            (".profile", true),
            ("notes", false),
            (".others", false),
        ] {
            assert_eq!(found.contains(&home.path().join(name)), expected, "{name}");
        }
    }
}
