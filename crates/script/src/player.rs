//! Plays a script: checks a request, picks the reply, fills it in.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::block::InputSpec;
use crate::check::{check_prefix, check_summary_prefix, check_valid, check_valid_after_pause};
use crate::expect::quote;
use crate::template::{Values, fill, fill_value};
use crate::{
    BlockSpec, Conversations, Ending, EpochRule, For, Mismatch, Passed, Reply, ReplyBlock,
    ReplySpec, RequestView, Script, UsageSpec, Violation,
};

/// The line a conversation begins with after its head became a summary.
pub const SUMMARY_SENTINEL: &str =
    "[Earlier conversation summary \u{2014} treat as background context]";
/// What a request for a summary contains, where a script does not say.
pub(crate) const SUMMARY_CONTAINS_DEFAULT: &str = "Summarize the conversation so far";
/// The most conversations that are followed at once; the oldest is forgotten.
pub(crate) const CONVERSATIONS_MAX: usize = 1_000;
/// The longest captured value, in bytes.
pub(crate) const CAPTURE_BYTES_MAX: usize = 1024 * 1024;

/// A scripted model: a script, how far it is, and what it has seen. Pure; knows no clock.
#[derive(Debug)]
pub struct Player {
    script: Arc<Script>,
    /// How often each reply was given.
    given: Vec<u64>,
    /// The reply in order that was given last, or the first.
    cursor: usize,
    values: Values,
    conversations: VecDeque<Conversation>,
    requests: u64,
}

/// The last accepted request of a conversation.
#[derive(Debug)]
struct Conversation {
    request: RequestView,
    is_paused: bool,
}

impl Player {
    /// Begins a script.
    pub fn new(script: impl Into<Arc<Script>>) -> Self {
        let script = script.into();
        Self {
            given: vec![0; script.replies.len()],
            script,
            cursor: 0,
            values: Values::new(),
            conversations: VecDeque::new(),
            requests: 0,
        }
    }

    /// Answers a request. A request that does not fit changes nothing but the count of requests.
    ///
    /// # Errors
    /// When the request is not valid, does not continue the previous one, is not what the script
    /// expects, or comes after the script's end.
    pub fn answer(&mut self, request: &RequestView) -> Result<Reply, Mismatch> {
        self.requests += 1;
        let is_summary = self.asks_for_summary(request);
        let violations = self.violations(request, is_summary);
        if !violations.is_empty() {
            return Err(Mismatch::Invalid { request: self.requests, violations });
        }
        let chosen = self.choose(request, is_summary)?;
        let script = Arc::clone(&self.script);
        let Some(spec) = script.replies.get(chosen) else {
            return Err(self.exhausted(For::Next, None));
        };
        let unexpected = |problems| Mismatch::Unexpected {
            request: self.requests,
            script: script.name.clone(),
            line: spec.line,
            problems,
        };
        let problems = spec.expect.problems(request);
        if !problems.is_empty() {
            return Err(unexpected(problems));
        }
        let values = self.captured(spec, request).map_err(unexpected)?;
        let reply =
            self.render(spec, &values, request).map_err(|problem| unexpected(vec![problem]))?;
        self.values = values;
        self.given[chosen] += 1;
        if spec.kind == For::Next {
            self.cursor = chosen;
        }
        if !is_summary {
            self.remember(request, &reply);
        }
        Ok(reply)
    }

    /// How many requests came, refused ones included.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// How many replies in order were not given yet; those that `when` passed over do not count.
    #[must_use]
    pub fn remaining(&self) -> usize {
        let open = |i: usize, reply: &ReplySpec| {
            reply.kind == For::Next && i >= self.cursor && self.given[i] == 0
        };
        self.script.replies.iter().enumerate().filter(|(i, reply)| open(*i, reply)).count()
    }

    fn asks_for_summary(&self, request: &RequestView) -> bool {
        let marker = self.script.options.summary_contains.as_deref();
        let marker = marker.unwrap_or(SUMMARY_CONTAINS_DEFAULT);
        request.last_user_text().is_some_and(|text| text.contains(marker))
    }

