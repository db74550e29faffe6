//! One line for one event.

use heeler_core::{Event, Role, truncate_chars};

/// The most characters of a line; what a test is about comes first.
const LINE_CHARS_MAX: usize = 200;

/// What a watcher is told, in one line. Contents of messages are left to the transcript.
pub(crate) fn line(event: &Event) -> String {
    let text = describe(event).replace('\n', "\\n");
    truncate_chars(&text, LINE_CHARS_MAX).into_owned()
}

fn describe(event: &Event) -> String {
    match event {
        Event::TurnStarted { turn } => format!("turn {turn}"),
        Event::Message { message } => match message.role {
            Role::User => "user message".into(),
            Role::Assistant => "assistant message".into(),
        },
        Event::AttemptStarted { round, attempt } => format!("attempt {round}.{attempt}"),
        Event::TextDelta { block, offset, text } => format!("text {block}@{offset} {text:?}"),
        Event::ThinkingDelta { block, offset, text } => {
            format!("thinking {block}@{offset} {text:?}")
        }
        Event::ToolInputDelta { block, offset, text } => format!("input {block}@{offset} {text}"),
        Event::Retry { attempt, kind, message, wait_millis } => match wait_millis {
            Some(millis) => {
                format!("attempt {attempt} failed, next in {millis} ms: {kind:?} {message}")
            }
            None => format!("attempt {attempt} failed: {kind:?} {message}"),
        },
        Event::Usage { usage, cost, total, total_cost, .. } => {
            let cost = cost.map(|cost| format!(", {cost} of {total_cost}")).unwrap_or_default();
            let (i, o) = (usage.input, usage.output);
            format!("usage {i} + {o} of {} + {}{cost}", total.input, total.output)
        }
        Event::CallStarted { call, index, summary, .. } => {
            format!("started {call} [{index}] {summary}")
        }
        Event::CallProgress { call, text } => format!("progress {call} {text}"),
        Event::CallFinished { call, index, name, is_error, summary, millis } => {
            let how = if *is_error { "failed" } else { "finished" };
            format!("{how} {call} [{index}] {name} {millis} ms: {summary}")
        }
        Event::ToolText { call, text, media, items } => {
            let media: String = media.iter().map(|media| format!(" {media}")).collect();
            let known = items.iter().map(|item| format!(" {} {}", item.media_type, item.bytes));
            format!("for the user {call}: {text}{media}{}", known.collect::<String>())
        }
        Event::PermissionRequested(open) => {
            let (id, tool, input) = (open.id, &open.tool, open.input.get());
            format!("asked {id} {tool} {input} ({}) {:?}", open.summary, open.reason)
        }
        Event::PermissionDecided { id, decision, by } => {
            format!("decided {id} by {by}: {decision:?}")
        }
        Event::HookStarted { event, hook, call } => {
            let about = call.map(|call| format!(" of {call}")).unwrap_or_default();
            format!("hook {event} `{hook}`{about}")
        }
        Event::HookFinished { event, hook, millis, end, .. } => {
            format!("hook {event} `{hook}` after {millis} ms: {end:?}")
        }
        Event::EpochStarted { epoch, cause } => format!("epoch {epoch} {cause:?}"),
        Event::SteeringQueued { id } => format!("steering {} queued", id.0),
        Event::SteeringTakenBack { id } => format!("steering {} taken back", id.0),
        Event::SteeringDelivered { id } => format!("steering {} delivered", id.0),
        Event::CompactionStarted { cause, tokens_before } => {
            format!("compacting {cause:?} from {tokens_before} tokens")
        }
        Event::Compacted { cut, tokens_after, .. } => {
            format!("compacted {cut} messages to {tokens_after} tokens")
        }
        Event::CompactionFailed { error } => format!("compaction failed: {error}"),
        Event::ItemsLeftOut { items, .. } => format!("{items} items left out"),
        Event::ReasoningLeftOut { blocks, .. } => format!("{blocks} blocks of reasoning left out"),
        Event::Restored { messages, tokens_before, tokens_after } => {
            format!("restored to {}: {tokens_before} -> {tokens_after}", messages.len())
        }
        Event::Pruned { results, chars, items, tokens_before, tokens_after, .. } => format!(
            "pruned {results} results ({chars} characters, {items} items): {tokens_before} -> \
             {tokens_after}"
        ),
        Event::Trimmed { messages, tokens_before, tokens_after } => {
            format!("trimmed to {} messages, {tokens_before} to {tokens_after}", messages.len())
        }
        Event::LimitsChanged { limits } => format!("limits {limits:?}"),
        Event::Heartbeat { turn, round } => format!("heartbeat {turn}.{round}"),
        Event::Notice { text } => format!("notice {text}"),
        Event::TurnFinished { turn, outcome, answer } => {
            format!("end of turn {turn}: {outcome:?} {answer:?}")
        }
    }
}
