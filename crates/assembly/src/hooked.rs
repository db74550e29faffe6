//! What the command line of a hook names, and nobody but a person may change: hooks are not confined.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::words::{Word, names, places, words};

/// The most folders that one line changes into, and the most missing names of one line.
const FOLDERS_MAX: usize = 8;
const MISSING_MAX: usize = 64;
/// Options that name a folder to work in, beside `-C` of env, make, git and tar.
const FOLDER_OPTIONS: [&str; 4] = ["--chdir", "--directory", "--cwd", "--working-directory"];
/// Endings of files of which nothing beside them runs.
const DATA: [&str; 12] =
    ["cfg", "conf", "csv", "ini", "json", "lock", "log", "md", "toml", "txt", "yaml", "yml"];

/// Where a hook's line is read.
pub(crate) struct Ground<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) home: Option<&'a Path>,
    /// The folders that may be written as a whole, under all of their names.
    pub(crate) roots: &'a [PathBuf],
}

impl Ground<'_> {
    /// What a line names: programs with all that stands beside them, other files, and names under which
    /// nothing is yet, since whoever makes it is run.
    pub(crate) fn named(&self, line: &str) -> Vec<PathBuf> {
        let words = words(line);
        let mut folders = vec![self.workspace.to_owned()];
        let mut named = Vec::new();
        let mut missing = Vec::new();
        let mut goes = Goes::Nowhere;
        for Word { text: word, begins, .. } in &words {
            let (folder, next) = goes.behind(word, *begins);
            let more = folder.map(|folder| self.folders_of(folder, &folders)).unwrap_or_default();
            let is_operand =
                folder.is_some_and(|folder| goes == Goes::Command || folder.len() < word.len());
            goes = next;
            if !is_operand {
                let found = folders.iter().flat_map(|folder| places(word, folder, self.home));
                let files: Vec<PathBuf> = found.filter(|file| file.is_file()).collect();
                if files.is_empty() && missing.len() < MISSING_MAX && !is_written(&words, word) {
                    missing.extend(folders.iter().flat_map(|folder| self.awaited(word, folder)));
                }
                named.extend(files.into_iter().flat_map(names).map(|file| self.whole(file)));
            }
            folders.extend(more);
            folders.truncate(FOLDERS_MAX);
        }
        missing.truncate(MISSING_MAX);
        named.append(&mut missing);
        named
    }

    /// The folder of a program: it reads what is beside it, as Python does its modules.
    fn whole(&self, file: PathBuf) -> PathBuf {
        let is_data = file.extension().and_then(OsStr::to_str).is_some_and(|it| DATA.contains(&it));
        let folder = file.parent().filter(|_| !is_data);
        // Nobody could work in a root that is protected as a whole.
        let is_inner = |folder: &&Path| {
            let is_within = self.roots.iter().any(|root| folder.starts_with(root));
            is_within && !self.roots.iter().any(|root| root.starts_with(folder))
        };
        folder.filter(is_inner).map(Path::to_owned).unwrap_or(file)
    }

    /// The folders that a line is in once it changed into one; where it is not there yet, that would be it.
    fn folders_of(&self, word: &str, folders: &[PathBuf]) -> Vec<PathBuf> {
        let found = folders.iter().flat_map(|folder| places(word, folder, self.home));
        let mut found: Vec<PathBuf> = found.filter(|place| place.is_dir()).collect();
        if found.is_empty() {
            found.extend(folders.iter().filter_map(|folder| self.place(word, folder)));
        }
        found.retain(|place| !folders.contains(place));
        found
    }

    /// Names of a word in folders that may be written, under which nothing is.
    fn awaited(&self, word: &str, folder: &Path) -> Vec<PathBuf> {
        let value = word.split_once('=').map(|(_, value)| value);
        let looks = |word: &&str| is_path(word) && !word.starts_with('-') && !word.contains("://");
        let found = [Some(word), value].into_iter().flatten().filter(looks);
        let found = found.filter_map(|word| self.place(word, folder));
        let is_awaited = |place: &PathBuf| {
            let root = self.roots.iter().find(|root| place.starts_with(root) && place != *root);
            // What a variable or a pattern makes of a name is known only when it runs.
            let is_plain =
                root.and_then(|root| place.strip_prefix(root).ok()).is_some_and(|below| {
                    !below
                        .to_string_lossy()
                        .contains(|c: char| c.is_whitespace() || "$*?[]{}^\\|'\"`".contains(c))
                });
            is_plain && place.metadata().is_err()
        };
        found.filter(is_awaited).collect()
    }

    /// Where a word most likely leads.
    fn place(&self, word: &str, folder: &Path) -> Option<PathBuf> {
        let mut found = places(word, folder, self.home);
        let is_home = ["$HOME/", "${HOME}/"].iter().any(|home| word.starts_with(home));
        // The rest of one that begins with `$(...)` looks like a path of the machine.
        let top = word.strip_prefix('/').and_then(|rest| rest.split('/').next());
        let is_cut = top.is_some_and(|top| Path::new("/").join(top).symlink_metadata().is_err());
        let is_behind = word.starts_with('$') && !is_home || is_cut;
        let at = usize::from(is_behind && found.len() > 1);
        (at < found.len()).then(|| found.swap_remove(at))
    }
}

