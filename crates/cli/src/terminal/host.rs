//! What the window asks of the program: sessions, models, rules.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use heeler_assembly::{
    Assembly, Environment, ModelChoice, Permission, Sandbox, Secrets, Setup, SystemPrompt,
    home_folder, keep_rule,
};
use heeler_attach::{OwnerKind, Questions, serve};
use heeler_core::{BoxFuture, Limits, Mode, Person, Rule, SessionId, SessionStore as _, Tool};
use heeler_engine::{Session, ToolRegistry};
use heeler_sandbox::Launcher;
use heeler_settings::{Keep, Loaded, TuiPreferences};
use heeler_store::FileStore;
use heeler_tui::app::Topic;
use heeler_tui::host::{Changed, Edited, Facts, Glance, Host, ModeOnward, SessionRow, Told};
use heeler_tui::theme::{Background, Theme};

use crate::exec::{choose, no_box};
use crate::permissions;
use crate::say::{ask, say, told};

use super::{changed, clipboard, editor, look, stored, tell};

/// The most model calls of a turn: a person sees them, and stops what goes wrong.
const ROUNDS_MAX: u32 = 200;
/// The longest file that names a branch; git's own are shorter than a path may be.
const HEAD_BYTES_MAX: u64 = 8 * 1024;

/// What every session of this window is made with.
pub(super) struct Program {
    pub(super) environment: Environment,
    pub(super) store: FileStore,
    pub(super) workspace: PathBuf,
    /// Whose answers new sessions ask for: that of the command line, or who was chosen in the window.
    pub(super) model: Mutex<Option<String>>,
    pub(super) fallback: Vec<String>,
    pub(super) permission: Permission,
    pub(super) person: Arc<dyn Person>,
    /// What tools ask, for others than the person here.
    pub(super) questions: Questions,
    /// What the model of the session that is shown is told before everything else.
    pub(super) prompt: Mutex<Option<SystemPrompt>>,
    /// What was made to see whether it can be, for the next session: the model that was asked for,
    /// and the agent.
    pub(super) assembled: Mutex<Option<(Option<String>, Assembly)>>,
    /// What is known of the session that is shown.
    pub(super) known: Mutex<Known>,
    /// The sessions that were begun here.
    pub(super) begun: Mutex<Vec<SessionId>>,
}

/// What a session was made of, as far as somebody asks later.
#[derive(Default)]
pub(super) struct Known {
    pub(super) loaded: Loaded,
    /// What was wrong with the settings, so that it is said once.
    pub(super) problem: Option<String>,
    pub(super) tools: Option<ToolRegistry>,
    /// What the terminal said of its background.
    pub(super) background: Option<Background>,
}

/// The program around a window.
#[derive(Clone)]
pub(super) struct TerminalHost(Arc<Program>);

impl Program {
    /// Makes everything for a first session with this model, with commands confined or the person's
    /// word that they are not to be; gives what the window is to look like, and what it never shows.
    ///
    /// # Errors
    /// When there is no agent with these settings, or nobody wants one without confinement.
    pub(super) async fn prepare(
        &mut self,
        model: Option<String>,
    ) -> Result<(TuiPreferences, Facts, Arc<Secrets>)> {
        let mut assembly = self.assemble(model.clone())?;
        if let Some(obstacle) = assembly.box_obstacle().await? {
            let question = format!(
                "heeler: commands cannot be confined on this machine: {}: {}\n\
                 Go on without? Then every command is asked about, and runs with your own rights. [y/N]",
                obstacle.name, obstacle.detail
            );
            let answer = ask(&question).unwrap_or_default();
            if !matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes") {
                anyhow::bail!("{}", no_box(&obstacle));
            }
            self.permission.sandbox = Sandbox::Off;
            assembly = self.assemble(model.clone())?;
        }
        permissions::warn(&assembly.loaded);
        for notice in &assembly.prompt.notes().notices {
            say(format_args!("heeler: notes: {notice}"));
        }
        let tui = assembly.loaded.preferences().tui;
        let facts = Facts {
            folder: self.workspace.display().to_string(),
            branch: branch(&self.workspace),
            status: tui.status.clone(),
            is_guest: false,
            is_left: false,
        };
        let secrets = Arc::clone(&assembly.parts.secrets);
        self.assembled = Mutex::new(Some((model, assembly)));
        Ok((tui, facts, secrets))
    }
}

impl TerminalHost {
    pub(super) fn new(program: Program) -> Self {
        Self(Arc::new(program))
    }

    /// The folder that is worked in.
    pub(super) fn workspace(&self) -> PathBuf {
        self.0.workspace.clone()
    }

