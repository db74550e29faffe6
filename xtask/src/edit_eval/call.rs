//! A change as the calls a model would make of it.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::changes::Change;
use crate::dice::Dice;

/// Unchanged lines around a change that a model copies at most, unless they tell too little.
const CONTEXT_LINES_MAX: usize = 3;
/// Unchanged lines on one side that are copied to tell a place from others.
const UNIQUE_LINES_MAX: usize = 30;
/// Lines of the largest change that is written as one call.
const CHANGED_LINES_MAX: usize = 150;
/// Places that one patch changes at most.
const PLACES_MAX: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Edit,
    Patch,
}

/// What a line of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Keep,
    Remove,
    Add,
}

pub(super) type Lines = Vec<(What, String)>;

/// One place that a call changes.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) lines: Lines,
    /// The index of the first of its lines in the file before.
    pub(super) start: usize,
}

impl Place {
    /// The lines that are in the file before.
    pub(super) fn old(&self) -> Vec<&str> {
        let old = self.lines.iter().filter(|(what, _)| *what != What::Add);
        old.map(|(_, line)| line.as_str()).collect()
    }
}

/// A call that is to turn one content into another.
pub(super) struct Call {
    pub(super) tool: Tool,
    pub(super) places: Vec<Place>,
    pub(super) expected: String,
}

/// The lines of a content, and the line ends all of them have.
pub(super) struct Text<'a> {
    pub(super) lines: Vec<&'a str>,
    pub(super) end: &'static str,
    is_ended: bool,
}

impl<'a> Text<'a> {
    /// `None` when it has line ends of both kinds: what a model that sees neither means is open.
    pub(super) fn new(content: &'a str) -> Option<Self> {
        let n_ends = content.matches('\n').count();
        let end = match content.matches("\r\n").count() {
            0 => "\n",
            n if n == n_ends => "\r\n",
            _ => return None,
        };
        let is_ended = content.ends_with('\n');
        let bare = content.strip_suffix(end).unwrap_or(content);
        Some(Self { lines: bare.split(end).collect(), end, is_ended })
    }
}

impl Call {
    /// The calls of a change: of Edit one for each place, of apply_patch one for the first places
    /// together.
    pub(super) fn all(change: &Change, tool: Tool, dice: &mut Dice) -> Vec<Self> {
        let (Some(before), Some(after)) = (Text::new(&change.before), Text::new(&change.after))
        else {
            return Vec::new();
        };
        // Neither tool can say that the last line gets an end or loses it.
        let is_same_form = before.end == after.end && before.is_ended == after.is_ended;
        if !is_same_form || change.before.is_empty() || change.before.starts_with('\u{feff}') {
            return Vec::new();
        }
        let mut changed = changed(&before.lines, &after.lines);
        changed.retain(|(old, new)| old.len() + new.len() <= CHANGED_LINES_MAX);
        let call = |changed: &[(Range<usize>, Range<usize>)], context| {
            let expected = joined(&before, &after, changed);
            let places = places(&before, &after, changed, context, tool)?;
            Some(Self { tool, places, expected })
        };
        match tool {
            Tool::Edit => changed
                .iter()
                .filter_map(|one| {
                    let context =
                        [dice.roll(0..=CONTEXT_LINES_MAX), dice.roll(0..=CONTEXT_LINES_MAX)];
                    call(std::slice::from_ref(one), context)
                })
                .collect(),
            Tool::Patch => {
                changed.truncate(PLACES_MAX);
                call(&changed, [CONTEXT_LINES_MAX; 2]).into_iter().collect()
            }
        }
    }
}

fn changed(before: &[&str], after: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut input = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| (range(hunk.before), range(hunk.after))).collect()
}

/// The content with only these places changed.
fn joined(before: &Text<'_>, after: &Text<'_>, changed: &[(Range<usize>, Range<usize>)]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut done = 0;
    for (old, new) in changed {
        lines.extend(&before.lines[done..old.start]);
        lines.extend(&after.lines[new.clone()]);
        done = old.end;
    }
    lines.extend(&before.lines[done..]);
    let mut content = lines.join(before.end);
    if before.is_ended && !lines.is_empty() {
        content.push_str(before.end);
    }
    content
}

/// The places with so much around them that each is the only one; `None` when that cannot be had.
fn places(
    before: &Text<'_>,
    after: &Text<'_>,
    changed: &[(Range<usize>, Range<usize>)],
    context: [usize; 2],
    tool: Tool,
) -> Option<Vec<Place>> {
    if changed.is_empty() {
        return None;
    }
    // Places that meet become one.
    let mut groups: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
    for (index, (old, _)) in changed.iter().enumerate() {
        let around = around(before, old, context, tool)?;
        match groups.last_mut() {
            Some((last, indices)) if around.start <= last.end => {
                last.start = last.start.min(around.start);
                last.end = last.end.max(around.end);
                indices.push(index);
            }
            _ => groups.push((around, vec![index])),
        }
    }
    let place = |(around, indices): (Range<usize>, Vec<usize>)| {
        let some = |what, lines: &[&str]| {
            lines.iter().map(|line| (what, (*line).to_owned())).collect::<Lines>()
        };
        let mut lines = Lines::new();
        let mut done = around.start;
        for index in indices {
            let (old, new) = &changed[index];
            lines.extend(some(What::Keep, &before.lines[done..old.start]));
            lines.extend(some(What::Remove, &before.lines[old.clone()]));
            lines.extend(some(What::Add, &after.lines[new.clone()]));
            done = old.end;
        }
        lines.extend(some(What::Keep, &before.lines[done..around.end]));
        Place { lines, start: around.start }
    };
    Some(groups.into_iter().map(place).collect())
}

fn around(
    before: &Text<'_>,
    old: &Range<usize>,
    [above, below]: [usize; 2],
    tool: Tool,
) -> Option<Range<usize>> {
    let mut around = old.start.saturating_sub(above)..(old.end + below).min(before.lines.len());
    let most = 2 * UNIQUE_LINES_MAX + old.len();
    // With its last line's end: a text that ends with one may stand there, too.
    let mut whole = before.lines.join("\n");
    if before.is_ended {
        whole.push('\n');
    }
    while around.is_empty() || !is_only(before, &whole, &around, tool) {
        let wider = around.start.saturating_sub(1)..(around.end + 1).min(before.lines.len());
        if wider == around || most < wider.len() {
            return None;
        }
        around = wider;
    }
    Some(around)
}

/// Whether these lines are in the file once, as the tool looks for them.
fn is_only(before: &Text<'_>, whole: &str, range: &Range<usize>, tool: Tool) -> bool {
    let lines = &before.lines[range.clone()];
    if lines.iter().all(|line| line.trim().is_empty()) {
        return false;
    }
    match tool {
        Tool::Edit => {
            let text = lines.join("\n");
            whole.find(&text) == whole.rfind(&text)
        }
        Tool::Patch => {
            before.lines.windows(lines.len()).filter(|window| *window == lines).count() == 1
        }
    }
}
