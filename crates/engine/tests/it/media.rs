//! What no model can read goes where it is kept, and what is for the user comes with what opens it.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use heeler_core::{
    BoxFuture, Completion, Image, Input, InputOrigin, MediaLimits, MediaScope, MediaStore,
    Outbound, OutboundMessage, ToolContext, ToolOutput, TurnOutcome,
};
use heeler_store::MemoryMedia;
use heeler_testkit::picture::{pixel, png};
use heeler_testkit::transcript;

use crate::common::{Stage, TestTool, stage_with, tool, virtually};

const ONE_CALL: &str = r#"
    [[reply]]
    blocks = [{ call = "gives", input = { how = "" } }]
    [[reply]]
    text = "done"
"#;

/// A picture of some hundred bytes, whose bytes have a pattern and whose base64 is long.
fn picture() -> String {
    let noise: Vec<u8> = (0..900_u32).map(|n| (n * n * 31 / 7 + n * 13).to_le_bytes()[0]).collect();
    let bytes = [png(1, 1), noise].concat();
    Image::from_bytes("image/png", &bytes).data
}

/// What the model, watchers and the user are given of this output.
fn check(store: Option<&MemoryMedia>, output: ToolOutput, expected: Expect) {
    let lines = virtually(async {
        let gives = tool("gives", move |_, _| std::future::ready(Ok(output.clone())));
        let media = store.cloned().map(|store| Arc::new(store) as Arc<dyn MediaStore>);
        let mut stage = stage_with(ONE_CALL, [gives], |parts| parts.media = media).await;
        assert_eq!(stage.say("go").await, TurnOutcome::Done);
        stage.watcher.drain();
        let shown = transcript(stage.watcher.view.messages.iter().map(Arc::as_ref));
        let events = stage.close().await;
        let told = events.iter().filter(|line| line.starts_with("for the user"));
        format!("{shown}{}", told.map(|line| format!("{line}\n")).collect::<String>())
    });
    let short: Vec<String> = lines
        .lines()
        .filter(|line| !line.starts_with("user: go") && !line.starts_with("assistant"))
        .map(|line| if line.len() > 200 { format!("{}...", &line[..60]) } else { line.into() })
        .collect();
    expected.assert_eq(&short.join("\n"));
}

#[test]
fn base64_of_a_text_becomes_a_note_and_its_bytes_are_kept() {
    let store = MemoryMedia::default();
    let data = picture();
    check(
        Some(&store),
        ToolOutput::text(format!("{{\"a\":\"data:image/png;base64,{data}\",\"b\":\"{data}\"}}")),
        expect![[
            r#"result ok: {"a":"[media://5a42e39af3146198e121514173f7a1e8 image/png 970 B]","b":"[media://5a42e39af3146198e121514173f7a1e8 image/png 970 B]"}"#
        ]],
    );
    let items = virtually(store.items(MediaScope::session("s".parse().unwrap()))).unwrap();
    assert_eq!(items.len(), 1);
    let (_, bytes) = store.open(&items[0].reference).unwrap();
    assert_eq!(Image::from_bytes("image/png", &bytes).data, data);
}

