//! `heeler show`: a session for a person to read.

use std::borrow::Cow;
use std::io::{self, Write};

use anyhow::Result;
use heeler_core::{SessionId, SessionStore, TurnOutcome, truncate_chars};
use heeler_store::FileStore;
use heeler_turn::calibration::RATIO_ONE;
use heeler_turn::{Calibration, State};

use super::list::moment;
use super::request;
use super::story::{Call, Part, Story, ending};
use crate::say::{harmless, one_line};

/// The most characters of one result, or of a note.
const TEXT_CHARS_MAX: usize = 400;

/// Prints what was said, what was run and what it cost: all of it, whatever the model still has. Reads
/// only; the session may be running.
pub(super) async fn print(store: &FileStore, id: SessionId, out: &mut dyn Write) -> Result<()> {
    let story = Story::of(store.read(id).await?);
    let Story { header, state, .. } = &story;
    let terminal = out;
    let out = &mut Vec::new();
    writeln!(out, "session    {}", header.id)?;
    if let Some(name) = &state.name {
        writeln!(out, "name       {name}")?;
    }
    if let Some(origin) = &state.forked {
        writeln!(out, "forked     from {origin}")?;
    }
    writeln!(out, "workspace  {}", header.workspace)?;
    writeln!(out, "created    {} UTC", moment(header.created))?;
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
    writeln!(out, "status     {}", status(state, &header.id))?;
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
    for damage in &story.damage {
        writeln!(out, "damaged    {damage}")?;
    }
    print_all(&story, out)?;
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

/// Everything, in order.
fn print_all(story: &Story, out: &mut dyn Write) -> io::Result<()> {
    print_parts(None, &story.before, out)?;
    for chapter in &story.chapters {
        print_parts(Some(chapter.number), &chapter.parts, out)?;
        if let Some((_, outcome)) = &chapter.end
            && *outcome != TurnOutcome::Done
        {
            writeln!(out, "\n  - {}", cut(&one_line(&ending(outcome))))?;
        }
    }
    Ok(())
}

fn print_parts(turn: Option<u32>, parts: &[Part], out: &mut dyn Write) -> io::Result<()> {
    // What people count when they say where to fork. What is heard in the turn later has none.
    let mut number = turn.map(|turn| format!("[{turn}] "));
    for part in parts {
        match part {
            Part::Said(text) => {
                let number = number.take().unwrap_or_default();
                writeln!(out, "\n{number}user: {}", moved_in(text.trim_end()))?;
            }
            Part::Answered(text) => writeln!(out, "\nheeler: {}", moved_in(text.trim_end()))?,
            Part::Called(call) => print_call(call, out)?,
            Part::Picture(_) => writeln!(out, "  [image]")?,
            Part::Noted(what, more) => {
                writeln!(out, "\n  - {}", one_line(what))?;
                let more = more.as_deref().map(cut).unwrap_or_default();
                if !more.is_empty() {
                    writeln!(out, "    {}", moved_in(&more))?;
                }
            }
            Part::Thought(_) => {}
        }
    }
    Ok(())
}

fn print_call(call: &Call, out: &mut dyn Write) -> io::Result<()> {
    let what = [&*call.name, &*call.summary].into_iter().filter(|text| !text.is_empty());
    writeln!(out, "\n  > {}", one_line(&what.collect::<Vec<_>>().join(": ")))?;
    let Some(result) = &call.result else { return Ok(()) };
    let mark = if result.is_error { "!" } else { "<" };
    writeln!(out, "  {mark} {}", moved_in(&cut(&result.text)))?;
    result.pictures.iter().try_for_each(|_| writeln!(out, "  [image]"))
}

/// As much of a long text as tells what it is.
fn cut(text: &str) -> Cow<'_, str> {
    truncate_chars(text.trim_end(), TEXT_CHARS_MAX)
}

/// A text whose further lines are moved in: what begins farther left is no part of what somebody said.
fn moved_in(text: &str) -> String {
    // Empty lines stay empty.
    text.replace('\n', "\n    ").replace("    \n", "\n")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{
        Block, Compacted, CompactionCause, CompactionStarted, Entry, Input, Journal, LimitKind,
        ModelReplied, ModelStarted, Record, Reply, Reserve, SessionHeader, StopReason, Timestamp,
        Usage,
    };

    use super::*;

    /// The records of a turn that says its number.
    fn turn(turn: u32) -> Vec<Record> {
        ended(turn, TurnOutcome::Done)
    }

    /// The same of one that ended so.
    fn ended(turn: u32, outcome: TurnOutcome) -> Vec<Record> {
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
            Record::TurnFinished { turn, outcome },
        ]
    }

    /// The records of a compaction of all that was said.
    fn compaction(messages: u64) -> Vec<Record> {
        let cause = CompactionCause::Manual;
        let summary = "Short.\nVery short.".into();
        vec![
            Record::CompactionStarted(CompactionStarted { cut: messages, cause, focus: None }),
            Record::Compacted(Box::new(Compacted {
                summary,
                usage: Usage::default(),
                cost: None,
                kept: None,
            })),
        ]
    }

    #[test]
    fn how_a_turn_ended_is_shown_unless_it_is_done() {
        let limit = TurnOutcome::Limit { limit: LimitKind::Rounds };
        let failed = TurnOutcome::Failed { message: "no\nroom".to_owned() };
        check(
            [ended(1, limit), ended(2, failed), ended(3, TurnOutcome::Cancelled), turn(4)].concat(),
            expect![[r#"

                [1] user: input 1

                heeler: Hi.

                  - limit of rounds reached

                [2] user: input 2

                heeler: Hi.

                  - failed: no room

                [3] user: input 3

                heeler: Hi.

                  - cancelled

                [4] user: input 4

                heeler: Hi.
            "#]],
        );
    }

    #[test]
    fn what_the_model_has_as_a_summary_is_shown_all_the_same() {
        check(
            [turn(1), turn(2), compaction(4), turn(3)].concat(),
            expect![[r#"

            [1] user: input 1

            heeler: Hi.

            [2] user: input 2

            heeler: Hi.

              - the beginning became a summary
                Short.
                Very short.

            [3] user: input 3

            heeler: Hi.
        "#]],
        );
    }

    /// What is shown of these records.
    fn check(records: Vec<Record>, expected: Expect) {
        let entries = (1..).zip(records);
        let entries = entries.map(|(seq, record)| Entry { seq, at: Timestamp(seq), record });
        let journal = Journal {
            header: SessionHeader {
                id: "one".parse().unwrap(),
                created: Timestamp(0),
                workspace: "/work".into(),
            },
            entries: entries.collect(),
            damage: vec![],
            torn_bytes: 0,
        };
        let story = Story::of(journal);
        assert_eq!(story.state.misfits, 0);
        let mut out = Vec::new();
        print_all(&story, &mut out).unwrap();
        expected.assert_eq(&String::from_utf8(out).unwrap());
    }
}
