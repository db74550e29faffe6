//! Keeps keys that were meant for something else from answering what is asked meanwhile.

use crossterm::event::{KeyCode, KeyEvent};
use heeler_core::Timestamp;

use super::prompt::Asked;

/// Who writes has stopped when no key came for so long.
const WRITING_MILLIS: u64 = 700;
/// What is asked is seen after so long: a key before that was on its way to something else.
pub(super) const SEEN_MILLIS: u64 = 500;
/// Who pressed a key within this time before something is asked was writing.
const WROTE_MILLIS: u64 = 2_000;
/// A key within this time after an answer belongs to that answer.
const ANSWERED_MILLIS: u64 = 300;
/// A key that answers does so when no word followed it for so long: who writes one is faster.
pub(super) const ALONE_MILLIS: u64 = 350;
/// The same of one that gives a rule, which holds for more than what is asked.
pub(super) const RULE_ALONE_MILLIS: u64 = 800;

/// When keys went elsewhere, and until when what is asked takes none.
#[derive(Default)]
pub(super) struct Guard {
    /// When something was last written that is not sent yet.
    wrote: Option<Timestamp>,
    /// Something was begun while this or another was asked, and not sent.
    begun: bool,
    /// Something was begun before that.
    has_draft: bool,
    /// When something was last answered here that had more behind it.
    answered: Option<Timestamp>,
    /// The key that answered last, and when it was last pressed.
    answer: Option<(KeyCode, Timestamp)>,
    /// What was last shown.
    shown: Option<Asked>,
    held: Option<(Held, Timestamp)>,
    pressed: Option<Pressed>,
    /// When a key last wrote what was for a prompt that is gone.
    cut_off: Option<Timestamp>,
}

/// A key that answers, if it is not the first letter of something.
struct Pressed {
    /// More than one when it was pressed again and again.
    keys: Vec<KeyEvent>,
    until: Timestamp,
}

/// Why no key answers yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// It came up just now: who presses a key begins to write, and goes on with it.
    New,
    /// Somebody writes: keys still go where they went.
    Writes,
    /// What stood there before was answered just now.
    Answered,
    /// The window is too low to show what is asked.
    Unshown,
}

impl Guard {
    /// A key wrote to the composer.
    pub(super) fn wrote(&mut self, now: Timestamp) {
        self.wrote = Some(now);
        self.cut_off = self.cut_off.filter(|at| now.since(*at) < WRITING_MILLIS).map(|_| now);
        self.begun |= matches!(self.shown, Some(Asked::Permission(_))) && !self.has_draft;
        self.held = Some((Held::Writes, now.plus(WRITING_MILLIS)));
    }

    /// Whether somebody writes.
    pub(super) fn is_writing(&self, now: Timestamp) -> bool {
        self.wrote.is_some_and(|at| now.since(at) < WRITING_MILLIS)
    }

    /// A key wrote within what is asked: it is not for what may be asked next.
    pub(super) fn wrote_there(&mut self, now: Timestamp) {
        (self.wrote, self.cut_off) = (Some(now), None);
    }

    /// What somebody was writing about is not asked any more.
    pub(super) fn cut_off(&mut self, now: Timestamp) {
        self.cut_off = Some(now);
    }

    /// Whether an Enter was meant for what is not asked any more: it comes behind keys that were. One
    /// that is pressed again and again is no more than one.
    pub(super) fn holds_enter(&mut self, now: Timestamp) -> bool {
        self.cut_off = self.cut_off.filter(|at| now.since(*at) < WRITING_MILLIS).map(|_| now);
        self.cut_off.is_some()
    }

    /// What was written is sent: nothing is begun any more.
    pub(super) fn sent(&mut self) {
        self.wrote = None;
        (self.begun, self.has_draft) = (false, false);
    }

    /// What was asked is answered; `has_more` tells whether more stands behind it. What is asked
    /// later is no matter of the same key: a model has to answer first.
    pub(super) fn answered(&mut self, key: KeyEvent, has_more: bool, now: Timestamp) {
        (self.wrote, self.answered) = (None, has_more.then_some(now));
        self.answer = Some((key.code, now));
    }

