//! Lines of JSON over a socket, in bounded memory.

use std::io;

use heeler_core::{from_json_bytes, json_depth};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest line: an input with its images, or a text that is streamed.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The deepest nesting of one; raw JSON inside it is a string.
const DEPTH_MAX: usize = 100;

/// The lines that come.
pub(crate) struct Lines<R> {
    reader: R,
    /// What was read and is no line yet.
    waiting: Vec<u8>,
    /// How much of that has no line end.
    looked_at: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, waiting: Vec::new(), looked_at: 0 }
    }

    /// The next line; `None` at the end, whatever was begun. What was read stays when this is dropped.
    ///
    /// # Errors
    /// When nothing can be read, or what is read is no such line.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            let new = self.waiting.get(self.looked_at..).unwrap_or_default();
            if let Some(at) = new.iter().position(|byte| *byte == b'\n') {
                let end = self.looked_at + at;
                let line = read(&self.waiting[..end]);
                self.waiting.drain(..=end);
                self.looked_at = 0;
                return line.map(Some);
            }
            self.looked_at = self.waiting.len();
            if self.looked_at > LINE_BYTES_MAX {
                return Err(invalid("a line is too long"));
            }
            if self.reader.read_buf(&mut self.waiting).await? == 0 {
                return Ok(None);
            }
        }
    }
}

fn read<T: DeserializeOwned>(line: &[u8]) -> io::Result<T> {
    if json_depth(line) > DEPTH_MAX {
        return Err(invalid("a line nests too deep"));
    }
    from_json_bytes(line).map_err(invalid)
}

fn invalid(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Adds a line.
pub(crate) fn push(out: &mut Vec<u8>, said: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, said)?;
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_read_however_they_are_cut_and_what_is_none_is_refused() {
        let reader = tokio::io::AsyncReadExt::chain(&b"1\n2"[..], &b"3\n\n4"[..]);
        let mut lines = Lines::new(reader);
        assert_eq!(lines.next::<u32>().await.unwrap(), Some(1));
        assert_eq!(lines.next::<u32>().await.unwrap(), Some(23));
        assert!(lines.next::<u32>().await.is_err());
        assert_eq!(lines.next::<u32>().await.unwrap(), None);
        let deep = "[".repeat(DEPTH_MAX + 1) + "\n";
        let error = Lines::new(deep.as_bytes()).next::<serde_json::Value>().await.unwrap_err();
        assert_eq!(error.to_string(), "a line nests too deep");
        let long = vec![b'1'; LINE_BYTES_MAX + 1];
        let error = Lines::new(&long[..]).next::<u32>().await.unwrap_err();
        assert_eq!(error.to_string(), "a line is too long");
    }
}
