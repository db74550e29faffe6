//! The format of scripted models, and the checks every model request must pass.
//!
//! A [`Script`] is an ordered list of replies. A [`Player`] holds one and answers requests: it
//! first checks the request for a valid history and a stable prefix, then picks the reply, checks
//! what the script expects of the request, and fills in what tools really returned. The scripted
//! provider and the mock HTTP server both stand on it. Read in this order: `script`, `parse`,
//! `view`, `check`, `player`, `reply`.
//!
//! Invariant: knows nothing of heeler's own nouns, so it can judge them; never panics on a script
//! or a request.

mod block;
mod check;
mod elide;
mod error;
mod expect;
mod fields;
mod mismatch;
mod parse;
mod player;
mod reply;
mod script;
mod template;
mod view;

pub use block::{BlockSpec, InputSpec};
pub use check::{Violation, check_prefix, check_valid, check_valid_after_pause};
pub use elide::{Depth, elide_cache_markers};
pub use error::ScriptError;
pub use expect::Expect;
pub use fields::OneOrMany;
pub use mismatch::{Mismatch, Passed};
pub use player::{Player, SUMMARY_SENTINEL};
pub use reply::{Ending, Reply, ReplyBlock, Step};
pub use script::{
    After, Capture, Conversations, EpochRule, ErrorSpec, For, Format, Options, ReplySpec, Script,
    UsageSpec,
};
pub use view::{BlockView, Content, MessageView, RequestView, Role, ToolView};
