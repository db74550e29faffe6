//! How each event reaches a reader that is behind: as it was, joined with others, or only the
//! latest of its kind.

use heeler_core::{Block, CallId, Envelope, Event, Message, ProviderItem};

/// What one message counts for at most.
const MESSAGE_BYTES_MAX: usize = 256 * 1024;

/// How an event is delivered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As it was; deltas of its agent are never joined across it.
    Control,
    /// Joined with the delta it continues.
    Delta(Stream),
    /// Replaced by the next one about the same subject.
    Latest(Subject),
}

/// What deltas of one agent are joined by.
///
/// All text is one stream, whatever its block: a view's draft is the text in order of arrival, so
/// text of one block must not be moved before text of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stream {
    Text,
    Thinking(u32),
    Input(u32),
}

/// What only the latest matters of, for each agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    Progress(CallId),
    Heartbeat,
    /// Totals of the session. The end of a turn comes after the last of them, so they are not
    /// replaced across it.
    Usage,
}

/// How `event` is delivered. Every event is named, so that a new one is decided about.
pub(super) fn delivery(event: &Event) -> Delivery {
    match event {
        Event::TextDelta { .. } => Delivery::Delta(Stream::Text),
        Event::ThinkingDelta { block, .. } => Delivery::Delta(Stream::Thinking(*block)),
        Event::ToolInputDelta { block, .. } => Delivery::Delta(Stream::Input(*block)),
        Event::CallProgress { call, .. } => Delivery::Latest(Subject::Progress(*call)),
        Event::Heartbeat { .. } => Delivery::Latest(Subject::Heartbeat),
        Event::Usage { .. } => Delivery::Latest(Subject::Usage),
        Event::TurnStarted { .. }
        | Event::Message { .. }
        | Event::AttemptStarted { .. }
        | Event::Retry { .. }
        | Event::CallStarted { .. }
        | Event::CallFinished { .. }
        | Event::ToolText { .. }
        | Event::PermissionRequested(_)
        | Event::PermissionDecided { .. }
        | Event::HookStarted { .. }
        | Event::HookFinished { .. }
        | Event::EpochStarted { .. }
        | Event::SteeringQueued { .. }
        | Event::SteeringTakenBack { .. }
        | Event::SteeringDelivered { .. }
        | Event::CompactionStarted { .. }
        | Event::Compacted { .. }
        | Event::CompactionFailed { .. }
        | Event::Trimmed { .. }
        | Event::Pruned { .. }
        | Event::Restored { .. }
        | Event::ItemsLeftOut { .. }
        | Event::ReasoningLeftOut { .. }
        | Event::LimitsChanged { .. }
        | Event::Notice { .. }
        | Event::TurnFinished { .. } => Delivery::Control,
    }
}

/// Whether `later` continues `earlier`, and both together stay within `bytes_max`.
pub(super) fn joins(earlier: &Event, later: &Event, bytes_max: usize) -> bool {
    let (Some((block, offset, text)), Some((later_block, later_offset, more))) =
        (delta(earlier), delta(later))
    else {
        return false;
    };
    delivery(earlier) == delivery(later)
        && block == later_block
        && offset + text.len() as u64 == later_offset
        && text.len() + more.len() <= bytes_max
}

/// Appends the text of `later` to that of `earlier`; only for what [`joins`].
pub(super) fn extend(earlier: &mut Event, later: &Event) {
    if let (
        Event::TextDelta { text, .. }
        | Event::ThinkingDelta { text, .. }
        | Event::ToolInputDelta { text, .. },
        Some((_, _, more)),
    ) = (earlier, delta(later))
    {
        text.push_str(more);
    }
}

fn delta(event: &Event) -> Option<(u32, u64, &str)> {
    match event {
        Event::TextDelta { block, offset, text }
        | Event::ThinkingDelta { block, offset, text }
        | Event::ToolInputDelta { block, offset, text } => Some((*block, *offset, text)),
        _ => None,
    }
}

/// About how many bytes an event keeps alive. The session keeps messages, too, but no longer than
/// until they are replaced.
pub(super) fn weigh(envelope: &Envelope) -> usize {
    let text = match &envelope.event {
        Event::TextDelta { text, .. }
        | Event::ThinkingDelta { text, .. }
        | Event::ToolInputDelta { text, .. }
        | Event::CallProgress { text, .. }
        | Event::ToolText { text, .. }
        | Event::Notice { text } => text.len(),
        Event::PermissionRequested(open) => open.input.get().len(),
        Event::TurnFinished { answer, .. } => answer.len(),
        Event::Message { message, .. } | Event::Compacted { message, .. } => self::message(message),
        Event::Pruned { changed, .. } => {
            changed.iter().map(|changed| message(&changed.message)).sum()
        }
        _ => 0,
    };
    text + size_of::<Envelope>() + size_of_val(envelope.agent.0.as_slice())
}

/// About how many bytes a message takes; one alone, with images say, sends nobody for a snapshot.
fn message(message: &Message) -> usize {
    blocks(&message.blocks).min(MESSAGE_BYTES_MAX)
}

fn blocks(blocks: &[Block]) -> usize {
    let raw = |raw: &Option<Box<ProviderItem>>| raw.as_ref().map_or(0, |raw| raw.json.get().len());
    let bytes = |block: &Block| match block {
        Block::Text(text) => text.text.len() + raw(&text.raw),
        Block::Thinking(thinking) => thinking.text.len() + raw(&thinking.raw),
        Block::RedactedThinking(thinking) => thinking.data.len(),
        Block::Image(image) => image.data.len(),
        Block::Document(item) | Block::Opaque(item) => item.raw.get().len(),
        Block::ToolUse(call) => call.input.get().len(),
        Block::ToolResult(result) => self::blocks(&result.content),
    };
    size_of_val(blocks) + blocks.iter().map(bytes).sum::<usize>()
}
