//! The files of the workspace, in memory: a check is a function of this and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::rust_text::RustText;

/// Files longer than this are kept by name only; no check reads such a file.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Folders that are never ours to check.
const FOLDERS_SKIPPED: [&str; 4] = [".git", "target", ".heeler", "node_modules"];

/// The workspace as it stands on the disk, committed or not.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Where it was read from; empty in tests.
    pub(crate) root: String,
    files: BTreeMap<String, File>,
    /// Rust files that are read as text by others, not compiled.
    data: BTreeSet<String>,
}

/// One file; paths are relative to the root, with `/`.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) text: String,
    /// Split, when it is Rust.
    pub(crate) rust: RustText,
}

impl Tree {
    /// Reads every file below `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut texts = Vec::new();
        read_folder(root, "", &mut texts)?;
        Ok(Self { root: root.to_string_lossy().into_owned(), ..Self::of(texts) })
    }

    /// A tree of these paths and texts.
    pub(crate) fn of<P: Into<String>, T: Into<String>>(
        texts: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        let files: BTreeMap<String, File> = texts
            .into_iter()
            .map(|(path, text)| (path.into(), text.into()))
            .map(|(path, text)| {
                let rust =
                    if path.ends_with(".rs") { RustText::of(&text) } else { RustText::default() };
                (path, File { text, rust })
            })
            .collect();
        let data = files.iter().flat_map(|(path, file)| included(path, file)).collect();
        Self { root: String::new(), files, data }
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.file(path).map(|file| file.text.as_str())
    }

    /// Whether there is a file or a folder of this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files.contains_key(path) || path.is_empty() || self.below(path).next().is_some()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The files below a folder.
    pub(crate) fn below(&self, folder: &str) -> impl Iterator<Item = (&str, &File)> {
        let prefix = format!("{folder}/");
        self.files
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .map(|(path, file)| (path.as_str(), file))
    }

    /// Our Rust files, wherever they lie. Left out is what others wrote (`patches`), and Rust that is
    /// never compiled as ours: what another file reads with `include_str!`, and what lies in a folder
    /// `fixtures` of tests.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &File)> {
        self.all().filter(|(path, _)| {
            path.ends_with(".rs")
                && !path.starts_with("patches/")
                && !path.contains("/tests/fixtures/")
                && !self.is_data(path)
        })
    }

    /// Whether another file reads this one as text.
    pub(crate) fn is_data(&self, path: &str) -> bool {
        self.data.contains(path)
    }

    pub(crate) fn markdown(&self) -> impl Iterator<Item = (&str, &File)> {
        self.all().filter(|(path, _)| path.ends_with(".md"))
    }

    /// The manifests of our crates, with the folder of each.
    pub(crate) fn crates(&self) -> impl Iterator<Item = (&str, &str, &File)> {
        self.all().filter_map(|(path, file)| {
            let folder = path.strip_suffix("/Cargo.toml")?;
            let name = folder.strip_prefix("crates/")?;
            (!name.contains('/')).then_some((folder, path, file))
        })
    }
}

/// The path `relative` means when it stands in the file `from`.
pub(crate) fn resolve(from: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn read_folder(folder: &Path, prefix: &str, texts: &mut Vec<(String, String)>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && !FOLDERS_SKIPPED.contains(&name.as_str()) {
            read_folder(&entry.path(), &format!("{path}/"), texts)?;
        } else if kind.is_file() {
            // An editor may remove its temporary file while we look; such a file has no text.
            let length = entry.metadata().map_or(0, |metadata| metadata.len());
            let bytes = match length {
                0..=FILE_BYTES_MAX => std::fs::read(entry.path()).unwrap_or_default(),
                _ => Vec::new(),
            };
            texts.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Ok(())
}

/// The files that `file` reads as text when it is compiled.
fn included(path: &str, file: &File) -> Vec<String> {
    let macros = ["include_str", "include_bytes"];
    file.rust
        .words()
        .filter(|(_, word)| macros.contains(word))
        .filter_map(|(at, word)| {
            let argument = file.text[at + word.len()..].trim_start().strip_prefix("!(")?;
            let literal = argument.trim_start().strip_prefix('"')?;
            Some(resolve(path, literal.split('"').next()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_folder_and_leaves_out_what_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in
            [("crates/a/src/lib.rs", "//! A."), ("target/x.rs", ""), (".ci/run", "x")]
        {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = Tree::read(folder.path()).unwrap();
        let paths: Vec<_> = tree.all().map(|(path, _)| path).collect();
        assert_eq!(paths, [".ci/run", "crates/a/src/lib.rs"]);
        assert!(tree.has("crates/a") && tree.has("crates/a/") && !tree.has("crates/b"));
    }

    #[test]
    fn rust_that_is_only_read_as_text_is_data() {
        let tree = Tree::of([
            ("crates/a/src/lib.rs", r#"const X: &str = include_str!("../demo/bug.rs");"#),
            ("crates/a/demo/bug.rs", "fn bug() {}"),
            ("crates/a/tests/fixtures/x.rs", ""),
            ("crates/a/src/fixtures/x.rs", ""),
            ("patches/a/src/lib.rs", ""),
            ("scripts/x.rs", ""),
        ]);
        let paths: Vec<_> = tree.rust().map(|(path, _)| path).collect();
        assert_eq!(paths, ["crates/a/src/fixtures/x.rs", "crates/a/src/lib.rs", "scripts/x.rs"]);
    }

    #[test]
    fn a_relative_path_is_resolved_from_its_file() {
        assert_eq!(resolve("docs/guide/a.md", "../b.md"), "docs/b.md");
        assert_eq!(resolve("README.md", "./docs/"), "docs");
    }
}
