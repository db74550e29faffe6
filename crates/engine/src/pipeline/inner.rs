//! Calls that a call plays. Each goes the way of a model's own call: looked up, checked, judged by the
//! rules for its own tool, run and bounded. None of them has an effect, a record or a person of its
//! own, so what changes something, what somebody has to be asked about, and what hooks want to hear of
//! is not run: the model is told to call it by itself.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use heeler_core::{
    Background, Block, BoxFuture, CallPlan, Facts, ImageSink, InnerCall, InnerCalls, Permission,
    Progress, Tool, ToolOutput, Verdict,
};
use heeler_turn::verdict::judge;
use heeler_turn::words;

use super::{Execution, execute, plan, said_or};
use crate::Toolset;

/// How many calls within calls one round may still begin, whichever of its calls they are in.
pub(crate) struct Room(AtomicU32);

impl Room {
    pub(crate) fn of(calls: u32) -> Self {
        Self(AtomicU32::new(calls))
    }

    /// Whether there was room for one more.
    fn take(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }
}

/// What decides about calls within a call; as it was when that one began.
pub(crate) struct Inner {
    /// Whether hooks want a word in calls of this tool.
    pub(crate) is_hooked: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// What the limit of calls leaves; `None` where there is no limit.
    pub(crate) room: Option<Arc<Room>>,
    /// The call around, as it would run without calls within.
    pub(crate) around: Execution,
}

impl Inner {
    /// For the context of the call around.
    pub(crate) fn calls(self) -> InnerCalls {
        let inner = Arc::new(self);
        InnerCalls::new(move |call| Arc::clone(&inner).play(call))
    }

    fn play(self: Arc<Self>, call: InnerCall) -> BoxFuture<ToolOutput> {
        // In the order they are named, not in that they happen to be polled in.
        if self.room.as_ref().is_some_and(|room| !room.take()) {
            return Box::pin(ready(ToolOutput::error(words::CALL_LIMIT)));
        }
        Box::pin(async move {
            match self.ready(call) {
                Ok((execution, notes)) => {
                    let mut output = execute(Box::new(execution), ready(())).await.output;
                    output
                        .content
                        .extend(notes.iter().map(|note| Block::text(format!("\n[{note}]"))));
                    output
                }
                Err(why) => ToolOutput::error(why),
            }
        })
    }

    /// The call and the notes on its input, if it may run.
    fn ready(
        &self,
        InnerCall { name, input }: InnerCall,
    ) -> Result<(Execution, Vec<String>), String> {
        let tools = &self.around.tools;
        let workspace = self.around.context.workspace.to_string_lossy();
        let (facts, changed, notes) = match plan(tools, &workspace, &name, &input) {
            CallPlan::Ready { facts, input, notes, .. } => (facts, input, notes),
            CallPlan::Invalid { error } => return Err(error),
        };
        let input = changed.unwrap_or(input);
        let tool = tools.get(&name);
        if tool.is_some_and(|tool| said_or(true, || !tool.inner_calls(&input).is_empty())) {
            return Err(format!("{name} within a call is not run; name the calls themselves"));
        }
        if !tool.is_some_and(|tool| said_or(false, || tool.metadata().read_only)) {
            return Err(format!(
                "{name} does more than look, so it was not run; call it by itself"
            ));
        }
        let Permission { policy, grants, .. } = &*self.around.context.permission;
        let judgement = judge(policy, grants, &name, &facts);
        match judgement.verdict {
            Verdict::Allow { .. } => {}
            Verdict::Deny { by } => return Err(format!("Not allowed: {by}.")),
            Verdict::Ask { why } => {
                return Err(format!(
                    "it was not run, since the user has to be asked ({why}); call it by itself"
                ));
            }
        }
        if (self.is_hooked)(&name) {
            return Err(format!(
                "hooks hear calls of {name}, so it was not run; call it by itself"
            ));
        }
        let mut execution = self.around.clone();
        (execution.name, execution.input) = (name, input);
        let context = &mut execution.context;
        context.confined = judgement.confined;
        // One that is stopped stops no other.
        context.cancel = context.cancel.child_token();
        context.progress = Progress::nowhere();
        context.images = ImageSink::default();
        context.background = Background::nowhere();
        context.person = None;
        Ok((execution, notes.into()))
    }
}

/// The facts of a call with what the calls within it use, so that it waits for whoever changes that.
/// They are judged one by one when they run, so this says nothing of what they touch.
pub(super) fn with_inner(
    tools: &Toolset,
    workspace: &str,
    calls: Vec<InnerCall>,
    facts: Facts,
) -> Facts {
    let mut facts = facts;
    for call in calls {
        // One that panics is not run: its call within this one is answered with that.
        let looks = |tool: &Arc<dyn Tool>| {
            let looks = || tool.metadata().read_only && tool.inner_calls(&call.input).is_empty();
            said_or(false, looks)
        };
        if tools.get(&call.name).is_some_and(looks)
            && let CallPlan::Ready { facts: used, .. } =
                plan(tools, workspace, &call.name, &call.input)
        {
            facts.resources.extend(used.resources);
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use heeler_core::{
        Metadata, RawJson, Resource, ToolContext, ToolDefinition, ToolError, ToolOutput,
    };

    use super::*;

    /// A tool of this name that uses what is called like it.
    struct Uses {
        name: &'static str,
        is_read_only: bool,
        has_inner: bool,
    }

    fn used(name: &str) -> Resource {
        Resource { key: name.to_owned(), write: false }
    }

    fn calls(names: &[&str]) -> Vec<InnerCall> {
        let call = |name: &&str| InnerCall { name: (*name).into(), input: RawJson::empty_object() };
        names.iter().map(call).collect()
    }

    impl Tool for Uses {
        fn definition(&self) -> ToolDefinition {
            ToolDefinition::new(self.name, "", RawJson::empty_object())
        }

        fn metadata(&self) -> Metadata {
            Metadata { read_only: self.is_read_only, ..Metadata::default() }
        }

        fn facts(&self, _: &RawJson, _: &str) -> Facts {
            Facts { resources: vec![used(self.name)], ..Facts::default() }
        }

        fn inner_calls(&self, _: &RawJson) -> Vec<InnerCall> {
            if self.has_inner { calls(&["looks"]) } else { Vec::new() }
        }

        fn call(
            self: Arc<Self>,
            _: ToolContext,
            _: RawJson,
        ) -> BoxFuture<Result<ToolOutput, ToolError>> {
            Box::pin(std::future::pending())
        }
    }

    #[test]
    fn a_call_waits_for_what_the_calls_within_it_look_at() {
        let tool = |name, is_read_only, has_inner| {
            Arc::new(Uses { name, is_read_only, has_inner }) as Arc<dyn Tool>
        };
        let tools = [tool("looks", true, false), tool("changes", false, false)];
        let tools = tools.into_iter().chain([tool("plays", true, true), tool("both", false, true)]);
        let tools = Toolset::new(tools).unwrap();
        // What is not run within a call uses nothing there.
        let within = calls(&["changes", "looks", "plays", "both", "none"]);
        let facts = Facts { resources: vec![used("own")], ..Facts::default() };
        let facts = with_inner(&tools, "/", within, facts);
        assert_eq!(facts.resources, [used("own"), used("looks")]);
    }
}
