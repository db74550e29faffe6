//! The steps a command takes into its box, between its fork and its program.

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use super::cached::Prepared;

impl Prepared {
    /// What to start: the program itself, which steps into the box before it begins.
    pub(crate) fn wrap(&self, program: OsString, args: Vec<String>) -> (OsString, Vec<OsString>) {
        (program, args.into_iter().map(OsString::from).collect())
    }

    /// Has the command step into the box before its program begins.
    pub(crate) fn confine(self: Arc<Self>, command: &mut Command, cwd: &Path) {
        let cwd = CString::new(cwd.as_os_str().as_bytes());
        let enter = move || {
            self.space.enter()?;
            // The folder it had is outside. It exists there, so here it is hidden.
            let cwd = cwd.as_ref().map_err(|_| io::ErrorKind::InvalidInput)?;
            rustix::process::chdir(cwd.as_c_str()).map_err(|_| rustix::io::Errno::ACCESS)?;
            self.limit_files()?;
            drop_privileges()?;
            self.rules.restrict_self()?;
            // Last, since it refuses what the steps before it do.
            self.filters.restrict_self()
        };
        #[expect(unsafe_code, reason = "what runs between fork and exec")]
        // SAFETY: the launcher has one thread, so the child may do whatever its parent may: no
        // lock is held by a thread that it lacks.
        unsafe {
            command.pre_exec(enter);
        }
    }

    fn limit_files(&self) -> io::Result<()> {
        let before = rustix::process::getrlimit(Resource::Fsize);
        let bytes_max = before
            .maximum
            .map_or(self.written_bytes_max, |maximum| maximum.min(self.written_bytes_max));
        let limit = Rlimit { current: Some(bytes_max), maximum: Some(bytes_max) };
        rustix::process::setrlimit(Resource::Fsize, limit)?;
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        Ok(rustix::process::setrlimit(Resource::Core, none)?)
    }
}

/// Gives up what the owner of a user namespace may do in it, so that no program gets it back.
fn drop_privileges() -> io::Result<()> {
    let locked = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    rustix::thread::set_capabilities_secure_bits(locked)?;
    for capability in CapabilitySet::all().iter() {
        // A kernel that does not know it does not give it either.
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets)?;
    Ok(rustix::thread::set_no_new_privs(true)?)
}
