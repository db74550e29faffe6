//! What a call says of its progress, kept until watchers know of the call.

use std::sync::Arc;

use heeler_core::{AgentPath, CallId, Envelope, Event};

use crate::log::EventLog;
use crate::sync::{Mutex, MutexGuard, Order, PoisonError, is_reversed};

/// Stands between a call that began early and those who watch.
pub(crate) struct HeldProgress {
    log: Arc<EventLog>,
    call: CallId,
    said: Mutex<Said>,
}

enum Said {
    /// Only the latest is worth showing.
    Held(Option<String>),
    Shown,
}

impl HeldProgress {
    pub(crate) fn new(log: Arc<EventLog>, call: CallId) -> Self {
        Self { log, call, said: Mutex::new(Said::Held(None)) }
    }

    /// Takes what the call says.
    pub(crate) fn take(&self, text: String) {
        // Shown under the lock, so that what was held is never shown after what came later.
        match &mut *self.lock() {
            Said::Held(latest) => *latest = Some(text),
            Said::Shown => show_progress(&self.log, self.call, text),
        }
    }

    /// From here on watchers know of the call.
    pub(crate) fn let_go(&self) {
        let mut said = self.lock();
        if let Said::Held(Some(text)) = std::mem::replace(&mut *said, Said::Shown) {
            if is_reversed(Order::HeldThenLater) {
                drop(said);
            }
            show_progress(&self.log, self.call, text);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells watchers how far a call is.
pub(crate) fn show_progress(log: &EventLog, call: CallId, text: String) {
    let event = Event::CallProgress { call, text };
    log.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
}
