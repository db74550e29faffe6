//! Sessions in PostgreSQL: the table `heeler_sessions`, one row each.

mod connection;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use heeler_core::BoxFuture;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, NoTls, Row, Socket};

use crate::encoded::{Encoded, decode};
use crate::{Session, SessionError, SessionErrorKind, SessionStore, SessionVersion, check_id};
use connection::Connection;

/// How long an answer is waited for.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(60);
/// How often a write is tried that others' transactions come before.
const WRITES_MAX: usize = 5;

/// Keeps sessions in PostgreSQL, version 11 or later, in the table `heeler_sessions` of the
/// connection's schema, which is made when it is missing.
///
/// All calls share one connection, and need not wait for each other's answers. When it is lost, the
/// calls that wait for an answer fail and say so, and the next call connects again. What is stored
/// can be queried: `session` is of type `json`. It needs a tokio runtime with everything enabled.
///
/// ```no_run
/// use heeler_sessions::{PostgresSessions, load_or_new, save};
///
/// # async fn example() -> Result<(), heeler_sessions::SessionError> {
/// let store = PostgresSessions::connect("postgres://heeler:secret@127.0.0.1/chats").await?;
/// let mut session = load_or_new(&store, "chat-7").await?;
/// save(&store, &mut session).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresSessions {
    connection: Arc<Connection>,
}

impl PostgresSessions {
    /// Connects, without TLS: for a database on this machine or in a network that is trusted.
    /// `connection` is an address, `postgres://USER:PASSWORD@HOST/DATABASE`, or a list of
    /// `KEY=VALUE`.
    ///
    /// # Errors
    /// When it is neither, or the database cannot be reached or used. No error shows a password.
    pub async fn connect(connection: &str) -> Result<Self, SessionError> {
        let config = connection.parse::<Config>().map_err(|_| {
            // What the parser stumbled over may be a part of the password.
            SessionError::new(
                SessionErrorKind::Io,
                "the connection string cannot be read; write \
                 `postgres://USER:PASSWORD@HOST/DATABASE`, with `%40` for an `@` and so on",
            )
        })?;
        Self::connect_with(config, NoTls).await
    }

