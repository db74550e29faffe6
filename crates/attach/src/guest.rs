//! The other side: a session that another process owns, as a [`Session`] like any other.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::{AbortHandle, Abortable, Aborted};
use futures::stream::FuturesUnordered;
use heeler_core::{
    AgentPath, BoxFuture, Entry, Envelope, Event, InputOrigin, Question, Seq, SessionHeader,
    SessionId, StoreError,
};
use heeler_engine::{Command, Distant, Session};
use heeler_store::{FileStore, Follow};
use heeler_turn::State;
use heeler_turn::state::Announcer;
use rustix::process::Pid;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

use crate::again::Place;
use crate::door::enter;
use crate::lines::{Lines, push};
use crate::wire::{Asked, OwnerKind, Request, Said, VERSION, Wish};
use crate::wishes::{Waiter, answer, written};

/// How long an owner may take for its first line; one that is suspended takes for ever.
const HELLO_WITHIN: Duration = Duration::from_secs(10);
/// The most wishes that wait for their end; more are taken when these are done.
const WISHES_MAX: usize = 256;
/// The most questions that wait to be shown.
const QUESTIONS_MAX: usize = 64;

/// Why a session cannot be attached to.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// Nobody has it open.
    #[error("nobody has session {0} open; `heeler --resume {0}` goes on with it")]
    Unowned(SessionId),
    /// It is watched by too many.
    #[error("session {0} is attached to from as many places as can be; leave one of them first")]
    Full(SessionId),
    /// The owner is another version.
    #[error(
        "session {0} is open in another version of heeler; use the same one, or end that one and \
         go on with `heeler --resume {0}`"
    )]
    Version(SessionId),
    /// The owner says nothing.
    #[error(
        "the heeler that has session {0} open does not answer; it may be suspended (`fg` in its \
         terminal goes on)"
    )]
    Silent(SessionId),
    /// The system refused.
    #[error("cannot attach to session {0}: {1}")]
    Io(SessionId, #[source] io::Error),
    /// The journal cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A session that is open elsewhere.
pub struct Attached {
    /// What the owner's session is, and does: steering, decisions, stopping, turns, names and
    /// compactions go to the owner; everything else is answered as by a closed session. It ends when
    /// the owner's does, unless a window opens that again at once, as for another model. Closing it
    /// leaves the owner's as it is.
    pub session: Session,
    /// What is fixed of it.
    pub header: SessionHeader,
    /// Who has it open.
    pub owner: OwnerKind,
    /// Whether its turn was left by an earlier process, and nothing of it runs before somebody goes on
    /// with it, here ([`Session::resume`]) or there.
    pub is_left: bool,
    /// What tools ask.
    pub questions: mpsc::Receiver<GuestQuestion>,
}

/// A question of a tool, and where its answer goes.
pub struct GuestQuestion {
    /// The question.
    pub question: Question,
    /// Takes the answer, `None` for none. Closed when nobody waits any more.
    pub answer: oneshot::Sender<Option<String>>,
}

/// Watches a session that another process has open. It needs a tokio runtime, which must be able to
/// keep time.
///
/// # Errors
/// When nobody has the session open, or it cannot be read.
pub async fn attach(store: &FileStore, id: &SessionId) -> Result<Attached, AttachError> {
    let mut follow = store.follow(id)?;
    let (hello, lines, write) = match tokio::time::timeout(HELLO_WITHIN, greet(store, id)).await {
        Ok(Ok(greeted)) => greeted,
        Ok(Err(Unwelcome::Full { .. })) => return Err(AttachError::Full(id.clone())),
        Ok(Err(Unwelcome::Other(error))) => return Err(error),
        Err(_) => return Err(AttachError::Silent(id.clone())),
    };
    let Hello { owner, process, seq, draft, is_left, .. } = hello;
    let mut state = State::new();
    follow.read_to(seq, |entry| state.apply(&entry))?;
    let mut view = state.view();
    if let Some(turn) = &mut view.turn {
        turn.draft = draft;
    }
    let (session, distant) = Distant::new(id.clone(), view);
    let (asks, questions) = mpsc::channel(QUESTIONS_MAX);
    let header = follow.header().clone();
    let mirror = Mirror {
        place: Place { store: store.clone(), id: id.clone(), owner, process },
        distant,
        state,
        follow,
        wishes: written(write),
        asks,
        number: 0,
        waiters: HashMap::new(),
        answers: FuturesUnordered::new(),
        asked: HashMap::new(),
    };
    tokio::spawn(mirror.run(lines));
    Ok(Attached { session, header, owner, is_left, questions })
}

/// The owner's first line.
pub(crate) struct Hello {
    pub(crate) owner: OwnerKind,
    /// The owner's process, where the system tells.
    pub(crate) process: Option<Pid>,
    pub(crate) seq: Seq,
    pub(crate) draft: String,
    pub(crate) waiting: usize,
    is_left: bool,
}

/// Why nobody is let in.
pub(crate) enum Unwelcome {
    /// There are enough guests.
    Full {
        owner: OwnerKind,
        waiting: usize,
    },
    Other(AttachError),
}

impl From<AttachError> for Unwelcome {
    fn from(error: AttachError) -> Self {
        Self::Other(error)
    }
}

/// Goes in, and hears the first line.
pub(crate) async fn greet(
    store: &FileStore,
    id: &SessionId,
) -> Result<(Hello, Lines<OwnedReadHalf>, OwnedWriteHalf), Unwelcome> {
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            AttachError::Unowned(id.clone())
        }
        io::ErrorKind::WouldBlock => AttachError::Silent(id.clone()),
        _ => AttachError::Io(id.clone(), error),
    };
    let stream = enter(&store.door_path(id)).await.map_err(refused)?;
    let process = stream.peer_cred().ok().and_then(|peer| Pid::from_raw(peer.pid()?));
    let (read, write) = stream.into_split();
    let mut lines = Lines::new(read);
    match lines.next().await {
        Ok(Some(Said::Hello { version: VERSION, owner, seq, draft, waiting, is_left })) => {
            Ok((Hello { owner, process, seq, draft, waiting, is_left }, lines, write))
        }
        Ok(Some(Said::Full { owner, waiting })) => Err(Unwelcome::Full { owner, waiting }),
        Ok(Some(_)) => Err(AttachError::Version(id.clone()).into()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(AttachError::Version(id.clone()).into())
        }
        // It has just ended.
        Ok(None) => Err(AttachError::Unowned(id.clone()).into()),
        Err(error) => Err(refused(error).into()),
    }
}

