//! What owner and guest say to each other, one JSON object a line.

use heeler_core::{
    AgentPath, CallId, Decision, Input, PermissionId, Question, Seq, SessionName, SteeringId,
    TurnOutcome,
};
use serde::{Deserialize, Serialize};

use crate::live::Live;

/// Both sides speak this one, or not with each other.
pub(crate) const VERSION: u32 = 3;

/// Who has a session open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerKind {
    /// A person at a terminal.
    Window,
    /// A run without one, which ends by itself.
    Run,
}

/// By the owner.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    /// The first line.
    Hello {
        version: u32,
        owner: OwnerKind,
        /// What follows, follows this record.
        seq: Seq,
        /// Text of the running attempt that is not in the journal yet.
        draft: String,
        /// How many requests and questions wait for an answer.
        waiting: usize,
        /// Whether its turn was left by an earlier process, and nobody goes on with it yet. Any event of
        /// that turn says that somebody does.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_left: bool,
    },
    /// In place of the first line: there are enough guests.
    Full { owner: OwnerKind, waiting: usize },
    /// The journal has this record now, and those before it.
    Record { seq: Seq },
    /// Something happened that is not in the journal.
    Live {
        #[serde(default, skip_serializing_if = "AgentPath::is_main")]
        agent: AgentPath,
        event: Live,
    },
    /// The guest was too slow, and missed what is not in the journal.
    Behind { seq: Seq, draft: String },
    /// A tool asks.
    Question { number: u64, question: Asked },
    /// That question needs no answer any more.
    Answered { number: u64 },
    /// What became of a wish.
    Reply { number: u64, reply: Reply },
}

/// A question of a tool. What it has of its session both sides know.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) agent: AgentPath,
    pub(crate) call: CallId,
    pub(crate) text: String,
    pub(crate) choices: Vec<String>,
}

impl Asked {
    pub(crate) fn of(question: &Question) -> Self {
        let Question { agent, call, text, choices, .. } = question.clone();
        Self { agent, call, text, choices }
    }
}

/// By the guest.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Names it in its reply.
    pub(crate) number: u64,
    pub(crate) wish: Wish,
}

/// What a guest may ask for; the session's methods of these names say more.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wish {
    Turn {
        input: Option<Box<Input>>,
    },
    Steer {
        id: SteeringId,
        input: Box<Input>,
    },
    TakeBack {
        id: SteeringId,
    },
    Decide {
        id: PermissionId,
        decision: Box<Decision>,
    },
    /// Stops the turn, and takes back what waits, whoever said it. The reply tells whether there was any.
    Cancel,
    Compact {
        focus: Option<Box<str>>,
    },
    UndoCompaction,
    Rename {
        name: Option<SessionName>,
    },
    /// Answers a question.
    Answer {
        number: u64,
        answer: Option<String>,
    },
}

/// What became of a wish.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Done,
    Was(bool),
    Ended(TurnOutcome),
    /// Somebody decided first.
    NotOpen,
    Unusable(String),
    /// The session is closed.
    Closed,
}
