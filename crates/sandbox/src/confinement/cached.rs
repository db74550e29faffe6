//! What is prepared for the commands of one box, kept between them and renewed when the files it
//! was made from have changed.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Components, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

use super::calls::Filters;
use super::guard::Guard;
use super::porter::{Errand, House, NotStarted, Porter, Step};
use super::rules::{self, Grade, Rules};
use super::space::{Hold, Plan};
use super::{Bound, Confines, Means};
use crate::launcher::Start;
use crate::wire::Failure;

/// How many boxes are kept: those of a few sessions, in and out of plan mode.
const BOXES_MAX: usize = 16;

/// How many links on the way to a protected place are followed, as many as the kernel follows.
const LINKS_MAX: usize = 40;

/// The boxes of a launcher, the one that was used last at the end.
#[derive(Default)]
pub(crate) struct Boxes {
    means: Means,
    kept: Vec<(Arc<Confines>, Arc<Prepared>)>,
    /// Those that are kept, and those that are still used.
    made: Vec<Weak<Walls>>,
}

/// All that a command needs to start in its box.
pub(crate) struct Prepared {
    walls: Arc<Walls>,
    rules: Rules,
}

/// What of a box lasts until something that it was made from is replaced.
struct Walls {
    grade: Grade,
    porter: Porter,
    guard: Guard,
    /// What may be written, and what not even read.
    writable: Vec<PathBuf>,
    closed: Vec<PathBuf>,
    /// What the mounts were made from: a file that is replaced loses its mount.
    found: Vec<(PathBuf, Option<Identity>)>,
    /// Secrets that were not there, where no command makes any: folders that the rules listed have them
    /// sooner, so they are looked for when one of these has changed.
    missing: Vec<PathBuf>,
    held: Mutex<Vec<Held>>,
}

/// How often one file is mounted again in a box: a file that is exchanged for another keeps its mount.
const AGAIN_MAX: u32 = 256;

/// What a mount of the box holds in what may be written.
struct Held {
    path: PathBuf,
    identity: Option<Identity>,
    /// Keeps the file's number from another one, which it is given as soon as it is free: git removes
    /// files and makes them anew.
    pin: Option<OwnedFd>,
    n_again: u32,
    hold: Hold,
}

impl Held {
    fn of((path, hold): (&PathBuf, Hold)) -> Self {
        Self { path: path.clone(), identity: Identity::of(path), pin: pin(path), n_again: 0, hold }
    }
}

/// Holds a file without opening it.
fn pin(path: &Path) -> Option<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Which file a path names.
#[derive(PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    /// Of a link, which nobody holds: one that leads elsewhere may be given the number of the one before.
    made: Option<(i64, i64)>,
}

impl Boxes {
    pub(crate) fn new(means: Means) -> Self {
        Self { means, ..Self::default() }
    }

    /// What is needed to confine a command so.
    pub(crate) fn prepare(&mut self, confines: &Arc<Confines>) -> io::Result<Arc<Prepared>> {
        let kept = self.kept.iter().position(|(other, _)| other == confines);
        let kept = kept.map(|index| self.kept.remove(index).1);
        let kept = kept.map(Prepared::renewed).transpose()?.flatten();
        let fresh = match kept {
            Some(prepared) => prepared,
            None => {
                let prepared = Prepared::new(confines, self.means)?;
                self.made.push(Arc::downgrade(&prepared.walls));
                Arc::new(prepared)
            }
        };
        if self.kept.len() == BOXES_MAX {
            self.kept.remove(0);
        }
        self.kept.push((Arc::clone(confines), Arc::clone(&fresh)));
        self.made.retain(|walls| walls.strong_count() > 0);
        Ok(fresh)
    }

    /// Whether this process stands in one of the boxes: it is nobody's command.
    pub(crate) fn has_porter(&self, pid: Pid) -> bool {
        self.walls().any(|walls| walls.porter.pid() == pid)
    }

    /// The processes that adopt what commands leave, where the launcher does not.
    pub(crate) fn reapers(&self) -> impl Iterator<Item = Pid> {
        self.walls().filter_map(|walls| walls.porter.reaper())
    }

    fn walls(&self) -> impl Iterator<Item = Arc<Walls>> {
        self.made.iter().filter_map(Weak::upgrade)
    }
}

