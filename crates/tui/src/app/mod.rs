//! The window's state: what happened in, what is to be done out. Nothing here waits or writes.

mod bell;
mod change;
mod command;
#[cfg(test)]
mod command_tests;
mod draw;
#[cfg(test)]
mod elsewhere;
#[cfg(test)]
mod folded;
mod guard;
mod keys;
#[cfg(test)]
mod looking;
mod over;
mod pager;
mod picker;
mod plain;
mod prompt;
mod say;
mod session;
mod status;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod told;
#[cfg(test)]
mod unfinished;
mod values;
#[cfg(test)]
mod widths;
mod works;
#[cfg(test)]
mod works_tests;

use std::sync::Arc;

use heeler_core::{Mode, SessionId, Settings, Timestamp};
use ratatui::text::Line;

use crate::composer::{Composer, ComposerSettings, Draft, History};
use crate::host::{Facts, Told, WindowLook};
use crate::text::Highlight;
use crate::theme::{Signs, Theme};
use crate::transcript::{Note, Transcript};
use bell::Bell;
use command::commands;
pub use command::{COMMANDS, SlashCommand};
use guard::Guard;
use over::Over;
use pager::{Paged, Pager};
use picker::{Picked, Picker};
use plain::Told as Spoken;
use prompt::{CutOff, Prompts};
use say::{Begins, Other, Queued};
use status::Status;
pub use values::{Action, Happened, Opened, Topic};
use works::Works;

/// The window.
pub struct App {
    transcript: Transcript,
    composer: Composer,
    prompts: Prompts,
    guard: Guard,
    status: Status,
    settings: Settings,
    /// The mode beside those that Shift-Tab always goes through, if the session was in one: it goes
    /// through this one, too.
    mode_apart: Option<Mode>,
    theme: Theme,
    highlight: Arc<dyn Highlight + Send + Sync>,
    /// What covers the composer.
    picker: Option<Picker>,
    /// What covers the screen.
    pager: Option<Pager>,
    /// The lines of the pager, while it is there.
    paged: Option<Paged>,
    /// What is about to begin a turn.
    begins: Option<Begins>,
    /// A turn began, and nobody has spoken in it yet.
    is_turn_new: bool,
    /// Inputs that wait for the running turn, oldest first.
    queued: Vec<Queued>,
    /// Those of others.
    others: Vec<Other>,
    /// What goes on in the background.
    works: Works,
    /// Counts the inputs that were queued, for their ids.
    n_queued: u64,
    session: SessionId,
    /// Names the inputs of this window apart from those of others on the same session.
    queue_name: String,
    /// Whether another process has the session open.
    is_guest: bool,
    /// Whether any session was shown yet.
    is_begun: bool,
    width: u16,
    height: u16,
    /// When the terminal got its last size, as long as the screen is not written for that.
    resized: Option<Timestamp>,
    /// Whether there are lines of words alone, for whoever has them read aloud.
    is_plain: bool,
    bell: Bell,
    /// What was told where there are words alone.
    told: Spoken,
    /// Whether an earlier process left a turn that Enter goes on with.
    is_unfinished: bool,
    /// Whether another session is on its way, for which what is said is meant.
    is_switching: bool,
    /// Whether something was said that waits for it.
    holds: bool,
    /// The session is closed, and no other is shown in its place.
    over: Option<Over>,
    /// Why the last turn failed, as long as nothing else was told since.
    failure: Option<String>,
    /// When the last key was pressed.
    last_key: Option<Timestamp>,
    /// When Ctrl-C was pressed with nothing to stop: once more leaves.
    leaving: Option<Timestamp>,
    /// The letters of a file's name that were last looked for.
    sought: Option<String>,
    /// Whether somebody knows that there are no shell lines here.
    knows_no_shell: bool,
}

/// What a window begins with.
pub struct Start {
    /// The session it shows.
    pub opened: Opened,
    /// What the program around knows.
    pub facts: Facts,
    /// Styles.
    pub theme: Theme,
    /// Whether there are lines of words alone, for whoever has them read aloud.
    pub is_plain: bool,
    /// Whether the bell rings for whoever looked away.
    pub rings: bool,
    /// Colours of code.
    pub highlight: Arc<dyn Highlight + Send + Sync>,
    /// How the composer reads keys.
    pub composer: ComposerSettings,
    /// Columns and rows.
    pub size: (u16, u16),
}

/// Within this time a second Ctrl-C leaves.
const LEAVE_MILLIS: u64 = 2_000;
/// A size is the last one when no other came for so long. Each one that the screen is written for
/// leaves a copy of it in the scrollback.
const RESIZED_MILLIS: u64 = 150;

