//! `@path` in a file of notes: what it asks to be read with it.

use std::path::{Component, Path, PathBuf};

/// The most imports of one file.
const IMPORTS_MAX: usize = 32;
/// What closes a sentence, not a path.
const ENDS: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', ']', '"'];

/// The paths a text names with an `@`, as they stand there, each with its line; not those in code.
pub(super) fn imports(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, number) in text.lines().zip(1..) {
        let begin = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| begin.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => found.extend(of_line(line).map(|path| (number, path))),
            _ => {}
        }
    }
    found.truncate(IMPORTS_MAX);
    found
}

fn of_line(line: &str) -> impl Iterator<Item = &str> {
    // What stands between backticks is every second part.
    line.split('`').step_by(2).flat_map(str::split_whitespace).filter_map(|word| {
        let path = word.strip_prefix('@')?.trim_end_matches(ENDS);
        let is_path = path.contains('/') || path.contains('.') || path == "README";
        (is_path && !path.contains('@')).then_some(path)
    })
}

/// Whether a path surely meant a file that is not there: a name of notes, a path that is written as
/// one, or one into a folder there is; `@scope/package` and `@name.org` are mostly none.
pub(super) fn is_meant(path: &str, target: &Path) -> bool {
    let is_notes = target.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
    let is_path = ["./", "../", "/", "~/"].iter().any(|begin| path.starts_with(begin));
    is_notes || is_path || (path.contains('/') && target.parent().is_some_and(Path::is_dir))
}

/// Where an import leads, by its letters.
pub(super) fn target(path: &str, importer: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let path = match path.strip_prefix('~') {
        Some(below) => home?.join(below.strip_prefix('/')?),
        None => importer.parent()?.join(path),
    };
    Some(path.components().fold(PathBuf::new(), |mut plain, component| {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
        plain
    }))
}
