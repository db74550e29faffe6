//! A conversation in the form requests are made of: cheap to clone, each part encoded once.
//!
//! A request of a session of any length should cost what is new in it. So all but the newest
//! messages stand in stretches of a fixed length that never change and are shared by all clones; a
//! stretch is encoded once, as one piece of bytes, and its messages then forget theirs.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use rpds::VectorSync;

use crate::{Block, Message, RawJson};

/// Messages of a stretch: a request handles a sixteenth of the conversation's length, and few messages
/// one by one, each in places of its own that a thousand other sessions have pushed out of the cache.
const STRETCH_MESSAGES: usize = 16;

/// What every dialect calls a cache marker.
const MARKER_NAME: &str = "cache_control";

/// A message in the form requests are made of: neighbours joined, nothing empty.
#[derive(Debug)]
pub struct RequestMessage {
    /// The message.
    pub message: Arc<Message>,
    is_marked: bool,
    /// Boxed: most messages stand in stretches, and have none.
    encoded: Mutex<Option<Box<Encoded>>>,
}

/// The bytes of one message in one dialect.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The dialect that wrote the bytes.
    pub dialect: &'static str,
    /// The encoded message without a cache marker; empty when nothing of it may be sent.
    pub bytes: Bytes,
    /// Where in `bytes` a cache marker is inserted to mark the message's last block; `None` when
    /// that block cannot carry one.
    pub marker_at: Option<usize>,
}

impl RequestMessage {
    /// Wraps a message whose bytes are not known yet.
    #[must_use]
    pub fn new(message: impl Into<Arc<Message>>) -> Self {
        let message = message.into();
        let is_marked = is_marked(&message.blocks);
        Self { message, is_marked, encoded: Mutex::new(None) }
    }

    /// Whether a user may have set a cache marker on it: on a block, or within its raw bytes.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// The message's bytes in `dialect`, encoded by `encode` unless they are remembered.
    #[doc(hidden)]
    pub fn encoded(
        &self,
        dialect: &'static str,
        encode: impl Fn(&Message) -> (Vec<u8>, Option<usize>),
    ) -> Encoded {
        let mut kept = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(encoded) if encoded.dialect == dialect => (**encoded).clone(),
            _ => {
                let (bytes, marker_at) = encode(&self.message);
                let encoded = Encoded { dialect, bytes: bytes.into(), marker_at };
                *kept = Some(Box::new(encoded.clone()));
                encoded
            }
        }
    }

    fn forget_encoded(&self) {
        *self.encoded.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl PartialEq for RequestMessage {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message
    }
}

/// Neighbouring messages that stand as they are.
#[derive(Debug)]
pub struct Stretch {
    messages: Vec<Arc<RequestMessage>>,
    is_marked: bool,
    joined: OnceLock<(&'static str, Bytes)>,
}

impl Stretch {
    fn new(messages: Vec<Arc<RequestMessage>>) -> Self {
        let is_marked = messages.iter().any(|message| message.is_marked);
        Self { messages, is_marked, joined: OnceLock::new() }
    }

    /// Its messages, in order.
    #[must_use]
    pub fn messages(&self) -> &[Arc<RequestMessage>] {
        &self.messages
    }

    /// Whether a user may have set a cache marker in it.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// The messages' bytes in `dialect` with `separator` between those that are not empty, made
    /// once with `encode`.
    ///
    /// The slot belongs to the first dialect that asks; another one joins each time, which only
    /// happens around a change of provider.
    pub fn joined(
        &self,
        dialect: &'static str,
        separator: u8,
        encode: impl Fn(&RequestMessage) -> Encoded,
    ) -> Bytes {
        let join = || {
            let all: Vec<Bytes> =
                self.messages.iter().map(|message| encode(message).bytes).collect();
            let length = all.iter().map(|bytes| bytes.len() + 1).sum();
            let mut joined = Vec::with_capacity(length);
            for bytes in all.iter().filter(|bytes| !bytes.is_empty()) {
                if !joined.is_empty() {
                    joined.push(separator);
                }
                joined.extend_from_slice(bytes);
            }
            self.messages.iter().for_each(|message| message.forget_encoded());
            (dialect, Bytes::from(joined))
        };
        let kept = self.joined.get_or_init(join);
        if kept.0 == dialect { kept.1.clone() } else { join().1 }
    }
}

/// A conversation in request form. Cloning it is a snapshot that later changes do not disturb.
#[derive(Debug, Clone, Default)]
pub struct RequestMessages {
    stretches: VectorSync<Arc<Stretch>>,
    /// What follows the stretches: at least the last message, at most a stretch. A snapshot copies
    /// one pointer; what is said after it copies the list only if the snapshot still lives.
    recent: Arc<Vec<Arc<RequestMessage>>>,
}

impl RequestMessages {
    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stretches.len() * STRETCH_MESSAGES + self.recent.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.recent.is_empty()
    }