/// Who ended it.
enum Left {
    /// Whoever watches here.
    Here,
    /// The owner, with no turn running, and this model; or in the middle of one.
    There(Option<String>),
}

/// What is true of the owner's session, kept true.
pub(crate) struct Mirror {
    pub(crate) place: Place,
    pub(crate) distant: Distant,
    pub(crate) state: State,
    follow: Follow,
    pub(crate) wishes: mpsc::UnboundedSender<Vec<u8>>,
    asks: mpsc::Sender<GuestQuestion>,
    /// Counts the wishes.
    number: u64,
    /// As many as there are wishes without a reply.
    waiters: HashMap<u64, Waiter>,
    /// Answers of the person to questions.
    answers: FuturesUnordered<BoxFuture<Result<Option<Wish>, Aborted>>>,
    /// Ends the waiting for those nobody wants any more.
    asked: HashMap<u64, AbortHandle>,
}

impl Mirror {
    /// Runs until the owner's session has ended for good, or nobody watches here any more.
    async fn run(mut self, mut lines: Lines<OwnedReadHalf>) {
        loop {
            let followed = match self.follow(&mut lines).await {
                Ok(Left::Here) => return,
                Ok(Left::There(idle)) => self.enter_again(idle).await,
                Err(error) => Err(error),
            };
            match followed {
                Ok(Some(again)) => lines = again,
                Ok(None) => return,
                Err(error) => return self.complain(&error),
            }
        }
    }

    /// Keeps it true until one of the two leaves.
    async fn follow(&mut self, lines: &mut Lines<OwnedReadHalf>) -> Result<Left, StoreError> {
        loop {
            let has_room = self.waiters.len() < WISHES_MAX;
            tokio::select! {
                biased;
                // An owner that has left is asked for nothing more: another may come.
                said = lines.next::<Said>() => match said {
                    Ok(Some(said)) => self.hear(said)?,
                    // However it ended: what it wrote is there to be read.
                    Ok(None) | Err(_) => break,
                },
                command = self.distant.command(), if has_room => match command {
                    None => return Ok(Left::Here),
                    Some(Command::Close { done }) => {
                        let _ = done.send(());
                        return Ok(Left::Here);
                    }
                    Some(command) => self.take(command),
                },
                Some(answer) = self.answers.next() => {
                    if let Ok(Some(wish)) = answer {
                        self.wish(wish, Waiter::Nobody);
                    }
                }
            }
        }
        // As its owner left it: who opens it again may have written by now.
        let idle = self.state.turn.is_none().then(|| self.state.settings.model.name.clone());
        self.read_to(Seq::MAX)?;
        self.forget();
        Ok(Left::There(idle))
    }

    /// Nobody answers what was wished or is asked any more.
    fn forget(&mut self) {
        self.waiters.clear();
        self.asked.clear();
        self.answers.clear();
    }

    fn complain(&self, error: &StoreError) {
        let event = Event::Notice { text: error.to_string() };
        self.distant.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
    }

