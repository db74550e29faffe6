//! Who has a session open: asked of many sessions at once, and nobody is attached.

use std::time::Duration;

use futures::StreamExt as _;
use heeler_core::SessionId;
use heeler_store::FileStore;
use tokio::time::{Instant, timeout_at};

use crate::guest::{AttachError, Unwelcome, greet};
use crate::wire::OwnerKind;

/// How long owners may take for their first line, all together.
const PRESENCE_WITHIN: Duration = Duration::from_millis(500);
/// The most that are asked at once.
const ASKED_AT_ONCE_MAX: usize = 64;

/// Whether somebody has a session open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Nobody has.
    Unowned,
    /// Somebody has it, and says nothing; their process may be suspended.
    Silent,
    /// A heeler of another version has it.
    OtherVersion,
    /// Somebody has it.
    Present {
        /// Who.
        owner: OwnerKind,
        /// How many requests and questions wait for an answer.
        waiting: usize,
    },
}

/// Who has these sessions open, in their order. It needs a tokio runtime, which must be able to keep
/// time, and takes no longer for many that do not answer than for one: who would have to be asked after
/// that counts as silent.
pub async fn presences(store: &FileStore, ids: &[SessionId]) -> Vec<Presence> {
    let until = Instant::now() + PRESENCE_WITHIN;
    let asked = ids.iter().map(|id| presence(store, id, until));
    futures::stream::iter(asked).buffered(ASKED_AT_ONCE_MAX).collect().await
}

async fn presence(store: &FileStore, id: &SessionId, until: Instant) -> Presence {
    match timeout_at(until, greet(store, id)).await {
        Ok(Ok((hello, ..))) => Presence::Present { owner: hello.owner, waiting: hello.waiting },
        Ok(Err(Unwelcome::Full { owner, waiting })) => Presence::Present { owner, waiting },
        Ok(Err(Unwelcome::Other(AttachError::Version(_)))) => Presence::OtherVersion,
        Err(_) | Ok(Err(Unwelcome::Other(AttachError::Silent(_)))) => Presence::Silent,
        Ok(Err(Unwelcome::Other(_))) => Presence::Unowned,
    }
}
