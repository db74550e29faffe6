//! Two terminals on one session, and a session without any.

use expect_test::expect;
use rustix::process::Signal;

use super::{Glass, play};
use crate::support::World;

/// Asks, and then goes on.
const PUSH: &str = r#"
    [[reply]]
    blocks = [{ call = "Bash", input = { command = "git push origin" } }]
    [[reply]]
    text = "All done."
"#;

/// The second terminal on the only session, once it shows this.
fn attach(world: &World, shows: &str) -> Glass {
    let [id] = world.ids().try_into().unwrap();
    let glass = Glass::open(world, 80, 24, &["attach", &id[..id.len() - 2]]);
    glass.waits_for("attached · script.toml");
    glass.waits_for(shows);
    glass
}

fn n_decisions(world: &World) -> usize {
    let lines = world.journal_lines();
    lines.iter().filter(|line| line.contains(r#""kind":"permission_decided""#)).count()
}

#[test]
fn a1_a_second_terminal_shows_text_as_it_comes_and_stops_the_turn() {
    let (world, mut owner) = play(
        r#"
        [[reply]]
        text = "First answer."
        [[reply]]
        text = "The beginning, and what never comes."
        chunks = 4
        stall = { events = 4 }
    "#,
    );
    owner.types("one\r");
    owner.waits_for("First answer.");
    let mut second = attach(&world, "First answer.");
    owner.types("two\r");
    second.waits_for("> two");
    second.waits_for("The beginning");
    // Who comes in the middle sees what was there before.
    let third = attach(&world, "The beginning");
    second.types("\x1b");
    owner.waits_without("working");
    second.waits_without("working");
    third.waits_without("working");
    third.shows(expect![[r#"
        > one

        First answer.

        > two

        The beginning, and

        · attached: the session runs elsewhere. Esc stops its turn; Ctrl-C twice or
          Ctrl-D leaves, and it goes on

        ! stopped; say what to do instead

        > what is to be done? (/help)
        attached · script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    second.types("\x04");
    let (code, screen) = second.ends();
    assert_eq!(code, 0);
    assert!(screen.contains("the session goes on; `heeler attach"), "{screen}");
    owner.types("\x04");
    assert_eq!(owner.ends().0, 0);
    let (code, screen) = third.ends();
    assert_eq!(code, 0);
    assert!(screen.contains("closed where it was open; `heeler --resume"), "{screen}");
    assert_eq!(
        std::fs::read_dir(world.path("home/sessions")).unwrap().count(),
        1,
        "no door is left"
    );
}

#[test]
fn a2_what_a_second_terminal_says_is_delivered_at_the_next_safe_point() {
    let (world, mut owner) = play(
        r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "until test -e go; do sleep 0.02; done" } }]
        [[reply]]
        expect = { last_user_contains = "and be quick" }
        text = "Quick it is."
        [[reply]]
        expect = { last_user_contains = "once more" }
        text = "Again."
    "#,
    );
    owner.types("wait\r");
    owner.waits_for("working");
    let mut second = attach(&world, "working");
    second.types("and be slow\r");
    second.waits_for("waits: and be slow");
    second.types("\x1b[A");
    second.waits_without("waits: and be slow");
    second.types("\x7f\x7f\x7f\x7fquick\r");
    second.waits_for("waits: and be quick");
    world.write("work/go", "");
    second.waits_for("Quick it is.");
    owner.waits_for("Quick it is.");
    assert!(owner.everything().contains("> and be quick"));
    // Without a turn that runs, it begins one, which goes on without whoever began it.
    second.types("once more\r");
    second.waits_for("Again.");
    owner.waits_for("Again.");
    // What is the owner's stays the owner's.
    second.types("/model other\r");
    second.waits_for("that is for the terminal that has this session open");
    second.types("\x1b[Z");
    second.waits_for("the mode is changed where this session is open");
    second.types("/cost\r");
    second.waits_for("tokens in");
    second.shows(expect![[r#"

        > and be quick

        Quick it is.

        > once more

        Again.

        ! that is for the terminal that has this session open

        ! the mode is changed where this session is open (Shift-Tab there), not from an
          attached terminal; here you can answer what is asked

        · /cost

        _ tokens in (0 read from the cache, 0 written to it), 19 out
        cost not known

        > what is to be done? (/help)
        attached · script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

#[test]
fn a3_a_second_terminal_allows_what_is_asked() {
    let (world, mut owner) = play(PUSH);
    owner.types("push\r");
    owner.waits_for("Run this command?");
    let mut second = attach(&world, "  y  once");
    let list = world.heeler(&["sessions", "list"]).run().exits(0).stdout;
    assert!(list.contains("(open in a terminal, waits for an answer)"), "{list}");
    second.types("y");
    second.waits_for("All done.");
    second.shows(expect![[r#"
        > push

        ✗ Bash git push origin
          fatal: not a git repository (or any of the parent directories): .git
          exit code: 128

        · attached: the session runs elsewhere. Esc stops its turn; Ctrl-C twice or
          Ctrl-D leaves, and it goes on

        All done.

        > what is to be done? (/help)
        attached · script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    owner.waits_for("allowed once, by attached terminal");
    owner.waits_for("All done.");
    assert!(!second.screen().contains("allowed once"), "{}", second.screen());
}

#[test]
fn a4_of_two_answers_one_counts() {
    let (world, mut owner) = play(PUSH);
    owner.types("push\r");
    owner.waits_for("Run this command?");
    let mut second = attach(&world, "  y  once");
    owner.waits_for("  d  no");
    owner.shows(expect![[r#"
        > push

        · Bash git push origin

        ? Run this command?
          $ git push origin
          it runs the command `git push origin` (git push talks to another repository)
          y  once
          s  for this session: Bash(git push:*)
          a  always in this folder: Bash(git push:*)
          n  no, with a reason
          e  edit it first
          d  no, and stop the turn
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    second.types("y");
    owner.types("d");
    owner.waits_without("Run this command?");
    owner.waits_without("working");
    second.waits_without("Run this command?");
    second.waits_without("working");
    assert_eq!(n_decisions(&world), 1);
}

#[test]
fn a5_a_second_terminal_answers_the_models_question() {
    let (world, mut owner) = play(
        r#"
        [[reply]]
        blocks = [{ call = "ToolSearch", input = { query = "ask_user" } }]
        [[reply]]
        blocks = [{ call = "ask_user", input = { question = "Which port?", choices = ["80", "8080"] } }]
        [[reply]]
        expect = { tool_result_contains = "8080" }
        text = "Port 8080."
    "#,
    );
    owner.types("serve\r");
    owner.waits_for("2. 8080");
    let mut second = attach(&world, "Enter: answer");
    second.types("2\r");
    second.waits_for("Port 8080.");
    second.shows(expect![[r#"
        > serve

        ✓ ToolSearch ask_user
        ✓ ask_user {"question":"Which port?","choices":["80","8080"]}

        · attached: the session runs elsewhere. Esc stops its turn; Ctrl-C twice or
          Ctrl-D leaves, and it goes on

        Port 8080.

        > what is to be done? (/help)
        attached · script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    owner.waits_for("Port 8080.");
    owner.waits_without("The model asks");
}

#[test]
fn a6_an_owner_that_is_killed_is_told_and_its_session_goes_on() {
    let (world, mut owner) = play(PUSH);
    owner.types("push\r");
    owner.waits_for("Run this command?");
    let second = attach(&world, "  y  once");
    owner.signals(Signal::KILL);
    let (code, screen) = second.ends();
    assert_eq!(code, 1);
    assert!(screen.contains("in the middle of a turn; `heeler --resume"), "{screen}");
    owner.dies();
    let [id] = world.ids().try_into().unwrap();
    let refused = world.heeler(&["attach", &id]).run().exits(2);
    assert!(refused.stderr.contains("nobody has session"), "{}", refused.stderr);
    let list = world.heeler(&["sessions", "list"]).run().exits(0).stdout;
    assert!(!list.contains("(open"), "{list}");
    let model = world.script("[[reply]]\ntext = \"All done.\"\n");
    let owner = Glass::open(&world, 80, 24, &["--model", &model, "--resume", &id]);
    owner.waits_for("Run this command?");
    let mut second = attach(&world, "  y  once");
    second.shows(expect![[r#"
        > push

        · Bash git push origin

        · attached: the session runs elsewhere. Esc stops its turn; Ctrl-C twice or
          Ctrl-D leaves, and it goes on

        ! a turn was left unfinished: your answer goes on with it, Esc ends it

        ? Run this command?
          $ git push origin
          it runs the command `git push origin` (git push talks to another repository)
          y  once
          s  for this session: Bash(git push:*)
          a  always in this folder: Bash(git push:*)
          n  no, with a reason
          e  edit it first
          d  no, and stop the turn
        attached · script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    second.types("n\r");
    second.waits_for("All done.");
}

#[test]
fn a7_a_session_without_a_terminal_is_attached_to_and_answered() {
    let world = World::new();
    let begun = world.exec(PUSH, &["--detach", "push"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    assert_eq!(begun.stdout, format!("{id}\n"));
    assert!(begun.stderr.contains(&format!("`heeler attach {id}` shows it")), "{}", begun.stderr);
    // Without an id, the one that runs here.
    let mut second = Glass::open(&world, 80, 24, &["attach"]);
    second.waits_for("  y  once");
    second.shows(expect![[r#"
        > push

        · Bash git push origin

        · attached: the session runs elsewhere. Esc stops its turn; Ctrl-C twice or
          Ctrl-D leaves, and it goes on

        ? Run this command?
          $ git push origin
          it runs the command `git push origin` (git push talks to another repository)
          y  once
          s  for this session: Bash(git push:*)
          a  always in this folder: Bash(git push:*)
          n  no, with a reason
          e  edit it first
          d  no, and stop the turn
        attached · script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    let list = world.heeler(&["sessions", "list"]).run().exits(0).stdout;
    assert!(list.contains("(running, waits for an answer)"), "{list}");
    second.types("y");
    let (code, screen) = second.ends();
    assert_eq!(code, 0);
    assert!(screen.contains("All done."), "{screen}");
    assert!(screen.contains("closed where it was open"), "{screen}");
    let shown = world.heeler(&["show", &id]).run().exits(0).stdout;
    assert!(shown.contains("All done."), "{shown}");
}

#[test]
fn a8_what_is_written_while_an_answer_is_not_taken_yet_is_said() {
    let (world, mut owner) = play(PUSH);
    owner.types("push\r");
    owner.waits_for("Run this command?");
    let mut second = attach(&world, "  y  once");
    owner.signals(Signal::STOP);
    owner.waits_until_stopped();
    second.types("y");
    second.waits_for("answered; not taken yet");
    second.types("hello world and more");
    second.waits_for("> hello world and more");
    second.types("\r");
    second.waits_for("not taken yet: hello world and more");
    owner.signals(Signal::CONT);
    second.waits_for("> hello world and more");
    second.waits_for("All done.");
    assert!(world.journal_lines().iter().any(|line| line.contains("hello world and more")));
}

#[test]
fn a9_another_model_throws_no_second_terminal_out() {
    let (world, mut owner) = play("[[reply]]\ntext = \"First answer.\"\n");
    owner.types("one\r");
    owner.waits_for("First answer.");
    let mut second = attach(&world, "First answer.");
    let [id] = world.ids().try_into().unwrap();
    let mut events = world.heeler(&["attach", "--json", &id]).start();
    events.wait_for("session_started");
    second.types("a draft");
    second.waits_for("> a draft");
    let other = world.write("other.toml", "[[reply]]\ntext = \"Another.\"\n");
    owner.types(&format!("/model script:{}\r", other.display()));
    owner.waits_for("answers from here on");
    second.waits_for("answers from here on");
    second.waits_for("attached · other.toml");
    second.types(", said\r");
    second.waits_for("Another.");
    owner.waits_for("> a draft, said");
    assert_eq!(events.wait_for("turn_finished")["answer"], "Another.");
    owner.types("\x04");
    assert_eq!(owner.ends().0, 0);
    let (code, screen) = second.ends();
    assert_eq!(code, 0);
    assert!(screen.contains("closed where it was open; `heeler --resume"), "{screen}");
    events.finish().exits(0);
}
