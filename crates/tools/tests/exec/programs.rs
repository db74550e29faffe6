//! Programs that people sit in front of, and ones that behave badly.

use heeler_tools::{EXEC_OUTPUT_BYTES_MAX, ExecStatus};
use serde_json::json;

use crate::harness::Case;
use crate::room::{Room, has, write};

pub(crate) const CASES: &[Case] = crate::cases![
    a_command_in_the_foreground_is_followed_to_its_end,
    a_terminal_in_the_foreground_is_one,
    folder_variables_and_timeout_are_heeded,
    python_answers_on_a_terminal_and_through_pipes,
    bash_has_jobs_and_heeds_keys,
    less_is_moved_by_keys_in_its_own_way,
    vim_writes_a_file,
    top_shows_and_is_resized,
    of_a_gigabyte_beginning_and_end_are_kept,
    who_ignores_the_signal_is_killed,
    who_never_reads_holds_nobody_up,
    a_key_that_is_written_in_two_halves_is_heard_whole,
];

async fn a_command_in_the_foreground_is_followed_to_its_end() {
    let room = Room::new();
    let run = |command: &str| json!({"action": "run", "command": command});
    let answer = room.call(run("echo out; echo err >&2; cat")).await;
    assert_eq!((answer.status, answer.exit_code), (Some(ExecStatus::Exited), Some(0)));
    assert_eq!(answer.output, "out\nerr");
    let (answer, output) = room.unjudged(&run("echo no; exit 3")).await;
    assert_eq!((answer.exit_code, output.is_error), (Some(3), true));
    let answer = room.call(json!({"action": "list"})).await;
    assert_eq!(answer.sessions, []);
}

async fn a_terminal_in_the_foreground_is_one() {
    let room = Room::new();
    let command = "test -t 0 && echo $TERM; stty size";
    let answer = room.call(json!({"action": "run", "command": command, "pty": true})).await;
    assert_eq!(answer.output, "xterm\n24 80");
    let input =
        json!({"action": "run", "command": "stty size", "pty": true, "rows": 9, "columns": 70});
    assert_eq!(room.call(input).await.output, "9 70");
}

async fn folder_variables_and_timeout_are_heeded() {
    let room = Room::new();
    std::fs::create_dir(room.folder.path().join("sub")).unwrap();
    let input = json!({"action": "run", "command": "basename $PWD; echo $A", "cwd": "sub",
        "env": {"A": "it's"}});
    assert_eq!(room.call(input).await.output, "sub\nit's");
    let input = json!({"action": "run", "command": "echo a; sleep 1000", "timeout": 100});
    let (answer, output) = room.unjudged(&input).await;
    assert_eq!((answer.status, answer.output.as_str()), (Some(ExecStatus::TimedOut), "a"));
    assert!(output.is_error);
    let input = json!({"action": "run", "command": "ls", "cwd": "none"});
    assert!(room.error(input).await.contains("it is not a folder that can be entered"));
    let input = json!({"action": "run", "command": "ls", "env": {"A=B": ""}});
    assert_eq!(room.error(input).await, "`A=B` is no name of a variable");
    // Those of heeler itself stay out.
    let input = json!({"action": "run", "command": "env | grep -c CARGO_MANIFEST"});
    assert_eq!(room.call(input).await.output, "0");
}

async fn python_answers_on_a_terminal_and_through_pipes() {
    if !has("python3") {
        return;
    }
    let room = Room::new();
    let mut talk = room.start("python3 -q", true).await;
    talk.hear(">>> ").await;
    talk.write("2**100\n").await;
    talk.hear("1267650600228229401496703205376").await;
    talk.keys("ctrl-d").await;
    assert_eq!(talk.end().await.exit_code, Some(0));
    let mut talk = room.start("python3 -c 'print(input())'", false).await;
    talk.write("said\n").await;
    talk.hear("said").await;
    assert_eq!(talk.end().await.exit_code, Some(0));
    let mut talk = room.start("python3 -", false).await;
    talk.write("print(6*7)\n").await;
    // Through a pipe the end of input is a key as well.
    talk.keys("ctrl-d").await;
    talk.hear("42").await;
    assert_eq!(talk.end().await.exit_code, Some(0));
}

