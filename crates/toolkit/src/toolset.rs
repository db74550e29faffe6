//! Tools in order, each a definition with its function and what is true of it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use heeler_core::{
    Access, BoxFuture, Metadata, ProviderItem, RawJson, Tool, ToolContext, ToolDefinition,
    ToolError, ToolOutput,
};
use heeler_engine::is_tool_name;
pub use heeler_engine::{DuplicateTool, ToolsetError};

use crate::{InputSchema, Layer};

/// What a call runs.
pub type ToolFunction =
    Arc<dyn Fn(ToolContext, RawJson) -> BoxFuture<Result<ToolOutput, ToolError>> + Send + Sync>;

/// A tool: what the model is told, what runs, and what is true of every call. [`tool`](crate::tool)
/// and [`raw_tool`](crate::raw_tool) make one from a function.
///
/// ```
/// use heeler_toolkit::{Object, raw_tool};
///
/// let wipe = raw_tool("wipe", "Removes everything", Object::new(), |_, _| async { "gone" })
///     .with_metadata(|metadata| {
///         metadata.destructive = true;
///         metadata.safety_notes = "nothing brings it back".into();
///     });
/// assert!(wipe.metadata.destructive && !wipe.metadata.read_only);
/// ```
#[derive(Clone)]
pub struct Binding {
    /// What the model is told.
    pub definition: ToolDefinition,
    /// What a call runs.
    pub function: ToolFunction,
    /// What is true of every call.
    pub metadata: ToolMetadata,
    /// What a successful call gives, where it declares that.
    pub(crate) output: Option<RawJson>,
    /// What one call touches, where that was said of the binding.
    pub(crate) touches: Option<Touches>,
    /// Says what one call touches otherwise; what a function without it touches is not known.
    pub(crate) tool: Option<Arc<dyn Tool>>,
}

type Touches = Arc<dyn Fn(&RawJson, &str) -> Vec<Access> + Send + Sync>;

/// What is true of every call of a tool: advice for layers and people. Only `terminal`, `read_only`
/// and `timeout` change what a run does, and under a [`Policy`](heeler_core::Policy) those that say
/// what a call may do: see [`Binding::touching`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolMetadata {
    /// Where it comes from, such as `builtin` or a server's name.
    pub source: String,
    /// A call only looks at what is on this machine, and running one whose result nobody wants is
    /// harmless: it may begin while the answer that asks for it still streams.
    pub read_only: bool,
    /// A call may destroy something.
    pub destructive: bool,
    /// A call talks to other machines.
    pub network: bool,
    /// A call reads or writes files.
    pub filesystem: bool,
    /// A call starts commands.
    pub shell: bool,
    /// Somebody should be asked before each call: under a policy it needs a rule or a person's yes,
    /// even when it only looks. Without a policy see [`crate::layers::confirmation`].
    pub requires_confirmation: bool,
    /// Words for whoever is asked.
    pub safety_notes: String,
    /// A successful call ends the run, once its whole batch has its results, without another model
    /// call. One that fails does not.
    pub terminal: bool,
    /// How long a call may take; the engine's own limit when `None`.
    pub timeout: Option<Duration>,
}

impl Binding {
    /// A tool of a definition and a function.
    #[must_use]
    pub fn new(definition: ToolDefinition, function: ToolFunction) -> Self {
        Self {
            definition,
            function,
            metadata: ToolMetadata::default(),
            output: None,
            touches: None,
            tool: None,
        }
    }

    /// With what is true of every call.
    #[must_use]
    pub fn with_metadata(mut self, change: impl FnOnce(&mut ToolMetadata)) -> Self {
        change(&mut self.metadata);
        self
    }

    /// Told to the model in a provider's own form, verbatim, instead of by name, description and
    /// schema: for tools that models were trained on. Calls still come here, by the name of
    /// `definition`, which has to be the one in the declaration.
    #[must_use]
    pub fn declared_as(mut self, declaration: ProviderItem) -> Self {
        self.definition.raw = Some(declaration);
        self
    }

