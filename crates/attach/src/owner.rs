//! The owner's side: lets others watch a session, and does what they wish.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use heeler_core::{BoxFuture, Envelope, View};
use heeler_engine::{Cursor, DecideError, Seen, Session, SessionError, Watched};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::door::Door;
use crate::lines::{Allowance, Lines, push};
use crate::live::Live;
use crate::questions::Questions;
use crate::wire::{Asked, OwnerKind, Reply, Request, Said, VERSION, Wish};

/// The most who watch one session from elsewhere at once.
pub const GUESTS_MAX: usize = 8;
/// The most wishes of a guest that wait for their end; more are read when these are done.
const WISHES_MAX: usize = 256;
/// How long nobody is let in after the system would not.
const AGAIN_AFTER: Duration = Duration::from_millis(100);
/// From so many bytes on nothing more is told before they are written: what waits behind them is the
/// log's to merge.
const WRITE_BYTES: usize = 256 * 1024;
/// Who decided, in the journal.
const BY: &str = "attached terminal";

/// Opens the door of a session, at the path its store names, until the session is closed. What others
/// do costs nothing before they come: there is a socket, and no thread or timer.
///
/// The session has to be [closed](Session::close): the door holds a handle to it. A guest reads events
/// by a cursor of its own, so a slow one holds nobody up.
///
/// # Errors
/// When the socket cannot be made; the session is none the worse for it.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn serve(
    session: &Session,
    path: PathBuf,
    owner: OwnerKind,
    questions: Questions,
) -> io::Result<()> {
    let door = Door::open(path)?;
    let allowance = Allowance::default();
    let host = Host { session: session.clone(), owner, questions, allowance };
    tokio::spawn(async move {
        let mut guests = JoinSet::new();
        let mut is_told = false;
        loop {
            tokio::select! {
                () = host.session.closed() => break,
                Some(_) = guests.join_next() => {}
                came = door.next() => match came {
                    Ok(stream) if guests.len() < GUESTS_MAX => {
                        guests.spawn(host.clone().receive(stream));
                    }
                    Ok(stream) => drop(guests.spawn(host.clone().refuse(stream))),
                    // Too many files are open, most likely, which passes.
                    Err(error) => {
                        if !std::mem::replace(&mut is_told, true) {
                            tracing::warn!(%error, "nobody can attach at the moment");
                        }
                        tokio::time::sleep(AGAIN_AFTER).await;
                    }
                },
            }
        }
        drop(door);
        // Each has seen the end of its cursor, or will not any more.
        guests.join_all().await;
    });
    Ok(())
}

/// A session that others may watch.
#[derive(Clone)]
struct Host {
    session: Session,
    owner: OwnerKind,
    questions: Questions,
    /// For what all guests say.
    allowance: Allowance,
}

impl Host {
    async fn refuse(self, mut stream: UnixStream) {
        let (view, _) = self.session.subscribe();
        let waiting = self.n_waiting(&view);
        let mut out = Vec::new();
        // Who does not listen need not know.
        if push(&mut out, &Said::Full { owner: self.owner, waiting }).is_ok() {
            let _ = stream.write_all(&out).await;
        }
    }

    /// How many requests and questions wait for an answer.
    fn n_waiting(&self, view: &View) -> usize {
        view.permissions.len() + self.questions.open().len()
    }

    async fn receive(self, stream: UnixStream) {
        let told = match self.session.watch().await {
            Ok(watched) => self.tell(stream, watched).await,
            Err(SessionError) => Ok(()),
        };
        if let Err(error) = told {
            tracing::info!(%error, "an attached terminal is gone");
        }
    }

    async fn tell(&self, stream: UnixStream, watched: Watched) -> io::Result<()> {
        let (read, mut write) = stream.into_split();
        let mut guest = Guest::new(self, read, watched)?;
        while guest.goes_on {
            write.write_all(&guest.out).await?;
            guest.out.clear();
            guest.next().await?;
        }
        write.write_all(&guest.out).await
    }
}

/// One who watches.
struct Guest<'a> {
    host: &'a Host,
    lines: Lines<OwnedReadHalf>,
    cursor: Cursor,
    changes: watch::Receiver<()>,
    /// Wishes that are being done.
    wishes: FuturesUnordered<BoxFuture<(u64, Reply)>>,
    /// The questions it knows of.
    asked: BTreeSet<u64>,
    /// The last record it was told of.
    told: u64,
    /// What is to be told.
    out: Vec<u8>,
    goes_on: bool,
}

impl<'a> Guest<'a> {
    fn new(host: &'a Host, read: OwnedReadHalf, watched: Watched) -> io::Result<Self> {
        let Watched { seq, view, is_left, cursor } = watched;
        let changes = host.questions.changes();
        let mut guest = Self {
            host,
            lines: Lines::within(host.allowance.clone(), read),
            cursor,
            changes,
            wishes: FuturesUnordered::new(),
            asked: BTreeSet::new(),
            told: seq,
            out: Vec::new(),
            goes_on: true,
        };
        let waiting = host.n_waiting(&view);
        let draft = view.turn.map(|turn| turn.draft).unwrap_or_default();
        guest.say(&Said::Hello {
            version: VERSION,
            owner: host.owner,
            seq,
            draft,
            waiting,
            is_left,
        })?;
        guest.ask()?;
        Ok(guest)
    }

