//! What is to be done, as it is written down before any of it is.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::changes::Change;
use crate::entry::{Content, Entry, is_same, path_bytes};

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
        self.before.is_some()
            && (self.after.is_none() || is_folder(&self.before) != is_folder(&self.after))
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

pub(super) fn is_folder(entry: &Option<Entry>) -> bool {
    entry.as_ref().is_some_and(Entry::is_folder)
}

impl Plan {
    /// Whether one is written in the folder of a stage.
    pub(super) fn is_in(stage: &Path) -> bool {
        stage.join(PLAN).exists()
    }

    pub(super) fn read(stage: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(stage.join(PLAN))?)?)
    }

    /// Writes down what becomes of a base. Each change comes with its bytes, or those of `staged`.
    pub(super) fn make(
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
        let mut steps = Vec::new();
        for (number, (change, given)) in chosen.into_iter().enumerate() {
            let Change { path, before, mut after, .. } = change;
            if let Some(Entry::File { content, .. }) = &mut after {
                let mut file = File::create_new(bytes.join(number.to_string()))?;
                match given {
                    Some(given) => file.write_all(&given)?,
                    None => drop(io::copy(&mut File::open(staged(&path))?, &mut file)?),
                }
                file.sync_all()?;
                *content = Content::of(File::open(bytes.join(number.to_string()))?)?;
            }
            steps.push(Step { path, before, after });
        }
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
        file.write_all(&serde_json::to_vec(&self)?)?;
        file.as_file().sync_all()?;
        file.persist(stage.join(PLAN))?;
        File::open(stage)?.sync_all()
    }

    /// Forgets it: it is done.
    pub(super) fn remove(stage: &Path) -> io::Result<()> {
        fs::remove_file(stage.join(PLAN))?;
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
        self.closed.iter().map(|closed| (closed.path.clone(), closed.mode)).collect()
    }
}

/// The folders in which something changes and that their owner may not change.
fn closed(base: &Path, steps: &[Step]) -> io::Result<Vec<Closed>> {
    let parents: std::collections::BTreeSet<&Path> =
        steps.iter().filter_map(|step| step.path.parent()).collect();
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
