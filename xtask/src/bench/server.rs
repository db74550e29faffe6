//! A server that answers with bytes that lie ready, and notes when requests come.
//!
//! The mock server of the tests parses and checks every request, which takes longer the longer a
//! session is: that would be measured, too. This one only finds a request's end.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// What one read takes at most.
const READ_BYTES: usize = 256 * 1024;
/// What one write gives at most.
const WRITE_BYTES: usize = 64 * 1024;
/// Where an HTTP chunk of one server-sent event ends.
const CHUNK_END: &[u8] = b"\n\n\r\n";
/// A connection is a thread; it needs little.
const STACK_BYTES: usize = 512 * 1024;
/// What tells how far a session is, when many share a server.
const ROUND_MARK: &[u8] = br#""role":"assistant""#;

/// Which answer a request gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The next one.
    Counted,
    /// The one after those that the request holds already.
    AsFarAs,
}

/// A request and its answer.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    /// When its first bytes were there.
    pub(super) came: Instant,
    /// Just before the last bytes of the answer went out.
    pub(super) answered: Instant,
    /// How long its body was.
    pub(super) body_bytes: usize,
    /// Its body, where the server keeps them.
    pub(super) body: Vec<u8>,
}

/// What a server does with the bodies of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bodies {
    Counted,
    Kept,
}

/// A running server; dropping it stops it.
pub(super) struct Server {
    url: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    answers: Vec<Vec<u8>>,
    order: Order,
    bodies: Bodies,
    /// The time between two chunks of an answer, for one who talks as a model does.
    pace: Option<Duration>,
    next: AtomicUsize,
    exchanges: Mutex<Vec<Exchange>>,
    stops: AtomicBool,
}

impl Server {
    /// Starts a server with these answers; the last one is given again and again.
    pub(super) fn start(answers: Vec<Vec<u8>>, order: Order) -> Result<Self> {
        Self::start_with(answers, order, Bodies::Counted, None)
    }

    /// As [`Server::start`], but there is so much time between two chunks of an answer.
    pub(super) fn start_paced(answers: Vec<Vec<u8>>, pace: Duration) -> Result<Self> {
        Self::start_with(answers, Order::Counted, Bodies::Counted, Some(pace))
    }

    /// As [`Server::start`], and keeps the bodies of requests. Nothing is measured with it.
    pub(super) fn start_keeping(answers: Vec<Vec<u8>>) -> Result<Self> {
        Self::start_with(answers, Order::Counted, Bodies::Kept, None)
    }

    fn start_with(
        answers: Vec<Vec<u8>>,
        order: Order,
        bodies: Bodies,
        pace: Option<Duration>,
    ) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("opening a port")?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared {
            answers,
            order,
            bodies,
            pace,
            next: AtomicUsize::new(0),
            exchanges: Mutex::default(),
            stops: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::spawn(move || accept(&listener, &theirs));
        Ok(Self { url, shared, thread: Some(thread) })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What happened since the last time somebody asked; the next request is a first one.
    pub(super) fn take(&self) -> Vec<Exchange> {
        self.shared.next.store(0, Ordering::SeqCst);
        std::mem::take(&mut *self.shared.lock())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::SeqCst);
        // Wakes it up.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Exchange>> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, body: &[u8]) -> &[u8] {
        let n = match self.order {
            Order::Counted => self.next.fetch_add(1, Ordering::SeqCst),
            Order::AsFarAs => count(body, ROUND_MARK),
        };
        self.answers.get(n).or(self.answers.last()).map_or(&[], Vec::as_slice)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept() {
        if shared.stops.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        // A connection that breaks is told by the client, which fails.
        let _ = thread.spawn(move || serve(socket, &shared));
    }
}

/// Answers the requests of one connection, one after the other.
fn serve(mut socket: TcpStream, shared: &Shared) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut bytes: Vec<u8> = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let mut came = None;
        let (head, length) = loop {
            if let Some(found) = request(&bytes)
                && bytes.len() >= found.0 + found.1
            {
                break found;
            }
            let n = socket.read(&mut buffer)?;
            if n == 0 {
                return Ok(());
            }
            came.get_or_insert_with(Instant::now);
            bytes.extend_from_slice(&buffer[..n]);
        };
        let body = &bytes[head..head + length];
        let answer = shared.answer(body);
        let kept = if shared.bodies == Bodies::Kept { body.to_vec() } else { Vec::new() };
        bytes.clear();
        let at = match shared.pace {
            None => (answer.len().max(1) - 1) / WRITE_BYTES * WRITE_BYTES,
            Some(_) => answer.len(),
        };
        let (first, last) = answer.split_at(at);
        match shared.pace {
            None => first.chunks(WRITE_BYTES).try_for_each(|part| socket.write_all(part))?,
            Some(pace) => write_paced(&mut socket, first, pace)?,
        }
        let answered = Instant::now();
        // Noted before the client can know, so that whoever waits for it finds it here.
        let came = came.unwrap_or(answered);
        shared.lock().push(Exchange { came, answered, body_bytes: length, body: kept });
        socket.write_all(last)?;
    }
}

