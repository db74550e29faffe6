//! Providers over real HTTP.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod anthropic;
mod chat;
mod conformance;
mod endless;
mod neighbors;
mod responses;
mod server;
mod tls;
mod wire;
