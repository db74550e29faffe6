//! A file that is written whole or not at all, and of which nothing is left when this process is ended
//! in the middle.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;
use tempfile::{NamedTempFile, TempPath};

/// How long a pipe may be without anybody who reads it: one who reads often opens it each time.
const READER_WAIT_MAX: Duration = Duration::from_secs(5);
/// How long until it is tried again.
const READER_WAIT_STEP: Duration = Duration::from_millis(20);

/// What helps where a file may not grow.
pub(crate) const MAKE_ROOM: &str = "let files be larger (`ulimit -f`)";

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It stays, and nothing is written.
    Stays,
    /// It is replaced.
    Replaced,
}

/// A file on its way to its place, for its owner only.
pub(crate) struct Unfinished {
    /// None for what is no plain file: a pipe, a device or a link stays what it is, and gets what
    /// there is to write at the end.
    folder: Option<PathBuf>,
    file: File,
    /// On Linux it has a name only once it is whole, for as long as two calls of the system last.
    /// Elsewhere, and on file systems that know no files without a name, from the beginning.
    name: Option<TempPath>,
}

impl Unfinished {
    /// A file that is to stand at this path.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return Ok(Self { folder: None, file: tempfile::tempfile()?, name: None });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self::new_in(folder.unwrap_or(Path::new(".")))
    }

    fn new_in(folder: &Path) -> io::Result<Self> {
        let (file, name) = match nameless(folder) {
            Some(file) => (file, None),
            None => {
                let (file, name) = NamedTempFile::new_in(folder)?.into_parts();
                (file, Some(name))
            }
        };
        Ok(Self { folder: Some(folder.to_owned()), file, name })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its place; an error of the kind `AlreadyExists` when another one stays there.
    pub(crate) fn persist(self, path: &Path, existing: Existing) -> io::Result<()> {
        let Self { folder, mut file, name } = self;
        let Some(folder) = folder else {
            if existing == Existing::Stays {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            let mut target = open(path)?;
            file.rewind()?;
            io::copy(&mut file, &mut target)?;
            return target.flush();
        };
        let name = match name {
            Some(name) => name,
            None => {
                tempfile::Builder::new().make_in(folder, |name| link(&file, name))?.into_temp_path()
            }
        };
        let persisted = match existing {
            Existing::Replaced => name.persist(path),
            Existing::Stays => name.persist_noclobber(path),
        };
        persisted.map_err(|error| error.error)
    }
}

/// The error of a file that could not be written, with its place and what to do about it.
pub(crate) fn unwritten(path: &Path, error: &io::Error) -> io::Error {
    use io::ErrorKind::{BrokenPipe, FileTooLarge, QuotaExceeded, StorageFull};
    let step = match error.kind() {
        // No folder helps a pipe.
        BrokenPipe => "",
        FileTooLarge => MAKE_ROOM,
        StorageFull | QuotaExceeded => "free some space there, or name a file elsewhere",
        _ => "name a file in a folder you can write",
    };
    let step = if step.is_empty() { String::new() } else { format!("; {step}") };
    // Behind this stands what the file is called until it is whole.
    let cause = error.to_string();
    let cause = cause.split(" at path ").next().unwrap_or_default();
    io::Error::new(error.kind(), format!("cannot write {}{step}: {cause}", path.display()))
}

/// Opens what is no plain file, or what a link is to lead to, which is made for its owner only. Without `NONBLOCK` a pipe that nobody reads would hold us up for ever.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let begun = Instant::now();
    let target = loop {
        match options.open(path) {
            Err(error) if Errno::from_io_error(&error) != Some(Errno::NXIO) => return Err(error),
            Err(_) if begun.elapsed() >= READER_WAIT_MAX => {
                return Err(io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads it"));
            }
            Err(_) => wait(READER_WAIT_STEP),
            Ok(target) => break target,
        }
    };
    // Whoever reads may take its time.
    rustix::fs::fcntl_setfl(&target, OFlags::empty())?;
    Ok(target)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the system waits for a reader without an end or not at all"
)]
fn wait(step: Duration) {
    thread::sleep(step);
}

#[cfg(target_os = "linux")]
use linux::{link, nameless};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags};

    /// The open files of this process, by which a file without a name can be given one.
    const OPEN_FILES: &str = "/proc/self/fd";

    pub(super) fn nameless(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR).ok()?;
        Path::new(OPEN_FILES).exists().then(|| File::from(file))
    }

    pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
        let own = format!("{OPEN_FILES}/{}", file.as_raw_fd());
        Ok(rustix::fs::linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

/// There are no files without a name.
#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use expect_test::{Expect, expect};

    use super::*;

    /// What is in the folder while a file is written, and once it is.
    fn check(before: Option<&str>, existing: Existing, expected: Expect) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
        let names = || {
            let listed = fs::read_dir(folder.path()).unwrap();
            listed.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
        };
        let mut new = Unfinished::new_in(folder.path()).unwrap();
        new.file().write_all(b"whole").unwrap();
        let meanwhile = names();
        let persisted = new.persist(&path, existing).map_err(|error| error.kind());
        let text = fs::read_to_string(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o077;
        let is_private = text != "whole" || mode == 0;
        let told = format!("{meanwhile:?} {persisted:?} {:?} {text} {is_private}", names());
        expected.assert_eq(&told);
    }

    #[test]
    fn what_is_no_plain_file_stays_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let [link, target] = ["link", "target"].map(|name| folder.path().join(name));
        fs::write(&target, "old and long").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let write = |existing| {
            let mut new = Unfinished::at(&link).unwrap();
            new.file().write_all(b"whole").unwrap();
            new.persist(&link, existing).map_err(|error| error.kind())
        };
        assert_eq!(write(Existing::Stays), Err(io::ErrorKind::AlreadyExists));
        assert_eq!(write(Existing::Replaced), Ok(()));
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "whole");
        // A link to nothing leads to what is made.
        fs::remove_file(&target).unwrap();
        assert_eq!(write(Existing::Replaced), Ok(()));
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o077, 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_not_whole_has_no_name() {
        check(None, Existing::Stays, expect![[r#"[] Ok(()) ["a"] whole true"#]]);
        check(None, Existing::Replaced, expect![[r#"[] Ok(()) ["a"] whole true"#]]);
        check(
            Some("old"),
            Existing::Stays,
            expect![[r#"["a"] Err(AlreadyExists) ["a"] old true"#]],
        );
        check(Some("old"), Existing::Replaced, expect![[r#"["a"] Ok(()) ["a"] whole true"#]]);
    }
}
