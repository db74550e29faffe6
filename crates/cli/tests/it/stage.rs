//! `--stage`: changes happen beside the folder, and what is chosen of them is applied.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use expect_test::expect;
use heeler_testkit::require;

use crate::fifo::Fifo;
use crate::support::{Output, World, can_confine, program};
use crate::terminal::on_terminal_after;

/// Both ways a stage is made.
pub(crate) const FORMS: [&str; 2] = ["overlay", "copy"];

/// Ten lines of which a tool changes the first and a command the last; more of what may differ.
const CHANGES: &str = r#"
    [[reply]]
    blocks = [
      { call = "Read", input = { file_path = "ten.txt" } },
    ]
    [[reply]]
    blocks = [
      { call = "Edit", input = { file_path = "ten.txt", old_string = "1\n2\n", new_string = "one\n2\n" } },
    ]
    [[reply]]
    expect = { tool_result_is_error = [false] }
    blocks = [
      { call = "Bash", input = { command = "sed -i 's/^20$/twenty/' ten.txt && cat ten.txt && rm -r old && mkdir old && echo n > old/new.txt && chmod +x run.sh && ln -sf run.sh link && rm gone.txt && mkdir -p a/b && printf '\\000' > a/b/bytes" } },
    ]
    [[reply]]
    expect = { tool_result_contains = "twenty" }
    blocks = [
      { call = "Write", input = { file_path = "made.txt", content = "made\n" } },
    ]
    [[reply]]
    expect = { tool_result_is_error = [false] }
    text = "changed"
"#;

/// A folder with what the script changes.
pub(crate) fn world() -> World {
    let world = World::new();
    let lines: String = (1..=20).map(|n| format!("{n}\n")).collect();
    world.write("work/ten.txt", lines);
    world.write("work/run.sh", "#!/bin/sh\n");
    world.write("work/gone.txt", "gone\n");
    fs::create_dir_all(world.path("work/old/deep")).unwrap();
    world.write("work/old/deep/x.txt", "x\n");
    symlink("ten.txt", world.path("work/link")).unwrap();
    world
}

/// All that is below a folder: names, modes, texts.
pub(crate) fn tree(folder: &Path) -> String {
    let mut lines = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            if metadata.is_dir() {
                lines.push(format!("{name}/"));
                waiting.push(path);
            } else if metadata.is_symlink() {
                lines.push(format!("{name} -> {}", fs::read_link(&path).unwrap().display()));
            } else {
                let mode = metadata.permissions().mode() & 0o111;
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                let text = text.escape_default();
                lines.push(format!("{name} {}{text}", if mode == 0 { "" } else { "x " }));
            }
        }
    }
    lines.sort();
    lines.join("\n")
}

pub(crate) fn stages(world: &World) -> PathBuf {
    world.path(".cache/heeler/stages")
}

/// The only stage there is.
pub(crate) fn stage(world: &World) -> Option<String> {
    let listed = world.heeler(&["stage", "list"]).run().exits(0).stdout;
    assert!(listed.lines().count() <= 1, "{listed}");
    Some(listed.split_whitespace().next()?.to_owned())
}

pub(crate) fn staged(world: &World, script: &str, form: &str, arguments: &[&str]) -> Output {
    let form = format!("--stage-form={form}");
    world.exec(script, &[&[&*form], arguments, &["go"]].concat()).run()
}

