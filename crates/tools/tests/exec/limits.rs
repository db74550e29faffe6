//! Nothing outlives its owner, its time or its number.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use heeler_testkit::VirtualClock;
use heeler_tools::{
    EXEC_DATA_BYTES_MAX, EXEC_IDLE_MILLIS_MAX, EXEC_LIFE_MILLIS_MAX, EXEC_SESSIONS_MAX,
    EXEC_VARIABLES_MAX, ExecStatus,
};
use serde_json::{Map, Value, json};

use crate::harness::Case;
use crate::processes::{assert_alive, kill, wait_dead};
use crate::room::Room;

pub(crate) const CASES: &[Case] = crate::cases![
    all_ends_with_heeler_itself,
    all_ends_with_the_tool,
    a_cancelled_call_ends_what_it_follows_and_nothing_else,
    a_cancelled_call_tells_what_was_said_so_far,
    a_cancelled_poll_waits_no_longer,
    who_is_not_used_ends,
    nobody_lives_for_ever,
    so_many_run_at_once,
    so_many_begin_at_once,
    what_is_too_much_is_refused,
    what_another_action_takes_is_refused,
];

/// How long a test waits for what would else never come.
const GUARD: Duration = Duration::from_secs(30);

/// Makes this executable start sessions, print the ids of their processes, and wait.
pub(crate) const HEELER_MODE: &str = "--be-heeler";

pub(crate) fn be_heeler() -> ! {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let room = Room::new();
        for (command, pty) in [
            ("echo pid $$ $$; exec sleep 1000", false),
            ("trap '' HUP TERM; echo pid $$ $$; sleep 1000", true),
            ("setsid sh -c 'echo pid $$ $$; exec sleep 1000' & wait", true),
        ] {
            let mut talk = room.start(command, pty).await;
            talk.hear("pid ").await;
            println!("{}", talk.hear(" ").await);
        }
        std::future::pending().await
    })
}

async fn all_ends_with_heeler_itself() {
    #[expect(clippy::disallowed_methods, reason = "it is killed, and its launcher with it")]
    let mut heeler = std::process::Command::new(std::env::current_exe().unwrap())
        .arg(HEELER_MODE)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(heeler.stdout.take().unwrap()).lines();
    let pids: Vec<u32> = lines.take(3).map(|line| line.unwrap().parse().unwrap()).collect();
    assert_alive(&pids, true);
    kill(heeler.id());
    heeler.wait().unwrap();
    wait_dead(&pids);
}

async fn all_ends_with_the_tool() {
    let room = Room::new();
    let mut talk = room.start("trap '' HUP TERM; echo pid $$ $$; sleep 1000", true).await;
    talk.hear("pid ").await;
    let pid: u32 = talk.hear(" ").await.parse().unwrap();
    assert_alive(&[pid], true);
    drop(room);
    wait_dead(&[pid]);
}

async fn a_cancelled_call_ends_what_it_follows_and_nothing_else() {
    let mut room = Room::new();
    let mut talk = room.start("echo pid $$ $$; exec sleep 1000", false).await;
    talk.hear("pid ").await;
    let pid: u32 = talk.hear(" ").await.parse().unwrap();
    // However busy the machine is, the end is waited for.
    room.clock = Arc::new(VirtualClock::new(0));
    let fifo = room.folder.path().join("started");
    let input = json!({"action": "run", "command": "echo pid $$ > started; sleep 1000"});
    let (followed, ()) = tokio::join!(room.unjudged(&input), async {
        while !fifo.exists() {
            tokio::task::yield_now().await;
        }
        room.cancel.cancel();
    });
    assert_eq!(followed.0.status, Some(ExecStatus::Killed));
    assert_alive(&[pid], true);
}

