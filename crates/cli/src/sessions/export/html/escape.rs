//! The one way a text gets into a page.

use heeler_tui::text::clean;

/// The text as HTML shows it, between tags and in quoted attributes alike: nothing of it is a tag, an
/// end of one, or a reference, and what would steer a terminal or deceive an eye is a visible sign.
pub(in super::super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    escape_into(&mut out, text);
    out
}

pub(super) fn escape_into(out: &mut String, text: &str) {
    let text = clean(text);
    let mut rest = &*text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '`']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => "&#96;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As a browser reads it back.
    fn read(html: &str) -> String {
        let references =
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#96;", "`")];
        let text =
            references.iter().fold(html.to_owned(), |text, (from, to)| text.replace(from, to));
        text.replace("&amp;", "&")
    }

    proptest! {
        #[test]
        fn no_text_is_more_than_text(
            text in "(\\PC|[<>&\"'`/=\n\t\r\u{0}\u{1b}\u{7f}\u{202e}]|</script>|<!--|-->|]]>|&lt;|&#60;){0,40}"
        ) {
            let html = escape(&text);
            prop_assert!(!html.contains(['<', '>', '"', '\'', '`']));
            prop_assert!(!html.chars().any(|c| c.is_control() && c != '\n'), "{html:?}");
            for (at, _) in html.match_indices('&') {
                let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#96;"];
                prop_assert!(known.iter().any(|name| html[at..].starts_with(name)), "{}", html);
            }
            prop_assert_eq!(read(&html), clean(&text));
        }
    }
}
