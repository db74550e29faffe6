//! The end of an `exec`: the terminal event.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, ensure};
use heeler_core::{
    Bill, FinalAnswer, LimitKind, Reread, SessionId, TurnOutcome, Usage, View, truncate_chars,
};
use heeler_store::FileStore;
use heeler_turn::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::ends::Spent;
use super::wanted::Wanted;
use crate::exit::Exit;
use crate::say::one_line;
use crate::stage::Settled;
use crate::whole::{Existing, Unfinished, unwritten};

/// The version of the JSON events; raised when a field changes its meaning or goes away.
pub(super) const EVENTS_VERSION: u32 = 1;

/// The most characters that are told of why a model refused.
const SAID_CHARS_MAX: usize = 2_000;

/// The type of the terminal event.
const KIND: &str = "turn_finished";

/// Whether a terminal event can be written to this file at all; told before anything is done.
pub(super) fn check_target(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    let shown = path.display();
    ensure!(
        path != "-",
        "--result-json takes a file; --json prints the event to stdout (./- is a file)"
    );
    ensure!(!path.is_dir(), "{shown} is a folder; use --result-json FILE");
    ensure!(
        folder.is_dir(),
        "cannot write {shown}: there is no folder {}; make it first",
        folder.display()
    );
    Unfinished::at(path).map(drop).map_err(|error| unwritten(path, &error).into())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// What there is to say at the end.
pub(super) struct Finish {
    pub(super) session: Option<SessionId>,
    /// Its journal was removed meanwhile, so there is nothing to go on with.
    pub(super) is_gone: bool,
    pub(super) turn: u32,
    pub(super) outcome: TurnOutcome,
    pub(super) answer: FinalAnswer,
    pub(super) usage: Usage,
    pub(super) bill: Bill,
    pub(super) reread: Reread,
    pub(super) structured: Structured,
    pub(super) stage: Option<Settled>,
    /// The file that was to hold this does not.
    pub(super) is_unwritten: bool,
}

/// The answer as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Structured {
    /// Nobody wants it.
    Unwanted,
    /// It is this, on one line.
    Given(String),
    /// It is wanted, and the turn ended otherwise.
    Absent,
    /// It is wanted, and the model did not give it.
    Refused,
}

/// The end of a turn, and without `--stream-input` the last line.
#[derive(Serialize, JsonSchema)]
pub(super) struct TerminalEvent<'a> {
    v: u32,
    #[serde(rename = "type")]
    #[schemars(extend("const" = KIND))]
    kind: &'static str,
    /// The session; `null` when none was begun.
    session: Option<&'a SessionId>,
    /// The turn, from 1; 0 when none was begun.
    turn: u32,
    /// How it ended.
    outcome: &'a TurnOutcome,
    /// What `heeler exec` exits with after such an end.
    exit_code: u8,
    /// The final answer's text; empty when there is none.
    answer: &'a str,
    /// Tokens of the session.
    usage: Usage,
    /// Money of the session, in dollars, as far as it is known.
    cost_usd: f64,
    /// The session cost more than that, as prices of some of its calls are not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cost_is_partial: bool,
    /// Of the input; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_hit_percent: Option<u64>,
    /// What new epochs cost; absent when they cost nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    reread: Option<Reread>,
    /// With `--output-schema`; absent when the turn came to no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    structured_output: Option<Box<RawValue>>,
    /// With `--stage`: what became of the changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'a Settled>,
}

impl Finish {
    /// The end of a session's turns.
    pub(super) fn of(
        session: SessionId,
        outcome: TurnOutcome,
        state: Option<&State>,
        view: &View,
    ) -> Self {
        let done =
            matches!(outcome, TurnOutcome::Done | TurnOutcome::Truncated | TurnOutcome::Refused);
        Self {
            session: Some(session),
            is_gone: false,
            // What waited when this run was stopped has begun a turn that is the next process's.
            turn: state.map_or(0, |state| state.turns - u32::from(state.turn.is_some())),
            answer: state.filter(|_| done).map(State::final_answer).unwrap_or_default(),
            // The view outlives a session that cannot be written any more.
            usage: view.usage,
            bill: view.bill(),
            reread: state.map(|state| state.reread).unwrap_or_default(),
            structured: Structured::Unwanted,
            stage: None,
            is_unwritten: false,
            outcome,
        }
    }

    /// With what was used until this end: more may have been meanwhile.
    pub(super) fn having(self, spent: Spent) -> Self {
        let Spent { usage, bill, reread } = spent;
        Self { usage, bill, reread, ..self }
    }

