//! Cache markers of the caller: how long a provider is asked to keep what it has read.
//!
//! Anthropic takes four markers a request; OpenAI caches by itself and is sent none. Those of the
//! caller, on tools ([`Toolset::cache_last`]), the system prompt ([`Client::system_cache`]) and blocks
//! ([`heeler_core::Message::cached`]), all count and come first. What they leave heeler puts on the system prompt, the last tool and the newest
//! message that stays, where the caller marked none of these.

use heeler_core::CacheMarker;

use crate::{Binding, Client, Toolset};

impl Client {
    /// Asks the provider to keep the system prompt, and the tools before it, cached so long, with each
    /// request. heeler marks it by itself for five minutes; this is for an hour.
    ///
    /// Anthropic takes four cache markers a request; OpenAI caches by itself and is sent none. Those of
    /// the caller, on tools ([`Toolset::cache_last`]), the system prompt and blocks
    /// ([`heeler_core::Message::cached`]), all count and come first: more than four end the run with an error, and so does one of an hour
    /// behind one of five minutes, where tools come first, then the system prompt, then messages.
    /// What they leave heeler puts on the system prompt, the last tool and the newest message that
    /// stays, where the caller marked none of these.
    #[must_use]
    pub fn system_cache(&self, marker: CacheMarker) -> Self {
        self.with_parameters(|parameters| parameters.system_cache = Some(marker))
    }
}

impl Toolset {
    /// With a cache marker on the last tool: the provider is asked to cache what is told of all of
    /// them. An empty set stays as it is, and one whose last tool is sent as the provider's own
    /// bytes ([`Binding::declared_as`]) carries none.
    ///
    /// heeler marks the last tool by itself for five minutes where nobody marked one; this is for an
    /// hour, or for a set that stands before others.
    #[must_use]
    pub fn cache_last(&self, marker: CacheMarker) -> Self {
        let mut bindings: Vec<Binding> = self.iter().cloned().collect();
        if let Some(last) = bindings.last_mut() {
            last.definition.cache = Some(marker);
        }
        self.holding(bindings)
    }
}
