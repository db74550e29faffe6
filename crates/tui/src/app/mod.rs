//! The window's state: what happened in, what is to be done out. Nothing here waits or writes.

mod change;
mod command;
mod draw;
#[cfg(test)]
mod folded;
mod guard;
mod keys;
#[cfg(test)]
mod looking;
mod pager;
mod picker;
mod plain;
mod prompt;
mod status;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unfinished;
#[cfg(test)]
mod widths;

use std::sync::Arc;

use heeler_core::{
    Decision, Event, ForkOrigin, Mode, PermissionId, Question, SessionId, SessionName, Settings,
    SteeringId, Timestamp, Usage, View,
};
use heeler_engine::Seen;
use ratatui::text::Line;

use crate::composer::{Composer, ComposerSettings, Draft, FoundFiles, History, Submission};
use crate::host::{Facts, Glance, SessionRow, Told, WindowLook};
use crate::text::Highlight;
use crate::theme::{Signs, Theme};
use crate::transcript::{Note, Transcript};
pub use command::{COMMANDS, SlashCommand};
use guard::Guard;
use pager::{Paged, Pager};
use picker::{Picked, Picker};
use plain::Told as Spoken;
use prompt::Prompts;
use status::Status;

/// What happens to the window.
#[derive(Debug)]
pub enum Happened {
    /// A key was pressed.
    Key(crossterm::event::KeyEvent),
    /// Text was pasted, or a file dropped.
    Pasted(String),
    /// Something is to be said that was written before the session was there.
    Given(Box<Submission>),
    /// The terminal has another size.
    Resized(u16, u16),
    /// The session told something.
    Seen(Seen),
    /// A tool asks the person.
    Asked(u64, Box<Question>),
    /// A decision did not count, and why.
    Undecided(PermissionId, String),
    /// What is in the file that a request would change, now.
    Looked(PermissionId, String),
    /// Whether an input was taken back before it was delivered.
    TakenBack(SteeringId, bool),
    /// The stored sessions, for the picker.
    Sessions(Vec<SessionRow>),
    /// The last that was said in one of them.
    Glanced(SessionId, Result<Glance, String>),
    /// The answer to a command, or why there is none.
    Answered(Result<Told, String>),
    /// Another session is shown from here on.
    Opened(Box<Opened>),
    /// An editor was closed; this is what it left, if it was saved.
    Edited(Option<String>),
    /// Files that may be meant.
    Found(FoundFiles),
    /// What was written in earlier sessions, oldest first.
    Recalled(Vec<Draft>),
    /// Time passed, or something is known that was not.
    Ticked,
}

/// A session that is to be shown.
#[derive(Debug)]
pub struct Opened {
    /// Its id.
    pub id: SessionId,
    /// What is true of it now.
    pub view: View,
    /// What it runs under.
    pub settings: Settings,
    /// Estimated tokens of its conversation.
    pub tokens: u64,
    /// Whether a turn is left unfinished.
    pub is_unfinished: bool,
    /// What it is a fork of, as long as nothing was said in it.
    pub new_fork: Option<ForkOrigin>,
}

/// What is to be done.
#[derive(Debug)]
pub enum Action {
    /// Start a turn.
    Say(Box<Submission>),
    /// Say something to the running turn.
    Steer(SteeringId, Box<Submission>),
    /// Take it back.
    TakeBack(SteeringId),
    /// Finish the turn an earlier process left.
    Resume,
    /// Stop the running turn.
    Cancel,
    /// Answer a permission request.
    Decide(PermissionId, Decision),
    /// Read the file that a request would change.
    Look(PermissionId, String),
    /// Answer a question of a tool; `None` when the person does not.
    Answer(u64, Option<String>),
    /// Run under other settings.
    Set(Box<Settings>),
    /// Summarize the conversation, and look at this above all.
    Compact(Option<String>),
    /// Put back what the last summary, cut or pruning replaced.
    UndoCompaction,
    /// Begin a new session.
    Clear,
    /// Go on with another session.
    Open(SessionId),
    /// Go on with the session that is meant by an id, the beginning of one, or a name.
    OpenMeant(String),
    /// Go on with a new session that has what this one has before the input of this number, or all.
    Fork(Option<u32>),
    /// Call this session so from here on.
    Rename(SessionName),
    /// Write this session to a file, or to one of its own name.
    Export(Option<String>),
    /// List the stored sessions.
    List,
    /// Look at the end of a stored session.
    Glance(SessionId),
    /// Have another model answer from here on.
    Model(String),
    /// Look otherwise.
    Theme(String),
    /// Tell what only the program around knows.
    Tell(Topic),
    /// Open an editor on this text.
    Edit(String),
    /// Look for files that these letters may mean.
    Find(String),
    /// Keep what was sent, for later sessions.
    Remember(Draft),
    /// Write the screen anew.
    Redraw,
    /// Stop the program until the shell goes on with it.
    Suspend,
    /// Leave.
    Quit,
}

