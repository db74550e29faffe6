//! What may run: the command line and every file of settings, as one policy.

use std::path::{Path, PathBuf};

use heeler_core::{
    CallId, Facts, HookEvent, HookedCall, Judgement, Mode, Policy, RawJson, Reach, Rule,
    RuleEffect, Verdict,
};
use heeler_hooks::{AskedHook, CommandHooks};
use heeler_sandbox::Launcher;
use heeler_settings::{
    Context, Files, KEYS, Keep, Key, KeyValue, Layer, Loaded, Setting, SettingsError, Source,
    Trust, check_examples, rule_on_folder, salvage, save_rule,
};
use heeler_turn::verdict::judge;

use crate::call::Place;
use crate::confine::{Made, Sandbox, is_wanted, make, protected_in, reach};
use crate::denied::Walls;
use crate::dotfiles::home_in;
use crate::secret_places::secrets;
use crate::setup::{bash, hook_command, toolset};
use crate::{Environment, SetupError, home_folder};

/// The names of the tools, which rules speak of; `WebSearch` is there when somebody is set who
/// searches.
pub(crate) const TOOLS: [&str; 24] = [
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "LS",
    "Bash",
    "WebFetch",
    "TodoWrite",
    "TodoRead",
    "ToolSearch",
    "batch",
    "MultiEdit",
    "apply_patch",
    "file_info",
    "ask_user",
    "exec",
    "git_status",
    "git_diff",
    "git_log",
    "git_commit",
    "CurrentTime",
    "Calculator",
    "WebSearch",
];

/// Which files of settings count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SettingsFiles {
    /// None: what is not said on the command line is not said.
    None,
    /// Those of the user and of the workspace.
    #[default]
    Usual,
    /// The usual ones, and this one, which counts more.
    And(PathBuf),
}

/// What a surface says of permission, beside the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// Rules whose source is a flag.
    pub rules: Vec<Rule>,
    /// The mode of a flag.
    pub mode: Option<Setting<Mode>>,
    /// The mode where neither a flag nor a file names one.
    pub mode_default: Mode,
    /// Whether anybody can answer a prompt.
    pub interactive: bool,
    /// Which files count.
    pub files: SettingsFiles,
    /// Whether commands are confined, where no file says so.
    pub sandbox: Sandbox,
    /// What flags say of the keys of settings.
    pub values: Vec<(&'static Key, Setting<KeyValue>)>,
}

impl Default for Permission {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            mode: None,
            mode_default: Mode::AllowListed,
            interactive: false,
            files: SettingsFiles::default(),
            sandbox: Sandbox::default(),
            values: Vec::new(),
        }
    }
}

impl Permission {
    /// Everything that is said, as one policy; and all that the files say.
    ///
    /// # Errors
    /// When a rule can never match, or a file cannot be used; names the flag, or each file and line.
    pub fn settle(
        self,
        environment: &Environment,
        workspace: &Path,
    ) -> Result<(Policy, Loaded), SetupError> {
        let (policy, loaded) = self.look(environment, workspace)?;
        unless_mistaken(&loaded.mistakes)?;
        Ok((policy, loaded))
    }

    /// As [`settle`](Self::settle), but what is wrong with files is among the mistakes of what they
    /// say, and the rest is there: to be shown. Nothing may run by it, since what could not be read
    /// may have been what forbids.
    ///
    /// # Errors
    /// When what flags or variables say cannot be used.
    pub fn look(
        self,
        environment: &Environment,
        workspace: &Path,
    ) -> Result<(Policy, Loaded), SetupError> {
        let files = settings_files(environment, workspace)?;
        let context = context(&files)?;
        let (sources, mut mistakes) = sources(&self.files, &files)?;
        let flags = Layer::of_flags(self.rules, self.mode, &context)?.with_values(self.values);
        let mut loaded = salvage(&sources, vec![variables(environment)?, flags], &context)?;
        if !loaded.examples.is_empty() {
            let tools = toolset(bash(Launcher::new(), environment, &loaded))?;
            let home = context.homes.first().map(String::as_str);
            let place = Place { tools: &tools, workspace: &context.workspace, home };
            let facts = |tool: &str, text: &str| Ok(place.facts(tool, text)?.1);
            let checked = check_examples(&loaded.examples, &context.workspace, facts);
            mistakes.extend(checked.err());
        }
        loaded.mistakes.append(&mut mistakes);
        loaded.rules.extend(own_rule(&files));
        let secrets = secrets(environment, workspace)?;
        let policy = Policy {
            mode: loaded.mode.as_ref().map_or(self.mode_default, |mode| mode.value),
            rules: loaded.rules.clone(),
            interactive: self.interactive,
            asks_to_leave_plan: true,
            has_box: is_wanted(self.sandbox, &loaded),
            // A name that is no text is still walled off by where it leads.
            secrets: secrets.iter().filter_map(|path| path.to_str()).map(str::to_owned).collect(),
            home: home_in(environment, workspace)?
                .and_then(|home| home.into_os_string().into_string().ok()),
            workspace: context.workspace,
            ..Policy::default()
        };
        Ok((policy, loaded))
    }

