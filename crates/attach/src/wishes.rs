//! What is wished of the owner: on its way there, and whom the reply goes to.

use heeler_core::PermissionId;
use heeler_engine::{DecideError, TurnEnd};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{mpsc, oneshot};

use crate::wire::Reply;

/// What is sent here is written to the owner, beside the reading: both sides cannot wait for each other
/// to read.
pub(crate) fn written(write: OwnedWriteHalf) -> mpsc::UnboundedSender<Vec<u8>> {
    let (wishes, wished) = mpsc::unbounded_channel();
    tokio::spawn(write_all(write, wished));
    wishes
}

async fn write_all(mut write: OwnedWriteHalf, mut wished: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = wished.recv().await {
        // The end of the owner is told by what is read.
        if write.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// Whom the reply to a wish goes to.
pub(crate) enum Waiter {
    Nobody,
    Done(oneshot::Sender<()>),
    Was(oneshot::Sender<bool>),
    Ended(oneshot::Sender<TurnEnd>),
    Decided(PermissionId, oneshot::Sender<Result<(), DecideError>>),
}

/// Answers go unheard where nobody waits any more.
pub(crate) fn answer(waiter: Waiter, reply: Reply) {
    match (waiter, reply) {
        (Waiter::Done(done), Reply::Done | Reply::Was(_)) => drop(done.send(())),
        (Waiter::Was(done), Reply::Was(was)) => drop(done.send(was)),
        (Waiter::Ended(done), Reply::Ended(outcome)) => drop(done.send(outcome.into())),
        (Waiter::Decided(_, done), Reply::Done) => drop(done.send(Ok(()))),
        (Waiter::Decided(id, done), Reply::NotOpen) => {
            drop(done.send(Err(DecideError::NotOpen(id))));
        }
        (Waiter::Decided(id, done), Reply::Unusable(why)) => {
            drop(done.send(Err(DecideError::Unusable(id, why))));
        }
        // Closed, or no answer to what was asked.
        _ => {}
    }
}
