//! Calls of one answer of which the first makes the second dangerous that was judged before.

use heeler_testkit::require;

use crate::support::{World, can_confine, program};

/// What git says in a folder of the world.
fn git(world: &World, folder: &str, arguments: &str) -> String {
    let mut git = program("git");
    let git = git.args(arguments.split(' ')).current_dir(world.path(folder));
    let output = git.env("HOME", world.path("")).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository, and another one in a folder of it whose settings name a program.
fn world() -> World {
    let world = World::new();
    for folder in ["work", "work/sub"] {
        std::fs::create_dir_all(world.path(folder)).unwrap();
        world.write(&format!("{folder}/f"), "text\n");
        git(&world, folder, "init -q -b main");
        git(&world, folder, "config user.name Me");
        git(&world, folder, "config user.email me@example.com");
        git(&world, folder, "add f");
        git(&world, folder, "commit -q -m first");
    }
    let settings = std::fs::read_to_string(world.path("work/sub/.git/config")).unwrap();
    let program = "[core]\n\tfsmonitor = \"touch $HOME/escaped; false #\"\n";
    world.write("work/sub/.git/config", settings + program);
    world
}

#[test]
fn what_makes_git_look_into_another_repository_keeps_the_next_call_in_the_box() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let world = world();
    let id = git(&world, "work/sub", "-c core.fsmonitor=false rev-parse HEAD");
    let names = format!("sleep 0.2; git update-index --add --cacheinfo 160000,{id},sub");
    let bash = |line: &str| format!("{{ call = \"Bash\", input = {{ command = {line:?} }} }}");
    let script = format!(
        "[[reply]]\nblocks = [{}, {}]\n[[reply]]\ntext = \"done\"\n",
        bash(&names),
        bash("git add .")
    );
    let flags = ["--allow", "Bash(git add:*)", "--json", "go"];
    world.exec(&script, &flags).run().exits(0);
    assert!(git(&world, "work", "ls-files --stage").contains("160000"), "the first call ran");
    assert!(!world.path("escaped").exists(), "the program ran outside of the box");
    let journal = world.journal_lines().concat();
    assert!(journal.contains("facts_changed"), "it was judged again: {journal}");

    git(&world, "work", "add .");
    assert!(world.path("escaped").exists(), "outside of the box it would have");
}
