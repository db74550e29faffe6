//! Words for what goes wrong with files: each names the file and the next step.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use heeler_core::{Seq, SessionId, StoreError, StoreErrorKind};
use rustix::io::Errno;

use crate::journal::{
    AppendError, HEADER_BYTES_MAX, HeaderError, LINE_BYTES_MAX, LineError, OpenError,
    RECORD_DEPTH_MAX, ScanError,
};

/// What its owner may do with a file that can be read and written.
const OWN_USE: u32 = 0o600;
/// What its owner may do with a folder whose files can come and go.
const OWN_CHANGE: u32 = 0o300;

/// The system refused to do `what` with `path`.
pub(super) fn refused(what: &str, path: &Path, error: io::Error) -> StoreError {
    use io::ErrorKind::{
        FileTooLarge, NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
        StorageFull,
    };
    let step = match error.kind() {
        PermissionDenied if let Some(step) = step_to_a_file(path, &error) => {
            return StoreError::io(
                format_args!("cannot {what} `{}` ({step})", path.display()),
                error,
            );
        }
        // The limit of the process, not one of ours.
        FileTooLarge if error.raw_os_error().is_some() => {
            "let files be larger (`ulimit -f`), or set HEELER_HOME to another disk"
        }
        StorageFull | QuotaExceeded | FileTooLarge => {
            "free some space there, or set HEELER_HOME to a folder with room for new sessions"
        }
        ReadOnlyFilesystem | PermissionDenied | NotADirectory => {
            "set HEELER_HOME to a folder you can write"
        }
        _ => "check the path, or set HEELER_HOME to another folder",
    };
    StoreError::io(format_args!("cannot {what} `{}` ({step})", path.display()), error)
}

/// What helps where a file that is there may not be used, which no other home does. Nothing where its mode
/// and its folder's allow all that we do with it: then it is a mark of the file system's that refuses.
fn step_to_a_file(path: &Path, error: &io::Error) -> Option<String> {
    let own = rustix::process::geteuid().as_raw();
    let is_denied = Errno::from_io_error(error) == Some(Errno::ACCESS);
    let file = match path.metadata() {
        Ok(about) if about.is_file() => Some(about),
        // Its folder tells nobody what is in it, or a folder around that.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
        _ => return None,
    };
    let folder = path.ancestors().skip(1).find_map(|at| Some((at, at.metadata().ok()?)));
    let lacks = |about: &Metadata, mode: u32| {
        is_denied && about.uid() == own && about.mode() & mode != mode
    };
    let folder = folder.filter(|(_, about)| lacks(about, OWN_CHANGE)).map(|(at, _)| at.display());
    let is_kept_shut = file.as_ref().is_some_and(|about| lacks(about, OWN_USE));
    // What lets it be removed does not let it be read, and the other way around.
    match (folder, file) {
        (Some(folder), _) if is_kept_shut => Some(format!(
            "both are yours; `chmod u+rwx` on its folder `{folder}` and `chmod u+rw` on it allow it"
        )),
        (Some(folder), _) => Some(format!("`chmod u+rwx` on its folder `{folder}` allows it")),
        (None, Some(about)) if about.uid() != own => Some(format!(
            "it is of the user with the number {}; only they, or who may `chown` it, can allow it",
            about.uid()
        )),
        (None, _) => is_kept_shut.then(|| "it is yours; `chmod u+rw` on it allows it".to_owned()),
    }
}

pub(super) fn not_found(id: &SessionId, path: &Path) -> StoreError {
    let message = format!(
        "there is no session {id} (no `{}`); the list shows which there are",
        path.display()
    );
    StoreError::new(StoreErrorKind::NotFound, message)
}

pub(super) fn exists(id: &SessionId, path: &Path) -> StoreError {
    let message = format!(
        "session {id} exists already (`{}`); continue it, or take another id",
        path.display()
    );
    StoreError::new(StoreErrorKind::Exists, message)
}

