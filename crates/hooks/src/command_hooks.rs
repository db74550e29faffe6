//! The commands of settings files as one promise: those that match, at once, and joined.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use heeler_core::{
    BoxFuture, HookEnd, HookEvent, HookOutcome, HookRequest, HookWatch, HookedCall, Hooks,
    SessionId,
};
use heeler_sandbox::Launcher;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::answer::{self, Said, broken};
use crate::compatible::{Added, added};
use crate::hook::{AskedHook, Hook, HookCommand};
use crate::name::Names;
use crate::process::{Ended, Place};
use crate::told::told;

/// The most hooks that run at once, of whatever calls and sessions: each is a process with its pipes.
const AT_ONCE_MAX: usize = 16;
/// The most that nobody waits for, those that have not begun too.
const BACKGROUND_MAX: usize = 256;
/// The variable that keeps Python from looking for modules where anybody may put one.
const SAFE_PATH: &str = "PYTHONSAFEPATH";

/// Hooks that are commands.
#[derive(Clone)]
pub struct CommandHooks {
    shared: Arc<Shared>,
    background: Background,
}

/// What runs without anybody waiting for it; it ends with the last of those who started it.
type Background = Arc<Mutex<JoinSet<()>>>;

type Transcripts = Box<dyn Fn(&SessionId) -> Option<PathBuf> + Send + Sync>;

struct Shared {
    launcher: Launcher,
    environment: Vec<(String, String)>,
    hooks: Vec<Arc<Hook>>,
    transcripts: Transcripts,
    /// What those that run hold.
    room: Semaphore,
    /// The same for those in the background, which hold up no other.
    behind: Semaphore,
}

impl CommandHooks {
    /// Hooks that run through `launcher`, see `environment` and no other variables, and are told
    /// where `transcripts` says that a session's journal is.
    pub fn new(
        launcher: Launcher,
        environment: Vec<(String, String)>,
        commands: impl IntoIterator<Item = HookCommand>,
        transcripts: impl Fn(&SessionId) -> Option<PathBuf> + Send + Sync + 'static,
    ) -> Self {
        let names = Names::new();
        let hooks = commands.into_iter().map(|it| Arc::new(Hook::new(it, &names))).collect();
        let transcripts = Box::new(transcripts);
        let [room, behind] = [AT_ONCE_MAX; 2].map(Semaphore::new);
        let shared = Shared { launcher, environment, hooks, transcripts, room, behind };
        Self { shared: Arc::new(shared), background: Arc::default() }
    }

    /// Those that are asked about such a call, each command once, with those that are broken for it.
    /// Whom nobody waits for is not asked.
    #[must_use]
    pub fn asked(&self, event: HookEvent, call: &HookedCall, workspace: &str) -> Vec<AskedHook> {
        let about = self.shared.about(event, &call.tool).into_iter().map(|(hook, _)| hook);
        let meant = about.filter(|hook| hook.may_mean(Some(call), workspace));
        let asked = meant.filter(|hook| hook.broken().is_some() || !hook.command.in_background);
        asked.map(|hook| AskedHook::of(&hook)).collect()
    }
}

impl Hooks for CommandHooks {
    fn matches(&self, event: HookEvent, subject: &str) -> bool {
        self.shared.hooks.iter().any(|hook| hook.is_about(event, subject))
    }

    fn run(&self, request: HookRequest) -> BoxFuture<HookOutcome> {
        let (shared, background) = (Arc::clone(&self.shared), Arc::clone(&self.background));
        Box::pin(shared.run(request, background))
    }
}

impl Shared {
    async fn run(self: Arc<Self>, request: HookRequest, background: Background) -> HookOutcome {
        let transcript = (self.transcripts)(&request.session);
        let hooks = self.about(request.moment.event(), request.moment.subject());
        let workspace = request.workspace.to_string_lossy();
        let call = request.moment.call();
        let hooks = hooks.into_iter().filter(|(hook, _)| hook.may_mean(call, &workspace));
        let asks = hooks.flat_map(|(hook, millis)| {
            asks(&hook, &request).into_iter().map(move |ask| (Arc::clone(&hook), millis, ask))
        });
        // At the end of the session nothing is left behind.
        let waits = |hook: &Hook| {
            !hook.command.in_background || request.moment.event() == HookEvent::SessionEnd
        };
        let (asks, unheard): (Vec<_>, Vec<_>) =
            asks.partition(|(hook, _, ask)| ask.is_err() || waits(hook));
        let mut outcome = HookOutcome::default();
        for (hook, millis, ask) in unheard {
            let told = told(&request, transcript.as_deref(), ask.ok().flatten().as_ref());
            outcome.notices.extend(self.leave(&background, hook, millis, &request, told));
        }
        let runs = asks.into_iter().map(|(hook, timeout_millis, ask)| {
            let (shared, request) = (Arc::clone(&self), request.clone());
            let transcript = transcript.clone();
            async move {
                shared.run_one(&hook, timeout_millis, &request, transcript.as_deref(), ask).await
            }
        });
        // In the order of the settings, whoever ends first.
        let outcomes = futures::stream::iter(runs).buffered(AT_ONCE_MAX);
        outcomes.fold(outcome, async |all, one| all.join(one)).await
    }

