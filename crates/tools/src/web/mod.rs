//! Tools that go out to the web, with a guard on where they get to.

mod address;
mod bounds;
mod charset;
mod fetch;
mod outline;
mod page;
mod parts;
mod search;
mod tags;
#[cfg(test)]
mod testing;

pub use fetch::{WebFetch, WebFetchInput};
pub use search::{
    Brave, SEARCH_RESULTS_MAX, SearchBackend, SearchHit, SearchPage, SearchRequest, Searxng,
    Tavily, WebSearch, WebSearchInput, WebSearchOutput, WebSearchResult,
};

use std::net::IpAddr;

use heeler_http::{Client, Guard, Options, Resolver};

/// Hosts that may be reached although they are not of the public internet, such as a server of
/// one's own on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed(Vec<String>);

impl Allowed {
    /// These hosts, each as it stands in addresses: a name, or an IP address without brackets.
    pub fn hosts<H: Into<String>>(hosts: impl IntoIterator<Item = H>) -> Self {
        Self(hosts.into_iter().map(|host| host.into().to_ascii_lowercase()).collect())
    }

    fn allows(&self, host: &str, address: IpAddr) -> bool {
        address::is_public(address) || self.0.iter().any(|one| one.eq_ignore_ascii_case(host))
    }
}

/// A client that connects to the public internet and to what is allowed besides.
fn guarded(allowed: Allowed) -> Client {
    guarded_by(allowed, None)
}

/// The same, where somebody else than the system says what names mean.
fn guarded_by(allowed: Allowed, resolver: Option<Resolver>) -> Client {
    let guard = Some(Guard::new(move |host, address| allowed.allows(host, address)));
    Client::new(Options { guard, resolver, ..Options::default() })
}
