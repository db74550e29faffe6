//! An agent: a client with what it is told, what it can call, and how its history is kept short.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use heeler_core::{Hooks, Limits, Message, Provider, ToolContext, ToolOutput};

use crate::{
    Binding, Client, ContextManager, Layer, Run, RunError, RunErrorKind, RunResult, RunStream,
    SchemaError, ToolSource, tool,
};

/// A client with a system prompt, tools and limits; plain data, cheap to clone. It keeps no
/// conversation: a step takes a history and gives a longer one.
///
/// ```no_run
/// # async fn example(client: heeler_toolkit::Client, tools: heeler_toolkit::Toolset)
/// # -> Result<(), heeler_toolkit::RunError> {
/// use heeler_core::Message;
/// use heeler_toolkit::Agent;
///
/// let agent = Agent::new(client).system("You tidy folders.").tools(tools).rounds(30);
/// let result = agent.step([Message::user("Tidy this one.")]).await?;
/// println!("{}", result.final_text());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(crate) client: Client,
    pub(crate) template: Run,
}

impl Agent {
    /// An agent without tools.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, template: Run::default() }
    }

    /// With a system prompt.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.template = self.template.system(system);
        self
    }

    /// With tools.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<ToolSource>) -> Self {
        self.template = self.template.tools(tools);
        self
    }

    /// With requests kept within a number of tokens.
    #[must_use]
    pub fn context(mut self, context: ContextManager) -> Self {
        self.template = self.template.context(context);
        self
    }

    /// At most so many model calls a step; 0 for no limit, 50 when nothing is said.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.template = self.template.rounds(rounds);
        self
    }

    /// With other limits: rounds, calls, tokens, money, time.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.template = self.template.limits(limits);
        self
    }

    /// Told of what happens.
    #[must_use]
    pub fn hooks(mut self, hooks: AgentHooks) -> Self {
        self.template.hooks = hooks;
        self
    }

    /// With anything else that a run may be given.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(Run) -> Run) -> Self {
        self.template = change(self.template);
        self
    }

    /// Goes on from a history, to the model's final answer. The result's history is whole, whatever
    /// was trimmed on the way.
    ///
    /// # Errors
    /// As [`Client::run`].
    pub async fn step(
        &self,
        history: impl IntoIterator<Item = Message>,
    ) -> Result<RunResult, RunError> {
        self.step_stream(history).finish().await
    }

    /// As [`Agent::step`], as it happens.
    pub fn step_stream(&self, history: impl IntoIterator<Item = Message>) -> RunStream {
        let run = Run { history: history.into_iter().collect(), ..self.template.clone() };
        self.client.run_stream(run)
    }

    /// The same agent with another provider, and each tool with another function. It waits for nothing
    /// and tells no recorder.
    pub(crate) fn replaying(&self, provider: Arc<dyn Provider>, tools: &dyn Layer) -> Self {
        let mut template = self.template.clone();
        template.tools = template.tools.wrap(tools);
        Self { client: self.client.replaying(provider), template }
    }

    /// The agent as a tool of another one: it is given a task, begins with nothing else, and answers
    /// with its final text, or with an error that repeats the last it said. It works in the folder of
    /// the run that calls it and ends with that, and is no wider than it: each of its calls is judged by
    /// that run's policy, too, and that run's approvers are asked ([`Run::within`]). So the tool itself
    /// touches nothing, and needs no rule unless its metadata says that it is to be confirmed. What it took (model calls, tokens, money),
    /// with what it has to tell of itself ([`RunResult::notices`]), is told the user beside the answer
    /// ([`RunEvent::ToolText`](crate::RunEvent::ToolText)); it is no part of that run's own usage.
    ///
    /// # Errors
    /// Never for the input that it has; the schema is checked like any other.
    pub fn into_tool(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Result<Binding, SchemaError> {
        let (agent, name) = (Arc::new(self), name.into());
        let called: Arc<str> = name.as_str().into();
        let binding = tool(name, description, move |context: ToolContext, task: Task| {
            let (agent, called) = (Arc::clone(&agent), Arc::clone(&called));
            let run = Run {
                history: vec![Message::user(task.task)],
                // What it says is for its caller.
                outbound: None,
                ..agent.template.clone()
            };
            let run = run.within(&context);
            async move {
                let mut failure = String::new();
                let (output, result) = match agent.client.run(run).await {
                    Ok(result) if result.final_text().trim().is_empty() => {
                        (ToolOutput::error("the agent ended without saying anything"), result)
                    }
                    Ok(result) => (ToolOutput::text(result.final_text()), result),
                    Err(error) => {
                        failure = error
                            .provider_error()
                            .map_or_else(String::new, |_| format!("; {error}"));
                        (ToolOutput::error(unfinished(&error)), *error.result)
                    }
                };
                let mut for_user = taken(&called, &result) + &failure;
                for notice in &result.notices {
                    for_user.push('\n');
                    for_user.push_str(notice);
                }
                ToolOutput { for_user, ..output }
            }
        })?;
        Ok(binding.touching(|_, _| Vec::new()))
    }
}

