//! How models write calls wrongly.
//!
//! What a model mistakes in its whole way of writing (indentation, tabs, quotes, line ends) is so in
//! every line of the call, the new ones included. What it mistakes about one line (white space at
//! its end, a blank line, a word) is so where it copies that line. A drift that leaves nothing in the
//! call to tell it by is none: such a call says clearly something else.

use super::call::{Call, Lines, Place, Tool, What};
use super::changes::Change;
use super::tally::Tally;
use crate::dice::Dice;

/// How often a drift is tried on a call before another one is.
const TRIES: usize = 4;
/// Letters and digits of lines copied as they are, without which the context is contradicted.
const INTACT_SIGNS_MIN: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drift {
    None,
    Indentation,
    TrailingSpace,
    Tabs,
    Quotes,
    CarriageReturns,
    BlankLine,
    Stale,
    Ambiguous,
    LineNumbers,
}

impl Drift {
    pub(super) const ALL: [Self; 10] = [
        Self::None,
        Self::Indentation,
        Self::TrailingSpace,
        Self::Tabs,
        Self::Quotes,
        Self::CarriageReturns,
        Self::BlankLine,
        Self::Stale,
        Self::Ambiguous,
        Self::LineNumbers,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Indentation => "indentation",
            Self::TrailingSpace => "trailing space",
            Self::Tabs => "tabs for spaces",
            Self::Quotes => "smart quotes",
            Self::CarriageReturns => "CRLF",
            Self::BlankLine => "missing blank line",
            Self::Stale => "stale context",
            Self::Ambiguous => "ambiguous context",
            Self::LineNumbers => "wrong line numbers",
        }
    }

    /// The call with that drift of those possible that was seen least.
    pub(super) fn least_seen(
        tally: &Tally,
        call: &Call,
        change: &Change,
        dice: &mut Dice,
    ) -> Option<Written> {
        let mut drifts = Self::ALL[1..].to_vec();
        drifts.sort_by_key(|drift| tally.n_of(*drift));
        drifts.into_iter().find_map(|drift| {
            (0..TRIES)
                .find_map(|_| drift.of(call, change, dice))
                .filter(|it| !it.is_elsewhere(call, change))
        })
    }

    fn of(self, call: &Call, change: &Change, dice: &mut Dice) -> Option<Written> {
        let mut written = Written { drift: self, ..Written::faithful(call) };
        let is_drifted = match self {
            Self::None => false,
            Self::Indentation => indentation(&mut written, call, dice),
            Self::TrailingSpace => trailing_space(&mut written, dice),
            Self::Tabs => tabs(&mut written, dice),
            Self::Quotes => quotes(&mut written),
            Self::CarriageReturns => {
                written.end = "\r\n";
                call.tool == Tool::Patch || written.places.iter().any(|place| place.old().len() > 1)
            }
            Self::BlankLine => blank_line(&mut written, dice),
            Self::Stale => stale(&mut written, change, dice),
            Self::Ambiguous => ambiguous(&mut written, call, dice),
            Self::LineNumbers => {
                written.numbers = Some(dice.roll(1..=900));
                true
            }
        };
        is_drifted.then_some(written)
    }
}

/// A call as it was written.
pub(super) struct Written {
    pub(super) drift: Drift,
    pub(super) places: Vec<Place>,
    pub(super) end: &'static str,
    /// The number of the first line, wrong.
    pub(super) numbers: Option<usize>,
    /// The context is contradicted, or leaves open what is meant: to say so is right.
    pub(super) may_refuse: bool,
}

impl Written {
    /// As it should be.
    pub(super) fn faithful(call: &Call) -> Self {
        let places = call.places.clone();
        Self { drift: Drift::None, places, end: "\n", numbers: None, may_refuse: false }
    }

