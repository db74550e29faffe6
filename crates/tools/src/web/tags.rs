//! The pieces of a page as a parser takes them: tags with what stands in their quotes, comments,
//! and text in which nothing is a tag.

use std::ops::Range;

/// Elements whose inside is text, up to their own end tag.
const RAW: [&str; 8] =
    ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"];

/// Elements in which others are no HTML.
const DRAWINGS: [&str; 2] = ["svg", "math"];

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Text,
    /// The inside of an element that holds nothing but text.
    Raw(&'a str),
    Comment,
    Start(Tag<'a>),
    End(&'a str),
}

/// A tag that begins an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) n_attributes: usize,
    /// It ends with `/>`, which counts in drawings and formulas alone.
    pub(super) is_closed: bool,
}

/// Goes through a page, which has to be in lower case.
pub(super) struct Pieces<'a> {
    lower: &'a str,
    at: usize,
    /// The element whose inside comes next.
    raw: Option<&'a str>,
    looks_into_raw: bool,
    /// Drawings and formulas that are open, in which elements and data end in ways of their own.
    n_drawings: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(lower: &'a str) -> Self {
        Self { lower, at: 0, raw: None, looks_into_raw: false, n_drawings: 0 }
    }

    /// Of a text whose tags would count, were it not the inside of such an element.
    pub(super) fn within(raw: &'a str) -> Self {
        Self { looks_into_raw: true, ..Self::of(raw) }
    }

    fn piece(&mut self) -> (usize, Kind<'a>) {
        let rest = &self.lower[self.at..];
        if let Some(name) = self.raw.take()
            && let length @ 1.. = self.raw_length(rest, name)
        {
            return (length, Kind::Raw(name));
        }
        let next = rest.as_bytes().get(1).copied().unwrap_or(b' ');
        if !rest.starts_with('<') || !(next.is_ascii_alphabetic() || b"!?/".contains(&next)) {
            let length = memchr::memchr(b'<', &rest.as_bytes()[1..]).map(|at| at + 1);
            return (length.unwrap_or(rest.len()), Kind::Text);
        }
        if rest.starts_with("<!doctype") {
            return (up_to(rest, ">").unwrap_or(rest.len()), Kind::Text);
        }
        let is_end = next == b'/';
        let begin = 1 + usize::from(is_end);
        match rest.as_bytes().get(begin) {
            Some(letter) if letter.is_ascii_alphabetic() => {}
            // A slash at the end of the page is text.
            None => return (rest.len(), Kind::Text),
            Some(_) => return (self.comment_length(rest), Kind::Comment),
        }
        let (tag, length) = tag(&rest[begin..]);
        let is_drawing = DRAWINGS.contains(&tag.name);
        if is_end {
            self.n_drawings = self.n_drawings.saturating_sub(usize::from(is_drawing));
            return (begin + length, Kind::End(tag.name));
        }
        let is_over = tag.is_closed && (is_drawing || self.n_drawings > 0);
        self.n_drawings += usize::from(is_drawing && !is_over);
        if RAW.contains(&tag.name) && !is_over && !self.looks_into_raw {
            self.raw = Some(tag.name);
        }
        (begin + length, Kind::Start(tag))
    }

    /// What does not end takes the rest of the page with it, as it does in a browser.
    fn comment_length(&self, text: &str) -> usize {
        if text.starts_with("<![cdata[") && self.n_drawings > 0 {
            return up_to(text, "]]>").unwrap_or(text.len());
        }
        let Some(inside) = text.strip_prefix("<!--") else {
            return up_to(text, ">").unwrap_or(text.len());
        };
        let begin = text.len() - inside.len();
        for empty in [">", "->"] {
            if inside.starts_with(empty) {
                return begin + empty.len();
            }
        }
        // Looked for at once: one end alone might not come before the end of the page, and a page has
        // thousands of comments.
        let ends = |at: &usize| {
            [&b"--"[..], b"--!"].iter().any(|end| inside.as_bytes()[..*at].ends_with(end))
        };
        let end = memchr::memchr_iter(b'>', inside.as_bytes()).find(ends);
        end.map_or(text.len(), |at| begin + at + 1)
    }

    fn raw_length(&self, text: &str, name: &str) -> usize {
        let mut from = 0;
        while let Some(at) = text[from..].find("</") {
            let start = from + at;
            from = start + 2;
            let begins = |name: &str| {
                let behind = text[from..].strip_prefix(name);
                behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(ends_name))
            };
            // What is open in a drawing ends with that.
            if begins(name) || self.n_drawings > 0 && DRAWINGS.into_iter().any(begins) {
                return start;
            }
        }
        text.len()
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (Range<usize>, Kind<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.lower.len() {
            return None;
        }
        let (length, kind) = self.piece();
        let range = self.at..self.at + length;
        self.at = range.end;
        Some((range, kind))
    }
}

