//! A run of its own that goes on with what an earlier process left: what it took outlives it.

use std::time::Duration;

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::MockServer;
use rustix::process::{Signal, kill_process, kill_process_group};

use crate::attached::{WAITS, find_owner, owner_of, world};
use crate::hooks::set;
use crate::processes::wait_until_gone;
use crate::support::{Output, World, full_disk};

/// A call that somebody has to be asked about, and an answer.
const ASKS: &str = r#"
    [[reply]]
    blocks = [{ call = "Bash", input = { command = "git push origin" } }]
    [[reply]]
    text = "done"
"#;
/// An answer to the second prompt.
const ANSWERS: &str = r#"
    [[reply]]
    expect = { last_user_contains = "second" }
    text = "to the second"
"#;
/// Far less than a wait for somebody's answer, or for the provider.
const PROMPTLY: Duration = Duration::from_secs(30);

/// Kills the run of its own.
fn kill(world: &World) {
    kill_process(owner_of(world), Signal::KILL).unwrap();
    wait_until_gone(world);
}

/// A world whose only session was killed while somebody was asked, and its id.
fn left_asking() -> (World, String) {
    let world = World::new();
    world.exec(ASKS, &["--detach", "-q", "first"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let mut lines = world.heeler(&["attach", &id]).start();
    lines.wait_for_stderr("it waits for an answer");
    kill(&world);
    drop(lines);
    (world, id)
}

/// Goes on with the only session in a run of its own.
fn go_on(world: &World, script: &str, prompt: &[&str]) -> Output {
    let arguments = [&["--detach", "-q", "--continue"], prompt].concat();
    world.exec(script, &arguments).patience(PROMPTLY).run()
}

/// The only session as it is shown, once the run is over.
#[track_caller]
fn check(world: &World, expected: Expect) {
    wait_until_gone(world);
    let [id] = world.ids().try_into().unwrap();
    let shown = world.heeler(&["show", &id]).run().exits(0).stdout;
    let (_, shown) = shown.split_once("status").unwrap();
    expected.assert_eq(&world.plain(shown.trim_start()));
}

#[test]
fn a_prompt_is_taken_while_somebody_is_asked_and_outlives_the_run() {
    let (world, id) = left_asking();
    assert_eq!(go_on(&world, ASKS, &["second"]).exits(0).stdout, format!("{id}\n"));
    kill(&world);
    assert!(world.journal_lines().concat().contains(r#""second""#));
    let output = world.exec(ANSWERS, &["--resume", &id]).run().exits(0);
    assert_eq!(output.stdout, "to the second\n");
}

#[test]
fn a_prompt_is_taken_while_the_provider_is_waited_for() {
    let world = World::new();
    let script = r#"
        [[reply]]
        error = { status = 529, type = "overloaded_error", message = "busy", retry_after = 40 }
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut first = world.exec_at(&server, &["--json", "first"]).start();
    first.wait_for("retry");
    first.kill();
    wait_until_gone(&world);
    // With a prompt, and without one.
    for prompt in [&["second"][..], &[]] {
        let [id] = world.ids().try_into().unwrap();
        assert_eq!(go_on(&world, ANSWERS, prompt).exits(0).stdout, format!("{id}\n"));
        assert!(world.journal_lines().concat().contains(r#""second""#));
        kill(&world);
    }
}

#[test]
fn a_prompt_is_read_in_the_turn_that_was_left() {
    let (world, mut began, _gate) = world();
    world.exec(WAITS, &["--detach", "-q", "--allow", "Bash", "first"]).run().exits(0);
    began.wait();
    kill(&world);
    go_on(&world, ANSWERS, &["second"]).exits(0);
    check(
        &world,
        expect![[r#"
        1 turn, the last ended done

        [1] user: first

          > Bash: echo > began; read l < gate; echo $l
          ! The program died while this call was running, so its outcome is unknown. Check what it changed before doing it again.

        user: second

        heeler: to the second
    "#]],
    );
}

#[test]
fn a_turn_that_was_stopped_before_does_not_swallow_the_prompt() {
    let (world, id) = left_asking();
    go_on(&world, ASKS, &[]).exits(0);
    world.heeler(&["stop", &id]).run().exits(0);
    wait_until_gone(&world);
    // Killed between the two records that end a stopped turn.
    let mut lines = world.journal_lines();
    while !lines.last().unwrap().contains("interrupted") {
        lines.pop();
    }
    std::fs::write(world.journal(), lines.concat()).unwrap();
    go_on(&world, ANSWERS, &["second"]).exits(0);
    check(
        &world,
        expect![[r#"
            2 turns, the last ended done

            [1] user: first

              > Bash: git push origin
              ! Cancelled before it started; nothing was done.

              - cancelled

            [2] user: second

            heeler: to the second
        "#]],
    );
}

#[test]
fn a_prompt_that_waits_when_the_run_is_told_to_end_is_left_for_the_next() {
    let (world, _) = left_asking();
    go_on(&world, ASKS, &["second"]).exits(0);
    kill_process(owner_of(&world), Signal::TERM).unwrap();
    wait_until_gone(&world);
    let output = world.exec(ANSWERS, &["--continue"]).run().exits(0);
    assert_eq!(output.stdout, "to the second\n");
}

#[test]
fn who_stops_the_turn_stops_the_run() {
    let (world, id) = left_asking();
    let stalls = "[[reply]]\ntext = \"to the second\"\nstall = { events = 1 }\n";
    go_on(&world, stalls, &["second"]).exits(0);
    let mut events = world.heeler(&["attach", "--json", &id]).start();
    events.wait_for("session_started");
    world.heeler(&["stop", &id]).run().exits(0);
    events.finish().exits(130);
    check(
        &world,
        expect![[r#"
            1 turn, the last ended cancelled

            [1] user: first

              > Bash: git push origin
              ! Cancelled before it started; nothing was done.

              - cancelled
        "#]],
    );
}

/// A hook of prompts that says when it was asked, and waits until it may answer.
const SLOW: &str = "echo > began; read l < gate; exit 0";

#[test]
fn who_goes_away_before_the_prompt_is_taken_stops_nothing() {
    let (world, mut began, mut gate) = world();
    set(&world, "UserPromptSubmit", SLOW);
    let begins = world.exec("[[reply]]\ntext = \"done\"\n", &["--detach", "-q", "first"]).start();
    began.wait();
    begins.signal(Signal::KILL);
    gate.open();
    assert_eq!(begins.finish().code, 137);
    check(
        &world,
        expect![[r#"
        1 turn, the last ended done

        [1] user: first

        heeler: done
    "#]],
    );
}

/// What a model would answer if it were asked.
const NEVER: &str = "[[reply]]\ntext = \"never\"\n";

/// What Ctrl-C does: everything in the terminal's foreground is told.
#[test]
fn who_interrupts_the_wait_for_stdin_stops_the_run() {
    let (world, _began, _gate) = world();
    let pipeline = "(read l < gate; echo partial) | \"$@\"";
    let begins = world.exec(NEVER, &["--detach", "why"]);
    let mut begins = begins.within("setsid", &["sh", "-c", pipeline, "sh"]).start();
    begins.wait_for_stderr("waiting for what is piped in");
    kill_process_group(begins.pid(), Signal::INT).unwrap();
    begins.finish().exits(130);
    wait_until_gone(&world);
    assert!(world.ids().is_empty());
}

#[test]
fn who_is_stopped_while_stdin_is_read_begins_no_run() {
    let world = World::new();
    let mut begins = world.exec(NEVER, &["--detach", "-"]).open_stdin().start();
    begins.say("only half of");
    while find_owner(&world).is_none() {
        std::thread::yield_now();
    }
    begins.signal(Signal::TERM);
    begins.close_stdin();
    begins.finish().exits(143);
    wait_until_gone(&world);
    assert!(world.ids().is_empty());
}

/// The code of what was never begun would have a script begin it once more.
#[test]
fn a_run_whose_id_cannot_be_written_is_told_with_its_id() {
    let Some(full) = full_disk() else { return };
    let world = World::new();
    let script = "[[reply]]\ntext = \"done\"\n";
    let begun = world.exec(script, &["--detach", "-q", "first"]).stdout(full).run().exits(1);
    let [id] = world.ids().try_into().unwrap();
    expect![[r#"
        heeler: the run is begun; cannot write to stdout: No space left on device (os error 28)
        heeler: it runs on its own; `heeler attach ID` shows it and answers what it asks, `heeler stop ID` stops it
    "#]].assert_eq(&world.plain(&begun.stderr));
    wait_until_gone(&world);
    let shown = world.heeler(&["show", &id]).run().exits(0).stdout;
    assert!(shown.contains("1 turn, the last ended done"), "{shown}");
}

#[test]
fn a_prompt_that_a_hook_refuses_is_told() {
    let world = World::new();
    set(&world, "UserPromptSubmit", "echo not this >&2; exit 2");
    let refused = world.exec(ASKS, &["--detach", "first"]).run().exits(3);
    assert_eq!(refused.stdout, "");
    expect![[r#"
        heeler: ended by a denial: the hook `echo not this >&2; exit 2 (~/.claude/settings.json:1)` did not let the input through: not this
        heeler: go on with `heeler exec --resume ID PROMPT`
    "#]].assert_eq(&world.plain(&refused.stderr));
}

#[test]
fn a_prompt_that_a_hook_refuses_is_told_and_what_was_left_goes_on() {
    let (world, id) = left_asking();
    set(&world, "UserPromptSubmit", "echo not this >&2; exit 2");
    let refused = world.exec(ASKS, &["--detach", "--continue", "second"]).run().exits(3);
    assert_eq!(refused.stdout, "");
    expect![[r#"
        heeler: the hook `echo not this >&2; exit 2 (~/.claude/settings.json:1)` did not let the input through: not this
        heeler: the prompt was not let through; the turn that was begun before goes on
        heeler: it runs on its own; `heeler attach ID` shows it and answers what it asks, `heeler stop ID` stops it
    "#]].assert_eq(&world.plain(&refused.stderr));
    let mut lines = world.heeler(&["attach", &id]).start();
    lines.wait_for_stderr("it waits for an answer");
    kill(&world);
}
