//! What the window asks for, done: beside the loop where it takes time, in it where order counts.

use std::io;
use std::sync::Arc;

use crossterm::event::{Event as TerminalEvent, EventStream};
use futures::{FutureExt as _, StreamExt as _};
use heeler_core::{Decision, Input, PermissionId, SteeringId, TurnOutcome};
use heeler_engine::{DecideError, Session};

use super::background::{self, Heard};
use super::switch::waiting;
use super::{Done, Flow, Running, works};
use crate::app::{Action, Happened};
use crate::composer::{Draft, FileFinder, Kept, Submission};
use crate::host::{Changed, Edited, Told};
use crate::input;
use crate::screen::{TerminalModes, size};

/// Who decided, in the journal.
const BY: &str = "terminal";
/// What makes a terminal ring.
const BELL: &str = "\x07";
/// A terminal that did not answer for so long does not know how.
const ANSWER_MILLIS: u64 = 1_000;
/// How long who leaves waits for the file of what was said, which may be on a slow disk.
const HISTORY_MILLIS: u64 = 1_000;
/// How long who leaves before that waits for the answer.
const LEAVE_ANSWER_MILLIS: u64 = 50;

impl Running {
    pub(super) async fn perform(&mut self, action: Action) -> io::Result<Flow> {
        let session = self.session.clone();
        match action {
            Action::Say(number, submission) => self.say(number, *submission).await?,
            Action::Steer(id, submission) => {
                let (input, is_guest) = (input::of(*submission).await, self.is_guest);
                self.task(async move {
                    match input {
                        Ok(input) => steered(&session, id, input, is_guest).await,
                        Err(why) => Done::happened(Happened::Steered(id, Err(why))),
                    }
                });
            }
            Action::AskWaiting => self.task(async move {
                let state = session.state().await;
                state.map_or(Done::Nothing, |state| {
                    Done::happened(Happened::Waiting(waiting(&state)))
                })
            }),
            Action::AskBackground => self.task(works::list(session)),
            Action::StopBackground(call) => self.task(works::stop(session, call)),
            Action::TakeBack(id) => self.task(async move {
                let was_queued = session.take_back(id.clone()).await.unwrap_or_default();
                Done::Happened(Box::new(Happened::TakenBack(id, was_queued)))
            }),
            Action::Resume => self.turns.push(Box::pin(session.resume().map(|_| None))),
            Action::Cancel => self.task(async move {
                // A closed session has nothing left to stop.
                let _ = session.stop().await;
                Done::Nothing
            }),
            Action::Decide(id, decision) => self.decide(id, decision),
            Action::Look(id, path) => self.look(id, path),
            Action::Answer(id, answer) => {
                let unheard = match self.asked.remove(&id) {
                    Some(waits) => waits.send(answer).err().flatten(),
                    None => answer,
                };
                // A call that ended meanwhile waits no more.
                if let Some(answer) = unheard {
                    return self.happen_boxed(Happened::Unheard(answer)).await;
                }
            }
            Action::Set(settings) => {
                self.app.set(&settings);
                self.task(async move { unless_wrong(session.set_settings(*settings).await) });
            }
            Action::UndoCompaction => {
                self.task(async move { unless_wrong(session.undo_compaction().await) });
            }
            Action::Compact(focus) => {
                self.task(async move { unless_wrong(session.compact(focus.as_deref()).await) });
            }
            Action::Clear => self.begin_another(),
            Action::Open(id) => self.open_another(id),
            Action::OpenMeant(text) => self.open_meant(text),
            Action::Fork(at) => self.fork(at),
            Action::Model(name) => self.ask_for_model(name),
            Action::Rename(name) => self.task(async move {
                match session.rename(Some(name.clone())).await {
                    Ok(()) => told(Ok(format!("this session is named {name}"))),
                    Err(error) => told(Err(error.to_string())),
                }
            }),
            Action::Export(file) => {
                let written = self.host.export(session.id().clone(), file);
                self.task(written.map(told));
            }
            Action::Glance(id) => {
                let glance = self.host.glance(id.clone());
                self.task(
                    glance.map(|glance| Done::Happened(Box::new(Happened::Glanced(id, glance)))),
                );
            }
            Action::List => {
                let sessions = self.host.sessions();
                self.task(sessions.map(|rows| match rows {
                    Ok(rows) => Done::Happened(Box::new(Happened::Sessions(rows))),
                    Err(why) => told(Err(why)),
                }));
            }
            Action::Theme(name) => match self.host.theme(name) {
                Ok(theme) => {
                    self.app.set_theme(theme);
                    return self.redraw();
                }
                Err(why) => self.tell(Err(why)),
            },
            Action::Tell(topic) => {
                let answer = self.host.tell(topic, session);
                let answered = |told| Done::Happened(Box::new(Happened::Answered(told)));
                self.task(answer.map(answered));
            }
            Action::Edit(text) => return self.edit(text).await,
            Action::PasteImage => {
                let image = self.host.copied_image();
                self.task(image.map(|image| match image {
                    Ok(bytes) => Done::Happened(Box::new(Happened::Copied(bytes))),
                    Err(why) => told(Err(why)),
                }));
            }
            Action::Find(query) => self.find(&query),
            Action::Remember(draft) => self.remember(draft),
            Action::Ring => self.screen.ask(BELL)?,
            Action::Redraw => return self.redraw(),
            Action::ScrollOut => self.screen.scroll_out()?,
            Action::Suspend => {
                if self.leave().await? {
                    input::suspend()?;
                    self.rejoin()?;
                }
            }
            Action::Quit => return Ok(Flow::Ends),
        }
        Ok(Flow::Stays)
    }

