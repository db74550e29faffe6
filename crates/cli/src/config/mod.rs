//! `heeler config`: what is set, by whom, and changing it.

mod edit;
mod explain;
mod list;

use anyhow::Result;
use heeler_assembly::Environment;
use heeler_settings::{Loaded, Place, schema};

use crate::arguments::{ConfigArguments, ConfigCommand, HereArguments};
use crate::exit::Exit;
use crate::folder::workspace;
use crate::say::{harmless, print};

/// Runs `heeler config`.
pub(crate) fn run(arguments: &ConfigArguments) -> Result<Exit> {
    let text = match &arguments.command {
        ConfigCommand::List { here } => list::text(&loaded(here)?, here.json)?,
        ConfigCommand::Explain { key, here } => explain::text(&loaded(here)?, key, here.json)?,
        ConfigCommand::Schema => schema(),
        ConfigCommand::Edit { project, local, cwd } => {
            let place = match (project, local) {
                (true, _) => Place::Project,
                (_, true) => Place::Local,
                _ => Place::User,
            };
            return edit::run(place, &workspace(cwd.as_deref())?);
        }
    };
    print(&harmless(&text))?;
    Ok(Exit::Done)
}

/// What holds in a folder, under these flags.
fn loaded(here: &HereArguments) -> Result<Loaded> {
    let environment = Environment::of_this_process();
    let workspace = workspace(here.cwd.as_deref())?;
    Ok(here.permission()?.settle(&environment, &workspace)?.1)
}
