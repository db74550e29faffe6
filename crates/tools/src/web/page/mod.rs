//! What a page says, as text for a model: Markdown of what matters, without menus and scripts.

#[cfg(test)]
mod tests;

use dom_query::{Document, NodeRef};

use super::parts::{self, Removed};
use super::{bounds, outline};
use crate::text::without_begun;

/// Bytes of a page that are read; what comes behind is left out, and said to be.
const PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Less than this share of the page's whole text, in percent, is not what the page is about, whatever
/// it is named.
const MAIN_PERCENT_MIN: usize = 10;

/// A page's title and text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) text: String,
}

/// What an HTML page says. Between the steps it is asked whether somebody still wants to know.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn of_html(
    html: &str,
    address: &str,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Page, String> {
    let go_on =
        || if is_wanted() { Ok(()) } else { Err("cancelled before it was read".to_owned()) };
    // What is not shown does not count.
    let html = outline::without_scripts(html);
    go_on()?;
    let (html, is_long) = match html.len() <= PAGE_BYTES_MAX {
        true => (&html[..], false),
        false => (without_begun(&html[..html.floor_char_boundary(PAGE_BYTES_MAX)]), true),
    };
    outline::check(html)?;
    go_on()?;
    let page = Document::from(html);
    go_on()?;
    // The parser has the last word on how deep it is: what follows calls itself for each element.
    check_depth(&page)?;
    let title = page.select("head > title").text();
    parts::make_ready(&page, address);
    go_on()?;
    let part = main_part(&page);
    let is_cut = bounds::cut(&part);
    go_on()?;
    let mut text = tidied(&part.md(None));
    let cut = match (is_cut, is_long) {
        (true, _) => "too much as Markdown, by its length or by how deep it nests".to_owned(),
        (false, true) => format!("longer than {PAGE_BYTES_MAX} bytes"),
        (false, false) => String::new(),
    };
    if !cut.is_empty() {
        text.push_str(&format!("\n\n[... the page is {cut}; cut here]"));
    }
    Ok(Page { title: title.split_whitespace().collect::<Vec<_>>().join(" "), text })
}

/// What the page is about, without what stands around it; the whole page where that is not told.
fn main_part(page: &Document) -> NodeRef<'_> {
    let whole = page.root();
    let n_chars = whole.normalized_char_count();
    let removed = parts::remove_surroundings(page);
    let is_enough =
        |part: &NodeRef<'_>| part.normalized_char_count() * 100 >= n_chars * MAIN_PERCENT_MIN;
    let named = ["main, [role=main]", "article", "body"];
    let part = named.into_iter().find_map(|named| only(page, named).filter(is_enough));
    part.unwrap_or_else(|| {
        Removed::put_back(removed);
        whole
    })
}

/// The one element that this selects; of several none is the page.
fn only<'a>(page: &'a Document, selector: &str) -> Option<NodeRef<'a>> {
    match page.select(selector).nodes() {
        [one] => Some(*one),
        _ => None,
    }
}

fn check_depth(page: &Document) -> Result<(), String> {
    let (mut node, mut depth) = (page.root(), 0);
    loop {
        if let Some(child) = node.first_child() {
            (node, depth) = (child, depth + 1);
            if depth > outline::DEPTH_MAX {
                return Err(outline::too_deep());
            }
            continue;
        }
        while depth > 0 && node.next_sibling().is_none() {
            let Some(parent) = node.parent() else { return Ok(()) };
            (node, depth) = (parent, depth - 1);
        }
        match node.next_sibling() {
            Some(next) if depth > 0 => node = next,
            _ => return Ok(()),
        }
    }
}

/// Without lines of nothing but space, more than one empty line in a row, or space at lines' ends.
fn tidied(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut n_empty = 1;
    for line in text.lines().map(str::trim_end) {
        n_empty = if line.trim().is_empty() { n_empty + 1 } else { 0 };
        if n_empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}
