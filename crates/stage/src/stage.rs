//! A stage: where it is, what it is made from, and its life.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use crate::changes::{Changes, Comparison, Unknown};
use crate::entry::{Root, Stamp, metadata_in, path_bytes};
use crate::opened::Opened;
use crate::overlay::Covered;
use crate::snapshot::Snapshot;
use crate::{copy, overlay};

const RECORD: &str = "stage.json";
pub(crate) const BASE: &str = "base.jsonl";
const COPIED: &str = "copied.jsonl";
const UPPER: &str = "upper";
const WORK: &str = "work";
const TREE: &str = "tree";
const LOCK: &str = "lock";

/// How a stage is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The base is covered by an overlay, for this process and what it starts.
    Overlay,
    /// The base is copied.
    Copy,
}

/// What is known of a stage without looking into it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Its name.
    #[serde(skip)]
    pub id: String,
    /// The folder it is made from.
    #[serde(with = "path_bytes")]
    pub base: PathBuf,
    /// How it is made.
    pub form: Form,
    /// The session that worked in it, once there is one.
    pub session: Option<String>,
    /// Which folder the base is; stages once had no record of it.
    #[serde(default)]
    pub(crate) root: Option<Root>,
}

/// A folder in which everything may be changed while its base stays as it is.
#[derive(Debug)]
pub struct Stage {
    pub(crate) folder: PathBuf,
    summary: Summary,
    pub(crate) snapshot: Snapshot,
    copied: Snapshot,
    covered: Option<Covered>,
    /// Held as long as somebody works with it.
    _lock: File,
}

/// Why there is no stage, or it cannot be used; names the folder and the next step.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StageError {
    // With the words of what caused it; as a source these would be told twice.
    message: String,
    is_too_much: bool,
}

impl StageError {
    /// Whether more differs than is ever looked at, so that nothing of it can be applied.
    #[must_use]
    pub fn is_too_much(&self) -> bool {
        self.is_too_much
    }

    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_too_much: false }
    }

    pub(crate) fn io(what: impl std::fmt::Display, source: io::Error) -> Self {
        Self::new(format!("{what}: {source}"))
    }
}

impl Stage {
    /// Makes a stage of `base`, an absolute folder, below `stages`, which lies outside of it. As an
    /// overlay it moves this process, which has to have one thread, into a namespace of its own;
    /// where that cannot be, as a copy. With a form it is that or nothing.
    ///
    /// # Errors
    /// When neither can be made.
    pub fn begin(base: &Path, stages: &Path, form: Option<Form>) -> Result<Self, StageError> {
        let shown = base.display();
        if stages.starts_with(base) {
            return Err(StageError::new(format!(
                "a stage of {shown} cannot be kept in {}, which lies in it; set XDG_CACHE_HOME to \
                 another folder",
                stages.display()
            )));
        }
        let make = || {
            fs::create_dir_all(stages)?;
            let made = tempfile::Builder::new().prefix("stage-").tempdir_in(stages)?;
            let lock = lock(made.path())?.ok_or_else(|| io::Error::other("it is in use"))?;
            Ok((made, lock))
        };
        let failed = |error| StageError::io(format_args!("cannot make a stage of {shown}"), error);
        let (made, lock) = make().map_err(failed)?;
        // Before it is covered. A link may lead elsewhere tomorrow, so it says nothing.
        let metadata = fs::symlink_metadata(base).map_err(failed)?;
        let root = metadata.is_dir().then(|| Root::of(&metadata));
        let snapshot = Snapshot::take(base).map_err(failed)?;
        snapshot.write(&made.path().join(BASE)).map_err(failed)?;
        let (covered, copied) = fill(base, made.path(), &snapshot, form)?;
        let form = if covered.is_some() { Form::Overlay } else { Form::Copy };
        let folder = made.keep();
        let id = name(&folder);
        let summary = Summary { id, base: base.to_owned(), form, session: None, root };
        let stage = Self { folder, summary, snapshot, copied, covered, _lock: lock };
        stage.write_summary().map_err(failed)?;
        Ok(stage)
    }

