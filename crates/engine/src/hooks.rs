//! Asks hooks: says what there is to know, survives whatever they do, and bounds what they say.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use heeler_core::{
    AgentPath, Block, Clock, Envelope, Event, HookAnswered, HookEnd, HookEvent, HookMoment,
    HookOutcome, HookRequest, HookVerdict, HookWatch, HookedCall, Hooks, Mode, Record, SessionId,
    ToolOutput, panic_text, truncate_chars,
};
use heeler_secrets::Secrets;

use crate::log::EventLog;

/// The most characters of one text a hook says.
const TEXT_CHARS_MAX: usize = 64 * 1024;
/// The most texts for the model, and for the user, of one moment.
const TEXTS_MAX: usize = 32;

/// Everything that is needed to ask hooks at any moment of a session.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) session: SessionId,
    pub(crate) workspace: PathBuf,
    pub(crate) mode: Mode,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) log: Arc<EventLog>,
    pub(crate) secrets: Arc<Secrets>,
}

impl Asker {
    /// Whether hooks want a word in a call of this tool, before it or after.
    pub(crate) fn hears(&self, tool: &str) -> bool {
        let events = [HookEvent::PreToolUse, HookEvent::PostToolUse, HookEvent::PostToolUseFailure];
        events.iter().any(|event| self.matches(*event, tool))
    }

    /// Whether there is anybody to ask. Who panics here is asked, and will be found broken.
    pub(crate) fn matches(&self, event: HookEvent, subject: &str) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.hooks.matches(event, subject))).unwrap_or(true)
    }

    /// What hooks say of a moment; nothing at once where none matches. Texts for the user are shown.
    pub(crate) async fn ask(&self, moment: HookMoment) -> HookOutcome {
        if !self.matches(moment.event(), moment.subject()) {
            return HookOutcome::default();
        }
        let (log, secrets) = (Arc::clone(&self.log), Arc::clone(&self.secrets));
        let watch = HookWatch::new(&moment, move |event| show(&log, redacted(event, &secrets)));
        let (hooks, request) = (Arc::clone(&self.hooks), self.request(moment, watch.clone()));
        // They may panic before they give a future, so that happens inside one.
        let run = async move { hooks.run(request).await };
        let mut outcome = match AssertUnwindSafe(run).catch_unwind().await {
            Ok(outcome) => outcome,
            Err(panic) => {
                let why = format!("it crashed: {}", panic_text(panic.as_ref()));
                watch.finished("hooks", 0, HookEnd::Broken { why: why.clone() });
                HookOutcome::of(HookVerdict::Broken { by: "hooks".into(), why })
            }
        };
        each_text(&mut outcome, |text| redact(text, &self.secrets));
        bound(&mut outcome);
        for text in std::mem::take(&mut outcome.notices) {
            self.tell(text);
        }
        outcome
    }

    /// Shows the user a text.
    pub(crate) fn tell(&self, text: String) {
        show(&self.log, Event::Notice { text });
    }

    /// Tells hooks of a call that ran, and adds what they say to its output. Gives the record of
    /// it, if they said anything.
    pub(crate) async fn ask_after(
        &self,
        call: HookedCall,
        output: &mut ToolOutput,
    ) -> Option<Record> {
        let id = call.id;
        let moment = HookMoment::PostToolUse { call, output: Box::new(output.clone()) };
        let event = moment.event();
        let outcome = self.ask(moment).await;
        if let HookVerdict::Deny { by, reason } = &outcome.verdict {
            let text = format!("\nThe hook `{by}` objects to what this call did: {reason}");
            output.content.push(Block::text(text));
        }
        let context = outcome.context.iter().map(|text| Block::text(format!("\n{text}")));
        output.content.extend(context);
        let mut answered = answered(event, &outcome)?;
        answered.call = Some(id);
        Some(Record::HookAnswered(Box::new(answered)))
    }

    fn request(&self, moment: HookMoment, watch: HookWatch) -> HookRequest {
        HookRequest {
            session: self.session.clone(),
            agent: AgentPath::default(),
            workspace: self.workspace.clone(),
            mode: self.mode,
            moment,
            watch,
            clock: Arc::clone(&self.clock),
        }
    }
}

/// What the journal keeps of it; nothing when nothing was said.
pub(crate) fn answered(event: HookEvent, outcome: &HookOutcome) -> Option<HookAnswered> {
    let says = outcome.verdict != HookVerdict::Continue || !outcome.context.is_empty();
    let HookOutcome { verdict, context, .. } = outcome.clone();
    says.then_some(HookAnswered { event, call: None, verdict, context })
}

fn show(log: &EventLog, event: Event) {
    log.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
}

fn bound(outcome: &mut HookOutcome) {
    for texts in [&mut outcome.context, &mut outcome.notices] {
        texts.retain(|text| !text.trim().is_empty());
        texts.truncate(TEXTS_MAX);
    }
    each_text(outcome, |text| {
        if text.len() > TEXT_CHARS_MAX {
            *text = truncate_chars(text, TEXT_CHARS_MAX).into_owned();
        }
    });
}

fn each_text(outcome: &mut HookOutcome, change: impl Fn(&mut String)) {
    outcome.context.iter_mut().for_each(&change);
    outcome.notices.iter_mut().for_each(&change);
    match &mut outcome.verdict {
        HookVerdict::Continue => {}
        HookVerdict::Allow { by, reason } | HookVerdict::Ask { by, reason } => {
            change(by);
            reason.iter_mut().for_each(change);
        }
        HookVerdict::Broken { by, why: reason }
        | HookVerdict::Deny { by, reason }
        | HookVerdict::Stop { by, reason } => {
            change(by);
            change(reason);
        }
    }
}

/// An event without the secrets that a hook's own command line or complaint may hold.
fn redacted(mut event: Event, secrets: &Secrets) -> Event {
    match &mut event {
        Event::HookStarted { hook, .. } => redact(hook, secrets),
        Event::HookFinished { hook, end, .. } => {
            redact(hook, secrets);
            if let HookEnd::Broken { why } = end {
                redact(why, secrets);
            }
        }
        _ => {}
    }
    event
}

fn redact(text: &mut String, secrets: &Secrets) {
    if let Cow::Owned(clean) = secrets.redact(text) {
        *text = clean;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_has_limits() {
        let long = "x".repeat(TEXT_CHARS_MAX + 1);
        let verdict = HookVerdict::Deny { by: long.clone(), reason: long.clone() };
        let context = [vec![" ".to_owned()], vec![long.clone(); TEXTS_MAX + 1]].concat();
        let mut outcome = HookOutcome { verdict, context, ..HookOutcome::default() };
        bound(&mut outcome);
        let HookVerdict::Deny { by, reason } = &outcome.verdict else { panic!("{outcome:?}") };
        let lengths: Vec<usize> = outcome.context.iter().map(|text| text.chars().count()).collect();
        assert_eq!(lengths, [TEXT_CHARS_MAX; TEXTS_MAX]);
        assert_eq!([by, reason].map(|text| text.chars().count()), [TEXT_CHARS_MAX; 2]);
    }
}
