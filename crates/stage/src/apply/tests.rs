//! What is left when a process dies, and what others do meanwhile.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use super::place::Place;
use super::*;
use crate::Form;

/// A stage of two files in a folder, one changed and one removed, and one that is new, with its
/// plan written and nothing of it done.
fn planned() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let world = tempfile::tempdir().unwrap();
    let (base, stages) = (world.path().join("base"), world.path().join("stages"));
    fs::create_dir_all(base.join("in")).unwrap();
    fs::write(base.join("in/a"), "old").unwrap();
    fs::write(base.join("in/b"), "old").unwrap();
    let stage = Stage::begin(&base, &stages, Some(Form::Copy)).unwrap();
    fs::write(stage.workspace().join("in/a"), "new").unwrap();
    fs::remove_file(stage.workspace().join("in/b")).unwrap();
    fs::create_dir(stage.workspace().join("made")).unwrap();
    fs::write(stage.workspace().join("made/c"), "new").unwrap();
    let name = OsStr::from_bytes(b"no text \xff");
    std::os::unix::fs::symlink(name, stage.workspace().join(name)).unwrap();
    let chosen = stage.changes().unwrap().changes.into_iter().map(|change| (change, None));
    Plan::make(&stage.folder, &base, chosen.collect(), |path| stage.staged(path)).unwrap();
    (world, base, stages)
}

/// The only stage.
fn recovered_id(stages: &Path) -> String {
    Stage::list(stages).unwrap().pop().unwrap().id
}

/// What the only plan calls the files of a step.
fn temporary(stages: &Path, step: usize) -> plan::Names {
    Plan::read(&stages.join(recovered_id(stages))).unwrap().names(step)
}

fn changed(path: &str) -> Conflict {
    Conflict { path: path.into(), why: Why::Changed }
}

/// What a base holds, and what the next start says of it.
fn recovered(base: &Path, stages: &Path) -> (Vec<String>, Applied) {
    let mut finished = recover(stages).unwrap();
    assert!(recover(stages).unwrap().is_empty());
    let mut held = Vec::new();
    for folder in ["in", "made"] {
        for entry in fs::read_dir(base.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(base).unwrap().display().to_string();
            held.push(format!("{name}: {}", fs::read_to_string(path).unwrap()));
        }
    }
    held.sort();
    (held, finished.pop().unwrap().came_to.unwrap())
}

#[test]
fn a_plan_is_finished_wherever_its_process_died() {
    let whole = ["in/a: new", "made/c: new"].map(str::to_owned).to_vec();
    let done = Applied { paths: 5, conflicts: Vec::new() };
    let (_world, base, stages) = planned();
    assert_eq!(recovered(&base, &stages), (whole.clone(), done.clone()));
    // Somewhere in the middle: one is done, and another was about to take its place.
    let (_world, base, stages) = planned();
    fs::remove_file(base.join("in/b")).unwrap();
    fs::write(base.join("in").join(temporary(&stages, 0).written), "ne").unwrap();
    assert_eq!(recovered(&base, &stages), (whole.clone(), done.clone()));
    // Somebody who drops it dies.
    fs::remove_file(stages.join(recovered_id(&stages)).join("stage.json")).unwrap();
    assert!(recover(&stages).unwrap().is_empty());
    assert_eq!(fs::read_dir(&stages).unwrap().count(), 0);
    // All but the plan's removal.
    let (_world, base, stages) = planned();
    fs::remove_file(base.join("in/b")).unwrap();
    fs::write(base.join("in/a"), "new").unwrap();
    fs::create_dir(base.join("made")).unwrap();
    fs::write(base.join("made/c"), "new").unwrap();
    assert_eq!(recovered(&base, &stages), (whole, done));
}

