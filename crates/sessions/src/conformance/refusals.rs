//! What is refused, each in its own way, and changes nothing.

use heeler_core::Message;

use super::{Kept, Promise, Seen, Store, make, refused, same};
use crate::{Session, SessionError, save};

pub(super) const PROMISES: [Promise; 6] = [
    ("what is not there is not found, by name", |store| Box::pin(not_found(store))),
    ("an id is taken once", |store| Box::pin(taken(store))),
    ("an update of what somebody else wrote is a conflict", |store| Box::pin(stale(store))),
    ("a session made anew is not the one that was removed", |store| Box::pin(made_anew(store))),
    ("what is no id is refused as such", |store| Box::pin(no_ids(store))),
    ("every id is kept apart", |store| Box::pin(ids(store))),
];

async fn not_found(store: Store) -> Kept {
    make(&store, "missing-not").await?;
    let is_named =
        |error: &SessionError| error.is_not_found() && error.to_string().contains("`missing`");
    refused("get", store.get("missing").await, is_named)?;
    refused("update", store.update(&Session::new("missing")).await, is_named)?;
    refused("delete", store.delete("missing").await, is_named)?;
    make(&store, "missing").await?;
    store.delete("missing").await?;
    refused("a second delete", store.delete("missing").await, is_named)?;
    refused("get after delete", store.get("missing").await, is_named)?;
    same("the list", &store.list("", 0).await?, &vec!["missing-not".to_owned()])
}

async fn taken(store: Store) -> Kept {
    let mut session = Session::new("a");
    session.history.push(Message::user("first"));
    session.version = store.create(&session).await?;
    let is_named =
        |error: &SessionError| error.is_already_exists() && error.to_string().contains("`a`");
    refused("create", store.create(&Session::new("a")).await, is_named)?;
    refused("create of the same", store.create(&session).await, is_named)?;
    same("what is there", &store.get("a").await?, &session)
}

async fn stale(store: Store) -> Kept {
    let session = make(&store, "a").await?;
    let mut newer = session.clone();
    newer.history.push(Message::user("newer"));
    newer.version = store.update(&newer).await?;
    let mut older = session.clone();
    older.history.push(Message::user("older"));
    let is_named = |error: &SessionError| error.is_conflict() && error.to_string().contains("`a`");
    refused("update", store.update(&older).await, is_named)?;
    refused("update of what was never stored", store.update(&Session::new("a")).await, is_named)?;
    refused("save", save(&store, &mut older).await, is_named)?;
    same("the version after a refused save", &older.version, &session.version)?;
    same("what is there", &store.get("a").await?, &newer)?;
    newer.version = store.update(&newer).await?;
    same("what is there after one more", &store.get("a").await?, &newer)
}

async fn made_anew(store: Store) -> Kept {
    let mut old = make(&store, "a").await?;
    for _ in 0..3 {
        let held = old.clone();
        old.version = store.update(&old).await?;
        store.delete("a").await?;
        refused("a save of the last", save(&store, &mut old).await, SessionError::is_not_found)?;
        refused("get after that", store.get("a").await, SessionError::is_not_found)?;
        let new = make(&store, "a").await?;
        refused("update of the first", store.update(&held).await, SessionError::is_conflict)?;
        refused("update of the last", store.update(&old).await, SessionError::is_conflict)?;
        same("what is there", &store.get("a").await?, &new)?;
        old = new;
    }
    Ok(())
}

async fn no_ids(store: Store) -> Kept {
    let long = "x".repeat(129);
    let bad = ["", ".", "..", ".a", "a/b", "../a", "a b", "a\0", "a\n", "ä", "a:b", "a\\b", &long];
    for id in bad {
        let what = |what: &str| format!("{what} of {id:?}");
        let session = Session::new(id);
        let is_expected = SessionError::is_invalid_id;
        refused(&what("create"), store.create(&session).await, is_expected)?;
        refused(&what("update"), store.update(&session).await, is_expected)?;
        refused(&what("get"), store.get(id).await, is_expected)?;
        refused(&what("delete"), store.delete(id).await, is_expected)?;
    }
    same("the list", &store.list("", 0).await?, &Vec::new())
}

async fn ids(store: Store) -> Kept {
    let long = "x".repeat(128);
    let good =
        ["a", "a.", "a..b", "a.json", "a.tmp", "-a", "--", "_", "0", "CON", "nul.txt", &long];
    for id in good {
        let mut session = Session::new(id);
        session.history.push(Message::user(id));
        session.version = store.create(&session).await?;
    }
    for id in good {
        let text = store.get(id).await?.history.first().map(Message::text);
        same("what is kept", &text.as_deref(), &Some(id))?;
    }
    let n = store.list("", 0).await?.len();
    if n == good.len() { Ok(()) } else { Err(Seen(format!("{n} of {} are listed", good.len()))) }
}
