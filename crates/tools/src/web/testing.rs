//! The tests' server: it answers with bytes, and keeps what it was asked.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// A server of a test.
pub(super) struct Served {
    /// Its address and port.
    pub(super) host: String,
    asked: Receiver<String>,
}

impl Served {
    /// The next request, waited for: its head and body, as text, with `HOST` for the address.
    pub(super) fn asked(&self) -> String {
        self.asked.recv().expect("a request").replace('\r', "").replace(&self.host, "HOST")
    }
}

/// Answers one connection after the other with the next text, in which `HOST` is the address. An
/// empty text is no answer: the connection stays open until the test is over.
pub(super) fn server(answers: &[&[u8]]) -> Served {
    server_at(("127.0.0.1", 0), answers).unwrap()
}

/// The same at this address and port of the machine.
pub(super) fn server_at(at: (&str, u16), answers: &[&[u8]]) -> std::io::Result<Served> {
    let listener = TcpListener::bind(at)?;
    let host = listener.local_addr().unwrap().to_string();
    let named = host.clone();
    let answers: Vec<Vec<u8>> = answers.iter().map(|answer| answer.to_vec()).collect();
    let (tell, asked) = channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for answer in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            // Who is not interested in the requests has dropped the receiver, and may.
            let _ = tell.send(request(&mut stream));
            if answer.is_empty() {
                open.push(stream);
                continue;
            }
            let answer = match String::from_utf8(answer) {
                Ok(text) => text.replace("HOST", &named).into_bytes(),
                Err(bytes) => bytes.into_bytes(),
            };
            let _ = stream.write_all(&answer);
        }
        // Until whoever waits for the answers gives up.
        for mut stream in open {
            let _ = stream.read(&mut [0; 1]);
        }
    });
    Ok(Served { host, asked })
}

/// An answer without a length, which ends with its connection.
pub(super) fn answer(head: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

/// A request to its end, as far as its head tells where that is.
fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return text;
            }
        }
        match stream.read(&mut piece) {
            Ok(n @ 1..) => bytes.extend_from_slice(&piece[..n]),
            _ => return text,
        }
    }
}
