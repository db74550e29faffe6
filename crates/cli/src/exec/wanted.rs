//! `--output-schema`: the answer as JSON that fits a schema.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use heeler::{InputSchema, Submission};
use heeler_core::{Event, RawJson};
use heeler_engine::{Parts, Seen, Session};

/// The longest schema, in bytes: it goes with every request.
const SCHEMA_BYTES_MAX: u64 = 256 * 1024;
/// How many answers of a turn may be wrong.
const ATTEMPTS_MAX: u32 = 5;

/// What the answer has to be, and how often it was not.
pub(super) struct Wanted {
    file: PathBuf,
    submission: Submission,
    name: String,
    failed: u32,
    last: String,
    gave_up: bool,
}

impl Wanted {
    /// Reads the schema.
    ///
    /// # Errors
    /// When there is none, it is too long, or it is no JSON Schema of an object; names file and place.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let read = || -> Result<Submission> {
            let mut text = Vec::new();
            let file = File::open(file)?;
            ensure!(!file.metadata()?.is_dir(), "it is a folder");
            file.take(SCHEMA_BYTES_MAX + 1).read_to_end(&mut text)?;
            ensure!(
                text.len() as u64 <= SCHEMA_BYTES_MAX,
                "it is longer than {SCHEMA_BYTES_MAX} bytes; every request carries it"
            );
            let text = String::from_utf8(text).context("it is not UTF-8")?;
            Ok(Submission::new(InputSchema::parse(&text)?)?)
        };
        let submission =
            read().with_context(|| format!("cannot use --output-schema {}", file.display()))?;
        let name = submission.tool().definition().name;
        let (failed, last, gave_up) = (0, String::new(), false);
        Ok(Self { file: file.to_owned(), submission, name, failed, last, gave_up })
    }

    /// Gives a session what it takes to answer so.
    pub(super) fn join(&self, parts: &mut Parts) {
        if let Some(tools) = &parts.tool_source {
            tools.register(self.submission.tool());
            parts.tools = tools.toolset();
        }
        parts.hooks = Some(self.submission.hooks(parts.hooks.take()));
    }

    /// Takes up what an earlier process had accepted in the turn it left.
    pub(super) async fn recall(&self, session: &Session) {
        let Ok(state) = session.state().await else { return };
        if let Some(turn) = &state.turn {
            let messages = state.history.messages().iter();
            self.submission.recall(turn.number, messages.map(AsRef::as_ref));
        }
    }

    /// Looks at what happens; true once, when the model is to be stopped.
    pub(super) fn sees(&mut self, seen: &Seen) -> bool {
        let Seen::Event(envelope) = seen else { return false };
        match &envelope.event {
            Event::TurnStarted { .. } => {
                self.failed = 0;
                self.last.clear();
                self.gave_up = false;
            }
            Event::CallFinished { name, is_error: true, summary, .. } if *name == self.name => {
                self.failed += 1;
                self.last.clone_from(summary);
                if self.failed == ATTEMPTS_MAX {
                    self.gave_up = true;
                    return true;
                }
            }
            _ => {}
        }
        false
    }

    /// The model was stopped since it answered wrongly too often.
    pub(super) fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// The answer of a turn that ended with this text.
    ///
    /// # Errors
    /// Why there is none, in words for the user.
    pub(super) fn answer(&self, turn: u32, text: &str) -> Result<RawJson, String> {
        self.submission.answer(turn, text).map_err(|why| {
            let file = self.file.display();
            match &*self.last {
                "" => format!("the model gave no answer that fits {file}: {why}"),
                last => {
                    format!(
                        "the model gave no answer that fits {file} in {} attempts: {last}",
                        self.failed
                    )
                }
            }
        })
    }
}
