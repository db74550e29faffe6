//! `heeler` in a terminal: a session as a person meets it.

mod attached;
mod bug;
mod changed;
mod clipboard;
mod editor;
mod first;
mod host;
mod look;
mod person;
mod stored;
mod tell;

use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result, bail};
use heeler_assembly::{Environment, Permission, Secrets, home_folder, open_store};
use heeler_attach::Questions;
use heeler_core::{BoxFuture, Clock as _, Mode};
use heeler_engine::{Session, SystemClock};
use heeler_settings::TuiPreferences;
use heeler_store::FileStore;
use heeler_tui::composer::HistoryFile;
use heeler_tui::host::{Asking, Facts};
use heeler_tui::{Window, run as run_window};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, mpsc, watch};

use crate::arguments::TerminalArguments;
use crate::demo;
use crate::exec::END_PATIENCE;
use crate::exec::choose;
use crate::exec::clean::Cleaning;
use crate::exit::Exit;
use crate::folder::workspace;
use crate::say::say_within;
pub(crate) use attached::show;
use first::First;
use host::{Program, TerminalHost};
use person::WindowPerson;

/// The most questions of tools that wait to be shown.
const QUESTIONS_MAX: usize = 64;

/// Runs `heeler` without a command.
pub(crate) fn run(arguments: Box<TerminalArguments>) -> Result<Exit> {
    let environment = Environment::of_this_process();
    check_terminal(&environment)?;
    let folder = workspace(arguments.cwd.as_deref())?;
    let permission = Permission {
        mode_default: Mode::Ask,
        interactive: true,
        ..arguments.permission.read("--permission-mode", arguments.permission_mode.as_deref())?
    };
    let store = open_store(&environment)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let ended = runtime.block_on(work(&arguments, environment, store, folder, permission));
    runtime.shutdown_timeout(END_PATIENCE);
    // The demo has a runtime of its own.
    ended.and_then(|exit| exit.map_or_else(demo::run, Ok))
}

/// A window needs a terminal whose cursor moves.
fn check_terminal(environment: &Environment) -> Result<()> {
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        bail!(
            "there is no terminal here; `heeler exec PROMPT` works without one, `heeler --help` lists \
             the rest"
        );
    }
    if environment.get("TERM")? == Some("dumb") {
        bail!("this terminal cannot move its cursor (TERM=dumb); `heeler exec PROMPT` needs none");
    }
    Ok(())
}

/// Works in a window until it is left; no exit stands for the demo.
async fn work(
    arguments: &TerminalArguments,
    environment: Environment,
    store: FileStore,
    folder: PathBuf,
    permission: Permission,
) -> Result<Option<Exit>> {
    let resume = arguments.resume.as_deref();
    let existing = choose::session(resume, arguments.continue_newest, &store, &folder).await?;
    if let Some(existing) = &existing {
        existing.check_stage(&environment)?;
    }
    let asked = arguments.cwd.is_some().then_some(&*folder);
    let own = existing.as_ref().map(|it| it.workspace(asked, arguments.fork)).transpose()?;
    let mut first = arguments.model.clone();
    if let Some(existing) = &existing {
        first = first.or_else(|| existing.model.clone());
    }
    let (asks, questions) = mpsc::channel(QUESTIONS_MAX);
    let questioned = Questions::default();
    let mut program = Program {
        environment,
        store: store.clone(),
        workspace: own.unwrap_or(folder),
        model: Mutex::new(arguments.model.clone()),
        fallback: arguments.fallback_model.clone(),
        permission,
        person: questioned.person(Some(WindowPerson::shared(asks))),
        questions: questioned,
        prompt: Mutex::default(),
        assembled: Mutex::default(),
        known: Mutex::default(),
        begun: Mutex::default(),
    };
    let (tui, facts, secrets) = match prepare_or_help(&mut program, &mut first).await? {
        ControlFlow::Continue(prepared) => prepared,
        ControlFlow::Break(exit) => return Ok(exit),
    };
    let host = TerminalHost::new(program);
    let goes_on = match existing {
        Some(existing) if arguments.fork => {
            Some(choose::in_its_place(&store, &existing.id, &host.workspace()).await?)
        }
        existing => existing.map(|it| it.id),
    };
    let session = match goes_on {
        Some(id) => host.go_on(id, first, None).await?,
        None => host.begin(None).await?,
    };
    show_until_left(arguments, &host, store, (session, questions), (tui, facts, secrets)).await
}

