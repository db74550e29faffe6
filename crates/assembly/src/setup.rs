//! What a surface wants, and the ready parts it gets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heeler_core::{
    Approver, Hooks, Limits, Mode, ModelSettings, Person, Policy, Reach, Rule, RuleEffect,
    SessionId, Settings, Tool,
};
use heeler_engine::{Fallback, Parts, ToolRegistry, ToolSearch, Toolset};
use heeler_hooks::{CommandHooks, HOOK_TIMEOUT_MILLIS_MAX, HookCommand};
use heeler_providers::NamedModel;
use heeler_sandbox::{Launcher, LauncherError, ProbeLine};
use heeler_settings::{
    COST, HOOK_TIMEOUT_SECONDS_MAX, HookSetting, Loaded, NotePreferences, Preferences,
    SettingsError,
};
use heeler_store::FileStore;
use heeler_tools::{
    Allowed, Bash, Calculator, CurrentTime, Exec, SearchBackend, TodoRead, TodoWrite, WebFetch,
    WebSearch, allowed_environment,
};

use crate::confine::{Made, make, obstacle, protected_in, reach};
use crate::local::LocalServer;
use crate::model::{ModelChoice, leave_room, thinking};
use crate::programs::keep_out;
use crate::{
    Environment, NotePlaces, Notes, Permission, SystemPrompt, hidden, home_folder, search, staged,
};

/// What a surface wants of an agent.
pub struct Setup {
    /// The variables of the process.
    pub environment: Environment,
    /// The folder to work in, absolute.
    pub workspace: PathBuf,
    /// Which model answers.
    pub model: ModelChoice,
    /// Who answers, in this order, when that model cannot; without any, whom the settings name.
    pub fallback: Vec<String>,
    /// What may run, beside what the files of settings say.
    pub permission: Permission,
    /// When a turn ends whatever the model wants, where neither flags nor settings say.
    pub limits: Limits,
    /// Who answers permission requests.
    pub approver: Option<Arc<dyn Approver>>,
    /// Whom tools can ask.
    pub person: Option<Arc<dyn Person>>,
    /// Whether the workspace is a stage: what is done in it needs no asking, and nothing is done
    /// outside of it.
    pub staged: bool,
    /// What starts the shell's commands; where a start is waited for, one that was
    /// [started ahead](Launcher::start_ahead).
    pub launcher: Launcher,
}

/// A ready agent.
pub struct Assembly {
    /// What a session is made of.
    pub parts: Parts,
    /// Where the sessions are.
    pub store: FileStore,
    /// What the files of settings and the flags say.
    pub loaded: Loaded,
    /// What the model is told before everything else; its words are in `parts`.
    pub prompt: SystemPrompt,
    launcher: Launcher,
    home: PathBuf,
    /// Whose model answers, and its name there, where nobody but its server knows its window.
    local: Option<(LocalServer, String)>,
}

impl Assembly {
    /// Asks the server of a model on this machine how much the model reads, unless that is known. It
    /// takes seconds at most. One that does not run or does not tell leaves it unknown: the first
    /// request meets it, too, and says what is wrong.
    pub async fn measure(&mut self) {
        if let Some((server, model)) = &self.local {
            self.parts.settings.model.window = server.window_of(model).await;
            leave_room(&mut self.parts.settings.model, &self.loaded);
        }
    }

    /// What stands in the way of the box that the policy counts on; `None` when nothing does, or
    /// there is to be none.
    ///
    /// # Errors
    /// When there is no launcher.
    pub async fn box_obstacle(&self) -> Result<Option<ProbeLine>, LauncherError> {
        if !self.parts.settings.policy.has_box {
            return Ok(None);
        }
        obstacle(&self.launcher, &self.home).await
    }
}

/// Why there is no agent; the message names the cause and the next step.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SetupError {
    message: String,
}

