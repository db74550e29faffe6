//! A box on macOS: the command is started by `sandbox-exec` with a profile.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::Pid;

use super::{Bound, Confines, Means, seatbelt};
use crate::launcher::Start;
use crate::wire::Failure;

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
    pub(crate) fn new(_means: Means) -> Self {
        Self {}
    }

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

    /// There are no others than the launcher and its commands.
    pub(crate) fn has_porter(&self, _pid: Pid) -> bool {
        false
    }

    pub(crate) fn reapers(&self) -> impl Iterator<Item = Pid> {
        std::iter::empty()
    }
}

impl Prepared {
    /// Starts a command in the box.
    pub(crate) fn start(&self, mut start: Start) -> Result<Pid, Failure> {
        let program = std::mem::replace(&mut start.program, SANDBOX_EXEC.into());
        let Ok(program) = program.into_string() else { return Err(Failure::Program) };
        let before = ["-p".to_owned(), self.profile.clone(), program];
        start.args.splice(0..0, before);
        start.spawn()
    }
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

    pub(crate) fn is_up_to_date(&self) -> bool {
        // Names are closed here, whatever they come to mean.
        true
    }

    pub(crate) fn begin(&mut self) {}

    pub(crate) fn bury(&mut self, reap: impl FnOnce()) {
        reap();
    }

    pub(crate) fn look(&self, _pids: &[Pid]) -> Option<Bound> {
        None
    }

    pub(crate) fn restore(&self) -> Option<Bound> {
        None
    }
}