    /// Whether what was written is, exactly so, at a place that is not meant.
    fn is_elsewhere(&self, call: &Call, change: &Change) -> bool {
        if self.drift == Drift::Ambiguous {
            return false;
        }
        let before: Vec<&str> = change.before.lines().collect();
        let mut text = before.join("\n");
        if change.before.ends_with('\n') {
            text.push('\n');
        }
        self.places.iter().zip(&call.places).any(|(place, meant)| {
            let old = place.old();
            let range = meant.start..meant.start + meant.old().len();
            match call.tool {
                Tool::Edit => text.match_indices(&old.join("\n")).any(|(at, _)| {
                    let line = text[..at].matches('\n').count();
                    !range.contains(&line)
                }),
                Tool::Patch => before
                    .windows(old.len().max(1))
                    .enumerate()
                    .any(|(at, window)| window == old && at != meant.start),
            }
        })
    }

    fn lines(&mut self) -> impl Iterator<Item = &mut (What, String)> {
        self.places.iter_mut().flat_map(|place| &mut place.lines)
    }

    /// Writes every line anew; `false`, and nothing done, when a line cannot be so, or no line that
    /// is looked for differs.
    fn each(&mut self, write: impl Fn(&str) -> Option<String>) -> bool {
        let mut written: Vec<Lines> = Vec::new();
        let mut shows = true;
        for place in &self.places {
            let one = |(what, line): &(What, String)| match line.trim().is_empty() {
                true => Some((*what, line.clone())),
                false => Some((*what, write(line)?)),
            };
            let Some(lines) = place.lines.iter().map(one).collect::<Option<Lines>>() else {
                return false;
            };
            let is_old = |line: &&(What, String)| line.0 != What::Add;
            shows &= lines.iter().filter(is_old).ne(place.lines.iter().filter(is_old));
            written.push(lines);
        }
        if shows {
            self.places.iter_mut().zip(written).for_each(|(place, lines)| place.lines = lines);
        }
        shows
    }
}

fn split(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start().len())
}

fn indentation(written: &mut Written, call: &Call, dice: &mut Dice) -> bool {
    let has_tabs = written.lines().any(|(_, line)| line.starts_with('\t'));
    let step = if has_tabs { "\t" } else { dice.pick(["  ", "    ", "    ", "        ", " "]) };
    let done = match dice.roll(1..=5) {
        1 => written.each(|line| Some(format!("{step}{line}"))),
        2 if call.tool == Tool::Edit => first_line(written),
        3 if !has_tabs => written.each(|line| {
            let (indent, text) = split(line);
            indent
                .len()
                .is_multiple_of(4)
                .then(|| format!("{}{text}", " ".repeat(indent.len() / 2)))
        }),
        4 => {
            let least = written.lines().filter(|(_, line)| !line.trim().is_empty());
            let least = least.map(|(_, line)| split(line).0.to_owned()).min_by_key(String::len);
            let least = least.unwrap_or_default();
            written.each(|line| line.strip_prefix(&least).map(str::to_owned))
        }
        _ => written.each(|line| line.strip_prefix(step).map(str::to_owned)),
    };
    // One line found and several to put there: their depth could be meant either way.
    let n_new = |place: &Place| place.lines.iter().filter(|it| it.0 != What::Remove).count();
    let is_open = |place: &Place| place.old().len() == 1 && n_new(place) > 1;
    written.may_refuse = written.places.iter().any(is_open);
    done
}

/// The first line has lost its indentation, in what is looked for and in what is put there.
fn first_line(written: &mut Written) -> bool {
    let lines = &mut written.places[0].lines;
    let first = |what| lines.iter().position(|(it, _)| *it != what);
    let (Some(old), Some(new)) = (first(What::Add), first(What::Remove)) else { return false };
    let indent = split(&lines[old].1).0.to_owned();
    let is_same = split(&lines[new].1).0 == indent
        && lines[..old.max(new)].iter().all(|it| it.0 != What::Keep);
    if indent.is_empty() || !is_same || lines[old].1.trim().is_empty() {
        return false;
    }
    for index in [old, new] {
        lines[index].1 = lines[index].1.trim_start().to_owned();
    }
    true
}

