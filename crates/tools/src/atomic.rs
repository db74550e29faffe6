//! Replaces a file in one step: readers see the old content or the new, never a part.
//!
//! Between the look whether a file is as it was and its replacement, others who replace files the
//! same way are kept out by a lock on the folder, in this process and in every other. So of two
//! changes that were made of one content the second is refused, and none is lost. The system drops
//! the lock of who dies.

use std::fs::Metadata;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use heeler_attributes::{Old, Owner};
use heeler_core::{BoxFuture, ToolContext, ToolError, ToolOutput};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::blocking::{blocking, keep_going};
use crate::guard::Loaded;
use crate::place::Place;
use crate::temporary::{NEW, PassingNames, REPLACING, Temporary};

/// How often a folder that somebody else has locked is tried; whoever replaces a file has it for
/// three calls of the system.
const LOCK_TRIES_MAX: usize = 1_000;
/// How long is waited between two tries.
const LOCK_WAIT: Duration = Duration::from_millis(1);

/// Makes `bytes` the content of a file. `before` is what was there when the new content was
/// computed: its mode and owner are kept, and if something else is there by now nothing happens.
/// Missing folders are created. A failure leaves no temporary file behind.
pub(crate) fn replace(
    context: &ToolContext,
    place: &mut Place,
    path: &str,
    before: Option<&Loaded>,
    bytes: &[u8],
) -> Result<(), ToolError> {
    replace_waiting(context, place, path, before, bytes, pause)
}

/// The same, where `wait` lets time pass between two tries for the lock.
fn replace_waiting(
    context: &ToolContext,
    place: &mut Place,
    path: &str,
    before: Option<&Loaded>,
    bytes: &[u8],
    wait: impl FnMut(),
) -> Result<(), ToolError> {
    let failed = |error: io::Error| ToolError::for_model(format!("cannot write {path}: {error}"));
    place.make_folder().map_err(failed)?;
    let prepared = Prepared::new(context, place, before, bytes).map_err(failed)?;
    keep_going(context)?;
    prepared.persist_waiting(before.map(|it| &it.metadata), wait).map_err(failed)?;
    sync_folder(place);
    Ok(())
}

/// A new content on the disk that has yet to get its place.
pub(crate) struct Prepared<'a> {
    temporary: Temporary<'a>,
    place: &'a Place,
}

impl<'a> Prepared<'a> {
    /// Writes `bytes` beside their place, whose folder is there, with all that `like` has beside its
    /// own, wherever that lay.
    pub(crate) fn new(
        context: &ToolContext,
        place: &'a Place,
        like: Option<&Loaded>,
        bytes: &[u8],
    ) -> io::Result<Self> {
        let names = PassingNames::of(context, place.name());
        let mode = if like.is_some() { REPLACING } else { NEW };
        let mut temporary = Temporary::new_in(place.folder()?, names, mode)?;
        let file = temporary.file();
        file.write_all(bytes)?;
        if let Some(like) = like {
            let owner = Owner { user: like.metadata.uid(), group: like.metadata.gid() };
            heeler_attributes::keep(Old::Open(&like.file), owner, file, like.metadata.mode())?;
        }
        file.sync_all()?;
        Ok(Self { temporary, place })
    }

    /// Gives the content its place, if that is as it was before.
    pub(crate) fn persist(self, before: Option<&Metadata>) -> io::Result<()> {
        self.persist_waiting(before, pause)
    }

    fn persist_waiting(self, before: Option<&Metadata>, wait: impl FnMut()) -> io::Result<()> {
        match before {
            None => self.temporary.persist_new(self.place.name()).map_err(|error| {
                if error.kind() == io::ErrorKind::AlreadyExists { changed() } else { error }
            }),
            Some(_) => {
                let _alone = lock(self.place, wait)?;
                check_unchanged(self.place, before)?;
                self.temporary.persist(self.place.name())
            }
        }
    }
}

/// What a tool that replaces these files does for [`heeler_core::Tool::clean_up`]: removes the files
/// that were on their way to these places when the call's process died.
pub(crate) fn clean_up(
    context: ToolContext,
    tool: &'static str,
    paths: Vec<String>,
) -> BoxFuture<Result<(), ToolError>> {
    let cleaned = blocking(context, move |context| {
        let cleaned: Vec<_> = paths.iter().map(|path| clean_up_at(context, tool, path)).collect();
        // One that cannot be looked at keeps no other.
        cleaned.into_iter().collect::<Result<(), _>>().map(|()| ToolOutput::default())
    });
    Box::pin(async move { cleaned.await.map(drop) })
}

