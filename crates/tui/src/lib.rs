//! The terminal: a session as a person meets it.
//!
//! Everything on the screen is a fold over the session's events; keys become values, and only
//! `screen` and `run` touch the terminal.
//!
//! Invariant: nothing here decides what may run, and no byte of a model or a tool reaches the
//! terminal as anything but text.

pub mod composer;
pub mod text;
pub mod theme;