impl From<SettingsError> for SetupError {
    fn from(error: SettingsError) -> Self {
        Self::new(error.to_string())
    }
}

impl SetupError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl Setup {
    /// Puts the agent together over a store; see [`open_store`].
    ///
    /// # Errors
    /// When something set is unusable: no key, no such model, a variable that makes no sense.
    pub fn assemble(mut self, store: FileStore) -> Result<Assembly, SetupError> {
        let names_mode = self.permission.mode.is_some();
        let (mut policy, mut loaded) =
            self.permission.settle(&self.environment, &self.workspace)?;
        if self.staged {
            staged::keep_in(&mut policy)?;
        }
        let (model, provider) = self.model.ready(&mut self.environment, &loaded)?;
        loaded.problems.extend(thinking(&model.name, model.output_max, &loaded).err());
        let local = match model.window {
            None => local_server(&model.name, &self.environment),
            Some(_) => None,
        };
        let others = others(self.fallback, &mut self.environment, &loaded)?;
        let Preferences { context, limits, attribution, notes, .. } = loaded.preferences();
        let limits = limits.over(self.limits);
        if limits.cost != 0 {
            let models = others.iter().map(|other| &other.model).chain([&model]);
            models.into_iter().try_for_each(|model| has_prices(model, &loaded))?;
        }
        let web = Web {
            allowed: Allowed::hosts(loaded.web_hosts.iter().map(|host| &*host.value)),
            search: search::backend(&mut self.environment, &loaded)?,
        };
        let mut parts = Parts::new(provider, Arc::new(store.clone()));
        let launcher = self.launcher;
        let mut reach = reach(&self.environment, &self.workspace, &loaded)?;
        policy.protected = protected_in(&reach, &self.workspace, &policy.workspace);
        if self.staged {
            reach.writable.clear();
        }
        let mut variables = variables(&self.environment, &loaded);
        if policy.has_box {
            loaded.problems.extend(keep_out(&mut variables, &self.workspace, &reach));
        }
        let bash = Bash::new(launcher.clone(), variables.clone());
        let place = (&self.environment, &*self.workspace);
        let bash = warmed(bash, place, &reach, &mut policy, &mut loaded.problems)?;
        parts.fallback = others;
        parts.result_chars_max = context.result_chars_max;
        let tools = registry(bash, web);
        parts.tools = tools.toolset();
        parts.tool_source = Some(tools);
        parts.reach = Arc::new(reach);
        parts.approvers.extend(self.approver);
        parts.hooks = hooks(variables, &loaded, &store);
        let (secrets, unread) = hidden(&self.environment, &loaded);
        parts.secrets = Arc::new(secrets);
        // Only the first few are told one by one, and none is worse than a key that is shown.
        loaded.problems.splice(0..0, unread);
        parts.spill = Some(Arc::new(store.clone()));
        parts.media = Some(Arc::new(store.clone()));
        parts.person = self.person;
        let notes = notes_of(&self.environment, &self.workspace, &policy, notes)?;
        let prompt = SystemPrompt::new(&self.workspace, attribution, notes);
        parts.system = prompt.text();
        parts.settings = Settings {
            model,
            limits,
            estimate: context.estimate,
            compaction: context.compaction,
            policy,
            ..Settings::default()
        };
        // A file says what sessions begin with; out of plan mode leads what somebody says now.
        parts.keeps_plan = !names_mode;
        parts.build = env!("CARGO_PKG_VERSION").to_owned();
        let home = home_folder(&self.environment)?;
        Ok(Assembly { parts, store, loaded, prompt, launcher, home, local })
    }
}

/// Who answers when the model cannot: whom the flags name, or else the settings.
fn others(
    flags: Vec<String>,
    environment: &mut Environment,
    loaded: &Loaded,
) -> Result<Vec<Fallback>, SetupError> {
    let named = match &loaded.fallback {
        Some(set) if flags.is_empty() => (set.value.clone(), set.source.clone()),
        _ => (flags, "--fallback-model".to_owned()),
    };
    fallback(named, environment, loaded)
}

