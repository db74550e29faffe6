//! Under limits on files: what cannot be written is told with the limit, and nothing is left of it.

use heeler_testkit::require;

use crate::stage::{stage, staged};
use crate::support::{World, can_confine};

/// What helps.
const STEP: &str = "let files be larger (`ulimit -f`)";

/// What says something by being there, and holds nothing.
const MARKS: [&str; 3] = [".lock", "media.cleaned", "sandbox-tried"];

/// A folder with settings that can be trusted.
fn world() -> World {
    let world = World::new();
    std::fs::create_dir(world.path("work/.heeler")).unwrap();
    world.write("work/.heeler/settings.toml", "[permissions]\nallow = ['Bash(ls)']\n");
    world
}

/// Everything below the home but the folders, and what lies there in the workspace.
fn files(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![world.path("home"), world.workspace()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    found.push(path.strip_prefix(world.path("")).unwrap().display().to_string())
                }
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_may_not_be_written_is_told_and_no_beginning_of_it_is_left() {
    let world = world();
    let model = world.script("[[reply]]\ntext = \"hi\"");
    for (arguments, is_told) in [
        (&["permissions", "trust", "--yes"][..], STEP),
        (&["config", "edit"], STEP),
        (&["config", "schema"], STEP),
        (&["completions", "bash"], STEP),
        (&["schema", "events"], STEP),
        (
            &["exec", "--model", &model, "--result-json", "r.json", "go"],
            "cannot write r.json; let files",
        ),
    ] {
        let before = files(&world);
        let shell = ["-c", "ulimit -f 0; exec \"$@\" > \"$TMPDIR/out\"", "bash"];
        let output = world.heeler(arguments).env("EDITOR", "true").run_in("bash", &shell).exits(2);
        assert!(output.stderr.contains(is_told), "{arguments:?}: {}", output.stderr);
        let mut after = files(&world);
        after.retain(|file| !MARKS.iter().any(|mark| file.ends_with(mark)));
        assert_eq!(after, before, "{arguments:?}");
    }
}

#[test]
fn a_stage_that_cannot_be_applied_stays() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = World::new();
    let script = "[[reply]]\nblocks = [{ call = \"Write\", input = { file_path = \"a\", content = \"a\" } }]\n\
                  [[reply]]\ntext = \"done\"";
    staged(&world, script, "copy", &["--stage"]).exits(0);
    let id = stage(&world).unwrap();
    let apply = world.heeler(&["stage", "apply", &id, "--all"]);
    let output = apply.run_in("bash", &["-c", "ulimit -f 0; exec \"$@\"", "bash"]).exits(1);
    assert!(output.stderr.contains("File too large"), "{}", output.stderr);
    assert_eq!(
        (files(&world).contains(&"work/a".to_owned()), stage(&world)),
        (false, Some(id.clone()))
    );
    world.heeler(&["stage", "apply", &id, "--all"]).run().exits(0);
    assert_eq!(world.worked("a"), "a");
}

#[test]
fn where_few_files_may_be_open_a_command_that_needs_none_works() {
    let world = World::new();
    for files in 5..12 {
        let shell = format!("ulimit -n {files}; exec \"$@\"");
        let output = world.heeler(&["config", "schema"]).run_in("bash", &["-c", &shell, "bash"]);
        assert!(output.exits(0).stderr.is_empty());
    }
}
