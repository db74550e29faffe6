//! The calls of an answer while they grow, and which of them a piece belongs to.
//!
//! OpenAI numbers calls and names them once. Others send each whole, leave the number out, give all
//! the same, repeat a call's id and name with every piece, or say a whole call again at the end.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use heeler_core::{RawJson, ToolUse, push_text};

use super::super::extras::Extras;
use super::Unreadable;
use super::wire::{CallDelta, Function, Str};
use crate::input::{CUT, parse_input};

/// The most calls an answer may have.
pub(super) const CALLS_MAX: u32 = 2048;

/// The calls so far, by their place.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<u32, Call>);

/// One call.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// What the server numbers it.
    number: Option<u32>,
    id: String,
    pub(super) name: String,
    pub(super) input: String,
    /// Bytes of `input` that were handed on.
    pub(super) published_bytes: usize,
    /// Whether it was told that the call begins.
    pub(super) is_started: bool,
    /// What the server added.
    pub(super) extras: Extras,
    pub(super) finished: Option<Arc<ToolUse>>,
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
        let call = self.0.entry(at).or_default();
        if call.finished.is_some() && !piece.input.trim().is_empty() {
            return Err(Unreadable("a call grew after its end".to_owned()));
        }
        push_text(&mut call.input, &piece.input);
        call.number = call.number.or(piece.number);
        // Named once; what repeats it repeats it whole.
        if call.name.is_empty() {
            call.name = piece.name.into_owned();
        }
        if call.id.is_empty() {
            call.id = piece.id.into_owned();
        }
        delta.others.iter().for_each(|(name, raw)| call.extras.add(name, raw.get()));
        Ok(Grown { at, is_new: found.is_none() })
    }

    /// The calls in order, with their places.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Call)> {
        self.0.iter_mut().map(|(at, call)| (*at, call))
    }

    /// Leaves out what only repeats an earlier call: it is one call, and must run once.
    pub(super) fn forget_repeated(&mut self) {
        let repeated = |(at, call): (&u32, &Call)| {
            self.before(*at).any(|before| call.continues(before) && call.has_input_of(before))
        };
        let repeated: Vec<u32> =
            self.0.iter().filter(|entry| repeated(*entry)).map(|(at, _)| *at).collect();
        self.0.retain(|at, _| !repeated.contains(at));
    }

    /// The calls that can be told to begin: their names are known, and they do not come to an earlier
    /// one again, as far as they have come.
    pub(super) fn beginning(&self) -> Vec<u32> {
        let begins = |(at, call): &(&u32, &Call)| {
            let may_repeat = || self.before(**at).any(|before| call.continues(before));
            !call.is_started && !call.name.is_empty() && !may_repeat()
        };
        self.0.iter().filter(begins).map(|(at, _)| *at).collect()
    }

    fn before(&self, at: u32) -> impl Iterator<Item = &Call> {
        self.0.range(..at).map(|(_, call)| call)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The call a piece belongs to; `None` for a new one.
    fn place(&self, piece: &Piece<'_>) -> Option<u32> {
        let newest = |is_it: &dyn Fn(&Call) -> bool| {
            self.0.iter().rfind(|(_, call)| is_it(call)).map(|(at, _)| *at)
        };
        let at = match piece.number {
            Some(number) => newest(&|call| call.number == Some(number)),
            None if piece.id.is_empty() => newest(&|_| true),
            None => newest(&|call| call.id == piece.id)
                .or_else(|| newest(&|_| true).filter(|_| piece.name.is_empty())),
        }?;
        let call = self.0.get(&at)?;
        (!piece.begins_another(call)).then_some(at)
    }

    /// The place of a new call: that of its number, where it is free.
    fn free(&self, number: Option<u32>) -> u32 {
        let end = self.0.keys().next_back().map_or(0, |last| last + 1);
        number.filter(|number| !self.0.contains_key(number)).unwrap_or(end)
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
    /// brings an input where there is a whole one.
    fn begins_another(&self, call: &Call) -> bool {
        if self.name.is_empty() || call.name.is_empty() {
            return false;
        }
        if !self.id.is_empty() && !call.id.is_empty() && self.id != call.id {
            return true;
        }
        let is_renamed = self.id.is_empty() && self.name != call.name;
        call.has_input() && (is_renamed || !self.input.trim().is_empty())
    }
}

impl Call {
    /// Whether its input is one whole object, as far as it has come.
    pub(super) fn has_input(&self) -> bool {
        !self.input.trim().is_empty() && parse_input(&self.input).is_ok()
    }

    /// Whether all that has come of it is the beginning of another, under the same id and name.
    fn continues(&self, before: &Self) -> bool {
        !self.id.is_empty()
            && (&self.id, &self.name) == (&before.id, &before.name)
            && before.input.trim().starts_with(self.input.trim())
    }

    fn has_input_of(&self, before: &Self) -> bool {
        self.input.trim() == before.input.trim()
    }

    /// Ends the call. An input that the end of the answer cut is not used.
    pub(super) fn finish(&mut self, end: End) -> Arc<ToolUse> {
        let finished = self.finished.get_or_insert_with(|| {
            let is_cut = end == End::Cut
                && (self.input.trim().is_empty() || parse_input(&self.input).is_err());
            let input = match self.input.trim() {
                _ if is_cut => Err(CUT.to_owned()),
                "" => Ok(RawJson::empty_object()),
                _ => parse_input(&self.input),
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
