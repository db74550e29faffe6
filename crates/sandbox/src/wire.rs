//! What the two sides say to each other: frames of JSON, with file descriptors beside them.
//!
//! A frame is its length (4 bytes, big endian) and one JSON document. Descriptors travel with the
//! first byte of their frame and are queued in order, so a reader takes as many as the frame says.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::Interest;
use tokio::net::UnixStream;

use crate::{Bound, Confines, Exit, Input, Killed, Probe, Streams};

/// Both sides are the same build unless somebody points to another program.
pub(crate) const VERSION: u32 = 10;
/// The longest frame; an operating system takes about 2 MiB of arguments and environment, which
/// JSON's escapes rarely double.
pub(crate) const FRAME_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The most descriptors beside one frame.
const DESCRIPTORS_MAX: usize = 3;
/// The order that named the box which was made ahead; those of commands have other numbers.
pub(crate) const BOX_AHEAD: u64 = 0;
/// How much is read at once.
const READ_BYTES: usize = 16 * 1024;

/// What the launcher is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// The first frame.
    Hello { version: u32, mark_base: u64, landlock_at_most: u32 },
    /// Make this box, for commands to come. In their orders it is that of [`BOX_AHEAD`].
    Prepare(Arc<Confines>),
    /// Start a command; its pipes come beside it: the output, one when merged, else two, and the
    /// input if it has one; or its terminal.
    Run(RunOrder),
    /// A command that waited is about to do something: watch it from here on, unless its box is no
    /// longer what one made now would be.
    Begin { id: u64 },
    /// Ask a command's process group to end.
    End { id: u64 },
    /// Kill what is left of a command and forget it.
    Kill { id: u64 },
    /// Say what a box can be made of here.
    Probe,
}

/// A command. Paths are bytes, since they need not be UTF-8.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunOrder {
    pub(crate) id: u64,
    pub(crate) program: Vec<u8>,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: Vec<u8>,
    pub(crate) input: Input,
    pub(crate) streams: Streams,
    pub(crate) within: Within,
    /// Whether it does nothing before it is told what, and is not watched until then.
    pub(crate) waits: bool,
}

/// Where a command runs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Within {
    /// Wherever its owner may.
    Anywhere,
    Box(Arc<Confines>),
    /// That of the last order which named one, which has this id: a box is hundreds of paths, and most
    /// commands have the same.
    BoxOf(u64),
}

/// What the launcher answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// To `Hello`.
    Ready { version: u32 },
    /// The command runs.
    Started { id: u64, pid: i32 },
    /// The command does not run.
    Failed { id: u64, failure: Failure },
    /// To `Begin`: whether the command may be told what to do.
    Begun { id: u64, may: bool },
    /// The command itself ended; what it started may still run, unless nothing is left. Then it
    /// is forgotten, and there is nothing to kill.
    Exited { id: u64, exit: Exit, is_gone: bool, bound: Option<Bound> },
    /// Nothing of the command is left that could be killed.
    Killed { id: u64, killed: Killed, bound: Option<Bound> },
    /// What a box can be made of here.
    Probed { probe: Probe },
}

/// Why a command does not run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Failure {
    Program,
    Folder,
    TooMany,
    Refused(String),
}

/// One end of the connection.
pub(crate) struct Channel {
    stream: UnixStream,
    inbox: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
    outbox: VecDeque<Outgoing>,
    n_queued: u64,
}

struct Outgoing {
    bytes: Vec<u8>,
    n_sent: usize,
    descriptors: Vec<OwnedFd>,
}

