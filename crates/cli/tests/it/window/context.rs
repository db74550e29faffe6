//! What fills the window of the model: summaries, and taking them back.

use super::Glass;
use crate::support::World;
use expect_test::expect;

/// A window on a session with these settings of the context.
fn play(settings: &str, script: &str) -> (World, Glass) {
    let world = World::new();
    world.write("home/settings.toml", format!("[context]\n{settings}\n"));
    let model = world.script(script);
    let glass = Glass::open(&world, 80, 30, &["--model", &model]);
    glass.waits_for("script.toml · ");
    (world, glass)
}

/// The newest message alone stays as it is.
const TAIL: &str = "tail = 1";

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
    let (world, mut glass) = play(TAIL, SUMMARIZED);
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
    glass.shows(expect![[r#"
        ! there is too little to summarize: the newest message stays

        > how is the roof?

        It leaks.

        · summarizing the conversation (about _ tokens)

        · summarized: about _ tokens are left; Ctrl-T has the summary and everything
          before it, /compact undo puts it back, if it fits
          │ There was talk of a roof.
          │
          │ [Kept beside the summary, word for word]
          │ The user's last message:
          │ > how is the roof?














        15 of 15 · q: back · ↑↓ PgUp PgDn Home End · /: search · n N: more
    "#]]);
    glass.types("q");
    glass.waits_without("talk of a roof");
    glass.types("mend it\r");
    glass.waits_for("It is tight.");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let journal = world.journal_lines().join("\n");
    assert!(journal.contains(r#""focus":"the roof""#), "{journal}");
}

const TAKEN_BACK: &str = r#"
    [script]
    epoch = "may change"
    [[reply]]
    text = "It leaks."
    [[reply]]
    text = "It drips."
    [[reply]]
    for = "summary"
    text = "There was talk of a roof."
"#;

#[test]
fn x2_a_summary_is_taken_back_also_by_another_process() {
    let (world, mut glass) = play(TAIL, TAKEN_BACK);
    glass.types("/compact undo\r");
    glass.waits_for("there is nothing to bring back");
    glass.types("how is the roof?\r");
    glass.waits_for("It leaks.");
    glass.types("and now?\r");
    glass.waits_for("It drips.");
    glass.types("/compact\r");
    glass.waits_for("/compact undo puts it back");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);

    let model = world.script(
        r#"
        [script]
        epoch = "may change"
        [[reply]]
        expect = { messages_count = 5 }
        text = "It is tight."
    "#,
    );
    let mut glass = Glass::open(&world, 80, 30, &["--model", &model, "--continue"]);
    glass.waits_for("stands in a summary");
    glass.types("/compact undo\r");
    glass.waits_for("brought back: about");
    glass.types("mend it\r");
    glass.waits_for("It is tight.");
    glass.shows(expect![[r#"
        · what was said before this stands in a summary (Ctrl-T)

        It drips.

        · brought back: about _ tokens, _ before; the model reads them anew

        > mend it

        It is tight.

        · the cached beginning could not be used: _ tokens were read again

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
}

/// Room for the prompt and a few of the results.
const LITTLE_ROOM: &str = "tail = 2\nlimit = 60000";

const BULKY: &str = r#"
    [script]
    epoch = "may change"
    [[reply]]
    blocks = [{ call = "Bash", input = { command = "seq 1 6000" } }]
    repeat = 8
    [[reply]]
    text = "Counted."
"#;

#[test]
fn x3_old_results_are_cut_short_before_a_summary_is_made_and_the_session_keeps_them() {
    let (world, mut glass) = play(LITTLE_ROOM, BULKY);
    glass.types("count, and again\r");
    glass.waits_for("old results cut short to make room");
    glass.waits_for("Counted.");
    glass.waits_without("working");
    glass.types("/compact undo\r");
    glass.waits_for("what was there before does not fit");
    glass.shows(expect![[r#"
          │ 5997
          │ 5998
          │ 5999
          │ 6000

        · 6 old results cut short to make room: about _ tokens, now _; /compact
          undo puts them back, if they fit

        · the cached beginning could not be used: _ tokens were read again

        ✓ Bash seq 1 6000
          │ … 5995 lines above (Ctrl-T)
          │ 5996
          │ 5997
          │ 5998
          │ 5999
          │ 6000

        Counted.

        ! what was there before does not fit: the next request would have about _
          tokens and 60000 fit; choose a model with a larger window or a higher context
          limit

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let journal = world.journal_lines();
    let of_kind = |kind: &str| {
        let kind = format!(r#","kind":"{kind}""#);
        journal.iter().filter(|line| line.contains(&kind)).count()
    };
    assert_eq!((of_kind("pruned"), of_kind("compaction_started")), (1, 0));
    let whole = |line: &&String| line.contains("call_finished") && line.contains("\\n3000\\n");
    assert_eq!(journal.iter().filter(whole).count(), 8);
}
