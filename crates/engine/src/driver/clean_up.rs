//! Clears away what the calls of a process that died left half-made.
//!
//! The machine says which calls these are; their tools know what they may have left. All this comes
//! before the record that gives the calls their results, so a process that dies meanwhile leaves the
//! same work to the next one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::{FutureExt as _, StreamExt as _};
use heeler_core::{BoxFuture, InnerCall, RawJson, Tool, ToolContext, panic_text};
use heeler_turn::state::CutOffCall;

use super::Driver;

/// How long opening a session waits for all of it.
const CLEAN_UP_MILLIS: u64 = 2_000;
/// How many calls are cleared away after at once.
const AT_ONCE: usize = 8;

impl Driver {
    /// Lets every tool clear away after its calls that were cut off. Whatever fails, the session opens.
    pub(super) fn clean_up(&self) -> BoxFuture<()> {
        let cut_off = self.state.cut_off_calls().into_iter();
        let work: Vec<BoxFuture<()>> = cut_off.flat_map(|call| self.clean_ups(call)).collect();
        let clock = Arc::clone(&self.parts.clock);
        Box::pin(async move {
            if work.is_empty() {
                return;
            }
            let work = futures::stream::iter(work).for_each_concurrent(AT_ONCE, |one| one);
            tokio::select! {
                biased;
                () = work => {}
                () = clock.sleep_until(clock.now().plus(CLEAN_UP_MILLIS)) => tracing::warn!(
                    "clearing away after calls that were cut off takes too long; something may be left"
                ),
            }
        })
    }

    /// What there is to do after one call, and after those within it.
    fn clean_ups(&self, CutOffCall { id, name, input }: CutOffCall) -> Vec<BoxFuture<()>> {
        let context = self.looking_context(id);
        let Some(tool) = self.known_tool(&name) else { return Vec::new() };
        // As the model wrote them: what was put right in them for a run is told nowhere.
        let within =
            catch_unwind(AssertUnwindSafe(|| tool.inner_calls(&input))).unwrap_or_default();
        let within = within
            .into_iter()
            .filter_map(|InnerCall { name, input }| Some((self.known_tool(&name)?, name, input)));
        let all = std::iter::once((tool, name, input)).chain(within);
        let secrets = &self.parts.secrets;
        all.map(|(tool, name, input)| {
            let failed = clean_up(tool, context.clone(), input);
            let (secrets, session) = (Arc::clone(secrets), context.session.clone());
            Box::pin(async move {
                if let Err(why) = failed.await {
                    let why = secrets.redact(&why);
                    tracing::warn!(%session, call = %id, tool = name, %why, "something may be left");
                }
            }) as BoxFuture<()>
        })
        .collect()
    }

    /// A tool of this name, also one that the model is not told of now.
    fn known_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let registered = self.parts.tool_source.as_ref().and_then(|source| source.get(name));
        registered.or_else(|| self.tools.get(name).cloned())
    }
}

/// One tool after one call; the error says why something may be left.
fn clean_up(
    tool: Arc<dyn Tool>,
    context: ToolContext,
    input: RawJson,
) -> BoxFuture<Result<(), String>> {
    Box::pin(async move {
        // It may panic before it gives a future, so that happens inside one.
        let work = async move { tool.clean_up(context, input).await };
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(cleaned) => cleaned.map_err(|error| error.to_string()),
            Err(panic) => Err(format!("it crashed: {}", panic_text(panic.as_ref()))),
        }
    })
}
