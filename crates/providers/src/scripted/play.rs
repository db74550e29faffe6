//! A reply as a stream of model events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::stream;
use heeler_core::{
    Block, Clock, EventStream, ModelEvent, Opaque, ProviderError, ProviderErrorKind, RawJson,
    RedactedThinking, Reply, StopReason, Thinking, ToolUse, Usage,
};
use heeler_script::{ErrorSpec, Reply as Scripted, ReplyBlock, Step, UsageSpec};

use super::OpenStream;

/// The dialect name of a script's opaque blocks.
const DIALECT: &str = "scripted";

/// Plays a reply: waits, then yields its events one by one.
pub(super) fn play(reply: Scripted, clock: Arc<dyn Clock>, open: OpenStream) -> EventStream {
    let delay_ms = reply.delay_ms;
    let playing = Playing { steps: steps(&reply), reply, blocks: Vec::new(), open };
    Box::pin(stream::unfold((Some(playing), delay_ms), move |(playing, delay_ms)| {
        let clock = Arc::clone(&clock);
        async move {
            let mut playing = playing?;
            if delay_ms > 0 {
                clock.sleep_until(clock.now().plus(delay_ms)).await;
            }
            match playing.next() {
                Next::Event(event @ (Err(_) | Ok(ModelEvent::Finished(_)))) => {
                    Some((event, (None, 0)))
                }
                Next::Event(event) => Some((event, (Some(playing), 0))),
                Next::Silence => {
                    // What is open stays open until somebody drops the stream.
                    let _open = playing.open;
                    std::future::pending().await
                }
            }
        }
    }))
}

/// A reply on its way.
struct Playing {
    reply: Scripted,
    steps: VecDeque<Step>,
    /// The blocks that are whole.
    blocks: Vec<Block>,
    open: OpenStream,
}

enum Next {
    Event(Result<ModelEvent, ProviderError>),
    Silence,
}

impl Playing {
    /// The next event; steps that a reader does not see are passed over.
    fn next(&mut self) -> Next {
        while let Some(step) = self.steps.pop_front() {
            let event = match step {
                Step::Started => self.started(),
                Step::BlockStarted { block } => self.block_started(block),
                Step::Delta { block, text } => self.delta(block, text),
                Step::Signature { .. } => None,
                Step::BlockFinished { block } => self.block_finished(block),
                Step::Finished => Some(Ok(self.finished())),
                Step::Failed => Some(Err(failure(self.reply.error.as_ref()))),
                Step::Cut { hard } => Some(Err(cut(hard))),
                Step::Stall => return Next::Silence,
            };
            if let Some(event) = event {
                return Next::Event(event);
            }
        }
        // Every list of steps ends with one that returns above.
        Next::Event(Err(cut(false)))
    }

    /// What the request cost is known before the first word.
    fn started(&self) -> Option<Result<ModelEvent, ProviderError>> {
        let usage = Usage { output: 0, ..usage(self.reply.usage) };
        Some(Ok(ModelEvent::Usage(usage)))
    }

    fn block_started(&self, block: usize) -> Option<Result<ModelEvent, ProviderError>> {
        match self.reply.blocks.get(block)? {
            ReplyBlock::Call { name, .. } => {
                Some(Ok(ModelEvent::ToolUseStarted { block: index(block), name: name.clone() }))
            }
            _ => None,
        }
    }

    fn delta(&self, at: usize, text: String) -> Option<Result<ModelEvent, ProviderError>> {
        let block = index(at);
        Some(Ok(match self.reply.blocks.get(at)? {
            ReplyBlock::Thinking { .. } => ModelEvent::ThinkingDelta { block, text },
            ReplyBlock::Call { .. } => ModelEvent::ToolInputDelta { block, text },
            _ => ModelEvent::TextDelta { block, text },
        }))
    }

    fn block_finished(&mut self, at: usize) -> Option<Result<ModelEvent, ProviderError>> {
        let content = block(self.reply.blocks.get(at)?);
        self.blocks.push(content.clone());
        Some(Ok(ModelEvent::BlockFinished { block: index(at), content }))
    }

    fn finished(&mut self) -> ModelEvent {
        ModelEvent::Finished(Reply {
            blocks: std::mem::take(&mut self.blocks),
            stop: stop(&self.reply.stop),
            usage: usage(self.reply.usage),
            provider_id: Some(format!("scripted-{}", self.reply.request)),
        })
    }
}

/// The reply's steps, ending where the script cuts it by bytes of content.
fn steps(reply: &Scripted) -> VecDeque<Step> {
    let steps = reply.steps();
    let Some((bytes_max, ending)) = reply.ending_in_bytes() else { return steps.into() };
    let mut kept = VecDeque::new();
    let mut left = bytes_max;
    for step in steps {
        match step {
            Step::Delta { block, text } if text.len() >= left => {
                let text = text[..text.floor_char_boundary(left)].to_owned();
                if !text.is_empty() {
                    kept.push_back(Step::Delta { block, text });
                }
                kept.push_back(ending);
                return kept;
            }
            Step::Delta { ref text, .. } => left -= text.len(),
            _ => {}
        }
        kept.push_back(step);
    }
    kept
}

