//! Hooks written in Rust that say what a test needs.

use std::sync::Arc;

use heeler_core::{
    BoxFuture, HookEnd, HookEvent, HookMoment, HookOutcome, HookRequest, HookVerdict, Hooks,
};

type Answer = Box<dyn Fn(HookRequest) -> BoxFuture<HookOutcome> + Send + Sync>;

struct TestHook {
    event: HookEvent,
    answer: Answer,
}

/// One hook, called `guard`, that is told of every moment of this kind, and says this of it.
pub(crate) fn hook<R>(
    event: HookEvent,
    answer: impl Fn(HookMoment) -> R + Send + Sync + 'static,
) -> Arc<dyn Hooks>
where
    R: Future<Output = HookOutcome> + Send + 'static,
{
    let answer = move |request: HookRequest| -> BoxFuture<HookOutcome> {
        let HookRequest { moment, watch, clock, .. } = request;
        let answer = answer(moment);
        Box::pin(async move {
            let started = clock.now();
            watch.started("guard");
            let outcome = answer.await;
            let millis = clock.now().since(started);
            watch.finished("guard", millis, HookEnd::from(&outcome.verdict));
            outcome
        })
    };
    Arc::new(TestHook { event, answer: Box::new(answer) })
}

impl Hooks for TestHook {
    fn matches(&self, event: HookEvent, _: &str) -> bool {
        event == self.event
    }

    fn run(&self, request: HookRequest) -> BoxFuture<HookOutcome> {
        (self.answer)(request)
    }
}

fn of(verdict: HookVerdict) -> HookOutcome {
    HookOutcome::of(verdict)
}

pub(crate) fn nothing() -> HookOutcome {
    HookOutcome::default()
}

pub(crate) fn allows() -> HookOutcome {
    of(HookVerdict::Allow { by: "guard".into(), reason: None })
}

pub(crate) fn asks() -> HookOutcome {
    of(HookVerdict::Ask { by: "guard".into(), reason: None })
}

pub(crate) fn denies() -> HookOutcome {
    of(HookVerdict::Deny { by: "guard".into(), reason: "not on Fridays".into() })
}

pub(crate) fn stops() -> HookOutcome {
    of(HookVerdict::Stop { by: "guard".into(), reason: "enough".into() })
}

pub(crate) fn broken() -> HookOutcome {
    of(HookVerdict::Broken { by: "guard".into(), why: "it is out of order".into() })
}