    /// Takes in what the owner says.
    fn hear(&mut self, said: Said) -> Result<(), StoreError> {
        match said {
            Said::Record { seq } => self.read_to(seq)?,
            Said::Live { agent, event } => {
                self.distant.publish([Envelope { seq: None, agent, event: event.event() }]);
            }
            Said::Behind { seq, draft } => {
                self.read_to(seq)?;
                self.catch_up(&draft);
            }
            Said::Question { number, question } => self.ask(number, question),
            Said::Answered { number } => {
                if let Some(asked) = self.asked.remove(&number) {
                    asked.abort();
                }
            }
            Said::Reply { number, reply } => {
                if let Some(waiter) = self.waiters.remove(&number) {
                    answer(waiter, reply);
                }
            }
            // Said once, at the beginning.
            Said::Hello { .. } | Said::Full { .. } => {}
        }
        Ok(())
    }

    /// Reads the journal up to a record, and tells what its records tell.
    pub(crate) fn read_to(&mut self, seq: Seq) -> Result<(), StoreError> {
        let Self { follow, state, distant, .. } = self;
        follow.read_to(seq, |entry: Entry| {
            let mut out = Announcer::collecting();
            state.apply_announcing(&entry, &mut out);
            let told = out.into_events().into_iter().map(|event| Envelope {
                seq: Some(entry.seq),
                agent: AgentPath::default(),
                event,
            });
            distant.publish(told);
        })
    }

    /// Tells what of the running attempt's text was missed.
    pub(crate) fn catch_up(&self, draft: &str) {
        let known = self.distant.view().turn.map(|turn| turn.draft).unwrap_or_default();
        if let Some(text) = draft.strip_prefix(&*known).filter(|text| !text.is_empty()) {
            let offset = known.len() as u64;
            let event = Event::TextDelta { block: 0, offset, text: text.to_owned() };
            self.distant.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
        }
    }

    fn ask(&mut self, number: u64, asked: Asked) {
        let Asked { agent, call, text, choices } = asked;
        let session = self.follow.header().id.clone();
        let to = InputOrigin::default();
        let question = Question { session, agent, call, to, text, choices };
        let (answer, answered) = oneshot::channel();
        // Whoever shows none, or too many already, leaves it to others.
        if self.asks.try_send(GuestQuestion { question, answer }).is_err() {
            return;
        }
        let (handle, registration) = AbortHandle::new_pair();
        self.asked.insert(number, handle);
        let waits = async move {
            let answer = answered.await.ok()?;
            Some(Wish::Answer { number, answer })
        };
        self.answers.push(Box::pin(Abortable::new(waits, registration)));
    }

    /// Sends a command to the owner, or answers it here. What is dropped is answered as by a closed
    /// session: the owner alone can do it.
    pub(crate) fn take(&mut self, command: Command) {
        let (wish, waiter) = match command {
            Command::Turn { input, done } => {
                (Wish::Turn { input: input.map(Box::new) }, Waiter::Ended(done))
            }
            Command::Steer { id, input, done } => {
                (Wish::Steer { id, input: Box::new(input) }, Waiter::Was(done))
            }
            Command::TakeBack { id, done } => (Wish::TakeBack { id }, Waiter::Was(done)),
            Command::Decide { id, decision, done, .. } => {
                let decision = Box::new(decision);
                (Wish::Decide { id, decision }, Waiter::Decided(id, done))
            }
            Command::Cancel { done } => (Wish::Cancel, Waiter::Done(done)),
            Command::Stop { done } => (Wish::Cancel, Waiter::Was(done)),
            Command::Compact { focus, done } => (Wish::Compact { focus }, Waiter::Was(done)),
            Command::UndoCompaction { done } => (Wish::UndoCompaction, Waiter::Was(done)),
            Command::Rename { name, done } => (Wish::Rename { name }, Waiter::Done(done)),
            Command::State { done } => {
                let _ = done.send(Box::new(self.state.clone()));
                return;
            }
            Command::CancelBackground { .. }
            | Command::AwaitBackground { .. }
            | Command::SetSystem { .. }
            | Command::SetTools { .. }
            | Command::SetSettings { .. }
            | Command::Watch { .. }
            | Command::Halt { .. }
            | Command::Close { .. } => return,
        };
        self.wish(wish, waiter);
    }

    fn wish(&mut self, wish: Wish, waiter: Waiter) {
        self.number += 1;
        let number = self.number;
        let mut line = Vec::new();
        // What a session takes can be written: the owner's journal will hold it.
        if push(&mut line, &Request { number, wish }).is_ok() && self.wishes.send(line).is_ok() {
            self.waiters.insert(number, waiter);
        }
    }
}