    /// Connects with settings and a TLS library of the caller's choice.
    ///
    /// # Errors
    /// When the database cannot be reached or used.
    pub async fn connect_with<T>(config: Config, tls: T) -> Result<Self, SessionError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connection = Arc::new(Connection::new(config, tls));
        connection.client().await?;
        Ok(Self { connection })
    }

    /// Asks the database, within the time there is for an answer.
    async fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, SessionError> {
        let client = self.connection.client().await?;
        match tokio::time::timeout(ANSWER_WAIT_MAX, question(&client)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                let error = failed(error);
                if error.is_unavailable() {
                    // It may be told of its end before it is seen to be closed.
                    self.connection.forget(&client).await;
                }
                Err(error)
            }
            Err(_) => {
                self.connection.forget(&client).await;
                Err(SessionError::unavailable(format!(
                    "the database has not answered for {} seconds; a write may be done later: get \
                     the session to see",
                    ANSWER_WAIT_MAX.as_secs()
                )))
            }
        }
    }

    async fn write(
        &self,
        sql: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<u64, SessionError> {
        self.ask(async |client| client.execute_typed(sql, parameters).await).await
    }

    /// As [`Postgres::write`], once more where a stricter isolation refuses what another transaction
    /// changed meanwhile: the next try sees what became of that.
    async fn write_again(
        &self,
        sql: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<u64, SessionError> {
        for _ in 1..WRITES_MAX {
            match self.write(sql, parameters).await {
                Err(error) if is_serialization_failure(&error) => {}
                done => return done,
            }
        }
        self.write(sql, parameters).await
    }

    async fn read(
        &self,
        sql: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, SessionError> {
        self.ask(async |client| client.query_typed(sql, parameters).await).await
    }

    async fn insert(&self, encoded: &Encoded) -> Result<SessionVersion, SessionError> {
        let (id, version) = (&*encoded.id, column(encoded.version));
        let inserted = self
            .write_again(
                "INSERT INTO heeler_sessions (id, version, session) \
                 VALUES ($1, $2, $3::text::json) ON CONFLICT DO NOTHING",
                &[(&id, Type::TEXT), (&version, Type::INT8), (&text(encoded)?, Type::TEXT)],
            )
            .await?;
        match inserted {
            0 => Err(SessionError::already_exists(id)),
            _ => Ok(encoded.version),
        }
    }

    async fn select(&self, id: &str) -> Result<Session, SessionError> {
        check_id(id)?;
        let sql = "SELECT version, session::text FROM heeler_sessions WHERE id = $1";
        let rows = self.read(sql, &[(&id, Type::TEXT)]).await?;
        let row = rows.first().ok_or_else(|| SessionError::not_found(id))?;
        let version: i64 = row.try_get(0).map_err(failed)?;
        let json: &str = row.try_get(1).map_err(failed)?;
        let place = format!("row `{id}` of table heeler_sessions");
        let mut session = decode(id, json.as_bytes(), place, "mend it, or delete the session")?;
        // The column is what an update compares with, whatever somebody did by hand.
        session.version = SessionVersion(version.cast_unsigned());
        Ok(session)
    }

    async fn replace(
        &self,
        expected: SessionVersion,
        encoded: &Encoded,
    ) -> Result<SessionVersion, SessionError> {
        let (id, version) = (&*encoded.id, column(encoded.version));
        let updated = self
            .write(
                "UPDATE heeler_sessions SET version = $3, session = $4::text::json \
                 WHERE id = $1 AND version = $2",
                &[
                    (&id, Type::TEXT),
                    (&column(expected), Type::INT8),
                    (&version, Type::INT8),
                    (&text(encoded)?, Type::TEXT),
                ],
            )
            .await;
        match updated {
            Ok(0) => {}
            Ok(_) => return Ok(encoded.version),
            // Where the database is set to stricter isolation, it says so itself.
            Err(error) if is_serialization_failure(&error) => {
                return Err(SessionError::conflict(id).with_source(error));
            }
            Err(error) => return Err(error),
        }
        let sql = "SELECT 1 FROM heeler_sessions WHERE id = $1";
        match self.read(sql, &[(&id, Type::TEXT)]).await?.is_empty() {
            true => Err(SessionError::not_found(id)),
            false => Err(SessionError::conflict(id)),
        }
    }

    async fn remove(&self, id: &str) -> Result<(), SessionError> {
        check_id(id)?;
        let sql = "DELETE FROM heeler_sessions WHERE id = $1";
        match self.write_again(sql, &[(&id, Type::TEXT)]).await? {
            0 => Err(SessionError::not_found(id)),
            _ => Ok(()),
        }
    }

    async fn ids(&self, prefix: &str, limit: usize) -> Result<Vec<String>, SessionError> {
        // No id holds one, and PostgreSQL refuses texts that do.
        if prefix.contains('\0') {
            return Ok(Vec::new());
        }
        // No number means no limit.
        let limit = if limit == 0 { None } else { i64::try_from(limit).ok() };
        // `~` comes after all that an id may hold, so this is exactly the prefix, by the index.
        let sql = "SELECT id FROM heeler_sessions WHERE id >= $1 AND id < $1 || '~' \
                   ORDER BY id LIMIT $2";
        let rows = self.read(sql, &[(&prefix, Type::TEXT), (&limit, Type::INT8)]).await?;
        rows.iter().map(|row| row.try_get(0).map_err(failed)).collect()
    }
}

impl SessionStore for PostgresSessions {
    fn create(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        let (store, encoded) = (self.clone(), Encoded::first(session));
        Box::pin(async move { store.insert(&encoded?).await })
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Session, SessionError>> {
        let (store, id) = (self.clone(), id.to_owned());
        Box::pin(async move { store.select(&id).await })
    }

    fn update(&self, session: &Session) -> BoxFuture<Result<SessionVersion, SessionError>> {
        let (store, encoded, expected) = (self.clone(), Encoded::next(session), session.version);
        Box::pin(async move { store.replace(expected, &encoded?).await })
    }

    fn delete(&self, id: &str) -> BoxFuture<Result<(), SessionError>> {
        let (store, id) = (self.clone(), id.to_owned());
        Box::pin(async move { store.remove(&id).await })
    }

    fn list(&self, prefix: &str, limit: usize) -> BoxFuture<Result<Vec<String>, SessionError>> {
        let (store, prefix) = (self.clone(), prefix.to_owned());
        Box::pin(async move { store.ids(&prefix, limit).await })
    }
}

impl fmt::Debug for PostgresSessions {
    /// Says nothing of where and as whom it connects.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSessions").finish_non_exhaustive()
    }
}

/// A version as it stands in its column: the same bits.
fn column(version: SessionVersion) -> i64 {
    version.0.cast_signed()
}

fn text(encoded: &Encoded) -> Result<&str, SessionError> {
    std::str::from_utf8(&encoded.json).map_err(|error| {
        SessionError::new(SessionErrorKind::Io, "a session is no text").with_source(error)
    })
}

fn is_serialization_failure(error: &SessionError) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Error>());
    source.is_some_and(|source| source.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE))
}

/// What the database answered instead, or that it did not.
fn failed(error: Error) -> SessionError {
    let is_refused = error.as_db_error().is_some_and(|refusal| {
        // Class 57P: the server is shut down, or ends this connection.
        !refusal.code().code().starts_with("57P")
    });
    let told = connection::told(&error);
    let failure = match is_refused {
        true => SessionError::new(SessionErrorKind::Io, format!("the database refused: {told}")),
        false => SessionError::unavailable(format!(
            "the connection to the database was lost ({told}); the next call connects again. A \
             write that was under way may be done: get the session to see"
        )),
    };
    failure.with_source(error)
}
