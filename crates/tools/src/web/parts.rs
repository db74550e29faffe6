//! The parts of a page: which are left out, and what makes the others fit for Markdown.

use std::collections::HashSet;

use dom_query::{Document, NodeData, NodeId, NodeRef};
use url::Url;

/// Bytes of an address, with those of the page that it is told with.
const ADDRESS_BYTES_MAX: usize = 2_000;
/// Bytes of all addresses that are told whole; what comes behind stays as it was written.
const ADDRESSES_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of the name of a code's language. It is told with all code in an element.
const LANGUAGE_BYTES_MAX: usize = 100;

/// What says nothing, or nothing as text.
const USELESS: &str = "script, style, noscript, template, svg, iframe, img[src^='data:']";
/// What leads through a site.
const MENUS: &str =
    "nav, [role=navigation], [role=banner], [role=contentinfo], [role=search], search";

/// Takes out what nobody reads, and changes what Markdown would say otherwise than a screen.
pub(super) fn make_ready(page: &Document, address: &str) {
    page.select(USELESS).remove();
    make_absolute(page, address);
    page.select("head").remove();
    for name in ["data-lang", "data-language"] {
        for node in page.select(&format!("[{name}]")).nodes() {
            if node.attr(name).is_some_and(|said| said.len() > LANGUAGE_BYTES_MAX) {
                node.remove_attr(name);
            }
        }
    }
    make_lines(page);
}

/// Links that can be followed from elsewhere.
fn make_absolute(page: &Document, address: &str) {
    let Ok(mut base) = Url::parse(address) else { return };
    if let Some(said) = page.select("base").attr("href").and_then(|said| base.join(&said).ok()) {
        base = said;
    }
    // It would be told again with each link.
    if base.as_str().len() > ADDRESS_BYTES_MAX {
        return;
    }
    let mut room = ADDRESSES_BYTES_MAX;
    for (selector, name) in [("a[href]", "href"), ("img[src]", "src")] {
        for node in page.select(selector).nodes() {
            let is_told = |said: &str| !said.starts_with('#') && said.len() <= ADDRESS_BYTES_MAX;
            let Some(said) = node.attr(name).filter(|said| is_told(said)) else { continue };
            let Ok(whole) = base.join(&said) else { continue };
            let length = whole.as_str().len();
            if length <= ADDRESS_BYTES_MAX && length <= room {
                room -= length;
                node.set_attr(name, whole.as_str());
            }
        }
    }
}

/// What stands apart on a screen and would run together in Markdown.
fn make_lines(page: &Document) {
    let code = Within::of(page, "pre");
    for node in page.select("br").nodes().iter().filter(|node| code.has(node)) {
        node.replace_with(&page.tree.new_text("\n"));
    }
    // The inner before the outer: their last line may be the same.
    for node in page.select("div, p").nodes().iter().rev().filter(|node| code.has(node)) {
        if !ends_a_line(node) {
            node.append_child(&page.tree.new_text("\n"));
        }
    }
    page.select("dt, dd").rename("p");
    for node in page.select("sup").nodes() {
        node.insert_before(&page.tree.new_text("^"));
    }
}

fn ends_a_line(node: &NodeRef<'_>) -> bool {
    let mut last = *node;
    while let Some(child) = last.last_child() {
        last = child;
    }
    let ends =
        |data: &NodeData| matches!(data, NodeData::Text { contents } if contents.ends_with('\n'));
    last.query_or(false, |last| ends(&last.data))
}

/// Takes out what is the same on every page of a site. The head and foot of an article, and what
/// stands beside its text, are parts of it.
pub(super) fn remove_surroundings(page: &Document) -> Vec<Removed<'_>> {
    let mut removed: Vec<_> =
        page.select(MENUS).nodes().iter().filter_map(|node| Removed::from_page(*node)).collect();
    let parts = Within::of(page, "main, article, [role=main]");
    for node in page.select("header, footer, aside").nodes() {
        if !parts.has(node) {
            removed.extend(Removed::from_page(*node));
        }
    }
    removed
}

