//! Where things are: folders and names, and opening them with the right modes.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use heeler_core::{CallId, SessionId, StoreError};
use rustix::fs::OFlags;

use super::errors;

/// What the name of a door ends in.
const DOOR_SUFFIX: &str = ".door";
/// What a journal's name ends in.
const JOURNAL_SUFFIX: &str = ".jsonl";
/// What the name of a folder of media ends in.
const MEDIA_SUFFIX: &str = ".media";
/// What the name of a journal ends in that is not whole yet.
const NEW_SUFFIX: &str = ".jsonl.new";
/// What the name of a folder of long outputs ends in.
const SPILL_SUFFIX: &str = ".spill";
/// For the owner only.
const FOLDER_MODE: u32 = 0o700;
/// For the owner only.
const FILE_MODE: u32 = 0o600;

/// The folder of a store.
#[derive(Debug)]
pub(super) struct Place {
    root: PathBuf,
    sessions: PathBuf,
}

impl Place {
    /// Makes what is missing.
    pub(super) fn open(root: PathBuf) -> Result<Self, StoreError> {
        let root = std::path::absolute(&root)
            .map_err(|error| errors::refused("find the folder", &root, error))?;
        let sessions = root.join("sessions");
        make_folder(&sessions)
            .map_err(|error| errors::refused("make the folder", &sessions, error))?;
        Ok(Self { root, sessions })
    }

    pub(super) fn sessions(&self) -> &Path {
        &self.sessions
    }

    /// The journal of a session.
    pub(super) fn journal(&self, id: &SessionId) -> PathBuf {
        self.sessions.join(format!("{id}{JOURNAL_SUFFIX}"))
    }

    /// Whether a session has no journal, for sure: what cannot be looked at may be there, and a link may
    /// lead to a disk that is not there now.
    pub(super) fn is_gone(&self, id: &SessionId) -> bool {
        let journal = self.journal(id).symlink_metadata();
        journal.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// The session whose journal has this file name.
    pub(super) fn session_of(name: &str) -> Option<SessionId> {
        name.strip_suffix(JOURNAL_SUFFIX)?.parse().ok()
    }

    /// One of the files of a session's checkpoints.
    pub(super) fn checkpoint(&self, id: &SessionId, slot: usize) -> PathBuf {
        self.sessions.join(format!("{id}.checkpoint-{slot}"))
    }

    /// All sessions with such a file.
    pub(super) fn sessions_with_checkpoints(
        &self,
        slot: usize,
    ) -> Result<Vec<SessionId>, StoreError> {
        self.ids_before(&format!(".checkpoint-{slot}"))
    }

    /// Where a session's owner listens to others.
    pub(super) fn door(&self, id: &SessionId) -> PathBuf {
        self.sessions.join(format!("{id}{DOOR_SUFFIX}"))
    }

    /// All sessions that have one, in order of their ids.
    pub(super) fn sessions_with_doors(&self) -> Result<Vec<SessionId>, StoreError> {
        self.ids_before(DOOR_SUFFIX)
    }

    /// The folder of a session's long outputs.
    pub(super) fn spill_folder(&self, id: &SessionId) -> PathBuf {
        self.sessions.join(format!("{id}{SPILL_SUFFIX}"))
    }

    /// The file of a call's long output.
    pub(super) fn spill(&self, id: &SessionId, call: CallId) -> PathBuf {
        self.spill_folder(id).join(format!("{call}.txt"))
    }

    /// The folder of a session's media.
    pub(super) fn media_folder(&self, id: &SessionId) -> PathBuf {
        self.sessions.join(format!("{id}{MEDIA_SUFFIX}"))
    }

    /// The file whose lock is that of all media.
    pub(super) fn media_lock(&self) -> PathBuf {
        self.root.join("media.lock")
    }

    /// The file that says when media was last cleaned up.
    pub(super) fn media_cleaned(&self) -> PathBuf {
        self.root.join("media.cleaned")
    }

    /// The file of what is known of all sessions.
    pub(super) fn index(&self) -> PathBuf {
        self.root.join("sessions.index")
    }

    /// A session's journal before it has its name.
    pub(super) fn new_journal(&self, id: &SessionId) -> PathBuf {
        self.sessions.join(format!("{id}{NEW_SUFFIX}"))
    }

    /// All sessions with a folder of media, in an order of their own.
    pub(super) fn sessions_with_media(&self) -> Result<Vec<SessionId>, StoreError> {
        self.ids_before(MEDIA_SUFFIX)
    }

    /// All sessions whose journals are not whole yet.
    pub(super) fn sessions_without_name(&self) -> Result<Vec<SessionId>, StoreError> {
        self.ids_before(NEW_SUFFIX)
    }

    /// All sessions with a folder of long outputs.
    pub(super) fn sessions_with_spills(&self) -> Result<Vec<SessionId>, StoreError> {
        self.ids_before(SPILL_SUFFIX)
    }

    /// All sessions with a journal, whether it has been begun or not.
    pub(super) fn sessions_with_journals(&self) -> Result<Vec<SessionId>, StoreError> {
        self.ids_before(JOURNAL_SUFFIX)
    }

    /// The ids of which there is something with this ending.
    fn ids_before(&self, suffix: &str) -> Result<Vec<SessionId>, StoreError> {
        let refused = |error| errors::refused("list", &self.sessions, error);
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.sessions).map_err(refused)? {
            let name = entry.map_err(refused)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(suffix)?.parse().ok());
            ids.extend(id);
        }
        heeler_core::sort(&mut ids);
        Ok(ids)
    }

    /// Opens a session's journal to read it.
    pub(super) fn open_to_read(&self, id: &SessionId) -> Result<File, StoreError> {
        self.open_journal(id, OpenOptions::new().read(true))
    }

    /// Opens a session's journal with these options.
    pub(super) fn open_journal(
        &self,
        id: &SessionId,
        options: &mut OpenOptions,
    ) -> Result<File, StoreError> {
        let path = self.journal(id);
        let file = open_file(&path, options).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => errors::not_found(id, &path),
            _ => errors::refused("open", &path, error),
        })?;
        let metadata = file.metadata().map_err(|error| errors::refused("open", &path, error))?;
        if metadata.is_file() { Ok(file) } else { Err(errors::not_a_file(&path)) }
    }

    /// Makes the names of new files survive the loss of power.
    pub(super) fn sync_names(&self) -> io::Result<()> {
        [&self.sessions, &self.root].into_iter().try_for_each(|folder| sync_folder(folder))
    }
}

/// Opens a file; a new one is for its owner only, and no kind of file makes this wait.
pub(super) fn open_file(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    options.mode(FILE_MODE).custom_flags(flags).open(path)
}

/// Writes over the file that is there, or a new one for its owner only, so that whoever is killed leaves
/// no second one. It may be left written in part.
pub(super) fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Never through somebody's link, and no kind of file makes this wait.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(FILE_MODE).custom_flags(flags);
    options.open(path)?.write_all(bytes)
}

/// Makes a folder and those above it, for their owner only. What is made here survives the loss of power.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)?;
    missing.into_iter().filter_map(Path::parent).try_for_each(sync_folder)
}

/// Makes the names in a folder survive the loss of power.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(path).and_then(|folder| folder.sync_all()) {
        // Some file systems know no sync of folders, and some folders let nobody read their names;
        // there is nothing more to be had.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

/// Removes a folder with all it holds, if it is there.
pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