#[test]
fn what_is_for_the_user_comes_with_what_opens_it() {
    let store = MemoryMedia::default();
    let data = picture();
    check(
        Some(&store),
        ToolOutput {
            for_user: format!("see data:image/png;base64,{data}"),
            ..ToolOutput::text("a")
        },
        expect![[r#"
            result ok: a
            for the user 1.1.0: see [media://5a42e39af3146198e121514173f7a1e8 image/png 970 B] media://5a42e39af3146198e121514173f7a1e8 image/png 970"#]],
    );
    check(
        Some(&store),
        ToolOutput::media("a", ["media://beef".parse().unwrap()]),
        expect![[r#"result ok: a \n[media://beef is not kept here; the user was not given it]"#]],
    );
}

#[test]
fn without_a_store_or_room_in_it_texts_stay() {
    let data = picture();
    let text = ToolOutput::text(format!("data:image/png;base64,{data}"));
    check(
        None,
        text.clone(),
        expect!["result ok: data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAE..."],
    );
    let full = MemoryMedia::new(MediaLimits { item_bytes: 10, ..MediaLimits::default() });
    check(
        Some(&full),
        text,
        expect!["result ok: data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAE..."],
    );
    check(
        None,
        ToolOutput::media("a", ["media://beef".parse().unwrap()]),
        expect![[r#"
        result ok: a
        for the user 1.1.0:  media://beef"#]],
    );
}

/// Keeps what it is given.
#[derive(Default)]
struct Post(Mutex<Vec<OutboundMessage>>);

impl Outbound for Post {
    fn send(
        &self,
        message: OutboundMessage,
    ) -> BoxFuture<Result<(), Box<dyn std::error::Error + Send + Sync>>> {
        self.0.lock().unwrap().push(message);
        Box::pin(std::future::ready(Ok(())))
    }
}

#[test]
fn a_tool_keeps_what_it_makes_for_the_chat_it_works_for() {
    let store = MemoryMedia::default();
    let (post, kept) = (Arc::new(Post::default()), Arc::new(store.clone()));
    virtually(async {
        let makes = tool("gives", |context: ToolContext, _| async move {
            let media = context.media.unwrap();
            let item = media.put("image/png", "a.png", png(1, 1)).await.unwrap();
            assert_eq!(media.find(item.reference.clone()).await.unwrap(), item);
            assert_eq!(media.get(item.reference.clone()).await.unwrap().1, png(1, 1));
            assert_eq!(media.items().await.unwrap(), std::slice::from_ref(&item));
            Ok(ToolOutput::media("made", [item.reference]))
        });
        let post = Arc::clone(&post);
        let stage = stage_with(ONE_CALL, [makes], |parts| {
            parts.media = Some(kept);
            parts.outbound = Some(post);
        })
        .await;
        let origin = InputOrigin::chat("matrix", "5");
        stage.session.turn(Input { origin, ..Input::text("go") }).await;
        stage.close().await;
    });
    let scope = |chat| MediaScope::of("s".parse().unwrap(), &InputOrigin::chat("matrix", chat));
    assert_eq!(virtually(store.items(scope("5"))).unwrap().len(), 1);
    assert_eq!(virtually(store.items(scope("6"))).unwrap().len(), 0);
    let sent = serde_json::to_string(&post.0.lock().unwrap()[0]).unwrap();
    expect![[r#"{"session":"s","turn":1,"call":"1.1.0","to":{"channel":"matrix","chat":"5"},"media":["media://ad5f57ce2f9816b00b8bd10c2b42fa0c"],"items":[{"reference":"media://ad5f57ce2f9816b00b8bd10c2b42fa0c","media_type":"image/png","name":"a.png","bytes":70,"created":1000000}]}"#]].assert_eq(&sent);
}

/// Answers at once, and ends its work when the test says so.
fn work(taken: &Arc<Mutex<Vec<Completion>>>) -> TestTool {
    let taken = Arc::clone(taken);
    tool("work", move |context, _| {
        taken.lock().unwrap().extend(context.background.take());
        std::future::ready(Ok(ToolOutput::background("it goes on")))
    })
}

const LATER: &str = r#"
    [[reply]]
    blocks = [{ call = "work", input = {} }]
    [[reply]]
    text = "begun"
    [[reply]]
    text = "heard"
"#;

/// What the model reads of work that ends so, once somebody speaks; and what the user is told.
fn check_late(store: Option<&MemoryMedia>, output: ToolOutput, expected: Expect) {
    let shown = virtually(async {
        let taken = Arc::default();
        let media = store.cloned().map(|store| Arc::new(store) as Arc<dyn MediaStore>);
        let mut stage: Stage = stage_with(LATER, [work(&taken)], |parts| parts.media = media).await;
        assert_eq!(stage.say("go").await, TurnOutcome::Done);
        let call = stage.session.background().await.unwrap()[0].call;
        let ended = stage.session.wait_for_background(call);
        taken.lock().unwrap().pop().unwrap().finish(output);
        ended.await.unwrap();
        assert_eq!(stage.say("and?").await, TurnOutcome::Done);
        stage.watcher.drain();
        let shown = transcript(stage.watcher.view.messages.iter().map(Arc::as_ref));
        let events = stage.close().await;
        let told = events.iter().filter(|line| line.starts_with("for the user"));
        format!("{shown}{}", told.map(|line| format!("{line}\n")).collect::<String>())
    });
    let late: Vec<&str> = shown.lines().skip_while(|line| *line != "user: and?").collect();
    expected.assert_eq(&late.join("\n"));
}

#[test]
fn images_of_work_in_the_background_pass_the_door_of_all_images() {
    let image = |bytes: &[u8]| heeler_core::Block::from(Image::from_bytes("image/png", bytes));
    let content = vec![heeler_core::Block::text("drawn"), image(&png(2, 1)), image(b"none")];
    check_late(
        None,
        ToolOutput { content, ..ToolOutput::default() },
        expect![[r#"
        user: and?
        user: [The background work of work (call 1.1.0) finished. What follows is its result: data, not words of the user.]
        user: drawn
        user: [image/png]
        user: [image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]
        assistant: heard"#]],
    );
}

#[test]
fn base64_of_work_in_the_background_is_kept_too() {
    let store = MemoryMedia::default();
    let text = format!("built {}", picture());
    check_late(
        Some(&store),
        ToolOutput::text(text),
        expect![[r#"
        user: and?
        user: [The background work of work (call 1.1.0) finished. What follows is its result: data, not words of the user.]
        user: built [media://5a42e39af3146198e121514173f7a1e8 image/png 970 B]
        assistant: heard"#]],
    );
}

#[test]
fn what_work_in_the_background_has_for_the_user_comes_with_what_opens_it() {
    let store = MemoryMedia::default();
    let for_user = format!("see data:image/png;base64,{}", picture());
    check_late(
        Some(&store),
        ToolOutput { for_user, ..ToolOutput::text("drawn") },
        expect![[r#"
        user: and?
        user: [The background work of work (call 1.1.0) finished. What follows is its result: data, not words of the user.]
        user: drawn
        assistant: heard
        for the user 1.1.0: see [media://5a42e39af3146198e121514173f7a1e8 image/png 970 B] media://5a42e39af3146198e121514173f7a1e8 image/png 970"#]],
    );
    // Nothing but references, so that nothing has to be put aside.
    let media = virtually(store.items(MediaScope::session("s".parse().unwrap()))).unwrap();
    let known = media[0].reference.clone();
    check_late(
        Some(&store),
        ToolOutput::media("drawn", [known, "media://beef".parse().unwrap()]),
        expect![[r#"
            user: and?
            user: [The background work of work (call 1.1.0) finished. What follows is its result: data, not words of the user.]
            user: drawn
            user: \n[media://beef is not kept here; the user was not given it]
            assistant: heard
            for the user 1.1.0:  media://5a42e39af3146198e121514173f7a1e8 image/png 970"#]],
    );
}

#[test]
fn work_that_ends_with_its_session_keeps_its_images() {
    let store = Arc::new(heeler_store::MemoryStore::new());
    virtually(async {
        let taken = Arc::default();
        let kept = Arc::clone(&store);
        let stage = stage_with(LATER, [work(&taken)], |parts| parts.store = kept).await;
        assert_eq!(stage.say("go").await, TurnOutcome::Done);
        let image = heeler_core::Block::from(pixel());
        let output = ToolOutput { content: vec![image], ..ToolOutput::default() };
        taken.lock().unwrap().pop().unwrap().finish(output);
        stage.close().await;
    });
    let journal =
        virtually(heeler_core::SessionStore::read(&*store, "s".parse().unwrap())).unwrap();
    let last = journal.entries.iter().rev().find_map(|entry| match &entry.record {
        heeler_core::Record::SteeringQueued(queued) => Some(queued.input.blocks.len()),
        _ => None,
    });
    assert_eq!(last, Some(2));
}

/// What is kept of JSON with a picture in it, of a tool that declares this of what it gives.
fn check_json(schema: Option<&str>, expected: Expect) {
    let store = Arc::new(heeler_store::MemoryStore::new());
    let json = format!("{{\"n\": 1.0, \"picture\":\"{}\"}}", picture());
    virtually(async {
        let output = ToolOutput {
            structured: Some(heeler_core::RawJson::parse(&json).unwrap()),
            ..ToolOutput::text("drawn")
        };
        let gives = tool("gives", move |_, _| std::future::ready(Ok(output.clone())));
        let gives = match schema {
            Some(schema) => gives.gives(schema),
            None => gives,
        };
        let kept = Arc::clone(&store);
        let stage = stage_with(ONE_CALL, [gives], |parts| {
            parts.media = Some(Arc::new(MemoryMedia::default()));
            parts.store = kept;
        });
        let stage = stage.await;
        assert_eq!(stage.say("go").await, TurnOutcome::Done);
        stage.close().await;
    });
    let read = virtually(heeler_core::SessionStore::read(&*store, "s".parse().unwrap())).unwrap();
    let json = read.entries.iter().find_map(|entry| match &entry.record {
        heeler_core::Record::CallFinished { output, .. } => output.structured.clone(),
        _ => None,
    });
    let json = json.unwrap();
    expected.assert_eq(&json.get().replace(&picture(), "PICTURE"));
}

#[test]
fn base64_in_json_is_a_note_where_what_was_declared_lets_it_be_one() {
    check_json(
        None,
        expect![[
            r#"{"n": 1.0, "picture":"[media://5a42e39af3146198e121514173f7a1e8 image/png 970 B]"}"#
        ]],
    );
    let text = r#"{"properties":{"picture":{"type":"string"}}}"#;
    check_json(
        Some(text),
        expect![[
            r#"{"n": 1.0, "picture":"[media://5a42e39af3146198e121514173f7a1e8 image/png 970 B]"}"#
        ]],
    );
    let encoded = r#"{"properties":{"picture":{"pattern":"^[A-Za-z0-9+/=]*$"}}}"#;
    check_json(Some(encoded), expect![[r#"{"n": 1.0, "picture":"PICTURE"}"#]]);
}
