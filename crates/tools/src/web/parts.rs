//! The parts of a page: which are left out, and what makes the others fit for Markdown.

use dom_query::{Document, NodeRef};
use url::Url;

/// What says nothing, or nothing as text.
const USELESS: &str = "script, style, noscript, template, svg, iframe, img[src^='data:']";
/// What leads through a site.
const MENUS: &str =
    "nav, [role=navigation], [role=banner], [role=contentinfo], [role=search], search";

/// Takes out what nobody reads, and changes what Markdown would say otherwise than a screen.
pub(super) fn make_ready(page: &Document, address: &str) {
    page.select(USELESS).remove();
    make_absolute(page, address);
    make_lines(page);
}

/// Links that can be followed from elsewhere.
fn make_absolute(page: &Document, address: &str) {
    let Ok(mut base) = Url::parse(address) else { return };
    if let Some(said) = page.select("base").attr("href").and_then(|said| base.join(&said).ok()) {
        base = said;
    }
    for (selector, name) in [("a[href]", "href"), ("img[src]", "src")] {
        for node in page.select(selector).nodes() {
            let said = node.attr(name).filter(|said| !said.starts_with('#'));
            if let Some(Ok(whole)) = said.map(|said| base.join(&said)) {
                node.set_attr(name, whole.as_str());
            }
        }
    }
}

/// What stands apart on a screen and would run together in Markdown.
fn make_lines(page: &Document) {
    for node in page.select("pre br").nodes() {
        node.replace_with(&page.tree.new_text("\n"));
    }
    // The inner before the outer: their last line may be the same.
    for node in page.select("pre div, pre p").nodes().iter().rev() {
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
    last.is_text() && last.text().ends_with('\n')
}

/// Takes out what is the same on every page of a site. The head and foot of an article, and what
/// stands beside its text, are parts of it.
pub(super) fn remove_surroundings(page: &Document) {
    page.select(MENUS).remove();
    for node in page.select("header, footer, aside").nodes() {
        let is_part = |outer: NodeRef<'_>| outer.is("main, article, [role=main]");
        if !node.ancestors_it(None).any(is_part) {
            node.remove_from_parent();
        }
    }
}