#[test]
fn what_a_tool_and_a_command_change_is_shown_kept_and_applied() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let world = world();
        let before = tree(&world.workspace());
        let output = staged(&world, CHANGES, form, &["--stage"]).exits(0);
        assert_eq!(output.stdout, "changed\n");
        assert_eq!(tree(&world.workspace()), before, "{form}");
        let id = stage(&world).unwrap();
        let shown = world.heeler(&["stage", "show", &id]).run().exits(0).stdout;
        assert!(output.stderr.contains(shown.trim_end()), "{}", output.stderr);
        expect![[r#"
            diff --git a/a/b/bytes b/a/b/bytes
            new file mode 100644
            Files /dev/null and b/a/b/bytes differ
            diff --git a/gone.txt b/gone.txt
            deleted file mode 100644
            --- a/gone.txt
            +++ /dev/null
            @@ -1 +0,0 @@
            -gone
            diff --git a/link b/link
            -ten.txt
            +run.sh
            diff --git a/made.txt b/made.txt
            new file mode 100644
            --- /dev/null
            +++ b/made.txt
            @@ -0,0 +1 @@
            +made
            diff --git a/old/deep/x.txt b/old/deep/x.txt
            deleted file mode 100644
            --- a/old/deep/x.txt
            +++ /dev/null
            @@ -1 +0,0 @@
            -x
            diff --git a/old/new.txt b/old/new.txt
            new file mode 100644
            --- /dev/null
            +++ b/old/new.txt
            @@ -0,0 +1 @@
            +n
            diff --git a/run.sh b/run.sh
            old mode 100644
            new mode 100755
            diff --git a/ten.txt b/ten.txt
            --- a/ten.txt
            +++ b/ten.txt
            @@ -1,4 +1,4 @@
            -1
            +one
             2
             3
             4
            @@ -17,4 +17,4 @@
             17
             18
             19
            -20
            +twenty
        "#]]
        .assert_eq(&shown);

        // Nobody is there who could take or leave a hunk, and silence is no yes.
        let applied = world.heeler(&["stage", "apply", &id]).run().exits(2);
        let told = format!("`heeler stage apply {id} --all` makes all of them\n");
        assert!(applied.stderr.ends_with(&told), "{}", applied.stderr);
        assert_eq!(tree(&world.workspace()), before);
        world.heeler(&["stage", "apply", &id, "--all"]).run().exits(0);
        expect![[r#"
            a/
            a/b/
            a/b/bytes \u{0}
            link -> run.sh
            made.txt made\n
            old/
            old/new.txt n\n
            run.sh x #!/bin/sh\n
            ten.txt one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\ntwenty\n
        "#]]
        .assert_eq(&(tree(&world.workspace()) + "\n"));
        assert_eq!(stage(&world), None);
        assert_eq!(fs::read_dir(stages(&world)).unwrap().count(), 0);
    }
}

/// What starts a program that may not mount.
const SETPRIV: &str = "setpriv";
const MAY_NOT_MOUNT: [&str; 2] = ["--bounding-set=-sys_admin", "--inh-caps=-sys_admin"];

fn can_be_without_mounts() -> bool {
    let mut without = program(SETPRIV);
    without.args(MAY_NOT_MOUNT).arg("true");
    let can = can_confine() && without.status().is_ok_and(|status| status.success());
    require("setpriv and the sandbox", can)
}

/// Whoever is not root runs all of these tests so.
#[test]
fn who_may_not_mount_has_an_overlay_of_what_is_theirs() {
    if !can_be_without_mounts() {
        return;
    }
    let world = world();
    let before = tree(&world.workspace());
    let arguments = ["--stage", "--stage-form=overlay", "go"];
    world.exec(CHANGES, &arguments).within(SETPRIV, &MAY_NOT_MOUNT).run().exits(0);
    assert_eq!(tree(&world.workspace()), before);
    let id = stage(&world).unwrap();
    world.heeler(&["stage", "apply", &id, "--all"]).run().exits(0);
    assert!(world.worked("ten.txt").ends_with("19\ntwenty\n"));
    assert!(!world.workspace().join("gone.txt").exists());
}

/// The owner may read and write, user 33 and the group read.
fn access_list() -> Vec<u8> {
    let none = u32::MAX;
    let entries = [(1_u16, 6_u16, none), (2, 4, 33), (4, 4, none), (16, 4, none), (32, 0, none)];
    let entry = |(tag, may, id): (u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &may.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    [&2_u32.to_le_bytes()[..], &entries.map(entry).concat()].concat()
}

#[test]
fn who_may_not_mount_keeps_access_lists() {
    const ACCESS_LIST: &str = "system.posix_acl_access";
    if !can_be_without_mounts() {
        return;
    }
    let check = |at_end: &str| {
        let world = world();
        let path = world.path("work/ten.txt");
        let listed = rustix::fs::setxattr(
            &path,
            ACCESS_LIST,
            &access_list(),
            rustix::fs::XattrFlags::empty(),
        );
        if !require("a file system with access lists", listed.is_ok()) {
            return;
        }
        let told = world.exec(CHANGES, &[at_end, "go"]).within(SETPRIV, &MAY_NOT_MOUNT).run();
        let told = told.exits(0).stderr;
        assert!(!told.contains("old mode 100640"), "{told}");
        if let Some(id) = stage(&world) {
            let apply = world.heeler(&["stage", "apply", &id, "--all"]);
            apply.within(SETPRIV, &MAY_NOT_MOUNT).run().exits(0);
        }
        assert!(world.worked("ten.txt").starts_with("one\n"));
        let mut list = vec![0; 256];
        let length = rustix::fs::getxattr(&path, ACCESS_LIST, &mut list[..]).unwrap_or(0);
        assert_eq!(list[..length], access_list(), "{at_end}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    };
    check("--stage=apply");
    check("--stage=keep");
    // What is asked for and cannot be had is told.
    let world = world();
    let set = rustix::fs::XattrFlags::empty();
    let _ = rustix::fs::setxattr(world.path("work/ten.txt"), ACCESS_LIST, &access_list(), set);
    let refused = world.exec(CHANGES, &["--stage", "--stage-form=overlay", "go"]);
    let told = refused.within(SETPRIV, &MAY_NOT_MOUNT).run().stderr;
    assert!(told.contains("or have access lists"), "{told}");
}

#[test]
fn pipes_that_a_run_removes_or_replaces_stay_and_are_named() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let world = World::new();
        fs::create_dir_all(world.path("work/d/in")).unwrap();
        for name in ["alone", "d/in/pipe", "replaced"] {
            Fifo::new(&world.path(&format!("work/{name}")));
        }
        let script = r#"
            [[reply]]
            blocks = [{ call = "Bash", input = { command = "rm -rf alone d replaced; echo file > replaced; echo a > a.txt" } }]
            [[reply]]
            expect = { tool_result_is_error = [false] }
            text = "removed"
        "#;
        let told = staged(&world, script, form, &["--stage=apply"]).exits(0).stderr;
        assert!(told.contains("d/in stays: it holds a socket, pipe or device"), "{form} {told}");
        assert!(told.contains("replaced stays: it is a socket, pipe or device, and"), "{told}");
        // A copy has no pipes, so nobody knows what became of one.
        assert_eq!(told.contains("alone stays: it is a"), form == "overlay", "{told}");
        assert_eq!(world.worked("a.txt"), "a\n");
        for name in ["alone", "d/in/pipe", "replaced"] {
            let kind = fs::symlink_metadata(world.path(&format!("work/{name}"))).unwrap();
            assert!(kind.file_type().is_fifo(), "{form} {name}");
        }
    }
}

#[test]
fn a_stage_of_which_all_is_applied_is_said_to_hold_nothing_more() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "a\n" } }]
        [[reply]]
        text = "written"
    "#;
    staged(&world, script, "copy", &["--stage=keep"]).exits(0);
    let id = stage(&world).unwrap();
    // As who applied it and died before the stage was dropped leaves it.
    world.write("work/a.txt", "a\n");
    let told = world.heeler(&["stage", "apply", &id, "--all"]).run().exits(0).stderr;
    assert_eq!(told, "heeler: nothing is left to apply; the stage is gone\n");
    assert_eq!(stage(&world), None);
}

