//! Options that are read in a way of their own: the letters of shells, and what takes others back.

use super::invocation::{Given, Invocation, exact};
use crate::programs::{Does, Option_, Special};
use crate::word::Word;

impl<'w> Invocation<'w> {
    /// The letters of a shell: `c` counts wherever it stands, and for each `o` one of the words that
    /// follow is a name. To some shells the name may be what follows in the same word.
    pub(super) fn letters_of_shell(
        &mut self,
        text: &str,
        words: &'w [Word],
        known: &[&'static [Option_]],
    ) -> usize {
        let mut length = 1;
        for c in text.chars().skip(1) {
            let Some(found) = exact(&format!("-{c}"), known) else { continue };
            if found.0.takes {
                length += 1;
            } else if found.0.does != Does::OnlyReads || length == 1 && text.starts_with('-') {
                self.note(found, None, words, None);
            }
        }
        let is_name = |word: &&Word| !word.text().starts_with(['-', '+']);
        let names = words.iter().take(length).skip(1).take_while(is_name);
        let does = Does::Nothing;
        let given = names.map(|name| Given { name: "-o", does, value: Some(name.clone()) });
        let before = self.options.len();
        self.options.extend(given);
        1 + self.options.len() - before
    }

    /// `--no-dry-run`, which may be cut short, takes back what spares something; so does `-l-` or `--l`,
    /// where a dash does.
    pub(super) fn take_back(&mut self, text: &str, known: &[&'static [Option_]]) {
        let start = match text.strip_prefix("--no-") {
            Some(start) => start,
            None if self.program.special == Special::Unzip => "",
            None => return,
        };
        let is_meant = |name: &str| {
            let option = exact(name, known).map(|(option, _)| option);
            let mut names = option.into_iter().flat_map(Option_::all_names);
            names.any(|name| name.trim_start_matches('-').starts_with(start))
        };
        self.options.retain(|given| {
            let is_mild = matches!(given.does, Does::Nothing | Does::OnlyReads | Does::Spares);
            !is_mild || !is_meant(given.name)
        });
    }
}
