//! The checks every model request must pass.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::expect::quote;
use crate::{BlockView, Content, MessageView, RequestView, Role};

/// The most violations that are told of one request; the first ones are what matters.
const VIOLATIONS_MAX: usize = 20;

/// One thing that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where: a message and perhaps a block, both from 0; `None` for the request as a whole.
    pub place: Option<(usize, Option<usize>)>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((message, Some(block))) => {
                write!(f, "messages[{message}].content[{block}]: {}", self.what)
            }
            Some((message, None)) => write!(f, "messages[{message}]: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// Checks that a request is one a provider accepts: nothing empty, a user first and last, roles in
/// turn, ids unique, every call with exactly one result in the next message, in call order and
/// before anything else, no result without a call, thinking signed. A call may have any name, also
/// none: models make up such, and what writes the request for a provider writes one that it takes.
#[must_use]
pub fn check_valid(request: &RequestView) -> Vec<Violation> {
    check(request, false)
}

/// As [`check_valid`], for a request that continues a paused reply: it may end with the model's
/// own message.
#[must_use]
pub fn check_valid_after_pause(request: &RequestView) -> Vec<Violation> {
    check(request, true)
}

/// Checks that `current` continues `previous`: the same model, system prompt and tools, and all
/// blocks of `previous` at its start, byte for byte. Says nothing across epochs.
#[must_use]
pub fn check_prefix(
    previous: &RequestView,
    current: &RequestView,
    same_epoch: bool,
) -> Vec<Violation> {
    if !same_epoch {
        return Vec::new();
    }
    let mut found = Found::default();
    check_head(previous, current, &mut found);
    let shared = shared_messages(previous, current);
    let mut now = blocks(current, shared);
    for before in blocks(previous, shared) {
        let place = Some((before.message, Some(before.block)));
        match now.next() {
            Some(after) if after.same_bytes(&before) => {}
            Some(after) => {
                found.add(place, before.difference(&after));
                break;
            }
            None => {
                found.add(place, "stood in the previous request and is missing now");
                break;
            }
        }
    }
    found.0
}

/// The part of [`check_prefix`] before the messages.
pub(crate) fn check_head(previous: &RequestView, current: &RequestView, found: &mut Found) {
    let parts = [
        ("the model", &previous.model, &current.model),
        ("the system prompt", &previous.system, &current.system),
    ];
    for (what, before, after) in parts {
        if before != after {
            let (was, is) = first_difference(before, after);
            found.add(None, format!("{what} changed within an epoch: it had {was}, now {is}"));
        }
    }
    if previous.tools != current.tools {
        let mut pairs = previous.tools.iter().zip(&current.tools);
        let changed = pairs.find(|(before, after)| before != after);
        let what = match changed {
            Some((before, after)) if before.name == after.name => format!("`{}`", before.name),
            Some((before, after)) => format!("`{}` became `{}`", before.name, after.name),
            None => format!("{} became {}", previous.tools.len(), current.tools.len()),
        };
        found.add(None, format!("the tools changed within an epoch: {what}"));
    }
    if found.0.is_empty() && previous.head != current.head {
        let (was, is) = first_difference(&previous.head, &current.head);
        found.add(
            None,
            format!("the bytes before the messages changed within an epoch: {was} became {is}"),
        );
    }
}

/// Checks a request for a summary: up to its instruction, it and `previous` begin the same way. It
/// may leave out the newest messages, which the summary will not replace.
pub(crate) fn check_summary_prefix(
    previous: &RequestView,
    current: &RequestView,
) -> Vec<Violation> {
    let mut found = Found::default();
    check_head(previous, current, &mut found);
    let instruction = blocks(current, 0).count().saturating_sub(1);
    let pairs = blocks(previous, 0).zip(blocks(current, 0).take(instruction));
    if let Some((before, after)) = pairs.into_iter().find(|(a, b)| !a.same_bytes(b)) {
        found.add(Some((before.message, Some(before.block))), before.difference(&after));
    }
    found.0
}

/// Violations, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct Found(pub(crate) Vec<Violation>);

impl Found {
    fn add(&mut self, place: Option<(usize, Option<usize>)>, what: impl Into<String>) {
        if self.0.len() < VIOLATIONS_MAX {
            self.0.push(Violation { place, what: what.into() });
        }
    }
}

fn check(request: &RequestView, after_pause: bool) -> Vec<Violation> {
    let mut found = Found::default();
    check_ends(request, after_pause, &mut found);
    let mut ids = HashSet::new();
    let mut due: Vec<&str> = Vec::new();
    for (m, message) in request.messages.iter().enumerate() {
        if m > 0 && request.messages[m - 1].role == message.role {
            found.add(Some((m, None)), "has the same role as the message before it");
        }
        if message.blocks.is_empty() {
            found.add(Some((m, None)), "is empty");
        }
        check_results(m, message, &due, &mut found);
        due = call_ids(message).collect();
        for (b, block) in message.blocks.iter().enumerate() {
            check_block(Some((m, Some(b))), message.role, block, &mut found);
            if let Content::ToolUse { id, .. } = &block.content
                && !ids.insert(id.as_str())
            {
                let what = format!("the call id `{id}` is used twice in the conversation");
                found.add(Some((m, Some(b))), what);
            }
        }
    }
    if let Some(id) = due.first() {
        let last = request.messages.len() - 1;
        found.add(Some((last, None)), format!("the call `{id}` has no result: no message follows"));
    }
    found.0
}

fn check_ends(request: &RequestView, after_pause: bool, found: &mut Found) {
    let (Some(first), Some(last)) = (request.messages.first(), request.messages.last()) else {
        found.add(None, "the request has no messages");
        return;
    };
    if first.role != Role::User {
        found.add(Some((0, None)), "the first message is not the user's");
    }
    if last.role != Role::User && !after_pause {
        let place = Some((request.messages.len() - 1, None));
        found.add(place, "the last message is not the user's");
    }
}

/// Checks a message's results against the calls of the message before it.
fn check_results(m: usize, message: &MessageView, due: &[&str], found: &mut Found) {
    let mut given = Vec::new();
    let mut other_seen = false;
    for (b, block) in message.blocks.iter().enumerate() {
        let place = Some((m, Some(b)));
        let Content::ToolResult { id, .. } = &block.content else {
            other_seen = true;
            continue;
        };
        if other_seen {
            found.add(place, format!("the result of `{id}` stands after other blocks"));
        }
        if !due.contains(&id.as_str()) {
            let what = format!("the result of `{id}` belongs to no call of the message before");
            found.add(place, what);
        } else if given.contains(&id.as_str()) {
            found.add(place, format!("the call `{id}` has a second result"));
        } else {
            given.push(id.as_str());
        }
    }
    for id in due.iter().filter(|id| !given.contains(id)) {
        found.add(Some((m, None)), format!("the call `{id}` of the message before has no result"));
    }
    let in_order = due.iter().filter(|id| given.contains(id));
    if !in_order.eq(given.iter()) {
        let (due, given) = (due.join(", "), given.join(", "));
        let what = format!("the results are not in call order: called {due}, answered {given}");
        found.add(Some((m, None)), what);
    }
}

fn check_block(
    place: Option<(usize, Option<usize>)>,
    role: Role,
    block: &BlockView,
    found: &mut Found,
) {
    let owner = match &block.content {
        Content::Text(text) => {
            // Providers refuse a text of white space like an empty one.
            if text.trim().is_empty() {
                found.add(place, format!("the text is empty: {}", quote(text)));
            }
            role
        }
        Content::Thinking { signed } => {
            if !signed {
                found.add(place, "the thinking has no signature");
            }
            Role::Assistant
        }
        Content::ToolUse { id, input, .. } => {
            check_call(place, id, input, found);
            Role::Assistant
        }
        Content::ToolResult { .. } => Role::User,
        Content::Image | Content::Opaque => role,
    };
    if owner != role {
        let whose = if owner == Role::User { "the user's" } else { "the model's" };
        found.add(place, format!("such a block belongs into {whose} message"));
    }
}

fn check_call(place: Option<(usize, Option<usize>)>, id: &str, input: &str, found: &mut Found) {
    if id.is_empty() {
        found.add(place, "the call has an empty id");
    }
    let is_object =
        input.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(input).is_ok();
    if !is_object {
        found.add(place, format!("the call's input is no JSON object: {}", quote(input)));
    }
}

fn call_ids(message: &MessageView) -> impl Iterator<Item = &str> {
    message.blocks.iter().filter_map(|block| match &block.content {
        Content::ToolUse { id, .. } => Some(id.as_str()),
        _ => None,
    })
}

/// A block with its place.
struct Placed<'a> {
    message: usize,
    block: usize,
    role: Role,
    view: &'a BlockView,
}

