//! The model behind the provider's promise: answers that drip, are cut, stall, or crash.

use std::time::Duration;

use futures::stream;
use heeler_core::{
    Block, EventStream, ModelEvent, ModelRequest, Provider, ProviderError, ProviderErrorKind,
    Reply, StopReason, Usage,
};

use super::outside::{Inner, Outside};
use crate::chance::Chance;
use crate::matrix::Fault;
use crate::model::{self, Ending};

impl Provider for Outside {
    fn stream(&self, request: ModelRequest) -> EventStream {
        let Some(steps) = self.with(|inner| inner.answer(&request)) else {
            return Box::pin(stream::pending());
        };
        if let Some(Step { gives: Gives::Crash, fault, .. }) = steps.first() {
            self.with(|inner| fault.map(|fault| inner.hit(fault)));
            crash();
        }
        let open = Open::new(self.clone());
        let state = (steps.into_iter(), open);
        Box::pin(stream::unfold(state, |(mut steps, open)| async move {
            let Step { millis, gives, fault } = steps.next()?;
            open.0.pass(millis).await;
            open.0.with(|inner| fault.map(|fault| inner.hit(fault)));
            let item = match gives {
                Gives::Event(event) => {
                    if let ModelEvent::Finished(reply) = &event {
                        open.0.judge(|judge| judge.answered(reply));
                    }
                    Ok(event)
                }
                Gives::Error(error) => Err(error),
                Gives::Crash => crash(),
                Gives::Nothing => return None,
            };
            Some((item, (steps, open)))
        }))
    }
}

/// Without a word on stderr, unlike `panic!`.
fn crash() -> ! {
    std::panic::resume_unwind(Box::new("the provider's own defect"))
}

/// One step of an answer.
struct Step {
    /// After so long.
    millis: u64,
    gives: Gives,
    /// What goes wrong once it comes so far.
    fault: Option<Fault>,
}

impl Step {
    fn of(millis: u64, event: ModelEvent) -> Self {
        Self { millis, gives: Gives::Event(event), fault: None }
    }
}

/// What a step gives.
enum Gives {
    Event(ModelEvent),
    Error(ProviderError),
    Crash,
    /// The answer ends, and is cut when it is not whole.
    Nothing,
}

/// A stream that is open.
struct Open(Outside);

impl Open {
    fn new(outside: Outside) -> Self {
        outside.judge(|judge| judge.stream_opens());
        Self(outside)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.judge(|judge| judge.stream_closes());
    }
}

impl Inner {
    /// What the model says to a request, step by step.
    fn answer(&mut self, request: &ModelRequest) -> Vec<Step> {
        let is_summary = self.judge.asks_for_summary();
        self.see(|judge| judge.requested(request));
        let reserve = self.judge.reserve(request);
        let Self { scene, memory, chance, .. } = self;
        let (ending, millis) = match is_summary {
            true if model::refuses(scene.temper, request, chance) => (model::refusal(), 500),
            true if chance.percent(scene.summaries_fail) => (model::failure(reserve, chance), 500),
            true => (Ending::Reply(summary(reserve, chance)), 500),
            false => model::answer(scene.temper, memory, (request, reserve), chance),
        };
        let fault = fault_of(&ending, is_summary);
        let mut steps = match ending {
            Ending::Reply(reply) => drip(told(reply), chance),
            Ending::Error { kind, usage, is_cut } => {
                let mut steps = Vec::new();
                if is_cut {
                    let text = "I s".to_owned();
                    steps.push(Step::of(5, ModelEvent::TextDelta { block: 0, text }));
                    steps.push(Step::of(5, ModelEvent::Usage(usage)));
                }
                steps.push(Step {
                    millis: 5,
                    gives: Gives::Error(error(kind, chance)),
                    fault: None,
                });
                steps
            }
        };
        if let Some(last) = steps.last_mut() {
            last.fault = fault;
        }
        if let Some(first) = steps.first_mut() {
            first.millis += millis;
        }
        if self.chance.percent(self.scene.streams_break) {
            self.break_off(&mut steps, is_summary);
        }
        steps
    }

