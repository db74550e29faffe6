//! The promise of a tool.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::{
    Access, AgentPath, Background, BoxFuture, CacheMarker, CallId, CancellationToken, Clock, Image,
    InnerCall, InnerCalls, InputOrigin, Media, Permission, Person, ProviderItem, RawJson, Reach,
    SessionId, ToolOutput,
};

/// Something a model can call.
///
/// The pipeline calls `facts` once per call (and again before it starts, where these change), then
/// `check` if somebody would be asked, then, if the call may run, `call` once, and `clean_up` if the
/// process died meanwhile. An
/// implementation keeps nothing of a call on itself: several calls run at the same time, of
/// several sessions. It never decides whether it may run. A panic becomes an error result.
pub trait Tool: Send + Sync + 'static {
    /// What the model is told; the same value every time, since it is part of the cached prefix.
    fn definition(&self) -> ToolDefinition;

    /// The name in [`Tool::definition`], for who wants no more of it; a tool whose definition takes
    /// long to make says it by itself.
    fn tool_name(&self) -> String {
        self.definition().name
    }

    /// What is true of every call.
    fn metadata(&self) -> Metadata {
        Metadata::default()
    }

    /// JSON Schema of what a successful call gives, where its text is JSON; the model is not told.
    /// What a call gives is held to it and kept beside the text, as [`ToolOutput::structured`].
    fn output_schema(&self) -> Option<RawJson> {
        None
    }

    /// What this call touches. `input` has passed the schema. Must be quick and follow from the
    /// input alone, unless [`Metadata::facts_change`] says otherwise; paths are given as the model
    /// wrote them, made absolute against `workspace`.
    fn facts(&self, input: &RawJson, workspace: &str) -> Facts;

    /// The calls of other tools that this call plays, through [`ToolContext::inner_calls`]: none, but
    /// for a tool that is made of calls. They only look. As quick as [`Tool::facts`].
    fn inner_calls(&self, _input: &RawJson) -> Vec<InnerCall> {
        Vec::new()
    }

    /// Whether [`Tool::call`] would refuse this call as everything stands, in its own words: asked
    /// where a person would be asked about the call next, so that nobody is asked for nothing, and
    /// only where whoever made it may read unasked what it names. It looks and changes nothing. A
    /// refusal becomes the call's result; after anything else the person is asked, and the call, once
    /// it runs, looks again, since the person may take long. It is given a moment.
    fn check(
        self: Arc<Self>,
        _context: ToolContext,
        _input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Runs the call. Dropping the future, or cancelling `context.cancel`, stops everything the
    /// call started; after a cancel the tool may return what it has within a moment.
    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>>;

    /// Clears away what a call may have left half-made whose process died, such as a temporary file.
    ///
    /// Called when a session is opened, before anything says how that call ended, with the input it
    /// ran with and its context as far as it says who calls and what may be reached: nobody watches
    /// or is asked, and nothing is kept. The call may have come to any point, its end among them; and
    /// it is called again when this process dies, too. So it undoes nothing and removes only what it
    /// knows for its own. It is given a moment; a failure is logged and keeps no session closed.
    fn clean_up(
        self: Arc<Self>,
        _context: ToolContext,
        _input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// What the model is told of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name, unique within a toolset.
    pub name: String,
    /// Words for the model.
    pub description: String,
    /// JSON Schema of the input; its top type is `object`.
    pub input_schema: RawJson,
    /// Asks the provider to cache the prefix up to here. Without effect where `raw` is set: what is
    /// sent verbatim carries its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMarker>,
    /// A provider's own form of the definition, sent verbatim in its place: for tools that models
    /// were trained on. Calls are still checked against `input_schema` and run here, by `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<ProviderItem>,
}

impl ToolDefinition {
    /// A definition without a cache marker, in the form every provider has.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: RawJson,
    ) -> Self {
        let (name, description) = (name.into(), description.into());
        Self { name, description, input_schema, cache: None, raw: None }
    }
}

