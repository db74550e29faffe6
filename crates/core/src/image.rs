//! Images: from bytes, from a data URL, or by an address.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{Block, Image, Message, Role, ToolResult};

/// Why something is no image that can be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Neither `https://...` nor `data:image/...;base64,...`.
    #[error("`{0}` is no image: give an https address, or a data URL with base64")]
    Source(String),
    /// The data of a data URL is not base64.
    #[error("the data URL's content is no base64: {0}")]
    Base64(String),
}

/// How much of a wrong source an error repeats, in characters.
const SHOWN_CHARS_MAX: usize = 60;

impl Image {
    /// An image's bytes as they are, with their media type, such as `image/png`. One whose type is not
    /// known may have an empty one: whoever sends it looks at the bytes.
    #[must_use]
    pub fn from_bytes(media_type: impl Into<String>, bytes: &[u8]) -> Self {
        let mut media_type = media_type.into();
        if media_type.is_empty() {
            // Without a type an image is an address.
            media_type = "application/octet-stream".into();
        }
        Self { media_type, data: STANDARD.encode(bytes), cache: None }
    }

    /// An image by its https address, which the provider fetches, or by a data URL with base64,
    /// which is taken apart and not encoded again.
    ///
    /// # Errors
    /// When it is neither.
    pub fn from_url(url: &str) -> Result<Self, ImageError> {
        if url.starts_with("https://") {
            return Ok(Self { media_type: String::new(), data: url.to_owned(), cache: None });
        }
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
        let Some((kind, data)) = data.filter(|(kind, _)| kind.starts_with("image/")) else {
            return Err(ImageError::Source(url.chars().take(SHOWN_CHARS_MAX).collect()));
        };
        STANDARD.decode(data).map_err(|error| ImageError::Base64(error.to_string()))?;
        // What else a data URL may say of it, such as a name, no provider takes.
        let media_type = kind.split(';').next().unwrap_or(kind).to_owned();
        Ok(Self { media_type, data: data.to_owned(), cache: None })
    }

    /// The image's bytes; none for an address, or what is no base64.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        self.has_bytes().then(|| STANDARD.decode(&self.data).ok()).flatten()
    }

    /// Whether it is given by its bytes and not by an address.
    #[must_use]
    pub fn has_bytes(&self) -> bool {
        !self.media_type.is_empty()
    }
}

impl Message {
    /// A user message of a text and images, in this order; without a text, of the images alone.
    pub fn user_with_images(
        text: impl Into<String>,
        images: impl IntoIterator<Item = Image>,
    ) -> Self {
        let text = Some(Block::text(text)).filter(|block| !block.is_empty());
        let images = images.into_iter().map(Block::from);
        Self { role: Role::User, blocks: text.into_iter().chain(images).collect() }
    }

    /// The results of calls that somebody ran without a loop, in order.
    pub fn tool_results(results: impl IntoIterator<Item = ToolResult>) -> Self {
        Self { role: Role::User, blocks: results.into_iter().map(Block::from).collect() }
    }
}

impl ToolResult {
    /// A call's result of one text.
    pub fn text(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content: vec![Block::text(text)],
            is_error: false,
            cache: None,
        }
    }

    /// All of its text, concatenated.
    #[must_use]
    pub fn text_content(&self) -> String {
        self.content.iter().filter_map(Block::as_text).collect()
    }

    /// A call's failure, in words the model can act on.
    pub fn error(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(tool_use_id, text) }
    }

    /// With images after what it holds.
    #[must_use]
    pub fn with_images(mut self, images: impl IntoIterator<Item = Image>) -> Self {
        self.content.extend(images.into_iter().map(Block::from));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_comes_from_bytes_an_address_or_a_data_url() {
        let bytes = Image::from_bytes("image/png", &[0, 1, 2, 255]);
        assert_eq!((bytes.media_type.as_str(), bytes.data.as_str()), ("image/png", "AAEC/w=="));
        assert_eq!(bytes.bytes().as_deref(), Some(&[0, 1, 2, 255][..]));
        assert_eq!(Image::from_url("data:image/png;base64,AAEC/w=="), Ok(bytes));
        let unknown = Image::from_bytes("", &[1]);
        assert_eq!((unknown.has_bytes(), unknown.bytes().as_deref()), (true, Some(&[1][..])));
        let far = Image::from_url("https://example.com/a.png").unwrap();
        assert_eq!((far.media_type.as_str(), far.data.as_str()), ("", "https://example.com/a.png"));
        assert_eq!((far.has_bytes(), far.bytes()), (false, None));
        for wrong in [
            "",
            "http://example.com/a.png",
            "data:text/html;base64,AA==",
            "data:image/png,raw",
            "/a.png",
        ] {
            let error = Image::from_url(wrong).unwrap_err();
            assert_eq!(error, ImageError::Source(wrong.to_owned()));
        }
        let named = Image::from_url("data:image/png;name=a.png;base64,AA==").unwrap();
        assert_eq!((named.media_type.as_str(), named.data.as_str()), ("image/png", "AA=="));
        let broken = Image::from_url("data:image/png;base64,***").unwrap_err();
        assert!(matches!(broken, ImageError::Base64(_)), "{broken}");
        let long = Image::from_url(&"é".repeat(1000)).unwrap_err().to_string();
        assert!(long.chars().count() < 150, "{long}");
    }

    #[test]
    fn a_message_of_images_needs_no_text() {
        let image = || Image::from_bytes("image/png", &[1]);
        let both = Message::user_with_images("look", [image(), image()]);
        assert_eq!((both.text().as_str(), both.blocks.len()), ("look", 3));
        assert_eq!(Message::user_with_images(" ", [image()]).blocks, [Block::from(image())]);
    }

    #[test]
    fn results_are_said_in_order() {
        let image = Image::from_bytes("image/png", &[1]);
        let results =
            [ToolResult::text("a", "one").with_images([image]), ToolResult::error("b", "no")];
        let message = Message::tool_results(results.clone());
        assert_eq!(message.role, Role::User);
        assert_eq!(message.blocks, results.map(Block::from));
        let Block::ToolResult(first) = &message.blocks[0] else { panic!() };
        assert_eq!((first.content.len(), first.is_error), (2, false));
    }

    #[test]
    fn a_result_says_all_of_its_text_and_whether_the_call_failed() {
        let image = Image::from_bytes("image/png", &[1]);
        let mut result = ToolResult::text("a", "one").with_images([image]);
        result.content.push(Block::text(" two"));
        assert_eq!((result.text_content().as_str(), result.is_error), ("one two", false));
        let failed = ToolResult::error("b", "no");
        assert_eq!((failed.text_content().as_str(), failed.is_error), ("no", true));
    }
}
