//! A body's many small chunks as few larger pieces, each made when it is asked for.
//!
//! A conversation is hundreds of chunks of a hundred bytes. Handed over one by one they become
//! that many turns through the client and writes of sixteen each; copied together they cost less
//! than one of these writes, and never more memory than a piece.

use std::iter::Peekable;
use std::vec;

use bytes::{Bytes, BytesMut};

/// A piece holds at most so much.
const PIECE_BYTES_MAX: usize = 64 * 1024;
/// A chunk as long as this goes as it is: a place in a list of writes costs less than its copy.
const CHUNK_BYTES_MIN: usize = 4 * 1024;

/// The pieces of a body.
pub(super) struct Pieces {
    chunks: Peekable<vec::IntoIter<Bytes>>,
    /// Bytes that are still to come.
    left_bytes: usize,
}

impl Pieces {
    pub(super) fn of(chunks: Vec<Bytes>) -> Self {
        let left_bytes = chunks.iter().map(Bytes::len).sum();
        Self { chunks: chunks.into_iter().peekable(), left_bytes }
    }

    /// How long the whole body is.
    pub(super) fn length(&self) -> usize {
        self.left_bytes
    }
}

impl Iterator for Pieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let first = self.chunks.next()?;
        let joins = |length: usize| {
            move |next: &Bytes| {
                next.len() < CHUNK_BYTES_MIN && length + next.len() <= PIECE_BYTES_MAX
            }
        };
        let is_short = first.len() < CHUNK_BYTES_MIN;
        let mut next = if is_short { self.chunks.next_if(joins(first.len())) } else { None };
        if next.is_none() {
            self.left_bytes -= first.len();
            return Some(first);
        }
        let mut piece = BytesMut::with_capacity(self.left_bytes.min(PIECE_BYTES_MAX));
        piece.extend_from_slice(&first);
        while let Some(chunk) = next {
            piece.extend_from_slice(&chunk);
            next = self.chunks.next_if(joins(piece.len()));
        }
        self.left_bytes -= piece.len();
        Some(piece.freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lengths: &[usize], expected: &[usize]) {
        let filled = |(n, length): (u8, &usize)| Bytes::from(vec![n; *length]);
        let chunks: Vec<Bytes> = (0..).zip(lengths).map(filled).collect();
        let whole = chunks.concat();
        let pieces = Pieces::of(chunks);
        assert_eq!(pieces.length(), whole.len());
        let pieces: Vec<Bytes> = pieces.collect();
        assert_eq!(pieces.iter().map(Bytes::len).collect::<Vec<_>>(), expected);
        assert_eq!(pieces.concat(), whole);
    }

    #[test]
    fn small_chunks_are_joined_and_long_ones_go_as_they_are() {
        check(&[], &[]);
        check(&[5], &[5]);
        check(&[5, 1, 7], &[13]);
        let short = CHUNK_BYTES_MIN - 1;
        check(&[1, short, 1], &[short + 2]);
        check(&[1, CHUNK_BYTES_MIN, 1, 2], &[1, CHUNK_BYTES_MIN, 3]);
        check(&[CHUNK_BYTES_MIN, CHUNK_BYTES_MIN, 1], &[CHUNK_BYTES_MIN, CHUNK_BYTES_MIN, 1]);
        let full = vec![1024; PIECE_BYTES_MAX / 1024];
        check(&full, &[PIECE_BYTES_MAX]);
        check(&[&full[..], &[1, 2]].concat(), &[PIECE_BYTES_MAX, 3]);
    }
}
