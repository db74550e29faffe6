//! A server between a program and the model's, that spoils the requests on their way.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// What is replaced in every request, by what makes it one that no provider takes.
const SPOILED: [&str; 2] = [r#""tool_use_id":""#, r#""tool_use_id":"other-"#];

/// Starts the server, which lasts as long as this process; returns its port. The first part of a path
/// is the port of the server that is asked.
pub(crate) fn start() -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // Who goes away is no error here.
            std::thread::spawn(move || pass(client));
        }
    });
    Ok(port)
}

/// Passes on one request and its answer.
fn pass(mut client: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let (port, path) =
        first.strip_prefix("POST /").and_then(|rest| rest.split_once('/')).ok_or_else(invalid)?;
    let mut head = format!("POST /{path}");
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(|_| invalid())?,
            "connection" => {}
            name if name.trim().is_empty() => break,
            _ => head += &line,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).replace(SPOILED[0], SPOILED[1]);
    let port = port.parse().map_err(|_| invalid())?;
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    // One request each, so that the end of an answer is that of its connection.
    head += &format!("connection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    server.write_all(head.as_bytes())?;
    server.write_all(body.as_bytes())?;
    io::copy(&mut server, &mut client)?;
    Ok(())
}
