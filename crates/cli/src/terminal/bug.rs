//! `/bug`: a report of something that went wrong, without a word of the conversation.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use anyhow::{Context as _, Result};
use heeler_assembly::home_folder;
use heeler_core::{Clock as _, Role, TurnOutcome};
use heeler_engine::{Session, SystemClock};

use super::host::Program;
use crate::config;
use crate::doctor;

/// Variables that say what kind of terminal it is.
const TERMINAL: [&str; 6] =
    ["TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LANG", "TMUX"];

/// Writes the report; tells where it is and what to do with it.
pub(super) async fn report(words: &str, program: &Program, session: &Session) -> Result<String> {
    let text = text(words, program, session).await?;
    let folder = home_folder(&program.environment)?.join("reports");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(format!("{}-{}.md", session.id(), SystemClock.now().0));
    let mut file = std::fs::OpenOptions::new();
    let file = file.write(true).create_new(true).mode(0o600).open(&path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(format!(
        "the report is {}\nNothing of the conversation is in it; read it before you send it. What was \
         said and done is in `heeler sessions export {}`, should somebody need it.",
        path.display(),
        session.id()
    ))
}

async fn text(words: &str, program: &Program, session: &Session) -> Result<String> {
    let state = session.state().await?;
    let (view, _) = session.subscribe();
    let words =
        if words.is_empty() { "(what you did, what you expected, what came)" } else { words };
    let count = |role| view.messages.iter().filter(|message| message.role == role).count();
    let outcome = match &view.last_outcome {
        None => "not yet".to_owned(),
        // The reason is somebody's own words.
        Some(TurnOutcome::Denied { .. }) => "denied".to_owned(),
        Some(outcome) => format!("{outcome:?}"),
    };
    let variables: String = TERMINAL
        .iter()
        .filter_map(|name| Some((name, program.environment.get(name).ok()??)))
        .map(|(name, value)| format!("{name}={value}\n"))
        .collect();
    let settings = config::listed(&program.environment, &program.workspace, &program.permission)?;
    Ok(format!(
        "# What happened\n\n{words}\n\n# Where\n\nheeler {}, {} {}\nmodel {}, mode {}\nsession {}: {} \
         messages of the model, {} others; the last turn ended: {outcome}\n\n# Terminal\n\n{variables}\n\
         # Machine\n\n{}\n# Settings\n\n{settings}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        state.settings.model.name,
        state.settings.policy.mode,
        session.id(),
        count(Role::Assistant),
        count(Role::User),
        doctor::told(&program.environment).await?,
    ))
}
