//! One hook: what it is about, and what of its word counts.

use heeler_core::{HookEvent, HookOutcome, HookRequest, HookRule, HookVerdict, HookedCall};

use crate::condition;
use crate::matcher::Matcher;
use crate::name::Names;
use crate::process::{HOOK_TIMEOUT_MILLIS_DEFAULT, HOOK_TIMEOUT_MILLIS_MAX};

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
    /// Which calls it is about beyond its matcher. With one it never runs at a moment without a call.
    pub only: Option<HookRule>,
    /// Whether nobody waits for it, and so nothing hangs on what it says.
    pub in_background: bool,
    /// Why it cannot be run as it was meant; it is broken wherever it matches.
    pub broken: Option<String>,
    /// The file it is from, for people.
    pub source: String,
}

/// A hook that is ready to be asked.
pub(crate) struct Hook {
    pub(crate) command: HookCommand,
    pub(crate) matcher: Matcher,
    /// What it is called in events, journals and messages.
    pub(crate) name: String,
}

impl Hook {
    pub(crate) fn new(command: HookCommand, names: &Names) -> Self {
        let name = names.of(&command.command, &command.source);
        let matcher = match command.event.is_of_call() {
            true => Matcher::of_tools(&command.matcher),
            false => Matcher::read(&command.matcher),
        };
        Self { matcher, name, command }
    }

    pub(crate) fn is_about(&self, event: HookEvent, subject: &str) -> bool {
        let matches = || match event {
            // Where there is nothing to tell apart, a matcher is not looked at.
            HookEvent::UserPromptSubmit | HookEvent::Stop => true,
            _ if event.is_of_call() => self.matcher.matches_tool(subject),
            _ => self.matcher.matches(subject),
        };
        let has_calls = self.command.only.is_none() || event.is_of_call();
        self.command.event == event && has_calls && matches()
    }

    /// Whether it may be about this call, if it is one.
    pub(crate) fn may_mean(&self, call: Option<&HookedCall>, workspace: &str) -> bool {
        let only = self.command.only.as_ref().zip(call);
        only.is_none_or(|(rule, call)| condition::may_mean(rule, call, workspace))
    }

    /// What it says, but for allowing more than it is about.
    pub(crate) fn heeded(&self, outcome: HookOutcome, request: &HookRequest) -> HookOutcome {
        let only = self.command.only.as_ref().zip(request.moment.call());
        let covers =
            |(rule, call)| condition::covers(rule, call, &request.workspace.to_string_lossy());
        match outcome.verdict {
            HookVerdict::Allow { .. } if !only.is_none_or(covers) => {
                HookOutcome { verdict: HookVerdict::Continue, ..outcome }
            }
            _ => outcome,
        }
    }

    /// Why it is not run at all.
    pub(crate) fn broken(&self) -> Option<&str> {
        let of_matcher = match &self.matcher {
            Matcher::Broken(why) => Some(&**why),
            _ => None,
        };
        self.command.broken.as_deref().or(of_matcher)
    }

    pub(crate) fn timeout_millis(&self) -> u64 {
        let asked = self.command.timeout_millis.filter(|millis| *millis > 0);
        asked.unwrap_or(HOOK_TIMEOUT_MILLIS_DEFAULT).min(HOOK_TIMEOUT_MILLIS_MAX)
    }
}

/// A hook that is asked about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedHook {
    /// What it is called in events and towards the model.
    pub name: String,
    /// As it was given; where it does not run whatever was given, with why.
    pub command: HookCommand,
}

impl AskedHook {
    pub(crate) fn of(hook: &Hook) -> Self {
        let broken = hook.broken().map(str::to_owned);
        Self { name: hook.name.clone(), command: HookCommand { broken, ..hook.command.clone() } }
    }
}
