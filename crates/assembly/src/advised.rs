//! What this program has to say about errors of the library below it: there is `heeler login`, and
//! `heeler models`.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    AcceptedAnswer, EventStream, ModelRequest, Provider, ProviderError, ProviderErrorKind,
};
use heeler_providers::{KnownProvider, NameError};

use crate::SetupError;

/// Why nobody answers to a name, with what can be done about it here.
pub(crate) fn name_error(error: &NameError) -> SetupError {
    let advice = match error.missing_key() {
        Some(provider) => format!(
            ", or keep one with `heeler login {provider}`; `heeler demo` needs none, only cargo"
        ),
        None if error.is_unknown() => ", and see `heeler models` for what there is".to_owned(),
        None => String::new(),
    };
    SetupError::new(format!("{error}{advice}"))
}

/// A provider whose refused keys are told with where another one may be kept.
pub(crate) fn advised(known: &KnownProvider, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
    match known.keys.is_empty() {
        true => inner,
        false => Arc::new(Advised { inner, name: known.name }),
    }
}

struct Advised {
    inner: Arc<dyn Provider>,
    name: &'static str,
}

impl Advised {
    fn advise(&self, answer: EventStream) -> EventStream {
        let name = self.name;
        answer.map(move |step| step.map_err(|error| key_error(name, error))).boxed()
    }
}

/// A variable wins over a key that is kept.
fn key_error(name: &str, mut error: ProviderError) -> ProviderError {
    if error.kind == ProviderErrorKind::Auth {
        let told = error.message.trim_end_matches('.');
        error.message =
            format!("{told}; if none is set, keep another key with `heeler login {name}`.");
    }
    error
}

impl Provider for Advised {
    fn stream(&self, request: ModelRequest) -> EventStream {
        self.advise(self.inner.stream(request))
    }

    fn resume(&self, request: ModelRequest, answer: AcceptedAnswer) -> EventStream {
        self.advise(self.inner.resume(request, answer))
    }

    fn prewarm(&self) {
        self.inner.prewarm();
    }

    fn tells_cost(&self) -> bool {
        self.inner.tells_cost()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_key_that_was_refused_is_told_with_where_to_keep_another() {
        let told = |kind| key_error("openai", ProviderError::new(kind, "Check KEY.")).message;
        let advice = "Check KEY; if none is set, keep another key with `heeler login openai`.";
        assert_eq!(told(ProviderErrorKind::Auth), advice);
        assert_eq!(told(ProviderErrorKind::Billing), "Check KEY.");
    }
}
