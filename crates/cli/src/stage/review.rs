//! Asks a person about each hunk.

use super::diff;
use super::files::{Choice, Chosen, StagedFile};
use crate::say::{ask as ask_person, say};

/// What a person said.
pub(super) enum Verdict {
    /// This, of each file.
    Chosen(Vec<Chosen>),
    /// Nothing yet.
    Later,
}

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// This and all that follows.
    All,
    /// Neither this nor anything that follows.
    Rest,
    Later,
}

/// Asks about each hunk; who ends the input decides later.
pub(super) fn ask(files: &[StagedFile]) -> Verdict {
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut for_all = None;
    let is_asked = |file: &&StagedFile| !matches!(file.choice, Choice::With(_));
    let count = |file: &StagedFile| file.hunks.len().max(1);
    let total: usize = files.iter().filter(is_asked).map(count).sum();
    let mut number = 0;
    for (at, file) in files.iter().enumerate() {
        match file.choice {
            Choice::With(other) => {
                chosen.push(chosen[other].clone());
                continue;
            }
            Choice::Within(other) if chosen[other].is_nothing() => {
                number += count(file);
                chosen.push(Chosen::Nothing);
                continue;
            }
            Choice::Within(_) | Choice::Own => {}
        }
        if for_all.is_none() && !file.hunks.is_empty() {
            say(diff::head(file).trim_end());
        }
        let mut taken = Vec::new();
        for index in 0..count(file) {
            number += 1;
            let answer = match for_all {
                Some(answer) => answer,
                None => {
                    let shown = match file.hunks.get(index) {
                        Some(hunk) => diff::hunk(hunk),
                        None => whole(files, at),
                    };
                    one(&shown, number, total)
                }
            };
            match answer {
                Answer::Later => return Verdict::Later,
                Answer::All => for_all = Some(Answer::Yes),
                Answer::Rest => for_all = Some(Answer::No),
                Answer::Yes | Answer::No => {}
            }
            if matches!(answer, Answer::Yes | Answer::All) {
                taken.push(index);
            }
        }
        chosen.push(match file.hunks.is_empty() {
            false => Chosen::Hunks(taken),
            true if taken.is_empty() => Chosen::Nothing,
            true => Chosen::All,
        });
    }
    Verdict::Chosen(chosen)
}

/// A path that is taken whole, and all that is taken with it.
fn whole(files: &[StagedFile], at: usize) -> String {
    let is_with = |file: &&StagedFile| file.choice == Choice::With(at);
    let with = files[at + 1..].iter().take_while(is_with);
    files[at..=at].iter().chain(with).map(diff::file).collect()
}

/// Asks whether to take what was committed; `None` for later.
pub(super) fn ask_for_commits() -> Option<bool> {
    loop {
        let question = "Take the commits, as branches of a remote of the stage's name? [y]es, [n]o: they are \
                        dropped, [k]eep everything for later";
        match ask_person(question).map(|answer| answer.to_ascii_lowercase()).as_deref() {
            Some("y" | "yes") => return Some(true),
            Some("n" | "no") => return Some(false),
            None | Some("" | "k" | "keep") => return None,
            Some(_) => say("heeler: y, n or k"),
        }
    }
}

fn one(shown: &str, number: usize, total: usize) -> Answer {
    loop {
        let question = format!(
            "{shown}Apply this ({number} of {total})? [y]es, [n]o, [a]ll that follows, [d]rop all that \
             follows, [k]eep everything for later"
        );
        match ask_person(&question).map(|answer| answer.to_ascii_lowercase()).as_deref() {
            Some("y" | "yes") => return Answer::Yes,
            Some("n" | "no") => return Answer::No,
            Some("a" | "all") => return Answer::All,
            Some("d" | "drop") => return Answer::Rest,
            None | Some("" | "k" | "keep") => return Answer::Later,
            Some(_) => say("heeler: y, n, a, d or k"),
        }
    }
}
