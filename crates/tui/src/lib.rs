//! The terminal: a session as a person meets it.
//!
//! Everything on the screen is a fold over the session's events; keys become values, and only
//! `screen` and `run` touch the terminal. Read in this order: `app` (what happens in, what is to be
//! done out), `transcript` (events to lines), `composer` (keys to text), `screen` (lines to bytes),
//! `run` (the loop around them), `host` (what the program around is asked).
//!
//! Invariant: nothing here decides what may run, and no byte of a model or a tool reaches the
//! terminal as anything but text.

pub mod app;
pub mod composer;
pub mod host;
mod input;
mod outlet;
mod run;
pub mod screen;
pub mod text;
pub mod theme;
pub mod transcript;

pub use input::IMAGE_BYTES_MAX;
pub use outlet::Outlet;
pub use run::{Window, run};