    /// Opens a stage that is kept.
    ///
    /// # Errors
    /// When there is none of this name, or somebody works with it.
    pub fn open(stages: &Path, id: &str) -> Result<Self, StageError> {
        let summary = Self::list(stages)?.into_iter().find(|summary| summary.id == id);
        let Some(summary) = summary else {
            return Err(StageError::new(format!(
                "there is no stage {id}; see `heeler stage list` for those there are"
            )));
        };
        let folder = stages.join(id);
        let failed = |error| StageError::io(format_args!("cannot open the stage {id}"), error);
        let Some(lock) = lock(&folder).map_err(failed)? else {
            return Err(StageError::new(format!("the stage {id} is in use; wait for its end")));
        };
        let snapshot = Snapshot::read(&folder.join(BASE)).map_err(failed)?;
        let copied = match summary.form {
            Form::Overlay => Snapshot::default(),
            Form::Copy => Snapshot::read(&folder.join(COPIED)).map_err(failed)?,
        };
        Ok(Self { folder, summary, snapshot, copied, covered: None, _lock: lock })
    }

    /// The stages there are, by name.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn list(stages: &Path) -> Result<Vec<Summary>, StageError> {
        let failed =
            |error| StageError::io(format_args!("cannot list {}", stages.display()), error);
        let listed = match fs::read_dir(stages) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let folders = listed.map(|entry| entry.map(|entry| entry.path()));
        let mut folders: Vec<PathBuf> = folders.collect::<io::Result<_>>().map_err(failed)?;
        folders.sort();
        let mut all = Vec::new();
        for folder in folders {
            // One without a record was never finished, or is being removed.
            let Ok(text) = fs::read(folder.join(RECORD)) else { continue };
            let Ok(summary) = serde_json::from_slice::<Summary>(&text) else { continue };
            all.push(Summary { id: name(&folder), ..summary });
        }
        Ok(all)
    }

    /// What is known of it.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The folder to work in.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        match self.summary.form {
            Form::Overlay => self.summary.base.clone(),
            Form::Copy => self.folder.join(TREE),
        }
    }

    /// Remembers which session works in it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_session(&mut self, session: &str) -> Result<(), StageError> {
        self.summary.session = Some(session.to_owned());
        self.write_summary().map_err(|error| {
            StageError::io(format_args!("cannot write to {}", self.folder.display()), error)
        })
    }

    /// Ends the work in it: from here on the base is seen as it is.
    ///
    /// # Errors
    /// When the system does not uncover the base.
    pub fn end_work(&mut self) -> Result<(), StageError> {
        match self.covered.take() {
            Some(covered) => covered.uncover().map_err(|error| {
                StageError::io(
                    format_args!("cannot uncover {}", self.summary.base.display()),
                    error,
                )
            }),
            None => Ok(()),
        }
    }

    /// What it holds otherwise than its base; its work has ended.
    ///
    /// # Errors
    /// When something cannot be read.
    pub fn changes(&self) -> Result<Changes, StageError> {
        let Self { folder, summary, snapshot, copied, .. } = self;
        let base = &summary.base;
        let is_base = match (summary.root, fs::symlink_metadata(base)) {
            (Some(root), Ok(now)) => now.is_dir() && root.is(&Root::of(&now)),
            (root, _) => root.is_none(),
        };
        let tree = self.staged(Path::new(""));
        let compared = Opened::open(folder, &tree).map_err(Unknown::from).and_then(|opened| {
            let comparison = Comparison::new(base, is_base, snapshot, &opened);
            match summary.form {
                Form::Overlay => comparison.of_overlay(&tree),
                Form::Copy => comparison.of_copy(&tree, copied),
            }
        });
        compared.map_err(|error| {
            let is_too_much = matches!(error, Unknown::TooMuch(_));
            let message = format!("cannot compare the stage {}: {error}", summary.id);
            StageError { message, is_too_much }
        })
    }

    /// As [`Stage::changes`], where what others did to the base since the stage began is a part of it: for
    /// who was told of that, and wants the stage's all the same. What they do from now on is not. Beside
    /// that the paths which they changed.
    ///
    /// # Errors
    /// When something cannot be read.
    pub fn changes_to_what_is_there(&mut self) -> Result<(Changes, Vec<PathBuf>), StageError> {
        let (mut found, mut changed) = (self.changes()?, Vec::new());
        for change in found.changes.iter_mut().filter(|change| change.is_stale) {
            change.is_stale = false;
            changed.push(change.path.clone());
            let whole = change.path.ancestors().filter(|path| !path.as_os_str().is_empty());
            for path in whole {
                match metadata_in(&self.summary.base, path) {
                    Some(now) => self.snapshot.insert(path.to_owned(), Stamp::of(&now)),
                    None => self.snapshot.remove(path),
                }
            }
        }
        Ok((found, changed))
    }

    /// A file, link or folder of the stage.
    #[must_use]
    pub fn staged(&self, path: &Path) -> PathBuf {
        let tree = match self.summary.form {
            Form::Overlay => UPPER,
            Form::Copy => TREE,
        };
        self.folder.join(tree).join(path)
    }

    /// Removes it with all it holds. What was being applied when its process died is done no further.
    ///
    /// # Errors
    /// When it cannot be removed, or another stage is being applied to the same base.
    pub fn discard(self) -> Result<(), StageError> {
        self.give_up()?;
        // Without its record it is none any more, whatever is left of it.
        let removed = fs::remove_file(self.folder.join(RECORD)).and_then(|()| remove(&self.folder));
        removed.map_err(|error| {
            StageError::io(format_args!("cannot remove {}", self.folder.display()), error)
        })
    }

    fn write_summary(&self) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer(&mut file, &self.summary)?;
        file.as_file().sync_all()?;
        file.persist(self.folder.join(RECORD))?;
        Ok(())
    }
}

