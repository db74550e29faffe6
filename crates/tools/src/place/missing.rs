//! What is said of a path that does not exist: names nearby that resemble it.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

use heeler_core::ToolError;
use rustix::fs::{Dir, Mode, OFlags};

use super::{Place, shown};

/// How many entries of a folder are looked at for a name that resembles a missing one.
const RESEMBLING_ENTRIES_MAX: usize = 2_000;

/// How much alike two names must be, from 0 to 1: one swapped pair in three letters still is.
const RESEMBLANCE_MIN: f64 = 0.6;

/// How many resembling names are suggested.
const SUGGESTIONS_MAX: usize = 3;

/// The error for a path that does not exist, with names nearby that resemble it.
pub(crate) fn missing(workspace: &Path, path: &str, place: &Place) -> ToolError {
    let mut text = format!("{path} does not exist");
    let parent = place.real().parent().unwrap_or(place.real());
    let Ok(folder) = place.folder() else {
        let known = parent.ancestors().find(|folder| folder.is_dir()).unwrap_or(workspace);
        text.push_str(&format!("; the deepest folder there is {}", shown(workspace, known)));
        return ToolError::ForModel(text);
    };
    let names = resembling(folder, place.name());
    if names.is_empty() {
        text.push_str("; use Glob or LS to find it");
    } else {
        let paths: Vec<_> = names.iter().map(|name| shown(workspace, &parent.join(name))).collect();
        text.push_str(&format!("; did you mean {}?", paths.join(", ")));
    }
    ToolError::ForModel(text)
}

/// The names in `folder` most like `name`, best first.
fn resembling(folder: &OwnedFd, name: &OsStr) -> Vec<String> {
    let wanted = name.to_string_lossy().to_lowercase();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(folder, ".", flags, Mode::empty());
    let Ok(entries) = opened.and_then(Dir::new) else { return Vec::new() };
    let mut scored: Vec<(u32, String)> = entries
        .take(RESEMBLING_ENTRIES_MAX)
        .filter_map(|entry| entry.ok()?.file_name().to_str().ok().map(str::to_owned))
        .filter(|name| name != "." && name != "..")
        .filter_map(|name| Some((resemblance(&wanted, &name.to_lowercase())?, name)))
        .collect();
    heeler_core::sort_by(&mut scored, |a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name).collect()
}

/// 1 to 1000; `None` when the two have little in common.
fn resemblance(wanted: &str, name: &str) -> Option<u32> {
    let stem = |text: &str| text.split('.').find(|part| !part.is_empty()).map(str::to_owned);
    if wanted == name {
        return Some(1_000);
    }
    if stem(wanted) == stem(name) {
        return Some(900);
    }
    let ratio = strsim::normalized_damerau_levenshtein(wanted, name);
    // Both are short file names, so the cast keeps every digit that matters.
    (ratio >= RESEMBLANCE_MIN).then_some((ratio * 800.0) as u32)
}
