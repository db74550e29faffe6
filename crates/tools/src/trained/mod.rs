//! The shapes of tools that Anthropic trained its models on, over the tools that are here anyway.
//!
//! Each definition carries the vendor's own declaration for that vendor, and its schema and words for
//! every other; what runs, and what it touches, is the same code as ever.

mod bash;
mod editor;
#[cfg(test)]
mod tests;

use heeler_core::{ProviderItem, RawJson, ToolDefinition};

pub use bash::{TrainedBash, TrainedBashInput};
pub use editor::{TextEditor, TextEditorCommand, TextEditorInput};

/// The vendor that knows these by their names.
const DIALECT: &str = "anthropic";

/// A definition that is sent to the vendor as its own.
fn declared(name: &str, kind: &str, words: &str, schema: RawJson) -> ToolDefinition {
    let mut definition = ToolDefinition::new(name, words, schema);
    let declaration = serde_json::json!({"type": kind, "name": name});
    definition.raw = Some(ProviderItem::new(DIALECT, RawJson::from_value(&declaration)));
    definition
}
