//! What a list shows of a journal that may stand anywhere in it: the session's name, and what it is a
//! fork of.

use std::io::{self, BufRead};

use heeler_core::{ForkOrigin, Record, SessionName};
use serde::{Deserialize, Serialize};

use super::lines::Lines;
use super::read::entry_of_line;

/// The kinds of records that say it.
const KINDS: [&str; 2] = ["named", "forked"];
/// How much of a line holds its kind: a brace, three numbers with their keys, and the kind's key.
const KIND_BYTES_MAX: usize = 128;

/// What the records up to some place say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<SessionName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forked: Option<ForkOrigin>,
}

impl Label {
    /// Takes a record in, as a fold does.
    pub(crate) fn take(&mut self, record: &Record) {
        match record {
            Record::Named { name } => self.name.clone_from(name),
            Record::Forked(origin) => {
                *self = Self { name: None, forked: Some((**origin).clone()) };
            }
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
            if may_say(whole)
                && let Some(entry) = entry_of_line(whole)
            {
                self.take(&entry.record);
            }
        }
        Ok(length)
    }
}

/// Whether the line is of such a kind, without a look at the rest of it.
fn may_say(line: &[u8]) -> bool {
    const KEY: &[u8] = br#","kind":""#;
    let head = &line[..line.len().min(KIND_BYTES_MAX)];
    let Some(at) = head.windows(KEY.len()).position(|bytes| bytes == KEY) else { return false };
    KINDS.iter().any(|kind| head[at + KEY.len()..].starts_with(kind.as_bytes()))
}

#[cfg(test)]
mod tests {
    use heeler_core::{Entry, Input, Timestamp};

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
