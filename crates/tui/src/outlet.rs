//! Writing on a thread of its own: whoever reads a pipe or a terminal slowly, or not at all, stops
//! nobody but that thread.

use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use heeler_core::{Clock, Timestamp};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio;
use tokio::sync::Notify;

/// The most bytes that wait for the reader; who writes more than that waits with them.
const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What is kept of a buffer that was longer for once.
const KEPT_BYTES_MAX: usize = 256 * 1024;

/// A writer that nobody waits for. Dropping it waits until all is written, or cannot be.
///
/// What is given to [`Write::write`] waits for [`Write::flush`], which hands it over and returns. An
/// error of the thread is that of each later flush.
pub struct Outlet {
    /// What is not handed over.
    filling: Vec<u8>,
    shared: Arc<Shared>,
    /// Writes as much as nobody has to wait for. It is asked as long as the thread has nothing to do,
    /// and no more when the system cannot do it.
    at_once: Option<Box<AtOnce>>,
    /// Nobody waits for the reader any more, not even at the end.
    is_given_up: bool,
}

type AtOnce = dyn FnMut(&[u8]) -> rustix::io::Result<usize> + Send;

struct Shared {
    queue: Mutex<Queue>,
    clock: Arc<dyn Clock>,
    /// Told the thread: there is more, or nothing will come.
    filled: Condvar,
    /// Told who waits in [`Outlet::give`] or [`Outlet::wait`]: something is written.
    written: Condvar,
    /// Told who awaits it: all is written, or cannot be.
    settled: Notify,
    /// Told who awaits it: nothing can be written any more.
    broken: Notify,
}

struct Queue {
    waiting: Vec<u8>,
    is_writing: bool,
    /// When all was written last.
    settled: Timestamp,
    is_closed: bool,
    /// Why nothing can be written any more.
    error: Option<io::Error>,
    /// The thread's work, until there is something for it to do.
    idle: Option<Box<dyn FnOnce() + Send>>,
}

impl Outlet {
    /// Writes to the program's standard output, of which nothing is kept back. One that was set not
    /// to block, as whoever has the other side of it may, is waited for all the same.
    pub fn standard(clock: Arc<dyn Clock>) -> Self {
        let mut outlet = Self::new(StandardOutput, clock);
        outlet.at_once = Some(Box::new(|bytes| write_at_once(stdio::stdout(), bytes)));
        outlet
    }

    /// Writes to `out`, on a thread that is started when there is something to be written.
    fn new(out: impl Write + Send + 'static, clock: Arc<dyn Clock>) -> Self {
        let queue = Queue {
            waiting: Vec::new(),
            is_writing: false,
            settled: clock.now(),
            is_closed: false,
            error: None,
            idle: None,
        };
        let shared = Arc::new(Shared {
            queue: Mutex::new(queue),
            clock,
            filled: Condvar::new(),
            written: Condvar::new(),
            settled: Notify::new(),
            broken: Notify::new(),
        });
        let of_thread = Arc::clone(&shared);
        shared.queue().idle = Some(Box::new(move || of_thread.write_all(out)));
        Self { filling: Vec::new(), shared, at_once: None, is_given_up: false }
    }

