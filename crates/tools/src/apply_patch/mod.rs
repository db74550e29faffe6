//! `apply_patch`: changes several files at once, all or none, in the format models were trained on.

mod carry_out;
mod locate;
mod parse;
mod plan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use heeler_core::{BoxFuture, Facts, ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::blocking;
use crate::place;
use crate::{atomic, guard};
use carry_out::carry_out;
use plan::{Target, plan};

pub use parse::PATCH_FILES_MAX;

const NAME: &str = "apply_patch";

/// Bytes of changed lines that are shown of all files together.
const SHOWN_BYTES_MAX: usize = 24 * 1024;

/// Bytes of the longest patch.
pub const PATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The tool.
#[derive(Default)]
pub struct ApplyPatch {}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyPatchInput {
    /// The whole patch.
    pub input: String,
}

impl TypedTool for ApplyPatch {
    type Input = ApplyPatchInput;

    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Changes files with one patch, all or none. Files to change, move or delete must have been \
         read in this session.\n\
         *** Begin Patch\n\
         *** Add File: path (then lines with +)\n\
         *** Delete File: path\n\
         *** Update File: path (then optionally *** Move to: path)\n\
         @@ line above, such as a function's (optional)\n \
         kept line\n\
         -removed line\n\
         +added line\n\
         *** End of File (optional: the lines end the file)\n\
         *** End Patch\n\
         Give about 3 kept lines around each change; a place that is not clear is refused."
    }

    fn facts(&self, input: &ApplyPatchInput, workspace: &str) -> Facts {
        // A patch that cannot be read touches nothing: the call says why and ends.
        let parts = parse::parse(&input.input).unwrap_or_default();
        let mut facts = Facts::default();
        for path in parse::paths(&parts) {
            let one = place::write_facts(workspace, path);
            let new = one.accesses.iter().zip(one.resources);
            for (access, resource) in new {
                if !facts.accesses.contains(access) {
                    facts.accesses.push(access.clone());
                    facts.resources.push(resource);
                }
            }
        }
        facts
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        input: ApplyPatchInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        guard::check(context, NAME, paths(&input), move |context| {
            planned(context, &input.input).map(drop)
        })
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: ApplyPatchInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |context| apply_patch(context, &input.input))
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: ApplyPatchInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        atomic::clean_up(context, NAME, paths(&input))
    }
}

/// Every file a patch names; none when it cannot be read, since it touches nothing then.
fn paths(input: &ApplyPatchInput) -> Vec<String> {
    let parts = parse::parse(&input.input).unwrap_or_default();
    parse::paths(&parts).into_iter().map(str::to_owned).collect()
}

/// What a patch would do; looks at everything that it may be refused for.
fn planned(context: &ToolContext, patch: &str) -> Result<Vec<Target>, ToolError> {
    if PATCH_BYTES_MAX < patch.len() {
        return Err(ToolError::for_model(format!(
            "the patch has {} bytes; at most {PATCH_BYTES_MAX} are possible",
            patch.len()
        )));
    }
    let parts = parse::parse(patch).map_err(ToolError::ForModel)?;
    let mut targets = plan(context, &parts).map_err(|error| match error {
        ToolError::ForModel(text) => {
            ToolError::ForModel(format!("{}\nNothing was changed.", text.trim_end()))
        }
        other => other,
    })?;
    targets.retain(|target| {
        target.after.as_deref() != target.before.as_ref().map(|before| before.bytes.as_slice())
    });
    if targets.is_empty() {
        return Err(ToolError::for_model("the patch would leave every file as it is"));
    }
    Ok(targets)
}

fn apply_patch(context: &ToolContext, patch: &str) -> Result<ToolOutput, ToolError> {
    let mut targets = planned(context, patch)?;
    carry_out(context, &mut targets)?;
    let mut n_left = SHOWN_BYTES_MAX;
    let said: Vec<String> = targets.iter().map(|target| said(target, &mut n_left)).collect();
    let mut output = ToolOutput::text(said.join("\n"));
    for target in &targets {
        if let Some(after) = &target.after {
            output = guard::seen_changed(context, output, &target.place, after);
        }
    }
    Ok(output)
}

/// What happened to a file, what was overlooked, and which lines changed as long as there is room.
fn said(target: &Target, n_left: &mut usize) -> String {
    let verb = match (&target.before, &target.after) {
        (None, _) => "Added",
        (_, None) => "Deleted",
        _ => "Updated",
    };
    let mut notes = target.notes.clone();
    notes.dedup();
    let shown = target.snippets.join("   ...\n");
    if !shown.is_empty() && *n_left < shown.len() {
        notes.push("its lines are not shown, for there are too many");
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    let head = format!("{verb} {}{notes}", target.path);
    if shown.is_empty() || *n_left < shown.len() {
        return head;
    }
    *n_left -= shown.len();
    format!("{head}:\n{}", shown.trim_end_matches('\n'))
}