impl Channel {
    /// Takes over one end of a socket pair.
    pub(crate) fn new(stream: std::os::unix::net::UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: UnixStream::from_std(stream)?,
            inbox: Vec::new(),
            descriptors: VecDeque::new(),
            outbox: VecDeque::new(),
            n_queued: 0,
        })
    }

    /// Queues a frame and returns its number; [`Channel::next`] sends it.
    pub(crate) fn queue(&mut self, frame: Vec<u8>, descriptors: Vec<OwnedFd>) -> u64 {
        debug_assert!(descriptors.len() <= DESCRIPTORS_MAX, "the reader has no room for more");
        self.outbox.push_back(Outgoing { bytes: frame, n_sent: 0, descriptors });
        self.n_queued += 1;
        self.n_queued
    }

    /// Whether the frame with this number left completely.
    pub(crate) fn is_sent(&self, number: u64) -> bool {
        number + self.outbox.len() as u64 <= self.n_queued
    }

    /// The next message, or `None` when the other side is gone. Sends what is queued while it
    /// waits. Dropping the future loses nothing.
    pub(crate) async fn next<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        loop {
            // Who waits for an answer does not wait for what the next message asks for, too.
            self.send()?;
            if let Some(frame) = self.take_frame()? {
                return Ok(Some(serde_json::from_slice(&frame)?));
            }
            let interest = match self.outbox.is_empty() {
                true => Interest::READABLE,
                false => Interest::READABLE | Interest::WRITABLE,
            };
            let ready = self.stream.ready(interest).await?;
            if ready.is_readable() && self.receive()? == Some(0) {
                return Ok(None);
            }
            if ready.is_writable() {
                self.send()?;
            }
        }
    }

    /// The oldest descriptor that no message has taken yet.
    pub(crate) fn take_descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }

    /// Tells the other side that nothing more comes.
    pub(crate) fn shutdown(&self) {
        // Fails only when the other side is gone, which is what the caller wants to bring about.
        let _ = rustix::net::shutdown(self.stream.as_fd(), rustix::net::Shutdown::Write);
    }

    fn take_frame(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some((head, rest)) = self.inbox.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_be_bytes(*head) as usize;
        if length > FRAME_BYTES_MAX {
            let text = format!("a frame of {length} bytes, more than {FRAME_BYTES_MAX}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if rest.len() < length {
            return Ok(None);
        }
        let frame = rest[..length].to_vec();
        self.inbox.drain(..4 + length);
        Ok(Some(frame))
    }

    /// Reads what there is. `None` when there is nothing yet, `Some(0)` at the end.
    fn receive(&mut self) -> io::Result<Option<usize>> {
        let mut bytes = [0; READ_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = self.stream.try_io(Interest::READABLE, || {
            let parts = &mut [IoSliceMut::new(&mut bytes)];
            Ok(rustix::net::recvmsg(&self.stream, parts, &mut ancillary, receive_flags())?)
        });
        let received = match received {
            Err(error) if is_for_later(&error) => return Ok(None),
            other => other?,
        };
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(io::Error::other("descriptors were lost: too many files are open"));
        }
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                for descriptor in descriptors {
                    rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::CLOEXEC)?;
                    self.descriptors.push_back(descriptor);
                }
            }
        }
        self.inbox.extend_from_slice(&bytes[..received.bytes]);
        Ok(Some(received.bytes))
    }

    /// Sends what the socket takes now.
    fn send(&mut self) -> io::Result<()> {
        while let Some(outgoing) = self.outbox.front_mut() {
            let borrowed: Vec<_> = outgoing.descriptors.iter().map(AsFd::as_fd).collect();
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            if !borrowed.is_empty() {
                ancillary.push(SendAncillaryMessage::ScmRights(&borrowed));
            }
            let mut message = || {
                let parts = &[IoSlice::new(&outgoing.bytes[outgoing.n_sent..])];
                Ok(rustix::net::sendmsg(&self.stream, parts, &mut ancillary, send_flags())?)
            };
            // A new socket takes something before the runtime has heard of it, and who made it may work
            // on for milliseconds until then.
            let sent = match message() {
                Err(error) if is_for_later(&error) => {
                    self.stream.try_io(Interest::WRITABLE, message)
                }
                sent => sent,
            };
            let n_sent = match sent {
                Err(error) if is_for_later(&error) => return Ok(()),
                other => other?,
            };
            outgoing.descriptors.clear();
            outgoing.n_sent += n_sent;
            if outgoing.n_sent == outgoing.bytes.len() {
                self.outbox.pop_front();
            }
        }
        Ok(())
    }
}

