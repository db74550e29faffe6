//! Tools that do what a test needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use heeler_core::{
    Access, BoxFuture, Facts, Metadata, RawJson, Resource, Tool, ToolContext, ToolDefinition,
    ToolError, ToolOutput,
};

type Given = Result<ToolOutput, ToolError>;

/// A tool made of closures.
pub(crate) struct TestTool {
    definition: ToolDefinition,
    metadata: Metadata,
    output_schema: Option<RawJson>,
    facts: Facts,
    facts_now: Option<Box<dyn Fn() -> Facts + Send + Sync>>,
    facts_panic: bool,
    metadata_panics: bool,
    facts_asked: Arc<AtomicUsize>,
    run: Box<dyn Fn(ToolContext, RawJson) -> BoxFuture<Given> + Send + Sync>,
    check: Option<Look>,
    clean_up: Option<Look>,
}

type Look = Box<dyn Fn(ToolContext, RawJson) -> BoxFuture<Result<(), ToolError>> + Send + Sync>;

/// A tool that takes any object, touches nothing, and does this.
pub(crate) fn tool<R>(
    name: &str,
    run: impl Fn(ToolContext, RawJson) -> R + Send + Sync + 'static,
) -> TestTool
where
    R: Future<Output = Given> + Send + 'static,
{
    TestTool {
        definition: ToolDefinition::new(
            name,
            format!("The test tool {name}."),
            raw(r#"{"type":"object"}"#),
        ),
        metadata: Metadata::default(),
        output_schema: None,
        facts: Facts::default(),
        facts_now: None,
        facts_panic: false,
        metadata_panics: false,
        facts_asked: Arc::default(),
        run: Box::new(move |context, input| Box::pin(run(context, input))),
        check: None,
        clean_up: None,
    }
}

impl TestTool {
    pub(crate) fn schema(mut self, schema: &str) -> Self {
        self.definition.input_schema = raw(schema);
        self
    }

    /// It writes this path, so that mode `ask` asks.
    pub(crate) fn gives(mut self, output_schema: &str) -> Self {
        self.output_schema = Some(raw(output_schema));
        self
    }

    pub(crate) fn writes(mut self, path: &str) -> Self {
        self.facts.accesses.push(Access::Write(path.into()));
        self
    }

    /// Its calls that touch `key` run in call order.
    pub(crate) fn locks(mut self, key: &str) -> Self {
        self.facts.resources.push(Resource { key: key.into(), write: true });
        self
    }

    pub(crate) fn replay_safe(mut self) -> Self {
        self.facts.replay_safe = true;
        self
    }

    /// It declares that it only looks, so that it may begin early.
    pub(crate) fn read_only(mut self) -> Self {
        self.metadata.read_only = true;
        self.replay_safe()
    }

    /// It may well only look, but does not say so.
    pub(crate) fn undeclared(mut self) -> Self {
        self.metadata.read_only = false;
        self
    }

    pub(crate) fn touches(mut self, access: Access) -> Self {
        self.facts.accesses.push(access);
        self
    }

    /// Its calls wait for those that write `key`.
    pub(crate) fn shares(mut self, key: &str) -> Self {
        self.facts.resources.push(Resource { key: key.into(), write: false });
        self
    }

    /// Changes what is true of its calls.
    pub(crate) fn facts(mut self, change: impl FnOnce(&mut Facts)) -> Self {
        change(&mut self.facts);
        self
    }

    /// What is true of its calls is something else each time, and it says so.
    pub(crate) fn facts_now(mut self, now: impl Fn() -> Facts + Send + Sync + 'static) -> Self {
        self.metadata.facts_change = true;
        self.facts_now = Some(Box::new(now));
        self
    }

    /// Counts in `asked` how often it is asked what a call touches.
    pub(crate) fn counts_facts(mut self, asked: &Arc<AtomicUsize>) -> Self {
        self.facts_asked = Arc::clone(asked);
        self
    }

    pub(crate) fn terminal(mut self) -> Self {
        self.metadata.terminal = true;
        self
    }

    pub(crate) fn timeout_millis(mut self, millis: u64) -> Self {
        self.metadata.timeout_millis = millis;
        self
    }

    /// What it says of a call before somebody is asked about it.
    pub(crate) fn checks<R>(
        mut self,
        check: impl Fn(ToolContext, RawJson) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Result<(), ToolError>> + Send + 'static,
    {
        self.check = Some(Box::new(move |context, input| Box::pin(check(context, input))));
        self
    }

    /// What it does after a call that was cut off.
    pub(crate) fn cleans_up<R>(
        mut self,
        clean_up: impl Fn(ToolContext, RawJson) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Result<(), ToolError>> + Send + 'static,
    {
        self.clean_up = Some(Box::new(move |context, input| Box::pin(clean_up(context, input))));
        self
    }

    pub(crate) fn panics_in_metadata(mut self) -> Self {
        self.metadata_panics = true;
        self
    }

    pub(crate) fn panics_in_facts(mut self) -> Self {
        self.facts_panic = true;
        self
    }
}

impl Tool for TestTool {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn metadata(&self) -> Metadata {
        assert!(!self.metadata_panics, "no metadata today");
        self.metadata
    }

    fn output_schema(&self) -> Option<RawJson> {
        self.output_schema.clone()
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        self.facts_asked.fetch_add(1, Ordering::SeqCst);
        assert!(!self.facts_panic, "no facts today");
        self.facts_now.as_ref().map_or_else(|| self.facts.clone(), |now| now())
    }

    fn call(self: Arc<Self>, context: ToolContext, input: RawJson) -> BoxFuture<Given> {
        (self.run)(context, input)
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        match &self.check {
            Some(check) => check(context, input),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        match &self.clean_up {
            Some(clean_up) => clean_up(context, input),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }
}

/// Says what it is told.
pub(crate) fn echo() -> TestTool {
    tool("echo", |_, input| async move { Ok(ToolOutput::text(field(&input, "text"))) })
}

/// Fails with what it is told.
pub(crate) fn failing() -> TestTool {
    tool("fail", |_, input| async move { Err(ToolError::for_model(field(&input, "text"))) })
}

/// Never ends, and does not listen when it is cancelled. `alive` counts its running calls.
pub(crate) fn hanging(alive: &Arc<AtomicUsize>) -> TestTool {
    let alive = Arc::clone(alive);
    tool("hang", move |_, _| {
        let alive = Alive::new(&alive);
        async move {
            let _alive = alive;
            std::future::pending().await
        }
    })
}

/// Counts how often it ran: its side effect.
pub(crate) fn counting(count: &Arc<AtomicUsize>) -> TestTool {
    let count = Arc::clone(count);
    tool("count", move |_, _| {
        let n = count.fetch_add(1, Ordering::SeqCst) + 1;
        async move { Ok(ToolOutput::text(format!("counted {n}"))) }
    })
}

/// A text field of an input.
pub(crate) fn field(input: &RawJson, name: &str) -> String {
    let value = input.value();
    value.get(name).map(|v| v.as_str().map_or(v.to_string(), str::to_owned)).unwrap_or_default()
}

fn raw(json: &str) -> RawJson {
    RawJson::parse(json).unwrap()
}

struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
