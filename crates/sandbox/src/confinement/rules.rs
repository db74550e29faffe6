//! What a confined command may open: a Landlock ruleset, made once and used for many commands.
//!
//! Landlock cannot deny below a folder that it allows, so a folder that holds a secret is never
//! allowed as a whole: its entries are, one by one, without the secret. What comes to be in such a
//! folder later is unreadable until the rules are made again, which is the safe way to be late.

use std::fs::FileType;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};
use rustix::fs::{Mode, OFlags};

/// The rights we know. More rights of a newer kernel would be denied without a test of ours.
const KNOWN: ABI = ABI::V6;
/// What no box is made without: before it, no file is moved between folders.
pub(super) const LEAST_VERSION: u32 = 2;
/// The first version that keeps signals in.
pub(super) const SCOPES: u32 = 6;
/// Asks for a version instead of a ruleset.
const VERSION_ASKED: u32 = 1;
/// Devices that any program may need; all others, raw disks among them, stay closed.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// Never readable, whoever asks: what other sessions keep there, and windows into the kernel.
const ALWAYS_CLOSED: [&str; 6] = [
    "/dev",
    "/run/secrets",
    "/run/user",
    "/run/credentials",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
];

/// Whether nobody lists the folder of this path, whatever else is closed in it.
pub(super) fn is_always_closed(path: &Path) -> bool {
    ALWAYS_CLOSED.iter().any(|closed| path.starts_with(closed))
}

/// The rights that make sense for what is no folder.
const FILE_RIGHTS: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{ReadFile | WriteFile | Execute | Truncate});

/// Which rules this kernel has, of those we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grade(ABI);

/// A ruleset and what it was made from.
pub(super) struct Rules {
    ruleset: OwnedFd,
    /// Folders that were listed, as they were just before.
    listed: Vec<(PathBuf, Stamp)>,
}

/// What changes when an entry of a folder comes, goes or is replaced.
#[derive(PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

/// What a path is, as far as rules tell it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
}

struct Builder<'a> {
    grade: Grade,
    ruleset: RulesetCreated,
    listed: Vec<(PathBuf, Stamp)>,
    closed: Closed<'a>,
}

/// What stays closed, none of it below another, in order: what is below a path follows it at once, so a
/// glance at two of them tells of any path how it lies. Homes have many entries, and secrets are many.
struct Closed<'a>(Vec<&'a Path>);

/// How a path lies to what is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lies {
    /// It is closed, or below what is.
    Within,
    /// Something below it is closed.
    Around,
    Apart,
}

impl<'a> Closed<'a> {
    fn new(paths: impl Iterator<Item = &'a Path>) -> Self {
        let mut paths: Vec<&Path> = paths.collect();
        paths.sort_unstable();
        paths.dedup_by(|path, outer| path.starts_with(outer));
        Self(paths)
    }

    fn lies(&self, path: &Path) -> Lies {
        let (before, after) = self.0.split_at(self.0.partition_point(|closed| *closed <= path));
        if before.last().is_some_and(|closed| path.starts_with(closed)) {
            Lies::Within
        } else if after.first().is_some_and(|closed| closed.starts_with(path)) {
            Lies::Around
        } else {
            Lies::Apart
        }
    }
}

impl Grade {
    /// That of this kernel, or of one that knows no more than the ABI `at_most`.
    pub(super) fn of_kernel(at_most: u32) -> io::Result<Self> {
        let version = version()?.min(at_most);
        if version < LEAST_VERSION {
            return Err(io::Error::other(format!("version {version} of Landlock is too old")));
        }
        Ok(Self(ABI::from(i32::try_from(version).unwrap_or(i32::MAX)).min(KNOWN)))
    }

    /// Whether rules keep signals in. Where not, a namespace of processes does.
    pub(super) fn has_scopes(self) -> bool {
        self.0 >= ABI::V6
    }

    fn ruleset(self) -> Result<RulesetCreated, RulesetError> {
        let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let files = strict.handle_access(AccessFs::from_all(self.0))?;
        let scoped = if self.has_scopes() { files.scope(Scope::from_all(self.0))? } else { files };
        scoped.create()
    }

    fn readable(self) -> BitFlags<AccessFs> {
        AccessFs::from_read(self.0)
    }

    /// Everything but devices: neither made nor spoken to.
    fn changeable(self) -> BitFlags<AccessFs> {
        let devices = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});
        AccessFs::from_write(self.0) & !devices
    }
}

/// Which version of Landlock the kernel has.
pub(super) fn version() -> io::Result<u32> {
    #[expect(unsafe_code, reason = "no library tells it apart from whether it is there")]
    // SAFETY: with these arguments it only tells its version.
    let told = unsafe {
        let nothing: *const libc::c_void = std::ptr::null();
        libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0, VERSION_ASKED)
    };
    u32::try_from(told).map_err(|_| io::Error::last_os_error())
}

