//! Why the provider refused to go on, in the words that stand where the answer would.

use heeler_core::Block;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::clean;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    category: Option<String>,
    explanation: Option<String>,
}

/// What is told of a refusal; nothing where neither a reason nor its name is known. In brackets, since
/// these are no words of the model.
pub(super) fn note(details: &RawValue) -> Option<Block> {
    let details: Details = serde_json::from_str(details.get()).unwrap_or_default();
    let told = |text: Option<String>| text.map(|text| clean(&text)).filter(|text| !text.is_empty());
    let why = match (told(details.explanation), told(details.category)) {
        (Some(why), Some(category)) => format!("{why} ({category})"),
        (Some(why), None) => why,
        (None, Some(category)) => format!("category {category}"),
        (None, None) => return None,
    };
    Some(Block::text(format!("[Anthropic refused: {why}]")))
}