impl App {
    /// A window on a session.
    #[must_use]
    pub fn new(start: Start, now: Timestamp) -> Self {
        let Start { opened, facts, theme, is_plain, rings, highlight, composer, size } = start;
        let mut app = Self {
            transcript: Transcript::default(),
            queue_name: format!(
                "{}-{}",
                if facts.is_guest { "attached" } else { "terminal" },
                now.millis()
            ),
            is_guest: facts.is_guest,
            prompts: Prompts::new(composer.keys),
            composer: Composer::new(composer),
            guard: Guard::default(),
            status: Status::new(facts),
            settings: Settings::default(),
            mode_apart: None,
            theme: in_signs(theme, is_plain),
            highlight,
            picker: None,
            pager: None,
            paged: None,
            begins: None,
            is_turn_new: false,
            queued: Vec::new(),
            others: Vec::new(),
            works: Works::default(),
            n_queued: 0,
            session: opened.id.clone(),
            is_begun: false,
            is_plain,
            bell: Bell::new(rings, now),
            told: Spoken::default(),
            width: size.0,
            height: size.1,
            resized: None,
            is_unfinished: false,
            is_switching: false,
            holds: false,
            over: None,
            failure: None,
            last_key: None,
            leaving: None,
            sought: None,
            knows_no_shell: false,
        };
        app.composer.set_commands(commands(app.is_guest).map(|it| it.offered()).collect());
        app.open(opened, now);
        app.guard.shows(app.prompts.shown(), false, now);
        app
    }

    /// Takes in what happened; gives what is to be done, in order.
    pub fn happen(&mut self, what: Happened, now: Timestamp) -> Vec<Action> {
        let rings = self.bell.rings(&what, now);
        // A key that came late may have been pressed in time, and then it is one of a word.
        let mut actions = match what {
            Happened::Key(_) | Happened::Pasted(_) => Vec::new(),
            _ => self.settle(now),
        };
        actions.extend(self.take(what, now));
        actions.extend(rings.then_some(Action::Ring));
        if self.resized_at().is_some_and(|due| due <= now) {
            actions.push(Action::Redraw);
        }
        if let Some(cut_off) = self.prompts.cut_off() {
            self.write_on(cut_off, now);
        }
        // What is covered comes into sight when the cover goes.
        if self.pager.is_none() && self.picker.is_none() {
            let asked = self.prompts.shown().filter(|_| self.has_room());
            self.guard.shows(asked, !self.composer.is_empty(), now);
        }
        actions
    }

    fn take(&mut self, what: Happened, now: Timestamp) -> Vec<Action> {
        match what {
            Happened::Key(key) => self.key(key, now),
            Happened::Pasted(text) => self.pasted(&text, now),
            Happened::Given(submission) => self.say(*submission, now),
            Happened::Said(number, outcome) => {
                self.said(number, &outcome);
                Vec::new()
            }
            Happened::Resized(width, height) => {
                (self.width, self.height) = (width, height);
                self.resized = Some(now);
                Vec::new()
            }
            Happened::Seen(seen) => self.see(&seen, now),
            Happened::Looked(id, text) => {
                self.prompts.set_file(id, text);
                Vec::new()
            }
            Happened::Asked(id, question) => {
                self.prompts.ask(id, question);
                Vec::new()
            }
            Happened::Undecided(id, why) => {
                self.prompts.object(id, why);
                Vec::new()
            }
            Happened::Unheard(answer) => {
                self.write_on(CutOff(Draft::from(&*answer)), now);
                Vec::new()
            }
            Happened::TakenBack(id, was_queued) => {
                match was_queued {
                    true => drop(self.take_back(&id)),
                    false => self.goes_on(&id),
                }
                Vec::new()
            }
            Happened::Steered(id, said) => {
                self.steered(&id, said);
                Vec::new()
            }
            Happened::Waiting(waiting) => {
                self.know_waiting(waiting);
                Vec::new()
            }
            Happened::Background(works) => {
                self.know_works(works, now);
                Vec::new()
            }
            Happened::Sessions(rows) => {
                self.picker = Some(Picker::of_sessions(rows, &self.session));
                self.glance()
            }
            Happened::Glanced(id, glance) => {
                if let Some(picker) = &mut self.picker {
                    picker.take(id, glance);
                }
                Vec::new()
            }
            Happened::Answered(answer) => {
                self.transcript.note(match answer {
                    Ok(Told::Text(text)) => Note::plain(text),
                    Ok(Told::Table(rows)) => Note::table(rows),
                    Ok(Told::Difference(text)) => Note::difference(text),
                    Err(why) => Note::error(why),
                });
                Vec::new()
            }
            Happened::Opened(opened) => {
                let is_other = opened.id != self.session;
                self.open(*opened, now);
                // Lines that are read aloud go on below the others.
                let scrolls = is_other && !self.is_plain;
                let scrolls = scrolls.then_some(Action::ScrollOut);
                scrolls.into_iter().chain([Action::AskBackground]).collect()
            }
            Happened::Edited(text) => {
                self.edited(text);
                Vec::new()
            }
            Happened::Copied(image) => self.copied(image, now),
            Happened::Found(found) => {
                self.composer.offer_files(&found.query, &found.paths);
                Vec::new()
            }
            Happened::Recalled(drafts) => {
                // What was sent meanwhile is the newest.
                let sent = self.composer.history().drafts().to_vec();
                self.composer.set_history(History::new(drafts.into_iter().chain(sent)));
                Vec::new()
            }
            Happened::Ended => self.ended(now),
            Happened::Ticked => {
                self.leaving = self.leaving.filter(|at| now.since(*at) < LEAVE_MILLIS);
                self.leave_when_over(now)
            }
        }
    }

