//! What leaves a session for the people it talks with, and the promise of whoever takes it there.

use serde::{Deserialize, Serialize};

use crate::{
    AgentPath, BoxFuture, CallId, InputOrigin, MediaItem, MediaReference, SessionId, ToolOutput,
};

/// One message for the people a session talks with: what a tool has for them, or a turn's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutboundMessage {
    /// The session.
    pub session: SessionId,
    /// Whose it is.
    #[serde(skip_serializing_if = "AgentPath::is_main")]
    pub agent: AgentPath,
    /// The turn.
    pub turn: u32,
    /// The call that has it; `None` for the turn's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Where the input of the turn came from, and so where this goes.
    pub to: InputOrigin,
    /// The text; may be empty beside media.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Files, in the session's media store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<MediaReference>,
    /// What is known of `media`: enough to open them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<MediaItem>,
}

/// Text and media that go to the user.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ForUser {
    /// The text; may be empty beside media.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Files, in the session's media store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<MediaReference>,
    /// What is known of `media`: enough to open them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<MediaItem>,
}

impl ForUser {
    /// What an output has for the user; `None` when that is nothing, or it is silent.
    #[must_use]
    pub fn of(output: &ToolOutput) -> Option<Self> {
        let (text, media) = output.content_for_user()?;
        let (text, media, items) = (text.to_owned(), media.to_vec(), output.media_items.to_vec());
        Some(Self { text, media, items })
    }
}

/// Takes messages to people.
///
/// A session calls `send` once for each message, one after the other, after the record that holds it
/// is written; never again for the same record, whatever dies, so each arrives at most once. A failure
/// becomes a notice for watchers; nobody tries again, unless the implementation does. A panic is a
/// failure.
pub trait Outbound: Send + Sync {
    /// Takes one message there; done when it is handed over.
    fn send(
        &self,
        message: OutboundMessage,
    ) -> BoxFuture<Result<(), Box<dyn std::error::Error + Send + Sync>>>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn what_goes_to_the_user_is_text_and_media_with_what_is_known_of_them() {
        let reference: MediaReference = "media://a".parse().unwrap();
        let item = MediaItem {
            reference: reference.clone(),
            media_type: "image/png".into(),
            name: String::new(),
            bytes: 7,
            created: Timestamp(0),
            path: None,
        };
        let (media, items) = (vec![reference], vec![item]);
        let output = ToolOutput {
            media_items: items.clone().into(),
            ..ToolOutput::media("m", media.clone())
        };
        let silent = ToolOutput { silent: true, ..output.clone() };
        let text = |text: &str| ForUser { text: text.into(), ..ForUser::default() };
        for (output, expected) in [
            (ToolOutput::text("for the model"), None),
            (ToolOutput::user("both"), Some(text("both"))),
            (output, Some(ForUser { text: String::new(), media, items })),
            (silent, None),
        ] {
            assert_eq!(ForUser::of(&output), expected, "{output:?}");
        }
    }
}
