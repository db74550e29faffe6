//! A tokio socket as hyper wants it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::log::Log;

/// The most bytes of one read.
const READ_BYTES_MAX: usize = 16 * 1024;

/// A connection; it is counted as open for as long as it lives.
pub(super) struct Connection {
    socket: TcpStream,
    log: Arc<Log>,
}

impl Connection {
    pub(super) fn new(socket: TcpStream, log: Arc<Log>) -> Self {
        // Small writes leave at once: how a response is cut is what tests are about.
        let _ = socket.set_nodelay(true);
        log.count(|status| {
            status.connections += 1;
            status.connections_open += 1;
        });
        Self { socket, log }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.log.count(|status| status.connections_open -= 1);
    }
}

impl Read for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut bytes = [0; READ_BYTES_MAX];
        let length = buffer.remaining().min(READ_BYTES_MAX);
        let mut read = ReadBuf::new(&mut bytes[..length]);
        ready!(Pin::new(&mut self.socket).poll_read(context, &mut read))?;
        buffer.put_slice(read.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
