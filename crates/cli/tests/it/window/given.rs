//! The terminal is given back, and taken again, whatever ends or stops the program.

use expect_test::expect;
use rustix::process::Signal;

use super::glass::{cook, is_cooked};
use super::{play, play_with};
use crate::fifo::Fifo;
use crate::processes::wait_until_gone;

const ONE: &str = "[[reply]]\ntext = \"First answer.\"\n";

#[test]
fn g1_the_lines_of_the_terminal_are_as_they_were_however_it_ends() {
    for signal in [None, Some(Signal::TERM), Some(Signal::HUP), Some(Signal::INT)] {
        let (_world, mut glass) = play(ONE);
        let terminal = glass.terminal();
        glass.shows(expect![[r#"

            > what is to be done? (/help)
            script.toml · ask · ░░░░░░░░ _% · confined
        "#]]);
        assert!(!is_cooked(&terminal), "a window takes keys");
        match signal {
            Some(signal) => glass.signals(signal),
            None => glass.types("\x04"),
        }
        assert_eq!(glass.ends().0, if signal.is_some() { 130 } else { 0 });
        assert!(is_cooked(&terminal), "{signal:?}");
    }
}

#[test]
fn g2_control_z_gives_the_terminal_back_until_it_goes_on() {
    let (_world, mut glass) = play(ONE);
    let terminal = glass.terminal();
    glass.types("draft\x1a");
    glass.waits_until_stopped();
    assert!(is_cooked(&terminal));
    glass.signals(Signal::CONT);
    glass.waits_for("> draft");
    glass.types(" and more");
    glass.waits_for("> draft and more");
    assert!(!is_cooked(&terminal));
    glass.types("\r");
    glass.waits_for("First answer.");
    glass.shows(expect![[r#"
        > draft and more

        First answer.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

/// Who stops it from outside gives it no time: the shell takes its lines back, and what it finds
/// when it goes on is not what it left.
#[test]
fn g3_stopped_from_outside_it_takes_the_terminal_again() {
    let (_world, mut glass) = play(ONE);
    let terminal = glass.terminal();
    glass.types("draft");
    glass.waits_for("> draft");
    glass.signals(Signal::STOP);
    glass.waits_until_stopped();
    cook(&terminal);
    let mut n_bytes = glass.n_bytes();
    glass.signals(Signal::CONT);
    // Where lines are taken, nothing of what follows is read before Enter.
    while is_cooked(&terminal) {
        glass.waits_for_more(n_bytes);
        n_bytes = glass.n_bytes();
    }
    glass.types(" and more");
    glass.waits_for("> draft and more");
    glass.types("\r");
    glass.waits_for("First answer.");
    glass.shows(expect![[r#"
        > draft and more

        First answer.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    assert!(is_cooked(&terminal));
}

#[test]
fn g4_after_kill_9_the_next_start_is_as_any() {
    let (world, mut glass) = play(ONE);
    glass.types("half a thou");
    glass.waits_for("> half a thou");
    let model = world.script(ONE);
    glass.starts_again(&world, &["--model", &model]);
    glass.waits_for("what is to be done?");
    glass.types("hello\r");
    glass.waits_for("First answer.");
    glass.shows(expect![[r#"

        > half a thou
        Killed.toml · ask · ░░░░░░░░ _% · confined
        $ heeler
        > hello

        First answer.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    let screen = glass.screen();
    let after = screen.split("$ heeler\n").nth(1).unwrap_or_default();
    assert!(after.contains("> hello") && !after.contains("half"), "{screen}");
    glass.types("\x04");
    let (code, bytes) = glass.everything_after_end();
    assert_eq!(code, 0);
    assert!(bytes.rfind("\x1b[?2004l") > bytes.rfind("\x1b[?2004h"));
    assert!(bytes.rfind("\x1b[?25h") > bytes.rfind("\x1b[?25l"));
}

/// A connection that hangs, or a terminal that somebody stopped.
#[test]
fn g5_a_terminal_that_stands_still_stops_nothing_and_shows_the_newest_afterwards() {
    let script = r#"
        [[reply]]
        blocks = [
          { text = "LONG" },
          { call = "Bash", input = { command = "echo > called" } },
        ]
        [[reply]]
        blocks = [
          { text = "LONG" },
          { call = "Bash", input = { command = "echo > called" } },
        ]
        [[reply]]
        text = "All was done meanwhile."
    "#;
    // More than a terminal holds that nobody reads.
    let script = script.replace("LONG", &"many words ".repeat(5_000));
    let (world, mut glass) = play_with(&script, 80, 24, &["--allow", "Bash"]);
    let mut called = Fifo::new(&world.path("work/called"));
    glass.stands_still(true);
    glass.types("go\r");
    called.wait();
    called.wait();
    glass.types("typed meanwhile");
    glass.stands_still(false);
    glass.waits_for("All was done meanwhile.");
    glass.waits_for("> typed meanwhile");
}

#[test]
fn g6_a_terminal_that_takes_nothing_any_more_keeps_nobody_from_the_end() {
    let script = r#"
        [[reply]]
        blocks = [
          { text = "LONG" },
          { call = "Bash", input = { command = "echo > called; read line < gate" } },
        ]
    "#;
    let script = script.replace("LONG", &"many words ".repeat(5_000));
    let (world, mut glass) = play_with(&script, 80, 24, &["--allow", "Bash"]);
    let mut called = Fifo::new(&world.path("work/called"));
    let _gate = Fifo::new(&world.path("work/gate"));
    let terminal = glass.terminal();
    glass.stands_still(true);
    glass.types("go\r");
    called.wait();
    // What was said is on its way, and does not fit.
    while rustix::io::ioctl_fionread(&terminal).unwrap() < 3_000 {
        std::thread::yield_now();
    }
    glass.signals(Signal::TERM);
    assert_eq!(glass.exits(), Some(130));
    assert!(is_cooked(&terminal));
    wait_until_gone(&world);
    glass.stands_still(false);
}

#[test]
fn g7_who_ends_it_from_outside_is_told_how_it_goes_on() {
    for signal in [Signal::TERM, Signal::HUP] {
        let (world, glass) =
            play_with("[[reply]]\ntext = \"let me think about\"\nstall = {}\n", 200, 24, &["go"]);
        glass.waits_for("let me think");
        glass.signals(signal);
        let (code, screen) = glass.ends();
        assert_eq!(code, 130, "{screen}");
        let [id] = world.ids().try_into().unwrap();
        let told = format!("heeler: `heeler --resume {id}` goes on with this session");
        assert!(screen.contains(&told), "{screen}");
    }
}
