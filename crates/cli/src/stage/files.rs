//! The paths of a stage that differ, each with what of it can be taken alone.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use heeler_stage::{Change, Changes, Entry, Stage};
use heeler_tui::text::diff::{Hunk, apply, hunks};

use super::commits;
use crate::say::say;

/// The longest file that is shown and taken by hunks, in bytes.
const TEXT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The most bytes of texts that are held at once; later files are taken whole.
const TEXTS_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How many branches, tags and stashes are named.
const NAMES_SHOWN: usize = 10;

/// A path that differs.
pub(super) struct StagedFile {
    pub(super) change: Change,
    /// What its text was and is, where it is a text in both.
    texts: Option<(String, String)>,
    /// What of the text can be taken alone; empty when only all of it can.
    pub(super) hunks: Vec<Hunk>,
    pub(super) choice: Choice,
}

/// Whether a path is chosen by itself; the numbers are of those that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Own,
    /// It is taken with that one, or not at all: it stood in a folder that is none any more.
    With(usize),
    /// It can be taken only when that one is: it comes into a folder that was something else.
    Within(usize),
}

/// What of a path is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chosen {
    Nothing,
    /// These hunks.
    Hunks(Vec<usize>),
    All,
}

impl Chosen {
    pub(super) fn is_nothing(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Hunks(hunks) => hunks.is_empty(),
            Self::All => false,
        }
    }
}

/// What differs in a stage.
pub(super) struct Differing {
    /// What is shown and chosen.
    pub(super) files: Vec<StagedFile>,
    /// What goes with that: folders that something is made in, or that nothing is left of.
    implied: Vec<Change>,
    /// What is committed in the stage alone.
    pub(super) commits: Vec<commits::Staged>,
    /// Why that cannot be told.
    pub(super) unknown: Option<String>,
}

/// Reads what differs in a stage, of which this is known.
pub(super) fn read(stage: &Stage, found: Changes) -> Result<Differing> {
    let (commits, unknown) = match commits::read(stage, &found.committed) {
        Ok(commits) => (commits, None),
        // What can be looked at and applied is, and the stage is not dropped.
        Err(error) => (Vec::new(), Some(format!("{error:#}"))),
    };
    for staged in &commits {
        let mut names = staged.names();
        let shown: Vec<&str> = names.by_ref().take(NAMES_SHOWN).collect();
        let more = match names.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (shown, place) = (shown.join(", "), staged.place());
        say(format_args!("heeler: only the stage has the commits{place}: {shown}{more}"));
    }
    if let Some(error) = &unknown {
        say(format_args!("heeler: whether something was committed cannot be told: {error}"));
    } else if commits.is_empty() && found.in_git > 0 {
        say(format_args!(
            "heeler: {} paths in .git differ too; what is git's own is never applied",
            found.in_git
        ));
    }
    for staying in &found.staying {
        say(format_args!("heeler: {staying}"));
    }
    let all = found.changes;
    let mut differing = Differing { files: Vec::new(), implied: Vec::new(), commits, unknown };
    // The last one that was a folder and is none, or the other way round.
    let mut turned: Option<usize> = None;
    let mut room = TEXTS_BYTES_MAX;
    for (index, change) in all.iter().enumerate() {
        let mut below = below(&all[index..]);
        let is_implied = match (&change.before, &change.after) {
            (None | Some(Entry::Folder { .. }), Some(Entry::Folder { .. })) => {
                below.any(|other| other.after.is_some())
            }
            (Some(Entry::Folder { .. }), None) => below.next().is_some(),
            _ => false,
        };
        if is_implied {
            differing.implied.push(change.clone());
            continue;
        }
        let files = &mut differing.files;
        let choice = match turned.filter(|&at| change.path.starts_with(&files[at].change.path)) {
            Some(at) if change.after.is_none() => Choice::With(at),
            Some(at) => Choice::Within(at),
            None => Choice::Own,
        };
        if has_turned(change) {
            turned = Some(files.len());
        }
        files.push(StagedFile { choice, ..file(stage, change.clone(), &mut room)? });
    }
    Ok(differing)
}

