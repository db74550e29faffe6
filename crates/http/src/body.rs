//! Where a body's bytes stand in what is read, and where it ends.

use crate::error::Problem;
use crate::head::Length;

/// The longest line that tells a chunk's size, and the longest list of headers behind the last
/// chunk.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// How far a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// So many bytes are still to come.
    Known(u64),
    /// All up to the end of the connection.
    Connection,
    /// A chunk's size comes next.
    Size,
    /// So many bytes of a chunk are still to come.
    Chunk(u64),
    /// The line end behind a chunk comes next.
    ChunkEnd,
    /// What stands behind the last chunk comes next.
    Trailer,
    /// It is over.
    Done,
}

/// What comes next in bytes that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The first so many bytes are of the body.
    Bytes(usize),
    /// The first so many bytes say where the body goes on.
    Framing(usize),
    /// That has not been read yet.
    More,
    /// The body is over.
    Done,
}

impl Body {
    pub(crate) fn of(length: Length) -> Self {
        match length {
            Length::Known(0) => Self::Done,
            Length::Known(n) => Self::Known(n),
            Length::Chunks => Self::Size,
            Length::Connection => Self::Connection,
        }
    }

    /// What comes next; what it says is used, and never looked at again.
    pub(crate) fn next(&mut self, read: &[u8]) -> Result<Next, Problem> {
        match self {
            Self::Done => Ok(Next::Done),
            _ if read.is_empty() => Ok(Next::More),
            Self::Connection => Ok(Next::Bytes(read.len())),
            Self::Known(left) => {
                let n = at_most(read.len(), *left);
                *left -= n as u64;
                if *left == 0 {
                    *self = Self::Done;
                }
                Ok(Next::Bytes(n))
            }
            Self::Chunk(left) => {
                let n = at_most(read.len(), *left);
                *left -= n as u64;
                if *left == 0 {
                    *self = Self::ChunkEnd;
                }
                Ok(Next::Bytes(n))
            }
            Self::ChunkEnd => match read {
                [b'\r', b'\n', ..] => {
                    *self = Self::Size;
                    Ok(Next::Framing(2))
                }
                b"\r" => Ok(Next::More),
                _ => Err(Problem::Chunk),
            },
            Self::Size => self.next_size(read),
            Self::Trailer => self.next_trailer(read),
        }
    }

    /// The connection is at its end: whether the body may be, too.
    pub(crate) fn ends_with_connection(&self) -> bool {
        matches!(self, Self::Connection | Self::Done)
    }

    fn next_size(&mut self, read: &[u8]) -> Result<Next, Problem> {
        let has_digit = read.first().is_some_and(u8::is_ascii_hexdigit);
        match httparse::parse_chunk_size(read) {
            Ok(httparse::Status::Complete((n, size))) if has_digit => {
                *self = if size == 0 { Self::Trailer } else { Self::Chunk(size) };
                Ok(Next::Framing(n))
            }
            Ok(httparse::Status::Partial) if has_digit && read.len() <= LINE_BYTES_MAX => {
                Ok(Next::More)
            }
            _ => Err(Problem::Chunk),
        }
    }

    fn next_trailer(&mut self, read: &[u8]) -> Result<Next, Problem> {
        let mut headers = [httparse::EMPTY_HEADER; 16];
        match httparse::parse_headers(read, &mut headers) {
            Ok(httparse::Status::Complete((n, _))) => {
                *self = Self::Done;
                Ok(Next::Framing(n))
            }
            Ok(httparse::Status::Partial) if read.len() <= LINE_BYTES_MAX => Ok(Next::More),
            _ => Err(Problem::Chunk),
        }
    }
}

