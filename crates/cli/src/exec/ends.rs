//! The ends of turns with what was used until then, and those that a reader was too slow to see.

use heeler_core::{Bill, Event, FinalAnswer, Reread, Seq, SessionStore as _, TurnOutcome, Usage};
use heeler_engine::{Seen, Session};
use heeler_store::FileStore;
use heeler_turn::State;
use heeler_turn::state::Announcer;

/// How a turn ended.
pub(super) struct End {
    pub(super) turn: u32,
    pub(super) outcome: TurnOutcome,
    pub(super) answer: FinalAnswer,
    /// Of the session until then.
    pub(super) spent: Spent,
}

/// What a session has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) usage: Usage,
    pub(super) bill: Bill,
    pub(super) reread: Reread,
}

impl Spent {
    fn of(state: &State) -> Self {
        Self { usage: state.usage, bill: state.bill(), reread: state.reread }
    }
}

/// Whether this is the end of a turn of the session's own, which is told as such.
pub(super) fn is_end(seen: &Seen) -> bool {
    let Seen::Event(envelope) = seen else { return false };
    envelope.agent.is_main() && matches!(envelope.event, Event::TurnFinished { .. })
}

/// Which turns' ends are told.
pub(super) struct Ends {
    store: FileStore,
    session: Session,
    /// The last turn whose end is.
    told: u32,
    /// Whether events were passed over, ends of turns perhaps among them.
    has_gaps: bool,
    /// What was used until what was seen last.
    spent: Spent,
    /// The newest record that this counts.
    counted: Seq,
}

impl Ends {
    /// Those of a session that is watched from now on.
    pub(super) async fn new(store: &FileStore, session: &Session) -> Self {
        let state = session.state().await.unwrap_or_default();
        let told = match &state.turn {
            Some(running) => running.number.saturating_sub(1),
            None => state.turns,
        };
        let (store, session) = (store.clone(), session.clone());
        let (spent, counted) = (Spent::of(&state), state.seq);
        Self { store, session, told, has_gaps: false, spent, counted }
    }

