//! What was committed or stashed in a stage.
//!
//! What git keeps is not applied as files are: half of a commit is a broken repository, and a hook
//! or a setting would run outside of the box. Commits are fetched instead, by the person's own git, which
//! names each object by what is in it, and get names of their own, so that no branch moves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use heeler_stage::Stage;
use rustix::fs::OFlags;

/// The longest file of git's that is read, in bytes.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The most names of commits, and the most folders that are looked at for them.
const NAMES_MAX: usize = 10_000;
/// Settings that hold whatever the repository says: nothing of it is run.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.alternateRefsCommand=false",
    "fetch.fsckObjects=true",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.file.allow=always",
    "submodule.recurse=false",
];

/// Commits of one repository that are only in the stage.
#[derive(Debug)]
pub(super) struct Staged {
    /// Git's folder, relative to the base.
    pub(super) folder: PathBuf,
    /// Commits by their names in the stage: branches, tags and what was stashed.
    pub(super) names: BTreeMap<String, String>,
    /// Whether the base has a repository there.
    pub(super) has_base: bool,
}

/// What is committed in a stage and nowhere in its base, of these folders of git's.
pub(super) fn read(stage: &Stage, folders: &BTreeSet<PathBuf>) -> Result<Vec<Staged>> {
    let mut found = Vec::new();
    for folder in folders {
        let (staged, base) = (stage.staged(folder), stage.summary().base.join(folder));
        let mut names = names(&staged)?;
        let before = self::names(&base)?;
        names.retain(|name, commit| before.get(name) != Some(commit));
        let has_base = base.join("objects").is_dir();
        if has_base && !names.is_empty() {
            let missing = missing(&base, names.values())?;
            names.retain(|_, commit| missing.contains(commit.as_str()));
        }
        if !names.is_empty() {
            found.push(Staged { folder: folder.clone(), names, has_base });
        }
    }
    Ok(found)
}

/// Has the base's repository fetch what is only in the stage: the names it has there.
pub(super) fn bring(stage: &Stage, staged: &Staged) -> Result<Vec<String>> {
    let (ours, theirs) = (stage.summary().base.join(&staged.folder), stage.staged(&staged.folder));
    ensure!(
        staged.has_base,
        "the repository {} was made in the stage; `git clone {} FOLDER` takes it along",
        staged.folder.display(),
        theirs.display()
    );
    let between = tempfile::tempdir().context("cannot make a temporary folder")?;
    let between = between.path();
    let format = match staged.names.values().any(|commit| commit.len() > 40) {
        true => "sha256",
        false => "sha1",
    };
    let object_format = format!("--object-format={format}");
    git(between, &["init", "--quiet", "--bare", "--template=", &object_format, "."], "")?;
    // It has no objects of its own and no settings of the stage's.
    let mut objects = Vec::new();
    for folder in [&ours, &theirs] {
        let folder = folder.join("objects");
        let bytes = folder.as_os_str().as_bytes();
        ensure!(!bytes.contains(&b'\n'), "git cannot borrow from {}", folder.display());
        objects.extend_from_slice(bytes);
        objects.push(b'\n');
    }
    fs::write(between.join("objects/info/alternates"), objects)?;
    if let Some(shallow) = file(&ours.join("shallow"))? {
        fs::write(between.join("shallow"), shallow)?;
    }
    let mut orders = String::new();
    for (name, commit) in &staged.names {
        orders.push_str(&format!("create refs/staged/{name} {commit}\n"));
    }
    git(between, &["update-ref", "--stdin"], &orders)?;
    let id = &stage.summary().id;
    let refs = format!("+refs/staged/*:refs/remotes/{id}/*");
    let from = between.to_string_lossy();
    let fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", from.as_ref(), &refs];
    git(&ours, &fetch, "")?;
    Ok(staged.names.keys().map(|name| format!("{id}/{name}")).collect())
}

/// Commits by name: branches by theirs alone, all others with what they are.
fn names(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut names = BTreeMap::new();
    let mut add = |name: &str, commit: &str| {
        // Names that git gives have no spaces, and end no line.
        if is_commit(commit) && name.bytes().all(|byte| byte.is_ascii_graphic() || byte > 0x7f) {
            names.insert(name.strip_prefix("heads/").unwrap_or(name).to_owned(), commit.to_owned());
        }
        match names.len() {
            0..=NAMES_MAX => Ok(()),
            _ => bail!("{} has more than {NAMES_MAX} branches and tags", folder.display()),
        }
    };
    for line in text(&folder.join("packed-refs"))?.unwrap_or_default().lines() {
        if let Some((commit, name)) = line.split_once(" refs/") {
            add(name, commit)?;
        }
    }
    let refs = folder.join("refs");
    let mut waiting = vec![refs.clone()];
    let mut n_folders = 0;
    while let Some(next) = waiting.pop() {
        n_folders += 1;
        ensure!(n_folders <= NAMES_MAX, "{} has more than {NAMES_MAX} folders", refs.display());
        if !fs::symlink_metadata(&next).is_ok_and(|metadata| metadata.is_dir()) {
            continue;
        }
        for entry in fs::read_dir(&next)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            } else if let Ok(path) = entry.path().strip_prefix(&refs)
                && let Some(name) = path.to_str()
                && let Some(commit) = text(&entry.path())?
            {
                add(name, commit.trim_end())?;
            }
        }
    }
    if let Some(head) = text(&folder.join("HEAD"))? {
        add("detached", head.trim_end())?;
    }
    // The newest is `refs/stash`, and only this list has the others.
    let stashes = text(&folder.join("logs/refs/stash"))?.unwrap_or_default();
    for (age, line) in stashes.lines().rev().enumerate().skip(1) {
        if let Some(commit) = line.split(' ').nth(1) {
            add(&format!("stash-{age}"), commit)?;
        }
    }
    Ok(names)
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Which of these the repository has not.
fn missing<'a>(
    folder: &Path,
    commits: impl Iterator<Item = &'a String>,
) -> Result<BTreeSet<String>> {
    let asked: String = commits.map(|commit| format!("{commit}\n")).collect();
    let said = git(folder, &["cat-file", "--batch-check"], &asked)?;
    let missing = said.lines().filter_map(|line| line.strip_suffix(" missing"));
    Ok(missing.map(str::to_owned).collect())
}

/// A regular file as text, as far as it is some; `None` where there is none.
fn text(path: &Path) -> Result<Option<String>> {
    Ok(file(path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// What a run left in a stage may be anything: a pipe is not waited for, a link not followed.
fn file(path: &Path) -> Result<Option<Vec<u8>>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).context("flags of a file")?;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else {
        return Ok(None);
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= FILE_BYTES_MAX, "{} is too long", path.display());
    Ok(Some(bytes))
}

/// Runs git in a folder of its own: what it says.
fn git(folder: &Path, arguments: &[&str], told: &str) -> Result<String> {
    #[expect(clippy::disallowed_methods, reason = "the person's own git, when no session runs")]
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.as_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    command.env("GIT_DIR", folder).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C.UTF-8");
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).args(arguments);
    command.current_dir(folder).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().context("cannot start git")?;
    let stdin = running.stdin.take();
    let output = std::thread::scope(|scope| {
        // It answers while it is told, and either pipe may be full.
        scope.spawn(|| stdin.map(|mut stdin| stdin.write_all(told.as_bytes())));
        running.wait_with_output()
    })?;
    let what = arguments.first().copied().unwrap_or_default();
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {what}: {}", errors.trim_end());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
