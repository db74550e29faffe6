//! The loop around a window: what happens goes in, what is to be done is done, the screen follows.

mod background;
mod layout;
mod perform;
mod switch;
mod wait;
mod works;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crossterm::event::{Event as TerminalEvent, EventStream, KeyEvent};
use futures::stream::FuturesUnordered;
use heeler_core::{BoxFuture, Clock, Settings, Timestamp};
use heeler_engine::{Cursor, Seen, Session};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::app::{App, Happened, Start};
use crate::composer::{ComposerSettings, Draft, FileFinder, FoundFiles, HistoryFile};
use crate::host::{Asking, Facts, Host};
use crate::outlet::Outlet;
use crate::screen::{Screen, TerminalModes, size};
use crate::text::Highlighter;
use crate::theme::Theme;
use background::{Answers, Heard};
use switch::{Switching, opened};
use wait::{Sources, Tick, Woken};

/// Milliseconds between two draws while the session tells something: fifty a second.
const FRAME_MILLIS: u64 = 20;
/// A terminal that took what was drawn only after so long stood still until then. Less is within the
/// time that what is asked is to be seen before it takes keys.
const STILL_MILLIS: u64 = 250;
/// How long who leaves waits for a terminal that stands still.
const LEAVE_MILLIS: u64 = 1_000;
/// The most events that are taken in before the screen follows.
const EVENTS_AT_ONCE_MAX: usize = 1_000;
/// The most keys, of those that are there already.
const KEYS_AT_ONCE_MAX: usize = 1_000;
/// The most answers of the finder of files that wait.
const FOUND_MAX: usize = 16;

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
    /// Whether there are lines of words alone, for whoever has them read aloud.
    pub is_plain: bool,
    /// Whether the bell rings for whoever looked away, when something is asked or a turn is over.
    pub rings: bool,
    /// Whether the terminal is asked for its background, which may make other colours better.
    pub asks_background: bool,
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
    /// Notified when the program goes on after it was stopped, since whoever had the terminal
    /// meanwhile left it as it likes it.
    pub continued: Arc<Notify>,
    /// Said at once, as if it had been written.
    pub prompt: Option<String>,
}

/// Shows a session until the person leaves; gives the session that was shown last, still open, also
/// with an error: that the terminal cannot be read or written any more, or the session broke off. The
/// words name what runs in its background, and ends when it is closed.
pub async fn run(
    mut session: Session,
    window: Window,
) -> (Session, io::Result<()>, Option<String>) {
    let mut ends = None;
    let shown = show(&mut session, window, &mut ends).await;
    (session, shown, ends)
}

async fn show(session: &mut Session, window: Window, ends: &mut Option<String>) -> io::Result<()> {
    let Window {
        host,
        facts,
        questions,
        theme,
        is_plain,
        rings,
        asks_background,
        composer,
        history,
        is_secret,
        folder,
        clock,
        shutdown,
        continued,
        prompt,
    } = window;
    let is_guest = facts.is_guest;
    // What runs elsewhere is gone on with already.
    let (opened, cursor) = opened(session, !is_guest || facts.is_left).await?;
    let size = size();
    let now = clock.now();
    let colored = Arc::new(Notify::new());
    let colors = Arc::clone(&colored);
    let highlight = Arc::new(Highlighter::new(move || colors.notify_one()));
    let (finds, found) = mpsc::channel(FOUND_MAX);
    let app =
        App::new(Start { opened, facts, theme, is_plain, rings, highlight, composer, size }, now);
    let modes = TerminalModes::enter()?;
    let outlet = Outlet::standard(Arc::clone(&clock));
    let mut running = Running {
        app,
        session: session.clone(),
        is_guest,
        cursor,
        host,
        clock,
        screen: Screen::new(outlet, size.0, size.1),
        modes: Some(modes),
        keys: Some(EventStream::new()),
        turns: FuturesUnordered::new(),
        tasks: FuturesUnordered::new(),
        asked: HashMap::new(),
        n_asked: 0,
        history: Arc::new(history),
        written: FuturesUnordered::new(),
        is_secret,
        folder,
        finder: None,
        finds,
        switching: Switching::default(),
        drawn: None,
        answers: Answers::default(),
        asked_background: None,
        broke: None,
    };
    let sources = Sources { questions, shutdown, continued, found, colored };
    let shown = running.show(sources, prompt, asks_background).await;
    *ends = running.ends_with_it().await;
    *session = running.session;
    shown
}

