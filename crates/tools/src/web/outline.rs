//! Whether a page can be read in reasonable time, told from its tags before a tree is made of them.
//!
//! Pages are hostile: what builds the tree takes time with the square of how deep elements nest and
//! how many attributes they have. Looking at the tags costs one pass. Scripts, styles and comments
//! are taken out before, so that nothing is in the page that was not looked at.

use super::tags::{Kind, Pieces, Tag};

/// Elements of a page.
const ELEMENTS_MAX: usize = 50_000;
/// Elements within each other. What builds the tree looks through them for each new one, and what
/// reads it calls itself for each.
pub(super) const DEPTH_MAX: usize = 400;
/// Attributes of an element. Each is compared with all before it.
const ATTRIBUTES_MAX: usize = 1_000;
/// Elements that a parser may make of a page: after each tag it may open again whatever formats
/// the text and has not ended.
const MADE_MAX: usize = 500_000;
/// Attributes of the elements that a parser so opens again.
const ATTRIBUTES_MADE_MAX: usize = 1_000_000;
/// Blocks that the end of what formats their text moves it out of; it stays in those further in.
const MOVED_MAX: usize = 7;

/// Elements that end by themselves: they hold nothing, the next of their kind ends them, or there
/// is one of them.
const ENDING: [&str; 34] = [
    "area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html",
    "img", "input", "li", "link", "meta", "optgroup", "option", "p", "param", "rb", "rp", "rt",
    "rtc", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
];

/// Elements that format text. A parser opens them again where another's end has closed them.
const FORMATTING: [&str; 14] = [
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// Elements through which no other's end reaches.
const WALLS: [&str; 6] = ["applet", "caption", "marquee", "object", "table", "template"];

/// Blocks, through which the end of an element that is none does not reach.
const BLOCKS: [&str; 38] = [
    "address",
    "applet",
    "article",
    "aside",
    "blockquote",
    "button",
    "caption",
    "center",
    "details",
    "dir",
    "div",
    "dl",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frameset",
    "h1",
    "header",
    "hgroup",
    "listing",
    "main",
    "marquee",
    "menu",
    "nav",
    "object",
    "ol",
    "pre",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "template",
    "ul",
    "noscript",
    "foreignobject",
];

/// A page without scripts, styles and comments.
pub(super) fn without_scripts(html: &str) -> String {
    // Both have the same length: only ASCII letters change.
    let lower = html.to_ascii_lowercase();
    let is_taken_out = |name: &str| matches!(name, "script" | "style");
    let mut kept = String::with_capacity(html.len());
    for (range, kind) in Pieces::of(&lower) {
        let is_kept = match kind {
            Kind::Start(tag) => !is_taken_out(tag.name),
            Kind::Raw(name) | Kind::End(name) => !is_taken_out(name),
            Kind::Comment => false,
            Kind::Text => true,
        };
        if is_kept {
            kept.push_str(&html[range]);
        } else if kept.ends_with('<') {
            // What stands behind it is not to become a tag by that.
            kept.push(' ');
        }
    }
    kept
}

/// Looks at the tags of a page.
pub(super) fn check(html: &str) -> Result<(), String> {
    let lower = html.to_ascii_lowercase();
    let (mut n_elements, mut n_ends, mut open) = (0, 0, Open::default());
    let (mut n_made, mut n_attributes_made) = (0, 0);
    for (range, kind) in Pieces::of(&lower) {
        match kind {
            Kind::Start(tag) => {
                check_attributes(tag.n_attributes)?;
                open.start(&tag);
            }
            Kind::End(name) => {
                n_ends += 1;
                open.end(name);
            }
            // In a drawing it is no text.
            Kind::Raw(_) => {
                for (_, kind) in Pieces::within(&lower[range.clone()]) {
                    let Kind::Start(tag) = kind else { continue };
                    check_attributes(tag.n_attributes)?;
                }
            }
            Kind::Text | Kind::Comment => {}
        }
        // In quotes, too: so the count holds whatever a parser takes for quoted.
        n_elements += starts(&lower[range]);
        n_made += 1 + open.n_formatting;
        n_attributes_made += open.n_attributes;
        // Each end is looked for in all that is open, whether it ends something or not.
        if n_elements.max(n_ends) > ELEMENTS_MAX || n_made > MADE_MAX {
            return Err(format!("the page has more than {ELEMENTS_MAX} elements"));
        }
        if n_attributes_made > ATTRIBUTES_MADE_MAX {
            return Err("what formats the page's text has too many attributes".to_owned());
        }
        if open.elements.len() > DEPTH_MAX {
            return Err(too_deep());
        }
    }
    Ok(())
}

/// What is said of a page whose elements nest deeper than they may.
pub(super) fn too_deep() -> String {
    format!("the page's elements nest deeper than {DEPTH_MAX}")
}

fn check_attributes(n_attributes: usize) -> Result<(), String> {
    if n_attributes > ATTRIBUTES_MAX {
        return Err(format!("an element has more than {ATTRIBUTES_MAX} attributes"));
    }
    Ok(())
}

fn starts(text: &str) -> usize {
    let bytes = text.as_bytes();
    let begins = |at: &usize| bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic);
    memchr::memchr_iter(b'<', bytes).filter(begins).count()
}

