//! Which files the ignore files of a tree hide. They are a stranger's: a link, a pipe, a device or
//! a file without end in their place is passed over.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use heeler_core::is_bounded_glob;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Match};

use crate::place::Held;

/// Bytes of one ignore file.
const IGNORE_BYTES_MAX: u64 = 1024 * 1024;
/// Lines of one ignore file. Each is a pattern, and all of them become one search.
const IGNORE_LINES_MAX: usize = 10_000;

/// The rules that hold where a walk is.
pub(crate) struct Ignores {
    root: PathBuf,
    /// Those of each folder from the root to where the walk is, if it has any.
    folders: Vec<Rules>,
    /// Ignore files that were passed over.
    pub(crate) n_refused: usize,
}

/// The rules of one folder.
struct Rules {
    folder: PathBuf,
    /// By kind, the strongest first.
    kinds: [Gitignore; 3],
}

impl Ignores {
    /// For a walk from this folder downwards.
    pub(crate) fn below(root: &Path) -> Self {
        Self { root: root.to_owned(), folders: Vec::new(), n_refused: 0 }
    }

    /// What is said of an entry. The walk goes into a folder before it goes on beside it.
    pub(crate) fn matched(&mut self, entry: &DirEntry) -> Match<()> {
        let path = entry.path();
        let Some(parent) = path.parent() else { return Match::None };
        self.enter(parent);
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        for kind in 0..3 {
            for rules in self.folders.iter().rev() {
                let rules = &rules.kinds[kind];
                let said =
                    if rules.is_empty() { Match::None } else { rules.matched(path, is_folder) };
                if !said.is_none() {
                    return said.map(|_| ());
                }
            }
        }
        Match::None
    }

    /// Leaves the folders that the walk has left, and reads what those on the way say.
    fn enter(&mut self, folder: &Path) {
        if self.folders.last().is_some_and(|last| last.folder == folder) {
            return;
        }
        self.folders.retain(|known| folder.starts_with(&known.folder));
        let known = self.folders.last().map(|last| last.folder.clone());
        let is_new = |folder: &&Path| Some(*folder) != known.as_deref();
        let mut new: Vec<&Path> = folder
            .ancestors()
            .take_while(|folder| folder.starts_with(&self.root))
            .take_while(is_new)
            .collect();
        while let Some(folder) = new.pop() {
            let rules = self.rules(folder);
            self.folders.push(rules);
        }
    }

    fn rules(&mut self, folder: &Path) -> Rules {
        let mut kinds = [Gitignore::empty(), Gitignore::empty(), Gitignore::empty()];
        if let Ok(held) = Held::real(folder) {
            kinds[0] = self.read(folder, &held, ".ignore");
            kinds[1] = self.read(folder, &held, ".gitignore");
            if let Some(info) = git_folder(folder, &held).map(|git| git.join("info"))
                && let Ok(held) = Held::of(&info)
            {
                kinds[2] = self.read(folder, &held, "exclude");
            }
        }
        Rules { folder: folder.to_owned(), kinds }
    }

    /// The rules of one file, for a folder.
    fn read(&mut self, folder: &Path, held: &Held, name: &str) -> Gitignore {
        match text(held, name) {
            Text::Missing => Gitignore::empty(),
            Text::Refused => {
                self.n_refused += 1;
                Gitignore::empty()
            }
            Text::Read(text) => {
                let mut builder = GitignoreBuilder::new(folder);
                for line in text.lines().filter(|line| is_bounded_glob(line)) {
                    // A line that is no pattern leaves the others.
                    let _ = builder.add_line(None, line);
                }
                builder.build().unwrap_or_else(|_| Gitignore::empty())
            }
        }
    }
}

/// What a file says.
enum Text {
    Missing,
    /// It is no plain file, or too long.
    Refused,
    Read(String),
}

fn text(held: &Held, name: &str) -> Text {
    let Ok(is_file) = held.is_file(OsStr::new(name)) else { return Text::Missing };
    let file = is_file.then(|| held.open(OsStr::new(name)).ok()).flatten();
    let is_plain = |file: &std::fs::File| file.metadata().is_ok_and(|data| data.is_file());
    let Some(file) = file.filter(is_plain) else { return Text::Refused };
    let mut bytes = Vec::new();
    let read = file.take(IGNORE_BYTES_MAX + 1).read_to_end(&mut bytes);
    let n_lines = memchr::memchr_iter(b'\n', &bytes).count();
    if read.is_err() || IGNORE_BYTES_MAX < bytes.len() as u64 || IGNORE_LINES_MAX < n_lines {
        return Text::Refused;
    }
    let text = String::from_utf8_lossy(&bytes);
    Text::Read(text.trim_start_matches('\u{feff}').to_owned())
}