struct Running {
    app: App,
    session: Session,
    /// Whether another process has it open.
    is_guest: bool,
    cursor: Cursor,
    host: Arc<dyn Host>,
    clock: Arc<dyn Clock>,
    /// Ends before the modes do: all is written before the terminal is given back.
    screen: Screen<Outlet>,
    /// While the terminal is ours.
    modes: Option<TerminalModes>,
    keys: Option<EventStream>,
    /// Kept, since dropping one cancels it.
    turns: FuturesUnordered<BoxFuture<Option<Happened>>>,
    tasks: FuturesUnordered<BoxFuture<Done>>,
    /// Whom answers go to.
    asked: HashMap<u64, oneshot::Sender<Option<String>>>,
    n_asked: u64,
    history: Arc<HistoryFile>,
    /// What is being written to it.
    written: FuturesUnordered<BoxFuture<Done>>,
    is_secret: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    folder: PathBuf,
    /// From the first `@` on.
    finder: Option<FileFinder>,
    finds: mpsc::Sender<FoundFiles>,
    switching: Switching,
    /// When the screen was last drawn.
    drawn: Option<Timestamp>,
    /// Finds what the terminal answers among keys.
    answers: Answers,
    /// When it was asked, as long as it did not answer.
    asked_background: Option<Timestamp>,
    /// Why there is no session any more.
    broke: Option<String>,
}

/// What a task came to.
enum Done {
    Nothing,
    Happened(Box<Happened>),
    /// A model of this name can be asked.
    Named(String),
    Switched(Session),
    /// A session that runs elsewhere has these settings now.
    Set(Box<Settings>),
    /// There is no other session to show, and why.
    Stayed(String),
    /// The session is closed and cannot be opened again, and why.
    Lost(String),
}

impl Done {
    fn happened(what: Happened) -> Self {
        Self::Happened(Box::new(what))
    }
}

/// Whether the window stays.
#[derive(PartialEq, Eq)]
enum Flow {
    Stays,
    Ends,
}

impl Running {
    /// Shows it from its first frame until it is taken away, and leaves nothing that would wait for the
    /// terminal. However it ends, also with the terminal, what is written and not said is in the history.
    async fn show(
        &mut self,
        sources: Sources,
        prompt: Option<String>,
        asks_background: bool,
    ) -> io::Result<()> {
        let shown = self.show_until_left(sources, prompt, asks_background).await;
        for draft in self.app.unsaid(self.clock.now()) {
            self.remember(draft);
        }
        self.await_history().await;
        let cleared = self.screen.clear();
        self.settle().await;
        shown?;
        match self.broke.take() {
            Some(why) => Err(io::Error::other(why)),
            None => cleared,
        }
    }

    async fn show_until_left(
        &mut self,
        sources: Sources,
        prompt: Option<String>,
        asks_background: bool,
    ) -> io::Result<()> {
        self.task(works::list(self.session.clone()));
        if let Some(prompt) = prompt {
            let given = Draft::from(&*prompt).into();
            self.happen(Happened::Given(Box::new(given))).await?;
        }
        self.recall();
        self.draw()?;
        if asks_background {
            // After the first frame, which waits for nobody.
            self.ask_background()?;
        }
        self.run(sources).await?;
        self.await_background().await;
        Ok(())
    }

    /// Waits until the terminal has taken all. One that takes nothing is given up: what runs is to be
    /// stopped, whether or not anybody looks.
    async fn settle(&mut self) {
        if !self.has_taken_all().await {
            self.screen.give_up();
            if let Some(modes) = self.modes.take() {
                modes.give_back_silently();
            }
        }
    }

    /// Whether the terminal takes all within the patience that whoever leaves has.
    async fn has_taken_all(&mut self) -> bool {
        let over = self.clock.sleep_until(self.clock.now().plus(LEAVE_MILLIS));
        tokio::select! {
            () = self.screen.out().idle() => true,
            () = over => false,
        }
    }

    async fn run(&mut self, mut sources: Sources) -> io::Result<()> {
        let mut is_dirty = false;
        // Who presses a key sees what it did at once.
        let mut is_urgent = false;
        loop {
            let now = self.clock.now();
            let resized = self.app.resized_at();
            let due = match (is_dirty, self.drawn) {
                _ if resized.is_some() => resized,
                (true, Some(drawn)) if !is_urgent => Some(drawn.plus(FRAME_MILLIS)),
                (true, _) => Some(now),
                (false, _) => self.app.wakes_at(now),
            };
            let is_due = is_dirty && resized.is_none() && due.is_some_and(|due| due <= now);
            if is_due && self.screen.out().is_idle() {
                self.draw()?;
                (is_dirty, is_urgent) = (false, false);
                continue;
            }
            // A terminal that is slow is shown the newest alone, and nothing else waits for it.
            let tick = if is_due { Tick::WhenShown } else { due.map_or(Tick::Never, Tick::At) };
            let woken = self.wait(&mut sources, tick).await;
            let is_key = matches!(woken, Woken::Terminal(_));
            if self.take(woken).await? == Flow::Ends {
                return Ok(());
            }
            if is_key && self.take_keys().await? == Flow::Ends {
                return Ok(());
            }
            is_dirty = true;
            is_urgent |= is_key;
        }
    }

