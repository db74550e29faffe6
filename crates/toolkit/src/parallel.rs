//! Several pieces of work at once, each with its own result.

use std::panic::AssertUnwindSafe;

use futures::{FutureExt, StreamExt};
use heeler_core::panic_text;

/// How several pieces of work run beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parallel {
    /// How many run at the same time; 0 for all.
    pub at_once: usize,
    /// Whether the first failure stops what runs, and what has not begun.
    pub fail_fast: bool,
}

/// Why a piece of work gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepError<E> {
    /// Its own failure.
    #[error("{0}")]
    Failed(E),
    /// It panicked.
    #[error("the step crashed: {0}")]
    Panicked(String),
    /// Another one had failed.
    #[error("the step was stopped, since another one failed")]
    Stopped,
}

/// Runs all steps and gives their results in the order of the steps, whichever ended first.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use heeler_toolkit::{Parallel, parallel};
///
/// let double = |n: u32| async move { if n < 3 { Ok(2 * n) } else { Err("too large") } };
/// let results = parallel([1, 2, 3].map(double), Parallel::default()).await;
/// assert_eq!(results[1], Ok(4));
/// assert!(results[2].is_err());
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub async fn parallel<Step, T, E>(
    steps: impl IntoIterator<Item = Step>,
    how: Parallel,
) -> Vec<Result<T, StepError<E>>>
where
    Step: Future<Output = Result<T, E>>,
{
    let steps: Vec<_> = steps.into_iter().enumerate().collect();
    let mut results: Vec<Result<T, StepError<E>>> =
        steps.iter().map(|_| Err(StepError::Stopped)).collect();
    let running = futures::stream::iter(steps.into_iter().map(|(index, step)| async move {
        let result = match AssertUnwindSafe(step).catch_unwind().await {
            Ok(result) => result.map_err(StepError::Failed),
            Err(panic) => Err(StepError::Panicked(panic_text(panic.as_ref()).to_owned())),
        };
        (index, result)
    }));
    let at_once = if how.at_once == 0 { results.len().max(1) } else { how.at_once };
    let mut running = std::pin::pin!(running.buffer_unordered(at_once));
    while let Some((index, result)) = running.next().await {
        let stops = how.fail_fast && result.is_err();
        if let Some(place) = results.get_mut(index) {
            *place = result;
        }
        if stops {
            break;
        }
    }
    results
}
