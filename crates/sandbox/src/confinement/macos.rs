//! A box on macOS: the command is started by `sandbox-exec` with a profile.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustix::process::Pid;

use super::{Bound, Confines, seatbelt};

/// What applies a profile; part of the system.
pub(super) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// Nothing is kept: a profile is made anew for each command.
#[derive(Default)]
pub(crate) struct Boxes {}

/// A profile.
pub(crate) struct Prepared {
    profile: String,
}

impl Boxes {
    pub(crate) fn prepare(&mut self, confines: &Arc<Confines>) -> io::Result<Arc<Prepared>> {
        if !Path::new(SANDBOX_EXEC).exists() {
            return Err(io::Error::other(format!("there is no `{SANDBOX_EXEC}`")));
        }
        let mut canonical = Confines::clone(confines);
        canonical.workspace = confines.workspace.canonicalize()?;
        canonical.temp = confines.temp.canonicalize()?;
        let lists = [&mut canonical.writable, &mut canonical.secrets];
        lists.into_iter().flatten().for_each(resolve);
        Ok(Arc::new(Prepared { profile: seatbelt::profile(&canonical) }))
    }
}

impl Prepared {
    /// What to start so that the program runs in the box.
    pub(crate) fn wrap(&self, program: OsString, args: Vec<String>) -> (OsString, Vec<OsString>) {
        let before = [OsString::from("-p"), OsString::from(&self.profile), program];
        let args = before.into_iter().chain(args.into_iter().map(OsString::from));
        (SANDBOX_EXEC.into(), args.collect())
    }

    pub(crate) fn confine(self: Arc<Self>, _command: &mut Command, _cwd: &Path) {}
}

/// Where a path leads to, as far as it exists.
fn resolve(path: &mut PathBuf) {
    if let Ok(found) = path.canonicalize() {
        *path = found;
    } else if let (Some(parent), Some(name)) = (path.parent(), path.file_name())
        && let Ok(parent) = parent.canonicalize()
    {
        *path = parent.join(name);
    }
}

/// Nothing to look at: there is no cheap way to list a tree's processes here.
pub(crate) struct Watch;

impl Watch {
    pub(crate) fn new(_confines: &Confines, _prepared: Arc<Prepared>) -> Self {
        Self
    }

    pub(crate) fn bury(&mut self, _pid: Pid) {}

    pub(crate) fn look(&self, _pids: &[Pid]) -> Option<Bound> {
        None
    }

    pub(crate) fn restore(&self) -> Option<Bound> {
        None
    }
}
