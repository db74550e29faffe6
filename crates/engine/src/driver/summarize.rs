//! The compaction's model call: one request for a summary, tried again like any other.

use std::sync::Arc;

use heeler_core::{
    Block, CancellationToken, Compacted, CompactionCause, CompactionFailed, Cost, EffectId,
    HookEvent, HookMoment, HookOutcome, HookVerdict, ModelRequest, Outcome, Prices, Record, Reply,
    RequestMessage, Usage, truncate_chars,
};
use heeler_turn::limits;

use super::Driver;
use super::question::{Answered, Question};
use crate::hooks::answered;

impl Driver {
    /// Asks for a summary of the first `cut` messages.
    pub(super) fn summarize(
        &mut self,
        id: EffectId,
        cut: u64,
        cause: CompactionCause,
        focus: Option<Box<str>>,
    ) {
        let cut = usize::try_from(cut).unwrap_or(usize::MAX);
        let output_max = limits::summary_output_max(&self.state.settings);
        let request = self.state.summary_request(cut, focus.as_deref(), output_max);
        // Half of what is left of the limit: what a text comes to is an estimate.
        let tokens_left = self.state.summary_room(cut, focus.as_deref());
        let chars_per_token = u64::from(self.state.settings.estimate.chars_per_token);
        let words_max = usize::try_from(tokens_left.saturating_mul(chars_per_token) / 2);
        let words_max = words_max.unwrap_or(usize::MAX);
        let question = Question {
            provider: Arc::clone(self.provider()),
            clock: Arc::clone(&self.parts.clock),
            entropy: Arc::clone(&self.parts.entropy),
            retry: self.parts.retry,
        };
        let summary = Summary { question, prices: self.state.settings.model.prices };
        let moment = HookMoment::PreCompact { cause, focus };
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
                (_, Ok(request)) => {
                    summary.record(with_words(request, &heard.context, words_max)).await
                }
                (_, Err(error)) => failed(error),
            };
            Outcome { effect: id, records: heard_record.into_iter().chain([record]).collect() }
        });
    }
}

struct Summary {
    question: Question,
    prices: Option<Prices>,
}

impl Summary {
    async fn record(&self, request: ModelRequest) -> Record {
        let Answered { reply, usage } = self.question.ask(request).await;
        let cost = usage.cost(self.prices.as_ref());
        match reply {
            Ok(reply) => Self::take(&reply, usage, cost),
            Err(error) => {
                let error = error.message;
                // Where nothing was told, nothing is known to have been paid.
                let cost = cost.filter(|_| usage != Usage::default());
                Record::CompactionFailed(Box::new(CompactionFailed { error, usage, cost }))
            }
        }
    }

    /// Text only: calls the summarizer makes are ignored, like everything else it says.
    fn take(reply: &Reply, usage: Usage, cost: Option<Cost>) -> Record {
        let summary: String = reply.blocks.iter().filter_map(Block::as_text).collect();
        if summary.trim().is_empty() {
            let error = "the model gave an empty summary".into();
            return Record::CompactionFailed(Box::new(CompactionFailed { error, usage, cost }));
        }
        let summary = summary.trim().to_owned();
        // How much is kept beside it is judged as it is written.
        Record::Compacted(Box::new(Compacted { summary, usage, cost, kept: None }))
    }
}

/// Adds what hooks say to the instruction, which stands last, as far as there is room for it.
fn with_words(mut request: ModelRequest, context: &[String], mut chars_max: usize) -> ModelRequest {
    let Some(last) = request.messages.last().filter(|_| !context.is_empty()) else {
        return request;
    };
    let mut message = (*last.message).clone();
    if let Some(Block::Text(instruction)) = message.blocks.last_mut() {
        let instruction = Arc::make_mut(instruction);
        for text in context {
            let text = truncate_chars(text, chars_max);
            chars_max -= text.chars().count();
            if !text.is_empty() {
                instruction.text.push_str("\n\n");
                instruction.text.push_str(&text);
            }
        }
    }
    request.messages.replace_last(Arc::new(RequestMessage::new(message)));
    request
}

fn failed(error: impl Into<String>) -> Record {
    Record::CompactionFailed(Box::new(CompactionFailed::because(error)))
}