    /// Begins a session, in the mode of flags and files unless the window has one.
    pub(super) async fn begin(&self, mode: Option<Mode>) -> Result<Session> {
        let model = lock(&self.0.model).clone();
        let assembly = self.0.ready(model, mode).await?;
        let workspace = self.0.workspace.to_string_lossy();
        let session = Session::create(assembly.parts, &workspace).await?;
        lock(&self.0.begun).push(session.id().clone());
        Ok(self.0.served(session))
    }

    /// Removes those of the sessions begun here in which nobody said anything: they are closed by now, or
    /// another process has them.
    pub(super) async fn remove_unsaid(&self) {
        let begun = std::mem::take(&mut *lock(&self.0.begun));
        for id in begun {
            // One that stays is none the worse for it.
            if stored::is_unsaid(&self.0.store, &id).await {
                let _ = self.0.store.delete(id).await;
            }
        }
    }

    /// Goes on with a session of this folder, in the mode of flags and files unless the window has one.
    pub(super) async fn go_on(
        &self,
        id: SessionId,
        model: Option<String>,
        mode: Option<ModeOnward>,
    ) -> Result<Session> {
        let window = mode.map(|(ModeOnward::Window(mode) | ModeOnward::WindowOrPlan(mode))| mode);
        let mut parts = self.0.ready(model, window).await?.parts;
        if let Some(mode) = mode {
            parts.keeps_plan = matches!(mode, ModeOnward::WindowOrPlan(_));
        }
        Ok(self.0.served(Session::open(parts, id).await?))
    }

    async fn open_stored(
        &self,
        id: SessionId,
        model: Option<String>,
        mode: ModeOnward,
    ) -> Result<Session> {
        let whole = id.to_string();
        let Program { store, workspace, .. } = &*self.0;
        let existing = choose::session(Some(&whole), false, store, workspace).await?;
        let existing = existing.context("there is no such session")?;
        existing.check_stage(&self.0.environment)?;
        let own = existing.workspace(None, false)?;
        anyhow::ensure!(
            own == *workspace,
            "session {id} works in {}; go there and `heeler --resume {id}`",
            own.display()
        );
        let session = self.go_on(id, model.clone().or(existing.model), Some(mode)).await?;
        if model.is_some() {
            *lock(&self.0.model) = model;
        }
        Ok(session)
    }
}

impl Program {
    /// The agent of the session that is shown next, in the window's mode, if it has one already.
    async fn ready(&self, model: Option<String>, mode: Option<Mode>) -> Result<Assembly> {
        let made = lock(&self.assembled).take();
        let mut assembly = match made {
            Some((asked, assembly)) if asked == model => assembly,
            _ => self.assemble(model)?,
        };
        assembly.measure().await;
        assembly.parts.provider.prewarm();
        *lock(&self.prompt) = Some(assembly.prompt.clone());
        let mut known = lock(&self.known);
        let mut loaded = assembly.loaded.clone();
        if let Some(mode) = mode {
            assembly.parts.settings.policy.mode = mode;
            // A file that names another one since then is told of with the next input, and counts.
            loaded.mode.clone_from(&known.loaded.mode);
        }
        *known = Known {
            loaded,
            problem: None,
            tools: assembly.parts.tool_source.clone(),
            background: known.background,
        };
        drop(known);
        Ok(assembly)
    }

    /// Lets others attach to a session. Where that cannot be, whoever tries is told.
    fn served(&self, session: Session) -> Session {
        let path = self.store.door_path(session.id());
        let questions = self.questions.clone();
        // Without a door the session is as good for the person here.
        let _ = serve(&session, path, OwnerKind::Window, questions);
        session
    }

    /// A tool of the session that is shown.
    pub(super) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        lock(&self.known).tools.as_ref()?.get(name)
    }

    fn assemble(&self, model: Option<String>) -> Result<Assembly> {
        let setup = Setup {
            environment: self.environment.clone(),
            workspace: self.workspace.clone(),
            model: ModelChoice::Named(model),
            fallback: self.fallback.clone(),
            permission: self.permission.clone(),
            limits: limits(),
            approver: None,
            person: Some(Arc::clone(&self.person)),
            staged: false,
            launcher: Launcher::new(),
        };
        Ok(setup.assemble(self.store.clone())?)
    }
}

/// The limits of a turn where nobody says anything else.
pub(super) fn limits() -> Limits {
    Limits { rounds: ROUNDS_MAX, ..Limits::default() }
}

