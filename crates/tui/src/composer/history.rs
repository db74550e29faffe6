//! What was written before, in this session and others.

use std::collections::HashSet;

use super::draft::{Draft, Part};

/// The most drafts of a history.
pub const HISTORY_ENTRIES_MAX: usize = 5_000;
/// The most bytes of one entry that are looked through.
const SEARCHED_BYTES_MAX: usize = 4_096;
/// The most entries that a search shows.
const FOUND_MAX: usize = 200;

/// What was written before, oldest first, each text once.
#[derive(Debug, Clone, Default)]
pub struct History {
    drafts: Vec<Draft>,
}

impl History {
    /// Of these drafts, oldest first; of equal ones the newest stays.
    pub fn new(drafts: impl IntoIterator<Item = Draft>) -> Self {
        let mut all: Vec<_> = drafts.into_iter().collect();
        let mut seen = HashSet::new();
        all.reverse();
        all.retain(|draft| !draft.is_blank() && seen.insert(draft.clone()));
        all.truncate(HISTORY_ENTRIES_MAX);
        all.reverse();
        Self { drafts: all }
    }

    /// Adds the newest.
    pub fn push(&mut self, draft: Draft) {
        if draft.is_blank() {
            return;
        }
        self.drafts.retain(|other| *other != draft);
        self.drafts.push(draft);
        let surplus = self.drafts.len().saturating_sub(HISTORY_ENTRIES_MAX);
        self.drafts.drain(..surplus);
    }

    /// All, oldest first.
    pub fn drafts(&self) -> &[Draft] {
        &self.drafts
    }

    /// Places of the drafts that hold every word of the query, newest first. Small letters in the
    /// query stand for both.
    fn found(&self, query: &str) -> Vec<usize> {
        let words: Vec<_> = query.split_whitespace().collect();
        let exact = query.chars().any(char::is_uppercase);
        let holds = |draft: &Draft| {
            let mut text = searched(draft);
            if !exact {
                text = text.to_lowercase();
            }
            words.iter().all(|word| text.contains(word))
        };
        let places = (0..self.drafts.len()).rev();
        places.filter(|place| holds(&self.drafts[*place])).take(FOUND_MAX).collect()
    }
}

/// The beginning of a draft as it is shown.
fn searched(draft: &Draft) -> String {
    let mut text = String::new();
    for part in &draft.parts {
        let label = match part {
            Part::Text(text) => text.as_str(),
            unit => &unit.label(),
        };
        let room = SEARCHED_BYTES_MAX.saturating_sub(text.len());
        text.push_str(&label[..label.floor_char_boundary(room)]);
    }
    text
}

/// Where in the history somebody is who went up.
#[derive(Debug)]
pub(super) struct Recalled {
    place: usize,
    /// What stood there before, as text of the composer's buffer.
    pub(super) own: String,
}

impl Recalled {
    /// The first step back.
    pub(super) fn newest(history: &History, own: String) -> Option<Self> {
        let place = history.drafts.len().checked_sub(1)?;
        Some(Self { place, own })
    }

    /// What a search chose.
    pub(super) fn found(search: &Search, own: String) -> Option<Self> {
        Some(Self { place: *search.found.get(search.chosen)?, own })
    }

    pub(super) fn draft<'a>(&self, history: &'a History) -> Option<&'a Draft> {
        history.drafts.get(self.place)
    }

    /// One step back; whether there was one.
    pub(super) fn older(&mut self) -> bool {
        let older = self.place.checked_sub(1);
        self.place = older.unwrap_or(self.place);
        older.is_some()
    }

    /// One step forth; whether there was one.
    pub(super) fn newer(&mut self, history: &History) -> bool {
        let is_newest = self.place + 1 >= history.drafts.len();
        self.place += usize::from(!is_newest);
        !is_newest
    }
}

/// A search through the history.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) query: String,
    /// Places in the history, newest first.
    found: Vec<usize>,
    pub(super) chosen: usize,
}

impl Search {
    pub(super) fn new(history: &History) -> Self {
        let mut search = Self::default();
        search.look(history);
        search
    }

    /// Looks again: the query changed.
    pub(super) fn look(&mut self, history: &History) {
        self.found = history.found(&self.query);
        self.chosen = 0;
    }

    /// Steps through what was found and stops at its ends.
    pub(super) fn step(&mut self, older: bool) {
        self.chosen = match older {
            true => (self.chosen + 1).min(self.found.len().saturating_sub(1)),
            false => self.chosen.saturating_sub(1),
        };
    }

    pub(super) fn draft<'a>(&self, history: &'a History) -> Option<&'a Draft> {
        history.drafts.get(*self.found.get(self.chosen)?)
    }

    /// What was found, as rows.
    pub(super) fn rows(&self, history: &History) -> Vec<String> {
        let drafts = self.found.iter().filter_map(|place| history.drafts.get(*place));
        drafts.map(searched).collect()
    }
}
