//! Links and places in the Markdown lead somewhere.

use super::markdown::Page;
use crate::finding::Finding;
use crate::rust_text::line_at;
use crate::tree::{Tree, resolve};

pub(super) const WHY: &str = "prose rots silently: a page that points at a file which moved sends \
     its reader looking for a project that no longer exists";

/// Written once about the past; its places may be gone.
const HISTORY: &str = "CHANGELOG.md";

/// What ends the name of a file one points into by line.
const SOURCES: [&str; 4] = [".rs", ".md", ".toml", ".txt"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.markdown().flat_map(|(path, file)| check_page(tree, path, &file.text)).collect()
}

fn check_page(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let page = Page::of(text);
    let labels = labels(&page.prose);
    let mut wrong: Vec<(usize, String)> = Vec::new();
    let targets = inline(&page.prose).into_iter().chain(html(&page));
    let targets = targets.chain(labels.iter().map(|label| (label.at, label.target.clone())));
    wrong.extend(targets.filter_map(|(at, target)| Some((at, link(tree, path, &target)?))));
    wrong.extend(references(&page.prose).into_iter().filter_map(|(at, name)| {
        let is_known = labels.iter().any(|label| label.name == name);
        (!is_known).then(|| (at, format!("no line `[{name}]: ...` says where `[{name}]` leads")))
    }));
    if path != HISTORY {
        let spans = page.spans.iter();
        wrong.extend(spans.filter_map(|(at, span)| Some((*at, place(tree, path, span)?))));
    }
    wrong.into_iter().map(|(at, m)| Finding::refused(path, line_at(text, at), m)).collect()
}

/// The targets of `[text](target)`.
fn inline(prose: &str) -> Vec<(usize, String)> {
    let opens = prose.match_indices("](");
    opens.filter_map(|(at, _)| Some((at, target(balanced(&prose[at + 2..]))?))).collect()
}

/// What stands before the bracket that closes a target, which may hold pairs of them itself.
fn balanced(rest: &str) -> &str {
    let mut depth = 0_usize;
    let end = rest.find(|c: char| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return true,
            ')' => depth -= 1,
            _ => {}
        }
        false
    });
    &rest[..end.unwrap_or(rest.len())]
}

/// The first word, out of `<` and `>` if it stands there; a title may follow.
fn target(text: &str) -> Option<String> {
    let text = text.trim_start();
    match text.strip_prefix('<') {
        Some(rest) => rest.split('>').next().map(str::to_owned),
        None => text.split_whitespace().next().map(str::to_owned),
    }
}

/// A line that says where a label leads.
struct Label {
    at: usize,
    name: String,
    target: String,
}

/// The lines `[label]: target`. Footnotes are none.
fn labels(prose: &str) -> Vec<Label> {
    let mut labels = Vec::new();
    let mut at = 0;
    for line in prose.split_inclusive('\n') {
        let defined = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]:"));
        let defined = defined.filter(|(name, _)| !name.starts_with('^') && !name.contains(']'));
        labels.extend(defined.and_then(|(name, rest)| {
            Some(Label { at, name: folded(name), target: target(rest)? })
        }));
        at += line.len();
    }
    labels
}

/// The labels that `[text][label]` and `[label][]` ask for.
fn references(prose: &str) -> Vec<(usize, String)> {
    let opens = prose.match_indices("][");
    let asked = opens.filter_map(|(at, _)| {
        let label = prose[at + 2..].split(']').next()?;
        let text = prose[..at].rsplit('[').next()?;
        // What begins so is a footnote.
        let is_link = !label.starts_with('^') && !text.starts_with('^');
        is_link.then(|| (at, folded(if label.is_empty() { text } else { label })))
    });
    asked.collect()
}

