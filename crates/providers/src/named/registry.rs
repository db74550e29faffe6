//! Who there is: each provider's name, its variables, and how one is made of them.

use std::sync::Arc;

use heeler_core::Provider;

use crate::anthropic::{Anthropic, AnthropicSettings};
use crate::chat::{self, Chat, ChatSettings};
use crate::presets::Preset;
use crate::responses::{Responses, ResponsesSettings};

/// The value of a variable, if it is set.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;
/// A provider that is ready, or why there is none.
pub(crate) type Made = Result<Arc<dyn Provider>, String>;

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
    },
];

impl KnownProvider {
    /// Everybody there is, in the order they are listed.
    pub fn all() -> impl Iterator<Item = Self> {
        OWN.into_iter().chain(Preset::all().iter().map(Preset::known))
    }

    /// The provider of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|provider| provider.name == name)
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
    fn the_first_key_that_is_set_counts() {
        let anthropic = KnownProvider::named("anthropic").unwrap();
        let token = |name: &str| (name == "ANTHROPIC_AUTH_TOKEN").then(|| "t".to_owned());
        assert_eq!(anthropic.key_variable(token), Some("ANTHROPIC_AUTH_TOKEN"));
        assert_eq!(anthropic.key_variable(|_| Some("x".into())), Some("ANTHROPIC_API_KEY"));
        assert_eq!(anthropic.key_variable(|_| Some(" ".into())), None);
        assert!(KnownProvider::named("nobody").is_none());
    }
}
