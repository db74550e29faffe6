//! Runs with a stage, and applying one, that are killed.

use std::fs;

use heeler_script::Script;
use heeler_testkit::{MockServer, require};

use crate::processes::wait_until_gone;
use crate::stage::{FORMS, stage, staged, stages, tree, world};
use crate::support::{MODEL, World, can_confine};

#[test]
fn a_run_that_is_killed_leaves_the_folder_as_it_was_and_its_stage_behind() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let world = world();
        let before = tree(&world.workspace());
        let script = r#"
            [[reply]]
            blocks = [{ call = "Bash", input = { command = "echo changed > ten.txt" } }]
            [[reply]]
            text = "a long story"
            stall = { events = 3 }
        "#;
        let server = MockServer::start(Script::parse(script).unwrap());
        let form = format!("--stage-form={form}");
        let arguments = ["exec", "--model", MODEL, "--json", "--stage", &form, "go"];
        let mut running = world.heeler(&arguments).at(&server).start();
        running.wait_for("text_delta");
        running.kill();
        wait_until_gone(&world);
        assert_eq!(tree(&world.workspace()), before);
        let id = stage(&world).unwrap();
        world.heeler(&["stage", "apply", &id, "--all"]).run().exits(0);
        assert_eq!(world.worked("ten.txt"), "changed\n");
    }
}

/// So many files that applying a change of each takes long enough to be killed.
const FILES: usize = 3_000;

/// How many of the files are changed.
fn changed(world: &World) -> usize {
    (0..FILES).filter(|n| world.worked(&format!("{n}.txt")) == "new\n").count()
}

/// A folder of files, and a stage of it whose applying was killed in the middle.
fn killed() -> (World, String) {
    let world = World::new();
    for n in 0..FILES {
        world.write(&format!("work/{n}.txt"), "old\n");
    }
    let script = "[[reply]]\nblocks = [{ call = \"Bash\", input = { command = \"for f in *.txt; do echo new > $f; done\" } }]\n[[reply]]\ntext = \"ok\"";
    staged(&world, script, "overlay", &["--stage"]).exits(0);
    let Some(id) = stage(&world) else { panic!("nothing was staged") };
    let mut running = world.heeler(&["stage", "apply", &id, "--all"]).start();
    let plan = stages(&world).join(&id).join("apply.json");
    // The first in order of paths.
    while world.worked("0.txt") != "new\n" {
        assert!(running.is_running(), "it ended before it was killed");
    }
    assert_eq!(running.kill().code, 137);
    let is_open = plan.exists();
    assert!(is_open && changed(&world) < FILES, "it was done before it was killed");
    (world, id)
}

#[test]
fn applying_that_is_killed_is_finished_by_the_next_start() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for is_exec in [true, false] {
        let (world, id) = killed();
        let next = match is_exec {
            true => world.exec("[[reply]]\ntext = \"hi\"", &["hello"]),
            false => world.heeler(&["stage", "apply", &id]),
        };
        let told = next.run().exits(0).stderr;
        assert!(told.contains("the rest of it is done"), "{told}");
        assert_eq!(changed(&world), FILES);
        let left = fs::read_dir(world.workspace()).unwrap().count();
        assert_eq!((left, stage(&world)), (FILES, None));
    }
}

#[test]
fn applying_that_is_killed_goes_no_further_for_who_looks_or_gives_up() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let (world, id) = killed();
    let done = changed(&world);
    world.heeler(&["stage", "list"]).run().exits(0);
    world.heeler(&["stage", "show", &id]).run().exits(0);
    assert_eq!(changed(&world), done);
    let told = world.heeler(&["stage", "discard", &id]).run().exits(0).stderr;
    assert!(told.contains(&format!("{done} of {FILES} paths were done and stay so")), "{told}");
    assert_eq!(changed(&world), done);
    let left = fs::read_dir(world.workspace()).unwrap().count();
    assert_eq!((left, stage(&world)), (FILES, None));
    assert_eq!(fs::read_dir(stages(&world)).unwrap().count(), 0);
}
