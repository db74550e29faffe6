//! The compaction's model call: one request for a summary, tried again like any other.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    Block, CancellationToken, Clock, Compacted, CompactionCause, CompactionFailed, EffectId,
    Entropy, HookEvent, HookMoment, HookOutcome, HookVerdict, ModelEvent, ModelRequest, Outcome,
    Prices, Provider, ProviderError, ProviderErrorKind, Record, Reply, RequestMessage,
};
use heeler_turn::{limits, retry};

use super::Driver;
use crate::hooks::answered;

impl Driver {
    /// Asks for a summary of the first `cut` messages.
    pub(super) fn summarize(&mut self, id: EffectId, cut: u64, cause: CompactionCause) {
        let cut = usize::try_from(cut).unwrap_or(usize::MAX);
        let output_max = limits::summary_output_max(&self.state.settings);
        let request = self.state.summary_request(cut, output_max);
        let summary = Summary {
            provider: Arc::clone(&self.parts.provider),
            clock: Arc::clone(&self.parts.clock),
            entropy: Arc::clone(&self.parts.entropy),
            retry: self.parts.retry,
            prices: self.state.settings.model.prices,
        };
        let moment = HookMoment::PreCompact { cause };
        let asker = self.asker_for(HookEvent::PreCompact, moment.subject());
        self.spawn(id, CancellationToken::new(), async move {
            let heard = match asker {
                Some(asker) => asker.ask(moment).await,
                None => HookOutcome::default(),
            };
            let heard_record = answered(HookEvent::PreCompact, &heard)
                .map(|answered| Record::HookAnswered(Box::new(answered)));
            let record = match (heard.verdict, request) {
                (HookVerdict::Deny { by, reason } | HookVerdict::Stop { by, reason }, _) => {
                    failed(format!("the hook `{by}` does not let it be compacted: {reason}"))
                }
                (_, Ok(request)) => summary.record(with_words(request, &heard.context)).await,
                (_, Err(error)) => failed(error),
            };
            Outcome { effect: id, records: heard_record.into_iter().chain([record]).collect() }
        });
    }
}

struct Summary {
    provider: Arc<dyn Provider>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    retry: retry::Policy,
    prices: Option<Prices>,
}

impl Summary {
    async fn record(&self, request: ModelRequest) -> Record {
        let mut attempt = 1;
        loop {
            let error = match ask(self.provider.as_ref(), request.clone()).await {
                Ok(reply) => return self.take(&reply),
                Err(error) => error,
            };
            let Some(wait) = self.retry.next_wait(attempt, &error, self.entropy.next()) else {
                return failed(error.message);
            };
            self.clock.sleep_until(self.clock.now().plus(wait)).await;
            attempt += 1;
        }
    }

    /// Text only: calls the summarizer makes are ignored, like everything else it says.
    fn take(&self, reply: &Reply) -> Record {
        let summary: String = reply.blocks.iter().filter_map(Block::as_text).collect();
        let usage = reply.usage;
        let cost = self.prices.map(|prices| prices.cost(&usage));
        if summary.trim().is_empty() {
            let error = "the model gave an empty summary".into();
            return Record::CompactionFailed(Box::new(CompactionFailed { error, usage, cost }));
        }
        Record::Compacted(Box::new(Compacted { summary: summary.trim().to_owned(), usage, cost }))
    }
}

/// Adds what hooks say to the instruction, which stands last.
fn with_words(mut request: ModelRequest, context: &[String]) -> ModelRequest {
    let Some(last) = request.messages.last().filter(|_| !context.is_empty()) else {
        return request;
    };
    let mut message = (*last.message).clone();
    if let Some(Block::Text(instruction)) = message.blocks.last_mut() {
        let instruction = Arc::make_mut(instruction);
        for text in context {
            instruction.text.push_str("\n\n");
            instruction.text.push_str(text);
        }
    }
    request.messages.replace_last(Arc::new(RequestMessage::new(message)));
    request
}

fn failed(error: impl Into<String>) -> Record {
    Record::CompactionFailed(Box::new(CompactionFailed::because(error)))
}

async fn ask(provider: &dyn Provider, request: ModelRequest) -> Result<Reply, ProviderError> {
    let mut stream = provider.stream(request);
    while let Some(step) = stream.next().await {
        if let ModelEvent::Finished(reply) = step? {
            return Ok(reply);
        }
    }
    Err(ProviderError::new(ProviderErrorKind::Format, "the summary ended before it was whole"))
}
