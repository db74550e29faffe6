//! `--stream-input`: a program speaks to the session while it runs, and reads the events of `--json`.

mod lines;
mod message;

use std::collections::VecDeque;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use heeler_assembly::SystemPrompt;
use heeler_core::{BoxFuture, Decision, Event, Input, PermissionId, Rule, SteeringId, TurnOutcome};
use heeler_engine::{Seen, Session, Turn};

use super::ends::{End, Ends, is_end};
use super::watch::{Watch, broken};
use crate::say::say;
use lines::Line;
pub(super) use message::Message;
use message::{Answer, BY};

/// The most inputs that wait for their turns.
const INPUTS_MAX: usize = 64;
/// Why requests are denied once nobody can answer.
const NOBODY: &str = "stdin has ended, so nobody can answer";

/// Keeps a rule for later sessions.
pub(super) type KeepRule = Arc<dyn Fn(&Rule) -> Result<(), String> + Send + Sync>;

/// What a conversation changes, and what changes around it.
pub(super) struct Surroundings {
    pub(super) keep_rule: KeepRule,
    pub(super) prompt: SystemPrompt,
}

/// The conversation with whoever writes to stdin.
struct Stream<'w, 'a> {
    watch: &'w mut Watch<'a>,
    around: Surroundings,
    /// The inputs whose turns are not over, by the line each came in; first what was left before.
    turns: VecDeque<(u64, Turn)>,
    /// The last turn that ended.
    last: Option<TurnOutcome>,
    /// Whether somebody still writes.
    is_open: bool,
    /// What was said to turns, by the line each came in, until it waits for one or is refused.
    words: FuturesUnordered<BoxFuture<(u64, Result<(), String>)>>,
    /// Which turns' ends were shown.
    ends: Ends,
}

/// Plays all that is said until nothing more can come, and every turn is over.
///
/// # Errors
/// When the events cannot be written, or stdin not read.
pub(super) async fn converse(
    watch: &mut Watch<'_>,
    ends: Ends,
    first: impl IntoIterator<Item = Turn>,
    around: Surroundings,
) -> Result<Option<TurnOutcome>> {
    let mut lines = lines::of_stdin().context("cannot read stdin")?;
    let turns = first.into_iter().map(|turn| (0, turn)).collect();
    let words = FuturesUnordered::new();
    let mut stream = Stream { watch, around, turns, last: None, is_open: true, words, ends };
    loop {
        stream.show_ready().await?;
        let is_done = stream.turns.is_empty() && stream.words.is_empty();
        if !stream.is_open && is_done && stream.is_over().await {
            stream.show_missed().await?;
            return Ok(stream.last);
        }
        tokio::select! {
            biased;
            () = stream.watch.signals.first() => stream.stop()?,
            seen = stream.watch.cursor.next() => match seen {
                Some(seen) => stream.show(&seen).await?,
                None => return stream.closed().await,
            },
            end = first_of(&mut stream.turns) => stream.settled(end).await?,
            Some((line, said)) = stream.words.next() => stream.answer(line, said)?,
            line = lines.recv(), if stream.is_open => match line {
                Some(line) => stream.take(line).await?,
                None => stream.end_of_input().await,
            },
            // The next flush says why.
            () = broken(stream.watch.printer.outlet()) => {}
        }
    }
}

/// Says something to the turn that runs.
async fn said(
    session: Session,
    line: u64,
    id: SteeringId,
    text: String,
) -> (u64, Result<(), String>) {
    let said = match session.steer(id.clone(), Input::text(text)).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!(
            "something was said by the id `{}` before in this session; use another one",
            id.0
        )),
        Err(error) => Err(error.to_string()),
    };
    (line, said)
}

/// What became of an input.
struct Settled {
    line: u64,
    outcome: TurnOutcome,
    /// Whether it was a turn's.
    was_begun: bool,
}

