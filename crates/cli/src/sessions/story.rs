//! A session as it is read: turns, and in each what was said, thought, called and noted, in order.
//!
//! A fold over the journal's own events, so it holds nothing that the journal does not, and what a
//! compaction took from the model's sight is told all the same.

use std::collections::HashMap;
use std::sync::Arc;

use heeler_core::{
    Bill, Block, CallId, Entry, Event, Image, Journal, Message, Record, Role, SessionHeader,
    Timestamp, ToolUse, TurnOutcome, Usage, input_summary,
};
use heeler_tui::text::lines_of;
use heeler_turn::State;
use heeler_turn::state::Announcer;

use super::list::title_of;

/// A session.
pub(super) struct Story {
    pub(super) header: SessionHeader,
    /// What it came to: its name, its model, what it used.
    pub(super) state: State,
    /// What could not be read of it.
    pub(super) damage: Vec<String>,
    /// What was said elsewhere, before its first turn.
    pub(super) before: Vec<Part>,
    pub(super) chapters: Vec<Chapter>,
}

/// A turn.
#[derive(Default)]
pub(super) struct Chapter {
    /// From 1.
    pub(super) number: u32,
    pub(super) began: Timestamp,
    /// When it ended and how; none for one that goes on, or was left.
    pub(super) end: Option<(Timestamp, TurnOutcome)>,
    pub(super) usage: Usage,
    pub(super) bill: Bill,
    pub(super) parts: Vec<Part>,
}

/// A piece of a turn.
pub(super) enum Part {
    /// A person's words, or what stands in their place.
    Said(String),
    /// The model's words.
    Answered(String),
    /// The model's reasoning, as far as the provider shows it.
    Thought(String),
    Picture(Arc<Image>),
    Called(Call),
    /// Something that happened, and what there is to say of it.
    Noted(String, Option<String>),
}

/// A call and its result.
pub(super) struct Call {
    pub(super) name: String,
    /// What it does, in a line.
    pub(super) summary: String,
    /// Its input as JSON.
    pub(super) input: String,
    pub(super) result: Option<CallResult>,
    /// How long it ran.
    pub(super) millis: u64,
}

/// What the model was told of a call.
pub(super) struct CallResult {
    pub(super) text: String,
    pub(super) pictures: Vec<Arc<Image>>,
    pub(super) is_error: bool,
}

impl Call {
    fn asked(call: &ToolUse) -> Self {
        let input = match serde_json::to_string_pretty(&call.input.value()) {
            Ok(pretty) => pretty,
            Err(_) => call.input.get().to_owned(),
        };
        let summary = input_summary(&call.name, call.input.get());
        let what = summary.strip_prefix(&call.name).unwrap_or(&summary);
        let summary = what.trim_start_matches(':').trim().to_owned();
        Self { name: call.name.clone(), summary, input, result: None, millis: 0 }
    }

    /// Whether its result tells the lines that it changed.
    pub(super) fn is_change(&self) -> bool {
        let name = self.name.as_str();
        matches!(
            name,
            "Edit" | "MultiEdit" | "Write" | "apply_patch" | "str_replace_based_edit_tool"
        ) && self.result.as_ref().is_some_and(|result| !result.is_error)
    }

    /// `✓`, `✗`, or `·` for one without a result.
    pub(super) fn sign(&self) -> &'static str {
        match &self.result {
            None => "·",
            Some(result) if result.is_error => "✗",
            Some(_) => "✓",
        }
    }
}

impl Story {
    /// What a journal tells.
    pub(super) fn of(journal: Journal) -> Self {
        let mut teller = Teller::default();
        for entry in &journal.entries {
            teller.take(entry);
        }
        let Teller { state, before, chapters, .. } = teller;
        let told =
            |damage: heeler_core::JournalDamage| format!("line {}: {}", damage.line, damage.what);
        Self {
            header: journal.header,
            state,
            damage: journal.damage.into_iter().map(told).collect(),
            before,
            chapters,
        }
    }

