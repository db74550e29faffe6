//! What the engine's `sync` is, of loom; and orders of two steps that a model breaks on purpose.

use std::cell::Cell;

pub(crate) use std::sync::PoisonError;

pub(crate) use loom::sync::{Mutex, MutexGuard};

/// Two steps whose order matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// An event is kept before readers are woken.
    KeepThenWake,
    /// A reader that saw nothing is noted as waiting before the log is let go.
    NoteThenLetGo,
    /// A reader that is too far behind is given its snapshot before the log is let go.
    SnapshotThenLetGo,
    /// What was held of a call's progress is shown before what comes later.
    HeldThenLater,
    /// A task drops what it holds before its end is told. Tokio keeps this order, not the engine.
    DropThenEnd,
}

thread_local! {
    // Loom's threads are coroutines of one.
    static REVERSED: Cell<Option<Order>> = const { Cell::new(None) };
}

/// Reverses one order from here on, or none.
pub fn reverse(order: Option<Order>) {
    REVERSED.set(order);
}

pub(crate) fn is_reversed(order: Order) -> bool {
    REVERSED.get() == Some(order)
}