    /// With a look at what the store has left of the session.
    pub(super) fn kept_in(mut self, store: &FileStore) -> Self {
        let is_gone = |id| matches!(store.journal_path(id).try_exists(), Ok(false));
        self.is_gone = self.session.as_ref().is_some_and(is_gone);
        self
    }

    /// With the answer as a schema wants it.
    pub(super) fn structured(mut self, wanted: &Wanted) -> Self {
        let is_over = self.outcome == TurnOutcome::Done || wanted.ended(&self.outcome);
        self.structured = match wanted.answer(self.turn, &self.answer) {
            _ if !is_over => Structured::Absent,
            Ok(answer) => {
                self.outcome = TurnOutcome::Done;
                Structured::Given(on_one_line(answer.get()))
            }
            Err(message) => {
                self.outcome = TurnOutcome::Failed { message };
                Structured::Refused
            }
        };
        self
    }

    /// The end of what never became a turn.
    pub(super) fn failed(message: String) -> Self {
        Self {
            session: None,
            is_gone: false,
            turn: 0,
            outcome: TurnOutcome::Failed { message },
            answer: FinalAnswer::default(),
            usage: Usage::default(),
            bill: Bill::default(),
            reread: Reread::default(),
            structured: Structured::Unwanted,
            stage: None,
            is_unwritten: false,
        }
    }

    /// The exit code: a turn's own, or that of an unusable configuration. A turn that is done fails by
    /// what was to be done with it and could not be.
    pub(super) fn exit(&self) -> Exit {
        let has_failed = self.is_unwritten || self.stage.as_ref().is_some_and(Settled::has_failed);
        match self.exit_of_turn() {
            Exit::Done if has_failed => Exit::Failure,
            exit => exit,
        }
    }

    fn exit_of_turn(&self) -> Exit {
        match self.session {
            Some(_) if self.structured == Structured::Refused => Exit::Answer,
            Some(_) => Exit::of(&self.outcome),
            None => Exit::Usage,
        }
    }

    /// Adds the terminal event to `out`, as one line of JSON; `full` takes what is long of it.
    pub(super) fn write_line(
        &self,
        out: &mut Vec<u8>,
        full: &mut heeler_json::Full<'_>,
    ) -> std::io::Result<()> {
        let event = TerminalEvent {
            v: EVENTS_VERSION,
            kind: KIND,
            session: self.session.as_ref(),
            turn: self.turn,
            outcome: &self.outcome,
            exit_code: self.exit() as u8,
            answer: &self.answer,
            usage: self.usage,
            cost_usd: self.bill.cost.dollars(),
            cost_is_partial: self.bill.is_partial,
            cache_hit_percent: self.usage.cache_hit_percent(),
            reread: Some(self.reread).filter(|reread| reread.tokens > 0),
            structured_output: match &self.structured {
                Structured::Given(json) => Some(RawValue::from_string(json.clone())?),
                _ => None,
            },
            stage: self.stage.as_ref(),
        };
        heeler_json::write_in_pieces(out, &event, full)?;
        out.push(b'\n');
        Ok(())
    }

    /// Writes the terminal event to a file, whole or not at all.
    pub(super) fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut file = Unfinished::at(path)?;
        let mut line = Vec::new();
        self.write_line(&mut line, &mut |piece| {
            file.file().write_all(piece)?;
            piece.clear();
            Ok(())
        })?;
        file.file().write_all(&line)?;
        file.file().sync_all()?;
        file.persist(path, Existing::Replaced)
    }

    /// Why the turn did not simply end.
    pub(super) fn why(&self) -> Option<String> {
        Some(match &self.outcome {
            TurnOutcome::Done => return None,
            TurnOutcome::Refused => "the model refused to go on".to_owned(),
            TurnOutcome::Truncated => "the answer was cut at the model's token limit".to_owned(),
            TurnOutcome::Cancelled => "cancelled".to_owned(),
            TurnOutcome::Denied { reason } => format!("ended by a denial: {reason}"),
            // Nothing of these may be spent: what a call may come to is looked at before it.
            TurnOutcome::Limit { limit: limit @ (LimitKind::Cost | LimitKind::Tokens) } => {
                format!("the next call of the model could pass the limit of {limit}")
            }
            TurnOutcome::Limit { limit } => format!("the limit of {limit} is reached"),
            TurnOutcome::ProviderFailed { message, .. } | TurnOutcome::Failed { message } => {
                message.clone()
            }
        })
    }

    /// The same in words for the user, with the next step.
    pub(super) fn complaint(&self) -> Option<String> {
        let mut why = self.why()?;
        // Where only JSON is printed, the reason that the model gave would be nowhere.
        let is_printed = self.structured == Structured::Unwanted;
        let said = one_line(&self.answer);
        if self.outcome == TurnOutcome::Refused && !is_printed && !said.is_empty() {
            why = format!("{why}: {}", truncate_chars(&said, SAID_CHARS_MAX));
        }
        Some(match &self.session {
            Some(id) if !self.is_gone => {
                let refused = (self.outcome == TurnOutcome::Refused).then_some(self.turn);
                let next = refused.map_or_else(|| goes_on(id), |turn| goes_on_without(id, turn));
                format!("{why}\nheeler: {next}")
            }
            _ => why,
        })
    }
}

