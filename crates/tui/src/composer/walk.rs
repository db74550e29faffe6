//! The files of a folder for the composer's `@`, looked up and ranked on threads of their own.

use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use heeler_core::is_bounded_glob;

use super::files::{Paths, Ranking};

/// How many paths are ranked before messages are looked at again.
const RANKED_AT_ONCE: usize = 4_096;
/// The longest file that says what is ignored.
const IGNORE_BYTES_MAX: u64 = 1024 * 1024;
/// How many paths the first batch of a walk has; each has twice as many, up to the most.
const BATCH_MIN: usize = 64;
const BATCH_MAX: usize = 4_096;

/// What a query found so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFiles {
    /// The query.
    pub query: String,
    /// The best paths, for [`Composer::offer_files`](super::Composer::offer_files).
    pub paths: Vec<String>,
    /// Whether all paths were looked at.
    pub complete: bool,
}

/// Finds files below a folder; ends when it is dropped.
#[derive(Debug)]
pub struct FileFinder {
    messages: Sender<Message>,
}

#[derive(Debug)]
enum Message {
    Ask(String),
    Refresh,
    /// From the walk of this number.
    Batch(u64, Vec<String>),
    /// The walk of this number is at its end.
    End(u64),
    Close,
}

impl FileFinder {
    /// Begins to walk the folder at once. `tell` is called on another thread, first with what was
    /// found before all was looked at, and again whenever there is better.
    pub fn start(root: PathBuf, tell: impl FnMut(FoundFiles) + Send + 'static) -> Self {
        let (messages, received) = channel();
        let finding = Finding::new(root, messages.clone());
        std::thread::spawn(move || finding.run(&received, tell));
        Self { messages }
    }

    /// Asks for the files that a few letters mean. An earlier question is forgotten.
    pub fn ask(&self, query: &str) {
        // A thread that is gone has nothing to say, and the menu stays as it is.
        let _ = self.messages.send(Message::Ask(query.to_owned()));
    }

    /// Walks the folder again: files were made or deleted. Until then the old ones are found.
    pub fn refresh(&self) {
        let _ = self.messages.send(Message::Refresh);
    }
}

impl Drop for FileFinder {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Close);
    }
}

/// What the thread that ranks knows.
struct Finding {
    root: PathBuf,
    messages: Sender<Message>,
    paths: Paths,
    /// The paths of a walk that replaces those above when it is at its end.
    incoming: Option<Paths>,
    /// The number of the walk that counts.
    walk: u64,
    walking: bool,
    ranking: Option<Ranking>,
    told: Option<FoundFiles>,
}

impl Finding {
    fn new(root: PathBuf, messages: Sender<Message>) -> Self {
        let paths = Paths::default();
        let (incoming, ranking, told) = (None, None, None);
        Self { root, messages, paths, incoming, walk: 0, walking: false, ranking, told }
    }

