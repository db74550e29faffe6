//! To a server, straight or through the proxy that the environment names.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;

use http::Uri;
use http::header::HeaderValue;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tower_service::Service as _;

use crate::Options;
use crate::authorities::{self, Untrusted};
use crate::connection::{Connection, Exchange};
use crate::error::Problem;
use crate::guard::{self, Guard, Guarded, Resolver};
use crate::pieces::Pieces;
use crate::proxies::Proxies;
use crate::request::{self, Proxy};

/// The protocol that servers are told we speak.
const PROTOCOL: &[u8] = b"http/1.1";

pub(crate) struct Connector {
    /// To servers, where the guard looks at each address.
    tcp: HttpConnector<Guarded>,
    /// To proxies, which whoever set the environment chose.
    tcp_to_proxy: HttpConnector<Guarded>,
    guard: Option<Guard>,
    resolver: Option<Resolver>,
    tls: OnceCell<Tls>,
    proxies: Proxies,
    user_agent: Option<HeaderValue>,
}

/// With whom the system's certificates vouch for.
struct Tls {
    to_server: Arc<ClientConfig>,
    /// For proxies that are reached through TLS themselves.
    to_proxy: Arc<ClientConfig>,
}

impl Connector {
    pub(crate) fn new(options: &Options, proxies: Proxies) -> Self {
        let tcp = |guard| tcp(options, guard);
        let (tls, user_agent) = (OnceCell::new(), HeaderValue::try_from(&options.user_agent).ok());
        Self {
            tcp: tcp(options.guard.clone()),
            tcp_to_proxy: tcp(None),
            guard: options.guard.clone(),
            resolver: options.resolver.clone(),
            tls,
            proxies,
            user_agent,
        }
    }

    /// Reads the system's certificates unless that is done. It takes milliseconds and many files, so
    /// another thread does; whoever asks in the meantime waits here instead of in one of its own.
    pub(crate) async fn prepare(&self) -> Result<(), Problem> {
        self.tls().await.map(|_| ())
    }

    pub(crate) async fn connect(&self, uri: &Uri) -> Result<Connection, Problem> {
        let Some(proxy) = self.proxies.proxy(uri)? else {
            // An address needs no resolver, so nobody looks at it there.
            guard::check_literal(self.guard.as_ref(), uri)?;
            return self.straight(&self.tcp, uri, |tls| &tls.to_server, None).await;
        };
        let (guard, resolver) = (self.guard.as_ref(), self.resolver.as_ref());
        guard::check_before_proxy(guard, resolver, uri).await?;
        if is_https(uri) {
            return self.through(&proxy, uri).await;
        }
        let proxied = Some(Proxy { authorization: proxy.basic_auth().cloned() });
        let to_proxy = self.straight(&self.tcp_to_proxy, proxy.uri(), |tls| &tls.to_proxy, proxied);
        to_proxy.await.map_err(|problem| of_proxy(problem, &proxy))
    }

    async fn straight(
        &self,
        tcp: &HttpConnector<Guarded>,
        uri: &Uri,
        choose: impl Fn(&Tls) -> &Arc<ClientConfig>,
        proxy: Option<Proxy>,
    ) -> Result<Connection, Problem> {
        if !is_https(uri) {
            return Ok(Connection::new(plain(tcp, uri).await?, proxy));
        }
        let tls = Arc::clone(choose(self.tls().await?));
        let stream = HttpsConnector::from((tcp.clone(), tls)).call(uri.clone()).await;
        Ok(Connection::new(TokioIo::new(stream.map_err(not_connected)?), proxy))
    }

    /// Through a proxy that sees nothing but the server's name.
    async fn through(&self, proxy: &Intercept, uri: &Uri) -> Result<Connection, Problem> {
        let tls = self.tls().await?;
        let mut inner =
            HttpsConnector::from((self.tcp_to_proxy.clone(), Arc::clone(&tls.to_proxy)));
        let stream = inner.call(proxy.uri().clone()).await;
        let stream = stream.map_err(|error| of_proxy(not_connected(error), proxy))?;
        let connection = Connection::new(TokioIo::new(stream), None);
        let connection = tunnel(connection, proxy, uri, self.user_agent.as_ref()).await?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let name =
            ServerName::try_from(host.to_owned()).map_err(|error| not_connected(error.into()))?;
        let tls = TlsConnector::from(Arc::clone(&tls.to_server));
        let stream = tls.connect(name, connection.into_io()).await;
        let stream = stream.map_err(|error| match not_connected(error.into()) {
            // A page that says why not, most likely. Without TLS the request would be read there.
            Problem::NoTls => Problem::TunnelNoTls(address(proxy)),
            other => other,
        })?;
        Ok(Connection::new(stream, None))
    }

    async fn tls(&self) -> Result<&Tls, Problem> {
        let building = || async {
            let built = tokio::task::spawn_blocking(tls).await;
            let gone = |error: tokio::task::JoinError| rustls::Error::General(error.to_string());
            built.unwrap_or_else(|error| Err(Problem::Tls(gone(error))))
        };
        // A failure is not kept: it may be of a runtime that ended, or of what has been put right.
        self.tls.get_or_try_init(building).await
    }
}

