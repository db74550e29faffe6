//! What is for the user on its way to them: what, to where, in which order, and never twice.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use heeler_core::{
    BoxFuture, Completion, Event, Input, InputOrigin, Outbound, OutboundMessage, SteeringId,
    ToolOutput,
};
use heeler_engine::Session;
use heeler_providers::scripted::Scripted;
use heeler_script::Script;
use heeler_store::MemoryStore;
use heeler_testkit::VirtualClock;

use crate::common::{
    Stage, TestTool, Watcher, field, parts, paused, settled, stage_with, tool, toolset, virtually,
};

/// Keeps what it is given, or does something else with it.
#[derive(Default)]
struct Post {
    sent: Mutex<Vec<OutboundMessage>>,
    does: Does,
}

#[derive(Clone, Copy, Default)]
enum Does {
    #[default]
    Send,
    Fail,
    Panic,
    Hang,
}

impl Outbound for Post {
    fn send(
        &self,
        message: OutboundMessage,
    ) -> BoxFuture<Result<(), Box<dyn std::error::Error + Send + Sync>>> {
        self.sent.lock().unwrap().push(message);
        match self.does {
            Does::Send => Box::pin(std::future::ready(Ok(()))),
            Does::Fail => Box::pin(std::future::ready(Err("the line is dead".into()))),
            Does::Panic => panic!("no paper"),
            Does::Hang => Box::pin(std::future::pending()),
        }
    }
}

impl Post {
    fn does(does: Does) -> Arc<Self> {
        Arc::new(Self { does, ..Self::default() })
    }

    fn check(&self, expected: Expect) {
        let sent = self.sent.lock().unwrap();
        let lines: Vec<String> = sent.iter().map(|m| serde_json::to_string(m).unwrap()).collect();
        expected.assert_eq(&lines.join("\n"));
    }
}

/// Has a text for the user, and says nothing of it when it is told to be silent.
fn says() -> TestTool {
    tool("says", |_, input| async move {
        let for_user = field(&input, "text");
        let silent = field(&input, "silent") == "true";
        let mut output = ToolOutput { for_user, silent, ..ToolOutput::text("said") };
        if field(&input, "media") == "true" {
            output.media.push("media://a".parse().unwrap());
        }
        Ok(output)
    })
}

async fn session(script: &str, post: &Arc<Post>) -> Stage {
    let post = Arc::clone(post);
    stage_with(script, [says()], |parts| parts.outbound = Some(post)).await
}

fn from(chat: &str) -> Input {
    Input { origin: InputOrigin::chat("matrix", chat), ..Input::text("hi") }
}

