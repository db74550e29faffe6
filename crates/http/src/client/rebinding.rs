//! Names that change what they mean from one question to the next, told by a server of names.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper_util::client::proxy::matcher::Matcher;

use super::{server, target};
use crate::guard::{Guard, Resolver};
use crate::{Client, Options};

/// Closes its connection, so that the next request asks for the name again.
const ANSWER: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
/// The only address that the guard lets through: it stands for the public internet, and is of this
/// machine.
const PUBLIC: &str = "127.0.0.2";

/// A server of names on UDP. Each question gets the next answer, the last one for ever.
struct Names {
    address: SocketAddr,
    n_asked: Arc<AtomicUsize>,
}

impl Names {
    fn answering(answers: &[&[&str]]) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let read = |answer: &&[&str]| answer.iter().map(|one| one.parse().unwrap()).collect();
        let answers: Vec<Vec<IpAddr>> = answers.iter().map(read).collect();
        let n_asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&n_asked);
        std::thread::spawn(move || {
            let mut asked = [0; 512];
            while let Ok((n @ 1.., from)) = socket.recv_from(&mut asked) {
                let index = counted.fetch_add(1, Ordering::SeqCst);
                let answer = &answers[index.min(answers.len() - 1)];
                let _ = socket.send_to(&reply(&asked[..n], answer), from);
            }
        });
        Self { address, n_asked }
    }

    fn n_asked(&self) -> usize {
        self.n_asked.load(Ordering::SeqCst)
    }

    /// Asks this server, and nobody else.
    fn resolver(&self) -> Resolver {
        let server = self.address;
        Resolver::new(move |name| async move {
            let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await?;
            socket.send_to(&question(&name), server).await?;
            let mut told = [0; 512];
            let n = socket.recv(&mut told).await?;
            answers(&told[..n]).ok_or_else(|| io::Error::other("no answer of a server of names"))
        })
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        // An empty question ends the server.
        let _ = UdpSocket::bind("127.0.0.1:0").and_then(|it| it.send_to(&[], self.address));
    }
}

/// A question for all addresses of a name.
fn question(name: &str) -> Vec<u8> {
    let mut bytes = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.extend_from_slice(&[0, 0, 255, 0, 1]);
    bytes
}

fn reply(question: &[u8], addresses: &[IpAddr]) -> Vec<u8> {
    let n = u8::try_from(addresses.len()).unwrap();
    let mut bytes = question.to_vec();
    bytes[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, n, 0, 0, 0, 0]);
    for address in addresses {
        let (kind, data) = match address {
            IpAddr::V4(address) => (1, address.octets().to_vec()),
            IpAddr::V6(address) => (28, address.octets().to_vec()),
        };
        // The name of the question, an address, of the internet, for no time at all.
        bytes.extend_from_slice(&[0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0]);
        bytes.push(u8::try_from(data.len()).unwrap());
        bytes.extend(data);
    }
    bytes
}

/// The addresses of a reply.
fn answers(reply: &[u8]) -> Option<Vec<IpAddr>> {
    let n = usize::from(*reply.get(7)?);
    let name_end = 12 + reply.get(12..)?.iter().position(|byte| *byte == 0)?;
    let mut rest = reply.get(name_end + 5..)?;
    let mut found = Vec::new();
    for _ in 0..n {
        let length = usize::from(*rest.get(11)?);
        let data = rest.get(12..12 + length)?;
        found.push(match <[u8; 4]>::try_from(data) {
            Ok(data) => IpAddr::from(data),
            Err(_) => IpAddr::from(<[u8; 16]>::try_from(data).ok()?),
        });
        rest = &rest[12 + length..];
    }
    Some(found)
}

fn client(names: &Names, proxies: Matcher) -> Client {
    let public: IpAddr = PUBLIC.parse().unwrap();
    let guard = Some(Guard::new(move |_, address| address == public));
    let resolver = Some(names.resolver());
    Client::with_proxies(Options { guard, resolver, ..Options::default() }, proxies)
}

fn straight() -> Matcher {
    Matcher::builder().build()
}

async fn said(client: &Client, address: &str) -> String {
    match client.get(&target(address)).await {
        Ok(answer) => answer.head().status().to_string(),
        Err(error) => error.refused().unwrap_or_else(|| format!("not refused: {error}")),
    }
}

/// Nobody has connected to it.
fn is_untouched(near: &std::net::TcpListener) -> bool {
    near.set_nonblocking(true).unwrap();
    near.accept().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

// Only there the machine has more than one address of its own that can be counted on.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_name_that_means_something_else_a_moment_later_gets_nowhere() {
    let names = Names::answering(&[&[PUBLIC], &["127.0.0.1"]]);
    let (address, told) = super::server_at(&format!("{PUBLIC}:0"), &[ANSWER]).await;
    let port = address.rsplit_once(':').unwrap().1;
    // What a page of the name wants to get at: the same port of the machine's own address.
    let near = std::net::TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    let client = client(&names, straight());
    let url = format!("http://rebind.example:{port}/");
    assert_eq!(said(&client, &url).await, "200");
    // What was looked at is what was connected to: nobody asked twice.
    assert_eq!(names.n_asked(), 1);
    told.await.unwrap();
    let refused = "`rebind.example` is 127.0.0.1, which may not be connected to";
    assert_eq!(said(&client, &url).await, refused);
    assert_eq!(said(&client, &url.replace("http", "https")).await, refused);
    assert_eq!(names.n_asked(), 3);
    assert!(is_untouched(&near));
}

#[tokio::test]
async fn one_address_that_is_not_allowed_is_one_too_many() {
    let near = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = near.local_addr().unwrap().port();
    for (answer, found) in [
        (&[PUBLIC, "127.0.0.1"][..], "127.0.0.1"),
        (&["127.0.0.1", PUBLIC], "127.0.0.1"),
        (&[PUBLIC, "::1"], "::1"),
        (&["::ffff:127.0.0.1"], "::ffff:127.0.0.1"),
        (&["::ffff:127.0.0.2"], "::ffff:127.0.0.2"),
    ] {
        let names = Names::answering(&[answer]);
        let client = client(&names, straight());
        let refused = format!("`many.example` is {found}, which may not be connected to");
        assert_eq!(said(&client, &format!("http://many.example:{port}/")).await, refused);
    }
    assert!(is_untouched(&near));
}

#[tokio::test]
async fn what_a_proxy_is_asked_for_is_looked_at_each_time() {
    let names = Names::answering(&[&[PUBLIC], &["10.0.0.1"]]);
    let (address, told) = server(&[ANSWER]).await;
    let proxies = Matcher::builder().all(format!("http://{address}")).build();
    let client = client(&names, proxies);
    assert_eq!(said(&client, "http://rebind.example/a").await, "200");
    let refused = "`rebind.example` is 10.0.0.1, which may not be connected to";
    assert_eq!(said(&client, "http://rebind.example/b").await, refused);
    assert_eq!(said(&client, "https://rebind.example/c").await, refused);
    let told = told.await.unwrap();
    assert!(told.contains("GET http://rebind.example/a ") && !told.contains("/b"), "{told}");
}
