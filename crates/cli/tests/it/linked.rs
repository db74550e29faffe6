//! Linked work trees: their commits are made in the box, and what decides what git runs stays closed there.
//! Through the whole program, with git itself.

use std::fs;

use crate::decides::{boxed, git, world};
use crate::support::World;

/// A repository in `work`, and its work trees in `linked` and `other`.
fn linked() -> Option<World> {
    let world = world()?;
    git(&world, "commit -q --allow-empty -m first");
    for name in ["linked", "other"] {
        git(&world, &format!("worktree add -q ../{name}"));
    }
    Some(world)
}

/// What the model is told of a script that runs in the box around the linked work tree.
fn boxed_in(world: &World, script: &str, flags: &[&str]) -> String {
    let linked = world.path("linked");
    fs::write(linked.join("script"), script).unwrap();
    boxed(world, "", flags, |heeler| heeler.cwd(&linked))
}

/// Git that tidied up in the background would be told of.
const COMMIT: &str = "date +%N > f; git add f && git -c maintenance.auto=false commit -qm boxed && \
                      git log -1 --format=%s%d";

#[test]
fn a_commit_in_a_linked_work_tree_stays_in_the_box() {
    let Some(world) = linked() else { return };
    let settings = format!("[sandbox]\nwritable = [{:?}]\n", world.workspace());
    let settings = world.write("settings.toml", settings).display().to_string();
    for flags in [
        &[][..],
        &["--permission-mode", "accept-edits"],
        // The repository's own tree may be written as well.
        &["--settings", &settings],
    ] {
        assert_eq!(boxed_in(&world, COMMIT, flags), "boxed (HEAD -> linked)", "{flags:?}");
    }
    git(&world, "fsck --strict");
}

/// All work trees of a repository without one of its own stand beside it.
#[test]
fn a_repository_that_has_only_linked_work_trees_takes_commits() {
    let Some(world) = linked() else { return };
    git(&world, "clone -q --bare . ../bare/.bare");
    fs::write(world.path("bare/.git"), "gitdir: ./.bare\n").unwrap();
    git(&world, "-C ../bare config user.name t");
    git(&world, "-C ../bare config user.email t@localhost");
    git(&world, "-C ../bare worktree add -q tree linked");
    let tree = world.path("bare/tree");
    fs::write(tree.join("script"), COMMIT).unwrap();
    let told = boxed(&world, "", &[], |heeler| heeler.cwd(&tree));
    assert_eq!(told, "boxed (HEAD -> linked)");
}

#[test]
fn the_tool_commits_in_a_linked_work_tree() {
    let Some(world) = linked() else { return };
    fs::write(world.path("linked/f"), "f\n").unwrap();
    let find =
        "[[reply]]\nblocks = [{ call = \"ToolSearch\", input = { query = \"git_commit\" } }]\n";
    let call = "[[reply]]\nblocks = [{ call = \"git_commit\", input = { message = \"tool\", paths = [\"f\"] } }]\n";
    let model = format!("{find}{call}{call}[[reply]]\ntext = \"done\"\n");
    let output = world.exec(&model, &["--json", "go"]).cwd(&world.path("linked")).run().exits(0);
    assert_eq!(git(&world, "log -1 --format=%s linked"), "tool\n", "{}", output.stdout);
}

#[test]
fn what_decides_stays_closed_to_a_linked_work_tree() {
    let Some(world) = linked() else { return };
    let other = "../work/.git/worktrees/other";
    let own = "../work/.git/worktrees/linked";
    let places = [
        "../work/f".to_owned(),
        "../work/.git/config".to_owned(),
        "../work/.git/hooks/pre-commit".to_owned(),
        "../other/f".to_owned(),
        ".git".to_owned(),
        format!("{other}/HEAD"),
        format!("{other}/commondir"),
        format!("{other}/new"),
        format!("{own}/commondir"),
        format!("{own}/gitdir"),
        format!("{own}/config.worktree"),
        format!("{own}/modules"),
    ];
    let linked = world.path("linked");
    let read = |place: &String| fs::read_to_string(linked.join(place)).ok();
    for place in &places {
        let before = read(place);
        // Without a commit: git may be killed for the place, and would leave its locks.
        let told = boxed_in(&world, &format!("echo evil > {place}"), &[]);
        assert_eq!(read(place), before, "{place}: {told}");
        assert!(!told.is_empty());
    }
    // None of that kept commits from being made.
    assert_eq!(boxed_in(&world, COMMIT, &[]), "boxed (HEAD -> linked)");
}
