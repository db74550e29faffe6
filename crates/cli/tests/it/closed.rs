//! Readers that go away early, and output that is larger than anybody wants to read.

use std::io::PipeWriter;

use crate::fifo::Fifo;
use crate::running::Heeler;
use crate::support::{World, full_disk};

const CALLS: &str = r#"
[[reply]]
blocks = [{ text = "I will look." }, { call = "LS", input = { path = "." } }]
[[reply]]
text = "done"
"#;

/// A pipe whose reader has gone.
fn nobody() -> PipeWriter {
    std::io::pipe().unwrap().1
}

/// Runs without anybody who reads stdout.
fn unheard(heeler: Heeler, code: i32) {
    let output = heeler.stdout(nobody()).run().exits(code);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
}

#[test]
fn a_closed_stdout_is_no_panic() {
    let world = World::new();
    unheard(world.exec(CALLS, &["hello"]), 1);
    unheard(world.exec(CALLS, &["--json", "hello"]), 1);
    unheard(world.heeler(&["sessions", "list"]), 0);
    let id = world.journals()[0].file_stem().unwrap().to_str().unwrap().to_owned();
    unheard(world.heeler(&["show", &id]), 0);
    unheard(world.heeler(&["--help"]), 0);
    unheard(world.heeler(&["demo"]), 1);
}

#[test]
fn a_turn_whose_output_nobody_reads_is_stopped_and_can_go_on() {
    let world = World::new();
    let mut began = Fifo::new(&world.path("work/began"));
    let mut gate = Fifo::new(&world.path("work/gate"));
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "echo > began; read line < gate; echo hi" } }]
        # Never whole: the turn must not be over before the closed stdout is noticed.
        [[reply]]
        text = "done"
        stall = {}
    "#;
    let arguments = ["--json", "--allow", "Bash", "--result-json", "result.json", "hello"];
    let mut running = world.exec(script, &arguments).start();
    began.wait();
    running.close_stdout();
    gate.open();
    let output = running.finish().exits(1);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    assert!(world.worked("result.json").contains("cannot write the answer to stdout"));
    let id = world.journals()[0].file_stem().unwrap().to_str().unwrap().to_owned();
    let shown = world.heeler(&["show", &id]).run().exits(0).stdout;
    assert!(shown.contains("1 turn, the last ended cancelled"), "{shown}");
}

#[test]
fn a_closed_stderr_changes_nothing() {
    let world = World::new();
    let unheard = |heeler: Heeler, code| heeler.stderr(nobody()).run().exits(code).stdout;
    assert_eq!(unheard(world.exec(CALLS, &["hello"]), 0), "done\n");
    assert_eq!(unheard(world.heeler(&["exec", "hello"]), 2), "");
    assert_eq!(unheard(world.heeler(&["exec", "--nonsense"]), 2), "");
    assert_eq!(unheard(world.heeler(&["show", "absent"]), 2), "");
}

#[test]
fn a_full_disk_under_stdout_is_told() {
    let world = World::new();
    for flags in [&["hello"][..], &["--json", "hello"]] {
        let Some(full) = full_disk() else { return };
        let output = world.exec(CALLS, flags).stdout(full).run().exits(1);
        assert!(output.stderr.contains("cannot write the answer to stdout"), "{}", output.stderr);
    }
}

