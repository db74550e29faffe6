//! What a list shows of a journal that may stand anywhere in it: the session's name, what it is a
//! fork of, and whether a turn is open at its end.

use std::io::{self, BufRead};

use heeler_core::{ForkOrigin, Record, SessionName};
use serde::{Deserialize, Serialize};

use super::lines::Lines;
use super::read::entry_of_line;

/// The kinds of records whose content says it.
const KINDS: [&str; 2] = ["named", "forked"];
/// The kinds that are written within a turn alone, as soon as there is one. A turn that begins with
/// what waited has no input of its own.
const IN_TURN: [&str; 2] = ["input", "model_started"];
/// The kind that ends a turn.
const END: &str = "turn_finished";
/// How much of a line holds its kind: a brace, three numbers with their keys, and the kind's key.
const KIND_BYTES_MAX: usize = 128;

/// What the records up to some place say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<SessionName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forked: Option<ForkOrigin>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_open_turn: bool,
}

impl Label {
    /// Takes a record in, as a fold does.
    pub(crate) fn take(&mut self, record: &Record) {
        match record {
            Record::Named { name } => self.name.clone_from(name),
            Record::Forked(origin) => {
                // A turn of the source ends with it.
                let forked = Some((**origin).clone());
                *self = Self { name: None, forked, has_open_turn: false };
            }
            Record::Input(_) | Record::ModelStarted(_) => self.has_open_turn = true,
            Record::TurnFinished { .. } => self.has_open_turn = false,
            _ => {}
        }
    }

    /// Takes in the lines that `reader` has; gives how many bytes the whole ones are.
    pub(crate) fn read(&mut self, reader: impl BufRead) -> io::Result<u64> {
        let mut lines = Lines::new(reader);
        let mut length = 0;
        while let Some(line) = lines.next()? {
            // What lacks its end is looked at again once it has one.
            let Some(whole) = line.whole else { break };
            length += line.length;
            match kind_of(whole) {
                Some(kind) if KINDS.contains(&kind) => {
                    if let Some(entry) = entry_of_line(whole) {
                        self.take(&entry.record);
                    }
                }
                // Inputs may be long, and that there is one says enough.
                Some(kind) if IN_TURN.contains(&kind) => self.has_open_turn = true,
                Some(END) => self.has_open_turn = false,
                _ => {}
            }
        }
        Ok(length)
    }
}

/// The kind of a line, without a look at the rest of it.
fn kind_of(line: &[u8]) -> Option<&str> {
    const KEY: &[u8] = br#","kind":""#;
    let head = &line[..line.len().min(KIND_BYTES_MAX)];
    let at = head.windows(KEY.len()).position(|bytes| bytes == KEY)? + KEY.len();
    let kind = head[at..].split(|byte| *byte == b'"').next()?;
    std::str::from_utf8(kind).ok()
}

#[cfg(test)]
mod tests {
    use heeler_core::{Entry, Input, Timestamp, TurnOutcome};

    use super::super::line::{Sum, encode};
    use super::*;

    fn lines(records: impl IntoIterator<Item = Record>) -> Vec<u8> {
        let (mut bytes, mut sum) = (Vec::new(), Sum::UNKNOWN);
        for (seq, record) in (1..).zip(records) {
            sum = encode(&mut bytes, &Entry { seq, at: Timestamp(0), record }, sum).unwrap();
        }
        bytes
    }

    fn named(name: &str) -> Record {
        Record::Named { name: name.parse().ok() }
    }

    #[test]
    fn the_last_name_counts_and_a_fork_has_none_of_its_sources() {
        let origin = ForkOrigin { session: "a".parse().unwrap(), at: 2 };
        let said = Record::Input(Box::new(Input::text(r#"{"seq":1,"kind":"named","#)));
        let forked = || Record::Forked(Box::new(origin.clone()));
        for (records, name, is_fork) in [
            (vec![said.clone(), named("one"), said.clone(), named("two")], Some("two"), false),
            (vec![named("one"), named("")], None, false),
            (vec![named("one"), forked()], None, true),
            (vec![forked(), named("two"), said], Some("two"), true),
        ] {
            let bytes = lines(records);
            let mut label = Label::default();
            assert_eq!(label.read(&bytes[..]).unwrap(), bytes.len() as u64);
            assert_eq!(label.name.as_ref().map(SessionName::as_str), name);
            assert_eq!(label.forked, is_fork.then(|| origin.clone()));
        }
    }

    #[test]
    fn a_turn_is_open_from_its_first_record_to_its_end() {
        let input = || Record::Input(Box::new(Input::text(r#"","kind":"turn_finished""#)));
        let end = || Record::TurnFinished { turn: 1, outcome: TurnOutcome::Done };
        let forked =
            || Record::Forked(Box::new(ForkOrigin { session: "a".parse().unwrap(), at: 2 }));
        for (records, expected) in [
            (vec![named("one")], false),
            (vec![input()], true),
            (vec![input(), named("one")], true),
            (vec![input(), end()], false),
            (vec![input(), end(), named("two")], false),
            (vec![input(), end(), input()], true),
            (vec![input(), forked()], false),
            (vec![input(), forked(), input()], true),
        ] {
            let mut label = Label::default();
            label.read(&lines(records.clone())[..]).unwrap();
            assert_eq!(label.has_open_turn, expected, "{records:?}");
            let mut folded = Label::default();
            records.iter().for_each(|record| folded.take(record));
            assert_eq!(folded, label, "both ways say the same");
        }
    }

    #[test]
    fn a_torn_or_changed_line_says_nothing() {
        let bytes = lines([named("one"), named("two")]);
        let first = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
        let mut label = Label::default();
        assert_eq!(label.read(&bytes[..bytes.len() - 1]).unwrap(), first as u64);
        assert_eq!(label.name.unwrap().as_str(), "one");
        let changed = String::from_utf8(bytes).unwrap().replace("two", "six");
        let mut label = Label::default();
        label.read(changed.as_bytes()).unwrap();
        assert_eq!(label.name.unwrap().as_str(), "one");
    }
}
