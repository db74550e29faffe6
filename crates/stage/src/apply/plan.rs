//! What is to be done, as it is written down before any of it is.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::death::may_die;
use super::room::Needed;
use crate::changes::Change;
use crate::entry::{Content, Entry, is_same, path_bytes};
use crate::gathered::gathered;
use crate::sparse;

/// What is being applied; while it exists, it is not done.
const PLAN: &str = "apply.json";
/// The bytes of the files it writes, by the number of the step.
const BYTES: &str = "apply";
/// How files are called before they take their place, with a word of the plan's own behind it.
const TEMPORARY: &str = ".heeler-stage-";
/// So many letters that no other plan has the same, and nobody a file of that name.
const WORD_CHARS: usize = 20;
/// What the owner of a folder needs to change what is in it.
pub(super) const OPEN: u32 = 0o700;

#[derive(Serialize, Deserialize)]
pub(super) struct Plan {
    #[serde(with = "path_bytes")]
    pub(super) base: PathBuf,
    pub(super) steps: Vec<Step>,
    /// How its temporary files begin; plans once had none of their own.
    #[serde(default)]
    temporary: String,
    /// Folders that are opened to change what is in them, and closed again.
    #[serde(default)]
    closed: Vec<Closed>,
}

/// One path, and what becomes of it.
#[derive(Serialize, Deserialize)]
pub(super) struct Step {
    #[serde(with = "path_bytes")]
    pub(super) path: PathBuf,
    pub(super) before: Option<Entry>,
    pub(super) after: Option<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Closed {
    #[serde(with = "path_bytes")]
    path: PathBuf,
    mode: u32,
}

/// What a step calls its files in the folder of its path.
pub(super) struct Names {
    /// While it is written.
    pub(super) written: String,
    /// When it is whole, and for what came out of the place.
    pub(super) aside: String,
}

impl Step {
    /// Whether what stands there has to go first.
    pub(super) fn clears(&self) -> bool {
        clears(&self.before, &self.after)
    }

    /// Whether what stands there is what it shall be. Where the group or the access list of a file could
    /// not be kept, its group may do no more than all others.
    pub(super) fn is_made(&self, now: Option<&Entry>) -> bool {
        match (now, &self.before, &self.after) {
            (now, _, after) if is_same(now, after.as_ref()) => true,
            (Some(now), Some(before @ Entry::File { .. }), Some(Entry::File { mode, content })) => {
                let (mode, content) = (heeler_attributes::without_group(*mode), content.clone());
                now.is_as(&Entry::File { mode, content }) && !now.is_as(before)
            }
            _ => false,
        }
    }

    /// Whether a file or link comes where a folder stood.
    pub(super) fn replaces_folder(&self) -> bool {
        is_folder(&self.before) && self.after.is_some() && !is_folder(&self.after)
    }
}

/// Whether what stands at a path has to go before what shall be there comes.
pub(super) fn clears(before: &Option<Entry>, after: &Option<Entry>) -> bool {
    before.is_some() && (after.is_none() || is_folder(before) != is_folder(after))
}

pub(super) fn is_folder(entry: &Option<Entry>) -> bool {
    entry.as_ref().is_some_and(Entry::is_folder)
}

impl Plan {
    /// Whether one is written in the folder of a stage.
    pub(super) fn is_in(stage: &Path) -> bool {
        stage.join(PLAN).exists()
    }

    pub(super) fn read(stage: &Path) -> io::Result<Self> {
        Ok(serde_json::from_reader(BufReader::new(File::open(stage.join(PLAN))?))?)
    }

    /// Writes down what becomes of a base. Each change comes with its bytes, or those of `staged`. Nothing
    /// is left of one that cannot be written whole: nothing of it is done.
    pub(super) fn make(
        stage: &Path,
        base: &Path,
        chosen: Vec<(Change, Option<Vec<u8>>)>,
        staged: impl Fn(&Path) -> PathBuf,
    ) -> io::Result<()> {
        let made = Self::make_whole(stage, base, chosen, staged);
        if made.is_err() {
            // The plan first: one without bytes could not be carried out.
            let _ = fs::remove_file(stage.join(PLAN));
            Self::drop_bytes(stage);
        }
        made
    }

    /// Removes bytes that no plan speaks of, in a stage that nobody else works with: a process died before
    /// its plan was written, or right after that was done.
    pub(super) fn drop_bytes(stage: &Path) {
        if !Self::is_in(stage) {
            // What cannot be removed is tried again by the next one.
            let _ = fs::remove_dir_all(stage.join(BYTES));
        }
    }

    /// Whether bytes lie there without a plan.
    pub(super) fn is_lost(stage: &Path) -> bool {
        stage.join(BYTES).exists() && !Self::is_in(stage)
    }

