//! The ends of turns that a reader was too slow to see, out of the journal.

use heeler_core::{Event, FinalAnswer, SessionStore as _, TurnOutcome};
use heeler_engine::{Seen, Session};
use heeler_store::FileStore;
use heeler_turn::State;
use heeler_turn::state::Announcer;

/// How a turn ended.
pub(super) struct End {
    pub(super) turn: u32,
    pub(super) outcome: TurnOutcome,
    pub(super) answer: FinalAnswer,
}

/// Whether this is the end of a turn, which is told as such.
pub(super) fn is_end(seen: &Seen) -> bool {
    matches!(seen, Seen::Event(envelope) if matches!(envelope.event, Event::TurnFinished { .. }))
}

/// Which turns' ends are told.
pub(super) struct Ends {
    store: FileStore,
    session: Session,
    /// The last turn whose end is.
    told: u32,
    /// Whether events were passed over, ends of turns perhaps among them.
    has_gaps: bool,
}

impl Ends {
    /// Those of a session that is watched from now on.
    pub(super) async fn new(store: &FileStore, session: &Session) -> Self {
        let over = session.state().await.map(|state| match &state.turn {
            Some(running) => running.number.saturating_sub(1),
            None => state.turns,
        });
        let (store, session) = (store.clone(), session.clone());
        Self { store, session, told: over.unwrap_or_default(), has_gaps: false }
    }

    /// What is to be told because of what is seen, in order: the end that it is, and before that those
    /// that were not seen.
    pub(super) async fn until(&mut self, seen: &Seen) -> Vec<End> {
        let envelope = match seen {
            Seen::Event(envelope) if envelope.agent.is_main() => envelope,
            Seen::Event(_) => return Vec::new(),
            Seen::Resync(view) => {
                self.has_gaps = true;
                return match &view.turn {
                    Some(running) => self.missed(running.turn).await,
                    // Which of them are over in this view, the view does not say: they are told with
                    // what comes next.
                    None => Vec::new(),
                };
            }
        };
        match &envelope.event {
            Event::TurnStarted { turn } => self.missed(*turn).await,
            Event::TurnFinished { turn, outcome, answer } => {
                let mut ends = self.missed(*turn).await;
                // Without gaps each end is seen once, also one that came while this began to watch.
                if *turn > self.told || !self.has_gaps {
                    self.told = self.told.max(*turn);
                    let (outcome, answer) = (outcome.clone(), answer.clone());
                    ends.push(End { turn: *turn, outcome, answer });
                }
                ends
            }
            _ => Vec::new(),
        }
    }

    /// All that are left, once everything was seen.
    pub(super) async fn rest(&mut self) -> Vec<End> {
        self.missed(u32::MAX).await
    }

    /// Those of turns before this one that are not told.
    async fn missed(&mut self, before: u32) -> Vec<End> {
        if !self.has_gaps || self.told.saturating_add(1) >= before {
            return Vec::new();
        }
        // What cannot be read cannot be told.
        let Ok(journal) = self.store.read(self.session.id().clone()).await else {
            return Vec::new();
        };
        let (mut state, mut ends) = (State::new(), Vec::new());
        for entry in &journal.entries {
            let mut announcer = Announcer::collecting();
            state.apply_announcing(entry, &mut announcer);
            for event in announcer.into_events() {
                if let Event::TurnFinished { turn, outcome, answer } = event
                    && (self.told.saturating_add(1)..before).contains(&turn)
                {
                    self.told = turn;
                    ends.push(End { turn, outcome, answer });
                }
            }
        }
        ends
    }
}
