//! What a person at a terminal is asked, on a real one.

#![expect(clippy::unwrap_used, reason = "without a terminal these tests fail")]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{World, can_confine, program};

/// Runs a program on a terminal of its own whose person types this; gives its exit code and what
/// the terminal showed.
fn on_terminal(command: Command, typed: &str) -> (i32, String) {
    on_terminal_after(command, "", typed)
}

/// As [`on_terminal`], but nothing is typed before this is shown.
pub(crate) fn on_terminal_after(
    mut command: Command,
    question: &str,
    typed: &str,
) -> (i32, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    // Or the programs of other tests hold the terminal open when nobody is there any more.
    fcntl_setfd(&master, FdFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = || OpenOptions::new().read(true).write(true).open(&path).unwrap();
    command.stdin(slave()).stdout(slave()).stderr(slave());
    let mut child = command.spawn().unwrap();
    // The ends that are kept for the child would keep the terminal open.
    drop(command);
    let mut master = File::from(master);
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains(question) {
        let mut byte = [0];
        master.read_exact(&mut byte).unwrap();
        shown.extend(byte);
    }
    master.write_all(typed.as_bytes()).unwrap();
    // A terminal that everybody has left ends with an error.
    let _ = master.read_to_end(&mut shown);
    let status = child.wait().unwrap();
    let text = String::from_utf8_lossy(&shown).replace("\r\n", "\n");
    (status.code().unwrap_or(-1), text)
}

/// `heeler` in this world, on a machine without user namespaces.
fn without_namespaces(world: &World, arguments: &[&str]) -> Command {
    let heeler = env!("CARGO_BIN_EXE_heeler");
    let mut command = match can_confine() {
        false => program(heeler),
        true => {
            let mut command = program("unshare");
            let line = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
            command.args(["--user", "--map-root-user", "sh", "-c", line, heeler]);
            command
        }
    };
    command.args(arguments);
    world.settle(&mut command);
    command
}

const SCRIPT: &str = r#"
    [[reply]]
    text = "done"
"#;

/// Starts `exec` where no box can be made, and answers; what it exits with and shows.
fn exec(typed: &str) -> (i32, String) {
    let world = World::new();
    let model = world.script(SCRIPT);
    let command = without_namespaces(&world, &["exec", "--model", &model, "go"]);
    on_terminal(command, typed)
}

const ASKED: &str = "without confinement, with your own rights? [y/N]";

#[test]
fn who_says_yes_goes_on_without_the_box() {
    let (code, shown) = exec("y\n");
    assert_eq!(code, 0, "{shown}");
    let missing = shown.find("commands cannot be confined on this machine: ").expect(&shown);
    let asked = shown.find(ASKED).expect(&shown);
    assert!(missing < asked, "what is missing is said first: {shown}");
    assert!(shown.contains("heeler: commands are not confined") && shown.contains("\ndone"));
}

#[test]
fn anything_else_is_the_refusal() {
    for typed in ["\n", "n\n", "yep\n", "\u{4}"] {
        let (code, shown) = exec(typed);
        assert_eq!(code, 2, "{shown}");
        assert!(shown.contains(ASKED) && shown.contains("or use --no-sandbox"), "{shown}");
        assert!(!shown.contains("\ndone"), "{shown}");
    }
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_has_no_window() {
    let world = World::new();
    let mut command = program(env!("CARGO_BIN_EXE_heeler"));
    world.settle(&mut command);
    command.env("TERM", "dumb");
    let (code, shown) = on_terminal(command, "");
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("(TERM=dumb); `heeler exec PROMPT`"), "{shown}");
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let world = World::new();
    let model = world.script(SCRIPT);
    let mut command = without_namespaces(&world, &["exec", "--model", &model, "go"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(!shown.contains(ASKED) && shown.contains("or use --no-sandbox"), "{shown}");
}

#[test]
fn trust_is_granted_by_yes_and_by_nothing_else() {
    let world = World::new();
    std::fs::create_dir(world.path("work/.claude")).unwrap();
    world.write("work/.claude/settings.json", r#"{"permissions":{"allow":["Bash(make:*)"]}}"#);
    let trust = |typed: &str| {
        let mut command = program(env!("CARGO_BIN_EXE_heeler"));
        command.args(["permissions", "trust"]);
        world.settle(&mut command);
        on_terminal(command, typed)
    };
    for typed in ["y\n", "\n", "\u{4}"] {
        let (code, shown) = trust(typed);
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains("Bash(make:*)") && shown.contains("nothing was trusted"), "{shown}");
    }
    let (code, shown) = trust("yes\n");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("Type yes to do so:") && shown.contains("\ntrusted: "), "{shown}");
}

/// After a mistake a person edits once more, goes back to what was there, or keeps it.
#[test]
fn a_mistake_in_an_edited_file_is_asked_about() {
    const QUESTION: &str = "edit it again, go back to what was there, or keep it? [E/b/k]";
    const WRONG: &str = "[tui]\nplain = 3\n";
    for (answer, code, told, left) in [
        ("\n", 0, "is well", "[tui]\nplain = true\n"),
        ("e\n", 0, "is well", "[tui]\nplain = true\n"),
        ("b\n", 0, "is as it was", "# mine\n"),
        ("k\n", 2, "settings.toml:2", WRONG),
        // Who ends the input is not asked for ever.
        ("\u{4}", 2, "settings.toml:2", WRONG),
    ] {
        let world = World::new();
        world.write("home/settings.toml", "# mine\n");
        // The first time it makes the mistake, the second time it mends it.
        let script = "grep -q 'plain = 3' \"$1\" && set -- \"$1\" true || set -- \"$1\" 3\n\
                      printf '[tui]\\nplain = %s\\n' \"$2\" >\"$1\"\n";
        let editor = world.write("editor.sh", script);
        let mut command = program(env!("CARGO_BIN_EXE_heeler"));
        command.args(["config", "edit"]);
        world.settle(&mut command);
        command.env("EDITOR", format!("sh {}", editor.display()));
        let (ended, shown) = on_terminal_after(command, QUESTION, answer);
        assert_eq!(ended, code, "{answer:?}: {shown}");
        assert!(shown.contains("settings.toml:2") && shown.contains(told), "{answer:?}: {shown}");
        let settings = std::fs::read_to_string(world.path("home/settings.toml")).unwrap();
        assert_eq!(settings, left, "{answer:?}");
    }
}

#[test]
fn a_question_of_the_model_is_answered_at_the_terminal() {
    let world = World::new();
    let model = world.script(
        r#"
        [[reply]]
        blocks = [{ call = "ToolSearch", input = { query = "ask_user" } }]
        [[reply]]
        blocks = [{ call = "ask_user", input = { question = "Which port?", choices = ["80", "8080"] } }]
        [[reply]]
        expect = { tool_result_contains = "The user chose: 8080" }
        text = "port 8080"
    "#,
    );
    let mut command = program(env!("CARGO_BIN_EXE_heeler"));
    command.args(["exec", "--no-sandbox", "--model", &model, "go"]);
    world.settle(&mut command);
    let (code, shown) = on_terminal_after(command, "another answer, in one line:", "2\n");
    assert!(code == 0 && shown.contains("  2) 8080") && shown.ends_with("port 8080\n"), "{shown}");
}
