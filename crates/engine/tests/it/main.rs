//! The driver, proven from outside: real sessions over a real store, with a scripted model.
//!
//! `common` holds the one door (`check`) and the stage that longer scenarios play on; every other
//! module is one theme.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod accepted;
mod background;
mod batch;
mod calls;
mod cancel;
mod checkpoints;
mod cleaned;
mod common;
mod compaction;
mod contract;
mod crash;
mod crashed;
mod damaged;
mod durability;
mod eager;
mod edited;
mod fallback;
mod hooks;
mod images;
mod judged_again;
mod lease;
mod limits;
mod looked;
mod media;
mod outbound;
mod outputs;
mod parallel;
mod permission;
mod plan;
mod prompt;
mod providers;
mod replay;
mod shown;
mod slow_readers;
mod steering;
mod summaries;
mod tool_search;
mod traces;
mod turns;
mod watching;
