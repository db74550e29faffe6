//! Inputs on their way: where hooks want to hear them, they do, before anything of them is written,
//! and images are made ones that providers take.
//!
//! Who is told a secret by mistake can so keep it out of journal and conversation. One input is
//! heard at a time, so they stay in order. Without such hooks and images an input goes its way at
//! once.

use std::collections::VecDeque;

use heeler_core::{
    Block, BoxFuture, Durability, Event, HookEvent, HookMoment, HookOutcome, HookVerdict, Input,
    Record, SteeringId, SteeringQueued, StoreError,
};
use tokio::sync::oneshot;

use super::commands::says_nothing;
use super::{Driver, QueuedTurn, Waiting};
use crate::hooks::{Asker, answered};
use crate::images::{ImageDoor, has_images};

/// What hooks are hearing, and what waits to be heard.
#[derive(Default)]
pub(super) struct Prompts {
    hearing: Option<Hearing>,
    /// A turn whose input was heard while work in the background began another turn.
    heard: Option<(QueuedTurn, Heard)>,
    steering: VecDeque<Steer>,
    /// The hooks of a session's beginning were asked in this process.
    has_begun: bool,
    /// What they said, until an input that is let through takes it along.
    beginning: Vec<String>,
}

/// An input for a turn that may run.
pub(super) struct Steer {
    pub(super) id: SteeringId,
    pub(super) input: Input,
    pub(super) done: oneshot::Sender<bool>,
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
    /// What hooks of a session's beginning said.
    beginning: Vec<String>,
    context: Vec<String>,
    is_blocked: bool,
    /// Hooks of a session's beginning were asked, if there are any.
    was_asked: bool,
    /// The input's blocks once its images are ones that providers take.
    admitted: Option<Vec<Block>>,
    /// What became of images that are none.
    notes: Vec<String>,
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

    /// Whether an input waits to be heard.
    pub(super) fn has_waiting(&self) -> bool {
        !self.steering.is_empty()
    }

    /// Gives back the turn whose input is being heard, or waits since it was, and stops that.
    pub(super) fn give_up(&mut self) -> Option<QueuedTurn> {
        if let Some((turn, _)) = self.heard.take() {
            return Some(turn);
        }
        let hearing = self.hearing.take_if(|hearing| matches!(hearing.said, Said::Turn(_)))?;
        match hearing.said {
            Said::Turn(turn) => Some(turn),
            Said::Steer(_) => None,
        }
    }