/// What the user can do to go on with a session.
pub(super) fn goes_on(session: &SessionId) -> String {
    format!("go on with `heeler exec --resume {session} PROMPT`")
}

/// The same without a turn that was refused: with it, what follows mostly is, too.
fn goes_on_without(session: &SessionId, turn: u32) -> String {
    let advice = match turn {
        0 | 1 => "begin a new session".to_owned(),
        turn => {
            format!("fork the session before it with `heeler sessions fork {session} --at {turn}`")
        }
    };
    format!("what was refused stays in this session, and may be refused again: {advice}")
}

/// JSON without white space between its parts: numbers and texts stay as the model wrote them.
fn on_one_line(json: &str) -> String {
    let (mut in_text, mut is_escaped) = (false, false);
    let kept = |c: &char| {
        if in_text {
            in_text = is_escaped || *c != '"';
            is_escaped = !is_escaped && *c == '\\';
            return true;
        }
        in_text = *c == '"';
        !c.is_ascii_whitespace()
    };
    json.chars().filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use heeler_core::{AgentPath, CallId, Envelope, Event, View};
    use heeler_engine::Seen;

    use super::*;

    /// What an answer is wanted of whom five came from that do not fit.
    fn given_up() -> Wanted {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("schema.json");
        std::fs::write(&file, r#"{"type": "object", "required": ["a"]}"#).unwrap();
        let mut wanted = Wanted::read(&file).unwrap();
        let failed = Event::CallFinished {
            call: CallId { turn: 1, round: 1, index: 0 },
            index: 0,
            name: "submit".into(),
            is_error: true,
            summary: "no".into(),
            millis: 0,
        };
        let seen = Envelope { seq: None, agent: AgentPath::default(), event: failed };
        let seen = Seen::Event(std::sync::Arc::new(seen));
        let stops: Vec<bool> = (0..5).map(|_| wanted.sees(&seen)).collect();
        assert_eq!(stops, [false, false, false, false, true]);
        wanted
    }

    #[test]
    fn who_gave_up_is_told_so_where_nothing_else_ended_the_turn() {
        let of = |wanted: &Wanted, outcome: TurnOutcome| {
            let view = View::default();
            Finish::of("s".parse().unwrap(), outcome, None, &view).structured(wanted)
        };
        let limit = TurnOutcome::Limit { limit: LimitKind::Wall };
        let mut wanted = given_up();
        let gave_up = of(&wanted, TurnOutcome::Cancelled);
        assert!(matches!(gave_up.outcome, TurnOutcome::Failed { .. }));
        assert_eq!((&gave_up.structured, gave_up.exit()), (&Structured::Refused, Exit::Answer));
        let over = of(&wanted, limit.clone());
        assert_eq!((&over.outcome, &over.structured), (&limit, &Structured::Absent));
        wanted.stop();
        let stopped = of(&wanted, TurnOutcome::Cancelled);
        assert_eq!(stopped.outcome, TurnOutcome::Cancelled);
        assert_eq!(stopped.structured, Structured::Absent);
    }

    #[test]
    fn a_limit_that_nothing_was_spent_of_is_not_called_reached() {
        let why = |limit| {
            let outcome = TurnOutcome::Limit { limit };
            Finish::of("s".parse().unwrap(), outcome, None, &View::default()).why().unwrap()
        };
        assert_eq!(
            [LimitKind::Cost, LimitKind::Tokens, LimitKind::Rounds].map(why),
            [
                "the next call of the model could pass the limit of cost",
                "the next call of the model could pass the limit of tokens",
                "the limit of rounds is reached",
            ]
        );
    }

    #[test]
    fn json_is_put_on_one_line_and_stays_what_it_is() {
        let json = "{ \"a b\" :\n [1.50, 1e400 ,\t\"x\\\" \\\\\" , \" y\"]\r\n}";
        let line = on_one_line(json);
        assert_eq!(line, r#"{"a b":[1.50,1e400,"x\" \\"," y"]}"#);
    }
}
