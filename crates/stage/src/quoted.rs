//! Paths on one line, whatever is in their names.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A path as git writes it: as it is, or within quotes with escapes where a character would end the line
/// or steer a terminal, or bytes are no text. What stands in a line of its own can so be no other line.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let is_plain = |next: char| !(next.is_control() || matches!(next, '"' | '\\'));
    if let Some(text) = path.to_str()
        && text.chars().all(is_plain)
    {
        return text.to_owned();
    }
    let mut out = String::from('"');
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for next in chunk.valid().chars() {
            match next {
                '\n' => out.push_str(r"\n"),
                '\r' => out.push_str(r"\r"),
                '\t' => out.push_str(r"\t"),
                '"' | '\\' => out.extend(['\\', next]),
                next if next.is_control() => {
                    escape(next.encode_utf8(&mut [0; 4]).as_bytes(), &mut out);
                }
                next => out.push(next),
            }
        }
        escape(chunk.invalid(), &mut out);
    }
    out.push('"');
    out
}

fn escape(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        // Writing into memory does not fail.
        let _ = write!(out, "\\{byte:03o}");
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_path_is_one_line_and_as_git_writes_it() {
        for (path, shown) in [
            (&b"a b/c's.txt"[..], "a b/c's.txt"),
            ("stra\u{df}e".as_bytes(), "stra\u{df}e"),
            (b"a\nb\tc\r", r#""a\nb\tc\r""#),
            (b"\x1b[31m\x7f", r#""\033[31m\177""#),
            ("\u{9b}2J".as_bytes(), r#""\302\2332J""#),
            (br#"a\"b"#, r#""a\\\"b""#),
            (b"no \xff text", r#""no \377 text""#),
        ] {
            assert_eq!(quoted(Path::new(OsStr::from_bytes(path))), shown);
        }
    }
}
