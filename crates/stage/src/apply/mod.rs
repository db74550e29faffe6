//! Makes the base what was chosen: written down first, then file by file, and the rest of it by
//! whoever comes next when the process dies.

mod alone;
mod base;
mod carry;
mod death;
#[cfg(test)]
mod death_tests;
mod place;
mod plan;
mod room;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::changes::Change;
use crate::entry::{Entry, Stamp, is_same, place_in};
use crate::quoted::quoted;
use crate::snapshot::Snapshot;
use crate::stage::{BASE, Stage, StageError, Summary, lock, remove_remains};
use alone::{Alone, alone};
use base::Base;
use carry::{carry_out, count_done, give_up};
use plan::Plan;

/// What applying came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// How many paths are now as they were chosen.
    pub paths: usize,
    /// Those that are not.
    pub conflicts: Vec<Conflict>,
}

/// A path that is not as it was chosen: it is as somebody else left it, or as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path, relative to the base.
    pub path: PathBuf,
    /// What was in the way.
    pub why: Why,
}

/// What was in the way of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Somebody changed it while it was applied.
    Changed,
    /// The folder holds what the stage knows nothing of.
    HoldsMore,
    /// Somebody changed it twice in one moment; one of the two lies beside it, under this name.
    Beside(PathBuf),
    /// The system refused, in its own words.
    Refused(String),
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = quoted(&self.path);
        match &self.why {
            Why::Changed => write!(f, "{path} was changed by somebody else and stays so"),
            Why::HoldsMore => write!(f, "{path} stays: it holds more than what the stage removed"),
            Why::Beside(other) => write!(
                f,
                "{path} was changed twice by somebody else; the other of the two is {}",
                quoted(other)
            ),
            Why::Refused(error) => write!(f, "{path} is not applied: {error}"),
        }
    }
}

/// A stage that was being applied when its process died.
#[derive(Debug)]
pub struct Recovered {
    /// Its name.
    pub id: String,
    /// What became of it now.
    pub came_to: Result<Applied, StageError>,
}

/// How far a stage is that was being applied when its process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// How many paths are as they were chosen.
    pub done: usize,
    /// Of how many.
    pub paths: usize,
}

impl Stage {
    /// Makes the base what these changes say. Each comes with the bytes its file shall have; without
    /// any, it gets those of the stage. Nothing is done when the base is not what a change was made
    /// from.
    ///
    /// # Errors
    /// When the base was changed meanwhile, or is being changed by another stage, or cannot be written.
    pub fn apply(
        &mut self,
        chosen: impl IntoIterator<Item = (Change, Option<Vec<u8>>)>,
    ) -> Result<Applied, StageError> {
        let Summary { id, base, root, .. } = self.summary().clone();
        let shown = base.display();
        let failed = |error| StageError::io(format_args!("cannot apply to {shown}"), error);
        if Plan::is_in(&self.folder) {
            return Err(StageError::new(format!(
                "{id} is applied by half, and the rest of that could not be done; `heeler stage \
                 discard {id}` gives up on it"
            )));
        }
        let _alone = self.alone()?;
        Base::open(&base, root, Default::default()).map_err(|error| {
            let what = format_args!("nothing was applied to {shown}");
            StageError::io(what, error)
        })?;
        let mut chosen: Vec<(Change, Option<Vec<u8>>)> = chosen.into_iter().collect();
        // Folders before what is in them.
        chosen.sort_by(|one, other| one.0.path.cmp(&other.0.path));
        let mut stale = Vec::new();
        for (change, _) in &mut chosen {
            match self.unchanged(change) {
                Some(now) => change.before = now,
                None => stale.push(quoted(&change.path)),
            }
        }
        if !stale.is_empty() {
            return Err(StageError::new(format!(
                "nothing was applied: {shown} changed since the stage began: {}; `heeler stage show {id}` \
                 prints what differs from what is there now, and `heeler stage apply {id} --force` makes that \
                 (`--all --force` where nobody can be asked)",
                stale.join(", ")
            )));
        }
        Plan::make(&self.folder, &base, chosen, |path| self.staged(path)).map_err(failed)?;
        let applied = carry_out(&self.folder, root).map_err(|error| {
            let what = format_args!(
                "cannot apply all of it to {shown}; `heeler stage apply {id}` does the rest"
            );
            StageError::io(what, error)
        })?;
        self.snapshot = Snapshot::read(&self.folder.join(BASE)).map_err(failed)?;
        Ok(applied)
    }