    pub(super) fn task(&self, task: impl Future<Output = Done> + Send + 'static) {
        self.tasks.push(Box::pin(task));
    }

    pub(super) fn tell(&self, answer: Result<String, String>) {
        self.task(std::future::ready(told(answer)));
    }

    async fn say(&mut self, number: u64, submission: Submission) -> io::Result<()> {
        let Some(submission) = self.switching.pass(submission) else { return Ok(()) };
        match input::of(submission).await {
            Ok(input) => {
                let Changed { words, settings, look } =
                    self.host.before_input(self.session.clone()).await;
                words.into_iter().for_each(|words| self.tell(words));
                settings.into_iter().for_each(|settings| self.app.set(&settings));
                look.into_iter().for_each(|look| self.app.restyle(*look));
                let turn = self.session.turn(input);
                let said = move |outcome| Some(Happened::Said(number, outcome));
                self.turns.push(Box::pin(turn.map(said)));
            }
            Err(why) => {
                self.tell(Err(why));
                let unsaid = Happened::Said(number, TurnOutcome::Cancelled);
                self.task(std::future::ready(Done::happened(unsaid)));
            }
        }
        Ok(())
    }

    fn decide(&self, id: PermissionId, decision: Decision) {
        let (session, host) = (self.session.clone(), Arc::clone(&self.host));
        self.task(async move {
            let kept = match &decision {
                Decision::Always { rule } => Some(rule.clone()),
                _ => None,
            };
            match session.decide(id, decision, BY).await {
                Ok(()) => match kept {
                    Some(rule) => told(host.keep_rule(rule).await),
                    None => Done::Nothing,
                },
                Err(DecideError::Unusable(id, why)) => {
                    Done::Happened(Box::new(Happened::Undecided(id, why)))
                }
                // Somebody else was first, or the call ended.
                Err(error @ (DecideError::NotOpen(_) | DecideError::Closed)) => {
                    told(Err(error.to_string()))
                }
            }
        });
    }

    /// Reads what a request would change.
    fn look(&self, id: PermissionId, path: String) {
        let path = self.folder.join(path);
        self.task(async move {
            let read = tokio::task::spawn_blocking(move || input::text_of(&path)).await;
            match read {
                Ok(Some(text)) => Done::Happened(Box::new(Happened::Looked(id, text))),
                // The tool itself says what is wrong with it.
                _ => Done::Nothing,
            }
        });
    }

    /// Reads what was written in earlier sessions.
    pub(super) fn recall(&self) {
        let history = Arc::clone(&self.history);
        self.task(async move {
            let read = tokio::task::spawn_blocking(move || history.load()).await;
            match read {
                Ok(Ok(drafts)) => Done::Happened(Box::new(Happened::Recalled(drafts))),
                Ok(Err(error)) => told(Err(format!("what was written before is lost: {error}"))),
                Err(_) => Done::Nothing,
            }
        });
    }

    pub(super) fn remember(&self, draft: Draft) {
        let (history, is_secret) = (Arc::clone(&self.history), Arc::clone(&self.is_secret));
        let append = move || history.append(&draft, |text| is_secret(text));
        // Begun here and now: who says it may leave with it.
        let appended = tokio::task::spawn_blocking(append);
        self.written.push(Box::pin(appended.map(|appended| match appended {
            Ok(Ok(Kept::Yes | Kept::No | Kept::TooLong)) | Err(_) => Done::Nothing,
            Ok(Err(error)) => told(Err(format!("this is not kept for later: {error}"))),
        })));
    }

    /// Before the end, lets what was said last get into the file.
    pub(super) async fn await_history(&mut self) {
        let over = self.clock.sleep_until(self.clock.now().plus(HISTORY_MILLIS));
        let all = async { while self.written.next().await.is_some() {} };
        tokio::select! {
            () = all => {}
            () = over => {}
        }
    }

