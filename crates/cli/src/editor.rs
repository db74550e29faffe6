//! The person's own editor.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use heeler_assembly::Environment;

/// The command line of the user's editor.
///
/// # Errors
/// When none is set; says what to set.
pub(crate) fn named(environment: &Environment) -> Result<String> {
    for name in ["VISUAL", "EDITOR"] {
        if let Some(editor) = environment.get(name)? {
            return Ok(editor.to_owned());
        }
    }
    bail!("no editor is set; set VISUAL or EDITOR, such as EDITOR=vi")
}

/// Waits until the editor is left.
///
/// # Errors
/// When it cannot be started, or says that it failed.
pub(crate) fn open(editor: &str, path: &Path) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a program of the user's, on their terminal")]
    let mut command = Command::new("sh");
    // Editors are set with arguments; the file is one more, whatever is in its name.
    let line = format!("{editor} \"$1\"");
    let status = command.args(["-c", &line, "sh"]).arg(path).status()?;
    ensure!(status.success(), "it ended with {status}");
    Ok(())
}