    /// What stands in the base, read whole, if nobody changed that since the stage began.
    fn unchanged(&self, change: &Change) -> Option<Option<Entry>> {
        let place = place_in(&self.summary().base, &change.path);
        let now = place.as_deref().map_or(Ok(None), Entry::read).ok()?;
        // After it was read: what came meanwhile is seen.
        let metadata = place.and_then(|place| fs::symlink_metadata(place).ok());
        let stamp = metadata.map(|metadata| Stamp::of(&metadata));
        let is_as_before = is_same(now.as_ref(), change.before.as_ref())
            && stamp == self.snapshot.get(&change.path);
        (!change.is_stale && is_as_before).then_some(now)
    }

    /// How far it is, if it was being applied when its process died.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn progress(&self) -> Result<Option<Progress>, StageError> {
        let Summary { id, root, .. } = self.summary();
        if !Plan::is_in(&self.folder) {
            return Ok(None);
        }
        count_done(&self.folder, *root).map(Some).map_err(|error| {
            StageError::io(format_args!("cannot say how far {id} is applied"), error)
        })
    }

    /// Gives up on the rest of what was being applied: what is done stays, and what lay beside it to
    /// take its place goes.
    pub(crate) fn give_up(&self) -> Result<(), StageError> {
        if !Plan::is_in(&self.folder) {
            return Ok(());
        }
        let _alone = self.alone()?;
        // A base that has gone, or a plan that nobody can read, holds nothing up.
        let _ = give_up(&self.folder, self.summary().root);
        Ok(())
    }

    fn alone(&self) -> Result<Alone, StageError> {
        let Summary { id, base, .. } = self.summary();
        let stages = self.folder.parent().unwrap_or(Path::new("."));
        let failed = |error| StageError::io(format_args!("cannot lock {}", base.display()), error);
        alone(stages, base).map_err(failed)?.ok_or_else(|| in_use(base, id))
    }
}

fn in_use(base: &Path, id: &str) -> StageError {
    StageError::new(format!(
        "another stage is being applied to {}; wait for its end, then `heeler stage apply {id}`",
        base.display()
    ))
}

/// Finishes what processes that died had begun to apply, and says what each stage came to. What cannot
/// be finished stays for the next time. Removes what is left of stages that were being made or dropped.
///
/// # Errors
/// When stages cannot be listed.
pub fn recover(stages: &Path) -> Result<Vec<Recovered>, StageError> {
    remove_remains(stages);
    let mut finished = Vec::new();
    for summary in Stage::list(stages)? {
        let folder = stages.join(&summary.id);
        if Plan::is_lost(&folder)
            && let Ok(Some(_lock)) = lock(&folder)
        {
            Plan::drop_bytes(&folder);
        }
        if !Plan::is_in(&folder) {
            continue;
        }
        // Whoever holds it is still applying.
        let came_to = match lock(&folder) {
            Ok(Some(lock)) => finish(stages, &folder, &summary, lock),
            Ok(None) => continue,
            Err(error) => Err(cannot_finish(&summary, error)),
        };
        let id = summary.id;
        finished.extend(came_to.transpose().map(|came_to| Recovered { id, came_to }));
    }
    Ok(finished)
}

fn finish(
    stages: &Path,
    folder: &Path,
    summary: &Summary,
    _lock: File,
) -> Result<Option<Applied>, StageError> {
    let failed = |error| cannot_finish(summary, error);
    let alone = alone(stages, &summary.base).map_err(failed)?;
    let _alone = alone.ok_or_else(|| in_use(&summary.base, &summary.id))?;
    match Plan::is_in(folder) {
        true => carry_out(folder, summary.root).map(Some).map_err(failed),
        // It was finished meanwhile.
        false => Ok(None),
    }
}

fn cannot_finish(summary: &Summary, error: io::Error) -> StageError {
    let what = format_args!("cannot finish applying {} to {}", summary.id, summary.base.display());
    StageError::io(what, error)
}
