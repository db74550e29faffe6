//! Hunks as lines: numbers of both sides, marks that need no color, changed words.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::{clean, truncate, width, wrap};
use super::{Hunk, HunkLine, Side, hunks, words};
use crate::theme::Theme;

/// With fewer cells a line has one number: the new side's, or the old one's where it was removed.
const BOTH_NUMBERS_CELLS_MIN: usize = 60;
/// Before the further rows of a path that is longer than one.
const HEAD_INDENT: usize = 2;
/// Stands between two hunks.
const BETWEEN: &str = "⋯";

/// Draws what makes `new` of `old`, beginning with the path and how many lines came and went.
#[must_use]
pub fn diff(old: &str, new: &str, path: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (head, body) = headed(old, new, path, width, theme);
    [head, body].concat()
}

/// The same in two: what names it, and what it is.
pub(crate) fn headed(
    old: &str,
    new: &str,
    path: &str,
    width: usize,
    theme: &Theme,
) -> (Vec<Line<'static>>, Vec<Line<'static>>) {
    let hunks = hunks(old, new);
    let count =
        |side| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.side == side).count();
    let head = Line::from(vec![
        Span::styled(clean(path).replace('\n', " "), theme.strong),
        Span::styled(
            format!("{}{}", theme.sign(" +", ", lines added: "), count(Side::New)),
            theme.added,
        ),
        Span::styled(
            format!("{}{}", theme.sign(" -", ", removed: "), count(Side::Old)),
            theme.removed,
        ),
    ]);
    let mut lines = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        if index > 0 {
            lines.push(Line::styled(theme.sign(BETWEEN, "further down:"), theme.dim));
        }
        lines.extend(hunk_lines(hunk, width, theme));
    }
    (wrap(&head, width.max(1), HEAD_INDENT), lines)
}

/// Draws one hunk.
#[must_use]
pub fn hunk_lines(hunk: &Hunk, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let gutter = Gutter::of(hunk, width.max(1));
    let marks = changed_words(&hunk.lines);
    let mut lines = Vec::with_capacity(hunk.lines.len());
    let [mut old, mut new] = [hunk.old_range.start, hunk.new_range.start];
    for (line, marks) in hunk.lines.iter().zip(&marks) {
        old += usize::from(line.side != Side::New);
        new += usize::from(line.side != Side::Old);
        row(line, marks, &gutter, [old, new], theme, &mut lines);
    }
    lines
}

/// What stands left of the text.
struct Gutter {
    digits: usize,
    has_both: bool,
    /// The cells of the text.
    cells: usize,
}

impl Gutter {
    fn of(hunk: &Hunk, cells: usize) -> Self {
        let digits = hunk.old_range.end.max(hunk.new_range.end).max(1).ilog10() as usize + 1;
        let has_both = cells >= BOTH_NUMBERS_CELLS_MIN;
        let mut gutter = Self { digits, has_both, cells: 0 };
        let taken = width(&gutter.shown(Side::Both, [0, 0]));
        // Too narrow for numbers: the marks have to do.
        if taken + 8 > cells {
            gutter.digits = 0;
        }
        let taken = width(&gutter.shown(Side::Both, [0, 0]));
        gutter.cells = cells.saturating_sub(taken).max(1);
        gutter
    }

    fn shown(&self, side: Side, [old, new]: [usize; 2]) -> String {
        let mark = match side {
            Side::Both => ' ',
            Side::Old => '-',
            Side::New => '+',
        };
        let digits = self.digits;
        let number = |number: usize, is_there: bool| match is_there {
            true => format!("{number:>digits$}"),
            false => " ".repeat(digits),
        };
        match (digits, self.has_both) {
            (0, _) => format!("{mark}"),
            (_, true) => {
                let old = number(old, side != Side::New);
                let new = number(new, side != Side::Old);
                format!("{old} {new} {mark} ")
            }
            (_, false) => {
                format!("{} {mark} ", number(if side == Side::Old { old } else { new }, true))
            }
        }
    }
}

