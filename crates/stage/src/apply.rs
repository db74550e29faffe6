//! Makes the base what was chosen: written down first, then file by file, and the rest of it by
//! whoever comes next when the process dies.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::changes::Change;
use crate::entry::{Content, Entry, path_bytes};
use crate::stage::{Stage, StageError, Summary, lock, remove_remains};

/// What is being applied; while it exists, it is not done.
const PLAN: &str = "apply.json";
/// The bytes of the files it writes, by the number of the step.
const BYTES: &str = "apply";
/// How files are called before they take their place.
const TEMPORARY: &str = ".heeler-stage";

/// What applying came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// How many paths are now as they were chosen.
    pub paths: usize,
    /// Those that somebody else changed while it was applied; they are as that somebody left them.
    pub conflicts: Vec<PathBuf>,
}

/// A stage that was being applied when its process died.
#[derive(Debug)]
pub struct Recovered {
    /// Its name.
    pub id: String,
    /// What became of it now.
    pub came_to: Result<Applied, StageError>,
}

#[derive(Serialize, Deserialize)]
struct Plan {
    #[serde(with = "path_bytes")]
    base: PathBuf,
    steps: Vec<Step>,
}

/// One path, and what becomes of it.
#[derive(Serialize, Deserialize)]
struct Step {
    #[serde(with = "path_bytes")]
    path: PathBuf,
    before: Option<Entry>,
    after: Option<Entry>,
}

impl Stage {
    /// Makes the base what these changes say. Each comes with the bytes its file shall have; without
    /// any, it gets those of the stage. Nothing is done when the base is not what a change was made
    /// from.
    ///
    /// # Errors
    /// When the base was changed meanwhile, or cannot be written.
    pub fn apply(
        &self,
        chosen: impl IntoIterator<Item = (Change, Option<Vec<u8>>)>,
    ) -> Result<Applied, StageError> {
        let base = self.summary().base.clone();
        let mut chosen: Vec<(Change, Option<Vec<u8>>)> = chosen.into_iter().collect();
        // Folders before what is in them.
        chosen.sort_by(|one, other| one.0.path.cmp(&other.0.path));
        let is_stale = |change: &Change| {
            change.is_stale
                || Entry::read(&base.join(&change.path)).ok() != Some(change.before.clone())
        };
        let stale: Vec<String> = chosen
            .iter()
            .filter(|(change, _)| is_stale(change))
            .map(|(change, _)| change.path.display().to_string())
            .collect();
        if !stale.is_empty() {
            return Err(StageError::new(format!(
                "nothing was applied: {} changed since the stage began: {}",
                base.display(),
                stale.join(", ")
            )));
        }
        let failed =
            |error| StageError::io(format_args!("cannot apply to {}", base.display()), error);
        self.write_plan(base.clone(), chosen).map_err(failed)?;
        carry_out(&self.folder).map_err(failed)
    }

    fn write_plan(&self, base: PathBuf, chosen: Vec<(Change, Option<Vec<u8>>)>) -> io::Result<()> {
        let bytes = self.folder.join(BYTES);
        // Left by a process that died before its plan was written.
        match fs::remove_dir_all(&bytes) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir(&bytes)?,
        }
        let mut steps = Vec::new();
        for (number, (change, given)) in chosen.into_iter().enumerate() {
            let Change { path, before, mut after, .. } = change;
            if let Some(Entry::File { content, .. }) = &mut after {
                let mut file = File::create_new(bytes.join(number.to_string()))?;
                match given {
                    Some(given) => file.write_all(&given)?,
                    None => drop(io::copy(&mut File::open(self.staged(&path))?, &mut file)?),
                }
                file.sync_all()?;
                *content = Content::of(File::open(bytes.join(number.to_string()))?)?;
            }
            steps.push(Step { path, before, after });
        }
        let mut plan = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer(&mut plan, &Plan { base, steps })?;
        plan.as_file().sync_all()?;
        plan.persist(self.folder.join(PLAN))?;
        File::open(&self.folder)?.sync_all()
    }
}

/// Finishes what processes that died had begun to apply, and says what each stage came to. What cannot
/// be finished stays for the next time. Removes what is left of stages that were being made or dropped.
///
/// # Errors
/// When stages cannot be listed.
pub fn recover(stages: &Path) -> Result<Vec<Recovered>, StageError> {
    remove_remains(stages);
    let mut finished = Vec::new();
    for Summary { id, base, .. } in Stage::list(stages)? {
        let folder = stages.join(&id);
        if !folder.join(PLAN).exists() {
            continue;
        }
        let finish = || match lock(&folder)? {
            // It may have been finished meanwhile.
            Some(_lock) if folder.join(PLAN).exists() => carry_out(&folder).map(Some),
            // Whoever holds it is still applying.
            _ => Ok(None),
        };
        let came_to = finish().map_err(|error| {
            let base = base.display();
            StageError::io(format_args!("cannot finish applying {id} to {base}"), error)
        });
        finished.extend(came_to.transpose().map(|came_to| Recovered { id, came_to }));
    }
    Ok(finished)
}

