//! Names that change what they mean from one question to the next, told by a server of names.

use std::io;
use std::net::IpAddr;

use heeler_testkit::NameServer;
use hyper_util::client::proxy::matcher::Matcher;

use super::{server, target};
use crate::guard::{Guard, Resolver};
use crate::{Client, Options};

/// Closes its connection, so that the next request asks for the name again.
const ANSWER: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
/// The only address that the guard lets through: it stands for the public internet, and is of this
/// machine.
const PUBLIC: &str = "127.0.0.2";

fn client(names: &NameServer, proxies: Matcher) -> Client {
    let public: IpAddr = PUBLIC.parse().unwrap();
    let guard = Some(Guard::new(move |_, address| address == public));
    let resolver = Some(resolver(names));
    Client::with_proxies(Options { guard, resolver, ..Options::default() }, proxies)
}

/// Asks this server, and nobody else.
fn resolver(names: &NameServer) -> Resolver {
    let asker = names.asker();
    Resolver::new(move |name| asker.ask(name))
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
    let names = NameServer::answering(&[&[PUBLIC], &["127.0.0.1"]]);
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
        let names = NameServer::answering(&[answer]);
        let client = client(&names, straight());
        let refused = format!("`many.example` is {found}, which may not be connected to");
        assert_eq!(said(&client, &format!("http://many.example:{port}/")).await, refused);
    }
    assert!(is_untouched(&near));
}

#[tokio::test]
async fn what_a_proxy_is_asked_for_is_looked_at_each_time() {
    let names = NameServer::answering(&[&[PUBLIC], &["10.0.0.1"]]);
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
