//! What is written, in the person's editor.

use std::io::Write as _;

use anyhow::{Context as _, Result};

use crate::editor::open;

/// Opens the editor on a text; gives what was saved, `None` when that is the same.
///
/// # Errors
/// When the editor cannot be started or failed.
pub(super) fn edit(editor: &str, text: &str) -> Result<Option<String>> {
    let mut file = tempfile::Builder::new()
        .prefix("heeler-")
        .suffix(".md")
        .tempfile()
        .context("cannot make a file for the editor")?;
    file.write_all(text.as_bytes()).context("cannot write the text for the editor")?;
    open(editor, file.path()).with_context(|| editor.to_owned())?;
    // Editors may put another file in its place.
    let edited = std::fs::read_to_string(file.path()).context("cannot read what was saved")?;
    Ok((edited != text).then_some(edited))
}
