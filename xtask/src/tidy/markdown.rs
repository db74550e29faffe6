//! A Markdown page split into prose, code spans, headings and tags, so that no check trips over code.

use std::ops::Range;

/// One page.
#[derive(Default)]
pub(super) struct Page<'a> {
    /// The page with spaces in place of code and of what is commented out; every byte at its place.
    pub(super) prose: String,
    /// The code spans, with the byte where each begins.
    pub(super) spans: Vec<(usize, &'a str)>,
    /// The anchors that others can link to.
    pub(super) anchors: Vec<String>,
}

/// A block of code that began with so many of these.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl<'a> Page<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut page = Self { prose: text.to_owned(), ..Self::default() };
        let mut fence: Option<Fence> = None;
        let (mut at, mut paragraph) = (0, 0);
        let mut headings = Vec::new();
        for line in text.split_inclusive('\n') {
            let end = at + line.len();
            let found = Fence::of(line);
            let is_code = fence.is_some() || found.is_some();
            if is_code || begins_block(line) {
                page.take_spans(text, paragraph..at);
                paragraph = if is_code { end } else { at };
            }
            if is_code {
                page.blank(at..end);
            } else {
                headings.extend(heading(line));
            }
            fence = match (fence, found) {
                (None, found) => found,
                (Some(open), Some(found)) if open.is_closed_by(found, line) => None,
                (open, _) => open,
            };
            at = end;
        }
        page.take_spans(text, paragraph..at);
        page.blank_comments();
        page.anchors = anchors(headings);
        let named = ["id", "name"].map(|name| page.attributes(name)).into_iter().flatten();
        let named: Vec<String> = named.map(|(_, value)| value).collect();
        page.anchors.extend(named);
        page
    }

    /// The values of this attribute in all HTML tags, with the byte where each tag begins.
    pub(super) fn attributes(&self, name: &str) -> Vec<(usize, String)> {
        let tags = self.prose.match_indices('<').filter_map(|(at, _)| {
            let tag = self.prose.get(at + 1..)?;
            let is_tag = tag.starts_with(|first: char| first.is_ascii_alphabetic());
            is_tag.then(|| (at, tag.split('>').next().unwrap_or(tag)))
        });
        tags.filter_map(|(at, tag)| Some((at, attribute(tag, name)?))).collect()
    }

    /// Takes the code spans out of a paragraph. A span goes from some backticks to as many, over ends
    /// of lines too; backticks without their like are backticks.
    fn take_spans(&mut self, text: &'a str, paragraph: Range<usize>) {
        let mut at = paragraph.start;
        while let Some(found) = text[at..paragraph.end].find('`') {
            let open = at + found;
            let length = n_backticks(&text[open..paragraph.end]);
            at = open + length;
            if text[..open].ends_with('\\') {
                continue;
            }
            if let Some(close) = closing(&text[at..paragraph.end], length).map(|close| at + close) {
                self.spans.push((at, &text[at..close]));
                self.blank(open..close + length);
                at = close + length;
            }
        }
    }

    fn blank_comments(&mut self) {
        let mut at = 0;
        while let Some(open) = self.prose[at..].find("<!--").map(|open| at + open) {
            let close = self.prose[open..].find("-->").map_or(self.prose.len(), |to| open + to + 3);
            self.blank(open..close);
            at = close;
        }
    }

    fn blank(&mut self, range: Range<usize>) {
        let bytes = self.prose[range.clone()].bytes();
        let blank: String = bytes.map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        self.prose.replace_range(range, &blank);
    }
}

impl Fence {
    /// The fence that a line begins with.
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|first| ['`', '~'].contains(first))?;
        let rest = line.trim_start_matches(mark);
        let length = line.len() - rest.len();
        // What has another backtick behind it is a code span.
        let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
        is_fence.then_some(Self { mark, length })
    }

    fn is_closed_by(self, other: Self, line: &str) -> bool {
        let is_bare = line.trim().chars().all(|c| c == other.mark);
        other.mark == self.mark && other.length >= self.length && is_bare
    }
}

