//! `heeler show`: a session for a person to read.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use heeler_core::{Block, Message, Role, SessionId, SessionStore, input_summary, truncate_chars};
use heeler_store::FileStore;
use heeler_turn::calibration::RATIO_ONE;
use heeler_turn::{Calibration, State};

use super::list::moment;
use super::request;
use crate::say::{harmless, one_line};

/// The most characters of one tool result.
const RESULT_CHARS_MAX: usize = 400;

/// Prints what was said, what was run and what it cost. Reads only; the session may be running.
pub(super) async fn print(store: &FileStore, id: SessionId, out: &mut dyn Write) -> Result<()> {
    let journal = store.read(id).await?;
    let mut state = State::new();
    let mut inputs = Inputs::default();
    for entry in &journal.entries {
        state.apply(entry);
        inputs.note(&state);
    }
    let terminal = out;
    let out = &mut Vec::new();
    writeln!(out, "session    {}", journal.header.id)?;
    if let Some(name) = &state.name {
        writeln!(out, "name       {name}")?;
    }
    if let Some(origin) = &state.forked {
        writeln!(out, "forked     from {origin}")?;
    }
    writeln!(out, "workspace  {}", journal.header.workspace)?;
    writeln!(out, "created    {} UTC", moment(journal.header.created))?;
    writeln!(out, "model      {}", state.settings.model.name)?;
    writeln!(
        out,
        "used       {}, {} out, {}",
        request::input(&state.usage),
        state.usage.output,
        state.bill()
    )?;
    if state.reread.tokens > 0 {
        writeln!(out, "cache      {}", request::told_reread("new epochs", &state.reread))?;
    }
    if let Some(learned) = learned(&state.calibration) {
        writeln!(out, "estimate   {learned}")?;
    }
    if let Some(mode) = state.left_plan {
        writeln!(out, "mode       {mode}, since plan mode was left")?;
    }
    writeln!(out, "status     {}", status(&state, &journal.header.id))?;
    for work in &state.background {
        writeln!(
            out,
            "background {} (call {}) goes on while its heeler runs",
            work.tool, work.call
        )?;
    }
    let waiting = state.steering.iter().filter(|queued| queued.is_background).count();
    if waiting > 0 {
        writeln!(out, "background {waiting} to be told with the next words")?;
    }
    for damage in &journal.damage {
        writeln!(out, "damaged    line {}: {}", damage.line, damage.what)?;
    }
    for message in state.history.messages() {
        print_message(message, inputs.number(message), out)?;
    }
    terminal.write_all(harmless(&String::from_utf8_lossy(out)).as_bytes())?;
    Ok(())
}

/// How far the estimate was off, once a model call has shown it.
fn learned(calibration: &Calibration) -> Option<String> {
    let Calibration { ratio, samples } = *calibration;
    let hundredths = ratio.saturating_mul(100) / RATIO_ONE;
    let calls = if samples == 1 { "model call" } else { "model calls" };
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    (samples != 0).then(|| {
        format!("{whole}.{rest:02} tokens counted for each estimated one, by {samples} {calls}")
    })
}

fn status(state: &State, id: &SessionId) -> String {
    match (&state.turn, &state.last_outcome) {
        (Some(turn), _) => {
            format!("turn {} is unfinished; go on with `heeler exec --resume {id}`", turn.number)
        }
        (None, Some(outcome)) => {
            let outcome = serde_json::to_string(outcome).unwrap_or_default();
            let turns = if state.turns == 1 { "turn" } else { "turns" };
            format!("{} {turns}, the last ended {}", state.turns, outcome.trim_matches('"'))
        }
        (None, None) => "nothing was said yet".to_owned(),
    }
}

/// Which messages began which turns: what people count when they say where to fork.
#[derive(Default)]
struct Inputs {
    turns: u32,
    /// With the message itself: one that is gone would leave its place to another.
    began: HashMap<*const Message, (u32, Arc<Message>)>,
}

