//! Which files a search sees: those below a folder that no ignore file hides, in order of name.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use heeler_core::{ToolContext, ToolError, is_bounded_glob, truncate_chars};
use ignore::{DirEntry, Match, Walk, WalkBuilder};

use crate::blocking::keep_going;
use crate::ignores::Ignores;
use crate::place::{Closed, Place};
use crate::text::count_of;

/// Files and folders that one search looks at.
pub(crate) const WALK_ENTRIES_MAX: usize = 1_000_000;

/// Where a search starts, and what it may see.
pub(crate) struct Tree {
    /// The real path of the folder, or of one file.
    pub(crate) base: PathBuf,
    /// Hidden files are seen too.
    pub(crate) hidden: bool,
    /// See [`WALK_ENTRIES_MAX`].
    pub(crate) entries_max: usize,
    closed: Arc<Closed>,
}

impl Tree {
    /// The tree at a place, without what is closed in it.
    pub(crate) fn new(place: &Place, closed: Closed, hidden: bool, entries_max: usize) -> Self {
        Self { base: place.real().to_owned(), hidden, entries_max, closed: Arc::new(closed) }
    }
}

/// How a walk went.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Files, links and folders from the base downwards.
    n_seen: usize,
    /// It was stopped at the limit of entries.
    pub(crate) capped: bool,
    /// Folders and files that could not be read.
    pub(crate) n_unreadable: usize,
    /// Folders and files that are closed to tools.
    n_closed: usize,
    /// Ignore files that were passed over.
    n_refused: usize,
}

/// What a walk asks of each entry before it goes there.
struct Gate {
    ignores: Ignores,
    n_closed: usize,
}

/// Gives every file and link below the base to `each`, until it breaks.
pub(crate) fn walk(
    context: &ToolContext,
    tree: &Tree,
    mut each: impl FnMut(&DirEntry) -> ControlFlow<()>,
) -> Result<Walked, ToolError> {
    let root = ignore_root(context, &tree.base);
    let mut walked = walk_from(context, tree, root, &mut each)?;
    if walked.n_seen == 0 {
        // An ignore file hides the base. The model named it, so it is searched all the same.
        walked = walk_from(context, tree, &tree.base, &mut each)?;
    }
    Ok(walked)
}

fn walk_from(
    context: &ToolContext,
    tree: &Tree,
    root: &Path,
    each: &mut impl FnMut(&DirEntry) -> ControlFlow<()>,
) -> Result<Walked, ToolError> {
    let mut walked = Walked::default();
    let gate = Arc::new(Mutex::new(Gate { ignores: Ignores::below(root), n_closed: 0 }));
    for entry in walker(tree, root, Arc::clone(&gate)) {
        keep_going(context)?;
        let Ok(entry) = entry else {
            walked.n_unreadable += 1;
            continue;
        };
        if !entry.path().starts_with(&tree.base) {
            continue;
        }
        if tree.entries_max <= walked.n_seen {
            walked.capped = true;
            break;
        }
        walked.n_seen += 1;
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if !is_folder && each(&entry).is_break() {
            break;
        }
    }
    let gate = gate.lock().unwrap_or_else(PoisonError::into_inner);
    (walked.n_closed, walked.n_refused) = (gate.n_closed, gate.ignores.n_refused);
    Ok(walked)
}

/// Where ignore files begin to count: at the root of the repository, or else at the workspace.
/// Those above it must not: people who keep their home folder in git hide everything there.
fn ignore_root<'a>(context: &ToolContext, base: &'a Path) -> &'a Path {
    if base.is_file() {
        return base;
    }
    let workspace = context.workspace.canonicalize().ok();
    let repository = base.ancestors().find(|folder| folder.join(".git").exists());
    let workspace = base.ancestors().find(|folder| Some(*folder) == workspace.as_deref());
    repository.or(workspace).unwrap_or(base)
}

