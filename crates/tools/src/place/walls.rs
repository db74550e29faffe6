//! What is walled off whoever let a call run: where the letters of its path really lead is held
//! against how far the agent reaches.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use heeler_core::{Denied, ToolContext, ToolError, is_bounded_glob, is_protected};
use rustix::fs::CWD;
use rustix::io::Errno;

/// What a tool does at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Reads it or what is in it.
    Read,
    /// Changes it, or makes it.
    Write,
}

/// The walls before one call. All paths are real ones.
pub(crate) struct Walls {
    workspace: PathBuf,
    secrets: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    denied: Vec<Pattern>,
    protected: Vec<Protected>,
}

/// A protected place under its own name, and where that leads.
struct Protected {
    named: PathBuf,
    real: PathBuf,
}

/// A place that a rule denies.
#[derive(Clone)]
struct Pattern {
    below: PathBuf,
    /// Without one the place is denied as a whole.
    globs: Option<GlobSet>,
    /// The rule, for an error.
    rule: String,
}

impl Walls {
    pub(crate) fn new(context: &ToolContext, tool: &str, purpose: Purpose) -> Self {
        let reach = &context.reach;
        let mut real = RealPaths::default();
        let mut place = |path: &Path| {
            let named = context.workspace.join(path);
            (real.of(&named), named)
        };
        let protected: &[PathBuf] = match purpose {
            Purpose::Read => &[],
            Purpose::Write => &reach.protected,
        };
        let protected = protected.iter().map(|path| place(path));
        let protected = protected.map(|(real, named)| Protected { named, real }).collect();
        let denied = reach.denied.iter().filter(|denied| speaks_of(denied, tool, purpose));
        let denied = denied.map(|denied| Pattern::new(denied, place(&denied.below).0)).collect();
        Self {
            workspace: context.workspace.clone(),
            secrets: reach.secrets.iter().map(|path| place(path).0).collect(),
            readable: reach.readable.iter().map(|path| place(path).0).collect(),
            denied,
            protected,
        }
    }

    /// Refuses what is walled off. `path` is what the model wrote, `named` the same made absolute
    /// by its letters, `real` where it leads.
    pub(crate) fn check(&self, path: &str, named: &Path, real: &Path) -> Result<(), ToolError> {
        let it = match named == real {
            true => path.to_owned(),
            false => format!("{path} leads to {}, which", real.display()),
        };
        if let Some(secret) = self.secret(real) {
            return Err(ToolError::for_model(format!(
                "{it} is closed: nothing reads or writes in {}, where keys, passwords or what was \
                 said to others is kept, whoever allows it; leave it to the user",
                secret.display()
            )));
        }
        if is_inside_of_process(real) {
            return Err(ToolError::for_model(format!(
                "{it} is closed: the variables and the memory of a process hold keys, whoever allows it; \
                 leave it to the user"
            )));
        }
        if let Some(denied) = self.denied.iter().find(|denied| denied.holds(real)) {
            return Err(ToolError::for_model(format!(
                "{it} is closed: the rule {} denies it; leave it to the user",
                denied.rule
            )));
        }
        if let Some(other) = self.other_name(named, real) {
            return Err(ToolError::for_model(format!(
                "{path} leads to {}, which decides what later runs; permission was given for \
                 another name only, so name that path if you need the file",
                other.display()
            )));
        }
        Ok(())
    }

    /// What of this lies below a folder that was let through.
    pub(crate) fn below(self, folder: &Path) -> Closed {
        let Self { mut secrets, readable, mut denied, .. } = self;
        secrets.retain(|secret| is_in(secret, folder));
        denied.retain(|it| is_in(&it.below, folder) || is_in(folder, &it.below));
        Closed { secrets, readable, denied }
    }

    fn secret(&self, real: &Path) -> Option<&Path> {
        let secret = self.secrets.iter().find(|secret| is_in(real, secret))?;
        let is_readable = self.readable.iter().any(|folder| is_in(real, folder));
        (!is_readable).then_some(secret)
    }

    /// The name of a protected place that the letters which were judged do not show: there would
    /// have been more to ask about it.
    fn other_name(&self, named: &Path, real: &Path) -> Option<PathBuf> {
        let was_judged = |place: &Protected| {
            // Within the workspace the verdict knows its usual name alone.
            let by_real_name = !named.starts_with(&self.workspace) && is_in(named, &place.real);
            is_in(named, &place.named) || by_real_name
        };
        let mut protected = self.protected.iter().filter(|place| is_in(real, &place.real));
        if let Some(place) = protected.find(|place| !was_judged(place)) {
            let inner = rest(real, &place.real).components();
            return Some(place.named.components().chain(inner).collect());
        }
        // These names are what the verdict takes them for, at any depth. The workspace's own folder
        // may have one.
        let decides = |path: &Path| {
            is_protected(&path.strip_prefix(&self.workspace).unwrap_or(path).to_string_lossy())
        };
        let is_hidden = !self.protected.is_empty() && decides(real) && !decides(named);
        is_hidden.then(|| real.to_owned())
    }
}

