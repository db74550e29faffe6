//! Vim's keys: enough of them for daily use.

mod motion;
mod objects;
mod operate;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::edit::{Editor, Way};
use super::emacs::{self, Outcome};
use super::graphemes;
use super::words::{line_end, line_start};
use motion::{Find, Motion, Takes, first_letter};
use operate::Target;

/// The highest count.
pub const COUNT_MAX: usize = 999;
/// The most keys of one change that are done again.
pub const REPEATED_KEYS_MAX: usize = 4_096;
/// The most keys that one key does again.
const PLAYED_KEYS_MAX: usize = 20_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Insert,
    Normal,
    Visual,
    VisualLine,
}

/// A command that is not complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Pending {
    count: Option<usize>,
    operator: Option<char>,
    count_before_operator: usize,
    /// A key that needs another one: `f`, `g`, `r`, `i` and the like.
    first: Option<char>,
}

/// The state of vim's keys.
#[derive(Debug)]
pub(super) struct Vim {
    pub(super) mode: Mode,
    pending: Pending,
    find: Option<Find>,
    /// Where visual mode began.
    anchor: usize,
    /// The text that was kept last, if it is whole lines.
    kept_lines: Option<String>,
    /// The keys of the change that is being made, and of the last one.
    recorded: Vec<KeyEvent>,
    last_change: Vec<KeyEvent>,
    /// What is typed in insert mode, and how often.
    typed: Vec<KeyEvent>,
    times: usize,
    playing: bool,
    /// The key took changes back or did them again: it is no change itself.
    went_back: bool,
}

impl Vim {
    /// In insert mode: there is nothing yet to do anything to.
    pub(super) fn new() -> Self {
        Self {
            mode: Mode::Insert,
            pending: Pending::default(),
            find: None,
            anchor: 0,
            kept_lines: None,
            recorded: Vec::new(),
            last_change: Vec::new(),
            typed: Vec::new(),
            times: 1,
            playing: false,
            went_back: false,
        }
    }

    /// The text was sent: the next one is written.
    pub(super) fn restart(&mut self) {
        self.mode = Mode::Insert;
        self.pending = Pending::default();
        self.typed.clear();
        self.times = 1;
    }