    /// Starts a hook that nobody waits for, or says why not.
    fn leave(
        self: &Arc<Self>,
        background: &Background,
        hook: Arc<Hook>,
        timeout_millis: u64,
        request: &HookRequest,
        told: String,
    ) -> Option<String> {
        let mut running = background.lock().unwrap_or_else(PoisonError::into_inner);
        while running.try_join_next().is_some() {}
        if running.len() >= BACKGROUND_MAX {
            let name = &hook.name;
            return Some(format!(
                "the hook `{name}` did not run: {BACKGROUND_MAX} in the background have not ended"
            ));
        }
        let shared = Arc::clone(self);
        // Whoever watches the moment is not held up by it.
        let request =
            HookRequest { watch: HookWatch::new(&request.moment, |_| ()), ..request.clone() };
        running.spawn(async move {
            let _room = shared.behind.acquire().await;
            shared.hear(&hook, timeout_millis, &request, &told).await;
        });
        None
    }

    /// The hooks of a moment, each command once, with the longest time that any gives it, and as one
    /// that does not know the tool if any does not: it is told all that the others are, and more.
    fn about(&self, event: HookEvent, subject: &str) -> Vec<(Arc<Hook>, u64)> {
        let mut found: Vec<(Arc<Hook>, u64)> = Vec::new();
        for hook in self.hooks.iter().filter(|hook| hook.is_about(event, subject)) {
            let same = |(other, _): &&mut (Arc<Hook>, u64)| {
                other.command.command == hook.command.command
                    && other.command.only == hook.command.only
                    && other.command.in_background == hook.command.in_background
                    && other.broken().is_none()
            };
            match found.iter_mut().find(same).filter(|_| hook.broken().is_none()) {
                Some((other, millis)) => {
                    *millis = hook.timeout_millis().max(*millis);
                    if other.matcher.names(subject) {
                        *other = Arc::clone(hook);
                    }
                }
                None => found.push((Arc::clone(hook), hook.timeout_millis())),
            }
        }
        found
    }

    async fn run_one(
        &self,
        hook: &Hook,
        timeout_millis: u64,
        request: &HookRequest,
        transcript: Option<&Path>,
        ask: Ask,
    ) -> HookOutcome {
        // It is never closed. Whoever waits for it has not begun, and has all of its time before it.
        let _room = self.room.acquire().await;
        let started = request.clock.now();
        request.watch.started(&hook.name);
        let (outcome, end) = match ask {
            Err(why) => ended(broken(&hook.name, why)),
            Ok(added) => {
                let told = told(request, transcript, added.as_ref());
                let heard = self.hear(hook, timeout_millis, request, &told).await;
                match added.zip(request.moment.call()).filter(|_| heard.0.input.is_some()) {
                    Some((added, call)) => ended(added.out_of(&hook.name, call, heard.0)),
                    None => heard,
                }
            }
        };
        let millis = request.clock.now().since(started);
        request.watch.finished(&hook.name, millis, end);
        outcome
    }

    async fn hear(
        &self,
        hook: &Hook,
        timeout_millis: u64,
        request: &HookRequest,
        told: &str,
    ) -> (HookOutcome, HookEnd) {
        let place = Place {
            launcher: &self.launcher,
            environment: self.environment_in(request),
            workspace: &request.workspace,
            clock: Arc::clone(&request.clock),
        };
        match place.run(&hook.command.command, told.as_bytes(), timeout_millis).await {
            Ended::Exited { exit, output, errors, is_cut, is_text } => {
                let said = Said { exit, output: &output, errors: &errors, is_cut, is_text };
                let outcome = answer::read(request.moment.event(), &hook.name, said);
                ended(hook.heeded(outcome, request))
            }
            Ended::TimedOut => {
                let limit = std::time::Duration::from_millis(timeout_millis);
                let why = format!("it did not end within {limit:?}");
                (broken(&hook.name, why), HookEnd::TimedOut)
            }
            Ended::Lost(error) => ended(broken(&hook.name, error.to_string())),
        }
    }

