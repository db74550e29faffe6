//! What is written, in the person's editor.

use std::io::Write as _;

use anyhow::{Context as _, Result};
use heeler_assembly::Environment;
use heeler_core::BoxFuture;
use heeler_tui::host::Edited;

use crate::editor::{named, open};
use crate::say::told;

/// Opens the person's editor on a text, elsewhere; gives what was saved, or words for the person.
pub(super) fn edited(environment: &Environment, text: String) -> BoxFuture<Edited> {
    let editor = named(environment);
    Box::pin(async move {
        let edit = async move {
            let editor = editor?;
            let edited = tokio::task::spawn_blocking(move || edit(&editor, &text)).await;
            edited.context("the editor broke off")?
        };
        let wrong = |error| Edited { text: None, wrong: Some(told(&error)) };
        edit.await.unwrap_or_else(wrong)
    })
}

/// Opens the editor on a text; gives what was saved, also by one that failed or was killed then.
///
/// # Errors
/// When the editor cannot be started, or failed and saved nothing.
fn edit(editor: &str, text: &str) -> Result<Edited> {
    let mut file = tempfile::Builder::new()
        .prefix("heeler-")
        .suffix(".md")
        .tempfile()
        .context("cannot make a file for the editor")?;
    file.write_all(text.as_bytes()).context("cannot write the text for the editor")?;
    let opened = open(editor, file.path()).with_context(|| editor.to_owned());
    // Editors may put another file in its place, and other bytes than text into it.
    let saved = std::fs::read(file.path()).context("cannot read what was saved");
    let wrong = match (opened, &saved) {
        (Ok(()), _) => None,
        (Err(error), Ok(saved)) if !saved.trim_ascii().is_empty() && saved != text.as_bytes() => {
            Some(format!("{}; what it saved stands below", told(&error)))
        }
        (Err(error), _) => return Err(error),
    };
    let saved = String::from_utf8_lossy(&saved?).into_owned();
    Ok(Edited { text: (saved != text).then_some(saved), wrong })
}
