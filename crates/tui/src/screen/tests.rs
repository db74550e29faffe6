//! What a real terminal's reading of our bytes looks like.

use proptest::prelude::*;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::*;

const WIDTH: u16 = 12;
const HEIGHT: u16 = 6;

/// A terminal, and what was written to it.
struct Glass {
    terminal: vt100::Parser,
    screen: Screen<Vec<u8>>,
}

impl Glass {
    fn new() -> Self {
        let terminal = vt100::Parser::new(cells(HEIGHT), cells(WIDTH), 1000);
        Self { terminal, screen: Screen::new(Vec::new(), WIDTH, HEIGHT) }
    }

    /// Draws, and gives how many bytes that took.
    fn draw(&mut self, frame: Frame) -> usize {
        self.screen.draw(frame).unwrap();
        self.look()
    }

    fn look(&mut self) -> usize {
        let bytes = std::mem::take(&mut self.screen.out);
        self.terminal.process(&bytes);
        bytes.len()
    }

    /// Everything above the end of the screen, without what is empty at its end.
    fn all_rows(&mut self) -> Vec<String> {
        let screen = self.terminal.screen_mut();
        screen.set_scrollback(usize::MAX);
        let n_above = screen.scrollback();
        let mut rows = Vec::new();
        for above in (1..=n_above).rev() {
            screen.set_scrollback(above);
            rows.extend(screen.rows(0, WIDTH).take(1));
        }
        screen.set_scrollback(0);
        rows.extend(screen.rows(0, WIDTH));
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

fn cells(n: u16) -> std::num::NonZero<u16> {
    n.try_into().unwrap()
}

fn lines(texts: &[&str]) -> Vec<Line<'static>> {
    texts.iter().map(|text| Line::raw((*text).to_owned())).collect()
}

fn frame(finished: &[&str], live: &[&str]) -> Frame {
    Frame { finished: lines(finished), live: lines(live), cursor: None }
}

#[test]
fn finished_lines_go_up_and_the_live_region_stays_below_them() {
    let mut glass = Glass::new();
    glass.draw(frame(&[], &["> ", "status"]));
    glass.draw(frame(&["one", "two"], &["> hi", "status"]));
    assert_eq!(glass.all_rows(), ["one", "two", "> hi", "status"]);
    glass.draw(frame(&["3", "4", "5", "6"], &["> hi", "status"]));
    assert_eq!(glass.all_rows(), ["one", "two", "3", "4", "5", "6", "> hi", "status"]);
    assert_eq!(glass.terminal.screen().rows(0, WIDTH).next().unwrap(), "3");
}

#[test]
fn a_draw_without_change_writes_nothing_and_a_small_one_little() {
    let mut glass = Glass::new();
    glass.draw(frame(&[], &["working  1 s", "> "]));
    assert_eq!(glass.draw(frame(&[], &["working  1 s", "> "])), 0);
    let n_bytes = glass.draw(frame(&[], &["working  2 s", "> "]));
    assert!(n_bytes < 50, "{n_bytes} bytes");
    assert_eq!(glass.all_rows(), ["working  2 s", ">"]);
}

#[test]
fn the_cursor_stands_where_the_frame_says_also_behind_wide_characters() {
    let mut glass = Glass::new();
    let cursor = Some(Place { column: 6, row: 1 });
    glass.draw(Frame { cursor, ..frame(&["done"], &["status", "> 漢字"]) });
    assert_eq!(glass.terminal.screen().cursor_position(), (2, 6));
    assert!(!glass.terminal.screen().hide_cursor());
    glass.draw(frame(&[], &["status", "> 漢x"]));
    assert!(glass.terminal.screen().hide_cursor());
    assert_eq!(glass.all_rows(), ["done", "status", "> 漢x"]);
}

#[test]
fn styles_are_written_and_end_with_their_row() {
    let mut glass = Glass::new();
    let styled = |color| Line::from(Span::styled("ab", Style::new().fg(color).bold().on_red()));
    for (color, expected) in [
        (Color::Red, vt100::Color::Idx(1)),
        (Color::LightBlue, vt100::Color::Idx(12)),
        (Color::Indexed(200), vt100::Color::Idx(200)),
        (Color::Rgb(1, 2, 3), vt100::Color::Rgb(1, 2, 3)),
    ] {
        let live = vec![styled(color), Line::raw("plain")];
        glass.draw(Frame { live, ..Frame::default() });
        let screen = glass.terminal.screen();
        let (first, below) = (screen.cell(0, 0).unwrap(), screen.cell(1, 0).unwrap());
        assert_eq!((first.fgcolor(), first.bold()), (expected, true));
        assert_eq!(first.bgcolor(), vt100::Color::Idx(1));
        assert_eq!((below.fgcolor(), below.bold()), (vt100::Color::Default, false));
    }
}

#[test]
fn a_page_covers_the_screen_and_leaves_it_as_it_was() {
    let mut glass = Glass::new();
    glass.draw(frame(&["one"], &["> hi"]));
    glass.screen.draw_page(&lines(&["page 1", "of 2"]), None).unwrap();
    glass.look();
    assert!(glass.terminal.screen().alternate_screen());
    assert_eq!(glass.terminal.screen().contents(), "page 1\nof 2");
    glass.screen.draw_page(&lines(&["page 2"]), None).unwrap();
    glass.look();
    assert_eq!(glass.terminal.screen().contents(), "page 2");
    glass.draw(frame(&["two"], &["> hi"]));
    assert!(!glass.terminal.screen().alternate_screen());
    assert_eq!(glass.all_rows(), ["one", "two", "> hi"]);
}

#[test]
fn a_region_larger_than_the_screen_is_cut_at_its_top() {
    let mut glass = Glass::new();
    glass.draw(frame(&["done"], &["1", "2", "3", "4", "5", "6", "7", "8"]));
    glass.draw(frame(&[], &["1", "2", "3", "4", "5", "6", "7", "9"]));
    assert_eq!(glass.all_rows(), ["done", "3", "4", "5", "6", "7", "9"]);
}

/// Whatever stood on the screen stands there or above it afterwards.
#[test]
fn what_is_written_anew_erases_nothing_of_others() {
    let check = |anew: fn(&mut Glass), expected: &[&str]| {
        let mut glass = Glass::new();
        glass.terminal.process(b"$ ls\r\n$ heeler\r\n");
        glass.draw(frame(&["one", "two"], &["> hi"]));
        anew(&mut glass);
        glass.draw(frame(&[], &["> hi"]));
        assert_eq!(glass.all_rows(), expected);
    };
    let shell = ["$ ls", "$ heeler"];
    let repaint = |glass: &mut Glass| glass.screen.repaint(&lines(&["0", "one", "two"])).unwrap();
    check(repaint, &[&shell[..], &["one", "two", "> hi"]].concat());
    let restart = |glass: &mut Glass| {
        glass.terminal.screen_mut().set_size(cells(HEIGHT + 1), cells(WIDTH));
        glass.screen.restart(WIDTH, HEIGHT + 1, &lines(&["one", "two"])).unwrap();
    };
    check(restart, &[&shell[..], &["one", "two", "one", "two", "> hi"]].concat());
    let scroll_out = |glass: &mut Glass| glass.screen.scroll_out().unwrap();
    check(scroll_out, &[&shell[..], &["one", "two", "> hi"]].concat());
    let others = |glass: &mut Glass| {
        glass.screen.share();
        glass.screen.repaint(&lines(&["one", "two"])).unwrap();
    };
    check(others, &[&shell[..], &["one", "two", "> hi"]].concat());
}

#[test]
fn a_full_screen_is_mended_wherever_others_left_the_cursor() {
    let mut glass = Glass::new();
    glass.draw(frame(&["1", "2", "3", "4", "5", "6", "7"], &["> hi", "status"]));
    glass.terminal.process(b"\x1b[2;3Hgarbage\x1b[6;5H");
    glass.screen.repaint(&lines(&["2", "3", "4", "5", "6", "7"])).unwrap();
    glass.draw(frame(&[], &["> hi", "status"]));
    assert_eq!(glass.all_rows(), ["1", "2", "3", "4", "5", "6", "7", "> hi", "status"]);
}

/// Standard output keeps what ends in no line break until it is flushed.
#[test]
fn a_page_is_left_at_once_also_where_nothing_else_changes() {
    let out = std::io::BufWriter::new(Vec::new());
    let mut screen = Screen::new(out, WIDTH, HEIGHT);
    screen.draw(frame(&[], &["? Run it"])).unwrap();
    screen.draw_page(&lines(&["the page"]), Some(Place::default())).unwrap();
    screen.draw(frame(&[], &["? Run it"])).unwrap();
    let mut terminal = vt100::Parser::new(cells(HEIGHT), cells(WIDTH), 0);
    terminal.process(screen.out.get_ref());
    assert!(!terminal.screen().alternate_screen());
    assert!(terminal.screen().hide_cursor());
    assert_eq!(terminal.screen().rows(0, WIDTH).next().unwrap(), "? Run it");
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-c漢é ]{0,6}", 0..5)
}

