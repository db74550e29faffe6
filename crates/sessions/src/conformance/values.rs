//! What is stored comes back as it was.

use std::collections::BTreeMap;
use std::sync::Arc;

use heeler_core::{
    Block, CacheMarker, Cost, Image, Message, Opaque, ProviderItem, RawJson, RedactedThinking,
    Role, StopReason, Text, Thinking, Timestamp, ToolResult, ToolUse, Usage,
};

use super::{Kept, Promise, Seen, Store, make, same};
use crate::{RecordedEvent, RecordedEventKind, Session, SessionVersion, TurnId, load_or_new, save};

pub(super) const PROMISES: [Promise; 7] = [
    ("a session comes back as it was", |store| Box::pin(round_trip(store))),
    ("state comes back as the type it had", |store| Box::pin(state(store))),
    ("any text is kept", |store| Box::pin(texts(store))),
    ("a session of 10 MB is kept", |store| Box::pin(large(store))),
    ("an update replaces all of a session", |store| Box::pin(replaced(store))),
    ("what is stored and what is held do not touch", |store| Box::pin(apart(store))),
    ("load_or_new and save go round", |store| Box::pin(saved(store))),
];

async fn round_trip(store: Store) -> Kept {
    let mut session = rich("a");
    // A session brings no version of its own into a store.
    session.version = SessionVersion(7);
    session.version = store.create(&session).await?;
    same("what was created", &store.get("a").await?, &session)?;
    session.history.push(Message::user("more"));
    let before = session.version;
    session.version = store.update(&session).await?;
    same("what was updated", &store.get("a").await?, &session)?;
    if session.version == before || session.version == SessionVersion(0) {
        return Err(Seen(format!("an update leaves the version {before:?}")));
    }
    Ok(())
}

async fn state(store: Store) -> Kept {
    let mut session = Session::new("a");
    let map = BTreeMap::from([(1_u8, Some("x".to_owned())), (2, None)]);
    set(&mut session, "float", &(0.1_f64 + 0.2, f64::MIN_POSITIVE, f64::MAX, 1.0_f32 / 3.0))?;
    set(&mut session, "whole", &(u64::MAX, i64::MIN, u128::from(u64::MAX) + 1))?;
    set(&mut session, "map", &map)?;
    set(&mut session, "unit", &())?;
    set(&mut session, "", "a key without a name")?;
    set(&mut session, "käse\u{0}", &'\u{10ffff}')?;
    let _ = store.create(&session).await?;

    let got = store.get("a").await?;
    same("the state", &got.state, &session.state)?;
    let float = got.state::<(f64, f64, f64, f32)>("float").map_err(told)?;
    same("a float", &float, &(0.1 + 0.2, f64::MIN_POSITIVE, f64::MAX, 1.0 / 3.0))?;
    let whole = got.state::<(u64, i64, u128)>("whole").map_err(told)?;
    same("a whole number", &whole, &(u64::MAX, i64::MIN, u128::from(u64::MAX) + 1))?;
    same("a map", &got.state("map").map_err(told)?, &map)?;
    same("nothing", &got.state::<()>("unit").map_err(told)?, &())
}

fn set<T: serde::Serialize + ?Sized>(session: &mut Session, key: &str, value: &T) -> Kept {
    session.set_state(key, value).map_err(told)
}

fn told(error: impl ToString) -> Seen {
    Seen(error.to_string())
}

async fn texts(store: Store) -> Kept {
    // NUL, the ends of every plane, what joins and what turns the direction, and what has a
    // meaning in JSON, in SQL or in a shell.
    let text = "\0\u{1}\t\r\n\u{7f}\u{85}\u{2028}\u{2029}\u{d7ff}\u{e000}\u{feff}\u{fffd}\u{ffff}\
                \u{10000}\u{10ffff} e\u{301} \u{1f469}\u{200d}\u{1f467} \u{202e}abc עברית 漢字 \\u0000 \\ \" ' ''; -- $1 %s {} `x`";
    let mut session = Session::new("a");
    session.history.push(Message::user(text));
    set(&mut session, text, text)?;
    session.version = store.create(&session).await?;
    same("a text", &store.get("a").await?, &session)
}

async fn large(store: Store) -> Kept {
    let mut session = Session::new("a");
    let text = "Würde\n\"0123456789\"".repeat(500);
    session.history = (0..1_100).map(|_| Message::user(text.as_str())).collect();
    session.version = store.create(&session).await?;
    if store.get("a").await? != session {
        return Err(Seen("what was created comes back changed".to_owned()));
    }
    session.history.push(Message::assistant(text));
    session.version = store.update(&session).await?;
    if store.get("a").await? != session {
        return Err(Seen("what was updated comes back changed".to_owned()));
    }
    Ok(())
}

