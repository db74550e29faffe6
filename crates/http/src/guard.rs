//! Which addresses may be connected to, looked at when the connection is made.
//!
//! A name is resolved once, each of its addresses is looked at, and the connection goes to exactly
//! these: what the name means a moment later does not matter.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

use crate::error::Problem;

type Allows = dyn Fn(&str, IpAddr) -> bool + Send + Sync;

/// Decides by the name that was asked for and one of its addresses whether to connect.
#[derive(Clone)]
pub struct Guard(Arc<Allows>);

impl Guard {
    /// A guard that lets through what `allows` does, by host (a name, or an address as in the URL,
    /// without brackets) and address. A host with one address that it does not allow is not
    /// connected to at all.
    pub fn new(allows: impl Fn(&str, IpAddr) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(allows))
    }

    fn check(&self, host: &str, addresses: &[IpAddr]) -> Result<(), Refused> {
        match addresses.iter().find(|address| !(self.0)(host, **address)) {
            None => Ok(()),
            Some(address) => Err(Refused { host: host.to_owned(), address: *address }),
        }
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guard")
    }
}

/// A guard did not let a connection through.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{host}`{} may not be connected to", self.meaning())]
pub(crate) struct Refused {
    host: String,
    address: IpAddr,
}

impl Refused {
    /// What the host means, unless it says so itself.
    fn meaning(&self) -> String {
        match self.host.parse::<IpAddr>() {
            Ok(address) if self.address == address => String::new(),
            _ => format!(" is {}, which", self.address),
        }
    }
}

/// Looks at the host of an address that names an IP address itself.
pub(crate) fn check_literal(guard: Option<&Guard>, uri: &Uri) -> Result<(), Problem> {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    match (guard, host.parse::<IpAddr>()) {
        (Some(guard), Ok(address)) => Ok(guard.check(host, &[address])?),
        _ => Ok(()),
    }
}

/// Says what a name means, in place of the system.
#[derive(Clone)]
pub struct Resolver(Arc<Resolve>);

type Resolve = dyn Fn(String) -> Resolving + Send + Sync;
type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

impl Resolver {
    /// A resolver that gives a host's addresses; it is asked once for each connection, which then
    /// goes to one of exactly these. Addresses in their usual form need none.
    pub fn new<F>(resolve: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        Self(Arc::new(move |name| Box::pin(resolve(name))))
    }
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Resolver")
    }
}

/// What a name means, by whoever is set, else by the system.
async fn resolved(resolver: Option<Resolver>, name: Name) -> io::Result<Vec<SocketAddr>> {
    match resolver {
        Some(Resolver(resolve)) => {
            let found = resolve(name.to_string()).await?;
            Ok(found.into_iter().map(|address| SocketAddr::new(address, 0)).collect())
        }
        None => Ok(GaiResolver::new().call(name).await?.collect()),
    }
}

/// Looks at a host that a proxy will connect to, as far as it is known here. What cannot be resolved
/// here, as behind proxies that alone see the outside, is theirs to refuse.
pub(crate) async fn check_before_proxy(
    guard: Option<&Guard>,
    resolver: Option<&Resolver>,
    uri: &Uri,
) -> Result<(), Problem> {
    check_literal(guard, uri)?;
    let (Some(guard), Some(host)) = (guard, uri.host()) else { return Ok(()) };
    // Of these everybody knows what they mean, whoever resolves them.
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        guard.check(host, &[Ipv4Addr::LOCALHOST.into()])?;
    }
    let Ok(name) = host.parse::<Name>() else { return Ok(()) };
    match resolved(resolver.cloned(), name).await {
        Ok(found) => Ok(guard.check(host, &addresses(&found))?),
        Err(_) => Ok(()),
    }
}

fn addresses(found: &[SocketAddr]) -> Vec<IpAddr> {
    found.iter().map(SocketAddr::ip).collect()
}

/// Who says what names mean, and a guard that looks at what that is.
#[derive(Clone)]
pub(crate) struct Guarded {
    resolver: Option<Resolver>,
    guard: Option<Guard>,
}

impl Guarded {
    pub(crate) fn new(guard: Option<Guard>, resolver: Option<Resolver>) -> Self {
        Self { resolver, guard }
    }
}

impl Service<Name> for Guarded {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, io::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (guard, host) = (self.guard.clone(), name.to_string());
        let resolving = resolved(self.resolver.clone(), name);
        Box::pin(async move {
            let found = resolving.await?;
            if let Some(guard) = guard {
                guard.check(&host, &addresses(&found)).map_err(io::Error::other)?;
            }
            Ok(found.into_iter())
        })
    }
}
