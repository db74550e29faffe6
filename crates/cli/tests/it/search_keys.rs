//! `heeler login --check` for who searches the web: asked at a real server before a key is kept.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use expect_test::{Expect, expect};

use crate::support::World;

const KEY: &str = "srch-0123456789abcdef";
const FOUND: &str = r#"{"web":{"results":[]},"results":[]}"#;
const REFUSED: &str = r#"{"detail":{"error":"unknown key"}}"#;
/// Nothing listens there, whatever else this machine runs.
const CLOSED: &str = "http://127.0.0.1:1";

/// A server that knows one key, as long as its test runs: its address, and the first lines of what it was
/// asked.
fn server() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, asked) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            serve(stream.unwrap(), &tell);
        }
    });
    (url, asked)
}

fn serve(mut stream: TcpStream, tell: &Sender<String>) {
    let mut request = Vec::new();
    let mut bytes = [0; 4096];
    let head = loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                break head.to_owned();
            }
        }
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(n) => request.extend_from_slice(&bytes[..n]),
        }
    };
    let keys = [format!("x-subscription-token: {KEY}"), format!("authorization: Bearer {KEY}")];
    let is_known = head.lines().any(|line| keys.iter().any(|key| line == key));
    let (status, body) = if is_known { ("200 OK", FOUND) } else { ("401 Unauthorized", REFUSED) };
    // Who is not interested in the requests has dropped the receiver, and may.
    let _ = tell.send(head.lines().next().unwrap_or_default().to_owned());
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).unwrap();
}

/// Logs in with a key while a variable says where to ask; what is told, and whether it was kept.
#[expect(clippy::needless_pass_by_value, reason = "cases read as values")]
fn check(name: &str, variable: &str, url: &str, key: &str, code: i32, expected: Expect) {
    let world = World::new();
    let heeler = world.heeler(&["login", name, "--file", "--check"]).env(variable, url);
    let output = heeler.stdin(key).run().exits(code);
    assert!(!output.stderr.contains(key) && !output.stdout.contains(key));
    let told = output.stderr.replace(&world.path("").display().to_string(), "WORLD/");
    expected.assert_eq(&told);
    assert_eq!(world.path("home/keys.toml").exists(), code == 0);
}

#[test]
fn a_key_for_brave_search_is_tried_before_it_is_kept() {
    let (url, asked) = server();
    let variable = "BRAVE_SEARCH_BASE_URL";
    check(
        "brave",
        variable,
        &url,
        KEY,
        0,
        expect![[r#"
        The key for Brave Search is kept in WORLD/home/keys.toml.
        BRAVE_SEARCH_API_KEY wins over it when it is set.
    "#]],
    );
    check(
        "brave",
        variable,
        &url,
        "srch-other",
        2,
        expect![[r#"
            heeler: the key is not kept: Brave Search (127.0.0.1) answered 401, `unknown key`. Its key is not accepted: tell the user to set BRAVE_SEARCH_API_KEY, or to run `heeler login brave`
        "#]],
    );
    check(
        "brave",
        variable,
        CLOSED,
        KEY,
        2,
        expect![[r#"
            heeler: the key is not kept: Brave Search (127.0.0.1) cannot be reached: the connection failed: tcp connect error. Try once more, then tell the user to look at the network
        "#]],
    );
    check(
        "brave",
        variable,
        "me:secret@here",
        KEY,
        2,
        expect![[r#"
        heeler: BRAVE_SEARCH_BASE_URL: Brave Search needs an address with http or https and a host
    "#]],
    );
    assert!(asked.recv().unwrap().starts_with("GET /web/search?q=heeler&count=1&"));
    assert!(asked.recv().unwrap().starts_with("GET /web/search?q=heeler&count=1&"));
    assert!(asked.try_recv().is_err(), "no other was asked here");
}

#[test]
fn a_key_for_tavily_is_tried_before_it_is_kept() {
    let (url, asked) = server();
    let variable = "TAVILY_BASE_URL";
    check(
        "tavily",
        variable,
        &url,
        KEY,
        0,
        expect![[r#"
        The key for Tavily is kept in WORLD/home/keys.toml.
        TAVILY_API_KEY wins over it when it is set.
    "#]],
    );
    check(
        "tavily",
        variable,
        &url,
        "srch-other",
        2,
        expect![[r#"
            heeler: the key is not kept: Tavily (127.0.0.1) answered 401, `unknown key`. Its key is not accepted: tell the user to set TAVILY_API_KEY, or to run `heeler login tavily`
        "#]],
    );
    check(
        "tavily",
        variable,
        CLOSED,
        KEY,
        2,
        expect![[r#"
            heeler: the key is not kept: Tavily (127.0.0.1) cannot be reached: the connection failed: tcp connect error. Try once more, then tell the user to look at the network
        "#]],
    );
    assert_eq!(asked.recv().unwrap(), "POST /search HTTP/1.1");
    assert_eq!(asked.recv().unwrap(), "POST /search HTTP/1.1");
}