#[test]
fn what_somebody_else_did_before_the_rest_of_a_plan_stays() {
    let (world, base, stages) = planned();
    fs::write(base.join("in/a"), "theirs").unwrap();
    let (held, applied) = recovered(&base, &stages);
    assert_eq!(held, ["in/a: theirs", "made/c: new"]);
    assert_eq!(applied, Applied { paths: 4, conflicts: vec![changed("in/a")] });
    drop(world);
    // A link in the place of a folder leads nowhere.
    let (world, base, stages) = planned();
    fs::rename(base.join("in"), world.path().join("out")).unwrap();
    std::os::unix::fs::symlink(world.path().join("out"), base.join("in")).unwrap();
    let (_, applied) = recovered(&base, &stages);
    assert_eq!(fs::read_to_string(world.path().join("out/a")).unwrap(), "old");
    assert_eq!(fs::read_to_string(world.path().join("out/b")).unwrap(), "old");
    assert_eq!(applied.conflicts.len(), 2);
}

/// What lies in the folders of a base that none of its files is called.
fn left_over(base: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![base.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            }
            if name.starts_with(".heeler") {
                found.push(name);
            }
        }
    }
    found
}

/// The plan as it was written when none had names of its own.
fn make_nameless(stages: &Path) {
    let file = stages.join(recovered_id(stages)).join("apply.json");
    let mut plan: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let plan = plan.as_object_mut().unwrap();
    plan.remove("temporary").unwrap();
    plan.remove("closed").unwrap();
    fs::write(file, serde_json::to_string(plan).unwrap()).unwrap();
}

#[test]
fn a_plan_without_names_of_its_own_is_finished_and_takes_nobodys_file() {
    let (_world, base, stages) = planned();
    make_nameless(&stages);
    fs::write(base.join("in/.heeler-stage-0"), "ne").unwrap();
    fs::write(base.join("in/.heeler-stage-1"), "theirs").unwrap();
    let applied = recover(&stages).unwrap().pop().unwrap().came_to.unwrap();
    assert_eq!(applied, Applied { paths: 5, conflicts: Vec::new() });
    assert_eq!(left_over(&base), [".heeler-stage-1"]);
    assert_eq!(fs::read_to_string(base.join("in/a")).unwrap(), "new");
}

#[test]
fn a_file_that_is_called_as_ours_once_were_stays() {
    let (_world, base, stages) = planned();
    for step in 0..5 {
        fs::write(base.join(format!("in/.heeler-stage-{step}")), "").unwrap();
    }
    recover(&stages).unwrap();
    assert_eq!(left_over(&base).len(), 5);
}

#[test]
fn one_base_is_changed_by_one_stage_at_a_time() {
    let (_world, base, stages) = planned();
    let mut other = Stage::begin(&base, &stages, Some(Form::Copy)).unwrap();
    fs::write(other.workspace().join("in/a"), "other").unwrap();
    let changes = other.changes().unwrap().changes;
    let held = alone(&stages, &base).unwrap().unwrap();
    let error = other.apply(changes.into_iter().map(|c| (c, None))).unwrap_err().to_string();
    assert!(error.contains("another stage is being applied to"), "{error}");
    let error = recover(&stages).unwrap().pop().unwrap().came_to.unwrap_err().to_string();
    assert!(error.contains("wait for its end"), "{error}");
    assert_eq!(fs::read_to_string(base.join("in/a")).unwrap(), "old");
    drop(held);
    assert!(recover(&stages).unwrap().pop().unwrap().came_to.is_ok());
}

/// The place of the first step of a plan, which changes `in/a`, with its file written.
fn written(base: &Path, stages: &Path) -> (Plan, OwnedFd) {
    let stage = stages.join(recovered_id(stages));
    let plan = Plan::read(&stage).unwrap();
    let folder = File::open(base.join("in")).unwrap().into();
    (plan, folder)
}

