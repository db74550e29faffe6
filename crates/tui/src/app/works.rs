//! What calls left running in the background: what it runs, since when, and that it ended.
//!
//! The session lists what runs and by which call; what a call does is told when it starts, once, so it
//! is kept here from then on.

use std::collections::VecDeque;

use heeler_core::{Block, CallId, Event, Input, Role, SteeringId, SteeringQueued, Timestamp};
use heeler_engine::{BACKGROUND_MAX, BackgroundWork, Seen};

use super::{Action, App};
use crate::text::{clean, one_line};
use crate::transcript::{Note, TableRow, seconds};

/// The most calls whose beginning is kept until it is known whether they go on.
const BEGUN_MAX: usize = 256;
/// The most characters of what one runs, where several are named in a line.
const NAMED_CHARS_MAX: usize = 60;

/// What runs.
#[derive(Default)]
pub(super) struct Works {
    /// Calls that began, oldest first.
    begun: VecDeque<Begun>,
    /// Oldest first.
    open: Vec<Work>,
    /// Those that ended last: a list that was made before may still name them.
    ended: VecDeque<CallId>,
    /// The number of the last one that was found.
    n_found: u32,
    /// Whether ends may have been missed: then the next list is all there is.
    has_missed: bool,
}

struct Begun {
    call: CallId,
    does: String,
    at: Timestamp,
}

struct Work {
    /// What it is called here, as long as the window stands.
    number: u32,
    call: CallId,
    tool: String,
    /// What it runs and since when, if that was seen.
    begun: Option<Begun>,
}

impl Work {
    fn name(&self) -> String {
        name(self.begun.as_ref().map(|begun| &*begun.does), &self.tool, self.call)
    }
}

impl Works {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    fn starts(&mut self, call: CallId, (tool, does): (&str, &str), at: Timestamp) {
        let named = does.strip_prefix(tool).map(|does| does.trim_start_matches(':'));
        let does = one_line(&clean(named.unwrap_or(does)));
        self.begun.push_back(Begun { call, does, at });
        if self.begun.len() > BEGUN_MAX {
            self.begun.pop_front();
        }
    }

    /// Takes what the session lists; gives those that ended and of which no end was seen.
    fn know(&mut self, listed: Vec<BackgroundWork>) -> Vec<Work> {
        let mut gone = Vec::new();
        if std::mem::take(&mut self.has_missed) {
            let runs = |work: &mut Work| !listed.iter().any(|listed| listed.call == work.call);
            gone.extend(self.open.extract_if(.., runs));
        }
        for BackgroundWork { call, tool, .. } in listed {
            let is_known = self.open.iter().any(|work| work.call == call);
            if is_known || self.ended.contains(&call) {
                continue;
            }
            let at = self.begun.iter().position(|begun| begun.call == call);
            let begun = at.and_then(|at| self.begun.remove(at));
            self.n_found += 1;
            self.open.push(Work { number: self.n_found, call, tool, begun });
        }
        gone
    }

    /// What this brings the end of.
    fn end(&mut self, id: &SteeringId) -> Option<Work> {
        let at = self.open.iter().position(|work| is_end_of(work.call, id))?;
        let work = self.open.remove(at);
        self.ended.push_back(work.call);
        if self.ended.len() > BACKGROUND_MAX {
            self.ended.pop_front();
        }
        Some(work)
    }
}

