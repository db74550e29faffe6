//! A body's many small chunks as few larger pieces, each made when it is asked for.
//!
//! A conversation is hundreds of chunks of a hundred bytes. Handed over one by one they become
//! that many turns through the client and writes of sixteen each; copied together they cost less
//! than one of these writes, and never more memory than a piece.
//!
//! The first piece, which is the request's head and as long in every round, is handed over alone:
//! the client fills a write of half a megabyte otherwise, and the system copies all of it before
//! the server's first byte is on its way.

use std::convert::Infallible;
use std::iter::Peekable;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use bytes::{Bytes, BytesMut};
use futures::Stream;

/// A piece holds at most so much.
const PIECE_BYTES_MAX: usize = 64 * 1024;
/// A chunk as long as this goes as it is: a place in a list of writes costs less than its copy.
const CHUNK_BYTES_MIN: usize = 4 * 1024;
/// A shorter rest goes with the first piece: one write costs less than its copy.
const REST_BYTES_MIN: usize = 64 * 1024;

/// The pieces of a body.
pub(super) struct Pieces {
    chunks: Peekable<vec::IntoIter<Bytes>>,
    /// Bytes that are still to come.
    left_bytes: usize,
    handed_over: HandedOver,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HandedOver {
    Nothing,
    First,
    More,
}

impl Pieces {
    pub(super) fn of(chunks: Vec<Bytes>) -> Self {
        let left_bytes = chunks.iter().map(Bytes::len).sum();
        let chunks = chunks.into_iter().peekable();
        Self { chunks, left_bytes, handed_over: HandedOver::Nothing }
    }

    /// How long the whole body is.
    pub(super) fn length(&self) -> usize {
        self.left_bytes
    }

    fn take(&mut self) -> Option<Bytes> {
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

impl Stream for Pieces {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.handed_over == HandedOver::First && self.left_bytes >= REST_BYTES_MIN {
            self.handed_over = HandedOver::More;
            // A client that is told to wait writes what it has, and asks again at once.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.handed_over = match self.handed_over {
            HandedOver::Nothing => HandedOver::First,
            HandedOver::First | HandedOver::More => HandedOver::More,
        };
        Poll::Ready(self.take().map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What the pieces of such chunks are; 0 stands for a pause.
    fn check(lengths: &[usize], expected: &[usize]) {
        let filled = |(n, length): (u8, &usize)| Bytes::from(vec![n; *length]);
        let chunks: Vec<Bytes> = (0..).zip(lengths).map(filled).collect();
        let whole = chunks.concat();
        let mut pieces = Pieces::of(chunks);
        assert_eq!(pieces.length(), whole.len());
        let wakes = Arc::new(Wakes::default());
        let waker = Arc::clone(&wakes).into();
        let mut context = Context::from_waker(&waker);
        let (mut seen, mut sent) = (Vec::new(), Vec::new());
        loop {
            match Pin::new(&mut pieces).poll_next(&mut context) {
                Poll::Ready(None) => break,
                Poll::Ready(Some(Ok(piece))) => {
                    seen.push(piece.len());
                    sent.extend_from_slice(&piece);
                }
                Poll::Pending => seen.push(0),
            }
        }
        assert_eq!(seen, expected);
        assert!(sent == whole, "the pieces are another body");
        let n_pauses = expected.iter().filter(|length| **length == 0).count();
        assert_eq!(wakes.0.load(Ordering::Relaxed), n_pauses);
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

    #[test]
    fn a_long_rest_waits_until_the_first_piece_is_on_its_way() {
        let head = CHUNK_BYTES_MIN;
        check(&[head, REST_BYTES_MIN - 1], &[head, REST_BYTES_MIN - 1]);
        check(&[head, REST_BYTES_MIN], &[head, 0, REST_BYTES_MIN]);
        check(&[head, REST_BYTES_MIN, head, 2], &[head, 0, REST_BYTES_MIN, head, 2]);
        check(&[REST_BYTES_MIN], &[REST_BYTES_MIN]);
    }
}
