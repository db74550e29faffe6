//! What differs, as a unified diff that other programs read, too.

use std::fmt::Write as _;
use std::mem::discriminant;
use std::path::Path;

use heeler_stage::{Change, Entry, quoted};
use heeler_tui::text::diff::{Hunk, Side, hunks};

use super::files::StagedFile;

/// All that differs.
pub(super) fn text(files: &[StagedFile]) -> String {
    files.iter().map(file).collect()
}

/// One path that differs.
pub(super) fn file(file: &StagedFile) -> String {
    parts(file).iter().map(|part| part.head() + &part.body()).collect()
}

/// The names and modes of a path.
pub(super) fn head(file: &StagedFile) -> String {
    parts(file).iter().map(Part::head).collect()
}

/// What is told of a path at once.
struct Part<'a> {
    path: &'a Path,
    before: Option<&'a Entry>,
    after: Option<&'a Entry>,
    /// What is in both, where that is a text.
    texts: Option<(&'a str, &'a str)>,
    is_stale: bool,
}

/// As git has it: what becomes something of another kind goes, and the other one comes.
fn parts(file: &StagedFile) -> Vec<Part<'_>> {
    let Change { path, before, after, is_stale } = &file.change;
    let (before, after, texts) = (before.as_ref(), after.as_ref(), file.texts());
    let whole = Part { path, before, after, texts, is_stale: *is_stale };
    let is_turned =
        before.zip(after).is_some_and(|(one, other)| discriminant(one) != discriminant(other));
    if !is_turned {
        return vec![whole];
    }
    let goes = Part { after: None, texts: texts.map(|(old, _)| (old, "")), ..whole };
    let comes =
        Part { before: None, texts: texts.map(|(_, new)| ("", new)), is_stale: false, ..whole };
    vec![goes, comes]
}

impl Part<'_> {
    fn head(&self) -> String {
        let &Self { path, before, after, texts, is_stale } = self;
        // Quoted with what stands before it, as git does.
        let named = |side: &str| quoted(&Path::new(side).join(path));
        let mut text = format!("diff --git {} {}\n", named("a"), named("b"));
        let _ = match (before.map(mode), after.map(mode)) {
            (None, Some(new)) => writeln!(text, "new file mode {new}"),
            (Some(old), None) => writeln!(text, "deleted file mode {old}"),
            (Some(old), Some(new)) if old != new => {
                writeln!(text, "old mode {old}\nnew mode {new}")
            }
            _ => Ok(()),
        };
        if is_stale {
            text.push_str("# the folder's own was changed since the stage began\n");
        }
        for (entry, side) in [(before, '-'), (after, '+')] {
            if let Some(Entry::Link { target }) = entry {
                let _ = writeln!(text, "{side}{}", quoted(target));
            }
        }
        let content = |entry: Option<&Entry>| match entry {
            Some(Entry::File { content, .. }) => Some(content.clone()),
            _ => None,
        };
        if content(before) != content(after) {
            let name = |entry: Option<&Entry>, side: &str| match entry {
                Some(_) => named(side),
                None => "/dev/null".to_owned(),
            };
            let (old, new) = (name(before, "a"), name(after, "b"));
            let _ = match texts {
                Some(("", "")) => Ok(()),
                Some(_) => writeln!(text, "--- {old}\n+++ {new}"),
                None => writeln!(text, "Files {old} and {new} differ"),
            };
        }
        text
    }

    /// What differs in the text of a file.
    fn body(&self) -> String {
        let all = self.texts.map_or_else(Vec::new, |(old, new)| hunks(old, new));
        all.iter().map(hunk).collect()
    }
}

fn mode(entry: &Entry) -> String {
    match entry {
        Entry::File { mode, .. } => format!("100{mode:03o}"),
        Entry::Link { .. } => "120000".to_owned(),
        Entry::Folder { mode } => format!("040{mode:03o}"),
        Entry::Special => "special".to_owned(),
    }
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
