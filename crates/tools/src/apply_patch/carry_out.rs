//! Carries out a plan: all of it, or nothing.
//!
//! Everything that can fail early does so before the first file changes: new contents are written
//! and synced under no name or a passing one, and files that changed meanwhile are noticed. Then
//! contents get their places one after the other, and only then what is to be gone goes, so that a
//! death in between leaves whole files and loses no content: a file that moves is there twice, never
//! not at all. What fails in between is taken back.

use std::fs::Metadata;
use std::io;

use heeler_core::{ToolContext, ToolError};

use super::plan::Target;
use crate::atomic::{self, Prepared};
use crate::blocking::keep_going;

/// Changes every file of the plan.
pub(super) fn carry_out(context: &ToolContext, targets: &mut [Target]) -> Result<(), ToolError> {
    let failed = |path: &str, error: &io::Error| {
        ToolError::for_model(format!("cannot write {path}: {error}; nothing was changed"))
    };
    for target in targets.iter_mut().filter(|target| target.after.is_some()) {
        target.place.make_folder().map_err(|error| failed(&target.path, &error))?;
    }
    let targets = &*targets;
    let mut prepared = Vec::new();
    for target in targets {
        let Some(after) = &target.after else { continue };
        let like = target.like.as_deref().or(target.before.as_deref());
        let file = Prepared::new(context, &target.place, like, after)
            .map_err(|error| failed(&target.path, &error))?;
        prepared.push((target, file));
    }
    for target in targets {
        atomic::check_unchanged(&target.place, before(target))
            .map_err(|error| failed(&target.path, &error))?;
    }
    keep_going(context)?;
    let mut done: Vec<(&Target, Option<Metadata>)> = Vec::new();
    let step = || -> Result<(), (String, io::Error)> {
        for (target, file) in prepared {
            let error = |error| (target.path.clone(), error);
            file.persist(before(target)).map_err(error)?;
            let written = target.place.open().and_then(|file| file.metadata()).map_err(error)?;
            done.push((target, Some(written)));
        }
        for target in targets.iter().filter(|target| target.after.is_none()) {
            let error = |error| (target.path.clone(), error);
            atomic::remove(&target.place, before(target)).map_err(error)?;
            done.push((target, None));
        }
        Ok(())
    };
    let Err((path, error)) = step() else {
        targets.iter().for_each(|target| atomic::sync_folder(&target.place));
        return Ok(());
    };
    let lost: Vec<&str> = done
        .iter()
        .rev()
        .filter(|(target, written)| take_back(context, target, written.as_ref()).is_err())
        .map(|(target, _)| target.path.as_str())
        .collect();
    Err(ToolError::for_model(match &lost[..] {
        [] => format!("cannot write {path}: {error}; nothing was changed"),
        lost => format!(
            "cannot write {path}: {error}; what was done before is taken back, except for {}, \
             which could not be: Read what is there now",
            lost.join(", ")
        ),
    }))
}

fn before(target: &Target) -> Option<&Metadata> {
    target.before.as_ref().map(|before| &before.metadata)
}

/// Gives a file the content it had, unless somebody else has changed it since.
fn take_back(context: &ToolContext, target: &Target, written: Option<&Metadata>) -> io::Result<()> {
    match target.before.as_deref() {
        None => atomic::remove(&target.place, written),
        Some(before) => {
            let file = Prepared::new(context, &target.place, Some(before), &before.bytes)?;
            file.persist(written)
        }
    }
}