/// Shows a session in a window, and ends it with that.
async fn show_until_left(
    arguments: &TerminalArguments,
    host: &TerminalHost,
    store: FileStore,
    (session, questions): (Session, mpsc::Receiver<Asking>),
    (tui, facts, secrets): (TuiPreferences, Facts, Arc<Secrets>),
) -> Result<Option<Exit>> {
    let environment = Environment::of_this_process();
    let home = home_folder(&environment)?;
    let journals = store.clone();
    let cleaning = Cleaning::begin(store, SystemClock.now());
    let shutdown = Shutdown::listen()?;
    let window = Window {
        facts,
        questions,
        theme: look::theme_of(&tui, &environment, &home, None)?,
        asks_background: look::asks_background(&tui, &environment),
        is_plain: tui.plain,
        rings: tui.bell,
        composer: look::composer(&tui),
        history: HistoryFile::new(home.join("history.jsonl")),
        is_secret: Arc::new(move |text| !secrets.find(text).is_empty()),
        folder: host.workspace(),
        host: Arc::new(host.clone()),
        clock: Arc::new(SystemClock),
        shutdown: shutdown.comes(),
        continued: continued()?,
        prompt: arguments.prompt.clone(),
    };
    let (session, shown, ends) = run_window(session, window).await;
    // Also when the terminal is gone: what was done is kept, and nothing runs on.
    leave(session, &journals).await;
    host.remove_unsaid().await;
    if let Some(ended) = ends {
        say_within(END_PATIENCE, format_args!("heeler: ended in the background: {ended}"));
    }
    let exit = shutdown.exit(shown)?;
    cleaning.finish();
    Ok(Some(exit))
}

/// Prepares for the first model; without any key it is asked what to do about that. It may end with an exit,
/// or with none for the demo.
async fn prepare_or_help(
    program: &mut Program,
    first: &mut Option<String>,
) -> Result<ControlFlow<Option<Exit>, (TuiPreferences, Facts, Arc<Secrets>)>> {
    match program.prepare(first.clone()).await {
        Err(_) if first.is_none() && first::has_no_key(&program.environment) => {
            match first::help(&program.environment, &program.workspace).await? {
                First::KeyKept => {}
                First::Model(name) => *first = Some(name),
                First::Demo => return Ok(ControlFlow::Break(None)),
                First::Leave => return Ok(ControlFlow::Break(Some(Exit::Done))),
            }
            program.model = Mutex::new(first.clone());
            program.prepare(first.clone()).await.map(ControlFlow::Continue)
        }
        prepared => prepared.map(ControlFlow::Continue),
    }
}

/// Says how to go on, and closes the session: what runs is stopped, and everything is written.
async fn leave(session: Session, journals: &FileStore) {
    let id = session.id().clone();
    let (view, _) = session.subscribe();
    session.close().await;
    // Somebody may have taken it away meanwhile, which ended the session.
    if !view.messages.is_empty() && journals.journal_path(&id).exists() {
        say_within(
            END_PATIENCE,
            format_args!("heeler: `heeler --resume {id}` goes on with this session"),
        );
    }
}

/// Notified when the process goes on after it was stopped.
fn continued() -> Result<Arc<Notify>> {
    let kind = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
    let mut signals = signal(kind).context("cannot listen to signals")?;
    let notify = Arc::new(Notify::new());
    let notified = Arc::clone(&notify);
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            notified.notify_one();
        }
    });
    Ok(notify)
}

/// Whether the process was told to end.
struct Shutdown(watch::Receiver<bool>);

impl Shutdown {
    /// Listens from here on, also while a terminal that is gone ends the window.
    fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen to signals");
        let mut terminate = listen(SignalKind::terminate())?;
        let mut hang_up = listen(SignalKind::hangup())?;
        let mut interrupt = listen(SignalKind::interrupt())?;
        let (comes, came) = watch::channel(false);
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
                _ = interrupt.recv() => {}
            }
            comes.send_replace(true);
        });
        Ok(Self(came))
    }

    /// Resolves when it is.
    fn comes(&self) -> BoxFuture<()> {
        let mut came = self.0.clone();
        Box::pin(async move {
            // An error would be the end of the runtime, and with it of this.
            let _ = came.wait_for(|came| *came).await;
        })
    }

    /// How the program ends after its window: whoever told it to end need not hear that the terminal went
    /// with it.
    fn exit(&self, shown: io::Result<()>) -> Result<Exit> {
        if *self.0.borrow() {
            return Ok(Exit::Cancelled);
        }
        shown.context("the window ended")?;
        Ok(Exit::Done)
    }
}
