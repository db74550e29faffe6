//! What differs, as a unified diff that other programs read, too.

use std::fmt::Write as _;
use std::path::Path;

use heeler_stage::{Entry, quoted};
use heeler_tui::text::diff::{Hunk, Side, hunks};

use super::files::StagedFile;

/// All that differs.
pub(super) fn text(files: &[StagedFile]) -> String {
    files.iter().map(file).collect()
}

/// One path that differs.
fn file(file: &StagedFile) -> String {
    head(file) + &body(file)
}

/// What differs in a file's text.
pub(super) fn body(file: &StagedFile) -> String {
    let all = match file.texts() {
        Some((old, new)) => hunks(old, new),
        None => Vec::new(),
    };
    all.iter().map(hunk).collect()
}

/// The names and modes of a path.
pub(super) fn head(file: &StagedFile) -> String {
    // Quoted with what stands before it, as git does.
    let named = |side: &str| quoted(&Path::new(side).join(&file.change.path));
    let (before, after) = (&file.change.before, &file.change.after);
    let mut text = format!("diff --git {} {}\n", named("a"), named("b"));
    let mode = |entry: &Entry| match entry {
        Entry::File { mode, .. } => format!("100{mode:03o}"),
        Entry::Link { .. } => "120000".to_owned(),
        Entry::Folder { mode } => format!("040{mode:03o}"),
        Entry::Special => "special".to_owned(),
    };
    let _ = match (before.as_ref().map(mode), after.as_ref().map(mode)) {
        (None, Some(new)) => writeln!(text, "new file mode {new}"),
        (Some(old), None) => writeln!(text, "deleted file mode {old}"),
        (Some(old), Some(new)) if old != new => writeln!(text, "old mode {old}\nnew mode {new}"),
        _ => Ok(()),
    };
    if file.change.is_stale {
        text.push_str("# the folder's own was changed since the stage began\n");
    }
    for (entry, side) in [(before, '-'), (after, '+')] {
        if let Some(Entry::Link { target }) = entry {
            let _ = writeln!(text, "{side}{}", quoted(target));
        }
    }
    let is_file = |entry: &Option<Entry>| matches!(entry, None | Some(Entry::File { .. }));
    let contents = |entry: &Option<Entry>| match entry {
        Some(Entry::File { content, .. }) => Some(content.clone()),
        _ => None,
    };
    if is_file(before) && is_file(after) && contents(before) != contents(after) {
        let name = |entry: &Option<Entry>, side: &str| match entry {
            Some(_) => named(side),
            None => "/dev/null".to_owned(),
        };
        let (old, new) = (name(before, "a"), name(after, "b"));
        let _ = match file.texts() {
            Some(("", "")) => Ok(()),
            Some(_) => writeln!(text, "--- {old}\n+++ {new}"),
            None => writeln!(text, "Files {old} and {new} differ"),
        };
    }
    text
}

/// One hunk.
pub(super) fn hunk(hunk: &Hunk) -> String {
    let range = |range: &std::ops::Range<usize>| match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        length => format!("{},{length}", range.start + 1),
    };
    let mut text = format!("@@ -{} +{} @@\n", range(&hunk.old_range), range(&hunk.new_range));
    for line in &hunk.lines {
        text.push(match line.side {
            Side::Both => ' ',
            Side::Old => '-',
            Side::New => '+',
        });
        text.push_str(&line.text);
        if !line.text.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
    text
}