impl Placed<'_> {
    fn same_bytes(&self, other: &Placed<'_>) -> bool {
        self.role == other.role && self.view.raw == other.view.raw
    }

    fn difference(&self, now: &Placed<'_>) -> String {
        if self.role != now.role {
            let (was, is) = (self.role.word(), now.role.word());
            return format!("changed since the previous request: the {was} said it, now the {is}");
        }
        let (was, is) = first_difference(&self.view.raw, &now.view.raw);
        format!("changed since the previous request: it had {was}, now {is}")
    }
}

/// All blocks from message `from` on, one after the other: a last message that grew continues its
/// shorter self.
fn blocks(request: &RequestView, from: usize) -> impl Iterator<Item = Placed<'_>> {
    request.messages.iter().enumerate().skip(from).flat_map(|(m, message)| {
        let placed = move |(b, view)| Placed { message: m, block: b, role: message.role, view };
        message.blocks.iter().enumerate().map(placed)
    })
}

/// How many messages at the start are the same objects, which need no comparison.
fn shared_messages(a: &RequestView, b: &RequestView) -> usize {
    a.messages.iter().zip(&b.messages).take_while(|(a, b)| Arc::ptr_eq(a, b)).count()
}

/// Both texts from a little before their first difference.
fn first_difference(before: &str, after: &str) -> (String, String) {
    const CONTEXT_CHARS: usize = 20;
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    let tail = |text: &str| {
        quote(&text.chars().skip(same.saturating_sub(CONTEXT_CHARS)).take(80).collect::<String>())
    };
    (tail(before), tail(after))
}