fn clean_up_at(context: &ToolContext, tool: &str, path: &str) -> Result<(), ToolError> {
    keep_going(context)?;
    // By the same walls and through no other links than the call was.
    let place = Place::to_write(context, tool, path)?;
    // Where there is no folder, nothing is on its way.
    let Ok(folder) = place.folder() else { return Ok(()) };
    PassingNames::of(context, place.name()).remove_from(folder).map_err(|error| {
        ToolError::for_model(format!("cannot remove what was on its way to {path}: {error}"))
    })
}

/// Removes a file, if it is as it was before.
pub(crate) fn remove(place: &Place, before: Option<&Metadata>) -> io::Result<()> {
    let _alone = lock(place, pause)?;
    check_unchanged(place, before)?;
    Ok(rustix::fs::unlinkat(place.folder()?, place.name(), AtFlags::empty())?)
}

/// An error when another file is there than before, or one where none was.
pub(crate) fn check_unchanged(place: &Place, before: Option<&Metadata>) -> io::Result<()> {
    let now = match place.open() {
        Ok(file) => Some(file.metadata()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let marks = |m: &Metadata| (m.dev(), m.ino(), m.len(), m.mtime(), m.mtime_nsec());
    if now.as_ref().map(marks) == before.map(marks) { Ok(()) } else { Err(changed()) }
}

/// Locks the folder of a place until what this gives is dropped. Folders that cannot be opened, and
/// file systems without locks, go without: there is only the look then.
fn lock(place: &Place, mut wait: impl FnMut()) -> io::Result<Option<OwnedFd>> {
    let Ok(folder) = open_folder(place) else { return Ok(None) };
    for _ in 0..LOCK_TRIES_MAX {
        match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(folder)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => wait(),
            Err(_) => return Ok(None),
        }
    }
    Err(io::Error::other(
        "another program holds a lock on its folder; find out which, or try again later",
    ))
}

/// Lets time pass between two tries for a lock.
fn pause() {
    std::thread::park_timeout(LOCK_WAIT);
}

fn open_folder(place: &Place) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(place.folder()?, ".", flags, Mode::empty())?)
}

fn changed() -> io::Error {
    io::Error::other("it was changed by somebody else just now; Read it again")
}

