//! What a call gives: what the model reads, what the user sees, and what it means for the turn.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Block, Few, IfCut, MediaItem, MediaReference, Message, RawJson, StateChange};

/// Ends what the model reads of a call that answered the user itself.
const HANDLED_NOTE: &str = "[The user has this answer already; do not give it again.]";
/// Stands before the artifact tags in what the model reads.
const ARTIFACTS_NOTE: &str = "[Made here; the user has not been given them:]";

/// What a call gives. As JSON it has the names `for_llm`, `for_user`, `silent`, `is_error`, `async`,
/// `media`, `media_items`, `artifact_tags`, `response_handled`, `structured`, `spill` and `state`; what is empty or
/// false is left out, but for `for_llm`: a string, or blocks where it is more than plain text.
///
/// ```
/// use heeler_core::ToolOutput;
///
/// let counted = ToolOutput { for_user: "3 files".into(), ..ToolOutput::text("a.rs\nb.rs") };
/// assert_eq!(serde_json::to_string(&counted)?, r#"{"for_llm":"a.rs\nb.rs","for_user":"3 files"}"#);
///
/// let failed = ToolOutput::error("").with_error(std::io::Error::other("the disk is full"));
/// assert_eq!(failed.content_for_model()[0].as_text(), Some("the disk is full"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolOutput {
    /// Text and images for the model.
    #[serde(rename = "for_llm", serialize_with = "plainly", deserialize_with = "plain_or_blocks")]
    pub content: Vec<Block>,
    /// Whether the call failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Text for the user, besides what the model is told.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub for_user: String,
    /// Nothing goes to the user, neither `for_user` nor `media`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// The work goes on in the background; its result comes later.
    #[serde(rename = "async", skip_serializing_if = "std::ops::Not::not")]
    pub is_background: bool,
    /// What it made for the user.
    #[serde(skip_serializing_if = "Few::is_empty")]
    pub media: Few<MediaReference>,
    /// What is known of `media`: enough to open them. Found by whoever runs the call, where there is a
    /// store; what a tool says here counts for nothing.
    #[serde(skip_serializing_if = "Few::is_empty")]
    pub media_items: Few<MediaItem>,
    /// Local files it made that the model may use and the user was not given, as `[file:/path]`.
    #[serde(skip_serializing_if = "Few::is_empty")]
    pub artifact_tags: Few<String>,
    /// The tool answered the user itself: when all of a batch did, the turn ends without another
    /// model call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub response_handled: bool,
    /// The result as JSON, beside the text that says the same to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<RawJson>,
    /// Where the whole output is, when `content` holds only a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spill: Option<PathBuf>,
    /// Changes of the session's typed state.
    #[serde(skip_serializing_if = "Few::is_empty")]
    pub state: Few<StateChange>,
    /// What went wrong underneath; for logs, never written or sent.
    #[serde(skip)]
    pub error: Option<ToolFault>,
    /// The conversation of an agent that worked as this call, for its caller in this process; never
    /// written or sent.
    #[serde(skip)]
    pub messages: Few<Message>,
}