/// White space at the ends of some lines, or none where there is some.
fn trailing_space(written: &mut Written, dice: &mut Dice) -> bool {
    let mut is_drifted = false;
    for (what, line) in written.lines() {
        if *what == What::Add {
            continue;
        }
        let bare = line.trim_end();
        if bare.len() < line.len() {
            *line = bare.to_owned();
        } else if dice.one_in(2) {
            line.push_str(dice.pick([" ", "  ", "\t"]));
        } else {
            continue;
        }
        is_drifted = true;
    }
    is_drifted
}

/// Tabs where the file has spaces, or spaces where it has tabs.
fn tabs(written: &mut Written, dice: &mut Dice) -> bool {
    let has_tabs = written.lines().any(|(_, line)| line.starts_with('\t'));
    let width = dice.pick([2, 4, 4, 8]);
    let columns = |indent: &str| {
        indent
            .chars()
            .fold(0, |at, sign| if sign == '\t' { (at / width + 1) * width } else { at + 1 })
    };
    let tabbed =
        |columns: usize| format!("{}{}", "\t".repeat(columns / width), " ".repeat(columns % width));
    written.each(|line| {
        let (indent, text) = split(line);
        let columns = columns(indent);
        let (is_whole, other) = match has_tabs {
            true => (tabbed(columns) == indent, " ".repeat(columns)),
            false => (!indent.contains('\t'), tabbed(columns)),
        };
        is_whole.then(|| format!("{other}{text}"))
    })
}

/// Typographic quotes for plain ones, or plain ones for typographic.
fn quotes(written: &mut Written) -> bool {
    let is_smart = |sign: char| matches!(sign, '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}');
    if written.lines().any(|(_, line)| line.contains(is_smart)) {
        return written.each(|line| {
            Some(
                line.replace(['\u{2018}', '\u{2019}'], "'").replace(['\u{201c}', '\u{201d}'], "\""),
            )
        });
    }
    written.each(|line| {
        let mut smart = String::new();
        for sign in line.chars() {
            let opens =
                !smart.ends_with(|last: char| last.is_alphanumeric() || ".,!?)]}".contains(last));
            smart.push(match sign {
                '"' if opens => '\u{201c}',
                '"' => '\u{201d}',
                '\'' if opens => '\u{2018}',
                '\'' => '\u{2019}',
                sign => sign,
            });
        }
        Some(smart)
    })
}

/// A blank line that is kept is left out, between lines that are there.
fn blank_line(written: &mut Written, dice: &mut Dice) -> bool {
    let mut found = Vec::new();
    for (place, it) in written.places.iter().enumerate() {
        let is_solid =
            |(what, line): &(What, String)| *what != What::Add && !line.trim().is_empty();
        for (at, (what, line)) in it.lines.iter().enumerate() {
            let (head, tail) = (&it.lines[..at], &it.lines[at + 1..]);
            let is_inner = head.iter().any(is_solid) && tail.iter().any(is_solid);
            if *what == What::Keep && line.trim().is_empty() && is_inner {
                found.push((place, at));
            }
        }
    }
    if found.is_empty() {
        return false;
    }
    let (place, at) = found[dice.roll(0..=found.len() - 1)];
    let lines = &mut written.places[place].lines;
    written.may_refuse = is_beside(lines, at);
    lines.remove(at);
    true
}

/// Whether only blank lines are between this line and something that changes.
fn is_beside(lines: &Lines, at: usize) -> bool {
    let changes = |line: Option<&(What, String)>| line.is_some_and(|(what, _)| *what != What::Keep);
    let is_blank = |line: &&(What, String)| line.1.trim().is_empty() && line.0 == What::Keep;
    let above = lines[..at].iter().rev().find(|line| !is_blank(line));
    let below = lines[at + 1..].iter().find(|line| !is_blank(line));
    changes(above) || changes(below)
}

