//! Hooks: what is said at each moment is heeded, and nothing they do breaks a turn.

mod after;
mod before;
mod compaction;
mod end;
mod prompts;
mod request;
mod session;
