//! Where a box cannot be made yet: a confined command is refused.

use std::io;
use std::sync::Arc;

use rustix::process::Pid;

use super::{Bound, Confines, Means};
use crate::launcher::Start;
use crate::wire::Failure;

/// No boxes.
#[derive(Default)]
pub(crate) struct Boxes {}

/// Never made.
pub(crate) enum Prepared {}

impl Boxes {
    pub(crate) fn new(_means: Means) -> Self {
        Self {}
    }

    pub(crate) fn prepare(&mut self, _confines: &Arc<Confines>) -> io::Result<Arc<Prepared>> {
        Err(io::Error::other("this system has no confinement that heeler can use"))
    }

    pub(crate) fn has_porter(&self, _pid: Pid) -> bool {
        false
    }

    pub(crate) fn reapers(&self) -> impl Iterator<Item = Pid> {
        std::iter::empty()
    }
}

impl Prepared {
    pub(crate) fn start(&self, _start: Start) -> Result<Pid, Failure> {
        match *self {}
    }
}

/// Never made either.
pub(crate) struct Watch(Arc<Prepared>);

impl Watch {
    pub(crate) fn new(_confines: &Confines, prepared: Arc<Prepared>) -> Self {
        Self(prepared)
    }

    pub(crate) fn is_up_to_date(&self) -> bool {
        match *self.0 {}
    }

    pub(crate) fn begin(&mut self) {
        match *self.0 {}
    }

    pub(crate) fn bury(&mut self, _reap: impl FnOnce()) {
        match *self.0 {}
    }

    pub(crate) fn look(&self, _pids: &[Pid]) -> Option<Bound> {
        match *self.0 {}
    }

    pub(crate) fn restore(&self) -> Option<Bound> {
        match *self.0 {}
    }
}
