//! One call's way: find, validate, describe; later, once it may run, execute and bound the output.
//!
//! Whether it may run is decided between the two halves, by the machine.

mod bound;
mod execute;
mod heavy;
mod inner;
mod media;
mod redact;
mod shape;
mod structured;
mod validate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use heeler_core::{
    Access, Block, CallId, CallPlan, Facts, Media, RawJson, SessionId, Spill, Tool, ToolOutput,
    panic_text, truncate_chars,
};
use heeler_secrets::Secrets;

pub use execute::CANCEL_GRACE_MILLIS;
pub(crate) use execute::{Executed, Execution, execute};
pub(crate) use inner::{Inner, Room};
pub(crate) use redact::redacting;
pub(crate) use shape::Shape;

use crate::Toolset;
use crate::images::{ImageDoor, RESULT_IMAGES_MAX};
use validate::{Validated, validate};

/// The most tool names listed to a model that asked for an unknown one.
const NAMES_LISTED_MAX: usize = 64;
/// The most characters of the name that it asked for.
const NAME_CHARS_MAX: usize = 64;

/// Looks a call's tool up, checks the input and says what the call touches.
pub(crate) fn plan(tools: &Toolset, workspace: &str, name: &str, input: &RawJson) -> CallPlan {
    let Some(tool) = tools.get(name) else {
        return CallPlan::Invalid { error: unknown_tool(tools, name) };
    };
    let Validated { input: changed, notes } = match validate(tools, name, input) {
        Ok(validated) => validated,
        Err(error) => return CallPlan::Invalid { error },
    };
    let used = changed.as_ref().unwrap_or(input);
    match describe(tools, workspace, tool, used) {
        Ok(facts) => CallPlan::Ready { facts, input: changed, notes: notes.into(), hook: None },
        Err(panic) => CallPlan::Invalid { error: format!("the tool {name} crashed: {panic}") },
    }
}

/// What a call that was planned touches now, where that may be something else than it was then.
pub(crate) fn facts_now(
    tools: &Toolset,
    workspace: &str,
    name: &str,
    input: &RawJson,
) -> Option<Facts> {
    let tool = tools.get(name)?;
    if !said_or(true, || facts_change(tools, tool, input)) {
        return None;
    }
    let crashed = |panic: String| {
        let what = format!("its tool crashed when it was asked what it touches: {panic}");
        Facts { accesses: vec![Access::Opaque(what)], ..Facts::default() }
    };
    Some(describe(tools, workspace, tool, input).unwrap_or_else(crashed))
}

/// What a tool says of its calls, or `other` where it panics: planning a call of it tells of that.
pub(crate) fn said_or<T>(other: T, say: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(say)).unwrap_or(other)
}

/// Whether what a call touches may be something else a moment later: by itself, or by a call that it plays.
pub(crate) fn facts_change(tools: &Toolset, tool: &Arc<dyn Tool>, input: &RawJson) -> bool {
    let of = |name: &str| tools.get(name).is_some_and(|tool| tool.metadata().facts_change);
    tool.metadata().facts_change || tool.inner_calls(input).iter().any(|call| of(&call.name))
}

/// What a call touches, or the text of a panic.
fn describe(
    tools: &Toolset,
    workspace: &str,
    tool: &Arc<dyn Tool>,
    input: &RawJson,
) -> Result<Facts, String> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut facts = tool.facts(input, workspace);
        facts.terminal |= tool.metadata().terminal;
        inner::with_inner(tools, workspace, tool.inner_calls(input), facts)
    }))
    .map_err(|panic| panic_text(panic.as_ref()).to_owned())
}

/// Whether a result that came after its call has to pass what takes time.
pub(crate) fn takes_time(output: &ToolOutput, media: Option<&Media>) -> bool {
    let has_more = |block: &Block| block.as_text().is_none();
    output.content.iter().any(has_more) || media.is_some() && media::concerns(output)
}

/// Lets the images of such a result in, and puts aside what no model can read of it.
pub(crate) async fn admit_late(
    output: &mut ToolOutput,
    secrets: &Secrets,
    door: &ImageDoor,
    media: Option<&Media>,
) {
    redact::redact(output, secrets);
    // Of what comes late only the texts are kept.
    admit(output, door, media, |_| true).await;
}

/// Lets images in, puts aside what no model can read, and leaves out what is neither text nor image.
async fn admit(
    output: &mut ToolOutput,
    door: &ImageDoor,
    media: Option<&Media>,
    fits: impl Fn(&RawJson) -> bool,
) {
    output.content.retain(|block| matches!(block, Block::Text(_) | Block::Image(_)));
    door.admit(&mut output.content, RESULT_IMAGES_MAX).await;
    // What a tool says it knows is not known.
    output.media_items.clear();
    if let Some(media) = media {
        media::put_aside(output, media, fits).await;
    }
}

/// Makes a result that came after its call what every result is: without secrets, and bounded.
pub(crate) fn bound_late(
    output: &mut ToolOutput,
    secrets: &Secrets,
    chars_max: usize,
    spill: Option<&dyn Spill>,
    session: &SessionId,
    call: CallId,
) {
    redact::redact(output, secrets);
    bound::bound(output, chars_max, spill, session, call);
}

fn unknown_tool(tools: &Toolset, name: &str) -> String {
    let name = truncate_chars(name, NAME_CHARS_MAX);
    let names: Vec<&str> = tools.names().take(NAMES_LISTED_MAX).collect();
    if names.is_empty() {
        return format!("there is no tool called `{name}`; this conversation has no tools");
    }
    format!("there is no tool called `{name}`; the tools are {}", names.join(", "))
}