impl App {
    /// Follows what begins and ends; asks for the list where it may have grown.
    pub(super) fn see_works(&mut self, seen: &Seen, now: Timestamp) -> Option<Action> {
        let Seen::Event(envelope) = seen else {
            self.works.has_missed = true;
            return Some(Action::AskBackground);
        };
        match &envelope.event {
            _ if !envelope.agent.is_main() => None,
            Event::CallStarted { call, name, summary, .. } => {
                self.works.starts(*call, (name, summary), now);
                None
            }
            // The results of a batch: what of it goes on is known from here.
            Event::Message { message } if message.role == Role::User => {
                let has_results =
                    message.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)));
                has_results.then_some(Action::AskBackground)
            }
            Event::SteeringQueued { id } => {
                let ended = self.works.end(id)?;
                self.tell_ends(&[ended], now);
                None
            }
            _ => None,
        }
    }

    /// These are all that run.
    pub(super) fn know_works(&mut self, listed: Vec<BackgroundWork>, now: Timestamp) {
        let gone = self.works.know(listed);
        self.tell_ends(&gone, now);
    }

    fn tell_ends(&mut self, ended: &[Work], now: Timestamp) {
        let after = match ended {
            [Work { begun: Some(begun), .. }] => {
                format!(", after {}", seconds(now.since(begun.at)))
            }
            _ => String::new(),
        };
        let heard = match self.is_busy() || self.settings.background_wakes {
            true => "",
            false => "; the model hears of it with what is said next",
        };
        if let Some(names) = counted(ended.iter().map(Work::name)) {
            let text = format!("ended in the background: {names}{after}{heard}");
            self.transcript.note(Note::quiet(text));
        }
        self.status.count_works(self.works.count());
    }

    /// Another session is shown from here on, or the same one, which was closed in between.
    pub(super) fn leave_works(&mut self, is_other: bool) {
        self.works.has_missed = true;
        if is_other {
            let ended = std::mem::take(&mut self.works.open);
            self.works = Works { n_found: self.works.n_found, ..Works::default() };
            if let Some(names) = counted(ended.iter().map(Work::name)) {
                let text = format!("ended with the session before, in the background: {names}");
                self.transcript.note(Note::warning(text));
            }
        }
        self.status.count_works(self.works.count());
    }

    /// What of this ends when the window is left, in words; nothing when nothing runs.
    #[must_use]
    pub fn ends_with_it(&self, works: &[BackgroundWork]) -> Option<String> {
        let known = |call: CallId| self.works.open.iter().find(|work| work.call == call);
        counted(works.iter().map(|work| {
            known(work.call).map_or_else(|| name(None, &work.tool, work.call), Work::name)
        }))
    }

    /// `/background [stop N]`.
    pub(super) fn background_command(&mut self, argument: &str, now: Timestamp) -> Vec<Action> {
        let mut words = argument.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (None, ..) => {
                self.list_works(now);
                Vec::new()
            }
            (Some("stop"), number, None) => self.stop_work(number),
            _ => self.refuse("/background lists what runs; /background stop N ends one of it"),
        }
    }

    fn list_works(&mut self, now: Timestamp) {
        if self.works.open.is_empty() {
            self.transcript.note(Note::plain("nothing runs in the background"));
            return;
        }
        let row = |work: &Work| {
            let (does, since) = match &work.begun {
                Some(begun) => (&*begun.does, format!(", for {}", seconds(now.since(begun.at)))),
                None => ("", String::new()),
            };
            let gap = if does.is_empty() { "" } else { " · " };
            let by = format!("{} (call {}){since}", work.tool, work.call);
            TableRow::new(work.number.to_string(), format!("{does}{gap}{by}"))
        };
        let mut rows: Vec<TableRow> = self.works.open.iter().map(row).collect();
        rows.push(TableRow::line(match self.is_guest {
            true => "it is ended where this session is open (/background stop N there)",
            false => "/background stop N ends one; leaving ends all",
        }));
        self.transcript.note(Note::table(rows));
    }

    fn stop_work(&mut self, number: Option<&str>) -> Vec<Action> {
        let work = match (number, &*self.works.open) {
            (_, []) => return self.refuse("nothing runs in the background"),
            (None, [only]) => Some(only),
            (number, open) => {
                let number = number.and_then(|number| number.parse::<u32>().ok());
                open.iter().find(|work| Some(work.number) == number)
            }
        };
        match work {
            Some(work) => vec![Action::StopBackground(work.call)],
            None => self.refuse("/background stop N: the number that /background shows"),
        }
    }
}

/// What work is called: by what it runs, or by its call where that was not seen.
fn name(does: Option<&str>, tool: &str, call: CallId) -> String {
    match does.filter(|does| !does.is_empty()) {
        Some(does) => heeler_core::truncate_chars(does, NAMED_CHARS_MAX).into_owned(),
        None => format!("{tool} (call {call})"),
    }
}

/// Names in their order, each once, with how often it is there.
fn counted(names: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, n)) => *n += 1,
            None => counts.push((name, 1)),
        }
    }
    let text = |(name, n): &(String, usize)| match n {
        1 => name.clone(),
        n => format!("{name} (x{n})"),
    };
    let texts: Vec<String> = counts.iter().map(text).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Whether what waits by this id is what the work of the call came to.
fn is_end_of(call: CallId, id: &SteeringId) -> bool {
    SteeringQueued::of_background(call, Input { blocks: Vec::new(), origin: Default::default() }).id
        == *id
}
