//! What happens to the window, and what it asks for.

use heeler_core::{
    CallId, Decision, ForkOrigin, PermissionId, Question, SessionId, SessionName, Settings,
    SteeringId, TurnOutcome, Usage, View,
};
use heeler_engine::{BackgroundWork, Seen};

use crate::composer::{Draft, FoundFiles, Submission};
use crate::host::{Glance, SessionRow, Told};

/// What happens to the window.
#[derive(Debug)]
pub enum Happened {
    /// A key was pressed.
    Key(crossterm::event::KeyEvent),
    /// Text was pasted, or a file dropped.
    Pasted(String),
    /// Something is to be said that was written before the session was there.
    Given(Box<Submission>),
    /// The turn of the input with this number ended so, or did not begin.
    Said(u64, TurnOutcome),
    /// The terminal has another size.
    Resized(u16, u16),
    /// The session told something.
    Seen(Seen),
    /// A tool asks the person.
    Asked(u64, Box<Question>),
    /// A decision did not count, and why.
    Undecided(PermissionId, String),
    /// Nobody waits any more for this answer to a question.
    Unheard(String),
    /// What is in the file that a request would change, now.
    Looked(PermissionId, String),
    /// What became of an input for the running turn: whether it waits now, or why nobody took it.
    Steered(SteeringId, Result<bool, String>),
    /// What the inputs say that wait.
    Waiting(Vec<(SteeringId, String)>),
    /// What goes on in the background.
    Background(Vec<BackgroundWork>),
    /// Whether an input was taken back before it was delivered.
    TakenBack(SteeringId, bool),
    /// The stored sessions, for the picker.
    Sessions(Vec<SessionRow>),
    /// The last that was said in one of them.
    Glanced(SessionId, Result<Glance, String>),
    /// The answer to a command, or why there is none.
    Answered(Result<Told, String>),
    /// The session ended, which another process had open.
    Ended,
    /// Another session is shown from here on.
    Opened(Box<Opened>),
    /// An editor was closed; this is what it left, if it was saved.
    Edited(Option<String>),
    /// An image that was copied, for what is being written.
    Copied(Vec<u8>),
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
    /// What the inputs say that wait for its turn.
    pub waiting: Vec<(SteeringId, String)>,
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
    /// Start a turn; the number is told when it is over.
    Say(u64, Box<Submission>),
    /// Say something to the running turn.
    Steer(SteeringId, Box<Submission>),
    /// Ask what those inputs say that wait.
    AskWaiting,
    /// Ask what goes on in the background.
    AskBackground,
    /// End what this call left running there.
    StopBackground(CallId),
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
    /// Take the image that was copied.
    PasteImage,
    /// Look for files that these letters may mean.
    Find(String),
    /// Keep what was sent, for later sessions.
    Remember(Draft),
    /// Ring the bell.
    Ring,
    /// Write the screen anew.
    Redraw,
    /// Let what stands on the screen go up to the scrollback.
    ScrollOut,
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
