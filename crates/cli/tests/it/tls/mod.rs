//! TLS as it ships: a real handshake, and only with whom the system's certificates vouch for.
//!
//! `server.pem` is for 127.0.0.1 and signed by `authority.pem`, which no system knows; both are
//! valid until 2120, and their keys are good for nothing else. Elsewhere than on Linux the
//! operating system decides whom to trust, and no variable changes its mind.
#![cfg(target_os = "linux")]

use std::net::SocketAddr;
use std::sync::Arc;

use heeler_testkit::MockServer;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};

use crate::support::{Output, World};

const AUTHORITY: &str = include_str!("authority.pem");
const CERTIFICATE: &[u8] = include_bytes!("server.pem");
const KEY: &[u8] = include_bytes!("server.key.pem");

/// What stands before a mock server: TLS towards the client, the plain bytes towards the mock.
struct Front {
    port: u16,
    /// Dropping it closes every connection.
    _runtime: tokio::runtime::Runtime,
}

impl Front {
    fn of(server: &MockServer) -> Self {
        let behind: SocketAddr = server.url().trim_start_matches("http://").parse().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = TlsAcceptor::from(Arc::new(config()));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // Who does not trust us goes away here; what it says is the test's business.
                    let Ok(mut client) = acceptor.accept(stream).await else { return };
                    let mut server = TcpStream::connect(behind).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
        Self { port, _runtime: runtime }
    }
}

fn config() -> ServerConfig {
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap()
}

/// What a turn prints with a model at `host`, and the methods of the requests that reached it.
/// `SSL_CERT_FILE` names who vouches for it, if anybody does.
fn ask(world: &World, host: &str, trusted: bool) -> (Output, Vec<String>) {
    let script = heeler_script::Script::parse(r#"reply = [{ text = "Hello." }]"#).unwrap();
    let server = MockServer::start(script);
    let front = Front::of(&server);
    let mut heeler = world
        .exec_at(&server, &["--timeout", "3", "hello"])
        .env("ANTHROPIC_BASE_URL", format!("https://{host}:{}", front.port));
    if trusted {
        heeler = heeler.env("SSL_CERT_FILE", world.write("authority.pem", AUTHORITY));
    }
    let output = heeler.run();
    (output, server.requests().into_iter().map(|request| request.method).collect())
}

#[test]
fn a_server_that_is_vouched_for_is_asked() {
    let (output, methods) = ask(&World::new(), "127.0.0.1", true);
    assert_eq!((output.exits(0).stdout.as_str(), methods), ("Hello.\n", vec!["POST".to_owned()]));
}

/// Such a server sees the handshake fail, and no request.
fn refused(host: &str, trusted: bool, why: &str) {
    let (output, methods) = ask(&World::new(), host, trusted);
    assert!(output.code != 0 && output.stderr.contains(why), "{}", output.stderr);
    assert_eq!(methods, [""; 0]);
}

#[test]
fn a_server_that_nobody_vouches_for_is_refused() {
    refused("127.0.0.1", false, "UnknownIssuer");
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    refused("localhost", true, "not valid for name");
}