/// Does what is left of a plan, and forgets it.
fn carry_out(folder: &Path) -> io::Result<Applied> {
    let plan: Plan = serde_json::from_slice(&fs::read(folder.join(PLAN))?)?;
    let mut applied = Applied::default();
    let base = Base::open(&plan.base)?;
    let (goes, comes): (Vec<_>, Vec<_>) =
        plan.steps.iter().enumerate().partition(|(_, step)| step.clears());
    // What is in a folder goes before it.
    for (_, step) in goes.iter().rev() {
        base.remove(step)?;
    }
    for (number, step) in goes.iter().filter(|(_, step)| step.after.is_some()).chain(&comes) {
        base.put(step, &folder.join(BYTES).join(number.to_string()))?;
    }
    for step in &plan.steps {
        match Entry::read(&plan.base.join(&step.path))? {
            now if now == step.after => applied.paths += 1,
            _ => applied.conflicts.push(step.path.clone()),
        }
    }
    base.sync(&plan.steps)?;
    fs::remove_file(folder.join(PLAN))?;
    fs::remove_dir_all(folder.join(BYTES))?;
    Ok(applied)
}

impl Step {
    /// Whether what stands there has to go first.
    fn clears(&self) -> bool {
        let is_folder = |entry: &Option<Entry>| entry.as_ref().is_some_and(Entry::is_folder);
        self.before.is_some()
            && (self.after.is_none() || is_folder(&self.before) != is_folder(&self.after))
    }
}

/// The folder that is changed. Everything in it is reached from here, over no link.
struct Base {
    path: PathBuf,
    folder: OwnedFd,
}

