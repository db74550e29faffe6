//! The mock server, seen from the other end of a socket.

mod checks;
#[expect(clippy::unwrap_used, reason = "a socket that fails ends the test that opened it")]
mod client;
mod mock;
