//! Lines of JSON over a socket, in bounded memory.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use heeler_core::{from_json_bytes, json_depth};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest line: an input with its images, or a text that is streamed.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What lines longer than this take is counted together, and not kept.
const LINE_BYTES_SMALL: usize = 1024 * 1024;
/// The deepest nesting of one; raw JSON inside it is a string.
const DEPTH_MAX: usize = 100;

/// What is left for the long lines of all who share it: for one of the longest.
#[derive(Clone)]
pub(crate) struct Allowance(Arc<AtomicUsize>);

impl Default for Allowance {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(LINE_BYTES_MAX)))
    }
}

/// The lines that come.
pub(crate) struct Lines<R> {
    reader: R,
    allowance: Allowance,
    /// How much of that this line has.
    taken: usize,
    /// What was read and is no line yet.
    waiting: Vec<u8>,
    /// How much of that has no line end.
    looked_at: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self::within(Allowance::default(), reader)
    }

    /// Lines that are no longer together with those of others than one alone may be.
    pub(crate) fn within(allowance: Allowance, reader: R) -> Self {
        Self { reader, allowance, taken: 0, waiting: Vec::new(), looked_at: 0 }
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
                self.give_back();
                return line.map(Some);
            }
            self.looked_at = self.waiting.len();
            if self.looked_at > LINE_BYTES_MAX {
                return Err(invalid("a line is too long"));
            }
            if !self.take_more() {
                return Err(invalid("a line is too long beside those of others"));
            }
            if self.reader.read_buf(&mut self.waiting).await? == 0 {
                return Ok(None);
            }
        }
    }
}

impl<R> Lines<R> {
    /// Takes what the line has grown by; `false` when others have it.
    fn take_more(&mut self) -> bool {
        let more = self.waiting.len().saturating_sub(LINE_BYTES_SMALL).saturating_sub(self.taken);
        let left = |left: usize| left.checked_sub(more);
        // It counts, and orders nothing.
        let is_taken =
            self.allowance.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok();
        self.taken += if is_taken { more } else { 0 };
        is_taken
    }

    /// Gives back what a long line took, and its memory.
    fn give_back(&mut self) {
        if self.taken > 0 {
            self.allowance.0.fetch_add(std::mem::take(&mut self.taken), Ordering::Relaxed);
            self.waiting.shrink_to(LINE_BYTES_SMALL);
        }
    }
}

impl<R> Drop for Lines<R> {
    fn drop(&mut self) {
        self.give_back();
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

    #[tokio::test]
    async fn long_lines_of_many_take_no_more_than_one_and_leave_nothing() {
        let allowance = Allowance::default();
        let begun = vec![b'1'; LINE_BYTES_MAX * 2 / 3];
        let mut first = Lines::within(allowance.clone(), &begun[..]);
        // It has no end yet.
        assert_eq!(first.next::<u32>().await.unwrap(), None);
        let error = Lines::within(allowance.clone(), &begun[..]).next::<u32>().await.unwrap_err();
        assert_eq!(error.to_string(), "a line is too long beside those of others");
        drop(first);
        let whole = [b"\"", &begun[..], b"\"\n2"].concat();
        let mut lines = Lines::within(allowance.clone(), &whole[..]);
        assert_eq!(lines.next::<String>().await.unwrap().map(|text| text.len()), Some(begun.len()));
        assert!(lines.waiting.capacity() <= LINE_BYTES_SMALL);
        assert_eq!(allowance.0.load(Ordering::Relaxed), LINE_BYTES_MAX);
    }
}
