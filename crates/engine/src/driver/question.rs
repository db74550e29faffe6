//! One question to a model outside of any turn: asked again for as long as that may help.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    Block, Clock, Entropy, ModelEvent, ModelRequest, Provider, ProviderError, ProviderErrorKind,
    Reply, Usage,
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

/// What the attempts at an answer used. Whoever asks keeps it, so that it is known of an answer that is
/// waited for no longer, too.
#[derive(Default)]
pub(crate) struct Used {
    /// What the attempts before used; those that failed are paid, too.
    before: Usage,
    /// What was told of the one that runs.
    told: Usage,
    /// Its text so far, once it has begun.
    text: Option<String>,
}

impl Used {
    /// All that was used, if the attempt that runs ends here.
    pub(crate) fn all(&self, estimate: &dyn TokenEstimate, request: &ModelRequest) -> Usage {
        let mut all = self.before;
        // What has begun was paid for, whoever tells.
        if self.text.is_some() || self.told != Usage::default() {
            let part: Vec<Block> = self.text.iter().map(Block::text).collect();
            all += estimate::usage_of_part(estimate, self.told, request, &part);
        }
        all
    }

    fn take(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Usage(usage) => self.told = usage,
            ModelEvent::TextDelta { text, .. } => {
                self.text.get_or_insert_default().push_str(&text);
            }
            ModelEvent::Accepted(_) | ModelEvent::Finished(_) => {}
            _ => {
                self.text.get_or_insert_default();
            }
        }
    }
}

impl Question {
    /// The whole answer; nothing it asks for is done. Asked for again, it adds to what was used.
    pub(crate) async fn ask(
        &self,
        request: &ModelRequest,
        used: &mut Used,
    ) -> Result<Reply, ProviderError> {
        let estimate = self.estimate.as_ref();
        let mut attempt = 1;
        loop {
            let reply = ask(self.provider.as_ref(), request.clone(), used).await;
            let before = match &reply {
                Ok(Reply { usage, blocks, .. }) => {
                    let mut before = used.before;
                    before += estimate::usage(estimate, *usage, request, blocks);
                    before
                }
                Err(_) => used.all(estimate, request),
            };
            *used = Used { before, ..Used::default() };
            let Err(error) = &reply else { return reply };
            let Some(wait) = self.retry.next_wait(attempt, error, self.entropy.next()) else {
                return reply;
            };
            self.clock.sleep_until(self.clock.now().plus(wait)).await;
            attempt += 1;
        }
    }
}

async fn ask(
    provider: &dyn Provider,
    request: ModelRequest,
    used: &mut Used,
) -> Result<Reply, ProviderError> {
    let mut stream = provider.stream(request);
    while let Some(step) = stream.next().await {
        match step? {
            ModelEvent::Finished(reply) => return Ok(reply),
            event => used.take(event),
        }
    }
    Err(ProviderError::new(ProviderErrorKind::Format, "the answer ended before it was whole"))
}
