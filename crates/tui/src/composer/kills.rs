//! What was cut, to be put back: the newest few.

use std::collections::VecDeque;

/// The most cut texts that are kept.
pub(super) const KILLS_MAX: usize = 60;

/// On which side of what was cut just before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// The texts that were cut, the newest in front.
#[derive(Debug, Default)]
pub(super) struct Kills {
    ring: VecDeque<String>,
}

impl Kills {
    /// Keeps a text that was cut.
    pub(super) fn push(&mut self, text: String) {
        if !text.is_empty() {
            self.ring.push_front(text);
            self.ring.truncate(KILLS_MAX);
        }
    }

    /// Adds to the newest: several cuts in a row come back as one.
    pub(super) fn extend(&mut self, text: &str, side: Side) {
        match (self.ring.front_mut(), side) {
            (None, _) => self.push(text.to_owned()),
            (Some(newest), Side::Before) => newest.insert_str(0, text),
            (Some(newest), Side::After) => newest.push_str(text),
        }
    }

    pub(super) fn newest(&self) -> Option<&str> {
        self.ring.front().map(String::as_str)
    }

    /// Makes the one before the newest the newest.
    pub(super) fn turn(&mut self) {
        if !self.ring.is_empty() {
            self.ring.rotate_left(1);
        }
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.ring.iter().map(String::as_str)
    }
}
