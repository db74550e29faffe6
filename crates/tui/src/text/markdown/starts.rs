//! How a line of Markdown begins: markers of items, fences, headings, rules.

use std::borrow::Cow;

/// What opens and closes a fenced block of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: u8,
    length: usize,
    /// What is taken off each line of the code.
    pub(super) indent: usize,
}

impl Fence {
    /// The fence that this line opens, and what stands behind it.
    pub(super) fn of(line: &str) -> Option<(Self, &str)> {
        let indent = indent(line);
        let body = &line[indent..];
        let mark = *body.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = body.bytes().take_while(|byte| *byte == mark).count();
        let info = body[length..].trim();
        let is_fence = indent < 4 && length >= 3 && !(mark == b'`' && info.contains('`'));
        is_fence.then_some((Self { mark, length, indent }, info))
    }

    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let indent = indent(line);
        let body = line[indent..].trim_end();
        indent < 4 && body.len() >= self.length && body.bytes().all(|byte| byte == self.mark)
    }
}

/// The marker of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker<'a> {
    /// The sign, or what stands behind the number: items of one list have the same.
    pub(super) kind: char,
    pub(super) number: u64,
    /// From the marker to the item's text.
    pub(super) columns: usize,
    /// Whether it can follow a paragraph without an empty line.
    pub(super) interrupts: bool,
    task: Option<bool>,
    pub(super) rest: &'a str,
}

impl<'a> Marker<'a> {
    pub(super) fn of(body: &'a str) -> Option<Self> {
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        // More digits are no number of an item, says CommonMark.
        if digits > 9 {
            return None;
        }
        let kind = body[digits..].chars().next()?;
        let is_marker = match digits {
            0 => matches!(kind, '-' | '+' | '*'),
            _ => matches!(kind, '.' | ')'),
        };
        let after = is_marker.then(|| &body[digits + 1..])?;
        let spaces = indent(after);
        let is_empty = spaces == after.len();
        if spaces == 0 && !is_empty {
            return None;
        }
        // Five spaces and more are one, and the rest indents code.
        let spaces = if is_empty || spaces > 4 { 1 } else { spaces };
        let number = body[..digits].parse().unwrap_or(0);
        let mut marker = Self {
            kind,
            number,
            columns: digits + 1 + spaces,
            interrupts: !is_empty && (digits == 0 || number == 1),
            task: None,
            rest: if is_empty { "" } else { &after[spaces..] },
        };
        for (sign, is_done) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
            if let Some(rest) = marker.rest.strip_prefix(sign) {
                marker.task = Some(is_done);
                marker.rest = rest;
            }
        }
        Some(marker)
    }

    /// What a person sees for it.
    pub(super) fn shown(&self, number: u64) -> String {
        let task = self.task.map(|is_done| if is_done { "[x] " } else { "[ ] " });
        match (matches!(self.kind, '.' | ')'), task) {
            (true, task) => format!("{number}{} {}", self.kind, task.unwrap_or_default()),
            (false, Some(task)) => task.to_owned(),
            (false, None) => "• ".to_owned(),
        }
    }
}

/// The spaces a line begins with; tabs were made spaces before.
pub(super) fn indent(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}

/// Whether a line begins something that ends a paragraph it does not belong to.
pub(super) fn is_block(line: &str) -> bool {
    let indent = indent(line);
    let body = &line[indent..];
    indent < 4
        && (body.starts_with('>')
            || is_rule(body)
            || is_heading(body)
            || Fence::of(line).is_some()
            || Marker::of(body).is_some())
}

/// `# Heading`.
pub(super) fn is_heading(body: &str) -> bool {
    let level = body.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && matches!(body.as_bytes().get(level), None | Some(b' ' | b'\n'))
}

/// `---`, `* * *`.
pub(super) fn is_rule(body: &str) -> bool {
    let Some(mark) = body.bytes().next().filter(|mark| matches!(mark, b'-' | b'*' | b'_')) else {
        return false;
    };
    let marks = body.bytes().filter(|byte| *byte == mark).count();
    marks >= 3 && body.bytes().all(|byte| byte == mark || byte == b' ')
}

/// What makes the text above it a heading.
pub(super) fn is_underline(body: &str) -> bool {
    let body = body.trim_end();
    !body.is_empty()
        && (body.bytes().all(|byte| byte == b'=') || body.bytes().all(|byte| byte == b'-'))
}

/// The first word behind a fence, without what generators put around it.
pub(super) fn language(info: &str) -> &str {
    let word = info.split([' ', ',', '{', '}', ':']).find(|word| !word.is_empty());
    word.unwrap_or_default().trim_start_matches('.')
}

/// The two lines a table begins with, if `text` is one.
pub(super) fn table_head(text: &str) -> Option<&str> {
    let first = text.find('\n')?;
    let rest = &text[first + 1..];
    let end = rest.find('\n').unwrap_or(rest.len());
    let delimiters = &rest[..end];
    let is_table = text[..first].contains('|')
        && delimiters.contains('-')
        && delimiters.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '));
    is_table.then(|| &text[..first + 1 + end])
}

/// Where a line too long for one piece is cut: at a space if there is one.
pub(super) fn cut(line: &str, bytes_max: usize) -> usize {
    let mut end = bytes_max;
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let space = line.as_bytes()[end / 2..end].iter().rposition(|byte| *byte == b' ');
    space.map_or(end, |at| end / 2 + at + 1)
}

/// A line as the scanner takes it.
pub(super) fn line(raw: &str) -> Cow<'_, str> {
    super::super::clean(raw.strip_suffix('\r').unwrap_or(raw))
}
