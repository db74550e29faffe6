//! Hooks: what is said at each moment is heeded, and nothing they do breaks a turn.

mod after;
mod before;
mod end;
mod request;
