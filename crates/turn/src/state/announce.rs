//! Collects what watchers are told while a record is applied.

use heeler_core::Event;

/// Takes the events of a record, or lets them pass unmade: a fold over an old journal tells
/// nobody.
#[derive(Debug, Default)]
pub struct Announcer {
    events: Option<Vec<Event>>,
}

impl Announcer {
    /// Makes no events.
    #[must_use]
    pub fn silent() -> Self {
        Self { events: None }
    }

    /// Collects events.
    #[must_use]
    pub fn collecting() -> Self {
        Self { events: Some(Vec::new()) }
    }

    /// What was collected.
    #[must_use]
    pub fn into_events(self) -> Vec<Event> {
        self.events.unwrap_or_default()
    }

    pub(crate) fn say(&mut self, event: impl FnOnce() -> Event) {
        if let Some(events) = &mut self.events {
            events.push(event());
        }
    }
}