/// Writes the chunks of an answer, each at its time, however long the one before it took.
#[expect(clippy::disallowed_methods, reason = "a model takes its time, which is measured beside")]
fn write_paced(socket: &mut TcpStream, answer: &[u8], pace: Duration) -> io::Result<()> {
    let mut due = Instant::now();
    for chunk in chunks(answer) {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        socket.write_all(chunk)?;
        due += pace;
    }
    Ok(())
}

/// The HTTP chunks of an answer that has one for each event; its head and its end go with others.
fn chunks(mut answer: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let end = answer.windows(CHUNK_END.len()).position(|window| window == CHUNK_END);
        let (chunk, rest) = answer.split_at(end.map_or(answer.len(), |at| at + CHUNK_END.len()));
        answer = rest;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// The lengths of a request's head and body, once its head is whole.
fn request(bytes: &[u8]) -> Option<(usize, usize)> {
    let head_max = bytes.len().min(READ_BYTES);
    let end = bytes[..head_max].windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    Some((end, length.trim().parse().ok()?))
}

fn count(bytes: &[u8], mark: &[u8]) -> usize {
    bytes.windows(mark.len()).filter(|window| *window == mark).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_ends_where_its_head_says() {
        let check = |bytes: &[u8], expected| assert_eq!(request(bytes), expected);
        check(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n", None);
        check(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n", Some((38, 3)));
        check(b"POST / HTTP/1.1\r\nhost: a\r\n\r\nabc", None);
    }

    #[test]
    fn an_answer_that_takes_its_time_is_cut_between_events() {
        let answer = b"HTTP/1.1 200 OK\r\n\r\n5\r\na: b\n\n\r\n5\r\nc: d\n\n\r\n0\r\n\r\n";
        let lengths: Vec<usize> = chunks(answer).map(<[u8]>::len).collect();
        assert_eq!(
            (lengths, chunks(answer).collect::<Vec<_>>().concat()),
            (vec![30, 11, 5], answer.to_vec())
        );
    }

    #[test]
    fn answers_come_in_order_and_start_over() {
        let server = Server::start(vec![b"one".to_vec(), b"two".to_vec()], Order::Counted).unwrap();
        let ask = |n: usize| {
            let mut socket = TcpStream::connect(&server.url()[7..]).unwrap();
            (0..n).for_each(|_| socket.write_all(b"POST\r\ncontent-length: 1\r\n\r\nx").unwrap());
            let mut answer = vec![0; 3 * n];
            (0..n).for_each(|i| socket.read_exact(&mut answer[3 * i..3 * i + 3]).unwrap());
            String::from_utf8(answer).unwrap()
        };
        assert_eq!([ask(1), ask(1), ask(1)].concat(), "onetwotwo");
        let exchanges = server.take();
        assert_eq!(
            exchanges.iter().map(|exchange| exchange.body_bytes).collect::<Vec<_>>(),
            [1; 3]
        );
        assert!(exchanges.iter().all(|exchange| exchange.came <= exchange.answered));
        assert_eq!(ask(1), "one");
    }
}