async fn replaced(store: Store) -> Kept {
    let mut session = rich("a");
    session.version = store.create(&session).await?;
    let other = make(&store, "b").await?;
    let empty = Session { version: session.version, ..Session::new("a") };
    let version = store.update(&empty).await?;
    same("what is there", &store.get("a").await?, &Session { version, ..empty })?;
    same("another session", &store.get("b").await?, &other)
}

async fn apart(store: Store) -> Kept {
    let mut held = rich("a");
    held.version = store.create(&held).await?;
    let stored = held.clone();
    // In place, and not by setting a new value.
    held.history.clear();
    held.state.clear();
    held.events.clear();
    same("after a change of what was given, what is stored", &store.get("a").await?, &stored)?;
    let mut got = store.get("a").await?;
    got.history.clear();
    got.state.clear();
    got.events.clear();
    same("after a change of what was got, what is stored", &store.get("a").await?, &stored)
}

async fn saved(store: Store) -> Kept {
    let mut session = load_or_new(&store, "a").await?;
    same("what is not there", &session, &Session::new("a"))?;
    same("after it was loaded, the list", &store.list("", 0).await?, &Vec::new())?;
    session.history.push(Message::user("one"));
    save(&store, &mut session).await?;
    session.history.push(Message::user("two"));
    save(&store, &mut session).await?;
    same("what was saved twice", &load_or_new(&store, "a").await?, &session)?;
    store.delete("a").await?;
    let removed = load_or_new(&store, "a").await?;
    same("what is there after it was removed", &removed, &Session::new("a"))
}

/// A session with something of everything.
fn rich(id: &str) -> Session {
    let raw = |text: &str| RawJson::parse(text).unwrap_or_else(|_| RawJson::empty_object());
    let item = ProviderItem { provider: "p".into(), json: raw(r#"{ "b":1.50, "a": "ü" }"#) };
    let cache = Some(CacheMarker::OneHour);
    let asked = ToolUse {
        id: "t1".into(),
        name: "Read".into(),
        input: raw(r#"{"b": 1e400, "a":[ ]}"#),
        invalid: Some("cut".into()),
        cache,
    };
    let result = ToolResult {
        tool_use_id: "t1".into(),
        content: vec![
            Block::text("text"),
            Block::from(Image { media_type: "image/png".into(), data: "AAAA".into(), cache }),
        ],
        is_error: true,
        cache: None,
    };
    let blocks = vec![
        Block::Text(Arc::new(Text { text: "Hm".into(), cache, raw: Some(item.into()) })),
        Block::from(Thinking { text: "hm".into(), signature: "s".into(), raw: None }),
        Block::from(RedactedThinking { data: "d".into() }),
        Block::Document(Arc::new(Opaque { provider: "p".into(), raw: raw("[1, 2]") })),
        Block::from(asked.clone()),
    ];
    let answer = Message { role: Role::Assistant, blocks };
    let mut session = Session::new(id);
    session.history = vec![
        Message::user("Hello"),
        answer.clone(),
        Message { role: Role::User, blocks: vec![Block::from(result)] },
    ];
    session.state = BTreeMap::from([("key".into(), raw(r#"{ "b": 1.0, "a": [null] }"#))]);
    session.add_events(kinds(&session.history, answer, asked).map(|kind| {
        RecordedEvent::new(TurnId(0x0123_4567_89ab_cdef), 2, Timestamp(1_700_000_000_000), kind)
    }));
    session
}

fn kinds(history: &[Message], message: Message, asked: ToolUse) -> [RecordedEventKind; 8] {
    let usage = Usage {
        input: 1,
        output: 2,
        cache_write: 3,
        cache_read: 4,
        reasoning: 1,
        charged: Some(Cost(5)),
        is_estimated: true,
    };
    let (tool_use_id, tool) = (asked.id, asked.name);
    [
        RecordedEventKind::TurnStart { history: history.into() },
        RecordedEventKind::ModelRequest,
        RecordedEventKind::RetryAttempt { attempt: 1, wait_millis: 1_000, error: "busy".into() },
        RecordedEventKind::ModelResponse { message, usage, stop: StopReason::Other("odd".into()) },
        RecordedEventKind::ToolCallStart {
            tool_use_id: tool_use_id.clone(),
            tool: tool.clone(),
            input: asked.input,
        },
        RecordedEventKind::ToolCallEnd {
            tool_use_id,
            tool,
            output: String::new(),
            error: Some("no such file".into()),
        },
        RecordedEventKind::TurnError { error: "50 rounds are over".into(), usage },
        RecordedEventKind::TurnEnd { usage },
    ]
}
