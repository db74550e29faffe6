//! Plays a session again: its journal's records once more, nothing of it run.

use std::borrow::Cow;
use std::sync::Arc;

use heeler_core::{
    Block, Clock, Difference, Entropy, Entry, Journal, ModelReplied, ModelRequest, ModelSettings,
    Provider, ProviderError, Record, Reply, Seq, StopReason, Usage,
};
use heeler_turn::State;
use heeler_turn::estimate::CharacterEstimate;
use heeler_turn::replay::{Divergence, Replay};
use heeler_turn::retry;
use serde_json::{Value, json};

use crate::driver::{Question, Used};
use crate::{OsEntropy, SystemClock};

/// A model that answers in the place of the recorded one.
pub struct ReplayModel {
    /// Its name, and how much it can write.
    pub settings: ModelSettings,
    question: Question,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// How many records came again as they were.
    pub records: u64,
    /// How many answers of a model are among them.
    pub answers: u64,
    /// How many of these say the same in other words.
    pub reworded: u64,
    /// Tokens of the model that was asked; none for recorded answers.
    pub usage: Usage,
    /// Where it parted from what is recorded; `None` when it did not.
    pub divergence: Option<Divergence>,
}

/// Why a session cannot be played again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The journal has places that cannot be read.
    #[error(
        "the journal of session {id} is damaged in line {line}: {what}; only a whole one can be \
         played again"
    )]
    Damaged {
        /// The session.
        id: heeler_core::SessionId,
        /// The first such line.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// There is no such record.
    #[error("session {id} has no record {from}; it has {last}, from 1 to {last}")]
    Beyond {
        /// The session.
        id: heeler_core::SessionId,
        /// The record that was asked for.
        from: Seq,
        /// The last that there is.
        last: Seq,
    },
    /// The model could not be asked.
    #[error("the model could not be asked for the answer in record {seq}: {error}")]
    Provider {
        /// The recorded answer.
        seq: Seq,
        /// Why; the text says it.
        error: ProviderError,
    },
}

impl ReplayModel {
    /// A model behind a provider; a failed request is sent again as the library's defaults say.
    #[must_use]
    pub fn new(provider: Arc<dyn Provider>, settings: ModelSettings) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let entropy: Arc<dyn Entropy> = Arc::new(OsEntropy::default());
        let retry = retry::Policy::default();
        let estimate = Arc::new(CharacterEstimate::new(0));
        Self { settings, question: Question { provider, clock, entropy, retry, estimate } }
    }

    /// The same with another clock and other dice, for tests.
    #[must_use]
    pub fn with_time(mut self, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        (self.question.clock, self.question.entropy) = (clock, entropy);
        self
    }

    /// A recorded request, for this model.
    fn request(&self, mut request: ModelRequest) -> ModelRequest {
        let name = self.settings.name.as_str();
        request.model = name.split_once('/').map_or(name, |(_, model)| model).into();
        request.output_max = request.output_max.min(self.settings.output_max);
        request
    }
}

/// Plays a session from a record on; those before it are taken as they are.
///
/// Without a model its recorded answers are given, and everything the machine decides must come out
/// as it is recorded: what is asked, planned, run, left out, and how turns end. With one, each request
/// is made again and sent to it. It may use other words; which calls it makes, with which inputs, and
/// why it stops must be the same. Results of calls, decisions of people, summaries and failed attempts
/// are the journal's. Nothing is run, and nothing is written.
///
/// It ends where the two part: what would come after that, nobody knows.
///
/// # Errors
/// When there is nothing to play, or the model cannot be asked.
pub async fn replay(
    journal: &Journal,
    from: Seq,
    model: Option<&ReplayModel>,
) -> Result<Replayed, ReplayError> {
    let id = || journal.header.id.clone();
    if let Some(damage) = journal.damage.first() {
        let (line, what) = (damage.line, damage.what.clone());
        return Err(ReplayError::Damaged { id: id(), line, what });
    }
    let last = journal.entries.last().map_or(0, |entry| entry.seq);
    if !(1..=last).contains(&from) {
        return Err(ReplayError::Beyond { id: id(), from, last });
    }
    let at = journal.entries.partition_point(|entry| entry.seq < from);
    let (before, rest) = journal.entries.split_at(at);
    let mut state = State::new();
    before.iter().for_each(|entry| state.apply(entry));
    let mut playing = Playing::new(state, before, model);
    for entry in rest {
        if let Some(divergence) = playing.play(entry).await? {
            playing.played.divergence = Some(divergence);
            break;
        }
        playing.played.records += 1;
    }
    Ok(playing.played)
}