/// What a search leaves out.
#[derive(Default)]
pub(crate) struct Closed {
    secrets: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    denied: Vec<Pattern>,
}

impl Closed {
    pub(crate) fn holds(&self, real: &Path) -> bool {
        is_inside_of_process(real)
            || self.denied.iter().any(|denied| denied.holds(real))
            || (self.secrets.iter().any(|secret| is_in(real, secret))
                && !self.readable.iter().any(|folder| is_in(real, folder)))
    }
}

impl Pattern {
    fn new(denied: &Denied, below: PathBuf) -> Self {
        let glob = denied.glob.trim_end_matches('/');
        // What matches, and all that is in it.
        let globs = (!glob.is_empty()).then(|| globs([glob, &format!("{glob}/**")]));
        // One that is no glob is a place of which nothing more is known.
        Self { below, globs: globs.flatten(), rule: denied.rule() }
    }

    fn holds(&self, real: &Path) -> bool {
        if !is_in(real, &self.below) {
            return false;
        }
        let Some(globs) = &self.globs else { return true };
        globs.is_match(rest(real, &self.below))
    }
}

/// Whether this is the system's view of what a process was given or holds: variables that no command
/// gets are among it. Wherever that view is mounted.
fn is_inside_of_process(real: &Path) -> bool {
    let is_named = real.file_name().is_some_and(|name| name == "environ" || name == "mem");
    is_named && real.parent().is_some_and(shows_processes)
}

#[cfg(target_os = "linux")]
fn shows_processes(folder: &Path) -> bool {
    // A process that is gone is asked about by its name.
    match rustix::fs::statfs(folder) {
        Ok(about) => about.f_type == rustix::fs::PROC_SUPER_MAGIC,
        Err(_) => folder.starts_with("/proc"),
    }
}

#[cfg(not(target_os = "linux"))]
fn shows_processes(folder: &Path) -> bool {
    folder.starts_with("/proc")
}

/// Rules' patterns as one; `None` where one is no pattern, or may take too much.
pub(super) fn globs<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Option<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if !is_bounded_glob(pattern) {
            return None;
        }
        set.add(GlobBuilder::new(pattern).literal_separator(true).build().ok()?);
    }
    set.build().ok()
}

/// As the verdict has it: by the tool's own name, and by what it does.
fn speaks_of(denied: &Denied, tool: &str, purpose: Purpose) -> bool {
    let family = match purpose {
        Purpose::Read => "Read",
        Purpose::Write => "Edit",
    };
    denied.tool.eq_ignore_ascii_case(tool) || denied.tool.eq_ignore_ascii_case(family)
}

/// Whether `path` is `folder` or lies in it. Case does not count: file systems that fold it know
/// both names, and on others nobody has a second one but to confuse.
fn is_in(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (path.as_os_str().as_bytes(), folder.as_os_str().as_bytes());
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    path.get(..folder.len()).is_some_and(|head| head.eq_ignore_ascii_case(folder))
        && matches!(path.get(folder.len()), None | Some(b'/'))
}

/// What of `path` comes after `folder`, which it is in.
fn rest<'a>(path: &'a Path, folder: &Path) -> &'a Path {
    let n_parts = folder.components().count();
    let mut parts = path.components();
    parts.by_ref().take(n_parts).for_each(drop);
    parts.as_path()
}

/// Where names lead, with at most one call of the system for each: most lie in the same few folders, and
/// most of these are not there.
#[derive(Default)]
struct RealPaths {
    /// By the bytes of their names; whether something is there.
    folders: HashMap<OsString, (PathBuf, bool)>,
}

impl RealPaths {
    fn of(&mut self, path: &Path) -> PathBuf {
        self.look(path).0
    }

    fn look(&mut self, path: &Path) -> (PathBuf, bool) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return (path.to_owned(), true);
        };
        let (real, is_there) = match self.folders.get(parent.as_os_str()) {
            Some((real, is_there)) => (real.join(name), *is_there),
            None => {
                let (real, is_there) = self.look(parent);
                let path = real.join(name);
                self.folders.insert(parent.as_os_str().to_owned(), (real, is_there));
                (path, is_there)
            }
        };
        if !is_there {
            return (real, false);
        }
        // What is no link, and what is not there, has its own name.
        match rustix::fs::readlinkat(CWD, &real, Vec::new()) {
            Ok(_) => (real.canonicalize().unwrap_or(real), true),
            Err(error) => (real, error != Errno::NOENT),
        }
    }
}