/// The elements that are open; rather one too many than one too few.
#[derive(Default)]
struct Open<'a> {
    elements: Vec<Element<'a>>,
    /// How many of them format text.
    n_formatting: usize,
    /// How many attributes those have.
    n_attributes: usize,
}

/// An element that is open.
#[derive(Clone, Copy)]
struct Element<'a> {
    name: &'a str,
    n_attributes: usize,
    // Looked up once: each end asks all that is open.
    is_formatting: bool,
    is_wall: bool,
    is_block: bool,
}

impl<'a> Element<'a> {
    fn new(name: &'a str, n_attributes: usize) -> Self {
        let is_of = |names: &[&str]| names.contains(&name);
        Self {
            name,
            n_attributes,
            is_formatting: is_of(&FORMATTING),
            is_wall: is_of(&WALLS),
            is_block: is_of(&BLOCKS),
        }
    }
}

impl<'a> Open<'a> {
    fn start(&mut self, tag: &Tag<'a>) {
        let name = one_name(tag.name);
        if (ENDING.contains(&name) && !self.nests(name)) || (tag.is_closed && self.is_drawn(name)) {
            return;
        }
        if name == "a" {
            // A link within a link ends the outer one.
            self.end(name);
        }
        let element = Element::new(name, tag.n_attributes);
        if element.is_formatting {
            self.n_formatting += 1;
            self.n_attributes += tag.n_attributes;
        }
        self.elements.push(element);
    }

    fn has(&self, name: &str) -> bool {
        self.elements.iter().any(|open| open.name == name)
    }

    /// Whether an element that ends by itself does not do so here.
    fn nests(&self, name: &str) -> bool {
        let is_anywhere = ["br", "dd", "dt", "embed", "hr", "img", "li", "meta", "p"];
        match name {
            "rb" | "rp" | "rt" | "rtc" => !self.has("ruby"),
            name => !is_anywhere.contains(&name) && (self.has("svg") || self.has("math")),
        }
    }

    /// Whether it is a part of a drawing or formula, in which elements may end at once.
    fn is_drawn(&self, name: &str) -> bool {
        let is_known = FORMATTING.contains(&name) || BLOCKS.contains(&name);
        !is_known && (self.has("svg") || self.has("math")) || matches!(name, "svg" | "math")
    }

    fn end(&mut self, name: &str) {
        let name = one_name(name);
        let Some(at) = self.elements.iter().rposition(|open| open.name == name) else { return };
        let (ended, inner) = (self.elements[at], &self.elements[at + 1..]);
        if !ended.is_wall && inner.iter().any(|open| open.is_wall) {
            return;
        }
        if ended.is_formatting {
            if inner.iter().filter(|open| !open.is_formatting).count() <= MOVED_MAX {
                self.elements.remove(at);
                self.n_formatting -= 1;
                self.n_attributes -= ended.n_attributes;
            }
        } else if name == "form" {
            // It alone ends; what is open in it stays so.
            self.elements.remove(at);
        } else if ended.is_block || !inner.iter().any(|open| open.is_block) {
            let stays: Vec<_> = inner.iter().copied().filter(|open| open.is_formatting).collect();
            self.elements.truncate(at);
            self.elements.extend(stays);
        }
    }
}

/// Headings end each other, whichever they are.
fn one_name(name: &str) -> &str {
    match name {
        "h2" | "h3" | "h4" | "h5" | "h6" => "h1",
        name => name,
    }
}