    /// Whether somebody still has the key down that answered, or pressed it twice.
    pub(super) fn repeats(&mut self, key: KeyEvent, now: Timestamp) -> bool {
        let is_same = |(code, at): &(KeyCode, Timestamp)| {
            *code == key.code && now.since(*at) < ANSWERED_MILLIS
        };
        self.answer = self.answer.filter(is_same).map(|(code, _)| (code, now));
        self.answer.is_some()
    }

    /// This is asked on the screen now; `is_begun` tells whether something is written and not sent.
    pub(super) fn shows(&mut self, asked: Option<Asked>, is_begun: bool, now: Timestamp) {
        self.held = self.held.filter(|(_, until)| now < *until);
        if asked == self.shown {
            return;
        }
        self.shown = asked;
        self.pressed = None;
        self.has_draft = is_begun && !self.begun;
        let is_within = |at: Timestamp, millis| now.since(at) < millis;
        let writes = is_begun || self.wrote.is_some_and(|at| is_within(at, WROTE_MILLIS));
        let stops = self.wrote.map_or(now, |at| at.plus(WRITING_MILLIS));
        let answered = self.answered.filter(|at| is_within(*at, ANSWERED_MILLIS));
        self.held = match answered {
            _ if asked.is_none() => None,
            _ if writes => Some((Held::Writes, stops.max(now.plus(SEEN_MILLIS)))),
            Some(at) => Some((Held::Answered, at.plus(ANSWERED_MILLIS))),
            None => Some((Held::New, now.plus(SEEN_MILLIS))),
        };
    }

    /// What is asked was not on the screen before this time, as with a terminal that stood still: a key
    /// was for what was there before.
    pub(super) fn unseen(&mut self, before: Timestamp) {
        let (held, until) =
            self.held.filter(|(_, until)| before < *until).unwrap_or((Held::New, before));
        self.held = Some((held, until.max(before.plus(SEEN_MILLIS))));
    }

    /// Why what is asked takes no key, if so; `is_begun` tells whether something is written and not sent.
    pub(super) fn held(&self, is_begun: bool, now: Timestamp) -> Option<Held> {
        let held = self.held.filter(|(_, until)| now < *until).map(|(held, _)| held);
        let writes = (self.begun && is_begun).then_some(Held::Writes);
        held.or(writes).filter(|_| self.shown.is_some())
    }

    /// Somebody still has the key down that answered what stood there before.
    pub(super) fn answers_on(&mut self, now: Timestamp) {
        self.held = Some((Held::Answered, now.plus(ANSWERED_MILLIS)));
    }

    /// A key that answers was pressed; whether it is the first, or the same once more.
    pub(super) fn presses(&mut self, key: KeyEvent, gives_rule: bool, now: Timestamp) -> bool {
        let pressed = self.pressed.get_or_insert_with(|| {
            let alone = if gives_rule { RULE_ALONE_MILLIS } else { ALONE_MILLIS };
            Pressed { keys: Vec::new(), until: now.plus(alone) }
        });
        let is_same = pressed.keys.iter().all(|other| other.code == key.code);
        if is_same {
            pressed.keys.push(key);
        }
        is_same
    }

    /// The key that answers now: nothing was written behind it.
    pub(super) fn stood_alone(&mut self, now: Timestamp) -> Option<KeyEvent> {
        let pressed = self.pressed.take_if(|pressed| pressed.until <= now)?;
        pressed.keys.first().copied()
    }

    #[cfg(test)]
    pub(super) fn is_pressed(&self) -> bool {
        self.pressed.is_some()
    }

    /// The keys that would have answered, and now do not.
    pub(super) fn lets_go(&mut self) -> Vec<KeyEvent> {
        self.pressed.take().map(|pressed| pressed.keys).unwrap_or_default()
    }

    /// When it takes keys again, where that is seen, or a key answers.
    pub(super) fn wakes_at(&self) -> Option<Timestamp> {
        let is_seen =
            |(held, _): &(Held, Timestamp)| *held != Held::Answered && self.shown.is_some();
        let held = self.held.filter(is_seen).map(|(_, until)| until);
        let pressed = self.pressed.as_ref().map(|pressed| pressed.until);
        held.into_iter().chain(pressed).min()
    }
}
