//! Changing a file of heeler's home folder: one process at a time, whole or not at all, and for its
//! owner only.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::SettingsError;
use crate::document::FILE_BYTES_MAX;
use crate::files::read_file;

/// Whoever changes a file of this folder holds its lock, from reading to writing.
const LOCK: &str = "settings.lock";
/// For the owner only.
const FOLDER_MODE: u32 = 0o700;
/// For the owner only.
const FILE_MODE: u32 = 0o600;

/// Changes `folder/name`, a file of heeler's home: `change` is given what is there, or nothing, and
/// says what shall be; `None` leaves it as it is. Others cannot read it then.
///
/// # Errors
/// When the file cannot be read or written, or `change` refuses.
pub fn change_file(
    folder: &Path,
    name: &str,
    change: impl FnOnce(&[u8]) -> Result<Option<String>, SettingsError>,
) -> Result<(), SettingsError> {
    let path = folder.join(name);
    let shown = path.display().to_string();
    let refused = |error: io::Error| {
        let step = match error.kind() {
            io::ErrorKind::FileTooLarge => "let files be larger (`ulimit -f`)",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space there",
            _ => "make it and its folder writable",
        };
        let why = format!("cannot write the file: {error}; {step}");
        SettingsError::of_file(&shown, why)
    };
    // The lock ends with the file, or with the process.
    let _lock = lock(folder).map_err(refused)?;
    let Some(text) = change(&read_file(&path, &shown)?.unwrap_or_default())? else { return Ok(()) };
    if text.len() as u64 > FILE_BYTES_MAX {
        let why =
            format!("the file would have more than {FILE_BYTES_MAX} bytes; remove some of it");
        return Err(SettingsError::of_file(&shown, why));
    }
    // People keep such files elsewhere and link them; the link stays.
    let target = fs::canonicalize(&path).unwrap_or(path);
    replace(&target, text.as_bytes(), None).map_err(refused)
}

/// Makes a file of settings what it was: this content, or no file. Who changes files of heeler's home
/// meanwhile waits.
///
/// # Errors
/// When the lock or the file cannot be had.
pub fn put_back(
    heeler_home: &Path,
    path: &Path,
    content: Option<&[u8]>,
) -> Result<(), SettingsError> {
    let restore = || {
        let _lock = lock(heeler_home)?;
        let Some(content) = content else { return fs::remove_file(path) };
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mode = fs::metadata(&target).ok().map(|metadata| metadata.permissions());
        replace(&target, content, mode)
    };
    restore().map_err(|error| {
        let why = format!("cannot restore the file: {error}");
        SettingsError::of_file(&path.display().to_string(), why)
    })
}

fn lock(folder: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    let options = &mut OpenOptions::new();
    let file =
        options.create(true).write(true).truncate(false).mode(FILE_MODE).open(folder.join(LOCK))?;
    file.lock()?;
    Ok(file)
}

fn replace(path: &Path, content: &[u8], mode: Option<Permissions>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    // A temporary file is for its owner only.
    let mut file = tempfile::Builder::new().prefix(".heeler-").tempfile_in(folder)?;
    file.write_all(content)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems know no sync of folders; there is nothing more to be had.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}