/// The end of the turn that runs or waits first.
async fn first_of(turns: &mut VecDeque<(u64, Turn)>) -> Settled {
    let Some((line, turn)) = turns.front_mut() else { return std::future::pending().await };
    let (line, outcome) = (*line, (&mut *turn).await);
    let was_begun = turn.number().is_some();
    turns.pop_front();
    Settled { line, outcome, was_begun }
}

impl Stream<'_, '_> {
    /// Shows all that is ready.
    async fn show_ready(&mut self) -> Result<()> {
        while let Some(seen) = self.watch.cursor.try_next() {
            self.show(&seen).await?;
        }
        Ok(self.watch.printer.flush()?)
    }

    async fn show(&mut self, seen: &Seen) -> Result<()> {
        let ends = self.ends.until(seen).await;
        self.show_ends(ends).await?;
        if !is_end(seen) {
            self.watch.print(seen)?;
        }
        match seen {
            Seen::Event(envelope) => {
                if let (Event::PermissionRequested(open), false) = (&envelope.event, self.is_open) {
                    self.deny(open.id).await;
                }
            }
            // A request may have been among what was passed over.
            Seen::Resync(_) if !self.is_open => self.deny_all().await,
            Seen::Resync(_) => {}
        }
        Ok(())
    }

    /// Shows the ends of turns that were passed over, now that all there is was seen.
    async fn show_missed(&mut self) -> Result<()> {
        let ends = self.ends.rest().await;
        self.show_ends(ends).await
    }

    async fn show_ends(&mut self, ends: Vec<End>) -> Result<()> {
        for end in ends {
            let finish = self.watch.finish_of(end).await;
            self.last = Some(finish.outcome.clone());
            self.watch.printer.turn_finished(&finish)?;
        }
        Ok(())
    }

    /// An input's turn is over, or never came to be.
    async fn settled(&mut self, settled: Settled) -> Result<()> {
        let Settled { line, outcome, was_begun } = settled;
        self.show_ready().await?;
        if was_begun {
            self.show_missed().await?;
        } else if line > 0 {
            let message = format!("no turn was begun: {}", why(&outcome));
            self.watch.printer.input_error(line, &message)?;
            self.last = Some(outcome);
        }
        Ok(())
    }

    /// Whether nothing runs that no input of ours waits for: what was said to a session at rest
    /// began a turn.
    async fn is_over(&mut self) -> bool {
        match self.watch.session.state().await {
            Ok(state) if state.turn.is_some() && !self.watch.signals.came() => {
                self.turns.push_back((0, self.watch.session.resume()));
                false
            }
            _ => true,
        }
    }

    /// Nobody can say any more; what they have said is still done.
    async fn end_of_input(&mut self) {
        self.is_open = false;
        self.deny_all().await;
    }

    /// The first signal: what runs is cancelled, and what waits not begun, which its lines are told.
    fn stop(&mut self) -> Result<()> {
        self.is_open = false;
        let waiting = self.turns.split_off(self.turns.len().min(1));
        self.watch.halt();
        let lines = waiting.into_iter().map(|(line, _)| line).filter(|line| *line > 0);
        for line in lines {
            self.answer(line, Err("no turn was begun: cancelled".into()))?;
        }
        Ok(())
    }

    /// The session broke off; whose turn it was is told, and why, where it was nobody's.
    async fn closed(mut self) -> Result<Option<TurnOutcome>> {
        while !self.turns.is_empty() {
            let settled = first_of(&mut self.turns).await;
            self.settled(settled).await?;
        }
        while let Some((line, said)) = self.words.next().await {
            self.answer(line, said)?;
        }
        let why = self.watch.session.broke_off();
        Ok(why.map(|message| TurnOutcome::Failed { message }).or(self.last))
    }

    async fn take(&mut self, line: Line) -> Result<()> {
        let number = line.number;
        let done = match line.text.and_then(|text| Message::read(&text)) {
            Ok(message) => self.obey(number, message).await,
            Err(why) => Err(why),
        };
        self.answer(number, done)
    }

    /// Tells what was wrong with a line, if anything was.
    fn answer(&mut self, line: u64, done: Result<(), String>) -> Result<()> {
        match done {
            Ok(()) => Ok(()),
            Err(why) => Ok(self.watch.printer.input_error(line, &why)?),
        }
    }

