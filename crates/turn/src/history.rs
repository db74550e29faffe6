//! The conversation as the model sees it: always valid, cheap to snapshot, estimated as it grows.
//!
//! Validity is kept by construction. Calls without results are answered before anything else is
//! said, ids are made unique when they enter, empty blocks never enter. The request form
//! (neighbours of one role joined) is kept beside the messages, so that building a request copies
//! pointers and encodes only what is new.

use std::ops::Range;
use std::sync::Arc;

use heeler_core::{Block, Message, Messages, RequestMessage, RequestMessages, Role, ToolResult};
use rpds::HashTrieSetSync;
use serde::{Deserialize, Serialize};

use crate::bugs::{Bug, is_on};
use crate::checkpoint;
use crate::estimate::{self, TokenEstimate};
use crate::words;

/// A conversation. Cloning it is a snapshot that later changes do not disturb.
#[derive(Clone, Serialize, Deserialize)]
pub struct History {
    messages: Messages,
    /// For each message, its weight. A snapshot shares the list, which is copied once more is said.
    #[serde(skip)]
    weights: Arc<Vec<u64>>,
    #[serde(skip)]
    weight: u64,
    #[serde(skip)]
    request: RequestMessages,
    #[serde(serialize_with = "checkpoint::set_in_order")]
    wire_ids: HashTrieSetSync<String>,
    /// Wire ids of calls in the last message that have no results yet, in call order.
    unanswered: Vec<String>,
    #[serde(skip, default = "estimate::by_characters")]
    estimate: Arc<dyn TokenEstimate>,
}

impl History {
    /// An empty conversation.
    #[must_use]
    pub fn new(estimate: Arc<dyn TokenEstimate>) -> Self {
        Self {
            messages: Messages::new_sync(),
            weights: Arc::default(),
            weight: 0,
            request: RequestMessages::default(),
            wire_ids: HashTrieSetSync::new_sync(),
            unanswered: Vec::new(),
            estimate,
        }
    }