/// Makes what is worked in: covers the base, or copies it.
fn fill(
    base: &Path,
    folder: &Path,
    snapshot: &Snapshot,
    form: Option<Form>,
) -> Result<(Option<Covered>, Snapshot), StageError> {
    let shown = base.display();
    if form != Some(Form::Copy) {
        let (upper, work) = (folder.join(UPPER), folder.join(WORK));
        let covered = fs::create_dir(&upper)
            .and_then(|()| fs::create_dir(&work))
            .and_then(|()| overlay::cover(base, snapshot, &upper, &work));
        match (covered, form) {
            (Ok(covered), _) => return Ok((Some(covered), Snapshot::default())),
            (Err(error), Some(_)) => {
                return Err(StageError::io(
                    format_args!("cannot cover {shown} by an overlay"),
                    error,
                ));
            }
            (Err(_), None) => {}
        }
    }
    let tree = folder.join(TREE);
    let copied = fs::create_dir(&tree).and_then(|()| copy::copy(base, &tree, snapshot));
    let copied = copied.and_then(|copied| copied.write(&folder.join(COPIED)).map(|()| copied));
    copied
        .map(|copied| (None, copied))
        .map_err(|error| StageError::io(format_args!("cannot copy {shown} for a stage"), error))
}

/// The right to work with a stage; none when somebody has it.
pub(crate) fn lock(folder: &Path) -> io::Result<Option<File>> {
    let file = File::options().create(true).append(true).open(folder.join(LOCK))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes what processes left that died while they made or removed a stage.
pub(crate) fn remove_remains(stages: &Path) {
    for entry in fs::read_dir(stages).into_iter().flatten().flatten() {
        let folder = entry.path();
        // Without a lock it has just been made.
        let is_left = !folder.join(RECORD).exists() && folder.join(LOCK).exists();
        if is_left && let Ok(Some(_lock)) = lock(&folder) {
            // What cannot be removed is tried again by the next one.
            let _ = remove(&folder);
        }
    }
}

/// Removes a folder with all in it, folders that nobody may write included.
fn remove(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let mode = fs::symlink_metadata(&folder)?.permissions().mode();
        if mode & 0o700 != 0o700 {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode | 0o700))?;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    fs::remove_dir_all(folder)
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
