//! Stages in which a folder became something else, or something else a folder: what goes with that is
//! shown, asked about and named.

use std::fs;
use std::os::unix::fs::symlink;

use expect_test::{Expect, expect};
use heeler_testkit::require;

use crate::stage::{FORMS, stage, staged, tree};
use crate::support::{World, can_confine, program};
use crate::terminal::on_terminal_after;

/// A folder with a file, a link and a folder of files, and a stage of it in which this command ran.
fn after(command: &str, form: &str) -> (World, String) {
    let world = World::new();
    world.write("work/config", "precious\n");
    symlink("config", world.path("work/link")).unwrap();
    fs::create_dir_all(world.path("work/d/in")).unwrap();
    world.write("work/d/in/two", "2\n");
    world.write("work/d/one", "1\n");
    let script = format!(
        "[[reply]]\nblocks = [{{ call = \"Bash\", input = {{ command = \"{command}\" }} }}]\n\
         [[reply]]\nexpect = {{ tool_result_is_error = [false] }}\ntext = \"ok\""
    );
    staged(&world, &script, form, &["--stage=keep"]).exits(0);
    let id = stage(&world).unwrap();
    (world, id)
}

/// What is shown of the stage; and by what a person answers, how often they are asked and what is there then.
fn check(command: &str, shown: Expect, answered: &[(&str, Expect)]) {
    for (form, (answers, came_to)) in
        FORMS.into_iter().flat_map(|form| answered.iter().map(move |it| (form, it)))
    {
        let (world, id) = after(command, form);
        shown.assert_eq(&world.heeler(&["stage", "show", &id]).run().exits(0).stdout);
        let mut apply = program(env!("CARGO_BIN_EXE_heeler"));
        apply.args(["stage", "apply", &id]);
        world.settle(&mut apply);
        let (code, screen) = on_terminal_after(apply, "Apply this", answers);
        assert_eq!(code, 0, "{screen}");
        let questions = screen.matches("Apply this (").count();
        let applied = screen.rsplit("heeler: ").next().unwrap().trim_end();
        let is_there = tree(&world.workspace());
        came_to.assert_eq(&format!("{questions} questions, {applied}\n{is_there}\n"));
    }
}

const INTO_FOLDERS: &str =
    "rm config link; mkdir config link; echo new >config/a; echo more >config/b; echo l >link/b";

