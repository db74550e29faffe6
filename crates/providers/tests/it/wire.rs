//! What every dialect's tests send and are sent.

use heeler_core::{Message, ModelRequest, Parameters};

use crate::server::Part;

/// A question.
pub(crate) fn request(model: &str, text: &str) -> ModelRequest {
    ModelRequest {
        model: model.into(),
        system: "".into(),
        tools: [].into(),
        provider_tools: [].into(),
        messages: [Message::user(text)].into_iter().collect(),
        stable: 1,
        output_max: 1000,
        parameters: Parameters::default(),
        epoch: 0,
    }
}

/// A request's head without what differs between runs.
pub(crate) fn head(head: &str) -> String {
    let mut lines: Vec<&str> = head
        .lines()
        .filter(|line| !line.starts_with("host:") && !line.starts_with("content-length:"))
        .filter(|line| !line.is_empty())
        .collect();
    lines[1..].sort_unstable();
    lines.join("\n")
}

/// How a stream is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chunking {
    /// At once, with its length.
    Whole,
    /// Byte by byte.
    Drip,
    /// In HTTP's chunks of seven bytes.
    Http,
}

/// A stream of events.
pub(crate) fn stream(body: &[u8], chunking: Chunking) -> Vec<Part> {
    let head = "200 OK\r\ncontent-type: text/event-stream";
    match chunking {
        Chunking::Whole => sized(head, body),
        Chunking::Drip => {
            let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len());
            vec![Part::Bytes(head.into()), Part::Drip(body.into())]
        }
        Chunking::Http => {
            let head = format!("HTTP/1.1 {head}\r\ntransfer-encoding: chunked\r\n\r\n");
            let mut bytes = head.into_bytes();
            for chunk in body.chunks(7) {
                bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            // The end comes apart, as it often does.
            vec![Part::Bytes(bytes), Part::Bytes(b"0\r\n\r\n".into())]
        }
    }
}

/// A whole answer that is JSON.
pub(crate) fn document(text: &str) -> Vec<Part> {
    sized("200 OK\r\ncontent-type: application/json", text)
}

/// An answer of this status line, headers and body, with its length.
pub(crate) fn sized(status_and_headers: &str, body: impl AsRef<[u8]>) -> Vec<Part> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 {status_and_headers}\r\ncontent-length: {length}\r\n\r\n");
    vec![Part::Bytes([head.as_bytes(), body].concat())]
}

/// The head of an answer that ends with its connection.
pub(crate) fn head_of_close() -> Part {
    Part::Bytes(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".into())
}
