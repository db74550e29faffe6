//! What a turn told the user through its calls, so that nobody tells them again.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use heeler_core::MediaReference;
use serde::{Deserialize, Serialize};

/// The most messages of one turn that are remembered.
const TOLD_MAX: usize = 10_000;

/// Which messages went to the user in one turn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Told(BTreeSet<u64>);

impl Told {
    /// Whether exactly this, white space around it aside, is among them.
    #[must_use]
    pub fn holds(&self, text: &str, media: &[MediaReference]) -> bool {
        self.0.contains(&key(text, media))
    }

    pub(super) fn add(&mut self, text: &str, media: &[MediaReference]) {
        if self.0.len() < TOLD_MAX {
            self.0.insert(key(text, media));
        }
    }
}

/// Keys outlive a process in checkpoints only, whose format changes with the sources; were the
/// hasher another one day, a message might be sent twice once.
fn key(text: &str, media: &[MediaReference]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (text.trim(), media).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_its_text_and_its_media() {
        let media = ["media://a".parse().unwrap()];
        let mut told = Told::default();
        told.add("done\n", &[]);
        assert!(told.holds("done", &[]) && !told.holds("done", &media) && !told.holds("don", &[]));
        told.add("", &media);
        assert!(told.holds("", &media));
    }

    #[test]
    fn so_many_messages_are_remembered_and_no_more() {
        let mut told = Told::default();
        (0..=TOLD_MAX).for_each(|n| told.add(&n.to_string(), &[]));
        assert!(told.holds("9999", &[]) && !told.holds("10000", &[]));
    }
}
