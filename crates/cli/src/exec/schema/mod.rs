//! The JSON Schemas of what `--json` prints and `--stream-input` reads.
//!
//! They are printed as they are committed: to make them in the program would be a third of a megabyte
//! of code. A test makes them from the very types.

#[cfg(test)]
mod made;

use anyhow::Result;

use crate::arguments::PublishedSchema;
use crate::exit::Exit;
use crate::say::print;

const EVENTS: &str = include_str!("../../../../../docs/events.schema.json");
const INPUT: &str = include_str!("../../../../../docs/input.schema.json");

/// Runs `heeler schema`.
pub(crate) fn run(which: PublishedSchema) -> Result<Exit> {
    match which {
        PublishedSchema::Events => print(EVENTS)?,
        PublishedSchema::Input => print(INPUT)?,
        PublishedSchema::Settings => print(&heeler_settings::schema())?,
    }
    Ok(Exit::Done)
}