    /// What would become of a call that is written as `Tool(argument)`.
    ///
    /// # Errors
    /// When the call cannot be understood, and as [`settle`](Self::settle) does.
    pub fn explain(
        self,
        environment: &Environment,
        workspace: &Path,
        call: &str,
    ) -> Result<Explained, SetupError> {
        let (mut policy, loaded) = self.settle(environment, workspace)?;
        let reach = reach(environment, workspace, &loaded)?;
        policy.protected = protected_in(&reach, workspace, &policy.workspace);
        policy.rules.extend(asks_beside(&policy, &reach, workspace));
        let refused = |why: &str| SetupError::new(format!("`{call}`: {why}"));
        let (tool, argument) = call
            .trim()
            .split_once('(')
            .and_then(|(tool, rest)| Some((tool.trim(), rest.strip_suffix(')')?)))
            .filter(|(_, argument)| !argument.trim().is_empty())
            .ok_or_else(|| refused("write the call as Tool(argument), such as `Bash(git push)`"))?;
        let mut bash = bash(Launcher::new(), environment, &loaded);
        if policy.has_box {
            let Made { confines, temp, .. } = make(environment, workspace, &reach)?;
            bash = bash.confined_by(confines, temp);
        }
        let tools = toolset(bash)?;
        let home = environment.get("HOME")?;
        let place = Place { tools: &tools, workspace: &policy.workspace, home };
        let (tool, facts) = place.facts(tool, argument).map_err(|why| refused(&why))?;
        let judgement = judge(&policy, &[], &tool, &facts);
        let judgement = with_closed(judgement, &policy, &tool, &facts);
        let input = RawJson::parse("{}").map_err(|error| refused(&error.to_string()))?;
        let id = CallId { turn: 1, round: 1, index: 0 };
        let call = HookedCall { id, tool, input, accesses: facts.accesses };
        let (judgement, hooks) = with_hooks(judgement, &loaded, &call, &policy.workspace);
        Ok(Explained { judgement, mode: policy.mode, hooks, loaded })
    }
}

/// The hooks that are asked about a call: before it is judged, and where somebody would be asked. One that is
/// broken blocks it.
fn with_hooks(
    mut judgement: Judgement,
    loaded: &Loaded,
    call: &HookedCall,
    workspace: &str,
) -> (Judgement, Vec<AskedHook>) {
    let commands = loaded.hooks.iter().map(hook_command);
    let hooks = CommandHooks::new(Launcher::new(), Vec::new(), commands, |_| None);
    let mut found = Vec::new();
    for event in [HookEvent::PreToolUse, HookEvent::PermissionRequest] {
        let would_ask = matches!(judgement.verdict, Verdict::Ask { .. });
        if event == HookEvent::PermissionRequest && !would_ask {
            continue;
        }
        let asked = hooks.asked(event, call, workspace);
        let broken = |hook: &AskedHook| {
            let why = hook.command.broken.as_ref()?;
            Some(format!(
                "the hook `{}` is broken: {why}; a call that it guards does not run",
                hook.name
            ))
        };
        if let Some(by) = asked.iter().find_map(broken) {
            judgement = Judgement { verdict: Verdict::Deny { by }, rule: None, confined: false };
        }
        found.extend(asked);
    }
    (judgement, found)
}

/// Says of what stays in the box which of the places that it names are closed there: it may run, and fails.
fn with_closed(judgement: Judgement, policy: &Policy, tool: &str, facts: &Facts) -> Judgement {
    if !judgement.confined {
        return judgement;
    }
    // What a rule on reading would say of the line, it says of a secret, too.
    let secrets = policy.secrets.iter();
    let rules = secrets.map(|place| rule_on_folder(RuleEffect::Ask, "Read", place, place));
    let rules = rules.chain(policy.rules.iter().cloned()).collect();
    let asked = judge(&Policy { rules, ..policy.clone() }, &[], tool, facts).rule;
    let Some(place) = asked.map(|rule| rule.source).filter(|it| policy.secrets.contains(it)) else {
        return judgement;
    };
    let says = |why: String| format!("{why}; the box closes {place}, so what reads it there fails");
    let verdict = match judgement.verdict {
        Verdict::Allow { by } => Verdict::Allow { by: says(by) },
        Verdict::Ask { why } => Verdict::Ask { why: says(why) },
        Verdict::Deny { by } => Verdict::Deny { by },
    };
    Judgement { verdict, ..judgement }
}

