//! What fills the window of the model: summaries, and taking them back.

use super::Glass;
use crate::support::World;

/// A window on a session whose newest message alone stays as it is.
fn play(script: &str) -> (World, Glass) {
    let world = World::new();
    world.write("home/settings.toml", "[context]\ntail = 1\n");
    let model = world.script(script);
    let glass = Glass::open(&world, 80, 30, &["--model", &model]);
    glass.waits_for("script.toml · ");
    (world, glass)
}

const SUMMARIZED: &str = r#"
    [script]
    epoch = "may change"
    [[reply]]
    text = "It leaks."
    [[reply]]
    for = "summary"
    expect = { last_user_contains = "look above all at this:\nthe roof" }
    text = "There was talk of a roof."
    [[reply]]
    expect = { messages_count = 3 }
    text = "It is tight."
"#;

#[test]
fn x1_a_summary_looks_at_what_was_asked_for_and_the_pager_shows_it() {
    let (world, mut glass) = play(SUMMARIZED);
    glass.types("/compact\r");
    glass.waits_for("there is too little to summarize");
    glass.types("how is the roof?\r");
    glass.waits_for("It leaks.");
    glass.types("/compact the roof\r");
    glass.waits_for("tokens are left");
    assert!(!glass.screen().contains("talk of a roof"), "{}", glass.screen());
    glass.types("\x14");
    glass.waits_for("│ There was talk of a roof.");
    glass.waits_for("│ > how is the roof?");
    glass.waits_for("> how is the roof?");
    glass.types("q");
    glass.waits_without("talk of a roof");
    glass.types("mend it\r");
    glass.waits_for("It is tight.");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let journal = world.journal_lines().join("\n");
    assert!(journal.contains(r#""focus":"the roof""#), "{journal}");
}
