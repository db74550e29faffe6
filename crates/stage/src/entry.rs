//! What stands at a path: a file, a link, a folder, or nothing.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::sparse;

/// So many zeros, from a multiple of it on, are counted instead of hashed: a file of holes is as long as
/// anybody likes. Many enough that this is seldom in files without holes, whose hash others know, too.
const ZEROS: u64 = 1024 * 1024;

/// The bits of a mode that are kept: who may read, write and execute.
const MODE_BITS: u32 = 0o777;
/// What says that it is a folder, in the bits above the permissions.
const FOLDER: u32 = 0o4;

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
    /// SHA-256, in hexadecimal digits; nothing where nobody read it. Of a file with whole MiB of zeros it
    /// is that of what is between these, by its own SHA-256, and of where these are.
    pub sha256: String,
}

/// Whether the contents of a file are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contents {
    Hashed,
    Unread,
}

impl Entry {
    /// What stands there now; a link is not followed. `None` where nothing does.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        Self::read_at(CWD, path.as_os_str())
    }

    /// What stands at two paths, where anything may, as far as it takes to know whether it is the same:
    /// files of two lengths, or one alone, are not read.
    pub(crate) fn read_two(
        one: Option<&Path>,
        other: Option<&Path>,
    ) -> io::Result<(Option<Self>, Option<Self>)> {
        let look = |path: &Path| Self::at(CWD, path.as_os_str(), Contents::Unread);
        let (looked, other_looked) = (one.map_or(Ok(None), look)?, other.map_or(Ok(None), look)?);
        match (&looked, &other_looked, one.zip(other)) {
            (
                Some(Self::File { content, .. }),
                Some(Self::File { content: other_content, .. }),
                Some((one, other)),
            ) if content.bytes == other_content.bytes => Ok((Self::read(one)?, Self::read(other)?)),
            _ => Ok((looked, other_looked)),
        }
    }

    /// What stands in a folder under a name.
    pub(crate) fn read_at(folder: impl AsFd, name: &OsStr) -> io::Result<Option<Self>> {
        Self::at(folder, name, Contents::Hashed)
    }

    fn at(folder: impl AsFd, name: &OsStr, contents: Contents) -> io::Result<Option<Self>> {
        let folder = folder.as_fd();
        let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mode = Mode::from_raw_mode(stat.st_mode).bits() as u32 & MODE_BITS;
        Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if contents == Contents::Unread => {
                Self::File { mode, content: Content::unread(stat.st_size.unsigned_abs()) }
            }
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let content = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
                    Ok(file) => Content::of_file(&File::from(file))?,
                    Err(Errno::ACCESS) => Content::unread(stat.st_size.unsigned_abs()),
                    Err(error) => return Err(error.into()),
                };
                Self::File { mode, content }
            }
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(folder, name, Vec::new())?;
                Self::Link { target: OsStr::from_bytes(target.as_bytes()).into() }
            }
            FileType::Directory => Self::Folder { mode },
            _ => Self::Special,
        }))
    }

    /// Whether it is the same, as far as both could be read.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File { mode, content },
                Self::File { mode: other_mode, content: other_content },
            ) => mode == other_mode && content.is_as(other_content),
            _ => self == other,
        }
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }
}

/// Whether the same stands there, or nothing in both.
pub(crate) fn is_same(one: Option<&Entry>, other: Option<&Entry>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_as(other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

impl Content {
    fn unread(bytes: u64) -> Self {
        Self { bytes, sha256: String::new() }
    }

    fn is_as(&self, other: &Self) -> bool {
        let is_unread = self.sha256.is_empty() || other.sha256.is_empty();
        self.bytes == other.bytes && (is_unread || self.sha256 == other.sha256)
    }

    /// Of bytes that are at hand.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, sha256: hexadecimal(Sha256::digest(bytes).as_slice()) }
    }

    /// Of a file.
    pub(crate) fn of_file(file: &File) -> io::Result<Self> {
        let (mut hash, mut zeros) = (Sha256::new(), Vec::new());
        let bytes = sparse::read_blocks(
            file,
            ZEROS,
            |data| hash.update(data),
            |from, count| zeros.extend([from.to_le_bytes(), count.to_le_bytes()].concat()),
        )?;
        let hash = hash.finalize();
        // A file that holds the bytes of that hash is shorter than one of them alone.
        let sha256 = match zeros.is_empty() {
            true => hexadecimal(hash.as_slice()),
            false => {
                let both = Sha256::new().chain_update(hash).chain_update(zeros).finalize();
                hexadecimal(both.as_slice())
            }
        };
        Ok(Self { bytes, sha256 })
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & MODE_BITS
}

/// Where a path of a folder is; nowhere when a link, or anything but a folder, is on the way: what
/// stands behind that is not the folder's.
pub(crate) fn place_in(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let is_folder = |path: &Path| {
        std::fs::symlink_metadata(folder.join(path)).is_ok_and(|metadata| metadata.is_dir())
    };
    above.all(is_folder).then(|| folder.join(path))
}

/// What the system says of what stands at a path of a folder.
pub(crate) fn metadata_in(folder: &Path, path: &Path) -> Option<Metadata> {
    place_in(folder, path).and_then(|place| std::fs::symlink_metadata(place).ok())
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

impl Stamp {
    /// Whether it is of the same file or folder, whatever became of it.
    pub(crate) fn is_of_same(&self, other: &Self) -> bool {
        // The bits above the permissions say what it is.
        self.inode == other.inode && self.mode >> 12 == other.mode >> 12
    }

    /// Whether it is of a folder with this mode.
    pub(crate) fn is_of_folder(&self, mode: u32) -> bool {
        self.mode >> 12 == FOLDER && self.mode & MODE_BITS == mode
    }
}

/// Which folder it is: another one, or a link, is no base of the stage, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Root {
    device: u64,
    inode: u64,
    /// When it was made, in seconds and nanoseconds, where the file system knows.
    born: Option<(u64, u32)>,
}

impl Root {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let born = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            born: born.map(|time| (time.as_secs(), time.subsec_nanos())),
        }
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        // Some file systems get another device with every start of the system.
        let is_near = match (self.born, other.born) {
            (Some(born), Some(other)) => born == other,
            _ => self.device == other.device,
        };
        self.inode == other.inode && is_near
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn a_hash_is_what_others_call_so_but_for_whole_mebibytes_of_zeros() {
        let of = |text: &[u8], at: u64| {
            let file = tempfile::tempfile().unwrap();
            file.write_all_at(text, at).unwrap();
            Content::of_file(&file).unwrap()
        };
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of(b"abc", 0), Content { bytes: 3, sha256: abc.to_owned() });
        let short = [&vec![0; 4_096][..], b"abc"].concat();
        assert_eq!(of(b"abc", 4_096), Content::of(&short));
        // Where the zeros are counts, and how many.
        let long = [(&b"abc"[..], ZEROS), (b"abc", 2 * ZEROS), (b"abc\0", ZEROS)];
        let hashes = long.map(|(text, at)| of(text, at).sha256);
        assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
        let kept = [&vec![0; ZEROS as usize][..], b"abc"].concat();
        assert_eq!(of(&kept, 0), of(b"abc", ZEROS));
        assert_ne!(of(&kept, 0).sha256, Content::of(&kept).sha256);
    }
}