    /// Takes the keys that are there already: who types faster than the screen is drawn, as a program
    /// does, and a paste at a terminal without marks for it, sees them together.
    async fn take_keys(&mut self) -> io::Result<Flow> {
        for _ in 1..KEYS_AT_ONCE_MAX {
            let Some(woken) = self.terminal_has().await else { break };
            if self.take(woken).await? == Flow::Ends {
                return Ok(Flow::Ends);
            }
        }
        Ok(Flow::Stays)
    }

    async fn take(&mut self, woken: Woken) -> io::Result<Flow> {
        match woken {
            Woken::Terminal(None) | Woken::ShutDown => return Ok(Flow::Ends),
            Woken::Terminal(Some(Err(error))) => return Err(error),
            Woken::Terminal(Some(Ok(TerminalEvent::Key(key)))) => return self.hear(key).await,
            Woken::Terminal(Some(Ok(event))) => {
                if let Some(happened) = happened(event) {
                    return self.happen(happened).await;
                }
            }
            // It went on elsewhere, and ended there.
            Woken::Session(None) if self.is_guest => return self.end().await,
            Woken::Session(None) => return self.break_off().await,
            Woken::Session(Some(seen)) => return self.see(seen).await,
            Woken::Asked(asking) => {
                let Asking { question, answer } = *asking;
                self.n_asked += 1;
                let id = self.n_asked;
                // Calls that ended wait no more; the window knows by their events.
                self.asked.retain(|_, waits| !waits.is_closed());
                self.asked.insert(id, answer);
                return self.happen(Happened::Asked(id, Box::new(question))).await;
            }
            Woken::Found(found) => return self.happen(Happened::Found(found)).await,
            Woken::TurnEnded(Some(said)) => return self.happen(said).await,
            Woken::Done(Done::Set(settings)) => self.app.set(&settings),
            Woken::Done(Done::Nothing) | Woken::TurnEnded(None) => {}
            Woken::Done(Done::Happened(what)) => return self.happen(*what).await,
            Woken::Done(Done::Named(model)) => return self.reopen(model).await,
            Woken::Done(Done::Switched(session)) => return self.switch(session).await,
            Woken::Done(Done::Stayed(why)) => return self.stay(why).await,
            Woken::Done(Done::Lost(why)) => return self.lose(why).await,
            Woken::Ticked => return self.happen(Happened::Ticked).await,
            Woken::Continued => return self.take_again(),
        }
        Ok(Flow::Stays)
    }

    /// Takes what the session told, and what of it is there already.
    async fn see(&mut self, seen: Seen) -> io::Result<Flow> {
        let mut next = Some(seen);
        for _ in 0..EVENTS_AT_ONCE_MAX {
            let Some(seen) = next.take() else { break };
            if self.is_guest && switch::may_change_settings(&seen) {
                self.task(switch::settings(self.session.clone()));
            }
            if self.happen(Happened::Seen(seen)).await? == Flow::Ends {
                return Ok(Flow::Ends);
            }
            next = self.cursor.try_next();
        }
        match next {
            Some(seen) => self.happen(Happened::Seen(seen)).await,
            None => Ok(Flow::Stays),
        }
    }

    /// Tells the window until when the terminal stood still, if it did: what was drawn was not seen then.
    fn note_delay(&mut self, now: Timestamp) {
        let shown = self.screen.out().idle_since().unwrap_or(now);
        if self.drawn.is_some_and(|drawn| shown.since(drawn) >= STILL_MILLIS) {
            self.app.unseen(shown);
        }
    }

    /// Takes a key, or what a terminal answers in the form of keys.
    async fn hear(&mut self, key: KeyEvent) -> io::Result<Flow> {
        let now = self.clock.now();
        self.note_delay(now);
        match self.answers.hear(layout::latin(key)) {
            Heard::Held => {}
            Heard::Keys(keys) => {
                for key in keys {
                    if self.happen(Happened::Key(key)).await? == Flow::Ends {
                        return Ok(Flow::Ends);
                    }
                }
            }
            Heard::Answer(background) => {
                let was_asked = self.asked_background.take().is_some();
                let background = background.filter(|_| was_asked);
                if let Some(theme) = background.and_then(|it| self.host.background(it)) {
                    self.app.set_theme(theme);
                    return self.redraw();
                }
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

    fn draw(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        self.note_delay(now);
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
        // Heard before.
        TerminalEvent::Key(_) => None,
        TerminalEvent::Paste(text) => Some(Happened::Pasted(text)),
        TerminalEvent::Resize(width, height) => Some(Happened::Resized(width, height)),
        TerminalEvent::FocusGained | TerminalEvent::FocusLost | TerminalEvent::Mouse(_) => None,
    }
}