pub(super) fn busy(id: &SessionId) -> StoreError {
    let message = format!(
        "session {id} is in use; `heeler attach {id}` watches it and has a say in it, or end what has \
         it open (a program of yours awaits `Session::close`) and try again"
    );
    StoreError::new(StoreErrorKind::Busy, message)
}

pub(super) fn media_busy(path: &Path, waited: Duration) -> StoreError {
    let message = format!(
        "another process has been writing or removing media for {} seconds (it holds `{}`); end it \
         if it hangs, then try again",
        waited.as_secs(),
        path.display()
    );
    StoreError::new(StoreErrorKind::Busy, message)
}

pub(super) fn not_a_file(path: &Path) -> StoreError {
    let message = format!("`{}` is not a file; move it away", path.display());
    StoreError::new(StoreErrorKind::Damaged, message)
}

pub(super) fn header_too_long(id: &SessionId) -> StoreError {
    let message = format!(
        "the header of session {id} would be longer than {HEADER_BYTES_MAX} bytes; work in a \
         folder with a shorter path"
    );
    StoreError::new(StoreErrorKind::Io, message)
}

pub(super) fn foreign_lease(id: &SessionId) -> StoreError {
    let message =
        format!("the lease of session {id} is of another store; take one from this store");
    StoreError::new(StoreErrorKind::Conflict, message)
}

/// A checkpoint is not of the journal's end.
pub(super) fn checkpoint_elsewhere(id: &SessionId, seq: Seq, end: Seq) -> StoreError {
    let message = format!(
        "a checkpoint of session {id} after record {seq} comes too late, the last record is {end}; \
         ask for it before the next append"
    );
    StoreError::new(StoreErrorKind::Conflict, message)
}

/// A journal could not be walked.
pub(super) fn scan(id: &SessionId, path: &Path, error: ScanError) -> StoreError {
    let shown = path.display();
    match error {
        ScanError::Io(error) => refused("read", path, error),
        // Nothing was ever done in a session whose maker died in its first line.
        ScanError::Header(HeaderError::Missing) => StoreError::new(
            StoreErrorKind::NotFound,
            format!(
                "session {id} was never begun, or is cut off: `{shown}` ends within its first line; restore \
                 the file from a backup, or remove it with `heeler sessions delete {id}`"
            ),
        ),
        ScanError::Header(HeaderError::Newer(version)) => StoreError::new(
            StoreErrorKind::Newer,
            format!("`{shown}` has format {version} of a newer heeler; update heeler to open it"),
        ),
        ScanError::Header(HeaderError::Damaged(what)) => StoreError::new(
            StoreErrorKind::Damaged,
            format!(
                "the first line of `{shown}` cannot be read ({what}); `heeler sessions export {id}` \
                 prints what there is; restore the file from a backup, or remove the session with \
                 `heeler sessions delete {id}`"
            ),
        ),
    }
}

/// A file could not be read as a journal.
pub(super) fn export(path: &Path, error: ScanError) -> StoreError {
    let shown = path.display();
    match error {
        ScanError::Io(error) => refused("read", path, error),
        ScanError::Header(HeaderError::Newer(version)) => StoreError::new(
            StoreErrorKind::Newer,
            format!("`{shown}` has format {version} of a newer heeler; update heeler to read it"),
        ),
        ScanError::Header(HeaderError::Missing | HeaderError::Damaged(_)) => StoreError::new(
            StoreErrorKind::Damaged,
            format!("`{shown}` is no journal; `heeler sessions export ID` prints one"),
        ),
    }
}

/// A journal could not be opened for appending.
pub(super) fn open(id: &SessionId, path: &Path, error: OpenError) -> StoreError {
    match error {
        OpenError::Scan(error) => scan(id, path, error),
        OpenError::Newer(what) => StoreError::new(
            StoreErrorKind::Newer,
            format!(
                "session {id} was continued by a newer heeler ({what} in `{}`): it can be read \
                 but not continued; update heeler",
                path.display()
            ),
        ),
    }
}

