//! Runs one call: whatever the tool does, there is one output.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::FutureExt;
use heeler_core::{
    Access, Block, BoxFuture, CallId, CancellationToken, Clock, HookedCall, RawJson, Record,
    SessionId, Spill, Tool, ToolContext, ToolError, ToolOutput, panic_text,
};
use heeler_secrets::Secrets;

use super::{admit, bound, redact, said_or, structured};
use crate::Toolset;
use crate::bugs::{Bug, is_on};
use crate::hooks::Asker;
use crate::images::ImageDoor;

/// How long a tool may take to return what it has once it was cancelled.
pub const CANCEL_GRACE_MILLIS: u64 = 250;

/// One call, ready to run.
#[derive(Clone)]
pub(crate) struct Execution {
    /// Where its tool and that one's schemas are.
    pub(crate) tools: Toolset,
    pub(crate) name: String,
    pub(crate) context: ToolContext,
    pub(crate) input: RawJson,
    pub(crate) chars_max: usize,
    pub(crate) timeout_millis: u64,
    pub(crate) spill: Option<Arc<dyn Spill>>,
    /// What is taken out of its output.
    pub(crate) secrets: Arc<Secrets>,
    /// What its images pass.
    pub(crate) images: ImageDoor,
    /// Who is told of it once it ran.
    pub(crate) hooks: Option<Asker>,
    /// What they are told that it touches.
    pub(crate) accesses: Vec<Access>,
}

/// A call that ran.
pub(crate) struct Executed {
    pub(crate) output: ToolOutput,
    /// How long the tool itself ran.
    pub(crate) millis: u64,
    /// The record of what hooks said of it.
    pub(crate) heard: Option<Record>,
}

/// Runs the call and, once its output is `wanted`, tells hooks of it and bounds it: what is spilled
/// is an effect of its own. A panic, an error and a hang are outputs too.
pub(crate) async fn execute(
    execution: Box<Execution>,
    wanted: impl Future<Output = ()>,
) -> Executed {
    let Execution {
        tools,
        name,
        mut context,
        input,
        chars_max,
        timeout_millis,
        spill,
        secrets,
        images: door,
        hooks,
        accesses,
    } = *execution;
    let hooked =
        HookedCall { id: context.call, tool: name.clone(), input: input.clone(), accesses };
    // A call whose time is up is cancelled as well, and hooks are told of that one.
    let cancel = context.cancel.clone();
    context.cancel = cancel.child_token();
    let (session, call) = (context.session.clone(), context.call);
    let (images, media) = (context.images.clone(), context.media.clone());
    let clock = Arc::clone(&context.clock);
    let started = clock.now();
    tracing::debug!(%session, %call, tool = name, "a call begins");
    let mut output = match tools.get(&name).cloned() {
        Some(tool) => run(&name, Begun::of(&tool, context, input, timeout_millis)).await,
        None => ToolOutput::error(format!("the tool {name} is gone; it was not run")),
    };
    let millis = clock.now().since(started);
    structured::check(&tools, &name, &mut output);
    if !output.is_error {
        output.content.extend(images.take().into_iter().map(Block::from));
    }
    trace_end(&session, call, &name, &output, millis);
    if let (Some(error), _) = output.take_unwritten() {
        let error = secrets.redact(&error.to_string()).into_owned();
        tracing::warn!(tool = name, error, "a tool failed underneath");
    }
    wanted.await;
    // Before anybody is told, and before it is cut, or half a secret would not be known as one.
    redact::redact(&mut output, &secrets);
    let heard = match hooks {
        Some(hooks) if !cancel.is_cancelled() => tokio::select! {
            biased;
            heard = hooks.ask_after(hooked, &mut output) => heard,
            // What it gave is not lost over what somebody would say of it.
            () = cancel.cancelled() => None,
        },
        _ => None,
    };
    admit(&mut output, &door, media.as_ref(), |json| structured::fits(&tools, &name, json)).await;
    bound::bound(&mut output, chars_max, spill.as_deref(), &session, call);
    Executed { output, millis, heard }
}

