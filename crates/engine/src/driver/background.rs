//! Work that goes on after its call: who may begin some, what it came to, who waits for it.
//!
//! A result comes from any task at any time, maybe before the record of its call is written. So it is
//! kept until the call's work stands in the state, and written as an input then; what the state does
//! not list any more, since it was cancelled, is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::StreamExt as _;
use futures::channel::mpsc;
use futures::stream::FuturesUnordered;
use heeler_core::{
    Background, Block, BoxFuture, CallId, CancellationToken, Completion, Durability, ForUser,
    Input, InputOrigin, Media, Record, SteeringQueued, StoreError, ToolOutput,
};
use heeler_turn::state::{BackgroundWork, CallStatus};
use heeler_turn::words;
use tokio::sync::oneshot;

use super::Driver;
use crate::bugs::{Bug, is_on};
use crate::pipeline;

/// The most works of one session that go on at once.
pub const BACKGROUND_MAX: usize = 64;

/// What the work of a call came to.
pub(super) struct Ended {
    call: CallId,
    output: ToolOutput,
    /// Its images are let in, and what no model can read is put aside.
    is_admitted: bool,
}

/// Hands out handles and takes what they give.
pub(super) struct Desk {
    shared: Arc<Shared>,
    ended: mpsc::UnboundedReceiver<Box<Ended>>,
    /// Results that are being admitted, no more than there are handles.
    admitting: FuturesUnordered<BoxFuture<Box<Ended>>>,
    /// Results whose call is not written yet.
    early: Vec<Ended>,
    waiting: Vec<(CallId, oneshot::Sender<()>)>,
}

struct Shared {
    /// Bounded by the number of handles, each of which sends once. Most sessions send nothing, and this
    /// kind of channel keeps no room for it.
    ended: mpsc::UnboundedSender<Box<Ended>>,
    /// Cancelled when the session ends; every handle's token is its child.
    end: CancellationToken,
    running: Mutex<HashMap<CallId, CancellationToken>>,
}

impl Desk {
    pub(super) fn new() -> Self {
        let (sender, ended) = mpsc::unbounded();
        let running = Mutex::default();
        let shared = Arc::new(Shared { ended: sender, end: CancellationToken::new(), running });
        let admitting = FuturesUnordered::new();
        Self { shared, ended, admitting, early: Vec::new(), waiting: Vec::new() }
    }

    /// What a call is offered.
    pub(super) fn offer(&self, call: CallId) -> Background {
        let shared = Arc::clone(&self.shared);
        Background::new(move || {
            let cancel = shared.end.child_token();
            {
                let mut running = shared.running();
                if running.len() >= BACKGROUND_MAX {
                    return None;
                }
                running.insert(call, cancel.clone());
            }
            let sender = shared.ended.clone();
            // After the end of the session there is nobody to tell; its journal says it ran.
            Some(Completion::new(cancel, move |output| {
                drop(sender.unbounded_send(Box::new(Ended { call, output, is_admitted: false })));
            }))
        })
    }

    /// The next result.
    pub(super) async fn next(&mut self) -> Option<Box<Ended>> {
        tokio::select! {
            biased;
            Some(admitted) = self.admitting.next() => Some(admitted),
            ended = self.ended.next() => ended,
        }
    }

    /// Whether nothing is out, and nothing that came waits to be written. What was cancelled may still
    /// come to something, which nobody wants.
    pub(super) fn is_idle(&self) -> bool {
        self.shared.running().is_empty() && self.admitting.is_empty() && self.early.is_empty()
    }