#[test]
fn the_end_of_a_run_may_apply_or_discard_it() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let check = |at_end: &str, expected: &str| {
            let world = world();
            let before = tree(&world.workspace());
            let output = staged(&world, CHANGES, form, &[at_end, "--json"]).exits(0);
            let told = output.terminal()["stage"].clone();
            assert_eq!(format!("{} {} {}", told["state"], told["paths"], told["error"]), expected);
            assert_eq!(tree(&world.workspace()) == before, !at_end.contains("apply"));
            assert_eq!(stage(&world).is_some(), at_end.contains("keep"));
        };
        check("--stage=apply", r#""applied" 8 null"#);
        check("--stage=discard", r#""discarded" 8 null"#);
        check("--stage=keep", r#""kept" 8 null"#);
        // A run that broke off is not applied.
        let world = world();
        let broken = CHANGES.replace("text = \"changed\"", "error = { status = 401 }");
        let output = staged(&world, &broken, form, &["--stage=apply", "--json"]).exits(5);
        assert_eq!(output.terminal()["stage"]["state"], "kept");
    }
}

#[test]
fn a_hunk_that_is_refused_stays_out() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let world = world();
        let model = world.script(CHANGES);
        let form = format!("--stage-form={form}");
        let mut command = program(env!("CARGO_BIN_EXE_heeler"));
        command.args(["exec", "--model", &model, "--stage", &form, "go"]);
        world.settle(&mut command);
        // In order of paths ten.txt is the last, and of its two hunks the second is taken.
        let (code, screen) =
            on_terminal_after(command, "Apply this", &("n\n".repeat(7) + "?\nn\ny\n"));
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("applied to 1 of"), "{screen}");
        let text = world.worked("ten.txt");
        assert!(text.starts_with("1\n2\n") && text.ends_with("19\ntwenty\n"), "{text}");
        assert!(!world.workspace().join("made.txt").exists());
    }
}

