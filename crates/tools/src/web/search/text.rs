//! Strangers' words, made fit to be shown: one line each, without what a screen or a model could
//! take for something else.

use heeler_secrets::{BEYOND_CUT_BYTES, MARKER};

use crate::text::part;

/// Stands behind what is cut, as it does in every tool.
const CUT: &str = " [...]";
/// Tags that servers put around words.
const TAGS: [&str; 8] = ["strong", "b", "em", "i", "br", "mark", "p", "span"];
/// Entities that stand for a character.
const ENTITIES: [(&str, char); 8] = [
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&apos;", '\''),
    ("&nbsp;", ' '),
    ("&amp;", '&'),
];

/// One line of at most so many bytes; what is cut ends with a mark, and holds no half of a key.
pub(super) fn one_line(text: &str, bytes_max: usize) -> String {
    let mut line = String::new();
    for char in text.chars() {
        // A key that is cut may be as long; the rest need not be looked at.
        if line.len() > bytes_max + BEYOND_CUT_BYTES {
            break;
        }
        match char {
            char if char.is_whitespace() => {
                if !line.is_empty() && !line.ends_with(' ') {
                    line.push(' ');
                }
            }
            char if char.is_control() || is_invisible(char) => {}
            char => line.push(char),
        }
    }
    line.truncate(line.trim_end().len());
    if line.len() <= bytes_max {
        return line;
    }
    let room = bytes_max.saturating_sub(CUT.len());
    let mut shown = part(&line, 0..line.floor_char_boundary(room)).into_owned();
    // The marker of a key may be longer than what is seen of the key.
    if shown.len() > room {
        shown.truncate(shown.rfind(MARKER).unwrap_or_default());
    }
    shown.truncate(shown.trim_end().len());
    shown + CUT
}

/// Text of a server that writes HTML: without its tags for emphasis, and with characters for
/// entities.
pub(super) fn of_html(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((entity, char)) = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity)) {
            text.push(*char);
            rest = &rest[entity.len()..];
        } else if let Some(length) = tag(rest) {
            rest = &rest[length..];
        } else {
            text.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    text.push_str(rest);
    text
}

/// The length of the tag that a text begins with, if it is one of those above.
fn tag(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('<')?;
    let end = inside.bytes().take(200).position(|byte| byte == b'>')?;
    let name = inside[..end].trim_start_matches('/');
    let name = name.split([' ', '/']).next().unwrap_or_default();
    TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(name)).then_some(end + 2)
}

/// Marks of direction and of no width: words that look like others, or like nothing.
fn is_invisible(char: char) -> bool {
    matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(char, '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_written_for_a_browser_is_text() {
        let html = "a <strong>b</strong> &amp;lt; Vec&lt;u8&gt; x<y &#x27;q&#39;<br/>z & <script>";
        assert_eq!(of_html(html), "a b &lt; Vec<u8> x<y 'q'z & <script>");
        assert_eq!(of_html("<b<"), "<b<");
    }

    #[test]
    fn a_line_is_a_line_whatever_is_in_it() {
        let text = " a\n\n2. \u{1b}[31mb\u{202e}c\t\u{e0041}d ";
        assert_eq!(one_line(text, 100), "a 2. [31mbc d");
        assert_eq!(one_line("abcdefgh", 8), "abcdefgh");
        assert_eq!(one_line("abcdefghi", 8), "ab [...]");
        assert_eq!(one_line("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", 9), "\u{e9} [...]");
    }

    #[test]
    fn a_key_that_the_cut_goes_through_is_not_shown_in_part() {
        let key = "ghp_q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuC";
        let text = format!("a title of some length, with {key} in it and more");
        for bytes_max in 0..=text.len() {
            let shown = one_line(&text, bytes_max);
            assert!(shown.len() <= bytes_max.max(CUT.len()), "{shown}");
            assert!(!shown.contains("ghp_") || shown.contains(key), "{shown}");
        }
        assert_eq!(
            one_line(&text, 60),
            "a title of some length, with [redacted: GitHub token] [...]"
        );
    }

    /// As the engine does with a result, for the values that it alone knows.
    #[test]
    fn a_value_that_the_cut_goes_through_is_found_beside_the_mark() {
        let value = "h0rse-battery-staple";
        let secrets = heeler_secrets::Secrets::of_variables([("DB_PASSWORD", value)]);
        let shown = one_line(&format!("a title with {value} in it"), 30);
        assert_eq!(secrets.redact(&shown), "a title with [redacted: DB_PASSWORD] [...]");
    }

    proptest! {
        #[test]
        fn any_text_is_bounded_and_one_line(text in "\\PC{0,300}|[<&\\n\u{202e}a-z>;]{0,300}") {
            let line = one_line(&of_html(&text), 50);
            let is_plain = !line.contains(['\n', '\u{202e}', '\u{1b}']);
            prop_assert!(line.len() <= 50 && is_plain, "{:?}", line);
        }
    }
}
