//! Who there is: each provider's name, its variables, and how one is made of them.

use std::sync::Arc;

use heeler_core::{ModelRequest, Provider, ProviderError};

use crate::anthropic::{self, Anthropic, AnthropicSettings};
use crate::chat::{self, Chat, ChatSettings, Quirks};
use crate::presets::Preset;
use crate::responses::{self, Responses, ResponsesSettings};

/// The value of a variable, if it is set.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;
/// A provider that is ready, or why there is none.
pub(crate) type Made = Result<Arc<dyn Provider>, String>;

/// A request's bytes, or why it cannot be sent.
pub(crate) type Body = Result<Vec<u8>, ProviderError>;

/// A provider, as people name it: what stands before the slash of a model's full name.
#[derive(Clone, Copy)]
pub struct KnownProvider {
    /// Before the slash.
    pub name: &'static str,
    /// What it is called in messages.
    pub title: &'static str,
    /// The variables that may hold its key; the first that is set counts.
    pub keys: &'static [&'static str],
    /// Whether it answers nobody without a key.
    pub needs_key: bool,
    /// Every variable that says how it is reached, those of `keys` among them.
    pub variables: &'static [&'static str],
    /// Makes one; `name` above is handed on, for those that share a dialect.
    pub(crate) make: fn(&'static str, Lookup<'_>) -> Made,
    /// The body it sends for a request, as long as nobody changed how it is reached.
    pub(crate) body: fn(&'static str, &ModelRequest) -> Body,
}

/// Who there is without those that share a dialect; a dialect adds its line here.
const OWN: [KnownProvider; 3] = [
    KnownProvider {
        name: "anthropic",
        title: "Anthropic",
        keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        needs_key: true,
        variables: &AnthropicSettings::VARIABLES,
        make: |_, lookup| {
            let settings = AnthropicSettings::from_variables(lookup);
            let provider = settings.and_then(|settings| Anthropic::new(&settings));
            made(provider)
        },
        body: |_, request| anthropic::request_body(request),
    },
    KnownProvider {
        name: "openai",
        title: "OpenAI",
        keys: &["OPENAI_API_KEY"],
        needs_key: true,
        variables: &ResponsesSettings::VARIABLES,
        make: |_, lookup| {
            let settings = ResponsesSettings::from_variables(lookup);
            made(settings.and_then(|settings| Responses::new(&settings)))
        },
        body: |_, request| responses::request_body(request),
    },
    KnownProvider {
        name: chat::DIALECT,
        title: "OpenAI (Chat Completions)",
        keys: &["OPENAI_API_KEY"],
        needs_key: true,
        variables: &ChatSettings::VARIABLES,
        make: |_, lookup| {
            let settings = ChatSettings::from_variables(lookup);
            made(settings.and_then(|settings| Chat::new(&settings)))
        },
        body: |_, request| chat::request_body(request, &Quirks::default()),
    },
];

impl KnownProvider {
    /// Everybody there is, in the order they are listed.
    pub fn all() -> impl Iterator<Item = Self> {
        // The table of the others is only read when somebody looks that far.
        let others = std::iter::once_with(Preset::all).flatten().map(Preset::known);
        OWN.into_iter().chain(others)
    }

    /// The provider of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|provider| provider.name == name)
    }

    /// The body that it sends for this request, byte for byte: to look at, or to compare.
    ///
    /// # Errors
    /// When the request cannot be sent; the same that sending it would tell.
    pub fn request_body(&self, request: &ModelRequest) -> Result<Vec<u8>, ProviderError> {
        (self.body)(self.name, request)
    }

    /// The variable that holds its key, the first that is set.
    pub fn key_variable(&self, variable: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
        let is_set = |name: &&&str| variable(name).is_some_and(|value| !value.trim().is_empty());
        self.keys.iter().find(is_set).copied()
    }
}

impl std::fmt::Debug for KnownProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("KnownProvider").field(&self.name).finish()
    }
}

/// A provider that was made, or why it was not.
pub(crate) fn made<P: Provider, E: ToString>(provider: Result<P, E>) -> Made {
    match provider {
        Ok(provider) => Ok(Arc::new(provider)),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_provider_is_told_apart_and_lists_its_keys_among_its_variables() {
        let mut names = BTreeSet::new();
        for provider in KnownProvider::all() {
            assert!(names.insert(provider.name), "{provider:?} is there twice");
            assert!(!provider.name.contains(['/', ':', ' ']), "{provider:?}");
            assert!(provider.keys.iter().all(|key| provider.variables.contains(key)));
            assert!(!provider.needs_key || !provider.keys.is_empty(), "{provider:?}");
        }
    }

    #[test]
    fn every_provider_shows_the_body_it_would_send() {
        let message = heeler_core::Message::user("hello there");
        let request = ModelRequest {
            model: "some-model".into(),
            system: "".into(),
            tools: [].into(),
            provider_tools: [].into(),
            messages: [message].into_iter().collect(),
            stable: 1,
            output_max: 100,
            parameters: heeler_core::Parameters::default(),
            epoch: 1,
        };
        for provider in KnownProvider::all() {
            let body = provider.request_body(&request).unwrap();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["model"], "some-model", "{provider:?}");
            assert_eq!(body["input"].is_array(), provider.name == "openai", "{provider:?}");
            assert!(body.to_string().contains("hello there"), "{provider:?}");
        }
    }

    #[test]
    fn the_first_key_that_is_set_counts() {
        let anthropic = KnownProvider::named("anthropic").unwrap();
        let token = |name: &str| (name == "ANTHROPIC_AUTH_TOKEN").then(|| "t".to_owned());
        assert_eq!(anthropic.key_variable(token), Some("ANTHROPIC_AUTH_TOKEN"));
        assert_eq!(anthropic.key_variable(|_| Some("x".into())), Some("ANTHROPIC_API_KEY"));
        assert_eq!(anthropic.key_variable(|_| Some(" ".into())), None);
        assert!(KnownProvider::named("nobody").is_none());
    }
}