/// What a name says in lines of its own would else pass for the diff of something harmless.
#[test]
fn a_name_of_several_lines_is_shown_on_one() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "mkdir -p $'z b'; echo evil > $'z b/z\\n@@ -0,0 +1,1 @@\\n+harmless'; ln -s $'x\\n+y' l; printf '\\0' > $'\\033[31m'" } }]
        [[reply]]
        expect = { tool_result_is_error = [false] }
        text = "ok"
    "#;
    let output = staged(&world, script, FORMS[1], &["--stage=keep"]).exits(0);
    let shown = world.heeler(&["stage", "show", &stage(&world).unwrap()]).run().exits(0).stdout;
    assert!(output.stderr.contains(shown.trim_end()), "{}", output.stderr);
    expect![[r#"
        diff --git "a/\033[31m" "b/\033[31m"
        new file mode 100644
        Files /dev/null and "b/\033[31m" differ
        diff --git a/l b/l
        new file mode 120000
        +"x\n+y"
        diff --git "a/z b/z\n@@ -0,0 +1,1 @@\n+harmless" "b/z b/z\n@@ -0,0 +1,1 @@\n+harmless"
        new file mode 100644
        --- /dev/null
        +++ "b/z b/z\n@@ -0,0 +1,1 @@\n+harmless"
        @@ -0,0 +1 @@
        +evil
    "#]]
    .assert_eq(&shown);
}

#[test]
fn what_somebody_changed_meanwhile_is_not_overwritten() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let world = world();
        staged(&world, CHANGES, form, &["--stage"]).exits(0);
        world.write("work/ten.txt", "mine\n");
        let before = tree(&world.workspace());
        let id = stage(&world).unwrap();
        let output = world.heeler(&["stage", "apply", &id, "--all"]).run().exits(1);
        assert!(output.stderr.contains("nothing was applied"), "{}", output.stderr);
        assert!(output.stderr.contains("ten.txt"), "{}", output.stderr);
        let again = format!("the changes are kept: `heeler stage apply {id}` tries again");
        assert!(output.stderr.contains(&again), "{}", output.stderr);
        assert_eq!(tree(&world.workspace()), before);
        if form == "overlay" {
            // Each hint is one that works here.
            let flags = "--all --force";
            assert!(output.stderr.contains(&format!("`{flags}`")), "{}", output.stderr);
            let output = world.heeler(&["stage", "apply", &id, "--force"]).run().exits(2);
            assert!(output.stderr.contains(&format!("apply {id} {flags}`")), "{}", output.stderr);
            let output = world.heeler(&["stage", "apply", &id, "--all", "--force"]).run().exits(0);
            let replaced = "applied over what was changed since the stage began: ten.txt\n";
            assert!(output.stderr.contains(replaced), "{}", output.stderr);
            assert!(world.worked("ten.txt").ends_with("twenty\n"));
            continue;
        }
        world.heeler(&["stage", "discard", &id]).run().exits(0);
        assert_eq!((stage(&world), tree(&world.workspace())), (None, before));
    }
}