struct Playing<'a> {
    replay: Replay,
    model: Option<&'a ReplayModel>,
    /// What was asked last.
    request: Option<ModelRequest>,
    played: Replayed,
}

impl<'a> Playing<'a> {
    fn new(state: State, before: &[Entry], model: Option<&'a ReplayModel>) -> Self {
        // It may begin between a request and its answer.
        let started = before.iter().rev().find_map(|entry| match &entry.record {
            Record::ModelStarted(started) => Some(started.reserve.output),
            _ => None,
        });
        let request = started.and_then(|output_max| state.request(output_max));
        let played = Replayed {
            records: 0,
            answers: 0,
            reworded: 0,
            usage: Usage::default(),
            divergence: None,
        };
        Self { replay: Replay::after(state), model, request, played }
    }

    async fn play(&mut self, entry: &Entry) -> Result<Option<Divergence>, ReplayError> {
        let mut entry = Cow::Borrowed(entry);
        if let Record::ModelReplied(replied) = &entry.record {
            let asked = self.ask(entry.seq, replied).await?;
            self.played.answers += 1;
            if let Some(reply) = asked {
                if let Some(difference) = parted(&replied.reply, &reply) {
                    let (seq, kind) = (entry.seq, entry.record.kind());
                    return Ok(Some(Divergence { seq, kind, difference }));
                }
                self.played.reworded += u64::from(words(&replied.reply) != words(&reply));
                // What the recorded answer took stays: limits are to fall where they fell.
                let reply = Reply { blocks: reply.blocks, ..replied.reply.clone() };
                let record =
                    Record::ModelReplied(Box::new(ModelReplied { reply, ..(**replied).clone() }));
                entry = Cow::Owned(Entry { record, ..*entry });
            }
        }
        if let Err(divergence) = self.replay.follow(&entry) {
            return Ok(Some(divergence));
        }
        if let Record::ModelStarted(started) = &entry.record {
            self.request = self.replay.state().request(started.reserve.output);
        }
        Ok(None)
    }

    /// The model's own answer, when there is one to ask. What somebody cut short is no answer to
    /// compare with.
    async fn ask(
        &mut self,
        seq: Seq,
        replied: &ModelReplied,
    ) -> Result<Option<Reply>, ReplayError> {
        let Some(model) = self.model.filter(|_| replied.reply.stop != StopReason::Interrupted)
        else {
            return Ok(None);
        };
        let Some(request) = self.request.take() else { return Ok(None) };
        let (request, mut used) = (model.request(request), Used::default());
        let reply = model.question.ask(&request, &mut used).await;
        self.played.usage += used.all(model.question.estimate.as_ref(), &request);
        let reply = reply.map_err(|error| ReplayError::Provider { seq, error })?;
        Ok(Some(reply))
    }
}

/// Where two answers part in what they do.
fn parted(recorded: &Reply, found: &Reply) -> Option<Difference> {
    Difference::first(&deeds(recorded), &deeds(found))
}

/// What an answer does: its calls and why it stopped.
fn deeds(reply: &Reply) -> Value {
    let calls: Vec<Value> = reply
        .blocks
        .iter()
        .filter_map(Block::as_tool_use)
        .map(|call| match &call.invalid {
            Some(_) => json!({"name": call.name, "input": "unusable"}),
            None => json!({"name": call.name, "input": call.input.value()}),
        })
        .collect();
    json!({"calls": calls, "stop": reply.stop})
}

fn words(reply: &Reply) -> String {
    reply.blocks.iter().filter_map(Block::as_text).collect()
}
