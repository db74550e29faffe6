//! Links and places in the Markdown lead somewhere.

use crate::finding::Finding;
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
    let mut findings = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let (prose, spans) = spans(line);
        let links = targets(&prose).into_iter().filter_map(|target| link(tree, path, &target));
        let places = spans.into_iter().filter(|_| path != HISTORY);
        let places = places.filter_map(|span| place(tree, path, span));
        findings.extend(links.chain(places).map(|m| Finding::refused(path, index + 1, m)));
    }
    findings
}

/// A line without its code spans, and the spans.
fn spans(line: &str) -> (String, Vec<&str>) {
    let (mut prose, mut spans) = (String::new(), Vec::new());
    for (index, part) in line.split('`').enumerate() {
        match index % 2 {
            0 => prose.push_str(part),
            _ => spans.push(part),
        }
    }
    (prose, spans)
}

/// The targets of `[text](target)` and `[label]: target`.
fn targets(prose: &str) -> Vec<String> {
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let label = prose.starts_with('[').then(|| prose.split_once("]: ")).flatten();
    inline
        .chain(label.map(|(_, target)| target))
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']).to_owned())
        .collect()
}

/// What is wrong with a link that stands in the page `from`.
fn link(tree: &Tree, from: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let to = if file.is_empty() { from.to_owned() } else { resolve(from, file) };
    if !tree.has(&to) {
        return Some(format!("the link `{target}` leads to {to}, which does not exist"));
    }
    let page = tree.text(&to).filter(|_| to.ends_with(".md") && !anchor.is_empty())?;
    let found = page.lines().any(|line| heading(line).is_some_and(|slug| slug == anchor));
    (!found).then(|| format!("the link `{target}` names no heading of {to}"))
}

/// The anchor of a heading: lower case, spaces as dashes, punctuation dropped.
fn heading(line: &str) -> Option<String> {
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
}
