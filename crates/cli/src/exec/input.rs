//! Where the prompt comes from.

use std::io::{IsTerminal, Read};

use anyhow::{Context as _, Result, bail};

/// The longest prompt read from stdin, in bytes.
const PROMPT_BYTES_MAX: u64 = 10 * 1024 * 1024;

/// The first input where the others come as lines of stdin.
pub(super) fn beside_stream(argument: Option<&str>) -> Result<Option<String>> {
    match argument {
        Some("-") => bail!(
            "with --stream-input stdin holds messages; leave out the -, or give the prompt itself"
        ),
        Some(_) => prompt(argument, false),
        None => Ok(None),
    }
}

/// The prompt: the argument, or stdin for `-`, or stdin when it is a pipe and a new session has no
/// other prompt. A continued session reads stdin only for `-`: an inherited pipe that nobody
/// closes must not hold it up.
pub(super) fn prompt(argument: Option<&str>, continues: bool) -> Result<Option<String>> {
    match argument {
        Some("-") => from_stdin().map(Some),
        Some(text) if text.trim().is_empty() => {
            bail!("the prompt is empty; write `heeler exec 'what to do'`")
        }
        Some(text) => Ok(Some(text.to_owned())),
        None if continues => Ok(None),
        None if !std::io::stdin().is_terminal() => from_stdin().map(Some),
        None => bail!("there is no prompt; write `heeler exec 'what to do'`, or - to read stdin"),
    }
}

fn from_stdin() -> Result<String> {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin().lock().take(PROMPT_BYTES_MAX + 1);
    stdin.read_to_end(&mut bytes).context("cannot read the prompt from stdin")?;
    if bytes.len() as u64 > PROMPT_BYTES_MAX {
        bail!("the prompt on stdin is longer than {PROMPT_BYTES_MAX} bytes; put it into a file");
    }
    let text = String::from_utf8(bytes).context("the prompt on stdin is not UTF-8 text")?;
    let text = text.trim_end();
    if text.trim_start().is_empty() {
        bail!("the prompt on stdin is empty; write `heeler exec 'what to do'`, or pipe it in");
    }
    Ok(text.to_owned())
}