    /// The messages, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<RequestMessage>> {
        self.stretches.iter().flat_map(|stretch| stretch.messages()).chain(self.recent.iter())
    }

    /// The message at this place.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Arc<RequestMessage>> {
        match self.stretches.get(index / STRETCH_MESSAGES) {
            Some(stretch) => stretch.messages.get(index % STRETCH_MESSAGES),
            None => self.recent.get(index - self.stretches.len() * STRETCH_MESSAGES),
        }
    }

    /// The last message.
    #[must_use]
    pub fn last(&self) -> Option<&Arc<RequestMessage>> {
        self.recent.last()
    }

    /// What stands, in order.
    #[doc(hidden)]
    pub fn stretches(&self) -> impl DoubleEndedIterator<Item = &Arc<Stretch>> {
        self.stretches.iter()
    }

    /// What follows the stretches.
    #[must_use]
    #[doc(hidden)]
    pub fn recent(&self) -> &[Arc<RequestMessage>] {
        &self.recent
    }

    /// Appends a message.
    pub fn push(&mut self, message: Arc<RequestMessage>) {
        if self.recent.len() == STRETCH_MESSAGES {
            let stands = std::mem::take(&mut self.recent);
            let stands = Arc::unwrap_or_clone(stands);
            self.stretches.push_back_mut(Arc::new(Stretch::new(stands)));
        }
        Arc::make_mut(&mut self.recent).push(message);
    }

    /// Puts another message in the place of the last one; there must be one.
    pub fn replace_last(&mut self, message: Arc<RequestMessage>) {
        let recent = Arc::make_mut(&mut self.recent);
        recent.pop();
        recent.push(message);
    }

    /// The first `n` messages; whole stretches are shared.
    #[must_use]
    pub fn prefix(&self, n: usize) -> Self {
        let mut prefix = Self::default();
        let n_stretches =
            (n.min(self.len()).saturating_sub(1) / STRETCH_MESSAGES).min(self.stretches.len());
        for stretch in self.stretches.iter().take(n_stretches) {
            prefix.stretches.push_back_mut(Arc::clone(stretch));
        }
        let shared = prefix.len();
        for index in shared..n {
            let Some(message) = self.get(index) else { break };
            prefix.push(Arc::clone(message));
        }
        prefix
    }
}

