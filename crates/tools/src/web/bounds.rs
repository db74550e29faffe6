//! How much of a page becomes Markdown: what would be too much is cut, its beginning stays.
//!
//! What makes the Markdown copies the text of a quote, link or cell into what stands around it, and
//! begins each line anew for each quote and list that it stands in. So a page that nests deep may be
//! a thousand times longer as Markdown, or take as much work. This counts before what that will be,
//! rather too much than too little.

use std::collections::HashMap;

use dom_query::{NodeData, NodeId, NodeRef};

use crate::text::without_begun;

/// Bytes of Markdown that are made of a page.
pub(super) const MADE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes that are moved for that, all copies counted.
const MOVED_BYTES_MAX: usize = 256 * 1024 * 1024;
/// What an element may add by itself: marks, empty lines, the separators of a table.
const ELEMENT_BYTES: usize = 16;

/// Cuts a part of a page where its Markdown would be too much, and says whether it did.
pub(super) fn cut(part: &NodeRef<'_>) -> bool {
    let mut spent = Spent::default();
    let mut all_around = HashMap::from([(part.id, Around::of(part, Around::default()))]);
    let over = part.descendants_it().find_map(|node| {
        let around = *all_around.get(&node.parent()?.id)?;
        if node.is_element() {
            all_around.insert(node.id, Around::of(&node, around));
            return (!spent.spend(own_bytes(&node), around)).then_some((node, None));
        }
        let fitting = node.query(|node| match &node.data {
            NodeData::Text { contents } => spent.text(contents, around),
            _ => None,
        });
        fitting.flatten().map(|fitting| (node, Some(fitting)))
    });
    let Some((node, beginning)) = over else { return false };
    remove_behind(part.id, node);
    match beginning {
        Some(beginning) => node.set_text(&*beginning),
        None => node.remove_from_parent(),
    }
    true
}

fn remove_behind(part: NodeId, mut node: NodeRef<'_>) {
    while node.id != part {
        while let Some(next) = node.next_sibling() {
            next.remove_from_parent();
        }
        let Some(parent) = node.parent() else { return };
        node = parent;
    }
}

/// What an element adds to a page's text by itself.
fn own_bytes(element: &NodeRef<'_>) -> usize {
    let is_told = element.has_name("a") || element.has_name("img");
    let told = element.element_ref().filter(|_| is_told);
    let attributes = |told: &dom_query::Element| -> usize {
        told.attrs.iter().map(|attribute| attribute.value.len()).sum()
    };
    ELEMENT_BYTES + told.map_or(0, |told| attributes(&told))
}

/// What stands around a text.
#[derive(Debug, Clone, Copy)]
struct Around {
    /// How often it is moved.
    n_copies: usize,
    /// How often it is told: rows within rows, which formulas can have, tell of each other.
    n_told: usize,
    /// Bytes before each of its lines.
    indent: usize,
    /// Its lines stay lines.
    is_code: bool,
}

impl Default for Around {
    fn default() -> Self {
        Self { n_copies: 1, n_told: 0, indent: 0, is_code: false }
    }
}

impl Around {
    /// What is around the inside of an element that has this around itself.
    fn of(element: &NodeRef<'_>, around: Self) -> Self {
        let Some(name) = element.qual_name_ref() else { return around };
        let (n_copies, n_told, indent) = match &*name.local {
            "blockquote" => (1, 0, 2),
            "ul" => (0, 0, 4),
            // A number of up to nine digits.
            "ol" => (0, 0, 11),
            "a" | "b" | "strong" | "i" | "em" | "pre" | "code" => (1, 0, 0),
            "td" | "th" => (1, 1, 0),
            _ => (0, 0, 0),
        };
        Self {
            n_copies: around.n_copies + n_copies,
            // A table with another in it is not told as one.
            n_told: if &*name.local == "table" { 0 } else { around.n_told + n_told },
            indent: around.indent + indent,
            is_code: around.is_code || matches!(&*name.local, "pre" | "code"),
        }
    }
}

/// What the Markdown costs so far.
#[derive(Debug, Default)]
struct Spent {
    made: usize,
    moved: usize,
    /// Backslashes at the end: in a cell, each block counts them anew.
    n_backslashes: usize,
}

impl Spent {
    /// Counts a line of so many bytes, unless it is too much.
    fn spend(&mut self, bytes: usize, around: Around) -> bool {
        let bytes = bytes + around.indent;
        self.made += bytes * around.n_told.max(1);
        self.moved += bytes * around.n_copies + self.n_backslashes;
        self.made <= MADE_BYTES_MAX && self.moved <= MOVED_BYTES_MAX
    }

    /// Counts a text; what of it is not too much, unless that is all.
    fn text(&mut self, text: &str, around: Around) -> Option<String> {
        let room = (MADE_BYTES_MAX.saturating_sub(self.made) / around.n_told.max(1))
            .min(MOVED_BYTES_MAX.saturating_sub(self.moved) / around.n_copies);
        let per_line = if around.is_code { around.indent } else { 0 };
        let mut bytes = 0;
        for (at, char) in text.char_indices() {
            bytes += char.len_utf8() + if char == '\n' { per_line } else { 0 };
            if bytes > room {
                return Some(without_begun(&text[..at]).to_owned());
            }
        }
        self.made += bytes * around.n_told.max(1);
        self.moved += bytes * around.n_copies;
        self.count_backslashes(text.trim_end());
        None
    }