/// What is true of every call of a tool; advice, never permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// A call only looks at what is on this machine: it changes nothing, anywhere, and running one
    /// whose result nobody wants is harmless. Such a call may be started while the answer that
    /// asks for it still streams. Only for tools whose code is known; hearsay is no declaration.
    pub read_only: bool,
    /// A successful call ends the turn without another model call.
    pub terminal: bool,
    /// Milliseconds after which a call is cancelled and then abandoned; 0 for the default.
    pub timeout_millis: u64,
    /// What [`Tool::facts`] says of one input may be something else a moment later, since it looks
    /// at files, or at what runs. So it is asked once more right before the call starts, and the call
    /// is judged again where it touches something else by then. Such a call never begins early. The
    /// same holds for one that plays such a call, whatever is said here.
    pub facts_change: bool,
}

/// What one call touches, for permission and scheduling.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// What rules are matched against. Empty means: touches nothing outside the process. Calls of one
    /// response of which one runs a command and the other writes a file run in call order, and what reads one
    /// runs after a command that may change something.
    pub accesses: Vec<Access>,
    /// Calls of one response that share a key run in call order, unless all only read it.
    pub resources: Vec<Resource>,
    /// Running it twice is harmless, so a crash in the middle runs it again.
    pub replay_safe: bool,
    /// It runs alone: nothing of its response runs beside it.
    pub exclusive: bool,
    /// A successful call ends the turn without another model call.
    pub terminal: bool,
}

/// A key that orders calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Resource {
    /// The key, such as `file:/src/main.rs`.
    pub key: String,
    /// Whether the call changes what the key names.
    pub write: bool,
}

/// What a call is given, made anew for each and never stored on a tool.
#[derive(Clone)]
pub struct ToolContext {
    /// The session.
    pub session: SessionId,
    /// The agent within the session; empty for the main one.
    pub agent: AgentPath,
    /// The call.
    pub call: CallId,
    /// The session's round, counted over all turns from 1.
    pub round: u64,
    /// Where the input that led here came from.
    pub origin: InputOrigin,
    /// Cancelled when the call is no longer wanted.
    pub cancel: CancellationToken,
    /// The folder relative paths start from, absolute.
    pub workspace: PathBuf,
    /// Whether what it starts has to stay in the box. A tool that cannot confine then starts
    /// nothing.
    pub confined: bool,
    /// How far it reaches, whoever let the call run.
    pub reach: Arc<Reach>,
    /// What the run that makes the call lets happen, for an agent that works within it.
    pub permission: Arc<Permission>,
    /// How many characters of its result the model is given; a tool with pages makes them shorter.
    pub result_chars_max: usize,
    /// Tells watchers how far the call is; dropped when nobody watches.
    pub progress: Progress,
    /// Images that go with the call's result.
    pub images: ImageSink,
    /// The session's typed state when the call started.
    pub state: StateView,
    /// Where it takes the handle of work that goes on after it.
    pub background: Background,
    /// What plays the calls within it; nobody, unless it named some in [`Tool::inner_calls`].
    pub inner_calls: InnerCalls,
    /// Where it keeps what it makes beside text; `None` where nothing is kept.
    pub media: Option<Media>,
    /// Whom it can ask; `None` where nobody is.
    pub person: Option<Arc<dyn Person>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl ToolContext {
    /// The first call of a session's main agent, where nobody watches, waits for more, is asked or
    /// keeps anything: what a call played by itself starts from. The workspace is absolute.
    #[must_use]
    pub fn new(session: SessionId, workspace: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self {
            session,
            agent: AgentPath::default(),
            call: CallId { turn: 1, round: 1, index: 0 },
            round: 1,
            origin: InputOrigin::default(),
            cancel: CancellationToken::new(),
            workspace: workspace.into(),
            confined: false,
            reach: Arc::default(),
            permission: Arc::default(),
            result_chars_max: RESULT_CHARS_MAX,
            progress: Progress::nowhere(),
            images: ImageSink::default(),
            state: StateView::default(),
            background: Background::nowhere(),
            inner_calls: InnerCalls::nowhere(),
            media: None,
            person: None,
            clock,
        }
    }
}

/// Takes images that go with a call's result, after what the call itself gives. Those of a call
/// that fails are dropped. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ImageSink(Arc<Mutex<Vec<Image>>>);

impl ImageSink {
    /// Attaches an image.
    pub fn attach(&self, image: Image) {
        self.images().push(image);
    }

