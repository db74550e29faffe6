//! Work that goes on after its call has answered.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{CancellationToken, ToolOutput};

/// Where a call takes the handle by which its work gives a result later. A tool that has taken it
/// answers with [`ToolOutput::background`]; one that answers otherwise has nothing pending, and what
/// its handle gives is heard by nobody.
#[derive(Clone)]
pub struct Background(Arc<Offer>);

struct Offer {
    make: Option<Box<dyn Fn() -> Option<Completion> + Send + Sync>>,
    is_taken: Mutex<bool>,
}

/// The one-shot handle of work in the background. It works from any task. Dropped without a result,
/// it gives one that says so.
pub struct Completion {
    cancel: CancellationToken,
    finish: Option<Box<dyn FnOnce(ToolOutput) + Send>>,
}

impl Background {
    /// Gives out the handle that `make` makes, once; where it makes none, nothing may go on.
    pub fn new(make: impl Fn() -> Option<Completion> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Offer { make: Some(Box::new(make)), is_taken: Mutex::new(false) }))
    }

    /// Nobody hears of what ends later, so nothing may go on.
    #[must_use]
    pub fn nowhere() -> Self {
        Self(Arc::new(Offer { make: None, is_taken: Mutex::new(false) }))
    }

    /// The handle of this call's work; `None` where nobody would hear of it, and the second time.
    #[must_use]
    pub fn take(&self) -> Option<Completion> {
        let mut is_taken = self.0.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        let completion = self.0.make.as_ref().filter(|_| !*is_taken)?()?;
        *is_taken = true;
        Some(completion)
    }

    /// Whether the handle was taken.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        *self.0.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").field("is_taken", &self.is_taken()).finish_non_exhaustive()
    }
}

impl Completion {
    /// A handle whose result goes to `finish`, which must return at once. `cancel` says that nobody
    /// wants the result any more.
    pub fn new(
        cancel: CancellationToken,
        finish: impl FnOnce(ToolOutput) + Send + 'static,
    ) -> Self {
        Self { cancel, finish: Some(Box::new(finish)) }
    }

    /// Cancelled when somebody cancels the work, and when the session or the program ends.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Gives the result.
    pub fn finish(mut self, output: ToolOutput) {
        if let Some(finish) = self.finish.take() {
            finish(output);
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if let Some(finish) = self.finish.take() {
            finish(ToolOutput::error("the work ended without a result"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_taken_once_and_gives_one_result() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&heard);
        let background = Background::new(move || {
            let sink = Arc::clone(&sink);
            let finish = move |output: ToolOutput| sink.lock().unwrap().push(output.text_content());
            Some(Completion::new(CancellationToken::new(), finish))
        });
        assert!(!background.is_taken());
        let completion = background.take().unwrap();
        assert!(background.is_taken() && background.clone().take().is_none());
        std::thread::spawn(move || completion.finish(ToolOutput::text("done"))).join().unwrap();
        assert_eq!(*heard.lock().unwrap(), ["done"]);
        assert!(Background::nowhere().take().is_none());
    }

    #[test]
    fn a_handle_that_is_dropped_says_so() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let finish = move |output: ToolOutput| sender.send(output).unwrap();
        drop(Completion::new(CancellationToken::new(), finish));
        let output = receiver.recv().unwrap();
        assert!(output.is_error && output.text_content() == "the work ended without a result");
    }

    #[test]
    fn work_is_told_when_nobody_wants_its_result_any_more() {
        let cancel = CancellationToken::new();
        let completion = Completion::new(cancel.clone(), |_| {});
        assert!(!completion.cancelled().is_cancelled());
        cancel.cancel();
        assert!(completion.cancelled().is_cancelled());
    }
}