async fn a_cancelled_call_tells_what_was_said_so_far() {
    let clock = VirtualClock::new(0);
    let room = Room::with_clock(Arc::new(clock.clone()));
    let begun = room.folder.path().join("begun");
    // It does not end when it is asked to.
    let command = "trap '' TERM; echo so far; touch begun; while :; do sleep 1000; done";
    let input = json!({"action": "run", "command": command});
    let cancelled = async {
        while !begun.exists() {
            tokio::task::yield_now().await;
        }
        room.cancel.cancel();
        // Less than the quarter of a second after which nobody listens to it any more.
        while clock.sleepers().first().is_none_or(|first| first.millis() > 100) {
            tokio::task::yield_now().await;
        }
        clock.advance(100);
    };
    let both = async { tokio::join!(room.unjudged(&input), cancelled) };
    let ((answer, output), ()) = tokio::time::timeout(GUARD, both).await.unwrap();
    assert_eq!((answer.status, answer.output.as_str()), (Some(ExecStatus::Killed), "so far"));
    assert!(output.is_error);
    let answer = room.unjudged(&json!({"action": "run", "command": "touch never"})).await.0;
    assert_eq!(answer.error.as_deref(), Some("cancelled before it started"));
}

async fn a_cancelled_poll_waits_no_longer() {
    let room = Room::new();
    let talk = room.start("echo on; sleep 1000", false).await;
    room.cancel.cancel();
    let poll = json!({"action": "poll", "sessionId": talk.id, "timeout": 600_000});
    let answer = tokio::time::timeout(GUARD, room.call(poll)).await.unwrap();
    assert_eq!(answer.status, Some(ExecStatus::Running));
}

/// A session under a clock of the test's, which says when it is known to have started.
async fn under_clock(clock: &VirtualClock) -> (Room, String) {
    let room = Room::with_clock(Arc::new(clock.clone()));
    let input = json!({"action": "run", "command": "echo on; sleep 1000", "background": true});
    let mut run = Box::pin(room.call(input));
    // The call is over when it is quiet for a while, which is up to us.
    let answer = loop {
        tokio::select! {
            biased;
            answer = &mut run => break answer,
            () = tokio::task::yield_now() => {
                if clock.sleepers().first().is_some_and(|first| first.millis() <= 100) {
                    clock.advance(100);
                }
            }
        }
    };
    assert_eq!(answer.output, "on");
    drop(run);
    (room, answer.session_id.unwrap())
}

/// How a session stands once it has ended.
async fn ended(room: &Room, id: &str) -> Option<ExecStatus> {
    loop {
        let listed = room.call(json!({"action": "list"})).await.sessions;
        let status = listed.into_iter().find(|info| info.session_id == id).map(|info| info.status);
        if status != Some(ExecStatus::Running) {
            return status;
        }
        tokio::task::yield_now().await;
    }
}

async fn who_is_not_used_ends() {
    let clock = VirtualClock::new(0);
    let (room, id) = under_clock(&clock).await;
    clock.advance(EXEC_IDLE_MILLIS_MAX - 1_000);
    // Used once more, it has as long again.
    let used = room.call(json!({"action": "poll", "sessionId": id})).await;
    assert_eq!(used.status, Some(ExecStatus::Running));
    clock.advance(EXEC_IDLE_MILLIS_MAX - 1_000);
    let used = room.call(json!({"action": "list"})).await.sessions;
    assert_eq!(used[0].status, ExecStatus::Running);
    clock.advance(1_000);
    assert_eq!(ended(&room, &id).await, Some(ExecStatus::Idle));
}

async fn nobody_lives_for_ever() {
    let clock = VirtualClock::new(0);
    let (room, id) = under_clock(&clock).await;
    let step = EXEC_IDLE_MILLIS_MAX / 2;
    for _ in 0..EXEC_LIFE_MILLIS_MAX / step - 1 {
        clock.advance(step);
        let used = room.call(json!({"action": "poll", "sessionId": id})).await;
        assert_eq!(used.status, Some(ExecStatus::Running));
    }
    clock.advance(step);
    assert_eq!(ended(&room, &id).await, Some(ExecStatus::TimedOut));
}

