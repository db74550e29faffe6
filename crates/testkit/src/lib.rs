//! A mock model server on real HTTP, and what tests share.
//!
//! `mock` plays a script over the Anthropic wire and checks every request; `clock` and `entropy` are time and
//! chance a test controls; `transcript` shows a conversation in one line a block; `names` is a server of names;
//! `picture` makes real images; `require` says what a skipped test lacks; `player` is a program that starts itself.
//!
//! Invariant: imports only core and script, so that every room may test with it.

mod clock;
mod entropy;
pub mod mock;
mod names;
pub mod picture;
pub mod player;
mod require;
mod transcript;

pub use clock::VirtualClock;
pub use entropy::SeededEntropy;
pub use mock::{Chunking, MockServer};
pub use names::{NameAsker, NameServer};
pub use player::Player;
pub use require::require;
pub use transcript::transcript;
