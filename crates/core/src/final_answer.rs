//! What a turn came to, in words.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Block, Message, Text};

/// The text of a turn's last message. Answers are long and told at several places, so where the message
/// says it in one block, this is that block's text and no copy.
#[derive(Clone, Default)]
pub struct FinalAnswer(Arc<Text>);

impl FinalAnswer {
    /// What the message says.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        let mut texts = message.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text),
            _ => None,
        });
        match (texts.next(), texts.next()) {
            (None, _) => Self::default(),
            (Some(text), None) => Self(Arc::clone(text)),
            (Some(_), Some(_)) => message.text().into(),
        }
    }

    /// The text; empty when nothing was said.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.text
    }
}

impl Deref for FinalAnswer {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

/// By what it says; the block may hold its provider's own form of that, too.
impl PartialEq for FinalAnswer {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for FinalAnswer {}

impl PartialEq<&str> for FinalAnswer {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}

impl From<String> for FinalAnswer {
    fn from(text: String) -> Self {
        Self(Arc::new(Text { text, ..Text::default() }))
    }
}

impl From<&str> for FinalAnswer {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Debug for FinalAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for FinalAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Serialize for FinalAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for FinalAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(String::deserialize(deserializer)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProviderItem, RawJson, Role};

    fn check(texts: &[&str], expected: &str) -> (Message, FinalAnswer) {
        let blocks = texts.iter().map(|text| Block::text(*text)).collect();
        let message = Message { role: Role::Assistant, blocks };
        let answer = FinalAnswer::of(&message);
        assert_eq!((answer.as_str(), message.text().as_str()), (expected, expected));
        let json = serde_json::to_string(&answer).unwrap();
        assert_eq!(json, format!("{expected:?}"));
        assert_eq!(serde_json::from_str::<FinalAnswer>(&json).unwrap(), answer);
        (message, answer)
    }

    #[test]
    fn it_is_what_the_message_says_and_no_copy_where_that_is_one_text() {
        check(&[], "");
        check(&["a", "b"], "ab");
        let (message, answer) = check(&["all"], "all");
        assert_eq!(answer.as_ptr(), message.blocks[0].as_text().unwrap().as_ptr());
    }

    #[test]
    fn two_that_say_the_same_are_the_same() {
        let json = RawJson::empty_object();
        let raw = Some(Box::new(ProviderItem { provider: "own".into(), json }));
        let cited = Block::Text(Arc::new(Text { text: "all".into(), cache: None, raw }));
        let message = Message { role: Role::Assistant, blocks: vec![cited] };
        let answer = FinalAnswer::of(&message);
        assert_eq!(answer, FinalAnswer::from("all"));
        assert_ne!(answer, FinalAnswer::from("some"));
        assert_eq!((answer == "all", answer == "some"), (true, false));
        assert_eq!(format!("{answer} {answer:?}"), "all \"all\"");
    }
}
