//! Text that can only be read: what would steer a terminal or deceive an eye becomes a sign.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// How far apart tab stops are, in cells.
pub const TAB_CELLS: usize = 4;

/// Makes `text` safe to show: the only control character left is the line feed.
///
/// Control characters become their pictures (ESC is `␛`), tabs spaces up to the next stop, CR LF a
/// line feed. Characters that reorder or hide what stands beside them (bidirectional overrides,
/// zero-width signs, tags) become their numbers (`<U+202E>`), joiners within emoji and scripts that
/// need them excepted.
///
/// ```
/// use heeler_tui::text::clean;
///
/// assert_eq!(clean("\u{1b}[2J\r\nok"), "␛[2J\nok");
/// assert!(matches!(clean("untouched"), std::borrow::Cow::Borrowed(_)));
/// ```
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    match text.char_indices().find(|(_, next)| is_suspect(*next)) {
        None => Cow::Borrowed(text),
        Some((start, _)) => Cow::Owned(clean_from(text, start)),
    }
}

/// The words of a text on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Texts of which each begins a line, whether or not it says so itself.
#[must_use]
pub fn lines_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().fold(String::new(), |mut above, text| {
        let is_apart = above.is_empty() || above.ends_with('\n') || text.starts_with('\n');
        above.push_str(if is_apart { "" } else { "\n" });
        above.push_str(text);
        above
    })
}

/// Cleans what follows `start`; what stands before it is clean.
fn clean_from(text: &str, start: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..start]);
    let mut column = column_of(&out);
    let mut before = out.chars().next_back();
    let mut rest = text[start..].chars().peekable();
    while let Some(next) = rest.next() {
        let after = rest.peek().copied();
        match next {
            '\n' => {
                out.push('\n');
                column = 0;
            }
            '\t' => {
                let cells = TAB_CELLS - column % TAB_CELLS;
                out.extend(std::iter::repeat_n(' ', cells));
                column += cells;
            }
            '\r' if after == Some('\n') => {}
            _ if !is_suspect(next) || joins(before, next, after) => {
                out.push(next);
                column += next.width().unwrap_or(0);
            }
            _ => {
                let length = out.len();
                push_sign(&mut out, next);
                column += out[length..].chars().count();
            }
        }
        before = Some(next);
    }
    out
}

fn column_of(text: &str) -> usize {
    let line = text.rsplit('\n').next().unwrap_or_default();
    line.chars().map(|each| each.width().unwrap_or(0)).sum()
}

/// Whether a character may have to be replaced.
fn is_suspect(next: char) -> bool {
    match next {
        '\n' | ' '..='~' => false,
        next if next.is_control() => true,
        // What is common is decided by one comparison.
        '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' => false,
        // Letters of Hangul that show nothing without one before them.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'..='\u{11ff}' => true,
        '\u{d7b0}'..='\u{d7fb}' | '\u{1bca0}'..='\u{1bca3}' => true,
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether a hidden character does its proper work between its neighbors.
fn joins(before: Option<char>, hidden: char, after: Option<char>) -> bool {
    let is_script = |next: char| !next.is_ascii() && !is_suspect(next);
    match hidden {
        // Emoji, and scripts whose letters change shape: between ASCII they only hide something.
        // An emoji's selector may stand before the joiner.
        '\u{200c}' | '\u{200d}' => {
            before.is_some_and(|before| is_script(before) || before == '\u{fe0f}')
                && after.is_some_and(is_script)
        }
        '\u{1161}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7fb}' => {
            let is_hangul = |before| {
                matches!(before, '\u{1100}'..='\u{115e}' | '\u{1161}'..='\u{11ff}')
                    || matches!(before, '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7fb}')
            };
            before.is_some_and(is_hangul)
        }
        // One selector chooses how the sign before it looks; more carry a hidden text.
        '\u{fe0e}' | '\u{fe0f}' => before
            .is_some_and(|before| is_script(before) || matches!(before, '0'..='9' | '#' | '*')),
        _ => false,
    }
}

fn push_sign(out: &mut String, hidden: char) {
    let sign = match u32::from(hidden) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    };
    match sign {
        Some(sign) => out.push(sign),
        // Writing into a `String` cannot fail.
        None => drop(write!(out, "<U+{:04X}>", u32::from(hidden))),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, shown: Expect) {
        shown.assert_eq(&clean(text));
    }

    #[test]
    fn each_text_begins_a_line_and_leaves_none_empty() {
        for (texts, joined) in [
            (&["a", "b"][..], "a\nb"),
            (&["a\n", "b", "\nc"], "a\nb\nc"),
            (&["", "a", ""], "a\n"),
            (&[], ""),
        ] {
            assert_eq!(lines_of(texts.iter().copied()), joined);
        }
    }

    #[test]
    fn what_steers_a_terminal_is_shown() {
        check("\u{1b}]0;title\u{7}\u{1b}[31mred", expect!["␛]0;title␇␛[31mred"]);
        check("\u{9b}2J\u{90}q\u{9c}\u{7f}", expect!["<U+009B>2J<U+0090>q<U+009C>␡"]);
        check(
            "10%\r20%\r\nnext\u{0}",
            expect![[r#"
            10%␍20%
            next␀"#]],
        );
        check("\u{8}\u{8}over", expect!["␈␈over"]);
    }

    #[test]
    fn what_deceives_an_eye_is_shown() {
        check("a\u{202e}b\u{2066}c", expect!["a<U+202E>b<U+2066>c"]);
        check("pass\u{200b}word\u{200d}s", expect!["pass<U+200B>word<U+200D>s"]);
        check("ok\u{e0041}\u{e0042}", expect!["ok<U+E0041><U+E0042>"]);
        check("line\u{2028}break\u{feff}", expect!["line<U+2028>break<U+FEFF>"]);
        check("x\u{fe01}☂\u{fe0f}\u{fe0f}", expect!["x<U+FE01>☂️<U+FE0F>"]);
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "日本語 и кириллица, e\u{301}",
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
            "❤\u{fe0f}\u{200d}\u{1f525} 1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "\u{1f1e9}\u{1f1ea}",
        ] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn tabs_go_to_the_next_stop() {
        check("\ta\tbc\tdefg\th", expect!["    a   bc  defg    h"]);
        check(
            "日\tx\n\ty",
            expect![[r#"
            日  x
                y"#]],
        );
    }

    proptest! {
        #[test]
        fn nothing_is_left_that_a_terminal_obeys(text in any::<String>(), more in "[\\x00-\\xa0\\u{200b}-\\u{206f}]{0,20}") {
            let dirty = format!("{text}{more}{text}");
            let shown = clean(&dirty);
            prop_assert!(!shown.chars().any(|each| each.is_control() && each != '\n'), "{shown:?}");
            let hidden = ['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}'];
            prop_assert!(!shown.contains(hidden), "something is hidden");
            let again = clean(&shown);
            prop_assert_eq!(again.as_ref(), shown.as_ref());
        }
    }
}