/// A kept line as it was before; when no line is kept, a removed one, which contradicts the file.
fn stale(written: &mut Written, change: &Change, dice: &mut Dice) -> bool {
    let place = dice.roll(0..=written.places.len() - 1);
    let lines = &mut written.places[place].lines;
    let solid = |wanted: What| -> Vec<usize> {
        let is_it = |at: &usize| lines[*at].0 == wanted && lines[*at].1.trim().len() > 3;
        (0..lines.len()).filter(is_it).collect()
    };
    let (kept, removed) = (solid(What::Keep), solid(What::Remove));
    let all = if kept.is_empty() { &removed } else { &kept };
    if all.is_empty() {
        return false;
    }
    let at = all[dice.roll(0..=all.len() - 1)];
    let is_solid = |it: &(What, String)| it.0 != What::Add && !it.1.trim().is_empty();
    let is_inner = lines[..at].iter().any(is_solid) && lines[at + 1..].iter().any(is_solid);
    let is_beside = is_beside(lines, at);
    let signs = |it: &(What, String)| it.1.chars().filter(|sign| sign.is_alphanumeric()).count();
    let intact = lines.iter().enumerate().filter(|(index, it)| *index != at && is_solid(it));
    let is_contradicted = intact.map(|(_, it)| signs(it)).sum::<usize>() < INTACT_SIGNS_MIN;
    let may_refuse = match dice.roll(1..=5) {
        1 if is_inner && !kept.is_empty() => {
            lines.remove(at);
            is_beside
        }
        2 if is_inner && !kept.is_empty() => {
            let line = format!("{}earlier(here);", split(&lines[at].1).0);
            lines.insert(at, (What::Keep, line));
            is_beside
        }
        _ => {
            let old_at = lines[..at].iter().filter(|it| it.0 != What::Add).count();
            let is_several = fits_without(change, lines, old_at);
            lines[at].1 = reworded(&lines[at].1, dice);
            is_several
        }
    };
    written.may_refuse = may_refuse || is_contradicted || kept.is_empty();
    true
}

/// Whether the old lines, but for one, are in the file several times: then that one told them apart.
fn fits_without(change: &Change, lines: &Lines, but: usize) -> bool {
    let old: Vec<&str> =
        lines.iter().filter(|it| it.0 != What::Add).map(|it| it.1.trim()).collect();
    let before: Vec<&str> = change.before.lines().map(str::trim).collect();
    let is_it = |window: &&[&str]| {
        let mut pairs = window.iter().zip(&old).enumerate();
        pairs.all(|(index, (line, wanted))| index == but || line == wanted)
    };
    before.windows(old.len()).filter(is_it).count() > 1
}

/// The line with one of its words changed.
fn reworded(line: &str, dice: &mut Dice) -> String {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let words: Vec<&str> =
        line.split(|sign| !is_word(sign)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return format!("{line} // old");
    }
    let word = words[dice.roll(0..=words.len() - 1)];
    let other = match word.parse::<u64>() {
        Ok(number) => number.wrapping_add(1).to_string(),
        Err(_) => format!("{word}_old"),
    };
    line.replacen(word, &other, 1)
}

/// So few lines around the change that it could be in several places.
fn ambiguous(written: &mut Written, call: &Call, dice: &mut Dice) -> bool {
    written.may_refuse = true;
    let place = dice.roll(0..=written.places.len() - 1);
    let lines = &mut written.places[place].lines;
    let keeps = |line: Option<&(What, String)>| line.is_some_and(|(what, _)| *what == What::Keep);
    let is_several = |lines: &Lines| {
        let old: Vec<&str> =
            lines.iter().filter(|it| it.0 != What::Add).map(|it| it.1.as_str()).collect();
        let expected: Vec<&str> = call.expected.lines().collect();
        // What is there several times before and after was so before the change.
        let n_places = expected.windows(old.len().max(1)).filter(|window| *window == old).count();
        let is_solid = old.iter().any(|line| !line.trim().is_empty());
        is_solid && n_places > usize::from(lines.iter().all(|it| it.0 == What::Keep))
    };
    while !is_several(lines) {
        let (first, last) = (keeps(lines.first()), keeps(lines.last()));
        match (first, last) {
            (true, true) if dice.one_in(2) => drop(lines.remove(0)),
            (_, true) => drop(lines.pop()),
            (true, false) => drop(lines.remove(0)),
            (false, false) => return false,
        }
    }
    true
}
