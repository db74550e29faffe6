//! What was committed or stashed in a stage.
//!
//! What git keeps is not applied as files are: half of a commit is a broken repository, and a hook
//! or a setting would run outside of the box. Commits are carried over instead, by the person's own git,
//! which names each object by what is in it, and get names of their own, so that no branch moves.
//!
//! The stage's repository is what a run made of it, and a repository in the folder may be what an earlier
//! one did. So git never works in either: it works in a new one that borrows the objects of both, and
//! names of commits are read and written here.

mod git;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use heeler_stage::{Stage, quoted};
use tempfile::TempDir;

use git::{Git, Told};
use names::{Names, check_objects, is_plain_folder};

/// Commits of one repository that are only in the stage.
#[derive(Debug)]
pub(super) struct Staged {
    /// Git's folder, relative to the base.
    folder: PathBuf,
    /// Commits by the names that they get, behind that of the stage.
    names: BTreeMap<String, String>,
    /// How it gets there; `None` where the base has no repository.
    way: Option<Way>,
}

/// How commits get from a stage to its base.
#[derive(Debug)]
struct Way {
    git: PathBuf,
    /// An empty repository that borrows from both.
    between: TempDir,
    /// What the base has, as git reads it from a list.
    known: String,
}

/// What is committed in a stage and nowhere in its base, of these folders of git's.
pub(super) fn read(stage: &Stage, folders: &BTreeSet<PathBuf>) -> Result<Vec<Staged>> {
    let staged = folders.iter().map(|folder| Staged::read(stage, folder));
    let found: Result<Vec<_>> = staged.collect();
    Ok(found?.into_iter().flatten().collect())
}

impl Staged {
    /// What it is called where it was made, for a person.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(|name| name.strip_prefix("heads/").unwrap_or(name))
    }

    /// The folder of the repository, for a person; empty for that of the workspace.
    pub(super) fn place(&self) -> String {
        match self.folder.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => format!(" of {}", quoted(folder)),
            None => String::new(),
        }
    }

    fn read(stage: &Stage, folder: &Path) -> Result<Option<Self>> {
        let root = stage.staged(Path::new(""));
        let found = Names::read(&root, folder, true)?;
        let ours = &stage.summary().base;
        let folder = folder.to_owned();
        if ours.join(&folder).symlink_metadata().is_err() {
            let is_any = !(found.named.is_empty() && found.logged.is_empty());
            return Ok(is_any.then_some(Self { folder, names: found.named, way: None }));
        }
        // What a link leads to is no repository of the folder's.
        ensure!(is_plain_folder(ours, &folder), "{} is no folder", quoted(&folder));
        let known: BTreeSet<String> = {
            let Names { named, logged, .. } = Names::read(ours, &folder, false)?;
            heeler_core::gathered(named.into_values().chain(logged))
        };
        let base = ours.join(&folder);
        let is_new = |commit: &String| !known.contains(commit);
        let named: BTreeMap<_, _> =
            heeler_core::gathered(found.named.into_iter().filter(|(_, commit)| is_new(commit)));
        let logged: BTreeSet<_> = heeler_core::gathered(found.logged.into_iter().filter(is_new));
        if named.is_empty() && logged.is_empty() {
            return Ok(None);
        }
        check_objects(&root, &folder, &base)?;
        let program = git::program(ours)?;
        let all = known.iter().chain(named.values()).chain(&logged);
        let between = between(&program, [&base, &stage.staged(&folder)], all)?;
        let git = Git::of(&program, between.path());
        let known = kinds(&git, known.iter())?.into_keys();
        let known = known.map(|commit| format!("^{commit}\n")).collect::<String>();
        let names = only_staged(&git, named, &logged, &known)?;
        let found = Self { folder, names, way: Some(Way { git: program, between, known }) };
        Ok((!found.names.is_empty()).then_some(found))
    }

    /// Whether it is a repository that was made in the stage.
    pub(super) fn is_new(&self) -> bool {
        self.way.is_none()
    }

    /// Has the base's repository take over what is only in the stage: the names it has there.
    pub(super) fn bring(&self, stage: &Stage) -> Result<Vec<String>> {
        let Some(Way { git, between, known }) = &self.way else {
            let from = stage.staged(&self.folder).display().to_string().replace('\'', r"'\''");
            bail!(
                "the repository{} was made in it; `git clone '{from}' FOLDER` takes it along",
                self.place()
            );
        };
        let (base, between) = (&stage.summary().base, between.path());
        let asked: String = self.names.values().map(|commit| format!("{commit}\n")).collect();
        let asked = format!("{asked}{known}");
        let pack = between.join("new.pack");
        let arguments = ["pack-objects", "--quiet", "--revs", "--thin", "--stdout"];
        Git::of(git, between).run_into(&pack, &arguments, &asked)?;
        let objects = base.join(&self.folder).join("objects");
        let git = Git::of(git, between).with_objects(&objects);
        git.run(&["index-pack", "--stdin", "--fix-thin"], Told::File(File::open(&pack)?))?;
        // An object that was not what it was called is another one now, and missing here.
        let arguments = ["rev-list", "--objects", "--quiet", "--stdin"];
        git.run(&arguments, Told::Text(&asked)).context("an object of it is false or missing")?;
        // Written as git does, which would ask the repository's settings what else to do.
        let id = &stage.summary().id;
        let refs = self.folder.join("refs/remotes").join(id);
        for (name, commit) in &self.names {
            name_commit(base, &refs.join(name), commit)?;
        }
        Ok(self.names.keys().map(|name| format!("{id}/{name}")).collect())
    }
}

