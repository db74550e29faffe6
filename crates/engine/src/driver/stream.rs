//! The model call: streams the answer, shows it as it comes, and writes it when it is whole.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::{FutureExt, StreamExt};
use heeler_core::{
    Cost, Durability, Effect, EffectId, Event, EventStream, InterruptCause, ModelAccepted,
    ModelEvent, ModelFailed, ModelReplied, Prices, ProviderError, ProviderErrorKind, Record, Reply,
    StoreError, Usage, panic_text,
};

use super::eager::EagerCalls;
use super::fallback::{Next, answers_instead};
use super::{Driver, wrong};
use crate::bugs::{Bug, is_on};
use crate::draft::Draft;
use crate::log::EventLog;
use crate::pipeline::CANCEL_GRACE_MILLIS;

/// An answer that is being streamed.
pub(super) struct ModelStream {
    pub(super) id: EffectId,
    stream: EventStream,
    pub(super) draft: Draft,
    /// Calls of the answer that run already. However the stream ends, but by a whole reply, they
    /// end with it.
    pub(super) eager: EagerCalls,
    /// The model that was asked: settings may name another one by the time it has answered.
    asked: Asked,
}

struct Asked {
    name: String,
    prices: Option<Prices>,
}

impl Asked {
    fn cost(&self, mut usage: Usage) -> Option<Cost> {
        if is_on(Bug::UnpricedCache) {
            usage.cache_read = 0;
        }
        usage.cost(self.prices.as_ref())
    }
}

/// One step of the answer.
pub(super) type Step = Result<ModelEvent, ProviderError>;

/// The next step; `None` when nothing is being streamed.
///
/// Cancel-safe: a step is either taken or still in the stream.
pub(super) async fn next(stream: &mut Option<ModelStream>, log: &EventLog) -> Option<Step> {
    let stream = stream.as_mut()?;
    let step = AssertUnwindSafe(stream.stream.next()).catch_unwind().await;
    Some(match step {
        Ok(Some(step)) => step,
        Ok(None) if is_on(Bug::CutReply) => wrong::whole(&mut stream.draft, log)?,
        Ok(None) => Err(ProviderError::new(
            ProviderErrorKind::Format,
            "the model's answer ended before it was whole",
        )),
        Err(panic) => Err(broken_provider(panic_text(panic.as_ref()))),
    })
}

fn broken_provider(panic: &str) -> ProviderError {
    let message = format!("the provider's code crashed: {panic}");
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}

impl Driver {
    pub(super) fn start_stream(&mut self, id: EffectId, output_max: u64) {
        let Some(request) = self.state.request(output_max) else { return };
        let provider = self.provider();
        let resumed = self.state.resumes().cloned();
        let stream = catch_unwind(AssertUnwindSafe(|| match resumed {
            Some(answer) => provider.resume(request, answer),
            None => provider.stream(request),
        }));
        let stream = stream.unwrap_or_else(|panic| {
            let error = broken_provider(panic_text(panic.as_ref()));
            Box::pin(futures::stream::iter([Err(error)]))
        });
        let model = &self.state.settings.model;
        let asked = Asked { name: model.name.clone(), prices: model.prices };
        let (draft, eager) = (Draft::default(), EagerCalls::default());
        self.stream = Some(ModelStream { id, stream, draft, eager, asked });
    }

    pub(super) async fn take_step(&mut self, step: Step) -> Result<(), StoreError> {
        match step {
            Ok(ModelEvent::Finished(reply)) => {
                if let Some(stream) = &mut self.stream {
                    self.eager = std::mem::take(&mut stream.eager).confirmed_by(&reply);
                }
                let record = self.replied(reply);
                self.stream = None;
                self.hold(record.into_iter().collect());
                Ok(())
            }
            Ok(ModelEvent::Accepted(answer)) => {
                let Some(EffectId::Model(turn, round, attempt)) =
                    self.stream.as_ref().map(|s| s.id)
                else {
                    return Ok(());
                };
                let accepted = ModelAccepted { turn, round, attempt, answer };
                let record = Record::ModelAccepted(Box::new(accepted));
                self.write(vec![record], Durability::Written).await
            }
            Ok(event) => {
                let ends_call = matches!(&event, ModelEvent::BlockFinished { content, .. }
                    if content.as_tool_use().is_some());
                let seen = self.stream.as_mut().and_then(|stream| stream.draft.take(event));
                if let Some(event) = seen {
                    self.show(event);
                }
                if ends_call {
                    self.start_eager_calls();
                }
                Ok(())
            }
            Err(error) => self.fail_attempt(error).await,
        }
    }

