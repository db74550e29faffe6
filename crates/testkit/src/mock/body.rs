//! A response body that is sent piece by piece and may end in ways no good server ends it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};

use super::Chunking;
use super::log::Log;

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// In order.
    Whole,
    /// The connection breaks.
    Broken,
    /// Never: nothing more comes.
    Silent,
}

/// A body on its way.
pub(super) struct Pieces {
    left: VecDeque<Bytes>,
    end: End,
    log: Arc<Log>,
    /// Whether the piece before was let out of the door.
    flushed: bool,
    is_over: bool,
}

impl Pieces {
    pub(super) fn new(events: Vec<String>, end: End, chunking: Chunking, log: Arc<Log>) -> Self {
        let left = match chunking {
            Chunking::PerEvent => events.into_iter().map(Bytes::from).collect(),
            Chunking::Whole => [Bytes::from(events.concat())].into(),
            Chunking::Bytes(length) => {
                let whole = Bytes::from(events.concat());
                let starts = (0..whole.len()).step_by(length.max(1));
                starts.map(|at| whole.slice(at..(at + length.max(1)).min(whole.len()))).collect()
            }
        };
        Self { left, end, log, flushed: true, is_over: false }
    }

    /// The end was reached as the script says.
    fn finish(&mut self) {
        if !self.is_over {
            self.is_over = true;
            self.log.count(|status| status.finished += 1);
        }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        // hyper writes out what it has when a body has nothing ready: pieces stay pieces.
        if !std::mem::replace(&mut self.flushed, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(piece) = self.left.pop_front() {
            self.flushed = false;
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match self.end {
            End::Whole => {
                self.finish();
                Poll::Ready(None)
            }
            End::Broken => {
                self.finish();
                Poll::Ready(Some(Err(io::Error::other("the script breaks the connection here"))))
            }
            End::Silent => {
                // Told once; hyper asks again whenever the connection has news.
                if !std::mem::replace(&mut self.is_over, true) {
                    self.log.count(|status| status.stalled += 1);
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        if !self.is_over || self.end == End::Silent {
            self.log.count(|status| status.abandoned += 1);
        }
    }
}

/// Whole bodies never fail.
pub(super) fn never(error: Infallible) -> io::Error {
    match error {}
}
