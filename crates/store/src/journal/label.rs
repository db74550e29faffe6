//! What a list shows of a journal that may stand anywhere in it: what was said first, the session's
//! name, what it is a fork of, and whether a turn is open at its end.

use std::io::{self, BufRead};

use heeler_core::{
    ForkOrigin, Input, Record, SessionHeader, SessionName, SessionSummary, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::lines::Lines;
use super::read::entry_of_line;
use super::title::title_of_input;

/// The kinds of records whose content says it.
const KINDS: [&str; 2] = ["named", "forked"];
/// The kinds whose content may give the title. A turn that begins with what waited has no input of its
/// own.
const SAID: [&str; 2] = ["input", "steering_queued"];
/// How much of a line holds its kind: a brace, three numbers with their keys, and the kind's key.
const KIND_BYTES_MAX: usize = 128;

/// What the records up to some place say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    /// Empty until something is said in words.
    pub(crate) title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<SessionName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forked: Option<ForkOrigin>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_open_turn: bool,
    /// Whether anything was said, or a model asked: what has no title may be such a session, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_begun: bool,
}

impl Label {
    /// Takes a record in, as a fold does.
    pub(crate) fn take(&mut self, record: &Record) {
        self.note(record.kind());
        match record {
            Record::Named { name } => self.name.clone_from(name),
            Record::Forked(origin) => {
                // A turn of the source ends with it.
                (self.name, self.has_open_turn) = (None, false);
                self.forked = Some((**origin).clone());
            }
            Record::Input(input) => self.entitle(input),
            // What work in the background gave is nobody's words.
            Record::SteeringQueued(queued) if queued.background.is_none() => {
                self.entitle(&queued.input);
            }
            _ => {}
        }
    }

    /// What a list shows of the session with this header.
    pub(crate) fn summary(self, header: SessionHeader, updated: Timestamp) -> SessionSummary {
        let Self { title, name, forked, has_open_turn, is_begun } = self;
        SessionSummary { header, updated, title, name, forked, has_open_turn, is_begun }
    }

    /// Takes in that there is a record of this kind.
    fn note(&mut self, kind: &str) {
        match kind {
            // Both are written within a turn alone, as soon as there is one.
            "input" | "model_started" => (self.is_begun, self.has_open_turn) = (true, true),
            "steering_queued" => self.is_begun = true,
            "turn_finished" => self.has_open_turn = false,
            _ => {}
        }
    }

    fn entitle(&mut self, input: &Input) {
        if self.title.is_empty() {
            self.title = title_of_input(input).unwrap_or_default();
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
            let Some(kind) = kind_of(whole) else { continue };
            // Inputs may be long, and of those behind the title it says enough that they are there.
            let is_read = KINDS.contains(&kind) || (self.title.is_empty() && SAID.contains(&kind));
            match is_read.then(|| entry_of_line(whole)).flatten() {
                Some(entry) => self.take(&entry.record),
                None => self.note(kind),
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
    use heeler_core::{
        CallId, Entry, ModelStarted, Opened, Reserve, SteeringId, SteeringQueued, TurnOutcome,
    };

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

    /// What these records say, which is the same of their lines and of them.
    fn label(records: Vec<Record>) -> Label {
        let (mut label, mut folded) = (Label::default(), Label::default());
        label.read(&lines(records.clone())[..]).unwrap();
        records.iter().for_each(|record| folded.take(record));
        assert_eq!(folded, label, "{records:?}");
        label
    }

    #[test]
    fn what_was_said_first_is_the_title_and_begins_the_session() {
        let input = |text: &str| Record::Input(Box::new(Input::text(text)));
        let waits = |text: &str| SteeringQueued::said(SteeringId("s".into()), Input::text(text));
        let queued = |text: &str| Record::SteeringQueued(Box::new(waits(text)));
        let call = CallId { turn: 1, round: 1, index: 0 };
        let background = SteeringQueued::of_background(call, Input::text("data"));
        let background = Record::SteeringQueued(Box::new(background));
        let build = "x".repeat(100_000);
        let opened = Record::Opened(Opened { incarnation: 1, build });
        let asked = Record::ModelStarted(ModelStarted {
            turn: 1,
            round: 1,
            attempt: 1,
            epoch: 1,
            up_to: 1,
            reserve: Reserve::default(),
        });
        let end = || Record::TurnFinished { turn: 1, outcome: TurnOutcome::Done };
        let forked =
            || Record::Forked(Box::new(ForkOrigin { session: "a".parse().unwrap(), at: 2 }));
        for (records, title, is_begun) in [
            (vec![opened.clone(), named("one"), end()], "", false),
            (vec![opened.clone(), input("fix\n it"), input("then"), end()], "fix it", true),
            (vec![opened, queued("waits"), input("then")], "waits", true),
            (vec![input(" "), input("then")], "then", true),
            (vec![asked, background, end()], "", true),
            (vec![input("first"), end(), forked(), input("own")], "first", true),
            (vec![forked(), end()], "", false),
        ] {
            let label = label(records);
            assert_eq!((&*label.title, label.is_begun), (title, is_begun));
        }
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
            assert_eq!(label(records.clone()).has_open_turn, expected, "{records:?}");
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
