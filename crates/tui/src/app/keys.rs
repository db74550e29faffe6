//! Which key is whose: the pager's, a prompt's, the picker's, the window's, the composer's.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use heeler_core::{Decision, Mode, Timestamp};

use super::command::OWNERS_MODE;
use super::guard::Held;
use super::pager::{Pager, Turned};
use super::picker::Chosen;
use super::prompt::{CutOff, Means};
use super::{Action, App, LEAVE_MILLIS, apart};
use crate::composer::{Answer, Attachment};
use crate::transcript::Note;

/// The least rows of a window in which what is asked stands: its title, what would run or how much that
/// is, the keys, the status, and an empty row.
const PROMPT_ROWS_MIN: u16 = 5;

impl App {
    pub(super) fn key(&mut self, key: KeyEvent, now: Timestamp) -> Vec<Action> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        self.last_key = Some(now);
        if is_control(key, 'z') {
            self.guard.lets_go();
            self.leaving = None;
            return vec![Action::Suspend];
        }
        if self.is_over() {
            return self.key_when_over(key, now);
        }
        if let Some(pager) = &mut self.pager {
            match pager.key(key) {
                Turned::Stays => {}
                Turned::Closes => (self.pager, self.paged) = (None, None),
            }
            return Vec::new();
        }
        if is_control(key, 'c') {
            self.guard.lets_go();
            return self.interrupt(now);
        }
        self.leaving = None;
        let sends = key.code == KeyCode::Enter && key.modifiers.is_empty();
        if sends && self.picker.is_none() && self.guard.holds_enter(now) {
            return Vec::new();
        }
        if let Some(actions) = self.window_key(key) {
            return actions;
        }
        if let Some(picker) = &mut self.picker {
            return match picker.key(key) {
                Chosen::Goes => self.glance(),
                Chosen::Is(picked) => {
                    self.picker = None;
                    self.picked(picked)
                }
            };
        }
        if self.prompts.is_answered() {
            // Whoever owns the session may take long; what is written meanwhile is a message.
            if self.guard.repeats(key, now) {
                return Vec::new();
            }
        } else if self.prompts.is_open() {
            return match self.held(now) {
                Some(held) => self.held_key(held, key, now),
                None => self.prompt_key(key, now),
            };
        }
        let answer = self.composer.key(key);
        self.note_written(&answer, now);
        self.composed(answer, Some(key), now)
    }

    /// A key for what is asked: one that answers waits until it is clear that no word begins with it.
    fn prompt_key(&mut self, key: KeyEvent, now: Timestamp) -> Vec<Action> {
        match self.prompts.means(key) {
            Means::Answer if self.guard.presses(key, false, now) => Vec::new(),
            Means::Rule if self.guard.presses(key, true, now) => Vec::new(),
            Means::Answer | Means::Rule | Means::Letter => self.write(key, now),
            Means::Step => match self.guard.lets_go().first() {
                Some(pressed) if key.code == KeyCode::Enter && key.modifiers.is_empty() => {
                    let mut actions = self.answer(*pressed, now);
                    if self.prompts.denies() {
                        // A no with nothing behind it.
                        actions.extend(self.answer(key, now));
                    }
                    actions
                }
                Some(_) if key.code == KeyCode::Backspace => Vec::new(),
                _ => self.answer(key, now),
            },
        }
    }

    /// What a key comes to that answers, when time has passed and nothing was written behind it.
    pub(super) fn settle(&mut self, now: Timestamp) -> Vec<Action> {
        let Some(key) = self.guard.stood_alone(now) else { return Vec::new() };
        let is_covered = self.pager.is_some() || self.picker.is_some();
        if is_covered || self.held(now).is_some() {
            return Vec::new();
        }
        self.answer(key, now)
    }

    /// A key that is what is asked's; nothing is allowed that nobody sees.
    fn answer(&mut self, key: KeyEvent, now: Timestamp) -> Vec<Action> {
        if self.prompts.allows(key) && !self.tells_asked(now) {
            return Vec::new();
        }
        let (is_written_in, has_more) = (self.prompts.is_written_in(), self.prompts.has_more());
        let Some(actions) = self.prompts.key(key) else {
            return match key.code {
                KeyCode::Esc => self.stop(),
                _ if is_control(key, 'd') => self.leave(),
                _ => Vec::new(),
            };
        };
        if actions.iter().any(|action| matches!(action, Action::Decide(..) | Action::Answer(..))) {
            self.guard.answered(key, has_more, now);
        } else if is_written_in {
            self.guard.wrote_there(now);
        }
        self.resuming(actions, now)
    }

    /// Why what is asked takes no key, if so.
    pub(super) fn held(&self, now: Timestamp) -> Option<Held> {
        let is_begun = !self.composer.is_empty();
        let is_shown = self.has_room() && self.resized.is_none();
        if is_shown { self.guard.held(is_begun, now) } else { Some(Held::Unshown) }
    }

    /// Whether the window is high enough to show what is asked.
    pub(super) fn has_room(&self) -> bool {
        // Words that are read aloud need none.
        self.is_plain || self.height >= PROMPT_ROWS_MIN
    }

    /// A key that was meant for something else than what is asked: of one who writes, it writes.
    fn held_key(&mut self, held: Held, key: KeyEvent, now: Timestamp) -> Vec<Action> {
        // In vim's insert mode, Esc is the composer's own.
        let is_own = self.composer.mode_label().is_some() && self.composer.is_writing();
        if key.code == KeyCode::Esc && !(is_own && held == Held::Writes) {
            return self.stop();
        }
        match held {
            Held::New | Held::Writes => {}
            Held::Unshown => return Vec::new(),
            Held::Answered => {
                self.guard.answers_on(now);
                return Vec::new();
            }
        }
        self.write(key, now)
    }

    /// A key that writes, behind those that would have answered without it.
    fn write(&mut self, key: KeyEvent, now: Timestamp) -> Vec<Action> {
        let mut actions = self.write_pressed(now);
        let answer = self.composer.key(key);
        self.note_written(&answer, now);
        actions.extend(self.composed(answer, None, now));
        actions
    }

    pub(super) fn write_pressed(&mut self, now: Timestamp) -> Vec<Action> {
        let mut actions = Vec::new();
        for key in self.guard.lets_go() {
            let answer = self.composer.key(key);
            self.note_written(&answer, now);
            actions.extend(self.composed(answer, None, now));
        }
        actions
    }

    /// Keeps in mind that somebody writes, or sent it.
    fn note_written(&mut self, answer: &Answer, now: Timestamp) {
        match answer {
            Answer::Changed | Answer::Notice(_) => self.guard.wrote(now),
            Answer::Submit(_) | Answer::OpenEditor(_) => self.guard.sent(),
            Answer::Ignored => {}
        }
    }

    /// Who was writing where nothing is asked any more writes on behind what was written before; their
    /// Enter was for what was asked.
    pub(super) fn write_on(&mut self, CutOff(written): CutOff, now: Timestamp) {
        self.guard.cut_off(now);
        if written.is_blank() {
            return;
        }
        self.composer.append(written);
        let text =
            "this is not asked any more: what you wrote about it stands below, and is not sent";
        self.transcript.note(Note::warning(text));
    }

    /// What is to be done about what a key or a paste came to.
    fn composed(&mut self, answer: Answer, key: Option<KeyEvent>, now: Timestamp) -> Vec<Action> {
        let mut actions = match (answer, key) {
            (Answer::Submit(submission), _) => {
                // First of all: what follows may be the end.
                let mut actions = vec![Action::Remember(submission.draft.clone())];
                actions.extend(self.submitted(submission, now));
                actions
            }
            (Answer::OpenEditor(text), _) => vec![Action::Edit(text)],
            (Answer::Notice(text), _) => {
                self.transcript.note(Note::warning(text));
                Vec::new()
            }
            (Answer::Ignored, Some(key)) => self.left_over(key, now),
            (Answer::Ignored, None) | (Answer::Changed, _) => Vec::new(),
        };
        let sought = self.composer.file_query().map(str::to_owned);
        if sought != self.sought {
            actions.extend(sought.clone().map(Action::Find));
            self.sought = sought;
        }
        actions
    }

    pub(super) fn pasted(&mut self, text: &str, now: Timestamp) -> Vec<Action> {
        let is_elsewhere = matches!(self.held(now), Some(Held::New | Held::Writes));
        let is_covered = self.pager.is_some() || self.picker.is_some();
        if !is_covered && text.is_empty() && !self.prompts.is_open() {
            // What was copied is no text.
            return vec![Action::PasteImage];
        }
        let is_line = text.lines().count() == 1;
        if is_line && self.pager.as_mut().is_some_and(|pager| pager.paste(text)) {
            return Vec::new();
        }
        if let Some(picker) = self.picker.as_mut().filter(|_| is_line) {
            picker.paste(text);
            return self.glance();
        }
        // What covers the rest takes none; it stands there when that is seen again.
        if is_covered || is_elsewhere || !self.prompts.pasted(text) {
            let mut actions = self.write_pressed(now);
            let answer = self.composer.paste(text);
            self.note_written(&answer, now);
            actions.extend(self.composed(answer, None, now));
            return actions;
        }
        Vec::new()
    }

    /// The image that was copied goes along with what is written.
    pub(super) fn copied(&mut self, image: Vec<u8>, now: Timestamp) -> Vec<Action> {
        let answer = self.composer.attach(Attachment::of_bytes("from the clipboard", image));
        self.note_written(&answer, now);
        self.composed(answer, None, now)
    }

    /// What an editor left.
    pub(super) fn edited(&mut self, text: Option<String>) {
        let text = text.map(|text| text.trim_end_matches('\n').to_owned());
        if let Some(text) = self.prompts.edited(text) {
            self.composer.set_text(&text);
        }
    }

    /// Ctrl-C: stops what runs, then takes back what was written, then leaves.
    fn interrupt(&mut self, now: Timestamp) -> Vec<Action> {
        if self.picker.take().is_some() {
            return Vec::new();
        }
        // Who is a guest leaves the turn to its owner; Esc stops it all the same.
        let is_said = self.untaken().next().is_some();
        if !self.is_guest && (self.is_busy() || is_said || self.prompts.is_open()) {
            return self.stop();
        }
        if !self.composer.is_empty() {
            self.composer.clear();
            return Vec::new();
        }
        match self.leaving.take() {
            Some(at) if now.since(at) < LEAVE_MILLIS => vec![Action::Quit],
            _ => {
                self.leaving = Some(now);
                Vec::new()
            }
        }
    }

    fn stop(&mut self) -> Vec<Action> {
        self.is_unfinished = false;
        let mut actions = self.take_all_back();
        actions.push(Action::Cancel);
        actions
    }

    /// A decision about a turn that an earlier process left goes on with it; one may stop it.
    fn resuming(&mut self, mut actions: Vec<Action>, now: Timestamp) -> Vec<Action> {
        let decides = actions.iter().any(|action| matches!(action, Action::Decide(..)));
        if decides && self.resumes() {
            actions.insert(0, self.resume(now));
        }
        let stops =
            |action: &Action| matches!(action, Action::Decide(_, Decision::DenyAndStop { .. }));
        if actions.iter().any(stops) {
            actions.splice(0..0, self.take_all_back());
        }
        actions
    }

    /// Keys that mean the same wherever one is.
    fn window_key(&mut self, key: KeyEvent) -> Option<Vec<Action>> {
        if is_control(key, 't') {
            // Who looks first has not answered yet.
            self.guard.lets_go();
            (self.pager, self.paged) = (Some(Pager::default()), None);
            self.prompts.looked_at();
            return Some(Vec::new());
        }
        if is_control(key, 'l') {
            return Some(vec![Action::Redraw]);
        }
        None
    }

    /// Keys that say nothing to the composer.
    fn left_over(&mut self, key: KeyEvent, now: Timestamp) -> Vec<Action> {
        match key.code {
            KeyCode::Esc if self.has_to_stop() => self.stop(),
            KeyCode::Up => {
                let taken = self.take_last_back();
                if taken.is_none() {
                    self.composer.recall_older();
                }
                taken.unwrap_or_default()
            }
            KeyCode::BackTab => self.next_mode(),
            _ if is_control(key, 'v') => vec![Action::PasteImage],
            _ if is_control(key, 'd') => self.leave(),
            KeyCode::Enter if self.resumes() => vec![self.resume(now)],
            _ => Vec::new(),
        }
    }

    /// Ctrl-D with nothing written, and `/quit`: leaves, unless a turn would be cut off.
    pub(super) fn leave(&mut self) -> Vec<Action> {
        if self.is_busy() && !self.is_guest {
            return self.refuse("a turn runs: Esc stops it, and then Ctrl-D leaves");
        }
        if self.has_untaken() {
            // An owner that is suspended takes nothing, and gives nothing back.
            let next = match self.is_guest || self.is_switching {
                true => "; Ctrl-C twice leaves all the same",
                false => ": Esc takes it back, and then Ctrl-D leaves",
            };
            return self.refuse(&format!("what you said is not taken in yet{next}"));
        }
        vec![Action::Quit]
    }

    /// The modes one goes through with Shift-Tab; a session that was in another one comes back to it.
    fn next_mode(&mut self) -> Vec<Action> {
        if self.is_guest {
            return self.refuse(OWNERS_MODE);
        }
        let next = match self.settings.policy.mode {
            Mode::Ask => Mode::AcceptEdits,
            Mode::AcceptEdits => Mode::Plan,
            Mode::Plan => self.mode_apart.unwrap_or(Mode::Ask),
            Mode::AllowListed | Mode::Bypass => Mode::Ask,
        };
        self.set_mode(next)
    }

    pub(super) fn set_mode(&mut self, mode: Mode) -> Vec<Action> {
        self.mode_apart = apart(mode).or(self.mode_apart);
        self.settings.policy.mode = mode;
        vec![Action::Set(Box::new(self.settings.clone()))]
    }
}

pub(super) fn is_control(key: KeyEvent, letter: char) -> bool {
    key.code == KeyCode::Char(letter) && key.modifiers.contains(KeyModifiers::CONTROL)
}
