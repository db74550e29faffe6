//! `heeler config`: what is set, by whom, and changing it.

mod edit;
mod explain;
mod list;

use std::path::Path;

use anyhow::Result;
use heeler_assembly::{Environment, Permission};
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

/// What `config list` prints, for somebody who asks within a session.
pub(crate) fn listed(
    environment: &Environment,
    workspace: &Path,
    permission: &Permission,
) -> Result<String> {
    let (_, loaded) = permission.clone().settle(environment, workspace)?;
    Ok(harmless(&list::text(&loaded, false)?))
}

/// What holds in a folder, under these flags.
fn loaded(here: &HereArguments) -> Result<Loaded> {
    let environment = Environment::of_this_process();
    let workspace = workspace(here.cwd.as_deref())?;
    Ok(here.permission()?.settle(&environment, &workspace)?.1)
}