    /// The messages, each as it was said.
    #[must_use]
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The messages as a request sends them.
    #[must_use]
    pub fn request(&self) -> &RequestMessages {
        &self.request
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether nothing was said yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Estimated weight of all messages.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Replaces the way of estimating, weighing everything again.
    pub fn set_estimate(&mut self, estimate: Arc<dyn TokenEstimate>) {
        self.estimate = estimate;
        let weigh =
            |message: &Arc<Message>| estimate::weigh_message(self.estimate.as_ref(), message);
        self.weights = Arc::new(self.messages.iter().map(weigh).collect());
        self.weight = self.weights.iter().sum();
    }

    /// Makes again what a checkpoint leaves out.
    pub(crate) fn restore(&mut self, estimate: Arc<dyn TokenEstimate>) {
        self.set_estimate(estimate);
        self.request = RequestMessages::default();
        for message in &self.messages.clone() {
            self.join(message);
        }
    }

    /// Appends what a user says. Returns what was appended, which may be nothing (only empty
    /// blocks) or begin with results that close an unfinished batch.
    pub fn push_user(&mut self, blocks: Vec<Block>) -> Vec<Arc<Message>> {
        let mut appended = self.close_unanswered();
        // Results only enter through `push_results`, which pairs them.
        let blocks = blocks
            .into_iter()
            .filter(|b| !b.is_empty() || is_on(Bug::EmptyBlock))
            .filter(|b| !matches!(b, Block::ToolResult(_) | Block::ToolUse(_)))
            .collect();
        appended.extend(self.push(Role::User, blocks));
        appended
    }

    /// Appends what the model says. Empty and repeated wire ids are replaced by `mint(index)`,
    /// made unique. Returns what was appended.
    pub fn push_assistant(
        &mut self,
        blocks: &[Block],
        mint: impl Fn(usize) -> String,
    ) -> Vec<Arc<Message>> {
        let mut blocks: Vec<Block> = blocks
            .iter()
            .filter(|b| !b.is_empty() && !matches!(b, Block::ToolResult(_)))
            .cloned()
            .collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        let mut appended = self.close_unanswered();
        if self.is_empty() {
            appended.extend(self.push(Role::User, vec![Block::text(words::BEGINNING_MISSING)]));
        }
        let calls = blocks.iter_mut().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            _ => None,
        });
        for (index, call) in calls.enumerate() {
            let is_taken = self.wire_ids.contains(&call.id) && !is_on(Bug::RepeatedId);
            if call.id.is_empty() || is_taken {
                Arc::make_mut(call).id = self.unused_id(mint(index));
            }
            self.wire_ids.insert_mut(call.id.clone());
            self.unanswered.push(call.id.clone());
        }
        appended.extend(self.push(Role::Assistant, blocks));
        appended
    }

    /// Appends the results of the last message's calls, in call order, whatever the order of
    /// `results`; a call without one gets a result that says it was lost.
    pub fn push_results(&mut self, results: Vec<ToolResult>) -> Option<Arc<Message>> {
        let mut results = results;
        let mut unanswered = std::mem::take(&mut self.unanswered);
        if is_on(Bug::WrongOrder) {
            unanswered.reverse();
        }
        let blocks = unanswered
            .into_iter()
            .take(if is_on(Bug::MissingResult) { 2 } else { usize::MAX })
            .map(|id| {
                let found = results.iter().position(|result| result.tool_use_id == id);
                Block::from(match found {
                    Some(at) => results.swap_remove(at),
                    None => missing_result(id),
                })
            })
            .collect();
        self.push(Role::User, blocks)
    }

    /// Appends what was said elsewhere. A valid conversation stays as it is, word for word; in
    /// another one calls without results are answered, results without calls left out, and repeated
    /// ids made unique, with the results that belong to them.
    pub fn push_given(&mut self, messages: &[Message]) -> Vec<Arc<Message>> {
        let mut appended = Vec::new();
        // What the unanswered calls were called by whoever gave them.
        let mut given_ids = Vec::new();
        for message in messages {
            if message.role == Role::User {
                appended.extend(self.push_given_by_user(&message.blocks, &given_ids));
                continue;
            }
            let said = self.push_assistant(&message.blocks, |index| format!("call_{index}"));
            if !said.is_empty() {
                given_ids = message.tool_uses().map(|call| call.id.clone()).collect();
            }
            appended.extend(said);
        }
        appended
    }

    /// Results come first, each to its call; a provider would refuse them anywhere else.
    fn push_given_by_user(
        &mut self,
        blocks: &[Block],
        given_ids: &[String],
    ) -> Option<Arc<Message>> {
        let mut results: Vec<&ToolResult> = blocks.iter().filter_map(as_result).collect();
        let unanswered = std::mem::take(&mut self.unanswered).into_iter();
        let answers = unanswered.zip(given_ids).map(|(tool_use_id, given)| {
            let found = results.iter().position(|result| result.tool_use_id == *given);
            Block::from(match found {
                Some(at) => ToolResult { tool_use_id, ..results.remove(at).clone() },
                None => missing_result(tool_use_id),
            })
        });
        let is_said = |block: &&Block| {
            !block.is_empty() && !matches!(block, Block::ToolResult(_) | Block::ToolUse(_))
        };
        let blocks = answers.chain(blocks.iter().filter(is_said).cloned()).collect();
        self.push(Role::User, blocks)
    }

    /// What the first `n` messages weigh.
    #[must_use]
    pub fn weight_of_head(&self, n: usize) -> u64 {
        self.weight - self.weights.iter().skip(n).sum::<u64>()
    }

    /// Replaces the first `cut` messages by one.
    pub fn replace_head(&mut self, cut: usize, message: Message) -> Arc<Message> {
        let message = Arc::new(message);
        let tail = self.messages.iter().skip(cut).cloned();
        let all = std::iter::once(Arc::clone(&message)).chain(tail).collect();
        self.replace_all(all);
        message
    }

    /// Replaces the conversation by one with the same unanswered calls.
    pub(crate) fn replace_all(&mut self, messages: Vec<Arc<Message>>) {
        let unanswered = std::mem::take(&mut self.unanswered);
        self.messages = Messages::new_sync();
        self.weights = Arc::default();
        self.request = RequestMessages::default();
        self.weight = 0;
        for message in messages {
            self.push_whole(message);
        }
        self.unanswered = unanswered;
    }

    /// Replaces the messages at these places, which are in order.
    pub(crate) fn replace_some(&mut self, changed: &[(usize, Arc<Message>)]) {
        let mut changed = changed.iter().peekable();
        let all = self.messages.iter().enumerate().map(|(at, message)| {
            changed.next_if(|(place, _)| *place == at).map_or(message, |(_, other)| other)
        });
        let all = all.cloned().collect();
        self.replace_all(all);
    }

    /// Replaces the messages at these places by what is left of them, and says how many blocks it counted.
    pub(crate) fn leave_out(
        &mut self,
        among: Range<usize>,
        left: fn(&Arc<Message>, &mut u32) -> Arc<Message>,
    ) -> u32 {
        let mut items = 0;
        let kept =
            self.messages.iter().enumerate().map(|(at, message)| match among.contains(&at) {
                true => left(message, &mut items),
                false => Arc::clone(message),
            });
        let kept: Vec<Arc<Message>> = kept.collect();
        if items > 0 {
            self.replace_all(kept);
        }
        items
    }

    /// The first `cut` messages in request form, followed by a user's text.
    #[must_use]
    pub fn head_and(&self, cut: usize, text: &str) -> RequestMessages {
        let mut head = Self::new(Arc::clone(&self.estimate));
        let cut = cut.min(self.len());
        let whole = self.request_prefix(cut);
        match whole {
            Some(n) => head.request = self.request.prefix(n),
            None => self.messages.iter().take(cut).for_each(|m| head.join(m)),
        }
        head.join(&Arc::new(Message::user(text)));
        head.request
    }

    /// How many request messages hold exactly the first `cut` messages, when that comes out even.
    fn request_prefix(&self, cut: usize) -> Option<usize> {
        let mut blocks: usize = self.messages.iter().take(cut).map(|m| m.blocks.len()).sum();
        for (n, message) in self.request.iter().enumerate() {
            if blocks == 0 {
                return Some(n);
            }
            blocks = blocks.checked_sub(message.message.blocks.len())?;
        }
        Some(self.request.len())
    }

    fn close_unanswered(&mut self) -> Vec<Arc<Message>> {
        if self.unanswered.is_empty() {
            return Vec::new();
        }
        self.push_results(Vec::new()).into_iter().collect()
    }

    fn unused_id(&self, wanted: String) -> String {
        let mut id = wanted.clone();
        let mut n = 1u32;
        while self.wire_ids.contains(&id) {
            n += 1;
            id = format!("{wanted}_{n}");
        }
        id
    }

    fn push(&mut self, role: Role, mut blocks: Vec<Block>) -> Option<Arc<Message>> {
        if blocks.is_empty() {
            return None;
        }
        // Kept as long as the session, so without room for more.
        blocks.shrink_to_fit();
        let message = Arc::new(Message { role, blocks });
        self.push_whole(Arc::clone(&message));
        Some(message)
    }

    fn push_whole(&mut self, message: Arc<Message>) {
        let weight = estimate::weigh_message(self.estimate.as_ref(), &message);
        self.weight += weight;
        Arc::make_mut(&mut self.weights).push(weight);
        self.join(&message);
        self.messages.push_back_mut(message);
    }

    /// Adds a message to the request form, joined to its neighbour when both have one role.
    fn join(&mut self, message: &Arc<Message>) {
        match self.request.last() {
            Some(last) if last.message.role == message.role => {
                let mut joined = (*last.message).clone();
                joined.blocks.extend(message.blocks.iter().cloned());
                self.request.replace_last(Arc::new(RequestMessage::new(joined)));
            }
            // The very same message: long results are in memory once.
            _ => self.request.push(Arc::new(RequestMessage::new(Arc::clone(message)))),
        }
    }
}

fn as_result(block: &Block) -> Option<&ToolResult> {
    match block {
        Block::ToolResult(result) => Some(result),
        _ => None,
    }
}

fn missing_result(tool_use_id: String) -> ToolResult {
    let content = vec![Block::text(words::RESULT_MISSING)];
    ToolResult { tool_use_id, content, is_error: true, cache: None }
}
