//! A client: who answers, as which model, and when a request is sent again.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{Stream, StreamExt};
use heeler_core::{
    Clock, Cost, Entropy, Message, ModelSettings, Parameters, Prices, Provider, ProviderError,
    StopReason, Usage,
};
use heeler_engine::{Fallback, OsEntropy, Parts, SystemClock};
use heeler_providers::{NameError, NamedModel, catalogue};
use heeler_sessions::{QueuedRecorder, Recorder};
use heeler_turn::retry;

use crate::{Run, RunError, RunErrorKind, RunEvent, RunResult, RunStream};

/// Asks a model. It keeps no conversation; cheap to clone, and shared by as many tasks as like.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use heeler_core::Message;
/// use heeler_providers::anthropic::{Anthropic, AnthropicSettings};
/// use heeler_toolkit::Client;
///
/// let provider = Anthropic::new(&AnthropicSettings::with_api_key("sk-..."))?;
/// let client = Client::new(provider, "anthropic/claude-sonnet-5-5")?;
/// let answer = client.ask("Be brief.", [Message::user("Why is the sky blue?")]).await?;
/// println!("{}", answer.message.text());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    provider: Arc<dyn Provider>,
    /// Shared, since it is changed rarely and copied with each client.
    settings: Arc<ClientSettings>,
}

#[derive(Clone)]
struct ClientSettings {
    model: ModelSettings,
    /// What the caller set in the place of what the catalogue says; 0 for nothing.
    output_max: u64,
    fallback: Vec<Fallback>,
    retry: retry::Policy,
    on_retry: Option<OnRetry>,
    recorder: Option<Arc<dyn Recorder>>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

/// Told before a failed request is sent again.
pub(crate) type OnRetry = Arc<dyn Fn(&RetryNotice) + Send + Sync>;

/// A request failed and is about to be sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryNotice {
    /// Which attempt failed, from 1.
    pub attempt: u32,
    /// How long it waits now.
    pub wait: Duration,
    /// Why.
    pub error: ProviderError,
}

/// Why a client cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// There is no model's name.
    #[error("a client needs a model's name, such as {}", catalogue::DEFAULT_MODEL)]
    NoModel,
    /// Nobody answers to a model's name: there is none of it, or its key is missing.
    #[error(transparent)]
    Name(#[from] NameError),
}

impl Client {
    /// A client of a provider and a model's full name, `provider/model`. What the catalogue knows of
    /// the model holds: how much it can write, and its prices.
    ///
    /// # Errors
    /// Without a name. Nobody is asked whether there is such a model.
    pub fn new(provider: impl Provider, model: impl Into<String>) -> Result<Self, ClientError> {
        Self::shared(Arc::new(provider), model)
    }

    /// A client as the environment says: the model of `HEELER_MODEL`, else of `ANTHROPIC_MODEL`, else
    /// heeler's default. With `script:PATH` a [scripted model](crate::testing::scripted) answers.
    ///
    /// # Errors
    /// When there is no such model, or the key of its provider is missing, such as `ANTHROPIC_API_KEY`;
    /// the error names the variable.
    pub fn from_env() -> Result<Self, ClientError> {
        Self::find(None)
    }

    /// A client of a model by its name: `provider/NAME`, a bare name of the catalogue, or
    /// `script:PATH`. The key and the address come from the environment.
    ///
    /// # Errors
    /// When there is no such model, or its key is missing.
    pub fn named(model: impl AsRef<str>) -> Result<Self, ClientError> {
        Self::find(Some(model.as_ref()))
    }

    fn find(model: Option<&str>) -> Result<Self, ClientError> {
        let variable = |name: &str| std::env::var(name).ok();
        let model = NamedModel::find(model, variable, Arc::new(SystemClock))?;
        Self::shared(model.provider, model.name)
    }

