//! Cells as the bytes that show them.

use std::fmt::Write as _;

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr as _;

use super::Row;

/// The modifiers we write, with their numbers.
const MODIFIERS: [(Modifier, &str); 7] = [
    (Modifier::BOLD, "1"),
    (Modifier::DIM, "2"),
    (Modifier::ITALIC, "3"),
    (Modifier::UNDERLINED, "4"),
    (Modifier::SLOW_BLINK, "5"),
    (Modifier::REVERSED, "7"),
    (Modifier::CROSSED_OUT, "9"),
];

/// Collects what is written at once.
#[derive(Default)]
pub(super) struct Painter {
    text: String,
}

impl Painter {
    /// Everything so far.
    pub(super) fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Writes a sequence as it stands.
    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes a row from its beginning.
    pub(super) fn row(&mut self, row: &Row) {
        self.cells(row.cells());
    }

    /// Writes cells, and leaves no style behind.
    pub(super) fn cells(&mut self, cells: &[Cell]) {
        let mut style = Style::default();
        let mut index = 0;
        while let Some(cell) = cells.get(index) {
            let own = styled(cell);
            if own != style {
                self.style(own);
                style = own;
            }
            self.text.push_str(cell.symbol());
            index += cell.symbol().width().max(1);
        }
        if style != Style::default() {
            self.text.push_str("\x1b[m");
        }
    }

    /// From nothing, so that it never depends on what came before.
    fn style(&mut self, style: Style) {
        self.text.push_str("\x1b[0");
        for (modifier, number) in MODIFIERS {
            if style.add_modifier.contains(modifier) {
                self.text.push(';');
                self.text.push_str(number);
            }
        }
        self.color(style.fg, 30);
        self.color(style.bg, 40);
        self.text.push('m');
    }

    fn color(&mut self, color: Option<Color>, base: u8) {
        let Some(color) = color else { return };
        let written = match (color, ansi(color)) {
            (_, Some(index @ 0..8)) => write!(self.text, ";{}", base + index),
            (_, Some(index)) => write!(self.text, ";{}", base + 60 + index - 8),
            (Color::Indexed(index), None) => write!(self.text, ";{};5;{index}", base + 8),
            (Color::Rgb(r, g, b), None) => write!(self.text, ";{};2;{r};{g};{b}", base + 8),
            (_, None) => Ok(()),
        };
        // A string takes whatever is written to it.
        debug_assert!(written.is_ok());
    }
}

fn styled(cell: &Cell) -> Style {
    let known = |color| (color != Color::Reset).then_some(color);
    Style {
        fg: known(cell.fg),
        bg: known(cell.bg),
        add_modifier: cell.modifier,
        ..Style::default()
    }
}

/// The number of one of the sixteen colours that every terminal has of its own.
fn ansi(color: Color) -> Option<u8> {
    Some(match color {
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Reset | Color::Indexed(_) | Color::Rgb(..) => return None,
    })
}