fn at_most(length: usize, left: u64) -> usize {
    usize::try_from(left).map_or(length, |left| left.min(length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The body in these bytes, when they come in reads of these lengths, and what is behind it.
    fn read(length: Length, bytes: &[u8], reads: &[usize]) -> Result<(String, usize), String> {
        let mut reads = reads.iter().copied().cycle();
        let (mut body, mut text) = (Body::of(length), Vec::new());
        let (mut at, mut end) = (0, 0);
        loop {
            match body.next(&bytes[at..end]).map_err(|error| error.to_string())? {
                Next::Bytes(n) => {
                    assert!(n > 0);
                    text.extend_from_slice(&bytes[at..at + n]);
                    at += n;
                }
                Next::Framing(n) => at += n,
                Next::More if end == bytes.len() => {
                    let end = if body.ends_with_connection() { "" } else { "|" };
                    return Ok((String::from_utf8(text).unwrap() + end, 0));
                }
                Next::More => end = (end + reads.next().unwrap()).min(bytes.len()),
                Next::Done => return Ok((String::from_utf8(text).unwrap(), bytes.len() - at)),
            }
        }
    }

    fn check(length: Length, bytes: &str, expected: Result<(&str, usize), &str>) {
        for reads in [&[1000][..], &[1], &[2, 3]] {
            let seen = read(length, bytes.as_bytes(), reads);
            // What is behind a body may not have been read.
            let seen = seen.as_ref().map(|(text, n)| (text.as_str(), *n)).map_err(String::as_str);
            assert_eq!(seen, expected, "{bytes:?} in reads of {reads:?}");
        }
    }

    #[test]
    fn bodies_end_where_they_say() {
        check(Length::Known(0), "abc", Ok(("", 3)));
        check(Length::Known(3), "abcd", Ok(("abc", 1)));
        check(Length::Known(3), "ab", Ok(("ab|", 0)));
        check(Length::Connection, "abc", Ok(("abc", 0)));
        check(
            Length::Chunks,
            "3\r\nabc\r\n0A ;x=y\r\n0123456789\r\n0\r\n\r\n!",
            Ok(("abc0123456789", 1)),
        );
        check(Length::Chunks, "3\r\nabc\r\n0\r\nx: y\r\n\r\n", Ok(("abc", 0)));
        for cut in [
            "3",
            "3\r",
            "3\r\nab",
            "3\r\nabc",
            "3\r\nabc\r",
            "3\r\nabc\r\n0\r\n",
            "3\r\nabc\r\n0\r\nx: y\r\n",
        ] {
            let text = cut.split("\r\n").nth(1).unwrap_or_default().trim_end();
            check(Length::Chunks, cut, Ok((&format!("{text}|"), 0)));
        }
    }

    #[test]
    fn what_is_no_chunk() {
        let chunk = Err("the answer's chunks cannot be told apart");
        for bad in [
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "11111111111111111\r\n",
            "1\r\nab\r\n",
            "1\r\na\n\r\n",
            "0\r\n\u{1}\r\n",
        ] {
            check(Length::Chunks, bad, chunk);
        }
        let long = |n: usize| format!("1;{}", "x".repeat(n - 2));
        check(Length::Chunks, &long(LINE_BYTES_MAX), Ok(("|", 0)));
        check(Length::Chunks, &long(LINE_BYTES_MAX + 1), chunk);
        let long = |n: usize| format!("0\r\nx: {}", "y".repeat(n - 3));
        check(Length::Chunks, &long(LINE_BYTES_MAX), Ok(("|", 0)));
        check(Length::Chunks, &long(LINE_BYTES_MAX + 1), chunk);
    }

    proptest! {
        #[test]
        fn any_chunks_in_any_reads_are_the_same_body(
            chunks in prop::collection::vec("[a-z]{1,40}", 0..6),
            reads in prop::collection::vec(1usize..30, 1..8),
        ) {
            let framed = |chunk: &String| format!("{:X}\r\n{chunk}\r\n", chunk.len());
            let bytes = chunks.iter().map(framed).collect::<String>() + "0\r\n\r\n";
            prop_assert_eq!(read(Length::Chunks, bytes.as_bytes(), &reads), Ok((chunks.concat(), 0)));
        }

        #[test]
        fn no_bytes_are_too_bad(bytes in prop::collection::vec(prop::sample::select(b"0123af\r\n;x".to_vec()), 0..60), reads in prop::collection::vec(1usize..9, 1..4)) {
            let _ = read(Length::Chunks, &bytes, &reads);
        }
    }
}
