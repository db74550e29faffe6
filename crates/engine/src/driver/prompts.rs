//! Inputs on their way: where hooks want to hear them, they do, before anything of them is written.
//!
//! Who is told a secret by mistake can so keep it out of journal and conversation. One input is
//! heard at a time, so they stay in order. Without such hooks an input goes its way at once.

use std::collections::VecDeque;

use heeler_core::{
    Block, BoxFuture, Durability, HookEvent, HookMoment, HookOutcome, HookVerdict, Input, Record,
    SteeringId, SteeringQueued, StoreError,
};
use tokio::sync::oneshot;

use super::{Driver, QueuedTurn, Waiting};
use crate::hooks::{Asker, answered};

/// What hooks are hearing, and what waits to be heard.
#[derive(Default)]
pub(super) struct Prompts {
    hearing: Option<Hearing>,
    steering: VecDeque<Steer>,
    /// The hooks of a session's beginning were asked in this process.
    has_begun: bool,
}

/// An input for a turn that may run.
pub(super) struct Steer {
    pub(super) id: SteeringId,
    pub(super) input: Input,
    pub(super) done: oneshot::Sender<()>,
}

enum Said {
    Turn(QueuedTurn),
    Steer(Steer),
}

/// An input that hooks are asked about. Dropping it stops them.
struct Hearing {
    said: Said,
    answer: BoxFuture<Heard>,
}

/// What hooks said of an input.
#[derive(Default)]
pub(super) struct Heard {
    records: Vec<Record>,
    context: Vec<String>,
    is_blocked: bool,
}

/// How a hearing ended; nothing when nobody wants the input any more.
pub(super) type Answer = Option<Heard>;

/// The end of the hearing; none when nothing is heard. Dropping the future loses nothing.
pub(super) async fn next(prompts: &mut Prompts) -> Option<Answer> {
    let Hearing { said, answer } = prompts.hearing.as_mut()?;
    Some(match said {
        Said::Steer(_) => Some(answer.await),
        Said::Turn(turn) => tokio::select! {
            biased;
            () = turn.done.closed() => None,
            heard = answer => Some(heard),
        },
    })
}

impl Prompts {
    pub(super) fn is_hearing(&self) -> bool {
        self.hearing.is_some()
    }

    /// Gives back the turn whose input is being heard, and stops that.
    pub(super) fn give_up(&mut self) -> Option<QueuedTurn> {
        let hearing = self.hearing.take_if(|hearing| matches!(hearing.said, Said::Turn(_)))?;
        match hearing.said {
            Said::Turn(turn) => Some(turn),
            Said::Steer(_) => None,
        }
    }

    /// Takes steering back that nobody has heard yet.
    pub(super) fn take_back(&mut self, id: &SteeringId) -> bool {
        let hears = |hearing: &Hearing| matches!(&hearing.said, Said::Steer(s) if s.id == *id);
        let was_heard = self.hearing.take_if(|hearing| hears(hearing)).is_some();
        let before = self.steering.len();
        self.steering.retain(|steer| steer.id != *id);
        was_heard || self.steering.len() < before
    }
}

impl Driver {
    /// Whether hooks want to hear an input before it goes its way.
    fn listens(&self) -> bool {
        let Some(asker) = self.asker() else { return false };
        let begins = !self.prompts.has_begun
            && asker.matches(HookEvent::SessionStart, self.beginning().subject());
        begins || asker.matches(HookEvent::UserPromptSubmit, "")
    }

    fn beginning(&self) -> HookMoment {
        HookMoment::SessionStart { resumed: self.state.turns > 0 }
    }

    /// Says something to the running turn, or lets hooks hear it first.
    pub(super) async fn steer(&mut self, steer: Steer) -> Result<(), StoreError> {
        if self.listens() || self.prompts.is_hearing() {
            self.prompts.steering.push_back(steer);
            return Ok(());
        }
        self.queue_steering(steer, Heard::default()).await
    }

