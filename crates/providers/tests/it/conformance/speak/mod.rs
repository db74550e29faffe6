//! Servers of each dialect, as their vendors' documentation has them: a scenario as a stream and as
//! one document.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod openrouter;
pub(crate) mod responses;

use std::sync::Arc;
use std::time::Duration;

use heeler_core::Provider;

use crate::conformance::scenario::Scenario;

/// One dialect: what its servers say, and who of ours understands it.
#[derive(Clone, Copy)]
pub(crate) struct Dialect {
    pub(crate) name: &'static str,
    /// The provider under test, for a server at this address that may be silent for so long.
    pub(crate) provider: fn(url: &str, idle_timeout: Duration) -> Arc<dyn Provider>,
    pub(crate) stream: fn(&Scenario) -> String,
    pub(crate) document: fn(&Scenario) -> String,
    /// The event that tells of an overloaded server in the middle of a stream.
    pub(crate) overloaded: &'static str,
    /// How a refused request's body tells of this type or code, and message.
    pub(crate) refusal: fn(code: &str, message: &str) -> String,
    /// The vendor's words for why a model stopped, as documented, and one it does not have yet.
    pub(crate) stops: &'static [&'static str],
    /// An event and a block that no version knows yet.
    pub(crate) unknown: &'static str,
}

pub(crate) const DIALECTS: [Dialect; 4] =
    [anthropic::DIALECT, chat::DIALECT, openrouter::DIALECT, responses::DIALECT];

/// A text in pieces as a model writes it, a few characters each.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(5).map(|piece| piece.iter().collect()).collect()
}
