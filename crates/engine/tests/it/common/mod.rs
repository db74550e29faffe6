//! What all themes share: the door, the stage, tools, and how events are shown.

mod case;
mod hooks;
mod ledger;
mod model;
mod show;
mod stage;
mod tools;

pub(crate) use case::{Case, check, one_call, shown};
pub(crate) use hooks::{allows, asks, broken, denies, hook, nothing, stops};
pub(crate) use ledger::Ledger;
pub(crate) use model::{CallOnce, Paced};
pub(crate) use show::line;
pub(crate) use stage::{
    Stage, Watcher, parts, paused, settled, stage, stage_with, toolset, virtually,
};
pub(crate) use tools::{TestTool, counting, echo, failing, field, hanging, tool};