    pub(super) fn label(&self) -> &'static str {
        match self.mode {
            Mode::Insert => "INSERT",
            Mode::Normal => "NORMAL",
            Mode::Visual => "VISUAL",
            Mode::VisualLine => "V-LINE",
        }
    }

    /// What visual mode has chosen.
    pub(super) fn selection(&self, editor: &Editor) -> Option<Range<usize>> {
        self.chosen(editor).map(|target| target.range)
    }

    /// Keeps the cursor on a grapheme in the modes that write nothing.
    pub(super) fn settle(&self, editor: &mut Editor) {
        let (text, at) = (editor.text(), editor.cursor());
        if self.mode == Mode::Normal && at == line_end(text, at) && at > line_start(text, at) {
            editor.move_to(graphemes::previous(text, at));
        }
    }

    pub(super) fn key(&mut self, editor: &mut Editor, key: KeyEvent) -> Outcome {
        if self.mode == Mode::Insert {
            return self.insert_key(editor, key);
        }
        let revision = editor.buffer.revision();
        let is_new = self.pending == Pending::default() && self.mode == Mode::Normal;
        if is_new && !self.playing {
            self.recorded.clear();
        }
        self.record(key);
        self.went_back = false;
        editor.buffer.undo.seal();
        editor.buffer.undo.held = true;
        let outcome = self.command_key(editor, key);
        if self.mode == Mode::Insert {
            return outcome;
        }
        editor.buffer.undo.held = false;
        editor.buffer.undo.seal();
        self.settle(editor);
        if editor.buffer.revision() != revision && !self.went_back {
            self.changed();
        }
        outcome
    }

    fn record(&mut self, key: KeyEvent) {
        if !self.playing && self.recorded.len() <= REPEATED_KEYS_MAX {
            self.recorded.push(key);
        }
    }

    /// A change is complete. One with too many keys is not done again.
    fn changed(&mut self) {
        if !self.playing && self.recorded.len() <= REPEATED_KEYS_MAX {
            self.last_change.clone_from(&self.recorded);
        }
    }

    fn insert_key(&mut self, editor: &mut Editor, key: KeyEvent) -> Outcome {
        if key.code != KeyCode::Esc {
            self.record(key);
            if self.typed.len() <= REPEATED_KEYS_MAX {
                self.typed.push(key);
            }
            return emacs::key(editor, key);
        }
        self.record(key);
        let typed = std::mem::take(&mut self.typed);
        let times = std::mem::replace(&mut self.times, 1) - 1;
        if typed.len() <= REPEATED_KEYS_MAX {
            let times = times.min(PLAYED_KEYS_MAX / typed.len().max(1));
            for key in typed.iter().cycle().take(typed.len() * times) {
                editor.begin();
                emacs::key(editor, *key);
            }
        }
        self.mode = Mode::Normal;
        editor.buffer.undo.held = false;
        editor.buffer.undo.seal();
        let (text, at) = (editor.text(), editor.cursor());
        if at > line_start(text, at) {
            editor.move_to(graphemes::previous(text, at));
        }
        self.changed();
        Outcome::Done
    }

    fn command_key(&mut self, editor: &mut Editor, key: KeyEvent) -> Outcome {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => {
                let was_open = self.pending != Pending::default() || self.mode != Mode::Normal;
                self.pending = Pending::default();
                self.mode = Mode::Normal;
                if was_open { Outcome::Done } else { Outcome::Unknown }
            }
            KeyCode::Char('r') if control => {
                self.went_back = true;
                editor.buffer.redo();
                Outcome::Done
            }
            KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => {
                Outcome::Unknown
            }
            KeyCode::Char(letter) => self.letter(editor, letter),
            KeyCode::Backspace => self.letter(editor, 'h'),
            _ => {
                self.pending = Pending::default();
                emacs::key(editor, key)
            }
        }
    }

    fn letter(&mut self, editor: &mut Editor, letter: char) -> Outcome {
        if let Some(first) = self.pending.first.take() {
            return self.second_letter(editor, first, letter);
        }
        if let Some(digit) =
            letter.to_digit(10).filter(|it| *it > 0 || self.pending.count.is_some())
        {
            let count = self.pending.count.unwrap_or(0) * 10 + digit as usize;
            self.pending.count = Some(count.min(COUNT_MAX));
            return Outcome::Done;
        }
        let needs_more = match letter {
            'f' | 'F' | 't' | 'T' | 'g' | 'r' | 'z' => true,
            'i' | 'a' => self.pending.operator.is_some() || self.mode != Mode::Normal,
            _ => false,
        };
        if needs_more {
            self.pending.first = Some(letter);
            return Outcome::Done;
        }
        let count = count_of(self.pending);
        if let Some(outcome) = self.climb(editor, letter, count) {
            return outcome;
        }
        let again = match letter {
            ';' => self.find,
            ',' => self.find.map(Find::turned),
            _ => None,
        };
        let (text, at) = (editor.text(), editor.cursor());
        let motion = match (letter, again) {
            ('G', _) => {
                let given = self.pending.count.is_some() || self.pending.count_before_operator > 1;
                let last = line_start(text, text.len());
                let to = if given { motion::line(text, count) } else { last };
                Some(Motion { to, takes: Takes::Lines })
            }
            (_, Some(find)) => find.motion(text, at, count, true),
            _ => motion::simple(text, at, letter, count),
        };
        match motion {
            Some(motion) => self.go(editor, letter, motion),
            None => self.command(editor, letter, count),
        }
        Outcome::Done
    }

    /// `j` and `k` go by rows, as arrows do, unless an operator wants lines.
    fn climb(&mut self, editor: &mut Editor, letter: char, count: usize) -> Option<Outcome> {
        let way = match letter {
            'j' => Way::Down,
            'k' => Way::Up,
            _ => return None,
        };
        if self.pending.operator.is_some() {
            return None;
        }
        self.pending = Pending::default();
        for done in 0..count {
            if !editor.climb(way) {
                let is_edge = done == 0 && self.mode == Mode::Normal;
                return Some(if is_edge { Outcome::Edge(way) } else { Outcome::Done });
            }
            if done + 1 < count {
                editor.begin();
            }
        }
        Some(Outcome::Done)
    }

    /// The key after one that needed another.
    fn second_letter(&mut self, editor: &mut Editor, first: char, letter: char) -> Outcome {
        let count = count_of(self.pending);
        let (text, at) = (editor.text(), editor.cursor());
        match (first, letter) {
            ('f' | 'F' | 't' | 'T', _) => {
                let find = Find::new(first, letter);
                self.find = Some(find);
                match find.motion(text, at, count, false) {
                    Some(motion) => self.go(editor, first, motion),
                    None => self.pending = Pending::default(),
                }
            }
            ('g', 'g') => {
                let to = motion::line(text, count);
                self.go(editor, 'g', Motion { to, takes: Takes::Lines });
            }
            ('r', _) if self.mode == Mode::Normal => {
                self.pending = Pending::default();
                self.write_over(editor, letter, count);
            }
            ('z', 'a' | 'o') => {
                self.pending = Pending::default();
                editor.unfold();
            }
            ('i' | 'a', _) => match objects::object(text, at, letter, first == 'a') {
                Some(range) => self.take_object(editor, range),
                None => self.pending = Pending::default(),
            },
            _ => self.pending = Pending::default(),
        }
        Outcome::Done
    }

    fn take_object(&mut self, editor: &mut Editor, range: Range<usize>) {
        let operator = self.pending.operator;
        self.pending = Pending::default();
        match operator {
            Some(operator) => self.operate(editor, operator, Target { range, lines: false }),
            None if range.is_empty() => {}
            None => {
                self.anchor = range.start;
                editor.move_to(graphemes::previous(editor.text(), range.end));
            }
        }
    }

    /// Follows a motion, or does the operator that waits for it.
    fn go(&mut self, editor: &mut Editor, letter: char, motion: Motion) {
        let pending = std::mem::take(&mut self.pending);
        let (text, at) = (editor.text(), editor.cursor());
        let Some(operator) = pending.operator else {
            let is_line = motion.takes == Takes::Lines;
            editor.move_to(if is_line { first_letter(text, motion.to) } else { motion.to });
            return;
        };
        let mut range = at.min(motion.to)..at.max(motion.to);
        let target = match motion.takes {
            // A single line cannot be left by these.
            Takes::Lines if matches!(letter, 'j' | 'k') && motion.to == at => return,
            Takes::Lines => Target::of_lines(text, range),
            Takes::With => {
                range.end = graphemes::next(text, range.end);
                Target { range, lines: false }
            }
            Takes::Before => {
                // A word at a line's end is taken without the break.
                if matches!(letter, 'w' | 'W') {
                    let blank = text[at..].starts_with(char::is_whitespace);
                    if operator == 'c' && !blank {
                        range.end = motion::words(text, at, letter, count_of(pending));
                    } else {
                        range.end = range.end.min(line_end(text, at)).max(range.start);
                    }
                }
                Target { range, lines: false }
            }
        };
        self.operate(editor, operator, target);
    }

    /// What visual mode has chosen.
    fn chosen(&self, editor: &Editor) -> Option<Target> {
        let (text, at) = (editor.text(), editor.cursor());
        let anchor = graphemes::snap(text, self.anchor);
        let (start, last) = (anchor.min(at), anchor.max(at));
        match self.mode {
            Mode::Insert | Mode::Normal => None,
            Mode::Visual => {
                Some(Target { range: start..graphemes::next(text, last), lines: false })
            }
            Mode::VisualLine => Some(Target::of_lines(text, start..last)),
        }
    }

    /// A command that is no motion.
    fn command(&mut self, editor: &mut Editor, letter: char, count: usize) {
        if let Some(target) = self.chosen(editor) {
            self.pending = Pending::default();
            return self.visual_command(editor, letter, target);
        }
        let (text, at) = (editor.text(), editor.cursor());
        let operator = self.pending.operator;
        match (letter, operator) {
            ('d' | 'c' | 'y', None) => {
                let count_before_operator = count;
                self.pending =
                    Pending { operator: Some(letter), count_before_operator, ..Pending::default() };
                return;
            }
            (_, Some(operator)) if operator == letter => {
                let last = motion::simple(text, at, 'j', count - 1).map_or(at, |motion| motion.to);
                self.operate(editor, operator, Target::of_lines(text, at..last));
            }
            // An operator and what is no motion: nothing.
            (_, Some(_)) => {}
            _ => self.plain_command(editor, letter, count),
        }
        self.pending = Pending::default();
    }

    fn plain_command(&mut self, editor: &mut Editor, letter: char, count: usize) {
        let (text, at) = (editor.text(), editor.cursor());
        let (start, end) = (line_start(text, at), line_end(text, at));
        let chars = |range| Target { range, lines: false };
        let steps = |key| motion::simple(text, at, key, count).map_or(at, |motion| motion.to);
        match letter {
            'i' | 'a' | 'I' | 'A' | 'o' | 'O' => self.enter_insert(editor, letter, count),
            'x' => self.operate(editor, 'd', chars(at..steps('l'))),
            'X' => self.operate(editor, 'd', chars(steps('h')..at)),
            's' => self.operate(editor, 'c', chars(at..steps('l'))),
            'D' => self.operate(editor, 'd', chars(at..end)),
            'C' => self.operate(editor, 'c', chars(at..end)),
            'S' => self.operate(editor, 'c', Target { range: start..end, lines: true }),
            'Y' => self.operate(editor, 'y', Target { range: start..end, lines: true }),
            'p' | 'P' => self.put(editor, letter == 'p', count),
            'J' => self.join(editor, count),
            '~' => {
                let to = steps('l');
                self.swap_case(editor, at..to);
                editor.move_to(to);
            }
            'v' | 'V' => {
                self.anchor = at;
                self.mode = if letter == 'v' { Mode::Visual } else { Mode::VisualLine };
            }
            'u' => {
                self.went_back = true;
                for _ in 0..count {
                    editor.buffer.undo();
                }
            }
            '.' => self.repeat(editor, count),
            _ => {}
        }
    }

    fn visual_command(&mut self, editor: &mut Editor, letter: char, target: Target) {
        let mode = std::mem::replace(&mut self.mode, Mode::Normal);
        match letter {
            'd' | 'x' | 'X' | 'D' => self.operate(editor, 'd', target),
            'c' | 's' | 'S' | 'C' => self.operate(editor, 'c', target),
            'y' | 'Y' => self.operate(editor, 'y', target),
            '~' => self.operate(editor, '~', target),
            'J' => {
                let lines = editor.text()[target.range.clone()].matches('\n').count();
                editor.move_to(target.range.start);
                self.join(editor, lines + 1);
            }
            'p' | 'P' => {
                let kept = editor.kills.newest().unwrap_or_default().to_owned();
                let start = target.range.start;
                if editor.replace(target.range, &kept) {
                    editor.move_to(start);
                }
            }
            'o' => {
                let cursor = editor.cursor();
                editor.move_to(self.anchor);
                self.anchor = cursor;
                self.mode = mode;
            }
            'v' if mode == Mode::VisualLine => self.mode = Mode::Visual,
            'V' if mode == Mode::Visual => self.mode = Mode::VisualLine,
            'v' | 'V' => {}
            _ => self.mode = mode,
        }
    }

    fn enter_insert(&mut self, editor: &mut Editor, letter: char, count: usize) {
        let (text, at) = (editor.text(), editor.cursor());
        let (start, end) = (line_start(text, at), line_end(text, at));
        match letter {
            'a' if at < end => editor.move_to(graphemes::next(text, at)),
            'I' => editor.move_to(first_letter(text, at)),
            'A' => editor.move_to(end),
            'o' => {
                editor.replace(end..end, "\n");
            }
            'O' => {
                editor.replace(start..start, "\n");
                editor.move_to(start);
            }
            _ => {}
        }
        self.mode = Mode::Insert;
        self.times = count;
        self.typed.clear();
    }

    /// Does the last change again.
    fn repeat(&mut self, editor: &mut Editor, count: usize) {
        let keys = self.last_change.clone();
        self.pending = Pending::default();
        self.playing = true;
        let times = count.min(PLAYED_KEYS_MAX / keys.len().max(1));
        for key in keys.iter().cycle().take(keys.len() * times) {
            editor.begin();
            self.key(editor, *key);
        }
        self.playing = false;
        self.went_back = true;
    }
}

/// How often.
fn count_of(pending: Pending) -> usize {
    (pending.count.unwrap_or(1) * pending.count_before_operator.max(1)).min(COUNT_MAX)
}
