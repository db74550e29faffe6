//! The lock of what threads share. The `loom` crate compiles the same files with loom's lock instead.

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};

/// Two steps whose order matters; a model reverses one at a time to see that it notices.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    /// An event is kept before readers are woken.
    KeepThenWake,
    /// A reader that saw nothing is noted as waiting before the log is let go.
    NoteThenLetGo,
    /// A reader that is too far behind is given its snapshot before the log is let go.
    SnapshotThenLetGo,
    /// What was held of a call's progress is shown before what comes later.
    HeldThenLater,
}

/// Whether two steps shall change places here: never.
pub(crate) const fn is_reversed(_: Order) -> bool {
    false
}
