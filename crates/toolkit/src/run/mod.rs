//! A run: from a history to the model's final answer, calls included.

mod background;
mod event;
mod execute;
mod journal;
mod outcome;
mod provider;
mod recording;
mod stream;
mod tool_loop;
mod tools;
mod within;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use heeler_core::{
    Approver, CancellationToken, InputOrigin, Limits, MediaStore, Message, Outbound, Permission,
    Person, Policy, Reach, ToolContext,
};

use heeler_engine::Parts;

use crate::agent::AgentHooks;
use crate::context::ContextManager;

pub use background::BACKGROUND_WAIT_DEFAULT;
pub use event::RunEvent;
pub use outcome::{RunError, RunErrorKind, RunResult};
pub use stream::RunStream;
pub use tool_loop::{ToolLoop, ToolLoopEnd, tool_loop};
pub use tools::ToolSource;

/// What a run is given: plain data, which [`crate::Client::run`] takes.
///
/// ```
/// use heeler_core::Message;
/// use heeler_toolkit::Run;
///
/// let run = Run::new([Message::user("What is in this folder?")]).system("Be brief.").rounds(20);
/// ```
#[derive(Clone, Default)]
pub struct Run {
    /// The conversation so far; its last message is the user's. Neighbours of one role are sent as
    /// one message, and a call without a result gets one that says it was lost.
    pub history: Vec<Message>,
    /// The system prompt; empty for none.
    pub system: String,
    /// What the model can call.
    pub tools: ToolSource,
    /// When the run ends whatever the model wants; 0 means no limit. Without others, those of
    /// [`Limits::default`]. Turns that work in the background begins count together with the first.
    pub limits: Limits,
    /// The folder tools work in; `/` when empty. One that is not absolute is below the program's own
    /// folder, and one whose name is no UTF-8 is an error of the run.
    pub workspace: PathBuf,
    /// Keeps requests within a number of tokens. The result's history is whole all the same.
    pub context: Option<ContextManager>,
    /// Told of what happens.
    pub hooks: AgentHooks,
    /// For which of its model calls a forced choice of tools holds.
    pub tool_choice_for: ToolChoiceFor,
    /// What may run; everything without one: to hand a tool to a run is to permit it. One that names no
    /// workspace has that of the run.
    pub policy: Option<Policy>,
    /// Who is asked where the policy asks; without anybody it does not run.
    pub approvers: Vec<Arc<dyn Approver>>,
    /// What the run lets happen in whose call this one runs, and whom it asks: nothing runs here that
    /// would not run there. See [`Run::within`].
    pub permission: Option<Arc<Permission>>,
    /// How far tools reach, whoever lets a call run; everywhere without it.
    pub reach: Option<Arc<Reach>>,
    /// Where the input comes from; handed to every call.
    pub origin: InputOrigin,
    /// Keeps what tools make beside text, and what of their texts no model can read.
    pub media: Option<Arc<dyn MediaStore>>,
    /// Whom tools can ask.
    pub person: Option<Arc<dyn Person>>,
    /// Takes what calls have for the user, and the answer, there.
    pub outbound: Option<Arc<dyn Outbound>>,
    /// How long the run waits for work that calls left in the background; what that came to, the model
    /// answers as a further turn. What is not over then is cancelled, and the model told so. Without
    /// it, the run ends with the model's answer, and such work is told that it does.
    pub background_wait: Option<Duration>,
    /// Each of them stops the run when it is cancelled; what was done until then is in the error's
    /// result.
    pub cancel: Vec<CancellationToken>,
}

/// For which model calls of a run a choice holds that forces a call:
/// [`ToolChoice::Any`](heeler_core::ToolChoice::Any) or
/// [`ToolChoice::Tool`](heeler_core::ToolChoice::Tool). The others hold for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolChoiceFor {
    /// For the first one. Then the model decides: else it could never give its final answer, and the
    /// run would go on to its limit.
    #[default]
    FirstCall,
    /// For each one. Such a run ends with a limit, or when something else ends it.
    EachCall,
}

impl Run {
    /// A run that goes on from this history.
    #[must_use]
    pub fn new(history: impl IntoIterator<Item = Message>) -> Self {
        Self { history: history.into_iter().collect(), ..Self::default() }
    }

    /// A run that answers one text.
    #[must_use]
    pub fn say(text: impl Into<String>) -> Self {
        Self::new([Message::user(text)])
    }