fn block(block: &ReplyBlock) -> Block {
    match block {
        ReplyBlock::Text(text) => Block::text(text.clone()),
        ReplyBlock::Thinking { text, signature } => {
            Block::from(Thinking { text: text.clone(), signature: signature.clone(), raw: None })
        }
        ReplyBlock::Redacted(data) => Block::from(RedactedThinking { data: data.clone() }),
        ReplyBlock::Call { id, name, input } => {
            let (input, invalid) = input_of(input.as_deref());
            Block::from(ToolUse { id: id.clone(), name: name.clone(), input, invalid, cache: None })
        }
        ReplyBlock::Opaque(raw) => Block::Opaque(Arc::new(Opaque {
            provider: DIALECT.to_owned(),
            raw: RawJson::parse(raw).unwrap_or_else(|_| RawJson::empty_object()),
        })),
    }
}

/// A call's input as a decoder reads it: `{}` and the reason when it cannot be used.
fn input_of(text: Option<&str>) -> (RawJson, Option<String>) {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}");
    let reason = match RawJson::parse(text) {
        Ok(input) if input.is_object() => return (input, None),
        Ok(input) if input.get().trim() == "null" => return (RawJson::empty_object(), None),
        Ok(_) => "the input is not a JSON object".to_owned(),
        Err(error) => format!("the input is {error}"),
    };
    (RawJson::empty_object(), Some(reason))
}

fn stop(word: &str) -> StopReason {
    match word {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "pause" => StopReason::Pause,
        "refusal" => StopReason::Refusal,
        "content_filter" => StopReason::ContentFilter,
        other => StopReason::Other(other.to_owned()),
    }
}

fn usage(spec: UsageSpec) -> Usage {
    Usage {
        input: spec.input,
        output: spec.output,
        cache_write: spec.cache_write,
        cache_read: spec.cache_read,
        reasoning: 0,
        charged: None,
        is_estimated: false,
    }
}

fn cut(hard: bool) -> ProviderError {
    if hard {
        ProviderError::new(ProviderErrorKind::Network, "the connection broke within the answer")
    } else {
        let message = "the answer ended without its end marker";
        ProviderError::new(ProviderErrorKind::Format, message)
    }
}

fn failure(spec: Option<&ErrorSpec>) -> ProviderError {
    let spec = spec.cloned().unwrap_or_default();
    let mut message =
        if spec.message.is_empty() { spec.kind.clone() } else { spec.message.clone() };
    if message.is_empty() {
        message = "the script fails here".into();
    }
    let retry_after = spec.retry_after.map(Duration::from_secs);
    let kind = failure_kind(&spec);
    ProviderError {
        retry_after,
        status: spec.status,
        provider_type: (!spec.kind.is_empty()).then_some(spec.kind),
        ..ProviderError::new(kind, message)
    }
}

/// By the provider's word for it, else by the status.
fn failure_kind(spec: &ErrorSpec) -> ProviderErrorKind {
    use ProviderErrorKind as Kind;
    match (spec.kind.as_str(), spec.status) {
        ("authentication_error" | "permission_error" | "auth", _) => Kind::Auth,
        ("rate_limit_error" | "rate_limit", _) => Kind::RateLimit,
        ("billing_error" | "billing", _) => Kind::Billing,
        ("overloaded_error" | "overloaded", _) => Kind::Overloaded,
        ("context_overflow" | "request_too_large", _) => Kind::ContextOverflow,
        ("refused_item", _) => Kind::RefusedItem,
        ("refused_reasoning", _) => Kind::RefusedReasoning,
        ("network", _) => Kind::Network,
        ("api_error" | "server", _) => Kind::Server,
        ("format", _) => Kind::Format,
        ("not_found_error" | "unknown_model", _) => Kind::UnknownModel,
        ("invalid_request_error" | "invalid_request", _) => Kind::InvalidRequest,
        (_, Some(401 | 403)) => Kind::Auth,
        (_, Some(402)) => Kind::Billing,
        (_, Some(404)) => Kind::UnknownModel,
        (_, Some(413)) => Kind::ContextOverflow,
        (_, Some(429)) => Kind::RateLimit,
        (_, Some(529)) => Kind::Overloaded,
        (_, Some(400..=499)) => Kind::InvalidRequest,
        _ => Kind::Server,
    }
}

fn index(block: usize) -> u32 {
    u32::try_from(block).unwrap_or(u32::MAX)
}