/// What an agent is asked as a tool.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Task {
    /// All that the agent needs to know: it sees nothing of this conversation.
    task: String,
}

/// The most characters of what an agent said before it failed.
const PARTIAL_CHARS_MAX: usize = 1000;

/// What a run took, in words for the user.
fn taken(name: &str, result: &RunResult) -> String {
    let RunResult { rounds, usage, .. } = result;
    format!("{name}: model calls {rounds}, tokens {}, {}", usage.total(), result.bill())
}

fn unfinished(error: &RunError) -> String {
    // What a provider says is for whoever has the key, and for no model.
    let why = match &error.kind {
        RunErrorKind::Provider { .. } => "its provider failed".to_owned(),
        // Why is the last it said.
        RunErrorKind::Refused(_) => "the model refused to answer".to_owned(),
        _ => error.to_string(),
    };
    let said = error.result.final_text();
    match said.trim() {
        "" => format!("the agent did not finish: {why}"),
        said => format!(
            "the agent did not finish: {why}. The last it said: {}",
            heeler_core::truncate_chars(said, PARTIAL_CHARS_MAX)
        ),
    }
}

/// Told of what an agent does. Each is called from within the run and must return at once; one that
/// panics is passed over.
///
/// ```
/// use heeler_toolkit::AgentHooks;
///
/// let hooks = AgentHooks::default()
///     .on_iteration(|number, sent| println!("call {number} sends {} messages", sent.len()))
///     .on_step_done(|result| println!("{}", if result.is_ok() { "done" } else { "failed" }));
/// ```
#[derive(Clone, Default)]
pub struct AgentHooks {
    step: Option<Arc<OnStep>>,
    iteration: Option<Arc<OnIteration>>,
    done: Option<Arc<OnStepDone>>,
    /// Asked before a run ends: not to be had from outside, where hooks only listen.
    pub(crate) end: Option<Arc<dyn Hooks>>,
}

type OnStep = dyn Fn(&[Message]) + Send + Sync;
type OnIteration = dyn Fn(u32, &[Message]) + Send + Sync;
type OnStepDone = dyn Fn(&Result<RunResult, RunError>) + Send + Sync;

impl AgentHooks {
    /// Told once, before the first request, what of the history is sent; not when trimming fails.
    #[must_use]
    pub fn on_step(mut self, hook: impl Fn(&[Message]) + Send + Sync + 'static) -> Self {
        self.step = Some(Arc::new(hook));
        self
    }

    /// Told before each model call its number, from 0, and what is really sent of the history. A
    /// failed request that is sent again is the same call, and not told again.
    #[must_use]
    pub fn on_iteration(mut self, hook: impl Fn(u32, &[Message]) + Send + Sync + 'static) -> Self {
        self.iteration = Some(Arc::new(hook));
        self
    }

    /// Told what a step gave, also when it failed or could not begin; not when its first trimming failed, nor of a step
    /// that was dropped before its end.
    #[must_use]
    pub fn on_step_done(
        mut self,
        hook: impl Fn(&Result<RunResult, RunError>) + Send + Sync + 'static,
    ) -> Self {
        self.done = Some(Arc::new(hook));
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.step.is_none() && self.iteration.is_none()
    }

    pub(crate) fn tell_step(&self, messages: &[Message]) {
        tell(self.step.as_ref(), |hook| hook(messages));
    }

    pub(crate) fn tell_iteration(&self, iteration: u32, messages: &[Message]) {
        tell(self.iteration.as_ref(), |hook| hook(iteration, messages));
    }

    pub(crate) fn tell_done(&self, result: &Result<RunResult, RunError>) {
        let is_first_trim = matches!(result, Err(error)
            if error.iteration == 0 && matches!(error.kind, RunErrorKind::Context(_)));
        if !is_first_trim {
            tell(self.done.as_ref(), |hook| hook(result));
        }
    }
}

impl fmt::Debug for AgentHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentHooks").finish_non_exhaustive()
    }
}

fn tell<H: ?Sized>(hook: Option<&Arc<H>>, call: impl FnOnce(&H)) {
    if let Some(hook) = hook {
        let _ = catch_unwind(AssertUnwindSafe(|| call(hook)));
    }
}
