//! Which addresses may be connected to, looked at when the connection is made.
//!
//! A name is resolved once, each of its addresses is looked at, and the connection goes to exactly
//! these: what the name means a moment later does not matter.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
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

/// Looks at a host that a proxy will connect to, as far as it is known here. What cannot be resolved
/// here, as behind proxies that alone see the outside, is theirs to refuse.
pub(crate) async fn check_before_proxy(guard: Option<&Guard>, uri: &Uri) -> Result<(), Problem> {
    check_literal(guard, uri)?;
    let (Some(guard), Some(host)) = (guard, uri.host()) else { return Ok(()) };
    let Ok(name) = host.parse::<Name>() else { return Ok(()) };
    match GaiResolver::new().call(name).await {
        Ok(found) => Ok(guard.check(host, &found.map(|address| address.ip()).collect::<Vec<_>>())?),
        Err(_) => Ok(()),
    }
}

/// The system's resolver, and a guard that looks at what it finds.
#[derive(Clone)]
pub(crate) struct Guarded {
    resolver: GaiResolver,
    guard: Option<Guard>,
}

impl Guarded {
    pub(crate) fn new(guard: Option<Guard>) -> Self {
        Self { resolver: GaiResolver::new(), guard }
    }
}

impl Service<Name> for Guarded {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, io::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        self.resolver.poll_ready(context)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (guard, host) = (self.guard.clone(), name.to_string());
        let resolving = self.resolver.call(name);
        Box::pin(async move {
            let found: Vec<SocketAddr> = resolving.await?.collect();
            if let Some(guard) = guard {
                let addresses: Vec<IpAddr> = found.iter().map(SocketAddr::ip).collect();
                guard.check(&host, &addresses).map_err(io::Error::other)?;
            }
            Ok(found.into_iter())
        })
    }
}