#[test]
fn nothing_leaves_the_stage() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = world();
    let outside = world.path("outside.txt");
    let script = format!(
        "[[reply]]\nblocks = [\n\
           {{ call = \"Bash\", input = {{ command = \"echo x > {0}\" }} }},\n\
           {{ call = \"Write\", input = {{ file_path = \"{0}\", content = \"x\" }} }},\n\
         ]\n[[reply]]\nexpect = {{ tool_result_is_error = [true, true] }}\ntext = \"no\"",
        outside.display()
    );
    let rules = ["--allow", "Bash", "--allow", "Write", "--allow", "Edit"];
    staged(&world, &script, "overlay", &[&["--stage=apply"], &rules[..]].concat()).exits(0);
    assert!(!outside.exists());
    for refused in ["--no-sandbox", "--permission-mode=bypass"] {
        let output = staged(&world, CHANGES, "copy", &["--stage", refused]).exits(2);
        assert!(output.stderr.contains("--stage"), "{}", output.stderr);
        assert!(!output.stderr.contains("nothing is left"), "{}", output.stderr);
        assert_eq!(stage(&world), None);
    }
}

#[test]
fn a_part_of_a_repository_is_staged_without_git_which_is_told() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = world();
    fs::create_dir_all(world.path("work/.git")).unwrap();
    for (folder, is_told) in [("old", true), (".", false)] {
        let output =
            staged(&world, "[[reply]]\ntext = \"ok\"", "copy", &["--stage", "--cwd", folder]);
        assert_eq!(output.stderr.contains("there is no git in it"), is_told, "{}", output.stderr);
    }
}

#[test]
fn a_session_whose_stage_is_kept_does_not_go_on_beside_it() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    let world = world();
    let quiet = staged(&world, CHANGES, "overlay", &["--stage", "-q"]).exits(0).stderr;
    assert!(
        quiet.starts_with("heeler: the changes are kept") && quiet.lines().count() == 1,
        "{quiet}"
    );
    let output = world.exec(CHANGES, &["--continue", "more"]).run().exits(2);
    assert!(output.stderr.contains("heeler stage apply"), "{}", output.stderr);
    let id = stage(&world).unwrap();
    world.heeler(&["stage", "apply", &id, "--all"]).run().exits(0);
    world.exec("[[reply]]\ntext = \"more\"", &["--continue", "more"]).run().exits(0);
}

#[test]
fn commands_and_tools_see_what_the_other_wrote_and_the_folder_does_not() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let world = World::new();
        let script = r#"
            [[reply]]
            blocks = [{ call = "Write", input = { file_path = "a.txt", content = "a\n" } }]
            [[reply]]
            blocks = [{ call = "Bash", input = { command = "cat a.txt" } }, { call = "Grep", input = { pattern = "a" } }, { call = "Glob", input = { pattern = "*.txt" } }]
            [[reply]]
            expect = { tool_result_contains = ["a", "a.txt", "a.txt"] }
            text = "seen"
        "#;
        staged(&world, script, form, &["--stage=discard"]).exits(0);
        assert!(!world.workspace().join("a.txt").exists());
    }
}