    fn violations(&self, request: &RequestView, is_summary: bool) -> Vec<Violation> {
        let previous = self.previous(request);
        let is_paused = previous.is_some_and(|conversation| conversation.is_paused);
        let mut found =
            if is_paused { check_valid_after_pause(request) } else { check_valid(request) };
        let Some(previous) = previous.map(|conversation| &conversation.request) else {
            return found;
        };
        let same_epoch = self.same_epoch(previous, request);
        found.extend(match (same_epoch, is_summary) {
            (true, true) => check_summary_prefix(previous, request),
            _ => check_prefix(previous, request, same_epoch),
        });
        found
    }

    /// The request that this one has to continue.
    fn previous(&self, request: &RequestView) -> Option<&Conversation> {
        match self.script.options.conversations {
            Conversations::One => self.conversations.back(),
            Conversations::Many => {
                let begins_alike = |c: &&Conversation| same_beginning(&c.request, request);
                self.conversations.iter().rev().find(begins_alike)
            }
        }
    }

    fn same_epoch(&self, previous: &RequestView, request: &RequestView) -> bool {
        let is_summary =
            request.first_text().is_some_and(|text| text.starts_with(SUMMARY_SENTINEL));
        if is_summary && !same_beginning(previous, request) {
            return false;
        }
        if let (Some(before), Some(now)) = (previous.epoch, request.epoch) {
            return before == now;
        }
        let same_head = previous.model == request.model
            && previous.system == request.system
            && previous.tools == request.tools
            && previous.head == request.head;
        same_head || self.script.options.epoch == EpochRule::Fixed
    }

    fn remember(&mut self, request: &RequestView, reply: &Reply) {
        // A provider that refuses a request has not taken it into its cache, and the next one may
        // well be without what was refused.
        let is_refused =
            matches!(reply.error.as_ref().and_then(|error| error.status), Some(400 | 413));
        if is_refused {
            return;
        }
        // A reply that failed changed nothing: the paused one before it still waits.
        let is_paused = match reply.error.is_none() && reply.ending.is_none() {
            true => reply.stop == "pause",
            false => self.previous(request).is_some_and(|conversation| conversation.is_paused),
        };
        match self.script.options.conversations {
            Conversations::One => self.conversations.clear(),
            Conversations::Many => {
                self.conversations.retain(|c| !same_beginning(&c.request, request));
                if self.conversations.len() >= CONVERSATIONS_MAX {
                    self.conversations.pop_front();
                }
            }
        }
        self.conversations.push_back(Conversation { request: request.clone(), is_paused });
    }

    /// The reply to give: of those kept for summaries the first that is left, else the next in
    /// order whose `when` holds.
    fn choose(&self, request: &RequestView, is_summary: bool) -> Result<usize, Mismatch> {
        let replies = &self.script.replies;
        let is_left = |i: &usize| self.given[*i] < replies[*i].repeat.unwrap_or(1);
        let mut passed = None;
        let mut holds = |i: &usize| {
            let when = replies[*i].when.as_ref();
            let problems = when.map(|when| when.problems(request)).unwrap_or_default();
            let holds = problems.is_empty();
            if !holds && passed.is_none() {
                passed = Some(Passed { line: replies[*i].line, problems });
            }
            holds
        };
        let mut summaries = (0..replies.len()).filter(|i| replies[*i].kind == For::Summary);
        if is_summary && summaries.clone().next().is_some() {
            let found = summaries.find(|i| is_left(i) && holds(i));
            return found.ok_or_else(|| self.exhausted(For::Summary, passed));
        }
        let mut in_order = (self.cursor..replies.len()).filter(|i| replies[*i].kind == For::Next);
        if let Some(found) = in_order.clone().find(|i| is_left(i) && holds(i)) {
            return Ok(found);
        }
        let last = in_order.next_back().filter(|_| self.script.options.repeat_last);
        last.filter(holds).ok_or_else(|| self.exhausted(For::Next, passed))
    }

    fn exhausted(&self, kind: For, passed: Option<Passed>) -> Mismatch {
        let script = self.script.name.clone();
        Mismatch::Exhausted {
            request: self.requests,
            script,
            format: self.script.format,
            kind,
            passed,
        }
    }