    fn find(&mut self, query: &str) {
        let finder = self.finder.get_or_insert_with(|| {
            let finds = self.finds.clone();
            // A window that is gone wants no files.
            FileFinder::start(self.folder.clone(), move |found| drop(finds.blocking_send(found)))
        });
        if query.is_empty() {
            finder.refresh();
        }
        finder.ask(query);
    }

    async fn edit(&mut self, text: String) -> io::Result<Flow> {
        if !self.leave().await? {
            return self.happen_boxed(Happened::Edited(None)).await;
        }
        let Edited { text, wrong } = self.host.edit(text).await;
        let rejoined = self.rejoin();
        wrong.into_iter().for_each(|why| self.tell(Err(why)));
        // Also when the terminal went meanwhile: the history is to have it.
        let flow = self.happen_boxed(Happened::Edited(text)).await;
        rejoined?;
        flow
    }

    /// As `happen`, where it is asked for from within.
    pub(super) fn happen_boxed(
        &mut self,
        what: Happened,
    ) -> std::pin::Pin<Box<dyn Future<Output = io::Result<Flow>> + '_>> {
        Box::pin(self.happen(what))
    }

    /// Gives the terminal to somebody else; `false` when it takes nothing, and so stays ours.
    async fn leave(&mut self) -> io::Result<bool> {
        self.screen.clear()?;
        if !self.has_taken_all().await {
            return Ok(false);
        }
        self.keys = None;
        self.modes = None;
        Ok(true)
    }

    fn rejoin(&mut self) -> io::Result<()> {
        self.modes = Some(TerminalModes::enter()?);
        self.keys = Some(EventStream::new());
        let (width, height) = size();
        self.app.resized(width, height, self.clock.now());
        self.screen.resume(width, height);
        Ok(())
    }

    /// Asks the terminal for its background.
    pub(super) fn ask_background(&mut self) -> io::Result<()> {
        self.asked_background = Some(self.clock.now());
        self.screen.ask(background::QUESTION)
    }

    /// Before the terminal is given back, takes an answer that is on its way: a shell would read it as
    /// typed. One that was asked long ago knows none.
    pub(super) async fn await_background(&mut self) {
        let Some(asked) = self.asked_background else { return };
        let now = self.clock.now();
        let Some(keys) = self.keys.as_mut().filter(|_| now.since(asked) < ANSWER_MILLIS) else {
            return;
        };
        let over = self.clock.sleep_until(now.plus(LEAVE_ANSWER_MILLIS));
        tokio::pin!(over);
        loop {
            let event = tokio::select! {
                event = keys.next() => event,
                () = &mut over => return,
            };
            match event {
                Some(Ok(TerminalEvent::Key(key))) => {
                    if matches!(self.answers.hear(key), Heard::Answer(_)) {
                        return;
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            }
        }
    }

    /// Takes the terminal once more, of which nobody knows what it is like.
    pub(super) fn take_again(&mut self) -> io::Result<Flow> {
        if let Some(modes) = &self.modes {
            let marks = modes.take_again()?;
            self.screen.ask(&marks)?;
        }
        self.screen.share();
        self.redraw()
    }

    /// Writes the screen anew, at the size it has now.
    pub(super) fn redraw(&mut self) -> io::Result<Flow> {
        let (width, height) = size();
        // Also one that is as before: others were in between.
        let is_resized = self.app.resized_at().is_some() || (width, height) != self.screen.size();
        let tail = self.app.resized(width, height, self.clock.now());
        match (self.app.is_plain(), is_resized) {
            (true, _) => self.screen.go_on(width, height)?,
            (false, true) => self.screen.restart(width, height, &tail)?,
            (false, false) => self.screen.repaint(&tail)?,
        }
        Ok(Flow::Stays)
    }
}

/// Says it to the running turn, and sees what becomes of it.
async fn steered(session: &Session, id: SteeringId, input: Input, is_guest: bool) -> Done {
    let said = match session.steer(id.clone(), input).await {
        Ok(_) => Ok(session.subscribe().0.steering.contains(&id)),
        // Its end says what becomes of it.
        Err(_) if session.closed().now_or_never().is_some() => return Done::Nothing,
        Err(_) => Err("this was taken back before it was said".to_owned()),
    };
    // A guest hears of a record later than of what it is about.
    if said == Ok(false)
        && !is_guest
        && let Ok(state) = session.state().await
        && !state.knows_steering(&id)
    {
        // A hook kept it away, and said why.
        return Done::happened(Happened::TakenBack(id, true));
    }
    Done::happened(Happened::Steered(id, said))
}

/// Nothing is told of what went well and shows by itself.
fn unless_wrong<T>(done: Result<T, impl std::fmt::Display>) -> Done {
    match done {
        Ok(_) => Done::Nothing,
        Err(error) => told(Err(error.to_string())),
    }
}

pub(super) fn told(answer: Result<String, String>) -> Done {
    Done::Happened(Box::new(Happened::Answered(answer.map(Told::Text))))
}