/// The shell in its box, if there is to be one, with the first command's started already.
fn warmed(
    mut bash: Bash,
    (environment, workspace): (&Environment, &Path),
    reach: &Reach,
    policy: &mut Policy,
    problems: &mut Vec<SettingsError>,
) -> Result<Bash, SetupError> {
    let stays_in_box = policy.has_box && (policy.mode == Mode::Plan || !lets_bash_out(policy));
    if policy.has_box {
        let Made { confines, temp, asks } = make(environment, workspace, reach)?;
        bash = bash.confined_by(confines, temp);
        if let Some(rule) = asks {
            let why = format!("commands are asked about {}", rule.source);
            problems.push(SettingsError::of_file("sandbox", why));
            policy.rules.push(rule);
        }
    }
    // Beside the first request: nearly every turn runs a command.
    if stays_in_box {
        bash.warm_in_box(workspace, policy);
    } else {
        bash.warm(workspace);
    }
    Ok(bash)
}

/// Opens the store in heeler's home folder.
///
/// # Errors
/// When the folder cannot be made or used.
pub fn open_store(environment: &Environment) -> Result<FileStore, SetupError> {
    let home = home_folder(environment)?;
    FileStore::open(home).map_err(|error| SetupError::new(error.to_string()))
}

/// The shell, whose commands see the variables that are known to be harmless, and those of the
/// settings.
pub(crate) fn bash(launcher: Launcher, environment: &Environment, loaded: &Loaded) -> Bash {
    Bash::new(launcher, variables(environment, loaded))
}

// What settings files may give a hook, it has.
const _: () = assert!(HOOK_TIMEOUT_SECONDS_MAX as u64 * 1000 <= HOOK_TIMEOUT_MILLIS_MAX);

/// The hooks of the settings, if there are any.
fn hooks(
    variables: Vec<(String, String)>,
    loaded: &Loaded,
    store: &FileStore,
) -> Option<Arc<dyn Hooks>> {
    if loaded.hooks.is_empty() {
        return None;
    }
    let store = store.clone();
    let transcripts = move |id: &SessionId| Some(store.journal_path(id));
    // With a launcher of their own: what a command does to its launcher does not end a guard.
    let commands = loaded.hooks.iter().map(hook_command);
    Some(Arc::new(CommandHooks::new(Launcher::new(), variables, commands, transcripts)))
}

/// A hook of the settings, as it runs.
pub(crate) fn hook_command(hook: &HookSetting) -> HookCommand {
    HookCommand {
        event: hook.event,
        matcher: hook.matcher.clone(),
        command: hook.command.clone(),
        timeout_millis: hook.timeout_seconds.map(|seconds| u64::from(seconds) * 1000),
        only: hook.only.clone(),
        in_background: hook.in_background,
        broken: hook.broken.clone(),
        source: hook.source.clone(),
    }
}

fn variables(environment: &Environment, loaded: &Loaded) -> Vec<(String, String)> {
    let variables = environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut variables: BTreeMap<String, String> =
        heeler_core::gathered(allowed_environment(variables));
    let set = loaded.environment.iter();
    variables.extend(set.map(|(name, setting)| (name.clone(), setting.value.clone())));
    variables.into_iter().collect()
}

fn notes_of(
    environment: &Environment,
    workspace: &Path,
    policy: &Policy,
    preferences: NotePreferences,
) -> Result<Notes, SetupError> {
    Ok(Notes::load(NotePlaces {
        heeler_home: home_folder(environment)?,
        home: environment.get("HOME")?.map(PathBuf::from),
        workspace: workspace.to_owned(),
        policy: policy.clone(),
        preferences,
    }))
}

