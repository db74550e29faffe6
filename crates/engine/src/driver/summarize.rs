//! The compaction's model call: one request for a summary, tried again like any other.

use std::sync::Arc;

use heeler_core::{
    Block, CancellationToken, Compacted, CompactionCause, CompactionFailed, EffectId, HookEvent,
    HookMoment, HookOutcome, HookVerdict, ModelRequest, Outcome, Prices, ProviderErrorKind, Record,
    Reply, RequestMessage, StopReason, Usage, truncate_chars,
};
use heeler_turn::limits;

use super::Driver;
use super::fallback::answers_instead;
use super::question::{Question, Used};
use crate::hooks::answered;

/// How often a summary is asked for when the answer is none.
const TRIES_MAX: u32 = 2;
const STOPPED: &str = "the summary was stopped";
const CALLED: &str = "the model called a tool instead of summarizing";

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
            retry: self.patience(self.has_other_model()),
            estimate: self.state.estimator(),
        };
        let summary = Summary { question, prices: self.state.settings.model.prices };
        let moment = HookMoment::PreCompact { cause, focus };
        let asker = self.asker_for(HookEvent::PreCompact, moment.subject());
        let cancel = CancellationToken::new();
        self.spawn(id, cancel.clone(), async move {
            let heard = match asker {
                Some(asker) => tokio::select! {
                    biased;
                    // Nothing was asked for that would have to be paid.
                    () = cancel.cancelled() => return Outcome { effect: id, records: Vec::new() },
                    heard = asker.ask(moment) => heard,
                },
                None => HookOutcome::default(),
            };
            let heard_record = answered(HookEvent::PreCompact, &heard)
                .map(|answered| Record::HookAnswered(Box::new(answered)));
            let record = match (heard.verdict, request) {
                (HookVerdict::Deny { by, reason } | HookVerdict::Stop { by, reason }, _) => {
                    failed(format!("the hook `{by}` does not let it be compacted: {reason}"))
                }
                (_, Ok(request)) => {
                    let request = with_words(request, &heard.context, words_max);
                    summary.record(&request, &cancel).await
                }
                (_, Err(error)) => failed(error),
            };
            Outcome { effect: id, records: heard_record.into_iter().chain([record]).collect() }
        });
    }

    /// What is written of a summary that did not come, and what is told then. Where another model is
    /// asked for it, it stays due: the change is in one append with what was paid for nothing, and is
    /// nobody's choice of a model.
    pub(super) fn fail_summary(
        &mut self,
        failed: Box<CompactionFailed>,
        records: &mut Vec<Record>,
    ) -> Option<String> {
        let asked = self.state.settings.model.name.clone();
        let settings = self.other_summarizer(&failed);
        let notice =
            settings.as_deref().map(|settings| answers_instead(&asked, settings, &failed.error));
        let stays_due = failed.stays_due || settings.is_some();
        records.push(Record::CompactionFailed(Box::new(CompactionFailed { stays_due, ..*failed })));
        records.extend(settings.map(Record::SettingsChanged));
        notice
    }
}

struct Summary {
    question: Question,
    prices: Option<Prices>,
}

impl Summary {
    /// The record of the summary, or of what a failed one used. One that is stopped stays due: what it
    /// used so far is written, and who stopped it says what comes of it.
    async fn record(&self, request: &ModelRequest, cancel: &CancellationToken) -> Record {
        let mut used = Used::default();
        let made = match cancel.is_cancelled() {
            true => None,
            false => tokio::select! {
                biased;
                made = self.make(request, &mut used) => Some(made),
                () = cancel.cancelled() => None,
            },
        };
        let usage = used.all(self.question.estimate.as_ref(), request);
        // Where nothing was told, nothing is known to have been paid.
        let cost = usage.cost(self.prices.as_ref()).filter(|_| usage != Usage::default());
        let stays_due = made.is_none();
        let (error, kind) = match made {
            // How much is kept beside it is judged as it is written.
            Some(Ok(summary)) => {
                let compacted = Compacted { summary, usage, cost, kept: None };
                return Record::Compacted(Box::new(compacted));
            }
            Some(Err(failed)) => failed,
            None => (STOPPED.to_owned(), None),
        };
        let failed = CompactionFailed { error, usage, cost, kind, stays_due };
        Record::CompactionFailed(Box::new(failed))
    }

    async fn make(
        &self,
        request: &ModelRequest,
        used: &mut Used,
    ) -> Result<String, (String, Option<ProviderErrorKind>)> {
        let mut tries_left = TRIES_MAX;
        loop {
            let reply = self.question.ask(request, used).await;
            tries_left -= 1;
            match reply.map(|reply| summary_in(&reply)) {
                Ok(Ok(summary)) => return Ok(summary),
                Ok(Err(_)) if tries_left > 0 => {}
                Ok(Err(why)) => return Err((why.to_owned(), None)),
                Err(error) => return Err((error.message, Some(error.kind))),
            }
        }
    }
}

/// The summary that an answer is, or why it is none: what is cut, refused or only begun replaces no
/// conversation.
fn summary_in(reply: &Reply) -> Result<String, &'static str> {
    let calls = reply.blocks.iter().any(|block| matches!(block, Block::ToolUse(_)));
    match reply.stop {
        StopReason::MaxTokens => return Err("the model's summary was cut at its token limit"),
        StopReason::Refusal => return Err("the model refused to summarize"),
        StopReason::ContentFilter => return Err("the provider's filter cut the summary"),
        StopReason::ToolUse => return Err(CALLED),
        _ if calls => return Err(CALLED),
        _ => {}
    }
    let summary: String = reply.blocks.iter().filter_map(Block::as_text).collect();
    match summary.trim() {
        "" => Err("the model gave an empty summary"),
        summary => Ok(summary.to_owned()),
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