    fn count_backslashes(&mut self, text: &str) {
        let before = text.trim_end_matches('\\');
        // Each is escaped by another.
        let n_backslashes = 2 * (text.len() - before.len());
        self.n_backslashes = n_backslashes + if before.is_empty() { self.n_backslashes } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::web::page::{self, Page};

    /// How long a page's Markdown is, how it begins, and how it ends.
    fn check(html: &str, expected: Expect) {
        let Page { text, .. } = page::of_html(html, "https://example.com/", &|| true).unwrap();
        let begin: String = text.chars().take(12).collect();
        let end = text.rsplit_once('\n').map_or("", |(_, last)| last);
        let end = if end.starts_with("[... ") { end } else { "whole" };
        assert!(text.len() < MADE_BYTES_MAX + 1_000);
        expected.assert_eq(&format!("{} bytes: {begin:?}, {end}", text.len()));
    }

    fn nested(n: usize, tags: &str, inside: &str) -> String {
        format!("{}{inside}", tags.repeat(n))
    }

    #[test]
    fn what_nests_as_people_write_is_told_whole() {
        check(
            &nested(30, "<blockquote>", &"<p>a".repeat(5_000)),
            expect![[r#"609939 bytes: "> > > > > > ", whole"#]],
        );
        check(
            &nested(8, "<ul><li>", &"<li>a".repeat(10_000)),
            expect![[r#"320134 bytes: "-\n\n    -\n\n  ", whole"#]],
        );
        check(
            &nested(1, "<blockquote><pre>", &"a\n".repeat(1_000_000)),
            expect![[r#"4000011 bytes: "> ```\n> a\n> ", whole"#]],
        );
        check(
            &nested(20, "<table><tr><td>", &"<b>x</b> ".repeat(10_000)),
            expect![[r#"20019 bytes: "|   |\n| - |\n", whole"#]],
        );
        check(&"word ".repeat(400_000), expect![[r#"1999999 bytes: "word word wo", whole"#]]);
    }

    #[test]
    fn what_would_be_too_much_is_cut_and_its_beginning_stays() {
        let lines = "a\n".repeat(1_000_000);
        let words = "x ".repeat(950_000);
        check(
            &nested(390, "<blockquote>", &"<p>a".repeat(49_000)),
            expect![[
                r#"1139568 bytes: "> > > > > > ", [... the page is too much as Markdown, by its length or by how deep it nests; cut here]"#
            ]],
        );
        check(
            &nested(100, "<blockquote>", &format!("<pre>{lines}")),
            expect![[
                r#"2624678 bytes: "> > > > > > ", [... the page is too much as Markdown, by its length or by how deep it nests; cut here]"#
            ]],
        );
        check(
            &nested(190, "<ul><li>", &format!("<pre>{lines}")),
            expect![[
                r#"8289602 bytes: "-\n\n    -\n\n  ", [... the page is too much as Markdown, by its length or by how deep it nests; cut here]"#
            ]],
        );
        check(
            &nested(190, "<ol start=999999999><li>", &"<li>a".repeat(49_000)),
            expect![[
                r#"8126460 bytes: "999999999.\n\n", [... the page is too much as Markdown, by its length or by how deep it nests; cut here]"#
            ]],
        );
        check(
            &nested(130, "<ul><li><blockquote>", &"<p>a".repeat(49_000)),
            expect![[
                r#"2542048 bytes: "- > - > - > ", [... the page is too much as Markdown, by its length or by how deep it nests; cut here]"#
            ]],
        );
        check(
            &nested(380, "<b>", &words),
            expect![[
                r#"701608 bytes: "**x x x x x ", [... the page is too much as Markdown, by its length or by how deep it nests; cut here]"#
            ]],
        );
        let rows = nested(190, "<tr><td>", &words);
        check(
            &format!("<table><tr><td><math>{rows}"),
            expect![[
                r#"7808562 bytes: "|   |\n| - |\n", [... the page is too much as Markdown, by its length or by how deep it nests; cut here]"#
            ]],
        );
        let blocks = "<div></div>".repeat(49_000);
        check(
            &format!("<table><tr><td>{}{blocks}", "\\".repeat(900_000)),
            expect![[
                r#"1800105 bytes: "|   |\n| - |\n", [... the page is too much as Markdown, by its length or by how deep it nests; cut here]"#
            ]],
        );
    }

    #[test]
    fn what_is_not_cut_off_stays_in_its_place() {
        let page = dom_query::Document::from("<p>a<b>b</b><i>c</i></p><p>d</p>");
        let of = |name: &str| page.select(name).nodes()[0];
        remove_behind(page.root().id, of("b"));
        assert_eq!(page.select("body").inner_html().to_string(), "<p>a<b>b</b></p>");
    }
}
