//! Programs that go on in the background of a session, in its window and in an attached one.

use super::{Glass, play_with};

const TWO: &str = r#"
    [script]
    epoch = "may change"
    [[reply]]
    blocks = [{ call = "ToolSearch", input = { query = "exec" } }]
    [[reply]]
    blocks = [
        { call = "exec", input = { action = "run", background = true, command = "exec sleep 1001" } },
        { call = "exec", input = { action = "run", background = true, command = "exec sleep 1002" } },
    ]
    [[reply]]
    text = "Both run."
    [[reply]]
    expect = { last_user_contains = "and now?" }
    text = "One is left."
"#;

#[test]
fn k1_what_runs_in_the_background_is_seen_ended_and_named_on_leaving() {
    let (world, mut glass) = play_with(TWO, 90, 30, &["--allow", "exec"]);
    glass.types("start both\r");
    glass.waits_for("Both run.");
    glass.waits_for("2 in the background");
    let [id] = world.ids().try_into().unwrap();
    let mut second = Glass::open(&world, 90, 30, &["attach", &id]);
    second.waits_for("2 in the background");
    second.types("/background stop 1\r");
    second.waits_for("that is for the terminal");
    second.types("\x04");
    second.ends();
    glass.types("/background stop 1\r");
    glass.waits_for("ended in the background");
    glass.types("and now?\r");
    glass.waits_for("One is left.");
    let shown = glass.everything();
    for line in [
        "\n· ended in the background: exec sleep 1001, after ",
        "\n· [The background work of exec (call 1.2.0) failed. ",
        "\n1 in the background · script.toml",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    glass.types("\x04");
    let (code, screen) = glass.ends();
    assert_eq!(code, 0);
    assert!(screen.contains("\nheeler: ended in the background: exec sleep 1002"), "{screen}");
}
