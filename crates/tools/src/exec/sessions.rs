//! The sessions there are: found by who owns them, and never more than fit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::Timestamp;

use super::session::{EXEC_IDLE_MILLIS_MAX, Owner, Session};

/// How many sessions of one conversation run at once.
pub const EXEC_SESSIONS_MAX: usize = 16;
/// How many that ended are kept for who asks what became of them.
const ENDED_MAX: usize = 16;

/// All sessions of a tool.
#[derive(Default)]
pub(super) struct Sessions {
    all: Mutex<Vec<Arc<Session>>>,
    n_named: AtomicU64,
}

impl Sessions {
    /// A name that no other session of this process has.
    pub(super) fn name(&self) -> String {
        format!("x{}", self.n_named.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Whether one more fits; the error is for the model.
    pub(super) fn has_room(&self, owner: &Owner) -> Result<(), String> {
        let n_running = self.beside(owner).filter(|session| session.is_running()).count();
        if n_running < EXEC_SESSIONS_MAX {
            return Ok(());
        }
        Err(format!("{EXEC_SESSIONS_MAX} sessions run already; list them and kill one"))
    }

    /// Keeps a session; what ended and was used least goes for it.
    pub(super) fn insert(&self, session: Arc<Session>, now: Timestamp) {
        let mut all = self.lock();
        all.retain(|other| {
            let used = other.state().used;
            other.is_running() || now.since(used) < EXEC_IDLE_MILLIS_MAX
        });
        let mut ended: Vec<(Timestamp, String)> = all
            .iter()
            .filter(|other| other.owner.is_beside(&session.owner) && !other.is_running())
            .map(|other| (other.state().used, other.id.clone()))
            .collect();
        heeler_core::sort(&mut ended);
        let n_over = (ended.len() + 1).saturating_sub(ENDED_MAX);
        all.retain(|other| !ended[..n_over].iter().any(|(_, id)| *id == other.id));
        all.push(session);
    }

    /// The session of this name, whoever owns it.
    pub(super) fn named(&self, id: &str) -> Option<Arc<Session>> {
        self.lock().iter().find(|session| session.id == id).cloned()
    }

    /// Those that somebody sees, oldest first.
    pub(super) fn seen_by(&self, owner: &Owner) -> impl Iterator<Item = Arc<Session>> {
        self.beside(owner)
            .filter(|session| session.owner.is_seen_by(owner))
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn beside(&self, owner: &Owner) -> impl Iterator<Item = Arc<Session>> {
        let beside: Vec<_> =
            self.lock().iter().filter(|session| session.owner.is_beside(owner)).cloned().collect();
        beside.into_iter()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Session>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
