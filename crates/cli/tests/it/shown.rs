//! With shorter results the model is shown less, and changes and commits only what it was shown.

use std::fmt::Write as _;

use crate::committed::git;
use crate::support::{Output, World};

/// Plays a script under the shortest results.
fn play(world: &World, script: &str, flags: &[&str]) -> Output {
    world.write("home/settings.toml", "[context]\nresult_chars = 10000\n");
    world.exec(script, &[flags, &["go"]].concat()).run().exits(0)
}

fn lines(n: usize) -> String {
    (1..=n).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "line {n} of a file that is longer than one result");
        text
    })
}

#[test]
fn a_file_that_is_read_in_parts_may_be_edited_and_not_written_over() {
    let world = World::new();
    world.write("work/big.txt", lines(600));
    let script = r#"
        [[reply]]
        blocks = [{ call = "Read", input = { file_path = "big.txt" } }]
        [[reply]]
        expect = { tool_result_contains = ["offset"] }
        blocks = [
          { call = "Edit", input = { file_path = "big.txt", old_string = "line 7 of", new_string = "line seven of" } },
          { call = "Write", input = { file_path = "big.txt", content = "short" } },
        ]
        [[reply]]
        expect = { tool_result_contains = ["Edited", "would lose what you have not seen"], tool_result_is_error = [false, true] }
        text = "Done."
    "#;
    play(&world, script, &["--allow", "Edit", "--allow", "Write"]);
    assert_eq!(world.worked("big.txt"), lines(600).replace("line 7 of", "line seven of"));
}

#[test]
fn who_changed_a_file_knows_it_however_long_the_result_is() {
    let world = World::new();
    let long = "x".repeat(250);
    let text = format!("foo {long}\n").repeat(60);
    world.write("work/b.txt", &text);
    let edit = |old: &str, new: &str| {
        format!(
            r#"{{ call = "Edit", input = {{ file_path = "b.txt", old_string = "{old}", new_string = "{new}", replace_all = true }} }}"#
        )
    };
    let script = format!(
        r#"
        [[reply]]
        blocks = [{{ call = "Read", input = {{ file_path = "b.txt", limit = 5 }} }}]
        [[reply]]
        blocks = [{}]
        [[reply]]
        expect = {{ tool_result_contains = ["characters left out"] }}
        blocks = [{}]
        [[reply]]
        expect = {{ tool_result_is_error = [false] }}
        text = "Done."
        "#,
        edit("foo", "bar"),
        edit("bar", "baz"),
    );
    play(&world, &script, &["--allow", "Edit"]);
    assert_eq!(world.worked("b.txt"), text.replace("foo", "baz"));
}

#[test]
fn nothing_is_committed_of_which_a_part_was_cut_out() {
    let world = World::new();
    world.write("work/big.txt", "");
    for arguments in ["init -q -b main", "config user.name Me", "config user.email me@example.com"]
    {
        git(&world, arguments);
    }
    git(&world, "add big.txt");
    git(&world, "commit -q -m first");
    world.write("work/big.txt", lines(400));
    let commit = r#"
        [[reply]]
        blocks = [{ call = "git_commit", input = { paths = ["big.txt"], message = "lines" } }]
    "#;
    let search =
        "[[reply]]\nblocks = [{ call = \"ToolSearch\", input = { query = \"git commit\" } }]\n";
    let script = format!("{search}{}\n[[reply]]\ntext = \"Done.\"\n", commit.repeat(4));
    let output = play(&world, &script, &["--json", "--allow", "git_commit"]);
    let results = output.of_type("call_finished");
    let failed: Vec<bool> = results.iter().map(|result| result["is_error"] == true).collect();
    // The search, its three pages, and then itself.
    assert_eq!(failed, [false, true, true, true, false]);
    let journal = world.journal_lines().concat();
    for n in 1..=400 {
        assert!(journal.contains(&format!("+line {n} of a file")), "line {n} was not shown");
    }
    assert!(git(&world, "log --format=%s").starts_with("lines"));
}