impl Prepared {
    fn new(confines: &Confines, means: Means) -> io::Result<Self> {
        let grade = Grade::of_kernel(means.landlock_at_most)?;
        let mut survey = Survey::of(confines)?;
        survey.look_for_secrets(confines)?;
        survey.look_for_protected(confines)?;
        let Survey { mut plan, closed, mut found, missing, guard, .. } = survey;
        plan.has_own_processes = !grade.has_scopes();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found.dedup_by(|(a, _), (b, _)| a == b);
        let held = Mutex::new(plan.held().map(Held::of).collect());
        let porter = Porter::send(&House {
            plan: &plan,
            filters: &Filters::new(confines.network)?,
            written_bytes_max: confines.limits.written_bytes_max,
            mark: means.mark,
        })?;
        // While the porter makes the namespaces.
        let rules = Rules::new(grade, &plan.writable, &closed)?;
        let porter = porter.wait()?;
        let writable = plan.writable;
        let walls = Walls { grade, porter, guard, writable, closed, found, missing, held };
        Ok(Self { walls: Arc::new(walls), rules })
    }

    /// Itself, as it is now; `None` where its walls have to be made anew.
    fn renewed(self: Arc<Self>) -> io::Result<Option<Arc<Self>>> {
        if self.walls.are_stale() {
            return Ok(None);
        }
        if !self.rules.is_stale() {
            return Ok(Some(self));
        }
        match self.walls.misses_some() {
            true => Ok(None),
            false => self.with_new_rules().map(|renewed| Some(Arc::new(renewed))),
        }
    }

    fn with_new_rules(&self) -> io::Result<Self> {
        let walls = Arc::clone(&self.walls);
        Ok(Self { rules: Rules::new(walls.grade, &walls.writable, &walls.closed)?, walls })
    }

    /// Whether one that is made now would be another.
    pub(super) fn is_stale(&self) -> bool {
        self.walls.are_stale() || self.rules.is_stale()
    }

    /// The process that adopts what the box's commands leave, where the launcher does not.
    pub(super) fn reaper(&self) -> Option<Pid> {
        self.walls.porter.reaper()
    }

    /// Starts a command in the box.
    pub(crate) fn start(&self, start: Start) -> Result<Pid, Failure> {
        let Start { program, args, env, cwd, input, output, errors, has_terminal, mark } = &start;
        let errand = Errand { program, args, env, cwd, mark: *mark, has_terminal: *has_terminal };
        let descriptors = [self.rules.as_fd(), input.as_fd(), output.as_fd(), errors.as_fd()];
        self.walls.porter.start(&errand, descriptors).map_err(|error| match error {
            NotStarted::Refused(Step::Folder, _) if !cwd.is_dir() => Failure::Folder,
            // It exists outside, so it is hidden in the box.
            NotStarted::Refused(Step::Folder, error) => {
                Failure::Refused(format!("its folder in the box: {error}"))
            }
            NotStarted::Refused(Step::Program, error)
                if error.kind() == io::ErrorKind::NotFound =>
            {
                Failure::Program
            }
            NotStarted::Refused(_, error) => Failure::Refused(error.to_string()),
            NotStarted::Lost(error) => Failure::Refused(format!(
                "its box was lost ({error}); whether it began is unknown, it does not run now"
            )),
        })
    }

    /// Puts back what is protected by no mount; returns what was changed.
    pub(super) fn restore(&self) -> Option<Bound> {
        self.walls.guard.restore()
    }

    /// Mounts again what was replaced outside, as git does with its settings, and so lost its mount;
    /// returns what cannot be.
    pub(super) fn hold_again(&self) -> Option<Bound> {
        self.walls.hold_again()
    }
}

impl Walls {
    fn are_stale(&self) -> bool {
        self.porter.is_lost() || self.found.iter().any(|(path, was)| Identity::of(path) != *was)
    }

    /// Whether a secret came to be that nothing covers yet.
    fn misses_some(&self) -> bool {
        self.missing.iter().any(|path| Identity::of(path).is_some())
    }

    fn hold_again(&self) -> Option<Bound> {
        // Nothing in here is left half done by a panic.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lost = Vec::new();
        for (index, one) in held.iter().enumerate() {
            let now = Identity::of(&one.path);
            // A secret that is gone is none: whatever takes its place is covered.
            let is_gone = one.hold == Hold::Covered && now.is_none();
            if now == one.identity || is_gone {
                continue;
            }
            let is_there = one.path.symlink_metadata().is_ok_and(|it| !it.is_symlink());
            // A folder that can be written cannot be mounted as it was.
            if one.hold == Hold::Pinned || !is_there || one.n_again == AGAIN_MAX {
                return Some(Bound::Replaced { path: one.path.clone() });
            }
            lost.push((index, now));
        }
        let what = |(index, _): &(usize, _)| (held[*index].path.clone(), held[*index].hold);
        let places: Vec<(PathBuf, Hold)> = lost.iter().map(what).collect();
        let first = places.first()?.0.clone();
        if self.porter.hold_again(&places).is_err() {
            return Some(Bound::Replaced { path: first });
        }
        for (index, identity) in lost {
            // Of before it was mounted: what is replaced once more is seen by the next look.
            held[index].identity = identity;
            held[index].pin = pin(&held[index].path);
            held[index].n_again += 1;
        }
        None
    }
}

