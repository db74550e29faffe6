//! A server of names on real UDP, whose answers change from one question to the next.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A server of names on UDP. Each question gets the next answer, the last one for ever.
#[derive(Debug)]
pub struct NameServer {
    address: SocketAddr,
    n_asked: Arc<AtomicUsize>,
}

impl NameServer {
    /// A server with these answers, each of them addresses. It ends with this value.
    ///
    /// # Panics
    /// When an address is none, or this machine lets nobody listen.
    #[must_use]
    pub fn answering(answers: &[&[&str]]) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let read = |answer: &&[&str]| answer.iter().map(|one| one.parse().unwrap()).collect();
        let answers: Vec<Vec<IpAddr>> = answers.iter().map(read).collect();
        let n_asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&n_asked);
        std::thread::spawn(move || {
            let mut asked = [0; 512];
            while let Ok((n @ 1.., from)) = socket.recv_from(&mut asked) {
                let index = counted.fetch_add(1, Ordering::SeqCst);
                let answer = &answers[index.min(answers.len() - 1)];
                let _ = socket.send_to(&reply(&asked[..n], answer), from);
            }
        });
        Self { address, n_asked }
    }

    /// How many questions came.
    #[must_use]
    pub fn n_asked(&self) -> usize {
        self.n_asked.load(Ordering::SeqCst)
    }

    /// Whoever asks this server, and nobody else.
    #[must_use]
    pub fn asker(&self) -> NameAsker {
        NameAsker(self.address)
    }
}

/// Asks a [`NameServer`].
#[derive(Debug, Clone, Copy)]
pub struct NameAsker(SocketAddr);

impl NameAsker {
    /// The addresses of a name.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn ask(self, name: String) -> io::Result<Vec<IpAddr>> {
        let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await?;
        socket.send_to(&question(&name), self.0).await?;
        let mut told = [0; 512];
        let n = socket.recv(&mut told).await?;
        answers(&told[..n]).ok_or_else(|| io::Error::other("no answer of a server of names"))
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        // An empty question ends the server.
        let _ = UdpSocket::bind("127.0.0.1:0").and_then(|it| it.send_to(&[], self.address));
    }
}

/// A question for all addresses of a name.
fn question(name: &str) -> Vec<u8> {
    let mut bytes = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.extend_from_slice(&[0, 0, 255, 0, 1]);
    bytes
}

fn reply(question: &[u8], addresses: &[IpAddr]) -> Vec<u8> {
    let n = u8::try_from(addresses.len()).unwrap();
    let mut bytes = question.to_vec();
    bytes[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, n, 0, 0, 0, 0]);
    for address in addresses {
        let (kind, data) = match address {
            IpAddr::V4(address) => (1, address.octets().to_vec()),
            IpAddr::V6(address) => (28, address.octets().to_vec()),
        };
        // The name of the question, an address, of the internet, for no time at all.
        bytes.extend_from_slice(&[0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0]);
        bytes.push(u8::try_from(data.len()).unwrap());
        bytes.extend(data);
    }
    bytes
}

/// The addresses of a reply.
fn answers(reply: &[u8]) -> Option<Vec<IpAddr>> {
    let n = usize::from(*reply.get(7)?);
    let name_end = 12 + reply.get(12..)?.iter().position(|byte| *byte == 0)?;
    let mut rest = reply.get(name_end + 5..)?;
    let mut found = Vec::new();
    for _ in 0..n {
        let length = usize::from(*rest.get(11)?);
        let data = rest.get(12..12 + length)?;
        found.push(match <[u8; 4]>::try_from(data) {
            Ok(data) => IpAddr::from(data),
            Err(_) => IpAddr::from(<[u8; 16]>::try_from(data).ok()?),
        });
        rest = &rest[12 + length..];
    }
    Some(found)
}
