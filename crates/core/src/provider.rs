//! The promise of a model provider.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Block, Parameters, ProviderItem, RequestMessages, StopReason, ToolDefinition, Usage};

/// Something that answers model requests.
///
/// The driver calls it once per attempt and decides itself about retries; an implementation never
/// retries, sleeps or caches replies. It may assume that the messages are valid: every call has
/// its result in the next message, nothing is empty, neighbours differ in role.
///
/// ```
/// use futures::{StreamExt, stream};
/// use heeler_core::{
///     Block, EventStream, ModelEvent, ModelRequest, Provider, Reply, StopReason, Usage,
/// };
///
/// /// Says the last thing it heard.
/// struct Parrot;
///
/// impl Provider for Parrot {
///     fn stream(&self, request: ModelRequest) -> EventStream {
///         let said = request.messages.last().map(|last| last.message.text()).unwrap_or_default();
///         let reply = Reply {
///             blocks: vec![Block::text(said)],
///             stop: StopReason::EndTurn,
///             usage: Usage::default(),
///             provider_id: None,
///         };
///         stream::iter([Ok(ModelEvent::Finished(reply))]).boxed()
///     }
/// }
/// ```
pub trait Provider: Send + Sync + 'static {
    /// Sends the request and streams the answer.
    ///
    /// The stream ends with exactly one [`ModelEvent::Finished`] or one error and then yields
    /// nothing more. Dropping it closes the connection. It must not panic; if it does, the driver
    /// treats that as a failed attempt.
    fn stream(&self, request: ModelRequest) -> EventStream;

    /// Goes on with an answer that was told of as [`ModelEvent::Accepted`] and whose end was never
    /// read, from its beginning; `request` is what was asked, as far as it is known. A provider that
    /// finds nothing of it ends with an error, and the driver asks anew. One that promises nothing
    /// of the kind asks anew itself.
    fn resume(&self, request: ModelRequest, answer: AcceptedAnswer) -> EventStream {
        let _ = answer;
        self.stream(request)
    }

    /// Opens the connection ahead of the first request, where that saves time.
    fn prewarm(&self) {}

    /// Whether its answers say what is charged for them, in [`Usage::charged`]: a limit of cost then
    /// needs no list of prices.
    fn tells_cost(&self) -> bool {
        false
    }
}

/// One that several share.
impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn stream(&self, request: ModelRequest) -> EventStream {
        (**self).stream(request)
    }

    fn resume(&self, request: ModelRequest, answer: AcceptedAnswer) -> EventStream {
        (**self).resume(request, answer)
    }

    fn prewarm(&self) {
        (**self).prewarm();
    }

    fn tells_cost(&self) -> bool {
        (**self).tells_cost()
    }
}

/// A stream of an answer.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ProviderError>> + Send>>;

/// One model request, cheap to clone.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The model's name without the provider's.
    pub model: Arc<str>,
    /// The rendered system prompt; empty for none.
    pub system: Arc<str>,
    /// The tools, in the order they are sent.
    pub tools: Arc<[ToolDefinition]>,
    /// Tools that the provider runs itself, declared verbatim behind the others. One of another
    /// dialect is refused, not left out.
    pub provider_tools: Arc<[ProviderItem]>,
    /// The conversation.
    pub messages: RequestMessages,
    /// How many of `messages` will stand unchanged in the next request: the place for a cache
    /// marker.
    pub stable: usize,
    /// The output limit, in tokens.
    pub output_max: u64,
    /// What else is sent.
    pub parameters: Parameters,
    /// Within one epoch the prefix is the same bytes.
    pub epoch: u32,
}

/// An answer that a provider writes whether or not somebody listens, and tells again by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedAnswer {
    /// The dialect it is told in.
    pub dialect: String,
    /// The provider's id of it.
    pub id: String,
}

/// One step of an answer. Text is provisional until [`ModelEvent::Finished`].
///
/// A block's place is the same number in all that is told of it, and another one than that of any other
/// block of the answer; blocks stand in the reply in the order of their places. It is the index in
/// [`Reply::blocks`] only where no place is left empty: some providers keep one for reasoning, say, whether or
/// not there is any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelEvent {
    /// More text of a block.
    TextDelta {
        /// The block's place.
        block: u32,
        /// The new text.
        text: String,
    },
    /// More reasoning of a block.
    ThinkingDelta {
        /// The block's place.
        block: u32,
        /// The new text.
        text: String,
    },
    /// A call begins.
    ToolUseStarted {
        /// The block's place.
        block: u32,
        /// The tool's name.
        name: String,
    },
    /// More of a call's input.
    ToolInputDelta {
        /// The block's place.
        block: u32,
        /// The new part of the JSON text.
        text: String,
    },
    /// A block is whole.
    BlockFinished {
        /// The block's place.
        block: u32,
        /// The block.
        content: Block,
    },
    /// The provider writes the answer from here on by itself: see [`Provider::resume`].
    Accepted(AcceptedAnswer),
    /// Tokens used so far, so that a failed attempt is accounted too.
    Usage(Usage),
    /// The answer is whole; the last event.
    Finished(Reply),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Its blocks in order.
    pub blocks: Vec<Block>,
    /// Why the model stopped.
    pub stop: StopReason,
    /// Tokens used.
    #[serde(default)]
    pub usage: Usage,
    /// The provider's id of the answer, for support requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
}

