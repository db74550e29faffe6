//! Why there is no answer, or none to its end.

use std::io;
use std::time::Duration;

use crate::authorities::Untrusted;
use crate::guard::Refused;
use crate::head::HEAD_BYTES_MAX;
use crate::proxies::Unusable;

/// Why there is no answer, or none to its end. Whom it was sent to is for the caller to say.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Problem);

impl Error {
    /// What a guard did not let through, in words, if that is why.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&self.0);
        while let Some(error) = cause {
            // An error within one of the system's is not its source but stands for it.
            let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            let inner = inner.and_then(|inner| inner.downcast_ref::<Refused>());
            if let Some(refused) = inner.or_else(|| error.downcast_ref()) {
                return Some(refused.to_string());
            }
            cause = error.source();
        }
        None
    }
}

impl Error {
    /// Whether the same request would meet the same failure again, until somebody puts something right.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        use Problem::{Address, NoTls, ProxyAuthorization, ProxyNoTls, Refused};
        match &self.0 {
            Problem::TunnelRefused { status, .. } => !matches!(status, 408 | 429 | 500..),
            Address(_) | NoTls | ProxyAuthorization | ProxyNoTls(_) | Refused(_) => true,
            _ => self.says_next_step(),
        }
    }

    /// Whether the message says what is to be put right, and there is nothing else to look at.
    #[must_use]
    pub fn says_next_step(&self) -> bool {
        use Problem::{NoAuthorities, TunnelRefused, Untrusted, UnusableProxy};
        matches!(self.0, UnusableProxy(_) | Untrusted(_) | NoAuthorities(_) | TunnelRefused { .. })
    }

    /// The address of the proxy, without a name or a password, if that is what could not be reached.
    #[must_use]
    pub fn proxy(&self) -> Option<&str> {
        match &self.0 {
            Problem::Proxy { address, .. } => Some(address),
            _ => None,
        }
    }

    /// Whether there was a connection, and it ended before what was asked for was there.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        matches!(self.0, Problem::Broken(_) | Problem::Unanswered)
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("TLS could not be set up: {0}")]
    Tls(#[source] rustls::Error),
    #[error("`{0}` is no address with a host, http or https; correct it")]
    Address(String),
    #[error("{0}")]
    NoAuthorities(String),
    #[error("{0}")]
    Untrusted(#[from] Untrusted),
    #[error("{0}")]
    UnusableProxy(#[from] Unusable),
    #[error("the proxy wants a name and a password; set them in its address, or NO_PROXY")]
    ProxyAuthorization,
    #[error("the server does not speak TLS; begin its address with http:// if it is not to")]
    NoTls,
    #[error("the proxy {0} does not speak TLS; begin its address with http:// if it is not to")]
    ProxyNoTls(String),
    #[error(
        "through the proxy {0} came an answer without TLS, so not from the server; ask whoever runs \
         the proxy, or set NO_PROXY"
    )]
    TunnelNoTls(String),
    #[error(
        "the proxy {address} refused a connection to {to}: HTTP {status}. Ask whoever runs it, or \
         set NO_PROXY if {to} can be reached without it"
    )]
    TunnelRefused { address: String, to: String, status: u16 },
    #[error("the proxy {address} gave no connection: {source}")]
    Proxy {
        address: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the connection failed: {0}")]
    Connect(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("{0}")]
    Refused(#[from] Refused),
    #[error("connecting took longer than {} s", .0.as_secs_f32())]
    ConnectTimeout(Duration),
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    #[error("the server closed the connection without an answer")]
    Unanswered,
    #[error("the answer's head cannot be read: {0}")]
    Head(#[source] httparse::Error),
    #[error("the answer's head is longer than {HEAD_BYTES_MAX} bytes")]
    LongHead,
    #[error("the answer's length is told in a way that cannot be read")]
    Length,
    #[error("end of file before message length reached")]
    Cut,
    #[error("the answer's chunks cannot be told apart")]
    Chunk,
}