#[test]
fn what_is_saved_in_the_last_moment_is_not_lost() {
    // Before the last look, and after it.
    for is_late in [false, true] {
        let (_world, base, stages) = planned();
        let (plan, folder) = written(&base, &stages);
        let (number, step) =
            plan.steps.iter().enumerate().find(|(_, step)| step.path.ends_with("a")).unwrap();
        let place = Place { folder, name: OsStr::new("a"), names: plan.names(number) };
        let bytes = Plan::bytes(&stages.join(recovered_id(&stages)), number);
        place.write(step.after.as_ref().unwrap(), &bytes).unwrap();
        if is_late {
            fs::rename(
                base.join("in").join(&place.names.written),
                base.join("in").join(&place.names.aside),
            )
            .unwrap();
            fs::write(base.join("in/a"), "theirs").unwrap();
            place.trade(step).unwrap();
        } else {
            fs::write(base.join("in/a"), "theirs").unwrap();
            place.replace(step).unwrap();
        }
        assert_eq!(fs::read_to_string(base.join("in/a")).unwrap(), "theirs");
        assert_eq!(left_over(&base), [""; 0]);
    }
    // A process that died right after it took what somebody had just saved.
    let (_world, base, stages) = planned();
    fs::write(base.join("in/a"), "new").unwrap();
    let step = step_of(&stages, "in/a");
    let aside = base.join("in").join(temporary(&stages, step).aside);
    fs::write(&aside, "theirs").unwrap();
    let (held, applied) = recovered(&base, &stages);
    assert_eq!(held, ["in/a: theirs", "made/c: new"]);
    assert_eq!(applied.conflicts, [changed("in/a")]);
    // The same, and somebody saved again: both are there.
    let (_world, base, stages) = planned();
    fs::write(base.join("in/a"), "theirs, too").unwrap();
    let aside = base.join("in").join(temporary(&stages, step).aside);
    fs::write(&aside, "theirs").unwrap();
    let applied = recover(&stages).unwrap().pop().unwrap().came_to.unwrap();
    let beside = Why::Beside(aside.strip_prefix(&base).unwrap().to_owned());
    assert_eq!(applied.conflicts, [Conflict { path: "in/a".into(), why: beside }]);
    assert_eq!(fs::read_to_string(aside).unwrap(), "theirs");
    assert_eq!(fs::read_to_string(base.join("in/a")).unwrap(), "theirs, too");
}

/// The number of the step of a path.
fn step_of(stages: &Path, path: &str) -> usize {
    let plan = Plan::read(&stages.join(recovered_id(stages))).unwrap();
    plan.steps.iter().position(|step| step.path == Path::new(path)).unwrap()
}

#[test]
fn a_step_that_cannot_be_done_is_named_and_leaves_nothing() {
    let (_world, base, stages) = planned();
    let stage = stages.join(recovered_id(&stages));
    fs::remove_file(Plan::bytes(&stage, step_of(&stages, "in/a"))).unwrap();
    let (held, applied) = recovered(&base, &stages);
    assert_eq!(held, ["in/a: old", "made/c: new"]);
    assert!(matches!(applied.conflicts[0].why, Why::Refused(_)), "{applied:?}");
    assert_eq!(left_over(&base), [""; 0]);
}

#[test]
fn who_gives_up_keeps_what_is_done_and_gets_nothing_more() {
    let (_world, base, stages) = planned();
    fs::remove_file(base.join("in/b")).unwrap();
    let names = temporary(&stages, step_of(&stages, "in/a"));
    fs::write(base.join("in").join(names.written), "ne").unwrap();
    let stage = Stage::open(&stages, &recovered_id(&stages)).unwrap();
    assert_eq!(stage.progress().unwrap(), Some(Progress { done: 1, paths: 5 }));
    stage.discard().unwrap();
    assert_eq!(left_over(&base), [""; 0]);
    assert_eq!(fs::read_to_string(base.join("in/a")).unwrap(), "old");
    assert!(!base.join("made").exists());
    assert_eq!(fs::read_dir(&stages).unwrap().count(), 0);
}
