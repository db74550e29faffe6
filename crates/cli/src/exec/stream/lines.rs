//! Lines of stdin, read on a thread of their own and never longer than they may be.

use std::io::{BufRead, Read as _};

use tokio::sync::mpsc;

/// The longest line, in bytes.
pub(super) const LINE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// The most lines that are read ahead.
const AHEAD_MAX: usize = 16;

/// A line and its number, from 1; or why it cannot be read.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: Result<String, String>,
}

/// The lines of stdin, those that say nothing left out; the channel closes at its end.
pub(super) fn of_stdin() -> std::io::Result<mpsc::Receiver<Line>> {
    let (sender, lines) = mpsc::channel(AHEAD_MAX);
    // It cannot be stopped while it reads; it ends with the process.
    std::thread::Builder::new().name("stdin".into()).spawn(move || {
        let mut stdin = std::io::stdin().lock();
        read(&mut stdin, |line| sender.blocking_send(line).is_ok());
    })?;
    Ok(lines)
}

/// Gives each line to `take` until it wants no more.
fn read(input: &mut impl BufRead, mut take: impl FnMut(Line) -> bool) {
    let mut number = 0;
    loop {
        number += 1;
        let text = match next(input) {
            Ok(None) => return,
            Ok(Some(Ok(text))) if text.trim().is_empty() => continue,
            Ok(Some(text)) => text,
            Err(error) => {
                take(Line { number, text: Err(format!("stdin cannot be read: {error}")) });
                return;
            }
        };
        if !take(Line { number, text }) {
            return;
        }
    }
}

fn next(input: &mut impl BufRead) -> std::io::Result<Option<Result<String, String>>> {
    let mut bytes = Vec::new();
    input.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() > LINE_BYTES_MAX {
        input.skip_until(b'\n')?;
        return Ok(Some(Err(format!("it is longer than {LINE_BYTES_MAX} bytes"))));
    }
    Ok(Some(String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], expected: &[(u64, Result<&str, &str>)]) {
        let mut seen = Vec::new();
        read(&mut std::io::BufReader::new(input), |line| {
            seen.push((line.number, line.text));
            true
        });
        let seen: Vec<_> =
            seen.iter().map(|(n, text)| (*n, text.as_deref().map_err(String::as_str))).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn lines_are_counted_and_the_last_needs_no_end() {
        check(b"", &[]);
        check(b"a\n\n  \r\nb", &[(1, Ok("a")), (4, Ok("b"))]);
        check(b"\xff\nb\n", &[(1, Err("it is not UTF-8")), (2, Ok("b"))]);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let told = Err("it is longer than 10485760 bytes");
        let long = [vec![b'x'; LINE_BYTES_MAX * 2], b"\nb\n".to_vec()].concat();
        check(&long, &[(1, told), (2, Ok("b"))]);
        check(&vec![b'x'; LINE_BYTES_MAX + 1], &[(1, told)]);
        let just = vec![b'x'; LINE_BYTES_MAX];
        let text = String::from_utf8(just.clone()).unwrap();
        check(&[just, b"\nb\n".to_vec()].concat(), &[(1, Ok(&text)), (2, Ok("b"))]);
    }
}
