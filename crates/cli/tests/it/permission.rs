//! What runs without anybody to ask: modes and rules, deny first.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use heeler_testkit::require;

use crate::support::{World, can_confine};

/// Each call, in a round of its own, with what it would leave in the workspace.
const CALLS: [(&str, &str); 5] = [
    ("LS", r#"{ path = "." }"#),
    ("Write", r#"{ file_path = "new.txt", content = "new" }"#),
    ("Bash", r#"{ command = "touch simple" }"#),
    ("Bash", r#"{ command = "touch a && touch b" }"#),
    ("Read", r#"{ file_path = "../outside.txt" }"#),
];

/// Runs each call under these flags without a box: which ran, and what is there afterwards.
fn check(flags: &[&str], expected: Expect) {
    check_all(&[&["--no-sandbox"], flags].concat(), expected);
}

fn check_all(flags: &[&str], expected: Expect) {
    let world = World::new();
    world.write("outside.txt", "secret");
    let mut script = String::new();
    for (name, input) in CALLS {
        write!(script, "[[reply]]\nblocks = [{{ call = \"{name}\", input = {input} }}]\n").unwrap();
    }
    script.push_str("[[reply]]\ntext = \"done\"\n");
    let output = world.exec(&script, &[flags, &["--json", "go"]].concat()).run().exits(0);
    let finished = output.of_type("call_finished");
    assert_eq!(finished.len(), CALLS.len());
    let mut told = String::new();
    for (call, (name, input)) in finished.iter().zip(CALLS) {
        let verdict =
            if call["is_error"] == true { call["summary"].as_str().unwrap() } else { "ran" };
        writeln!(told, "{name} {input}: {verdict}").unwrap();
    }
    let started = output.of_type("call_started").len();
    assert_eq!(started, finished.iter().filter(|call| call["is_error"] == false).count());
    let mut left: Vec<_> = std::fs::read_dir(world.workspace())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    writeln!(told, "left: {}", left.join(" ")).unwrap();
    expected.assert_eq(&world.plain(&told));
}

#[test]
fn with_a_box_commands_that_stay_in_it_run() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    check_all(
        &[],
        expect![[r#"
        LS { path = "." }: ran
        Write { file_path = "new.txt", content = "new" }: Not allowed: it writes WORLD/work/new.txt, which no rule allows…
        Bash { command = "touch simple" }: ran
        Bash { command = "touch a && touch b" }: ran
        Read { file_path = "../outside.txt" }: Not allowed: it reads WORLD/outside.txt, which no rule allows, …
        left: a b simple
    "#]],
    );
    check_all(
        &["--deny", "Bash(touch simple)", "--permission-mode", "ask"],
        expect![[r#"
        LS { path = "." }: ran
        Write { file_path = "new.txt", content = "new" }: Not allowed: it writes WORLD/work/new.txt, and nobody can be as…
        Bash { command = "touch simple" }: Not allowed: the rule Bash(touch simple) (--deny) denies it.
        Bash { command = "touch a && touch b" }: ran
        Read { file_path = "../outside.txt" }: Not allowed: it reads WORLD/outside.txt, and nobody can be aske…
        left: a b
    "#]],
    );
}

#[test]
fn without_flags_reads_in_the_workspace_run_and_nothing_else() {
    check(
        &[],
        expect![[r#"
        LS { path = "." }: ran
        Write { file_path = "new.txt", content = "new" }: Not allowed: it writes WORLD/work/new.txt, which no rule allows…
        Bash { command = "touch simple" }: Not allowed: it runs the command `touch simple`, which no rule allows, and nobo…
        Bash { command = "touch a && touch b" }: Not allowed: it runs the command `touch a && touch b`, which no rule allows, an…
        Read { file_path = "../outside.txt" }: Not allowed: it reads WORLD/outside.txt, which no rule allows, …
        left: 
    "#]],
    );
}

#[test]
fn ask_means_deny_where_nobody_can_be_asked() {
    check(
        &["--permission-mode", "ask"],
        expect![[r#"
        LS { path = "." }: ran
        Write { file_path = "new.txt", content = "new" }: Not allowed: it writes WORLD/work/new.txt, and nobody can be as…
        Bash { command = "touch simple" }: Not allowed: it runs the command `touch simple`, and nobody can be asked.
        Bash { command = "touch a && touch b" }: Not allowed: it runs the command `touch a && touch b`, and nobody can be asked.
        Read { file_path = "../outside.txt" }: Not allowed: it reads WORLD/outside.txt, and nobody can be aske…
        left: 
    "#]],
    );
}

#[test]
fn accept_edits_writes_inside_the_workspace_only() {
    check(
        &["--permission-mode", "accept-edits"],
        expect![[r#"
        LS { path = "." }: ran
        Write { file_path = "new.txt", content = "new" }: ran
        Bash { command = "touch simple" }: Not allowed: it runs the command `touch simple`, and nobody can be asked.
        Bash { command = "touch a && touch b" }: Not allowed: it runs the command `touch a && touch b`, and nobody can be asked.
        Read { file_path = "../outside.txt" }: Not allowed: it reads WORLD/outside.txt, and nobody can be aske…
        left: new.txt
    "#]],
    );
}

#[test]
fn plan_changes_nothing_whatever_is_allowed() {
    let flags = ["--permission-mode", "plan", "--allow", "Bash", "--allow", "Write"];
    check(
        &flags,
        expect![[r#"
        LS { path = "." }: ran
        Write { file_path = "new.txt", content = "new" }: Not allowed: plan mode is read-only, and this call writes WORLD…
        Bash { command = "touch simple" }: Not allowed: plan mode is read-only, and this call runs the command `touch simp…
        Bash { command = "touch a && touch b" }: Not allowed: plan mode is read-only, and this call runs the command `touch a &&…
        Read { file_path = "../outside.txt" }: Not allowed: it reads WORLD/outside.txt, and nobody can be aske…
        left: 
    "#]],
    );
}

#[test]
fn bypass_runs_all_but_what_is_denied() {
    check(
        &["--permission-mode", "bypass"],
        expect![[r#"
        LS { path = "." }: ran
        Write { file_path = "new.txt", content = "new" }: ran
        Bash { command = "touch simple" }: ran
        Bash { command = "touch a && touch b" }: ran
        Read { file_path = "../outside.txt" }: ran
        left: a b new.txt simple
    "#]],
    );
    let flags = ["--permission-mode", "bypass", "--deny", "Bash(touch:*)", "--deny", "Edit"];
    check(
        &flags,
        expect![[r#"
            LS { path = "." }: ran
            Write { file_path = "new.txt", content = "new" }: Not allowed: the rule Edit (--deny) denies it.
            Bash { command = "touch simple" }: Not allowed: the rule Bash(touch:*) (--deny) denies it.
            Bash { command = "touch a && touch b" }: Not allowed: the rule Bash(touch:*) (--deny) denies it.
            Read { file_path = "../outside.txt" }: ran
            left: 
        "#]],
    );
}

#[test]
fn a_rule_allows_simple_commands_and_deny_wins_over_allow() {
    check(
        &["--allow", "Bash(touch:*)"],
        expect![[r#"
            LS { path = "." }: ran
            Write { file_path = "new.txt", content = "new" }: Not allowed: it writes WORLD/work/new.txt, which no rule allows…
            Bash { command = "touch simple" }: ran
            Bash { command = "touch a && touch b" }: ran
            Read { file_path = "../outside.txt" }: Not allowed: it reads WORLD/outside.txt, which no rule allows, …
            left: a b simple
        "#]],
    );
    let flags = ["--allow", "Bash", "--deny", "Bash(touch simple)", "--allow", "Edit(*.txt)"];
    check(
        &flags,
        expect![[r#"
            LS { path = "." }: ran
            Write { file_path = "new.txt", content = "new" }: ran
            Bash { command = "touch simple" }: Not allowed: the rule Bash(touch simple) (--deny) denies it.
            Bash { command = "touch a && touch b" }: ran
            Read { file_path = "../outside.txt" }: Not allowed: it reads WORLD/outside.txt, which no rule allows, …
            left: a b new.txt
        "#]],
    );
}

#[test]
fn it_is_said_once_that_commands_are_not_confined() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let world = World::new();
    let script = "[[reply]]\ntext = \"hi\"";
    let output = world.exec(script, &["--no-sandbox", "hello"]).run().exits(0);
    assert_eq!(output.stderr.matches("commands are not confined").count(), 1);
    let output = world.exec(script, &["hello"]).run().exits(0);
    assert_eq!(output.stderr.matches("confined").count(), 0);
}