async fn bash_has_jobs_and_heeds_keys() {
    let room = Room::new();
    let mut talk = room.start("exec env PS1='ready> ' bash --norc --noprofile -i", true).await;
    talk.hear("ready> ").await;
    talk.write("sh -c 'echo on; exec sleep 1000'\n").await;
    talk.hear("\non").await;
    talk.keys("ctrl-z").await;
    talk.hear("Stopped").await;
    talk.hear("ready> ").await;
    talk.write("echo $((6*7))\n").await;
    talk.hear("\n42").await;
    talk.hear("ready> ").await;
    talk.keys("up, enter").await;
    talk.hear("\n42").await;
    talk.hear("ready> ").await;
    let answer = talk.act("kill", json!({})).await;
    assert_eq!(answer.status, Some(ExecStatus::Killed));
}

async fn less_is_moved_by_keys_in_its_own_way() {
    if !has("less") {
        return;
    }
    let room = Room::new();
    let text: String = (1..=500).map(|n| format!("line {n}\n")).collect();
    write(room.folder.path(), "long.txt", &text);
    let mut talk = room.start("less long.txt", true).await;
    talk.hear("line 23").await;
    // It has asked for the keys of applications, and takes no others.
    talk.keys("down").await;
    talk.hear("line 24").await;
    talk.keys("G").await;
    talk.hear("line 500").await;
    talk.keys("q").await;
    assert_eq!(talk.end().await.exit_code, Some(0));
}

async fn vim_writes_a_file() {
    if !has("vim") {
        return;
    }
    let room = Room::new();
    let mut talk = room.start("vim -u NONE -i NONE -n new.txt", true).await;
    talk.hear("new.txt").await;
    talk.write("ione").await;
    talk.keys("enter").await;
    talk.write("two").await;
    talk.keys("esc").await;
    talk.write(":wq\r").await;
    assert_eq!(talk.end().await.exit_code, Some(0));
    assert_eq!(room.read("new.txt"), "one\ntwo\n");
}

async fn top_shows_and_is_resized() {
    if !has("top") {
        return;
    }
    let room = Room::new();
    let mut talk = room.start("top -d 100", true).await;
    talk.hear("PID").await;
    talk.act("read", json!({"rows": 50, "columns": 150})).await;
    talk.hear("PID").await;
    talk.keys("q").await;
    assert_eq!(talk.end().await.exit_code, Some(0));
}

async fn of_a_gigabyte_beginning_and_end_are_kept() {
    let room = Room::new();
    let command = "echo begin; head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo end";
    let input = json!({"action": "run", "command": command, "timeout": 300_000});
    let answer = room.call(input).await;
    let left_out = format!("[... {} bytes left out ...]", 1_000_000_011 - EXEC_OUTPUT_BYTES_MAX);
    assert!(answer.output.starts_with("begin\nxxx") && answer.output.ends_with("x\nend"));
    assert!(answer.output.contains(&left_out), "{left_out}");
    assert!(answer.output.len() < EXEC_OUTPUT_BYTES_MAX + 100);
}

async fn who_ignores_the_signal_is_killed() {
    let room = Room::new();
    for pty in [false, true] {
        let command = "trap '' TERM HUP; trap 'echo no' USR1; kill -USR1 $$; sleep 1000";
        let mut talk = room.start(command, pty).await;
        talk.hear("no").await;
        let answer = talk.act("kill", json!({})).await;
        assert_eq!(answer.status, Some(ExecStatus::Killed));
        assert!(!talk.write("x").await.error.unwrap().is_empty());
    }
}

async fn who_never_reads_holds_nobody_up() {
    let room = Room::new();
    for (command, pty) in [("echo on; sleep 1000", false), ("stty raw; echo on; sleep 1000", true)]
    {
        let mut talk = room.start(command, pty).await;
        talk.hear("on").await;
        let error = loop {
            if let Some(error) = talk.write(&"x".repeat(16 * 1024)).await.error {
                break error;
            }
        };
        assert!(error.starts_with("it does not read: "), "{error}");
        assert_eq!(talk.act("poll", json!({})).await.status, Some(ExecStatus::Running));
    }
}

/// No half of it is known as a key, so the first one waits for the second.
async fn a_key_that_is_written_in_two_halves_is_heard_whole() {
    let room = Room::new();
    let (one, two) = "ghp_q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuC".split_at(20);
    let command = format!("printf 'key {one}'; read go; printf '{two} done\\n'; read go");
    let mut talk = room.start(&command, false).await;
    talk.hear("key ").await;
    let answer = talk.act("write", json!({"data": "go\n", "timeout": 20_000})).await;
    assert_eq!(answer.output, format!("{one}{two} done"));
}
