//! Answers that the provider writes to their end whoever reads them: read again after a crash, and
//! stopped when nobody wants them any more.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use heeler_core::{AcceptedAnswer, EventStream, ModelEvent, ProviderError, ProviderErrorKind};

use super::{Responses, ResponsesSettings, Wire};
use crate::dialect::Link;

/// Where an answer is told from its first event on, reasoning included. Not from the last one seen
/// (`starting_after`): who asks again has nothing of it, since what is not whole is never kept, and
/// being told costs no tokens.
pub(super) const STREAM: &str = "?stream=true&include%5B%5D=reasoning.encrypted_content";
const CANCEL: &str = "/cancel";

type Step = Result<ModelEvent, ProviderError>;

/// The events of an answer that is read again. It was told of already, and a refusal says only that
/// it cannot be had: the driver asks anew then, but for a refusal that will pass.
pub(super) fn told_again(events: EventStream) -> EventStream {
    let is_news = |step: &Step| !matches!(step, Ok(ModelEvent::Accepted(_)));
    let events = events.filter(move |step| std::future::ready(is_news(step)));
    Box::pin(events.map(|step| step.map_err(not_told)))
}

fn not_told(error: ProviderError) -> ProviderError {
    let kind = match error.status {
        None => return error,
        Some(408 | 425 | 429 | 500..) => ProviderErrorKind::Network,
        Some(_) => ProviderErrorKind::Server,
    };
    // What follows is advice about another request.
    let why = error.message.lines().next().unwrap_or_default();
    let message = format!("the answer that was begun could not be read again: {why}");
    ProviderError { kind, message, ..error }
}

/// The events as they come. Whoever drops them before their end wants no answer, so the provider is
/// told to stop writing.
pub(super) fn canceled_when_dropped(
    events: EventStream,
    provider: &Responses,
    answer: Option<AcceptedAnswer>,
) -> EventStream {
    let (link, settings) = (Arc::clone(&provider.link), Arc::clone(&provider.settings));
    Box::pin(Wanted { events, link, settings, answer })
}

struct Wanted {
    events: EventStream,
    link: Arc<Link<Wire>>,
    settings: Arc<ResponsesSettings>,
    /// What is being written; `None` before that is known, and after the end.
    answer: Option<AcceptedAnswer>,
}

impl Stream for Wanted {
    type Item = Step;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Step>> {
        let polled = self.events.as_mut().poll_next(context);
        match &polled {
            Poll::Ready(Some(Ok(ModelEvent::Accepted(answer)))) => {
                self.answer = Some(answer.clone());
            }
            // A connection that broke says nothing of what is wanted.
            Poll::Ready(None | Some(Ok(ModelEvent::Finished(_)) | Err(_))) => self.answer = None,
            _ => {}
        }
        polled
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        if let Some(answer) = &self.answer
            && let Some(target) = self.settings.target_of(&answer.id, CANCEL)
        {
            self.link.notify(target);
        }
    }
}