#[test]
fn a_file_or_link_that_became_a_folder_is_asked_about_before_what_comes_into_it() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    check(
        INTO_FOLDERS,
        expect![[r#"
        diff --git a/config b/config
        deleted file mode 100644
        --- a/config
        +++ /dev/null
        @@ -1 +0,0 @@
        -precious
        diff --git a/config b/config
        new file mode 040755
        diff --git a/config/a b/config/a
        new file mode 100644
        --- /dev/null
        +++ b/config/a
        @@ -0,0 +1 @@
        +new
        diff --git a/config/b b/config/b
        new file mode 100644
        --- /dev/null
        +++ b/config/b
        @@ -0,0 +1 @@
        +more
        diff --git a/link b/link
        deleted file mode 120000
        -config
        diff --git a/link b/link
        new file mode 040755
        diff --git a/link/b b/link/b
        new file mode 100644
        --- /dev/null
        +++ b/link/b
        @@ -0,0 +1 @@
        +l
    "#]],
        &[
            (
                "n\ny\ny\n",
                expect![[r#"
        3 questions, applied to 2 of 5 paths
        config precious\n
        d/
        d/in/
        d/in/two 2\n
        d/one 1\n
        link/
        link/b l\n
    "#]],
            ),
            (
                "y\nn\ny\nd\n",
                expect![[r#"
        4 questions, applied to 2 of 5 paths
        config/
        config/b more\n
        d/
        d/in/
        d/in/two 2\n
        d/one 1\n
        link -> config
    "#]],
            ),
        ],
    );
}

#[test]
fn what_stood_in_a_folder_that_is_none_any_more_is_shown_and_taken_with_it() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    check(
        "rm -r d; echo file >d; echo z >z",
        expect![[r#"
        diff --git a/d b/d
        deleted file mode 040755
        diff --git a/d b/d
        new file mode 100644
        --- /dev/null
        +++ b/d
        @@ -0,0 +1 @@
        +file
        diff --git a/d/in/two b/d/in/two
        deleted file mode 100644
        --- a/d/in/two
        +++ /dev/null
        @@ -1 +0,0 @@
        -2
        diff --git a/d/one b/d/one
        deleted file mode 100644
        --- a/d/one
        +++ /dev/null
        @@ -1 +0,0 @@
        -1
        diff --git a/z b/z
        new file mode 100644
        --- /dev/null
        +++ b/z
        @@ -0,0 +1 @@
        +z
    "#]],
        &[(
            "n\ny\n",
            expect![[r#"
        2 questions, applied to 1 of 4 paths
        config precious\n
        d/
        d/in/
        d/in/two 2\n
        d/one 1\n
        link -> config
        z z\n
    "#]],
        )],
    );
    check(
        "rm -r d; ln -s link d; echo z >z",
        expect![[r#"
        diff --git a/d b/d
        deleted file mode 040755
        diff --git a/d b/d
        new file mode 120000
        +link
        diff --git a/d/in/two b/d/in/two
        deleted file mode 100644
        --- a/d/in/two
        +++ /dev/null
        @@ -1 +0,0 @@
        -2
        diff --git a/d/one b/d/one
        deleted file mode 100644
        --- a/d/one
        +++ /dev/null
        @@ -1 +0,0 @@
        -1
        diff --git a/z b/z
        new file mode 100644
        --- /dev/null
        +++ b/z
        @@ -0,0 +1 @@
        +z
    "#]],
        &[(
            "y\nn\n",
            expect![[r#"
        2 questions, applied to 3 of 4 paths
        config precious\n
        d -> link
        link -> config
    "#]],
        )],
    );
}

#[test]
fn what_somebody_wrote_into_a_folder_that_is_none_any_more_is_shown_and_named() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let (world, id) = after("rm -r d; echo file >d", form);
        world.write("work/d/one", "1\nmine\n");
        let shown = world.heeler(&["stage", "show", &id]).run().exits(0).stdout;
        assert!(shown.contains("d/one\ndeleted file mode 100644\n# the folder's own"), "{shown}");
        assert!(shown.contains("\n-mine\n"), "{shown}");
        let refused = world.heeler(&["stage", "apply", &id, "--all"]).run().exits(1).stderr;
        assert!(refused.contains("changed since the stage began: d/one; "), "{refused}");
        let forced = ["stage", "apply", &id, "--all", "--force"];
        let told = world.heeler(&forced).run().exits(0).stderr;
        let expected = "heeler: applied to 3 of 3 paths\n\
                        heeler: applied over what was changed since the stage began: d/one\n";
        assert_eq!(told, expected, "{form}");
        assert_eq!(world.worked("d"), "file\n");
    }
}

#[test]
fn what_somebody_put_in_the_place_of_a_folder_is_shown_and_named() {
    if !require("the sandbox", can_confine()) {
        return;
    }
    for form in FORMS {
        let (world, id) = after("echo 1b >d/one; echo 3 >d/three", form);
        fs::rename(world.path("work/d"), world.path("work/moved")).unwrap();
        world.write("work/d", "mine\n");
        let shown = world.heeler(&["stage", "show", &id]).run().exits(0).stdout;
        expect![[r#"
            diff --git a/d b/d
            deleted file mode 100644
            # the folder's own was changed since the stage began
            --- a/d
            +++ /dev/null
            @@ -1 +0,0 @@
            -mine
            diff --git a/d b/d
            new file mode 040755
            diff --git a/d/one b/d/one
            new file mode 100644
            # the folder's own was changed since the stage began
            --- /dev/null
            +++ b/d/one
            @@ -0,0 +1 @@
            +1b
            diff --git a/d/three b/d/three
            new file mode 100644
            # the folder's own was changed since the stage began
            --- /dev/null
            +++ b/d/three
            @@ -0,0 +1 @@
            +3
        "#]]
        .assert_eq(&shown);
        let forced = ["stage", "apply", &id, "--all", "--force"];
        let told = world.heeler(&forced).run().exits(0).stderr;
        let expected = "heeler: applied to 3 of 3 paths\n\
             heeler: applied over what was changed since the stage began: d, d/one, d/three\n";
        assert_eq!(told, expected, "{form}");
        assert_eq!(world.worked("d/three"), "3\n");
        assert_eq!(world.worked("moved/one"), "1\n");
        assert_eq!(stage(&world), None);
    }
}
