//! Which files are notes here: the user's own, then those from the repository's root to the folder
//! that is worked in, each with what it imports.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::import::{imports, is_meant, target};
use super::open::{Bounds, Opened, READ_BYTES_MAX, Refused, Stamp, open};
use super::{NOTE_FILES_MAX, NOTE_IMPORTS_DEEP_MAX, NotePlaces};

/// The most folders above the one that is worked in.
const FOLDERS_MAX: usize = 64;

/// The most files that are looked for, those that are not there among them: each is held against every
/// rule.
pub(super) const LOOKS_MAX: usize = 512;
/// The most characters of a name that are told: an import may name anything.
const NAME_CHARS_MAX: usize = 1024;
/// Bytes that are read in all; far more than may be told.
const READ_BYTES_TOTAL_MAX: u64 = 4 * READ_BYTES_MAX;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<FoundFile>,
    pub(super) notices: Vec<String>,
    pub(super) looked_at: Vec<(PathBuf, Option<Stamp>)>,
}

/// A file that is told of, and which one brought it.
#[derive(Debug)]
pub(super) struct FoundFile {
    pub(super) opened: Opened,
    pub(super) name: String,
    /// The file of notes that it is, or that imports it: one cap holds for all of these.
    pub(super) group: usize,
    /// How far its folder is from the one that is worked in; the user's own is as near as that one.
    pub(super) distance: usize,
    /// Who imports it.
    pub(super) importer: Option<Importer>,
}

/// Where a file is imported.
#[derive(Debug, Clone)]
pub(super) struct Importer {
    pub(super) name: String,
    pub(super) line: usize,
    /// The path as it is written there.
    path: String,
}

/// All there are, in the order they are told.
pub(super) fn all(places: &NotePlaces) -> Found {
    let mut finding = Finding {
        places,
        root: root(&places.workspace, places.home.as_deref()),
        found: Found::default(),
        opened: Vec::new(),
        bytes_left: READ_BYTES_TOTAL_MAX,
        looks_left: LOOKS_MAX,
        is_end_told: false,
    };
    let own = places.heeler_home.clone();
    finding.folder(&own, &Bounds::Anywhere, 0);
    let folders: Vec<PathBuf> = places
        .workspace
        .ancestors()
        .take_while(|folder| folder.starts_with(&finding.root))
        .map(Path::to_owned)
        .collect();
    let bounds = Bounds::Below(finding.root.clone());
    for (distance, folder) in folders.iter().enumerate().rev() {
        finding.folder(folder, &bounds, distance);
    }
    finding.found
}

/// The root of the repository that is worked in; the folder itself where there is none. A folder of
/// another owner is nobody's root: in a folder for all, such as /tmp, anybody could write the notes. Nor
/// is the user's home, or what holds it, where somebody works below: who keeps that in git did not
/// mean its notes for every folder in it.
fn root(workspace: &Path, home: Option<&Path>) -> PathBuf {
    let owner = |folder: &Path| fs::metadata(folder).ok().map(|metadata| metadata.uid());
    let own = owner(workspace);
    let real_home = home.and_then(|home| home.canonicalize().ok());
    let holds_home = |folder: &Path| {
        let mut homes = home.into_iter().chain(real_home.as_deref());
        homes.any(|home| home.starts_with(folder))
    };
    workspace
        .ancestors()
        .take(FOLDERS_MAX)
        .take_while(|folder| owner(folder) == own && !holds_home(folder))
        .find(|folder| folder.join(".git").symlink_metadata().is_ok())
        .unwrap_or(workspace)
        .to_owned()
}

struct Finding<'a> {
    places: &'a NotePlaces,
    root: PathBuf,
    found: Found,
    opened: Vec<Read>,
    bytes_left: u64,
    looks_left: usize,
    /// Whether it was said that no more files are looked for.
    is_end_told: bool,
}

/// A file that was read: its path, what tells it from others, and where it had to lie.
struct Read {
    path: PathBuf,
    file: (u64, u64),
    bounds: Bounds,
}

/// One file on the way from a file of notes to what it imports.
struct Step<'a> {
    path: &'a Path,
    bounds: &'a Bounds,
    group: usize,
    distance: usize,
    depth: usize,
    importer: Option<Importer>,
}

