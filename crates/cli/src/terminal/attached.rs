//! The window of `heeler attach`: a session that another process has open.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use heeler_assembly::{Environment, Permission, hidden, home_folder, keep_rule};
use heeler_attach::{Attached, GuestQuestion};
use heeler_core::{BoxFuture, Mode, Rule, SessionId};
use heeler_engine::{Session, SystemClock};
use heeler_settings::{Keep, Loaded};
use heeler_store::FileStore;
use heeler_tui::app::Topic;
use heeler_tui::composer::HistoryFile;
use heeler_tui::host::{
    Asking, Changed, Edited, Facts, Glance, Host, ModeOnward, SessionRow, Told,
};
use heeler_tui::theme::{Background, Theme};
use heeler_tui::{Window, run as run_window};
use tokio::sync::mpsc;

use super::{QUESTIONS_MAX, Shutdown, clipboard, continued, editor, host, look, stored, tell};
use crate::exec::{END_PATIENCE, ENDED_IN_A_TURN};
use crate::exit::Exit;
use crate::say::{say, say_within, told};

/// Why a guest cannot do something; the window does not ask for it.
const OWNERS: &str = "that is for the terminal that has this session open";

/// Shows the session until the person leaves, or it ends.
pub(crate) async fn show(
    attached: Attached,
    environment: Environment,
    store: FileStore,
) -> Result<Exit> {
    let Attached { session, header, is_left, questions, .. } = attached;
    let home = home_folder(&environment)?;
    let workspace = PathBuf::from(header.workspace);
    let loaded = looked_at(&environment, &workspace);
    let tui = loaded.preferences().tui;
    let facts = Facts {
        folder: workspace.display().to_string(),
        branch: host::branch(&workspace),
        status: tui.status.clone(),
        is_guest: true,
        is_left,
    };
    let (secrets, unread) = hidden(&environment, &loaded);
    if let Some(unread) = unread {
        say(format_args!("heeler: {unread}"));
    }
    let guest = Guest {
        environment: environment.clone(),
        store: store.clone(),
        workspace: workspace.clone(),
        background: Arc::default(),
    };
    let shutdown = Shutdown::listen()?;
    let window = Window {
        facts,
        questions: asked(questions),
        theme: look::theme_of(&tui, &environment, &home, None)?,
        is_plain: tui.plain,
        rings: tui.bell,
        asks_background: look::asks_background(&tui, &environment),
        composer: look::composer(&tui),
        history: HistoryFile::new(home.join("history.jsonl")),
        is_secret: Arc::new(move |text| !secrets.find(text).is_empty()),
        folder: workspace,
        host: Arc::new(guest),
        clock: Arc::new(SystemClock),
        shutdown: shutdown.comes(),
        continued: continued()?,
        prompt: None,
    };
    let (session, shown, _) = run_window(session, window).await;
    let mut exit = shutdown.exit(shown)?;
    let id = session.id().clone();
    let has_ended = tokio::select! {
        biased;
        () = session.closed() => true,
        () = std::future::ready(()) => false,
    };
    let told = if has_ended {
        let ended = if session.subscribe().0.turn.is_some() {
            exit = if exit == Exit::Done { Exit::Failure } else { exit };
            ENDED_IN_A_TURN
        } else {
            "the session was closed where it was open"
        };
        match store.journal_path(&id).try_exists() {
            Ok(false) => format!("heeler: {ended}; it was removed meanwhile"),
            _ => format!("heeler: {ended}; `heeler --resume {id}` goes on with it"),
        }
    } else {
        format!("heeler: the session goes on; `heeler attach {id}` shows it again")
    };
    say_within(END_PATIENCE, told);
    session.close().await;
    Ok(exit)
}

/// What the settings say of how the window looks and of what is secret, as far as they can be read: the
/// session runs by its owner's.
fn looked_at(environment: &Environment, workspace: &std::path::Path) -> Loaded {
    match Permission::default().look(environment, workspace) {
        Ok((_, loaded)) => {
            for mistake in &loaded.mistakes {
                say(format_args!("heeler: passed over: {mistake}"));
            }
            loaded
        }
        Err(error) => {
            say(format_args!("heeler: the settings are passed over: {error}"));
            Loaded::default()
        }
    }
}