    fn run(mut self, received: &Receiver<Message>, mut tell: impl FnMut(FoundFiles)) {
        self.start_walk();
        loop {
            let behind = self.ranking.as_ref().is_some_and(|it| it.is_behind(&self.paths));
            let message = match behind {
                true => received.try_recv(),
                false => received.recv().map_err(|_| TryRecvError::Disconnected),
            };
            match message {
                Ok(message) => {
                    if self.take(message).is_break() {
                        return;
                    }
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return,
            }
            if let Some(ranking) = &mut self.ranking {
                ranking.advance(&self.paths, RANKED_AT_ONCE);
            }
            if let Some(found) = self.found() {
                tell(found);
            }
        }
    }

    fn take(&mut self, message: Message) -> ControlFlow<()> {
        match message {
            Message::Close => return ControlFlow::Break(()),
            Message::Ask(query) => {
                self.told = None;
                self.ranking = Some(match self.ranking.take() {
                    Some(ranking) => ranking.then(&query),
                    None => Ranking::new(&query),
                });
            }
            Message::Refresh if self.walking => {}
            Message::Refresh => {
                self.incoming = Some(Paths::default());
                self.start_walk();
            }
            Message::Batch(walk, batch) if walk == self.walk => {
                self.incoming.as_mut().unwrap_or(&mut self.paths).add(batch);
            }
            Message::End(walk) if walk == self.walk => {
                self.walking = false;
                if let Some(paths) = self.incoming.take() {
                    self.paths = paths;
                    let query = self.ranking.as_ref().map(|ranking| ranking.query().to_owned());
                    self.ranking = query.map(|query| Ranking::new(&query));
                }
            }
            Message::Batch(..) | Message::End(_) => {}
        }
        ControlFlow::Continue(())
    }

    fn start_walk(&mut self) {
        self.walk += 1;
        self.walking = true;
        let (root, messages, number) = (self.root.clone(), self.messages.clone(), self.walk);
        std::thread::spawn(move || {
            // Whoever listened is gone when a message finds nobody.
            let _ = walk(&root, &mut |batch| match messages.send(Message::Batch(number, batch)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
            let _ = messages.send(Message::End(number));
        });
    }

    /// What there is to tell, if it was not told.
    fn found(&mut self) -> Option<FoundFiles> {
        let ranking = self.ranking.as_ref()?;
        let behind = ranking.is_behind(&self.paths);
        let found = FoundFiles {
            query: ranking.query().to_owned(),
            paths: ranking.best(&self.paths),
            complete: !behind && !self.walking,
        };
        // Nothing found is news only when it stays so.
        let is_news =
            self.told.as_ref() != Some(&found) && (found.complete || !found.paths.is_empty());
        is_news.then(|| {
            self.told = Some(found.clone());
            found
        })
    }
}

/// Hands over the paths below the folder, batch by batch, without what git ignores. Folders end
/// with `/`. What cannot be read is passed over, and so are names that are no text.
fn walk(root: &Path, take: &mut dyn FnMut(Vec<String>) -> ControlFlow<()>) -> ControlFlow<()> {
    let is_folder = |entry: &ignore::DirEntry| entry.file_type().is_some_and(|kind| kind.is_dir());
    // Those of the folder itself and above are read before any entry is seen.
    let ignores = root.ancestors().all(has_bounded_ignores);
    let walker = ignore::WalkBuilder::new(root)
        .standard_filters(ignores)
        .hidden(false)
        .require_git(false)
        .filter_entry(move |entry| {
            let is_walked = !ignores || !is_folder(entry) || has_bounded_ignores(entry.path());
            entry.file_name() != ".git" && is_walked
        })
        .build();
    let mut size = BATCH_MIN;
    let mut batch = Vec::new();
    let mut count = 0;
    for entry in walker.flatten() {
        let Some(path) = entry.path().strip_prefix(root).ok().and_then(Path::to_str) else {
            continue;
        };
        if path.is_empty() {
            continue;
        }
        batch.push(if is_folder(&entry) { format!("{path}/") } else { path.to_owned() });
        count += 1;
        if batch.len() == size {
            take(std::mem::take(&mut batch))?;
            size = (size * 2).min(BATCH_MAX);
        }
        if count == super::files::FILES_MAX {
            break;
        }
    }
    take(batch)
}

/// Whether the files of a folder that say what is ignored have nothing in them that the reader of their
/// patterns would end the program with.
fn has_bounded_ignores(folder: &Path) -> bool {
    [".ignore", ".gitignore", ".git/info/exclude"].iter().all(|name| {
        let Ok(file) = std::fs::File::open(folder.join(name)) else { return true };
        let mut bytes = Vec::new();
        let is_plain = file.metadata().is_ok_and(|about| about.is_file());
        let n_read = file.take(IGNORE_BYTES_MAX + 1).read_to_end(&mut bytes);
        is_plain
            && n_read.is_ok_and(|n_read| n_read as u64 <= IGNORE_BYTES_MAX)
            && String::from_utf8_lossy(&bytes).lines().all(is_bounded_glob)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
            std::fs::write(&path, "target/\n*.log\n").expect("a file");
        }
        folder
    }

    fn batches(root: &Path) -> Vec<Vec<String>> {
        let mut batches = Vec::new();
        let _ = walk(root, &mut |batch| {
            batches.push(batch);
            ControlFlow::Continue(())
        });
        batches
    }

    /// Waits for the answer about all files; returns all that was told until then.
    fn until_complete(told: &Receiver<FoundFiles>) -> Vec<FoundFiles> {
        let mut all = Vec::new();
        loop {
            all.push(told.recv().expect("the finder is there"));
            if all[all.len() - 1].complete {
                return all;
            }
        }
    }

    #[test]
    fn what_git_ignores_is_not_found() {
        let folder = folder(&[
            ".gitignore",
            "a.rs",
            "b.log",
            "target/c.rs",
            ".git/config",
            ".github/d.yml",
            "e/f g.rs",
        ]);
        let mut found = batches(folder.path()).concat();
        found.sort();
        expect_test::expect![[r#"
            .github/
            .github/d.yml
            .gitignore
            a.rs
            e/
            e/f g.rs"#]]
        .assert_eq(&found.join("\n"));
        assert_eq!(batches(&folder.path().join("none")), [Vec::<String>::new()]);
    }

    #[test]
    fn a_pattern_that_nobody_can_read_ends_nothing() {
        let folder = folder(&["a/b.rs", "a/c.log", "d.rs", ".gitignore"]);
        let deep = format!("{}x{}\n", "{".repeat(20_000), "}".repeat(20_000));
        let found = || {
            let mut found = batches(folder.path()).concat();
            found.sort();
            found.join(" ")
        };
        std::fs::write(folder.path().join("a/.gitignore"), &deep).expect("a file");
        assert_eq!(found(), ".gitignore d.rs");
        std::fs::write(folder.path().join(".gitignore"), &deep).expect("a file");
        assert_eq!(found(), ".gitignore a/ a/.gitignore a/b.rs a/c.log d.rs");
    }

    #[test]
    fn files_are_handed_over_while_others_are_looked_up() {
        let names: Vec<_> = (0..1_000).map(|number| format!("file_{number}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let folder = folder(&names);
        let sizes: Vec<_> = batches(folder.path()).iter().map(Vec::len).collect();
        // The first comes after few files, however many there are.
        assert_eq!(sizes, [BATCH_MIN, 2 * BATCH_MIN, 4 * BATCH_MIN, 8 * BATCH_MIN, 40]);
        // Who listens no more is not told more.
        let mut count = 0;
        let ended = walk(folder.path(), &mut |_| {
            count += 1;
            ControlFlow::Break(())
        });
        assert!(ended.is_break());
        assert_eq!(count, 1);
    }

    #[test]
    fn a_finder_answers_the_last_question_and_looks_again() {
        let folder = folder(&["src/main.rs", "src/other.rs", "docs/main.md"]);
        let (tell, told) = channel();
        let finder = FileFinder::start(folder.path().to_owned(), move |found| {
            let _ = tell.send(found);
        });
        finder.ask("mai");
        let all = until_complete(&told);
        let mut last = all[all.len() - 1].clone();
        last.paths.sort();
        assert_eq!(last.paths, ["docs/main.md", "src/main.rs"]);
        assert!(all.iter().all(|found| found.query == "mai"));

        finder.ask("mainrs");
        assert_eq!(until_complete(&told).pop().expect("an answer").paths, ["src/main.rs"]);

        std::fs::write(folder.path().join("main.rs"), "").expect("a file");
        finder.refresh();
        let mut paths = Vec::new();
        while paths.len() < 2 {
            paths = until_complete(&told).pop().expect("an answer").paths;
        }
        assert_eq!(paths, ["main.rs", "src/main.rs"]);

        finder.ask("nothing like it");
        assert_eq!(until_complete(&told).pop().expect("an answer").paths, [""; 0]);
        drop(finder);
        // The thread is gone, and what it told with.
        assert!(told.recv().is_err());
    }
}
