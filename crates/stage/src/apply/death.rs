//! Where a test lets the process die that applies.

#[cfg(test)]
thread_local! {
    /// How many more places are passed alive; none where nobody dies.
    static LEFT: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

/// All before this is done and nothing behind it, when a process dies here.
pub(super) fn may_die() {
    #[cfg(test)]
    if let Some(left) = LEFT.get() {
        LEFT.set(left.checked_sub(1));
        if left == 0 {
            std::panic::resume_unwind(Box::new(Died));
        }
    }
}

#[cfg(test)]
struct Died;

/// Whether something dies, which passes so many places alive.
#[cfg(test)]
pub(super) fn dies_after(places: usize, work: impl FnOnce()) -> bool {
    LEFT.set(Some(places));
    let came_to = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    LEFT.set(None);
    match came_to {
        Ok(()) => false,
        Err(died) if died.is::<Died>() => true,
        Err(panicked) => std::panic::resume_unwind(panicked),
    }
}