/// Writes a message as a frame; `None` when it is longer than [`FRAME_BYTES_MAX`].
pub(crate) fn frame(message: &impl Serialize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message).ok()?;
    let length = bytes.len() - 4;
    if length > FRAME_BYTES_MAX {
        return None;
    }
    bytes[..4].copy_from_slice(&u32::try_from(length).ok()?.to_be_bytes());
    Some(bytes)
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn receive_flags() -> RecvFlags {
    #[cfg(target_os = "linux")]
    return RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    return RecvFlags::empty();
}

fn send_flags() -> SendFlags {
    #[cfg(target_os = "linux")]
    return SendFlags::NOSIGNAL;
    #[cfg(not(target_os = "linux"))]
    return SendFlags::empty();
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pair() -> (Channel, Channel) {
        let (a, b) = std::os::unix::net::UnixStream::pair().unwrap();
        (Channel::new(a).unwrap(), Channel::new(b).unwrap())
    }

    #[tokio::test]
    async fn frames_larger_than_the_socket_keep_their_order_and_descriptors() {
        let (mut a, mut b) = pair().await;
        let long = "x".repeat(1_000_000);
        let mut numbers = Vec::new();
        for i in 0..3 {
            let (reader, writer) = std::io::pipe().unwrap();
            std::io::Write::write_all(&mut &writer, &[i]).unwrap();
            let bytes = frame(&(i, &long)).unwrap();
            numbers.push(a.queue(bytes, vec![reader.into(), writer.into()]));
        }
        assert!(!a.is_sent(numbers[0]));
        let read = async {
            for i in 0..3_u8 {
                let (number, text): (u8, String) = b.next().await.unwrap().unwrap();
                assert_eq!((number, text.len()), (i, long.len()));
                let mut reader = std::fs::File::from(b.take_descriptor().unwrap());
                drop(b.take_descriptor().unwrap());
                let mut content = Vec::new();
                std::io::Read::read_to_end(&mut reader, &mut content).unwrap();
                assert_eq!(content, [i]);
            }
        };
        tokio::select! {
            never = a.next::<u8>() => panic!("{never:?}"),
            () = read => {}
        }
        assert!(numbers.iter().all(|number| a.is_sent(*number)));
        drop(b);
        assert!(matches!(a.next::<u8>().await, Ok(None) | Err(_)));
    }

    #[tokio::test]
    async fn the_first_frame_leaves_before_the_runtime_knows_the_socket() {
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut channel = Channel::new(ours).unwrap();
        let number = channel.queue(frame(&Order::Probe).unwrap(), Vec::new());
        // One look, without a turn of the runtime.
        tokio::select! {
            biased;
            _ = channel.next::<Report>() => unreachable!("nobody answers"),
            () = std::future::ready(()) => {}
        }
        assert!(channel.is_sent(number));
    }

    #[tokio::test]
    async fn a_frame_over_the_limit_is_refused_on_both_sides() {
        assert!(frame(&"x".repeat(FRAME_BYTES_MAX - 2)).is_some());
        assert!(frame(&"x".repeat(FRAME_BYTES_MAX - 1)).is_none());
        let (mut a, mut b) = pair().await;
        let length = u32::try_from(FRAME_BYTES_MAX + 1).unwrap();
        a.queue(length.to_be_bytes().to_vec(), Vec::new());
        tokio::select! {
            never = a.next::<u8>() => panic!("{never:?}"),
            refused = b.next::<u8>() => {
                assert_eq!(refused.unwrap_err().to_string(),
                    format!("a frame of {length} bytes, more than {FRAME_BYTES_MAX}"));
            }
        }
    }
}
