//! A body's many small chunks as few larger pieces, each made when it is asked for.
//!
//! A conversation is hundreds of chunks of a hundred bytes. Written one by one they would be that
//! many entries of lists of writes; copied together they cost less, and never more memory than a
//! piece.
//!
//! The first piece, which is the request's head and as long in every round, goes alone before a
//! long rest: the system copies all of a write before the server's first byte is on its way.

use std::iter::Peekable;
use std::vec;

use bytes::{Bytes, BytesMut};

/// A piece holds at most so much.
const PIECE_BYTES_MAX: usize = 64 * 1024;
/// A chunk as long as this goes as it is: a place in a list of writes costs less than its copy.
const CHUNK_BYTES_MIN: usize = 4 * 1024;
/// A shorter rest goes with the first piece: one write costs less than its copy.
const REST_BYTES_MIN: usize = 64 * 1024;

/// The pieces of a body.
#[derive(Debug)]
pub(crate) struct Pieces {
    chunks: Peekable<vec::IntoIter<Bytes>>,
    /// Bytes that are still to come.
    left_bytes: usize,
}

impl Pieces {
    pub(crate) fn of(chunks: Vec<Bytes>) -> Self {
        let left_bytes = chunks.iter().map(Bytes::len).sum();
        Self { chunks: chunks.into_iter().peekable(), left_bytes }
    }

    /// How long all that is still to come is.
    pub(crate) fn length(&self) -> usize {
        self.left_bytes
    }

    /// What is written first: all, unless that is long.
    pub(crate) fn first(&mut self) -> Vec<Bytes> {
        let first: Vec<Bytes> = self.next().into_iter().collect();
        if self.left_bytes >= REST_BYTES_MIN {
            return first;
        }
        first.into_iter().chain(self).collect()
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

    /// What the pieces of such chunks are: those of the first write, then each of the rest.
    fn check(lengths: &[usize], first: &[usize], rest: &[usize]) {
        let filled = |(n, length): (u8, &usize)| Bytes::from(vec![n; *length]);
        let chunks: Vec<Bytes> = (0..).zip(lengths).map(filled).collect();
        let whole = chunks.concat();
        let mut pieces = Pieces::of(chunks);
        assert_eq!(pieces.length(), whole.len());
        let seen = [pieces.first(), pieces.by_ref().collect()];
        let length_of = |pieces: &Vec<Bytes>| pieces.iter().map(Bytes::len).collect::<Vec<_>>();
        assert_eq!(seen.each_ref().map(length_of), [first.to_vec(), rest.to_vec()]);
        assert_eq!(pieces.length(), 0);
        assert!(seen.concat().concat() == whole, "the pieces are another body");
    }

    #[test]
    fn small_chunks_are_joined_and_long_ones_go_as_they_are() {
        check(&[], &[], &[]);
        check(&[5], &[5], &[]);
        check(&[5, 1, 7], &[13], &[]);
        let short = CHUNK_BYTES_MIN - 1;
        check(&[1, short, 1], &[short + 2], &[]);
        check(&[1, CHUNK_BYTES_MIN, 1, 2], &[1, CHUNK_BYTES_MIN, 3], &[]);
        check(&[CHUNK_BYTES_MIN, CHUNK_BYTES_MIN, 1], &[CHUNK_BYTES_MIN, CHUNK_BYTES_MIN, 1], &[]);
        let full = vec![1024; PIECE_BYTES_MAX / 1024];
        check(&full, &[PIECE_BYTES_MAX], &[]);
        check(&[&full[..], &[1, 2]].concat(), &[PIECE_BYTES_MAX, 3], &[]);
    }

    #[test]
    fn a_long_rest_waits_until_the_first_piece_is_on_its_way() {
        let head = CHUNK_BYTES_MIN;
        check(&[head, REST_BYTES_MIN - 1], &[head, REST_BYTES_MIN - 1], &[]);
        check(&[head, REST_BYTES_MIN], &[head], &[REST_BYTES_MIN]);
        check(&[head, REST_BYTES_MIN, head, 2], &[head], &[REST_BYTES_MIN, head, 2]);
        check(&[REST_BYTES_MIN], &[REST_BYTES_MIN], &[]);
    }
}
