//! The end of a command in the background is told, once, and nobody is left who should not be.

use heeler_core::{Background, CancellationToken, Completion, ToolOutput};
use heeler_tools::{EXEC_TAIL_BYTES_MAX, ExecStatus};
use serde_json::json;
use tokio::sync::mpsc;

use crate::harness::Case;
use crate::processes::{assert_alive, wait_dead};
use crate::room::Room;

pub(crate) const CASES: &[Case] = crate::cases![
    an_end_is_told_with_the_last_of_the_output,
    what_is_over_at_once_is_answered_and_goes_on_nowhere,
    who_is_cancelled_is_killed_and_told_so,
    of_a_tool_that_is_gone_the_end_is_told_all_the_same,
    where_nobody_would_hear_of_it_nothing_is_promised,
];

/// Hears what handles give, and can say that nobody wants it.
struct Ear {
    heard: mpsc::UnboundedReceiver<ToolOutput>,
    unwanted: CancellationToken,
}

impl Ear {
    async fn hear(&mut self) -> String {
        let output = self.heard.recv().await.unwrap();
        format!("{} {}", output.is_error, output.text_content())
    }
}

fn room() -> (Room, Ear) {
    let (sender, heard) = mpsc::unbounded_channel();
    let unwanted = CancellationToken::new();
    let told = unwanted.clone();
    let background = Background::new(move || {
        let sender = sender.clone();
        Some(Completion::new(told.clone(), move |output| drop(sender.send(output))))
    });
    (Room { background, ..Room::new() }, Ear { heard, unwanted })
}

async fn an_end_is_told_with_the_last_of_the_output() {
    let (room, mut ear) = room();
    let command = "mkfifo go; echo begun; cat go; seq 1 2000; exit 3";
    let input = json!({"action": "run", "command": command, "background": true});
    let (answer, output) = room.unjudged(&input).await;
    assert_eq!((answer.status, answer.output.as_str()), (Some(ExecStatus::Running), "begun"));
    assert!(output.is_background && !output.is_error);
    std::fs::write(room.folder.path().join("go"), "").unwrap();
    let told = ear.hear().await;
    let (head, output) = told.split_once('\n').unwrap();
    assert_eq!(head, r#"true {"sessionId":"x1","status":"exited","exitCode":3}"#);
    let (note, last) = output.split_once('\n').unwrap();
    assert!(note.contains("bytes before this; read gives"), "{note}");
    assert!(last.len() <= EXEC_TAIL_BYTES_MAX && last.ends_with("1999\n2000"), "{last}");
    // All of it is there for who wants to read it.
    let read = room.call(json!({"action": "read", "sessionId": "x1"})).await;
    assert!(read.output.starts_with("1\n2\n") && read.output.ends_with("\n2000"));
}

async fn what_is_over_at_once_is_answered_and_goes_on_nowhere() {
    let (room, _ear) = room();
    let input = json!({"action": "run", "command": "echo done", "background": true});
    let (answer, output) = room.unjudged(&input).await;
    assert_eq!((answer.exit_code, answer.output.as_str()), (Some(0), "done"));
    assert!(!output.is_background);
}

async fn who_is_cancelled_is_killed_and_told_so() {
    let (room, mut ear) = room();
    let mut talk = room.start("echo pid $$ $$; exec sleep 1000", false).await;
    talk.hear("pid ").await;
    let pid: u32 = talk.hear(" ").await.parse().unwrap();
    assert_alive(&[pid], true);
    ear.unwanted.cancel();
    let told = ear.hear().await;
    assert!(told.starts_with(r#"true {"sessionId":"x1","status":"killed""#), "{told}");
    wait_dead(&[pid]);
}

async fn of_a_tool_that_is_gone_the_end_is_told_all_the_same() {
    let (room, mut ear) = room();
    let mut talk = room.start("trap '' HUP TERM; echo pid $$ $$; sleep 1000", true).await;
    talk.hear("pid ").await;
    let pid: u32 = talk.hear(" ").await.parse().unwrap();
    drop(room);
    let told = ear.hear().await;
    assert!(told.starts_with(r#"true {"sessionId":"x1","status":"killed""#), "{told}");
    wait_dead(&[pid]);
}

async fn where_nobody_would_hear_of_it_nothing_is_promised() {
    let room = Room::new();
    let input = json!({"action": "run", "command": "exec sleep 1000", "background": true});
    let (answer, output) = room.unjudged(&input).await;
    assert_eq!(answer.status, Some(ExecStatus::Running));
    assert!(!output.is_background);
}