impl Identity {
    /// `None` when there is nothing, or nothing that can be seen.
    fn of(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().as_ref().map(Self::from)
    }
}

impl From<&Metadata> for Identity {
    fn from(metadata: &Metadata) -> Self {
        let made = metadata.is_symlink().then(|| (metadata.ctime(), metadata.ctime_nsec()));
        Self { device: metadata.dev(), inode: metadata.ino(), made }
    }
}

/// What the paths of a box are on this machine, now.
struct Survey {
    workspace: PathBuf,
    plan: Plan,
    closed: Vec<PathBuf>,
    guard: Guard,
    found: Vec<(PathBuf, Option<Identity>)>,
    missing: Vec<PathBuf>,
}

impl Survey {
    fn of(confines: &Confines) -> io::Result<Self> {
        let canonical = |path: &PathBuf| {
            let found = path.canonicalize();
            found.map_err(|error| io::Error::other(format!("`{}`: {error}", path.display())))
        };
        let mut survey = Self {
            workspace: canonical(&confines.workspace)?,
            plan: Plan { temp: canonical(&confines.temp)?, ..Plan::default() },
            closed: Vec::new(),
            guard: Guard::default(),
            found: Vec::new(),
            missing: Vec::new(),
        };
        let mut writable = vec![survey.workspace.clone(), survey.plan.temp.clone()];
        // One that does not exist cannot be written.
        writable.extend(confines.writable.iter().filter_map(|path| path.canonicalize().ok()));
        for path in outermost(writable) {
            survey.note(&path);
            survey.plan.writable.push(path);
        }
        Ok(survey)
    }

    fn look_for_secrets(&mut self, confines: &Confines) -> io::Result<()> {
        let mut existing = Vec::new();
        let mut folders = Folders::default();
        for secret in &confines.secrets {
            let (named, folder) = folders.real_name(secret);
            let metadata = match folder {
                Folder::Missing => None,
                Folder::There | Folder::Unknown => named.symlink_metadata().ok(),
            };
            let is_link = metadata.as_ref().is_some_and(Metadata::is_symlink);
            let leads_to = match is_link {
                true => named.canonicalize().ok(),
                false => metadata.as_ref().map(|_| named.clone()),
            };
            let is_listed = || {
                let may_be_made = self.plan.writable.iter().any(|root| named.starts_with(root));
                !may_be_made && !rules::is_always_closed(&named) && folder != Folder::Unknown
            };
            if metadata.is_none() && is_listed() {
                self.missing.push(named.clone());
            } else {
                self.found.push((named.clone(), metadata.as_ref().map(Identity::from)));
            }
            // A link to a device keeps nothing, as that of a history to `/dev/null`: closed it would
            // be missed by every command.
            let keeps = |path: &PathBuf| {
                !is_link || path.metadata().is_ok_and(|it| it.is_file() || it.is_dir())
            };
            if let Some(path) = leads_to.filter(keeps) {
                if is_link {
                    self.note(&path);
                    self.closed.push(path.clone());
                }
                existing.push(path);
            }
            self.closed.push(named);
        }
        folders.links.iter().for_each(|link| self.note(link));
        for (writable, secret) in self.plan.writable.iter().zip(std::iter::repeat(&self.closed)) {
            if let Some(secret) = secret.iter().find(|secret| writable.starts_with(secret)) {
                let (writable, secret) = (writable.display(), secret.display());
                let text = format!("`{writable}` is to be written, and secret as `{secret}` is");
                return Err(io::Error::other(text));
            }
        }
        self.plan.secrets = outermost(existing);
        self.pin_around_secrets();
        Ok(())
    }

    /// A secret that moved along with a folder would be one under another name in the next box.
    fn pin_around_secrets(&mut self) {
        let Plan { writable, secrets, .. } = &self.plan;
        let mut around = Vec::new();
        for secret in secrets {
            if let Some(root) = writable.iter().find(|root| secret.starts_with(root)) {
                let folders = secret.ancestors().skip(1).take_while(|folder| folder != root);
                around.extend(folders.map(Path::to_owned));
            }
        }
        around.iter().for_each(|folder| self.note(folder));
        self.plan.pinned.append(&mut around);
    }

    fn look_for_protected(&mut self, confines: &Confines) -> io::Result<()> {
        for path in &confines.protected {
            let path = self.workspace.join(path);
            self.protect(&path)?;
        }
        self.plan.pinned.sort();
        self.plan.pinned.dedup();
        self.plan.protected.sort();
        self.plan.protected.dedup();
        Ok(())
    }