    fn environment_in(&self, request: &HookRequest) -> Vec<(String, String)> {
        let workspace = request.workspace.to_string_lossy().into_owned();
        let names = ["CLAUDE_PROJECT_DIR", "HEELER_PROJECT_DIR"];
        let ours = names.map(|name| (name.to_owned(), workspace.clone()));
        let others = self.environment.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        // Python would take modules from the folder of its program, or from the workspace.
        let is_said = self.environment.iter().any(|(name, _)| name == SAFE_PATH);
        let safe = (!is_said).then(|| (SAFE_PATH.to_owned(), "1".to_owned()));
        others.cloned().chain(ours).chain(safe).collect()
    }
}

/// What a hook is asked beside what the call's own input says, or why it cannot be asked.
type Ask = Result<Option<Added>, String>;

/// How often a hook is asked about a moment, and what.
fn asks(hook: &Hook, request: &HookRequest) -> Vec<Ask> {
    if let Some(why) = hook.broken() {
        return vec![Err(why.to_owned())];
    }
    let added = request.moment.call().map(|call| added(&hook.matcher, call));
    match added.unwrap_or_else(|| Ok(Vec::new())) {
        Ok(added) if added.is_empty() => vec![Ok(None)],
        Ok(added) => added.into_iter().map(Ok).collect(),
        Err(why) => vec![Err(why)],
    }
}

fn ended(outcome: HookOutcome) -> (HookOutcome, HookEnd) {
    let end = HookEnd::from(&outcome.verdict);
    (outcome, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::HOOK_TIMEOUT_MILLIS_DEFAULT;

    /// The commands that run at a moment, with their limits.
    fn check(
        settings: &[(&str, &str, Option<u64>)],
        event: HookEvent,
        subject: &str,
        expected: &str,
    ) {
        let command =
            |(matcher, command, timeout_millis): &(&str, &str, Option<u64>)| HookCommand {
                event: HookEvent::PreToolUse,
                matcher: (*matcher).to_owned(),
                command: (*command).to_owned(),
                timeout_millis: *timeout_millis,
                only: None,
                in_background: false,
                broken: None,
                source: "test".into(),
            };
        let commands = settings.iter().map(command);
        let hooks =
            CommandHooks::new(Launcher::with_program("/none"), Vec::new(), commands, |_| None);
        let about = hooks.shared.about(event, subject);
        let about = about.iter().map(|(hook, millis)| format!("{} {millis}", hook.name));
        assert_eq!(about.collect::<Vec<_>>().join(", "), expected);
        assert_eq!(hooks.matches(event, subject), !expected.is_empty());
    }

    #[test]
    fn identical_commands_run_once_with_the_longest_time() {
        let settings = [
            ("Bash", "a", Some(5)),
            ("", "b", None),
            ("Bash|Read", "a", Some(7)),
            ("Edit", "c", Some(0)),
            ("", "a  a", Some(u64::MAX)),
        ];
        let before = HookEvent::PreToolUse;
        check(&settings, before, "Bash", "a (test) 7, b (test) 60000, a a (test) 600000");
        check(&settings, before, "Edit", "b (test) 60000, c (test) 60000, a a (test) 600000");
        check(&settings[..1], before, "Read", "");
        check(&settings, HookEvent::PostToolUse, "Bash", "");
    }

    #[test]
    fn of_identical_commands_one_that_does_not_know_the_tool_is_asked() {
        let knows = ("exec|WebFetch", "guard", Some(9));
        for settings in [[knows, ("Bash", "guard", None)], [("Bash", "guard", None), knows]] {
            let command = |(matcher, command, timeout_millis): (&str, &str, _)| HookCommand {
                event: HookEvent::PreToolUse,
                matcher: matcher.into(),
                command: command.into(),
                timeout_millis,
                only: None,
                in_background: false,
                broken: None,
                source: matcher.into(),
            };
            let commands = settings.into_iter().map(command);
            let hooks =
                CommandHooks::new(Launcher::with_program("/none"), Vec::new(), commands, |_| None);
            let about = hooks.shared.about(HookEvent::PreToolUse, "exec");
            let about: Vec<_> = about.iter().map(|(hook, millis)| (&*hook.name, *millis)).collect();
            assert_eq!(about, [("guard (Bash)", HOOK_TIMEOUT_MILLIS_DEFAULT)]);
        }
    }

    #[test]
    fn a_name_is_short_and_on_one_line() {
        let line = format!("if true; then\n  {}\nfi", "x".repeat(100));
        check(
            &[("", &line, Some(1))],
            HookEvent::PreToolUse,
            "Bash",
            &format!("if true; then {}… (test) 1", "x".repeat(65)),
        );
    }
}