    /// With a schema of what a successful call gives, as JSON: it is held to that, and kept as JSON
    /// beside the text. [`Json`](crate::Json) gives it.
    ///
    /// ```
    /// use heeler_toolkit::{Json, Object, Run, Schema, Toolset, raw_tool};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), heeler_toolkit::ToolsetError> {
    /// let size = raw_tool("size", "Tells the size", Object::new(), |_, _| async {
    ///     Json(serde_json::json!({ "columns": 80 }))
    /// })
    /// .with_output_schema(Object::new().required("columns", Schema::integer("How many")));
    /// let output = Toolset::new([size])?.execute("size", "{}", Run::default()).await;
    /// assert_eq!(output.structured.map(|json| json.value()["columns"].clone()), Some(80.into()));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_output_schema(mut self, schema: impl Into<InputSchema>) -> Self {
        self.output = Some(schema.into().into_json());
        self
    }

    /// With what one call touches, of its input and the folder it works in, for the rules of a
    /// [`Policy`](heeler_core::Policy): paths and hosts, or nothing at all. It must be quick and do no
    /// I/O. A function of which nothing is said may do anything, so a policy lets it run by a rule with
    /// its name or by somebody's yes only, unless its metadata says that it only looks.
    ///
    /// ```
    /// use heeler_core::{Access, Mode, Policy};
    /// use heeler_toolkit::{Object, Run, Toolset, raw_tool};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), heeler_toolkit::ToolsetError> {
    /// let note = || raw_tool("note", "Takes a note", Object::new(), |_, _| async { "noted" });
    /// let notes = note().touching(|_, folder| vec![Access::Write(format!("{folder}/notes.md"))]);
    /// let policy = Policy { mode: Mode::AcceptEdits, workspace: "/space".into(), ..Policy::default() };
    /// let run = || Run::default().workspace("/space").policy(policy.clone());
    /// assert!(Toolset::new([note()])?.execute("note", "{}", run()).await.is_error);
    /// assert!(!Toolset::new([notes])?.execute("note", "{}", run()).await.is_error);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn touching(
        mut self,
        accesses: impl Fn(&RawJson, &str) -> Vec<Access> + Send + Sync + 'static,
    ) -> Self {
        self.touches = Some(Arc::new(accesses));
        self
    }

    /// A call only looks; see [`ToolMetadata::read_only`].
    #[must_use]
    pub fn read_only(self) -> Self {
        self.with_metadata(|metadata| metadata.read_only = true)
    }

    /// A successful call ends the run; see [`ToolMetadata::terminal`].
    #[must_use]
    pub fn terminal(self) -> Self {
        self.with_metadata(|metadata| metadata.terminal = true)
    }

    /// The tool with its function wrapped.
    #[must_use]
    pub fn wrap(mut self, layer: &dyn Layer) -> Self {
        self.function = layer.wrap(&self);
        self
    }

    /// Runs one call, without a loop. See [`crate::testing::TestCall`] for a context.
    ///
    /// # Errors
    /// What the function says.
    pub async fn call(
        &self,
        context: ToolContext,
        input: RawJson,
    ) -> Result<ToolOutput, ToolError> {
        (self.function)(context, input).await
    }
}

impl From<Arc<dyn Tool>> for Binding {
    fn from(tool: Arc<dyn Tool>) -> Self {
        let Metadata { read_only, terminal, timeout_millis, .. } = tool.metadata();
        let called = Arc::clone(&tool);
        let function: ToolFunction =
            Arc::new(move |context, input| Arc::clone(&called).call(context, input));
        let timeout = (timeout_millis != 0).then(|| Duration::from_millis(timeout_millis));
        let metadata = ToolMetadata { read_only, terminal, timeout, ..ToolMetadata::default() };
        let (definition, output) = (tool.definition(), tool.output_schema());
        Self { definition, function, metadata, output, touches: None, tool: Some(tool) }
    }
}

