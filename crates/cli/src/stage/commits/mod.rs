//! What was committed or stashed in a stage.
//!
//! What git keeps is not applied as files are: half of a commit is a broken repository, and a hook
//! or a setting would run outside of the box. Commits are carried over instead, by the person's own git,
//! which names each object by what is in it, and get names of their own, so that no branch moves.
//!
//! The stage's repository is what a run made of it, and a repository in the folder may be what an earlier
//! one did. So nothing is asked of either but their objects, by way of a new repository that borrows
//! them, and of the folder's its own names.

mod git;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use heeler_stage::Stage;
use tempfile::TempDir;

use git::{Git, Told};
use names::{Names, check_objects, is_id, stashes};

/// Commits of one repository that are only in the stage.
#[derive(Debug)]
pub(super) struct Staged {
    /// Git's folder, relative to the base.
    folder: PathBuf,
    /// Commits by the names that they get, behind that of the stage.
    names: BTreeMap<String, String>,
    /// What the base has, as git reads it from a list; `None` where it has no repository.
    base: Option<String>,
    /// An empty repository that borrows from both.
    between: Option<TempDir>,
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
            Some(folder) => format!(" of {}", folder.display()),
            None => String::new(),
        }
    }

    fn read(stage: &Stage, folder: &Path) -> Result<Option<Self>> {
        let root = stage.staged(Path::new(""));
        let found = Names::read(&root, folder)?;
        let base = stage.summary().base.join(folder);
        let folder = folder.to_owned();
        if !base.join("objects").is_dir() {
            let (names, is_any) = (found.named, found.logged.is_empty());
            let made = Self { folder, names, base: None, between: None };
            return Ok((!made.names.is_empty() || !is_any).then_some(made));
        }
        let known = known(&base)?;
        let is_new = |commit: &String| !known.contains(commit);
        let named: BTreeMap<_, _> =
            found.named.into_iter().filter(|(_, commit)| is_new(commit)).collect();
        let logged: BTreeSet<_> = found.logged.into_iter().filter(is_new).collect();
        if named.is_empty() && logged.is_empty() {
            return Ok(None);
        }
        check_objects(&root, &folder, &base)?;
        let between = between(&base, &stage.staged(&folder), known.iter().chain(named.values()))?;
        let git = Git::of(between.path());
        let base = kinds(&git, known.iter())?.into_keys().collect::<BTreeSet<_>>();
        let base = base.iter().map(|commit| format!("^{commit}\n")).collect::<String>();
        let kinds = kinds(&git, named.values().chain(&logged))?;
        let leads_on =
            |id: &&String| kinds.get(*id).is_some_and(|it| it == "commit" || it == "tag");
        let tips = |commits: &mut dyn Iterator<Item = &String>| -> Result<BTreeSet<String>> {
            let asked: String = commits.map(|commit| format!("{commit}\n")).collect();
            let told = format!("{asked}{base}");
            let said = git.run(&["rev-list", "--parents", "--stdin"], Told::Text(&told))?;
            Ok(said.lines().map(str::to_owned).collect())
        };
        let id_of = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
        let new: BTreeSet<String> =
            tips(&mut named.values().filter(leads_on))?.iter().map(id_of).collect();
        // Of what is no commit, a tag above all, nobody else knows either.
        let is_kept = |commit: &String| match kinds.get(commit).map(String::as_str) {
            Some("commit") => new.contains(commit),
            kind => kind.is_some(),
        };
        let mut names: BTreeMap<_, _> =
            named.into_iter().filter(|(_, commit)| is_kept(commit)).collect();
        // What no name leads to any more, as after `git reset`: the ends of it.
        let left = tips(&mut logged.iter().filter(leads_on).filter(|id| !new.contains(*id)))?;
        let parents: BTreeSet<&str> =
            left.iter().flat_map(|line| line.split(' ').skip(1)).collect();
        let ends = left.iter().map(id_of).filter(|id| !parents.contains(id.as_str()));
        let ends = ends.filter(|id| !new.contains(id));
        names.extend(ends.enumerate().map(|(n, id)| (format!("lost/{}", n + 1), id)));
        let found = Self { folder, names, base: Some(base), between: Some(between) };
        Ok((!found.names.is_empty()).then_some(found))
    }

    /// Has the base's repository take over what is only in the stage: the names it has there.
    pub(super) fn bring(&self, stage: &Stage) -> Result<Vec<String>> {
        let (Some(base), Some(between)) = (&self.base, &self.between) else {
            anyhow::bail!(
                "the repository{} was made in the stage; `git clone {} FOLDER` takes it along",
                self.place(),
                stage.staged(&self.folder).display()
            );
        };
        let (ours, between) = (stage.summary().base.join(&self.folder), between.path());
        let objects = ours.join("objects");
        let asked: String = self.names.values().map(|commit| format!("{commit}\n")).collect();
        let asked = format!("{asked}{base}");
        let pack = between.join("new.pack");
        let arguments = ["pack-objects", "--quiet", "--revs", "--thin", "--stdout"];
        Git::of(between).run_into(&pack, &arguments, &asked)?;
        let git = Git::with_objects(between, &objects);
        git.run(&["index-pack", "--stdin", "--fix-thin"], Told::File(File::open(&pack)?))?;
        // An object that was not what it was called is another one now, and missing here.
        let arguments = ["rev-list", "--objects", "--quiet", "--stdin"];
        git.run(&arguments, Told::Text(&asked)).context("an object of it is false or missing")?;
        let id = &stage.summary().id;
        let orders = self.names.iter();
        let orders =
            orders.map(|(name, commit)| format!("update refs/remotes/{id}/{name} {commit}\n"));
        Git::of(&ours).run(&["update-ref", "--stdin"], Told::Text(&orders.collect::<String>()))?;
        Ok(self.names.keys().map(|name| format!("{id}/{name}")).collect())
    }
}

/// What the names of a repository stand for that nobody took over before.
fn known(folder: &Path) -> Result<BTreeSet<String>> {
    let git = Git::of(folder);
    let said = git.run(&["for-each-ref", "--format=%(objectname)"], Told::Text(""))?;
    let mut known: BTreeSet<String> = said.lines().map(str::to_owned).collect();
    known.extend(names::text(&folder.join("HEAD"))?.map(|head| head.trim_end().to_owned()));
    known.extend(stashes(folder)?);
    known.retain(|commit| is_id(commit));
    Ok(known)
}

/// A new repository that borrows the objects of both.
fn between<'a>(
    ours: &Path,
    theirs: &Path,
    mut commits: impl Iterator<Item = &'a String>,
) -> Result<TempDir> {
    let between = tempfile::tempdir().context("cannot make a temporary folder")?;
    let format = match commits.any(|commit| commit.len() > 40) {
        true => "--object-format=sha256",
        false => "--object-format=sha1",
    };
    let folder = between.path();
    let arguments = ["init", "--quiet", "--bare", "--template=", format, "."];
    Git::of(folder).run(&arguments, Told::Text(""))?;
    let mut objects = Vec::new();
    for folder in [ours, theirs] {
        let folder = folder.join("objects");
        let bytes = folder.as_os_str().as_bytes();
        ensure!(!bytes.contains(&b'\n'), "git cannot borrow from {}", folder.display());
        objects.extend_from_slice(bytes);
        objects.push(b'\n');
    }
    fs::write(folder.join("objects/info/alternates"), objects)?;
    if let Some(shallow) = names::file(&ours.join("shallow"))? {
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
    Ok(known.map(|(id, kind)| (id.to_owned(), kind.to_owned())).collect())
}
