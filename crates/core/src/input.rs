//! What is said to a session, and where it comes from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Block;

/// What a person, or somebody on their behalf, says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// What is said.
    pub blocks: Vec<Block>,
    /// Where it comes from; every field absent when unknown.
    #[serde(default)]
    pub origin: InputOrigin,
}

impl Input {
    /// A plain text from nowhere in particular.
    pub fn text(text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::text(text)], origin: InputOrigin::default() }
    }
}

/// Where an input comes from, as the surface that took it knows, and so where what is said in return
/// goes. What is not known is absent, never an empty text.
///
/// ```
/// use heeler_core::InputOrigin;
///
/// let origin = InputOrigin { message: Some("77".into()), ..InputOrigin::chat("matrix", "room 5") };
/// assert_eq!(origin.chat.as_deref(), Some("room 5"));
/// assert_eq!(InputOrigin::chat("", ""), InputOrigin::default());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InputOrigin {
    /// The kind of surface or messenger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The chat within the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// The message within the chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The message it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The agent it is for, where the surface has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the surface calls the conversation that this session is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// What that conversation is bound to, such as an account, a room or a person, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<BTreeMap<String, String>>,
}

impl InputOrigin {
    /// A chat of a channel.
    pub fn chat(channel: impl Into<String>, chat: impl Into<String>) -> Self {
        let (channel, chat) = (Some(channel.into()), Some(chat.into()));
        Self { channel, chat, ..Self::default() }.known()
    }

    /// Without what is there and says nothing.
    #[must_use]
    pub fn known(mut self) -> Self {
        for part in [
            &mut self.channel,
            &mut self.chat,
            &mut self.message,
            &mut self.reply_to,
            &mut self.agent,
            &mut self.session_key,
        ] {
            part.take_if(|text| text.trim().is_empty());
        }
        self.scope.take_if(|scope| scope.is_empty());
        self
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_unknown_when_every_part_of_it_says_nothing() {
        assert!(InputOrigin::default().is_unknown());
        assert!(!InputOrigin::chat("matrix", "").is_unknown());
        let message = InputOrigin { message: Some("77".into()), ..InputOrigin::default() };
        assert!(!message.is_unknown());
        let blank = Some(" ".to_owned());
        let empty =
            InputOrigin { agent: blank, scope: Some(BTreeMap::new()), ..InputOrigin::default() };
        assert!(empty.known().is_unknown());
    }
}
