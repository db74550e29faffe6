//! Strangers' words, made fit to be shown: one line each, without what a screen or a model could
//! take for something else.

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

/// One line of at most so many bytes; what is cut ends with dots.
pub(super) fn one_line(text: &str, bytes_max: usize) -> String {
    let mut line = String::new();
    for char in text.chars() {
        // Far more than is shown; the rest need not be looked at.
        if line.len() > bytes_max * 2 {
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
    if line.len() > bytes_max {
        line.truncate(line.floor_char_boundary(bytes_max.saturating_sub(3)));
        line.truncate(line.trim_end().len());
        line.push_str("...");
    }
    line
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
        assert_eq!(one_line("abcdefghi", 8), "abcde...");
        assert_eq!(one_line("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", 8), "\u{e9}\u{e9}...");
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