    /// What it is called: its name, or the beginning of the first thing said.
    pub(super) fn title(&self) -> String {
        if let Some(name) = &self.state.name {
            return name.to_string();
        }
        let parts = self.before.iter().chain(self.chapters.iter().flat_map(|c| &c.parts));
        let said = parts.into_iter().find_map(|part| match part {
            Part::Said(text) => Some(title_of(text)),
            _ => None,
        });
        said.unwrap_or_else(|| format!("session {}", self.header.id))
    }
}

impl Chapter {
    /// The first words of the person.
    pub(super) fn title(&self) -> String {
        let said = self.parts.iter().find_map(|part| match part {
            Part::Said(text) => Some(title_of(text)),
            _ => None,
        });
        said.unwrap_or_default()
    }

    /// How long it took, once it has ended.
    pub(super) fn millis(&self) -> Option<u64> {
        self.end.as_ref().map(|(end, _)| end.since(self.began))
    }
}

/// Where the part of a call is: its chapter, none for what was said before, and its place there.
type Place = (Option<usize>, usize);

#[derive(Default)]
struct Teller {
    state: State,
    before: Vec<Part>,
    chapters: Vec<Chapter>,
    /// Calls that have no result yet, by their ids on the wire.
    open: HashMap<String, Place>,
}

impl Teller {
    fn take(&mut self, entry: &Entry) {
        if let Record::CallFinished { call, millis, .. } = &entry.record {
            self.time(*call, *millis);
        }
        let mut out = Announcer::collecting();
        self.state.apply_announcing(entry, &mut out);
        for event in out.into_events() {
            self.see(&event, entry.at);
        }
        match &entry.record {
            Record::EpochStarted(epoch) if epoch.epoch > 1 => {
                let cause = serde_json::to_string(&epoch.cause).unwrap_or_default();
                let cause = cause.trim_matches('"').replace('_', " ");
                self.note(format!("new epoch: {cause} ({})", epoch.model), None);
            }
            Record::Compacted(compacted) => {
                let summary = Some(compacted.summary.clone());
                self.note("the beginning became a summary".to_owned(), summary);
            }
            Record::Forked(origin) => self.note(format!("forked from {origin}"), None),
            _ => {}
        }
    }

