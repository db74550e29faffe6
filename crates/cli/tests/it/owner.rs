//! One owner a session: a second process is told at once, also when the owner is stopped.

use expect_test::expect;
use heeler_script::Script;
use heeler_testkit::MockServer;
use rustix::process::Signal;

use crate::fifo::Fifo;
use crate::support::World;

#[test]
fn a_stopped_owner_keeps_its_session() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "echo > began; read l < gate; echo $l" } }]
        [[reply]]
        expect = { tool_result_contains = "go" }
        text = "done"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut began = Fifo::new(&world.path("work/began"));
    let mut gate = Fifo::new(&world.path("work/gate"));
    let owner = world.exec_at(&server, &["--json", "--allow", "Bash", "hello"]).start();
    began.wait();
    owner.signal(Signal::STOP);
    let written = world.journal_lines();

    let id = world.journal().file_stem().unwrap().to_str().unwrap().to_owned();
    let second = world.exec_at(&server, &["--continue", "me too"]).run().exits(2);
    expect![[r#"
        heeler: session ID is in use; `heeler attach ID` watches it and has a say in it, or end what has it open (a program of yours awaits `Session::close`) and try again
    "#]].assert_eq(&world.plain(&second.stderr));
    let third = world.exec_at(&server, &["--resume", &id, "me too"]).run().exits(2);
    assert_eq!(third.stderr, second.stderr);
    // Who only looks is not held up.
    let shown = world.heeler(&["show", &id]).run().exits(0).stdout;
    assert!(shown.contains("turn 1 is unfinished"), "{shown}");
    let listed = world.heeler(&["sessions", "list"]).run().exits(0).stdout;
    assert!(listed.contains(&id), "{listed}");
    assert_eq!(world.journal_lines(), written);

    owner.signal(Signal::CONT);
    gate.open();
    assert_eq!(owner.finish().exits(0).terminal()["answer"], "done");
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn two_sessions_of_one_folder_run_side_by_side() {
    let world = World::new();
    let script = "[[reply]]\ntext = \"well\"\nstall = {}";
    let server = MockServer::start(Script::parse(script).unwrap());
    let mut first = world.exec_at(&server, &["--json", "hello"]).start();
    first.wait_for("text_delta");
    world.exec("[[reply]]\ntext = \"hi\"", &["hello"]).run().exits(0);
    first.signal(Signal::INT);
    first.finish().exits(130);
    assert_eq!(world.journals().len(), 2);
}
