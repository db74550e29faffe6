//! Folds that must agree: views at any reader speed, states from scratch, outcomes in any order.

use heeler_core::{Record, Timestamp, View};
use heeler_turn::State;

use super::{Checked, Invariant, ensure, entry_at};

/// How many of the last messages are compared when not all are.
const TAIL: usize = 2;

/// A watcher's fold is what the state says, drafts aside.
pub(crate) fn views_agree(fold: &View, state: &View, whole: bool) -> Checked {
    let failed = |what: &str| {
        let what = what.to_owned();
        move || format!("the fold of the events differs in {what}")
    };
    let same_len = fold.messages.len() == state.messages.len();
    ensure(same_len, Invariant::ViewIsFold, failed("the number of messages"))?;
    let skip = if whole { 0 } else { state.messages.len().saturating_sub(TAIL) };
    let tail = |view: &View| {
        (skip..view.messages.len()).filter_map(|at| view.messages.get(at)).cloned().collect()
    };
    let (ours, theirs): (Vec<_>, Vec<_>) = (tail(fold), tail(state));
    ensure(ours == theirs, Invariant::ViewIsFold, failed("the messages"))?;
    let turn = |view: &View| {
        view.turn.clone().map(|mut turn| {
            turn.draft.clear();
            turn
        })
    };
    ensure(turn(fold) == turn(state), Invariant::ViewIsFold, failed("the turn"))?;
    let rest = |view: &View| (view.usage, view.bill(), view.compacting);
    ensure(rest(fold) == rest(state), Invariant::ViewIsFold, failed("totals or compaction"))?;
    let open = fold.permissions == state.permissions && fold.steering == state.steering;
    ensure(open, Invariant::ViewIsFold, failed("what waits"))?;
    let ended = fold.last_outcome == state.last_outcome;
    ensure(ended, Invariant::ViewIsFold, failed("the last outcome"))
}

/// Two states are the same in all that is public.
pub(crate) fn same(a: &State, b: &State, invariant: Invariant) -> Checked {
    let fields: [(&str, bool); 19] = [
        ("seq", a.seq == b.seq),
        ("now", a.now == b.now),
        ("incarnation", a.incarnation == b.incarnation),
        ("settings", a.settings == b.settings),
        ("epoch", a.epoch == b.epoch && a.epoch_due == b.epoch_due),
        ("messages", a.history.messages() == b.history.messages()),
        ("request", a.history.request() == b.history.request()),
        ("weight", a.history.weight() == b.history.weight()),
        ("turn", format!("{:?}", a.turn) == format!("{:?}", b.turn)),
        ("turns", a.turns == b.turns),
        ("steering", a.steering == b.steering),
        ("background", a.background == b.background),
        ("compaction", a.compaction == b.compaction && a.compactions == b.compactions),
        ("grants", a.grants == b.grants),
        ("usage", a.usage == b.usage && a.bill() == b.bill()),
        ("calibration", a.calibration == b.calibration),
        ("last outcome", a.last_outcome == b.last_outcome),
        ("values", a.values().0 == b.values().0),
        ("misfits", a.misfits == b.misfits),
    ];
    for (name, agrees) in fields {
        ensure(agrees, invariant, || format!("two folds differ in: {name}"))?;
    }
    ensure(a.pending() == b.pending(), invariant, || "two folds differ in what is pending".into())
}

/// The outcomes of one batch give the same state forwards and backwards.
pub(crate) fn outcomes_commute(state: &State, at: Timestamp, records: &[Record]) -> Checked {
    let (mut forwards, mut backwards) = (state.clone(), state.clone());
    for (n, record) in records.iter().enumerate() {
        forwards.apply(&entry_at(state, at, n, record.clone()));
    }
    for (n, record) in records.iter().rev().enumerate() {
        backwards.apply(&entry_at(state, at, n, record.clone()));
    }
    same(&forwards, &backwards, Invariant::OutcomesCommute)
}