/// What kind of failure, for policy; never guessed from a message's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderErrorKind {
    /// The key is missing, wrong or not allowed to do this.
    Auth,
    /// Too many requests or tokens.
    RateLimit,
    /// The account cannot pay.
    Billing,
    /// The provider is busy.
    Overloaded,
    /// The request is longer than the model's window.
    ContextOverflow,
    /// The provider could not be reached, or the connection broke or fell silent.
    Network,
    /// The provider failed (5xx).
    Server,
    /// The answer could not be understood, or ended without its end marker.
    Format,
    /// There is no such model.
    UnknownModel,
    /// The provider cannot process an image or a document of the request.
    RefusedItem,
    /// The provider cannot verify reasoning that it gave out itself: its signature or encryption is of
    /// another account, or what stood before it has changed.
    RefusedReasoning,
    /// The provider refused the request as invalid.
    InvalidRequest,
}

impl ProviderErrorKind {
    /// Whether the same request may succeed a little later.
    #[must_use]
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimit | Self::Overloaded | Self::Network | Self::Server | Self::Format
        )
    }
}

/// A failed model request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What kind of failure.
    pub kind: ProviderErrorKind,
    /// The failure and, where there is one, the next step; for the user, never for the model.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The HTTP status, when there was an answer that refused.
    pub status: Option<u16>,
    /// The type the provider itself gives the failure, such as `overloaded_error`.
    pub provider_type: Option<String>,
}

impl ProviderError {
    /// A failure of this kind.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, status: None, provider_type: None }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::{StreamExt, stream};

    use super::ProviderErrorKind::*;
    use super::*;

    /// Notes what it is asked, and answers nothing.
    #[derive(Default)]
    struct Noted(Mutex<Vec<String>>);

    /// Tells what an answer cost, and nothing else.
    struct Charging;

    impl Provider for Charging {
        fn stream(&self, _: ModelRequest) -> EventStream {
            stream::empty().boxed()
        }

        fn tells_cost(&self) -> bool {
            true
        }
    }

    impl Noted {
        fn note(&self, what: String) -> EventStream {
            self.0.lock().unwrap().push(what);
            stream::empty().boxed()
        }
    }

    impl Provider for Noted {
        fn stream(&self, request: ModelRequest) -> EventStream {
            self.note(format!("stream {}", request.model))
        }

        fn resume(&self, request: ModelRequest, answer: AcceptedAnswer) -> EventStream {
            self.note(format!("resume {} of {}", answer.id, request.model))
        }

        fn prewarm(&self) {
            drop(self.note("prewarm".into()));
        }
    }

    #[test]
    fn one_that_several_share_is_asked_all_that_they_are_asked() {
        let request = || ModelRequest {
            model: "m".into(),
            system: "".into(),
            tools: Arc::default(),
            provider_tools: Arc::default(),
            messages: RequestMessages::default(),
            stable: 0,
            output_max: 1,
            parameters: Parameters::default(),
            epoch: 1,
        };
        fn ask(provider: &impl Provider, request: impl Fn() -> ModelRequest) {
            provider.prewarm();
            drop(provider.stream(request()));
            let answer = AcceptedAnswer { dialect: "d".into(), id: "7".into() };
            drop(provider.resume(request(), answer));
        }
        let noted = Arc::new(Noted::default());
        ask(&noted, request);
        let asked = noted.0.lock().unwrap().join(", ");
        assert_eq!(asked, "prewarm, stream m, resume 7 of m");
        assert!(!noted.tells_cost() && !Noted::default().tells_cost());
        assert!(Arc::new(Charging).tells_cost());
    }

    #[test]
    fn what_may_pass_is_tried_again_and_nothing_else() {
        for passing in [RateLimit, Overloaded, Network, Server, Format] {
            assert!(passing.is_transient(), "{passing:?}");
        }
        let items = [RefusedItem, RefusedReasoning];
        let others = [Auth, Billing, ContextOverflow, UnknownModel, InvalidRequest];
        for lasting in others.into_iter().chain(items) {
            assert!(!lasting.is_transient(), "{lasting:?}");
        }
    }
}
