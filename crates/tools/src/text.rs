//! Small pieces of text shared by the tools.

/// The first `chars_max` characters of `line`, and a mark that says how many bytes are missing.
pub(crate) fn cut(line: &str, chars_max: usize) -> String {
    match line.char_indices().nth(chars_max) {
        None => line.to_owned(),
        Some((end, _)) => format!("{} {}", &line[..end], cut_mark(line.len() - end)),
    }
}

/// What stands where bytes were left out.
pub(crate) fn cut_mark(bytes_missing: usize) -> String {
    format!("[... {bytes_missing} more bytes]")
}

/// `count` and the noun in the right number.
pub(crate) fn count_of(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How many lines a text has; one without a final line end counts too.
pub(crate) fn count_lines(bytes: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', bytes).count();
    ends + usize::from(bytes.last().is_some_and(|last| *last != b'\n'))
}