    fn make_whole(
        stage: &Path,
        base: &Path,
        chosen: Vec<(Change, Option<Vec<u8>>)>,
        staged: impl Fn(&Path) -> PathBuf,
    ) -> io::Result<()> {
        let bytes = stage.join(BYTES);
        // Left by a process that died before its plan was written.
        match fs::remove_dir_all(&bytes) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir(&bytes)?,
        }
        may_die();
        // Where bytes are shared nobody knows what room they take.
        let mut needed = Some(Needed::of(base, &chosen, &staged)?);
        let mut steps = Vec::new();
        for (number, (change, given)) in chosen.into_iter().enumerate() {
            let Change { path, before, mut after, .. } = change;
            if let Some(Entry::File { content, .. }) = &mut after {
                let written = bytes.join(number.to_string());
                let mut file =
                    File::options().read(true).write(true).create_new(true).open(written)?;
                match given {
                    Some(given) => file.write_all(&given)?,
                    None => {
                        let from = File::open(staged(&path))?;
                        if !sparse::share(&from, &file) {
                            needed.take().map_or(Ok(()), |needed| needed.check(stage, base))?;
                            sparse::copy_data(&from, &file)?;
                        }
                    }
                }
                may_die();
                file.sync_all()?;
                *content = Content::of_file(&file)?;
            }
            steps.push(Step { path, before, after });
        }
        may_die();
        File::open(&bytes)?.sync_all()?;
        let closed = closed(base, &steps)?;
        let mut plan = Self { base: base.to_owned(), steps, temporary: String::new(), closed };
        plan.write(stage)
    }

    /// Whether it is of the time when plans had no word of their own.
    pub(super) fn is_nameless(&self) -> bool {
        self.temporary.is_empty()
    }

    /// Gives it a word of its own, written down before the first file has that in its name.
    pub(super) fn name(&mut self, stage: &Path) -> io::Result<()> {
        self.write(stage)
    }

    fn write(&mut self, stage: &Path) -> io::Result<()> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY).rand_bytes(WORD_CHARS);
        let mut file = builder.tempfile_in(stage)?;
        self.temporary = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut out = BufWriter::new(&mut file);
        serde_json::to_writer(&mut out, &self)?;
        out.flush()?;
        drop(out);
        file.as_file().sync_all()?;
        may_die();
        file.persist(stage.join(PLAN))?;
        may_die();
        File::open(stage)?.sync_all()
    }

    /// Forgets it: it is done.
    pub(super) fn remove(stage: &Path) -> io::Result<()> {
        fs::remove_file(stage.join(PLAN))?;
        may_die();
        fs::remove_dir_all(stage.join(BYTES))
    }

    /// Where the bytes of a step's file are.
    pub(super) fn bytes(stage: &Path, number: usize) -> PathBuf {
        stage.join(BYTES).join(number.to_string())
    }

    pub(super) fn names(&self, number: usize) -> Names {
        let written = format!("{}-{number}", self.temporary);
        Names { aside: format!("{written}-out"), written }
    }

    /// How plans without a word of their own called the file of a step.
    pub(super) fn nameless(number: usize) -> String {
        format!("{TEMPORARY}{number}")
    }

    /// Folders that have to be opened, and their modes.
    pub(super) fn closed(&self) -> BTreeMap<PathBuf, u32> {
        gathered(self.closed.iter().map(|closed| (closed.path.clone(), closed.mode)))
    }
}

/// The folders in which something changes and that their owner may not change.
fn closed(base: &Path, steps: &[Step]) -> io::Result<Vec<Closed>> {
    let parents: std::collections::BTreeSet<&Path> =
        gathered(steps.iter().filter_map(|step| step.path.parent()));
    let mut closed = Vec::new();
    for path in parents {
        if let Some(Entry::Folder { mode }) = Entry::read(&base.join(path))?
            && mode & OPEN != OPEN
        {
            closed.push(Closed { path: path.to_owned(), mode });
        }
    }
    Ok(closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_group_could_not_be_kept_is_made_all_the_same() {
        let file = |mode, text: &str| {
            let content = Content::of(text.as_bytes());
            Some(Entry::File { mode, content })
        };
        let check = |before, after, now: Option<Entry>, expected| {
            let step = Step { path: "a".into(), before, after };
            assert_eq!(step.is_made(now.as_ref()), expected, "{now:?}");
        };
        let (old, new) = (file(0o664, "old"), file(0o664, "new"));
        check(old.clone(), new.clone(), file(0o664, "new"), true);
        check(old.clone(), new.clone(), file(0o644, "new"), true);
        check(old.clone(), new.clone(), file(0o600, "new"), false);
        check(old.clone(), new.clone(), file(0o644, "old"), false);
        // One that is new has nobody's group to keep, and one that is as before is not made.
        check(None, new, file(0o644, "new"), false);
        check(file(0o644, "old"), old, file(0o644, "old"), false);
    }
}
