//! A part of a long text, whole lines, and how to see the rest.

use std::borrow::Cow;
use std::ops::Range;

use heeler_core::ToolContext;
use heeler_secrets::Secrets;

use crate::text::{count_of, cut};

/// Bytes of one page.
const PAGE_BYTES_MAX: usize = 48 * 1024;
/// What else stands in a result beside its page.
const BESIDE_BYTES_MAX: usize = 1_000;
/// Characters of one line.
pub(super) const LINE_CHARS_MAX: usize = 1_000;
/// What the rest of a line that was too long begins with. No line of a difference does.
const GOES_ON: &str = "[...] ";

/// How large a page may be that the model is given whole.
pub(super) fn page_bytes_max(context: &ToolContext) -> usize {
    PAGE_BYTES_MAX.min(context.result_chars_max.saturating_sub(BESIDE_BYTES_MAX))
}

/// The lines from `offset` on, from 1, as many as fit.
pub(super) fn page(text: &str, offset: Option<u64>, bytes_max: usize) -> String {
    page_with_lines(text, offset, bytes_max).0
}

/// The same, and which lines those are, from 0.
pub(super) fn page_with_lines(
    text: &str,
    offset: Option<u64>,
    bytes_max: usize,
) -> (String, Range<usize>) {
    let first = usize::try_from(offset.unwrap_or(1).max(1) - 1).unwrap_or(usize::MAX);
    let n_lines = text.lines().count();
    let mut shown = String::new();
    let mut n_shown = 0;
    for line in text.lines().skip(first) {
        let line = cut(line, LINE_CHARS_MAX);
        if n_shown > 0 && shown.len() + line.len() > bytes_max {
            break;
        }
        shown += &line;
        shown.push('\n');
        n_shown += 1;
    }
    if n_shown == 0 && first > 0 {
        let lines = count_of(n_lines, "line", "lines");
        return (format!("(it has {lines}, none from {} on)\n", first + 1), n_lines..n_lines);
    }
    let end = first + n_shown;
    if end < n_lines {
        shown += &format!(
            "(lines {} to {end} of {n_lines}; git_diff of the same with offset {} shows more)\n",
            first + 1,
            end + 1
        );
    }
    (shown, first..end)
}

/// The text with each line that is too long as several, so that none of it is missing on its pages. A key
/// in such a line is taken out before, since neither half of one would be known for what it is.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    // No line has more characters than bytes.
    if text.lines().all(|line| line.len() <= LINE_CHARS_MAX) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    let secrets = Secrets::default();
    for line in text.lines() {
        let line = if line.len() > LINE_CHARS_MAX { secrets.redact(line) } else { line.into() };
        let mut from = 0;
        let mut chars_max = LINE_CHARS_MAX;
        while let Some((n_bytes, _)) = line[from..].char_indices().nth(chars_max) {
            folded += &line[from..from + n_bytes];
            folded.push('\n');
            folded += GOES_ON;
            from += n_bytes;
            chars_max = LINE_CHARS_MAX - GOES_ON.len();
        }
        folded += &line[from..];
        folded.push('\n');
    }
    Cow::Owned(folded)
}

/// Whether a page holds a line that goes on in the next.
pub(super) fn has_folded(page: &str) -> bool {
    page.lines().any(|line| line.starts_with(GOES_ON))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_several_with_nothing_missing() {
        let short = "x".repeat(LINE_CHARS_MAX);
        assert_eq!(folded(&short), short);
        assert_eq!(folded(&format!("{short}y\nz")), format!("{short}\n[...] y\nz\n"));
        let long: String = ('a'..='z').cycle().take(5_000).collect();
        let all = folded(&long).into_owned();
        let whole: String =
            all.lines().map(|line| line.strip_prefix(GOES_ON).unwrap_or(line)).collect();
        assert_eq!(whole, long);
        // Whatever the characters, no line of it is cut.
        let wide = folded(&"\u{1f415}".repeat(5_000)).into_owned();
        for all in [all, wide] {
            assert_eq!(page(&all, None, PAGE_BYTES_MAX), all);
            assert!(has_folded(&all) && !has_folded(&short));
        }
    }

    #[test]
    fn a_key_at_a_fold_takes_nothing_else_with_it() {
        let key = "ghp_q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuC";
        let words: Vec<String> = (0..600).map(|n| format!("n{n:03}")).collect();
        for before in LINE_CHARS_MAX - key.len() - 30..=LINE_CHARS_MAX + 30 {
            let line = format!("{}{key} {}", "- ".repeat(before / 2), words.join(" "));
            let all = folded(&line).into_owned();
            let all = page(&all, None, PAGE_BYTES_MAX).replace("\n[...] ", "");
            assert!(all.contains("[redacted: GitHub token]"), "{before}");
            assert!(words.iter().all(|word| all.contains(word)), "{before}");
        }
    }

    #[test]
    fn what_does_not_fit_is_on_the_next_page() {
        assert_eq!(page("a\nb", None, PAGE_BYTES_MAX), "a\nb\n");
        assert_eq!(page("a\nb", Some(0), PAGE_BYTES_MAX), "a\nb\n");
        assert_eq!(page("a\nb", Some(2), PAGE_BYTES_MAX), "b\n");
        assert_eq!(page("a\nb", Some(3), PAGE_BYTES_MAX), "(it has 2 lines, none from 3 on)\n");
        assert_eq!(page("", None, PAGE_BYTES_MAX), "");
        let line = "x".repeat(LINE_CHARS_MAX);
        let text = [line.as_str(); 60].join("\n");
        let first = page(&text, None, PAGE_BYTES_MAX);
        assert!(first.len() < PAGE_BYTES_MAX + 100, "{}", first.len());
        assert!(
            first.ends_with(
                "(lines 1 to 49 of 60; git_diff of the same with offset 50 shows more)\n"
            )
        );
        assert_eq!(page(&text, Some(50), PAGE_BYTES_MAX).lines().count(), 11);
    }
}
