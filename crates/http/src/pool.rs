//! Connections that wait for the next request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use crate::connection::Connection;

/// How long a connection waits for another request before it is closed.
const IDLE_MAX: Duration = Duration::from_secs(90);
/// The most connections to one server that wait.
const CONNECTIONS_MAX: usize = 4096;

#[derive(Default)]
pub(crate) struct Pool {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// By scheme, host and port; the newest last.
    connections: HashMap<String, Vec<(Connection, Instant)>>,
    /// Somebody closes those that waited too long.
    is_swept: bool,
}

impl Pool {
    /// The connection that waited least, if there is one that still stands.
    pub(crate) fn take(&self, origin: &str) -> Option<Connection> {
        let mut waiting = self.lock();
        let connections = waiting.connections.get_mut(origin)?;
        std::iter::from_fn(|| connections.pop())
            .filter(|(_, since)| since.elapsed() < IDLE_MAX)
            .find_map(|(connection, _)| connection.if_idle())
    }

    /// Keeps a connection for the next request.
    pub(crate) fn give(self: &Arc<Self>, origin: &str, mut connection: Connection) {
        connection.rest();
        let mut waiting = self.lock();
        let entry = (connection, Instant::now());
        match waiting.connections.get_mut(origin) {
            Some(connections) if connections.len() >= CONNECTIONS_MAX => {}
            Some(connections) => connections.push(entry),
            None => {
                waiting.connections.insert(origin.to_owned(), vec![entry]);
            }
        }
        if !waiting.is_swept
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            waiting.is_swept = true;
            runtime.spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Closes what waited too long; whether something waits still.
    fn close_old(&self) -> bool {
        let mut waiting = self.lock();
        waiting.connections.retain(|_, connections| {
            connections.retain(|(_, since)| since.elapsed() < IDLE_MAX);
            !connections.is_empty()
        });
        waiting.is_swept = !waiting.connections.is_empty();
        waiting.is_swept
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Every change is one step.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks after connections that wait, as long as there are any.
async fn sweep(pool: Weak<Pool>) {
    let sweeper = Sweeper(pool);
    loop {
        tokio::time::sleep(IDLE_MAX).await;
        if !sweeper.0.upgrade().is_some_and(|pool| pool.close_old()) {
            return;
        }
    }
}

/// Somebody else has to look after connections once this one's runtime has ended.
struct Sweeper(Weak<Pool>);

impl Drop for Sweeper {
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.lock().is_swept = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;

    fn pair() -> (Connection, DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(64);
        (Connection::new(ours, None), theirs)
    }

    /// Whether the other end sees it closed.
    async fn is_closed(mut end: DuplexStream) -> bool {
        let read = tokio::time::timeout(Duration::from_millis(1), end.read_u8()).await;
        matches!(read, Ok(Err(_)))
    }

    #[tokio::test(start_paused = true)]
    async fn the_newest_that_stands_is_taken() {
        let pool = Arc::new(Pool::default());
        let ends: Vec<DuplexStream> = (0..4)
            .map(|_| {
                let (connection, end) = pair();
                pool.give("a", connection);
                end
            })
            .collect();
        let [first, mut second, third, mut fourth] = ends.try_into().unwrap();
        // One is closed, one says what nobody asked for.
        drop(third);
        fourth.write_all(b"HTTP/1.1 408 Bye\r\n").await.unwrap();
        assert!(pool.take("b").is_none());
        let taken = pool.take("a").unwrap();
        assert!(is_closed(fourth).await);
        drop(taken);
        assert!(second.read_u8().await.is_err());
        assert!(pool.take("a").is_some() && pool.take("a").is_none());
        assert!(is_closed(first).await);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_closed() {
        let pool = Arc::new(Pool::default());
        let (old, old_end) = pair();
        pool.give("a", old);
        tokio::time::sleep(IDLE_MAX / 2).await;
        let (new, new_end) = pair();
        pool.give("a", new);
        tokio::time::sleep(IDLE_MAX / 2 + Duration::from_millis(1)).await;
        assert!(is_closed(old_end).await);
        assert!(!is_closed(new_end).await);
        tokio::time::sleep(IDLE_MAX).await;
        assert!(pool.take("a").is_none());
        tokio::time::sleep(IDLE_MAX).await;
        assert!(!pool.lock().is_swept && pool.lock().connections.is_empty());
        // And somebody looks after the next.
        let (next, end) = pair();
        pool.give("a", next);
        tokio::time::sleep(IDLE_MAX + Duration::from_millis(1)).await;
        assert!(is_closed(end).await);
    }

    #[tokio::test]
    async fn no_more_than_some_wait() {
        let pool = Arc::new(Pool::default());
        let ends: Vec<DuplexStream> = (0..=CONNECTIONS_MAX)
            .map(|_| {
                let (connection, end) = pair();
                pool.give("a", connection);
                end
            })
            .collect();
        assert_eq!(pool.lock().connections["a"].len(), CONNECTIONS_MAX);
        assert!(is_closed(ends.into_iter().next_back().unwrap()).await);
    }
}
