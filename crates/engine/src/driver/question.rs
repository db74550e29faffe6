//! One question to a model outside of any turn: asked again for as long as that may help.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    Clock, Entropy, ModelEvent, ModelRequest, Provider, ProviderError, ProviderErrorKind, Reply,
};
use heeler_turn::retry;

/// Who is asked, and how patiently.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) retry: retry::Policy,
}

impl Question {
    /// The whole answer. Nothing it asks for is done.
    pub(crate) async fn ask(&self, request: ModelRequest) -> Result<Reply, ProviderError> {
        let mut attempt = 1;
        loop {
            let error = match ask(self.provider.as_ref(), request.clone()).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let Some(wait) = self.retry.next_wait(attempt, &error, self.entropy.next()) else {
                return Err(error);
            };
            self.clock.sleep_until(self.clock.now().plus(wait)).await;
            attempt += 1;
        }
    }
}

async fn ask(provider: &dyn Provider, request: ModelRequest) -> Result<Reply, ProviderError> {
    let mut stream = provider.stream(request);
    while let Some(step) = stream.next().await {
        if let ModelEvent::Finished(reply) = step? {
            return Ok(reply);
        }
    }
    Err(ProviderError::new(ProviderErrorKind::Format, "the answer ended before it was whole"))
}
