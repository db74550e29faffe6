//! A file's content as lines that remember their bytes.

use std::ops::Range;

/// The mark some files begin with. It belongs to no line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A content and its lines.
pub(crate) struct File<'a> {
    pub(super) content: &'a [u8],
    lines: Vec<Range<usize>>,
    start: usize,
}

impl<'a> File<'a> {
    pub(crate) fn new(content: &'a [u8]) -> Self {
        let mut start =
            if content.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let first = start;
        let mut lines = Vec::new();
        for end in memchr::memchr_iter(b'\n', content) {
            lines.push(start..end + 1);
            start = end + 1;
        }
        if start < content.len() {
            lines.push(start..content.len());
        }
        Self { content, lines, start: first }
    }

    pub(crate) fn n_lines(&self) -> usize {
        self.lines.len()
    }

    /// The text of a line without its end; `None` when it is no text.
    pub(crate) fn text(&self, index: usize) -> Option<&'a str> {
        let bytes = &self.content[self.lines.get(index)?.clone()];
        let bytes = bytes
            .strip_suffix(b"\n")
            .map_or(bytes, |line| line.strip_suffix(b"\r").unwrap_or(line));
        std::str::from_utf8(bytes).ok()
    }

    /// The bytes of a line, its end included.
    pub(super) fn range(&self, index: usize) -> Option<Range<usize>> {
        self.lines.get(index).cloned()
    }

    /// Where a line starts; the end of the content for the line behind the last.
    pub(super) fn start(&self, index: usize) -> usize {
        match self.lines.get(index) {
            Some(line) => line.start,
            None if self.lines.is_empty() => self.start,
            None => self.content.len(),
        }
    }

    /// The line end used around a line: that of the line before, else its own, else the first.
    pub(super) fn line_end(&self, index: usize) -> &'static str {
        let around = [index.checked_sub(1), Some(index), Some(0)];
        let ended = |index: usize| {
            let line = &self.content[self.lines.get(index)?.clone()];
            let crlf = line.ends_with(b"\r\n");
            line.ends_with(b"\n").then_some(if crlf { "\r\n" } else { "\n" })
        };
        around.into_iter().flatten().find_map(ended).unwrap_or("\n")
    }

    /// Whether the last line has no end.
    pub(super) fn is_open_ended(&self) -> bool {
        self.content.last().is_some_and(|last| *last != b'\n')
    }
}
