//! The model behind the provider's promise: answers that drip, are cut, stall, or crash.

use std::time::Duration;

use futures::stream;
use heeler_core::{
    Block, EventStream, ModelEvent, ModelRequest, Provider, ProviderError, ProviderErrorKind,
    Reply, StopReason,
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
        if steps.first().is_some_and(|(_, step)| matches!(step, Step::Crash)) {
            // Without a word on stderr, unlike `panic!`.
            std::panic::resume_unwind(Box::new("the provider's own defect"));
        }
        let open = Open::new(self.clone());
        let state = (steps.into_iter(), open);
        Box::pin(stream::unfold(state, |(mut steps, open)| async move {
            let (millis, step) = steps.next()?;
            open.0.pass(millis).await;
            let item = match step {
                Step::Gives(event) => {
                    if let ModelEvent::Finished(reply) = &event {
                        open.0.judge(|judge| judge.answered(reply));
                    }
                    Ok(event)
                }
                Step::Fails(error) => Err(error),
                Step::Crash => std::panic::resume_unwind(Box::new("the provider's own defect")),
            };
            Some((item, (steps, open)))
        }))
    }
}

/// One step of an answer; an answer without an end is cut.
enum Step {
    Gives(ModelEvent),
    Fails(ProviderError),
    Crash,
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
    fn answer(&mut self, request: &ModelRequest) -> Vec<(u64, Step)> {
        let is_summary = self.judge.asks_for_summary();
        self.see(|judge| judge.requested(request));
        let reserve = self.judge.reserve(request);
        let Self { scene, memory, chance, .. } = self;
        let (ending, millis) = match is_summary {
            true if chance.percent(scene.summaries_fail) => (model::failure(reserve, chance), 500),
            true => (Ending::Reply(summary(reserve, chance)), 500),
            false => model::answer(scene.temper, memory, reserve, chance),
        };
        self.count(&ending, is_summary);
        let chance = &mut self.chance;
        let mut steps = match ending {
            Ending::Reply(reply) => drip(reply, chance),
            Ending::Error { kind, usage, is_cut } => {
                let mut steps = Vec::new();
                if is_cut {
                    let text = "I s".to_owned();
                    steps.push((5, Step::Gives(ModelEvent::TextDelta { block: 0, text })));
                    steps.push((5, Step::Gives(ModelEvent::Usage(usage))));
                }
                steps.push((5, Step::Fails(error(kind, chance))));
                steps
            }
        };
        if let Some(first) = steps.first_mut() {
            first.0 += millis;
        }
        if self.chance.percent(self.scene.streams_break) {
            self.break_off(&mut steps, is_summary);
        }
        steps
    }

    fn count(&mut self, ending: &Ending, is_summary: bool) {
        let fault = match ending {
            Ending::Error { .. } if is_summary => Fault::SummaryFailed,
            Ending::Error { is_cut: true, .. } => Fault::ModelCut,
            Ending::Error { kind: ProviderErrorKind::ContextOverflow, .. } => Fault::ModelOverflow,
            Ending::Error { kind, .. } if kind.is_transient() => Fault::ModelTransient,
            Ending::Error { .. } => Fault::ModelFatal,
            Ending::Reply(reply) if model::is_odd(reply) => Fault::ModelSpoiled,
            Ending::Reply(_) => return,
        };
        self.hit(fault);
    }

    /// The answer ends before it is whole.
    fn break_off(&mut self, steps: &mut Vec<(u64, Step)>, is_summary: bool) {
        let at = self.chance.index(steps.len());
        let how = self.chance.pick(&[Fault::ModelCut, Fault::ModelStalled, Fault::ModelCrashed]);
        self.hit(if is_summary { Fault::SummaryFailed } else { how });
        steps.truncate(at);
        match how {
            Fault::ModelStalled => {
                let silent = ProviderError::new(ProviderErrorKind::Network, "nothing came");
                steps.push((90_000, Step::Fails(silent)));
            }
            Fault::ModelCrashed => steps.push((3, Step::Crash)),
            _ if self.chance.percent(50) => {
                let reset = ProviderError::new(ProviderErrorKind::Network, "connection reset");
                steps.push((0, Step::Fails(reset)));
            }
            _ => {}
        }
    }
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

/// The steps of a whole answer.
fn drip(reply: Reply, chance: &mut Chance) -> Vec<(u64, Step)> {
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
    events.into_iter().map(|event| (pace, Step::Gives(event))).collect()
}
