//! Every model holds, and notices when two steps change places.

use heeler_loom::sync::{Order, reverse};
use heeler_loom::{handover, models};

/// The model fails when these steps change places, so its passing says something.
fn check_notices(order: Order, model: fn()) {
    reverse(Some(order));
    let noticed = std::panic::catch_unwind(model).is_err();
    reverse(None);
    assert!(noticed, "{order:?} reversed went unnoticed");
}

#[test]
fn a_reader_sees_everything_and_the_end() {
    models::a_reader_sees_everything_and_the_end();
}

#[test]
fn what_is_published_wakes_who_waits() {
    models::what_is_published_wakes_who_waits();
}

#[test]
fn every_reader_is_woken() {
    models::every_reader_is_woken();
}

#[test]
fn two_writers_lose_nothing() {
    models::two_writers_lose_nothing();
}

#[test]
fn who_falls_behind_misses_nothing() {
    models::who_falls_behind_misses_nothing();
}

#[test]
fn a_snapshot_and_its_cursor_are_one_step() {
    models::a_snapshot_and_its_cursor_are_one_step();
}

#[test]
fn a_reader_may_leave_at_any_time() {
    models::a_reader_may_leave_at_any_time();
}

#[test]
fn held_progress_is_shown_in_order() {
    models::held_progress_is_shown_in_order();
}

#[test]
fn an_outcome_counts_from_the_newest_task() {
    handover::an_outcome_counts_from_the_newest_task();
}

#[test]
fn every_end_counts_once() {
    handover::every_end_counts_once();
}

#[test]
fn nothing_counts_after_the_stop() {
    handover::nothing_counts_after_the_stop();
}

#[test]
fn a_crash_is_taken_over_or_run_anew() {
    handover::a_crash_is_taken_over_or_run_anew();
}

/// The model fails where any task of an effect may end it, so its passing says something.
#[test]
fn an_outcome_that_counts_by_its_effect_is_noticed() {
    let noticed = std::panic::catch_unwind(handover::an_outcome_counts_by_its_effect).is_err();
    assert!(noticed, "the outcome of a stopped task went unnoticed");
}

#[test]
fn steps_that_change_places_are_noticed() {
    let waking: fn() = models::what_is_published_wakes_who_waits;
    check_notices(Order::KeepThenWake, waking);
    check_notices(Order::NoteThenLetGo, waking);
    check_notices(Order::SnapshotThenLetGo, models::who_falls_behind_misses_nothing);
    check_notices(Order::HeldThenLater, models::held_progress_is_shown_in_order);
    check_notices(Order::DropThenEnd, handover::a_crash_is_taken_over_or_run_anew);
}
