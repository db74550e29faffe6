//! What a run left in its stage so that its owner may not read it, opened so that it can be compared.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, mode, path_bytes};

/// The modes that were the run's own.
const MODES: &str = "modes.jsonl";
/// What the owner needs of a file, and of a folder.
const READ: u32 = 0o400;
const READ_AND_ENTER: u32 = 0o500;

/// The modes of what was opened, by relative path.
#[derive(Debug, Default)]
pub(crate) struct Opened(BTreeMap<PathBuf, u32>);

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(with = "path_bytes")]
    path: PathBuf,
    mode: u32,
}

impl Opened {
    /// Opens what is closed in the tree of a stage, which nobody works in any more. Each mode is
    /// written down before it is changed.
    pub(crate) fn open(stage: &Path, tree: &Path) -> io::Result<Self> {
        let mut opened = Self(read(&stage.join(MODES))?);
        let mut waiting = vec![PathBuf::new()];
        while let Some(folder) = waiting.pop() {
            let mut closed = Vec::new();
            for entry in fs::read_dir(tree.join(&folder))? {
                let entry = entry?;
                let metadata = entry.metadata()?;
                let path = folder.join(entry.file_name());
                let needed = match () {
                    () if metadata.is_dir() => READ_AND_ENTER,
                    () if metadata.is_file() => READ,
                    () => continue,
                };
                let mode = mode(&metadata);
                if mode & needed != needed {
                    closed.push((Line { path: path.clone(), mode }, mode | needed));
                }
                if metadata.is_dir() {
                    waiting.push(path);
                }
            }
            if !closed.is_empty() {
                write(&stage.join(MODES), closed.iter().map(|(line, _)| line))?;
            }
            for (Line { path, mode }, open) in closed {
                // What is of another user may be readable all the same.
                let _ = fs::set_permissions(tree.join(&path), Permissions::from_mode(open));
                opened.0.entry(path).or_insert(mode);
            }
        }
        Ok(opened)
    }

    /// What stood there before it was opened.
    pub(crate) fn closed_again(&self, path: &Path, mut entry: Option<Entry>) -> Option<Entry> {
        if let (Some(Entry::File { mode, .. } | Entry::Folder { mode }), Some(own)) =
            (&mut entry, self.0.get(path))
        {
            *mode = *own;
        }
        entry
    }
}

fn read(file: &Path) -> io::Result<BTreeMap<PathBuf, u32>> {
    let file = match File::open(file) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    let mut modes = BTreeMap::new();
    for line in BufReader::new(file).lines() {
        // A line that was not written to its end is of a mode that was not changed.
        let Ok(Line { path, mode }) = serde_json::from_str(&line?) else { continue };
        modes.entry(path).or_insert(mode);
    }
    Ok(modes)
}

fn write<'a>(file: &Path, lines: impl Iterator<Item = &'a Line>) -> io::Result<()> {
    // What a process left that died in the middle of a line stays a line of its own.
    let mut text = b"\n".to_vec();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    let mut file = File::options().create(true).append(true).open(file)?;
    file.write_all(&text)?;
    file.sync_all()
}
