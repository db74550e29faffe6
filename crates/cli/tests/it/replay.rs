//! `replay`: a stored session once more, with nothing run and nothing changed.

use expect_test::{Expect, expect};

use crate::support::World;

const WORK: &str = r#"
[[reply]]
blocks = [
  { call = "Write", input = { file_path = "new.txt", content = "new\n" } },
  { call = "Bash", input = { command = "echo ran >> ran.txt" } },
]
[[reply]]
blocks = [{ call = "Read", input = { file_path = "new.txt" } }]
[[reply]]
text = "done"
"#;

/// A session that wrote two files, which are gone again.
fn work() -> World {
    let world = World::new();
    let rules = ["--permission-mode", "accept-edits", "--allow", "Bash"];
    world.exec(WORK, &[&rules[..], &["go"]].concat()).run().exits(0);
    for name in ["new.txt", "ran.txt"] {
        std::fs::remove_file(world.workspace().join(name)).unwrap();
    }
    world
}

/// Replays the only session and compares what is printed; the world stays as it was.
fn check(world: &World, arguments: &[&str], code: i32, expected: Expect) {
    let [id] = world.ids().try_into().unwrap();
    let before = std::fs::read(world.journal()).unwrap();
    let line = [&["replay", &id[..]], arguments].concat();
    let output = world.heeler(&line).run().exits(code);
    expected.assert_eq(&world.plain(&(output.stdout + &output.stderr)));
    assert!(std::fs::read(world.journal()).unwrap() == before, "the session changed");
    assert_eq!(world.ids().len(), 1);
    assert_eq!((world.worked("new.txt"), world.worked("ran.txt")), Default::default());
}

/// The name of another model, which plays this script.
fn other(world: &World, script: &str) -> String {
    format!("script:{}", world.write("other.toml", script).display())
}

#[test]
fn what_is_recorded_comes_again() {
    let world = work();
    check(
        &world,
        &[],
        0,
        expect![[r#"
        session    ID, from record 1
        answers    3, as they are recorded
        same       20 records
    "#]],
    );
    check(
        &world,
        &["--from", "12"],
        0,
        expect![[r#"
        session    ID, from record 12
        answers    2, as they are recorded
        same       9 records
    "#]],
    );
    check(
        &world,
        &["--json"],
        0,
        expect![[r#"
        {"v":1,"session":"ID","from":1,"model":null,"records":20,"answers":3,"reworded":0,"usage":{"input":0,"output":0,"cache_write":0,"cache_read":0,"reasoning":0}}
    "#]],
    );
}

#[test]
fn another_model_that_does_the_same_is_the_same() {
    let world = work();
    let same = WORK.replace("text = \"done\"", "text = \"I am done.\"");
    let model = other(&world, &same);
    check(
        &world,
        &["--model", &model],
        0,
        expect![[r#"
            session    ID, from record 1
            answers    3 of script:WORLD/other.toml, 1 in other words, 6199 tokens
            same       20 records
        "#]],
    );
}

#[test]
fn another_model_is_followed_to_where_it_does_something_else() {
    let world = work();
    let model = other(&world, &WORK.replace("echo ran", "echo walked"));
    check(
        &world,
        &["--model", &model],
        1,
        expect![[r#"
            session    ID, from record 1
            answers    1 of script:WORLD/other.toml, 0 in other words, 1999 tokens
            same       5 records, up to here:

            diverged   record 6, model_replied
            at         calls[1].input.command
            expected   "echo ran >> ran.txt"
            found      "echo walked >> ran.txt"
        "#]],
    );
    check(
        &world,
        &["--model", &model, "--json"],
        1,
        expect![[r#"
            {"v":1,"session":"ID","from":1,"model":"script:WORLD/other.toml","records":5,"answers":1,"reworded":0,"usage":{"input":1979,"output":20,"cache_write":0,"cache_read":0,"reasoning":0},"diverged":{"seq":6,"kind":"model_replied","path":"calls[1].input.command","expected":"\"echo ran >> ran.txt\"","found":"\"echo walked >> ran.txt\""}}
        "#]],
    );
}

#[test]
fn what_cannot_be_played_is_told() {
    let world = work();
    check(
        &world,
        &["--from", "999"],
        2,
        expect![[r#"
        heeler: session ID has no record 999; it has 20, from 1 to 20
    "#]],
    );
    check(
        &world,
        &["--model", "script:absent.toml"],
        2,
        expect![[r#"
        heeler: WORLD/work/absent.toml: cannot be read: No such file or directory (os error 2); check the path and that it is a UTF-8 file
    "#]],
    );
    let refuses =
        "[[reply]]\nerror = { status = 401, type = \"authentication_error\", message = \"who?\" }";
    let model = other(&world, refuses);
    check(
        &world,
        &["--model", &model],
        5,
        expect![[r#"
        heeler: the model could not be asked for the answer in record 6: who?
    "#]],
    );
    let output = world.heeler(&["replay", "none"]).run().exits(2);
    expect![[r#"
        heeler: there is no session none; see `heeler sessions list`
    "#]]
    .assert_eq(&output.stderr);
    let output = world.heeler(&["replay", "none", "--from", "0"]).run().exits(2);
    expect![[r#"
        error: invalid value '0' for '--from <SEQ>': 0 is not in 1..18446744073709551615

        For more information, try '--help'.
    "#]]
    .assert_eq(&output.stderr);
}
