//! What is committed and stashed in a stage: it is kept, and the folder's repository gets it under names of
//! its own.

use std::fs;
use std::path::PathBuf;

use expect_test::expect;
use heeler_testkit::require;
use serde_json::Value;

use crate::support::{Output, World, can_confine, program};
use crate::terminal::on_terminal_after;

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
pub(crate) fn git(world: &World, arguments: &str) -> String {
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

/// What became of the stage of a run that went well.
fn settled(world: &World, form: &str, command: &str, at_end: &str) -> Value {
    run(world, form, command, at_end).exits(0).terminal()["stage"].clone()
}

/// What `heeler stage apply` asks and says at a terminal, and its exit code.
fn apply_at_terminal(world: &World, id: &str, typed: &str) -> (i32, String) {
    let mut apply = program(env!("CARGO_BIN_EXE_heeler"));
    world.settle(apply.args(["stage", "apply", id]));
    on_terminal_after(apply, "[k]eep", typed)
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
        let ended = settled(&world, form, STASH_AND_COMMIT, "--stage=apply");
        let id = ended["id"].as_str().unwrap();
        assert_eq!(ended["state"], "applied");
        assert_eq!(
            ended["commits"],
            serde_json::json!([format!("{id}/heads/feat"), format!("{id}/stash/0")])
        );
        assert!(stages(&world).is_empty());
        assert_eq!(fs::read_to_string(world.path("work/f")).unwrap(), "committed\n");
        expect![[r#"
            refs/heads/main
            refs/remotes/STAGE/heads/feat
            refs/remotes/STAGE/stash/0
        "#]]
        .assert_eq(&names(&world, id));
        git(&world, &format!("stash apply -q {id}/stash/0"));
        assert_eq!(fs::read_to_string(world.path("work/f")).unwrap(), "a day of work\n");
        assert_eq!(git(&world, &format!("show {id}/heads/feat:n")), "n\n");
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
        let ended = settled(&world, form, commit, "--stage=keep");
        let id = ended["id"].as_str().unwrap();
        assert_eq!(format!("{} {}", ended["state"], ended["paths"]), "\"kept\" 0");
        assert_eq!(names(&world, id), "refs/heads/main\n");
        let shown = world.heeler(&["stage", "show", id]).run().exits(0);
        assert_eq!(shown.stderr, "heeler: only the stage has the commits: feat\n");
        let applied = world.heeler(&["stage", "apply", id, "--all"]).run().exits(0);
        expect![[r#"
            heeler: only the stage has the commits: feat
            heeler: what was committed is now in the repository: `git branch -r --list 'STAGE/*'`
        "#]]
        .assert_eq(&applied.stderr.replace(id, "STAGE"));
        assert_eq!(names(&world, id), "refs/heads/main\nrefs/remotes/STAGE/heads/feat\n");
        assert!(stages(&world).is_empty());
        // Who wants nothing of it gets nothing.
        let world = self::world();
        let ended = settled(&world, form, commit, "--stage=discard");
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
            let ended = settled(&world, form, command, "--stage=keep");
            assert_eq!(ended["state"], "unchanged", "{form}: {command}");
            assert!(stages(&world).is_empty());
        }
    }
}

#[test]
fn whatever_names_commits_or_once_did_is_brought_along() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let command = "git stash -q && echo 2 > f && git stash -q && echo 3 > f && git commit -qam tagged \
                   && git tag -a -m annotated v1 && git reset -q --hard HEAD~1 && git checkout -q --detach \
                   && git commit -q --allow-empty -m detached && git branch stash && git pack-refs --all \
                   && git checkout -q main && git commit -q --allow-empty -m reset && git reset -q --hard HEAD~1 \
                   && git checkout -qb 'x;y' && git commit -q --allow-empty -m odd && git checkout -q HEAD^{} \
                   && git checkout -q stash && git commit -q --allow-empty -m detached && mkfifo .git/refs/heads/pipe \
                   && ln -s /etc/passwd .git/refs/heads/link";
    for form in FORMS {
        let world = world();
        let ended = settled(&world, form, command, "--stage=apply");
        let id = ended["id"].as_str().unwrap();
        let said = git(&world, "for-each-ref --format=%(refname)|%(subject)").replace(id, "STAGE");
        // Those that were made in the same second have no order.
        let said = said.replace("lost/1", "lost/N").replace("lost/2", "lost/N");
        let mut lines: Vec<&str> = said.lines().filter_map(|line| line.split(':').next()).collect();
        lines.sort_unstable();
        expect![[r#"
            refs/heads/main|first
            refs/remotes/STAGE/heads/stash|detached
            refs/remotes/STAGE/lost/N|odd
            refs/remotes/STAGE/lost/N|reset
            refs/remotes/STAGE/stash/0|WIP on main
            refs/remotes/STAGE/stash/1|WIP on main
            refs/remotes/STAGE/tags/v1|annotated"#]]
        .assert_eq(&lines.join("\n"));
        assert_eq!(git(&world, &format!("show {id}/stash/1:f")), "a day of work\n");
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
        let source = error.split('`').nth(1).unwrap().split(' ').nth(2).unwrap().trim_matches('\'');
        assert_eq!(fs::read_to_string(world.path("work/new/n")).unwrap(), "n\n");
        git(&world, &format!("clone -q {source} taken"));
        assert_eq!(git(&world, "-C taken log --format=%s"), "new\n");
    }
}

/// A repository's settings may name programs that git runs when it talks to others, or misses objects.
#[test]
fn nothing_that_a_repository_names_is_run() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let settings = "[extensions]\n\tpartialClone = origin\n[core]\n\trepositoryformatversion = 1\n\thooksPath = ../hooks\n\
                    \tfsmonitor = touch MARK1; false\n\talternateRefsCommand = touch MARK2\n\
                    [remote \"origin\"]\n\tpromisor = true\n\turl = /\n\tuploadpack = touch MARK3; false\n\
                    [url \"ext::sh -c touch% MARK4\"]\n\tinsteadOf = /\n[protocol \"ext\"]\n\tallow = always\n";
    let commit = "cd sub && git add . && git -c core.fsmonitor=false -c core.hooksPath=/dev/null \
                  commit -qm sub && git stash list";
    for form in FORMS {
        let world = world();
        fs::create_dir(world.path("work/sub")).unwrap();
        git(&world, "-C sub init -q -b main");
        for name in ["name Me", "email me@example.com"] {
            git(&world, &format!("-C sub config user.{name}"));
        }
        git(&world, "-C sub commit -q --allow-empty -m first");
        let config = fs::read_to_string(world.path("work/sub/.git/config")).unwrap();
        let mark = world.path("mark").display().to_string();
        fs::create_dir(world.path("work/sub/hooks")).unwrap();
        let hook = world.write(
            "work/sub/hooks/reference-transaction",
            "#!/bin/sh\ntouch MARK5\n".replace("MARK", &mark),
        );
        fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let before = world.write("work/sub/.git/config", config + &settings.replace("MARK", &mark));
        let before = fs::read(before).unwrap();
        let ended = settled(&world, form, commit, "--stage=apply");
        assert_eq!(ended["state"], "applied", "{ended}");
        let id = ended["id"].as_str().unwrap();
        assert_eq!(ended["commits"], serde_json::json!([format!("{id}/heads/main")]));
        assert_eq!(fs::read(world.path("work/sub/.git/config")).unwrap(), before);
        let made: Vec<_> =
            fs::read_dir(world.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert!(!made.iter().any(|name| name.to_str().unwrap().starts_with("mark")), "{made:?}");
    }
}

/// Nothing is read by way of a stage that its commands could not read.
#[test]
fn no_repository_outside_is_taken_for_that_of_the_stage() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let attempts = [
        // What is no folder of git's any more has nothing to be fetched.
        ("rm -rf .git && ln -s ../../other/.git .git", "applied"),
        ("git branch x && rm -rf .git/refs && ln -s ../../../other/.git/refs .git/refs", "applied"),
        ("mv .git/objects o && ln -s ../../../other/.git/objects .git/objects", "kept"),
        ("echo ../../../../other/.git/objects > .git/objects/info/alternates", "kept"),
        ("mkfifo .git/objects/info/alternates", "kept"),
        ("mkfifo .git/objects/info/commit-graph", "kept"),
    ];
    for (attempt, expected) in attempts {
        for form in FORMS {
            let world = world();
            git(&world, "init -q -b main sub");
            git(&world, "init -q -b main ../other");
            let commit = "-c user.name=a -c user.email=b commit -q --allow-empty -m";
            git(&world, &format!("-C sub {commit} first"));
            git(&world, &format!("-C ../other {commit} SECRET"));
            let command = format!("cd sub && touch made && git {commit} new && {attempt}");
            let output = run(&world, form, &command, "--stage=apply");
            let ended = output.terminal()["stage"].clone();
            assert_eq!(ended["state"], expected, "{form} {attempt}: {ended}");
            assert!(world.path("work/sub/made").exists());
            assert!(!git(&world, "-C sub log --all --format=%s").contains("SECRET"));
        }
    }
}

#[test]
fn commits_are_a_question_of_their_own() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let commit = "git checkout -qb feat && git commit -q --allow-empty -m feat && git checkout -q main && echo > junk";
    for (command, typed, expected, are_there) in [
        (commit, "n\ny\n", "what was committed is now in the repository", true),
        (commit, "y\nn\n", "applied to 1 of 1 paths", false),
        (commit, "y\nk\n", "the changes are kept", false),
        (
            "git commit -q --allow-empty -m feat",
            "y\n",
            "what was committed is now in the repository",
            true,
        ),
    ] {
        let world = world();
        let ended = settled(&world, "overlay", command, "--stage=keep");
        let id = ended["id"].as_str().unwrap();
        let (code, shown) = apply_at_terminal(&world, id, typed);
        assert!(code == 0 && shown.contains(expected), "{typed:?}: {shown}");
        assert_eq!(names(&world, id).contains("STAGE"), are_there);
        assert_eq!(stages(&world).len(), usize::from(expected.contains("kept")));
    }
}

/// The objects are there and their names are not, as after a kill between the two.
#[test]
fn what_was_half_taken_over_is_taken_over() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = world();
    let ended = settled(&world, "copy", STASH_AND_COMMIT, "--stage=keep");
    let id = ended["id"].as_str().unwrap();
    let objects = stages(&world)[0].join("tree/.git/objects/.");
    let copied = program("cp").arg("-r").arg(objects).arg(world.path("work/.git/objects")).status();
    assert!(copied.unwrap().success());
    world.heeler(&["stage", "apply", id, "--all"]).run().exits(0);
    assert_eq!(names(&world, id).matches("STAGE").count(), 2);
}

#[test]
fn applying_that_is_killed_loses_no_commits() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = world();
    for n in 0..3_000 {
        world.write(&format!("work/{n}.txt"), "old\n");
    }
    let command = "git stash -q && for f in *.txt; do echo new > $f; done";
    let ended = settled(&world, "overlay", command, "--stage=keep");
    let id = ended["id"].as_str().unwrap();
    let mut running = world.heeler(&["stage", "apply", id, "--all"]).start();
    while world.worked("0.txt") != "new\n" {
        assert!(running.is_running(), "it ended before it was killed");
    }
    running.kill();
    let told = world.heeler(&["stage", "apply", id]).run().exits(0).stderr;
    assert!(told.contains("the rest of it is done"), "{told}");
    assert_eq!(git(&world, &format!("show {id}/stash/0:f")), "a day of work\n");
    assert!(stages(&world).is_empty());
}

