//! `MultiEdit`: several edits of one file, all or none.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use heeler_core::{BoxFuture, Facts, ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::atomic;
use crate::blocking::blocking;
use crate::edit::{self, Change, One};
use crate::guard::{self, Loaded};
use crate::place::{self, Place};

const NAME: &str = "MultiEdit";

/// How many edits one call may have.
pub const MULTI_EDITS_MAX: usize = 200;

/// Bytes of what the model is shown of the changes.
const SHOWN_BYTES_MAX: usize = 6_000;

/// The tool.
#[derive(Default)]
pub struct MultiEdit {}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultiEditInput {
    /// File to change.
    pub file_path: String,
    /// The edits, in order.
    pub edits: Vec<OneEditInput>,
}

/// One edit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneEditInput {
    /// Text to replace, copied from the file.
    pub old_string: String,
    /// Text to put there.
    pub new_string: String,
    /// Replace every occurrence.
    pub replace_all: Option<bool>,
}

impl TypedTool for MultiEdit {
    type Input = MultiEditInput;

    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Makes several edits of one file, all or none, as Edit would one after the other: each sees \
         what those before it made."
    }

    fn facts(&self, input: &MultiEditInput, workspace: &str) -> Facts {
        place::write_facts(workspace, &input.file_path)
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        input: MultiEditInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        let paths = vec![input.file_path.clone()];
        guard::check(context, NAME, paths, move |context| Plan::of(context, &input).map(drop))
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: MultiEditInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |context| multi_edit(context, &input))
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: MultiEditInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        atomic::clean_up(context, NAME, vec![input.file_path])
    }
}

/// What a call would do, and where.
struct Plan {
    place: Place,
    before: Option<Loaded>,
    after: Vec<u8>,
    /// The lines that change.
    shown: String,
}

impl Plan {
    /// Looks at everything that a call may be refused for.
    fn of(context: &ToolContext, input: &MultiEditInput) -> Result<Self, ToolError> {
        let path = &input.file_path;
        let n_edits = input.edits.len();
        if !(1..=MULTI_EDITS_MAX).contains(&n_edits) {
            return Err(ToolError::for_model(format!(
                "there are {n_edits} edits; from 1 to {MULTI_EDITS_MAX} are possible"
            )));
        }
        let place = Place::to_write(context, NAME, path)?;
        let before = guard::load(&place, path)?;
        if let Some(before) = &before {
            guard::check_seen(context, &place, path, &before.bytes)?;
        } else if !input.edits.first().is_some_and(|first| first.old_string.is_empty()) {
            return Err(place::missing(&context.workspace, path, &place));
        }
        for one in &input.edits {
            let file = before.as_ref().map_or(&b""[..], |before| &before.bytes);
            guard::check_edit(path, &one.old_string, &one.new_string, file)?;
        }
        let mut after = before.as_ref().map_or_else(Vec::new, |before| before.bytes.clone());
        let mut shown = String::new();
        for (index, one) in input.edits.iter().enumerate() {
            let creates = index == 0 && before.is_none();
            let (next, text) = step(path, &after, one, creates).map_err(|error| match error {
                ToolError::ForModel(text) => ToolError::for_model(format!(
                    "edit {} of {n_edits}: {text}\nNone of the edits was made.",
                    index + 1
                )),
                other => other,
            })?;
            after = next;
            shown.push_str(&text);
        }
        if before.as_ref().is_some_and(|before| before.bytes == after) {
            return Err(ToolError::for_model(format!("the edits together leave {path} as it is")));
        }
        Ok(Self { place, before, after, shown })
    }
}

fn multi_edit(context: &ToolContext, input: &MultiEditInput) -> Result<ToolOutput, ToolError> {
    let (path, n_edits) = (&input.file_path, input.edits.len());
    let Plan { mut place, before, after, shown } = Plan::of(context, input)?;
    atomic::replace(context, &mut place, path, before.as_ref(), &after)?;
    let verb = if before.is_some() { "Edited" } else { "Created" };
    let parted = before.as_ref().map_or("", Loaded::parted);
    let n_shown = shown.floor_char_boundary(SHOWN_BYTES_MAX);
    let more = if n_shown < shown.len() {
        format!("\n{}", crate::text::cut_mark(shown.len() - n_shown))
    } else {
        String::new()
    };
    let shown = crate::text::part(&shown, 0..n_shown);
    let output =
        ToolOutput::text(format!("{verb} {path}, {n_edits} edits{parted}:\n{shown}{more}"));
    Ok(guard::seen_changed(context, output, &place, &after))
}

/// What one edit makes of the content, and the lines to show.
fn step(
    path: &str,
    content: &[u8],
    one: &OneEditInput,
    creates: bool,
) -> Result<(Vec<u8>, String), ToolError> {
    if creates {
        edit::check_size(one.new_string.len())?;
        return Ok((one.new_string.clone().into_bytes(), String::new()));
    }
    if one.old_string.is_empty() {
        return Err(ToolError::for_model("old_string is empty; name the text to replace"));
    }
    if one.old_string == one.new_string {
        return Err(ToolError::for_model("old_string and new_string are the same"));
    }
    let replace_all = one.replace_all.unwrap_or(false);
    let wanted = One { old: &one.old_string, new: &one.new_string, replace_all };
    let Change { replacements, note } = edit::change(path, content, &wanted)?;
    edit::check_size(edit::size_after(content, &replacements))?;
    let note = note.map(|note| format!("({note})\n")).unwrap_or_default();
    let snippet = edit::snippet(content, &replacements);
    Ok((edit::apply(content, &replacements), format!("{note}{snippet}")))
}
