//! TLS and proxies as the environment names them: each case is a process of its own, since both are
//! read from its environment.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use futures::StreamExt as _;
use heeler_core::{ModelEvent, Provider as _};
use heeler_providers::{Anthropic, AnthropicSettings};
use heeler_testkit::player::{Player, role, say};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::wire::request;

const URL: &str = "HEELER_TEST_URL";
const ANSWER: &str =
    r#"{"id":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_that_the_environment_names_are_trusted() {
    let world = World::start().await;
    world.check(&["SSL_CERT_FILE"], expect!["hi"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_are_not_and_the_message_says_so() {
    let world = World::start().await;
    world.check(&[], expect!["InvalidRequest: localhost could not be reached: the certificate of the server is not accepted: nobody vouches for it whom this machine trusts (UnknownIssuer). If you trust who signed it, such as a server or a proxy of your own network, name a PEM file with that authority's certificate in SSL_CERT_FILE"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_is_not_accepted_is_told_with_what_to_do() {
    let world = World::serving("localhost", |params| {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    world.await.check(&["SSL_CERT_FILE"], expect!["InvalidRequest: localhost could not be reached: the certificate of the server is not accepted: it is one of an authority and not of a server (CaUsedAsEndEntity). Give it one that the authority signed, and name a PEM file with that authority's certificate in SSL_CERT_FILE"]).await;
    let world = World::serving("other.example", |_| {}).await;
    world.check(&["SSL_CERT_FILE"], expect![[r#"InvalidRequest: localhost could not be reached: the certificate of the server is not accepted: certificate not valid for name "localhost"; certificate is only valid for DnsName("other.example"). Correct the address to a name that the certificate is for"#]]).await;
    let world = World::serving("localhost", |params| params.not_after = date_time_ymd(2001, 2, 3));
    let said = world.await.said(&["SSL_CERT_FILE"], &[]).await;
    let (told, rest) = said.split_once("verification time").unwrap();
    expect!["InvalidRequest: localhost could not be reached: the certificate of the server is not accepted: certificate expired: "].assert_eq(told);
    assert!(rest.ends_with("Look at the clock of this machine, and then at the certificate"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_certificates_that_is_none_is_named() {
    let world = World::start().await;
    let folder = world.authority.parent().unwrap();
    let other = tempfile::tempdir().unwrap();
    let key = KeyPair::generate().unwrap();
    let of_others = CertificateParams::new([]).unwrap().self_signed(&key).unwrap();
    std::fs::write(other.path().join("other.pem"), of_others.pem()).unwrap();
    let empty = folder.join("empty.pem");
    std::fs::write(&empty, "nothing").unwrap();
    for (path, why) in [
        (folder.join("gone.pem"), "which cannot be read: No such file or directory (os error 2)"),
        (empty, "in which there is no certificate"),
    ] {
        let path = path.to_str().unwrap();
        let expected = format!(
            "InvalidRequest: localhost could not be reached: SSL_CERT_FILE names `{path}`, {why}. \
             Name a PEM file with certificates, or unset it"
        );
        assert_eq!(world.said(&[], &[("SSL_CERT_FILE", path)]).await, expected);
        // Others vouch for somebody, and not for this server.
        let others = [("SSL_CERT_FILE", path), ("SSL_CERT_DIR", other.path().to_str().unwrap())];
        let said = world.said(&[], &others).await;
        assert!(
            said.contains("whom this machine trusts (BadSignature). SSL_CERT_FILE names `"),
            "{said}"
        );
        assert!(said.contains(why), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_that_refuses_is_told_without_its_password() {
    let world = World::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        client.read_u8().await.unwrap();
        client.write_all(b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        let _ = client.read_to_end(&mut Vec::new()).await;
    });
    let proxy = format!("http://me:secret@{address}");
    let said = world.said(&["SSL_CERT_FILE"], &[("HTTPS_PROXY", &proxy)]).await;
    expect!["InvalidRequest: localhost could not be reached: the proxy http://PROXY refused a connection to localhost: HTTP 403. Ask whoever runs it, or set NO_PROXY if localhost can be reached without it"].assert_eq(&said.replace(&address, "PROXY"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_sees_whom_it_connects_and_nothing_else() {
    let world = World::start().await;
    world.check(&["SSL_CERT_FILE", "HTTPS_PROXY"], expect!["hi"]).await;
    let told = world.proxied.lock().unwrap().clone();
    assert_eq!(told, [format!("CONNECT localhost:{} HTTP/1.1", world.port)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_hosts_need_no_proxy() {
    let world = World::start().await;
    world.check(&["SSL_CERT_FILE", "HTTPS_PROXY", "NO_PROXY"], expect!["hi"]).await;
    assert!(world.proxied.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_that_is_not_understood_is_named_and_nobody_is_asked_straight() {
    let world = World::start().await;
    for (variable, value) in [
        ("HTTPS_PROXY", "http://user:pa ss@proxy.corp:3128"),
        ("https_proxy", "http://proxy.corp:99999"),
        ("ALL_PROXY", "garbage:::"),
    ] {
        let said = world.said(&["SSL_CERT_FILE"], &[(variable, value)]).await;
        let begin = format!("InvalidRequest: localhost could not be reached: {variable} ");
        assert!(said.starts_with(&begin) && !said.contains("pa ss"), "{said}");
        assert!(!said.contains("Check the network"), "{said}");
    }
    let exempt = [("ALL_PROXY", "garbage:::"), ("no_proxy", "*.example localhost")];
    assert_eq!(world.said(&["SSL_CERT_FILE"], &exempt).await, "hi");
}

/// Asks once and says what came of it.
#[tokio::test]
#[ignore = "started by the tests above, as a process of its own"]
async fn ask() {
    let mut settings = AnthropicSettings::with_api_key("sk-test");
    settings.base_url = std::env::var(URL).unwrap();
    let mut stream = Anthropic::new(&settings).unwrap().stream(request("m", "go"));
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Finished(reply)) => say(reply.blocks[0].as_text().unwrap()),
            Ok(_) => {}
            Err(error) => say(format!("{:?}: {}", error.kind, error.message)),
        }
    }
}

/// A server that only `authority` vouches for, and a proxy.
struct World {
    port: u16,
    proxy: String,
    /// The first line of each request to the proxy.
    proxied: Arc<Mutex<Vec<String>>>,
    authority: PathBuf,
    _folder: tempfile::TempDir,
}

impl World {
    async fn start() -> Self {
        Self::serving("localhost", |_| {}).await
    }

    /// With a certificate for this name, and whatever else is said of it.
    async fn serving(name: &str, change: impl FnOnce(&mut CertificateParams)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = folder.path().join("authority.pem");
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        std::fs::write(&authority, params.self_signed(&key).unwrap().pem()).unwrap();
        let issuer = Issuer::new(params, key);

        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key.into())
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                // A client that trusts nobody here goes away.
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                answer(stream).await;
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = format!("http://{}", listener.local_addr().unwrap());
        let proxied = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(connect(listener, Arc::clone(&proxied)));
        Self { port, proxy, proxied, authority, _folder: folder }
    }

    /// Asks in a process with these of the variables, and checks what it says.
    async fn check(&self, variables: &[&str], expected: Expect) {
        expected.assert_eq(&self.said(variables, &[]).await);
    }

    /// What a process says that asks with these of the variables, and with others of these values.
    async fn said(&self, variables: &[&str], others: &[(&str, &str)]) -> String {
        let mut command = role("tls::ask");
        command.env(URL, format!("https://localhost:{}", self.port));
        for (name, value) in [
            ("SSL_CERT_FILE", self.authority.to_str().unwrap()),
            ("HTTPS_PROXY", &self.proxy),
            ("NO_PROXY", "localhost"),
        ] {
            command.env_remove(name).env_remove(name.to_lowercase());
            if variables.contains(&name) {
                command.env(name, value);
            }
        }
        for name in ["ALL_PROXY", "all_proxy", "SSL_CERT_DIR"] {
            command.env_remove(name);
        }
        command.envs(others.iter().copied());
        let said = tokio::task::spawn_blocking(|| Player::start(command).next_word());
        said.await.unwrap().replace(&self.port.to_string(), "PORT")
    }
}

/// Reads a request, whatever it says, and answers it.
async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut bytes = Vec::new();
    // The request is small: its last byte is that of its JSON.
    while bytes.last() != Some(&b'}') {
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let length = ANSWER.len();
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{ANSWER}");
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// A proxy that connects to whatever it is asked for.
async fn connect(listener: TcpListener, told: Arc<Mutex<Vec<String>>>) {
    loop {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(client.read_u8().await.unwrap());
        }
        let line = String::from_utf8(head).unwrap().lines().next().unwrap().to_owned();
        let mut server = TcpStream::connect(line.split(' ').nth(1).unwrap()).await.unwrap();
        told.lock().unwrap().push(line);
        client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.unwrap();
        tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await });
    }
}
