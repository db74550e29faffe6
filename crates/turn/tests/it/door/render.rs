//! How effects, events, messages and outcomes read in a transcript.

use heeler_core::{
    Block, Decision, Effect, EffectKind, Event, Message, PermissionReason, Role, TurnOutcome,
    WakeCause, truncate_chars,
};
use heeler_turn::State;

/// The effects that stand, in one line. An output limit is named where it is not the model's own.
pub(super) fn effects(state: &State) -> String {
    let effects = state.pending();
    if effects.is_empty() {
        return "idle".into();
    }
    effects.iter().map(|one| effect(state, one)).collect::<Vec<_>>().join(", ")
}

fn effect(state: &State, effect: &Effect) -> String {
    match &effect.kind {
        EffectKind::StartEpoch { cause } => word("epoch", cause),
        EffectKind::Compact { cut, cause, started, .. } => {
            let runs = if *started { "" } else { " due" };
            format!("{} cut {cut}{runs}", word("compact", cause))
        }
        EffectKind::Prune(how) => format!("prune to {}", how.result_chars_max),
        EffectKind::Trim(how) => format!("trim cut {}", how.cut),
        EffectKind::CallModel { turn, round, attempt, reserve } => {
            let whole = state.settings.model.output_max == reserve.output;
            let limit = if whole { String::new() } else { format!(" max {}", reserve.output) };
            let resumed = state.resumes();
            let resumed = resumed.map_or(String::new(), |answer| format!(" resumes {}", answer.id));
            format!("model {turn}.{round}.{attempt}{limit}{resumed}")
        }
        EffectKind::PlanCall { call, name, .. } => format!("plan {} {name}", call.index),
        EffectKind::AskPermission { id, reason, asked, name, .. } => {
            let open = if *asked { "" } else { " due" };
            let why = match reason {
                PermissionReason::Policy(why) => why.clone(),
                PermissionReason::Repeated(times) => format!("failed {times} times"),
                PermissionReason::LeavePlan { calls, more } => {
                    format!("leave plan mode: {}, {more} more", calls.join(", "))
                }
            };
            format!("ask{open} {} {name} ({why})", id.call.index)
        }
        EffectKind::RunCall { call, name, allowed_by, .. } => {
            format!("run {} {name} [{allowed_by}]", call.index)
        }
        EffectKind::Wake { at, cause: WakeCause::Retry } => format!("retry at {}", at.millis()),
        EffectKind::Wake { at, cause: WakeCause::WallTime } => {
            format!("wall at {}", at.millis())
        }
        EffectKind::FinishTurn { outcome, .. } => format!("finish {}", self::outcome(outcome)),
    }
}

/// An event worth a line of its own; most say what the effects and the conversation say too.
pub(super) fn event(event: &Event) -> Option<String> {
    Some(match event {
        Event::EpochStarted { epoch, cause } => word(&format!("epoch {epoch}"), cause),
        Event::Notice { text } => format!("notice: {text}"),
        Event::Retry { attempt, kind, wait_millis, .. } => {
            let again = match wait_millis {
                Some(millis) => format!("again in {millis}"),
                None => "for good".into(),
            };
            format!("{}, {again}", word(&format!("attempt {attempt} failed"), kind))
        }
        Event::SteeringQueued { id } => format!("queued {}", id.0),
        Event::SteeringTakenBack { id } => format!("taken back {}", id.0),
        Event::SteeringDelivered { id } => format!("delivered {}", id.0),
        Event::CompactionFailed { error } => format!("compaction failed: {error}"),
        Event::Compacted { cut, .. } => format!("compacted {cut}"),
        Event::ItemsLeftOut { items, .. } => format!("items left out: {items}"),
        Event::ReasoningLeftOut { blocks, .. } => format!("reasoning left out: {blocks}"),
        Event::Restored { messages, tokens_before, tokens_after } => {
            format!("restored to {}: {tokens_before} -> {tokens_after}", messages.len())
        }
        Event::Pruned { results, chars, items, tokens_before, tokens_after, .. } => format!(
            "pruned {results} results, {chars} characters, {items} items: {tokens_before} -> \
             {tokens_after}"
        ),
        Event::Trimmed { messages, tokens_before, tokens_after } => {
            format!("trimmed to {}: {tokens_before} -> {tokens_after}", messages.len())
        }
        Event::CallFinished { index, is_error: true, summary, .. } => {
            format!("call {index} failed: {summary}")
        }
        Event::PermissionDecided { id, decision, by } if by != "person" => {
            let decision = if *decision == Decision::Once { "allowed" } else { "answered" };
            format!("{decision} {} by {by}", id.call.index)
        }
        Event::TurnFinished { turn, outcome, answer } => {
            let end = self::outcome(outcome);
            let answer = if answer.is_empty() { String::new() } else { format!(": {answer}") };
            format!("turn {turn} ended {end}{answer}")
        }
        Event::ToolText { call, text, .. } => format!("for the user {call} {text}"),
        _ => return None,
    })
}

/// One line a message: who, then blocks apart from each other by ` + `.
pub(super) fn message(message: &Message) -> String {
    let who = match message.role {
        Role::User => "user",
        Role::Assistant => "model",
    };
    let blocks: Vec<String> = message.blocks.iter().map(block).collect();
    format!("{who}: {}", blocks.join(" + "))
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => truncate_chars(&text.text, 120).replace('\n', "\\n"),
        Block::Thinking(thinking) => format!("({})", thinking.text),
        Block::ToolUse(call) => format!("<{} {} {}>", call.id, call.name, call.input.get()),
        Block::ToolResult(result) => {
            let content: Vec<String> = result.content.iter().map(self::block).collect();
            let error = if result.is_error { "!" } else { "" };
            format!("<{}{error} = {}>", result.tool_use_id, content.join(" + "))
        }
        Block::Image(_) => "an image".to_owned(),
        other => format!("{other:?}"),
    }
}

pub(super) fn outcome(outcome: &TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Done => "done".into(),
        TurnOutcome::Refused => "refused".into(),
        TurnOutcome::Truncated => "truncated".into(),
        TurnOutcome::Cancelled => "cancelled".into(),
        TurnOutcome::Denied { reason } => format!("denied ({reason})"),
        TurnOutcome::Limit { limit } => format!("at its limit of {limit}"),
        TurnOutcome::ProviderFailed { kind, .. } => word("provider failed", kind),
        TurnOutcome::Failed { message } => {
            format!("failed ({})", truncate_chars(message, 60))
        }
    }
}

fn word(head: &str, word: &impl std::fmt::Debug) -> String {
    format!("{head} {}", format!("{word:?}").to_lowercase())
}
