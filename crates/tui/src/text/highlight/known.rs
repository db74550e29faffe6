//! What is known about pieces of code, forgetting what was not asked for longest.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use super::{Classes, CodePlace, Run};

/// The most pieces whose classes are kept: some ten thousand lines, a few MB.
const PIECES_MAX: usize = 2048;
/// Pieces that are still growing, of which the last known state is kept.
const GROWING_MAX: usize = 8;

/// Pieces of code by the place behind them.
#[derive(Default)]
pub(super) struct Known {
    pieces: Recent<CodePlace, Classes>,
    asked: HashSet<CodePlace>,
    growing: VecDeque<(CodePlace, String, Classes)>,
}

impl Known {
    pub(super) fn get(&mut self, end: &CodePlace) -> Option<Classes> {
        self.pieces.get(end).cloned()
    }

    /// Whether the piece was asked for and did not come yet.
    pub(super) fn is_asked(&self, end: &CodePlace) -> bool {
        self.asked.contains(end)
    }

    pub(super) fn ask(&mut self, end: CodePlace) {
        self.asked.insert(end);
    }

    /// Gives up what was asked for.
    pub(super) fn forget(&mut self, end: &CodePlace) {
        self.asked.remove(end);
    }

    pub(super) fn forget_all(&mut self) {
        self.asked.clear();
    }

    pub(super) fn put(&mut self, place: &CodePlace, code: String, classes: Classes) {
        let end = place.after(&code);
        self.asked.remove(&end);
        self.pieces.put(end, classes.clone());
        self.growing.retain(|(known, ..)| known != place);
        self.growing.push_back((place.clone(), code, classes));
        if self.growing.len() > GROWING_MAX {
            self.growing.pop_front();
        }
    }

    /// The classes of the lines that a shorter state of the piece had already.
    pub(super) fn first_lines(&self, place: &CodePlace, code: &str) -> Vec<Vec<Run>> {
        let Some((_, known, classes)) = self.growing.iter().find(|(known, ..)| known == place)
        else {
            return Vec::new();
        };
        let lines = code.lines().zip(known.lines()).zip(classes.iter());
        lines.take_while(|((now, then), _)| now == then).map(|(_, runs)| runs.clone()).collect()
    }
}

/// A map that keeps what was used among the last so many.
pub(super) struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new() }
    }
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    pub(super) fn get(&mut self, key: &K) -> Option<&V> {
        if let Some(value) = self.old.remove(key) {
            self.put(key.clone(), value);
        }
        self.young.get(key)
    }

    pub(super) fn put(&mut self, key: K, value: V) {
        if self.young.len() >= PIECES_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_asked_for_is_forgotten() {
        let mut recent = Recent::default();
        recent.put(0, "kept");
        recent.put(1, "lost");
        for number in 2..2 + 3 * PIECES_MAX {
            recent.put(number, "other");
            assert_eq!(recent.get(&0), Some(&"kept"));
            assert!(recent.young.len() + recent.old.len() <= PIECES_MAX);
        }
        assert_eq!(recent.get(&1), None);
    }
}