/// What a person can ask the program about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topic {
    /// What fills the context; with what the last answer used, if there was one.
    Context(Option<Usage>),
    /// What it cost.
    Cost,
    /// What may run, and why.
    Permissions,
    /// What the model can call.
    Tools,
    /// What this machine can do.
    Doctor,
    /// Which models can be asked.
    Models,
    /// What differs from the last commit.
    Difference,
    /// A report of something that went wrong, with these words.
    Bug(String),
}

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
    /// Inputs that wait for the running turn, oldest first.
    queued: Vec<Queued>,
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
    /// Whether there are lines of words alone, for whoever has them read aloud.
    is_plain: bool,
    /// What was told where there are words alone.
    told: Spoken,
    /// Whether an earlier process left a turn that Enter goes on with.
    is_unfinished: bool,
    /// Whether another session is on its way, for which what is said is meant.
    is_switching: bool,
    /// When Ctrl-C was pressed with nothing to stop: once more leaves.
    leaving: Option<Timestamp>,
    /// The letters of a file's name that were last looked for.
    sought: Option<String>,
}

struct Queued {
    id: SteeringId,
    shown: String,
    draft: Draft,
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
    /// Colours of code.
    pub highlight: Arc<dyn Highlight + Send + Sync>,
    /// How the composer reads keys.
    pub composer: ComposerSettings,
    /// Columns and rows.
    pub size: (u16, u16),
}

/// Within this time a second Ctrl-C leaves.
const LEAVE_MILLIS: u64 = 2_000;

