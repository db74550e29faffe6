//! The heeler toolkit under one name.
//!
//! An agent in a few lines: a provider, a store, a session, a turn.
//!
//! ```no_run
//! use std::sync::Arc;
//! use heeler::{Input, Parts, Session, providers, stores};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = providers::anthropic::AnthropicSettings::with_api_key("sk-...");
//! let model = Arc::new(providers::anthropic::Anthropic::new(&settings)?);
//! let mut parts = Parts::new(model, Arc::new(stores::MemoryStore::new()));
//! parts.settings.model.name = providers::catalogue::DEFAULT_MODEL.into();
//! let session = Session::create(parts, "/tmp").await?;
//! let outcome = session.turn(Input::text("Say hello")).await;
//! println!("{outcome:?}: {}", session.state().await?.final_answer());
//! # Ok(())
//! # }
//! ```
//!
//! A program whose agent starts commands calls [`launcher::init`] first in `main`.

pub use heeler_core::*;
pub use heeler_engine::*;

/// Starts child processes.
pub use heeler_sandbox::launcher;

/// Who answers model requests.
pub mod providers {
    pub use heeler_providers::*;
}

/// Where sessions are kept.
pub mod stores {
    pub use heeler_store::*;
}

/// Commands that have a word in what an agent does.
pub mod hooks {
    pub use heeler_hooks::*;
}

/// What models can call.
pub mod tools {
    pub use heeler_tools::*;
}
