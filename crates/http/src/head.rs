//! What the first bytes of an answer say.

use crate::error::Problem;

/// The longest head of an answer that is read.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The most headers of an answer.
const HEADERS_MAX: usize = 128;

/// The status and headers of an answer.
#[derive(Clone)]
pub struct Head {
    status: u16,
    length: Length,
    keeps_open: bool,
    /// As it came: headers are looked at rarely, and then one or two.
    bytes: Box<[u8]>,
}

/// How the end of a body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// By a number of bytes.
    Known(u64),
    /// By a last chunk.
    Chunks,
    /// By the end of the connection.
    Connection,
}

impl Head {
    /// The head at the beginning of these bytes, and how long it is; `None` while there is more to
    /// come.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Problem> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Response::new(&mut headers);
        let n = match parsed.parse(bytes).map_err(Problem::Head)? {
            httparse::Status::Complete(n) => n,
            httparse::Status::Partial => return Ok(None),
        };
        let status = parsed.code.unwrap_or_default();
        let has_none = matches!(status, 100..=199 | 204 | 304);
        let length = if has_none { Length::Known(0) } else { length(parsed.headers)? };
        let connection = tokens(parsed.headers, "connection");
        let keeps_open = match parsed.version {
            Some(1) => !connection.contains("close"),
            _ => connection.contains("keep-alive"),
        };
        let head = Self { status, length, keeps_open, bytes: bytes[..n].into() };
        Ok(Some((head, n)))
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The first header of this name, in lower case, if it is plain text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let text = self.bytes.split(|byte| *byte == b'\n').skip(1);
        let found = text.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (own, value) = line.split_at(colon);
            own.eq_ignore_ascii_case(name.as_bytes()).then(|| value[1..].trim_ascii())
        });
        found.map(std::str::from_utf8).next()?.ok()
    }

    /// Whether the answer itself is still to come.
    pub(crate) fn is_interim(&self) -> bool {
        (100..200).contains(&self.status)
    }

    pub(crate) fn length(&self) -> Length {
        self.length
    }

    /// Whether the server takes another request on this connection.
    pub(crate) fn keeps_open(&self) -> bool {
        self.keeps_open && self.length != Length::Connection
    }
}

impl std::fmt::Debug for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Head").field("status", &self.status).finish_non_exhaustive()
    }
}

fn length(headers: &[httparse::Header<'_>]) -> Result<Length, Problem> {
    let codings = tokens(headers, "transfer-encoding");
    // Where both are told, the coding counts; one that is unknown ends with the connection.
    match codings.split(',').next_back().map(str::trim) {
        None | Some("") => {}
        Some("chunked") => return Ok(Length::Chunks),
        Some(_) => return Ok(Length::Connection),
    }
    let lengths = tokens(headers, "content-length");
    let mut lengths = lengths.split(',').map(str::trim).filter(|length| !length.is_empty());
    let Some(first) = lengths.next() else { return Ok(Length::Connection) };
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    match first.parse() {
        Ok(number) if is_number && lengths.all(|other| other == first) => Ok(Length::Known(number)),
        _ => Err(Problem::Length),
    }
}

/// All values of a header, in lower case, with commas between.
fn tokens(headers: &[httparse::Header<'_>], name: &str) -> String {
    let values = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
    let values = values.map(|header| String::from_utf8_lossy(header.value).to_ascii_lowercase());
    values.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn show(bytes: &[u8]) -> String {
        match Head::parse(bytes) {
            Ok(None) => "more".to_owned(),
            Ok(Some((head, n))) => {
                let open = if head.keeps_open() { "stays open" } else { "closes" };
                format!("{} {:?}, {open}, {} left", head.status(), head.length(), bytes.len() - n)
            }
            Err(error) => error.to_string(),
        }
    }

    fn check(headers: &str, expected: Expect) {
        let head = format!("HTTP/1.1 200 OK\r\n{}\r\nrest", headers.replace('\n', "\r\n"));
        expected.assert_eq(&show(head.as_bytes()));
    }

    #[test]
    fn the_end_of_a_body() {
        check("content-length: 12\n", expect!["200 Known(12), stays open, 4 left"]);
        check(
            "Content-Length: 12\ncontent-length: 12, 12\n",
            expect!["200 Known(12), stays open, 4 left"],
        );
        check(
            "content-length: 12\ncontent-length: 13\n",
            expect!["the answer's length is told in a way that cannot be read"],
        );
        check(
            "content-length: +12\n",
            expect!["the answer's length is told in a way that cannot be read"],
        );
        check(
            "content-length: 99999999999999999999\n",
            expect!["the answer's length is told in a way that cannot be read"],
        );
        check(
            "Transfer-Encoding: gzip, Chunked\ncontent-length: 3\n",
            expect!["200 Chunks, stays open, 4 left"],
        );
        check("transfer-encoding: gzip\n", expect!["200 Connection, closes, 4 left"]);
        check("", expect!["200 Connection, closes, 4 left"]);
    }

    #[test]
    fn who_closes() {
        check("content-length: 0\nconnection: Close\n", expect!["200 Known(0), closes, 4 left"]);
        let check = |head: &str, expected: Expect| expected.assert_eq(&show(head.as_bytes()));
        check(
            "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n",
            expect!["200 Known(0), closes, 0 left"],
        );
        check(
            "HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n",
            expect!["200 Known(0), stays open, 0 left"],
        );
        check("HTTP/1.1 204 None\r\n\r\n", expect!["204 Known(0), stays open, 0 left"]);
        check("HTTP/1.1 100 Continue\r\n\r\nHTTP", expect!["100 Known(0), stays open, 4 left"]);
    }

    #[test]
    fn what_is_no_head() {
        let check = |head: &str, expected: Expect| expected.assert_eq(&show(head.as_bytes()));
        check("", expect!["more"]);
        check("HTTP/1.1 200 OK\r\ncontent-len", expect!["more"]);
        check("SSH-2.0-x\r\n", expect!["the answer's head cannot be read: invalid HTTP version"]);
        let many = |n: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(n));
        check(&many(HEADERS_MAX), expect!["200 Connection, closes, 0 left"]);
        check(
            &many(HEADERS_MAX + 1),
            expect!["the answer's head cannot be read: too many headers"],
        );
    }

    #[test]
    fn headers_are_found_by_name() {
        let text = b"HTTP/1.1 429 Slow\r\nretry-After:  7 \r\nx: \xff\r\nretry-after: 8\r\n\r\n";
        let (head, _) = Head::parse(text).unwrap().unwrap();
        assert_eq!(head.header("retry-after"), Some("7"));
        assert_eq!(
            (head.header("x"), head.header("y"), head.header("http/1.1 429")),
            (None, None, None)
        );
        assert_eq!(format!("{head:?}"), "Head { status: 429, .. }");
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_bad(start in prop::sample::select(vec!["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: "]), bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = Head::parse(&[start.as_bytes(), &bytes].concat());
        }
    }
}