    /// The settings as this window last set them.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Looks and is typed into as the settings say now.
    pub fn restyle(&mut self, look: WindowLook) {
        self.is_plain = look.is_plain;
        self.bell.is_on = look.rings;
        self.set_theme(look.theme);
        self.composer.set_keys(look.keys);
        self.prompts.set_keys(look.keys);
        self.status.show(look.status);
    }

    /// Looks like this from here on.
    pub fn set_theme(&mut self, theme: Theme) {
        self.theme = in_signs(theme, self.is_plain);
        self.paged = None;
    }

    /// Whether what stands on the screen is never written again.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Another session is on its way, or is not after all.
    pub fn switches(&mut self, is_switching: bool) {
        self.is_switching = is_switching;
        self.holds &= is_switching;
    }

    /// Why the last turn failed, when that is the last that the session told.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Writes what was to be said before what is written.
    pub fn write_again(&mut self, draft: Draft) {
        self.composer.take_back(draft);
    }

    /// Shows these settings: they are being set.
    pub fn set(&mut self, settings: &Settings) {
        if settings.policy.mode != self.settings.policy.mode {
            // A file of settings has another one now, whatever was before.
            self.mode_apart = apart(settings.policy.mode);
        }
        self.status.settings(settings);
        self.settings = settings.clone();
    }

    /// Takes a size, and gives what stands above the live region then.
    pub fn resized(&mut self, width: u16, height: u16, now: Timestamp) -> Vec<Line<'static>> {
        (self.width, self.height) = (width, height);
        if self.resized.take().is_some() {
            // What came up meanwhile was not drawn.
            self.guard.unseen(now);
        }
        self.tail(now)
    }

    /// When the screen is written for a new size; until then nobody knows what stands where.
    #[must_use]
    pub fn resized_at(&self) -> Option<Timestamp> {
        self.resized.map(|at| at.plus(RESIZED_MILLIS))
    }

    /// The terminal stood still until then: whatever is asked was not seen there, and no key was for it.
    pub fn unseen(&mut self, before: Timestamp) {
        self.guard.unseen(before);
    }

    /// When something on the screen changes by itself next.
    #[must_use]
    pub fn wakes_at(&self, now: Timestamp) -> Option<Timestamp> {
        let runs = self.transcript.running_since().filter(|_| !self.is_plain);
        let spins = runs.map(|_| now.plus(SPIN_MILLIS));
        let leaves = self.leaving.map(|at| at.plus(LEAVE_MILLIS));
        let asks = self.guard.wakes_at();
        let words = [self.taken_at(now), self.leaves_at()].into_iter().flatten().min();
        [spins, leaves, asks, words, self.status.wakes_at(now)].into_iter().flatten().min()
    }

    /// Has the end of the chosen session looked at.
    fn glance(&mut self) -> Vec<Action> {
        let wanted = self.picker.as_mut().and_then(Picker::wants);
        wanted.map(Action::Glance).into_iter().collect()
    }

    /// What is to be done about what somebody picked.
    fn picked(&mut self, picked: Picked) -> Vec<Action> {
        match picked {
            Picked::Nothing => Vec::new(),
            Picked::Session(id) => match self.stays() {
                // Something was said since the list was asked for.
                Some(why) => self.refuse(why),
                None => vec![Action::Open(id)],
            },
        }
    }
}

/// The mode, if Shift-Tab goes through it only where the session was in it.
fn apart(mode: Mode) -> Option<Mode> {
    matches!(mode, Mode::AllowListed | Mode::Bypass).then_some(mode)
}

/// The theme, with words for signs where there are to be words alone.
fn in_signs(theme: Theme, is_plain: bool) -> Theme {
    Theme { signs: if is_plain { Signs::Words } else { Signs::Drawn }, ..theme }
}

/// How often what runs turns.
const SPIN_MILLIS: u64 = crate::transcript::SPINNER_MILLIS;