fn tcp(options: &Options, guard: Option<Guard>) -> HttpConnector<Guarded> {
    let mut tcp = HttpConnector::new_with_resolver(Guarded::new(guard, options.resolver.clone()));
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(options.connect_timeout));
    tcp.set_keepalive(Some(options.keepalive));
    tcp.set_keepalive_interval(Some(options.keepalive_interval));
    tcp.set_keepalive_retries(Some(options.keepalive_retries));
    // Where it is set, Linux counts by it and not by the retries: with less, the first probe without
    // an answer would end a connection that one short outage befell.
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    tcp.set_tcp_user_timeout(Some(options.unanswered_max()));
    tcp
}

/// Without TLS. A model's server on this machine or the next may serve one request at a time: what
/// waits for it is acknowledged up to a full buffer, and the rest counts as unanswered.
async fn plain(tcp: &HttpConnector<Guarded>, uri: &Uri) -> Result<TcpStream, Problem> {
    let mut tcp = tcp.clone();
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    tcp.set_tcp_user_timeout(None);
    let stream = tcp.call(uri.clone()).await;
    Ok(stream.map_err(|error| Problem::Connect(error.into()))?.into_inner())
}

/// Has a proxy connect to a server.
async fn tunnel(
    connection: Connection,
    proxy: &Intercept,
    uri: &Uri,
    user_agent: Option<&HeaderValue>,
) -> Result<Connection, Problem> {
    let to = uri.host().unwrap_or_default();
    let place = format!("{to}:{}", uri.port_u16().unwrap_or(443));
    let head = request::tunnel_head(&place, user_agent, proxy.basic_auth());
    let mut exchange = Exchange::new(connection, head, Pieces::of(Vec::new()));
    let answered = poll_fn(|context| exchange.poll(context)).await;
    let head = answered.map_err(|problem| {
        let source: Box<dyn std::error::Error + Send + Sync> = match problem {
            Problem::Broken(error) => error.into(),
            Problem::Unanswered => io::Error::from(io::ErrorKind::UnexpectedEof).into(),
            other => other.into(),
        };
        Problem::Proxy { address: address(proxy), source }
    })?;
    let (connection, _) = exchange.into_parts();
    match head.status() {
        // What came by itself is not the server's.
        200..300 if !connection.unused().is_empty() => Err(Problem::TunnelNoTls(address(proxy))),
        200..300 => Ok(connection),
        407 => Err(Problem::ProxyAuthorization),
        status => {
            Err(Problem::TunnelRefused { address: address(proxy), to: to.to_owned(), status })
        }
    }
}

/// Why there is no connection. Whoever answers TLS with something else, or with a certificate that
/// is not accepted, will do so again.
fn not_connected(error: Box<dyn std::error::Error + Send + Sync>) -> Problem {
    use rustls::{Error, InvalidMessage};
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(&*error);
    while let Some(cause) = next {
        match cause.downcast_ref() {
            Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
                return Problem::NoTls;
            }
            Some(Error::InvalidCertificate(why)) => return Untrusted::of_server(why).into(),
            _ => {}
        }
        // An error within one of the system's is not its source but stands for it.
        let stands_for = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = match stands_for {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    Problem::Connect(error)
}

/// What the way to a proxy failed of, in words that name it: the server has no part in it.
fn of_proxy(problem: Problem, proxy: &Intercept) -> Problem {
    match problem {
        Problem::NoTls => Problem::ProxyNoTls(address(proxy)),
        Problem::Untrusted(untrusted) => untrusted.of_proxy(&address(proxy)).into(),
        Problem::Connect(source) => Problem::Proxy { address: address(proxy), source },
        other => other,
    }
}

/// The proxy's address for people: without what it is to know of us.
fn address(proxy: &Intercept) -> String {
    let uri = proxy.uri();
    let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
    let scheme = uri.scheme_str().unwrap_or_default();
    format!("{scheme}://{}{port}", uri.host().unwrap_or_default())
}

fn is_https(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

fn tls() -> Result<Tls, Problem> {
    // What a program has chosen stays.
    let provider = CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| Arc::new(ring::default_provider()));
    let verifier = authorities::verifier(&provider)?;
    let to_proxy = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Problem::Tls)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    let mut to_server = to_proxy.clone();
    to_server.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Tls { to_server: Arc::new(to_server), to_proxy: Arc::new(to_proxy) })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use rustix::net::sockopt;
    use tokio::net::TcpListener;

    use super::*;

    /// After how many milliseconds, probes aside, the system gives up.
    fn gives_up_after(stream: &TcpStream) -> u32 {
        assert!(sockopt::socket_keepalive(stream).unwrap());
        let probed = sockopt::tcp_keepidle(stream).unwrap().as_secs();
        let interval = sockopt::tcp_keepintvl(stream).unwrap().as_secs();
        assert_eq!((probed, interval, sockopt::tcp_keepcnt(stream).unwrap()), (60, 15, 3));
        sockopt::tcp_user_timeout(stream).unwrap()
    }

    #[tokio::test]
    async fn the_system_gives_up_when_the_last_probe_had_no_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (uri, options) = (address.parse::<Uri>().unwrap(), Options::default());
        let mut tcp = tcp(&options, None);
        let below_tls = tcp.call(uri.clone()).await.unwrap().into_inner();
        assert_eq!(gives_up_after(&below_tls), 105_000);
        assert_eq!(options.unanswered_max(), std::time::Duration::from_secs(105));
        // A server that acknowledges and does not read may take its time.
        assert_eq!(gives_up_after(&plain(&tcp, &uri).await.unwrap()), 0);
    }
}