    /// As [`Client::new`], with a provider that others use as well.
    ///
    /// # Errors
    /// Without a name.
    pub fn shared(
        provider: Arc<dyn Provider>,
        model: impl Into<String>,
    ) -> Result<Self, ClientError> {
        let settings = ClientSettings {
            model: model_settings(model.into(), Parameters::default())?,
            output_max: 0,
            fallback: Vec::new(),
            retry: retry_default(),
            on_retry: None,
            recorder: None,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy::default()),
        };
        Ok(Self { provider, settings: Arc::new(settings) })
    }

    /// The same client with something around its provider, such as a [`Cassette`](crate::Cassette).
    ///
    /// # Errors
    /// Those of `wrap`.
    pub fn wrap_provider<P: Provider, E>(
        &self,
        wrap: impl FnOnce(Arc<dyn Provider>) -> Result<P, E>,
    ) -> Result<Self, E> {
        let provider = Arc::new(wrap(self.provider())?);
        Ok(Self { provider, settings: Arc::clone(&self.settings) })
    }

    /// The same client for another model of its provider. What was set stays, but for prices and the
    /// window; what the catalogue knows is that of the other model.
    ///
    /// # Errors
    /// Without a name.
    pub fn with_model(&self, model: impl Into<String>) -> Result<Self, ClientError> {
        let parameters = self.settings.model.parameters.clone();
        let model = model_settings(model.into(), parameters)?;
        Ok(self.with(|settings| settings.model = model))
    }

    /// The same client with another behind it, whose model answers when this one's cannot: it is
    /// busy or limits us, is not paid for, or gone. Of several, in the order they are added, those
    /// behind the other one with it. It may be the same model by another key or address.
    ///
    /// Each run asks this one's model first. What was shown of a cut answer is taken back.
    #[must_use]
    pub fn or_else(&self, other: &Self) -> Self {
        let mut model = other.settings.model.clone();
        if other.settings.output_max > 0 {
            model.output_max = other.settings.output_max;
        }
        let fallback = Fallback { model, provider: Arc::clone(&other.provider) };
        self.with(|settings| {
            settings.fallback.push(fallback);
            settings.fallback.extend(other.settings.fallback.iter().cloned());
        })
    }

    /// At most so many tokens an answer, reasoning included. Without it, or with 0, what the
    /// catalogue says the model can write, and 8,192 for a model it does not know.
    #[must_use]
    pub fn output_max(&self, tokens: u64) -> Self {
        self.with(|settings| settings.output_max = tokens)
    }

    /// With the model's prices, in the place of what the catalogue says; a run with a limit of cost
    /// needs them, unless the provider says itself what it charges, as OpenRouter does. A model that
    /// costs nothing has prices of 0.
    ///
    /// ```
    /// use heeler_core::{Limits, Prices};
    /// use heeler_toolkit::{Client, Run, testing::scripted};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = scripted(r#"{"text": "Hello!"}"#)?.with_model("mine/unheard-of")?;
    /// let run = || Run::say("Hi.").limits(Limits { cost: 1_000_000_000, ..Limits::default() });
    /// assert!(client.run(run()).await.is_err());
    /// // Three dollars for a million tokens of input, fifteen for as many of output.
    /// let prices = Prices { input: 3_000, output: 15_000, cache_write: 3_750, cache_read: 300, long: None };
    /// assert!(client.prices(prices).run(run()).await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn prices(&self, prices: Prices) -> Self {
        self.with(|settings| settings.model.prices = Some(prices))
    }

    /// With the model's window in tokens, in the place of what the catalogue says.
    #[must_use]
    pub fn window(&self, tokens: u64) -> Self {
        self.with(|settings| settings.model.window = Some(tokens))
    }

    /// With parameters that are sent with each request: temperature, thinking, stop texts, tool
    /// choice, and fields of the provider's own. A choice that forces a call holds for the first
    /// model call of a run, unless the run says otherwise ([`Run::tool_choice_for`]).
    #[must_use]
    pub fn parameters(&self, parameters: Parameters) -> Self {
        self.with(|settings| settings.model.parameters = parameters)
    }

    /// Changes the parameters that are sent with each request.
    #[must_use]
    pub fn with_parameters(&self, change: impl FnOnce(&mut Parameters)) -> Self {
        self.with(|settings| change(&mut settings.model.parameters))
    }

    /// Sends a failed request again as this says. Without it a request is sent four times at most,
    /// after waits of up to one second, two and four, or as long as the provider asks for.
    ///
    /// This replaces all of it: the policy's own default is that of long sessions, six attempts and
    /// waits of up to a minute. [`Client::with_retry`] changes only what it names.
    #[must_use]
    pub fn retry(&self, retry: retry::Policy) -> Self {
        self.with(|settings| settings.retry = retry)
    }

    /// Changes when a failed request is sent again; what is not named stays: four attempts, waits
    /// that double from one second to thirty, chance included.
    ///
    /// ```
    /// # fn example(client: heeler_toolkit::Client) -> heeler_toolkit::Client {
    /// client.with_retry(|retry| retry.attempts_max = 10)
    /// # }
    /// ```
    #[must_use]
    pub fn with_retry(&self, change: impl FnOnce(&mut retry::Policy)) -> Self {
        self.with(|settings| change(&mut settings.retry))
    }

    /// Sends no failed request again.
    #[must_use]
    pub fn without_retry(&self) -> Self {
        self.with(|settings| settings.retry.attempts_max = 1)
    }

    /// Told before each wait for another attempt. It must return at once; one that panics is passed
    /// over.
    #[must_use]
    pub fn on_retry_do(&self, hook: impl Fn(&RetryNotice) + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.on_retry = Some(Arc::new(hook)))
    }

    /// Tells a recorder of every run that begins, never of [`Client::ask`]. One that is not immediate
    /// is told from a thread of its own; none changes, delays or fails a run.
    ///
    /// # Errors
    /// When that thread cannot be started.
    pub fn with_recorder(&self, recorder: impl Recorder) -> io::Result<Self> {
        let recorder: Arc<dyn Recorder> = match recorder.is_immediate() {
            true => Arc::new(recorder),
            false => Arc::new(QueuedRecorder::new(recorder)?),
        };
        Ok(self.with(|settings| settings.recorder = Some(recorder)))
    }

    /// Tells no recorder.
    #[must_use]
    pub fn without_recorder(&self) -> Self {
        self.with(|settings| settings.recorder = None)
    }

    /// With another clock and other dice, for tests.
    #[must_use]
    pub fn with_time(&self, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        self.with(|settings| (settings.clock, settings.entropy) = (clock, entropy))
    }

    /// The model's full name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.settings.model.name
    }

    /// One model call without tools. The history is not changed.
    ///
    /// # Errors
    /// When the model gave no answer; [`RunError`] says why.
    pub async fn ask(
        &self,
        system: impl Into<String>,
        history: impl IntoIterator<Item = Message>,
    ) -> Result<Answer, RunError> {
        self.ask_stream(system, history).finish().await
    }

    /// As [`Client::ask`], as it comes.
    pub fn ask_stream(
        &self,
        system: impl Into<String>,
        history: impl IntoIterator<Item = Message>,
    ) -> AskStream {
        let run = Run::new(history).system(system).rounds(1);
        AskStream(self.without_recorder().run_stream(run))
    }

    /// Calls the model and the tools it asks for, until it gives its final answer.
    ///
    /// # Errors
    /// When it does not come to that. What was done until then is the error's `result`, with a valid
    /// history: an unknown tool, an input that does not fit, a failing tool or a limit never lose
    /// one.
    pub async fn run(&self, run: Run) -> Result<RunResult, RunError> {
        self.run_stream(run).finish().await
    }

    /// As [`Client::run`], as it happens.
    pub fn run_stream(&self, run: Run) -> RunStream {
        RunStream::new(self.clone(), run)
    }

    /// The same client with another provider, whichever model answers; it waits for nothing and tells
    /// no recorder.
    pub(crate) fn replaying(&self, provider: Arc<dyn Provider>) -> Self {
        let client = self.without_recorder().with(|settings| {
            (settings.retry.base_millis, settings.retry.cap_millis) = (0, 0);
            for other in &mut settings.fallback {
                other.provider = Arc::clone(&provider);
            }
        });
        Self { provider, ..client }
    }

    pub(crate) fn provider(&self) -> Arc<dyn Provider> {
        Arc::clone(&self.provider)
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.settings.clock
    }

    pub(crate) fn entropy(&self) -> &Arc<dyn Entropy> {
        &self.settings.entropy
    }

    pub(crate) fn recorder(&self) -> Option<Arc<dyn Recorder>> {
        self.settings.recorder.clone()
    }

    pub(crate) fn on_retry(&self) -> Option<OnRetry> {
        self.settings.on_retry.clone()
    }

    /// The first of its models that has no prices, and whose provider tells none either.
    pub(crate) fn unpriced(&self) -> Option<&str> {
        let others = self.settings.fallback.iter().map(|other| (&other.model, &other.provider));
        let mut models = std::iter::once((&self.settings.model, &self.provider)).chain(others);
        let unpriced =
            models.find(|(model, provider)| model.prices.is_none() && !provider.tells_cost());
        unpriced.map(|(model, _)| &*model.name)
    }

    /// What a client decides of a session's parts.
    pub(crate) fn fill(&self, parts: &mut Parts) {
        parts.settings.model = self.settings.model.clone();
        parts.fallback.clone_from(&self.settings.fallback);
        if self.settings.output_max > 0 {
            parts.settings.model.output_max = self.settings.output_max;
        }
        // Only the caller's own context manager leaves anything out, and only its summariser asks.
        parts.settings.compaction.automatic = false;
        parts.retry = self.settings.retry;
        parts.clock = Arc::clone(&self.settings.clock);
        parts.entropy = Arc::clone(&self.settings.entropy);
        parts.heartbeat_millis = 0;
    }

    fn with(&self, change: impl FnOnce(&mut ClientSettings)) -> Self {
        let mut settings = (*self.settings).clone();
        change(&mut settings);
        Self { provider: Arc::clone(&self.provider), settings: Arc::new(settings) }
    }
}

