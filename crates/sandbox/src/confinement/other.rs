//! Where a box cannot be made yet: a confined command is refused.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustix::process::Pid;

use super::{Bound, Confines};

/// No boxes.
#[derive(Default)]
pub(crate) struct Boxes {}

/// Never made.
pub(crate) enum Prepared {}

impl Boxes {
    pub(crate) fn prepare(&mut self, _confines: &Arc<Confines>) -> io::Result<Arc<Prepared>> {
        Err(io::Error::other("this system has no confinement that heeler can use"))
    }
}

impl Prepared {
    pub(crate) fn wrap(&self, _program: OsString, _args: Vec<String>) -> (OsString, Vec<OsString>) {
        match *self {}
    }

    pub(crate) fn confine(self: Arc<Self>, _command: &mut Command, _cwd: &Path) {
        match *self {}
    }
}

/// Never made either.
pub(crate) struct Watch(Arc<Prepared>);

impl Watch {
    pub(crate) fn new(_confines: &Confines, prepared: Arc<Prepared>) -> Self {
        Self(prepared)
    }

    pub(crate) fn bury(&mut self, _pid: Pid) {
        match *self.0 {}
    }

    pub(crate) fn look(&self, _pids: &[Pid]) -> Option<Bound> {
        match *self.0 {}
    }

    pub(crate) fn restore(&self) -> Option<Bound> {
        match *self.0 {}
    }
}
