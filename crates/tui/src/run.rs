//! The loop around a window: what happens goes in, what is to be done is done, the screen follows.

use std::collections::HashMap;
use std::io::{self, Stdout};
use std::path::PathBuf;
use std::sync::Arc;

use crossterm::event::{Event as TerminalEvent, EventStream};
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use heeler_core::{BoxFuture, Clock, Decision, PermissionId, Timestamp};
use heeler_engine::{Cursor, DecideError, Session, Turn};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::app::{Action, App, Happened, Opened, Start};
use crate::composer::{
    ComposerSettings, Draft, FileFinder, FoundFiles, HistoryFile, Kept, Submission,
};
use crate::host::{Asking, Facts, Host};
use crate::input;
use crate::screen::{Screen, TerminalModes, size};
use crate::text::Highlighter;
use crate::theme::Theme;

/// Milliseconds between two draws while the session tells something: fifty a second.
const FRAME_MILLIS: u64 = 20;
/// The most events that are taken in before the screen follows.
const EVENTS_AT_ONCE_MAX: usize = 1_000;
/// The most answers of the finder of files that wait.
const FOUND_MAX: usize = 16;
/// Who decided, in the journal.
const BY: &str = "terminal";

/// What a window needs beside its session.
pub struct Window {
    /// The program around it.
    pub host: Arc<dyn Host>,
    /// What it knows of itself.
    pub facts: Facts,
    /// Questions of tools.
    pub questions: mpsc::Receiver<Asking>,
    /// Colours.
    pub theme: Theme,
    /// Whether nothing moves by itself, for whoever has the screen read aloud.
    pub is_still: bool,
    /// How the composer reads keys.
    pub composer: ComposerSettings,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where what was written is kept, for the next session.
    pub history: HistoryFile,
    /// Whether a text holds a secret, and is not kept.
    pub is_secret: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// The folder whose files are offered behind `@`.
    pub folder: PathBuf,
    /// Resolves when the program is told to end.
    pub shutdown: BoxFuture<()>,
    /// Said at once, as if it had been written.
    pub prompt: Option<String>,
}

/// Shows a session until the person leaves; gives the session that was shown last, still open.
///
/// # Errors
/// When the terminal cannot be read or written any more, or the session broke off.
pub async fn run(session: Session, window: Window) -> io::Result<Session> {
    let Window {
        host,
        facts,
        questions,
        theme,
        is_still,
        composer,
        history,
        is_secret,
        folder,
        clock,
        shutdown,
        prompt,
    } = window;
    let opened = opened(&session).await?;
    let size = size();
    let now = clock.now();
    let colored = Arc::new(Notify::new());
    let colors = Arc::clone(&colored);
    let highlight = Arc::new(Highlighter::new(move || colors.notify_one()));
    let (finds, found) = mpsc::channel(FOUND_MAX);
    let app = App::new(Start { opened, facts, theme, is_still, highlight, composer, size }, now);
    let (_, cursor) = session.subscribe();
    let modes = TerminalModes::enter()?;
    let mut running = Running {
        app,
        session,
        cursor,
        host,
        clock,
        screen: Screen::new(io::stdout(), size.0, size.1),
        modes: Some(modes),
        keys: Some(EventStream::new()),
        turns: FuturesUnordered::new(),
        tasks: FuturesUnordered::new(),
        asked: HashMap::new(),
        n_asked: 0,
        history: Arc::new(history),
        is_secret,
        folder,
        finder: None,
        finds,
        is_between: false,
        drawn: None,
    };
    if let Some(prompt) = prompt {
        running.say(Draft::from(&*prompt).into()).await?;
    }
    running.recall();
    running.run(Sources { questions, shutdown, found, colored }).await?;
    running.screen.clear()?;
    Ok(running.session)
}

struct Running {
    app: App,
    session: Session,
    cursor: Cursor,
    host: Arc<dyn Host>,
    clock: Arc<dyn Clock>,
    screen: Screen<Stdout>,
    /// While the terminal is ours.
    modes: Option<TerminalModes>,
    keys: Option<EventStream>,
    /// Kept, since dropping one cancels it.
    turns: FuturesUnordered<Turn>,
    tasks: FuturesUnordered<BoxFuture<Done>>,
    /// Whom answers go to.
    asked: HashMap<u64, oneshot::Sender<Option<String>>>,
    n_asked: u64,
    history: Arc<HistoryFile>,
    is_secret: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    folder: PathBuf,
    /// From the first `@` on.
    finder: Option<FileFinder>,
    finds: mpsc::Sender<FoundFiles>,
    /// While one session is closed and the next not there yet.
    is_between: bool,
    /// When the screen was last drawn.
    drawn: Option<Timestamp>,
}

