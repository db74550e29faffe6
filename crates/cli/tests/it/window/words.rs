//! The words of a person end in the journal, in the composer or in the history, whatever happens.

use rustix::process::{Resource, Rlimit, Signal, prlimit};

use super::{Glass, play, play_with};
use crate::fifo::Fifo;
use crate::hooks;
use crate::support::World;

const ONE: &str = "[[reply]]\ntext = \"First answer.\"\n";

/// A window whose hook hears every input until there is the file `go`.
fn heard(script: &str) -> (World, Glass) {
    let world = World::new();
    hooks::set(
        &world,
        "UserPromptSubmit",
        "until test -e \"$CLAUDE_PROJECT_DIR/go\"; do sleep 0.02; done",
    );
    let model = world.script(script);
    let glass = Glass::open(&world, 80, 24, &["--model", &model]);
    glass.waits_for("script.toml · ");
    (world, glass)
}

fn n_inputs(world: &World) -> usize {
    world.journal_lines().iter().filter(|line| line.contains(r#""kind":"input""#)).count()
}

#[test]
fn w1_what_hooks_still_hear_is_not_left_behind() {
    let (world, mut glass) = heard(ONE);
    glass.types("my words\r");
    glass.waits_for("waits: my words");
    let leaves = ["/clear\r", "/fork\r", "/sessions\r", "/resume x\r", "/quit\r", "\x04"];
    for (n, keys) in (1..).zip(leaves) {
        glass.types(keys);
        glass.waits_for_times("! what you said is not taken in yet", n);
    }
    world.write("work/go", "");
    glass.waits_for("First answer.");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    assert!(world.journal_lines().iter().any(|line| line.contains("my words")));
}

#[test]
fn w2_what_hooks_still_hear_is_taken_back_by_up() {
    let (world, mut glass) = heard(ONE);
    glass.types("do it\r");
    glass.waits_for("waits: do it");
    glass.types("\x1b[A");
    glass.waits_without("waits: do it");
    glass.waits_for("> do it");
    world.write("work/go", "");
    glass.types(" now\r");
    glass.waits_for("First answer.");
    assert_eq!(n_inputs(&world), 1);
    assert!(glass.screen().contains("> do it now"), "{}", glass.screen());
}

#[test]
fn w3_what_was_taken_back_here_is_no_mistake() {
    let (_world, mut glass) = heard(ONE);
    glass.types("one\r");
    glass.waits_for("waits: one");
    glass.types("two\r");
    glass.waits_for("waits: two");
    glass.types("\x1b");
    glass.waits_without("waits:");
    glass.waits_for("> one");
    glass.waits_for("\n  two");
    assert!(!glass.everything().contains('✗'), "{}", glass.everything());
}

/// What a hook keeps away is in no journal, and with a secret in no history either.
#[test]
fn w4_what_a_hook_keeps_away_is_written_again() {
    let world = World::new();
    hooks::set(&world, "UserPromptSubmit", "grep -q secret && echo not that >&2 && exit 2; exit 0");
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "until test -e go; do sleep 0.02; done" } }]
        [[reply]]
        text = "All done."
    "#;
    let model = world.script(script);
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model]);
    glass.waits_for("script.toml · ");
    glass.types("the secret is out\r");
    glass.waits_for("not that");
    glass.waits_for("> the secret is out");
    // The same while a turn runs.
    glass.types("\x03wait\r");
    glass.waits_for("working");
    glass.types("a secret meanwhile\r");
    glass.waits_for("> a secret meanwhile");
    glass.waits_without("waits:");
    world.write("work/go", "");
    glass.waits_for("All done.");
}

/// What was written and is kept for the next window.
fn kept(world: &World) -> String {
    std::fs::read_to_string(world.path("home/history.jsonl")).unwrap_or_default()
}

#[test]
fn w5_what_is_written_when_the_terminal_goes_is_in_the_history() {
    for signal in [Signal::HUP, Signal::TERM] {
        let (world, mut glass) = play(ONE);
        glass.types("long careful draft");
        glass.waits_for("> long careful draft");
        glass.signals(signal);
        assert_eq!(glass.ends().0, 130);
        assert_eq!(kept(&world).matches("long careful draft").count(), 1);
    }
    // The same at an attached one, and what is no message yet.
    let (world, _owner) = play(ONE);
    let [id] = world.ids().try_into().unwrap();
    let mut second = Glass::open(&world, 80, 24, &["attach", &id]);
    second.waits_for("attached · script.toml");
    second.types("a draft of a guest");
    second.waits_for("> a draft of a guest");
    second.signals(Signal::HUP);
    assert_eq!(second.ends().0, 130);
    assert!(kept(&world).contains("a draft of a guest"));
    // A secret is not kept.
    let (world, mut glass) = play(ONE);
    let secret = format!("sk-ant-{}", "api03-abcdefghijklmnopqrstuvwxyz0123456789");
    glass.types(&format!("use {secret}"));
    glass.waits_for(&secret);
    glass.signals(Signal::HUP);
    assert_eq!(glass.ends().0, 130);
    assert!(!kept(&world).contains(&secret));
}

