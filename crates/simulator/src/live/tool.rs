//! The simulated tools behind the engine's promise: slow, failing, crashing, deaf to a cancel.

use std::sync::Arc;
use std::time::Duration;

use heeler_core::{
    Approver, BoxFuture, CallId, Decision, Facts, Metadata, OpenPermission, RawJson, Tool,
    ToolContext, ToolDefinition, ToolError, ToolOutput,
};
use heeler_engine::{Toolset, ToolsetError};

use super::outside::{Inner, Outside};
use super::works;
use crate::matrix::Fault;
use crate::{people, tools};

/// All tools, as this version describes them.
pub(super) fn toolset(outside: &Outside, version: u32) -> Result<Toolset, ToolsetError> {
    let made = tools::definitions(version).into_iter().map(|definition| {
        Arc::new(Simulated { definition, outside: outside.clone() }) as Arc<dyn Tool>
    });
    Toolset::new(made)
}

struct Simulated {
    definition: ToolDefinition,
    outside: Outside,
}

/// How a call goes.
struct Course {
    run: u32,
    output: ToolOutput,
    millis: u64,
    crashes: bool,
    is_deaf: bool,
}

impl Tool for Simulated {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn metadata(&self) -> Metadata {
        let name = &self.definition.name;
        Metadata {
            read_only: tools::is_read_only(name),
            facts_change: tools::facts_change(name),
            ..Metadata::default()
        }
    }

    fn facts(&self, input: &RawJson, _: &str) -> Facts {
        let changes = self.outside.with(|inner| inner.changes).unwrap_or_default();
        tools::facts_after(&self.definition.name, input, changes).unwrap_or_default()
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        _: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        let outside = self.outside.clone();
        Box::pin(async move {
            outside.moment().await;
            outside.judge(|judge| judge.tool_checks(context.call));
            match outside.take(|inner| inner.chance.below(20)).await {
                12..=15 => outside.pass(3000).await,
                16 => std::panic::resume_unwind(Box::new("the tool's own defect")),
                17.. => return Err(ToolError::for_model("it would come to nothing")),
                _ => {}
            }
            outside.moment().await;
            Ok(())
        })
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        let outside = self.outside.clone();
        Box::pin(async move {
            let (call, name) = (context.call, &self.definition.name);
            let course = outside.take(|inner| inner.run(call, name, &input)).await;
            let _running = Running(course.run, outside.clone());
            context.progress.send("half way");
            if course.crashes {
                outside.pass(course.millis % 400).await;
                outside.with(|inner| inner.hit(Fault::CallCrashed));
                std::panic::resume_unwind(Box::new("the tool's own defect"));
            }
            if course.output.is_background
                && let Some(completion) = context.background.take()
            {
                works::begin(&outside, call, completion);
            }
            outside.moment().await;
            let (is_deaf, throws) = (course.is_deaf, course.millis % 2 == 0);
            let (output, fault) = tokio::select! {
                biased;
                ended = outside.work(course) => ended,
                () = context.cancel.cancelled(), if !is_deaf => {
                    (ToolOutput::error(format!("{call}: stopped half way")), None)
                }
            };
            outside.moment().await;
            outside.with(|inner| fault.map(|fault| inner.hit(fault)));
            outside.judge(|judge| judge.tool_returns(call, &output));
            if output.is_error && output.state.is_empty() && throws {
                return Err(ToolError::for_model(output.text_content()));
            }
            Ok(output)
        })
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        _: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        let outside = self.outside.clone();
        Box::pin(async move {
            outside.moment().await;
            outside.judge(|judge| judge.tool_clears(context.call));
            outside.moment().await;
            match outside.take(|inner| inner.chance.below(10)).await {
                8 => Err(ToolError::for_model("nothing is cleared away today")),
                9 => std::panic::resume_unwind(Box::new("the tool's own defect")),
                _ => Ok(()),
            }
        })
    }
}

impl Inner {
    /// Calls may touch something else from here on.
    fn may_change(&mut self, percent: u32) {
        if self.chance.percent(percent) {
            self.changes += 1;
            self.changed_after = (self.store.entries().len() + self.writing.len()) as u64;
        }
    }

    /// A call runs: what it does outside is done here.
    fn run(&mut self, call: CallId, name: &str, input: &RawJson) -> Course {
        let facts = tools::facts_after(name, input, self.changes).unwrap_or_default();
        let changed_after = self.changed_after;
        self.see(|judge| judge.tool_starts(call, (name, input), facts, changed_after));
        self.may_change(40);
        let (output, millis) =
            tools::end(name, &call.to_string(), self.scene.results, &mut self.chance);
        let crashes = self.chance.percent(10);
        let is_deaf = self.chance.percent(40);
        Course { run: self.judge.last_run(), output, millis, crashes, is_deaf }
    }
}

impl Outside {
    /// Works to the end, which may come later than a call may take; what then goes wrong with it.
    async fn work(&self, course: Course) -> (ToolOutput, Option<Fault>) {
        let Course { output, millis, .. } = course;
        let timeout = self.take(|inner| inner.scene.call_timeout_millis).await;
        tokio::time::sleep(Duration::from_millis(millis.min(timeout))).await;
        if millis > timeout {
            self.with(|inner| inner.hit(Fault::CallHung));
            tokio::time::sleep(Duration::from_millis(millis - timeout)).await;
        }
        let fault = output.is_error.then_some(Fault::CallFailed);
        (output, fault)
    }
}

/// A call that runs.
struct Running(u32, Outside);

impl Drop for Running {
    fn drop(&mut self) {
        self.1.judge(|judge| judge.tool_ends(self.0));
    }
}

impl Approver for Outside {
    fn decide(&self, _: OpenPermission) -> BoxFuture<Option<Decision>> {
        let outside = self.clone();
        Box::pin(async move {
            let millis = outside.take(|inner| inner.chance.pick(&[40, 0, 3000])).await;
            outside.pass(millis).await;
            outside.take(|inner| inner.may_change(20)).await;
            match outside.take(|inner| inner.chance.below(10)).await {
                7 => None,
                8 => std::future::pending().await,
                9 => std::panic::resume_unwind(Box::new("the approver's own defect")),
                _ => Some(outside.take(|inner| people::decision(&mut inner.chance)).await),
            }
        })
    }

    fn name(&self) -> &'static str {
        "program"
    }
}