/// Tools with distinct names, in the order the model is told of them; a value, cheap to clone.
///
/// Behind them stand tools that the provider runs itself, such as its web search. What the model does
/// with these is seen as [`heeler_core::Block::Opaque`] in its answers; no call of theirs comes here,
/// so no layer wraps them, and names and numbers of this set leave them out.
///
/// ```
/// use heeler_toolkit::{Toolset, layers, raw_tool, Object};
/// use std::time::Duration;
///
/// let clock = raw_tool("clock", "Tells the time", Object::new(), |_, _| async { "noon" });
/// let dice = raw_tool("dice", "Rolls a dice", Object::new(), |_, _| async { "4" });
/// let tools = Toolset::join([Toolset::new([clock])?, Toolset::new([dice])?])?
///     .wrap(&[&layers::logging(), &layers::timeout(Duration::from_secs(30))]);
/// assert_eq!(tools.names().collect::<Vec<_>>(), ["clock", "dice"]);
/// # Ok::<(), heeler_toolkit::ToolsetError>(())
/// ```
#[derive(Clone, Default)]
pub struct Toolset(Arc<Held>);

#[derive(Default)]
struct Held {
    bindings: Vec<Binding>,
    provider_tools: Vec<ProviderItem>,
    /// As the engine takes them, made with the first run: schemas are read once for all runs.
    for_engine: OnceLock<heeler_engine::Toolset>,
}

