//! One question to a model outside of any turn: asked again for as long as that may help.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    Clock, Entropy, ModelEvent, ModelRequest, Provider, ProviderError, ProviderErrorKind, Reply,
    Usage,
};
use heeler_turn::estimate::{self, TokenEstimate};
use heeler_turn::retry;

/// Who is asked, and how patiently.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) retry: retry::Policy,
    /// For answers of which nobody tells what they used.
    pub(crate) estimate: Arc<dyn TokenEstimate>,
}

/// What came of a question.
pub(crate) struct Answered {
    /// The whole answer. Nothing it asks for is done.
    pub(crate) reply: Result<Reply, ProviderError>,
    /// What all attempts used; those that failed are paid, too, as far as that was told.
    pub(crate) usage: Usage,
}

impl Question {
    pub(crate) async fn ask(&self, request: ModelRequest) -> Answered {
        let mut attempt = 1;
        let mut usage = Usage::default();
        loop {
            let mut used = Usage::default();
            let reply = ask(self.provider.as_ref(), request.clone(), &mut used).await;
            usage += match &reply {
                Ok(Reply { usage, blocks, .. }) => {
                    estimate::usage(self.estimate.as_ref(), *usage, &request, blocks)
                }
                Err(_) => used,
            };
            let Err(error) = &reply else { return Answered { reply, usage } };
            let Some(wait) = self.retry.next_wait(attempt, error, self.entropy.next()) else {
                return Answered { reply, usage };
            };
            self.clock.sleep_until(self.clock.now().plus(wait)).await;
            attempt += 1;
        }
    }
}

async fn ask(
    provider: &dyn Provider,
    request: ModelRequest,
    used: &mut Usage,
) -> Result<Reply, ProviderError> {
    let mut stream = provider.stream(request);
    while let Some(step) = stream.next().await {
        match step? {
            ModelEvent::Usage(usage) => *used = usage,
            ModelEvent::Finished(reply) => return Ok(reply),
            _ => {}
        }
    }
    Err(ProviderError::new(ProviderErrorKind::Format, "the answer ended before it was whole"))
}