/// What is listened to beside keys, the session and tasks.
struct Sources {
    questions: mpsc::Receiver<Asking>,
    shutdown: BoxFuture<()>,
    found: mpsc::Receiver<FoundFiles>,
    /// More code has colours.
    colored: Arc<Notify>,
}

/// What a task came to.
enum Done {
    Nothing,
    Happened(Box<Happened>),
    Switched(Session),
    /// The session is closed and cannot be opened again, and why.
    Lost(String),
}

/// Whether the window stays.
#[derive(PartialEq, Eq)]
enum Flow {
    Stays,
    Ends,
}

/// What woke the loop.
enum Woken {
    Terminal(Option<io::Result<TerminalEvent>>),
    Session(Option<heeler_engine::Seen>),
    Asked(Box<Asking>),
    Done(Done),
    TurnEnded,
    Found(FoundFiles),
    Ticked,
    ShutDown,
}

impl Running {
    async fn run(&mut self, mut sources: Sources) -> io::Result<()> {
        self.draw()?;
        let mut is_dirty = false;
        loop {
            let now = self.clock.now();
            let due = match (is_dirty, self.drawn) {
                (true, Some(drawn)) => Some(drawn.plus(FRAME_MILLIS)),
                (true, None) => Some(now),
                (false, _) => self.app.wakes_at(now),
            };
            if is_dirty && due.is_some_and(|due| due <= now) {
                self.draw()?;
                is_dirty = false;
                continue;
            }
            let woken = self.wait(&mut sources, due).await;
            let is_key = matches!(woken, Woken::Terminal(_));
            if self.take(woken).await? == Flow::Ends {
                return Ok(());
            }
            is_dirty = true;
            if is_key {
                // Who presses a key sees what it did at once.
                self.draw()?;
                is_dirty = false;
            }
        }
    }

