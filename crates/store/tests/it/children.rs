//! This test program again, as another process that plays a role with a store.

use std::path::{Path, PathBuf};
use std::process::Command;

use heeler_store::FileStore;
use heeler_testkit::Player;
use heeler_testkit::player::{command, role, role_arguments};

/// Tells a child which folder its store is in.
const ROOT: &str = "HEELER_STORE_TEST_ROOT";

/// Starts a role with the store in this folder.
pub(crate) fn start(name: &str, root: &Path) -> Player {
    let mut command = role(name);
    command.env(ROOT, root);
    Player::start(command)
}

/// The command that runs a shell script, in which `"$@"` runs the role and `$ROOT` is the folder.
pub(crate) fn in_shell(wrapper: &[&str], script: &str, name: &str, root: &Path) -> Command {
    let program = std::env::current_exe().unwrap();
    let words: Vec<&str> = [wrapper, &["sh", "-c", script, "sh"]].concat();
    let mut command = command(words[0]);
    command.args(&words[1..]).arg(program).args(role_arguments(name));
    command.env("ROOT", root).env(ROOT, root);
    command
}

/// The store of a child.
pub(crate) fn store_of_child() -> FileStore {
    FileStore::open(root_of_child()).unwrap()
}

/// The folder a child was given.
pub(crate) fn root_of_child() -> PathBuf {
    std::env::var_os(ROOT).expect("only another test runs this").into()
}
