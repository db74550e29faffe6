//! Names the format of state checkpoints after the sources that decide it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// What decides what a fold gives and how it is written: the machine and the nouns.
pub(crate) const SOURCES: [&str; 2] = ["src", "../core/src"];

fn main() -> io::Result<()> {
    let mut folders = SOURCES.iter().map(PathBuf::from).collect::<Vec<_>>();
    // The libraries below decide it too; another workspace keeps its lock file elsewhere.
    let lock = PathBuf::from("../../Cargo.lock");
    if lock.is_file() {
        folders.push(lock);
    }
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    println!("cargo::rustc-env=HEELER_STATE_FORMAT={}", format_of(&folders)?);
    Ok(())
}

/// A hash of all files at or below these paths, their names included.
pub(crate) fn format_of(paths: &[PathBuf]) -> io::Result<String> {
    let mut hash = Sha256::new();
    for path in paths {
        let mut files = Vec::new();
        find_files(path, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
            let bytes = fs::read(&file)?;
            // With their lengths, so that no name or text runs into the next.
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    }
    Ok(hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

fn find_files(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        find_files(&entry?.path(), files)?;
    }
    Ok(())
}