impl ToolOutput {
    /// A text for the model; the user is shown nothing of it but that the call ended.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Block::text(text)], ..Self::default() }
    }

    /// A text for the model, and surely nothing for the user, whatever is added later.
    pub fn silent(text: impl Into<String>) -> Self {
        Self { silent: true, ..Self::text(text) }
    }

    /// One text for both.
    pub fn user(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { for_user: text.clone(), ..Self::text(text) }
    }

    /// A failure in words the model can act on.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// A text for the model about something that was made for the user.
    pub fn media(text: impl Into<String>, media: impl IntoIterator<Item = MediaReference>) -> Self {
        Self { media: media.into_iter().collect(), ..Self::text(text) }
    }

    /// A text for the model about work that has only begun.
    pub fn background(text: impl Into<String>) -> Self {
        Self { is_background: true, ..Self::text(text) }
    }

    /// With what went wrong underneath. It does not make the output a failure.
    #[must_use]
    pub fn with_error(mut self, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.error = Some(ToolFault(Arc::from(error.into())));
        self
    }

    /// Marked as having answered the user itself.
    #[must_use]
    pub fn with_response_handled(mut self) -> Self {
        self.response_handled = true;
        self
    }

    /// With a local file that the model may use and the user was not given.
    #[must_use]
    pub fn with_artifact(mut self, path: impl AsRef<Path>) -> Self {
        self.artifact_tags.push(format!("[file:{}]", path.as_ref().display()));
        self
    }

    /// Adds a change of the session's typed state. A value that cannot be written as JSON within
    /// the limits of [`RawJson`] is left out: state is a help, never the truth.
    #[must_use]
    pub fn with_state(self, key: impl Into<String>, value: &impl Serialize) -> Self {
        self.with_change(key, value, IfCut::Holds)
    }

    /// The same of what the model was shown: `if_cut` stands instead, or nothing, when the result is cut to
    /// its bound, or the one that it is a part of; what is given stands also where something of it is put aside.
    #[must_use]
    pub fn with_shown(
        self,
        key: impl Into<String>,
        value: &impl Serialize,
        if_cut: Option<&impl Serialize>,
    ) -> Self {
        let if_cut = if_cut.and_then(json).map_or(IfCut::Gone, IfCut::Becomes);
        self.with_change(key, value, if_cut)
    }

    fn with_change(
        mut self,
        key: impl Into<String>,
        value: &impl Serialize,
        if_cut: IfCut,
    ) -> Self {
        if let Some(value) = json(value) {
            self.state.push(StateChange { key: key.into(), value, if_cut });
        }
        self
    }

    /// Settles what its state becomes now that its text is cut, as each change says itself: whoever cuts a
    /// text that a tool gave calls this, or the state says of the model that it was shown all.
    pub fn settle_cut(&mut self) {
        self.state.retain_mut(|change| match std::mem::take(&mut change.if_cut) {
            IfCut::Gone => false,
            IfCut::Becomes(value) => {
                change.value = value;
                true
            }
            IfCut::Holds => true,
        });
    }

    /// All text of `content`, concatenated.
    #[must_use]
    pub fn text_content(&self) -> String {
        self.content.iter().filter_map(Block::as_text).collect()
    }

    /// What goes to the model: the content, or where that says nothing the words of the error, then
    /// the artifact tags, then whether the user has the answer already.
    #[must_use]
    pub fn content_for_model(&self) -> Vec<Block> {
        // Kept as long as the session, so without room for more.
        let n_notes =
            usize::from(!self.artifact_tags.is_empty()) + usize::from(self.response_handled);
        let mut content = Vec::with_capacity(self.content.len().max(1) + n_notes);
        content.extend(self.content.iter().filter(|block| !block.is_empty()).cloned());
        if content.is_empty() {
            content.extend(self.error.as_ref().map(|error| Block::text(error.to_string())));
        }
        if !self.artifact_tags.is_empty() {
            let tags = self.artifact_tags.join(" ");
            content.push(Block::text(format!("\n{ARTIFACTS_NOTE} {tags}")));
        }
        if self.response_handled {
            content.push(Block::text(format!("\n{HANDLED_NOTE}")));
        }
        content.retain(|block| !block.is_empty());
        content
    }

    /// Takes out what is never written, the error with its words left behind where nothing else was
    /// said.
    pub fn take_unwritten(&mut self) -> (Option<ToolFault>, Few<Message>) {
        let error = self.error.take();
        if let Some(error) = &error
            && self.content.iter().all(Block::is_empty)
        {
            self.content = vec![Block::text(error.to_string())];
        }
        (error, std::mem::take(&mut self.messages))
    }

    /// The text and the media that go to the user; `None` when there is nothing, or it is silent.
    #[must_use]
    pub fn content_for_user(&self) -> Option<(&str, &[MediaReference])> {
        let says_nothing = self.for_user.is_empty() && self.media.is_empty();
        (!self.silent && !says_nothing).then_some((self.for_user.as_str(), &*self.media))
    }
}

/// What went wrong beneath a result; two are equal when they say the same.
#[derive(Debug, Clone)]
pub struct ToolFault(Arc<dyn Error + Send + Sync>);

impl fmt::Display for ToolFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ToolFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl PartialEq for ToolFault {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for ToolFault {}

fn plainly<S: Serializer>(content: &[Block], serializer: S) -> Result<S::Ok, S::Error> {
    match content {
        [Block::Text(text)] if text.cache.is_none() && text.raw.is_none() => {
            serializer.serialize_str(&text.text)
        }
        blocks => blocks.serialize(serializer),
    }
}

fn plain_or_blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Block>, D::Error> {
    struct PlainOrBlocks;

    impl<'de> de::Visitor<'de> for PlainOrBlocks {
        type Value = Vec<Block>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or blocks")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![Block::text(text)])
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, blocks: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(de::value::SeqAccessDeserializer::new(blocks))
        }
    }

    deserializer.deserialize_any(PlainOrBlocks)
}

fn json(value: &impl Serialize) -> Option<RawJson> {
    RawJson::parse(&serde_json::to_string(value).ok()?).ok()
}

#[cfg(test)]
mod tests;