#[test]
fn without_git_the_rest_is_shown_and_applied_and_the_stage_stays() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = world();
    let command = format!("{STASH_AND_COMMIT} && echo > made");
    let ended = settled(&world, "overlay", &command, "--stage=keep");
    let id = ended["id"].as_str().unwrap();
    let shown = world.heeler(&["stage", "show", id]).env("PATH", "/nowhere").run().exits(0);
    assert!(
        shown.stdout.contains("b/made") && shown.stderr.contains("no git in PATH"),
        "{}",
        shown.stderr
    );
    let applied =
        world.heeler(&["stage", "apply", id, "--all"]).env("PATH", "/nowhere").run().exits(1);
    assert!(applied.stderr.contains("what was committed stays in the stage"), "{}", applied.stderr);
    assert!(world.path("work/made").exists());
    world.heeler(&["stage", "apply", id, "--all"]).run().exits(0);
    assert_eq!(names(&world, id).matches("STAGE").count(), 2);
}

/// What is only in logs, in other work trees or in a form that is not read, is in the stage alone, too.
#[test]
fn no_stage_with_work_of_its_own_is_dropped() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let lost = |world: &World, id: &str| names(world, id).contains("STAGE/lost/1");
    for (command, state) in [
        ("git commit -qam wip && git reset -q --hard HEAD~1", "applied"),
        (
            "git checkout -qb x && git commit -qam wip && git checkout -q main && git branch -qD x",
            "applied",
        ),
        (
            "git worktree add -q --detach wt && cd wt && git commit -q --allow-empty -m wt",
            "applied",
        ),
        ("git stash -q && mkdir -p .git/lfs && echo x > .git/lfs/x", "kept"),
        ("git stash -q && mkdir -p .git/reftable && echo x > .git/reftable/x", "kept"),
    ] {
        for form in FORMS {
            let world = world();
            let ended = run(&world, form, command, "--stage=apply").terminal()["stage"].clone();
            assert_eq!(ended["state"], state, "{form} {command}: {ended}");
            assert_eq!(
                lost(&world, ended["id"].as_str().unwrap()),
                state == "applied",
                "{command}"
            );
            assert_eq!(stages(&world).len(), usize::from(state == "kept"));
        }
    }
}

