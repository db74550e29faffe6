//! What the window asks of the program around it.

use heeler_core::{BoxFuture, Mode, Question, Rule, SessionId, SessionName, Settings, Timestamp};
use heeler_engine::Session;
use heeler_settings::StatusField;
use tokio::sync::oneshot;

use crate::app::Topic;
use crate::composer::KeyStyle;
use crate::theme::{Background, Theme};
use crate::transcript::TableRow;

/// The program around a window: it knows stores, models and settings. Failures are words for the
/// person, with the next step.
pub trait Host: Send + Sync + 'static {
    /// Begins a new session in this mode.
    fn create(&self, mode: Mode) -> BoxFuture<Result<Session, String>>;
    /// Goes on with a stored session, whose own model answers unless another one is named.
    fn open(
        &self,
        id: SessionId,
        model: Option<String>,
        mode: ModeOnward,
    ) -> BoxFuture<Result<Session, String>>;
    /// The stored sessions of this folder, the latest first.
    fn sessions(&self) -> BoxFuture<Result<Vec<SessionRow>, String>>;
    /// The stored session that is meant by an id, the beginning of one, or a name.
    fn find(&self, text: String) -> BoxFuture<Result<SessionId, String>>;
    /// The last that was said in a stored session.
    fn glance(&self, id: SessionId) -> BoxFuture<Result<Glance, String>>;
    /// Makes a session that begins with what this one has before its input of that number, or with
    /// all of it.
    fn fork(&self, id: SessionId, at: Option<u32>) -> BoxFuture<Result<SessionId, String>>;
    /// Writes a session to a file, in the form that its name says; tells where.
    fn export(&self, id: SessionId, file: Option<String>) -> BoxFuture<Result<String, String>>;
    /// Whether a model of this name can be asked: its full name.
    fn model(&self, name: String) -> BoxFuture<Result<String, String>>;
    /// Called before an input is sent: takes in what changed around the session since the last one,
    /// such as settings and the project's notes.
    fn before_input(&self, session: Session) -> BoxFuture<Changed>;
    /// Keeps a rule that was given for good; tells where.
    fn keep_rule(&self, rule: Rule) -> BoxFuture<Result<String, String>>;
    /// Opens the person's editor on a text, and gives what was saved. The terminal is free meanwhile.
    fn edit(&self, text: String) -> BoxFuture<Edited>;
    /// The bytes of the image that was copied last, of [`IMAGE_BYTES_MAX`](crate::IMAGE_BYTES_MAX)
    /// at most.
    fn copied_image(&self) -> BoxFuture<Result<Vec<u8>, String>>;
    /// The theme of this name.
    ///
    /// # Errors
    /// When there is none, or its file cannot be used.
    fn theme(&self, name: String) -> Result<Theme, String>;
    /// The terminal said what its background is: the theme that is better on it, where the person
    /// chose none.
    fn background(&self, background: Background) -> Option<Theme>;
    /// What there is to tell about a topic.
    fn tell(&self, topic: Topic, session: Session) -> BoxFuture<Result<Told, String>>;
}

/// The mode in which a stored session is gone on with.
#[derive(Debug, Clone, Copy)]
pub enum ModeOnward {
    /// The window's.
    Window(Mode),
    /// The window's, but plan mode where the session was left in that.
    WindowOrPlan(Mode),
}

/// What an editor left.
#[derive(Debug, Default)]
pub struct Edited {
    /// What was saved, unless it is what was there before.
    pub text: Option<String>,
    /// What went wrong; what was saved before that counts all the same.
    pub wrong: Option<String>,
}

/// What changed around a session.
#[derive(Debug, Default)]
pub struct Changed {
    /// What happened, and what went wrong with it.
    pub words: Vec<Result<String, String>>,
    /// What the session runs under now, when that is something else.
    pub settings: Option<Box<Settings>>,
    /// How the window looks from here on.
    pub look: Option<Box<WindowLook>>,
}

/// What of a window the settings say.
#[derive(Debug)]
pub struct WindowLook {
    /// Colours.
    pub theme: Theme,
    /// Whether there are lines of words alone, for whoever has them read aloud.
    pub is_plain: bool,
    /// Whether the bell rings for whoever looked away.
    pub rings: bool,
    /// Whose keys edit.
    pub keys: KeyStyle,
    /// What the status line shows, in this order.
    pub status: Vec<StatusField>,
}

/// The answer to a question about a topic.
#[derive(Debug)]
pub enum Told {
    /// Words.
    Text(String),
    /// Words in two columns.
    Table(Vec<TableRow>),
    /// A difference, as `git diff` writes it.
    Difference(String),
}

/// What the program knows of itself when it begins.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The folder that is worked in, as it is shown.
    pub folder: String,
    /// The branch that is checked out, if any.
    pub branch: Option<String>,
    /// What the status line shows, in this order.
    pub status: Vec<StatusField>,
    /// Whether another process has the session open: this window watches it and has a say in it, and
    /// leaves it running.
    pub is_guest: bool,
    /// Whether nobody goes on there with a turn that an earlier process left.
    pub is_left: bool,
}

/// A stored session, for a list.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// When something was last written to it.
    pub changed: Timestamp,
    /// What it is about: its first input.
    pub title: String,
    /// What a person calls it.
    pub name: Option<SessionName>,
    /// Whether it begins with what another one has.
    pub is_fork: bool,
}

/// The end of a stored session, for whoever chooses among them; both texts are bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// The last words of the person; empty when they are far away.
    pub asked: String,
    /// The last words of the model.
    pub answered: String,
}

/// A question of a tool, and where its answer goes.
pub struct Asking {
    /// The question.
    pub question: Question,
    /// Takes the answer; `None` is none. Closed when nobody waits any more.
    pub answer: oneshot::Sender<Option<String>>,
}