    /// Finds what has to be mounted, or looked after, so that a path cannot be changed, moved or
    /// replaced: each link on the way, and what is at its end. One that leads nowhere must not lead
    /// to what a command makes.
    fn protect(&mut self, path: &Path) -> io::Result<()> {
        // From a folder that may be written on, since its own name is a real one.
        let root = self.plan.writable.iter().find(|root| path.starts_with(root));
        let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
        if root.is_some() && !path.components().all(is_plain) {
            let text = format!("`{}` cannot be protected: it is no plain path", path.display());
            return Err(io::Error::other(text));
        }
        let mut current = root.cloned().unwrap_or_else(|| PathBuf::from("/"));
        let rest = path.strip_prefix(&current).unwrap_or(path).components();
        let mut left: Vec<PathBuf> = names_reversed(rest);
        let mut n_links = 0;
        while let Some(name) = left.pop() {
            if name == Path::new("..") {
                current.pop();
                continue;
            }
            current.push(name);
            let root = self.plan.writable.iter().find(|root| current.starts_with(root)).cloned();
            let root = root.filter(|root| *root != current);
            let metadata = current.symlink_metadata();
            let is_link = metadata.as_ref().is_ok_and(Metadata::is_symlink);
            if root.is_some() || is_link {
                self.note(&current);
            }
            match (metadata, root) {
                (Ok(_), root) if is_link => {
                    if let Some(root) = root {
                        self.guard.add(&root, &current)?;
                    }
                    n_links += 1;
                    let Some(target) = current.read_link().ok().filter(|_| n_links <= LINKS_MAX)
                    else {
                        return Ok(());
                    };
                    current.pop();
                    if target.is_absolute() {
                        current = PathBuf::from("/");
                    }
                    left.extend(names_reversed(target.components()));
                }
                (Ok(_), Some(_)) if left.is_empty() => self.plan.protected.push(current.clone()),
                (Ok(metadata), Some(_)) if metadata.is_dir() => {
                    self.plan.pinned.push(current.clone());
                }
                (_, Some(root)) => {
                    let is_named = left.iter().all(|name| name != Path::new(".."));
                    let path = left.iter().rev().fold(current, |path, name| path.join(name));
                    return if is_named { self.guard.add(&root, &path) } else { Ok(()) };
                }
                (Ok(_), None) => {}
                // Nobody in the box can make it.
                (Err(_), None) => return Ok(()),
            }
        }
        Ok(())
    }

    fn note(&mut self, path: &Path) {
        self.found.push((path.to_owned(), Identity::of(path)));
    }
}

/// The names of a path, the first one last; `..` among them.
fn names_reversed(parts: Components<'_>) -> Vec<PathBuf> {
    let is_name =
        |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    parts.rev().filter(is_name).map(|part| PathBuf::from(part.as_os_str())).collect()
}

/// What is known of the folder that a secret is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Folder {
    There,
    /// It is to be made first, in a folder that is there under the name it has here.
    Missing,
    /// Nor is it clear where it would come to be.
    Unknown,
}

/// The real names of folders: many secrets lie in few.
#[derive(Default)]
struct Folders {
    known: BTreeMap<PathBuf, (PathBuf, Folder)>,
    /// Links on the way: one that leads elsewhere later has other secrets behind it.
    links: Vec<PathBuf>,
}

impl Folders {
    /// The path itself, not what it may link to, under the name the kernel knows it by.
    fn real_name(&mut self, path: &Path) -> (PathBuf, Folder) {
        let Some((folder, name)) = path.parent().zip(path.file_name()) else {
            return (path.to_owned(), Folder::Unknown);
        };
        let (folder, what) = self.real(folder);
        (folder.join(name), what)
    }

    /// As far as it is there; what is missing of it has the names it was given.
    fn real(&mut self, folder: &Path) -> (PathBuf, Folder) {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let known = match (folder.parent(), folder.file_name()) {
            (Some(parent), Some(name)) if folder.is_absolute() => {
                let (parent, what) = self.real(parent);
                let path = parent.join(name);
                match what {
                    Folder::There => self.resolved(path),
                    Folder::Missing | Folder::Unknown => (path, what),
                }
            }
            _ => followed(folder.to_owned()),
        };
        self.known.insert(folder.to_owned(), known.clone());
        known
    }

    /// An entry of a folder that has its real name.
    fn resolved(&mut self, path: PathBuf) -> (PathBuf, Folder) {
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                self.links.push(path.clone());
                followed(path)
            }
            Ok(_) => (path, Folder::There),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path, Folder::Missing),
            Err(_) => (path, Folder::Unknown),
        }
    }
}

/// Where a path leads that may have links in it.
fn followed(path: PathBuf) -> (PathBuf, Folder) {
    match path.canonicalize() {
        Ok(real) => (real, Folder::There),
        Err(_) => (path, Folder::Unknown),
    }
}

/// These paths without those below others of them, sorted: what is below a path follows it at once.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup_by(|path, outer| path.starts_with(outer));
    paths
}