/// Whether no code span reaches over the beginning of this line.
fn begins_block(line: &str) -> bool {
    let line = line.trim();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.len() < line.len() && after_number.starts_with(". ");
    let marks = ["#", "- ", "* ", "+ ", "|", ">"];
    line.is_empty() || is_numbered || marks.iter().any(|mark| line.starts_with(mark))
}

fn n_backticks(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Where the next run of exactly so many backticks begins.
fn closing(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('`')?;
        let found = n_backticks(&text[at..]);
        if found == length {
            return Some(at);
        }
        at += found;
    }
}

/// The anchor of a heading: lower case, spaces as dashes, punctuation dropped.
fn heading(line: &str) -> Option<String> {
    let line = line.trim_end();
    let title = line.trim_start_matches('#');
    if title.len() == line.len() || !title.starts_with(' ') {
        return None;
    }
    let slug = title.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    Some(slug.collect::<String>().to_lowercase())
}

/// The headings' anchors: the second of the same name ends in `-1`, and so on.
fn anchors(headings: Vec<String>) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (index, slug) in headings.iter().enumerate() {
        let before = headings[..index].iter().filter(|earlier| *earlier == slug).count();
        anchors.push(if before == 0 { slug.clone() } else { format!("{slug}-{before}") });
    }
    anchors
}

/// The value of an attribute of a tag, in quotes or without.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    lower.match_indices(name).find_map(|(at, _)| {
        let is_name = lower[..at].ends_with(|before: char| before.is_ascii_whitespace());
        let value = tag[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let value = match value.chars().next().filter(|first| ['"', '\''].contains(first)) {
            Some(quote) => value[1..].split(quote).next(),
            None => value.split_whitespace().next(),
        };
        value.filter(|_| is_name).map(|value| value.trim_end_matches('/').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let page = Page::of(text);
        assert_eq!(page.prose.len(), text.len());
        let prose: Vec<&str> = page.prose.split_whitespace().collect();
        let spans: Vec<&str> = page.spans.iter().map(|(_, span)| *span).collect();
        let parts = [prose.join(" "), spans.join(", "), page.anchors.join(", ")];
        expected.assert_eq(&parts.join(" | "));
    }

    #[test]
    fn code_is_no_prose() {
        check("a `b` ``c`d`` e", expect!["a e | b, c`d | "]);
        check("a `b\nc` d `e`", expect!["a d | b\nc, e | "]);
        check("a ` b\n\nc `d` \\`e", expect!["a ` b c \\`e | d | "]);
        check("- a ` b\n- `c` d", expect!["- a ` b - d | c | "]);
        check("a\n```sh\n# b `c`\n```\nd", expect!["a d |  | "]);
        check("````\n```\na\n````\nb\n~~~\n```\n~~~\nc", expect!["b c |  | "]);
        check("```a``` b", expect!["b | a | "]);
        check("a <!-- b\n\nc --> d <!-- e", expect!["a d |  | "]);
    }

    #[test]
    fn headings_and_names_are_anchors() {
        let text = "# The Title: `x`\n## Same\n## Same\n<a id=\"here\"></a>\n```\n# no\n```\n#no";
        let page = Page::of(text);
        assert_eq!(page.anchors, ["the-title-x", "same", "same-1", "here"]);
    }

    #[test]
    fn attributes_are_read_however_they_are_quoted() {
        let of = |text: &str| {
            let values = Page::of(text).attributes("src").into_iter();
            values.map(|(_, value)| value).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("<img src=\"a\"> <IMG alt='x'\n SRC='b'/> <img src=c/>"), "a b c");
        assert_eq!(of("<img data-src=\"a\"> a < b src=\"c\" `<img src=d>`"), "");
    }
}