impl Toolset {
    /// Puts tools in order.
    ///
    /// # Errors
    /// When two have one name, or a name is one that providers refuse: they take letters, digits, `_`
    /// and `-`, 64 at most.
    ///
    /// ```
    /// use heeler_toolkit::{Object, Toolset, raw_tool};
    ///
    /// let tool = |name: &str| raw_tool(name, "Tells the time", Object::new(), |_, _| async { "noon" });
    /// assert!(Toolset::new([tool("clock"), tool("mcp__clocks__noon")]).is_ok());
    /// let error = Toolset::new([tool("clocks.noon")]).err().ok_or("no dots")?;
    /// assert!(error.to_string().starts_with("no tool can be called `clocks.noon`"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<B: Into<Binding>>(
        bindings: impl IntoIterator<Item = B>,
    ) -> Result<Self, ToolsetError> {
        let mut all: Vec<Binding> = Vec::new();
        for binding in bindings {
            let binding = binding.into();
            let name = &binding.definition.name;
            if !is_tool_name(name) {
                return Err(ToolsetError::Name(name.clone()));
            }
            if all.iter().any(|other| other.definition.name == *name) {
                return Err(ToolsetError::Duplicate(DuplicateTool(name.clone())));
            }
            all.push(binding);
        }
        Ok(Self::of(all, Vec::new()))
    }

    /// With one more tool at the end.
    ///
    /// # Errors
    /// When its name is taken, or none that providers take.
    pub fn bind(self, binding: impl Into<Binding>) -> Result<Self, ToolsetError> {
        Ok(Self::new(self.iter().cloned().chain([binding.into()]))?
            .with_provider_tools(self.provider_tools().iter().cloned()))
    }

    /// All tools of several sets, in order. Tools that the provider runs are all kept, the same one
    /// of two sets twice.
    ///
    /// # Errors
    /// When two have one name.
    pub fn join(sets: impl IntoIterator<Item = Self>) -> Result<Self, ToolsetError> {
        let sets: Vec<Self> = sets.into_iter().collect();
        let provider_tools = sets.iter().flat_map(Self::provider_tools).cloned();
        Ok(Self::new(sets.iter().flat_map(Self::iter).cloned())?
            .with_provider_tools(provider_tools))
    }

    /// With these tools, which the provider runs itself, behind those it has: declared verbatim, in
    /// this order, whatever they are. One of another provider is an error when a request is built.
    ///
    /// ```
    /// use heeler_core::{ProviderItem, RawJson};
    /// use heeler_toolkit::Toolset;
    ///
    /// let search = RawJson::parse(r#"{"type": "web_search_20260209", "name": "web_search"}"#)?;
    /// let tools = Toolset::default().with_provider_tools([ProviderItem::new("anthropic", search)]);
    /// assert_eq!((tools.provider_tools().len(), tools.len()), (1, 0));
    /// # Ok::<(), heeler_core::RawJsonError>(())
    /// ```
    #[must_use]
    pub fn with_provider_tools(&self, tools: impl IntoIterator<Item = ProviderItem>) -> Self {
        let provider_tools = self.provider_tools().iter().cloned().chain(tools).collect();
        Self::of(self.0.bindings.clone(), provider_tools)
    }

    /// The tools that the provider runs itself, in order.
    #[must_use]
    pub fn provider_tools(&self) -> &[ProviderItem] {
        &self.0.provider_tools
    }

    /// Every tool wrapped in these layers, the first of them outermost.
    #[must_use]
    pub fn wrap(&self, layers: &[&dyn Layer]) -> Self {
        self.wrap_where(|_| true, layers)
    }

    /// The tools for which `is_meant` wrapped in these layers, the first of them outermost.
    #[must_use]
    pub fn wrap_where(&self, is_meant: impl Fn(&Binding) -> bool, layers: &[&dyn Layer]) -> Self {
        let wrapped = |binding: &Binding| match is_meant(binding) {
            true => layers.iter().rev().fold(binding.clone(), |inner, layer| inner.wrap(*layer)),
            false => binding.clone(),
        };
        self.holding(self.iter().map(wrapped).collect())
    }

    /// The tools for which `is_meant`, and those that the provider runs.
    #[must_use]
    pub fn filter(&self, is_meant: impl Fn(&Binding) -> bool) -> Self {
        self.holding(self.iter().filter(|binding| is_meant(binding)).cloned().collect())
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Binding> {
        self.iter().find(|binding| binding.definition.name == name)
    }

    /// The tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Binding> {
        self.0.bindings.iter()
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|binding| binding.definition.name.as_str())
    }

    /// What OpenAI's Chat Completions are sent of each tool, in order: its function object as JSON.
    #[must_use]
    pub fn openai_definitions(&self) -> Vec<String> {
        self.iter().map(|tool| heeler_providers::chat::definition(&tool.definition)).collect()
    }

    /// What Anthropic is sent of each tool, in order, as JSON.
    #[must_use]
    pub fn anthropic_definitions(&self) -> Vec<String> {
        self.iter().map(|tool| heeler_providers::anthropic::definition(&tool.definition)).collect()
    }

    /// A line for people of each tool, in order: `name - description`.
    #[must_use]
    pub fn summaries(&self) -> Vec<String> {
        let line =
            |tool: &Binding| format!("{} - {}", tool.definition.name, tool.definition.description);
        self.iter().map(line).collect()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.bindings.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.bindings.is_empty()
    }

    /// As the engine takes them.
    pub(crate) fn for_engine(&self) -> heeler_engine::Toolset {
        let make = || {
            let bound = |binding: &Binding| Arc::<dyn Tool>::from(binding.clone());
            // The names are distinct, so this never is the empty set that stands for a failure.
            heeler_engine::Toolset::new(self.iter().map(bound))
                .unwrap_or_default()
                .with_provider_tools(self.provider_tools().iter().cloned())
        };
        self.0.for_engine.get_or_init(make).clone()
    }

    /// The set with these tools in place of its own.
    pub(crate) fn holding(&self, bindings: Vec<Binding>) -> Self {
        Self::of(bindings, self.0.provider_tools.clone())
    }

    fn of(bindings: Vec<Binding>, provider_tools: Vec<ProviderItem>) -> Self {
        Self(Arc::new(Held { bindings, provider_tools, for_engine: OnceLock::new() }))
    }
}
