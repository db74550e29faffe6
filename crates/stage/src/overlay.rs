//! Covering the base, where the system has overlays.

use std::io;
use std::path::Path;

use crate::snapshot::Snapshot;

/// A base that is covered.
#[derive(Debug)]
#[cfg(target_os = "linux")]
pub(crate) struct Covered(heeler_sandbox::Overlay);

/// A base that is covered; there are none here.
#[derive(Debug)]
#[cfg(not(target_os = "linux"))]
pub(crate) enum Covered {}

#[cfg(target_os = "linux")]
pub(crate) fn cover(
    base: &Path,
    snapshot: &Snapshot,
    upper: &Path,
    work: &Path,
) -> io::Result<Covered> {
    use heeler_sandbox::{Overlay, Owners};
    let owners = if snapshot.is_ours() { Owners::Us } else { Owners::Others };
    Overlay::cover(base, upper, work, owners).map(Covered)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cover(_: &Path, _: &Snapshot, _: &Path, _: &Path) -> io::Result<Covered> {
    Err(io::Error::other("this system has no overlays"))
}

impl Covered {
    #[cfg(target_os = "linux")]
    pub(crate) fn uncover(self) -> io::Result<()> {
        self.0.uncover()
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn uncover(self) -> io::Result<()> {
        match self {}
    }
}
