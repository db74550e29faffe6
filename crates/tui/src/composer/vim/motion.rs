//! Where vim's motions lead.

use super::super::graphemes;
use super::super::words::{
    Class, class, class_between_blanks, line_end, line_start, skip, skip_back,
};

/// Where a motion leads, and what an operator takes of the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Motion {
    pub(super) to: usize,
    pub(super) takes: Takes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Up to there.
    Before,
    /// What stands there, too.
    With,
    /// Whole lines.
    Lines,
}

/// A search for one character in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) letter: char,
    pub(super) forward: bool,
    /// Stops beside it.
    pub(super) till: bool,
}

impl Find {
    /// The find of `f`, `F`, `t` or `T`.
    pub(super) fn new(key: char, letter: char) -> Self {
        Self { letter, forward: key.is_lowercase(), till: key.eq_ignore_ascii_case(&'t') }
    }

    pub(super) fn turned(self) -> Self {
        Self { forward: !self.forward, ..self }
    }

    /// Where the count-th is; `again` passes one that `till` stands beside already.
    pub(super) fn motion(self, text: &str, at: usize, count: usize, again: bool) -> Option<Motion> {
        let line = line_start(text, at)..line_end(text, at);
        let is_it = |grapheme: &str| grapheme.starts_with(self.letter);
        let beside = self.till && again;
        if self.forward {
            let from = graphemes::next(text, at).min(line.end);
            let from = if beside { graphemes::next(text, from).min(line.end) } else { from };
            let mut found = graphemes::of(text, from, line.end).filter(|(_, it)| is_it(it));
            let (found, _) = found.nth(count - 1)?;
            let to = if self.till { graphemes::previous(text, found) } else { found };
            return Some(Motion { to, takes: Takes::With });
        }
        let end = if beside { graphemes::previous(text, at).max(line.start) } else { at };
        let places = graphemes::of(text, line.start, end).filter(|(_, it)| is_it(it));
        let places: Vec<_> = places.map(|(place, _)| place).collect();
        let found = *places.get(places.len().checked_sub(count)?)?;
        let to = if self.till { graphemes::next(text, found) } else { found };
        Some(Motion { to, takes: Takes::Before })
    }
}

/// The motions of one key that stay within the text's words and lines.
pub(super) fn simple(text: &str, at: usize, key: char, count: usize) -> Option<Motion> {
    let times = |step: &dyn Fn(usize) -> usize| (0..count).fold(at, |at, _| step(at));
    let (to, takes) = match key {
        'h' => (times(&|at| left(text, at)), Takes::Before),
        'l' | ' ' => (times(&|at| right(text, at)), Takes::Before),
        'w' => (times(&|at| word_forward(text, at, class)), Takes::Before),
        'W' => (times(&|at| word_forward(text, at, class_between_blanks)), Takes::Before),
        'b' => (times(&|at| word_back(text, at, class)), Takes::Before),
        'B' => (times(&|at| word_back(text, at, class_between_blanks)), Takes::Before),
        'e' => (times(&|at| word_end(text, at, class)), Takes::With),
        'E' => (times(&|at| word_end(text, at, class_between_blanks)), Takes::With),
        '0' => (line_start(text, at), Takes::Before),
        '^' => (first_letter(text, at), Takes::Before),
        '$' => (line_end(text, down(text, at, count - 1)), Takes::Before),
        'j' => (down(text, at, count), Takes::Lines),
        'k' => (up(text, at, count), Takes::Lines),
        _ => return None,
    };
    Some(Motion { to, takes })
}

/// The end of so many words, the one at the place included.
pub(super) fn words(text: &str, at: usize, key: char, count: usize) -> usize {
    let class = if key == 'w' { class } else { class_between_blanks };
    let blank = |grapheme: &str| class(grapheme) == Class::Space;
    (1..count).fold(run(text, at, class), |end, _| run(text, skip(text, end, blank), class))
}

/// The first letter of the line that is no blank.
pub(super) fn first_letter(text: &str, at: usize) -> usize {
    let end = line_end(text, at);
    skip(text, line_start(text, at), |grapheme| class(grapheme) == Class::Space).min(end)
}

/// The beginning of a line by its number, from one; the last one's when there are fewer.
pub(super) fn line(text: &str, number: usize) -> usize {
    down(text, 0, number.saturating_sub(1))
}

fn left(text: &str, at: usize) -> usize {
    if at == line_start(text, at) { at } else { graphemes::previous(text, at) }
}

fn right(text: &str, at: usize) -> usize {
    if at == line_end(text, at) { at } else { graphemes::next(text, at) }
}

/// The beginning of the line so many below; the place itself for none.
fn down(text: &str, at: usize, count: usize) -> usize {
    (0..count).fold(at, |at, _| match line_end(text, at) {
        end if end == text.len() => at,
        end => end + 1,
    })
}

fn up(text: &str, at: usize, count: usize) -> usize {
    (0..count).fold(at, |at, _| match line_start(text, at) {
        0 => at,
        start => line_start(text, start - 1),
    })
}

/// Past graphemes of one class; a unit is alone in its.
fn run(text: &str, at: usize, class: fn(&str) -> Class) -> usize {
    match graphemes::at(text, at).map(class) {
        None => at,
        Some(Class::Unit) => graphemes::next(text, at),
        Some(kind) => skip(text, at, |grapheme| class(grapheme) == kind),
    }
}

/// Before graphemes of one class.
fn run_back(text: &str, at: usize, class: fn(&str) -> Class) -> usize {
    match graphemes::before(text, at).map(class) {
        None => at,
        Some(Class::Unit) => graphemes::previous(text, at),
        Some(kind) => skip_back(text, at, |grapheme| class(grapheme) == kind),
    }
}

fn word_forward(text: &str, at: usize, class: fn(&str) -> Class) -> usize {
    let mut to = at;
    if graphemes::at(text, at).map(class) != Some(Class::Space) {
        to = run(text, at, class);
    }
    while let Some(blank) = graphemes::at(text, to).filter(|it| class(it) == Class::Space) {
        to += blank.len();
        // An empty line is a word.
        if blank == "\n" && text[to..].starts_with('\n') {
            break;
        }
    }
    to
}

fn word_back(text: &str, at: usize, class: fn(&str) -> Class) -> usize {
    let end = skip_back(text, at, |grapheme| class(grapheme) == Class::Space);
    run_back(text, end, class)
}

fn word_end(text: &str, at: usize, class: fn(&str) -> Class) -> usize {
    let from = graphemes::next(text, at);
    let start = skip(text, from, |grapheme| class(grapheme) == Class::Space);
    let end = run(text, start, class);
    if end == start {
        at.max(graphemes::previous(text, end))
    } else {
        graphemes::previous(text, end)
    }
}