#[test]
fn a_full_disk_under_what_is_asked_for_is_told() {
    let world = World::new();
    world.exec(CALLS, &["hello"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    for line in [
        &["sessions", "list"][..],
        &["sessions", "export", &id, "--format", "html"],
        &["show", &id],
        &["show", &id, "--request", "1", "--raw"],
        &["audit", &id],
        &["config", "list"],
        &["permissions", "list"],
        &["schema"],
        &["models"],
        &["doctor"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
        &["exec", "--help"],
    ] {
        let Some(full) = full_disk() else { return };
        let output = world.heeler(line).stdout(full).run().exits(2);
        let told = "heeler: cannot write to stdout: No space left on device (os error 28)\n";
        assert!(output.stderr.ends_with(told), "{line:?}: {}", output.stderr);
    }
}

#[test]
fn a_full_disk_under_the_result_is_told_and_the_turn_was_begun_all_the_same() {
    if full_disk().is_none() {
        return;
    }
    let world = World::new();
    let arguments = ["--json", "--result-json", "/dev/full", "hello"];
    let output = world.exec(CALLS, &arguments).run().exits(1);
    assert!(
        output.stderr.contains("heeler: cannot write /dev/full; free some space there, or name a file elsewhere: No space"),
        "{}",
        output.stderr
    );
    // A reader of the events is told of the same code.
    let last = output.terminal();
    assert_eq!((&last["outcome"], &last["exit_code"]), (&"done".into(), &1.into()));
    let arguments = ["exec", "--model", "gpt-0", "--result-json", "/dev/full", "hello"];
    world.heeler(&arguments).run().exits(2);
}

#[test]
fn what_tools_and_models_say_does_not_reach_the_terminal_as_commands() {
    let world = World::new();
    world.write("work/\u{1b}[31mred", "");
    let script = r#"
        [[reply]]
        blocks = [
          { text = "look \u001b[2J" },
          { call = "LS", input = { path = "\u001b]0;x" } },
          { call = "LS", input = { path = "." } },
        ]
        [[reply]]
        text = "done"
    "#;
    let output = world.exec(script, &["hello"]).run().exits(0);
    let id = world.journals()[0].file_stem().unwrap().to_str().unwrap().to_owned();
    let shown = world.heeler(&["show", &id]).run().exits(0).stdout;
    assert!(output.stderr.contains("look") && shown.contains("red"), "{shown}");
    assert!(!output.stderr.contains('\u{1b}') && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn a_line_of_ten_million_bytes_is_bounded_everywhere() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "head -c 10000000 /dev/zero | tr '\\0' %" } }]
        [[reply]]
        expect = { tool_result_contains = "%%%", tool_result_is_error = false }
        text = "long"
    "#;
    let output = world.exec(script, &["--json", "--allow", "Bash", "hello"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "long");
    // The history has at most 200,000 characters of it, and the events and the journal no more.
    let message = &output.of_type("message")[2]["message"];
    let result =
        message["blocks"][0]["tool_result"]["content"][0]["text"]["text"].as_str().unwrap();
    let lost = "\n[only the first and last 4 MiB of the output were kept: the 1611392 bytes between them are in no file]";
    let n_shown = 200_000 - lost.len();
    assert_eq!(result.matches('%').count(), n_shown, "{}", &result[150_000..150_400]);
    assert!(output.stdout.len() < 1_000_000, "{}", output.stdout.len());
    let journal = std::fs::read(world.journal()).unwrap();
    assert!(journal.len() < 500_000, "{}", journal.len());
    // The rest is in a file, which the history names.
    let (_, place) = result.split_once(" characters left out; all ").unwrap();
    let (n_kept, place) = place.split_once(" are in ").unwrap();
    let (place, _) = place.split_once(" ...]").unwrap();
    let kept = std::fs::read_to_string(place).unwrap();
    assert_eq!(kept.chars().count(), n_kept.parse::<usize>().unwrap());
    assert!(kept.len() > 8_000_000);
    // It lacks what was never kept, and says so where it is seen.
    assert!(result.ends_with(lost) && kept.ends_with(lost), "{}", &result[result.len() - 300..]);
}

#[test]
fn a_fork_that_stdout_cannot_be_told_of_is_told_on_stderr() {
    let Some(full) = full_disk() else { return };
    let world = World::new();
    world.exec("[[reply]]\ntext = \"Hi.\"", &["hello"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let output = world.heeler(&["sessions", "fork", &id]).stdout(full).run().exits(2);
    let ids = world.ids();
    let fork = ids.iter().find(|other| **other != id).unwrap();
    let told = format!("heeler: session {fork} is forked from ");
    assert!(output.stderr.starts_with(&told), "{}", output.stderr);
}
