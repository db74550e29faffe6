//! `@path` in a file of notes: what it asks to be read with it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// The fewest marks that make a fence.
const FENCE_MARKS_MIN: usize = 3;
/// What closes a sentence, not a path.
const ENDS: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', ']', '"'];

/// The paths a text names with an `@`, as they stand there, each with its line; not those in code.
pub(super) fn imports(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut open: Option<Fence> = None;
    let lines = text.lines().zip(1..).filter(move |(line, _)| {
        match &open {
            Some(fence) if fence.is_closed_by(line) => open = None,
            Some(_) => {}
            None => {
                open = Fence::opened_by(line);
                return open.is_none();
            }
        }
        false
    });
    lines.flat_map(|(line, number)| of_line(line).map(move |path| (number, path)))
}

/// A block of code that is open: the mark its fence is made of, and how many of them.
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let begin = line.trim_start();
        let mark = begin.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
        let behind = begin.trim_start_matches(mark);
        let length = begin.len() - behind.len();
        // With more backticks behind them, backticks make a span.
        let is_span = mark == '`' && behind.contains('`');
        (length >= FENCE_MARKS_MIN && !is_span).then_some(Self { mark, length })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let marks = line.trim();
        marks.len() >= self.length && marks.chars().all(|mark| mark == self.mark)
    }
}

fn of_line(line: &str) -> impl Iterator<Item = &str> {
    outside_spans(line).into_iter().flat_map(str::split_whitespace).filter_map(|word| {
        let path = word.strip_prefix('@')?.trim_end_matches(ENDS);
        let is_path = path.contains('/') || path.contains('.') || path == "README";
        (is_path && !path.contains('@')).then_some(path)
    })
}

/// What of a line is in no span of code: one stands between two runs of backticks of the same length,
/// and a run that nothing closes is text.
fn outside_spans(line: &str) -> Vec<&str> {
    let runs = runs(line);
    let last: BTreeMap<usize, usize> =
        heeler_core::gathered(runs.iter().map(|run| (run.len(), run.start)));
    let mut outside = Vec::new();
    let mut begin = 0;
    let mut left = runs.into_iter();
    while let Some(open) = left.next() {
        // Looked up, not looked for: a line of runs that nothing closes would be read once for each.
        if last.get(&open.len()).is_none_or(|last| *last == open.start) {
            continue;
        }
        if let Some(close) = left.find(|run| run.len() == open.len()) {
            outside.push(&line[begin..open.start]);
            begin = close.end;
        }
    }
    outside.push(&line[begin..]);
    outside
}

/// Where a line has backticks, as many as stand together.
fn runs(line: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
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
