//! The smallest HTTP client that shows what really came over the wire.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use heeler_testkit::MockServer;

/// How long a read may wait: a server that never answers fails the test.
const READ_MAX: Duration = Duration::from_secs(30);

/// The headers a good client sends.
pub(crate) const HEADERS: &str =
    "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json";

/// What came back.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// The pieces of a chunked body, or the whole body as one.
    pub(crate) pieces: Vec<String>,
    /// Whether the body ended as HTTP wants it.
    pub(crate) is_whole: bool,
}

impl Response {
    pub(crate) fn body(&self) -> String {
        self.pieces.concat()
    }
}

/// Sends a request with the usual headers and reads until the server closes the connection.
pub(crate) fn post(server: &MockServer, body: &str) -> Response {
    send(server, "POST /v1/messages", HEADERS, body)
}

pub(crate) fn send(server: &MockServer, line: &str, headers: &str, body: &str) -> Response {
    let mut socket = open(server, line, headers, body);
    let mut bytes = Vec::new();
    // A connection that breaks has sent all it will.
    let _ = socket.read_to_end(&mut bytes);
    read(&String::from_utf8(bytes).unwrap())
}

/// Sends a request and leaves the reading to the caller.
pub(crate) fn open(server: &MockServer, line: &str, headers: &str, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    socket.set_read_timeout(Some(READ_MAX)).unwrap();
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}"
    );
    socket.write_all(format!("{head}\r\n\r\n").as_bytes()).unwrap();
    // The server may answer and close before it has read everything.
    let _ = socket.write_all(body.as_bytes());
    socket
}

fn read(text: &str) -> Response {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or_default();
    let (pieces, is_whole) = match head.contains("transfer-encoding: chunked") {
        true => chunks(body),
        false => (vec![body.to_owned()], true),
    };
    Response { status, head: head.to_owned(), pieces, is_whole }
}

/// The chunks, and whether the last one is the empty one.
fn chunks(mut body: &str) -> (Vec<String>, bool) {
    let mut pieces = Vec::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return (pieces, true);
        }
        pieces.push(rest[..length].to_owned());
        body = &rest[length + 2..];
    }
    (pieces, false)
}
