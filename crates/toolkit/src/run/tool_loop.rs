//! The loop as one function: a provider, a model, tools and messages in; a text and rounds out.

use std::sync::Arc;
use std::time::Duration;

use heeler_core::{
    Bill, Cost, InputOrigin, LimitKind, Limits, Message, Parameters, Provider, Usage,
};

use super::background::BACKGROUND_WAIT_DEFAULT;
use super::{Run, RunError, RunErrorKind, RunResult, ToolChoiceFor, ToolSource};
use crate::Client;

/// What a [`tool_loop`] is made of.
#[derive(Clone)]
pub struct ToolLoop {
    /// Answers.
    pub provider: Arc<dyn Provider>,
    /// The model's name, as `provider/model`.
    pub model: String,
    /// The system prompt; empty for none.
    pub system: String,
    /// What the model can call, if anything.
    pub tools: Option<ToolSource>,
    /// The most model calls; 0 for no limit.
    pub rounds: u32,
    /// The most tokens of one answer; 0 for what the model gives.
    pub output_max: u64,
    /// Temperature and the like.
    pub parameters: Parameters,
    /// For which of its model calls a forced choice of tools holds.
    pub tool_choice_for: ToolChoiceFor,
    /// How long work that calls left in the background is waited for, all in all.
    pub background_wait: Duration,
}

/// How a [`tool_loop`] ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolLoopEnd {
    /// The model's final text; empty when it came to none.
    pub text: String,
    /// How many answers the model gave.
    pub rounds: u32,
    /// The model wanted to go on, and was not asked again.
    pub reached_limit: bool,
    /// Tokens of all model calls, failed ones included.
    pub usage: Usage,
    /// What they cost, as far as prices are known.
    pub cost: Cost,
    /// Whether there is more than `cost`, which is not known.
    pub cost_is_partial: bool,
    /// What the program, or its user, should know of: [`RunResult::notices`].
    pub notices: Vec<String>,
}

impl ToolLoopEnd {
    fn of(result: &RunResult) -> Self {
        let RunResult { rounds, usage, cost, cost_is_partial, .. } = *result;
        let (text, reached_limit, notices) = (String::new(), false, result.notices.clone());
        Self { text, rounds, reached_limit, usage, cost, cost_is_partial, notices }
    }

    /// What the model calls cost, with whether there is more.
    #[must_use]
    pub fn bill(&self) -> Bill {
        Bill {
            cost: self.cost,
            is_partial: self.cost_is_partial,
            is_estimated: self.usage.is_estimated,
        }
    }
}

impl ToolLoop {
    /// A loop without tools and of at most so many rounds as [`Limits::default`] says.
    pub fn new(provider: impl Provider, model: impl Into<String>) -> Self {
        Self {
            provider: Arc::new(provider),
            model: model.into(),
            system: String::new(),
            tools: None,
            rounds: Limits::default().rounds,
            output_max: 0,
            parameters: Parameters::default(),
            tool_choice_for: ToolChoiceFor::default(),
            background_wait: BACKGROUND_WAIT_DEFAULT,
        }
    }
}

/// Asks the model, runs what it calls, and asks again, until it calls nothing or may not be asked any
/// more. Work that calls left in the background is waited for, and its results are answered. It is a [`Run`] of a [`Client`], for programs that want no more than this.
///
/// ```
/// use heeler_core::{InputOrigin, Message};
/// use heeler_script::{ReplySpec, Script};
/// use heeler_providers::scripted::Scripted;
/// use heeler_toolkit::{ToolLoop, tool_loop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let clock = std::sync::Arc::new(heeler_engine::SystemClock);
/// # let provider = Scripted::from_script(Script::of([ReplySpec::text("Hello.")]), clock);
/// let config = ToolLoop::new(provider, "script/test");
/// let end = tool_loop(config, [Message::user("Hi!")], InputOrigin::chat("matrix", "a")).await?;
/// assert_eq!((end.text.as_str(), end.rounds), ("Hello.", 1));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Whatever a run fails with, but for the limit of rounds: that is an end like another.
pub async fn tool_loop(
    config: ToolLoop,
    messages: impl IntoIterator<Item = Message>,
    origin: InputOrigin,
) -> Result<ToolLoopEnd, RunError> {
    let ToolLoop {
        provider,
        model,
        system,
        tools,
        rounds,
        output_max,
        parameters,
        tool_choice_for,
        background_wait,
    } = config;
    let failed = |error: crate::ClientError| {
        let kind = RunErrorKind::Failed(error.to_string());
        RunError { kind, iteration: 0, result: Box::default() }
    };
    let client = Client::shared(provider, model).map_err(failed)?;
    let client = client.output_max(output_max).parameters(parameters);
    let run = Run::new(messages)
        .system(system)
        .rounds(rounds)
        .origin(origin)
        .background_wait(background_wait)
        .tool_choice_for(tool_choice_for);
    let run = match tools {
        Some(tools) => run.tools(tools),
        None => run,
    };
    match client.run(run).await {
        Ok(result) => Ok(ToolLoopEnd { text: result.final_text(), ..ToolLoopEnd::of(&result) }),
        Err(RunError { kind: RunErrorKind::Limit(LimitKind::Rounds), result, .. }) => {
            Ok(ToolLoopEnd { reached_limit: true, ..ToolLoopEnd::of(&result) })
        }
        Err(error) => Err(error),
    }
}