impl Base {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { path: path.to_owned(), folder })
    }

    /// The folder a path lies in, and its name there; folders on the way are made if they are wanted.
    fn parent<'a>(
        &self,
        path: &'a Path,
        is_made: bool,
    ) -> io::Result<Option<(OwnedFd, &'a OsStr)>> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let mut folder = self.folder.try_clone()?;
        for part in path.parent().unwrap_or(Path::new("")).components() {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
            let open = || rustix::fs::openat(&folder, part.as_os_str(), flags, Mode::empty());
            let opened = match open() {
                Err(rustix::io::Errno::NOENT) if is_made => {
                    rustix::fs::mkdirat(&folder, part.as_os_str(), Mode::from_raw_mode(0o777))?;
                    open()
                }
                opened => opened,
            };
            folder = match opened {
                Ok(opened) => opened,
                // Somebody put something else there.
                Err(
                    rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP,
                ) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Some((folder, name)))
    }

    /// Whether a step is still to be done on what stands there.
    fn is_due(&self, step: &Step) -> io::Result<bool> {
        Ok(Entry::read(&self.path.join(&step.path))? == step.before)
    }

    /// Removes what stands there, if it is what is expected. A folder that holds more stays.
    fn remove(&self, step: &Step) -> io::Result<()> {
        let Some((folder, name)) = self.parent(&step.path, false)? else { return Ok(()) };
        if !self.is_due(step)? {
            return Ok(());
        }
        let flags = match &step.before {
            Some(Entry::Folder { .. }) => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        match rustix::fs::unlinkat(&folder, name, flags) {
            Ok(()) | Err(rustix::io::Errno::NOTEMPTY | rustix::io::Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts there what shall be, whole or not at all.
    fn put(&self, step: &Step, bytes: &Path) -> io::Result<()> {
        let Some((folder, name)) = self.parent(&step.path, true)? else { return Ok(()) };
        let temporary = format!("{TEMPORARY}-{}", bytes.file_name().unwrap_or_default().display());
        // Left by a process that died here.
        let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        let is_free = step.clears() && Entry::read(&self.path.join(&step.path))?.is_none();
        if !is_free && !self.is_due(step)? {
            return Ok(());
        }
        match &step.after {
            Some(Entry::File { mode, .. }) => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                let owner = Mode::from_raw_mode(0o600);
                let file = rustix::fs::openat(&folder, &temporary, flags, owner)?;
                let mut file = File::from(file);
                io::copy(&mut File::open(bytes)?, &mut file)?;
                rustix::fs::fchmod(&file, Mode::from_raw_mode(*mode as rustix::fs::RawMode))?;
                file.sync_all()?;
                rustix::fs::renameat(&folder, &temporary, &folder, name)?;
            }
            Some(Entry::Link { target }) => {
                rustix::fs::symlinkat(target, &folder, &temporary)?;
                rustix::fs::renameat(&folder, &temporary, &folder, name)?;
            }
            Some(Entry::Folder { mode }) => {
                let mode = Mode::from_raw_mode(*mode as rustix::fs::RawMode);
                match rustix::fs::mkdirat(&folder, name, mode) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                rustix::fs::chmodat(&folder, name, mode, AtFlags::empty())?;
            }
            Some(Entry::Special) | None => {}
        }
        Ok(())
    }

    /// What was done outlives a loss of power.
    fn sync(&self, steps: &[Step]) -> io::Result<()> {
        let folders: BTreeSet<&Path> = steps.iter().filter_map(|step| step.path.parent()).collect();
        for folder in folders {
            let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
            // One that is gone has nothing to sync.
            if let Ok(folder) =
                rustix::fs::openat(CWD, self.path.join(folder), flags, Mode::empty())
            {
                rustix::fs::fsync(&folder)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;
    use crate::Form;

    /// A stage of two files in a folder, one changed and one removed, and one that is new, with its
    /// plan written and nothing of it done.
    fn planned() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let world = tempfile::tempdir().unwrap();
        let (base, stages) = (world.path().join("base"), world.path().join("stages"));
        fs::create_dir_all(base.join("in")).unwrap();
        fs::write(base.join("in/a"), "old").unwrap();
        fs::write(base.join("in/b"), "old").unwrap();
        let stage = Stage::begin(&base, &stages, Some(Form::Copy)).unwrap();
        fs::write(stage.workspace().join("in/a"), "new").unwrap();
        fs::remove_file(stage.workspace().join("in/b")).unwrap();
        fs::create_dir(stage.workspace().join("made")).unwrap();
        fs::write(stage.workspace().join("made/c"), "new").unwrap();
        let name = OsStr::from_bytes(b"no text \xff");
        std::os::unix::fs::symlink(name, stage.workspace().join(name)).unwrap();
        let chosen = stage.changes().unwrap().changes.into_iter().map(|change| (change, None));
        stage.write_plan(base.clone(), chosen.collect()).unwrap();
        (world, base, stages)
    }

    /// The only stage.
    fn recovered_id(stages: &Path) -> String {
        Stage::list(stages).unwrap().pop().unwrap().id
    }

    /// What a base holds, and what the next start says of it.
    fn recovered(base: &Path, stages: &Path) -> (Vec<String>, Applied) {
        let mut finished = recover(stages).unwrap();
        assert!(recover(stages).unwrap().is_empty());
        let mut held = Vec::new();
        for folder in ["in", "made"] {
            for entry in fs::read_dir(base.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(base).unwrap().display().to_string();
                held.push(format!("{name}: {}", fs::read_to_string(path).unwrap()));
            }
        }
        held.sort();
        (held, finished.pop().unwrap().came_to.unwrap())
    }

    #[test]
    fn a_plan_is_finished_wherever_its_process_died() {
        let whole = ["in/a: new", "made/c: new"].map(str::to_owned).to_vec();
        let done = Applied { paths: 5, conflicts: Vec::new() };
        let (_world, base, stages) = planned();
        assert_eq!(recovered(&base, &stages), (whole.clone(), done.clone()));
        // Somewhere in the middle: one is done, and another was about to take its place.
        let (_world, base, stages) = planned();
        fs::remove_file(base.join("in/b")).unwrap();
        fs::write(base.join("in").join(format!("{TEMPORARY}-0")), "ne").unwrap();
        assert_eq!(recovered(&base, &stages), (whole.clone(), done.clone()));
        // Somebody who drops it dies.
        fs::remove_file(stages.join(recovered_id(&stages)).join("stage.json")).unwrap();
        assert!(recover(&stages).unwrap().is_empty());
        assert_eq!(fs::read_dir(&stages).unwrap().count(), 0);
        // All but the plan's removal.
        let (_world, base, stages) = planned();
        fs::remove_file(base.join("in/b")).unwrap();
        fs::write(base.join("in/a"), "new").unwrap();
        fs::create_dir(base.join("made")).unwrap();
        fs::write(base.join("made/c"), "new").unwrap();
        assert_eq!(recovered(&base, &stages), (whole, done));
    }

    #[test]
    fn what_somebody_else_did_before_the_rest_of_a_plan_stays() {
        let (world, base, stages) = planned();
        fs::write(base.join("in/a"), "theirs").unwrap();
        let (held, applied) = recovered(&base, &stages);
        assert_eq!(held, ["in/a: theirs", "made/c: new"]);
        assert_eq!(applied, Applied { paths: 4, conflicts: vec!["in/a".into()] });
        drop(world);
        // A link in the place of a folder leads nowhere.
        let (world, base, stages) = planned();
        fs::rename(base.join("in"), world.path().join("out")).unwrap();
        std::os::unix::fs::symlink(world.path().join("out"), base.join("in")).unwrap();
        let (_, applied) = recovered(&base, &stages);
        assert_eq!(fs::read_to_string(world.path().join("out/a")).unwrap(), "old");
        assert_eq!(fs::read_to_string(world.path().join("out/b")).unwrap(), "old");
        assert_eq!(applied.conflicts.len(), 2);
    }
}
