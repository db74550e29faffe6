//! The calls of an answer while they grow, and which of them a piece belongs to.
//!
//! OpenAI numbers calls and names them once. Others send each whole, leave the number out, give all
//! the same, repeat a call's id and name with every piece, or say a whole call again at the end.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use heeler_core::{RawJson, ToolUse};

use super::super::extras::Extras;
use super::Unreadable;
use super::input::Input;
use super::wire::{CallDelta, Function, Str};
use crate::input::{CUT, parse_input};

/// The most calls an answer may have.
pub(super) const CALLS_MAX: u32 = 2048;

/// The calls so far. What a piece costs does not grow with how many there are.
#[derive(Debug, Default)]
pub(super) struct Calls {
    by_place: BTreeMap<u32, Call>,
    /// The last place of each number that the server gave.
    by_number: BTreeMap<u32, u32>,
    /// The last place of each id.
    by_id: BTreeMap<String, u32>,
    /// How many lists of calls and pieces have come.
    n_lists: usize,
}

/// One call.
#[derive(Debug, Default)]
pub(super) struct Call {
    id: String,
    pub(super) name: String,
    pub(super) input: Input,
    /// Bytes of `input` that were handed on.
    pub(super) published_bytes: usize,
    /// Whether it was told that the call begins.
    pub(super) is_started: bool,
    /// The list that last named it.
    named_in: usize,
    /// What it may come to again while that is not told.
    again: Again,
    /// What the server added.
    pub(super) extras: Extras,
    pub(super) finished: Option<Arc<ToolUse>>,
}

/// The first earlier call of which one may be the beginning: those before it are ruled out.
#[derive(Debug, Default, Clone, Copy)]
struct Again {
    at: u32,
    /// So much of both inputs is known to be the same.
    same_bytes: usize,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// As the model wanted.
    Stopped,
    /// At a limit or by a filter.
    Cut,
}

/// What became of a call with a piece.
pub(super) struct Grown {
    /// The call's place.
    pub(super) at: u32,
    /// Whether it began with this piece.
    pub(super) is_new: bool,
}

impl Calls {
    /// A list of pieces follows.
    pub(super) fn begin_list(&mut self) {
        self.n_lists += 1;
    }

    /// Takes in a piece.
    pub(super) fn grow(&mut self, delta: CallDelta<'_>) -> Result<Grown, Unreadable> {
        let Function { name, arguments } = delta.function.unwrap_or_default();
        let piece = Piece {
            number: delta.index,
            id: delta.id.map_or(Cow::Borrowed(""), |id| id.0),
            name: name.map_or(Cow::Borrowed(""), |name| name.0),
            input: arguments.map(|raw| text(raw.get())).transpose()?.unwrap_or_default(),
        };
        let found = self.place(&piece);
        let at = found.unwrap_or_else(|| self.free(piece.number));
        if at >= CALLS_MAX {
            return Err(Unreadable(format!("more than {CALLS_MAX} calls")));
        }
        let call = self.by_place.entry(at).or_default();
        if call.finished.is_some() && !piece.input.trim().is_empty() {
            return Err(Unreadable("a call grew after its end".to_owned()));
        }
        call.input.push(&piece.input);
        if let Some(number) = piece.number {
            self.by_number.entry(number).and_modify(|last| *last = at.max(*last)).or_insert(at);
        }
        if !piece.name.is_empty() {
            call.named_in = self.n_lists;
        }
        // Named once; what repeats it repeats it whole.
        if call.name.is_empty() {
            call.name = piece.name.into_owned();
        }
        if call.id.is_empty() && !piece.id.is_empty() {
            call.id = piece.id.into_owned();
            let last = self.by_id.entry(call.id.clone()).or_default();
            *last = at.max(*last);
        }
        delta.others.iter().for_each(|(name, raw)| call.extras.add(name, raw.get()));
        Ok(Grown { at, is_new: found.is_none() })
    }