impl App {
    /// A window on a session.
    #[must_use]
    pub fn new(start: Start, now: Timestamp) -> Self {
        let Start { opened, facts, theme, is_plain, highlight, composer, size } = start;
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
            queued: Vec::new(),
            n_queued: 0,
            session: opened.id.clone(),
            is_begun: false,
            is_plain,
            told: Spoken::default(),
            width: size.0,
            height: size.1,
            is_unfinished: false,
            is_switching: false,
            leaving: None,
            sought: None,
        };
        app.composer.set_commands(COMMANDS.iter().map(SlashCommand::offered).collect());
        app.open(opened, now);
        app.guard.shows(app.prompts.shown(), false, now);
        app
    }

    /// Takes in what happened; gives what is to be done, in order.
    pub fn happen(&mut self, what: Happened, now: Timestamp) -> Vec<Action> {
        let actions = self.take(what, now);
        // What is covered comes into sight when the cover goes.
        if self.pager.is_none() && self.picker.is_none() {
            self.guard.shows(self.prompts.shown(), !self.composer.is_empty(), now);
        }
        actions
    }

    fn take(&mut self, what: Happened, now: Timestamp) -> Vec<Action> {
        match what {
            Happened::Key(key) => self.key(key, now),
            Happened::Pasted(text) => self.pasted(&text, now),
            Happened::Given(submission) => self.say(*submission, now),
            Happened::Resized(width, height) => {
                (self.width, self.height) = (width, height);
                vec![Action::Redraw]
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
            Happened::TakenBack(id, was_queued) => {
                if was_queued {
                    self.take_back(&id);
                }
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
                self.open(*opened, now);
                vec![Action::Redraw]
            }
            Happened::Edited(text) => {
                self.edited(text);
                vec![Action::Redraw]
            }
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
            Happened::Ticked => {
                self.leaving = self.leaving.filter(|at| now.since(*at) < LEAVE_MILLIS);
                Vec::new()
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
        self.tail(now)
    }

    /// When something on the screen changes by itself next.
    #[must_use]
    pub fn wakes_at(&self, now: Timestamp) -> Option<Timestamp> {
        let runs = self.transcript.running_since().filter(|_| !self.is_plain);
        let spins = runs.map(|_| now.plus(SPIN_MILLIS));
        let leaves = self.leaving.map(|at| at.plus(LEAVE_MILLIS));
        let asks = self.guard.wakes_at();
        [spins, leaves, asks, self.status.wakes_at(now)].into_iter().flatten().min()
    }

    fn open(&mut self, opened: Opened, now: Timestamp) {
        if opened.id == self.session && self.is_begun {
            let text = format!("{} answers from here on", opened.settings.model.name);
            self.transcript.note(Note::quiet(text));
        } else {
            self.transcript = Transcript::of_view(&opened.view, !opened.is_unfinished, now);
        }
        if let Some(origin) = &opened.new_fork {
            self.transcript.note(Note::quiet(format!("forked from {origin}")));
        }
        if self.is_guest {
            self.transcript.note(Note::quiet(GUEST));
        }
        (self.is_begun, self.is_switching) = (true, false);
        self.prompts.clear();
        for open in opened.view.permissions.clone() {
            self.prompts.request(open);
        }
        self.queued.clear();
        self.picker = None;
        self.pager = None;
        self.status.open(&opened);
        self.mode_apart = apart(opened.settings.policy.mode);
        self.settings = opened.settings;
        self.session = opened.id;
        self.is_unfinished = opened.is_unfinished;
        if self.is_unfinished {
            let next = match self.prompts.is_open() {
                true => "your answer goes on with it, Esc ends it",
                false => "Enter goes on with it, Esc ends it; or say something else",
            };
            let text = format!("a turn was left unfinished: {next}");
            self.transcript.note(Note::warning(text));
        }
    }

    fn see(&mut self, seen: &Seen, now: Timestamp) -> Vec<Action> {
        self.transcript.see(seen, now);
        self.status.see(seen, now);
        match seen {
            Seen::Event(envelope) => match &envelope.event {
                Event::PermissionRequested(open) => {
                    self.prompts.request(open.clone());
                    let path = change::path(open);
                    return path.map(|path| Action::Look(open.id, path)).into_iter().collect();
                }
                Event::PermissionDecided { id, decision, by } => self.decided(*id, decision, by),
                Event::CallFinished { call, .. } => self.prompts.ended(&envelope.agent, *call),
                Event::SteeringDelivered { id } => self.queued.retain(|queued| queued.id != *id),
                // This may be seen before the answer to who took it back.
                Event::SteeringTakenBack { id } => self.take_back(id),
                Event::TurnFinished { .. } if envelope.agent.is_main() => {
                    self.is_unfinished = false;
                    self.told.has_ended = true;
                    self.prompts.clear();
                }
                _ => {}
            },
            Seen::Resync(view) => {
                self.prompts.clear_requests();
                for open in view.permissions.clone() {
                    self.prompts.request(open);
                }
                self.queued.retain(|queued| view.steering.contains(&queued.id));
                self.is_unfinished &= view.turn.is_some();
                if view.turn.is_some() && !self.is_unfinished && !self.is_busy() {
                    self.transcript.resumed(now);
                }
            }
        }
        Vec::new()
    }

    /// Somebody decided; who asks here is told, unless it was answered here.
    fn decided(&mut self, id: PermissionId, decision: &Decision, by: &str) {
        if let Decision::LeavePlan { mode } = decision {
            self.settings.policy.mode = *mode;
        }
        if self.prompts.decided(id) {
            self.transcript.note(Note::quiet(format!("{}, by {by}", decision_name(decision))));
        }
    }

    /// Whether a turn runs.
    fn is_busy(&self) -> bool {
        self.transcript.running_since().is_some()
    }

    /// Says what was written: to the running turn, or as a turn of its own.
    fn say(&mut self, submission: Submission, now: Timestamp) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.resumes() {
            // It is said to the turn that goes on with it.
            actions.push(self.resume(now));
        } else if !self.is_busy() {
            return vec![Action::Say(Box::new(submission))];
        }
        self.n_queued += 1;
        let id = SteeringId(format!("{}-{}", self.queue_name, self.n_queued));
        let (shown, draft) = (submission.shown.clone(), submission.draft.clone());
        self.queued.push(Queued { id: id.clone(), shown, draft });
        actions.push(Action::Steer(id, Box::new(submission)));
        actions
    }

    /// Whether there is a turn to go on with; one of a session that is being left is none.
    fn resumes(&self) -> bool {
        self.is_unfinished && !self.is_switching
    }

    /// Goes on with the turn that an earlier process left. That it runs is known from here: it began
    /// long ago, and no event says it once more.
    fn resume(&mut self, now: Timestamp) -> Action {
        self.is_unfinished = false;
        self.transcript.resumed(now);
        Action::Resume
    }

    fn take_back(&mut self, id: &SteeringId) {
        let Some(at) = self.queued.iter().position(|queued| queued.id == *id) else { return };
        let queued = self.queued.remove(at);
        self.composer.take_back(queued.draft);
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
            Picked::Session(id) => vec![Action::Open(id)],
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

/// What somebody else answered, in a word or two.
fn decision_name(decision: &Decision) -> &'static str {
    match decision {
        Decision::Once => "allowed once",
        Decision::Session { .. } => "allowed for this session",
        Decision::Always { .. } => "allowed in this folder",
        Decision::Edited { .. } => "edited and allowed",
        Decision::LeavePlan { .. } => "plan mode is left",
        Decision::Deny { .. } => "denied",
        Decision::DenyAndStop { .. } => "denied, and the turn stopped",
    }
}

/// What is otherwise where another process has the session open.
const GUEST: &str = "attached: the session runs elsewhere. Esc stops its turn; Ctrl-C twice or Ctrl-D \
                     leaves, and it goes on";

/// How often what runs turns.
const SPIN_MILLIS: u64 = crate::transcript::SPINNER_MILLIS;