/// What was renamed is done; a folder that cannot be synced only weakens it against power loss.
pub(crate) fn sync_folder(place: &Place) {
    let _ = open_folder(place).map(rustix::fs::fsync);
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use rustix::fs::XattrFlags;

    use super::*;
    use crate::testing::Folder;

    fn loaded(folder: &Folder) -> Loaded {
        let place = Place::to_write(&folder.context(), "Write", "a.txt").unwrap();
        crate::guard::load(&place, "a.txt").unwrap().unwrap()
    }

    fn replace_in(folder: &Folder, before: Option<&Loaded>) -> String {
        replace_while(folder, before, || panic!("nobody holds a lock here"))
    }

    fn replace_while(folder: &Folder, before: Option<&Loaded>, wait: impl FnMut()) -> String {
        let context = folder.context();
        let mut place = Place::to_write(&context, "Write", "a.txt").unwrap();
        match replace_waiting(&context, &mut place, "a.txt", before, b"new", wait) {
            Ok(()) => fs::read_to_string(folder.path("a.txt")).unwrap(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_change_behind_our_back_wins() {
        let folder = Folder::new(&[("a.txt", "old")]);
        let before = loaded(&folder);
        fs::write(folder.path("a.txt"), "somebody else's").unwrap();
        let refused = "cannot write a.txt: it was changed by somebody else just now; Read it again";
        assert_eq!(replace_in(&folder, Some(&before)), refused);
        assert_eq!(replace_in(&folder, None), refused);
        assert_eq!(folder.listing(), ["a.txt"]);
    }

    #[test]
    fn who_holds_the_folder_for_long_is_told_of() {
        let folder = Folder::new(&[("a.txt", "old")]);
        let before = loaded(&folder);
        let held = File::open(folder.path(".")).unwrap();
        rustix::fs::flock(&held, FlockOperation::LockExclusive).unwrap();
        let refused = "cannot write a.txt: another program holds a lock on its folder; find out \
                       which, or try again later";
        let mut waited = 0;
        assert_eq!(replace_while(&folder, Some(&before), || waited += 1), refused);
        assert_eq!(waited, LOCK_TRIES_MAX);
        // Whoever lets it go while somebody waits is waited for.
        let (mut held, mut waited) = (Some(held), 0);
        let let_go = || {
            waited += 1;
            if waited == LOCK_TRIES_MAX - 1 {
                held = None;
            }
        };
        assert_eq!(replace_while(&folder, Some(&before), let_go), "new");
    }

    #[test]
    fn mode_is_kept_and_new_files_are_not_executable() {
        let folder = Folder::new(&[("a.txt", "old")]);
        let real = folder.path("a.txt");
        fs::set_permissions(&real, Permissions::from_mode(0o751)).unwrap();
        assert_eq!(replace_in(&folder, Some(&loaded(&folder))), "new");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o7777, 0o751);
        fs::remove_file(&real).unwrap();
        assert_eq!(replace_in(&folder, None), "new");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o7111, 0);
    }

    /// The umask is the process's, so a folder says what its files may be.
    #[test]
    fn a_new_file_may_what_every_programs_may() {
        let folder = Folder::new(&[]);
        let entry = |tag: u16, may: u16| {
            [&tag.to_le_bytes()[..], &may.to_le_bytes(), &u32::MAX.to_le_bytes()].concat()
        };
        for others in [0, 4, 6] {
            let entries = [entry(1, 6), entry(4, 6), entry(32, others)].concat();
            let list = [&2_u32.to_le_bytes()[..], &entries].concat();
            let (name, root) = ("system.posix_acl_default", folder.path(""));
            if rustix::fs::setxattr(&root, name, &list, XattrFlags::empty()).is_err() {
                println!("skipped: needs a file system with access lists");
                return;
            }
            assert_eq!(replace_in(&folder, None), "new");
            fs::write(folder.path("other"), "theirs").unwrap();
            let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().mode() & 0o777;
            assert_eq!(mode("a.txt"), mode("other"));
            assert_eq!(mode("a.txt"), 0o660 | u32::from(others));
            fs::remove_file(folder.path("a.txt")).unwrap();
            fs::remove_file(folder.path("other")).unwrap();
        }
    }

    #[test]
    fn what_a_file_has_beside_its_mode_is_kept() {
        let folder = Folder::new(&[("a.txt", "old")]);
        let path = folder.path("a.txt");
        let noted = rustix::fs::setxattr(&path, "user.note", b"mine", XattrFlags::empty());
        if noted.is_err() {
            println!("skipped: needs a file system with attributes");
            return;
        }
        // Version 2; the owner may read and write, user 1234 read, the group nothing, as much as the
        // mask, which is what the mode shows for the group, and others nothing.
        let entry = |tag: u16, may: u16, id: u32| {
            [&tag.to_le_bytes()[..], &may.to_le_bytes(), &id.to_le_bytes()].concat()
        };
        let none = u32::MAX;
        let entries = [(1, 6, none), (2, 4, 1234), (4, 0, none), (16, 6, none), (32, 0, none)];
        let entries = entries.map(|(tag, may, id)| entry(tag, may, id)).concat();
        let list = [&2_u32.to_le_bytes()[..], &entries].concat();
        let listed =
            rustix::fs::setxattr(&path, "system.posix_acl_access", &list, XattrFlags::empty());
        let before = loaded(&folder);
        assert_eq!(replace_in(&folder, Some(&before)), "new");
        let mut value = [0; 256];
        let length = rustix::fs::getxattr(&path, "user.note", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"mine");
        if listed.is_ok() {
            let length =
                rustix::fs::getxattr(&path, "system.posix_acl_access", &mut value[..]).unwrap();
            assert_eq!(value[..length], list);
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o660);
        }
    }

    #[test]
    fn a_cancelled_write_leaves_nothing() {
        let folder = Folder::new(&[]);
        let context = folder.context();
        context.cancel.cancel();
        let mut place = Place::to_write(&context, "Write", "a.txt").unwrap();
        assert!(replace(&context, &mut place, "a.txt", None, b"new").is_err());
        assert!(folder.listing().is_empty());
    }
}
