//! A prompt that shows nothing of what is typed.

use std::io::{self, BufRead, IsTerminal as _, Read as _, Write as _};
use std::os::fd::AsFd;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// No key is longer, nor what a pipe is read of.
const BYTES_MAX: u64 = 64 * 1024;

const INTERRUPT: u8 = 0x03;
const END: u8 = 0x04;
const BACKSPACE: [u8; 2] = [0x08, 0x7f];
const ERASE_LINE: u8 = 0x15;

/// The first line of stdin: asked for at a terminal, and not shown there.
///
/// # Errors
/// When it cannot be read, or whoever is asked breaks off.
pub(super) fn key(question: &str) -> io::Result<String> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        let mut text = String::new();
        stdin.lock().take(BYTES_MAX).read_to_string(&mut text)?;
        return Ok(text.lines().next().unwrap_or_default().to_owned());
    }
    // Hidden before it is asked: who types ahead is not shown either.
    let hidden = Hidden::new(&stdin)?;
    io::stderr().write_all(question.as_bytes())?;
    let line = line(stdin.lock().take(BYTES_MAX));
    drop(hidden);
    let _ = io::stderr().write_all(b"\n");
    line
}

/// A line as a terminal gives it that does nothing by itself, key by key.
fn line(keys: impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    for key in keys.bytes() {
        match key? {
            b'\r' | b'\n' | END => break,
            INTERRUPT => return Err(io::Error::new(io::ErrorKind::Interrupted, "broken off")),
            ERASE_LINE => line.clear(),
            key if BACKSPACE.contains(&key) => drop(line.pop()),
            key => line.push(key),
        }
    }
    String::from_utf8(line).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "no text"))
}

/// A terminal that shows nothing and sends no signals, until this is dropped.
struct Hidden<'a, T: AsFd> {
    terminal: &'a T,
    before: Termios,
}

impl<'a, T: AsFd> Hidden<'a, T> {
    fn new(terminal: &'a T) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut hidden = before.clone();
        // A signal would end the process and leave the terminal as it is now.
        hidden.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        tcsetattr(terminal, OptionalActions::Now, &hidden)?;
        Ok(Self { terminal, before })
    }
}

impl<T: AsFd> Drop for Hidden<'_, T> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_is_edited_while_it_is_typed() {
        let typed = |keys: &[u8]| line(keys).map_err(|error| error.to_string());
        assert_eq!(typed(b"sk-1\rmore"), Ok("sk-1".into()));
        assert_eq!(typed(b"sk-2\x7f1\n"), Ok("sk-1".into()));
        assert_eq!(typed(b"\x08wrong\x15sk-1\x04"), Ok("sk-1".into()));
        assert_eq!(typed(b"sk-1"), Ok("sk-1".into()));
        assert_eq!(typed(b"sk\x03"), Err("broken off".into()));
        assert_eq!(typed(b"\xff\n"), Err("no text".into()));
    }
}