/// What asks about commands since their box cannot hold all that rules deny. It looks through the
/// workspace where a rule denies by pattern.
///
/// # Errors
/// As [`Permission::look`], which gave these.
pub fn asks_for_box(
    environment: &Environment,
    workspace: &Path,
    (policy, loaded): (&Policy, &Loaded),
) -> Result<Option<Rule>, SetupError> {
    Ok(asks_beside(policy, &reach(environment, workspace, loaded)?, workspace))
}

fn asks_beside(policy: &Policy, reach: &Reach, workspace: &Path) -> Option<Rule> {
    policy.has_box.then(|| Walls::new(reach, workspace).asks()).flatten()
}

/// What would become of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The verdict, with what decided.
    pub judgement: Judgement,
    /// The mode it was judged in.
    pub mode: Mode,
    /// The hooks that are asked about it, which may decide otherwise, and those that are broken for it.
    pub hooks: Vec<AskedHook>,
    /// All that the files and flags say.
    pub loaded: Loaded,
}

/// Keeps a rule that a person gave for good, for every later session or those of this folder.
///
/// # Errors
/// When the rule could never match, or cannot be kept.
pub fn keep_rule(
    environment: &Environment,
    workspace: &Path,
    keep: Keep,
    rule: &Rule,
) -> Result<(), SetupError> {
    let files = settings_files(environment, workspace)?;
    Ok(save_rule(&files.heeler_home, keep, rule, &context(&files)?)?)
}

/// Where the files of settings are, for somebody who works here.
///
/// # Errors
/// When there is no home folder of heeler's.
pub fn settings_files(environment: &Environment, workspace: &Path) -> Result<Files, SetupError> {
    Ok(Files {
        home: environment.get("HOME")?.map(PathBuf::from),
        heeler_home: home_folder(environment)?,
        workspace: workspace.to_owned(),
    })
}

/// Who works in a folder that holds heeler's home is asked before that is written, even where edits
/// run: it says what may run.
fn own_rule(files: &Files) -> Option<Rule> {
    let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let home = real(&files.heeler_home);
    let inner = home.strip_prefix(real(&files.workspace)).ok()?.to_str()?;
    let path = files.workspace.join(inner);
    Some(rule_on_folder(RuleEffect::Ask, "Edit", path.to_str()?, "heeler's home folder"))
}

/// What the variables say of the keys of settings.
fn variables(environment: &Environment) -> Result<Layer, SetupError> {
    // One that is no text would count as absent.
    let mut names = KEYS.iter().flat_map(|key| key.variables);
    names.try_for_each(|name| environment.get(name).map(drop))?;
    Ok(Layer::of_variables(|name| environment.get(name).ok().flatten().map(str::to_owned))?)
}

pub(crate) fn context(files: &Files) -> Result<Context, SetupError> {
    Ok(Context {
        workspace: utf8(&files.workspace)?,
        homes: names_of(files.home.as_deref()),
        tools: TOOLS.map(str::to_owned).into(),
    })
}

/// The files that can be read, and why others cannot.
fn sources(
    wanted: &SettingsFiles,
    files: &Files,
) -> Result<(Vec<Source>, Vec<SettingsError>), SetupError> {
    let more = match wanted {
        SettingsFiles::None => return Ok((Vec::new(), Vec::new())),
        SettingsFiles::Usual => None,
        SettingsFiles::And(path) => Some(files.given(path)?),
    };
    let (mut sources, mut mistakes) = files.read_each();
    // Where it cannot be said what is trusted, nothing is.
    mistakes.extend(Trust::of(&files.heeler_home).mark(&files.workspace, &mut sources).err());
    sources.extend(more);
    Ok((sources, mistakes))
}

/// The most mistakes that are told in one error.
const MISTAKES_TOLD_MAX: usize = 5;

/// Refuses when there is any mistake, and tells them, a line each.
fn unless_mistaken(mistakes: &[SettingsError]) -> Result<(), SetupError> {
    if mistakes.is_empty() {
        return Ok(());
    }
    let told = mistakes.iter().take(MISTAKES_TOLD_MAX).map(ToString::to_string);
    let mut told = told.collect::<Vec<_>>().join("\n");
    if let Some(more @ 1..) = mistakes.len().checked_sub(MISTAKES_TOLD_MAX) {
        told += &format!("\nand {more} more; see `heeler config list`");
    }
    Err(SetupError::new(told))
}

/// A folder's name, and the name of what it is linked to.
fn names_of(folder: Option<&Path>) -> Vec<String> {
    let real = folder.and_then(|folder| folder.canonicalize().ok());
    let mut names: Vec<String> = folder
        .into_iter()
        .chain(real.as_deref())
        .filter_map(|folder| folder.to_str().map(str::to_owned))
        .collect();
    names.dedup();
    names
}

fn utf8(path: &Path) -> Result<String, SetupError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        SetupError::new(format!("the path {} is not UTF-8; work in another one", path.display()))
    })
}