    /// With a system prompt.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// With tools: a [`crate::Toolset`], or a [`crate::ToolRegistry`] that may change while it runs.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<ToolSource>) -> Self {
        self.tools = tools.into();
        self
    }

    /// At most so many model calls; 0 for no limit, 50 when nothing is said.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.limits.rounds = rounds;
        self
    }

    /// With other limits: rounds, calls, tokens, money, time.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With a folder for the tools.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.workspace = workspace.into();
        self
    }

    /// With requests kept within a number of tokens.
    #[must_use]
    pub fn context(mut self, context: ContextManager) -> Self {
        self.context = Some(context);
        self
    }

    /// With a forced choice of tools for each model call, or for the first one only.
    #[must_use]
    pub fn tool_choice_for(mut self, calls: ToolChoiceFor) -> Self {
        self.tool_choice_for = calls;
        self
    }

    /// From where the input comes, as every call is told.
    #[must_use]
    pub fn origin(mut self, origin: InputOrigin) -> Self {
        self.origin = origin;
        self
    }

    /// With somebody who takes what calls have for the user, and the answer, to them.
    #[must_use]
    pub fn outbound(mut self, outbound: Arc<dyn Outbound>) -> Self {
        self.outbound = Some(outbound);
        self
    }

    /// With a store of what tools make beside text, such as
    /// [`MemoryMedia`](heeler_store::MemoryMedia). Every run is a session of its own there.
    #[must_use]
    pub fn media(mut self, media: Arc<dyn MediaStore>) -> Self {
        self.media = Some(media);
        self
    }

    /// With somebody whom tools can ask.
    #[must_use]
    pub fn person(mut self, person: Arc<dyn Person>) -> Self {
        self.person = Some(person);
        self
    }

    /// With work in the background waited for, all in all so long.
    #[must_use]
    pub fn background_wait(mut self, limit: Duration) -> Self {
        self.background_wait = Some(limit);
        self
    }

    /// With a policy, which is enforced.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// With somebody who is asked where the policy asks.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approvers.push(approver);
        self
    }

    /// Within a call of another run: in its folder, for its origin, cancelled with it (or by
    /// a token of its own), and no wider than it. What that run's policy denies is denied here, and where it asks, its approvers are
    /// asked in the place of this run's own. These are asked only where that run asks nobody, about
    /// what its policy lets run. What this run's own policy, [`Run::reach`] and [`Run::permission`]
    /// forbid stays forbidden; relative paths in them begin in the folder that this run had, if any.
    #[must_use]
    pub fn within(mut self, context: &ToolContext) -> Self {
        if !self.workspace.as_os_str().is_empty() {
            // A folder that cannot be named stays, and is an error of the run: without its name
            // nothing that is forbidden below it would be.
            let Ok(own) = self.workspace_text() else { return self };
            if let Some(policy) = &mut self.policy {
                within::anchor(policy, &own);
            }
            if let Some(reach) = &mut self.reach {
                *reach = Arc::new(within::anchored(reach, own.as_ref()));
            }
        }
        self.workspace.clone_from(&context.workspace);
        self.cancel.push(context.cancel.clone());
        self.origin.clone_from(&context.origin);
        self.person = self.person.or_else(|| context.person.clone());
        self.permission = Some(match &self.permission {
            Some(own) => Arc::new(within::both(own, &context.permission)),
            None => Arc::clone(&context.permission),
        });
        self.reach = Some(match &self.reach {
            Some(own) => within::narrower(own, &context.reach),
            None => Arc::clone(&context.reach),
        });
        self
    }

    /// Stopped when the token is cancelled; of several, when any of them is.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: CancellationToken) -> Self {
        self.cancel.push(cancel);
        self
    }

    /// Gives the parts of a session what they have from the run.
    fn fill(&self, parts: &mut Parts) {
        self.tools.fill(parts);
        parts.system.clone_from(&self.system);
        parts.settings.limits = self.limits;
        parts.settings.background_wakes = self.background_wait.is_some();
        parts.origin.clone_from(&self.origin);
        parts.outbound.clone_from(&self.outbound);
        parts.media.clone_from(&self.media);
        parts.person.clone_from(&self.person);
        parts.hooks.clone_from(&self.hooks.end);
        parts.approvers.clone_from(&self.approvers);
        if let Some(policy) = &self.policy {
            parts.settings.policy = policy.clone();
        }
        if let Some(reach) = &self.reach {
            parts.reach = Arc::clone(reach);
        }
        if let Some(permission) = &self.permission {
            within::narrow(parts, permission);
        }
        if let Ok(folder) = self.workspace_text() {
            within::anchor(&mut parts.settings.policy, &folder);
        }
        // Nobody else can answer: a run's events only tell.
        parts.settings.policy.interactive = !parts.approvers.is_empty();
    }

    /// The folder tools work in, as a session has it: absolute.
    fn workspace_text(&self) -> Result<String, String> {
        match self.workspace.as_os_str().is_empty() {
            true => Ok("/".to_owned()),
            false => within::absolute(&self.workspace),
        }
    }
}