    fn say(&mut self, said: &Said) -> io::Result<()> {
        push(&mut self.out, said)
    }

    /// Waits for something to say.
    async fn next(&mut self) -> io::Result<()> {
        let has_room = self.wishes.len() < WISHES_MAX;
        tokio::select! {
            biased;
            request = self.lines.next::<Request>(), if has_room => match request? {
                Some(request) => self.obey(request)?,
                None => self.goes_on = false,
            },
            Some((number, reply)) = self.wishes.next() => {
                self.say(&Said::Reply { number, reply })?;
            }
            Ok(()) = self.changes.changed() => self.ask()?,
            seen = self.cursor.next() => match seen {
                None => self.goes_on = false,
                Some(seen) => {
                    self.see(seen).await?;
                    while self.goes_on && self.out.len() < WRITE_BYTES {
                        let Some(seen) = self.cursor.try_next() else { break };
                        self.see(seen).await?;
                    }
                }
            },
        }
        Ok(())
    }

    async fn see(&mut self, seen: Seen) -> io::Result<()> {
        match seen {
            Seen::Event(envelope) => self.tell(&envelope),
            Seen::Resync(_) => {
                // The view alone does not say after which record it is.
                let Ok(Watched { seq, view, cursor, .. }) = self.host.session.watch().await else {
                    self.goes_on = false;
                    return Ok(());
                };
                self.cursor = cursor;
                self.told = seq;
                let draft = view.turn.map(|turn| turn.draft).unwrap_or_default();
                self.say(&Said::Behind { seq, draft })
            }
        }
    }

    fn tell(&mut self, envelope: &Envelope) -> io::Result<()> {
        match envelope.seq {
            Some(seq) if seq > self.told => {
                self.told = seq;
                self.say(&Said::Record { seq })
            }
            Some(_) => Ok(()),
            None => match Live::of(&envelope.event) {
                Some(event) => self.say(&Said::Live { agent: envelope.agent.clone(), event }),
                None => Ok(()),
            },
        }
    }

    /// Tells of questions that are new, and of those that are over.
    fn ask(&mut self) -> io::Result<()> {
        let open = self.host.questions.open();
        let over =
            self.asked.iter().filter(|known| open.iter().all(|(number, _)| number != *known));
        for number in over.copied().collect::<Vec<_>>() {
            self.asked.remove(&number);
            self.say(&Said::Answered { number })?;
        }
        for (number, question) in open {
            if self.asked.insert(number) {
                self.say(&Said::Question { number, question: Asked::of(&question) })?;
            }
        }
        Ok(())
    }

    /// Begins what a guest wishes, in the order in which it wishes.
    fn obey(&mut self, Request { number, wish }: Request) -> io::Result<()> {
        let mut done: BoxFuture<(u64, Reply)> =
            Box::pin(self.host.done(wish).map(move |reply| (number, reply)));
        match (&mut done).now_or_never() {
            Some((number, reply)) => self.say(&Said::Reply { number, reply })?,
            None => self.wishes.push(done),
        }
        Ok(())
    }
}

impl Host {
    /// Does what somebody wishes.
    fn done(&self, wish: Wish) -> BoxFuture<Reply> {
        let session = self.session.clone();
        match wish {
            Wish::Turn { input } => {
                // A task of its own: a turn that is dropped is cancelled, and whoever began this one may
                // leave.
                let turn = tokio::spawn(match input {
                    Some(input) => session.turn(*input),
                    None => session.resume(),
                });
                Box::pin(async move { turn.await.map_or(Reply::Closed, Reply::Ended) })
            }
            Wish::Answer { number, answer } => {
                let was_open = self.questions.answer(number, answer);
                Box::pin(std::future::ready(Reply::Was(was_open)))
            }
            Wish::Steer { id, input } => Box::pin(async move {
                session.steer(id, *input).await.map_or(Reply::Closed, Reply::Was)
            }),
            Wish::TakeBack { id } => {
                Box::pin(
                    async move { session.take_back(id).await.map_or(Reply::Closed, Reply::Was) },
                )
            }
            Wish::Decide { id, decision } => Box::pin(async move {
                match session.decide(id, *decision, BY).await {
                    Ok(()) => {
                        // A turn that an earlier process left goes on with it. One that runs is not
                        // changed by this; a task of its own, as above.
                        tokio::spawn(session.resume());
                        Reply::Done
                    }
                    Err(DecideError::NotOpen(_)) => Reply::NotOpen,
                    Err(DecideError::Unusable(_, why)) => Reply::Unusable(why),
                    Err(DecideError::Closed) => Reply::Closed,
                }
            }),
            // A person stops it, and whoever said what waits is not to go on in their place.
            Wish::Cancel => {
                Box::pin(async move { session.stop().await.map_or(Reply::Closed, Reply::Was) })
            }
            Wish::Compact { focus } => Box::pin(async move {
                let compacted = session.compact(focus.as_deref()).await;
                compacted.map_or(Reply::Closed, Reply::Was)
            }),
            Wish::UndoCompaction => Box::pin(async move {
                session.undo_compaction().await.map_or(Reply::Closed, Reply::Was)
            }),
            Wish::Rename { name } => Box::pin(async move {
                session.rename(name).await.map_or(Reply::Closed, |()| Reply::Done)
            }),
        }
    }
}
