//! How the conversation became shorter: a row, and for looking back what stands in its place.

use heeler_core::{Event, Message};
use ratatui::text::Line;

use super::call::below_sign;
use super::item::Item;
use super::note::Note;
use super::{Look, Transcript, unfolded};
use crate::text::clean;

/// A row about it.
pub(super) struct Shortened {
    note: Note,
    /// What the model reads in the place of what it does not see any more.
    summary: Option<String>,
}

impl Shortened {
    pub(super) fn lines(&self, look: Look<'_>) -> Vec<Line<'static>> {
        self.note.lines(look)
    }

    /// With the summary.
    pub(super) fn paged(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = self.lines(look);
        let summary = clean(self.summary.as_deref().unwrap_or_default());
        lines.extend(unfolded::rows(&summary, below_sign(look.theme), look.theme.dim, look));
        lines
    }
}

impl Transcript {
    /// Takes in what became of the conversation's length.
    pub(super) fn shortened(&mut self, event: &Event) {
        let (note, summary) = match event {
            Event::CompactionStarted { tokens_before, .. } => (
                Note::quiet(format!("summarizing the conversation (about {tokens_before} tokens)")),
                None,
            ),
            Event::Compacted { tokens_after, message, cost, .. } => {
                let cost = cost.map(|cost| format!(" for {cost}")).unwrap_or_default();
                let text = format!(
                    "summarized{cost}: about {tokens_after} tokens are left; Ctrl-T has the summary \
                     and everything before it, /compact undo puts it back, if it fits"
                );
                (Note::quiet(text), Some(summary_in(message)))
            }
            Event::CompactionFailed { error } => {
                (Note::warning(format!("no summary: {error}")), None)
            }
            Event::Trimmed { messages, tokens_before, tokens_after } => (
                Note::warning(format!(
                    "earlier messages left out to make room: about {tokens_before} tokens, now \
                     {tokens_after}"
                )),
                messages.first().map(|message| summary_in(message)),
            ),
            Event::Pruned { results: n, tokens_before, tokens_after, .. } => {
                let results = if *n == 1 { "old result" } else { "old results" };
                let text = format!(
                    "{n} {results} cut short to make room: about {tokens_before} tokens, now \
                     {tokens_after}; /compact undo puts them back, if \
                     they fit"
                );
                (Note::quiet(text), None)
            }
            Event::Restored { tokens_before, tokens_after, .. } => (
                Note::quiet(format!(
                    "brought back: about {tokens_after} tokens, {tokens_before} before; the model \
                     reads them anew"
                )),
                None,
            ),
            _ => return,
        };
        self.open.push_back(Item::Shortened(Shortened { note, summary }));
    }

    /// Takes in a summary that stands at the beginning of what is shown.
    pub(super) fn summary(&mut self, message: &Message) {
        let note = Note::quiet("what was said before this stands in a summary (Ctrl-T)");
        let summary = Some(summary_in(message));
        self.open.push_back(Item::Shortened(Shortened { note, summary }));
    }
}

/// The text of a summary, without the line that says that it is one.
fn summary_in(message: &Message) -> String {
    let text = message.text();
    text.split_once("\n\n").map(|(_, summary)| summary.to_owned()).unwrap_or(text)
}