    /// The values known after this request.
    fn captured(&self, spec: &ReplySpec, request: &RequestView) -> Result<Values, Vec<String>> {
        let mut values = self.values.clone();
        let mut problems = Vec::new();
        for (name, pattern) in &spec.capture.0 {
            let texts = request.last_texts();
            match texts.iter().find_map(|text| pattern.find(text)) {
                Some(value) if value.len() <= CAPTURE_BYTES_MAX => {
                    values.insert(name.clone(), value.to_owned());
                }
                Some(_) => {
                    let what = format!("`capture.{name}` took more than {CAPTURE_BYTES_MAX} bytes");
                    problems.push(what);
                }
                None => problems.push(format!(
                    "`capture.{name}` finds no {:?} in {}",
                    pattern.as_str(),
                    quote(&texts.join("\n"))
                )),
            }
        }
        if problems.is_empty() { Ok(values) } else { Err(problems) }
    }

    fn render(
        &self,
        spec: &ReplySpec,
        values: &Values,
        request: &RequestView,
    ) -> Result<Reply, String> {
        let shorthand = spec.text.iter().map(|text| BlockSpec::text(text.clone()));
        let mut blocks = Vec::new();
        for (i, block) in shorthand.chain(spec.blocks.iter().cloned()).enumerate() {
            let minted = format!("call_{}_{}", self.requests, i);
            blocks.push(render_block(block, (!spec.verbatim).then_some(values), minted)?);
        }
        let calls = blocks.iter().any(|block| matches!(block, ReplyBlock::Call { .. }));
        let stop_default = if calls { "tool_use" } else { "end_turn" };
        let ending = spec.cut.map(Ending::Cut).or(spec.stall.map(Ending::Stall));
        let mut reply = Reply {
            request: self.requests,
            blocks,
            stop: spec.stop.clone().unwrap_or_else(|| stop_default.into()),
            usage: UsageSpec::default(),
            delay_ms: spec.delay_ms,
            chunks: spec.chunks,
            error: spec.error.clone(),
            ending,
            headers: spec.headers.clone(),
        };
        let given = spec.usage.or(self.script.options.usage);
        reply.usage = given.unwrap_or_else(|| estimated_usage(request, &reply));
        Ok(reply)
    }
}

fn same_beginning(a: &RequestView, b: &RequestView) -> bool {
    let first = |request: &RequestView| {
        request.messages.first().and_then(|m| m.blocks.first()).map(|block| block.raw.clone())
    };
    first(a) == first(b)
}

fn render_block(
    block: BlockSpec,
    values: Option<&Values>,
    minted: String,
) -> Result<ReplyBlock, String> {
    let filled = |text: String| match values {
        Some(values) => fill(&text, values),
        None => Ok(text),
    };
    Ok(match block {
        BlockSpec::Text { text } => ReplyBlock::Text(filled(text)?),
        BlockSpec::Thinking { text, signature } => {
            ReplyBlock::Thinking { text: filled(text)?, signature }
        }
        BlockSpec::Redacted { data } => ReplyBlock::Redacted(data),
        BlockSpec::Opaque { value } => ReplyBlock::Opaque(value.to_string()),
        BlockSpec::Call { name, id, input } => {
            let input = match input {
                InputSpec::Absent => None,
                InputSpec::Raw(text) => Some(filled(text)?),
                InputSpec::Json(value) => Some(match values {
                    Some(values) => fill_value(&value, values)?.to_string(),
                    None => value.to_string(),
                }),
            };
            ReplyBlock::Call { id: id.unwrap_or(minted), name, input }
        }
    })
}

/// Four bytes a token, nothing cached.
fn estimated_usage(request: &RequestView, reply: &Reply) -> UsageSpec {
    let tokens = |bytes: usize| u64::try_from(bytes / 4 + 1).unwrap_or(u64::MAX);
    UsageSpec {
        input: tokens(request.bytes()),
        output: tokens(reply.bytes()),
        ..UsageSpec::default()
    }
}
