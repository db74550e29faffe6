//! `kill -9` at any moment, then `--continue`: nothing written is lost, nothing is done twice.

use heeler_script::Script;
use heeler_testkit::{MockServer, require};
#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, kill_process};

use crate::fifo::Fifo;
use crate::processes::wait_until_gone;
#[cfg(target_os = "linux")]
use crate::support::can_confine;
use crate::support::{World, program};

/// What was written stays byte for byte; records only follow.
#[track_caller]
fn assert_kept(world: &World, before: &[String]) {
    let after = world.journal_lines();
    assert!(before.len() < after.len() && after.starts_with(before), "{before:?}\n{after:?}");
}

/// A list says of the one session whether its turn has no end.
#[track_caller]
fn assert_listed_unfinished(world: &World, expected: bool) {
    let listed = world.heeler(&["sessions", "list"]).run().exits(0).stdout;
    assert_eq!(listed.trim_end().ends_with(" (unfinished turn)"), expected, "{listed}");
    let json = world.heeler(&["sessions", "list", "--json"]).run().exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let session = &json["sessions"][0];
    assert_eq!(session["id"], world.ids()[0]);
    assert_eq!(session["unfinished_turn"], expected, "{json}");
}

/// A home holds its journal and nothing else: no lock, no temporary file.
#[track_caller]
fn assert_tidy(world: &World) {
    let listed = std::fs::read_dir(world.path("home/sessions")).unwrap();
    assert_eq!(listed.count(), 1);
    // Beside the sessions only what is remembered of the machine and of the daily clean-up.
    let home = std::fs::read_dir(world.path("home")).unwrap();
    let names = home.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let remembered = ["sandbox-tried", "media.lock", "media.cleaned"];
    let left: Vec<String> = names.filter(|name| !remembered.contains(&name.as_str())).collect();
    assert_eq!(left, ["sessions"]);
}

#[test]
fn in_the_middle_of_a_call_that_appends() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [
          { text = "I will append." },
          { call = "LS", input = { path = "." } },
          { call = "Bash", input = { command = "(setsid sleep 1000 &) ; echo once >> effects; echo > began; read l < gate; echo twice >> effects" } },
        ]
        [[reply]]
        expect = { tool_result_contains = ["began", "outcome is unknown"], tool_result_is_error = [false, true] }
        blocks = [{ call = "Read", input = { file_path = "effects" } }]
        [[reply]]
        expect = { tool_result_contains = "once" }
        text = "it was appended once"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut began = Fifo::new(&world.path("work/began"));
    let _gate = Fifo::new(&world.path("work/gate"));
    let mut running = world.exec_at(&server, &["--json", "--allow", "Bash", "append"]).start();
    began.wait();
    // The call beside it is done and written before we strike.
    running.wait_for("call_finished");
    let killed = running.kill();
    assert_eq!(killed.code, 137);
    wait_until_gone(&world);
    let written = world.journal_lines();
    assert!(written.last().unwrap().contains("call_finished"), "{written:?}");
    assert_listed_unfinished(&world, true);

    let output = world.exec_at(&server, &["--continue", "--json"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "it was appended once");
    assert_listed_unfinished(&world, false);
    assert_eq!(world.worked("effects"), "once\n");
    assert_eq!(server.violations(), [""; 0]);
    assert_eq!(server.requests().len(), 3);
    assert_kept(&world, &written);
    assert_tidy(&world);
}

