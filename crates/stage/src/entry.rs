//! What stands at a path: a file, a link, a folder, or nothing.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The bits of a mode that are kept: who may read, write and execute.
const MODE_BITS: u32 = 0o777;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A file.
    File {
        /// Who may read, write and execute it.
        mode: u32,
        /// What is in it.
        content: Content,
    },
    /// A symbolic link.
    Link {
        /// Where it leads, as it is written.
        #[serde(with = "path_bytes")]
        target: PathBuf,
    },
    /// A folder.
    Folder {
        /// Who may read, write and enter it.
        mode: u32,
    },
    /// Anything else, such as a socket; never applied.
    Special,
}

/// What is in a file, by its length and hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Bytes.
    pub bytes: u64,
    /// SHA-256, in hexadecimal digits.
    pub sha256: String,
}

impl Entry {
    /// What stands there now; a link is not followed. `None` where nothing does.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        let metadata = match std::fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mode = mode(&metadata);
        let kind = metadata.file_type();
        Ok(Some(if kind.is_file() {
            Self::File { mode, content: Content::of(File::open(path)?)? }
        } else if kind.is_symlink() {
            Self::Link { target: std::fs::read_link(path)? }
        } else if kind.is_dir() {
            Self::Folder { mode }
        } else {
            Self::Special
        }))
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }
}

impl Content {
    /// Of bytes that are read to their end.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn of(mut bytes: impl Read) -> io::Result<Self> {
        let mut hash = Sha256::new();
        let length = io::copy(&mut bytes, &mut hash)?;
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { bytes: length, sha256 })
    }
}

pub(crate) fn mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & MODE_BITS
}

/// Whether nothing is there, a parent that is no folder included.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What the system says of an entry: when any of it differs, the entry was changed. Nobody can set the
/// time of the last change back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    mode: u32,
    inode: u64,
    size: u64,
    changed: i64,
    changed_nanos: i64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let is_folder = metadata.is_dir();
        // A folder changes with whatever is made in it, and these entries speak for themselves.
        let or_none = |value: i64| if is_folder { 0 } else { value };
        Self {
            mode: metadata.mode(),
            inode: metadata.ino(),
            size: if is_folder { 0 } else { metadata.size() },
            changed: or_none(metadata.ctime()),
            changed_nanos: or_none(metadata.ctime_nsec()),
        }
    }
}

/// Paths as their bytes, since not all are texts.
pub(crate) mod path_bytes {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().as_bytes().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PathBuf, D::Error> {
        Ok(OsString::from_vec(Vec::deserialize(deserializer)?).into())
    }
}