/// Whether a folder became something else, or something else a folder.
fn has_turned(change: &Change) -> bool {
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => before.is_folder() != after.is_folder(),
        _ => false,
    }
}

/// The changes within the folder that the first of these is about. They are in order of paths.
fn below(changes: &[Change]) -> impl Iterator<Item = &Change> {
    let folder = changes.first().map(|change| change.path.as_path());
    let is_below = move |other: &&Change| folder.is_some_and(|path| other.path.starts_with(path));
    changes.iter().skip(1).take_while(is_below)
}

impl Differing {
    /// The changes as they were chosen, and what goes with them.
    pub(super) fn with(&self, chosen: &[Chosen]) -> Result<Vec<(Change, Option<Vec<u8>>)>> {
        let mut changes = Vec::new();
        let mut left = BTreeSet::new();
        for (file, chosen) in self.files.iter().zip(chosen) {
            match file.with(chosen)? {
                Some(change) => changes.push(change),
                None => drop(left.insert(file.change.path.as_path())),
            }
        }
        let taken: BTreeSet<PathBuf> =
            heeler_core::gathered(changes.iter().map(|(change, _)| change.path.clone()));
        let below = |path: &Path, of: &BTreeSet<&Path>| {
            let after = of.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded)).next();
            after.is_some_and(|next| next.starts_with(path))
        };
        let taken: BTreeSet<&Path> = heeler_core::gathered(taken.iter().map(PathBuf::as_path));
        for change in &self.implied {
            let is_taken = match &change.after {
                Some(_) => below(&change.path, &taken),
                None => !below(&change.path, &left),
            };
            if is_taken {
                changes.push((change.clone(), None));
            }
        }
        Ok(changes)
    }
}

fn file(stage: &Stage, change: Change, room: &mut u64) -> Result<StagedFile> {
    let base = stage.summary().base.join(&change.path);
    let old = text(change.before.as_ref(), &base, room)?;
    let new = text(change.after.as_ref(), &stage.staged(&change.path), room)?;
    let texts = old.zip(new);
    let is_file = |entry: &Option<Entry>| matches!(entry, Some(Entry::File { .. }));
    let is_change = is_file(&change.before) && is_file(&change.after);
    let hunks = match &texts {
        Some((old, new)) if is_change => hunks(old, new),
        _ => Vec::new(),
    };
    Ok(StagedFile { change, texts, hunks, choice: Choice::Own })
}

/// What a file says, where it is a text; what is no file says nothing.
fn text(entry: Option<&Entry>, path: &Path, room: &mut u64) -> Result<Option<String>> {
    match entry {
        Some(Entry::File { content, .. }) if content.bytes <= TEXT_BYTES_MAX.min(*room) => {
            let bytes = match std::fs::read(path) {
                // One that nobody may read can still be replaced.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(None),
                read => read.with_context(|| format!("cannot read {}", path.display()))?,
            };
            *room -= content.bytes;
            Ok(String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')))
        }
        Some(Entry::File { .. }) => Ok(None),
        _ => Ok(Some(String::new())),
    }
}

impl StagedFile {
    /// What its text was and is.
    pub(super) fn texts(&self) -> Option<(&str, &str)> {
        self.texts.as_ref().map(|(old, new)| (old.as_str(), new.as_str()))
    }

    /// The change with what was chosen of it, and the bytes of its file where these are not all of
    /// the stage's.
    fn with(&self, chosen: &Chosen) -> Result<Option<(Change, Option<Vec<u8>>)>> {
        let chosen = match chosen {
            chosen if chosen.is_nothing() => return Ok(None),
            Chosen::Hunks(chosen) if chosen.len() < self.hunks.len() => chosen,
            _ => return Ok(Some((self.change.clone(), None))),
        };
        let Some((old, _)) = &self.texts else { return Ok(None) };
        let text = apply(old, chosen.iter().filter_map(|&index| self.hunks.get(index)))?;
        Ok(Some((self.change.clone(), Some(text.into_bytes()))))
    }
}