/// Walks `root`, but of it only the way to the base and what lies below that. The person's own
/// git settings are left out: the same tree gives the same files to everybody.
fn walker(tree: &Tree, root: &Path, gate: Arc<Mutex<Gate>>) -> Walk {
    let (base, closed, hidden) = (tree.base.clone(), Arc::clone(&tree.closed), tree.hidden);
    WalkBuilder::new(root)
        // What it would read of ignore files by itself it opens whatever it is.
        .standard_filters(false)
        .follow_links(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(move |entry| {
            let path = entry.path();
            let is_inside = path.starts_with(&base);
            if !is_inside && !base.starts_with(path) {
                return false;
            }
            let mut gate = gate.lock().unwrap_or_else(PoisonError::into_inner);
            let is_hidden = || entry.file_name().as_encoded_bytes().starts_with(b".");
            match gate.ignores.matched(entry) {
                Match::Ignore(()) => return false,
                Match::None if !hidden && is_hidden() => return false,
                _ => {}
            }
            if !is_inside {
                return true;
            }
            let is_closed = closed.holds(path);
            gate.n_closed += usize::from(is_closed);
            entry.file_name() != ".git" && !is_closed
        })
        .build()
}

/// A glob over paths with `/`: `*` stays within one name, `**` crosses folders.
pub(crate) fn glob(pattern: &str) -> Result<GlobSet, ToolError> {
    if !is_bounded_glob(pattern) {
        let start = truncate_chars(pattern, 80);
        return Err(ToolError::for_model(format!("`{start}` is too large for a glob")));
    }
    let refused = |error: globset::Error| {
        ToolError::for_model(format!("`{pattern}` is not a glob: {}", error.kind()))
    };
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(refused)?;
    // As a set of one: for one alone there is no way to say that it is too large.
    GlobSetBuilder::new().add(glob).build().map_err(refused)
}

/// Whether a pattern asks for hidden files by name, as `.env*` and `**/.github/**` do.
pub(crate) fn names_hidden(pattern: &str) -> bool {
    pattern.split(['/', '{', ',']).any(|part| part.starts_with('.') && part != "." && part != "..")
}

/// Says what a walk could not see; empty when it saw everything.
pub(crate) fn notes(walked: &Walked, entries_max: usize) -> String {
    let mut notes = String::new();
    if walked.capped {
        notes.push_str(&format!(
            "(stopped after {entries_max} files and folders; name a narrower path)\n"
        ));
    }
    if walked.n_closed > 0 {
        let places = count_of(walked.n_closed, "place is", "places are");
        notes.push_str(&format!("({places} closed to tools and left out)\n"));
    }
    if walked.n_refused > 0 {
        let files = match walked.n_refused {
            1 => "1 ignore file is no plain file, or too long, and was".to_owned(),
            n => format!("{n} ignore files are no plain files, or too long, and were"),
        };
        notes.push_str(&format!("({files} passed over)\n"));
    }
    if walked.n_unreadable > 0 {
        notes.push_str(&format!("({} files or folders could not be read)\n", walked.n_unreadable));
    }
    notes
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::place;
    use crate::testing::Folder;

    fn tree(context: &ToolContext, path: &str, hidden: bool, entries_max: usize) -> Tree {
        let (place, closed) = Place::to_search(context, "Glob", path).unwrap();
        Tree::new(&place, closed, hidden, entries_max)
    }

    fn seen(folder: &Folder, path: &str, hidden: bool, entries_max: usize) -> String {
        let tree = tree(&folder.context(), path, hidden, entries_max);
        let mut names = String::new();
        let walked = walk(&folder.context(), &tree, |entry| {
            names.push_str(&place::shown(&folder.path(""), entry.path()));
            names.push('\n');
            ControlFlow::Continue(())
        });
        names + &notes(&walked.unwrap(), entries_max)
    }

    #[test]
    fn ignore_files_count_with_and_without_a_repository() {
        let files = [
            (".gitignore", "*.log\n/target\n"),
            (".hidden", ""),
            ("a.log", ""),
            ("sub/.ignore", "!keep.log\n"),
            ("sub/deep/.gitignore", "x.rs\n"),
            ("sub/deep/b.log", ""),
            ("sub/deep/keep.log", ""),
            ("sub/deep/x.rs", ""),
            ("sub/deep/y.rs", ""),
            ("target/z.rs", ""),
        ];
        for git in [None, Some((".git/HEAD", ""))] {
            let folder = Folder::new(&files.iter().copied().chain(git).collect::<Vec<_>>());
            let all = ["sub/deep/keep.log", "sub/deep/y.rs", ""].join("\n");
            assert_eq!(seen(&folder, "", false, 100), all);
            assert_eq!(seen(&folder, "sub", false, 100), all);
            assert_eq!(seen(&folder, "sub/deep", false, 100), all);
            assert_eq!(seen(&folder, "target", false, 100), "target/z.rs\n");
            let hidden = seen(&folder, "", true, 100);
            assert!(hidden.contains(".hidden\n") && !hidden.contains(".git/"), "{hidden}");
        }
    }

    #[test]
    fn an_ignore_file_above_the_workspace_does_not_count() {
        let outer = Folder::new(&[(".gitignore", "*\n"), ("inner/a.rs", "")]);
        let context = ToolContext { workspace: outer.path("inner"), ..outer.context() };
        let tree = tree(&context, "", false, 100);
        let mut n_seen = 0;
        walk(&context, &tree, |_| {
            n_seen += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(n_seen, 1);
    }

    #[test]
    fn a_walk_is_bounded_and_can_be_cancelled() {
        let folder = Folder::new(&[("a", ""), ("b", ""), ("c", "")]);
        expect![[r#"
            a
            b
            (stopped after 3 files and folders; name a narrower path)
        "#]]
        .assert_eq(&seen(&folder, "", false, 3));
        let context = folder.context();
        context.cancel.cancel();
        let tree = tree(&context, "", false, 100);
        assert!(walk(&context, &tree, |_| ControlFlow::Continue(())).is_err());
    }

    #[test]
    fn a_pattern_names_hidden_files_by_their_dot() {
        for yes in [".env", "**/.github/**", "a/.b", "{.x,y}", "{y,.x}"] {
            assert!(names_hidden(yes), "{yes}");
        }
        for no in ["*.rs", "./a", "../a", "a.b/c.d", "**"] {
            assert!(!names_hidden(no), "{no}");
        }
    }
}