fn up_to(text: &str, end: &str) -> Option<usize> {
    text.find(end).map(|at| at + end.len())
}

fn ends_name(char: char) -> bool {
    char.is_ascii_whitespace() || matches!(char, '/' | '>')
}

/// Where in a tag the scan is.
#[derive(Clone, Copy)]
enum State {
    Between,
    Name,
    BehindName,
    BeforeValue,
    Value,
    Quoted(u8),
}

/// The tag whose name begins the text, and how far it reaches.
fn tag(text: &str) -> (Tag<'_>, usize) {
    let name_end = text.find(ends_name).unwrap_or(text.len());
    let name = &text[..name_end];
    let (mut n_attributes, mut state, mut is_closed) = (0, State::Between, false);
    for (at, byte) in text.bytes().enumerate().skip(name_end) {
        let is_space = byte.is_ascii_whitespace();
        if byte == b'>' && !matches!(state, State::Quoted(_)) {
            return (Tag { name, n_attributes, is_closed }, at + 1);
        }
        let is_value = matches!(state, State::BeforeValue | State::Value | State::Quoted(_));
        is_closed = byte == b'/' && !is_value;
        state = match state {
            State::Quoted(quote) if byte == quote => State::Between,
            State::BeforeValue if matches!(byte, b'"' | b'\'') => State::Quoted(byte),
            State::BeforeValue if !is_space => State::Value,
            State::Value if is_space => State::Between,
            State::Name | State::BehindName if byte == b'=' => State::BeforeValue,
            State::Name if is_space => State::BehindName,
            State::Name | State::BehindName if byte == b'/' => State::Between,
            State::Between | State::BehindName if !is_space && byte != b'/' => {
                n_attributes += 1;
                State::Name
            }
            other => other,
        };
    }
    (Tag { name, n_attributes, is_closed }, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(html: &str) -> Vec<String> {
        let all = Pieces::of(html).map(|(range, kind)| {
            let what = match kind {
                Kind::Text => "text".to_owned(),
                Kind::Raw(name) => format!("in {name}"),
                Kind::Comment => "comment".to_owned(),
                Kind::Start(tag) if tag.is_closed => format!("{}/{}", tag.name, tag.n_attributes),
                Kind::Start(tag) => format!("{}+{}", tag.name, tag.n_attributes),
                Kind::End(name) => format!("/{name}"),
            };
            format!("{what}: {}", &html[range])
        });
        all.collect()
    }

    #[test]
    fn a_page_is_taken_as_a_parser_takes_it() {
        for (html, expected) in [
            ("a < b<", &["text: a ", "text: < b", "text: <"][..]),
            ("<p>a</p >", &["p+0: <p>", "text: a", "/p: </p >"]),
            ("<a b = '>' c=d/>e", &["a+2: <a b = '>' c=d/>", "text: e"]),
            ("<a b/><a/b>", &["a/1: <a b/>", "a+1: <a/b>"]),
            ("<a b=\"<!--\"c>", &["a+2: <a b=\"<!--\"c>"]),
            ("<a b=>c", &["a+1: <a b=>", "text: c"]),
            ("<a b='>c", &["a+1: <a b='>c"]),
            (
                "<!-->a<!--->b<!-- > --!>c",
                &[
                    "comment: <!-->",
                    "text: a",
                    "comment: <!--->",
                    "text: b",
                    "comment: <!-- > --!>",
                    "text: c",
                ],
            ),
            (
                "<!doctype html><?x><![cdata[>]]>",
                &["text: <!doctype html>", "comment: <?x>", "comment: <![cdata[>", "text: ]]>"],
            ),
            (
                "<svg><![cdata[>]]><style/></svg><style/>a",
                &[
                    "svg+0: <svg>",
                    "comment: <![cdata[>]]>",
                    "style/0: <style/>",
                    "/svg: </svg>",
                    "style/0: <style/>",
                    "in style: a",
                ],
            ),
            (
                "<math><title>a</p></math>",
                &["math+0: <math>", "title+0: <title>", "in title: a</p>", "/math: </math>"],
            ),
            (
                "<script>a</scripts></script>",
                &["script+0: <script>", "in script: a</scripts>", "/script: </script>"],
            ),
            ("<scripture>a", &["scripture+0: <scripture>", "text: a"]),
            ("<title></title>", &["title+0: <title>", "/title: </title>"]),
            ("</", &["text: </"]),
            ("<!-- a> --->b", &["comment: <!-- a> --->", "text: b"]),
            ("<!-- --! >-!>", &["comment: <!-- --! >-!>"]),
        ] {
            assert_eq!(pieces(html), expected, "{html}");
        }
    }

    #[test]
    fn a_page_of_comments_is_gone_through_once() {
        // Looked through to its end for each, this would be 1.6 terabytes.
        assert_eq!(Pieces::of(&"<!--x-->".repeat(640_000)).count(), 640_000);
    }
}
