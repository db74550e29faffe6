//! What is changed: a file part by part, the model, the session.

use expect_test::expect;

use super::{play, play_with};

#[test]
fn c1_of_a_change_the_parts_that_were_taken_are_made() {
    let script = r#"
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "1\n2\n3\n4\n5\n6\n7\n8\n9\n" } }]
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n" } }]
        [[reply]]
        expect = { tool_result_contains = "" }
        text = "Half of it."
    "#;
    let (world, mut glass) = play_with(script, 80, 30, &[]);
    glass.types("change it\r");
    glass.waits_for("Write this file?");
    glass.types("y");
    glass.waits_for("h  choose among its 2 parts");
    glass.types("h");
    glass.waits_for("part 1 of 2");
    glass.types("n");
    glass.waits_for("part 2 of 2");
    glass.types("y");
    glass.waits_for("Half of it.");
    expect![[r#"
        1
        2
        3
        4
        5
        6
        7
        8
        nine
    "#]]
    .assert_eq(&world.worked("a.txt"));
}

#[test]
fn c2_a_model_that_is_not_there_leaves_the_session_as_it_is() {
    let (_world, mut glass) = play("[[reply]]\ntext = \"Still here.\"\n");
    glass.types("/model nobody/nothing\r");
    glass.waits_for("✗");
    glass.types("hello\r");
    glass.waits_for("Still here.");
}

/// What is written before the other session is there is said to it.
#[test]
fn c3_what_is_said_on_the_way_to_another_session_is_said_there() {
    let (world, mut glass) =
        play("[[reply]]\nexpect = { last_user_contains = \"new\" }\ntext = \"Heard.\"\n");
    glass.types("/clear\rthis is new\r");
    glass.waits_for("Heard.");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let journals = world.journals();
    let is_said = |journal: &&std::path::PathBuf| {
        std::fs::read_to_string(journal).unwrap().contains("this is new")
    };
    assert_eq!((journals.len(), journals.iter().filter(is_said).count()), (2, 1));
}
