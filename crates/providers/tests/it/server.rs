//! A tiny HTTP server that answers with bytes, cut and timed as a test wants them. It stops when
//! its test ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// One answer, in parts.
#[derive(Clone)]
pub(crate) enum Part {
    /// Written at once.
    Bytes(Vec<u8>),
    /// Written byte by byte.
    Drip(Vec<u8>),
    /// Nothing more until the client closes the connection.
    Hang,
    /// Written again and again, with a wait after each, until the client closes the connection.
    Repeat(Vec<u8>, Duration),
    /// The connection is closed.
    Close,
    /// The connection is torn down, as by a machine that forgot it.
    Reset,
}

pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Request>>,
    n_connections: Mutex<usize>,
    closed_by_client: Notify,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The request line and the headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Server {
    /// Answers the n-th request with the n-th list of parts.
    pub(crate) async fn start(answers: Vec<Vec<Part>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Seen::default());
        let answers = Arc::new(Mutex::new(answers.into_iter()));
        let task = tokio::spawn({
            let seen = Arc::clone(&seen);
            async move {
                let mut connections = tokio::task::JoinSet::new();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    *seen.n_connections.lock().unwrap() += 1;
                    let (seen, answers) = (Arc::clone(&seen), Arc::clone(&answers));
                    connections.spawn(async move {
                        serve(stream, &seen, || answers.lock().unwrap().next()).await;
                    });
                }
            }
        });
        Self { url, seen, task }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }

    pub(crate) fn n_connections(&self) -> usize {
        *self.seen.n_connections.lock().unwrap()
    }

    /// Resolves when a client has closed a connection whose answer hangs.
    pub(crate) async fn closed_by_client(&self) {
        self.seen.closed_by_client.notified().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, seen: &Seen, mut answer: impl FnMut() -> Option<Vec<Part>>) {
    stream.set_nodelay(true).unwrap();
    while let Some(request) = read_request(&mut stream).await {
        seen.requests.lock().unwrap().push(request);
        for part in answer().unwrap_or_default() {
            match part {
                Part::Bytes(bytes) => {
                    // A client that has seen enough may be gone.
                    let _ = stream.write_all(&bytes).await;
                }
                Part::Drip(bytes) => {
                    for byte in bytes {
                        let _ = stream.write_all(&[byte]).await;
                        tokio::task::yield_now().await;
                    }
                }
                Part::Hang => {
                    while !matches!(stream.read(&mut [0; 64]).await, Ok(0) | Err(_)) {}
                    seen.closed_by_client.notify_one();
                    return;
                }
                Part::Repeat(bytes, wait) => {
                    while stream.write_all(&bytes).await.is_ok() {
                        tokio::time::sleep(wait).await;
                    }
                    seen.closed_by_client.notify_one();
                    return;
                }
                Part::Close => return,
                Part::Reset => {
                    stream.set_zero_linger().unwrap();
                    return;
                }
            }
        }
    }
}

/// Reads one request by its content-length; `None` at the end of the connection.
async fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
    let mut body = bytes.split_off(head_end);
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Request { head, body })
}
