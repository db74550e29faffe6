//! What is said: as a turn, to the one that runs, or to the one that an earlier process left.

use heeler_core::{Block, SteeringId, Timestamp, TurnOutcome, View};

use super::{Action, App};
use crate::composer::{Draft, Submission};
use crate::transcript::Note;

/// Nobody is told that a word is not taken yet before it took so long.
const TAKEN_MILLIS: u64 = 1_000;

/// Why somebody does not leave yet who said something just now.
const UNTAKEN: &str = "what you said is not taken in yet; Esc takes it back";

/// An input that waits for the running turn.
pub(super) struct Queued {
    pub(super) id: SteeringId,
    pub(super) shown: String,
    pub(super) draft: Draft,
    way: Way,
    /// Somebody asked here to have it back.
    is_wanted: bool,
}

/// How far an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It was sent then, and nobody said that they have it: the end of their process loses it.
    Sent(Timestamp),
    /// It is in the journal.
    Written,
    /// It does not wait: it was delivered, or a hook kept it away.
    Over,
}

/// An input that is to begin a turn, until it is said in one: hooks may hear it for long, and others
/// begin turns meanwhile.
pub(super) struct Begins {
    number: u64,
    at: Timestamp,
    shown: String,
    draft: Draft,
}

/// An input of somebody else that waits for the running turn; what it says is known a moment later.
pub(super) struct Other {
    id: SteeringId,
    shown: Option<String>,
    /// Whether whoever opens the session found it there: mostly their own, from the time before.
    was_found: bool,
}

impl Queued {
    fn is_untaken(&self) -> bool {
        matches!(self.way, Way::Sent(_))
    }
}