/// What no name of the base's leads to: of the named all that are that, and the ends of what no name leads
/// to any more, as after `git reset`.
fn only_staged(
    git: &Git<'_>,
    named: BTreeMap<String, String>,
    logged: &BTreeSet<String>,
    known: &str,
) -> Result<BTreeMap<String, String>> {
    let kinds = kinds(git, named.values().chain(logged))?;
    let leads_on = |id: &&String| kinds.get(*id).is_some_and(|it| it == "commit" || it == "tag");
    // Commits with those that they follow.
    let walk = |from: &mut dyn Iterator<Item = &String>| -> Result<BTreeMap<String, Vec<String>>> {
        let from: String = from.map(|commit| format!("{commit}\n")).collect();
        if from.is_empty() {
            return Ok(BTreeMap::new());
        }
        let told = format!("{from}{known}");
        let said = git.run(&["rev-list", "--parents", "--stdin"], Told::Text(&told))?;
        let lines = said.lines().map(|line| {
            let mut ids = line.split(' ').map(str::to_owned);
            (ids.next().unwrap_or_default(), ids.collect())
        });
        Ok(heeler_core::gathered(lines))
    };
    let new = walk(&mut named.values().filter(leads_on))?;
    let is_kept = |commit: &String| match kinds.get(commit).map(String::as_str) {
        Some("commit") => new.contains_key(commit),
        // Of a tag nobody else knows.
        kind => kind.is_some(),
    };
    let mut names: BTreeMap<_, _> =
        heeler_core::gathered(named.into_iter().filter(|(_, commit)| is_kept(commit)));
    let left = walk(&mut logged.iter().filter(leads_on).filter(|id| !new.contains_key(*id)))?;
    let parents: BTreeSet<&String> = heeler_core::gathered(left.values().flatten());
    let ends = left.keys().filter(|id| !parents.contains(id) && !new.contains_key(*id));
    names.extend(ends.enumerate().map(|(n, id)| (format!("lost/{}", n + 1), id.clone())));
    Ok(names)
}

/// Names a commit in a repository below a folder. No link leads out of it.
fn name_commit(root: &Path, name: &Path, commit: &str) -> Result<()> {
    let parent = name.parent().unwrap_or(name);
    let mut made = root.to_owned();
    for part in parent {
        made.push(part);
        match fs::create_dir(&made) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| format!("cannot make {}", made.display()));
            }
            _ => ensure!(made.symlink_metadata()?.is_dir(), "{} is no folder", made.display()),
        }
    }
    let mut file = tempfile::NamedTempFile::new_in(&made)?;
    writeln!(file, "{commit}")?;
    file.as_file().sync_all()?;
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(readable)?;
    file.persist(root.join(name))?;
    Ok(File::open(&made)?.sync_all()?)
}

/// A new repository that borrows the objects of both.
fn between<'a>(
    program: &Path,
    folders: [&Path; 2],
    mut commits: impl Iterator<Item = &'a String>,
) -> Result<TempDir> {
    let between = tempfile::tempdir().context("cannot make a temporary folder")?;
    let format = match commits.any(|commit| commit.len() > 40) {
        true => "--object-format=sha256",
        false => "--object-format=sha1",
    };
    let folder = between.path();
    let arguments = ["init", "--quiet", "--bare", "--template=", format, "."];
    Git::of(program, folder).run(&arguments, Told::Text(""))?;
    let mut objects = Vec::new();
    for folder in folders.map(|folder| folder.join("objects")) {
        if !folder.is_dir() {
            continue;
        }
        let bytes = folder.as_os_str().as_bytes();
        ensure!(!bytes.contains(&b'\n'), "git cannot borrow from {}", folder.display());
        objects.extend_from_slice(bytes);
        objects.push(b'\n');
    }
    fs::write(folder.join("objects/info/alternates"), objects)?;
    if let Some(shallow) = names::file(&folders[0].join("shallow"))? {
        fs::write(folder.join("shallow"), shallow)?;
    }
    Ok(between)
}

/// What these are, of those that are there.
fn kinds<'a>(
    git: &Git<'_>,
    ids: impl Iterator<Item = &'a String>,
) -> Result<BTreeMap<String, String>> {
    let asked: String = ids.map(|id| format!("{id}\n")).collect();
    let arguments = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
    let said = git.run(&arguments, Told::Text(&asked))?;
    let known = said.lines().filter_map(|line| line.split_once(' '));
    let known = known.filter(|(_, kind)| *kind != "missing");
    Ok(heeler_core::gathered(known.map(|(id, kind)| (id.to_owned(), kind.to_owned()))))
}
