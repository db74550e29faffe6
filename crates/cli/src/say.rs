//! What a person is told on stderr.

use std::fmt::Display;
use std::io::Write as _;

use anyhow::Error;

/// Writes one line, at once. A closed stderr stops nothing, where `eprintln!` would panic.
pub(crate) fn say(text: impl Display) {
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// An error with its causes. A cause that the words before it tell already is not told again.
pub(crate) fn told(error: &Error) -> String {
    error.chain().fold(String::new(), |told, cause| match cause.to_string() {
        cause if told.is_empty() => cause,
        cause if told.contains(&cause) => told,
        cause => format!("{told}: {cause}"),
    })
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
