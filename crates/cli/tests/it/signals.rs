//! SIGINT and its like: prompt, exit 130, and the session goes on afterwards.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};

use heeler_script::Script;
use heeler_testkit::{MockServer, require};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::Signal;

use crate::fifo::Fifo;
use crate::processes::wait_until_gone;
use crate::support::World;

/// Says a few words and falls silent; later answers.
const SILENT: &str = r#"
[[reply]]
text = "let me think about"
stall = {}
[[reply]]
expect = { last_user_contains = "go on" }
text = "done"
"#;

#[test]
fn in_the_middle_of_a_stream() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        if signal == Signal::HUP && !require("a hang-up that we do not ignore", !ignores_hang_up())
        {
            return;
        }
        let world = World::new();
        let server = MockServer::start(Script::parse(SILENT).unwrap());
        let mut running = world.exec_at(&server, &["--json", "hello"]).start();
        running.wait_for("text_delta");
        running.signal(signal);
        let output = running.finish().exits(130);
        assert_eq!(output.terminal()["outcome"], "cancelled");
        assert!(output.stderr.contains("stopping; once more to stop at once"), "{}", output.stderr);
        assert!(server.wait_until(|status| status.connections_open == 0), "still connected");

        let output = world.exec_at(&server, &["--continue", "go on"]).run().exits(0);
        assert_eq!(output.stdout, "done\n");
        assert_eq!(server.violations(), [""; 0]);
    }
}

/// Whether we run under `nohup`; what we start inherits that.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1)
}

#[test]
fn in_the_middle_of_a_call() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [
          { call = "Bash", input = { command = "echo begun > began; read line < gate; echo x > y" } },
          { call = "Bash", input = { command = "(sleep 1000; echo x > y) & echo begun > began; wait" } },
        ]
        [[reply]]
        expect = { last_user_contains = "go on", tool_result_is_error = [true, true] }
        text = "done"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut began = Fifo::new(&world.path("work/began"));
    let _gate = Fifo::new(&world.path("work/gate"));
    let running = world.exec_at(&server, &["--json", "--allow", "Bash", "hello"]).start();
    began.wait();
    began.wait();
    running.signal(Signal::INT);
    let output = running.finish().exits(130);
    assert_eq!(output.terminal()["outcome"], "cancelled");
    // Every call has its result, and nothing of it still runs.
    assert_eq!(output.of_type("call_finished").len(), 2);
    wait_until_gone(&world);

    world.exec_at(&server, &["--continue", "go on"]).run().exits(0);
    assert_eq!(server.violations(), [""; 0]);
    assert_eq!(world.worked("y"), "");
}

/// Elsewhere nobody tells which signals a process ignores.
#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_that_was_ignored_from_the_start_stays_ignored() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "echo > began; read line < gate" } }]
        [[reply]]
        text = "done"
    "#;
    let mut began = Fifo::new(&world.path("work/began"));
    let mut gate = Fifo::new(&world.path("work/gate"));
    // What `nohup` does.
    let shell = ["-c", "trap '' HUP; exec \"$@\"", "sh"];
    let running = world.exec(script, &["--allow", "Bash", "hello"]).within("sh", &shell).start();
    began.wait();
    running.signal(Signal::HUP);
    gate.open();
    let output = running.finish().exits(0);
    assert_eq!(output.stdout, "done\n");
    assert!(!output.stderr.contains("stopping"), "{}", output.stderr);
}

/// A pipe that holds as much as it can.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'\n'; 4096]).is_ok() {}
    fcntl_setfl(&writer, OFlags::empty()).unwrap();
    (reader, writer)
}

#[test]
fn a_session_goes_on_while_nobody_reads_what_it_tells_and_can_be_stopped() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [
          { text = "LONG" },
          { call = "Bash", input = { command = "echo > began; read line < gate; echo x > y" } },
        ]
    "#;
    // More than fits in a second pipe, too.
    let script = script.replace("LONG", &"word ".repeat(50_000));
    let (mut reader, writer) = full_pipe();
    let mut began = Fifo::new(&world.path("work/began"));
    let _gate = Fifo::new(&world.path("work/gate"));
    let arguments = ["--json", "--allow", "Bash", "hello"];
    let running = world.exec(&script, &arguments).stdout(writer).start();
    began.wait();
    let id = world.ids().remove(0);
    world.heeler(&["stop", &id]).run().exits(0);

    let mut told = String::new();
    reader.read_to_string(&mut told).unwrap();
    running.finish().exits(130);
    wait_until_gone(&world);
    let last = told.lines().last().unwrap();
    assert!(last.contains(r#""type":"turn_finished""#), "{last}");
    assert!(last.contains(r#""outcome":"cancelled""#), "{last}");
    assert_eq!(told.matches(r#""type":"call_finished""#).count(), 1);
    assert_eq!(world.worked("y"), "");
}

#[test]
fn a_second_signal_ends_even_a_process_that_is_stuck() {
    let world = World::new();
    let server = MockServer::start(Script::parse(SILENT).unwrap());
    let (_reader, writer) = full_pipe();
    let running = world.exec_at(&server, &["--no-sandbox", "--json", "hello"]);
    let mut running = running.stdout(writer).start();
    running.wait_for_stderr("not confined");
    running.signal(Signal::INT);
    running.wait_for_stderr("stopping; once more to stop at once");
    running.signal(Signal::INT);
    let [id] = world.ids().try_into().unwrap();
    let told = running.finish().exits(130).stderr;
    let last = format!("heeler: go on with `heeler exec --resume {id} PROMPT`\n");
    assert!(told.ends_with(&last), "{told}");
}

/// As with `2>&1 |`: what is told and what is said go into one pipe that nobody reads.
#[test]
fn a_full_stderr_keeps_no_signal_from_being_obeyed() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [
          { text = "LONG" },
          { call = "Bash", input = { command = "echo > began; read line < gate" } },
        ]
    "#;
    let script = script.replace("LONG", &"word ".repeat(50_000));
    let (_reader, writer) = std::io::pipe().unwrap();
    let mut began = Fifo::new(&world.path("work/began"));
    let _gate = Fifo::new(&world.path("work/gate"));
    let running = world.exec(&script, &["--json", "--allow", "Bash", "hello"]);
    let running = running.stdout(writer.try_clone().unwrap()).stderr(writer).start();
    began.wait();
    running.signal(Signal::INT);
    running.signal(Signal::TERM);
    running.finish().exits(130);
    wait_until_gone(&world);
}