/// Which line it is, in words.
fn spoken(side: Side, [old, new]: [usize; 2]) -> String {
    match side {
        Side::Both => format!("line {new}: "),
        Side::Old => format!("line {old} removed: "),
        Side::New => format!("line {new} added: "),
    }
}

fn row(
    line: &HunkLine,
    marks: &[Range<usize>],
    gutter: &Gutter,
    numbers: [usize; 2],
    theme: &Theme,
    lines: &mut Vec<Line<'static>>,
) {
    let (style, word) = match line.side {
        Side::Both => (theme.text, theme.text),
        Side::Old => (theme.removed, theme.removed_word),
        Side::New => (theme.added, theme.added_word),
    };
    let ending = line.text.strip_suffix('\n');
    let text = ending.unwrap_or(&line.text);
    // A carriage return that stays is of no interest; one that comes or goes is the change.
    let text = if line.side == Side::Both { text.trim_end_matches('\r') } else { text };
    let mut spans = Vec::new();
    let mut at = 0;
    for mark in marks.iter().filter(|mark| mark.end <= text.len()) {
        push(&mut spans, &text[at..mark.start], style);
        push(&mut spans, &text[mark.clone()], word);
        at = mark.end;
    }
    push(&mut spans, &text[at..], style);
    let numbers = match theme.is_spoken() {
        true => spoken(line.side, numbers),
        false => gutter.shown(line.side, numbers),
    };
    let blank = " ".repeat(width(&numbers));
    for (index, mut wrapped) in wrap(&Line::from(spans), gutter.cells, 0).into_iter().enumerate() {
        let before = match index {
            0 => Span::styled(numbers.clone(), style),
            _ => Span::raw(blank.clone()),
        };
        wrapped.spans.insert(0, before);
        lines.push(wrapped);
    }
    if ending.is_none() && line.side != Side::Both {
        let note = Line::from(vec![Span::raw(blank), Span::styled("no line end", theme.dim)]);
        lines.push(truncate(&note, gutter.cells + width(&numbers)));
    }
}

fn push(spans: &mut Vec<Span<'static>>, text: &str, style: Style) {
    if !text.is_empty() {
        spans.push(Span::styled(clean(text).into_owned(), style));
    }
}

