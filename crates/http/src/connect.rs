//! To a server, straight or through the proxy that the environment names.

use std::sync::Arc;

use http::Uri;
use http::header::{HeaderMap, HeaderValue, USER_AGENT};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::ServerName;
use rustls_platform_verifier::Verifier;
use tokio_rustls::TlsConnector;
use tower_service::Service as _;

use crate::Options;
use crate::connection::Connection;
use crate::error::Problem;
use crate::request::Proxy;

/// The protocol that servers are told we speak.
const PROTOCOL: &[u8] = b"http/1.1";

pub(crate) struct Connector {
    tcp: HttpConnector,
    tls: Arc<ClientConfig>,
    /// For proxies that are reached through TLS themselves.
    tls_to_proxy: Arc<ClientConfig>,
    proxies: Matcher,
    user_agent: Option<HeaderValue>,
}

impl Connector {
    /// Reads the system's certificates.
    pub(crate) fn new(options: &Options, proxies: Matcher) -> Result<Self, Problem> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(options.connect_timeout));
        tcp.set_keepalive(Some(options.keepalive));
        tcp.set_keepalive_interval(Some(options.keepalive_interval));
        tcp.set_keepalive_retries(Some(options.keepalive_retries));
        #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
        tcp.set_tcp_user_timeout(Some(options.unacknowledged_max));
        let tls = tls().map_err(Problem::Tls)?;
        let tls_to_proxy = Arc::new(tls.clone());
        let mut tls = tls;
        tls.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self {
            tcp,
            tls: Arc::new(tls),
            tls_to_proxy,
            proxies,
            user_agent: HeaderValue::try_from(&options.user_agent).ok(),
        })
    }

    pub(crate) async fn connect(&self, uri: &Uri) -> Result<Connection, Problem> {
        let Some(proxy) = self.proxies.intercept(uri) else {
            return self.straight(uri, &self.tls, None).await;
        };
        if uri.scheme_str() == Some("https") {
            return self.through(&proxy, uri).await;
        }
        let authorization = proxy.basic_auth().cloned();
        self.straight(proxy.uri(), &self.tls_to_proxy, Some(Proxy { authorization })).await
    }

    async fn straight(
        &self,
        uri: &Uri,
        tls: &Arc<ClientConfig>,
        proxy: Option<Proxy>,
    ) -> Result<Connection, Problem> {
        let mut connector = HttpsConnector::from((self.tcp.clone(), Arc::clone(tls)));
        match connector.call(uri.clone()).await.map_err(Problem::Connect)? {
            MaybeHttpsStream::Http(stream) => Ok(Connection::new(stream.into_inner(), proxy)),
            MaybeHttpsStream::Https(stream) => Ok(Connection::new(stream.into_inner(), proxy)),
        }
    }

    /// Through a proxy that sees nothing but the server's name.
    async fn through(&self, proxy: &Intercept, uri: &Uri) -> Result<Connection, Problem> {
        let inner = HttpsConnector::from((self.tcp.clone(), Arc::clone(&self.tls_to_proxy)));
        let mut tunnel = Tunnel::new(proxy.uri().clone(), inner);
        if let Some(authorization) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(authorization.clone());
        }
        let headers = self.user_agent.iter().map(|value| (USER_AGENT, value.clone()));
        tunnel = tunnel.with_headers(HeaderMap::from_iter(headers));
        let connected = |error| Problem::Connect(error);
        let stream = tunnel.call(uri.clone()).await.map_err(|error| connected(error.into()))?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let name =
            ServerName::try_from(host.to_owned()).map_err(|error| connected(error.into()))?;
        let tls = TlsConnector::from(Arc::clone(&self.tls));
        let stream = tls.connect(name, TokioIo::new(stream)).await;
        Ok(Connection::new(stream.map_err(|error| connected(error.into()))?, None))
    }
}

/// TLS with whom the system's certificates vouch for.
fn tls() -> Result<ClientConfig, rustls::Error> {
    // What a program has chosen stays.
    let provider = CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| Arc::new(ring::default_provider()));
    let verifier = Arc::new(Verifier::new(Arc::clone(&provider))?);
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(config)
}
