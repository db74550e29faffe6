//! The JSON Schemas of what `--json` prints and `--stream-input` reads.
//!
//! They are printed as they are committed: to make them in the program would be a third of a megabyte
//! of code. A test makes them from the very types. The program has them packed (`build.rs`).

#[cfg(test)]
mod made;

use std::io::Read;

use anyhow::Result;
use flate2::read::ZlibDecoder;

use crate::arguments::PublishedSchema;
use crate::exit::Exit;
use crate::say::print;

const EVENTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/events.schema.z"));
const INPUT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/input.schema.z"));

/// Runs `heeler schema`.
pub(crate) fn run(which: PublishedSchema) -> Result<Exit> {
    match which {
        PublishedSchema::Events => print(&unpacked(EVENTS)?)?,
        PublishedSchema::Input => print(&unpacked(INPUT)?)?,
        PublishedSchema::Settings => print(&heeler_settings::schema())?,
    }
    Ok(Exit::Done)
}

fn unpacked(packed: &[u8]) -> Result<String> {
    let mut text = String::new();
    ZlibDecoder::new(packed).read_to_string(&mut text)?;
    Ok(text)
}