    /// Tells all handles that the session ends.
    pub(super) fn close(&self) {
        if is_on(Bug::UntoldEnd) {
            return;
        }
        self.shared.end.cancel();
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn running(&self) -> MutexGuard<'_, HashMap<CallId, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver {
    /// Takes a result, which is written once it is admitted and its call is written.
    pub(super) async fn take_background(&mut self, ended: Box<Ended>) -> Result<(), StoreError> {
        self.desk.shared.running().remove(&ended.call);
        let media = self.media(&self.origin_of(ended.call));
        if !ended.is_admitted && pipeline::takes_time(&ended.output, media.as_ref()) {
            self.desk.admitting.push(self.admitted(*ended, media));
            return Ok(());
        }
        self.desk.early.push(*ended);
        self.write_background().await
    }

    /// Takes all that has come until now, and what waited for the record of its call.
    pub(super) async fn take_all_background(&mut self) -> Result<(), StoreError> {
        while let Ok(ended) = self.desk.ended.try_recv() {
            self.take_background(ended).await?;
        }
        while let Some(Some(ended)) = self.desk.admitting.next().now_or_never() {
            self.take_background(ended).await?;
        }
        self.write_background().await?;
        self.tell_unwanted();
        Ok(())
    }

    /// Tells the handles of calls that did not say in the end that their work goes on: they failed,
    /// were stopped, or answered otherwise, and nobody would hear of it.
    fn tell_unwanted(&self) {
        self.desk.shared.running().retain(|call, token| {
            let is_wanted = self.work(*call).is_some() || self.is_unfinished(*call);
            if !is_wanted {
                token.cancel();
            }
            is_wanted
        });
    }

    /// The same, and waits for what is being admitted: there is no later.
    pub(super) async fn take_last_background(&mut self) -> Result<(), StoreError> {
        self.take_all_background().await?;
        while let Some(ended) = self.desk.admitting.next().await {
            self.take_background(ended).await?;
        }
        Ok(())
    }

    /// Admits a result beside the loop.
    fn admitted(&self, ended: Ended, media: Option<Media>) -> BoxFuture<Box<Ended>> {
        let Ended { call, mut output, .. } = ended;
        let (secrets, door) = (Arc::clone(&self.parts.secrets), self.images.clone());
        let admitting = tokio::spawn(async move {
            pipeline::admit_late(&mut output, &secrets, &door, media.as_ref()).await;
            output
        });
        Box::pin(async move {
            let lost = |_| ToolOutput::error("its result could not be looked at");
            let output = admitting.await.unwrap_or_else(lost);
            Box::new(Ended { call, output, is_admitted: true })
        })
    }

    /// Where the input came from that led to a call.
    fn origin_of(&self, call: CallId) -> InputOrigin {
        let of_turn = || self.state.turn.as_ref().map(|turn| turn.origin.clone());
        self.work(call).map(|work| work.origin).or_else(of_turn).unwrap_or_default()
    }

    /// Writes the results whose calls are written.
    async fn write_background(&mut self) -> Result<(), StoreError> {
        if self.desk.early.is_empty() {
            return Ok(());
        }
        for ended in std::mem::take(&mut self.desk.early) {
            if let Some(work) = self.work(ended.call) {
                let record = self.result(work, ended.output);
                self.write(vec![record], Durability::Written).await?;
                self.tell_of_background();
            } else if self.is_unfinished(ended.call) && !is_on(Bug::LostWork) {
                self.desk.early.push(ended);
            }
        }
        Ok(())
    }

    /// Ends work that nobody wants any more: it is told, and what it came to is that. `false` when
    /// it does not run.
    pub(super) async fn cancel_background(&mut self, call: CallId) -> Result<bool, StoreError> {
        let token = self.desk.shared.running().remove(&call);
        if let Some(token) = token
            && !is_on(Bug::DeafWork)
        {
            token.cancel();
        }
        let Some(work) = self.work(call) else { return Ok(false) };
        let record = self.result(work, ToolOutput::error(words::BACKGROUND_CANCELLED));
        self.write(vec![record], Durability::Written).await?;
        self.tell_of_background();
        Ok(true)
    }

    /// Answers once the work of a call has ended; at once when it does not run.
    pub(super) fn await_background(&mut self, call: CallId, done: oneshot::Sender<()>) {
        self.desk.waiting.push((call, done));
        self.tell_of_background();
    }

    fn tell_of_background(&mut self) {
        let state = &self.state;
        let runs = |call: CallId| state.background.iter().any(|work| work.call == call);
        for (call, done) in std::mem::take(&mut self.desk.waiting) {
            if runs(call) {
                self.desk.waiting.push((call, done));
            } else {
                // Whoever no longer waits does not want to know.
                let _ = done.send(());
            }
        }
    }

    fn work(&self, call: CallId) -> Option<BackgroundWork> {
        self.state.background.iter().find(|work| work.call == call).cloned()
    }

    /// Whether the call may still answer that its work goes on.
    fn is_unfinished(&self, call: CallId) -> bool {
        let mut calls = self.state.turn.iter().flat_map(|turn| &turn.calls);
        calls.any(|other| other.id == call && !matches!(other.status, CallStatus::Done(_)))
    }

    /// What work came to, as an input: bounded and without secrets, as every result.
    fn result(&self, work: BackgroundWork, mut output: ToolOutput) -> Record {
        let parts = &self.parts;
        let spill = parts.spill.as_deref();
        let (secrets, chars_max) = (&parts.secrets, parts.result_chars_max);
        pipeline::bound_late(&mut output, secrets, chars_max, spill, &self.lease.id, work.call);
        let head = words::background_finished(&work.tool, work.call, output.is_error);
        let blocks = std::iter::once(Block::text(head)).chain(output.content_for_model()).collect();
        let input = Input { blocks, origin: work.origin };
        let queued = SteeringQueued::of_background(work.call, input);
        Record::SteeringQueued(Box::new(queued.with_for_user(ForUser::of(&output))))
    }
}
