//! Model providers: dialects, transport, server-sent events, the scripted model, cassettes.
//!
//! A provider is two halves: a pure dialect (a folder here: a request to bytes, bytes to events)
//! and the transport, joined by `dialect`. Read in this order: `dialect`, `anthropic`, `chat`,
//! `responses`, `transport`, `sse`, the catalogue, `cassette`, `named`.
//!
//! Invariant: a vendor's JSON types stay in its folder; nothing here retries or reads the
//! environment.

pub mod anthropic;
mod call_digest;
pub mod cassette;
pub mod catalogue;
pub mod chat;
mod declared;
mod dialect;
mod endpoint;
mod failure;
mod input;
mod json;
pub mod models;
mod named;
pub mod openrouter;
mod parameters;
mod placeholder;
pub mod presets;
pub mod probe;
pub mod responses;
pub mod scripted;
pub mod sse;
mod transport;
mod words;

pub use anthropic::{Anthropic, AnthropicSettings};
pub use chat::{Chat, ChatSettings};
pub use endpoint::{IDLE_TIMEOUT_DEFAULT, SettingsError};
pub use heeler_secrets::Secret;
pub use named::{KnownProvider, NameError, NamedModel};
pub use responses::{Responses, ResponsesSettings};
