//! Sessions that run elsewhere: followed without a terminal, begun without one, stopped.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};

use expect_test::expect;
use rustix::process::{Pid, Signal, getsid, kill_process};
use serde_json::json;

use crate::fifo::Fifo;
use crate::hooks::set;
use crate::processes::wait_until_gone;
use crate::support::{World, full_disk};

/// A call that says where it is and waits, then an answer.
pub(crate) const WAITS: &str = r#"
    [[reply]]
    blocks = [{ call = "Bash", input = { command = "echo > began; read l < gate; echo $l" } }]
    [[reply]]
    expect = { tool_result_contains = "go" }
    text = "done"
"#;

/// A world with the two pipes of that call.
pub(crate) fn world() -> (World, Fifo, Fifo) {
    let world = World::new();
    let (began, gate) = (Fifo::new(&world.path("work/began")), Fifo::new(&world.path("work/gate")));
    (world, began, gate)
}

#[test]
fn a_run_is_followed_as_events_and_as_lines() {
    let (world, mut began, mut gate) = world();
    let owner = world.exec(WAITS, &["--json", "--allow", "Bash", "hello"]).start();
    began.wait();
    let [id] = world.ids().try_into().unwrap();
    let list = world.heeler(&["sessions", "list"]).run().exits(0).stdout;
    assert!(list.ends_with("(running)\n"), "{list}");
    let mut events = world.heeler(&["attach", "--json", &id]).start();
    assert_eq!(events.wait_for("session_started")["session"], *id);
    let mut lines = world.heeler(&["attach", &id]).start();
    lines.wait_for_stderr(&format!("session {id} with script:"));
    gate.open();
    assert_eq!(events.wait_for("turn_finished")["answer"], "done");
    assert_eq!(events.wait_for("session_finished")["exit_code"], 0);
    let seen = events.finish().exits(0);
    let kinds: Vec<String> = seen.events().iter().map(|event| event["type"].to_string()).collect();
    assert!(kinds.contains(&r#""call_finished""#.to_owned()), "{kinds:?}");
    let seen = lines.finish().exits(0);
    assert_eq!(seen.stdout, "done\n");
    owner.finish().exits(0);
}

#[test]
fn a_detached_run_is_nobodys_child_and_is_stopped_by_its_id() {
    let (world, mut began, _gate) = world();
    let begun =
        world.exec(WAITS, &["--detach", "--quiet", "--allow", "Bash", "hello"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    assert_eq!((begun.stdout, begun.stderr), (format!("{id}\n"), String::new()));
    began.wait();
    let mut events = world.heeler(&["attach", "--json", &id]).start();
    events.wait_for("session_started");
    let stopped = world.heeler(&["stop", &id[..30]]).run().exits(0);
    assert_eq!(stopped.stdout, format!("the turn of session {id} is stopped\n"));
    assert_eq!(events.wait_for("session_finished")["exit_code"], 130);
    events.finish().exits(130);
    let again = world.heeler(&["stop", &id]).run().exits(2);
    expect![[r#"
        heeler: nobody has session ID open; `heeler --resume ID` goes on with it
    "#]]
    .assert_eq(&world.plain(&again.stderr));
}

/// The last line says why it is the last, whatever happened before.
#[test]
fn who_follows_a_session_in_which_nothing_is_done_is_told_of_its_end() {
    let world = World::new();
    let script = "[[reply]]\ntext = \"heard\"\n";
    let mut owner = world.exec(script, &["--stream-input"]).open_stdin().start();
    owner.wait_for("session_started");
    let [id] = world.ids().try_into().unwrap();
    let mut events = world.heeler(&["attach", "--json", &id]).start();
    events.wait_for("session_started");
    owner.close_stdin();
    owner.finish().exits(0);
    let ended = events.finish().exits(0).events().pop().unwrap();
    assert_eq!((&ended["type"], &ended["exit_code"]), (&"session_finished".into(), &0.into()));
    // The same where there is nothing to follow.
    let refused = world.heeler(&["attach", "--json", &id]).run().exits(2);
    let [ended] = refused.events().try_into().unwrap();
    assert_eq!((&ended["type"], &ended["exit_code"]), (&"session_finished".into(), &2.into()));
    assert!(ended["message"].as_str().unwrap().contains("nobody has session"), "{ended}");
    assert!(refused.stderr.contains("nobody has session"), "{}", refused.stderr);
}

#[test]
fn what_is_asked_about_is_one_line() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a\nheeler: all is well", content = "x" } }]
    "#;
    world.exec(script, &["--detach", "-q", "hello"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let mut lines = world.heeler(&["attach", &id]).start();
    lines.wait_for_stderr("it waits for an answer");
    let mut events = world.heeler(&["attach", "--json", &id]).start();
    let asked = events.wait_for("permission_requested");
    assert_eq!(asked["tool"], "Write", "{asked}");
    world.heeler(&["stop", &id]).run().exits(0);
    events.finish().exits(130);
    let seen = lines.finish().exits(130).stderr;
    let [_, asked, next] = seen.lines().take(3).collect::<Vec<_>>().try_into().unwrap();
    assert!(asked.starts_with("  ? Write: a heeler: all is well: it waits for"), "{seen}");
    assert!(next.starts_with("  ! Write: Cancelled"), "{seen}");
    wait_until_gone(&world);
}

/// What somebody else had said would else begin the next turn, behind the back of who stopped this one.
#[test]
fn a_stop_hands_back_what_others_said() {
    let (world, mut began, _gate) = world();
    let script = format!("{WAITS}\n[[reply]]\ntext = \"went on\"\n");
    world.exec(&script, &["--detach", "-q", "--allow", "Bash", "hello"]).run().exits(0);
    began.wait();
    let [id] = world.ids().try_into().unwrap();
    let door = world.path(&format!("home/sessions/{id}.door"));
    let mut door = BufReader::new(UnixStream::connect(door).unwrap());
    let wish = r#"{"steer":{"id":"x","input":{"blocks":[{"text":{"text":"one thing more"}}]}}}"#;
    writeln!(door.get_mut(), r#"{{"number":1,"wish":{wish}}}"#).unwrap();
    assert!((&mut door).lines().map_while(Result::ok).any(|line| line.contains(r#""number":1"#)));
    let stopped = world.heeler(&["stop", &id]).run().exits(0);
    assert_eq!(stopped.stdout, format!("the turn of session {id} is stopped\n"));
    wait_until_gone(&world);
    let journal = world.journal_lines().concat();
    assert!(journal.contains(r#""kind":"steering_taken_back""#), "{journal}");
    assert_eq!(journal.matches(r#""kind":"turn_finished""#).count(), 1, "{journal}");
}

#[test]
fn a_stop_reaches_an_input_that_hooks_still_hear() {
    let (world, mut began, _gate) = world();
    set(&world, "UserPromptSubmit", "echo > began; read l < gate; exit 0");
    let owner = world.exec(WAITS, &["--json", "--allow", "Bash", "hello"]).start();
    began.wait();
    let [id] = world.ids().try_into().unwrap();
    let stopped = world.heeler(&["stop", &id]).run().exits(0);
    assert_eq!(stopped.stdout, format!("what was about to run in session {id} is stopped\n"));
    owner.finish().exits(130);
    assert!(!world.journal_lines().concat().contains(r#""hello""#));
}

/// An owner that says hello, and after a wish this much more.
fn owner_that(world: &World, id: &str, ends: bool) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(world.path(&format!("home/sessions/{id}.door"))).unwrap();
    let n_records = world.journal_lines().len();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let hello = r#"{"hello":{"version":3,"owner":"run","draft":"","waiting":0,"seq":"#;
        writeln!(&stream, "{hello}{n_records}}}}}").unwrap();
        let mut lines = BufReader::new(&stream).lines();
        lines.next().unwrap().unwrap();
        if !ends {
            // Until the other one leaves.
            assert!(lines.next().is_none());
        }
    })
}

#[test]
fn a_heeler_that_is_suspended_has_its_session_open() {
    let (world, mut began, _gate) = world();
    world.exec(WAITS, &["--detach", "-q", "--allow", "Bash", "hello"]).run().exits(0);
    began.wait();
    let [id] = world.ids().try_into().unwrap();
    kill_process(owner_of(&world), Signal::STOP).unwrap();
    let list = world.heeler(&["sessions", "list"]).run().exits(0).stdout;
    assert!(list.ends_with(" (open, does not answer)\n"), "{list}");
    let list = world.heeler(&["sessions", "list", "--json"]).run().exits(0).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let session = &list["sessions"][0];
    assert_eq!(session["unreachable"], "silent");
    assert_eq!((&session["open"], &session["unfinished_turn"]), (&json!(null), &json!(false)));
    // Whoever attaches is told what is waited for, and is in once it goes on.
    let mut guest = world.heeler(&["attach", &id]).start();
    guest.wait_for_stderr("waiting for the heeler that has session");
    kill_process(owner_of(&world), Signal::CONT).unwrap();
    world.heeler(&["stop", &id]).run().exits(0);
    guest.finish().exits(130);
    wait_until_gone(&world);
}

#[test]
fn a_stop_says_when_nothing_was_stopped() {
    let (world, mut began, _gate) = world();
    world.exec(WAITS, &["--detach", "-q", "--allow", "Bash", "hello"]).run().exits(0);
    began.wait();
    kill_process(owner_of(&world), Signal::KILL).unwrap();
    wait_until_gone(&world);
    let [id] = world.ids().try_into().unwrap();
    for (ends, expected) in
        [(true, "ended before its turn could be stopped"), (false, "does not answer")]
    {
        let _ = std::fs::remove_file(world.path(&format!("home/sessions/{id}.door")));
        let owner = owner_that(&world, &id, ends);
        let stopped = world.heeler(&["stop", &id]).run().exits(2);
        assert!(stopped.stderr.contains(expected), "{}", stopped.stderr);
        owner.join().unwrap();
    }
}

/// Who has too many files open lets nobody in, and lets them in when that has passed.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_had_no_room_for_a_guest_can_be_stopped() {
    use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
    let (world, mut began, _gate) = world();
    let owner = world.exec(WAITS, &["--json", "--allow", "Bash", "hello"]).start();
    began.wait();
    let [id] = world.ids().try_into().unwrap();
    let pid = Some(owner.pid());
    let few = Rlimit { current: Some(3), ..getrlimit(Resource::Nofile) };
    let before = prlimit(pid, Resource::Nofile, few).unwrap();
    world.heeler(&["sessions", "list"]).run().exits(0);
    prlimit(pid, Resource::Nofile, before).unwrap();
    let stopped = world.heeler(&["stop", &id]).run().exits(0);
    assert_eq!(stopped.stdout, format!("the turn of session {id} is stopped\n"));
    owner.finish().exits(130);
}

#[test]
fn what_goes_wrong_at_the_start_is_told_to_whoever_started_it() {
    let world = World::new();
    let no_key = world.heeler(&["exec", "--detach", "hello"]).run().exits(2);
    assert!(no_key.stderr.contains("ANTHROPIC_API_KEY"), "{}", no_key.stderr);
    let mode = world.exec("", &["--detach", "--permission-mode", "lax", "hello"]).run().exits(2);
    assert!(mode.stderr.contains("lax"), "{}", mode.stderr);
    let json = world.exec("", &["--detach", "--json", "hello"]).run().exits(2);
    assert!(json.stderr.contains("cannot be used with"), "{}", json.stderr);
    for output in [&no_key, &mode, &json] {
        assert_eq!(output.stdout, "");
    }
    assert!(world.ids().is_empty());
    let refused = world.heeler(&["attach"]).run().exits(2);
    assert!(refused.stderr.contains("no session of"), "{}", refused.stderr);
}

#[test]
fn a_detached_run_reads_its_prompt_and_a_mode_that_asks_nobody_refuses() {
    let (world, mut began, mut gate) = world();
    let script = r#"
        [[reply]]
        expect = { last_user_contains = "from a pipe" }
        blocks = [{ call = "Bash", input = { command = "echo > began; read l < gate; echo $l" } }]
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "git push origin" } }]
        [[reply]]
        expect = { tool_result_is_error = true }
        text = "Denied, then."
    "#;
    let mode = ["--detach", "--permission-mode", "allow-listed"];
    let rules = ["--allow", "Bash", "--ask", "Bash(git push:*)"];
    world.exec(script, &[&mode[..], &rules].concat()).stdin("from a pipe").run().exits(0);
    began.wait();
    let mut lines = world.heeler(&["attach"]).start();
    lines.wait_for_stderr("heeler: session");
    gate.open();
    assert_eq!(lines.finish().exits(0).stdout, "Denied, then.\n");
}

/// A word that comes when the turn is at its end begins another, which is this run's, too.
#[test]
fn what_somebody_else_says_last_is_answered_before_the_run_ends() {
    let (world, mut began, mut gate) = world();
    let command = "echo > began; read line < gate";
    let hook = format!(r#"{{"hooks":[{{"type":"command","command":"{command}"}}]}}"#);
    let settings = format!(r#"{{"hooks":{{"Stop":[{hook}]}}}}"#);
    let settings = world.write("settings.json", settings).display().to_string();
    let script = r#"
        [[reply]]
        text = "That was it."
        [[reply]]
        expect = { last_user_contains = "one thing more" }
        text = "That, too."
    "#;
    let owner = world.exec(script, &["--settings", &settings, "hello"]).start();
    began.wait();
    let [id] = world.ids().try_into().unwrap();
    let door = world.path(&format!("home/sessions/{id}.door"));
    let mut door = BufReader::new(UnixStream::connect(door).unwrap());
    let wish = r#"{"steer":{"id":"x","input":{"blocks":[{"text":{"text":"one thing more"}}]}}}"#;
    door.get_mut()
        .write_all(format!(r#"{{"number":1,"wish":{wish}}}{}"#, '\n').as_bytes())
        .unwrap();
    let answered = |line: &String| line.contains(r#""number":1"#);
    assert!((&mut door).lines().map_while(Result::ok).any(|line| answered(&line)));
    gate.open();
    began.wait();
    gate.open();
    assert_eq!(owner.finish().exits(0).stdout, "That, too.\n");
}

#[test]
fn a_follower_that_cannot_write_says_where() {
    let Some(full) = full_disk() else { return };
    let (world, mut began, _gate) = world();
    world.exec(WAITS, &["--detach", "-q", "--allow", "Bash", "hello"]).run().exits(0);
    began.wait();
    let [id] = world.ids().try_into().unwrap();
    let seen = world.heeler(&["attach", "--json", &id]).stdout(full).run().exits(1);
    assert!(seen.stderr.contains("cannot write the answer to stdout: "), "{}", seen.stderr);
    world.heeler(&["stop", &id]).run().exits(0);
    wait_until_gone(&world);
}

#[test]
fn a_home_with_a_long_path_has_a_door_all_the_same() {
    let (world, mut began, mut gate) = world();
    let home = world.path(&format!("home/{}", "long".repeat(20)));
    let owner = world.exec(WAITS, &["--allow", "Bash", "hello"]).env("HEELER_HOME", &home).start();
    began.wait();
    let mut lines = world.heeler(&["attach"]).env("HEELER_HOME", &home).start();
    lines.wait_for_stderr("heeler: session");
    gate.open();
    lines.finish().exits(0);
    owner.finish().exits(0);
}

#[test]
fn a_detached_run_that_is_killed_is_told_and_goes_on() {
    let (world, mut began, mut gate) = world();
    world.exec(WAITS, &["--detach", "--quiet", "--allow", "Bash", "hello"]).run().exits(0);
    began.wait();
    let [id] = world.ids().try_into().unwrap();
    let mut lines = world.heeler(&["attach", &id]).start();
    lines.wait_for_stderr("heeler: session");
    let owner = owner_of(&world);
    assert_eq!(getsid(Some(owner)).unwrap(), owner, "it has a session of its own");
    kill_process(owner, Signal::KILL).unwrap();
    let seen = lines.finish().exits(1);
    assert!(seen.stderr.contains("ended in the middle of a turn"), "{}", seen.stderr);
    gate.open();
    world.exec("[[reply]]\ntext = \"ok\"\n", &["--resume", &id]).run().exits(0);
}

/// The process that has the world's session open: the one with `--detached` on its command line.
pub(crate) fn owner_of(world: &World) -> Pid {
    find_owner(world).expect("there is such a process")
}

/// The same, if it is there yet.
pub(crate) fn find_owner(world: &World) -> Option<Pid> {
    let root = world.path("").display().to_string();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let (line, environ) = (read("cmdline"), read("environ"));
        let has = |text: &[u8], part: &str| {
            text.windows(part.len()).any(|window| window == part.as_bytes())
        };
        if has(&line, "--detached") && has(&environ, root.trim_end_matches('/')) {
            let id = entry.file_name().to_str().unwrap().parse().unwrap();
            return Pid::from_raw(id);
        }
    }
    None
}
