//! Many at once: one wins, and nothing is lost.

use std::sync::Arc;

use heeler_core::Message;
use tokio::sync::Barrier;
use tokio::task::{JoinError, JoinSet};

use super::{Kept, Promise, Seen, Store, make, same};
use crate::{Session, SessionError, load_or_new, save};

pub(super) const PROMISES: [Promise; 4] = [
    ("of those who create an id at once one wins", |store| Box::pin(creators(store))),
    ("of those who update a session at once one wins", |store| Box::pin(updaters(store))),
    ("many who count in one session lose nothing", |store| Box::pin(counters(store))),
    ("who reads meanwhile sees whole sessions only", |store| Box::pin(readers(store))),
];

/// How many act at once.
const CROWD: u64 = 8;
/// How often each of them adds one.
const COUNTS: u64 = 10;
/// How much longer the texts of one write are than those of the one before.
const LENGTH: usize = 2_000;
/// How often a session that is read meanwhile is written.
const WRITES: usize = 30;

async fn creators(store: Store) -> Kept {
    let create = |n| {
        let store = Arc::clone(&store);
        async move {
            let mut session = Session::new("a");
            session.history.push(Message::user(format!("creator {n}")));
            session.version = store.create(&session).await?;
            Ok(session)
        }
    };
    one_wins(&store, (0..CROWD).map(create), SessionError::is_already_exists).await
}

async fn updaters(store: Store) -> Kept {
    let before = make(&store, "a").await?;
    let update = |n| {
        let (store, mut session) = (Arc::clone(&store), before.clone());
        async move {
            session.history.push(Message::user(format!("updater {n}")));
            session.version = store.update(&session).await?;
            Ok(session)
        }
    };
    one_wins(&store, (0..CROWD).map(update), SessionError::is_conflict).await
}

/// That one of them succeeds and its session is there, and that the others are refused.
async fn one_wins<F>(
    store: &Store,
    crowd: impl Iterator<Item = F>,
    is_expected: fn(&SessionError) -> bool,
) -> Kept
where
    F: Future<Output = Result<Session, SessionError>> + Send + 'static,
{
    // Nobody before all are there: a crowd that comes one after the other shows nothing.
    let crowd: Vec<F> = crowd.collect();
    let begin = Arc::new(Barrier::new(crowd.len()));
    let act = |act: F| {
        let begin = Arc::clone(&begin);
        async move {
            begin.wait().await;
            act.await
        }
    };
    let mut crowd: JoinSet<F::Output> = crowd.into_iter().map(act).collect();
    let mut winners = Vec::new();
    while let Some(done) = crowd.join_next().await {
        match done.map_err(ended)? {
            Ok(session) => winners.push(session),
            Err(error) if is_expected(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let stored = store.get("a").await?;
    same("who won", &winners, &vec![stored])
}

async fn counters(store: Store) -> Kept {
    let count = |n| count(Arc::clone(&store), n);
    let mut crowd: JoinSet<Kept> = (0..CROWD).map(count).collect();
    while let Some(done) = crowd.join_next().await {
        done.map_err(ended)??;
    }
    let session = store.get("a").await?;
    let sum = session.state::<u64>("sum").map_err(|error| Seen(error.to_string()))?;
    same("the sum", &sum, &(CROWD * COUNTS))?;
    same("the messages", &session.history.len(), &usize::try_from(sum).unwrap_or_default())
}

/// Adds one to the same sum again and again, each time until nobody was in between.
async fn count(store: Store, n: u64) -> Kept {
    for _ in 0..COUNTS {
        loop {
            let mut session = load_or_new(&store, "a").await?;
            let sum = session.state::<u64>("sum").unwrap_or_default();
            session.set_state("sum", &(sum + 1)).map_err(|error| Seen(error.to_string()))?;
            session.history.push(Message::user(format!("{n} saw {sum}")));
            match save(&store, &mut session).await {
                Ok(()) => break,
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

async fn readers(store: Store) -> Kept {
    let mut session = make(&store, "a").await?;
    let writer = {
        let store = Arc::clone(&store);
        async move {
            for n in 1..=WRITES {
                // Longer and shorter by turns, so that a part of one is no other.
                let text = "x".repeat(n % 7 * LENGTH);
                session.history = vec![Message::user(text); n];
                session.set_state("n", &n).map_err(|error| Seen(error.to_string()))?;
                session.version = store.update(&session).await?;
            }
            Ok(())
        }
    };
    let mut crowd: JoinSet<Kept> = JoinSet::new();
    crowd.spawn(writer);
    for _ in 0..4 {
        crowd.spawn(read(Arc::clone(&store)));
    }
    while let Some(done) = crowd.join_next().await {
        done.map_err(ended)??;
    }
    Ok(())
}

/// Reads until the last write is there.
async fn read(store: Store) -> Kept {
    loop {
        let session = store.get("a").await?;
        let n = session.state::<usize>("n").unwrap_or_default();
        let expected = "x".repeat(n % 7 * LENGTH);
        let is_whole = session.history.len() == n
            && session.history.iter().all(|message| message.text() == expected);
        if !is_whole {
            return Err(Seen(format!("write {n} is read in parts")));
        }
        if n == WRITES {
            return Ok(());
        }
        tokio::task::yield_now().await;
    }
}

fn ended(error: JoinError) -> Seen {
    Seen(format!("a call ended in a panic: {error}"))
}
