//! The page on scripted models: each of its scripts is played with the tools that heeler has.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;

use crate::support::World;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/scripted-models.md");

/// The scripts of the page, each with the extension that tells its format.
fn scripts() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(PAGE).unwrap();
    // Every second part stands between two fences.
    let fenced = page.split("```").skip(1).step_by(2).filter_map(|part| part.split_once('\n'));
    let scripts = fenced.filter(|(kind, _)| matches!(*kind, "toml" | "jsonl"));
    scripts.map(|(kind, text)| (kind.to_owned(), text.to_owned())).collect()
}

/// A folder in which there is what the scripts look for, and a `cargo` that takes no time.
fn world() -> World {
    let world = World::new();
    for folder in ["work/src", "bin"] {
        std::fs::create_dir(world.path(folder)).unwrap();
    }
    world.write("work/src/main.rs", "fn main() {\n    total();\n}\n\nfn total() {}\n");
    let cargo = world.write("bin/cargo", "#!/bin/sh\necho 'test result: ok. 3 passed'\n");
    std::fs::set_permissions(cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    world
}

#[test]
fn every_script_of_the_page_does_what_it_says() {
    let mut played = String::new();
    for (kind, script) in scripts() {
        let world = world();
        // Silence would be waited for as long as for a real server: five minutes.
        let script = script.replace("stall = {}", "cut = {}");
        let file = world.write(&format!("script.{kind}"), &script);
        let model = format!("script:{}", file.display());
        let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
        let arguments = ["exec", "--json", "--model", &model, "--allow", "Bash", "go"];
        let output = world.heeler(&arguments).env("PATH", path).run();
        let end = output.terminal();
        let calls = output.of_type("call_finished");
        let n_failed = calls.iter().filter(|call| call["is_error"] == true).count();
        let (n_calls, answer) = (calls.len(), &end["answer"]);
        let code = output.code;
        writeln!(played, "{kind}: {code}, {n_calls} calls, {n_failed} failed, {answer}").unwrap();
    }
    expect![[r#"
        toml: 0, 1 calls, 0 failed, "It has a main function."
        jsonl: 0, 1 calls, 0 failed, "It has a main function."
        toml: 5, 2 calls, 1 failed, ""
        toml: 0, 1 calls, 0 failed, "The tests pass."
        toml: 0, 2 calls, 0 failed, "It is in src/main.rs, line 5."
        toml: 0, 0 calls, 0 failed, "I am back."
        jsonl: 0, 0 calls, 0 failed, "Done."
    "#]]
    .assert_eq(&played);
}
