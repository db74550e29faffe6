//! Walks the tree of a line and hands each simple command to its judge.

mod compound;
mod counts;
mod expand;
mod scope;
mod simple;
mod values;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) use scope::{Input, Scope};
use values::Values;

use crate::line::{Command, Concern, ConcernKind, Line};
use crate::place::{Extent, Place, Target};
use crate::second::{self, Seen, Trouble};
use crate::word::{HoleKind, Word};
use crate::{COMMANDS_MAX, LINE_BYTES_MAX, SCRIPTS_DEPTH_MAX, WORDS_MAX, parse};

/// Reads a line. See [`crate::read`].
pub(crate) fn read<'a>(line: &'a str, place: &Place<'a>) -> Line {
    let line = &*parse::joined(line);
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let mut reader = Reader::new(line, *place);
        reader.script(line);
        reader.finish()
    }));
    judged.unwrap_or_else(|_| {
        let mut reader = Reader::new(line, *place);
        reader.unclear("the line could not be read");
        reader.finish()
    })
}

/// What is known so far.
pub(crate) struct Reader<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) scope: Scope,
    line: Line,
    changes: bool,
    /// Functions that the line defines.
    functions: BTreeSet<String>,
    /// Which function calls which.
    calls: BTreeSet<(String, String)>,
    /// The functions around what is read.
    within: Vec<String>,
    values: Values,
    /// How often something was let be since the folder is one in the private temp.
    relied: usize,
    /// How many programs may have taken something of what they share with others.
    pub(crate) takers: usize,
    /// The whole line.
    text: &'a str,
    scripts_depth: usize,
    /// How many commands around this one have it in their words.
    pub(crate) wrapped_depth: usize,
    /// How many words the commands have that were added.
    n_words: usize,
    seen: Seen,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, place: Place<'a>) -> Self {
        Self {
            place,
            scope: Scope::new(place.workspace),
            line: Line::default(),
            changes: false,
            functions: BTreeSet::new(),
            calls: BTreeSet::new(),
            within: Vec::new(),
            values: Values::default(),
            relied: 0,
            takers: 0,
            text,
            scripts_depth: 0,
            wrapped_depth: 0,
            n_words: 0,
            seen: Vec::new(),
        }
    }

    /// Reads a text that a shell would run.
    pub(crate) fn script(&mut self, text: &str) {
        if self.scripts_depth >= SCRIPTS_DEPTH_MAX {
            return self.unclear("lines are nested too deep in each other");
        }
        if text.len() > LINE_BYTES_MAX {
            return self.unclear("the line is too long to read");
        }
        if let Some(why) = disguise(text) {
            self.unclear(why);
        }
        let text = &parse::joined(text);
        let second = match second::seen(text) {
            Ok(seen) => seen,
            Err(Trouble::Error) => return self.unclear("it does not parse as shell"),
            Err(Trouble::TooDeep) => return self.unclear("it is nested too deep"),
        };
        if second.len() > COMMANDS_MAX {
            return self.unclear("it holds too many commands");
        }
        let Some(program) = parse::program(text) else {
            return self.unclear("it does not parse as shell");
        };
        self.scripts_depth += 1;
        let outer = std::mem::take(&mut self.seen);
        self.program(&program);
        let mut seen = std::mem::replace(&mut self.seen, outer);
        self.scripts_depth -= 1;
        seen.sort();
        if seen != second {
            self.unclear("two parsers see different commands in it");
        }
    }

    fn finish(mut self) -> Line {
        if let Some(name) = self.recursive_function() {
            self.unclear(&format!("the function {name} calls itself"));
        }
        let mut line = self.line;
        line.is_read_only = !self.changes && line.writes.is_empty() && line.concerns.is_empty();
        line
    }

    fn recursive_function(&self) -> Option<String> {
        let reaches = |start: &String| {
            let (mut reached, mut queue) = (BTreeSet::new(), vec![start]);
            while let Some(name) = queue.pop() {
                let called = self.calls.iter().filter(|(caller, _)| caller == name);
                queue.extend(
                    called.map(|(_, callee)| callee).filter(|callee| reached.insert(*callee)),
                );
            }
            reached.contains(start)
        };
        self.functions.iter().find(|name| reaches(name)).cloned()
    }

    /// Adds a reason to ask.
    pub(crate) fn concern(&mut self, kind: ConcernKind, why: impl Into<String>) {
        let concern = Concern { kind, why: why.into() };
        if !self.line.concerns.contains(&concern) {
            self.line.concerns.push(concern);
        }
    }

    /// What would run is not known.
    pub(crate) fn unclear(&mut self, why: &str) {
        self.concern(ConcernKind::NotUnderstood, why);
    }

    /// The line changes something, or may.
    pub(crate) fn changes(&mut self) {
        self.changes = true;
    }

    /// It may write, or run, more than its words show.
    pub(crate) fn is_open_ended(&mut self) {
        self.changes = true;
        self.line.is_open_ended = true;
    }

    /// It may run what the settings of another folder than the workspace say.
    pub(crate) fn is_elsewhere(&mut self) {
        self.line.is_open_ended = true;
    }

    /// Something is let be since the folder is one in the private temp.
    pub(crate) fn relies_on_folder(&mut self) {
        self.relied += 1;
    }

    /// Adds a command; false when there are too many.
    pub(crate) fn add(&mut self, command: Command) -> bool {
        self.n_words += command.words.len();
        let fits = self.line.commands.len() < COMMANDS_MAX && self.n_words <= WORDS_MAX;
        if fits {
            self.line.commands.push(command);
        } else {
            self.unclear("it holds too many commands");
        }
        fits
    }

    /// Whether the line defines a function of this name.
    pub(crate) fn is_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// Whether what is read is the line itself, and neither a function nor a line within it.
    fn is_outermost(&self) -> bool {
        self.within.is_empty() && self.scripts_depth == 1
    }

    /// Whether the whole line holds a word.
    fn mentions(&self, word: &str) -> bool {
        self.text.contains(word)
    }

    /// Notes that a function calls another.
    pub(crate) fn calls_function(&mut self, name: &str) {
        for caller in &self.within {
            self.calls.insert((caller.clone(), name.to_owned()));
        }
    }

    /// Notes what a variable holds. It counts as a place in the temp only where nothing else in the
    /// line could give it another value.
    pub(crate) fn holds(&mut self, name: &str, value: Option<&Word>) {
        let is_temp =
            value.and_then(Word::leading_hole).is_some_and(|hole| hole.kind == HoleKind::Temp);
        if is_temp && mentions(self.text, name) == 1 {
            self.scope.temps.insert(name.to_owned());
        } else {
            self.scope.temps.remove(name);
        }
    }

    /// Whether a variable holds a place in the private temp.
    pub(crate) fn holds_temp(&self, name: &str) -> bool {
        self.scope.temps.contains(name)
    }

    /// The commands so far.
    pub(crate) fn commands(&self) -> &[Command] {
        &self.line.commands
    }

    /// Does this with a scope that is gone afterwards.
    pub(crate) fn apart(&mut self, act: impl FnOnce(&mut Self)) {
        let scope = self.scope.clone();
        act(self);
        self.scope = scope;
    }

    /// What is read from here on may be taken from a text, but surely not the whole of it.
    pub(crate) fn share_input(&mut self) {
        if self.scope.input != Input::Unknown {
            self.scope.input = Input::Rest(self.takers);
        }
    }

    /// What comes runs when it is called, wherever that is.
    pub(crate) fn is_later(&mut self) {
        self.scope.may_be_anywhere();
        self.share_input();
    }

    /// Something is written to the path that a word names.
    pub(crate) fn write(&mut self, word: &Word) {
        self.write_as(word, Devices::Free);
    }

    /// The same for what puts files in a place, or takes them away.
    pub(crate) fn replace(&mut self, word: &Word) {
        self.write_as(word, Devices::Refused);
    }

    fn write_as(&mut self, word: &Word, devices: Devices) {
        let extent = if word.known().is_some() { Extent::Whole } else { Extent::Start };
        if let Some(hole) = word.leading_hole() {
            match &hole.kind {
                HoleKind::Temp | HoleKind::Fed | HoleKind::Number | HoleKind::Other => {}
                HoleKind::Variable(name) if name.starts_with("HEELER") => {
                    self.concern(
                        ConcernKind::Leaves,
                        format!("writes to {}: heeler's own", word.text()),
                    );
                }
                HoleKind::Variable(_) => {}
                HoleKind::Commands => {
                    self.unclear(&format!("where it writes is computed: {}", word.text()))
                }
                HoleKind::ForeignHome => {
                    let why = format!("writes to {}, outside of the workspace", word.text());
                    self.concern(ConcernKind::Leaves, why);
                }
            }
            return self.is_open_ended();
        }
        if extent == Extent::Start {
            self.is_open_ended();
        }
        let prefix = word.known_prefix();
        for (index, folder) in self.scope.folders().iter().enumerate() {
            let target = self.place.target(&prefix, folder.as_deref(), extent);
            if index > 0 && self.place.is_outside(&target) {
                // It is not likely there, and in the box it writes nothing there.
                self.is_open_ended();
            } else {
                self.writes_to(word, target, extent, devices);
            }
        }
    }

    /// Bash itself opens a connection: no rule on a command says that what it prints may go there.
    fn connects(&mut self) {
        self.is_open_ended();
        self.concern(ConcernKind::Leaves, "opens a connection to the network");
    }

    fn writes_to(&mut self, word: &Word, target: Target, extent: Extent, devices: Devices) {
        match target {
            Target::Device if devices == Devices::Free => {}
            Target::Device => {
                self.concern(ConcernKind::Irreversible, format!("puts files into {}", word.text()));
            }
            Target::Inside(path) => {
                self.changes();
                if extent == Extent::Whole && !self.line.writes.contains(&path) {
                    self.line.writes.push(path);
                }
            }
            Target::Unknown => self.is_open_ended(),
            Target::Connection => self.connects(),
            Target::Refused(path, why) => {
                let why = format!("writes to {path}, which {why}");
                if extent == Extent::Whole && !self.line.writes.contains(&path) {
                    self.line.writes.push(path);
                }
                self.concern(ConcernKind::Leaves, why);
            }
        }
    }
}

/// Whether writing to `/dev/null` and its like is harmless.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Devices {
    Free,
    Refused,
}

/// How often a name stands in a text otherwise than to be expanded.
fn mentions(text: &str, name: &str) -> usize {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let stands_alone = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(|c| is_name(c) || c == '$' || c == '{') && !after.is_some_and(is_name)
    };
    text.match_indices(name).filter(|(at, _)| stands_alone(*at)).count()
}

/// Characters that make a line look like another one.
fn disguise(text: &str) -> Option<&'static str> {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if text.contains(is_control) {
        return Some("it holds control characters");
    }
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.contains(turns).then_some("it holds characters that turn the direction of text")
}
