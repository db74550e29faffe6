//! The one connection, made again when it is lost, and the table.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use heeler_core::BoxFuture;
use tokio::sync::Mutex;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

use crate::{SessionError, SessionErrorKind};

/// How long a connection is waited for, where its settings do not say.
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(10);

/// Makes the table, one process at a time: two who make it at once would be in each other's way.
/// The lock's number is the word "heeler"; the statements are one transaction, which ends with the
/// lock. Ids are sorted by their bytes.
const MAKE_TABLE: &str = "
    SELECT pg_advisory_xact_lock(114784702588274);
    CREATE TABLE IF NOT EXISTS heeler_sessions (
        id text COLLATE \"C\" PRIMARY KEY,
        version bigint NOT NULL,
        session json NOT NULL
    )";

type Connect = Box<dyn Fn() -> BoxFuture<Result<Client, Error>> + Send + Sync>;

pub(super) struct Connection {
    connect: Connect,
    client: Mutex<Option<Arc<Client>>>,
    wait_max: Duration,
}

impl Connection {
    pub(super) fn new<T>(mut config: Config, tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let wait_max = config.get_connect_timeout().copied().unwrap_or(CONNECT_WAIT_MAX);
        config.connect_timeout(wait_max);
        if config.get_application_name().is_none() {
            config.application_name("heeler");
        }
        let config = Arc::new(config);
        let connect = move || -> BoxFuture<Result<Client, Error>> {
            let (config, tls) = (Arc::clone(&config), tls.clone());
            Box::pin(async move {
                let (client, connection) = config.connect(tls).await?;
                // Ends with the client, or with the connection: then the client knows.
                tokio::spawn(connection);
                Ok(client)
            })
        };
        Self { connect: Box::new(connect), client: Mutex::new(None), wait_max }
    }

    /// A connection that is not known to be lost. Who comes while one is made waits for that one.
    pub(super) async fn client(&self) -> Result<Arc<Client>, SessionError> {
        let mut kept = self.client.lock().await;
        if let Some(client) = kept.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        *kept = None;
        // Beyond the socket, there is a server to answer.
        let made = tokio::time::timeout(self.wait_max, async {
            let client = (self.connect)().await.map_err(unreachable)?;
            make_table(&client).await?;
            Ok(client)
        });
        let client = Arc::new(made.await.unwrap_or_else(|_| Err(self.silent()))?);
        *kept = Some(Arc::clone(&client));
        Ok(client)
    }

    /// Makes the next call connect again.
    pub(super) async fn forget(&self, client: &Arc<Client>) {
        let mut kept = self.client.lock().await;
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, client)) {
            *kept = None;
        }
    }

    fn silent(&self) -> SessionError {
        let seconds = self.wait_max.as_secs_f32();
        SessionError::unavailable(format!(
            "cannot connect to the database: no answer in {seconds} seconds; start it, or check \
             host and port of the connection string"
        ))
    }
}

/// Makes the table when it is missing. Who may not make tables may use one that is there.
async fn make_table(client: &Client) -> Result<(), SessionError> {
    let refused = |error: Error| {
        let message = format!(
            "cannot make the table heeler_sessions: {}; make it by hand, or let this user make it",
            told(&error)
        );
        SessionError::new(SessionErrorKind::Io, message).with_source(error)
    };
    let sql = "SELECT 1 WHERE to_regclass('heeler_sessions') IS NOT NULL";
    if client.query_typed(sql, &[]).await.map_err(super::failed)?.is_empty() {
        client.batch_execute(MAKE_TABLE).await.map_err(refused)?;
    }
    Ok(())
}

fn unreachable(error: Error) -> SessionError {
    let told = told(&error);
    let failure = match error.as_db_error() {
        // It is there, and does not want us.
        Some(refusal) if !refusal.code().code().starts_with("57P") => SessionError::new(
            SessionErrorKind::Io,
            format!("the database refused the connection: {told}"),
        ),
        _ => SessionError::unavailable(format!(
            "cannot connect to the database: {told}; start it, or check host and port of the \
             connection string"
        )),
    };
    failure.with_source(error)
}

/// An error with its causes, each once. None of them knows a password.
pub(super) fn told(error: &Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let text = next.to_string();
        if !told.contains(&text) {
            told = format!("{told}: {text}");
        }
        cause = next.source();
    }
    told
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_says_nothing_is_waited_for_ten_seconds() {
        let folder = tempfile::tempdir().unwrap();
        let _silent = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let check = async |settings: &str, seconds: u64, told: &str| {
            let host = folder.path().display();
            let config = format!("host={host} user=heeler {settings}").parse().unwrap();
            let begun = tokio::time::Instant::now();
            let connection = Connection::new(config, tokio_postgres::NoTls);
            let error = connection.client().await.err().unwrap();
            let waited = begun.elapsed().as_secs();
            assert!((seconds..=seconds + 1).contains(&waited), "{waited}");
            assert!(error.is_unavailable() && error.to_string().contains(told), "{error}");
        };
        check("", 10, "cannot connect to the database: no answer in 10 seconds; start it").await;
        check("connect_timeout=3", 3, "no answer in 3 seconds").await;
    }
}
