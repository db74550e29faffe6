//! Who sees a session, and that what is written to one is what was judged.

use heeler_core::{Access, AgentPath, CallId, ConcernKind};
use serde_json::{Value, json};

use crate::harness::Case;
use crate::room::Room;

pub(crate) const CASES: &[Case] = crate::cases![
    only_its_owner_and_who_made_that_sees_a_session,
    what_is_written_is_what_was_judged,
    facts_are_those_of_bash,
    who_is_confined_writes_to_no_one_outside,
];

async fn only_its_owner_and_who_made_that_sees_a_session() {
    let mut room = Room::new();
    let call = CallId { turn: 1, round: 1, index: 0 };
    room.agent = AgentPath(vec![call]);
    let id = room.start("sleep 1000", false).await.id;
    let poll = json!({"action": "poll", "sessionId": id});
    let hidden = format!(
        "there is no session {id}: it was closed, or ended with an earlier heeler; list tells \
         which there are"
    );
    for (session, agent, is_seen) in [
        ("test", vec![call], true),
        ("test", vec![], true),
        ("test", vec![CallId { index: 1, ..call }], false),
        ("test", vec![call, call], false),
        ("other", vec![call], false),
        ("other", vec![], false),
    ] {
        room.session = session.to_owned();
        room.agent = AgentPath(agent);
        let listed = room.call(json!({"action": "list"})).await.sessions;
        assert_eq!(listed.iter().any(|info| info.session_id == id), is_seen);
        let answer = room.call(poll.clone()).await;
        assert_eq!(answer.error, (!is_seen).then(|| hidden.clone()));
    }
}

async fn what_is_written_is_what_was_judged() {
    let room = Room::new();
    let talk = room.start("cat", false).await;
    let write = |data: &str| json!({"action": "write", "sessionId": talk.id, "data": data});
    let other = "other input was sent since this was asked for; send it again";
    let error = room.unjudged(&write("a\n")).await.0.error;
    assert_eq!(error.as_deref(), Some(other));
    // Two of one reply: the second was judged without the first.
    room.facts(&write("rm -r"));
    room.facts(&write("f x\n"));
    assert_eq!(room.unjudged(&write("rm -r")).await.0.error, None);
    let error = room.unjudged(&write("f x\n")).await.0.error;
    assert_eq!(error.as_deref(), Some(other));
    assert_eq!(room.call(write("f x\n")).await.output, "f x");
}

/// What a call runs by its facts, and why somebody would be asked.
fn said(room: &Room, input: &Value) -> String {
    let facts = room.facts(input);
    let [Access::Shell(line)] = facts.accesses.as_slice() else { return format!("{facts:?}") };
    let commands = line.commands.iter().filter(|command| !command.is_wrapper);
    let commands: Vec<String> = commands.map(|command| command.words.join(" ")).collect();
    let kinds: Vec<ConcernKind> = line.concerns.iter().map(|concern| concern.kind).collect();
    format!("{} {kinds:?}", commands.join("; "))
}

async fn facts_are_those_of_bash() {
    let room = Room::new();
    let run = |command: &str, more: Value| {
        let mut input = json!({"action": "run", "command": command});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    for (input, expected) in [
        (run("git status; ls", json!({})), "git status; ls []"),
        (run("rm -rf x", json!({})), "rm -rf x [Irreversible]"),
        (run("bash", json!({})), "bash [NotUnderstood]"),
        (run("bash", json!({"background": true})), "bash []"),
        (run("rm x", json!({"cwd": "/etc"})), "rm x [Leaves]"),
        (run("ls", json!({"env": {"LD_PRELOAD": "/x"}})), "ls [Environment]"),
        (run("ls", json!({"outside_sandbox": true})), "ls [Leaves]"),
    ] {
        assert_eq!(said(&room, &input), expected, "{input}");
    }
    let id = room.start("bash", false).await.id;
    let write = json!({"action": "write", "sessionId": id, "data": "git push\n"});
    assert_eq!(said(&room, &write), "bash; git push [Leaves, Leaves]");
    let keys = json!({"action": "send-keys", "sessionId": id, "keys": "up,enter"});
    assert!(said(&room, &keys).contains("NotUnderstood"));
    for action in ["list", "poll", "read", "kill"] {
        assert!(room.facts(&json!({"action": action, "sessionId": id})).accesses.is_empty());
    }
}

async fn who_is_confined_writes_to_no_one_outside() {
    let room = Room::new();
    let talk = room.start("cat", false).await;
    let input = json!({"action": "write", "sessionId": talk.id, "data": "x\n"});
    room.facts(&input);
    let mut context = room.context();
    context.confined = true;
    let tool = std::sync::Arc::clone(&room.tool) as std::sync::Arc<dyn heeler_core::Tool>;
    let output = tool.call(context, heeler_core::RawJson::from_value(&input)).await.unwrap();
    assert!(output.is_error && output.text_content().contains("outside of the sandbox"));
}
