//! Cuts a byte stream into lines, in bounded memory.

use std::io::{self, BufRead, Read};

use super::line::LINE_BYTES_MAX;

/// The lines of a journal, one after the other in one buffer.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    line_bytes_max: usize,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The bytes without the newline; `None` for a line that is too long or lacks its newline.
    pub(crate) whole: Option<&'a [u8]>,
    /// The bytes of a line that lacks its newline, and is therefore the last.
    pub(crate) open: Option<&'a [u8]>,
    /// How many bytes it takes in the file, its newline included.
    pub(crate) length: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), line_bytes_max: LINE_BYTES_MAX }
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let length = self.read(&mut buffer)?;
        self.buffer = buffer;
        Ok(length.map(|length| self.line(&self.buffer, length)))
    }

    /// Puts the next line into `buffer` and gives its length in the file; `None` at the end.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<u64>> {
        buffer.clear();
        let bytes_max = self.line_bytes_max as u64;
        let mut length = self.reader.by_ref().take(bytes_max).read_until(b'\n', buffer)? as u64;
        if length == 0 {
            return Ok(None);
        }
        if length == bytes_max && !buffer.ends_with(b"\n") {
            length += self.reader.skip_until(b'\n')? as u64;
        }
        Ok(Some(length))
    }

    /// The line that [`read`](Self::read) put there.
    pub(super) fn line<'a>(&self, bytes: &'a [u8], length: u64) -> Line<'a> {
        let whole = bytes.strip_suffix(b"\n");
        let is_open = whole.is_none() && length < self.line_bytes_max as u64;
        Line { whole, open: is_open.then_some(bytes), length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_bounded_and_counted() {
        let check = |bytes: &[u8], expected: &[(Option<&str>, u64)]| {
            let mut lines = Lines { reader: bytes, buffer: Vec::new(), line_bytes_max: 4 };
            for (whole, length) in expected {
                let whole = whole.map(str::as_bytes);
                let line = lines.next().unwrap().unwrap();
                assert_eq!((line.whole, line.length), (whole, *length));
                let is_open = whole.is_none() && *length < 4;
                assert_eq!(line.open.map(|open| open.len() as u64), is_open.then_some(*length));
            }
            assert_eq!(lines.next().unwrap(), None);
        };
        check(b"", &[]);
        check(b"abc\n\nd", &[(Some("abc"), 4), (Some(""), 1), (None, 1)]);
        check(b"abcd\ne\n", &[(None, 5), (Some("e"), 2)]);
        check(b"abcdefgh\n", &[(None, 9)]);
        check(b"abcdefgh", &[(None, 8)]);
    }
}
