//! The toolkit through its public API, against scripted models.

#![expect(clippy::unwrap_used, reason = "a test that is wrong")]

mod agent;
mod ask;
mod background;
mod cancel;
mod cassette;
mod context;
mod defaults;
mod door;
mod ends;
mod events;
mod execute;
mod extract;
mod fallback;
mod layers;
mod outbound;
mod policy;
mod raw;
mod recorded;
mod recorder;
mod run;
mod toolset;
mod within;
mod workspace;