    async fn obey(&mut self, line: u64, message: Message) -> Result<(), String> {
        let session = self.watch.session;
        match message {
            Message::Input { .. } if self.turns.len() >= INPUTS_MAX => {
                return Err(format!("{INPUTS_MAX} inputs wait already; wait for a turn's end"));
            }
            Message::Input { text } => {
                self.look().await;
                self.turns.push_back((line, session.turn(Input::text(text))));
            }
            Message::Steer { .. } if self.words.len() >= INPUTS_MAX => {
                return Err(format!(
                    "{INPUTS_MAX} words wait already; wait until they are taken in"
                ));
            }
            Message::Steer { text, id } => {
                let id = match id {
                    Some(id) => SteeringId(id),
                    None => self.name(line).await?,
                };
                let mut said = said(session.clone(), line, id, text).boxed();
                // It is on its way before the next line, and nothing waits for hooks to hear it.
                match (&mut said).now_or_never() {
                    Some((_, said)) => said?,
                    None => self.words.push(said),
                }
            }
            Message::TakeBack { id } => {
                let taken = session.take_back(SteeringId(id.clone())).await;
                if !taken.map_err(|error| error.to_string())? {
                    return Err(format!(
                        "there is no `{id}` that waits: the model has read it, or it never was"
                    ));
                }
            }
            Message::Decide { id, decision } => self.decide(id, decision).await?,
            Message::Cancel {} => {
                session.cancel().await;
            }
        }
        Ok(())
    }

    /// Takes in the project's notes if they changed: they count from the next model call on.
    async fn look(&mut self) {
        let mut prompt = self.around.prompt.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let changed = prompt.reload();
            (prompt, changed)
        });
        let Ok((prompt, Some((words, amiss)))) = looked.await else { return };
        // A session that broke off says so itself when it is given the input.
        if self.watch.session.set_system(prompt.text()).await.is_ok() {
            say(format_args!("heeler: {words}"));
            amiss.iter().for_each(|notice| say(format_args!("heeler: notes: {notice}")));
            self.around.prompt = prompt;
        }
    }

    /// The name of a word that has none. A session that is gone on with counts its lines anew, and
    /// takes what has a name it has heard for the same word again.
    async fn name(&self, line: u64) -> Result<SteeringId, String> {
        let state = self.watch.session.state().await.map_err(|error| error.to_string())?;
        Ok(SteeringId(match state.incarnation {
            0 | 1 => format!("line-{line}"),
            opened => format!("line-{line}-{opened}"),
        }))
    }

    async fn decide(&self, id: PermissionId, answer: Answer) -> Result<(), String> {
        let (view, _) = self.watch.session.subscribe();
        let decision = answer.decision(view.permissions.iter().find(|open| open.id == id))?;
        let kept = match &decision {
            Decision::Always { rule } => Some(rule.clone()),
            _ => None,
        };
        let decided = self.watch.session.decide(id, decision, BY).await;
        decided.map_err(|error| error.to_string())?;
        match kept.map(|rule| (self.around.keep_rule)(&rule)) {
            Some(Err(why)) => Err(format!("the rule counts for this session alone: {why}")),
            _ => Ok(()),
        }
    }

    async fn deny_all(&self) {
        let (view, _) = self.watch.session.subscribe();
        for open in &view.permissions {
            self.deny(open.id).await;
        }
    }

    async fn deny(&self, id: PermissionId) {
        let decision = Decision::Deny { reason: Some(NOBODY.to_owned()) };
        // Who was quicker has answered it.
        let _ = self.watch.session.decide(id, decision, BY).await;
    }
}

/// What an input came to that never was a turn.
fn why(outcome: &TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Failed { message } | TurnOutcome::ProviderFailed { message, .. } => {
            message.clone()
        }
        TurnOutcome::Denied { reason } => reason.clone(),
        other => format!("{other:?}").to_lowercase(),
    }
}
