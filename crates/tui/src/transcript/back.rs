//! Looking back: every line there is, made once as long as it says the same.
//!
//! What is done changes no more, so a page costs what is new since the last one, however long the
//! session is.

use ratatui::text::Line;

use super::item::{self, Item, Kind};
use super::{ITEMS_MAX, Look, Transcript, joined, unfolded};

/// So much more than is unfolded at first may be unfolded while one looks, before all is made anew.
const MORE_BYTES_MAX: usize = unfolded::ALL_BYTES_MAX / 4;
/// So many items may be forgotten while one looks, before all is made anew.
const FORGOTTEN_MAX: usize = ITEMS_MAX / 8;

/// What the lines are made of that somebody keeps.
#[derive(Debug, Default)]
pub struct Kept {
    /// How many items, forgotten ones included.
    n_items: usize,
    /// How many were forgotten when the first line was made.
    forgotten: usize,
    /// What was unfolded since, in bytes.
    unfolded: usize,
    /// The kind of the last item that has lines.
    last: Option<Kind>,
}

/// Lines to keep.
pub enum Settled {
    /// Behind those that are kept.
    More(Vec<Line<'static>>),
    /// In the place of those that are kept.
    Anew(Vec<Line<'static>>),
}

impl Transcript {
    /// The lines of what changes no more, as far as they are not kept.
    pub fn settled(&self, kept: &mut Kept, look: Look<'_>) -> Settled {
        let n_settled = self.n_settled();
        let is_over = kept.unfolded > MORE_BYTES_MAX
            || self.forgotten.saturating_sub(kept.forgotten) > FORGOTTEN_MAX;
        if kept.n_items == 0 || is_over {
            return Settled::Anew(self.all_settled(n_settled, kept, look));
        }
        let n_kept = kept.n_items.saturating_sub(self.forgotten);
        let new = self.items().take(n_settled).skip(n_kept);
        let (mut lines, mut unfolded) = (Vec::new(), 0);
        for item in new {
            unfolded += item.paged_cost();
            add(&mut lines, &mut kept.last, item.kind(), item.paged(look));
        }
        kept.unfolded += unfolded;
        kept.n_items = self.forgotten + n_settled;
        Settled::More(lines)
    }

    /// The lines of what may still change, behind those that are kept.
    #[must_use]
    pub fn unsettled(&self, kept: &Kept, look: Look<'_>) -> Vec<Line<'static>> {
        let n_kept = kept.n_items.saturating_sub(self.forgotten);
        let (mut lines, mut last) = (Vec::new(), kept.last);
        for item in self.items().skip(n_kept) {
            add(&mut lines, &mut last, item.kind(), item.paged(look));
        }
        lines
    }

    /// The first so many items, the newest of them unfolded.
    fn all_settled(&self, n: usize, kept: &mut Kept, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        if self.forgotten > 0 {
            let text = format!("({} earlier items: see `heeler show`)", self.forgotten);
            lines.push(Line::styled(text, look.theme.dim));
        }
        let open: usize = self.items().skip(n).map(Item::paged_cost).sum();
        let mut room = Some(unfolded::ALL_BYTES_MAX.saturating_sub(open));
        let mut parts = Vec::new();
        let settled: Vec<&Item> = self.items().take(n).collect();
        for item in settled.into_iter().rev() {
            let left = room.and_then(|room| room.checked_sub(item.paged_cost()));
            if left.is_none() && room.is_some() {
                let text = "(what was folded before this stays so: see `heeler show`)";
                parts.push((Kind::Note, vec![Line::styled(text, look.theme.dim)]));
            }
            room = left;
            let part = if room.is_some() { item.paged(look) } else { item.whole(look) };
            parts.push((item.kind(), part));
        }
        let last = parts.iter().find(|(_, part)| !part.is_empty()).map(|(kind, _)| *kind);
        *kept = Kept { n_items: self.forgotten + n, forgotten: self.forgotten, unfolded: 0, last };
        lines.extend(joined(parts.into_iter().rev()));
        lines
    }

    fn items(&self) -> impl Iterator<Item = &Item> {
        self.done.iter().chain(&self.open)
    }

    /// How many items change no more, and none before them: they may wait to go up.
    fn n_settled(&self) -> usize {
        self.done.len() + self.open.iter().take_while(|item| item.is_settled()).count()
    }
}

/// Adds the lines of an item, apart from what is above where they have to be.
fn add(
    lines: &mut Vec<Line<'static>>,
    last: &mut Option<Kind>,
    kind: Kind,
    part: Vec<Line<'static>>,
) {
    if part.is_empty() {
        return;
    }
    if item::are_apart(*last, kind) {
        lines.push(Line::default());
    }
    lines.extend(part);
    *last = Some(kind);
}