/// Where /proc is not to be had, a file that is replaced has a name from the beginning, as on systems
/// that know no files without one. A lock on its folder holds the process up between the two.
#[test]
fn in_the_middle_of_an_edit_whose_file_has_a_name_of_its_own() {
    let unshare = ["-rm", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"];
    let tried = program("unshare").args(unshare).arg("true").output();
    let can_mount = tried.is_ok_and(|tried| tried.status.success());
    if !require("a mount namespace (unshare, tmpfs)", can_mount) {
        return;
    }
    let world = World::new();
    world.write("work/a.txt", "old\n");
    world.write("work/.heeler-0123456789abcdef-0", "somebody else's\n");
    let script = r#"
        [[reply]]
        blocks = [{ call = "Read", input = { file_path = "a.txt" } }]
        [[reply]]
        blocks = [{ call = "Edit", input = { file_path = "a.txt", old_string = "old", new_string = "new" } }]
        [[reply]]
        expect = { tool_result_contains = "outcome is unknown" }
        text = "it was not edited"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let held = std::fs::File::open(world.workspace()).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let arguments = ["--json", "--no-sandbox", "--allow", "Edit", "edit"];
    let mut running = world.exec_at(&server, &arguments).within("unshare", &unshare).start();
    while running.wait_for("call_started")["name"] != "Edit" {}
    let names = || {
        let listed = std::fs::read_dir(world.workspace()).unwrap();
        let mut names: Vec<_> = listed.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    // It waits for the lock for a second at most.
    while names().len() < 3 {
        assert!(running.is_running(), "{:?}", names());
    }
    running.kill();
    wait_until_gone(&world);
    drop(held);
    assert_eq!(names().len(), 3, "{:?}", names());

    let output = world.exec_at(&server, &["--continue", "--json"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "it was not edited");
    assert_eq!(names(), [".heeler-0123456789abcdef-0", "a.txt"]);
    assert_eq!(world.worked("a.txt"), "old\n");
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn in_the_middle_of_a_stream() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "LS", input = { path = "." } }]
        [[reply]]
        text = "let me think about"
        stall = { events = 3 }
        [[reply]]
        text = "the whole answer"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut running = world.exec_at(&server, &["--json", "hello"]).start();
    running.wait_for("text_delta");
    running.kill();
    wait_until_gone(&world);
    let written = world.journal_lines();
    assert!(written.last().unwrap().contains("model_started"), "{written:?}");

    let output = world.exec_at(&server, &["--continue", "--json"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "the whole answer");
    assert_eq!(server.violations(), [""; 0]);
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[1].body, requests[2].body, "the same request is sent again");
    assert_kept(&world, &written);
    assert_tidy(&world);
}

#[test]
fn before_anything_was_said_the_turn_begins_again() {
    let world = World::new();
    let script = "[[reply]]\ntext = \"\"\nstall = { events = 0 }\n[[reply]]\ntext = \"hi\"";
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut running = world.exec_at(&server, &["--json", "hello"]).start();
    running.wait_for("attempt_started");
    assert!(server.wait_until(|status| status.stalled == 1));
    running.kill();
    let output = world.exec_at(&server, &["--continue", "--json"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "hi");
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn a_prompt_comes_after_what_was_left() {
    let world = World::new();
    let script = r#"
        [[reply]]
        text = "let me think about"
        stall = { events = 3 }
        [[reply]]
        expect = { last_user_contains = "first" }
        text = "to the first"
        [[reply]]
        expect = { last_user_contains = "second" }
        text = "to the second"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut running = world.exec_at(&server, &["--json", "first"]).start();
    running.wait_for("text_delta");
    running.kill();
    let output = world.exec_at(&server, &["--continue", "--json", "second"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "to the second");
    assert_eq!(output.terminal()["turn"], 2);
    let [left] = output.of_type("resumed_turn_finished").try_into().unwrap();
    assert_eq!((&left["turn"], &left["answer"]), (&1.into(), &"to the first".into()));
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn three_deaths_in_one_effect_end_the_turn() {
    let world = World::new();
    let script = r#"
        [[reply]]
        repeat = 3
        text = "let me think about"
        stall = { events = 3 }
        [[reply]]
        expect = { last_user_contains = "go on" }
        text = "done"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    for n in 0..3 {
        let arguments = if n == 0 { ["--json", "hello"] } else { ["--json", "--continue"] };
        let mut running = world.exec_at(&server, &arguments).start();
        running.wait_for("text_delta");
        running.kill();
    }
    let output = world.exec_at(&server, &["--json", "--continue"]).run().exits(1);
    let message = output.terminal()["outcome"]["failed"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("the program died 3 times while asking the model"), "{message}");
    assert_eq!(server.requests().len(), 3);

    world.exec_at(&server, &["--continue", "go on"]).run().exits(0);
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn a_whole_line_before_the_kill_and_a_torn_one_after_it() {
    let world = World::new();
    let script = "[[reply]]\ntext = \"think\"\nstall = { events = 3 }\n[[reply]]\ntext = \"hi\"";
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut running = world.exec_at(&server, &["--json", "hello"]).start();
    running.wait_for("text_delta");
    running.kill();
    let written = world.journal_lines();
    // A process that dies while it writes leaves the beginning of a line.
    let torn = format!("{}{}", written.concat(), &written[3][..40]);
    std::fs::write(world.journal(), torn).unwrap();
    let output = world.exec_at(&server, &["--continue", "--json"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "hi");
    assert!(output.of_type("notice").is_empty(), "{}", output.stdout);
    assert_kept(&world, &written);
}

#[test]
fn a_kill_in_the_middle_of_a_stop_does_not_swallow_the_next_prompt() {
    let world = World::new();
    let script = r#"
        [[reply]]
        text = "let me think about"
        stall = {}
        [[reply]]
        expect = { last_user_contains = "go on" }
        text = "done"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut running = world.exec_at(&server, &["--json", "hello"]).start();
    running.wait_for("text_delta");
    running.signal(rustix::process::Signal::INT);
    running.finish().exits(130);
    // Killed between the two records that end a stopped turn.
    let mut lines = world.journal_lines();
    assert!(lines.pop().unwrap().contains("turn_finished"));
    assert!(lines.last().unwrap().contains("interrupted"), "{lines:?}");
    std::fs::write(world.journal(), lines.concat()).unwrap();

    let output = world.exec_at(&server, &["--continue", "--json", "go on"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "done");
    let [left] = output.of_type("resumed_turn_finished").try_into().unwrap();
    assert_eq!((&left["turn"], &left["outcome"]), (&1.into(), &"cancelled".into()));
    assert_eq!(server.violations(), [""; 0]);
}

/// Starts a program with `exec` that goes on, and then something that takes long.
const IN_THE_BACKGROUND: &str = r#"
    [script]
    epoch = "may change"
    [[reply]]
    blocks = [{ call = "ToolSearch", input = { query = "exec" } }]
    [[reply]]
    blocks = [{ call = "exec", input = { action = "run", background = true, command = "echo on > began; exec sleep 1000" } }]
"#;

#[test]
fn what_went_on_in_the_background_is_lost_with_a_kill_and_told() {
    let world = World::new();
    let script = format!(
        "{IN_THE_BACKGROUND}
        [[reply]]
        text = \"it runs\"
        stall = {{ events = 3 }}
        [[reply]]
        expect = {{ last_user_contains = \"was lost: the program ended\" }}
        text = \"it was lost\""
    );
    let server = MockServer::start(Script::parse(&script).unwrap());
    let mut began = Fifo::new(&world.path("work/began"));
    let arguments = ["--json", "--allow", "Bash", "--allow", "exec", "serve"];
    let mut running = world.exec_at(&server, &arguments).start();
    began.wait();
    running.wait_for("text_delta");
    running.kill();
    wait_until_gone(&world);
    let output = world.exec_at(&server, &["--continue", "--json"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "it was lost");
    let told = "The background work of exec (call 1.2.0) was lost: the program ended";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn what_goes_on_in_the_background_ends_with_the_run_and_is_told() {
    let world = World::new();
    let script = format!(
        "{IN_THE_BACKGROUND}
        [[reply]]
        text = \"it runs\"
        [[reply]]
        expect = {{ last_user_contains = \"Cancelled before it was done\" }}
        text = \"it was ended\""
    );
    let server = MockServer::start(Script::parse(&script).unwrap());
    let arguments = ["--json", "--allow", "Bash", "--allow", "exec", "serve"];
    let output = world.exec_at(&server, &arguments).run().exits(0);
    let told = "heeler: ended with this run: background work of exec (call 1.2.0)";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    wait_until_gone(&world);
    let shown =
        world.heeler(&["show", output.terminal()["session"].as_str().unwrap()]).run().exits(0);
    assert!(
        shown.stdout.contains("background 1 to be told with the next words"),
        "{}",
        shown.stdout
    );
    let output = world.exec_at(&server, &["--continue", "--json", "go on"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "it was ended");
    assert_eq!(server.violations(), [""; 0]);
}

/// As whoever ends all that is called `heeler` does.
#[cfg(target_os = "linux")]
#[test]
fn nothing_goes_on_when_the_launcher_is_killed_in_the_same_moment() {
    let unboxed: &[&str] = &["--no-sandbox", "--allow", "Bash", "--allow", "exec"];
    for arguments in [unboxed, &[]] {
        if arguments.is_empty() && !can_confine() {
            continue;
        }
        let world = World::new();
        let script = r#"
            [script]
            epoch = "may change"
            [[reply]]
            blocks = [{ call = "ToolSearch", input = { query = "exec" } }]
            [[reply]]
            blocks = [{ call = "exec", input = { action = "run", background = true, command = "(setsid sleep 1000 &); sh -c 'echo on > began; sleep 1000; :'; echo end" } }]
            [[reply]]
            blocks = [{ call = "Bash", input = { command = "trap '' TERM; (setsid sleep 1000 &); sleep 1000 & echo on > second; sleep 1000; echo end" } }]
            [[reply]]
            expect = { tool_result_contains = "outcome is unknown" }
            text = "it was lost"
        "#;
        let server = MockServer::start(Script::parse(script).unwrap());
        let mut fifos = ["began", "second"].map(|name| Fifo::new(&world.path("work").join(name)));
        let running = world.exec_at(&server, &[&["--json", "serve"], arguments].concat()).start();
        fifos.iter_mut().for_each(Fifo::wait);
        let heeler = running.pid();
        let number = heeler.as_raw_nonzero();
        let children = std::fs::read_to_string(format!("/proc/{number}/task/{number}/children"));
        let launcher = children.unwrap().trim().parse().ok().and_then(Pid::from_raw).unwrap();
        // Stopped, it sees nothing of the launcher's death.
        running.signal(Signal::STOP);
        kill_process(launcher, Signal::KILL).unwrap();
        running.kill();
        wait_until_gone(&world);
        let output = world.exec_at(&server, &["--continue", "--json"]).run().exits(0);
        assert_eq!(output.terminal()["answer"], "it was lost");
        assert_eq!(server.violations(), [""; 0]);
    }
}