/// A label as it is compared: the case and the spaces between its words say nothing.
fn folded(label: &str) -> String {
    label.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What HTML in a page leads to.
fn html(page: &Page<'_>) -> Vec<(usize, String)> {
    let mut targets = page.attributes("href");
    targets.extend(page.attributes("src"));
    for (at, set) in page.attributes("srcset") {
        targets.extend(set.split(',').filter_map(|one| Some((at, target(one)?))));
    }
    targets
}

/// What is wrong with a link that stands in the page `from`.
fn link(tree: &Tree, from: &str, target: &str) -> Option<String> {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    if scheme.is_some_and(|s| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric())) {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    if climbs_out(from, file) {
        return Some(format!("the link `{target}` leads out of the tree"));
    }
    let to = if file.is_empty() { from.to_owned() } else { resolve(from, file) };
    if !tree.has(&to) {
        return Some(format!("the link `{target}` leads to {to}, which does not exist"));
    }
    let text = tree.text(&to).filter(|_| !anchor.is_empty())?;
    if !to.ends_with(".md") {
        let line = anchor.strip_prefix('L')?.split('-').next()?.parse::<usize>().ok()?;
        let lines = text.lines().count();
        return (line > lines).then(|| format!("{to} has only {lines} lines"));
    }
    let found = Page::of(text).anchors.iter().any(|found| found == anchor);
    (!found).then(|| format!("the link `{target}` names no heading of {to}"))
}

/// Whether a path has more `..` than there are folders around the page.
fn climbs_out(from: &str, path: &str) -> bool {
    let mut depth = from.matches('/').count();
    path.split('/').any(|part| {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
        false
    })
}

/// What is wrong with a code span that names a place: `crates/core/src/raw.rs`, with a line
/// (`raw.rs:12`) or an item (`raw.rs::RawJson`) behind it. Other spans are not places.
fn place(tree: &Tree, from: &str, span: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:".contains(c);
    if !span.chars().all(plain) || span.contains("//") {
        return None;
    }
    let path = span.split("::").next().unwrap_or(span);
    let (path, line) = match path.split_once(':') {
        Some((path, line)) => (path, Some(line.parse::<usize>().ok()?)),
        None => (path, None),
    };
    let top = path.split_once('/').map(|(top, _)| top);
    // Git's own are no part of what it keeps: in a second work tree they stand elsewhere.
    let ours = top.is_some_and(|top| !top.is_empty() && top != ".git" && tree.has(top));
    let file = SOURCES.into_iter().any(|end| path.ends_with(end));
    let pointed_into = file && line.is_some();
    if !ours && !pointed_into {
        return None;
    }
    let Some(path) = [path.to_owned(), resolve(from, path)].into_iter().find(|p| tree.has(p))
    else {
        return Some(format!("`{span}` names a file that does not exist"));
    };
    let lines = tree.text(&path).map_or(0, |text| text.lines().count());
    line.is_some_and(|line| line > lines).then(|| format!("{path} has only {lines} lines"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_text(page: &str, expected: Expect) {
        let tree = Tree::of([
            ("docs/page.md", page),
            ("docs/other.md", "# The Title: `x`\n"),
            ("crates/a/src/lib.rs", "//! A.\n"),
        ]);
        expected.assert_eq(&render(check(&tree)));
    }

    #[test]
    fn what_exists_is_fine() {
        check_text(
            "[a](other.md) [b](../crates/a/ \"t\") [c](other.md#the-title-x) [d](#here)\n\
             # Here\n\n`crates/a/src/lib.rs:1` and `crates/a/src/lib.rs::A`, `other.md:1`.\n\
             [label]: other.md\n[web](https://example.com/x) `[no](link.md)`\n\
             `a/b` `crates/*/x` `x:y` `127.0.0.1:0`\n```\n[in](code.md)\n```\n",
            expect![""],
        );
    }

    #[test]
    fn what_does_not_is_refused() {
        check_text(
            "[a](gone.md)\n[b](other.md#gone)\n`crates/a/src/gone.rs`\n\
             `crates/a/src/lib.rs:2`\n`gone.rs:7`\n[label]: gone.md\n",
            expect![[r#"
                docs/page.md:1: the link `gone.md` leads to docs/gone.md, which does not exist
                docs/page.md:2: the link `other.md#gone` names no heading of docs/other.md
                docs/page.md:3: `crates/a/src/gone.rs` names a file that does not exist
                docs/page.md:4: crates/a/src/lib.rs has only 1 lines
                docs/page.md:5: `gone.rs:7` names a file that does not exist
                docs/page.md:6: the link `gone.md` leads to docs/gone.md, which does not exist
            "#]],
        );
    }

    #[test]
    fn html_and_labels_are_links_too() {
        check_text(
            "<a href=\"other.md\">a</a> <img src='../crates/a/src/lib.rs' alt=x> <img src=https://x.y/z>\n\
             [text][Known  label] [known label][] [note][^1] <https://example.com>\n\n\
             [known label]: other.md#the-title-x\n  [b]: <../crates/a/> 'title'\n[^1]: A note.\n",
            expect![""],
        );
        check_text(
            "<a class=\"x\"\nhref=\"gone.md\">a</a>\n<IMG SRC='gone.png'>\n\
             <source srcset=\"other.md 1x, gone-2.png 2x\">\n\n[text][gone] [Gone too][]\n\n\
             [text][known]\n\n  [known]: gone.md\n",
            expect![[r#"
                docs/page.md:1: the link `gone.md` leads to docs/gone.md, which does not exist
                docs/page.md:3: the link `gone.png` leads to docs/gone.png, which does not exist
                docs/page.md:4: the link `gone-2.png` leads to docs/gone-2.png, which does not exist
                docs/page.md:6: no line `[gone too]: ...` says where `[gone too]` leads
                docs/page.md:6: no line `[gone]: ...` says where `[gone]` leads
                docs/page.md:10: the link `gone.md` leads to docs/gone.md, which does not exist
            "#]],
        );
    }

    #[test]
    fn a_link_behind_a_broken_code_span_is_seen() {
        check_text(
            "`one\ntwo` [a](gone.md)\n- it`s [b](gone.md)\n- `c` [d](gone.md)\n\
             ````\n```\n````\n[e](gone.md)\n",
            expect![[r#"
                docs/page.md:2: the link `gone.md` leads to docs/gone.md, which does not exist
                docs/page.md:3: the link `gone.md` leads to docs/gone.md, which does not exist
                docs/page.md:4: the link `gone.md` leads to docs/gone.md, which does not exist
                docs/page.md:8: the link `gone.md` leads to docs/gone.md, which does not exist
            "#]],
        );
    }

    #[test]
    fn a_link_leads_to_what_its_reader_sees() {
        check_text(
            "[a](../../docs/other.md) [b](../crates/a/src/lib.rs#L2) [c](../crates/a/src/lib.rs#L1)\n\
             [d](<other.md>) [e](gone(1).md)\n```\n# Only code\n```\n[f](#only-code)\n\
             # Two\n# Two\n[g](#two-1) [h](#two-2)\n",
            expect![[r#"
                docs/page.md:1: crates/a/src/lib.rs has only 1 lines
                docs/page.md:1: the link `../../docs/other.md` leads out of the tree
                docs/page.md:2: the link `gone(1).md` leads to docs/gone(1).md, which does not exist
                docs/page.md:6: the link `#only-code` names no heading of docs/page.md
                docs/page.md:9: the link `#two-2` names no heading of docs/page.md
            "#]],
        );
    }
}
