//! Turns, from the first key to the last.

use expect_test::expect;

use super::{Glass, play, play_with};
use crate::support::World;

#[test]
fn f1_what_is_written_is_answered_and_stays_in_the_scrollback() {
    let (_world, mut glass) = play(
        r#"
        [[reply]]
        expect = { last_user_contains = "hello" }
        text = "Hello **you**."
    "#,
    );
    glass.types("hello\r");
    glass.waits_for("Hello you.");
    glass.shows(expect![[r#"
        > hello

        Hello you.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("\x04");
    let (code, screen) = glass.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("> hello") && screen.contains("goes on with this session"), "{screen}");
}

#[test]
fn f2_a_prompt_on_the_command_line_is_said_at_once() {
    let script = "[[reply]]\nexpect = { last_user_contains = \"at once\" }\ntext = \"heard\"\n";
    let (_world, mut glass) = play_with(script, 80, 24, &["at once"]);
    glass.waits_for("heard");
    glass.shows(expect![[r#"
        > at once

        heard

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("\x03\x03");
    assert_eq!(glass.ends().0, 0);
}

#[test]
fn f3_a_call_shows_its_row_and_the_end_of_its_output() {
    let (_world, mut glass) = play(
        r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "seq 1 9" } }]
        [[reply]]
        text = "counted"
    "#,
    );
    glass.types("count\r");
    glass.waits_for("counted");
    glass.shows(expect![[r#"
        > count

        ✓ Bash seq 1 9
          │ … 4 lines above (Ctrl-T)
          │ 5
          │ 6
          │ 7
          │ 8
          │ 9

        counted

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

#[test]
fn f9_what_is_said_meanwhile_is_delivered_at_the_next_safe_point() {
    let (world, mut glass) = play(
        r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "until test -e go; do sleep 0.02; done" } }]
        [[reply]]
        expect = { last_user_contains = "and be quick" }
        text = "Quick it is."
    "#,
    );
    glass.types("push\r");
    glass.waits_for("working");
    glass.types("and be slow\r");
    glass.waits_for("waits: and be slow");
    // Up takes it back, to be written otherwise.
    glass.types("\x1b[A");
    glass.waits_without("waits: and be slow");
    glass.types("\x7f\x7f\x7f\x7fquick\r");
    glass.waits_for("waits: and be quick");
    world.write("work/go", "");
    glass.waits_for("Quick it is.");
    glass.shows(expect![[r#"
        > push

        ✓ Bash until test -e go; do sleep 0.02; done
          │ (no output)

        > and be quick

        Quick it is.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

#[test]
fn f10_shift_tab_goes_through_the_modes() {
    let (_world, mut glass) = play("[[reply]]\ntext = \"x\"\n");
    for mode in ["accept-edits", "plan", "ask"] {
        glass.types("\x1b[Z");
        glass.waits_for(&format!("· {mode}"));
    }
    glass.shows(expect![[r#"

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    // A session that began in another mode comes back to it.
    for begun in ["allow-listed", "bypass"] {
        let script = "[[reply]]\ntext = \"x\"\n";
        let (_world, mut glass) = play_with(script, 80, 24, &["--permission-mode", begun]);
        for mode in ["ask", "accept-edits", "plan", begun] {
            glass.types("\x1b[Z");
            glass.waits_for(&format!("· {mode}"));
        }
    }
}

#[test]
fn f13_what_a_model_says_is_never_obeyed_by_the_terminal() {
    let (_world, mut glass) = play(
        r#"
        [[reply]]
        text = "\u001b[2J\u001b]0;title\u0007 cleared? \u009b31m"
    "#,
    );
    glass.types("clear\r");
    glass.waits_for("cleared?");
    let bytes = glass.bytes();
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("\x1b]0;") && !text.contains('\x07') && !text.contains('\u{9b}'));
    glass.shows(expect![[r#"
        > clear

        ␛[2J␛]0;title␇ cleared? <U+009B>31m

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

#[test]
fn f14_at_forty_columns_wide_characters_stand_where_they_are_written() {
    let script = "[[reply]]\nexpect = { last_user_contains = \"漢字\" }\ntext = \"好 👩‍👩‍👧 fine\"\n";
    let (_world, mut glass) = play_with(script, 40, 12, &[]);
    glass.types("漢字");
    glass.waits_for("> 漢字");
    // Where an input method writes next.
    assert_eq!(glass.cursor().map(|at| at.0), Some(6));
    glass.types("\r");
    glass.waits_for("fine");
    glass.shows(expect![[r#"
        > 漢字

        好 👩‍👩‍👧 fine

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache…
    "#]]);
}

#[test]
fn f15_without_colours_nothing_is_lost() {
    let world = World::new();
    let model = world.script("[[reply]]\ntext = \"A **bold** answer.\"\n");
    let variables = [("NO_COLOR", "1")];
    let mut glass = Glass::open_with(&world, 80, 24, &["--model", &model], &variables);
    glass.waits_for("script.toml · ");
    glass.types("say it\r");
    glass.waits_for("A bold answer.");
    glass.shows(expect![[r#"
        > say it

        A bold answer.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    let bytes = String::from_utf8_lossy(&glass.bytes()).into_owned();
    let colors = regex::Regex::new(r"\x1b\[0;(\d+;)*(3[0-7]|9[0-7]|38)").unwrap();
    assert!(!colors.is_match(&bytes), "{bytes:?}");
}

#[test]
fn f16_files_and_commands_are_completed() {
    let world = World::new();
    std::fs::create_dir(world.path("work/src")).unwrap();
    world.write("work/src/notable_thing.rs", "fn main() {}\n");
    let model = world.script(
        "[[reply]]\nexpect = { last_user_contains = \"src/notable_thing.rs\" }\ntext = \"Seen.\"\n",
    );
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model]);
    glass.waits_for("script.toml · ");
    glass.types("/he");
    glass.waits_for("keys and commands");
    glass.types("\x15look at @notable");
    glass.waits_for("src/notable_thing.rs");
    glass.shows(expect![[r#"

        > look at @notable
        > src/notable_thing.rs
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    glass.types("\t");
    glass.waits_for("> look at @src/notable_thing.rs");
    glass.types("\r");
    glass.waits_for("Seen.");
    // What was sent is found again, also by the next process.
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model]);
    glass.waits_for("script.toml · ");
    glass.types("\x12notable");
    glass.waits_for("look at @src/notable_thing.rs");
    glass.shows(expect![[r#"

        search: notable
        > look at @src/notable_thing.rs
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
}

#[test]
fn f19_a_command_is_one_in_any_case_and_what_is_none_is_not_said() {
    let (world, mut glass) = play("[[reply]]\ntext = \"x\"\n");
    glass.types("/Help\r");
    glass.waits_for("Shift-Tab: mode");
    glass.types("/New_session\r");
    glass.waits_for("there is no command /new_session");
    glass.shows(expect![[r#"
                               comes before input N
        /export [FILE]         write this session to a file: .html, .md or .jsonl
        /theme [NAME]          how it looks: dark, light, plain, or a file of yours
        /doctor                what this machine can do, and what is missing
        /bug [WORDS]           write a report of something that went wrong
        /quit                  leave (Ctrl-D)

        Enter sends · Alt-Enter or Ctrl-J: a new line · @: files · /: commands · Ctrl-R:
        history
        Esc or Ctrl-C stops the turn · Ctrl-C twice or Ctrl-D leaves · Up takes back
        what waits
        Shift-Tab: mode · Ctrl-T: whole transcript · Ctrl-G: editor · Ctrl-V: copied
        image · Ctrl-L: draw anew · Ctrl-Z: suspend

        ! there is no command /new_session; /help lists them

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    glass.types("/QUIT\r");
    assert_eq!(glass.ends().0, 0);
    assert!(world.journals().is_empty(), "nothing was said");
    // What ended it is found again by the next.
    let history = std::fs::read_to_string(world.path("home/history.jsonl")).unwrap();
    assert!(history.contains("/quit"), "{history}");
}
