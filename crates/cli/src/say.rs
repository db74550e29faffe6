//! What a person is told: on stderr, and of what others said.

use std::fmt::Display;
use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Error;
use heeler_tui::text::clean;

use crate::scarce;
use crate::whole::MAKE_ROOM;

/// Writes one line, at once. A closed stderr stops nothing, where `eprintln!` would panic.
pub(crate) fn say(text: impl Display) {
    let _ = std::io::stderr().write_all(format!("{}\n", harmless(&text.to_string())).as_bytes());
}

/// Writes one line, and waits no longer than this for whoever does not read it.
pub(crate) fn say_within(patience: Duration, text: impl Display) {
    let text = text.to_string();
    let (told, hears) = mpsc::channel();
    let says = move || {
        say(text);
        // Nobody hears it who lost patience.
        let _ = told.send(());
    };
    if std::thread::Builder::new().name("say".into()).spawn(says).is_ok() {
        let _ = hears.recv_timeout(patience);
    }
}

/// A text without the characters that command a terminal, hide, or turn others around: what tools
/// and models say is shown, never obeyed, and is what it looks like. Tabs stay, since people copy
/// from here.
pub(crate) fn harmless(text: &str) -> String {
    text.split('\t').map(clean).collect::<Vec<_>>().join("\t")
}

/// A text without its line breaks, where one of its own lines could be taken for ours.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Stdout, whose errors tell that they are its.
pub(crate) struct Stdout(std::io::StdoutLock<'static>);

impl Stdout {
    pub(crate) fn lock() -> Self {
        Self(std::io::stdout().lock())
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes).map_err(|error| unwritten(&error))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush().map_err(|error| unwritten(&error))
    }
}

/// Writes to stdout; whoever stopped reading has what they wanted.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let mut out = Stdout::lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// The error with its place, which the system does not tell, and what helps where a file is written so.
pub(crate) fn unwritten(error: &std::io::Error) -> std::io::Error {
    let step = match error.kind() {
        ErrorKind::FileTooLarge => format!("; {MAKE_ROOM}"),
        _ => String::new(),
    };
    std::io::Error::new(error.kind(), format!("cannot write to stdout{step}: {error}"))
}

/// An error with its causes, and what to do about them where they do not say. A cause that the words before
/// it tell already is not told again.
pub(crate) fn told(error: &Error) -> String {
    let told = error.chain().fold(String::new(), |told, cause| match cause.to_string() {
        cause if told.is_empty() => cause,
        cause if told.contains(&cause) => told,
        cause => format!("{told}: {cause}"),
    });
    match scarce::step(&told) {
        Some(step) => format!("{told}; {step}"),
        None => told,
    }
}

/// What a person at a terminal answers; nothing when nobody is there, or they end the input.
pub(crate) fn ask(question: &str) -> Option<String> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return None;
    }
    say(question);
    let mut answer = String::new();
    match std::io::stdin().lock().read_line(&mut answer) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(answer.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::{harmless, told};

    #[test]
    fn what_is_said_is_what_it_looks_like() {
        for (text, shown) in [
            ("a\tb\r\nc", "a\tb\nc"),
            ("\u{1b}[2J", "\u{241b}[2J"),
            ("if ok\u{202e} {\u{2066} // no", "if ok<U+202E> {<U+2066> // no"),
            ("a\u{200b}b \u{3164}\u{115f} x\u{fe01}", "a<U+200B>b <U+3164><U+115F> x<U+FE01>"),
            ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}\u{200d}\u{1f469}"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow!("disk full").context("cannot write x: disk full").context("--flag");
        assert_eq!(told(&error), "--flag: cannot write x: disk full");
    }
}