/// The bytes to mark in each line: of as many lines that went as came, each with its other.
fn changed_words(lines: &[HunkLine]) -> Vec<Vec<Range<usize>>> {
    let mut marks = vec![Vec::new(); lines.len()];
    let mut start = 0;
    for group in
        lines.chunk_by(|before, after| (before.side == Side::Both) == (after.side == Side::Both))
    {
        let removed = group.iter().take_while(|line| line.side == Side::Old).count();
        let added = group.len() - removed;
        let is_pairs =
            removed == added && group[removed..].iter().all(|line| line.side == Side::New);
        if is_pairs {
            for index in 0..removed {
                let [old, new] = [start + index, start + removed + index];
                if let Some([went, came]) = words::changed(&lines[old].text, &lines[new].text) {
                    marks[old] = went;
                    marks[new] = came;
                }
            }
        }
        start += group.len();
    }
    marks
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::super::super::line_width;
    use super::super::super::testing::{shown, styled};
    use super::*;

    const OLD: &str = "use std::fs;\n\nfn main() {\n    let text = read(\"in.txt\");\n    \
                       println!(\"{text}\");\n}\n\n// 1\n// 2\n// 3\n// 4\n// 5\n// 6\n// 7\nend";
    const NEW: &str = "use std::fs;\n\nfn main() {\n    let text = read(\"input.txt\");\n    \
                       println!(\"{text}\");\n    done();\n}\n\n// 1\n// 2\n// 3\n// 4\n// 5\n\
                       // 6\n// 7\nend\n";

    fn check(width: usize, expected: Expect) {
        expected.assert_eq(&shown(&diff(OLD, NEW, "src/main.rs", width, &Theme::plain())));
    }

    #[test]
    fn a_change_at_every_width() {
        check(
            12,
            expect![[r#"
                src/main.rs
                  +3 -2
                1   use
                    std::fs;
                2
                3   fn
                    main() {
                4 -     let
                    text =
                    read("in
                    .txt");
                4 +     let
                    text =
                    read("in
                    put.txt"
                    );
                5       prin
                    tln!("{t
                    ext}");
                6 +     done
                    ();
                7   }
                8
                9   // 1
                ⋯
                 // 5
                 // 6
                 // 7
                -end
                 no line end
                +end
            "#]],
        );
        check(
            40,
            expect![[r#"
            src/main.rs +3 -2
            1   use std::fs;
            2
            3   fn main() {
            4 -     let text = read("in.txt");
            4 +     let text = read("input.txt");
            5       println!("{text}");
            6 +     done();
            7   }
            8
            9   // 1
            ⋯
            13   // 5
            14   // 6
            15   // 7
            15 - end
                 no line end
            16 + end
        "#]],
        );
        check(
            80,
            expect![[r#"
            src/main.rs +3 -2
            1 1   use std::fs;
            2 2
            3 3   fn main() {
            4   -     let text = read("in.txt");
              4 +     let text = read("input.txt");
            5 5       println!("{text}");
              6 +     done();
            6 7   }
            7 8
            8 9   // 1
            ⋯
            12 13   // 5
            13 14   // 6
            14 15   // 7
            15    - end
                    no line end
               16 + end
        "#]],
        );
        check(
            120,
            expect![[r#"
            src/main.rs +3 -2
            1 1   use std::fs;
            2 2
            3 3   fn main() {
            4   -     let text = read("in.txt");
              4 +     let text = read("input.txt");
            5 5       println!("{text}");
              6 +     done();
            6 7   }
            7 8
            8 9   // 1
            ⋯
            12 13   // 5
            13 14   // 6
            14 15   // 7
            15    - end
                    no line end
               16 + end
        "#]],
        );
        check(
            200,
            expect![[r#"
            src/main.rs +3 -2
            1 1   use std::fs;
            2 2
            3 3   fn main() {
            4   -     let text = read("in.txt");
              4 +     let text = read("input.txt");
            5 5       println!("{text}");
              6 +     done();
            6 7   }
            7 8
            8 9   // 1
            ⋯
            12 13   // 5
            13 14   // 6
            14 15   // 7
            15    - end
                    no line end
               16 + end
        "#]],
        );
    }

    #[test]
    fn changed_words_are_marked() {
        let lines = diff("let a = one(b);\nx\n", "let a = two(b);\nx\n", "a", 80, &Theme::dark());
        expect![[r#"
            {bold|a}{green| +1}{red| -1}
            {red|1   - }{red|let a = }{lightred bold|one}{red|(b);}
            {green|  1 + }{green|let a = }{lightgreen bold|two}{green|(b);}
            2 2   x
        "#]]
        .assert_eq(&styled(&lines));
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        let lines = diff(
            "same\r\ngone\r\n",
            "same\r\ngone\n\u{1b}[2J\u{202e}",
            "a\nb\u{1b}",
            80,
            &Theme::plain(),
        );
        expect![[r#"
            a b␛ +2 -1
            1 1   same
            2   - gone␍
              2 + gone
              3 + ␛[2J<U+202E>
                  no line end
        "#]]
        .assert_eq(&shown(&lines));
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_asked(old in "([a-c \t日]{0,30}\n?){0,8}", new in "([a-c \t日]{0,30}\n?){0,8}", width in 1usize..100) {
            for line in diff(&old, &new, "a/long/path.rs", width, &Theme::dark()) {
                // The mark and one sign of two cells are the least there can be.
                prop_assert!(line_width(&line) <= width.max(2), "{line:?}");
            }
        }
    }
}
