//! What stands between the engine and the caller's provider: trims what is sent, tells hooks, and
//! keeps the provider's own words about a failure.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use heeler_core::{
    AcceptedAnswer, EventStream, Message, ModelRequest, Provider, ProviderError, ProviderErrorKind,
    RequestMessages, SessionId, ToolChoice, ToolDefinition,
};
use heeler_turn::estimate::weigh_tools;
use heeler_turn::{CharacterEstimate, History, TokenEstimate};
use tokio::sync::Mutex;

use super::journal::Watch;
use super::{Run, ToolChoiceFor};
use crate::agent::AgentHooks;
use crate::context::{CHARS_PER_TOKEN, Fitted, Trimmer};

/// The caller's provider as a run sees it.
#[derive(Clone)]
pub(super) struct RunProvider {
    inner: Arc<dyn Provider>,
    watch: Arc<Watch>,
    trimmer: Option<Arc<Mutex<Trimmer>>>,
    hooks: AgentHooks,
    choice_for: ToolChoiceFor,
    /// The run's own session.
    session: SessionId,
    /// The name of the model, where it answers in another one's place.
    fallback: Option<Arc<str>>,
}

impl RunProvider {
    pub(super) fn new(
        inner: Arc<dyn Provider>,
        watch: Arc<Watch>,
        run: &Run,
        session: SessionId,
    ) -> Self {
        let context = run.context.clone();
        let trimmer = context.map(|context| Arc::new(Mutex::new(Trimmer::new(context))));
        let (hooks, choice_for) = (run.hooks.clone(), run.tool_choice_for);
        Self { inner, watch, trimmer, hooks, choice_for, session, fallback: None }
    }

    /// The same around the provider of a model that answers in the first one's place: what was left
    /// out of the conversation stays left out, and hooks are told no less.
    pub(super) fn around(&self, inner: Arc<dyn Provider>, model: &str) -> Self {
        Self { inner, fallback: Some(model.into()), ..self.clone() }
    }

    fn send(&self, request: ModelRequest) -> EventStream {
        self.watched(self.inner.stream(request))
    }

    fn watched(&self, answer: EventStream) -> EventStream {
        let watch = Arc::clone(&self.watch);
        answer
            .inspect(move |step| {
                if let Err(error) = step {
                    watch.seen().error = Some(error.clone());
                }
            })
            .boxed()
    }

    /// The request as it is asked for in its place in the run: a call is forced only as often as was
    /// said.
    fn placed(&self, mut request: ModelRequest) -> ModelRequest {
        let choice = &mut request.parameters.tool_choice;
        let forces = matches!(choice, Some(ToolChoice::Any | ToolChoice::Tool(_)));
        let holds = match self.choice_for {
            ToolChoiceFor::FirstCall => self.watch.seen().round <= 1,
            ToolChoiceFor::EachCall => true,
        };
        if forces && !holds {
            *choice = None;
        }
        request
    }

    /// The request with what fits of its conversation, once hooks were told of it.
    async fn prepare(&self, mut request: ModelRequest) -> Result<ModelRequest, ProviderError> {
        let (mut messages, mut changes) = (None, changes(&request));
        if let Some(trimmer) = &self.trimmer {
            let whole = request.messages.iter().map(|said| Arc::clone(&said.message)).collect();
            let mut trimmer = trimmer.lock().await;
            let fitted = trimmer.fit(whole, weight_beside(&request)).await;
            // What is cut begins otherwise, and what follows goes on from that.
            changes += trimmer.cuts;
            let Fitted { messages: sent, fits, is_trimmed, usage, .. } =
                fitted.map_err(|error| {
                    let text = error.to_string();
                    self.watch.seen().context_error = Some(error);
                    // Ends the turn; it is told as what it is, not as this.
                    ProviderError::new(ProviderErrorKind::InvalidRequest, text)
                })?;
            let mut seen = self.watch.seen();
            seen.summaries += usage;
            seen.is_over_budget = !fits;
            drop(seen);
            messages = is_trimmed.then_some(sent);
        }
        if let Some(sent) = &messages {
            request.messages = joined(sent);
            request.stable = request.messages.len();
        }
        request.epoch = self.epoch(&request, changes);
        self.tell_hooks(&request);
        Ok(request)
    }

