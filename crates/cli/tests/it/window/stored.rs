//! Names, forks, exports, and a look at stored sessions before one goes on.

use super::{Glass, play, play_with};
use expect_test::expect;

/// Each session that is begun or gone on with hears it from its beginning.
const TWO: &str = "[[reply]]\ntext = \"First answer.\"\n[[reply]]\ntext = \"Second answer.\"\n";

#[test]
fn t1_a_name_is_given_and_finds_its_session() {
    let (world, mut glass) = play(TWO);
    glass.types("one\r");
    glass.waits_for("First answer.");
    glass.types("/rename the parser\r");
    glass.waits_for("this session is named the parser");
    glass.types("/clear\r");
    glass.waits_without("First answer.");
    glass.types("/resume the parser\r");
    glass.waits_for("First answer.");
    glass.shows(expect![[r#"
        > one

        First answer.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let model = world.script("[[reply]]\ntext = \"Again.\"\n");
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model, "--resume", "the parser"]);
    glass.waits_for("First answer.");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
}

#[test]
fn t2_a_fork_goes_on_from_an_earlier_input() {
    let (world, mut glass) = play(TWO);
    glass.types("one\r");
    glass.waits_for("First answer.");
    glass.types("two\r");
    glass.waits_for("Second answer.");
    let source = std::fs::read(world.journal()).unwrap();
    glass.types("/fork 7\r");
    glass.waits_for("has 2 inputs");
    glass.types("/fork 2\r");
    glass.waits_for("forked from");
    glass.waits_without("Second answer.");
    glass.waits_for("First answer.");
    glass.types("another two\r");
    glass.waits_for_times("First answer.", 2);
    glass.shows(expect![[r#"
        > one

        First answer.

        · forked from ID at 2

        > another two

        First answer.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("/fork\r");
    glass.waits_for("at 3");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let [first, second, _] = world.journals().try_into().unwrap();
    let kept = std::fs::read(first).unwrap();
    assert_eq!(kept[..source.len()], source, "the source is as it was, but for its end");
    let fork = std::fs::read_to_string(second).unwrap();
    assert!(fork.contains("another two") && !fork.contains("Second answer."));
}

#[test]
fn t3_the_list_is_searched_and_shows_the_last_that_was_said() {
    let script = "[[reply]]\ntext = \"They \\u001b[2Jare sweet.\"\n";
    let (_world, mut glass) = play_with(script, 80, 30, &[]);
    glass.types("about apples\r");
    glass.waits_for("are sweet.");
    glass.types("/clear\r");
    glass.waits_without("are sweet.");
    glass.types("about pears\r");
    glass.waits_for("are sweet.");
    glass.types("/rename orchard\r");
    glass.waits_for("is named orchard");
    glass.types("/clear\r");
    glass.waits_without("are sweet.");
    glass.types("/sessions\r");
    glass.waits_for("Go on with which session?");
    glass.types("apples");
    glass.waits_for("> about apples");
    glass.waits_for("They ␛[2Jare sweet.");
    glass.types("\x7f\x7f\x7f\x7f\x7f\x7forchard");
    glass.waits_for("> about pears");
    glass.waits_for("orchard about pears");
    glass.shows(expect![[r#"

        Go on with which session? orchard
        ▸ _ s  orchard about pears
        ────────────────────────────────────────
          > about pears
          They ␛[2Jare sweet.
          1 of 2 · Enter: go on · Esc: back
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    glass.types("\r");
    glass.waits_without("Go on with which session?");
    glass.waits_for("are sweet.");
}

#[test]
fn t4_a_session_is_written_to_a_file() {
    let (world, mut glass) = play_with(TWO, 120, 24, &[]);
    glass.types("one\r");
    glass.waits_for("First answer.");
    glass.types("/export talk.md\r");
    glass.waits_for("written to");
    let text = world.worked("talk.md");
    assert!(text.contains("> one") && text.contains("First answer."), "{text}");
    glass.types("/export talk.pdf\r");
    glass.waits_for("name a file that ends in");
    glass.shows(expect![[r#"
        > one

        First answer.

        written to /world/work/talk.md

        ✗ /export FILE: talk.pdf says no form; name a file that ends in .html, .md or .jsonl

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    // What is there is somebody's work.
    world.write("work/README.md", "# Mine\n");
    glass.types("/export README.md\r");
    glass.waits_for("README.md is there already; name another file");
    assert_eq!(world.worked("README.md"), "# Mine\n");
    // No shell reads what is written here.
    glass.types("/export ~/mine.md\r");
    glass.waits_for_times("written to", 2);
    assert!(std::fs::read_to_string(world.path("mine.md")).unwrap().contains("First answer."));
    glass.types("/export none/talk.md\r");
    glass.waits_for("No such file or directory");
    assert!(!glass.screen().contains(".tmp"), "{}", glass.screen());
    // Its own file is written anew.
    let [id] = world.ids().try_into().unwrap();
    for times in 1..=2 {
        glass.types("/export\r");
        glass.waits_for_times(&format!("heeler-{id}.html"), times);
        assert!(world.worked(&format!("heeler-{id}.html")).starts_with("<!doctype html>"));
    }
}