/// Where git keeps what belongs to a folder: in it, or where a file in its place says.
fn git_folder(folder: &Path, held: &Held) -> Option<PathBuf> {
    let git = folder.join(".git");
    match held.is_file(OsStr::new(".git")) {
        Err(_) => None,
        Ok(false) => Some(git),
        Ok(true) => {
            let Text::Read(said) = text(held, ".git") else { return None };
            let own = folder.join(said.lines().next()?.strip_prefix("gitdir: ")?);
            let Text::Read(common) = text(&Held::of(&own).ok()?, "commondir") else { return None };
            Some(own.join(common.lines().next()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use expect_test::{Expect, expect};

    use crate::place::{self, Place};
    use crate::testing::Folder;
    use crate::walk::{Tree, notes, walk};

    fn check(folder: &Folder, path: &str, expect: Expect) {
        let context = folder.context();
        let (place, closed) = Place::to_search(&context, "Glob", path).unwrap();
        let mut seen = String::new();
        let walked = walk(&context, &Tree::new(&place, closed, false, 100), |entry| {
            seen.push_str(&place::shown(&folder.path(""), entry.path()));
            seen.push('\n');
            ControlFlow::Continue(())
        });
        expect.assert_eq(&(seen + &notes(&walked.unwrap(), 100)));
    }

    fn pipe(folder: &Folder, path: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, folder.path(path), kind, mode, 0).unwrap();
    }

    #[test]
    fn what_is_no_plain_file_is_passed_over() {
        let folder = Folder::new(&[
            (".git/HEAD", ""),
            (".git/info/exclude", "->/dev/zero"),
            (".ignore", "->/dev/zero"),
            ("a/.ignore", "->/dev/zero"),
            ("a/b/.gitignore/file", ""),
            ("a/b/c", ""),
            ("a/b/long/.gitignore", &format!("x\n{}", "#".repeat(1024 * 1024))),
            ("a/b/long/x", ""),
            ("a/b/deep/.gitignore", &format!("{}x{}\ny\n", "{".repeat(20_000), "}".repeat(20_000))),
            ("a/b/deep/x", ""),
            ("a/b/deep/y", ""),
            ("a/b/many/.gitignore", &"x\n".repeat(10_001)),
            ("a/b/many/x", ""),
        ]);
        pipe(&folder, ".gitignore");
        check(
            &folder,
            "",
            expect![[r#"
                a/b/c
                a/b/deep/x
                a/b/long/x
                a/b/many/x
                (7 ignore files are no plain files, or too long, and were passed over)
            "#]],
        );
    }

    #[test]
    fn each_kind_is_stronger_than_the_next_and_the_inner_than_the_outer() {
        let folder = Folder::new(&[
            (".git/info/exclude", "excluded\nc\n!d\n"),
            (".gitignore", "\u{feff}a\nb\n!c\nd\nonly/**/deep\n/rooted\nfolder/\n"),
            (".ignore", "!b\n"),
            ("a", ""),
            ("b", ""),
            ("c", ""),
            ("d", ""),
            ("excluded", ""),
            ("folder/x", ""),
            ("inner/.gitignore", "!a\nb\n"),
            ("inner/a", ""),
            ("inner/b", ""),
            ("inner/folder", ""),
            ("inner/rooted", ""),
            ("only/x/deep", ""),
            ("rooted", ""),
            ("z/.gitignore", "!.shown\n"),
            ("z/.hidden", ""),
            ("z/.shown", ""),
            ("z/a", ""),
        ]);
        let all = expect![[r#"
            b
            c
            inner/a
            inner/b
            inner/folder
            inner/rooted
            z/.shown
        "#]];
        check(&folder, "", all);
    }

    #[test]
    fn a_work_tree_has_the_excludes_of_its_repository() {
        let folder = Folder::new(&[
            ("main/.git/info/exclude", "x\n"),
            ("main/.git/worktrees/tree/commondir", "../..\n"),
            ("tree/a", ""),
            ("tree/x", ""),
        ]);
        let own = folder.path("main/.git/worktrees/tree");
        std::fs::write(folder.path("tree/.git"), format!("gitdir: {}\n", own.display())).unwrap();
        check(&folder, "tree", expect![["tree/a\n"]]);
    }
}