    async fn fail_attempt(&mut self, error: ProviderError) -> Result<(), StoreError> {
        let Some(ModelStream { id, draft, asked, .. }) = self.stream.take() else { return Ok(()) };
        let EffectId::Model(turn, round, attempt) = id else { return Ok(()) };
        let Next { wait, settings } =
            self.after_failure((turn, round, attempt), &asked.name, &error);
        let now = self.parts.clock.now();
        let cut = self.log.with_draft(|shown| draft.interrupted(shown));
        let usage = match cut {
            None => Usage::default(),
            // What goes on elsewhere is paid once, when it is fetched.
            Some(cut) if self.state.is_fetched_after(error.kind) => cut.usage,
            Some(cut) => self.state.usage_of_part(cut.usage, &cut.blocks),
        };
        let notice = settings
            .as_deref()
            .map(|settings| answers_instead(&asked.name, settings, &error.message));
        let record = Record::ModelFailed(Box::new(ModelFailed {
            turn,
            round,
            attempt,
            kind: error.kind,
            message: error.message,
            retry_at: wait.map(|millis| now.plus(millis)),
            usage,
            cost: asked.cost(usage),
        }));
        // With the change in one append: the failed attempt keeps the prices of its own model.
        let change = settings.map(Record::SettingsChanged);
        self.write([record].into_iter().chain(change).collect(), Durability::Written).await?;
        if let Some(text) = notice {
            self.show(Event::Notice { text });
        }
        Ok(())
    }

    fn replied(&self, mut reply: Reply) -> Option<Record> {
        let ModelStream { id: EffectId::Model(turn, round, attempt), asked, .. } =
            self.stream.as_ref()?
        else {
            return None;
        };
        reply.usage = self.state.usage(reply.usage, &reply.blocks);
        let (turn, round, attempt, cost) = (*turn, *round, *attempt, asked.cost(reply.usage));
        let replied = ModelReplied { turn, round, attempt, reply, cost };
        Some(Record::ModelReplied(Box::new(replied)))
    }

    /// Whether the turn's time was over before anything could be started, as when nobody resumed
    /// it in time.
    pub(super) fn is_out_of_time(&self, pending: &[Effect]) -> bool {
        let is_over = |effect: &Effect| match effect.id {
            EffectId::WallTime(at) => at <= self.parts.clock.now() && !self.is_running(effect.id),
            _ => false,
        };
        pending.iter().any(is_over)
    }

    /// Stops the running turn: keeps what was streamed, lets running calls give what they have
    /// within a moment, and answers the rest as cancelled.
    pub(super) async fn interrupt(&mut self, cause: InterruptCause) -> Result<(), StoreError> {
        if self.state.turn.is_none() && self.state.compaction.is_none() {
            return Ok(());
        }
        self.activate();
        // What was held does not wait for last words.
        self.flush(Durability::Written).await?;
        let mut records = Vec::new();
        if let Some(mut stream) = self.stream.take() {
            let draft = std::mem::take(&mut stream.draft);
            // The connection is closed before anything is said of the end.
            let ModelStream { id, asked, .. } = stream;
            let kept = self.log.with_draft(|shown| draft.interrupted(shown));
            if let (EffectId::Model(turn, round, attempt), Some(mut reply)) = (id, kept) {
                reply.usage = self.state.usage_of_part(reply.usage, &reply.blocks);
                let cost = asked.cost(reply.usage);
                let replied = ModelReplied { turn, round, attempt, reply, cost };
                records.push(Record::ModelReplied(Box::new(replied)));
            }
        }
        for record in self.last_words().await {
            records.push(match record {
                Record::Compacted(compacted) => self.state.judge_summary(*compacted),
                other => other,
            });
        }
        // A summary that does not listen is over all the same, and an end that hooks are asked about is
        // another one now, under the same id.
        self.running.keep(|id| !matches!(id, EffectId::Compact(_) | EffectId::Finish(_)));
        records.push(Record::Interrupted { cause });
        self.write(records, Durability::Written).await
    }

    /// Cancels running calls and the summary, and takes what they give within the grace.
    async fn last_words(&mut self) -> Vec<Record> {
        let done = self.done_at_once.drain(..).flat_map(|outcome| outcome.records);
        let mut records: Vec<Record> = done.collect();
        let gives = |id: EffectId| matches!(id, EffectId::Run(_) | EffectId::Compact(_));
        let mut awaited = 0;
        for (_, task) in self.running.iter().filter(|(id, _)| gives(*id)) {
            task.cancel.cancel();
            awaited += 1;
        }
        let clock = &self.parts.clock;
        let mut grace = clock.sleep_until(clock.now().plus(CANCEL_GRACE_MILLIS));
        while awaited > 0 {
            let joined = tokio::select! {
                biased;
                Some(joined) = self.tasks.join_next_with_id() => joined,
                () = &mut grace, if !is_on(Bug::EndlessGrace) => break,
                else => break,
            };
            if let Some((_, ended)) = self.accept(joined).filter(|(id, _)| gives(*id)) {
                awaited -= 1;
                records.extend(ended.into_iter().flat_map(|outcome| outcome.records));
            }
        }
        records
    }
}