    /// The calls in order, with their places.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Call)> {
        self.by_place.iter_mut().map(|(at, call)| (*at, call))
    }

    /// Leaves out what only repeats an earlier call: it is one call, and must run once.
    pub(super) fn forget_repeated(&mut self) {
        let mut seen = HashSet::new();
        let mut repeated = BTreeSet::new();
        for (at, Call { id, name, input, .. }) in &self.by_place {
            if !id.is_empty() && !seen.insert((id, name, input.said())) {
                repeated.insert(*at);
            }
        }
        self.by_place.retain(|at, _| !repeated.contains(at));
    }

    /// Whether it can be told now that the call begins that just grew: its name is known, and it does
    /// not come to an earlier one again, as far as it has come.
    pub(super) fn begins(&mut self, at: u32) -> bool {
        let Some(call) = self.by_place.get(&at) else { return false };
        if call.is_started || call.name.is_empty() {
            return false;
        }
        // Only what this one says ends the doubt, never what an earlier one becomes.
        let again = if call.id.is_empty() { None } else { self.may_come_again(at, call) };
        if let (Some(again), Some(call)) = (again, self.by_place.get_mut(&at)) {
            call.again = again;
        }
        again.is_none()
    }

    /// It is told that the call begins. Its name.
    pub(super) fn start(&mut self, at: u32) -> String {
        let call = self.by_place.entry(at).or_default();
        call.is_started = true;
        call.name.clone()
    }

    fn may_come_again(&self, at: u32, call: &Call) -> Option<Again> {
        let Again { at: first, same_bytes } = call.again;
        let mut earlier = self.by_place.range(first..at);
        let (at, _) = earlier.find(|(at, earlier)| {
            let known_bytes = if **at == first { same_bytes } else { 0 };
            call.goes_along(earlier, known_bytes)
        })?;
        Some(Again { at: *at, same_bytes: call.input.said().len() })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_place.len()
    }

    /// The call a piece belongs to; `None` for a new one.
    fn place(&mut self, piece: &Piece<'_>) -> Option<u32> {
        let newest = || self.by_place.keys().next_back();
        let at = *match piece.number {
            Some(number) => self.by_number.get(&number),
            None if piece.id.is_empty() => newest(),
            None => {
                let named = self.by_id.get(&*piece.id);
                named.or_else(|| newest().filter(|_| piece.name.is_empty()))
            }
        }?;
        let n_lists = self.n_lists;
        let call = self.by_place.get_mut(&at)?;
        (!piece.begins_another(call, n_lists)).then_some(at)
    }

    /// The place of a new call: that of its number, where it is free.
    fn free(&self, number: Option<u32>) -> u32 {
        let end = self.by_place.keys().next_back().map_or(0, |last| last + 1);
        number.filter(|number| !self.by_place.contains_key(number)).unwrap_or(end)
    }
}

/// What a delta says of a call, in one form.
struct Piece<'a> {
    number: Option<u32>,
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    input: Cow<'a, str>,
}

impl Piece<'_> {
    /// Whether it cannot be more of the call that its number or id leads to: it names another, or
    /// brings an input where there is a whole one. Without an id, one list names each call once, and
    /// another name is another call unless the input of the first has begun.
    fn begins_another(&self, call: &mut Call, list: usize) -> bool {
        if self.name.is_empty() || call.name.is_empty() {
            return false;
        }
        if !self.id.is_empty() && !call.id.is_empty() && self.id != call.id {
            return true;
        }
        let is_renamed = self.id.is_empty() && self.name != call.name;
        let is_in_list = self.id.is_empty() && self.number.is_none() && call.named_in == list;
        if is_in_list || (is_renamed && call.input.said().is_empty()) {
            return true;
        }
        (is_renamed || !self.input.trim().is_empty()) && call.input.is_whole()
    }
}

impl Call {
    /// Whether all that has come of it is the beginning of one that was told, under the same id and name.
    /// One that was not told is itself the beginning of one that was.
    fn goes_along(&self, earlier: &Self, known_bytes: usize) -> bool {
        self.input.look_at(1);
        earlier.is_started
            && (&self.id, &self.name) == (&earlier.id, &earlier.name)
            && self.input.goes_along(&earlier.input, known_bytes)
    }

    /// Ends the call. An input that the end of the answer cut is not used.
    pub(super) fn finish(&mut self, end: End) -> Arc<ToolUse> {
        let finished = self.finished.get_or_insert_with(|| {
            let (text, is_cut) = (self.input.text(), end == End::Cut);
            let input = match (self.input.said(), parse_input(text)) {
                ("", _) if !is_cut => Ok(RawJson::empty_object()),
                ("", _) | (_, Err(_)) if is_cut => Err(CUT.to_owned()),
                (_, input) => input,
            };
            let (input, invalid) = match input {
                Ok(input) => (input, None),
                Err(reason) => (RawJson::empty_object(), Some(reason)),
            };
            let (id, name) = (self.id.clone(), self.name.clone());
            Arc::new(ToolUse { id, name, input, invalid, cache: None })
        });
        Arc::clone(finished)
    }
}

/// The text of arguments: what a string holds, or the JSON that stands in its place.
fn text(raw: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    if raw.starts_with('"') { Ok(serde_json::from_str::<Str<'_>>(raw)?.0) } else { Ok(raw.into()) }
}
