//! What a person is told: on stderr, and of what others said.

use std::fmt::Display;
use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write as _};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Error;

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

/// A text without the characters by which a terminal is commanded: what tools and models say is
/// shown, never obeyed.
pub(crate) fn harmless(text: &str) -> String {
    let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().map(|c| if harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Writes to stdout; whoever stopped reading has what they wanted.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let out = &mut std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// An error with its causes. A cause that the words before it tell already is not told again.
pub(crate) fn told(error: &Error) -> String {
    error.chain().fold(String::new(), |told, cause| match cause.to_string() {
        cause if told.is_empty() => cause,
        cause if told.contains(&cause) => told,
        cause => format!("{told}: {cause}"),
    })
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

    use super::told;

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow!("disk full").context("cannot write x: disk full").context("--flag");
        assert_eq!(told(&error), "--flag: cannot write x: disk full");
    }
}
