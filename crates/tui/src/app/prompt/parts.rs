//! A change taken or left part by part: the hunks of a file, or the sections of a patch.

use heeler_core::{OpenPermission, RawJson};
use ratatui::text::Line;
use serde_json::{Value, json};

use crate::app::change;
use crate::text::diff::{Hunk, apply, hunk_lines, hunks};
use crate::transcript::{Look, patch_lines};

/// The parts of a change, in order, and what was said about the first of them.
pub(super) struct Parts {
    change: Change,
    taken: Vec<bool>,
}

enum Change {
    /// The file before, and what becomes of it.
    File { before: String, hunks: Vec<Hunk> },
    /// What stands before the sections of each file, and the sections with the file they are of.
    Patch { field: &'static str, heads: Vec<String>, sections: Vec<(usize, String)> },
}

/// What came of choosing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// There is another part to look at.
    Next,
    /// Every part was taken.
    All,
    /// None was.
    None,
    /// This input makes the parts that were taken.
    Some(RawJson),
}

impl Parts {
    /// The parts of what a call would change, where there are several; `file` is what is in the file
    /// now.
    pub(super) fn of(open: &OpenPermission, file: Option<&str>) -> Option<Self> {
        let input = open.input.value();
        let change = match open.tool.as_str() {
            "apply_patch" => patch(&input)?,
            tool => {
                let (before, after) = change::whole(tool, &input, file?)?;
                let hunks = hunks(&before, &after);
                Change::File { before, hunks }
            }
        };
        let parts = Self { change, taken: Vec::new() };
        (parts.len() > 1).then_some(parts)
    }

    pub(super) fn len(&self) -> usize {
        match &self.change {
            Change::File { hunks, .. } => hunks.len(),
            Change::Patch { sections, .. } => sections.len(),
        }
    }

    /// Which part is looked at, counted from 1.
    pub(super) fn at(&self) -> usize {
        self.taken.len() + 1
    }

    /// Whether no part is left to look at after this key.
    pub(super) fn is_decided_by(&self, key: char) -> bool {
        matches!(key, 'a' | 'd') || self.at() >= self.len()
    }

    /// Begins at the first part again.
    pub(super) fn restart(&mut self) {
        self.taken.clear();
    }

    /// Takes or leaves the part that is looked at, or it and all that follow.
    pub(super) fn choose(&mut self, takes: bool, rest: bool, open: &OpenPermission) -> Chosen {
        let n = if rest { self.len() } else { self.at() };
        self.taken.resize(n.min(self.len()), takes);
        if self.taken.len() < self.len() {
            return Chosen::Next;
        }
        match (self.taken.contains(&true), self.taken.contains(&false)) {
            (true, false) => Chosen::All,
            (true, true) => self.input(open).map_or(Chosen::None, Chosen::Some),
            (false, _) => Chosen::None,
        }
    }

    /// The part that is looked at.
    pub(super) fn lines(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let at = self.taken.len();
        match &self.change {
            Change::File { hunks, .. } => {
                hunks.get(at).map(|hunk| hunk_lines(hunk, look.width, look.theme))
            }
            Change::Patch { heads, sections, .. } => sections.get(at).map(|(file, section)| {
                let lines = heads[*file].lines().chain(section.lines());
                lines.flat_map(|line| patch_lines(line, look)).collect()
            }),
        }
        .unwrap_or_default()
    }

    fn input(&self, open: &OpenPermission) -> Option<RawJson> {
        let mut input = open.input.value();
        match &self.change {
            Change::File { before, hunks } => {
                let taken: Vec<&Hunk> = self.taken_of(hunks).collect();
                let after = apply(before, taken.iter().copied()).ok()?;
                let fields = input.as_object_mut()?;
                let (old, new) = around(before, &after, &taken);
                match open.tool.as_str() {
                    "Write" => drop(fields.insert("content".into(), after.into())),
                    "Edit" => {
                        fields.insert("old_string".into(), old.into());
                        fields.insert("new_string".into(), new.into());
                        fields.remove("replace_all");
                    }
                    _ => {
                        let edit = json!({"old_string": old, "new_string": new});
                        fields.insert("edits".into(), Value::Array(vec![edit]));
                    }
                }
            }
            Change::Patch { field, heads, sections } => {
                let mut text = "*** Begin Patch\n".to_owned();
                let mut last = None;
                for (file, section) in self.taken_of(sections) {
                    if last != Some(file) {
                        text += &heads[*file];
                        last = Some(file);
                    }
                    text += section;
                }
                text += "*** End Patch\n";
                *input.get_mut(*field)? = text.into();
            }
        }
        RawJson::parse(&input.to_string()).ok()
    }

    fn taken_of<'a, T>(&self, parts: &'a [T]) -> impl Iterator<Item = &'a T> {
        parts.iter().zip(&self.taken).filter(|(_, taken)| **taken).map(|(part, _)| part)
    }
}

/// The piece of the file from the first to the last hunk before and after; the whole file where the
/// piece stands in it more than once.
fn around(before: &str, after: &str, taken: &[&Hunk]) -> (String, String) {
    let whole = || (before.to_owned(), after.to_owned());
    let (Some(first), Some(last)) = (taken.first(), taken.last()) else { return whole() };
    let (start, end) = (first.old_range.start, last.old_range.end);
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let (Some(piece), Some(above), Some(below)) =
        (lines.get(start..end), lines.get(..start), lines.get(end..))
    else {
        return whole();
    };
    let piece = piece.concat();
    let length = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let new = after.get(length(above)..after.len().saturating_sub(length(below)));
    match new {
        Some(new) if !piece.is_empty() && before.matches(&*piece).count() == 1 => {
            (piece, new.to_owned())
        }
        _ => whole(),
    }
}

/// The sections of a patch: each place of a file that is changed, and each file that is added or
/// removed. `None` where it has not the shape the tool reads.
fn patch(input: &Value) -> Option<Change> {
    let field = ["patch", "input"].into_iter().find(|field| input.get(*field).is_some())?;
    let text = input.get(field)?.as_str()?;
    let mut lines = text.trim().lines();
    if lines.next()?.trim() != "*** Begin Patch" || lines.next_back()?.trim() != "*** End Patch" {
        return None;
    }
    let mut heads: Vec<String> = Vec::new();
    let mut sections: Vec<(usize, String)> = Vec::new();
    // A head is open until a line of a section follows it.
    let mut is_head = false;
    for line in lines {
        let begins_file = ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .iter()
            .any(|begin| line.starts_with(begin));
        if begins_file {
            heads.push(format!("{line}\n"));
            sections.push((heads.len() - 1, String::new()));
            is_head = true;
            continue;
        }
        let file = heads.len().checked_sub(1)?;
        if is_head && line.starts_with("*** Move to: ") {
            heads[file] += &format!("{line}\n");
            continue;
        }
        let updates = heads[file].starts_with("*** Update File: ");
        if updates && line.starts_with("@@") && !is_head {
            // Places that name each other (`@@ class` above `@@ fn`) belong together.
            let (_, section) = sections.last()?;
            if !section.lines().all(|line| line.starts_with("@@")) {
                sections.push((file, String::new()));
            }
        }
        is_head = false;
        let (_, section) = sections.last_mut()?;
        *section += line;
        section.push('\n');
    }
    Some(Change::Patch { field, heads, sections })
}
