//! The limits of a turn: exit 4, and a history the next turn can continue.

use heeler_script::Script;
use heeler_testkit::MockServer;

use crate::support::{Output, World};

/// Calls this often, with 1000 tokens in and 100 out each time, then answers.
fn busy(rounds: u32) -> MockServer {
    let script = format!(
        r#"
        [script]
        usage = {{ input = 1000, output = 100 }}
        [[reply]]
        repeat = {rounds}
        blocks = [{{ call = "LS", input = {{ path = "." }} }}]
        [[reply]]
        expect = {{ last_user_contains = "and now?" }}
        text = "now I am done"
        "#
    );
    MockServer::start(Script::parse(&script).unwrap())
}

/// Runs into a limit after so many rounds, then goes on with another prompt; the server checks
/// every request.
fn check(flags: &[&str], rounds: u32, limit: &str) -> Output {
    let world = World::new();
    world.write("work/file", "");
    let server = busy(rounds);
    let arguments = [flags, &["--json", "be busy"]].concat();
    let output = world.exec_at(&server, &arguments).run().exits(4);
    assert_eq!(output.terminal()["outcome"]["limit"]["limit"], limit);
    // Not even at a limit does a call stay without its result.
    for kind in ["attempt_started", "call_finished"] {
        assert_eq!(output.of_type(kind).len(), rounds as usize, "{kind}");
    }
    let continued = world.exec_at(&server, &["--continue", "and now?"]).run().exits(0);
    assert_eq!(continued.stdout, "now I am done\n");
    assert_eq!(server.violations(), [""; 0]);
    output
}

#[test]
fn rounds() {
    check(&["--max-rounds", "3"], 3, "rounds");
}

#[test]
fn rounds_have_a_limit_unless_it_is_set_to_none() {
    check(&[], 50, "rounds");
    let world = World::new();
    world.write("work/file", "");
    let script = r#"
        [[reply]]
        repeat = 60
        blocks = [{ call = "LS", input = { path = "." } }]
        [[reply]]
        text = "done"
    "#;
    let output = world.exec(script, &["--max-rounds", "0", "--json", "hello"]).run().exits(0);
    assert_eq!(output.of_type("attempt_started").len(), 61);
}

#[test]
fn tokens() {
    let output = check(&["--max-tokens", "5000"], 4, "tokens");
    let usage = &output.terminal()["usage"];
    let used = usage["input"].as_u64().unwrap() + usage["output"].as_u64().unwrap();
    assert!((1100..=5000).contains(&used), "{used}");
}

#[test]
fn cost() {
    // 1000 in at $2 and 100 out at $10 a million are at least $0.003 a round.
    let output = check(&["--max-cost", "0.05"], 15, "cost");
    let cost = output.terminal()["cost_usd"].as_f64().unwrap();
    assert!(0.0 < cost && cost <= 0.05, "{cost}");
}

#[test]
fn wall_time_while_the_model_is_silent() {
    let world = World::new();
    let silent = "[[reply]]\ntext = \"well\"\nstall = {}\n[[reply]]\ntext = \"done\"";
    let server = MockServer::start(Script::parse(silent).unwrap());
    let output = world.exec_at(&server, &["--timeout", "1", "--json", "hello"]).run().exits(4);
    assert_eq!(output.terminal()["outcome"]["limit"]["limit"], "wall");
    world.exec_at(&server, &["--continue", "again"]).run().exits(0);
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn wall_time_while_a_call_runs() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "echo begun; read never < fifo" } }]
        [[reply]]
        expect = { last_user_contains = "again" }
        text = "done"
    "#;
    let _fifo = crate::fifo::Fifo::new(&world.path("work/fifo"));
    let arguments = ["--allow", "Bash", "--timeout", "2", "--json", "hello"];
    let output = world.exec(script, &arguments).run().exits(4);
    assert_eq!(output.terminal()["outcome"]["limit"]["limit"], "wall");
    let output = world.exec(script, &["--no-sandbox", "--continue", "again"]).run();
    // The script begins anew with each process; that it answers at all shows a valid history.
    assert!(output.stderr.contains("Bash"), "{}", output.stderr);
    crate::processes::wait_until_gone(&world);
}

#[test]
fn zero_means_none() {
    let world = World::new();
    let flags = ["--max-rounds", "0", "--max-tokens", "0", "--max-cost", "0", "--timeout", "0"];
    let script = "[[reply]]\ntext = \"hi\"\nusage = { input = 900000000, output = 90000000 }";
    world.exec(script, &[&flags[..], &["hello"]].concat()).run().exits(0);
}
