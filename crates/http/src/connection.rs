//! Bytes in and out of one connection. Whose turn it is, is for others to say.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::io::{poll_read_buf, poll_write_buf};

use crate::error::Problem;
use crate::head::{HEAD_BYTES_MAX, Head};
use crate::pieces::Pieces;
use crate::request::Proxy;

/// What the first read takes at most; most answers of a moment fit.
const READ_BYTES_MIN: usize = 8 * 1024;
/// What one read takes at most, when much comes.
const READ_BYTES_MAX: usize = 64 * 1024;

/// A socket, or TLS over one.
pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// A connection to a server, or through a proxy.
pub(crate) struct Connection {
    io: Box<dyn Io>,
    /// What was read and not used. It has no memory while nothing is there to be read: a session
    /// spends its time waiting for a model.
    read: BytesMut,
    read_bytes_max: usize,
    proxy: Option<Box<Proxy>>,
}

impl Connection {
    pub(crate) fn new(io: impl Io + 'static, proxy: Option<Proxy>) -> Self {
        let (io, proxy) = (Box::new(io), proxy.map(Box::new));
        Self { io, read: BytesMut::new(), read_bytes_max: READ_BYTES_MIN, proxy }
    }

    /// The proxy that reads requests on this connection, if any does.
    pub(crate) fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_deref()
    }

    /// What was read and not used.
    pub(crate) fn unused(&self) -> &[u8] {
        &self.read
    }

    /// The first bytes of what was not used are used now.
    pub(crate) fn consume(&mut self, n: usize) {
        self.read.advance(n);
    }

    /// What it goes through, for TLS within it; what was read and not used is lost.
    pub(crate) fn into_io(self) -> Box<dyn Io> {
        self.io
    }

    /// Reads more; 0 at the end.
    pub(crate) fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.read.reserve(self.read_bytes_max);
        let room = self.read.capacity() - self.read.len();
        let read = poll_read_buf(Pin::new(&mut *self.io), context, &mut self.read);
        match &read {
            // Much lies ready.
            Poll::Ready(Ok(n)) if *n >= room => {
                self.read_bytes_max = (self.read_bytes_max * 2).min(READ_BYTES_MAX);
            }
            // But what comes fast is read into the same memory: a page that is new costs more.
            Poll::Pending if self.read.is_empty() && self.read_bytes_max == READ_BYTES_MIN => {
                self.read = BytesMut::new();
            }
            _ => {}
        }
        read
    }

    /// Nothing more is read for now, so no room is kept for it.
    pub(crate) fn rest(&mut self) {
        if self.read.is_empty() {
            self.read = BytesMut::new();
        }
        self.read_bytes_max = READ_BYTES_MIN;
    }

    /// Itself, unless the server has closed it or said what nobody asked for.
    pub(crate) fn if_idle(mut self) -> Option<Self> {
        let mut context = Context::from_waker(Waker::noop());
        let is_idle = self.read.is_empty() && self.poll_fill(&mut context).is_pending();
        is_idle.then_some(self)
    }

    /// The head of an answer. Those of interim ones before it took `n_interim` bytes so far.
    fn poll_head(
        &mut self,
        context: &mut Context<'_>,
        n_interim: &mut usize,
    ) -> Poll<Result<Head, Problem>> {
        loop {
            if let Some((head, n)) = Head::parse(&self.read)? {
                self.read.advance(n);
                // What comes before the answer to a request says only that there will be one.
                if !head.is_interim() {
                    return Poll::Ready(Ok(head));
                }
                *n_interim += n;
                if *n_interim <= HEAD_BYTES_MAX {
                    continue;
                }
            }
            if *n_interim + self.read.len() > HEAD_BYTES_MAX {
                return Poll::Ready(Err(Problem::LongHead));
            }
            if ready!(self.poll_fill(context))? == 0 {
                return Poll::Ready(Err(Problem::Unanswered));
            }
        }
    }
}

/// A request on its way, until the head of its answer is there.
pub(crate) struct Exchange {
    connection: Connection,
    /// None once all is written.
    unwritten: Option<Unwritten>,
    /// How many bytes the heads of interim answers took: who sends them for ever must not be read
    /// for ever.
    n_interim: usize,
}

impl Exchange {
    pub(crate) fn new(connection: Connection, head: Vec<u8>, mut pieces: Pieces) -> Self {
        let mut writing = Writing(VecDeque::from([Bytes::from(head)]));
        writing.0.extend(pieces.first());
        Self { connection, unwritten: Some(Unwritten { writing, pieces }), n_interim: 0 }
    }

    /// Writes, and reads the head of the answer, which may come before all is written: a server
    /// that refuses a request does not have to read it.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Head, Problem>> {
        let written = match &mut self.unwritten {
            None => Poll::Ready(Ok(())),
            Some(unwritten) => unwritten.poll_write(&mut self.connection, context),
        };
        if let Poll::Ready(Ok(())) = written {
            self.unwritten = None;
        }
        match (self.connection.poll_head(context, &mut self.n_interim), written) {
            (Poll::Pending, Poll::Ready(Err(error))) => Poll::Ready(Err(error.into())),
            (head, _) => head,
        }
    }

    /// The connection, and what it has not taken of the request.
    pub(crate) fn into_parts(self) -> (Connection, Option<Unwritten>) {
        (self.connection, self.unwritten)
    }
}

/// What a connection has not taken of a request.
pub(crate) struct Unwritten {
    writing: Writing,
    pieces: Pieces,
}

impl Unwritten {
    /// Writes all of it.
    pub(crate) fn poll_write(
        &mut self,
        connection: &mut Connection,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            while self.writing.has_remaining() {
                let io = Pin::new(&mut *connection.io);
                if ready!(poll_write_buf(io, context, &mut self.writing))? == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
            }
            match self.pieces.next() {
                Some(piece) => self.writing.0.push_back(piece),
                None => return Pin::new(&mut *connection.io).poll_flush(context),
            }
        }
    }
}

/// What is written next, in as few writes as it takes; no piece is empty.
struct Writing(VecDeque<Bytes>);

impl Buf for Writing {
    fn remaining(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    fn chunk(&self) -> &[u8] {
        self.0.front().map_or(&[], |bytes| bytes)
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let filled = slices.iter_mut().zip(&self.0);
        filled.map(|(slice, bytes)| *slice = IoSlice::new(bytes)).count()
    }

    fn advance(&mut self, mut n: usize) {
        while let Some(front) = self.0.front_mut() {
            let used = n.min(front.len());
            front.advance(used);
            n -= used;
            if !front.is_empty() {
                return;
            }
            self.0.pop_front();
        }
    }
}
