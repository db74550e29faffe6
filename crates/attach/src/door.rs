//! A socket beside a journal: opening it, and going in.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// The longest path that systems take for a socket, with room to spare.
const PATH_BYTES_MAX: usize = 100;

/// An open door; gone when it is dropped.
pub(crate) struct Door {
    listener: UnixListener,
    path: PathBuf,
    /// Which file it is: whoever owns the session next may have put theirs in its place.
    file: (u64, u64),
}

impl Door {
    /// Opens the door of a session, whose owner is the only one that may.
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        // What an owner that died left leads nowhere.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&Short::of(&path)?.path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let metadata = fs::symlink_metadata(&path)?;
        Ok(Self { listener, path, file: (metadata.dev(), metadata.ino()) })
    }

    /// The next who comes in; whoever is somebody else's is sent away.
    pub(crate) async fn next(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            if is_own(&stream) {
                return Ok(stream);
            }
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // The listener is open still, so no other file has its number.
        let is_ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == self.file);
        if is_ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Goes in. It never waits for the owner: one that is suspended lets nobody in.
///
/// # Errors
/// `NotFound` or `ConnectionRefused` when nobody has the session open, `WouldBlock` when as many wait
/// before it as the system lets wait.
pub(crate) async fn enter(path: &Path) -> io::Result<UnixStream> {
    let short = Short::of(path)?;
    let stream = UnixStream::connect(&short.path).await?;
    match is_own(&stream) {
        true => Ok(stream),
        false => Err(io::Error::other("somebody else listens there")),
    }
}

/// Whether the other end is a process of the same user.
fn is_own(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own)
}

/// A path that is short enough for a socket: where it is not, by way of its folder.
struct Short {
    path: PathBuf,
    /// Open as long as the path is used that goes through it.
    _folder: Option<fs::File>,
}

impl Short {
    fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().len() <= PATH_BYTES_MAX {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = fs::File::open(folder)?;
        let number = std::os::fd::AsRawFd::as_raw_fd(&folder);
        // Linux alone has such names; elsewhere this fails as a path that is too long does.
        let path = Path::new("/proc/self/fd").join(number.to_string()).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }
}
