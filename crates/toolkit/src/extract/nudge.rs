//! A model that ends an extraction with a text is told to submit, a bounded number of times.

use std::sync::atomic::{AtomicU32, Ordering};

use heeler_core::{BoxFuture, HookEvent, HookMoment, HookOutcome, HookRequest, HookVerdict, Hooks};

/// How often.
const NUDGES_MAX: u32 = 2;

/// Keeps a run from ending without a value.
pub(super) struct Nudge {
    /// The tool a value is submitted with.
    name: String,
    /// Why a final text is no value; `None` once there is one.
    missing: Box<Missing>,
    nudges: AtomicU32,
}

type Missing = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Nudge {
    pub(super) fn new(
        name: String,
        missing: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { name, missing: Box::new(missing), nudges: AtomicU32::new(0) }
    }

    fn judge(&self, answer: &str) -> HookVerdict {
        let Some(why) = (self.missing)(answer) else { return HookVerdict::Continue };
        if self.nudges.fetch_add(1, Ordering::Relaxed) >= NUDGES_MAX {
            return HookVerdict::Continue;
        }
        let name = &self.name;
        let reason = format!(
            "the value has to be given by calling `{name}`, and this text is none ({why}); call \
             `{name}` with the value"
        );
        HookVerdict::Deny { by: "extraction".to_owned(), reason }
    }
}

impl Hooks for Nudge {
    fn matches(&self, event: HookEvent, _: &str) -> bool {
        event == HookEvent::Stop
    }

    fn run(&self, request: HookRequest) -> BoxFuture<HookOutcome> {
        let verdict = match &request.moment {
            HookMoment::Stop { answer, .. } => self.judge(answer),
            _ => HookVerdict::Continue,
        };
        Box::pin(std::future::ready(HookOutcome::of(verdict)))
    }
}

/// A text without the code fence that may be around all of it.
pub(super) fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim())
}
