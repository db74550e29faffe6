//! An answer while it is read.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crate::body::{Body, Next};
use crate::connection::{Connection, Unwritten};
use crate::error::Problem;
use crate::pool::Pool;
use crate::request::Target;
use crate::{Error, Head};

/// From this status on, an answer says that the request will not be served as it is.
const STATUS_REFUSED_MIN: u16 = 300;

/// An answer, of which the head is there. Read to its end, it gives its connection back; dropped
/// before, it closes it. While it is read, what its request lacks is written: a server may say that
/// it serves a request before it has read it. An answer that is over needs no more of it.
pub struct Answer {
    head: Head,
    body: Body,
    /// None once the body is over.
    connection: Option<Connection>,
    /// So many of what the connection read and did not use are the bytes that were handed out.
    handed_out: usize,
    /// Whether the connection serves another request, once this one is written.
    keeps_open: bool,
    rest: Rest,
    pool: Arc<Pool>,
    target: Arc<Target>,
}

/// What is left of the request.
enum Rest {
    /// Nothing: all was written.
    Nothing,
    /// This, which is written meanwhile. Boxed, since there hardly ever is any.
    Unwritten(Box<Unwritten>),
    /// Something that the server does not want.
    Refused,
    /// Something that it can not be told any more. It may have said all of the answer before.
    Failed(io::Error),
}

impl Answer {
    pub(crate) fn new(
        head: Head,
        (connection, unwritten): (Connection, Option<Unwritten>),
        pool: Arc<Pool>,
        target: Arc<Target>,
    ) -> Self {
        let (body, keeps_open) = (Body::of(head.length()), head.keeps_open());
        let rest = match unwritten {
            None => Rest::Nothing,
            Some(_) if head.status() >= STATUS_REFUSED_MIN => Rest::Refused,
            Some(unwritten) => Rest::Unwritten(Box::new(unwritten)),
        };
        let connection = Some(connection);
        Self { head, body, connection, handed_out: 0, keeps_open, rest, pool, target }
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
                    self.rest.write(connection, context);
                    if ready!(connection.poll_fill(context))? == 0 {
                        return Poll::Ready(self.end_of_connection());
                    }
                }
                Next::Done => {
                    let is_free = self.keeps_open && matches!(self.rest, Rest::Nothing);
                    let connection = self.connection.take().filter(|_| is_free);
                    if let Some(connection) = connection {
                        self.pool.give(self.target.origin(), connection);
                    }
                    return Poll::Ready(Ok(false));
                }
            }
        }
    }

    /// As [`Answer::next`] where nothing more can be read.
    fn end_of_connection(&mut self) -> Result<bool, Problem> {
        self.connection = None;
        match std::mem::replace(&mut self.rest, Rest::Refused) {
            // A connection that broke ends an answer nowhere, even one that is to end with it.
            Rest::Failed(error) => Err(error.into()),
            _ if self.body.ends_with_connection() => Ok(false),
            _ => Err(Problem::Cut),
        }
    }
}

impl Rest {
    /// Writes what can be written. A failure is told when nothing more can be read: the server's
    /// last words may be there already.
    fn write(&mut self, connection: &mut Connection, context: &mut Context<'_>) {
        let Self::Unwritten(unwritten) = self else { return };
        match unwritten.poll_write(connection, context) {
            Poll::Pending => {}
            Poll::Ready(Ok(())) => *self = Self::Nothing,
            Poll::Ready(Err(error)) => *self = Self::Failed(error),
        }
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("head", &self.head).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use bytes::Bytes;
    use http::HeaderMap;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;
    use crate::connection::Exchange;
    use crate::pieces::Pieces;

    const REQUEST_HEAD: &[u8] = b"POST / HTTP/1.1\r\n\r\n";
    const BODY_BYTES: usize = 10_000;
    /// What the connection keeps for a reader that does not read.
    const PIPE_BYTES: usize = 1000;

    /// An answer whose server has read nothing of the request yet, and the server.
    async fn early(answer: &str) -> (Answer, DuplexStream) {
        let (ours, mut theirs) = tokio::io::duplex(PIPE_BYTES);
        let pieces = Pieces::of(vec![Bytes::from(vec![b'x'; BODY_BYTES])]);
        let mut exchange =
            Exchange::new(Connection::new(ours, None), REQUEST_HEAD.to_vec(), pieces);
        theirs.write_all(format!("HTTP/1.1 {answer}").as_bytes()).await.unwrap();
        let head = poll_fn(|context| exchange.poll(context)).await.unwrap();
        let target = Target::new("http://model.example", &HeaderMap::new()).unwrap();
        let pool = Arc::new(Pool::default());
        (Answer::new(head, exchange.into_parts(), pool, Arc::new(target)), theirs)
    }

    /// How much of the request a server gets that reads all that comes while its answer is read.
    async fn written(answer: &str) -> usize {
        let (mut answer, mut theirs) = early(answer).await;
        let mut read = Vec::with_capacity(2 * BODY_BYTES);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            while let Poll::Ready(next) = answer.poll_next(&mut context) {
                assert!(next.unwrap(), "the answer goes on");
            }
            let mut more = pin!(theirs.read_buf(&mut read));
            match more.as_mut().poll(&mut context) {
                Poll::Ready(n) => assert!(n.unwrap() > 0),
                Poll::Pending => break,
            }
        }
        read.len()
    }

    #[tokio::test]
    async fn only_a_refusal_does_without_the_rest_of_the_request() {
        let all = REQUEST_HEAD.len() + BODY_BYTES;
        for (status, expected) in
            [(200, all), (202, all), (299, all), (300, PIPE_BYTES), (413, PIPE_BYTES)]
        {
            let answer = format!("{status} X\r\ncontent-length: 3\r\n\r\nok");
            assert_eq!(written(&answer).await, expected, "{status}");
        }
        // Who reads this request may close the connection behind it.
        assert_eq!(written("200 OK\r\nconnection: close\r\n\r\nok").await, all);
    }

    #[tokio::test]
    async fn a_connection_that_lacks_a_part_of_a_request_serves_no_other() {
        for status in [200, 413] {
            let whole = format!("{status} X\r\ncontent-length: 2\r\n\r\nok");
            let (mut answer, _theirs) = early(&whole).await;
            assert_eq!(answer.next().await.unwrap(), Some(&b"ok"[..]));
            assert_eq!(answer.next().await.unwrap(), None);
            assert!(answer.pool.take(answer.target.origin()).is_none());
        }
    }

    /// What is read of a success whose server is gone, and has not taken all of the request.
    async fn check(answer: &str, expected: &str) {
        let (mut answer, theirs) = early(&format!("200 OK\r\n{answer}")).await;
        drop(theirs);
        let mut seen = String::new();
        let end = loop {
            match answer.next().await {
                Ok(Some(bytes)) => seen.push_str(&String::from_utf8_lossy(bytes)),
                Ok(None) => break "end".to_owned(),
                Err(error) => break error.to_string(),
            }
        };
        assert_eq!(format!("{seen}, {end}"), expected);
    }

    #[tokio::test]
    async fn a_request_that_cannot_be_written_takes_nothing_of_what_was_answered() {
        let broke = "ok, the connection broke: broken pipe";
        check("content-length: 2\r\n\r\nok", "ok, end").await;
        check("content-length: 3\r\n\r\nok", broke).await;
        check("transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "ok, end").await;
        check("transfer-encoding: chunked\r\n\r\n2\r\nok\r\n", broke).await;
        // Where nothing else tells the end, it could be anywhere.
        check("\r\nok", broke).await;
    }
}
