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
    all: Mutex<All>,
    n_named: AtomicU64,
}

#[derive(Default)]
struct All {
    sessions: Vec<Arc<Session>>,
    /// Who begins one that is not there yet.
    reserved: Vec<Owner>,
}

/// The place of a session that is being begun; free again when it is dropped.
pub(super) struct Reserved<'a> {
    sessions: &'a Sessions,
    /// `None` once it is filled.
    owner: Option<Owner>,
}

impl Sessions {
    /// A name that no other session of this process has.
    pub(super) fn name(&self) -> String {
        format!("x{}", self.n_named.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Whether one more fits; the error is for the model.
    pub(super) fn has_room(&self, owner: &Owner) -> Result<(), String> {
        self.lock().has_room(owner)
    }

    /// Keeps a place for one more, if it fits; the error is for the model.
    pub(super) fn reserve(&self, owner: &Owner) -> Result<Reserved<'_>, String> {
        let mut all = self.lock();
        all.has_room(owner)?;
        all.reserved.push(owner.clone());
        Ok(Reserved { sessions: self, owner: Some(owner.clone()) })
    }

    /// The session of this name, whoever owns it.
    pub(super) fn named(&self, id: &str) -> Option<Arc<Session>> {
        self.lock().sessions.iter().find(|session| session.id == id).cloned()
    }

    /// Those that somebody sees, oldest first.
    pub(super) fn seen_by(&self, owner: &Owner) -> impl Iterator<Item = Arc<Session>> {
        self.beside(owner)
            .filter(|session| session.owner.is_seen_by(owner))
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn beside(&self, owner: &Owner) -> impl Iterator<Item = Arc<Session>> {
        let beside: Vec<_> = self.lock().beside(owner).cloned().collect();
        beside.into_iter()
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn has_room(&self, owner: &Owner) -> Result<(), String> {
        let n_running = self.beside(owner).filter(|session| session.is_running()).count();
        let n_reserved = self.reserved.iter().filter(|other| other.is_beside(owner)).count();
        if n_running + n_reserved < EXEC_SESSIONS_MAX {
            return Ok(());
        }
        Err(format!("{EXEC_SESSIONS_MAX} sessions run already; list them and kill one"))
    }

    fn beside(&self, owner: &Owner) -> impl Iterator<Item = &Arc<Session>> {
        self.sessions.iter().filter(|session| session.owner.is_beside(owner))
    }

    /// Keeps a session; what ended and was used least goes for it.
    fn insert(&mut self, session: Arc<Session>, now: Timestamp) {
        self.sessions.retain(|other| {
            let used = other.state().used;
            other.is_running() || now.since(used) < EXEC_IDLE_MILLIS_MAX
        });
        let mut ended: Vec<(Timestamp, String)> = self
            .beside(&session.owner)
            .filter(|other| !other.is_running())
            .map(|other| (other.state().used, other.id.clone()))
            .collect();
        heeler_core::sort(&mut ended);
        let n_over = (ended.len() + 1).saturating_sub(ENDED_MAX);
        self.sessions.retain(|other| !ended[..n_over].iter().any(|(_, id)| *id == other.id));
        self.sessions.push(session);
    }

    fn give_back(&mut self, owner: Option<Owner>) {
        if let Some(at) = self.reserved.iter().position(|other| Some(other) == owner.as_ref()) {
            self.reserved.swap_remove(at);
        }
    }
}

impl Reserved<'_> {
    /// Puts the session where the place was kept, in one step.
    pub(super) fn fill(mut self, session: Arc<Session>, now: Timestamp) {
        let mut all = self.sessions.lock();
        all.give_back(self.owner.take());
        all.insert(session, now);
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.sessions.lock().give_back(self.owner.take());
    }
}
