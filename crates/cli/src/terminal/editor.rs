//! What is written, in the person's editor.

use std::io::Write as _;

use anyhow::{Context as _, Result};
use heeler_assembly::Environment;
use heeler_core::BoxFuture;

use crate::editor::{named, open};
use crate::say::told;

/// Opens the person's editor on a text, elsewhere; gives what was saved, or words for the person.
pub(super) fn edited(
    environment: &Environment,
    text: String,
) -> BoxFuture<Result<Option<String>, String>> {
    let editor = named(environment);
    Box::pin(async move {
        let editor = editor.map_err(|error| told(&error))?;
        let edited = tokio::task::spawn_blocking(move || edit(&editor, &text)).await;
        let edited = edited.map_err(|_| "the editor broke off".to_owned())?;
        edited.map_err(|error| told(&error))
    })
}

/// Opens the editor on a text; gives what was saved, `None` when that is the same.
///
/// # Errors
/// When the editor cannot be started or failed.
fn edit(editor: &str, text: &str) -> Result<Option<String>> {
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