impl PartialEq for RequestMessages {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl FromIterator<Arc<RequestMessage>> for RequestMessages {
    fn from_iter<T: IntoIterator<Item = Arc<RequestMessage>>>(messages: T) -> Self {
        let mut all = Self::default();
        messages.into_iter().for_each(|message| all.push(message));
        all
    }
}

impl FromIterator<Message> for RequestMessages {
    fn from_iter<T: IntoIterator<Item = Message>>(messages: T) -> Self {
        messages.into_iter().map(|message| Arc::new(RequestMessage::new(message))).collect()
    }
}

fn is_marked(blocks: &[Block]) -> bool {
    // In bytes of a provider's own a marker is whatever its dialect calls so; this is wide enough.
    let may_mark = |raw: &RawJson| raw.get().contains(MARKER_NAME);
    blocks.iter().any(|block| match block {
        Block::Text(text) => {
            text.cache.is_some() || text.raw.as_ref().is_some_and(|raw| may_mark(&raw.json))
        }
        Block::Image(image) => image.cache.is_some(),
        Block::ToolUse(call) => call.cache.is_some(),
        Block::ToolResult(result) => result.cache.is_some() || is_marked(&result.content),
        Block::Document(item) | Block::Opaque(item) => may_mark(&item.raw),
        Block::Thinking(_) | Block::RedactedThinking(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::{CacheMarker, Image, Text, ToolResult};

    fn texts(messages: &RequestMessages) -> Vec<String> {
        messages.iter().map(|message| message.message.text()).collect()
    }

    fn joined(stretch: &Stretch, dialect: &'static str) -> String {
        let encode = |message: &Message| (message.text().into_bytes(), None);
        let bytes = stretch.joined(dialect, b',', |message| message.encoded(dialect, encode));
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    proptest! {
        #[test]
        fn is_a_list(pushes in prop::collection::vec(any::<bool>(), 0..150), cut in 0usize..160) {
            let (mut list, mut expected) = (RequestMessages::default(), Vec::new());
            for (n, replaces) in pushes.into_iter().enumerate() {
                let message = Arc::new(RequestMessage::new(Message::user(n.to_string())));
                if replaces && !list.is_empty() {
                    list.replace_last(message);
                    expected.pop();
                } else {
                    list.push(message);
                }
                expected.push(n.to_string());
            }
            prop_assert_eq!(texts(&list), &expected[..]);
            prop_assert_eq!(list.len(), expected.len());
            prop_assert_eq!(list.is_empty(), expected.is_empty());
            prop_assert_eq!(list.last().map(|m| m.message.text()), expected.last().cloned());
            prop_assert_eq!(list.get(cut).map(|m| m.message.text()), expected.get(cut).cloned());
            let mut prefix = list.prefix(cut);
            prop_assert_eq!(texts(&prefix), &expected[..cut.min(expected.len())]);
            if !prefix.is_empty() {
                prefix.replace_last(Arc::new(RequestMessage::new(Message::user("other"))));
            }
            prop_assert_eq!(texts(&list), expected);
        }
    }

    #[test]
    fn a_stretch_is_joined_once_and_its_messages_forget_their_bytes() {
        let texts = (0..=STRETCH_MESSAGES).map(|n| match n {
            1 => Message::user(""),
            n => Message::user(n.to_string()),
        });
        let list: RequestMessages = texts.collect();
        assert!(RequestMessages::default().is_empty() && !list.is_empty());
        let recent = list.recent().iter().map(|message| message.message.text());
        assert_eq!(recent.collect::<Vec<_>>(), [STRETCH_MESSAGES.to_string()]);
        assert_eq!((list == list.prefix(usize::MAX), list == list.prefix(1)), (true, false));
        let stretch = list.stretches().next().unwrap();
        let first = joined(stretch, "a");
        assert!(first.starts_with("0,2,3,") && first.ends_with(",14,15"), "{first}");
        assert!(stretch.messages().iter().all(|m| m.encoded.lock().unwrap().is_none()));
        let never = |_: &RequestMessage| panic!("joined again");
        assert_eq!(stretch.joined("a", b',', never), first);
        assert_eq!(joined(stretch, "b"), first);
    }

    #[test]
    fn a_marker_anywhere_marks_the_stretch() {
        let marked =
            Block::from(Text { text: "x".into(), cache: Some(CacheMarker::OneHour), raw: None });
        let messages = |n: usize| (0..n).map(|n| Message::user(n.to_string()));
        let is_marked = |list: RequestMessages| list.stretches().next().unwrap().is_marked();
        assert!(!is_marked(messages(STRETCH_MESSAGES + 1).collect()));
        let mut all: Vec<Message> = messages(STRETCH_MESSAGES + 1).collect();
        all[7].blocks.push(marked);
        assert!(is_marked(all.into_iter().collect()));
        for (raw, expected) in [(r#"{"cache_control":{}}"#, true), (r#"{"cache":{}}"#, false)] {
            let raw = RawJson::parse(raw).unwrap();
            let mut all: Vec<Message> = messages(STRETCH_MESSAGES + 1).collect();
            all[7]
                .blocks
                .push(Block::Document(Arc::new(crate::Opaque { provider: "p".into(), raw })));
            assert_eq!(is_marked(all.into_iter().collect()), expected);
        }
    }

    #[test]
    fn a_message_is_encoded_once_for_the_dialect_that_asked_last() {
        let message = RequestMessage::new(Message::user("hi"));
        let encodings = AtomicUsize::new(0);
        let bytes = |dialect: &'static str| {
            let encoded = message.encoded(dialect, |message| {
                encodings.fetch_add(1, Ordering::Relaxed);
                (format!("{dialect} {}", message.text()).into_bytes(), Some(2))
            });
            assert_eq!((encoded.dialect, encoded.marker_at), (dialect, Some(2)));
            String::from_utf8(encoded.bytes.to_vec()).unwrap()
        };
        assert_eq!(
            [bytes("a"), bytes("a"), bytes("b"), bytes("b")],
            ["a hi", "a hi", "b hi", "b hi"]
        );
        assert_eq!(encodings.load(Ordering::Relaxed), 2);
        // What was encoded says nothing about the message.
        assert_eq!(message, RequestMessage::new(Message::user("hi")));
        assert_ne!(message, RequestMessage::new(Message::user("ho")));
    }

    #[test]
    fn a_message_is_marked_by_any_block_and_by_what_a_result_holds() {
        let check = |block: Block, expected: bool| {
            let blocks = vec![Block::text("first"), block];
            let message = RequestMessage::new(Message { role: crate::Role::User, blocks });
            assert_eq!(message.is_marked(), expected, "{:?}", message.message);
        };
        let image = || Block::from(Image::from_bytes("image/png", &[1]));
        let result = |content| {
            Block::from(ToolResult { content: vec![content], ..ToolResult::text("a", "") })
        };
        for plain in [Block::text("x"), image(), result(image())] {
            check(plain.clone(), false);
            check(plain.cached(CacheMarker::OneHour), true);
        }
        check(result(image().cached(CacheMarker::OneHour)), true);
    }
}