/// Three times after the first attempt.
fn retry_default() -> retry::Policy {
    retry::Policy {
        attempts_max: 4,
        base_millis: 1000,
        cap_millis: 30_000,
        ..retry::Policy::default()
    }
}

fn model_settings(name: String, parameters: Parameters) -> Result<ModelSettings, ClientError> {
    if name.trim().is_empty() {
        return Err(ClientError::NoModel);
    }
    let mut model = ModelSettings { name, parameters, ..ModelSettings::default() };
    if let Some(known) = catalogue::lookup(&model.name) {
        model.window = Some(known.window);
        model.output_max = known.output_max;
        model.prices = Some(known.prices);
    }
    Ok(model)
}

/// A model's answer to one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What it said.
    pub message: Message,
    /// Why it stopped.
    pub stop: StopReason,
    /// Tokens of the call, failed attempts included.
    pub usage: Usage,
    /// What they cost, as far as the catalogue has prices.
    pub cost: Cost,
    /// Whether there is more than `cost`, which is not known: the model has no prices.
    pub cost_is_partial: bool,
    /// What the program should know of, such as a picture that was not sent.
    pub notices: Vec<String>,
}

/// What comes of one model call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AskEvent {
    /// More text.
    TextDelta(String),
    /// More reasoning.
    ThinkingDelta(String),
    /// The request failed: what was streamed is void. It is sent again, unless a failure
    /// [finishes](Self::Finished) it.
    Reset,
    /// Something the program should know of; the answer has it, too ([`Answer::notices`]).
    Notice(String),
    /// The whole answer; nothing follows.
    Finished(Result<Answer, RunError>),
}

