//! The commands of settings files as one promise: those that match, at once, and joined.

use std::path::PathBuf;
use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    BoxFuture, HookEnd, HookEvent, HookOutcome, HookRequest, Hooks, SessionId, truncate_chars,
};
use heeler_sandbox::Launcher;

use crate::answer::{self, Said, broken};
use crate::matcher::Matcher;
use crate::process::{Ended, HOOK_TIMEOUT_MILLIS_DEFAULT, HOOK_TIMEOUT_MILLIS_MAX, Place};
use crate::told::told;

/// The most hooks of one moment that run at once.
const AT_ONCE_MAX: usize = 16;
/// The most characters of a command in its name.
const NAME_CHARS_MAX: usize = 80;

/// One hook, as a settings file says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// The moment.
    pub event: HookEvent,
    /// Which tools or kinds it is about: names apart by `|`, a pattern, or nothing for all.
    pub matcher: String,
    /// The command line, run by bash (sh where there is none) in the workspace.
    pub command: String,
    /// How long it may run; without, a minute.
    pub timeout_millis: Option<u64>,
    /// The file it is from, for people.
    pub source: String,
}

/// Hooks that are commands.
#[derive(Clone)]
pub struct CommandHooks {
    shared: Arc<Shared>,
}

type Transcripts = Box<dyn Fn(&SessionId) -> Option<PathBuf> + Send + Sync>;

struct Shared {
    launcher: Launcher,
    environment: Vec<(String, String)>,
    hooks: Vec<Arc<Hook>>,
    transcripts: Transcripts,
}

struct Hook {
    command: HookCommand,
    matcher: Matcher,
    /// What it is called in events, journals and messages.
    name: String,
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
        let hooks = commands.into_iter().map(|command| Arc::new(Hook::new(command))).collect();
        let transcripts = Box::new(transcripts);
        Self { shared: Arc::new(Shared { launcher, environment, hooks, transcripts }) }
    }
}

impl Hooks for CommandHooks {
    fn matches(&self, event: HookEvent, subject: &str) -> bool {
        self.shared.hooks.iter().any(|hook| hook.is_about(event, subject))
    }

    fn run(&self, request: HookRequest) -> BoxFuture<HookOutcome> {
        let shared = Arc::clone(&self.shared);
        Box::pin(shared.run(request))
    }
}

impl Shared {
    async fn run(self: Arc<Self>, request: HookRequest) -> HookOutcome {
        let transcript = (self.transcripts)(&request.session);
        let told: Arc<str> = told(&request, transcript.as_deref()).into();
        let hooks = self.about(request.moment.event(), request.moment.subject());
        let runs = hooks.into_iter().map(|(hook, timeout_millis)| {
            let (shared, request, told) = (Arc::clone(&self), request.clone(), Arc::clone(&told));
            async move { shared.run_one(&hook, timeout_millis, &request, &told).await }
        });
        // In the order of the settings, whoever ends first.
        let outcomes = futures::stream::iter(runs).buffered(AT_ONCE_MAX);
        outcomes.fold(HookOutcome::default(), async |all, one| all.join(one)).await
    }

    /// The hooks of a moment, each command once, with the longest time that any gives it.
    fn about(&self, event: HookEvent, subject: &str) -> Vec<(Arc<Hook>, u64)> {
        let mut found: Vec<(Arc<Hook>, u64)> = Vec::new();
        for hook in self.hooks.iter().filter(|hook| hook.is_about(event, subject)) {
            let same = |(other, _): &&mut (Arc<Hook>, u64)| {
                other.command.command == hook.command.command && !other.is_broken()
            };
            match found.iter_mut().find(same).filter(|_| !hook.is_broken()) {
                Some((_, millis)) => *millis = hook.timeout_millis().max(*millis),
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
        told: &str,
    ) -> HookOutcome {
        let started = request.clock.now();
        request.watch.started(&hook.name);
        let (outcome, end) = match &hook.matcher {
            Matcher::Broken(why) => ended(broken(&hook.name, why.clone())),
            _ => self.hear(hook, timeout_millis, request, told).await,
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
            Ended::Exited { exit, output, errors } => {
                let said = Said { exit, output: &output, errors: &errors };
                ended(answer::read(request.moment.event(), &hook.name, said))
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
        others.cloned().chain(ours).collect()
    }
}

fn ended(outcome: HookOutcome) -> (HookOutcome, HookEnd) {
    let end = HookEnd::from(&outcome.verdict);
    (outcome, end)
}

impl Hook {
    fn new(command: HookCommand) -> Self {
        let line = command.command.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = truncate_chars(&line, NAME_CHARS_MAX);
        let name = match command.source.as_str() {
            "" => name.into_owned(),
            source => format!("{name} ({source})"),
        };
        Self { matcher: Matcher::read(&command.matcher), name, command }
    }

    fn is_about(&self, event: HookEvent, subject: &str) -> bool {
        // Where there is nothing to tell apart, a matcher is not looked at.
        use HookEvent::{
            PermissionRequest, PostToolUse, PostToolUseFailure, PreToolUse, Stop, UserPromptSubmit,
        };
        let matches = || match event {
            UserPromptSubmit | Stop => true,
            PreToolUse | PermissionRequest | PostToolUse | PostToolUseFailure => {
                self.matcher.matches_tool(subject)
            }
            _ => self.matcher.matches(subject),
        };
        self.command.event == event && matches()
    }

    fn is_broken(&self) -> bool {
        matches!(self.matcher, Matcher::Broken(_))
    }

    fn timeout_millis(&self) -> u64 {
        let asked = self.command.timeout_millis.filter(|millis| *millis > 0);
        asked.unwrap_or(HOOK_TIMEOUT_MILLIS_DEFAULT).min(HOOK_TIMEOUT_MILLIS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
