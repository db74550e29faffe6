//! The list of steps: what was written last is there in the next process, and after a compaction.

use heeler_script::Script;
use heeler_testkit::MockServer;

use crate::support::World;

/// Writes the list twice, then reads it in a process after the other, the third of which compacts.
const SCRIPT: &str = r#"
[script]
epoch = "may change"
[[reply]]
blocks = [{ call = "TodoWrite", input = { todos = [{ content = "the first plan", status = "pending" }] } }]
[[reply]]
blocks = [{ call = "TodoWrite", input = { todos = [
    { content = "look around", status = "completed" },
    { content = "mend the roof", status = "in_progress" }] } }]
[[reply]]
text = "planned"

[[reply]]
blocks = [{ call = "TodoRead", input = {} }]
[[reply]]
expect = { tool_result_contains = "1 of 2 done; now: mend the roof" }
blocks = [{ call = "LS", input = { path = "." } }]
[[reply]]
blocks = [{ call = "LS", input = { path = "." } }]
[[reply]]
blocks = [{ call = "LS", input = { path = "." } }]
[[reply]]
blocks = [{ call = "LS", input = { path = "." } }]
[[reply]]
text = "read"

[[reply]]
for = "summary"
text = "There was talk."
[[reply]]
blocks = [{ call = "TodoRead", input = {} }]
[[reply]]
expect = { tool_result_contains = "1 of 2 done; now: mend the roof" }
text = "read again"

[[reply]]
blocks = [{ call = "TodoRead", input = {} }]
[[reply]]
expect = { tool_result_contains = "1 of 2 done; now: mend the roof" }
text = "and again"
"#;

#[test]
fn the_list_outlives_its_process_and_a_compaction() {
    let world = World::new();
    let server = MockServer::start(Script::parse(SCRIPT).unwrap());
    let exec = |arguments: &[&str]| world.heeler(&[&["exec"], arguments].concat()).at(&server);
    let long = "plan it ".repeat(1500);
    exec(&["--model", "claude-haiku-4-5", &long]).run().exits(0);
    let read = exec(&["--continue", "where are we?"]).run().exits(0);
    assert_eq!(read.stdout.trim(), "read");
    let small = exec(&["--continue", &"and now? ".repeat(1000)]);
    let small = small.env("HEELER_CONTEXT_LIMIT", "6500").run().exits(0);
    assert_eq!(small.stdout.trim(), "read again");
    let last = exec(&["--continue", "and now?"]).run().exits(0);
    assert_eq!(last.stdout.trim(), "and again");

    // What the model saw right after the compaction has of the list only what is not done.
    let requests = server.requests();
    let asked = &requests[requests.len() - 4].body;
    let asked = String::from_utf8(asked.clone()).unwrap();
    assert!(asked.contains("There was talk."), "the session was compacted");
    assert!(asked.contains("[>] mend the roof"), "the open step stands beside the summary");
    assert!(!asked.contains("the first plan"), "the list was in the part that is summarized");
}
