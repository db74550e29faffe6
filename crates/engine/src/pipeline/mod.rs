//! One call's way: find, validate, describe; later, once it may run, execute and bound the output.
//!
//! Whether it may run is decided between the two halves, by the machine.

mod bound;
mod execute;
mod redact;
mod shape;
mod structured;
mod validate;

use std::panic::{AssertUnwindSafe, catch_unwind};

use heeler_core::{CallId, CallPlan, RawJson, SessionId, Spill, ToolOutput, panic_text};
use heeler_secrets::Secrets;

pub(crate) use execute::{CANCEL_GRACE_MILLIS, Executed, Execution, execute};
pub(crate) use redact::redacting;
pub(crate) use shape::Shape;

use crate::Toolset;
use validate::{Validated, validate};

/// The most tool names listed to a model that asked for an unknown one.
const NAMES_LISTED_MAX: usize = 64;

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
    let described = catch_unwind(AssertUnwindSafe(|| {
        let mut facts = tool.facts(used, workspace);
        facts.terminal |= tool.metadata().terminal;
        facts
    }));
    match described {
        Ok(facts) => CallPlan::Ready { facts, input: changed, notes, hook: None },
        Err(panic) => CallPlan::Invalid {
            error: format!("the tool {name} crashed: {}", panic_text(panic.as_ref())),
        },
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
    let names: Vec<&str> = tools.names().take(NAMES_LISTED_MAX).collect();
    if names.is_empty() {
        return format!("there is no tool called `{name}`; this conversation has no tools");
    }
    format!("there is no tool called `{name}`; the tools are {}", names.join(", "))
}
