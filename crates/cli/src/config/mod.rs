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
use crate::permissions::mistakes;
use crate::say::{harmless, print};

/// Runs `heeler config`.
pub(crate) fn run(arguments: &ConfigArguments) -> Result<Exit> {
    let (text, exit) = match &arguments.command {
        ConfigCommand::List { here } => {
            let loaded = loaded(here)?;
            (list::text(&loaded, here.json)?, mistakes(&loaded).1)
        }
        ConfigCommand::Explain { key, here } => {
            let loaded = loaded(here)?;
            (explain::text(&loaded, key, here.json)?, mistakes(&loaded).1)
        }
        ConfigCommand::Schema => (schema(), Exit::Done),
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
    Ok(exit)
}

/// What `config list` prints, for somebody who asks within a session.
pub(crate) fn listed(
    environment: &Environment,
    workspace: &Path,
    permission: &Permission,
) -> Result<String> {
    let (_, loaded) = permission.clone().look(environment, workspace)?;
    Ok(harmless(&list::text(&loaded, false)?))
}

/// What holds in a folder, under these flags, as far as it can be read.
fn loaded(here: &HereArguments) -> Result<Loaded> {
    let environment = Environment::of_this_process();
    let workspace = workspace(here.cwd.as_deref())?;
    Ok(here.permission()?.look(&environment, &workspace)?.1)
}
