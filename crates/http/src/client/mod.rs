//! A request's way: a connection that waits or a new one, the request, the head of its answer.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::RwLock;

use crate::connect::Connector;
use crate::connection::{Connection, Exchange};
use crate::error::Problem;
use crate::guard::{Guard, Resolver};
use crate::pieces::Pieces;
use crate::pool::Pool;
use crate::proxies::Proxies;
use crate::{Answer, Error, Target};

/// The status of a proxy that wants to know who asks.
const PROXY_AUTHORIZATION: u16 = 407;

/// What a client is told.
#[derive(Debug, Clone)]
pub struct Options {
    /// Who we are, to servers.
    pub user_agent: String,
    /// How long reaching a server may take, its name and TLS included.
    pub connect_timeout: Duration,
    /// After how long in which nothing came the operating system probes a connection,
    pub keepalive: Duration,
    /// how long between two such probes,
    pub keepalive_interval: Duration,
    /// and how many may stay without an answer; see [`Options::unanswered_max`].
    pub keepalive_retries: u32,
    /// Which addresses may be connected to; all when nothing is said.
    pub guard: Option<Guard>,
    /// Who says what names mean; the system when nothing is said.
    pub resolver: Option<Resolver>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            user_agent: concat!("heeler/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(30),
            keepalive: Duration::from_secs(60),
            keepalive_interval: Duration::from_secs(15),
            keepalive_retries: 3,
            guard: None,
            resolver: None,
        }
    }
}

impl Options {
    /// After how long a server that is gone is noticed, by a connection that is waiting for it: 105
    /// seconds unless told otherwise.
    ///
    /// With bytes on the way to it that were not acknowledged, such as those of a request, nobody
    /// probes. On Linux and Android a connection with TLS gives up after the same time then, and
    /// also when the server has acknowledged all and had no room for more in that time. Elsewhere,
    /// and without TLS, the system gives up when it has repeated them often enough, on Linux after
    /// 15 minutes and more, and never while a server that has no room answers: whoever waits for an
    /// answer has to set a limit.
    #[must_use]
    pub fn unanswered_max(&self) -> Duration {
        let probing = self.keepalive_interval.saturating_mul(self.keepalive_retries);
        self.keepalive.saturating_add(probing)
    }
}

/// Sends requests, and keeps connections for the next. Clones share them.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    options: Options,
    connector: Connector,
    pool: Arc<Pool>,
    /// Held for writing while a connection is made that nobody has asked for yet: who asks then
    /// waits for it instead of making another.
    warming: RwLock<()>,
}

impl Client {
    /// A client that knows the proxies that the environment names. The system's certificates are
    /// read when TLS is first needed, or by [`Client::prepare`].
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self::with_proxies(options, Proxies::of_environment())
    }

    fn with_proxies(options: Options, proxies: impl Into<Proxies>) -> Self {
        let connector = Connector::new(&options, proxies.into());
        let (pool, warming) = (Arc::default(), RwLock::default());
        Self { inner: Arc::new(Inner { options, connector, pool, warming }) }
    }

    /// Reads the system's certificates, in another thread, unless that is done.
    ///
    /// # Errors
    /// When no certificates can be had.
    pub async fn prepare(&self) -> Result<(), Error> {
        Ok(self.inner.connector.prepare().await?)
    }

    /// Posts the chunks as one body, and waits for the head of the answer, however long that takes.
    /// What the server has not taken by then is written while the answer is read, unless it is a
    /// refusal.
    ///
    /// # Errors
    /// When the server cannot be reached, closes the connection, or does not speak HTTP.
    pub async fn post(&self, target: &Arc<Target>, chunks: Vec<Bytes>) -> Result<Answer, Error> {
        self.send(target, Some(Pieces::of(chunks))).await
    }

    /// Asks for what is at the address, and waits for the head of the answer, however long that
    /// takes.
    ///
    /// # Errors
    /// When the server cannot be reached, closes the connection, or does not speak HTTP.
    pub async fn get(&self, target: &Arc<Target>) -> Result<Answer, Error> {
        self.send(target, None).await
    }

    async fn send(&self, target: &Arc<Target>, body: Option<Pieces>) -> Result<Answer, Error> {
        let connection = self.connection(target).await?;
        let user_agent = &self.inner.options.user_agent;
        let length = body.as_ref().map(Pieces::length);
        let head = target.head(length, user_agent, connection.proxy());
        let is_read_by_proxy = connection.proxy().is_some();
        let pieces = body.unwrap_or_else(|| Pieces::of(Vec::new()));
        let mut exchange = Exchange::new(connection, head, pieces);
        let head = poll_fn(|context| exchange.poll(context)).await?;
        // Only a proxy asks so, and only one that reads the request itself is heard here.
        if is_read_by_proxy && head.status() == PROXY_AUTHORIZATION {
            return Err(Problem::ProxyAuthorization.into());
        }
        let (pool, target) = (Arc::clone(&self.inner.pool), Arc::clone(target));
        Ok(Answer::new(head, exchange.into_parts(), pool, target))
    }

    /// Opens a connection for the next request, if none waits for one.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn warm(&self, target: &Target) -> Result<(), Error> {
        let _warming = self.inner.warming.write().await;
        let waiting = self.inner.pool.take(target.origin());
        let connection = match waiting {
            Some(connection) => connection,
            None => self.connect(target).await?,
        };
        self.inner.pool.give(target.origin(), connection);
        Ok(())
    }

    async fn connection(&self, target: &Target) -> Result<Connection, Problem> {
        drop(self.inner.warming.read().await);
        match self.inner.pool.take(target.origin()) {
            Some(connection) => Ok(connection),
            // Boxed: most requests need no room for it.
            None => Box::pin(self.connect(target)).await,
        }
    }

    async fn connect(&self, target: &Target) -> Result<Connection, Problem> {
        let limit = self.inner.options.connect_timeout;
        let connecting = self.inner.connector.connect(target.uri());
        let connected = tokio::time::timeout(limit, connecting).await;
        connected.unwrap_or(Err(Problem::ConnectTimeout(limit)))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("options", &self.inner.options).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