/// Whether commands mostly run outside of the box, whatever they are.
fn lets_bash_out(policy: &Policy) -> bool {
    let allows_all = |rule: &Rule| {
        rule.effect == RuleEffect::Allow
            && rule.argument.is_none()
            && rule.tool.eq_ignore_ascii_case("Bash")
    };
    policy.mode == Mode::Bypass || policy.rules.iter().any(allows_all)
}

/// # Errors
/// When nobody knows what the model would cost.
pub(crate) fn has_prices(model: &ModelSettings, loaded: &Loaded) -> Result<(), SetupError> {
    if model.prices.is_some() {
        return Ok(());
    }
    let set = loaded.values.get(COST.path).map_or(COST.path, |setting| &setting.source);
    // Of a file it holds for all other models, too.
    let way = match set.starts_with("--") {
        true => format!("leave out {set}"),
        false => format!("give --max-cost 0 for this run, leave out {set}"),
    };
    Err(SetupError::new(format!(
        "the prices of {} are not known, so its cost cannot be limited; {way}, or limit \
         --max-tokens or --max-rounds",
        model.name
    )))
}

/// The models that answer when the chosen one cannot.
fn fallback(
    (names, source): (Vec<String>, String),
    environment: &mut Environment,
    loaded: &Loaded,
) -> Result<Vec<Fallback>, SetupError> {
    let mut others = Vec::new();
    for name in names {
        let ready = ModelChoice::Named(Some(name.clone())).ready(environment, loaded);
        let (model, provider) =
            ready.map_err(|error| SetupError::new(format!("{source}: `{name}`: {error}")))?;
        others.push(Fallback { model, provider });
    }
    Ok(others)
}

/// The server on this machine that this model is of, if it is, and what it calls the model.
fn local_server(name: &str, environment: &Environment) -> Option<(LocalServer, String)> {
    let (provider, model) = NamedModel::provider_of(name).ok()?;
    Some((LocalServer::of(&provider, environment)?, model))
}

/// The tools of a session.
struct Tools {
    /// The model is told of them from the beginning.
    shown: Vec<Arc<dyn Tool>>,
    /// It has to search for them.
    hidden: Vec<Arc<dyn Tool>>,
}

/// How the web is reached.
#[derive(Default)]
struct Web {
    allowed: Allowed,
    /// Who searches it, if anybody does.
    search: Option<Arc<dyn SearchBackend>>,
}

fn tools(bash: Bash, web: Web) -> Tools {
    let (mut shown, mut hidden) = (heeler_tools::standard(), heeler_tools::further());
    hidden.push(Arc::new(Exec::new(&bash)));
    hidden.extend(heeler_tools::git(&bash));
    shown.push(Arc::new(bash));
    shown.push(Arc::new(WebFetch::new(web.allowed)));
    shown.push(Arc::new(TodoWrite));
    shown.push(Arc::new(TodoRead));
    hidden.push(Arc::new(CurrentTime::of_system()));
    hidden.push(Arc::new(Calculator::default()));
    if let Some(backend) = web.search {
        hidden.push(Arc::new(WebSearch::new(backend)));
    }
    Tools { shown, hidden }
}

/// Every tool that needs no more than this machine and the web, whether the model is told of it or
/// has to search for it.
pub(crate) fn toolset(bash: Bash) -> Result<Toolset, SetupError> {
    let Tools { shown, hidden } = tools(bash, Web::default());
    Toolset::new(shown.into_iter().chain(hidden))
        .map_err(|error| SetupError::new(error.to_string()))
}

/// The same tools for a session, with the one that finds those it is not told of.
fn registry(bash: Bash, web: Web) -> ToolRegistry {
    let registry = ToolRegistry::new();
    let Tools { shown, hidden } = tools(bash, web);
    for tool in shown {
        registry.register(tool);
    }
    registry.register(Arc::new(ToolSearch::new(&registry)));
    for tool in hidden {
        registry.register_hidden(tool);
    }
    registry
}