impl Finding<'_> {
    fn folder(&mut self, folder: &Path, bounds: &Bounds, distance: usize) {
        for name in &self.places.preferences.names {
            let path = folder.join(name);
            let group = self.found.files.len();
            self.file(&Step { path: &path, bounds, group, distance, depth: 0, importer: None });
        }
    }

    fn file(&mut self, step: &Step<'_>) {
        // So ends whatever imports itself.
        if self.was_read(step.path, step.bounds) || !self.may_look() {
            return;
        }
        let stamp = Stamp::of(step.path);
        self.found.looked_at.push((step.path.to_owned(), stamp));
        let name = self.name(step.path);
        let told = match &step.importer {
            Some(by) => format!("{name}, which {}:{} imports,", by.name, by.line),
            None => name.clone(),
        };
        if !self.has_room_for(step, stamp, &told) {
            return;
        }
        let opened = match self.open(step) {
            Ok(opened) => opened,
            Err(Refused::Absent) => {
                if step.importer.as_ref().is_some_and(|by| is_meant(&by.path, step.path)) {
                    self.notice(format!("{told} is not there"));
                }
                return;
            }
            Err(Refused::Because(why)) => return self.notice(format!("{told} is not read: {why}")),
        };
        let (path, bounds) = (step.path.to_owned(), step.bounds.clone());
        self.opened.extend(stamp.map(|stamp| Read { path, file: stamp.file, bounds }));
        let is_known = |file: &FoundFile| {
            file.opened.real == opened.real || file.opened.sha256 == opened.sha256
        };
        if opened.text.is_empty() || self.found.files.iter().any(is_known) {
            return;
        }
        if self.found.files.len() == NOTE_FILES_MAX {
            return self.notice(format!("{told} is not read: {NOTE_FILES_MAX} files are enough"));
        }
        let wanted = self.wanted(&opened, &name);
        let bounds = self.bounds_of_imports(step, &opened);
        self.found.files.push(FoundFile {
            opened,
            name: name.clone(),
            group: step.group,
            distance: step.distance,
            importer: step.importer.clone(),
        });
        if step.depth == NOTE_IMPORTS_DEEP_MAX && !wanted.is_empty() {
            let why = format!("more than {NOTE_IMPORTS_DEEP_MAX} files lead there");
            return self.notice(format!("what {name} imports is not read: {why}"));
        }
        for (path, importer) in wanted {
            let (depth, importer) = (step.depth + 1, Some(importer));
            self.file(&Step { path: &path, bounds: &bounds, depth, importer, ..*step });
        }
    }

    /// What a file imports, each path once, as many as may be looked for and one more, so that somebody
    /// is told. Those that were read need no look.
    fn wanted(&self, opened: &Opened, name: &str) -> Vec<(PathBuf, Importer)> {
        let (mut written, mut targets) = (BTreeSet::new(), BTreeSet::new());
        imports(&opened.text)
            .filter(|(_, path)| written.insert(*path))
            .filter_map(|(line, path)| {
                let target = target(path, &opened.real, self.places.home.as_deref())?;
                let importer = || Importer { name: name.to_owned(), line, path: path.to_owned() };
                targets.insert(target.clone()).then(|| (target, importer()))
            })
            .take(self.opened.len() + self.looks_left + 1)
            .collect()
    }

    fn was_read(&self, path: &Path, bounds: &Bounds) -> bool {
        self.opened.iter().any(|read| read.path == path && read.bounds == *bounds)
    }

    /// Whether one more file may be looked for; where not, that is told once.
    fn may_look(&mut self) -> bool {
        if let Some(left) = self.looks_left.checked_sub(1) {
            self.looks_left = left;
            return true;
        }
        if !std::mem::replace(&mut self.is_end_told, true) {
            let why = format!("{LOOKS_MAX} files are enough to look for");
            self.notice(format!("more notes are not read: {why}"));
        }
        false
    }

    /// Whether a file is to be read, which was not read before, after all that was.
    fn has_room_for(&mut self, step: &Step<'_>, stamp: Option<Stamp>, told: &str) -> bool {
        // One file under two names is told once.
        let is_same =
            |file| self.opened.iter().any(|read| read.file == file && read.bounds == *step.bounds);
        if stamp.is_some_and(|stamp| is_same(stamp.file)) {
            return false;
        }
        let bytes = stamp.map_or(0, |stamp| stamp.bytes);
        // One that is too large is not read at all.
        if bytes > READ_BYTES_MAX {
            return true;
        }
        let Some(left) = self.bytes_left.checked_sub(bytes) else {
            let why = format!("{READ_BYTES_TOTAL_MAX} bytes of notes are enough");
            self.notice(format!("{told} is not read: {why}"));
            return false;
        };
        self.bytes_left = left;
        true
    }

    /// Of the user's own notes nothing is closed but what is closed to all; that heeler's home is
    /// closed to tools is not about them.
    fn open(&self, step: &Step<'_>) -> Result<Opened, Refused> {
        let policy = &self.places.policy;
        let is_own = step.depth == 0 && *step.bounds == Bounds::Anywhere;
        // Mostly there is no such file, and a policy is long.
        if !is_own || step.path.symlink_metadata().is_err() {
            return open(step.path, step.bounds, policy);
        }
        let mut policy = policy.clone();
        let is_other = |secret: &&String| !step.path.starts_with(secret);
        policy.secrets = policy.secrets.iter().filter(is_other).cloned().collect();
        open(step.path, step.bounds, &policy)
    }

    /// What the user's own file imports may lie anywhere; what that imports in turn lies beside it.
    fn bounds_of_imports(&self, step: &Step<'_>, opened: &Opened) -> Bounds {
        match step.bounds {
            Bounds::Anywhere if step.depth > 0 => {
                Bounds::Below(opened.real.parent().unwrap_or(&self.root).to_owned())
            }
            bounds => bounds.clone(),
        }
    }

    /// What a file is called: within the repository by its path there.
    fn name(&self, path: &Path) -> String {
        let within = path.strip_prefix(&self.root).ok().map(|inner| inner.display().to_string());
        let at_home = || {
            let home = self.places.home.as_deref()?;
            Some(format!("~/{}", path.strip_prefix(home).ok()?.display()))
        };
        let name = within.or_else(at_home).unwrap_or_else(|| path.display().to_string());
        let harmless = |c: char| if c.is_control() || c == '"' { '?' } else { c };
        let mut shown: String = name.chars().take(NAME_CHARS_MAX).map(harmless).collect();
        if name.chars().nth(NAME_CHARS_MAX).is_some() {
            shown.push_str("...");
        }
        shown
    }

    fn notice(&mut self, notice: String) {
        self.found.notices.push(notice);
    }
}
