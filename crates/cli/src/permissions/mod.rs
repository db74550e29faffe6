//! `heeler permissions`: what may run here, and why.

mod explain;
mod list;
mod trust;

use std::path::{Path, PathBuf};

use anyhow::Result;
use heeler_assembly::{Environment, Permission};
use heeler_settings::{Loaded, UntrustedFile};

use crate::arguments::{HereArguments, PermissionsArguments, PermissionsCommand};
use crate::exit::Exit;
use crate::folder::workspace;
use crate::say::{print, say};

/// Runs `heeler permissions`.
pub(crate) fn run(arguments: &PermissionsArguments) -> Result<Exit> {
    let (text, exit) = match &arguments.command {
        PermissionsCommand::Explain { call, here } => {
            (explain::text(&Here::of(here)?, call)?, Exit::Done)
        }
        PermissionsCommand::List { here } => list::text(Here::of(here)?)?,
        PermissionsCommand::Trust { revoke: true, cwd, .. } => {
            (trust::revoke(&workspace(cwd.as_deref())?)?, Exit::Done)
        }
        PermissionsCommand::Trust { yes, cwd, .. } => {
            return trust::run(&workspace(cwd.as_deref())?, *yes);
        }
    };
    print(&text)?;
    Ok(exit)
}

/// What `permissions list` prints, for somebody who asks within a session.
pub(crate) fn listed(
    environment: &Environment,
    workspace: &Path,
    permission: &Permission,
) -> Result<String> {
    let (environment, workspace) = (environment.clone(), workspace.to_owned());
    let here = Here { environment, workspace, permission: permission.clone(), json: false };
    Ok(list::text(here)?.0)
}

/// Where a question is asked, and under which flags.
struct Here {
    environment: Environment,
    workspace: PathBuf,
    permission: Permission,
    json: bool,
}

impl Here {
    fn of(arguments: &HereArguments) -> Result<Self> {
        Ok(Self {
            environment: Environment::of_this_process(),
            workspace: workspace(arguments.cwd.as_deref())?,
            permission: arguments.permission()?,
            json: arguments.json,
        })
    }
}

/// How the result of a call begins that was not allowed.
pub(crate) const NOT_ALLOWED: &str = "Not allowed: ";

/// The most mistakes in settings that are told one by one.
const PROBLEMS_MAX: usize = 5;

/// Says what was passed over, in one line what of the repository's settings does not count, and in
/// another that there is more to be known of the files.
pub(crate) fn warn(loaded: &Loaded) {
    for problem in loaded.problems.iter().take(PROBLEMS_MAX) {
        say(format_args!("heeler: passed over: {problem}"));
    }
    if let Some(more @ 1..) = loaded.problems.len().checked_sub(PROBLEMS_MAX) {
        say(format_args!("heeler: passed over: {more} more; see `heeler permissions list`"));
    }
    if !loaded.untrusted.is_empty() {
        let files: Vec<String> = loaded.untrusted.iter().map(lacks).collect();
        say(format_args!(
            "heeler: not trusted, so it does not count: {}; look at it with `heeler permissions \
             trust`",
            files.join("; ")
        ));
    }
    if !loaded.notes.is_empty() {
        let notes = loaded.notes.len();
        say(format_args!("heeler: notes on the settings: {notes}; see `heeler permissions list`"));
    }
}

/// What of the settings cannot be used, a line each, for whoever shows the rest of them; and the
/// code that says so.
pub(crate) fn mistakes(loaded: &Loaded) -> (String, Exit) {
    if loaded.mistakes.is_empty() {
        return (String::new(), Exit::Done);
    }
    let lines = loaded.mistakes.iter().map(|mistake| format!("cannot be used: {mistake}\n"));
    let end = "no session begins here until that is mended; what could be read is above\n";
    (lines.chain([end.to_owned()]).collect(), Exit::Usage)
}

/// What a file asks for and was not trusted with.
fn lacks(file: &UntrustedFile) -> String {
    let aspects: Vec<&str> = file.aspects.iter().map(|aspect| aspect.words()).collect();
    format!("{} of {}", aspects.join(", "), file.name)
}

/// The name of a mode, as it is given.
fn mode_name(mode: heeler_core::Mode) -> Result<String> {
    Ok(serde_json::to_value(mode)?.as_str().unwrap_or_default().to_owned())
}