#[test]
fn what_calls_have_for_the_user_and_the_answer_go_out_once_and_in_order() {
    let post = Post::does(Does::Send);
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "says", input = { text = "half way" } },
                      { call = "says", input = { text = "secret", silent = true } }]
            [[reply]]
            blocks = [{ call = "says", input = { text = "half way" } },
                      { call = "says", input = { text = "half way", media = true } },
                      { call = "says", input = { text = "" } },
                      { call = "says", input = { text = "Done." } }]
            [[reply]]
            text = "Done."
            [[reply]]
            text = "Done."
        "#;
        let stage = session(script, &post).await;
        stage.session.turn(from("a")).await;
        // What one turn told is news in the next.
        stage.session.turn(from(" ")).await;
        stage.close().await;
    });
    post.check(expect![[r#"
        {"session":"s","turn":1,"call":"1.1.0","to":{"channel":"matrix","chat":"a"},"text":"half way"}
        {"session":"s","turn":1,"call":"1.2.1","to":{"channel":"matrix","chat":"a"},"text":"half way","media":["media://a"]}
        {"session":"s","turn":1,"call":"1.2.3","to":{"channel":"matrix","chat":"a"},"text":"Done."}
        {"session":"s","turn":2,"to":{"channel":"matrix"},"text":"Done."}"#]]);
}

#[test]
fn who_speaks_last_is_answered() {
    let post = Post::does(Does::Send);
    virtually(async {
        let script = r#"
            [[reply]]
            blocks = [{ call = "says", input = { text = "begun" } }]
            [[reply]]
            text = "Done."
        "#;
        let stage = session(script, &post).await;
        let turn = stage.session.turn(from("a"));
        let steering = SteeringId("b".into());
        stage.session.steer(steering, from("b")).await.unwrap();
        turn.await;
        stage.close().await;
    });
    let sent = post.sent.lock().unwrap();
    let chats: Vec<_> = sent.iter().map(|m| (m.text.as_str(), m.to.chat.as_deref())).collect();
    assert_eq!(chats, [("begun", Some("a")), ("Done.", Some("b"))]);
}

/// What watchers are told of messages that do not arrive.
fn check_failure(does: Does, script: &str, expected: Expect) {
    let post = Post::does(does);
    let lines = virtually(async {
        let stage = session(script, &post).await;
        stage.session.turn(from("a")).await;
        settled().await;
        stage.close().await
    });
    let notices: Vec<_> = lines.into_iter().filter(|line| line.starts_with("notice")).collect();
    expected.assert_eq(&notices.join("\n"));
}

#[test]
fn a_message_that_does_not_arrive_is_told_watchers() {
    let answer = "[[reply]]\ntext = \"Done.\"";
    check_failure(
        Does::Fail,
        answer,
        expect!["notice a message did not reach the user: the line is dead"],
    );
    check_failure(
        Does::Panic,
        answer,
        expect!["notice a message did not reach the user: no paper"],
    );
    check_failure(Does::Hang, answer, expect![""]);
    // One is on its way, 256 wait, and the answer comes behind the last of these.
    let calls: Vec<String> =
        (0..257).map(|n| format!("{{ call = \"says\", input = {{ text = \"{n}\" }} }}")).collect();
    let many = format!("[[reply]]\nblocks = [{}]\n{answer}", calls.join(",\n"));
    check_failure(
        Does::Hang,
        &many,
        expect!["notice 256 messages wait to be sent, so one was left out"],
    );
}

#[test]
fn a_message_whose_record_is_written_is_not_sent_by_the_next_process() {
    let script = r#"
        [[reply]]
        blocks = [{ call = "says", input = { text = "half way" } }]
        [[reply]]
        delay_ms = 5000
        repeat = 2
        text = "Done."
    "#;
    let clock = VirtualClock::auto(0, 60_000);
    let model = Scripted::from_script(Script::parse(script).unwrap(), Arc::new(clock.clone()));
    let mut parts = parts(Arc::new(model), Arc::new(MemoryStore::new()), clock);
    parts.tools = toolset([says()]);
    let post = Post::does(Does::Send);
    parts.outbound = Some(Arc::clone(&post) as _);
    let id = || "s".parse().unwrap();
    paused().block_on(async {
        let session = Session::create_with_id(parts.clone(), id(), "/space").await.unwrap();
        let mut watcher = Watcher::new(&session);
        let _turn = session.turn(from("a"));
        watcher.until(|event| matches!(event, Event::ToolText { .. })).await;
    });
    // It died with the message written, whether or not it was on its way.
    let sent = post.sent.lock().unwrap().len();
    assert!(sent <= 1);
    virtually(async {
        let session = Session::open(parts, id()).await.unwrap();
        session.resume().await;
        session.close().await;
    });
    let texts: Vec<String> =
        post.sent.lock().unwrap()[sent..].iter().map(|m| m.text.clone()).collect();
    assert_eq!(texts, ["Done."]);
}

#[test]
fn work_in_the_background_tells_those_it_was_begun_for_once() {
    let (post, taken) = (Post::does(Does::Send), Arc::new(Mutex::new(Vec::<Completion>::new())));
    let handles = Arc::clone(&taken);
    let work = tool("work", move |context, _| {
        let handles = Arc::clone(&handles);
        async move {
            handles.lock().unwrap().extend(context.background.take());
            Ok(ToolOutput::background("it goes on"))
        }
    });
    let script = r#"
        [[reply]]
        blocks = [{ call = "work" }, { call = "work" }, { call = "work" }]
        [[reply]]
        text = "Begun."
        [[reply]]
        text = "Built."
    "#;
    let store = Arc::new(MemoryStore::new());
    let clock = VirtualClock::auto(0, 60_000);
    let model = Scripted::from_script(Script::parse(script).unwrap(), Arc::new(clock.clone()));
    let mut parts = parts(Arc::new(model), store, clock);
    parts.tools = toolset([work]);
    parts.outbound = Some(Arc::clone(&post) as _);
    let id = || "s".parse().unwrap();
    let shown = virtually(async {
        let session = Session::create_with_id(parts.clone(), id(), "/space").await.unwrap();
        let mut watcher = Watcher::new(&session);
        session.turn(from("a")).await;
        let said = |text: &str| ToolOutput { for_user: text.into(), ..ToolOutput::text("built") };
        let mut ends = vec![
            ToolOutput { media: vec!["media://a".parse().unwrap()].into(), ..said("Built.") },
            ToolOutput { silent: true, ..said("A secret.") },
        ];
        while let Some(output) = ends.pop() {
            let call = session.background().await.unwrap()[0].call;
            let ended = session.wait_for_background(call);
            let handle = taken.lock().unwrap().remove(0);
            handle.finish(output);
            ended.await.unwrap();
        }
        // Another chat asks now, which has not been told what the first one was.
        let call = session.background().await.unwrap()[0].call;
        let ended = session.wait_for_background(call);
        taken.lock().unwrap().remove(0).finish(said("Built."));
        ended.await.unwrap();
        session.turn(from("b")).await;
        session.close().await;
        watcher.rest().await;
        watcher.lines
    });
    let told: Vec<_> = shown.into_iter().filter(|line| line.starts_with("for the user")).collect();
    expect![[r#"
        for the user 1.1.1: Built. media://a
        for the user 1.1.2: Built."#]]
    .assert_eq(&told.join("\n"));
    post.check(expect![[r#"
        {"session":"s","turn":1,"to":{"channel":"matrix","chat":"a"},"text":"Begun."}
        {"session":"s","turn":1,"call":"1.1.1","to":{"channel":"matrix","chat":"a"},"text":"Built.","media":["media://a"]}
        {"session":"s","turn":1,"call":"1.1.2","to":{"channel":"matrix","chat":"a"},"text":"Built."}
        {"session":"s","turn":2,"to":{"channel":"matrix","chat":"b"},"text":"Built."}"#]]);
    let sent = post.sent.lock().unwrap().len();
    virtually(async {
        let session = Session::open(parts, id()).await.unwrap();
        session.resume().await;
        session.close().await;
    });
    assert_eq!(post.sent.lock().unwrap().len(), sent);
}
