//! The namespaces of a box: every file system read-only but for what may be written, what is
//! protected read-only again, and secrets covered.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
};
use rustix::thread::UnshareFlags;

/// What the mounts of a box are made from. Paths are canonical, and exist.
#[derive(Default)]
pub(super) struct Plan {
    /// Folders that may be written.
    pub(super) writable: Vec<PathBuf>,
    /// Folders that may be written and hold something protected: they cannot be moved away.
    pub(super) pinned: Vec<PathBuf>,
    /// What is read-only although it is in a folder that may be written.
    pub(super) protected: Vec<PathBuf>,
    /// What is covered.
    pub(super) secrets: Vec<PathBuf>,
    /// Whether its processes are in a namespace of their own, from which they name no others.
    pub(super) has_own_processes: bool,
    /// What takes the place of shared memory's folder, and holds our own things for a moment.
    pub(super) temp: PathBuf,
}

/// What a mount does to a place in what may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// A folder that can be written, but not moved.
    Pinned,
    Protected,
    Covered,
}

impl Plan {
    /// What mounts hold in what may be written.
    pub(super) fn held(&self) -> impl Iterator<Item = (&PathBuf, Hold)> {
        let may_be_replaced =
            |path: &&PathBuf| self.writable.iter().any(|root| path.starts_with(root));
        let pinned = self.pinned.iter().map(|path| (path, Hold::Pinned));
        let protected = self.protected.iter().map(|path| (path, Hold::Protected));
        let covered = self.secrets.iter().filter(may_be_replaced).map(|path| (path, Hold::Covered));
        pinned.chain(protected).chain(covered)
    }
}

/// Moves the calling process, which has one thread, into namespaces as planned. Its folder is then
/// the root, and it may do in them whatever their owner may. What it starts from now on is in a
/// namespace of processes as well, if the plan has one.
pub(super) fn make(plan: &Plan) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let mut flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    if plan.has_own_processes {
        flags |= UnshareFlags::NEWPID;
    }
    #[expect(unsafe_code, reason = "unshare is unsafe for what it may do to other threads")]
    // SAFETY: there is one thread, and none of the flags touches its open files.
    unsafe { rustix::thread::unshare_unsafe(flags) }
        .map_err(|error| said("user namespace", error))?;
    let map = |name: &str, text: String| {
        fs::write(format!("/proc/self/{name}"), text).map_err(|error| said(name, error))
    };
    // Groups may not be dropped, or what is forbidden to a group would be allowed.
    map("setgroups", "deny".into())?;
    map("uid_map", format!("{0} {0} 1", user.as_raw()))?;
    map("gid_map", format!("{0} {0} 1", group.as_raw()))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private).map_err(|error| said("mounts", error))?;
    // Copied while they can be written still.
    let copies: io::Result<Vec<OwnedFd>> = plan.writable.iter().map(|path| copy(path)).collect();
    let copies = copies?;
    set_read_only(CWD, Path::new("/"), AtFlags::empty())?;
    for (path, copied) in plan.writable.iter().zip(&copies) {
        attach(copied, path)?;
    }
    for path in &plan.pinned {
        attach(&copy(path)?, path)?;
    }
    plan.protected.iter().try_for_each(|path| protect(path))?;
    if Path::new("/dev/shm").is_dir() {
        attach(&copy(&plan.temp)?, Path::new("/dev/shm"))?;
    }
    cover_all(plan)
}

/// Mounts again what was replaced and so lost its mount, in a box that has commands in it.
pub(super) fn hold_again(path: &Path, hold: Hold) -> io::Result<()> {
    match hold {
        Hold::Covered if path.is_dir() => cover_folder(path),
        Hold::Covered => cover_file_at_once(path),
        Hold::Pinned | Hold::Protected => protect(path),
    }
}

/// Makes what is below a folder that may be written read-only.
fn protect(path: &Path) -> io::Result<()> {
    let copied = copy(path)?;
    set_read_only(copied.as_fd(), Path::new(""), AtFlags::EMPTY_PATH)?;
    attach(&copied, path)
}

fn cover_folder(path: &Path) -> io::Result<()> {
    mount_empty(path)?;
    set_read_only(CWD, path, AtFlags::empty())
}

/// A file of our own would need a place, which is taken from commands for a moment. A device that is
/// mounted where there are none cannot be opened either.
fn cover_file_at_once(path: &Path) -> io::Result<()> {
    let copied = copy(Path::new("/dev/null"))?;
    let attributes = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NODEV;
    set_attributes(copied.as_fd(), Path::new(""), AtFlags::EMPTY_PATH, attributes)?;
    attach(&copied, path)
}

fn cover_all(plan: &Plan) -> io::Result<()> {
    let (folders, files): (Vec<_>, Vec<_>) = plan.secrets.iter().partition(|path| path.is_dir());
    folders.into_iter().try_for_each(|folder| cover_folder(folder))?;
    if files.is_empty() {
        return Ok(());
    }
    // A file that nobody can open. It needs a place while its mount is copied.
    mount_empty(&plan.temp)?;
    let nothing = plan.temp.join("nothing");
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::open(&nothing, flags, Mode::empty()).map_err(|error| said_of(&nothing, error))?;
    for file in files {
        let copied = copy(&nothing)?;
        set_read_only(copied.as_fd(), Path::new(""), AtFlags::EMPTY_PATH)?;
        attach(&copied, file)?;
    }
    rustix::mount::unmount(&plan.temp, UnmountFlags::DETACH)
        .map_err(|error| said_of(&plan.temp, error))
}

fn mount_empty(path: &Path) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("none", path, "tmpfs", flags, c"mode=000,size=4k,nr_inodes=8")
        .map_err(|error| said_of(path, error))
}

/// A copy of the mounts at and below a path, attached nowhere.
fn copy(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    rustix::mount::open_tree(CWD, path, flags).map_err(|error| said_of(path, error))
}

fn attach(copied: &OwnedFd, path: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(copied, "", CWD, path, flags).map_err(|error| said_of(path, error))
}

fn set_read_only(folder: impl AsFd, path: &Path, flags: AtFlags) -> io::Result<()> {
    let attributes = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID;
    set_attributes(folder.as_fd(), path, flags, attributes)
}

fn set_attributes(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: AtFlags,
    attr_set: u64,
) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStrExt as _;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    let attributes = libc::mount_attr { attr_set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = flags.bits() | libc::AT_RECURSIVE.cast_unsigned();
    #[expect(unsafe_code, reason = "no library has this call")]
    // SAFETY: the name ends with a zero byte, and the attributes have the size that is given; both
    // outlive the call, which writes to neither.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder.as_raw_fd(),
            name.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(said_of(path, io::Error::last_os_error())),
    }
}

fn said(what: &str, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{what}: {error}"))
}

fn said_of(path: &Path, error: impl std::fmt::Display) -> io::Error {
    said(&format!("mount at `{}`", path.display()), error)
}
