//! What a patch makes of every file it names. Reads, and writes nothing.

use std::rc::Rc;

use heeler_core::{ToolContext, ToolError};

use super::NAME;
use super::locate::locate;
use super::parse::{Action, Hunk, Part};
use crate::edit;
use crate::guard::{self, Loaded};
use crate::hunk::Line;
use crate::place::{self, Place};

/// One file, before and after.
pub(super) struct Target {
    /// As the model named it.
    pub(super) path: String,
    pub(super) place: Place,
    pub(super) before: Option<Rc<Loaded>>,
    /// `None` when it is to be gone.
    pub(super) after: Option<Vec<u8>>,
    /// What it was elsewhere, whose mode, owner and the like it gets.
    pub(super) like: Option<Rc<Loaded>>,
    /// What was overlooked to find the places of its changes.
    pub(super) notes: Vec<&'static str>,
    /// The changed lines with their numbers, of each update.
    pub(super) snippets: Vec<String>,
}

/// What one update makes of a content.
struct Changed {
    after: Vec<u8>,
    notes: Vec<&'static str>,
    snippet: String,
}

/// What becomes of each file, or why nothing does.
pub(super) fn plan(context: &ToolContext, parts: &[Part<'_>]) -> Result<Vec<Target>, ToolError> {
    let mut targets: Vec<Target> = Vec::new();
    for part in parts {
        match &part.action {
            Action::Add(content) => add(context, part.path, content, &mut targets)?,
            Action::Delete => {
                let mut target = existing(context, part.path, &targets)?;
                check_no_link(context, &target)?;
                target.after = None;
                targets.push(target);
            }
            Action::Update { move_to: None, hunks } => {
                update(context, part.path, hunks, &mut targets)?
            }
            Action::Update { move_to: Some(to), hunks } => {
                relocate(context, (part.path, to), hunks, &mut targets)?;
            }
        }
    }
    Ok(targets)
}

fn add(
    context: &ToolContext,
    path: &str,
    content: &str,
    targets: &mut Vec<Target>,
) -> Result<(), ToolError> {
    let place = Place::to_write(context, NAME, path)?;
    check_new(path, &place, targets)?;
    guard::check_edit(path, "", content, b"")?;
    let after = content.as_bytes().to_vec();
    edit::check_size(after.len())?;
    targets.push(target(path, place, None, Some(after)));
    Ok(())
}

fn update(
    context: &ToolContext,
    path: &str,
    hunks: &[Hunk<'_>],
    targets: &mut Vec<Target>,
) -> Result<(), ToolError> {
    let place = Place::to_write(context, NAME, path)?;
    // A second update of a file starts from what the first makes of it.
    let known = targets.iter_mut().find(|other| other.place.real() == place.real());
    if let Some(known) = known {
        let (Some(_), Some(after)) = (&known.before, &known.after) else {
            return Err(twice(path));
        };
        let changed = changed(path, after, hunks)?;
        known.take(changed);
        return Ok(());
    }
    let mut target = existing(context, path, targets)?;
    apply(path, hunks, &mut target)?;
    targets.push(target);
    Ok(())
}

fn relocate(
    context: &ToolContext,
    (path, to): (&str, &str),
    hunks: &[Hunk<'_>],
    targets: &mut Vec<Target>,
) -> Result<(), ToolError> {
    let mut source = existing(context, path, targets)?;
    check_no_link(context, &source)?;
    let place = Place::to_write(context, NAME, to)?;
    if place.real() == source.place.real() {
        return Err(ToolError::for_model(format!("{path} is to be moved to itself")));
    }
    check_new(to, &place, targets)?;
    apply(path, hunks, &mut source)?;
    let mut moved = target(to, place, None, source.after.take());
    moved.like = source.before.clone();
    moved.notes = std::mem::take(&mut source.notes);
    moved.snippets = std::mem::take(&mut source.snippets);
    targets.extend([moved, source]);
    Ok(())
}

/// A file that is there and was seen; as yet it stays as it is.
fn existing(context: &ToolContext, path: &str, targets: &[Target]) -> Result<Target, ToolError> {
    let place = Place::to_write(context, NAME, path)?;
    if targets.iter().any(|other| other.place.real() == place.real()) {
        return Err(twice(path));
    }
    let Some(before) = guard::load(&place, path)? else {
        return Err(place::missing(&context.workspace, path, &place));
    };
    guard::check_seen(context, &place, path, &before.bytes)?;
    let after = Some(before.bytes.clone());
    Ok(target(path, place, Some(Rc::new(before)), after))
}

fn apply(path: &str, hunks: &[Hunk<'_>], target: &mut Target) -> Result<(), ToolError> {
    let content = target.after.as_deref().unwrap_or_default();
    let changed = changed(path, content, hunks)?;
    target.take(changed);
    Ok(())
}

impl Target {
    fn take(&mut self, changed: Changed) {
        self.after = Some(changed.after);
        self.notes.extend(changed.notes);
        self.snippets.extend(Some(changed.snippet).filter(|snippet| !snippet.is_empty()));
    }
}

fn changed(path: &str, content: &[u8], hunks: &[Hunk<'_>]) -> Result<Changed, ToolError> {
    let (mut old, mut new) = (String::new(), String::new());
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        let (Line::Keep(text) | Line::Remove(text) | Line::Add(text)) = line;
        if !matches!(line, Line::Add(_)) {
            old += &format!("{text}\n");
        }
        if !matches!(line, Line::Remove(_)) {
            new += &format!("{text}\n");
        }
    }
    guard::check_edit(path, &old, &new, content)?;
    let located = locate(path, content, hunks).map_err(ToolError::ForModel)?;
    edit::check_size(edit::size_after(content, &located.replacements))?;
    Ok(Changed {
        after: edit::apply(content, &located.replacements),
        notes: located.notes,
        snippet: edit::snippet(content, &located.replacements),
    })
}

fn target(path: &str, place: Place, before: Option<Rc<Loaded>>, after: Option<Vec<u8>>) -> Target {
    let (notes, snippets) = (Vec::new(), Vec::new());
    Target { path: path.to_owned(), place, before, after, like: None, notes, snippets }
}

fn check_new(path: &str, place: &Place, targets: &[Target]) -> Result<(), ToolError> {
    if targets.iter().any(|other| other.place.real() == place.real()) {
        return Err(twice(path));
    }
    if place.exists() {
        return Err(ToolError::for_model(format!(
            "{path} exists; update it, or delete it first with a patch of its own"
        )));
    }
    Ok(())
}

/// What is deleted or moved is the file itself, not what a link leads to.
fn check_no_link(context: &ToolContext, target: &Target) -> Result<(), ToolError> {
    let named = place::absolute(&context.workspace, &target.path);
    if named.is_symlink() {
        return Err(ToolError::for_model(format!(
            "{} is a symbolic link to {}; use Bash to remove or rename links",
            target.path,
            place::shown(&context.workspace, target.place.real())
        )));
    }
    Ok(())
}

fn twice(path: &str) -> ToolError {
    ToolError::for_model(format!(
        "the patch names {path} twice; only several updates of one file are possible"
    ))
}