/// What a lock guards is replaced whole, so one that was poisoned is as good.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host for TerminalHost {
    fn create(&self, mode: Mode) -> BoxFuture<Result<Session, String>> {
        let host = self.clone();
        Box::pin(async move { host.begin(Some(mode)).await.map_err(|error| told(&error)) })
    }

    fn open(
        &self,
        id: SessionId,
        model: Option<String>,
        mode: ModeOnward,
    ) -> BoxFuture<Result<Session, String>> {
        let host = self.clone();
        let open = async move || host.open_stored(id, model, mode).await;
        Box::pin(async move { open().await.map_err(|error| told(&error)) })
    }

    fn sessions(&self) -> BoxFuture<Result<Vec<SessionRow>, String>> {
        let program = Arc::clone(&self.0);
        let rows = async move || stored::rows(&program.store, &program.workspace).await;
        Box::pin(stored::away(rows))
    }

    fn find(&self, text: String) -> BoxFuture<Result<SessionId, String>> {
        let program = Arc::clone(&self.0);
        Box::pin(stored::away(async move || stored::meant(&program.store, &text).await))
    }

    fn glance(&self, id: SessionId) -> BoxFuture<Result<Glance, String>> {
        let program = Arc::clone(&self.0);
        Box::pin(stored::away(async move || stored::glance(&program.store, &id)))
    }

    fn fork(&self, id: SessionId, at: Option<u32>) -> BoxFuture<Result<SessionId, String>> {
        let program = Arc::clone(&self.0);
        Box::pin(stored::away(async move || stored::forked(&program.store, &id, at).await))
    }

    fn export(&self, id: SessionId, file: Option<String>) -> BoxFuture<Result<String, String>> {
        let program = Arc::clone(&self.0);
        let export = async move || {
            let home = program.environment.get("HOME")?;
            stored::export(&program.store, id, &program.workspace, home, file).await
        };
        Box::pin(stored::away(export))
    }

    fn model(&self, name: String) -> BoxFuture<Result<String, String>> {
        let host = self.clone();
        Box::pin(async move {
            let assembly = host.0.assemble(Some(name)).map_err(|error| told(&error))?;
            let whole = assembly.parts.settings.model.name.clone();
            let made = Some((Some(whole.clone()), assembly));
            *lock(&host.0.assembled) = made;
            Ok(whole)
        })
    }

    fn before_input(&self, session: Session) -> BoxFuture<Changed> {
        Box::pin(changed::take_in(Arc::clone(&self.0), session))
    }

    fn keep_rule(&self, rule: Rule) -> BoxFuture<Result<String, String>> {
        let host = self.clone();
        Box::pin(async move {
            let Program { environment, workspace, .. } = &*host.0;
            keep_rule(environment, workspace, Keep::Here, &rule)
                .map_err(|error| format!("the rule counts for this session alone: {error}"))?;
            Ok(format!("kept for this folder: {rule}"))
        })
    }

    fn edit(&self, text: String) -> BoxFuture<Edited> {
        editor::edited(&self.0.environment, text)
    }

    fn copied_image(&self) -> BoxFuture<Result<Vec<u8>, String>> {
        clipboard::image(&self.0.environment)
    }

    fn theme(&self, name: String) -> Result<Theme, String> {
        let home = home_folder(&self.0.environment).map_err(|error| error.to_string())?;
        let background = lock(&self.0.known).background;
        look::theme(&name, &self.0.environment, &home, background).map_err(|error| told(&error))
    }

    fn background(&self, background: Background) -> Option<Theme> {
        let mut known = lock(&self.0.known);
        known.background = Some(background);
        let tui = known.loaded.preferences().tui;
        let is_asked = look::asks_background(&tui, &self.0.environment);
        // What was there before the answer is for a dark one.
        (is_asked && background == Background::Light).then(Theme::light)
    }

    fn tell(&self, topic: Topic, session: Session) -> BoxFuture<Result<Told, String>> {
        let program = Arc::clone(&self.0);
        Box::pin(async move {
            tell::tell(topic, &program, &session).await.map_err(|error| told(&error))
        })
    }
}

/// The branch that is checked out, read from the repository's own file: no program runs for it.
pub(super) fn branch(workspace: &std::path::Path) -> Option<String> {
    let folder = workspace.ancestors().find(|folder| folder.join(".git").exists())?;
    let git = folder.join(".git");
    let git = if git.is_file() {
        let link = short_text(&git)?;
        folder.join(link.trim().strip_prefix("gitdir: ")?)
    } else {
        git
    };
    let head = short_text(&git.join("HEAD"))?;
    let head = head.lines().next()?.trim();
    match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => Some(branch.to_owned()),
        None => Some(head.chars().take(8).collect()),
    }
}

/// What a file says that has a line or so, whoever made it.
fn short_text(path: &std::path::Path) -> Option<String> {
    // A pipe would be waited for.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(HEAD_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}