/// What was taken out, and from where.
pub(super) struct Removed<'a> {
    node: NodeRef<'a>,
    parent: NodeRef<'a>,
    next: Option<NodeRef<'a>>,
}

impl<'a> Removed<'a> {
    fn from_page(node: NodeRef<'a>) -> Option<Self> {
        let removed = Self { node, parent: node.parent()?, next: node.next_sibling() };
        node.remove_from_parent();
        Some(removed)
    }

    /// Puts all back: the last first, so that what stood behind each is there again.
    pub(super) fn put_back(all: Vec<Self>) {
        for Self { node, parent, next } in all.into_iter().rev() {
            match next {
                Some(next) => next.insert_before(&node),
                None => parent.append_child(&node),
            }
        }
    }
}

/// What stands within some elements, found in one pass: to ask for each node what it stands in takes
/// time with the depth of a page.
struct Within(HashSet<NodeId>);

impl Within {
    fn of(page: &Document, outer: &str) -> Self {
        let mut all: HashSet<_> = page.select(outer).nodes().iter().map(|node| node.id).collect();
        for node in page.root().descendants_it() {
            if node.parent().is_some_and(|parent| all.contains(&parent.id)) {
                all.insert(node.id);
            }
        }
        Self(all)
    }

    fn has(&self, node: &NodeRef<'_>) -> bool {
        node.parent().is_some_and(|parent| self.0.contains(&parent.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page made ready: how many bytes it has as HTML, and how many addresses are whole.
    fn check(html: &str, n_bytes_max: usize, n_whole: usize) {
        let page = Document::from(html);
        make_ready(&page, "https://example.com/a/b");
        let html = page.html();
        assert!(html.len() <= n_bytes_max, "{} bytes", html.len());
        assert_eq!(html.matches("=\"https://").count(), n_whole);
    }

    #[test]
    fn whole_addresses_do_not_make_a_page_much_longer() {
        let page = |base: usize, said: &str, n: usize| {
            let base = format!("<base href='https://example.com/{}/'>", "b".repeat(base));
            base + &format!("<a href='{said}'>x</a>").repeat(n)
        };
        check(&page(10, "?", 10_000), 700_000, 10_000);
        check(&page(1_900, "?", 40_000), ADDRESSES_BYTES_MAX + 1_000_000, 2_182);
        // With less than the page says, none would lead where it does.
        check(&page(100_000, "?", 10_000), 400_000, 0);
        check(&page(10, &"c".repeat(ADDRESS_BYTES_MAX), 10), 30_000, 0);
        check(&page(10, &" ".repeat(ADDRESS_BYTES_MAX), 1), 3_000, 1);
        check(&page(10, &format!("{}c", "&nbsp;".repeat(900)), 1), 8_000, 0);
    }

    #[test]
    fn the_name_of_a_language_is_told_unless_it_is_none() {
        let page = |language: &str| {
            let html = format!("<div data-lang='{language}'>{}", "<pre>a</pre>".repeat(100));
            let page = Document::from(&*html);
            make_ready(&page, "https://example.com/");
            page.md(None).len()
        };
        assert_eq!(page("rust") - page(""), 400);
        assert_eq!(page(&"x".repeat(LANGUAGE_BYTES_MAX + 1)), page(""));
    }

    #[test]
    fn what_was_taken_out_is_put_back_where_it_was() {
        let html = "<nav>a<nav>b</nav><nav>c</nav></nav><header>d</header>e<aside>f</aside><aside>g</aside>";
        let page = Document::from(html);
        let before = page.html();
        let removed = remove_surroundings(&page);
        assert_eq!(page.select("body").inner_html().to_string(), "e");
        Removed::put_back(removed);
        assert_eq!(page.html(), before);
    }

    #[test]
    fn what_an_article_has_around_it_goes_however_deep() {
        let foot = "<footer>x</footer>";
        let page = format!("{foot}<main>{foot}<div>{foot}</div></main><div>{foot}</div>");
        let page = Document::from(page);
        remove_surroundings(&page);
        assert_eq!(page.select("footer").length(), 2);
    }
}
