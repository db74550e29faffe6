//! What a subshell has of its own: the folder it works in, and what its variables hold.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::word::Word;

/// More folders than this count as any folder.
const FOLDERS_MAX: usize = 16;

/// What a subshell has of its own.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// The working folder, where it is known.
    pub(crate) folder: Option<String>,
    /// Where it may be instead: a `cd` may fail, or not be reached.
    pub(crate) others: BTreeSet<Option<String>>,
    pub(crate) previous: Option<String>,
    pub(crate) stack: Vec<Option<String>>,
    pub(crate) input: Input,
    /// Variables that hold a new file or folder in the private temp.
    pub(crate) temps: BTreeSet<String>,
    /// Whether it may go to another folder at any time.
    pub(crate) roams: bool,
}

/// What a command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// What cannot be told: a pipe, a file.
    Unknown,
    /// Text that the line itself holds, and how many programs had read by then.
    Text(Rc<Word>, usize),
    /// The lines of the script that it stands in itself, or what is left of a text; the same.
    Rest(usize),
}

/// What a command that may not run, or may fail, could have left as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    folder: Option<String>,
    others: BTreeSet<Option<String>>,
    previous: Option<String>,
    pub(crate) temps: BTreeSet<String>,
}

impl Scope {
    pub(crate) fn new(folder: &str) -> Self {
        Self {
            folder: Some(folder.to_owned()),
            others: BTreeSet::new(),
            previous: None,
            stack: Vec::new(),
            input: Input::Unknown,
            temps: BTreeSet::new(),
            roams: false,
        }
    }

    /// All folders it may be in, the likely one first.
    pub(crate) fn folders(&self) -> Vec<Option<String>> {
        let anywhere = self.roams.then_some(None);
        std::iter::once(&self.folder).chain(&self.others).cloned().chain(anywhere).collect()
    }

    /// The folder, where it cannot be another one.
    pub(crate) fn certain_folder(&self) -> Option<String> {
        self.folder.clone().filter(|_| self.others.is_empty() && !self.roams)
    }

    /// It goes to another folder, seen from each that it may be in.
    pub(crate) fn go(&mut self, to: impl Fn(Option<&str>) -> Option<String>) {
        self.previous = self.certain_folder();
        self.folder = to(self.folder.as_deref());
        let from = std::mem::take(&mut self.others);
        self.others.extend(from.iter().map(|from| to(from.as_deref())));
    }

    /// It may be anywhere by now.
    pub(crate) fn may_be_anywhere(&mut self) {
        self.others.insert(None);
        self.previous = None;
    }

    pub(crate) fn standing(&self) -> Standing {
        Standing {
            folder: self.folder.clone(),
            others: self.others.clone(),
            previous: self.previous.clone(),
            temps: self.temps.clone(),
        }
    }

    /// It is where it was, or where it is now.
    pub(crate) fn or(&mut self, before: &Standing) {
        self.others.extend(before.others.iter().chain([&before.folder]).cloned());
        self.others.remove(&self.folder);
        if self.others.len() > FOLDERS_MAX {
            self.others = BTreeSet::from([None]);
        }
        if self.previous != before.previous {
            self.previous = None;
        }
        self.temps.retain(|name| before.temps.contains(name));
    }

    /// It is in the folder where it was.
    pub(crate) fn go_back(&mut self, before: &Standing) {
        self.folder.clone_from(&before.folder);
        self.others.clone_from(&before.others);
        self.previous.clone_from(&before.previous);
    }

    /// Whether it is in another folder than it was, or may be.
    pub(crate) fn has_moved(&self, before: &Standing) -> bool {
        self.folder != before.folder || self.others != before.others
    }
}