async fn so_many_run_at_once() {
    let mut room = Room::new();
    let mut ids = Vec::new();
    for _ in 0..EXEC_SESSIONS_MAX {
        ids.push(room.start("echo on; sleep 1000", false).await.id);
    }
    let run = json!({"action": "run", "command": "true", "background": true});
    let expected = format!("{EXEC_SESSIONS_MAX} sessions run already; list them and kill one");
    assert_eq!(room.error(run.clone()).await, expected);
    room.session = "other".to_owned();
    assert_eq!(room.call(run.clone()).await.error, None);
    room.session = "test".to_owned();
    room.call(json!({"action": "kill", "sessionId": ids[0]})).await;
    assert_eq!(room.call(run).await.error, None);
}

async fn so_many_begin_at_once() {
    let room = Room::new();
    let run = json!({"action": "run", "command": "echo on; sleep 1000", "background": true});
    let begin = || room.unjudged(&run);
    let all = futures::future::join_all((0..2 * EXEC_SESSIONS_MAX).map(|_| begin())).await;
    let n_begun = all.iter().filter(|(answer, _)| answer.error.is_none()).count();
    assert_eq!(n_begun, EXEC_SESSIONS_MAX);
    // A place that was not used is there again.
    let listed = room.call(json!({"action": "list"})).await.sessions;
    room.call(json!({"action": "kill", "sessionId": listed[0].session_id})).await;
    let lost = json!({"action": "run", "command": "ls", "cwd": "none", "background": true});
    assert!(room.error(lost).await.contains("that can be entered"));
    assert_eq!(room.call(run).await.error, None);
}

async fn what_is_too_much_is_refused() {
    let room = Room::new();
    let id = room.start("cat", false).await.id;
    let write =
        |bytes: usize| json!({"action": "write", "sessionId": id, "data": "x".repeat(bytes)});
    let expected =
        format!("{} bytes; give 1 to {EXEC_DATA_BYTES_MAX} at once", EXEC_DATA_BYTES_MAX + 1);
    assert_eq!(room.error(write(EXEC_DATA_BYTES_MAX + 1)).await, expected);
    assert_eq!(room.call(write(EXEC_DATA_BYTES_MAX)).await.error, None);
    let variables = |count: usize| {
        let env: Map<String, Value> = (0..count).map(|n| (format!("A{n}"), "".into())).collect();
        json!({"action": "run", "command": "true", "env": env})
    };
    let expected =
        format!("env has {} variables; at most {EXEC_VARIABLES_MAX}", EXEC_VARIABLES_MAX + 1);
    assert_eq!(room.error(variables(EXEC_VARIABLES_MAX + 1)).await, expected);
    assert_eq!(room.call(variables(EXEC_VARIABLES_MAX)).await.error, None);
    for (input, expected) in [
        (json!({"action": "run"}), "run needs a command"),
        (json!({"action": "poll"}), "this action needs a sessionId; list tells which there are"),
        (json!({"action": "write", "sessionId": id}), "write needs data"),
        (json!({"action": "send-keys", "sessionId": id}), "send-keys needs keys"),
    ] {
        assert_eq!(room.error(input).await, expected);
    }
    let resized = room.error(json!({"action": "read", "sessionId": id, "rows": 9})).await;
    assert!(resized.contains("has no terminal"), "{resized}");
}

async fn what_another_action_takes_is_refused() {
    let room = Room::new();
    let id = room.start("cat", false).await.id;
    let refused = |field: &str, action: &str| {
        format!("{field} is for {action} alone; leave it out, nothing was done")
    };
    for (input, expected) in [
        (
            json!({"action": "write", "sessionId": id, "data": "touch evil\n", "command": "ls"}),
            refused("command", "run"),
        ),
        (json!({"action": "list", "command": "ls"}), refused("command", "run")),
        (json!({"action": "kill", "sessionId": id, "data": "x"}), refused("data", "write")),
        (json!({"action": "run", "command": "ls", "keys": "up"}), refused("keys", "send-keys")),
    ] {
        assert_eq!(room.error(input).await, expected);
    }
    let filled = json!({"action": "write", "sessionId": id, "data": "on\n", "command": ""});
    let answer = room.call(filled).await;
    assert_eq!((answer.error, answer.output.as_str()), (None, "on"));
}