/// The questions as the window takes them.
fn asked(mut questions: mpsc::Receiver<GuestQuestion>) -> mpsc::Receiver<Asking> {
    let (asks, asked) = mpsc::channel(QUESTIONS_MAX);
    tokio::spawn(async move {
        while let Some(GuestQuestion { question, answer }) = questions.recv().await {
            if asks.send(Asking { question, answer }).await.is_err() {
                return;
            }
        }
    });
    asked
}

/// The program around the window.
#[derive(Clone)]
struct Guest {
    environment: Environment,
    store: FileStore,
    workspace: PathBuf,
    /// What the terminal said of its background; it is asked where that matters.
    background: Arc<OnceLock<Background>>,
}

fn refused<T: Send + 'static>() -> BoxFuture<Result<T, String>> {
    Box::pin(std::future::ready(Err(OWNERS.to_owned())))
}

impl Host for Guest {
    fn create(&self, _: Mode) -> BoxFuture<Result<Session, String>> {
        refused()
    }

    fn open(
        &self,
        _: SessionId,
        _: Option<String>,
        _: ModeOnward,
    ) -> BoxFuture<Result<Session, String>> {
        refused()
    }

    fn sessions(&self) -> BoxFuture<Result<Vec<SessionRow>, String>> {
        refused()
    }

    fn find(&self, _: String) -> BoxFuture<Result<SessionId, String>> {
        refused()
    }

    fn glance(&self, _: SessionId) -> BoxFuture<Result<Glance, String>> {
        refused()
    }

    fn fork(&self, _: SessionId, _: Option<u32>) -> BoxFuture<Result<SessionId, String>> {
        refused()
    }

    fn export(&self, id: SessionId, file: Option<String>) -> BoxFuture<Result<String, String>> {
        let Self { environment, store, workspace, .. } = self.clone();
        let export = async move || {
            stored::export(&store, id, &workspace, environment.get("HOME")?, file).await
        };
        Box::pin(stored::away(export))
    }

    fn model(&self, _: String) -> BoxFuture<Result<String, String>> {
        refused()
    }

    fn before_input(&self, _: Session) -> BoxFuture<Changed> {
        Box::pin(std::future::ready(Changed::default()))
    }

    fn keep_rule(&self, rule: Rule) -> BoxFuture<Result<String, String>> {
        let Self { environment, workspace, .. } = self.clone();
        Box::pin(async move {
            keep_rule(&environment, &workspace, Keep::Here, &rule)
                .map_err(|error| format!("the rule counts for this session alone: {error}"))?;
            Ok(format!("kept for this folder: {rule}"))
        })
    }

    fn edit(&self, text: String) -> BoxFuture<Edited> {
        editor::edited(&self.environment, text)
    }

    fn copied_image(&self) -> BoxFuture<Result<Vec<u8>, String>> {
        clipboard::image(&self.environment)
    }

    fn theme(&self, name: String) -> Result<Theme, String> {
        let home = home_folder(&self.environment).map_err(|error| error.to_string())?;
        let background = self.background.get().copied();
        look::theme(&name, &self.environment, &home, background).map_err(|error| told(&error))
    }

    fn background(&self, background: Background) -> Option<Theme> {
        // Asked once; a second answer says the same.
        let _ = self.background.set(background);
        (background == Background::Light).then(Theme::light)
    }

    fn tell(&self, topic: Topic, session: Session) -> BoxFuture<Result<Told, String>> {
        let Self { environment, workspace, .. } = self.clone();
        Box::pin(async move {
            let text = tell::tell_guest(topic, (&environment, &workspace), &session).await;
            text.map_err(|error| told(&error))?.ok_or_else(|| OWNERS.to_owned())
        })
    }
}
