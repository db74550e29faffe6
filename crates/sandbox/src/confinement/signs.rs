//! Signs in a failed command's output that its box was the reason.
//!
//! The kernel does not tell who asked for a refusal, and a program reports it in its own words. So
//! this reads the words of the C library and of common tools; it may be wrong both ways.

use crate::Exit;

/// The signal of a refused system call that no filter answers: a 32-bit program's.
const BAD_CALL: i32 = 31;
/// The signal of a file that became too long.
const FILE_TOO_LONG: i32 = 25;

const NO_NETWORK: &str = "the box gives it no network";
const NO_WRITING: &str = "the box lets it write only in the workspace and TMPDIR";
const NO_ACCESS: &str = "the box may have refused it a file, a folder or a system call";
const NO_MOVING: &str = "the box keeps what is protected in its place";
const NO_FILE_SO_LONG: &str = "the box limits how long a file may be";
const NO_SUCH_CALLS: &str = "the box runs no 32-bit programs";

/// Lower-case words and what they are a sign of, the more telling first.
const SIGNS: &[(&str, &str)] = &[
    ("could not resolve host", NO_NETWORK),
    ("could not resolve proxy", NO_NETWORK),
    ("name resolution", NO_NETWORK),
    ("name or service not known", NO_NETWORK),
    ("failed to lookup address", NO_NETWORK),
    ("network is unreachable", NO_NETWORK),
    ("unable to resolve host", NO_NETWORK),
    ("dns error", NO_NETWORK),
    ("getaddrinfo", NO_NETWORK),
    ("enotfound", NO_NETWORK),
    ("eai_again", NO_NETWORK),
    ("eperm: operation not permitted, connect", NO_NETWORK),
    ("listen eperm", NO_NETWORK),
    ("connect eperm", NO_NETWORK),
    ("socket: operation not permitted", NO_NETWORK),
    ("socket creation", NO_NETWORK),
    ("immediate connect fail", NO_NETWORK),
    ("read-only file system", NO_WRITING),
    ("erofs", NO_WRITING),
    ("device or resource busy", NO_MOVING),
    ("file size limit exceeded", NO_FILE_SO_LONG),
    ("file too large", NO_FILE_SO_LONG),
    ("permission denied", NO_ACCESS),
    ("permissionerror", NO_ACCESS),
    ("eacces", NO_ACCESS),
    ("operation not permitted", NO_ACCESS),
    ("eperm", NO_ACCESS),
];

/// Why a command that ran in a box may have failed, if its end or its last output says so.
#[must_use]
pub fn looks_confined(exit: Exit, output_tail: &str) -> Option<&'static str> {
    match exit {
        Exit::Code(0) => return None,
        Exit::Signal(BAD_CALL) => return Some(NO_SUCH_CALLS),
        Exit::Signal(FILE_TOO_LONG) => return Some(NO_FILE_SO_LONG),
        Exit::Code(_) | Exit::Signal(_) => {}
    }
    let said = output_tail.to_lowercase();
    SIGNS.iter().find(|(words, _)| said.contains(words)).map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: Option<&str>) {
        assert_eq!(looks_confined(Exit::Code(1), output), expected, "{output}");
        assert_eq!(looks_confined(Exit::Code(0), output), None, "{output}");
    }

    #[test]
    fn refusals_are_told_from_other_failures() {
        check("curl: (6) Could not resolve host: example.com\n", Some(NO_NETWORK));
        check("curl: (7) socket: Operation not permitted", Some(NO_NETWORK));
        check("Error: connect EPERM 127.0.0.1:80 - Local (undefined:undefined)", Some(NO_NETWORK));
        check("socket.gaierror: [Errno -3] Temporary failure in name resolution", Some(NO_NETWORK));
        check("touch: cannot touch '/etc/x': Read-only file system", Some(NO_WRITING));
        check("cat: /root/.netrc: Permission denied", Some(NO_ACCESS));
        check("kill: (1) - Operation not permitted", Some(NO_ACCESS));
        check("mv: cannot move '.git' to 'x': Device or resource busy", Some(NO_MOVING));
        check("error[E0308]: mismatched types", None);
        check("", None);
    }

    #[test]
    fn some_signals_tell_by_themselves() {
        assert_eq!(looks_confined(Exit::Signal(31), ""), Some(NO_SUCH_CALLS));
        assert_eq!(looks_confined(Exit::Signal(25), ""), Some(NO_FILE_SO_LONG));
        assert_eq!(looks_confined(Exit::Signal(9), ""), None);
    }
}