    /// Begins the next hearing, when there is something to hear.
    pub(super) async fn hear_next(&mut self) -> Result<(), StoreError> {
        while !self.prompts.is_hearing() {
            let Some(steer) = self.prompts.steering.pop_front() else { break };
            match self.asker().filter(|_| self.listens()) {
                Some(asker) => self.hear(asker, Said::Steer(steer)),
                // The hooks went while it waited.
                None => self.queue_steering(steer, Heard::default()).await?,
            }
        }
        Ok(())
    }

    /// Begins the turn, or lets hooks hear its input first.
    pub(super) async fn begin_turn(&mut self, turn: QueuedTurn) -> Result<(), StoreError> {
        match self.asker().filter(|_| self.listens()) {
            Some(asker) => {
                self.hear(asker, Said::Turn(turn));
                Ok(())
            }
            None => self.begin_heard_turn(turn, Heard::default()).await,
        }
    }

    fn hear(&mut self, asker: Asker, said: Said) {
        let input = match &said {
            Said::Turn(turn) => &turn.input,
            Said::Steer(steer) => &steer.input,
        };
        let texts: Vec<&str> = input.blocks.iter().filter_map(Block::as_text).collect();
        let prompt = HookMoment::UserPromptSubmit { prompt: texts.join("\n") };
        let beginning = (!self.prompts.has_begun).then(|| self.beginning());
        let answer = Box::pin(async move {
            let mut heard = Heard::default();
            if let Some(beginning) = beginning {
                // There is nothing yet that it could keep from happening.
                let HookOutcome { context, verdict, .. } = asker.ask(beginning).await;
                let verdict = match verdict {
                    broken @ HookVerdict::Broken { .. } => broken,
                    _ => HookVerdict::Continue,
                };
                let outcome = HookOutcome { verdict, context, ..HookOutcome::default() };
                heard.take(HookEvent::SessionStart, outcome);
            }
            heard.take(HookEvent::UserPromptSubmit, asker.ask(prompt).await);
            heard
        });
        self.prompts.hearing = Some(Hearing { said, answer });
    }

    /// Lets an input go its way, as hooks want it.
    pub(super) async fn take_heard(&mut self, answer: Answer) -> Result<(), StoreError> {
        self.is_settled = false;
        let Some(Hearing { said, .. }) = self.prompts.hearing.take() else { return Ok(()) };
        let Some(heard) = answer else { return Ok(()) };
        self.prompts.has_begun = true;
        match said {
            Said::Turn(turn) => self.begin_heard_turn(turn, heard).await,
            Said::Steer(steer) => self.queue_steering(steer, heard).await,
        }
    }

    async fn begin_heard_turn(&mut self, turn: QueuedTurn, heard: Heard) -> Result<(), StoreError> {
        let QueuedTurn { input, done } = turn;
        self.prefer_model().await?;
        self.waiting.push(Waiting { turn: self.state.turns + 1, done });
        let records = heard.and(input, |input| Record::Input(Box::new(input)));
        self.write(records, Durability::Written).await
    }

    async fn queue_steering(&mut self, steer: Steer, heard: Heard) -> Result<(), StoreError> {
        let Steer { id, input, done } = steer;
        let records = heard
            .and(input, |input| Record::SteeringQueued(Box::new(SteeringQueued { id, input })));
        self.write(records, Durability::Written).await?;
        let _ = done.send(());
        Ok(())
    }
}

impl Heard {
    fn take(&mut self, event: HookEvent, outcome: HookOutcome) {
        let answered = answered(event, &outcome);
        self.records.extend(answered.map(|answered| Record::HookAnswered(Box::new(answered))));
        self.is_blocked |=
            matches!(outcome.verdict, HookVerdict::Deny { .. } | HookVerdict::Stop { .. });
        self.context.extend(outcome.context);
    }

    /// What is written: what hooks said, and, unless they block it, the input with their words.
    fn and(self, mut input: Input, record: impl FnOnce(Input) -> Record) -> Vec<Record> {
        let Self { mut records, context, is_blocked } = self;
        if !is_blocked {
            input.blocks.extend(context.into_iter().map(Block::text));
            records.push(record(input));
        }
        records
    }
}