    /// Hands all of `bytes` over; they are empty then, also when they can not be written.
    ///
    /// # Errors
    /// When what was handed over before could not be written, or no thread be started.
    pub fn give(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.write_at_once(bytes);
        let mut queue = self.shared.queue();
        while queue.error.is_none()
            && !queue.waiting.is_empty()
            && queue.waiting.len() + bytes.len() > WAITING_BYTES_MAX
        {
            queue = self.shared.written.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(error) = &queue.error {
            bytes.clear();
            return Err(again(error));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        match queue.waiting.is_empty() {
            true => std::mem::swap(&mut queue.waiting, bytes),
            false => queue.waiting.append(bytes),
        }
        if let Some(work) = queue.idle.take() {
            if let Err(error) = std::thread::Builder::new().name("output".into()).spawn(work) {
                let told = again(&error);
                queue.fail(error);
                self.shared.broken.notify_waiters();
                return Err(told);
            }
        } else if !queue.is_writing {
            self.shared.filled.notify_one();
        }
        Ok(())
    }

    /// Takes from `bytes` what can be written without the thread, which costs a switch to it and back.
    fn write_at_once(&mut self, bytes: &mut Vec<u8>) {
        let Some(write) = &mut self.at_once else { return };
        let is_idle = |queue: &Queue| queue.is_idle() && queue.error.is_none();
        if bytes.is_empty() || !is_idle(&self.shared.queue()) {
            return;
        }
        let mut n_written = 0;
        while n_written < bytes.len() {
            match write(&bytes[n_written..]) {
                Ok(0) | Err(Errno::AGAIN) => break,
                Ok(n) => n_written += n,
                Err(Errno::INTR) => {}
                // The thread meets what else is wrong, and tells it.
                Err(_) => {
                    self.at_once = None;
                    break;
                }
            }
        }
        if n_written > 0 {
            bytes.drain(..n_written);
            self.shared.queue().settled = self.shared.clock.now();
        }
    }

    /// Whether all that was handed over is written, or cannot be.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.shared.queue().is_idle()
    }

    /// Since when all that was handed over is written, or cannot be; `None` while something waits.
    #[must_use]
    pub fn idle_since(&self) -> Option<Timestamp> {
        let queue = self.shared.queue();
        queue.is_idle().then_some(queue.settled)
    }

    /// From here on nobody waits for a reader that may never come, not even who drops it.
    pub fn give_up(&mut self) {
        self.is_given_up = true;
    }

    /// Resolves when all that was handed over is written, or cannot be.
    pub async fn idle(&self) {
        self.until(&self.shared.settled, Queue::is_idle).await;
    }

    /// Resolves when nothing can be written any more.
    pub async fn broken(&self) {
        self.until(&self.shared.broken, |queue| queue.error.is_some()).await;
    }

    async fn until(&self, told: &Notify, holds: fn(&Queue) -> bool) {
        let mut told = std::pin::pin!(told.notified());
        // Heard from here on, so that nothing is missed between the look and the wait.
        told.as_mut().enable();
        if !holds(&self.shared.queue()) {
            told.await;
        }
    }

    /// Waits, with the whole thread, until all is written.
    ///
    /// # Errors
    /// When something could not be written.
    pub fn wait(&mut self) -> io::Result<()> {
        self.flush()?;
        let mut queue = self.shared.queue();
        while !queue.is_idle() {
            queue = self.shared.written.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.error.as_ref().map_or(Ok(()), |error| Err(again(error)))
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.filling.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut filling = std::mem::take(&mut self.filling);
        let given = self.give(&mut filling);
        self.filling = filling;
        given
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        if !self.is_given_up {
            // Who drops it without having asked wants no error.
            let _ = self.wait();
        }
        let mut queue = self.shared.queue();
        queue.is_closed = true;
        // It holds what it was to write to.
        queue.idle = None;
        self.shared.filled.notify_one();
    }
}

impl Shared {
    /// Nothing in here is left half done by a panic.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: writes what waits until nothing comes any more.
    fn write_all(&self, mut out: impl Write) {
        let mut writing = Vec::new();
        loop {
            {
                let mut queue = self.queue();
                while queue.waiting.is_empty() {
                    if queue.is_closed {
                        return;
                    }
                    queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
                std::mem::swap(&mut queue.waiting, &mut writing);
                queue.is_writing = true;
            }
            let written = out.write_all(&writing).and_then(|()| out.flush());
            writing.clear();
            writing.shrink_to(KEPT_BYTES_MAX);
            let mut queue = self.queue();
            queue.is_writing = false;
            let is_broken = match written {
                Ok(()) => false,
                Err(error) => {
                    queue.fail(error);
                    self.broken.notify_waiters();
                    true
                }
            };
            if queue.is_idle() {
                queue.settled = self.clock.now();
                self.settled.notify_waiters();
            }
            self.written.notify_all();
            if is_broken {
                return;
            }
        }
    }
}

impl Queue {
    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.is_writing
    }

    /// From here on nothing can be written.
    fn fail(&mut self, error: io::Error) {
        self.waiting = Vec::new();
        self.error = Some(error);
    }
}

pub(crate) struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_to(stdio::stdout(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_to(out: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match rustix::io::write(out, bytes) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut out = [PollFd::new(&out, PollFlags::OUT)];
                match poll(&mut out, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            written => return Ok(written?),
        }
    }
}

/// Writes what there is room for. Pipes can since Linux 6.4, files of some file systems, and no terminal.
#[cfg(target_os = "linux")]
fn write_at_once(out: BorrowedFd<'_>, bytes: &[u8]) -> rustix::io::Result<usize> {
    use rustix::io::{ReadWriteFlags, pwritev2};
    // Wherever it is.
    let offset = u64::MAX;
    pwritev2(out, &[io::IoSlice::new(bytes)], offset, ReadWriteFlags::NOWAIT)
}

#[cfg(not(target_os = "linux"))]
fn write_at_once(_out: BorrowedFd<'_>, _bytes: &[u8]) -> rustix::io::Result<usize> {
    Err(Errno::OPNOTSUPP)
}

/// The same error once more.
fn again(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsFd as _;
    use std::sync::mpsc;

    use heeler_engine::SystemClock;

    use super::*;

    fn outlet(out: impl Write + Send + 'static) -> Outlet {
        Outlet::new(out, Arc::new(SystemClock))
    }

    #[test]
    fn who_writes_does_not_wait_for_the_reader() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut outlet = outlet(writer);
        // More than any pipe holds, and then the end.
        let lines = |n: usize| vec![n as u8; 1024 * 1024];
        for n in 0..4 {
            outlet.give(&mut lines(n)).unwrap();
        }
        assert!(!outlet.is_idle());
        let dropped = std::thread::spawn(move || drop(outlet));
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        dropped.join().unwrap();
        assert!(read == (0..4).flat_map(lines).collect::<Vec<_>>());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_there_is_room_for_is_written_at_once() {
        let (mut reader, writer) = io::pipe().unwrap();
        let own = writer.try_clone().unwrap();
        if write_at_once(own.as_fd(), b"?") != Ok(1) {
            println!("skipped: needs pipes that can be asked not to wait (Linux 6.4)");
            return;
        }
        reader.read_exact(&mut [0]).unwrap();
        let mut outlet = outlet(writer);
        outlet.at_once = Some(Box::new(move |bytes| write_at_once(own.as_fd(), bytes)));
        let mut bytes: Vec<u8> = (0..200_000).map(|n| (n % 251) as u8).collect();
        let (first, all) = (bytes[..1000].to_vec(), bytes.clone());
        outlet.give(&mut bytes.drain(..1000).collect()).unwrap();
        assert!(outlet.shared.queue().idle.is_some(), "a thread was started for what has room");
        let mut read = vec![0; 1000];
        reader.read_exact(&mut read).unwrap();
        assert!(read == first);
        // Of this the pipe takes a part, and what comes then waits behind the rest.
        outlet.give(&mut bytes).unwrap();
        outlet.give(&mut first.clone()).unwrap();
        assert!(!outlet.is_idle());
        read.resize(all.len(), 0);
        reader.read_exact(&mut read).unwrap();
        assert!(read[..199_000] == all[1000..] && read[199_000..] == first);
        outlet.wait().unwrap();
    }

    #[test]
    fn what_waits_has_a_limit() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut outlet = outlet(writer);
        let (told, hears) = mpsc::channel();
        let n_bytes = 3 * WAITING_BYTES_MAX;
        let gives = std::thread::spawn(move || {
            for _ in 0..n_bytes / (1024 * 1024) {
                outlet.give(&mut vec![7; 1024 * 1024]).unwrap();
                let queue = outlet.shared.queue();
                assert!(queue.waiting.len() <= WAITING_BYTES_MAX);
                told.send(()).unwrap();
            }
        });
        // One buffer is at the thread; the others wait, as many as may.
        for _ in 0..WAITING_BYTES_MAX / (1024 * 1024) {
            hears.recv().unwrap();
        }
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert_eq!(read.len(), n_bytes);
        gives.join().unwrap();
    }

    #[tokio::test]
    async fn a_reader_that_leaves_is_noticed_and_told_each_time() {
        let (reader, writer) = io::pipe().unwrap();
        let mut outlet = outlet(writer);
        outlet.write_all(b"kept until it is to be shown").unwrap();
        assert!(outlet.is_idle());
        drop(reader);
        outlet.flush().unwrap();
        outlet.broken().await;
        outlet.idle().await;
        for _ in 0..2 {
            let error = outlet.give(&mut b"more".to_vec()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        }
        assert_eq!(outlet.wait().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn it_is_idle_when_all_is_read() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut outlet = outlet(writer);
        outlet.give(&mut vec![1; 1024 * 1024]).unwrap();
        let reads = std::thread::spawn(move || {
            reader.read_exact(&mut vec![0; 1024 * 1024]).unwrap();
            reader
        });
        outlet.idle().await;
        assert!(outlet.is_idle());
        outlet.wait().unwrap();
        drop(reads.join().unwrap());
    }

    #[test]
    fn who_gives_up_waits_for_nobody_and_what_was_never_begun_is_let_go() {
        let (reader, writer) = io::pipe().unwrap();
        let mut given_up = outlet(writer);
        given_up.give(&mut vec![1; 1024 * 1024]).unwrap();
        assert_eq!(given_up.idle_since(), None);
        given_up.give_up();
        drop(given_up);
        drop(reader);
        let (mut reader, writer) = io::pipe().unwrap();
        drop(outlet(writer));
        assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
    }

    #[test]
    fn an_output_that_does_not_block_is_waited_for() {
        let (mut reader, writer) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let bytes: Vec<u8> = (0..1024 * 1024).map(|n| (n % 251) as u8).collect();
        let writes = std::thread::spawn({
            let bytes = bytes.clone();
            move || {
                let mut at = 0;
                while at < bytes.len() {
                    at += write_to(writer.as_fd(), &bytes[at..]).unwrap();
                }
            }
        });
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        writes.join().unwrap();
        assert!(read == bytes);
    }
}