impl Rules {
    /// Rules under which `writable` may be written and all but `closed` be read. Paths are
    /// canonical.
    pub(super) fn new(grade: Grade, writable: &[PathBuf], closed: &[PathBuf]) -> io::Result<Self> {
        let ruleset = grade.ruleset().map_err(io::Error::other)?;
        let closed = closed.iter().map(PathBuf::as_path);
        let closed = Closed::new(closed.chain(ALWAYS_CLOSED.iter().map(Path::new)));
        let mut builder = Builder { grade, ruleset, listed: Vec::new(), closed };
        builder.open_tree(Path::new("/"), Kind::Folder)?;
        for device in DEVICES {
            builder.allow(Path::new(device), Kind::File, grade.readable() | AccessFs::WriteFile)?;
        }
        for path in writable {
            let kind = path.symlink_metadata().ok().and_then(|found| Kind::of(found.file_type()));
            if let Some(kind) = kind {
                builder.allow(path, kind, grade.readable() | grade.changeable())?;
            }
        }
        let ruleset = Option::<OwnedFd>::from(builder.ruleset);
        let ruleset = ruleset.ok_or_else(|| io::Error::other("the kernel has no Landlock"))?;
        Ok(Self { ruleset, listed: builder.listed })
    }

    /// Whether a folder that was listed has other entries now.
    pub(super) fn is_stale(&self) -> bool {
        self.listed.iter().any(|(folder, stamp)| Stamp::of(folder).as_ref() != Some(stamp))
    }
}

impl AsFd for Rules {
    /// The ruleset.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ruleset.as_fd()
    }
}

impl Builder<'_> {
    /// Makes a tree readable, but for what is closed in it.
    fn open_tree(&mut self, path: &Path, kind: Kind) -> io::Result<()> {
        match self.closed.lies(path) {
            Lies::Within => return Ok(()),
            Lies::Apart => return self.allow(path, kind, self.grade.readable()),
            Lies::Around => {}
        }
        // Before the listing, so that what changes meanwhile makes it stale.
        let Some(stamp) = Stamp::of(path) else { return Ok(()) };
        self.listed.push((path.to_owned(), stamp));
        // Below it all names may be listed then; those of what is closed are covered by mounts.
        self.allow(path, kind, AccessFs::ReadDir.into())?;
        let Ok(entries) = path.read_dir() else { return Ok(()) };
        for entry in entries.flatten() {
            if let Some(kind) = entry.file_type().ok().and_then(Kind::of) {
                self.open_tree(&entry.path(), kind)?;
            }
        }
        Ok(())
    }

    fn allow(&mut self, path: &Path, kind: Kind, access: BitFlags<AccessFs>) -> io::Result<()> {
        let access = if kind == Kind::Folder { access } else { access & FILE_RIGHTS };
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Gone meanwhile, or not for this user either: nothing to allow.
        let Ok(file) = rustix::fs::open(path, flags, Mode::empty()) else { return Ok(()) };
        if !access.is_empty() {
            let rule = PathBeneath::new(file, access);
            (&mut self.ruleset).add_rule(rule).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl Kind {
    /// `None` when no rule opens it: what a link points to has its own path, under which it is
    /// allowed or not, and nobody opens a disk or a socket.
    fn of(kind: FileType) -> Option<Self> {
        let is_closed = kind.is_symlink() || kind.is_block_device() || kind.is_socket();
        let known = if kind.is_dir() { Self::Folder } else { Self::File };
        (!is_closed).then_some(known)
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = path.symlink_metadata().ok()?;
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Some(Self { device: metadata.dev(), inode: metadata.ino(), changed })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path() -> impl Strategy<Value = PathBuf> {
        // `-` and `.` come before `/`, so the order of the bytes is another one.
        let names = prop::sample::select(vec!["a", "a-", "a.b", "ab", "b"]);
        prop::collection::vec(names, 0..4)
            .prop_map(|names| Path::new("/").join(PathBuf::from_iter(names)))
    }

    proptest! {
        #[test]
        fn how_a_path_lies_is_what_a_look_at_each_says(
            closed in prop::collection::vec(path(), 0..8),
            path in path(),
        ) {
            let lies = if closed.iter().any(|closed| path.starts_with(closed)) {
                Lies::Within
            } else if closed.iter().any(|closed| closed.starts_with(&path)) {
                Lies::Around
            } else {
                Lies::Apart
            };
            prop_assert_eq!(Closed::new(closed.iter().map(PathBuf::as_path)).lies(&path), lies);
        }
    }
}
