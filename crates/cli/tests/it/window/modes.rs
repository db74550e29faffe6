//! What was chosen in a window goes on in the sessions that it opens: the mode, and the model.

use std::fs;

use rustix::process::Signal;

use super::{Glass, play_with};
use crate::support::World;

/// The beginning of a mode's name in the status line is behind that of the model.
fn waits_for_mode(glass: &Glass, mode: &str) {
    glass.waits_for(&format!(".toml · {mode} · "));
}

#[test]
fn m1_the_mode_that_was_chosen_goes_on_in_each_session_of_the_window() {
    let script = "[[reply]]\ntext = \"First answer.\"\n";
    for (keys, mode) in [("/plan\r", "plan"), ("/mode accept-edits\r", "accept-edits")] {
        for flag in ["ask", "bypass"] {
            let (world, mut glass) = play_with(script, 80, 24, &["--permission-mode", flag]);
            let other = world.path("other.toml");
            fs::write(&other, "[[reply]]\ntext = \"Other answer.\"\n").unwrap();
            glass.types("one\r");
            glass.waits_for("First answer.");
            glass.types(keys);
            waits_for_mode(&glass, mode);
            glass.types(&format!("/model script:{}\r", other.display()));
            glass.waits_for("other.toml answers from here on");
            waits_for_mode(&glass, mode);
            glass.types("two\r");
            glass.waits_for("Other answer.");
            glass.types("/fork\r");
            glass.waits_for("forked from");
            waits_for_mode(&glass, mode);
            glass.types("/clear\r");
            glass.waits_without("First answer.");
            waits_for_mode(&glass, mode);
            // What it was begun with is not lost.
            glass.types(&format!("/mode {flag}\r"));
            waits_for_mode(&glass, flag);
            glass.types("\x04");
            assert_eq!(glass.ends().0, 0);
        }
    }
}

#[test]
fn m2_what_an_answer_left_plan_mode_for_is_one_session() {
    let script = r#"
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "planned\n" } }]
        [[reply]]
        text = "Written."
    "#;
    let (world, mut glass) = play_with(script, 80, 24, &[]);
    let other = world.path("other.toml");
    fs::write(&other, "[[reply]]\ntext = \"Other answer.\"\n").unwrap();
    glass.types("/plan\r");
    waits_for_mode(&glass, "plan");
    glass.types("do it\r");
    glass.waits_for("  a  leave plan mode");
    glass.types("a");
    glass.waits_for("Written.");
    waits_for_mode(&glass, "accept-edits");
    glass.types(&format!("/model script:{}\r", other.display()));
    glass.waits_for("other.toml answers from here on");
    waits_for_mode(&glass, "accept-edits");
    glass.types("/clear\r");
    glass.waits_without("Written.");
    waits_for_mode(&glass, "plan");
}

#[test]
fn m3_a_session_that_was_left_in_plan_mode_is_in_it_when_it_goes_on() {
    let (world, mut glass) = play_with("[[reply]]\ntext = \"First answer.\"\n", 80, 24, &[]);
    glass.types("/plan\r");
    waits_for_mode(&glass, "plan");
    glass.types("/rename planned\rone\r");
    glass.waits_for("First answer.");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    for (more, mode) in [
        (&["--continue"][..], "plan"),
        (&["--continue", "--fork"], "plan"),
        (&["--continue", "--permission-mode", "ask"], "ask"),
    ] {
        let mut glass = Glass::open(&world, 80, 24, more);
        glass.waits_for("First answer.");
        waits_for_mode(&glass, mode);
        glass.types("/plan\r\x04");
        assert_eq!(glass.ends().0, 0);
    }
    let model = world.script("[[reply]]\ntext = \"Another answer.\"\n");
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model, "--permission-mode", "ask"]);
    waits_for_mode(&glass, "ask");
    glass.types("/resume planned\r");
    glass.waits_for("First answer.");
    waits_for_mode(&glass, "plan");
}

#[test]
fn m4_killed_at_the_question_of_plan_mode_it_asks_again() {
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "touch made" } }]
        [[reply]]
        text = "Made."
    "#;
    let (world, mut glass) = play_with(script, 80, 24, &[]);
    glass.types("/plan\r");
    waits_for_mode(&glass, "plan");
    glass.types("do it\r");
    glass.waits_for("  a  leave plan mode");
    glass.signals(Signal::KILL);
    glass.ends();
    let model = world.script("[[reply]]\ntext = \"Made.\"\n");
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model, "--continue"]);
    glass.waits_for("your answer goes on with it");
    glass.waits_for("Leave plan mode and do this?");
    glass.waits_for("  a  leave plan mode");
    assert!(!world.path("work/made").exists());
    glass.types("y");
    glass.waits_for("Made.");
    waits_for_mode(&glass, "ask");
    assert!(world.path("work/made").exists());
}

#[test]
fn m5_a_run_that_goes_on_with_a_session_in_plan_mode_changes_nothing() {
    let (world, mut glass) = play_with("[[reply]]\ntext = \"First answer.\"\n", 80, 24, &[]);
    glass.types("/plan\r");
    waits_for_mode(&glass, "plan");
    glass.types("one\r");
    glass.waits_for("First answer.");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let script = r#"
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "planned\n" } }]
        [[reply]]
        text = "Over."
    "#;
    let run = world.exec(script, &["--continue", "--allow", "Write", "two"]).run().exits(0);
    assert!(run.stderr.contains("was left in plan mode and goes on in it"), "{}", run.stderr);
    assert!(!world.path("work/a.txt").exists());
    let said = ["--continue", "--allow", "Write", "--permission-mode", "allow-listed", "three"];
    let run = world.exec(script, &said).run().exits(0);
    assert!(!run.stderr.contains("plan mode"), "{}", run.stderr);
    assert_eq!(world.worked("a.txt"), "planned\n");
}

#[test]
fn m6_the_model_that_was_chosen_answers_in_the_next_session() {
    let world = World::new();
    let model = world.script("[[reply]]\ntext = \"First answer.\"\n");
    let other = world.path("other.toml");
    fs::write(&other, "[[reply]]\ntext = \"Other answer.\"\n").unwrap();
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model]);
    glass.waits_for("script.toml · ");
    glass.types(&format!("/model script:{}\r", other.display()));
    glass.waits_for("other.toml · ");
    glass.types("/clear\r");
    glass.types("two\r");
    glass.waits_for("Other answer.");
    glass.waits_for("other.toml · ");
}
