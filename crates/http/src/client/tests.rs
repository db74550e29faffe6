//! Whole requests, against servers and proxies that answer with bytes.

use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use http::HeaderMap;
use hyper_util::client::proxy::matcher::Matcher;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;

#[path = "early.rs"]
mod early;
#[path = "rebinding.rs"]
mod rebinding;

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// Answers each read with the next text, on one connection after the other; an empty text closes
/// it. Gives what it was told.
async fn server(answers: &[&str]) -> (String, JoinHandle<String>) {
    server_at("127.0.0.1:0", answers).await
}

async fn server_at(place: &str, answers: &[&str]) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind(place).await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut answers = answers.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>().into_iter();
    let task = tokio::spawn(async move {
        let mut told = String::new();
        'connection: while answers.len() > 0 {
            let (mut stream, _) = listener.accept().await.unwrap();
            told.push_str("connection\n");
            while let Ok(text) = read(&mut stream).await {
                told.push_str(&text);
                let Some(answer) = answers.next() else { break 'connection };
                if answer.is_empty() {
                    continue 'connection;
                }
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
        told
    });
    (address, task)
}

async fn read(stream: &mut TcpStream) -> Result<String, ()> {
    let mut bytes = [0; 4096];
    let n = stream.read(&mut bytes).await.map_err(|_| ())?;
    let text = String::from_utf8_lossy(&bytes[..n]).replace('\r', "");
    if n == 0 { Err(()) } else { Ok(text) }
}

fn client(proxies: impl Into<Proxies>) -> Client {
    let options = Options { user_agent: "heeler/test".into(), ..Options::default() };
    Client::with_proxies(options, proxies)
}

fn straight() -> Client {
    client(Matcher::builder().build())
}

fn target(address: &str) -> Arc<Target> {
    Arc::new(Target::new(address, &HeaderMap::new()).unwrap())
}

async fn ask(client: &Client, address: &str, body: &str) -> String {
    let body = Bytes::copy_from_slice(body.as_bytes());
    let mut answer = match client.post(&target(address), vec![body]).await {
        Ok(answer) => answer,
        Err(error) => return error.to_string(),
    };
    let mut seen = format!("{} ", answer.head().status());
    loop {
        match answer.next().await {
            Ok(Some(bytes)) => seen.push_str(&String::from_utf8_lossy(bytes)),
            Ok(None) => return seen,
            Err(error) => return seen + " " + &error.to_string(),
        }
    }
}

async fn check(told: JoinHandle<String>, address: &str, expected: Expect) {
    expected.assert_eq(&told.await.unwrap().replace(address, "ADDRESS"));
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    let (address, told) = server(&[ANSWER, ANSWER, "", ANSWER]).await;
    let (client, url) = (straight(), format!("http://{address}/v1"));
    assert_eq!(ask(&client, &url, "1").await, "200 ok");
    assert_eq!(ask(&client, &url, "2").await, "200 ok");
    let closed = "the server closed the connection without an answer";
    assert_eq!(ask(&client, &url, "3").await, closed);
    assert_eq!(ask(&client, &url, "4").await, "200 ok");
    drop(client);
    let told = told.await.unwrap();
    assert_eq!(told.matches("connection\n").count(), 2, "{told}");
    assert_eq!(told.matches("POST /v1 HTTP/1.1\n").count(), 4, "{told}");
}

#[tokio::test]
async fn what_only_asks_has_no_body_and_shares_connections() {
    let (address, told) = server(&[ANSWER, ANSWER]).await;
    let (client, url) = (straight(), format!("http://{address}/v1/models?a=b"));
    let mut answer = client.get(&target(&url)).await.unwrap();
    assert_eq!(answer.next().await.unwrap(), Some(&b"ok"[..]));
    assert_eq!(answer.next().await.unwrap(), None);
    drop(answer);
    assert_eq!(ask(&client, &url, "1").await, "200 ok");
    drop(client);
    check(
        told,
        &address,
        expect![[r#"
            connection
            GET /v1/models?a=b HTTP/1.1
            host: ADDRESS
            user-agent: heeler/test

            POST /v1/models?a=b HTTP/1.1
            host: ADDRESS
            content-length: 1
            user-agent: heeler/test

            1"#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_left_unread_closes_the_connection() {
    let (address, told) = server(&[ANSWER, ANSWER]).await;
    let (client, url) = (straight(), format!("http://{address}"));
    let unread = client.post(&target(&url), vec![]).await.unwrap();
    drop(unread);
    assert_eq!(ask(&client, &url, "2").await, "200 ok");
    drop(client);
    assert_eq!(told.await.unwrap().matches("connection\n").count(), 2);
}

#[tokio::test]
async fn a_connection_that_was_opened_before_is_used() {
    let (address, told) = server(&[ANSWER]).await;
    let (client, url) = (straight(), format!("http://{address}"));
    client.warm(&target(&url)).await.unwrap();
    client.warm(&target(&url)).await.unwrap();
    assert_eq!(ask(&client, &url, "1").await, "200 ok");
    drop(client);
    check(
        told,
        &address,
        expect![[r#"
        connection
        POST / HTTP/1.1
        host: ADDRESS
        content-length: 1
        user-agent: heeler/test

        1"#]],
    )
    .await;
}

#[tokio::test]
async fn what_comes_before_an_answer_is_passed_over() {
    let early = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n";
    let (address, _told) = server(&[&format!("{early}{ANSWER}")]).await;
    assert_eq!(ask(&straight(), &format!("http://{address}"), "1").await, "200 ok");
}

#[tokio::test]
async fn an_answer_that_is_none() {
    for (answer, expected) in [
        ("SSH-2.0\r\n", "the answer's head cannot be read: invalid HTTP version"),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx",
            "200  the answer's chunks cannot be told apart",
        ),
    ] {
        let (address, _told) = server(&[answer, ""]).await;
        assert_eq!(ask(&straight(), &format!("http://{address}"), "1").await, expected);
    }
    let long = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(crate::head::HEAD_BYTES_MAX));
    let (address, _told) = server(&[&long]).await;
    let seen = ask(&straight(), &format!("http://{address}"), "1").await;
    assert_eq!(seen, "the answer's head is longer than 65536 bytes");
    // Nor is one that never comes waited for while others come before it.
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000);
    let (address, _told) = server(&[&interim]).await;
    let seen = ask(&straight(), &format!("http://{address}"), "1").await;
    assert_eq!(seen, "the answer's head is longer than 65536 bytes");
}

#[tokio::test]
async fn a_proxy_is_told_the_whole_address_and_who_asks() {
    let (address, told) = server(&[ANSWER]).await;
    let proxies = Matcher::builder().http(format!("http://me:pw@{address}")).build();
    let client = client(proxies);
    assert_eq!(ask(&client, "http://model.example:81/v1", "1").await, "200 ok");
    drop(client);
    check(
        told,
        &address,
        expect![[r#"
        connection
        POST http://model.example:81/v1 HTTP/1.1
        host: model.example:81
        content-length: 1
        proxy-authorization: Basic bWU6cHc=
        user-agent: heeler/test

        1"#]],
    )
    .await;
}

#[tokio::test]
async fn https_goes_through_a_proxy_that_is_told_only_where_to() {
    let (address, told) = server(&["HTTP/1.1 200 OK\r\n\r\n", ""]).await;
    let proxies = Matcher::builder().https(format!("http://me:pw@{address}")).build();
    let client = client(proxies);
    let seen = ask(&client, "https://model.example/v1", "1").await;
    assert!(seen.starts_with("the connection failed: "), "{seen}");
    let told = told.await.unwrap();
    let (head, hello) = told.split_once("\n\n").unwrap();
    expect![[r#"
        connection
        CONNECT model.example:443 HTTP/1.1
        host: model.example:443
        user-agent: heeler/test
        proxy-authorization: Basic bWU6cHc="#]]
    .assert_eq(head);
    // A handshake of TLS, which names the server.
    assert!(hello.starts_with('\u{16}') && hello.contains("model.example"), "{hello:?}");
}

#[tokio::test]
async fn a_proxy_that_will_not_do_is_named_and_told_apart_from_the_network() {
    let who = "HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n";
    let (address, told) = server(&[who, who]).await;
    let closed = client(Matcher::builder().all(format!("http://{address}")).build());
    let socks = client(named_by(&[("ALL_PROXY", "socks5://127.0.0.1:1")]));
    for (client, address, expected) in [
        (&closed, "https://model.example", "the proxy wants a name and a password"),
        (&closed, "http://model.example", "the proxy wants a name and a password"),
        (&socks, "https://model.example", "ALL_PROXY names a SOCKS proxy"),
        (&socks, "http://model.example", "ALL_PROXY names a SOCKS proxy"),
    ] {
        let error = client.post(&target(address), vec!["1".into()]).await.err().unwrap();
        assert!(error.is_lasting() && error.to_string().starts_with(expected), "{error}");
    }
    let told = told.await.unwrap();
    assert!(told.contains("CONNECT model.example:443") && told.contains("POST http://"), "{told}");
    let nobody = target("http://127.0.0.1:1");
    assert!(!straight().post(&nobody, vec![]).await.err().unwrap().is_lasting());
}

/// What these variables name.
fn named_by(variables: &[(&str, &str)]) -> Proxies {
    let value = |name: &str| variables.iter().find(|(set, _)| *set == name);
    Proxies::named_by(|name| value(name).map(|(_, value)| value.into()))
}

#[tokio::test]
async fn nothing_goes_straight_to_a_server_where_the_proxy_is_not_understood() {
    let (address, told) = server(&[ANSWER]).await;
    let url = format!("http://{address}/v1");
    for proxy in ["http://me:pa ss@proxy:3128", "http://", "garbage:::", "proxy:99999"] {
        for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            let client = client(named_by(&[(variable, proxy)]));
            let error = client.post(&target(&url), vec!["1".into()]).await.err().unwrap();
            let shown = error.to_string();
            assert!(error.is_lasting() && error.says_next_step(), "{shown}");
            assert!(shown.starts_with(&format!("{variable} ")) && !shown.contains("pa ss"));
        }
    }
    // Whom no proxy is for is reached, and is the first that hears anything.
    let exempt = [("HTTP_PROXY", "garbage:::"), ("NO_PROXY", "localhost 127.0.0.0/8")];
    let client = client(named_by(&exempt));
    assert_eq!(ask(&client, &url, "1").await, "200 ok");
    drop(client);
    assert_eq!(told.await.unwrap().matches("POST").count(), 1);
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_not_there() {
    let (address, _told) = server(&["HTTP/1.1 400 What\r\ncontent-length: 0\r\n\r\n"]).await;
    let address = target(&format!("https://{address}"));
    let error = straight().post(&address, vec!["1".into()]).await.err().unwrap();
    let told = "the server does not speak TLS; begin its address with http:// if it is not to";
    assert!(error.is_lasting() && error.to_string() == told, "{error}");
}

#[tokio::test]
async fn a_proxy_that_is_not_there_or_speaks_no_tls_is_not_taken_for_the_server() {
    let no_tls = &["HTTP/1.1 400 What\r\ncontent-length: 0\r\n\r\n"][..];
    let blocks = &["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 403 Blocked\r\n\r\n"][..];
    for (scheme, answers, expected, is_lasting) in [
        ("https", no_tls, "the proxy https://PROXY does not speak TLS; begin its address", true),
        (
            "http",
            blocks,
            "through the proxy http://PROXY came an answer without TLS, so not",
            false,
        ),
        ("http", &[][..], "the proxy http://PROXY gave no connection: ", false),
    ] {
        for target_scheme in ["http", "https"] {
            // What is asked of it without TLS, it is asked for itself.
            if target_scheme == "http" && answers.len() == 2 {
                continue;
            }
            let (address, told) = server(answers).await;
            if answers.is_empty() {
                told.await.unwrap();
            }
            let proxies = Matcher::builder().all(format!("{scheme}://me:pw@{address}")).build();
            let target = target(&format!("{target_scheme}://model.example"));
            let error = client(proxies).post(&target, vec!["1".into()]).await.err().unwrap();
            let expected = expected.replace("PROXY", &address);
            assert!(error.to_string().starts_with(&expected), "{target_scheme}: {error}");
            assert_eq!(error.is_lasting(), is_lasting, "{error}");
            let named = answers.is_empty().then(|| format!("http://{address}"));
            assert_eq!(error.proxy().map(str::to_owned), named);
        }
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_a_tunnel_is_told_with_its_status() {
    for (status, is_lasting) in
        [(302, true), (403, true), (405, true), (408, false), (429, false), (502, false)]
    {
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 3\r\n\r\n<p>");
        let (address, told) = server(&[&answer]).await;
        let proxies = Matcher::builder().all(format!("http://me:pw@{address}")).build();
        let target = target("https://model.example/v1");
        let error = client(proxies).post(&target, vec!["1".into()]).await.err().unwrap();
        let expected = format!(
            "the proxy http://{address} refused a connection to model.example: HTTP {status}. Ask \
             whoever runs it, or set NO_PROXY if model.example can be reached without it"
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!((error.is_lasting(), error.says_next_step()), (is_lasting, true), "{status}");
        told.await.unwrap();
    }
}

#[tokio::test]
async fn a_tunnel_that_nobody_answers_in_is_the_proxys_fault() {
    let page = "HTTP/1.1 200 OK\r\n\r\n<html>Log in</html>";
    for (answer, expected) in [
        ("", "the proxy http://PROXY gave no connection: unexpected end of file"),
        ("SSH-2.0\r\n", "the proxy http://PROXY gave no connection: the answer's head"),
        (page, "through the proxy http://PROXY came an answer without TLS, so not"),
    ] {
        let (address, _told) = server(&[answer, ""]).await;
        let proxies = Matcher::builder().all(format!("http://{address}")).build();
        let told = ask(&client(proxies), "https://model.example/v1", "1").await;
        assert!(told.starts_with(&expected.replace("PROXY", &address)), "{told}");
    }
}

#[tokio::test]
async fn some_hosts_need_no_proxy() {
    let (address, told) = server(&[ANSWER]).await;
    let proxies = Matcher::builder().http("http://127.0.0.1:1").no("127.0.0.1").build();
    let client = client(proxies);
    assert_eq!(ask(&client, &format!("http://{address}"), "1").await, "200 ok");
    drop(client);
    assert!(told.await.unwrap().contains("POST / HTTP/1.1\n"));
    let refused = client_to_nobody().await;
    let told = "the proxy http://127.0.0.1:1 gave no connection: ";
    assert!(refused.starts_with(told), "{refused}");
}

async fn client_to_nobody() -> String {
    let proxies = Matcher::builder().http("http://127.0.0.1:1").build();
    ask(&client(proxies), "http://model.example", "1").await
}

#[tokio::test(start_paused = true)]
async fn connecting_has_a_limit() {
    // Nobody answers a handshake.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = ask(&straight(), &format!("https://{address}"), "1").await;
    assert_eq!(seen, "connecting took longer than 30 s");
}

#[test]
fn a_thousand_that_prepare_at_once_take_one_thread() {
    let threads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&threads);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .on_thread_start(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    let client = runtime.block_on(async { straight() });
    let prepared = (0..1000).map(|_| {
        let client = client.clone();
        async move { client.prepare().await.unwrap() }
    });
    let tasks: Vec<_> = prepared.map(|prepared| runtime.spawn(prepared)).collect();
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    assert_eq!(threads.load(Ordering::SeqCst), 1);
}

/// What a client says that may connect to nothing but `allowed`.
async fn guarded(address: &str, proxies: Matcher, allowed: &str) -> String {
    let allowed = allowed.to_owned();
    let guard = Guard::new(move |host, address| format!("{host} {address}") == allowed);
    let client =
        Client::with_proxies(Options { guard: Some(guard), ..Options::default() }, proxies);
    match client.get(&target(address)).await {
        Ok(answer) => answer.head().status().to_string(),
        Err(error) => match error.refused() {
            Some(refused) => refused,
            None => format!("not refused: {error}"),
        },
    }
}

#[tokio::test]
async fn a_guard_sees_every_address_that_is_connected_to() {
    let none = || Matcher::builder().build();
    let said = |address: &'static str| guarded(address, none(), "");
    assert_eq!(said("http://127.0.0.1:1/").await, "`127.0.0.1` may not be connected to");
    assert_eq!(said("https://[::1]:1/").await, "`::1` may not be connected to");
    // Names, and what only the system's resolver takes for an address.
    for host in ["localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1"] {
        let told = guarded(&format!("http://{host}:1/"), none(), "").await;
        assert!(told.starts_with(&format!("`{host}` is ")), "{told}");
    }
    let (address, told) = server(&[ANSWER]).await;
    assert_eq!(guarded(&format!("http://{address}/"), none(), "127.0.0.1 127.0.0.1").await, "200");
    told.await.unwrap();
}

#[tokio::test]
async fn a_proxy_may_be_anywhere_and_what_it_is_asked_for_may_not() {
    let (address, told) = server(&[ANSWER]).await;
    let proxies = || Matcher::builder().all(format!("http://{address}")).build();
    let refused = "`127.0.0.1` may not be connected to";
    assert_eq!(guarded("http://127.0.0.1:9/", proxies(), "").await, refused);
    assert_eq!(guarded("https://127.0.0.1:9/", proxies(), "").await, refused);
    let told_of = guarded("http://localhost:9/", proxies(), "").await;
    assert!(told_of.starts_with("`localhost` is "), "{told_of}");
    // Whoever resolves it.
    let told_of = guarded("http://page.LocalHost:9/", proxies(), "").await;
    assert!(told_of.contains(" is 127.0.0.1, which"), "{told_of}");
    // Nobody here knows the name: the proxy may.
    assert_eq!(guarded("http://name.invalid/", proxies(), "").await, "200");
    told.await.unwrap();
}
