//! What this program has to say about errors of the library below it: there is `heeler login`, and
//! `heeler models`.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    AcceptedAnswer, EventStream, ModelRequest, Provider, ProviderError, ProviderErrorKind,
};
use heeler_providers::{KnownProvider, NameError, catalogue};

use crate::SetupError;

/// The most names that are told as like another.
const LIKE_MAX: usize = 3;
/// A shorter name stands in many others.
const LIKE_CHARS_MIN: usize = 3;

/// Why nobody answers to a name, with what can be done about it here.
pub(crate) fn name_error(error: &NameError, name: &str) -> SetupError {
    let advice = match error.missing_key() {
        Some(provider) => format!(
            ", or keep one with `heeler login {provider}`; `heeler demo` needs none, only cargo"
        ),
        None if error.is_unknown() => {
            let like = like(name);
            let like = if like.is_empty() { like } else { format!("; like it are {like}") };
            format!(", and see `heeler models` for what there is{like}")
        }
        None => String::new(),
    };
    SetupError::new(format!("{error}{advice}"))
}

/// The first models of the catalogue in whose names this one stands, which names no provider.
fn like(name: &str) -> String {
    if name.contains('/') || name.chars().count() < LIKE_CHARS_MIN {
        return String::new();
    }
    let name = name.to_ascii_lowercase();
    let is_like = |full: &String| catalogue::bare_name(full).contains(&name);
    let like = catalogue::names().into_iter().filter(is_like).take(LIKE_MAX);
    like.collect::<Vec<_>>().join(", ")
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
    use expect_test::{Expect, expect};

    use super::*;

    fn check(name: &str, expected: Expect) {
        expected.assert_eq(&like(name));
    }

    #[test]
    fn models_whose_names_have_it_are_told() {
        check(
            "Sonnet",
            expect![
                "anthropic/claude-sonnet-5-5, anthropic/claude-sonnet-5, anthropic/claude-sonnet-4-6"
            ],
        );
        check("gpt-5", expect!["openai/gpt-5.5, openai/gpt-5.5-pro, openai/gpt-5.4"]);
        check("5-", expect![""]);
        check("gpt-0", expect![""]);
        check("anthropic/", expect![""]);
    }

    #[test]
    fn only_a_key_that_was_refused_is_told_with_where_to_keep_another() {
        let told = |kind| key_error("openai", ProviderError::new(kind, "Check KEY.")).message;
        let advice = "Check KEY; if none is set, keep another key with `heeler login openai`.";
        assert_eq!(told(ProviderErrorKind::Auth), advice);
        assert_eq!(told(ProviderErrorKind::Billing), "Check KEY.");
    }
}
