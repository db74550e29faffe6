//! Takes what is for the user to them, beside the loop: what calls have for them, and answers.
//!
//! Only what a record holds that was just written is sent, so each message leaves at most once: a
//! process that dies before loses it, and the next one does not send it again.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use heeler_core::{
    AgentPath, BoxFuture, Clock, Envelope, Event, InputOrigin, Outbound, OutboundMessage, Record,
    panic_text,
};
use heeler_turn::state::Told;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Driver;
use crate::log::EventLog;

/// The most messages that wait for the one that is being sent.
const WAITING_MAX: usize = 256;
/// How long the end of a session waits for messages on their way.
const FINISH_MILLIS: u64 = 10_000;

/// Sends messages one after the other.
pub(super) struct Messenger {
    messages: mpsc::Sender<OutboundMessage>,
    sending: JoinHandle<()>,
}

/// Where the messages of a record go, and which texts went there already.
pub(super) struct Correspondence {
    turn: u32,
    to: InputOrigin,
    told: Told,
}

impl Messenger {
    pub(super) fn new(outbound: Arc<dyn Outbound>, log: Arc<EventLog>) -> Self {
        let (messages, mut waiting) = mpsc::channel::<OutboundMessage>(WAITING_MAX);
        let sending: BoxFuture<()> = Box::pin(async move {
            while let Some(message) = waiting.recv().await {
                if let Err(error) = send(outbound.as_ref(), message).await {
                    notice(&log, format!("a message did not reach the user: {error}"));
                }
            }
        });
        Self { messages, sending: tokio::spawn(sending) }
    }

    /// Waits a while for what is on its way.
    pub(super) async fn finish(self, clock: &Arc<dyn Clock>) {
        let Self { messages, mut sending } = self;
        drop(messages);
        tokio::select! {
            biased;
            // A panic there concerns nobody else.
            _ = &mut sending => {}
            () = clock.sleep_until(clock.now().plus(FINISH_MILLIS)) => sending.abort(),
        }
    }
}

async fn send(outbound: &dyn Outbound, message: OutboundMessage) -> Result<(), String> {
    let sent = AssertUnwindSafe(async move { outbound.send(message).await }).catch_unwind().await;
    match sent {
        Ok(sent) => sent.map_err(|error| error.to_string()),
        Err(panic) => Err(panic_text(panic.as_ref()).to_owned()),
    }
}

fn notice(log: &EventLog, text: String) {
    let event = Event::Notice { text };
    log.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
}

impl Driver {
    /// Where messages go that this record brings; `None` when nobody takes them. What work in the
    /// background has goes to whoever it was begun for, whoever is talked with by now.
    pub(super) fn correspondence(&self, record: &Record) -> Option<Correspondence> {
        self.messenger.as_ref()?;
        let turn = self.state.turn.as_ref();
        if let Record::SteeringQueued(queued) = record
            && let Some(call) = queued.background
        {
            let to = queued.input.origin.clone();
            // What a turn told, it told those that it talks with.
            let told = turn.filter(|turn| turn.origin == to).map(|turn| turn.told.clone());
            return Some(Correspondence { turn: call.turn, to, told: told.unwrap_or_default() });
        }
        let turn = turn?;
        Some(Correspondence { turn: turn.number, to: turn.origin.clone(), told: turn.told.clone() })
    }

    /// What these events of one record have for the user, but for what the turn told them already.
    pub(super) fn messages(
        &self,
        with: Option<Correspondence>,
        events: &[Event],
    ) -> Vec<OutboundMessage> {
        let Some(with) = with else { return Vec::new() };
        let mut messages = Vec::new();
        for event in events {
            let (call, text, media, items) = match event {
                Event::ToolText { call, text, media, items } => {
                    (Some(*call), text.as_str(), media.clone(), items.clone())
                }
                Event::TurnFinished { answer, .. } => {
                    (None, answer.as_str(), Vec::new(), Vec::new())
                }
                _ => continue,
            };
            let says_nothing = text.trim().is_empty() && media.is_empty();
            if says_nothing || with.told.holds(text, &media) {
                continue;
            }
            messages.push(OutboundMessage {
                session: self.lease.id.clone(),
                agent: AgentPath::default(),
                turn: with.turn,
                call,
                to: with.to.clone(),
                text: text.to_owned(),
                media,
                items,
            });
        }
        messages
    }

    /// Sends what written records have for the user.
    pub(super) fn send_messages(&self, messages: Vec<OutboundMessage>) {
        let Some(messenger) = &self.messenger else { return };
        for message in messages {
            if messenger.messages.try_send(message).is_err() {
                let text = format!("{WAITING_MAX} messages wait to be sent, so one was left out");
                notice(&self.log, text);
            }
        }
    }
}
