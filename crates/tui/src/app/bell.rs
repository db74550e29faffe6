//! Calls whoever looked away: something is asked, or a turn is over.

use heeler_core::{Event, Timestamp};
use heeler_engine::Seen;

use super::Happened;

/// Who pressed a key so short ago is there and sees it.
const AWAY_MILLIS: u64 = 10_000;

/// The terminal's bell, which most make into a mark on their window or tab.
pub(super) struct Bell {
    pub is_on: bool,
    /// When a person was last there, as far as is known.
    touched: Timestamp,
}

impl Bell {
    pub(super) fn new(is_on: bool, now: Timestamp) -> Self {
        Self { is_on, touched: now }
    }

    /// Whether it rings for this.
    pub(super) fn rings(&mut self, what: &Happened, now: Timestamp) -> bool {
        if matches!(what, Happened::Key(_) | Happened::Pasted(_)) {
            self.touched = now;
        }
        self.is_on && wants_somebody(what) && now.since(self.touched) >= AWAY_MILLIS
    }
}

fn wants_somebody(what: &Happened) -> bool {
    match what {
        Happened::Asked(..) => true,
        Happened::Seen(Seen::Event(envelope)) => match &envelope.event {
            Event::PermissionRequested(_) => true,
            Event::TurnFinished { .. } => envelope.agent.is_main(),
            _ => false,
        },
        // What was missed may have been any of these.
        Happened::Seen(Seen::Resync(view)) => view.turn.is_none() || !view.permissions.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Play, asked, begins, finishes, said};
    use super::*;
    use heeler_core::TurnOutcome;

    fn check(is_on: bool, passes: u64, event: Event, rings: bool) {
        let mut play = Play::new(60, 20);
        play.app.bell.is_on = is_on;
        play.types("go<CR>").sees(begins()).sees(said("go")).passes(passes);
        play.actions.clear();
        play.sees(event);
        let rung = play.actions.iter().filter(|action| *action == "Ring").count();
        assert_eq!(rung, usize::from(rings), "{:?}", play.actions);
    }

    #[test]
    fn it_rings_for_whoever_pressed_no_key_for_a_while() {
        let request = || asked(0, "Bash", r#"{"command":"ls"}"#, None);
        check(true, AWAY_MILLIS, request(), true);
        check(true, AWAY_MILLIS, finishes(TurnOutcome::Done), true);
        check(true, AWAY_MILLIS - 1_000, request(), false);
        check(true, AWAY_MILLIS - 1_000, finishes(TurnOutcome::Done), false);
        check(true, AWAY_MILLIS, said("more"), false);
        check(false, AWAY_MILLIS, request(), false);
    }
}