/// Whether a word is a path by its looks. A bare one is one where it has an ending.
fn is_path(word: &str) -> bool {
    let (stem, ending) = word.rsplit_once('.').unwrap_or_default();
    let is_name = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    let is_file = !word.starts_with('.') && is_name(stem) && is_name(ending);
    word.contains('/') && word.chars().any(char::is_alphanumeric) || is_file
}

/// Whether a line only writes to what this word names, as to its log.
fn is_written(words: &[Word], text: &str) -> bool {
    words.iter().filter(|word| word.text == text).all(|word| word.is_target)
}

/// What makes of a word a folder that is changed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    Nowhere,
    /// `cd` and its like, whose operand it is.
    Command,
    /// The same, and it begins with `$(...)`: what stands behind that.
    Behind,
    /// An option of another program. Of some it means something else, so the word may be any, too.
    Option,
}

impl Goes {
    /// The folder that a word names, and what the next one is.
    fn behind(self, word: &str, begins: bool) -> (Option<&str>, Self) {
        if matches!(word, "cd" | "pushd") {
            return (None, Self::Command);
        }
        match self {
            // What the substitution runs is passed over. As it may have no such end, that word may be any, too.
            Self::Behind if begins && word.starts_with('/') => return (Some(word), Self::Nowhere),
            Self::Behind => return (None, self),
            Self::Command if word == "$" => return (None, Self::Behind),
            Self::Command | Self::Option if begins => {}
            // Back to where the line was before.
            Self::Command if word == "-" => return (None, Self::Nowhere),
            Self::Command if word.starts_with('-') => return (None, self),
            Self::Command | Self::Option => return (Some(word), Self::Nowhere),
            Self::Nowhere => {}
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if FOLDER_OPTIONS.contains(&name) {
            return (value, if value.is_some() { Self::Nowhere } else { Self::Option });
        }
        let letters = word.strip_prefix('-').filter(|word| !word.starts_with('-'));
        match letters.and_then(|letters| letters.split_once('C')) {
            Some((before, "")) if before.chars().all(char::is_alphabetic) => (None, Self::Option),
            Some(("", folder)) => (Some(folder), Self::Nowhere),
            _ => (None, Self::Nowhere),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What of a workspace with some files a line names, relative to it.
    fn check(line: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in ["scripts/guard.py", "guard.sh", "docs/rules.md", "a/hooks/x.sh"] {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let roots = [root.clone()];
        let ground = Ground { workspace: &root, home: None, roots: &roots };
        let named = ground.named(line).into_iter();
        let mut named: Vec<String> = named
            .filter_map(|path| Some(path.strip_prefix(&root).ok()?.to_str()?.to_owned()))
            .collect();
        heeler_core::sort(&mut named);
        named.dedup();
        assert_eq!(named, expected, "{line}");
    }

    #[test]
    fn a_program_is_kept_with_all_that_stands_beside_it() {
        check(r#"python3 "$CLAUDE_PROJECT_DIR"/scripts/guard.py"#, &["scripts"]);
        check("scripts/guard.py < docs/rules.md", &["docs/rules.md", "scripts"]);
        check("sh guard.sh", &["guard.sh"]);
    }

    #[test]
    fn a_line_is_read_in_the_folders_that_it_changes_into() {
        let line = r#"cd "$CLAUDE_PROJECT_DIR"/scripts && python3 guard.py"#;
        check(line, &["scripts"]);
        check("cd a && cd hooks; ./x.sh", &["a/hooks"]);
        check("(pushd a/hooks; sh x.sh)", &["a/hooks"]);
        check(r#"cd -- "$CLAUDE_PROJECT_DIR"/scripts && ./guard.py"#, &["scripts"]);
        check("cd -P scripts && ./guard.py", &["scripts"]);
        check("cd $(git rev-parse --show-toplevel)/scripts && ./guard.py", &["scripts"]);
        check("cd $(git -C a rev-parse --show-toplevel) && ./guard.sh", &["guard.sh"]);
        check("cd $(dirname a)/later && ./run", &["later", "later/run", "run"]);
        check("cd && ./guard.sh; cd - && ./guard.sh", &["guard.sh"]);
        for option in
            ["-C scripts", "-Cscripts", "-iC scripts", "--chdir=scripts", "--chdir scripts"]
        {
            check(&format!("env {option} ./guard.py"), &["scripts"]);
        }
        check("make --directory=a/hooks ./x.sh", &["a/hooks"]);
        check("bash -C ./guard.sh", &["guard.sh"]);
    }

    #[test]
    fn nothing_may_come_to_be_under_a_name_that_would_run() {
        check("if [ -x ./local.sh ]; then ./local.sh; fi", &["local.sh"]);
        check("source ./.venv/bin/activate 2>/dev/null; true", &[".venv/bin/activate"]);
        check(r#"python3 "${CLAUDE_PROJECT_DIR}"/tools/check.py"#, &["tools/check.py"]);
        check("$(git rev-parse --show-toplevel)/tools/check.py", &["tools/check.py"]);
        check("node --import=./hook.mjs", &["hook.mjs"]);
        check("python3 check.py", &["check.py"]);
        check("cd later && ./run", &["later/run", "run"]);
        check(r#"jq -r .tool_input.command >> "$CLAUDE_PROJECT_DIR/hook.log" 2>/dev/null"#, &[]);
        check("[ -x ./local.sh ] && ./local.sh >> ./local.sh.log 2>&1; true", &["local.sh"]);
        check("./made.sh; echo >> ./made.sh", &["made.sh"]);
        check("xargs -I'>' ./made.sh; sh <> ./read.sh", &["made.sh", "read.sh"]);
        check(r#"case "$f" in src/*) curl https://example.org/a;; esac"#, &[]);
    }

    #[test]
    fn names_of_one_line_have_a_limit() {
        let line: String = (0..1_000).map(|n| format!("./x{n} ")).collect();
        let folder = tempfile::tempdir().unwrap();
        let roots = [folder.path().to_owned()];
        let ground = Ground { workspace: folder.path(), home: None, roots: &roots };
        assert_eq!(ground.named(&line).len(), MISSING_MAX);
        let line: String = (0..1_000).map(|n| format!("cd x{n}; ./y; ")).collect();
        assert_eq!(ground.named(&line).len(), MISSING_MAX);
    }
}
