//! Under limits on processes: what fails is told with the limit, and nothing panics.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;

use heeler_testkit::require;

use crate::support::{Output, World};

/// Runs heeler as somebody whose processes are counted and who has no others.
fn limited(world: &World, limit: u32, arguments: &[&str]) -> Output {
    let limit = format!("ulimit -u {limit}; exec \"$@\"");
    let shell = ["bash", "-c", &limit, "bash"];
    let (program, somebody): (_, &[&str]) = match rustix::process::getuid().is_root() {
        // No limit holds for root.
        true => ("setpriv", &["--reuid=64123", "--regid=64123", "--clear-groups"]),
        false => ("unshare", &["--user"]),
    };
    world.heeler(arguments).run_in(program, &[somebody, &shell].concat())
}

/// A world that anybody may work in.
fn open_world() -> World {
    let world = World::new();
    for folder in ["", "home", "work", "temp"] {
        set_permissions(world.path(folder), Permissions::from_mode(0o777)).unwrap();
    }
    world
}

#[test]
fn without_processes_nothing_panics_and_the_limit_is_named() {
    let world = open_world();
    let is_there = limited(&world, 256, &["--version"]).code == 0;
    if !require("somebody whose processes can be limited", is_there) {
        return;
    }
    let model = world.script(
        "[[reply]]\nblocks = [{ call = \"Bash\", input = { command = \"echo a | cat\" } }]\n\
         [[reply]]\nblocks = [{ call = \"LS\", input = { path = \".\" } }]\n[[reply]]\ntext = \"done\"\n",
    );
    let mut failed = 0;
    for flags in [&["--no-sandbox"][..], &[]] {
        let exec = ["exec", "--model", &model, "--permission-mode", "bypass", "go"];
        let arguments = [&exec[..], flags].concat();
        let enough = limited(&world, 256, &arguments);
        // Not everybody may make a box.
        if enough.code != 0 && flags.is_empty() {
            continue;
        }
        enough.exits(0);
        for limit in 1..=12 {
            let output = limited(&world, limit, &arguments);
            assert!(!output.stderr.contains("panicked"), "{limit} {flags:?}: {}", output.stderr);
            if output.code != 0 {
                failed += 1;
                assert!(output.stderr.contains("`ulimit -u`"), "{limit} {flags:?}: {output:?}");
            }
        }
    }
    assert!(failed > 0);
}
