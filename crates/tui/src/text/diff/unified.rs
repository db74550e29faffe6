//! The text of a unified diff, as `git diff` prints it, drawn as our own are.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::Line;

use super::super::{clean, wrap};
use super::{Hunk, HunkLine, Side, hunk_lines};
use crate::theme::Theme;

/// Draws `text`; what is no part of a hunk (names of files, words around them) is shown as it is.
#[must_use]
pub fn unified(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut rest = text.split_inclusive('\n').peekable();
    while let Some(line) = rest.next() {
        let Some(mut open) = Open::of(line) else {
            let style = style(line, theme);
            let shown = clean(line.trim_end_matches(['\n', '\r'])).into_owned();
            lines.extend(wrap(&Line::styled(shown, style), width.max(1), 0));
            continue;
        };
        while let Some(line) = rest.next_if(|line| open.takes(line)) {
            open.push(line);
        }
        lines.extend(wrap(&Line::styled(open.head.clone(), theme.dim), width.max(1), 0));
        lines.extend(hunk_lines(&open.hunk, width, theme));
    }
    lines
}

fn style(line: &str, theme: &Theme) -> Style {
    let is_head = ["diff ", "--- ", "+++ "].iter().any(|head| line.starts_with(head));
    if is_head { theme.strong } else { theme.dim }
}

/// A hunk while it is read.
struct Open {
    head: String,
    hunk: Hunk,
    /// Lines that are still to come on each side.
    old: usize,
    new: usize,
}

impl Open {
    /// `@@ -1,2 +1,3 @@ fn main()`.
    fn of(line: &str) -> Option<Self> {
        let (ranges, after) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let [old_range, new_range] = [range(old)?, range(new)?];
        let (old, new) = (old_range.len(), new_range.len());
        let head = format!("⋯ {}", clean(after.trim()));
        let hunk = Hunk { old_range, new_range, lines: Vec::new() };
        Some(Self { head: head.trim_end().to_owned(), hunk, old, new })
    }

    fn takes(&self, line: &str) -> bool {
        match line.as_bytes().first() {
            Some(b' ' | b'\n' | b'\r') => self.old > 0 && self.new > 0,
            Some(b'-') => self.old > 0,
            Some(b'+') => self.new > 0,
            Some(b'\\') => !self.hunk.lines.is_empty(),
            _ => false,
        }
    }

    fn push(&mut self, line: &str) {
        let side = match line.as_bytes().first() {
            Some(b'-') => Side::Old,
            Some(b'+') => Side::New,
            // "\ No newline at end of file" speaks of the line before.
            Some(b'\\') => {
                if let Some(last) = self.hunk.lines.last_mut() {
                    last.text.truncate(last.text.trim_end_matches('\n').len());
                }
                return;
            }
            _ => Side::Both,
        };
        self.old -= usize::from(side != Side::New);
        self.new -= usize::from(side != Side::Old);
        // Some programs leave an empty line without its space.
        let text = line.strip_prefix([' ', '-', '+']).unwrap_or(line).to_owned();
        self.hunk.lines.push(HunkLine { side, text });
    }
}

/// `3,4` is four lines from the third; the number of lines is left out when it is one.
fn range(text: &str) -> Option<Range<usize>> {
    let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
    let (start, lines): (usize, usize) = (start.parse().ok()?, lines.parse().ok()?);
    // An empty range names the line before it.
    let start = if lines == 0 { start } else { start.saturating_sub(1) };
    Some(start..start.checked_add(lines)?)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::super::super::testing::shown;
    use super::*;

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&shown(&unified(text, 60, &Theme::plain())));
    }

    #[test]
    fn what_git_prints_is_drawn() {
        check(
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@ fn main() {\n \
             one\n-two\n+too\n three\n@@ -20,0 +21 @@\n+new\n\\ No newline at end of file\nwords\n",
            expect![[r#"
                diff --git a/x b/x
                index 1..2 100644
                --- a/x
                +++ b/x
                ⋯ fn main() {
                 9  9   one
                10    - two
                   10 + too
                11 11   three
                ⋯
                   21 + new
                        no line end
                words
            "#]],
        );
    }

    #[test]
    fn what_is_none_is_shown_as_it_is() {
        check(
            "@@ -x +y @@\n@@ -1 +1 @@\n-a\n-b\n+\u{1b}c\n@@ -0,0 +1,9 @@\n+d",
            expect![[r#"
            @@ -x +y @@
            ⋯
            1   - a
            -b
            +␛c
            ⋯
              1 + d
                  no line end
        "#]],
        );
    }

    proptest! {
        #[test]
        fn any_text_is_drawn(text in "(@@ -[0-9]{1,20},?[0-9]{0,3} \\+[0-9],?[0-9]? @@\n|[-+ \\\\]?[a-b\n]{0,4}\n?){0,12}", width in 1usize..80) {
            let drawn = shown(&unified(&text, width, &Theme::plain()));
            let letters = |text: &str| text.matches(['a', 'b']).count();
            prop_assert_eq!(letters(&drawn.replace("no line end", "")), letters(&text));
        }
    }
}
