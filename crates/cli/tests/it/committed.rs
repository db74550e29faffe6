//! What is committed and stashed in a stage: it is kept, and the folder's repository gets it under names of
//! its own.

use std::fs;
use std::path::PathBuf;

use expect_test::expect;
use heeler_testkit::require;

use crate::support::{Output, World, can_confine, program};

const FORMS: [&str; 2] = ["overlay", "copy"];

/// A repository with one commit and what its owner has not committed.
fn world() -> World {
    let world = World::new();
    world.write("work/f", "committed\n");
    git(&world, "init -q -b main");
    git(&world, "config user.name Me");
    git(&world, "config user.email me@example.com");
    git(&world, "add f");
    git(&world, "commit -q -m first");
    world.write("work/f", "a day of work\n");
    world
}

/// What git says in the folder.
fn git(world: &World, arguments: &str) -> String {
    let mut git = program("git");
    let output = git.args(arguments.split(' ')).current_dir(world.workspace()).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A run in a stage with one command.
fn run(world: &World, form: &str, command: &str, at_end: &str) -> Output {
    let script = format!(
        "[[reply]]\nblocks = [{{ call = \"Bash\", input = {{ command = {command:?} }} }}]\n\
         [[reply]]\nexpect = {{ tool_result_is_error = [false] }}\ntext = \"done\"\n"
    );
    let flags = [&*format!("--stage-form={form}"), at_end, "--json", "go"];
    world.exec(&script, &flags).run()
}

/// The stages there are.
fn stages(world: &World) -> Vec<PathBuf> {
    let listed = fs::read_dir(world.path(".cache/heeler/stages")).unwrap();
    let paths = listed.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

/// The names of commits, without the stage's own name.
fn names(world: &World, id: &str) -> String {
    git(world, "for-each-ref --format=%(refname)").replace(id, "STAGE")
}

const STASH_AND_COMMIT: &str = "git stash -q && git checkout -qb feat && echo n > n && git add n && git commit -qm feat \
     && git checkout -q main";

#[test]
fn what_was_stashed_and_committed_is_there_when_the_rest_is_applied() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let world = world();
        let ended =
            run(&world, form, STASH_AND_COMMIT, "--stage=apply").exits(0).terminal()["stage"]
                .clone();
        let id = ended["id"].as_str().unwrap();
        assert_eq!(ended["state"], "applied");
        assert_eq!(
            ended["commits"],
            serde_json::json!([format!("{id}/feat"), format!("{id}/stash")])
        );
        assert!(stages(&world).is_empty());
        assert_eq!(fs::read_to_string(world.path("work/f")).unwrap(), "committed\n");
        expect![[r#"
            refs/heads/main
            refs/remotes/STAGE/feat
            refs/remotes/STAGE/stash
        "#]]
        .assert_eq(&names(&world, id));
        git(&world, &format!("stash apply -q {id}/stash"));
        assert_eq!(fs::read_to_string(world.path("work/f")).unwrap(), "a day of work\n");
        assert_eq!(git(&world, &format!("show {id}/feat:n")), "n\n");
        git(&world, "fsck --strict");
    }
}

#[test]
fn a_stage_with_nothing_but_commits_is_kept() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let commit = "git checkout -qb feat && echo n > n && git add n && git commit -qm feat && git checkout -q main";
    for form in FORMS {
        let world = world();
        let ended = run(&world, form, commit, "--stage=keep").exits(0).terminal()["stage"].clone();
        let id = ended["id"].as_str().unwrap();
        assert_eq!(format!("{} {}", ended["state"], ended["paths"]), "\"kept\" 0");
        assert_eq!(names(&world, id), "refs/heads/main\n");
        let shown = world.heeler(&["stage", "show", id]).run().exits(0);
        assert_eq!(shown.stderr, "heeler: only the stage has the commits of feat\n");
        let applied = world.heeler(&["stage", "apply", id]).run().exits(0);
        expect![[r#"
            heeler: only the stage has the commits of feat
            heeler: what was committed is now STAGE/feat: `git log STAGE/feat`
        "#]]
        .assert_eq(&applied.stderr.replace(id, "STAGE"));
        assert_eq!(names(&world, id), "refs/heads/main\nrefs/remotes/STAGE/feat\n");
        assert!(stages(&world).is_empty());
        // Who wants nothing of it gets nothing.
        let world = self::world();
        let ended =
            run(&world, form, commit, "--stage=discard").exits(0).terminal()["stage"].clone();
        assert_eq!(ended["state"], "discarded");
        assert!(stages(&world).is_empty());
    }
}

#[test]
fn looking_and_moving_back_commit_nothing() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        for command in
            ["touch f && git status && git tag here", "git gc -q", "git checkout -q --detach"]
        {
            let world = world();
            let ended =
                run(&world, form, command, "--stage=keep").exits(0).terminal()["stage"].clone();
            assert_eq!(ended["state"], "unchanged", "{form}: {command}");
            assert!(stages(&world).is_empty());
        }
    }
}

#[test]
fn several_stashes_tags_and_a_detached_head_are_brought_along() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let command = "git stash -q && echo 2 > f && git stash -q && echo 3 > f && git commit -qam tagged \
                   && git tag -a -m annotated v1 && git reset -q --hard HEAD~1 && git checkout -q --detach \
                   && git commit -q --allow-empty -m detached && git pack-refs --all && mkfifo .git/refs/heads/pipe \
                   && ln -s /etc/passwd .git/refs/heads/link";
    for form in FORMS {
        let world = world();
        let ended =
            run(&world, form, command, "--stage=apply").exits(0).terminal()["stage"].clone();
        let id = ended["id"].as_str().unwrap();
        expect![[r#"
            refs/heads/main
            refs/remotes/STAGE/detached
            refs/remotes/STAGE/stash
            refs/remotes/STAGE/stash-1
            refs/remotes/STAGE/tags/v1
        "#]]
        .assert_eq(&names(&world, id));
        assert_eq!(git(&world, &format!("show {id}/stash-1:f")), "a day of work\n");
    }
}

/// The repository's objects are taken for what is in them, not for what a run calls them.
#[test]
fn objects_that_are_not_what_they_are_called_are_refused() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let forge = "git checkout -qb feat && echo n > n && git add n && git commit -qm feat && git checkout -q main \
                 && o=$(git rev-parse feat:n) && p=.git/objects/${o%${o#??}}/${o#??} && echo evil > e \
                 && e=$(git hash-object -w e) && rm e && chmod u+w $p && cp .git/objects/${e%${e#??}}/${e#??} $p";
    for form in FORMS {
        let world = world();
        let output = run(&world, form, forge, "--stage=apply");
        let ended = output.terminal()["stage"].clone();
        assert_eq!(ended["state"], "kept", "{form}");
        assert!(ended["error"].as_str().unwrap().contains("what was committed stays in the stage"));
        assert_eq!(git(&world, "for-each-ref --format=%(refname)"), "refs/heads/main\n");
        assert_eq!(stages(&world).len(), 1);
    }
}

#[test]
fn a_repository_that_was_made_in_the_stage_is_kept() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let make = "git init -q new && cd new && echo n > n && git add n && \
                git -c user.name=a -c user.email=b commit -qm new";
    for form in FORMS {
        let world = world();
        let output = run(&world, form, make, "--stage=apply").exits(1);
        let ended = output.terminal()["stage"].clone();
        let error = ended["error"].as_str().unwrap();
        let source = error.split('`').nth(1).unwrap().split(' ').nth(2).unwrap();
        assert_eq!(fs::read_to_string(world.path("work/new/n")).unwrap(), "n\n");
        git(&world, &format!("clone -q {source} taken"));
        assert_eq!(git(&world, "-C taken log --format=%s"), "new\n");
    }
}