    fn see(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::TurnStarted { turn } => {
                self.chapters.push(Chapter { number: *turn, began: at, ..Chapter::default() });
            }
            Event::Message { message } => self.message(message),
            Event::Usage { usage, cost, .. } => {
                if let Some(chapter) = self.chapters.last_mut() {
                    chapter.usage += *usage;
                    chapter.bill.add(usage, *cost);
                }
            }
            Event::Retry { kind, message, .. } => {
                let kind = serde_json::to_string(kind).unwrap_or_default();
                self.note(
                    format!("the model call failed: {}", kind.trim_matches('"')),
                    Some(message.clone()),
                );
            }
            Event::CompactionFailed { error } => {
                self.note("no summary was made".to_owned(), Some(error.clone()));
            }
            Event::Trimmed { .. } => {
                self.note("the beginning was left out to fit".to_owned(), None)
            }
            Event::Pruned { results: n, .. } => {
                let results = if *n == 1 { "old result" } else { "old results" };
                self.note(format!("{n} {results} cut short to fit; all of them is above"), None);
            }
            Event::Restored { .. } => {
                self.note("what had been replaced to fit was brought back".to_owned(), None);
            }
            Event::ItemsLeftOut { items, .. } => {
                self.note(format!("{items} images or documents became notes"), None);
            }
            Event::ReasoningLeftOut { blocks, .. } => {
                let what = if *blocks == 1 { "block of reasoning" } else { "blocks of reasoning" };
                let why = "the provider could not verify";
                self.note(format!("{blocks} {what} left out that {why}"), None);
            }
            Event::Notice { text } => self.note(text.clone(), None),
            Event::TurnFinished { outcome, .. } => {
                if let Some(chapter) = self.chapters.last_mut() {
                    chapter.end = Some((at, outcome.clone()));
                }
            }
            _ => {}
        }
    }

    fn message(&mut self, message: &Arc<Message>) {
        for block in &message.blocks {
            match block {
                Block::Text(text) => self.push(match message.role {
                    Role::User => Part::Said(text.text.clone()),
                    Role::Assistant => Part::Answered(text.text.clone()),
                }),
                Block::Thinking(thinking) if thinking.text.trim().is_empty() => {}
                Block::Thinking(thinking) => self.push(Part::Thought(thinking.text.clone())),
                Block::RedactedThinking(_) => {
                    self.note("reasoning that only the provider can read".to_owned(), None);
                }
                Block::Image(image) => self.push(Part::Picture(image.clone())),
                Block::Document(document) => {
                    self.note(format!("a document for {}", document.provider), None);
                }
                Block::Opaque(opaque) => {
                    let raw = opaque.raw.get().to_owned();
                    self.note(format!("a block of {}'s own", opaque.provider), Some(raw));
                }
                Block::ToolUse(call) => {
                    let place = self.place(Part::Called(Call::asked(call)));
                    self.open.insert(call.id.clone(), place);
                }
                Block::ToolResult(result) => {
                    let texts = result.content.iter().filter_map(Block::as_text);
                    let pictures = result.content.iter().filter_map(|block| match block {
                        Block::Image(image) => Some(image.clone()),
                        _ => None,
                    });
                    let told = CallResult {
                        text: lines_of(texts),
                        pictures: pictures.collect(),
                        is_error: result.is_error,
                    };
                    let place = self.open.remove(&result.tool_use_id);
                    if let Some(call) = place.and_then(|place| self.call(place)) {
                        call.result = Some(told);
                    }
                }
            }
        }
    }

    /// How long a call of the running batch ran.
    fn time(&mut self, call: CallId, millis: u64) {
        let turn = self.state.turn.as_ref();
        let wire = turn.and_then(|turn| turn.calls.iter().find(|each| each.id == call));
        let place = wire.and_then(|call| self.open.get(&call.wire_id).copied());
        if let Some(call) = place.and_then(|place| self.call(place)) {
            call.millis = millis;
        }
    }

    fn call(&mut self, (chapter, at): Place) -> Option<&mut Call> {
        let parts = match chapter {
            Some(chapter) => &mut self.chapters.get_mut(chapter)?.parts,
            None => &mut self.before,
        };
        match parts.get_mut(at)? {
            Part::Called(call) => Some(call),
            _ => None,
        }
    }

    fn note(&mut self, what: String, more: Option<String>) {
        self.push(Part::Noted(what, more));
    }

    fn push(&mut self, part: Part) {
        self.place(part);
    }

    /// Adds a part, and tells where it is.
    fn place(&mut self, part: Part) -> Place {
        let chapter = self.chapters.len().checked_sub(1);
        let parts = match self.chapters.last_mut() {
            Some(chapter) => &mut chapter.parts,
            None => &mut self.before,
        };
        parts.push(part);
        (chapter, parts.len() - 1)
    }
}

/// How a turn ended, in a word or two.
pub(super) fn ending(outcome: &TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Done => "done".to_owned(),
        TurnOutcome::Refused => "refused".to_owned(),
        TurnOutcome::Truncated => "cut at the token limit".to_owned(),
        TurnOutcome::Cancelled => "cancelled".to_owned(),
        TurnOutcome::Denied { reason } => format!("ended by a denial: {reason}"),
        TurnOutcome::Limit { limit } => format!("limit of {limit} reached"),
        TurnOutcome::ProviderFailed { message, .. } | TurnOutcome::Failed { message } => {
            format!("failed: {message}")
        }
    }
}

/// A length of time.
pub(super) fn lasted(millis: u64) -> String {
    let (seconds, tenths) = (millis / 1000, millis % 1000 / 100);
    match seconds {
        0..60 => format!("{seconds}.{tenths} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
