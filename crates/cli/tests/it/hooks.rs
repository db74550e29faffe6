//! Hooks of settings files, as `exec` runs them.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::json;

use crate::support::{Output, World};

/// A turn that runs a command and ends.
const SCRIPT: &str = r#"
[[reply]]
blocks = [{ call = "Bash", input = { command = "touch made" } }]
[[reply]]
text = "done"
"#;

/// The user's settings with one hook.
pub(crate) fn set(world: &World, event: &str, command: &str) {
    let hook = json!({ "type": "command", "command": command, "timeout": 30 });
    let settings = json!({ "hooks": { event: [{ "matcher": "", "hooks": [hook] }] } });
    std::fs::create_dir_all(world.path(".claude")).unwrap();
    world.write(".claude/settings.json", settings.to_string());
}

fn run(world: &World) -> Output {
    world.exec(SCRIPT, &["--permission-mode", "bypass", "go"]).run()
}

/// The turn beside this hook: how it ended, whether the command ran, and what was told.
fn check(event: &str, command: &str, expected: Expect) {
    let world = World::new();
    set(&world, event, command);
    let output = run(&world);
    let ran = world.workspace().join("made").exists();
    let mut told = format!("exit {}, ran: {ran}\n{}", output.code, output.stdout);
    let usual = ["not confined", "session", " tokens in "];
    for line in output.stderr.lines().filter(|line| !usual.iter().any(|u| line.contains(u))) {
        writeln!(told, "{line}").unwrap();
    }
    expected.assert_eq(&world.plain(&told));
}

#[test]
fn a_hook_denies_where_everything_else_is_allowed() {
    check(
        "PreToolUse",
        "echo not here >&2; exit 2",
        expect![[r#"
            exit 0, ran: false
            done
              ! Bash: not allowed
                Bash: the hook `echo not here >&2; exit 2 (~/.claude/settings.json:1)` denies it: not here.
        "#]],
    );
}

#[test]
fn a_broken_hook_blocks_and_says_so() {
    check(
        "PreToolUse",
        "./no-such-guard",
        expect![[r#"
            exit 0, ran: false
            done
            heeler: the PreToolUse hook `./no-such-guard (~/.claude/settings.json:1)` is broken: it ended with exit code 127: bash: line 1: ./no-such-guard: No such file or directory
              ! Bash: not allowed
                Bash: the hook `./no-such-guard (~/.claude/settings.json:1)` is broken (it ended with exit code 127: bash: line 1: ./no-such-guard: No such file or directory), so the call was not run; nobody denied it, and trying again helps only once the hook is mended.
        "#]],
    );
}

#[test]
fn a_broken_hook_after_a_call_is_told() {
    check(
        "PostToolUse",
        "exit 1",
        expect![[r#"
        exit 0, ran: true
        done
          > Bash: touch made
        heeler: the PostToolUse hook `exit 1 (~/.claude/settings.json:1)` is broken: it ended with exit code 1
    "#]],
    );
}

#[test]
fn a_broken_hook_at_the_end_is_told() {
    check(
        "SessionEnd",
        "exit 1",
        expect![[r#"
        exit 0, ran: true
        done
          > Bash: touch made
        heeler: the SessionEnd hook `exit 1 (~/.claude/settings.json:1)` is broken: it ended with exit code 1
    "#]],
    );
    let world = World::new();
    set(&world, "SessionEnd", "exit 1");
    let output =
        world.exec(SCRIPT, &["--permission-mode", "bypass", "--json", "go"]).run().exits(0);
    let ends = output.of_type("hook_finished");
    assert_eq!(ends[0]["end"]["broken"]["why"], "it ended with exit code 1");
    assert_eq!(output.terminal()["answer"], "done");
}

#[test]
fn the_reason_of_a_denial_is_told_whole() {
    let reason = "the deploy folder is frozen until the release of next week, so ask Mary before you touch it";
    check(
        "PreToolUse",
        &format!("echo {reason} >&2; exit 2"),
        expect![[r#"
            exit 0, ran: false
            done
              ! Bash: not allowed
                Bash: the hook `echo the deploy folder is frozen until the release of next week, so ask Mary be… (~/.claude/settings.json:1)` denies it: the deploy folder is frozen until the release of next week, so ask Mary before you touch it.
        "#]],
    );
}

/// Of several calls each reason stands once, with its tool, also a short one.
#[test]
fn each_denial_is_told_once_with_its_tool() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [
          { call = "Write", input = { file_path = "a", content = "a" } },
          { call = "Bash", input = { command = "touch a" } },
        ]
        [[reply]]
        text = "done"
    "#;
    let flags = ["--deny", "Edit", "--deny", "Bash", "go"];
    let told = world.exec(script, &flags).run().exits(0).stderr;
    expect![[r#"
        heeler: session ID with script:WORLD/script.toml
          ! Write: not allowed
          ! Bash: not allowed
            Write: the rule Edit (--deny) denies it.
            Bash: the rule Bash (--deny) denies it.
        heeler: 4070 tokens in (0 cached), 16 out, cost not known
    "#]]
    .assert_eq(&world.plain(&told));
}

#[test]
fn a_blocked_prompt_ends_with_the_exit_code_of_permission() {
    check(
        "UserPromptSubmit",
        "grep -q '\"go\"' && echo no >&2 && exit 2",
        expect![[r#"
        exit 3, ran: false
        heeler: ended by a denial: the hook `grep -q '"go"' && echo no >&2 && exit 2 (~/.claude/settings.json:1)` did not let the input through: no
        heeler: go on with `heeler exec --resume ID PROMPT`
    "#]],
    );
}

#[test]
fn a_hook_finds_the_journal_and_the_workspace() {
    let find = r#"path=$(sed 's/.*"transcript_path":"\([^"]*\)".*/\1/'); cp "$path" "$CLAUDE_PROJECT_DIR/seen""#;
    let world = World::new();
    set(&world, "Stop", find);
    run(&world).exits(0);
    let seen = world.worked("seen");
    assert!(seen.contains(r#""kind":"model_replied""#), "{seen}");
}

#[test]
fn what_a_hook_decided_is_in_the_audit() {
    let world = World::new();
    set(&world, "PreToolUse", "echo not here >&2; exit 2");
    run(&world).exits(0);
    let [id] = world.ids().try_into().unwrap();
    let audit = world.heeler(&["audit", &id]).run().exits(0);
    assert!(audit.stdout.contains("denied   the hook `echo not here >&2; exit 2"), "{audit:?}");
}

#[test]
fn a_repositorys_hook_does_not_run_before_it_is_trusted() {
    let world = World::new();
    let hook = json!({ "type": "command", "command": "touch ../hooked" });
    let settings = json!({ "hooks": { "SessionStart": [{ "hooks": [hook] }] } });
    std::fs::create_dir_all(world.path("work/.claude")).unwrap();
    world.write("work/.claude/settings.json", settings.to_string());
    run(&world).exits(0);
    assert!(!world.path("hooked").exists());
    world.heeler(&["permissions", "trust", "--yes"]).run().exits(0);
    run(&world).exits(0);
    assert!(world.path("hooked").exists());
}