    /// What is to be told because of what is seen, in order: the end that it is, and before that those
    /// that were not seen.
    pub(super) async fn until(&mut self, seen: &Seen) -> Vec<End> {
        let envelope = match seen {
            Seen::Event(envelope) if envelope.agent.is_main() => envelope,
            Seen::Event(_) => return Vec::new(),
            Seen::Resync(view) => {
                self.has_gaps = true;
                // What was read again is not in it, and counted until now.
                if let Ok(state) = self.session.state().await {
                    (self.spent, self.counted) = (Spent::of(&state), state.seq);
                }
                return match &view.turn {
                    Some(running) => self.missed(running.turn).await,
                    // Which of them are over in this view, the view does not say: they are told with
                    // what comes next.
                    None => Vec::new(),
                };
            }
        };
        match &envelope.event {
            Event::Usage { total, total_cost, cost_is_partial, reread, .. } => {
                let is_estimated = total.is_estimated;
                let cost = *total_cost;
                self.spent.usage = *total;
                self.spent.bill = Bill { cost, is_partial: *cost_is_partial, is_estimated };
                if envelope.seq.is_some_and(|seq| seq > self.counted) {
                    self.spent.reread += reread.unwrap_or_default();
                }
                Vec::new()
            }
            Event::TurnStarted { turn } => self.missed(*turn).await,
            Event::TurnFinished { turn, outcome, answer } => {
                let mut ends = self.missed(*turn).await;
                // Without gaps each end is seen once, also one that came while this began to watch.
                if *turn > self.told || !self.has_gaps {
                    self.told = self.told.max(*turn);
                    let (outcome, answer) = (outcome.clone(), answer.clone());
                    ends.push(End { turn: *turn, outcome, answer, spent: self.spent });
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
                    ends.push(End { turn, outcome, answer, spent: Spent::of(&state) });
                }
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use heeler_assembly::NamedModel;
    use heeler_core::{AgentPath, CallId, Envelope, Input};
    use heeler_engine::{Parts, SystemClock};
    use heeler_script::Script;

    use super::*;

    /// A session whose model answers with numbers.
    async fn session(folder: &tempfile::TempDir) -> (FileStore, Session) {
        let store = FileStore::open(folder.path()).unwrap();
        let replies: String = (1..=4).map(|n| format!("[[reply]]\ntext = \"{n}\"\n")).collect();
        let script = format!("[script]\nusage = {{ input = 100, output = 10 }}\n{replies}");
        let script = Script::parse(&script).unwrap();
        let model = NamedModel::scripted(script, Arc::new(SystemClock));
        let mut parts = Parts::new(model.provider, Arc::new(store.clone()));
        parts.settings.model.name = "script/test".into();
        let session = Session::create(parts, "/space").await.unwrap();
        (store, session)
    }

    async fn turn(session: &Session) {
        assert_eq!(session.turn(Input::text("go")).await, TurnOutcome::Done);
    }

    fn event(agent: AgentPath, event: Event) -> Seen {
        Seen::Event(Arc::new(Envelope { seq: None, agent, event }))
    }

    fn finished(turn: u32) -> Event {
        let answer = turn.to_string().into();
        Event::TurnFinished { turn, outcome: TurnOutcome::Done, answer }
    }

    /// The turns whose ends are told, with their answers.
    fn told(ends: Vec<End>) -> Vec<(u32, String)> {
        ends.into_iter().map(|end| (end.turn, end.answer.to_string())).collect()
    }

    fn of(turns: std::ops::RangeInclusive<u32>) -> Vec<(u32, String)> {
        turns.map(|turn| (turn, turn.to_string())).collect()
    }

    #[tokio::test]
    async fn an_end_that_comes_while_somebody_begins_to_watch_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let (store, session) = session(&folder).await;
        turn(&session).await;
        let (_, mut cursor) = session.subscribe();
        turn(&session).await;
        let mut ends = Ends::new(&store, &session).await;
        turn(&session).await;
        session.close().await;
        let mut seen = Vec::new();
        while let Some(next) = cursor.next().await {
            let ends = told(ends.until(&next).await);
            assert_eq!(ends.len(), usize::from(is_end(&next)), "{ends:?}");
            seen.extend(ends);
        }
        assert_eq!(seen, of(2..=3));
        assert!(ends.rest().await.is_empty());
    }

    #[tokio::test]
    async fn ends_that_were_not_seen_are_told_in_order_before_what_comes_next() {
        let folder = tempfile::tempdir().unwrap();
        let (store, session) = session(&folder).await;
        turn(&session).await;
        let begin = async || Ends::new(&store, &session).await;
        let (mut by_end, mut by_start, mut by_rest) = (begin().await, begin().await, begin().await);
        for _ in 2..=4 {
            turn(&session).await;
        }
        let gap = Seen::Resync(Box::new(session.subscribe().0));
        for ends in [&mut by_end, &mut by_start, &mut by_rest] {
            assert!(ends.until(&gap).await.is_empty());
        }
        let main = AgentPath::default;
        assert_eq!(told(by_end.until(&event(main(), finished(4))).await), of(2..=4));
        assert!(by_end.until(&event(main(), finished(4))).await.is_empty());
        let starts = event(main(), Event::TurnStarted { turn: 4 });
        assert_eq!(told(by_start.until(&starts).await), of(2..=3));
        assert_eq!(told(by_start.rest().await), of(4..=4));
        assert_eq!(told(by_rest.rest().await), of(2..=4));
        session.close().await;
    }

    #[tokio::test]
    async fn an_end_tells_what_was_used_until_then() {
        let folder = tempfile::tempdir().unwrap();
        let (store, session) = session(&folder).await;
        turn(&session).await;
        let (_, mut cursor) = session.subscribe();
        let begin = async || Ends::new(&store, &session).await;
        let (mut seen, mut missed) = (begin().await, begin().await);
        for _ in 2..=4 {
            turn(&session).await;
        }
        let inputs =
            |ends: Vec<End>| -> Vec<u64> { ends.iter().map(|end| end.spent.usage.input).collect() };
        let gap = Seen::Resync(Box::new(session.subscribe().0));
        assert!(missed.until(&gap).await.is_empty());
        assert_eq!(inputs(missed.rest().await), [200, 300, 400]);
        session.close().await;
        let mut ends = Vec::new();
        while let Some(next) = cursor.next().await {
            ends.extend(seen.until(&next).await);
        }
        assert_eq!(inputs(ends), [200, 300, 400]);
    }

    #[tokio::test]
    async fn what_an_agent_of_the_session_ends_is_no_end_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (store, session) = session(&folder).await;
        let mut ends = Ends::new(&store, &session).await;
        let agent = AgentPath(vec![CallId { turn: 1, round: 1, index: 0 }]);
        let seen = event(agent, finished(1));
        assert!(!is_end(&seen) && ends.until(&seen).await.is_empty());
        assert!(is_end(&event(AgentPath::default(), finished(1))));
        session.close().await;
    }
}