/// Tells the trace how a call went; what it gave is no matter of traces.
fn trace_end(session: &SessionId, call: CallId, tool: &str, output: &ToolOutput, millis: u64) {
    match output {
        ToolOutput { is_error: true, .. } => {
            tracing::warn!(%session, %call, tool, millis, "a call failed");
        }
        ToolOutput { is_background: true, .. } => {
            tracing::debug!(%session, %call, tool, millis, "a call goes on in the background");
        }
        _ => tracing::debug!(%session, %call, tool, millis, "a call ended"),
    }
}

/// A call that was handed to its tool, with no room for what it was given.
struct Begun {
    call: std::thread::Result<BoxFuture<Result<ToolOutput, ToolError>>>,
    /// The same once more, for a bug that is switched on.
    again: Option<BoxFuture<Result<ToolOutput, ToolError>>>,
    cancel: CancellationToken,
    clock: Arc<dyn Clock>,
    timeout_millis: u64,
}

impl Begun {
    fn of(tool: &Arc<dyn Tool>, context: ToolContext, input: RawJson, timeout_millis: u64) -> Self {
        let (cancel, clock) = (context.cancel.clone(), Arc::clone(&context.clock));
        let timeout_millis = match said_or(0, || tool.metadata().timeout_millis) {
            _ if is_on(Bug::EndlessCall) => 0,
            0 => timeout_millis,
            own => own,
        };
        let again = is_on(Bug::RunAgain).then(|| {
            let (tool, context, input) = (Arc::clone(tool), context.clone(), input.clone());
            Box::pin(async move { tool.call(context, input).await }) as BoxFuture<_>
        });
        let tool = Arc::clone(tool);
        // It may panic before it gives a future.
        let call = catch_unwind(AssertUnwindSafe(|| tool.call(context, input)));
        Self { call, again, cancel, clock, timeout_millis }
    }
}

async fn run(name: &str, begun: Begun) -> ToolOutput {
    let Begun { call, again, cancel, clock, timeout_millis } = begun;
    let call = match call {
        Ok(call) => call,
        Err(panic) => return to_output(name, Err(panic)),
    };
    let mut call = AssertUnwindSafe(call).catch_unwind();
    if let Some(finished) = within(&clock, timeout_millis, &mut call).await {
        return to_output(name, finished);
    }
    if let Some(again) = again {
        let _ = within(&clock, timeout_millis, again).await;
    }
    cancel.cancel();
    let limit = std::time::Duration::from_millis(timeout_millis);
    let note = format!("Stopped after {limit:?} without finishing.");
    match within(&clock, CANCEL_GRACE_MILLIS, call).await {
        Some(finished) => {
            let mut output = to_output(name, finished);
            output.is_error = true;
            output.content.push(Block::text(format!("\n{note}")));
            output
        }
        None => ToolOutput::error(format!(
            "{note} The tool ignored being cancelled and was abandoned; it may still change things."
        )),
    }
}

/// What `work` gives within so many milliseconds; 0 waits for as long as it takes.
async fn within<T>(
    clock: &Arc<dyn Clock>,
    millis: u64,
    work: impl Future<Output = T>,
) -> Option<T> {
    if millis == 0 {
        return Some(work.await);
    }
    tokio::select! {
        biased;
        done = work => Some(done),
        () = clock.sleep_until(clock.now().plus(millis)) => None,
    }
}

type Finished = Result<Result<ToolOutput, ToolError>, Box<dyn std::any::Any + Send>>;

fn to_output(name: &str, finished: Finished) -> ToolOutput {
    match finished {
        Ok(Ok(output)) => output,
        Ok(Err(ToolError::ForModel(text))) => ToolOutput::error(text),
        Ok(Err(ToolError::Internal(error))) => {
            // The cause is logged, and no model's to read: it may name a place or hold a key.
            let text = format!(
                "the tool {name} failed by a fault of its own, which was logged; try it once more, \
                 or go on without it"
            );
            ToolOutput::error(text).with_error(error)
        }
        Err(panic) => {
            let text = panic_text(panic.as_ref());
            tracing::error!(tool = name, panic = text, "a tool panicked");
            ToolOutput::error(format!("the tool {name} crashed: {text}"))
        }
    }
}