    async fn wait(&mut self, sources: &mut Sources, due: Option<Timestamp>) -> Woken {
        let Sources { questions, shutdown, found, colored } = sources;
        let clock = Arc::clone(&self.clock);
        let ticks = async move {
            match due {
                Some(due) => clock.sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        let keys = &mut self.keys;
        let key = async move {
            match keys {
                Some(keys) => keys.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            event = key => Woken::Terminal(event),
            () = shutdown => Woken::ShutDown,
            Some(asking) = questions.recv() => Woken::Asked(Box::new(asking)),
            Some(done) = self.tasks.next(), if !self.tasks.is_empty() => Woken::Done(done),
            seen = self.cursor.next(), if !self.is_between => Woken::Session(seen),
            Some(_) = self.turns.next(), if !self.turns.is_empty() => Woken::TurnEnded,
            Some(found) = found.recv() => Woken::Found(found),
            () = colored.notified() => Woken::Ticked,
            () = ticks => Woken::Ticked,
        }
    }

    async fn take(&mut self, woken: Woken) -> io::Result<Flow> {
        match woken {
            Woken::Terminal(None) | Woken::ShutDown => return Ok(Flow::Ends),
            Woken::Terminal(Some(Err(error))) => return Err(error),
            Woken::Terminal(Some(Ok(event))) => {
                if let Some(happened) = happened(event) {
                    return self.happen(happened).await;
                }
            }
            Woken::Session(None) => {
                return Err(io::Error::other("the session ended by itself"));
            }
            Woken::Session(Some(seen)) => {
                let mut next = Some(seen);
                for _ in 0..EVENTS_AT_ONCE_MAX {
                    let Some(seen) = next.take() else { break };
                    if self.happen(Happened::Seen(seen)).await? == Flow::Ends {
                        return Ok(Flow::Ends);
                    }
                    next = self.cursor.try_next();
                }
                if let Some(seen) = next {
                    return self.happen(Happened::Seen(seen)).await;
                }
            }
            Woken::Asked(asking) => {
                let Asking { question, answer } = *asking;
                self.n_asked += 1;
                let id = self.n_asked;
                self.asked.insert(id, answer);
                return self.happen(Happened::Asked(id, Box::new(question))).await;
            }
            Woken::Found(found) => return self.happen(Happened::Found(found)).await,
            Woken::Done(Done::Nothing) | Woken::TurnEnded => {}
            Woken::Done(Done::Happened(what)) => return self.happen(*what).await,
            Woken::Done(Done::Lost(why)) => return Err(io::Error::other(why)),
            Woken::Done(Done::Switched(session)) => return self.switch(session).await,
            Woken::Ticked => {
                self.forget_unasked().await?;
                return self.happen(Happened::Ticked).await;
            }
        }
        Ok(Flow::Stays)
    }

    async fn happen(&mut self, what: Happened) -> io::Result<Flow> {
        for action in self.app.happen(what, self.clock.now()) {
            if self.perform(action).await? == Flow::Ends {
                return Ok(Flow::Ends);
            }
        }
        Ok(Flow::Stays)
    }

    async fn perform(&mut self, action: Action) -> io::Result<Flow> {
        let session = self.session.clone();
        match action {
            Action::Say(submission) => self.say(*submission).await?,
            Action::Steer(id, submission) => match input::of(*submission).await {
                Ok(input) => self.task(async move {
                    match session.steer(id, input).await {
                        Ok(()) => Done::Nothing,
                        Err(error) => told(Err(error.to_string())),
                    }
                }),
                Err(why) => self.tell(Err(why)),
            },
            Action::TakeBack(id) => self.task(async move {
                let was_queued = session.take_back(id.clone()).await.unwrap_or_default();
                Done::Happened(Box::new(Happened::TakenBack(id, was_queued)))
            }),
            Action::Resume => self.turns.push(session.resume()),
            Action::Cancel => self.task(async move {
                session.cancel().await;
                Done::Nothing
            }),
            Action::Decide(id, decision) => self.decide(id, decision),
            Action::Look(id, path) => {
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
            Action::Answer(id, answer) => {
                if let Some(waits) = self.asked.remove(&id) {
                    // A call that ended meanwhile waits no more.
                    let _ = waits.send(answer);
                }
            }
            Action::Set(settings) => {
                self.app.set(&settings);
                self.task(async move {
                    match session.set_settings(*settings).await {
                        Ok(()) => Done::Nothing,
                        Err(error) => told(Err(error.to_string())),
                    }
                });
            }
            Action::Compact => self.task(async move {
                match session.compact().await {
                    Ok(_) => Done::Nothing,
                    Err(error) => told(Err(error.to_string())),
                }
            }),
            Action::Clear => {
                let created = self.host.create();
                self.task(created.map(switched));
            }
            Action::Open(id) if id == *self.session.id() => {
                self.tell(Ok("this is that session".into()));
            }
            Action::Open(id) => {
                let opened = self.host.open(id, None);
                self.task(opened.map(switched));
            }
            Action::List => {
                let sessions = self.host.sessions();
                self.task(sessions.map(|rows| match rows {
                    Ok(rows) => Done::Happened(Box::new(Happened::Sessions(rows))),
                    Err(why) => told(Err(why)),
                }));
            }
            Action::Model(name) => {
                let (host, id) = (Arc::clone(&self.host), session.id().clone());
                self.task(async move {
                    let model = match host.model(name).await {
                        Ok(model) => model,
                        Err(why) => return told(Err(why)),
                    };
                    // Its owner alone opens a session, so the one before has to let go of it.
                    session.close().await;
                    match host.open(id, Some(model)).await {
                        Ok(session) => Done::Switched(session),
                        Err(why) => Done::Lost(why),
                    }
                });
                self.is_between = true;
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
                self.task(answer.map(told));
            }
            Action::Edit(text) => return self.edit(text).await,
            Action::Find(query) => self.find(&query),
            Action::Remember(draft) => self.remember(draft),
            Action::Redraw => return self.redraw(),
            Action::Suspend => {
                self.leave()?;
                input::suspend()?;
                self.rejoin()?;
            }
            Action::Quit => return Ok(Flow::Ends),
        }
        Ok(Flow::Stays)
    }

    fn task(&self, task: impl Future<Output = Done> + Send + 'static) {
        self.tasks.push(Box::pin(task));
    }

    fn tell(&self, answer: Result<String, String>) {
        self.task(std::future::ready(told(answer)));
    }

    async fn say(&mut self, submission: Submission) -> io::Result<()> {
        match input::of(submission).await {
            Ok(input) => {
                if let Some(changed) = self.host.before_input(self.session.clone()).await {
                    self.tell(Ok(changed));
                }
                self.turns.push(self.session.turn(input));
            }
            Err(why) => self.tell(Err(why)),
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
                // Somebody else was first: the events say what became of it.
                Err(DecideError::NotOpen(_)) => Done::Nothing,
                Err(error @ DecideError::Closed) => told(Err(error.to_string())),
            }
        });
    }

    /// Reads what was written in earlier sessions.
    fn recall(&self) {
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

    fn remember(&self, draft: Draft) {
        let (history, is_secret) = (Arc::clone(&self.history), Arc::clone(&self.is_secret));
        self.task(async move {
            let append = move || history.append(&draft, |text| is_secret(text));
            match tokio::task::spawn_blocking(append).await {
                Ok(Ok(Kept::Yes | Kept::No | Kept::TooLong)) | Err(_) => Done::Nothing,
                Ok(Err(error)) => told(Err(format!("this is not kept for later: {error}"))),
            }
        });
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

    /// Shows another session and closes the one before.
    async fn switch(&mut self, session: Session) -> io::Result<Flow> {
        let opened = opened(&session).await?;
        let (_, cursor) = session.subscribe();
        let before = std::mem::replace(&mut self.session, session);
        self.cursor = cursor;
        self.is_between = false;
        self.turns = FuturesUnordered::new();
        self.asked.clear();
        before.close().await;
        self.happen(Happened::Opened(Box::new(opened))).await
    }

    /// Takes questions away that nobody waits for any more.
    async fn forget_unasked(&mut self) -> io::Result<()> {
        let gone: Vec<u64> =
            self.asked.iter().filter(|(_, waits)| waits.is_closed()).map(|(id, _)| *id).collect();
        for id in gone {
            self.asked.remove(&id);
            self.happen(Happened::Unasked(id)).await?;
        }
        Ok(())
    }

    async fn edit(&mut self, text: String) -> io::Result<Flow> {
        self.leave()?;
        let edited = self.host.edit(text).await;
        self.rejoin()?;
        match edited {
            Ok(text) => self.happen_boxed(Happened::Edited(text)).await,
            Err(why) => {
                self.tell(Err(why));
                self.happen_boxed(Happened::Edited(None)).await
            }
        }
    }

    /// As `happen`, where it is asked for from within.
    fn happen_boxed(
        &mut self,
        what: Happened,
    ) -> std::pin::Pin<Box<dyn Future<Output = io::Result<Flow>> + '_>> {
        Box::pin(self.happen(what))
    }

    /// Gives the terminal to somebody else.
    fn leave(&mut self) -> io::Result<()> {
        self.screen.clear()?;
        self.keys = None;
        self.modes = None;
        Ok(())
    }

    fn rejoin(&mut self) -> io::Result<()> {
        self.modes = Some(TerminalModes::enter()?);
        self.keys = Some(EventStream::new());
        let (width, height) = size();
        self.app.resized(width, height, self.clock.now());
        self.screen.resume(width, height);
        Ok(())
    }

    /// Writes the screen anew, at the size it has now.
    fn redraw(&mut self) -> io::Result<Flow> {
        let (width, height) = size();
        let tail = self.app.resized(width, height, self.clock.now());
        self.screen.restart(width, height, &tail)?;
        Ok(Flow::Stays)
    }

    fn draw(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        self.drawn = Some(now);
        match self.app.page(now) {
            Some((page, cursor)) => self.screen.draw_page(&page, cursor),
            None => self.screen.draw(self.app.frame(now)),
        }
    }
}

/// What a terminal's event is to the window.
fn happened(event: TerminalEvent) -> Option<Happened> {
    match event {
        TerminalEvent::Key(key) => Some(Happened::Key(key)),
        TerminalEvent::Paste(text) => Some(Happened::Pasted(text)),
        TerminalEvent::Resize(width, height) => Some(Happened::Resized(width, height)),
        TerminalEvent::FocusGained | TerminalEvent::FocusLost | TerminalEvent::Mouse(_) => None,
    }
}

fn told(answer: Result<String, String>) -> Done {
    Done::Happened(Box::new(Happened::Answered(answer)))
}

fn switched(session: Result<Session, String>) -> Done {
    match session {
        Ok(session) => Done::Switched(session),
        Err(why) => told(Err(why)),
    }
}

async fn opened(session: &Session) -> io::Result<Opened> {
    let state = session.state().await.map_err(io::Error::other)?;
    Ok(Opened {
        id: session.id().clone(),
        view: state.view(),
        tokens: state.estimate(),
        is_unfinished: state.turn.is_some(),
        settings: state.settings,
    })
}
