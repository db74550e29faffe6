//! What a folder held at one moment, by what the system says of each entry.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::ops::Bound;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::entry::{Stamp, path_bytes};

/// The most entries of a folder that is staged.
pub(crate) const ENTRIES_MAX: usize = 1_000_000;

/// Every entry below a folder, by its relative path.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    entries: BTreeMap<PathBuf, Stamp>,
    /// Some are of other users or groups than this process, or name some; nobody wants to know later.
    has_others: bool,
}

/// An entry as it is written.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(with = "path_bytes")]
    path: PathBuf,
    stamp: Stamp,
}

impl Snapshot {
    /// What the folder holds now.
    pub(crate) fn take(folder: &Path) -> io::Result<Self> {
        let mut all = BTreeMap::new();
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        let mut has_others = false;
        let mut waiting = vec![PathBuf::new()];
        while let Some(relative) = waiting.pop() {
            for entry in fs::read_dir(folder.join(&relative))? {
                let entry = entry?;
                let path = relative.join(entry.file_name());
                let metadata = entry.metadata()?;
                if metadata.is_dir() {
                    waiting.push(path.clone());
                }
                has_others = has_others
                    || (metadata.uid(), metadata.gid()) != (user.as_raw(), group.as_raw())
                    || heeler_attributes::has_list(&entry.path(), metadata.file_type());
                all.insert(path, Stamp::of(&metadata));
                if all.len() > ENTRIES_MAX {
                    return Err(io::Error::other(format!(
                        "it holds more than {ENTRIES_MAX} entries"
                    )));
                }
            }
        }
        Ok(Self { entries: all, has_others })
    }

    /// Whether all of it is of this process's user and group, and no access list names others.
    pub(crate) fn is_ours(&self) -> bool {
        !self.has_others
    }

    /// What is known of an entry.
    pub(crate) fn get(&self, path: &Path) -> Option<Stamp> {
        self.entries.get(path).copied()
    }

    pub(crate) fn insert(&mut self, path: PathBuf, stamp: Stamp) {
        self.entries.insert(path, stamp);
    }

    pub(crate) fn remove(&mut self, path: &Path) {
        self.entries.remove(path);
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }

    /// The entries at and below a path.
    pub(crate) fn below<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Path> {
        let from = (Bound::Included(path), Bound::Unbounded);
        let from = self.entries.range::<Path, _>(from).map(|(path, _)| path.as_path());
        from.take_while(move |other| other.starts_with(path))
    }

    /// Writes it to a file, all of it or nothing.
    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let mut out = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        for (path, stamp) in &self.entries {
            let line = Line { path: path.clone(), stamp: *stamp };
            serde_json::to_writer(&mut out, &line)?;
            out.write_all(b"\n")?;
        }
        let whole = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        whole.as_file().sync_all()?;
        whole.persist(file)?;
        Ok(())
    }

    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        let lines = BufReader::new(fs::File::open(file)?).lines();
        let entry = |line: io::Result<String>| {
            let line: Line = serde_json::from_str(&line?)?;
            Ok((line.path, line.stamp))
        };
        let entries = lines.map(entry).collect::<io::Result<_>>()?;
        Ok(Self { entries, has_others: false })
    }
}