    /// The answer ends before it is whole.
    fn break_off(&mut self, steps: &mut Vec<Step>, is_summary: bool) {
        let at = self.chance.index(steps.len());
        let how = self.chance.pick(&[Fault::ModelCut, Fault::ModelStalled, Fault::ModelCrashed]);
        let network = |words| Gives::Error(ProviderError::new(ProviderErrorKind::Network, words));
        let (millis, gives) = match how {
            Fault::ModelStalled => (90_000, network("nothing came")),
            Fault::ModelCrashed => (3, Gives::Crash),
            _ if self.chance.percent(50) => (0, network("connection reset")),
            _ => (0, Gives::Nothing),
        };
        let fault = Some(if is_summary { Fault::SummaryFailed } else { how });
        steps.truncate(at);
        steps.push(Step { millis, gives, fault });
    }
}

/// What is wrong with an answer once it has come to its end.
fn fault_of(ending: &Ending, is_summary: bool) -> Option<Fault> {
    Some(match ending {
        Ending::Error { kind: ProviderErrorKind::RefusedReasoning, .. } => Fault::ReasoningRefused,
        Ending::Error { .. } if is_summary => Fault::SummaryFailed,
        Ending::Error { is_cut: true, .. } => Fault::ModelCut,
        Ending::Error { kind: ProviderErrorKind::ContextOverflow, .. } => Fault::ModelOverflow,
        Ending::Error { kind, .. } if kind.is_transient() => Fault::ModelTransient,
        Ending::Error { .. } => Fault::ModelFatal,
        Ending::Reply(reply) if model::is_odd(reply) => Fault::ModelSpoiled,
        Ending::Reply(_) => return None,
    })
}

fn summary(reserve: heeler_core::Reserve, chance: &mut Chance) -> Reply {
    Reply {
        blocks: vec![Block::text("What was said.")],
        stop: StopReason::EndTurn,
        usage: model::usage(reserve, chance),
        provider_id: None,
    }
}

fn error(kind: ProviderErrorKind, chance: &mut Chance) -> ProviderError {
    let retry_after = chance.percent(20).then(|| Duration::from_millis(1500));
    ProviderError { retry_after, ..ProviderError::new(kind, "it failed") }
}

/// The answer as its provider gives it, who tells nothing of what is to be estimated.
fn told(mut reply: Reply) -> Reply {
    if reply.usage.is_estimated {
        reply.usage = Usage::default();
    }
    reply
}

/// The steps of a whole answer.
fn drip(reply: Reply, chance: &mut Chance) -> Vec<Step> {
    let mut events = Vec::new();
    for (block, content) in (0..).zip(&reply.blocks) {
        match content {
            Block::Text(text) => {
                let middle = text.text.chars().count() / 2;
                let at = text.text.char_indices().nth(middle).map_or(0, |(at, _)| at);
                let (head, tail) = text.text.split_at(at);
                for text in [head, tail] {
                    events.push(ModelEvent::TextDelta { block, text: text.to_owned() });
                }
            }
            Block::Thinking(thinking) => {
                events.push(ModelEvent::ThinkingDelta { block, text: thinking.text.clone() });
            }
            Block::ToolUse(call) => {
                events.push(ModelEvent::ToolUseStarted { block, name: call.name.clone() });
                let text = call.input.get().to_owned();
                events.push(ModelEvent::ToolInputDelta { block, text });
            }
            _ => {}
        }
        events.push(ModelEvent::BlockFinished { block, content: content.clone() });
    }
    if chance.percent(50) {
        events.push(ModelEvent::Usage(reply.usage));
    }
    events.push(ModelEvent::Finished(reply));
    let pace = chance.pick(&[0, 0, 1, 30]);
    events.into_iter().map(|event| Step::of(pace, event)).collect()
}