#[test]
fn w6_a_journal_that_cannot_be_written_leaves_what_is_written() {
    let script = r#"
        [[reply]]
        text = "First answer."
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "until test -e go; do sleep 0.02; done" } }]
    "#;
    let (world, mut glass) = play_with(script, 200, 24, &[]);
    glass.types("one\r");
    glass.waits_for("First answer.");
    glass.types("two\r");
    glass.waits_for("working");
    glass.types("half writt");
    glass.waits_for("> half writt");
    let length = std::fs::metadata(world.journal()).unwrap().len();
    let full = Rlimit { current: Some(length), maximum: Some(length) };
    prlimit(Some(glass.pid()), Resource::Fsize, full).unwrap();
    world.write("work/go", "");
    glass.waits_for("the session is closed; what you wrote stands below");
    let screen = glass.screen();
    assert!(screen.contains("File too large") && screen.contains(".jsonl"), "{screen}");
    glass.types("en");
    glass.waits_for("> half written");
    glass.types("\x04");
    let (code, screen) = glass.ends();
    assert_eq!(code, 2);
    let end = screen.rsplit("Enter or Ctrl-D leaves").next().unwrap_or_default();
    assert!(end.contains("goes on with this session"), "{screen}");
    assert!(end.contains("heeler: the window ended: the session's journal could not"), "{screen}");
    assert!(end.contains("File too large") && !end.contains("confined"), "{screen}");
    assert!(kept(&world).contains("half written"));
}

#[test]
fn w7_of_a_journal_that_is_gone_nobody_says_that_it_goes_on() {
    let (world, mut glass) = play_with(ONE, 200, 24, &[]);
    glass.types("one\r");
    glass.waits_for("First answer.");
    std::fs::remove_file(world.journal()).unwrap();
    glass.types("two\r");
    glass.waits_for("the session is closed; what you wrote stands below");
    glass.waits_for("> two");
    assert_eq!(glass.screen().matches("journal could not be written").count(), 1);
    glass.types("\x04");
    let (code, screen) = glass.ends();
    assert_eq!(code, 2);
    assert!(screen.contains("heeler: the window ended: "), "{screen}");
    assert!(!screen.contains("goes on with this session"), "{screen}");
}

/// A session is closed before another model answers in it, and cannot be opened again.
#[test]
fn w8_what_was_for_a_session_that_does_not_come_is_written_again() {
    let (world, mut glass) = play_with(ONE, 200, 24, &[]);
    glass.types("one\r");
    glass.waits_for("First answer.");
    std::fs::remove_file(world.journal()).unwrap();
    let other = world.write("other.toml", ONE);
    glass.types(&format!("/model script:{}\rfor the other one\r", other.display()));
    glass.waits_for("the session is closed; what you wrote stands below");
    glass.waits_for("> for the other one");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 2);
    assert!(kept(&world).contains("for the other one"));
}

/// An editor, as a script, on what was written.
fn with_editor(editor: &str) -> (World, Glass) {
    let world = World::new();
    let model = world.script(ONE);
    let editor = world.write("editor.sh", editor);
    let editor = format!("sh {}", editor.display());
    let glass = Glass::open_with(&world, 80, 24, &["--model", &model], &[("EDITOR", &editor)]);
    glass.waits_for("script.toml · ");
    (world, glass)
}

#[test]
fn w9_what_an_editor_saved_counts_also_when_it_is_killed() {
    let (_world, mut glass) = with_editor("printf 'much \\377 more' > \"$1\"; kill -HUP $$\n");
    glass.types("words\x07");
    glass.waits_for("saved stands below");
    glass.waits_for("> much ");
    glass.waits_for(" more\n");
    // One that only fails leaves what was written.
    let (_world, mut glass) = with_editor("exit 1\n");
    glass.types("words\x07");
    glass.waits_for("✗");
    glass.waits_for("> words");
}

#[test]
fn w10_what_is_in_an_editor_when_the_terminal_goes_is_in_the_history() {
    let (world, mut glass) =
        with_editor("echo > called; read line < gate; printf ' and more' >> \"$1\"\n");
    let mut called = Fifo::new(&world.path("work/called"));
    let mut gate = Fifo::new(&world.path("work/gate"));
    glass.types("words\x07");
    called.wait();
    glass.signals(Signal::HUP);
    gate.open();
    assert_eq!(glass.ends().0, 130);
    assert!(kept(&world).contains("words and more"), "{}", kept(&world));
}

#[test]
fn w11_a_journal_that_cannot_be_written_between_turns_is_told_with_the_reason() {
    let (world, mut glass) = play_with(ONE, 200, 24, &[]);
    glass.types("one\r");
    glass.waits_for("First answer.");
    glass.waits_without("working");
    let length = std::fs::metadata(world.journal()).unwrap().len();
    let full = Rlimit { current: Some(length), maximum: Some(length) };
    prlimit(Some(glass.pid()), Resource::Fsize, full).unwrap();
    glass.types("/rename another\r");
    glass.waits_for("Enter or Ctrl-D leaves");
    let screen = glass.screen();
    assert!(screen.contains("so the session ended here: cannot append to"), "{screen}");
    assert!(screen.contains("File too large") && screen.contains(".jsonl"), "{screen}");
    glass.types("\x04");
    let (code, screen) = glass.ends();
    assert_eq!(code, 2);
    assert!(screen.contains("heeler: the window ended: the session's journal"), "{screen}");
}
