//! Calls of one answer: a command finds what was written before it, and what it does is found after it.

use crate::support::World;

/// The commands look at something else while the files are written, or take longer than a read does.
const SCRIPT: &str = r##"
[[reply]]
blocks = [
    { call = "Write", input = { file_path = "new.txt", content = "written\n" } },
    { call = "Bash", input = { command = "cat new.txt && sleep 0.2 && echo changed > old.txt" } },
    { call = "Read", input = { file_path = "old.txt" } },
    { call = "Write", input = { file_path = "last.txt", content = "last\n" } },
    { call = "Bash", input = { command = "cat last.txt" } },
]
[[reply]]
text = "Done."
"##;

#[test]
fn commands_and_tools_for_files_run_in_the_order_of_the_answer() {
    let world = World::new();
    world.write("work/old.txt", "old\n");
    let unconfined = ["--json", "--no-sandbox", "--allow", "Bash", "--allow", "Write", "go"];
    let run = world.exec(SCRIPT, &unconfined).run().exits(0);
    let messages = run.of_type("message");
    let blocks = messages.iter().flat_map(|it| it["message"]["blocks"].as_array().unwrap());
    let results: Vec<&str> = blocks
        .filter_map(|block| block.get("tool_result")?["content"][0]["text"]["text"].as_str())
        .collect();
    let has = |at: usize, text: &str| results.get(at).is_some_and(|result| result.contains(text));
    assert!(has(1, "written") && has(2, "changed") && has(4, "last"), "{results:?}");
}