/// An answer as it comes. It is cancelled when it is dropped.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use futures::StreamExt;
/// use heeler_core::Message;
/// use heeler_toolkit::{AskEvent, testing::scripted};
///
/// let mut answer = scripted(r#"{"text": "Hello!"}"#)?.ask_stream("", [Message::user("Hi.")]);
/// let mut text = String::new();
/// while let Some(event) = answer.next().await {
///     match event {
///         AskEvent::TextDelta(more) => text += &more,
///         AskEvent::Reset => text.clear(),
///         _ => {}
///     }
/// }
/// assert_eq!(text, "Hello!");
/// # Ok(())
/// # }
/// ```
#[must_use = "a model is asked when the stream is read"]
pub struct AskStream(RunStream);

impl AskStream {
    /// Waits for the whole answer.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn finish(self) -> Result<Answer, RunError> {
        answer(self.0.finish().await)
    }
}

impl Stream for AskStream {
    type Item = AskEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AskEvent>> {
        loop {
            let event = match self.0.poll_next_unpin(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(event)) => event,
            };
            return Poll::Ready(Some(match event {
                RunEvent::TextDelta { text, .. } => AskEvent::TextDelta(text),
                RunEvent::ThinkingDelta { text, .. } => AskEvent::ThinkingDelta(text),
                RunEvent::Reset { .. } | RunEvent::Resync(_) => AskEvent::Reset,
                RunEvent::Notice(text) => AskEvent::Notice(text),
                RunEvent::Finished(result) => AskEvent::Finished(answer(result)),
                _ => continue,
            }));
        }
    }
}

/// The one answer of a run. One that was cut, or that asks for tools there are not, is an answer.
fn answer(result: Result<RunResult, RunError>) -> Result<Answer, RunError> {
    let result = match result {
        Ok(result) => result,
        Err(error) if is_answer(&error) => *error.result,
        Err(error) => return Err(error),
    };
    let RunResult { usage, cost, cost_is_partial, .. } = result;
    let stop = result.stop.clone().unwrap_or(StopReason::EndTurn);
    match result.final_message().cloned() {
        Some(message) => {
            Ok(Answer { message, stop, usage, cost, cost_is_partial, notices: result.notices })
        }
        None => {
            let kind = RunErrorKind::Failed("the model replied with nothing".to_owned());
            Err(RunError { kind, iteration: 0, result: Box::new(result) })
        }
    }
}

fn is_answer(error: &RunError) -> bool {
    let ended = matches!(
        error.kind,
        RunErrorKind::Limit(_) | RunErrorKind::Truncated | RunErrorKind::Refused(_)
    );
    ended && error.result.final_message().is_some()
}