impl Inputs {
    /// Looks at the state after each record.
    fn note(&mut self, state: &State) {
        if state.turns == self.turns {
            return;
        }
        self.turns = state.turns;
        if let Some(last) = state.history.messages().last().filter(|m| m.role == Role::User) {
            self.began.insert(Arc::as_ptr(last), (state.turns, Arc::clone(last)));
        }
    }

    fn number(&self, message: &Arc<Message>) -> Option<u32> {
        self.began.get(&Arc::as_ptr(message)).map(|(turn, _)| *turn)
    }
}

fn print_message(message: &Message, number: Option<u32>, out: &mut dyn Write) -> Result<()> {
    let number = number.map(|number| format!("[{number}] ")).unwrap_or_default();
    for block in &message.blocks {
        match block {
            Block::Text(text) => {
                let who = match message.role {
                    Role::User => "user",
                    Role::Assistant => "heeler",
                };
                writeln!(out, "\n{number}{who}: {}", moved_in(text.text.trim_end()))?;
            }
            Block::ToolUse(call) => {
                let summary = input_summary(&call.name, call.input.get());
                writeln!(out, "\n  > {}", one_line(&summary))?;
            }
            Block::ToolResult(result) => {
                let text: String = result.content.iter().filter_map(Block::as_text).collect();
                let mark = if result.is_error { "!" } else { "<" };
                let cut = truncate_chars(text.trim_end(), RESULT_CHARS_MAX);
                writeln!(out, "  {mark} {}", moved_in(&cut))?;
            }
            Block::Image(_) => writeln!(out, "  [image]")?,
            Block::Document(_) => writeln!(out, "  [document]")?,
            Block::Thinking(_) | Block::RedactedThinking(_) | Block::Opaque(_) => {}
        }
    }
    Ok(())
}

/// A text whose further lines are moved in: what begins farther left is no part of what somebody said.
fn moved_in(text: &str) -> String {
    // Empty lines stay empty.
    text.replace('\n', "\n    ").replace("    \n", "\n")
}

#[cfg(test)]
mod tests {
    use heeler_core::{
        Compacted, CompactionCause, CompactionStarted, Entry, Input, ModelReplied, ModelStarted,
        Record, Reply, Reserve, StopReason, Timestamp, TurnOutcome, Usage,
    };

    use super::*;

    /// The records of a turn that says its number.
    fn turn(turn: u32) -> Vec<Record> {
        let (round, attempt) = (1, 1);
        let reply = Reply {
            blocks: vec![Block::text("Hi.")],
            stop: StopReason::EndTurn,
            usage: Usage::default(),
            provider_id: None,
        };
        vec![
            Record::Input(Box::new(Input::text(format!("input {turn}")))),
            Record::ModelStarted(ModelStarted {
                turn,
                round,
                attempt,
                epoch: 0,
                up_to: 0,
                reserve: Reserve::default(),
            }),
            Record::ModelReplied(Box::new(ModelReplied {
                turn,
                round,
                attempt,
                reply,
                cost: None,
            })),
            Record::TurnFinished { turn, outcome: TurnOutcome::Done },
        ]
    }

    #[test]
    fn a_message_that_is_gone_leaves_its_number_to_no_other() {
        let mut state = State::new();
        let mut inputs = Inputs::default();
        for n in 1..=60 {
            let mut records = turn(n);
            if n % 3 == 0 {
                let cut = state.history.messages().len() as u64;
                let cause = CompactionCause::Manual;
                records.push(Record::CompactionStarted(CompactionStarted {
                    cut,
                    cause,
                    focus: None,
                }));
                records.push(Record::Compacted(Box::new(Compacted {
                    summary: "Short.".into(),
                    usage: Usage::default(),
                    cost: None,
                    kept: None,
                })));
            }
            for record in records {
                let seq = state.seq + 1;
                state.apply(&Entry { seq, at: Timestamp(seq), record });
                inputs.note(&state);
            }
            for message in state.history.messages() {
                let said = message.text();
                let number = said.strip_prefix("input ").and_then(|number| number.parse().ok());
                assert_eq!(inputs.number(message), number, "{said}");
            }
        }
        assert_eq!((state.misfits, state.turns), (0, 60));
    }
}