    /// What was attached so far, in order; there is nothing left then.
    #[must_use]
    pub fn take(&self) -> Vec<Image> {
        std::mem::take(&mut *self.images())
    }

    fn images(&self) -> MutexGuard<'_, Vec<Image>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends progress lines to watchers; only the latest is sure to be seen.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(String) + Send + Sync>);

impl Progress {
    /// A sink that calls `send`, which must return at once.
    pub fn new(send: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Arc::new(send))
    }

    /// A sink that nobody reads.
    #[must_use]
    pub fn nowhere() -> Self {
        Self::new(|_| {})
    }

    /// Tells watchers.
    pub fn send(&self, text: impl Into<String>) {
        (self.0)(text.into());
    }
}

/// A session's typed state as it stood at one moment; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct StateView(pub rpds::HashTrieMapSync<String, RawJson>);

impl StateView {
    /// The value under `key`, when there is one and it has this type.
    #[must_use]
    pub fn get<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.0.get(key)?.get()).ok()
    }
}

/// A change of a session's typed state, journalled with the result that brought it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChange {
    /// The key; tools prefix theirs with their own name.
    pub key: String,
    /// The new value; `null` removes the key.
    pub value: RawJson,
    /// What becomes of it when the result is cut to its bound, so that the model is not shown all of
    /// it. Settled before the result is written.
    #[serde(skip)]
    pub if_cut: IfCut,
}

/// What becomes of a [`StateChange`] when the result that brings it is cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum IfCut {
    /// It holds whatever the model is shown.
    #[default]
    Holds,
    /// It says what the model was shown, and does not come.
    Gone,
    /// It says what the model was shown, and has this value instead, also where a note stands in the place
    /// of something that was put aside.
    Becomes(RawJson),
}

/// How many characters of a result the model is given at most, unless its session says otherwise.
pub const RESULT_CHARS_MAX: usize = 200_000;

/// Why a call gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// Words the model can act on; becomes an error result.
    #[error("{0}")]
    ForModel(String),
    /// The tool itself is broken; the model is told so in general words, the cause is logged.
    #[error("the tool failed: {0}")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ToolError {
    /// Words the model can act on.
    pub fn for_model(text: impl Into<String>) -> Self {
        Self::ForModel(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_read_as_the_type_asked_for_or_not_at_all() {
        let output = ToolOutput::text("a").with_state("todo", &["x", "y"]).with_state("n", &7);
        let view = StateView(output.state.into_iter().map(|one| (one.key, one.value)).collect());
        assert_eq!(view.get::<Vec<String>>("todo"), Some(vec!["x".to_owned(), "y".to_owned()]));
        assert_eq!((view.get::<u32>("n"), view.get::<String>("n")), (Some(7), None));
        assert_eq!(view.get::<u32>("m"), None);
    }

    #[test]
    fn progress_reaches_its_sink() {
        let (sender, receiver) = std::sync::mpsc::channel();
        Progress::new(move |text| sender.send(text).unwrap()).send("half");
        Progress::nowhere().send("unheard");
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["half"]);
    }

    /// What every tool has to say, and no more.
    struct Plain;

    impl Tool for Plain {
        fn definition(&self) -> ToolDefinition {
            ToolDefinition::new("plain", "Does nothing.", RawJson::empty_object())
        }

        fn facts(&self, _: &RawJson, _: &str) -> Facts {
            Facts::default()
        }

        fn call(
            self: Arc<Self>,
            _: ToolContext,
            _: RawJson,
        ) -> BoxFuture<Result<ToolOutput, ToolError>> {
            Box::pin(std::future::ready(Ok(ToolOutput::default())))
        }
    }

    #[test]
    fn a_tool_is_called_as_it_is_defined_and_promises_nothing_unless_it_says_so() {
        assert_eq!(Plain.tool_name(), "plain");
        assert_eq!(Plain.output_schema(), None);
        assert_eq!(Plain.inner_calls(&RawJson::empty_object()), []);
    }

    #[test]
    fn images_are_shared_and_taken_once_in_order() {
        let image = |byte| Image::from_bytes("image/png", &[byte]);
        let sink = ImageSink::default();
        sink.attach(image(1));
        sink.clone().attach(image(2));
        assert_eq!(sink.take(), [image(1), image(2)]);
        assert_eq!(sink.take(), []);
    }
}