proptest! {
    /// Whatever is drawn after what, below what others wrote and also anew, a terminal shows all that was
    /// finished, once, and then the region as it is.
    #[test]
    fn a_terminal_shows_what_was_drawn(
        frames in prop::collection::vec((texts(), texts(), any::<bool>()), 1..12),
        n_others in 0..5_usize,
    ) {
        let mut glass = Glass::new();
        let mut all = vec!["$".to_owned(); n_others];
        glass.terminal.process("$\r\n".repeat(n_others).as_bytes());
        for (finished, live, is_anew) in frames {
            if is_anew {
                let tail: Vec<&str> = all[n_others..].iter().map(String::as_str).collect();
                let n_rows = tail.len().min(HEIGHT.into());
                glass.screen.repaint(&lines(&tail[tail.len() - n_rows..])).unwrap();
            }
            let shown = |texts: &[String]| -> Vec<Line<'static>> {
                texts.iter().map(|text| Line::raw(text.clone())).collect()
            };
            let frame = Frame { finished: shown(&finished), live: shown(&live), cursor: None };
            glass.draw(frame);
            let seen = |text: &String| text.trim_end().to_owned();
            all.extend(finished.iter().map(seen));
            let mut expected: Vec<String> = all.clone();
            expected.extend(live.iter().map(seen));
            while expected.last().is_some_and(String::is_empty) {
                expected.pop();
            }
            let rows: Vec<String> = glass.all_rows().iter().map(seen).collect();
            prop_assert_eq!(rows, expected);
        }
    }
}