    /// The epoch of a request, among those of all runs. Every run counts its own from 1, and a script
    /// that plays for several believes that equal numbers have equal beginnings. So it is named by
    /// what stands before the history; once the history was changed, also by its run.
    fn epoch(&self, request: &ModelRequest, changes: u32) -> u32 {
        let mut hasher = DefaultHasher::new();
        (&request.model, &request.system).hash(&mut hasher);
        for ToolDefinition { name, description, input_schema, raw, .. } in &*request.tools {
            (name, description, input_schema.get()).hash(&mut hasher);
            raw.as_ref().map(|item| item.json.get()).hash(&mut hasher);
        }
        for item in &*request.provider_tools {
            item.json.get().hash(&mut hasher);
        }
        if changes > 0 {
            (self.session.as_str(), changes).hash(&mut hasher);
        }
        let [a, b, c, d, ..] = hasher.finish().to_be_bytes();
        u32::from_be_bytes([a, b, c, d])
    }

    fn tell_hooks(&self, request: &ModelRequest) {
        let (round, attempt) = {
            let seen = self.watch.seen();
            (seen.round, seen.attempt)
        };
        // A request that is sent again is the same one.
        if self.hooks.is_empty() || attempt > 1 {
            return;
        }
        let sent: Vec<Message> =
            request.messages.iter().map(|said| (*said.message).clone()).collect();
        if round == 1 {
            self.hooks.tell_step(&sent);
        }
        self.hooks.tell_iteration(round.saturating_sub(1), &sent);
    }
}

impl Provider for RunProvider {
    fn stream(&self, request: ModelRequest) -> EventStream {
        if let Some(model) = &self.watch.seen().untold {
            // Ends the turn; it is told as what it is, not as this.
            let text = format!("nobody knows what {model} has cost");
            let error = ProviderError::new(ProviderErrorKind::InvalidRequest, text);
            return futures::stream::iter([Err(error)]).boxed();
        }
        self.watch.seen().fallback.clone_from(&self.fallback);
        let mut request = self.placed(request);
        if self.trimmer.is_none() && self.hooks.is_empty() {
            request.epoch = self.epoch(&request, changes(&request));
            return self.send(request);
        }
        let this = self.clone();
        let sending = async move {
            match this.prepare(request).await {
                Ok(request) => this.send(request),
                Err(error) => futures::stream::iter([Err(error)]).boxed(),
            }
        };
        sending.into_stream().flatten().boxed()
    }

    fn resume(&self, request: ModelRequest, answer: AcceptedAnswer) -> EventStream {
        self.watch.seen().fallback.clone_from(&self.fallback);
        self.watched(self.inner.resume(self.placed(request), answer))
    }

    fn prewarm(&self) {
        self.inner.prewarm();
    }
}

/// How often what is sent in a run had to begin otherwise.
fn changes(request: &ModelRequest) -> u32 {
    request.epoch.saturating_sub(1)
}

/// A conversation in request form: neighbours of one role joined.
fn joined(messages: &[Arc<Message>]) -> RequestMessages {
    let mut history = History::new(Arc::new(CharacterEstimate::new(CHARS_PER_TOKEN)));
    let messages: Vec<Message> = messages.iter().map(|message| (**message).clone()).collect();
    history.push_given(&messages);
    history.request().clone()
}

/// Estimated tokens of the system prompt and the tools.
fn weight_beside(request: &ModelRequest) -> u64 {
    let estimate = CharacterEstimate::new(CHARS_PER_TOKEN);
    let tools = weigh_tools(&estimate, &request.tools, &request.provider_tools);
    estimate.tokens(estimate.weigh(&request.system) + tools)
}
