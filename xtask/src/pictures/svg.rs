//! A screen with its styles, as tmux tells it, as a picture made of text.

use std::fmt::Write as _;

/// The size of a cell and of the letters in it, and what is left around them.
const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 18.0;
const FONT_SIZE: f64 = 14.0;
const MARGIN: f64 = 12.0;
/// The colours of a dark terminal, and its sixteen.
const BACKGROUND: &str = "#16181d";
const TEXT: &str = "#d7dae0";
const PALETTE: [&str; 16] = [
    "#3b4048", "#e06c75", "#8cc570", "#d9a95f", "#5fa8ee", "#c678dd", "#4fb8c4", "#c8ccd4",
    "#6b7280", "#f08a92", "#a5dc8a", "#efc57c", "#82c0ff", "#d99aef", "#76d4de", "#ffffff",
];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Style {
    color: Option<String>,
    behind: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
    reversed: bool,
}

/// Letters of one style that stand beside each other.
struct Run {
    column: usize,
    cells: usize,
    text: String,
    style: Style,
}

/// The words of a screen alone.
pub(super) fn plain(screen: &str) -> String {
    let mut text = String::new();
    for row in screen.lines() {
        runs(row, &mut Style::default()).iter().for_each(|run| text += &run.text);
        text.push('\n');
    }
    text
}

/// The picture of a screen of this size.
pub(super) fn picture(screen: &str, columns: usize, rows: usize) -> String {
    let width = number(columns) * CELL_WIDTH + 2.0 * MARGIN;
    let height = number(rows) * CELL_HEIGHT + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"{FONT_SIZE}\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" \
         fill=\"{BACKGROUND}\"/>\n"
    );
    // What tmux says of a style holds on in the next row.
    let mut style = Style::default();
    for (row, text) in screen.lines().take(rows).enumerate() {
        let top = MARGIN + number(row) * CELL_HEIGHT;
        for run in runs(text, &mut style) {
            draw(&mut svg, &run, top);
        }
    }
    svg + "</svg>\n"
}

fn draw(svg: &mut String, run: &Run, top: f64) {
    let Run { column, cells, text, style } = run;
    let (left, width) = (MARGIN + number(*column) * CELL_WIDTH, number(*cells) * CELL_WIDTH);
    let (mut color, mut behind) = (style.color.as_deref(), style.behind.as_deref());
    if style.reversed {
        (color, behind) = (Some(behind.unwrap_or(BACKGROUND)), Some(color.unwrap_or(TEXT)));
    }
    if let Some(behind) = behind {
        let shape = format!("x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\"");
        _ = writeln!(svg, "<rect {shape} height=\"{CELL_HEIGHT}\" fill=\"{behind}\"/>");
    }
    if text.trim().is_empty() {
        return;
    }
    let mut looks = String::new();
    let of = [
        (style.bold, " font-weight=\"bold\""),
        (style.dim, " opacity=\"0.6\""),
        (style.italic, " font-style=\"italic\""),
        (style.underlined, " text-decoration=\"underline\""),
    ];
    of.iter().filter(|(is_so, _)| *is_so).for_each(|(_, look)| looks += look);
    let (base, color) = (top + FONT_SIZE, color.unwrap_or(TEXT));
    _ = writeln!(
        svg,
        "<text x=\"{left:.1}\" y=\"{base:.1}\" textLength=\"{width:.1}\" \
         lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" fill=\"{color}\"{looks}>{}</text>",
        escaped(text)
    );
}

/// The runs of a row, from this style on.
fn runs(row: &str, style: &mut Style) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let (mut column, mut rest) = (0, row);
    while let Some(next) = rest.chars().next() {
        if let Some((parameters, after)) =
            rest.strip_prefix("\x1b[").and_then(|s| s.split_once('m'))
        {
            style.take(parameters);
            rest = after;
            continue;
        }
        rest = &rest[next.len_utf8()..];
        if next.is_control() {
            continue;
        }
        let cells = cells(next);
        match runs.last_mut().filter(|run| run.style == *style) {
            Some(run) => {
                run.text.push(next);
                run.cells += cells;
            }
            None => {
                runs.push(Run { column, cells, text: next.to_string(), style: style.clone() });
            }
        }
        column += cells;
    }
    runs
}

impl Style {
    fn take(&mut self, parameters: &str) {
        let mut numbers = parameters.split([';', ':']).map(|n| n.parse::<usize>().unwrap_or(0));
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                7 => self.reversed = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underlined = false,
                27 => self.reversed = false,
                30..=37 => self.color = sixteen(number - 30),
                90..=97 => self.color = sixteen(number - 82),
                40..=47 => self.behind = sixteen(number - 40),
                100..=107 => self.behind = sixteen(number - 92),
                38 => self.color = larger(&mut numbers),
                48 => self.behind = larger(&mut numbers),
                39 => self.color = None,
                49 => self.behind = None,
                _ => {}
            }
        }
    }
}

fn sixteen(index: usize) -> Option<String> {
    PALETTE.get(index).map(|color| (*color).to_owned())
}

/// A colour of the 256, or of all.
fn larger(numbers: &mut impl Iterator<Item = usize>) -> Option<String> {
    match numbers.next()? {
        5 => match numbers.next()? {
            index @ 0..=15 => sixteen(index),
            index @ 16..=231 => {
                let part = |n: usize| if n == 0 { 0 } else { 55 + n * 40 };
                let index = index - 16;
                let [red, green, blue] = [index / 36, index / 6 % 6, index % 6].map(part);
                Some(format!("#{red:02x}{green:02x}{blue:02x}"))
            }
            index => {
                let gray = 8 + index.min(255).saturating_sub(232) * 10;
                Some(format!("#{gray:02x}{gray:02x}{gray:02x}"))
            }
        },
        2 => {
            let (red, green, blue) = (numbers.next()?, numbers.next()?, numbers.next()?);
            Some(format!("#{red:02x}{green:02x}{blue:02x}"))
        }
        _ => None,
    }
}

/// How many cells a letter takes; the scenes have no others.
fn cells(letter: char) -> usize {
    if matches!(letter, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ff60}')
    {
        2
    } else {
        1
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn number(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_screen_becomes_text_where_it_stands() {
        let screen =
            "\x1b[1;36mask\x1b[0m <b> \x1b[38;5;196m漢\x1b[39m\x1b[7mx\n\x1b[0;48;2;1;2;3m  \x1b[m";
        assert_eq!(plain(screen), "ask <b> 漢x\n  \n");
        expect![[r##"
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 124.8 60.0" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">
            <rect width="100%" height="100%" rx="8" fill="#16181d"/>
            <text x="12.0" y="26.0" textLength="25.2" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="#4fb8c4" font-weight="bold">ask</text>
            <text x="37.2" y="26.0" textLength="42.0" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="#d7dae0"> &lt;b&gt; </text>
            <text x="79.2" y="26.0" textLength="16.8" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="#ff0000">漢</text>
            <rect x="96.0" y="12.0" width="8.4" height="18" fill="#d7dae0"/>
            <text x="96.0" y="26.0" textLength="8.4" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="#16181d">x</text>
            <rect x="12.0" y="30.0" width="16.8" height="18" fill="#010203"/>
            </svg>
        "##]].assert_eq(&picture(screen, 12, 2));
    }
}