impl App {
    /// Whether a turn runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.transcript.running_since().is_some()
    }

    /// Whether something was said here that is not in a journal yet.
    pub(super) fn has_untaken(&self) -> bool {
        self.holds || self.untaken().next().is_some()
    }

    /// Why the session that is shown cannot be left now, if so.
    pub(super) fn stays(&self) -> Option<&'static str> {
        if self.is_busy() {
            return Some("a turn runs; stop it first (Esc)");
        }
        if self.holds {
            return Some("another session is being opened");
        }
        self.has_untaken().then_some(UNTAKEN)
    }

    /// Says what was written: to the running turn, or as a turn of its own.
    pub(super) fn say(&mut self, submission: Submission, now: Timestamp) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.resumes() {
            // It is said to the turn that goes on with it.
            actions.push(self.resume(now));
        } else if self.is_switching {
            // It is said in the session that comes.
            self.holds = true;
            return vec![Action::Say(0, Box::new(submission))];
        } else if !self.is_busy() && !self.is_guest && self.begins.is_none() {
            self.n_queued += 1;
            let (shown, draft) = (submission.shown.clone(), submission.draft.clone());
            self.begins = Some(Begins { number: self.n_queued, at: now, shown, draft });
            return vec![Action::Say(self.n_queued, Box::new(submission))];
        }
        // A guest's words have a name always, by which one knows whether the owner took them.
        self.n_queued += 1;
        let id = SteeringId(format!("{}-{}", self.queue_name, self.n_queued));
        let (shown, draft) = (submission.shown.clone(), submission.draft.clone());
        let way = Way::Sent(now);
        self.queued.push(Queued { id: id.clone(), shown, draft, way, is_wanted: false });
        actions.push(Action::Steer(id, Box::new(submission)));
        actions
    }

    /// The turn of this input is over, or there is none: it is written again if it was not even said, as
    /// when it was stopped before, or a hook kept it away.
    pub(super) fn said(&mut self, number: u64, outcome: &TurnOutcome) {
        let Some(begins) = self.begins.take_if(|begins| begins.number == number) else { return };
        match outcome {
            TurnOutcome::Cancelled | TurnOutcome::Denied { .. } => {}
            TurnOutcome::Failed { message } => {
                // Of a turn that did not begin nobody else tells why.
                if self.failure.as_ref() != Some(message) {
                    self.transcript.note(Note::error(message.clone()));
                }
            }
            // It was said, and that was missed.
            _ => return,
        }
        self.composer.take_back(begins.draft);
    }

    /// Somebody speaks. Whoever does so first in a turn began it, unless it is steering.
    pub(super) fn speaks(&mut self, is_steering: bool) {
        if std::mem::take(&mut self.is_turn_new) && !is_steering {
            self.begins = None;
        }
    }

    /// Of what was missed it is known alone what was said by now.
    pub(super) fn missed(&mut self, view: &View) {
        self.is_turn_new = false;
        self.begins.take_if(|begins| {
            let text = begins.draft.text();
            let says = |block: &Block| block.as_text() == Some(&*text);
            view.messages.iter().any(|message| message.blocks.iter().any(says))
        });
    }

    /// Whether there is something that a stop would stop or take back.
    pub(super) fn has_to_stop(&self) -> bool {
        let waits = self.begins.is_some() || !self.queued.is_empty();
        waits || self.is_busy() || self.is_unfinished
    }

    /// Whether there is a turn to go on with; one of a session that is being left is none.
    pub(super) fn resumes(&self) -> bool {
        self.is_unfinished && !self.is_switching
    }

    /// Goes on with the turn that an earlier process left. That it runs is known from here: it began
    /// long ago, and no event says it once more.
    pub(super) fn resume(&mut self, now: Timestamp) -> Action {
        self.is_unfinished = false;
        self.transcript.resumed(now);
        Action::Resume
    }

    /// Whether it was one of this window's. Whoever said another may be gone, so this says what it was.
    pub(super) fn take_back(&mut self, id: &SteeringId) -> bool {
        if let Some(at) = self.others.iter().position(|other| other.id == *id)
            && let Other { shown: Some(text), was_found, .. } = self.others.remove(at)
        {
            let said = if was_found { "said before" } else { "said elsewhere" };
            self.transcript.note(Note::quiet(format!("{said}, and taken back: {text}")));
        }
        let Some(at) = self.queued.iter().position(|queued| queued.id == *id) else { return false };
        let queued = self.queued.remove(at);
        self.composer.take_back(queued.draft);
        true
    }

    /// What became of what was said: whether it waits, or why nobody took it.
    pub(super) fn steered(&mut self, id: &SteeringId, said: Result<bool, String>) {
        let way = match said {
            Ok(true) => Way::Written,
            Ok(false) => Way::Over,
            Err(why) => {
                let is_it = |queued: &&Queued| queued.id == *id;
                let is_wanted = self.queued.iter().find(is_it).is_some_and(|it| it.is_wanted);
                // Who asked to have it back knows why it is.
                if self.take_back(id) && !is_wanted {
                    self.transcript.note(Note::error(why));
                }
                return;
            }
        };
        self.queued.iter_mut().filter(|queued| queued.id == *id).for_each(|it| it.way = way);
    }

    /// An input waits. Asks what it says, if it is somebody else's.
    pub(super) fn waits(&mut self, id: &SteeringId) -> Vec<Action> {
        if let Some(own) = self.queued.iter_mut().find(|queued| queued.id == *id) {
            own.way = Way::Written;
            return Vec::new();
        }
        self.others.push(Other { id: id.clone(), shown: None, was_found: false });
        vec![Action::AskWaiting]
    }

    /// These wait now.
    pub(super) fn wait_now(&mut self, ids: &[SteeringId]) -> Vec<Action> {
        // What was just sent may not be there yet; its answer says what became of it.
        self.queued.retain(|it| matches!(it.way, Way::Sent(_)) || ids.contains(&it.id));
        let found: Vec<SteeringId> =
            self.others.drain(..).filter(|other| other.was_found).map(|other| other.id).collect();
        let asks = ids.iter().flat_map(|id| self.waits(id)).last().into_iter().collect();
        let is_found = |other: &Other| found.contains(&other.id);
        self.others.iter_mut().for_each(|other| other.was_found = is_found(other));
        asks
    }

    /// What waits was there before this window opened the session: nobody is there who says it elsewhere.
    pub(super) fn find_waiting(&mut self) {
        self.others.iter_mut().for_each(|other| other.was_found = true);
    }

    pub(super) fn delivered(&mut self, id: &SteeringId) {
        self.queued.retain(|queued| queued.id != *id);
        self.others.retain(|other| other.id != *id);
    }

    /// What those say that wait.
    pub(super) fn know_waiting(&mut self, waiting: Vec<(SteeringId, String)>) {
        for (id, text) in waiting {
            if let Some(other) = self.others.iter_mut().find(|other| other.id == id) {
                other.shown = Some(text);
            }
        }
    }

    /// The turn is over, and whatever became of what did not wait.
    pub(super) fn forget_over(&mut self) {
        self.queued.retain(|queued| queued.way != Way::Over);
    }

    /// What waits for a turn that is stopped is not to begin the next: it is written again. The newest
    /// first, since each is put before what is written. What others said goes back to them.
    pub(super) fn take_all_back(&mut self) -> Vec<Action> {
        self.queued.iter_mut().for_each(|queued| queued.is_wanted = true);
        let own = self.queued.iter().map(|queued| &queued.id);
        // What work in the background came to says nothing, and stays.
        let others =
            self.others.iter().filter(|other| other.shown.is_some()).map(|other| &other.id);
        others.chain(own).rev().cloned().map(Action::TakeBack).collect()
    }

    /// Takes back what was said last here and waits; `None` when nothing does.
    pub(super) fn take_last_back(&mut self) -> Option<Vec<Action>> {
        if let Some(queued) = self.queued.last_mut() {
            queued.is_wanted = true;
            return Some(vec![Action::TakeBack(queued.id.clone())]);
        }
        self.begins.as_ref()?;
        // A turn that others began meanwhile is not stopped for that.
        Some(if self.is_busy() { Vec::new() } else { vec![Action::Cancel] })
    }

    /// What somebody asked to have back is delivered already, or still on its way.
    pub(super) fn goes_on(&mut self, id: &SteeringId) {
        self.queued
            .iter_mut()
            .filter(|queued| queued.id == *id)
            .for_each(|it| it.is_wanted = false);
    }

    /// Puts what nobody took back into what is written.
    pub(super) fn take_untaken_back(&mut self) {
        for queued in std::mem::take(&mut self.queued).into_iter().rev() {
            if queued.is_untaken() {
                self.composer.take_back(queued.draft);
            }
        }
        if let Some(begins) = self.begins.take() {
            self.composer.take_back(begins.draft);
        }
    }

    /// What was said and nobody took, oldest first.
    pub(super) fn untaken(&self) -> impl Iterator<Item = &Draft> {
        let queued = self.queued.iter().filter(|queued| queued.is_untaken());
        self.begins.iter().map(|begins| &begins.draft).chain(queued.map(|queued| &queued.draft))
    }

    /// What waits, a line each.
    pub(super) fn waiting_lines(&self, now: Timestamp) -> Vec<String> {
        let begins = self.begins.iter().filter(|begins| now.since(begins.at) >= TAKEN_MILLIS);
        let begins = begins.map(|begins| format!("waits: {}", begins.shown));
        let own = self.queued.iter().filter_map(|queued| match queued.way {
            Way::Over => None,
            Way::Sent(at) if self.is_guest && now.since(at) >= TAKEN_MILLIS => {
                Some(format!("not taken yet: {}", queued.shown))
            }
            Way::Sent(_) | Way::Written => Some(format!("waits: {}", queued.shown)),
        });
        let others = self.others.iter().filter_map(|other| {
            let from = if other.was_found { "" } else { ", from elsewhere" };
            Some(format!("waits{from}: {}", other.shown.as_ref()?))
        });
        begins.chain(own).chain(others).collect()
    }

    /// When one of these lines changes by itself.
    pub(super) fn taken_at(&self, now: Timestamp) -> Option<Timestamp> {
        let due = |queued: &Queued| match queued.way {
            Way::Sent(at) => Some(at.plus(TAKEN_MILLIS)).filter(|due| now < *due),
            Way::Written | Way::Over => None,
        };
        let own = self.queued.iter().filter(|_| self.is_guest).filter_map(due);
        let begins = self.begins.iter().map(|begins| begins.at.plus(TAKEN_MILLIS));
        own.chain(begins.filter(|due| now < *due)).min()
    }
}
