//! A folder covered by an overlay, for this process and all it starts: what is changed in it goes to
//! another folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::thread::UnshareFlags;

/// Whose the entries of a folder are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owners {
    /// All are of the process's user and group.
    Us,
    /// Some are of others, or have access lists, which may name others.
    Others,
}

/// An overlay that covers a folder.
#[derive(Debug)]
pub struct Overlay {
    folder: PathBuf,
}

impl Overlay {
    /// Covers a folder: from here on this process, and what it starts, sees in it what `upper` adds,
    /// and writes there. `work` is an empty folder beside `upper`. All are absolute, and `upper` lies
    /// outside of the folder.
    ///
    /// The process moves into namespaces of its own, and stays there when covering fails. As a user
    /// who may not mount it knows no owner but itself there, and could change nothing of others, nor
    /// keep an access list that names them.
    ///
    /// # Errors
    /// When the process has more than one thread, something is mounted in the folder, or the system does not
    /// let us.
    pub fn cover(folder: &Path, upper: &Path, work: &Path, owners: Owners) -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let threads = status.lines().find_map(|line| line.strip_prefix("Threads:"));
        if threads.map(str::trim) != Some("1") {
            return Err(io::Error::other("the process has more than one thread"));
        }
        let mounts = fs::read("/proc/self/mountinfo")?;
        if let Some(mounted) = mount_below(&folder.canonicalize()?, &mounts) {
            let text = format!("`{mounted}` is mounted in it, which an overlay does not show");
            return Err(io::Error::other(text));
        }
        let options = options(folder, upper, work)?;
        enter(owners)?;
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        rustix::mount::mount_change("/", private)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        rustix::mount::mount("overlay", folder, "overlay", flags, options.as_c_str())?;
        let covered = Self { folder: folder.to_owned() };
        // Whoever stands in the folder still stands below the overlay.
        let here = std::env::current_dir().ok();
        if let Some(here) = here.filter(|here| here.starts_with(folder)) {
            std::env::set_current_dir(here)?;
        }
        Ok(covered)
    }

    /// Uncovers the folder for this process.
    ///
    /// # Errors
    /// When the system does not let us.
    pub fn uncover(self) -> io::Result<()> {
        let here = std::env::current_dir().ok();
        rustix::mount::unmount(&self.folder, UnmountFlags::DETACH)?;
        if let Some(here) = here.filter(|here| here.starts_with(&self.folder)) {
            // A folder that was made in the overlay is not there any more.
            std::env::set_current_dir(here).or_else(|_| std::env::set_current_dir(&self.folder))?;
        }
        Ok(())
    }
}

/// Something of these mounts that lies below a folder, as the system writes its path.
fn mount_below(folder: &Path, mounts: &[u8]) -> Option<String> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut written = Vec::new();
    for byte in folder.as_os_str().as_bytes() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\\' => written.extend(format!("\\{byte:03o}").bytes()),
            _ => written.push(*byte),
        }
    }
    written.push(b'/');
    let lines = mounts.split(|byte| *byte == b'\n');
    let mut places = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    let below = places.find(|place| place.starts_with(&written))?;
    Some(String::from_utf8_lossy(below).into_owned())
}

/// Moves this process into a namespace in which it may mount: as its user, where that is not root.
fn enter(owners: Owners) -> io::Result<()> {
    match unshare(UnshareFlags::NEWNS) {
        Err(Errno::PERM) if owners == Owners::Others => {
            let error = "some of its entries are of other users or groups, or have access lists";
            return Err(io::Error::other(error));
        }
        Err(Errno::PERM) => {}
        other => return Ok(other?),
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    // Groups may not be dropped, or what is forbidden to a group would be allowed.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))
}

fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    #[expect(unsafe_code, reason = "unshare is unsafe for what it may do to other threads")]
    // SAFETY: there is one thread, and none of the flags touches its open files.
    unsafe {
        rustix::thread::unshare_unsafe(flags)
    }
}

fn options(folder: &Path, upper: &Path, work: &Path) -> io::Result<std::ffi::CString> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut options = b"userxattr".to_vec();
    for (name, path) in [("lowerdir", folder), ("upperdir", upper), ("workdir", work)] {
        options.extend_from_slice(format!(",{name}=").as_bytes());
        for byte in path.as_os_str().as_bytes() {
            if matches!(byte, b'\\' | b',' | b':') {
                options.push(b'\\');
            }
            options.push(*byte);
        }
    }
    Ok(std::ffi::CString::new(options)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_below_a_folder_is_named() {
        let mounts = "22 1 0:20 / / rw - ext4 /dev/a rw
            23 22 0:21 / /data rw - ext4 /dev/b rw
            24 23 0:22 /x /data/space/mounted rw shared:1 - ext4 /dev/c rw
            25 23 0:23 / /data/a\\040b/c rw - tmpfs none rw
";
        let mounts = mounts.replace("            ", "");
        for (folder, expected) in [
            ("/data/space", Some("/data/space/mounted")),
            ("/data/space/mounted", None),
            ("/data/spac", None),
            ("/data/a b", Some("/data/a\\040b/c")),
            ("/data/a", None),
        ] {
            let found = mount_below(Path::new(folder), mounts.as_bytes());
            assert_eq!(found.as_deref(), expected, "{folder}");
        }
    }
}