#[test]
fn what_the_folder_once_had_is_no_commit_of_the_stage() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for command in ["git checkout -q --detach", "git checkout -qb x", "git branch rescue HEAD@{1}"]
    {
        for form in FORMS {
            let world = world();
            git(&world, "commit -q --amend -m again");
            let ended = settled(&world, form, command, "--stage=keep");
            assert_eq!(ended["state"], "unchanged", "{form} {command}: {ended}");
        }
    }
}

#[test]
fn the_first_commit_of_a_repository_is_taken_over() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let world = World::new();
        git(&world, "init -q -b main");
        let command = "git -c user.name=a -c user.email=b commit -q --allow-empty -m first";
        let ended = settled(&world, form, command, "--stage=apply");
        let id = ended["id"].as_str().unwrap();
        assert_eq!(names(&world, id), "refs/remotes/STAGE/heads/main\n");
        git(&world, "fsck --strict");
    }
}

#[test]
fn no_git_that_a_run_made_is_started() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = world();
    let mark = world.path("mark").display().to_string();
    let command = format!(
        "git commit -q --allow-empty -m new; mkdir bin; \
         printf '#!/bin/sh\\ntouch {mark}\\n' > bin/git; chmod +x bin/git; cp bin/git .git/git"
    );
    let ended = settled(&world, "overlay", &command, "--stage=keep");
    let id = ended["id"].as_str().unwrap();
    let path = format!("{}/bin::.:{}", world.workspace().display(), std::env::var("PATH").unwrap());
    world.heeler(&["stage", "apply", id, "--all"]).env("PATH", path).run().exits(0);
    assert!(world.path("work/bin/git").exists() && !world.path("mark").exists());
    assert_eq!(names(&world, id), "refs/heads/main\nrefs/remotes/STAGE/heads/main\n");
}

#[test]
fn nothing_is_taken_over_by_way_of_a_link_of_the_folder() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = world();
    git(&world, "init -q -b main ../other");
    git(&world, "-C ../other -c user.name=a -c user.email=b commit -q --allow-empty -m other");
    std::os::unix::fs::symlink("../other", world.path("work/sub")).unwrap();
    let command = "rm sub && git init -q sub && cd sub && git -c user.name=a -c user.email=b commit -q --allow-empty -m x";
    let ended = settled(&world, "overlay", command, "--stage=keep");
    let id = ended["id"].as_str().unwrap();
    let (_, shown) = apply_at_terminal(&world, id, "n\ny\n");
    assert!(shown.contains("what was committed stays in the stage"), "{shown}");
    assert_eq!(git(&world, "-C ../other for-each-ref --format=%(refname)"), "refs/heads/main\n");
    assert_eq!(stages(&world).len(), 1);
}