/// An append did nothing.
pub(super) fn append(id: &SessionId, path: &Path, error: AppendError) -> StoreError {
    let shown = path.display();
    match error {
        AppendError::Scan(error) => scan(id, path, error),
        AppendError::Io(error) => refused("append to", path, error),
        AppendError::Removed => StoreError::new(
            StoreErrorKind::NotFound,
            format!("`{shown}` was removed while session {id} was open; begin another session"),
        ),
        AppendError::Conflict(what) => StoreError::new(
            StoreErrorKind::Conflict,
            format!("somebody else wrote to session {id}: {what} (`{shown}`); open it again"),
        ),
        AppendError::Line(seq, error) => {
            let what = match error {
                LineError::Size => format!("is longer than {LINE_BYTES_MAX} bytes"),
                LineError::Depth => format!("nests deeper than {RECORD_DEPTH_MAX} levels"),
                LineError::Json(error) => format!("cannot be written as JSON: {error}"),
            };
            let message = format!("record {seq} of session {id} {what}; nothing was written");
            StoreError::new(StoreErrorKind::Io, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use expect_test::{Expect, expect};

    use super::*;

    /// What is told where the system refuses to do this with a file, for the modes of the file and its folder.
    fn check(what: &str, errno: Errno, [file, folder]: [u32; 2], expected: Expect) {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("sessions");
        fs::create_dir(&inner).unwrap();
        let path = inner.join("a.jsonl");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(file)).unwrap();
        fs::set_permissions(&inner, Permissions::from_mode(folder)).unwrap();
        let told = refused(what, &path, errno.into()).to_string();
        fs::set_permissions(&inner, Permissions::from_mode(0o700)).unwrap();
        expected.assert_eq(&told.replace(&*root.path().to_string_lossy(), "HOME"));
    }

    #[test]
    fn the_step_is_for_what_refuses() {
        check(
            "read",
            Errno::ACCESS,
            [0o400, 0o700],
            expect![
                "cannot read `HOME/sessions/a.jsonl` (it is yours; `chmod u+rw` on it allows it): Permission denied (os error 13)"
            ],
        );
        check(
            "remove",
            Errno::ACCESS,
            [0o600, 0o500],
            expect![
                "cannot remove `HOME/sessions/a.jsonl` (`chmod u+rwx` on its folder `HOME/sessions` allows it): Permission denied (os error 13)"
            ],
        );
        // Either may be why.
        check(
            "remove",
            Errno::ACCESS,
            [0o400, 0o500],
            expect![
                "cannot remove `HOME/sessions/a.jsonl` (both are yours; `chmod u+rwx` on its folder `HOME/sessions` and `chmod u+rw` on it allow it): Permission denied (os error 13)"
            ],
        );
        // Neither is why.
        check(
            "remove",
            Errno::ACCESS,
            [0o600, 0o700],
            expect![
                "cannot remove `HOME/sessions/a.jsonl` (set HEELER_HOME to a folder you can write): Permission denied (os error 13)"
            ],
        );
        // As with a file that the file system lets nobody change.
        check(
            "remove",
            Errno::PERM,
            [0o600, 0o700],
            expect![
                "cannot remove `HOME/sessions/a.jsonl` (set HEELER_HOME to a folder you can write): Operation not permitted (os error 1)"
            ],
        );
        check(
            "remove",
            Errno::PERM,
            [0o400, 0o500],
            expect![
                "cannot remove `HOME/sessions/a.jsonl` (set HEELER_HOME to a folder you can write): Operation not permitted (os error 1)"
            ],
        );
    }
    /// Nothing is known of what is in a folder that may not be entered.
    #[test]
    fn the_step_is_for_a_folder_that_is_shut() {
        for folder in [0o600, 0o000] {
            check(
                "read",
                Errno::ACCESS,
                [0o600, folder],
                expect![
                    "cannot read `HOME/sessions/a.jsonl` (`chmod u+rwx` on its folder `HOME/sessions` allows it): Permission denied (os error 13)"
                ],
            );
        }
    }
}
