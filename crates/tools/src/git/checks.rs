//! Command lines that have to succeed before something is committed: tests, a linter.
//!
//! Whether one did is told by its exit code, never by what it prints.

use heeler_core::{ToolContext, ToolError};

use super::run::run;
use crate::bash::Commands;
use crate::text::part;

/// How many there are.
pub(super) const CHECKS_MAX: usize = 8;
/// Bytes of one.
const CHECK_BYTES_MAX: usize = 8 * 1024;
/// How long one runs.
pub(super) const CHECK_MILLIS_MAX: u64 = 300_000;
/// Characters of the end of what a failed one said.
const SAID_CHARS_MAX: usize = 8_000;

/// Refuses what is none.
pub(super) fn validate(checks: &[String]) -> Result<(), ToolError> {
    let is_one = |check: &String| !check.trim().is_empty() && check.len() <= CHECK_BYTES_MAX;
    if checks.len() <= CHECKS_MAX && checks.iter().all(is_one) {
        return Ok(());
    }
    Err(ToolError::for_model(format!(
        "checks are at most {CHECKS_MAX} command lines of 1 to {CHECK_BYTES_MAX} bytes; write longer \
         ones to a file and run that"
    )))
}

/// Runs them one after the other, in the workspace and its box, up to the first that fails.
pub(super) async fn pass(
    commands: &Commands,
    context: &ToolContext,
    checks: &[String],
) -> Result<(), ToolError> {
    for check in checks {
        let confinement = commands.confinement_of(context)?;
        let line = format!("{{ {check}\n}} 2>&1");
        let command = commands.line(&context.workspace, &line, confinement);
        let command = command.streams(heeler_sandbox::Streams::Separate);
        let ran = run(commands, context, command, CHECK_MILLIS_MAX).await?;
        if !ran.is_success() {
            let said = format!("{}{}", ran.text(), ran.errors);
            let from = said.char_indices().rev().nth(SAID_CHARS_MAX - 1).map_or(0, |(at, _)| at);
            return Err(ToolError::for_model(format!(
                "nothing was committed: the check `{check}` failed ({}); put that right first. The \
                 end of what it said:\n{}{}",
                ran.exit,
                if from > 0 { "[...] " } else { "" },
                part(&said, from..said.len())
            )));
        }
    }
    Ok(())
}