    /// Takes out steering that nobody has heard yet, the newest first.
    pub(super) fn take_out(&mut self, is_wanted: impl Fn(&SteeringId) -> bool) -> Vec<Steer> {
        let hearing = self
            .hearing
            .take_if(|hearing| matches!(&hearing.said, Said::Steer(steer) if is_wanted(&steer.id)));
        let heard = hearing.and_then(|hearing| match hearing.said {
            Said::Steer(steer) => Some(steer),
            Said::Turn(_) => None,
        });
        let waiting = std::mem::take(&mut self.steering).into_iter();
        let (taken, kept): (VecDeque<Steer>, _) = waiting.partition(|it| is_wanted(&it.id));
        self.steering = kept;
        heard.into_iter().chain(taken).rev().collect()
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

    /// Who is to hear this input before it goes its way; `None` inside when only its images are
    /// looked at.
    fn hearers(&self, input: &Input) -> Option<Option<Asker>> {
        let asker = self.asker().filter(|_| self.listens());
        (asker.is_some() || has_images(&input.blocks)).then_some(asker)
    }

    /// Says something to the running turn, or lets hooks hear it first. What says nothing is not said:
    /// without a turn it would begin one that fails.
    pub(super) async fn steer(&mut self, steer: Steer) -> Result<(), StoreError> {
        if says_nothing(&steer.input) {
            let _ = steer.done.send(false);
            return Ok(());
        }
        if self.prompts.is_hearing() || self.hearers(&steer.input).is_some() {
            self.prompts.steering.push_back(steer);
            return Ok(());
        }
        self.queue_steering(steer, Heard::default()).await
    }

    /// Begins the next hearing, when there is something to hear.
    pub(super) async fn hear_next(&mut self) -> Result<(), StoreError> {
        while !self.prompts.is_hearing() {
            let Some(steer) = self.prompts.steering.pop_front() else { break };
            match self.hearers(&steer.input) {
                Some(asker) => self.hear(asker, Said::Steer(steer)),
                // The hooks went while it waited, or it waited for another to be heard.
                None => self.queue_steering(steer, Heard::default()).await?,
            }
        }
        Ok(())
    }

    /// Begins the turn whose input is heard already, if one waits; `false` if none does.
    pub(super) async fn begin_heard(&mut self) -> Result<bool, StoreError> {
        let Some((turn, heard)) = self.prompts.heard.take() else { return Ok(false) };
        if !turn.done.is_closed() {
            self.begin_heard_turn(turn, heard).await?;
        }
        Ok(true)
    }

    /// Begins the turn, or lets hooks hear its input first.
    pub(super) async fn begin_turn(&mut self, turn: QueuedTurn) -> Result<(), StoreError> {
        match self.hearers(&turn.input) {
            Some(asker) => {
                self.hear(asker, Said::Turn(turn));
                Ok(())
            }
            None => self.begin_heard_turn(turn, Heard::default()).await,
        }
    }

    fn hear(&mut self, asker: Option<Asker>, said: Said) {
        let input = match &said {
            Said::Turn(turn) => &turn.input,
            Said::Steer(steer) => &steer.input,
        };
        let texts: Vec<&str> = input.blocks.iter().filter_map(Block::as_text).collect();
        let prompt = HookMoment::UserPromptSubmit { prompt: texts.join("\n") };
        let beginning = (!self.prompts.has_begun).then(|| self.beginning());
        let blocks = has_images(&input.blocks).then(|| input.blocks.clone());
        let door = self.images.clone();
        let answer = Box::pin(async move {
            let mut heard = Heard::default();
            if let Some(asker) = asker {
                heard.ask(&asker, beginning, prompt).await;
            }
            heard.admit(&door, blocks).await;
            heard
        });
        self.prompts.hearing = Some(Hearing { said, answer });
    }

    /// Takes back what nobody has heard yet: it was said, and whoever watches is told what became of it,
    /// though nothing of it was written. Tells whether there was any.
    pub(super) fn unsay(&mut self, is_wanted: impl Fn(&SteeringId) -> bool) -> bool {
        let taken = self.prompts.take_out(is_wanted);
        let was_any = !taken.is_empty();
        for Steer { id, done, .. } in taken {
            self.show(Event::SteeringTakenBack { id });
            let _ = done.send(true);
        }
        was_any
    }

    /// Lets an input go its way, as hooks want it.
    pub(super) async fn take_heard(&mut self, answer: Answer) -> Result<(), StoreError> {
        self.is_settled = false;
        let Some(Hearing { said, .. }) = self.prompts.hearing.take() else { return Ok(()) };
        let Some(mut heard) = answer else { return Ok(()) };
        self.prompts.has_begun |= heard.was_asked;
        self.prompts.beginning.append(&mut heard.beginning);
        match said {
            // Work in the background woke one meanwhile; in it the input would be steering, and
            // whoever waits for this turn would wait for ever.
            Said::Turn(turn) if self.state.turn.is_some() => {
                self.prompts.heard = Some((turn, heard));
                Ok(())
            }
            Said::Turn(turn) => self.begin_heard_turn(turn, heard).await,
            Said::Steer(steer) => self.queue_steering(steer, heard).await,
        }
    }

    async fn begin_heard_turn(
        &mut self,
        turn: QueuedTurn,
        mut heard: Heard,
    ) -> Result<(), StoreError> {
        let QueuedTurn { input, done } = turn;
        let input = self.addressed(input);
        self.prefer_model().await?;
        self.waiting.push(Waiting { turn: self.state.turns + 1, done });
        let notes = std::mem::take(&mut heard.notes);
        let heard = self.with_beginning(heard);
        self.hold(heard.and(input, |input| Record::Input(Box::new(input))));
        if !notes.is_empty() {
            self.flush(Durability::Written).await?;
            self.tell_of_images(notes);
        }
        Ok(())
    }

    async fn queue_steering(&mut self, steer: Steer, mut heard: Heard) -> Result<(), StoreError> {
        let Steer { id, input, done } = steer;
        if self.state.knows_steering(&id) {
            let _ = done.send(false);
            return Ok(());
        }
        let input = self.addressed(input);
        let notes = std::mem::take(&mut heard.notes);
        let heard = self.with_beginning(heard);
        let records = heard
            .and(input, |input| Record::SteeringQueued(Box::new(SteeringQueued::said(id, input))));
        self.write(records, Durability::Written).await?;
        self.tell_of_images(notes);
        let _ = done.send(true);
        Ok(())
    }

    /// With what hooks of the session's beginning said, which goes with the first input that is let
    /// through.
    fn with_beginning(&mut self, mut heard: Heard) -> Heard {
        if !heard.is_blocked {
            heard.beginning = std::mem::take(&mut self.prompts.beginning);
        }
        heard
    }

    fn tell_of_images(&mut self, notes: Vec<String>) {
        for text in notes {
            self.show(Event::Notice { text });
        }
    }
}

impl Driver {
    /// An input that says where it comes from as far as anybody knows.
    fn addressed(&self, mut input: Input) -> Input {
        input.origin = input.origin.known();
        if input.origin.is_unknown() {
            input.origin = self.parts.origin.clone().known();
        }
        input
    }
}

impl Heard {
    async fn ask(&mut self, asker: &Asker, beginning: Option<HookMoment>, prompt: HookMoment) {
        self.was_asked = true;
        if let Some(beginning) = beginning {
            // There is nothing yet that it could keep from happening.
            let HookOutcome { context, verdict, .. } = asker.ask(beginning).await;
            let verdict = match verdict {
                broken @ HookVerdict::Broken { .. } => broken,
                _ => HookVerdict::Continue,
            };
            let outcome = HookOutcome { verdict, context, ..HookOutcome::default() };
            self.take(HookEvent::SessionStart, outcome);
            self.beginning = std::mem::take(&mut self.context);
        }
        self.take(HookEvent::UserPromptSubmit, asker.ask(prompt).await);
    }

    /// Lets the images in, of what hooks let through.
    async fn admit(&mut self, door: &ImageDoor, blocks: Option<Vec<Block>>) {
        let Some(mut blocks) = blocks.filter(|_| !self.is_blocked) else { return };
        self.notes = door.admit_input(&mut blocks).await;
        self.admitted = Some(blocks);
    }

    fn take(&mut self, event: HookEvent, outcome: HookOutcome) {
        let answered = answered(event, &outcome);
        self.records.extend(answered.map(|answered| Record::HookAnswered(Box::new(answered))));
        self.is_blocked |=
            matches!(outcome.verdict, HookVerdict::Deny { .. } | HookVerdict::Stop { .. });
        self.context.extend(outcome.context);
    }

    /// What is written: what hooks said, and, unless they block it, the input with their words.
    fn and(self, mut input: Input, record: impl FnOnce(Input) -> Record) -> Vec<Record> {
        let Self { mut records, beginning, context, is_blocked, admitted, .. } = self;
        if !is_blocked {
            input.blocks = admitted.unwrap_or(input.blocks);
            input.blocks.extend(beginning.into_iter().chain(context).map(Block::text));
            records.push(record(input));
        }
        records
    }
}
