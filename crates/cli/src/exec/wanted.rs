//! `--output-schema`: the answer as JSON that fits a schema.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::{iter, mem};

use anyhow::{Context as _, Result, ensure};
use heeler::{InputSchema, Submission};
use heeler_core::{
    Block, Event, LimitKind, Message, RawJson, ToolResult, TurnOutcome, truncate_chars,
};
use heeler_engine::{Parts, Seen, Session};

/// The longest schema, in bytes: it goes with every request.
const SCHEMA_BYTES_MAX: u64 = 256 * 1024;
/// How many answers of a turn may be wrong.
const ATTEMPTS_MAX: u32 = 5;
/// The most characters that are told of what is wrong with the last.
const WRONG_CHARS_MAX: usize = 2_000;

/// What the answer has to be, and how often it was not.
pub(super) struct Wanted {
    file: PathBuf,
    submission: Submission,
    name: String,
    failed: u32,
    last: String,
    /// The calls of this turn that gave answers, by the ids that their results have.
    calls: BTreeSet<String>,
    gave_up: bool,
    /// Whether the newest results end with that of a wrong answer, so that the same again is a repetition.
    is_newest_wrong: bool,
    /// Whether the results before them did: then it was an answer that the newest calls repeated.
    was_wrong_before: bool,
    /// Whether this run was told to stop.
    is_stopped: bool,
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
            // Some editors mark a text's beginning.
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            Ok(Submission::new(InputSchema::parse(text)?)?)
        };
        let submission =
            read().with_context(|| format!("cannot use --output-schema {}", file.display()))?;
        let name = submission.tool().definition().name;
        Ok(Self {
            file: file.to_owned(),
            submission,
            name,
            failed: 0,
            last: String::new(),
            calls: BTreeSet::new(),
            gave_up: false,
            is_newest_wrong: false,
            was_wrong_before: false,
            is_stopped: false,
        })
    }

    /// Gives a session what it takes to answer so.
    pub(super) fn join(&self, parts: &mut Parts) {
        if let Some(tools) = &parts.tool_source {
            tools.register(self.submission.tool());
            parts.tools = tools.toolset();
        }
        parts.hooks = Some(self.submission.hooks(parts.hooks.take()));
    }

    /// Takes up what an earlier process had accepted in the turn it left, and what it had last refused.
    pub(super) async fn recall(&mut self, session: &Session) {
        let Ok(state) = session.state().await else { return };
        if let Some(turn) = &state.turn {
            let messages = state.history.messages();
            self.submission.recall(turn.number, messages.iter().map(AsRef::as_ref));
            messages.iter().for_each(|message| self.expects(message));
            let repeated = turn.repeats.call.as_ref();
            self.is_newest_wrong = repeated.is_some_and(|(name, _)| *name == self.name);
        }
    }

    /// Looks at what happens; true once, when the model is to be stopped.
    pub(super) fn sees(&mut self, seen: &Seen) -> bool {
        let Seen::Event(envelope) = seen else { return false };
        if !envelope.agent.is_main() {
            return false;
        }
        match &envelope.event {
            Event::TurnStarted { .. } => {
                self.failed = 0;
                self.last.clear();
                self.calls.clear();
                self.gave_up = false;
                self.is_newest_wrong = false;
                self.was_wrong_before = false;
            }
            Event::Message { message } => self.hears(message),
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

    /// Takes what is wrong with an answer as the model is told it: a call's end says only how that
    /// begins.
    fn hears(&mut self, message: &Message) {
        self.expects(message);
        let mut results = message.blocks.iter().rev().filter_map(|block| match block {
            Block::ToolResult(result) => Some(&**result),
            _ => None,
        });
        let is_wrong =
            |result: &&ToolResult| result.is_error && self.calls.contains(&result.tool_use_id);
        // Repetitions are counted from the last of a round's calls, whichever ended last.
        let Some(newest) = results.next() else { return };
        let is_newest_wrong = is_wrong(&newest);
        self.was_wrong_before = mem::replace(&mut self.is_newest_wrong, is_newest_wrong);
        if let Some(wrong) = iter::once(newest).chain(results).find(is_wrong) {
            let text: String = wrong.content.iter().filter_map(Block::as_text).collect();
            self.last = truncate_chars(&text, WRONG_CHARS_MAX).into_owned();
        }
    }

    /// Takes up which calls give answers.
    fn expects(&mut self, message: &Message) {
        let calls = message.tool_uses().filter(|call| call.name == self.name);
        self.calls.extend(calls.map(|call| call.id.clone()));
    }

    /// Hears that this run is to stop: what the model did is not why its turn ends.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Whether a turn ended like this since the model answered wrongly too often: it was stopped for it,
    /// or insisted on one wrong answer until the limit on repeated calls. What ended otherwise ended for
    /// its own reason.
    pub(super) fn ended(&self, outcome: &TurnOutcome) -> bool {
        match outcome {
            TurnOutcome::Cancelled => self.gave_up && !self.is_stopped,
            TurnOutcome::Limit { limit: LimitKind::Repeats } => self.was_wrong_before,
            _ => false,
        }
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
                    let attempts = if self.failed == 1 { "attempt" } else { "attempts" };
                    format!(
                        "the model gave no answer that fits {file} in {} {attempts}: {last}",
                        self.failed
                    )
                }
            }
        })
    }
}
