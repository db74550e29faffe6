//! An answer while it is read.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crate::body::{Body, Next};
use crate::connection::Connection;
use crate::error::Problem;
use crate::pool::Pool;
use crate::request::Target;
use crate::{Error, Head};

/// An answer, of which the head is there. Read to its end, it gives its connection back; dropped
/// before, it closes it.
pub struct Answer {
    head: Head,
    body: Body,
    /// None once the body is over.
    connection: Option<Connection>,
    /// So many of what the connection read and did not use are the bytes that were handed out.
    handed_out: usize,
    /// Whether the connection serves another request.
    keeps_open: bool,
    pool: Arc<Pool>,
    target: Arc<Target>,
}

impl Answer {
    pub(crate) fn new(
        head: Head,
        (connection, is_written): (Connection, bool),
        pool: Arc<Pool>,
        target: Arc<Target>,
    ) -> Self {
        let (body, keeps_open) = (Body::of(head.length()), is_written && head.keeps_open());
        Self { head, body, connection: Some(connection), handed_out: 0, keeps_open, pool, target }
    }

    /// The status and headers.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The next bytes of the body; `None` at its end.
    ///
    /// Cancel-safe: bytes are either handed out or still to come.
    ///
    /// # Errors
    /// When the connection broke, or what comes is no HTTP.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        let more = poll_fn(|context| self.poll_next(context)).await?;
        Ok(more.then(|| self.bytes()))
    }

    /// As [`Answer::next`]: whether there are more bytes, which [`Answer::bytes`] gives.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<bool, Error>> {
        let next = ready!(self.poll_part(context));
        if let Err(error) = next {
            self.connection = None;
            return Poll::Ready(Err(error.into()));
        }
        Poll::Ready(next.map_err(Error::from))
    }

    /// What was handed out last.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.connection.as_ref().map_or(&[], |connection| &connection.unused()[..self.handed_out])
    }

    fn poll_part(&mut self, context: &mut Context<'_>) -> Poll<Result<bool, Problem>> {
        let handed_out = std::mem::take(&mut self.handed_out);
        let Some(connection) = &mut self.connection else { return Poll::Ready(Ok(false)) };
        connection.consume(handed_out);
        loop {
            match self.body.next(connection.unused())? {
                Next::Bytes(n) => {
                    self.handed_out = n;
                    return Poll::Ready(Ok(true));
                }
                Next::Framing(n) => connection.consume(n),
                Next::More => {
                    if ready!(connection.poll_fill(context))? == 0 {
                        let ends = self.body.ends_with_connection();
                        self.connection = None;
                        return Poll::Ready(if ends { Ok(false) } else { Err(Problem::Cut) });
                    }
                }
                Next::Done => {
                    let connection = self.connection.take().filter(|_| self.keeps_open);
                    if let Some(connection) = connection {
                        self.pool.give(self.target.origin(), connection);
                    }
                    return Poll::Ready(Ok(false));
                }
            }
        }
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("head", &self.head).finish_non_exhaustive()
    }
}
