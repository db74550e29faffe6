//! Whether a page can be read in reasonable time, told from its tags before a tree is made of them.
//!
//! Pages are hostile: what builds the tree takes time with the square of how deep elements nest and
//! how many attributes they have. Looking at the tags costs one pass. Scripts, styles and comments
//! are taken out before, so that nothing is in the page that was not looked at.

/// Elements of a page.
const ELEMENTS_MAX: usize = 50_000;
/// Elements within each other. What builds the tree looks through them for each new one, and what
/// reads it calls itself for each.
const DEPTH_MAX: usize = 400;
/// Attributes of an element. Each is compared with all before it.
const ATTRIBUTES_MAX: usize = 1_000;

/// Elements that end by themselves: they hold nothing, or the next of their kind ends them.
const ENDING: [&str; 32] = [
    "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "hr", "img", "input", "li",
    "link", "meta", "optgroup", "option", "p", "param", "rb", "rp", "rt", "rtc", "source", "tbody",
    "td", "tfoot", "th", "thead", "tr", "track", "wbr", "!doctype",
];

/// What is taken out of a page: how it begins and ends, in lower case.
const TAKEN_OUT: [(&str, &str); 3] =
    [("<!--", "-->"), ("<script", "</script"), ("<style", "</style")];

/// A page without scripts, styles and comments.
pub(super) fn without_scripts(html: &str) -> String {
    // Both have the same length: only ASCII letters change.
    let lower = html.to_ascii_lowercase();
    let mut kept = String::with_capacity(html.len());
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &lower.as_bytes()[at..]) {
        let start = at + found;
        kept.push_str(&html[at..start]);
        let taken = TAKEN_OUT.iter().find(|(begin, _)| lower[start..].starts_with(begin));
        let Some((begin, end)) = taken else {
            kept.push('<');
            at = start + 1;
            continue;
        };
        let inside = start + begin.len();
        // What does not end takes the rest of the page with it, as it does in a browser.
        at = lower[inside..].find(end).map_or(html.len(), |length| inside + length + end.len());
        if *begin != "<!--" {
            at = lower[at..].find('>').map_or(html.len(), |length| at + length + 1);
        }
    }
    kept.push_str(&html[at..]);
    kept
}

/// Looks at the tags of a page.
pub(super) fn check(html: &str) -> Result<(), String> {
    let (mut n_elements, mut depth) = (0_usize, 0_usize);
    let mut rest = html;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        rest = &rest[at + 1..];
        let is_end = rest.starts_with('/');
        if !rest.trim_start_matches('/').starts_with(|char: char| char.is_ascii_alphabetic()) {
            continue;
        }
        let tag = Tag::of(rest.trim_start_matches('/'));
        if tag.n_attributes > ATTRIBUTES_MAX {
            return Err(format!("an element has more than {ATTRIBUTES_MAX} attributes"));
        }
        if ENDING.contains(&tag.name.as_str()) || tag.name.is_empty() {
            n_elements += usize::from(!is_end);
        } else if is_end {
            depth = depth.saturating_sub(1);
        } else {
            (n_elements, depth) = (n_elements + 1, depth + 1);
        }
        if n_elements > ELEMENTS_MAX {
            return Err(format!("the page has more than {ELEMENTS_MAX} elements"));
        }
        if depth > DEPTH_MAX {
            return Err(format!("the page's elements nest deeper than {DEPTH_MAX}"));
        }
    }
    Ok(())
}

/// The inside of a tag.
struct Tag {
    /// In lower case.
    name: String,
    /// At most; what stands in quotes counts for none.
    n_attributes: usize,
}

impl Tag {
    fn of(text: &str) -> Self {
        let ends = |char: char| char.is_ascii_whitespace() || matches!(char, '/' | '>');
        let name_end = text.find(ends).unwrap_or(text.len());
        let mut quote = None;
        let mut n_attributes = 0;
        let mut before = b' ';
        for byte in text.as_bytes()[name_end..].iter().copied() {
            match quote {
                Some(end) if byte == end => quote = None,
                Some(_) => {}
                None if byte == b'>' => break,
                // Only where a value begins do quotes quote.
                None if matches!(byte, b'"' | b'\'') && before == b'=' => quote = Some(byte),
                None => {
                    let begins =
                        before.is_ascii_whitespace() || matches!(before, b'/' | b'"' | b'\'');
                    n_attributes += usize::from(begins && !byte.is_ascii_whitespace());
                }
            }
            before = byte;
        }
        Self { name: text[..name_end].to_ascii_lowercase(), n_attributes }
    }
}
