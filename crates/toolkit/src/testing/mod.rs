//! What tests need: a model that plays a script, a call without a loop, and recorded sessions.

mod recorded;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use heeler_core::{Image, Progress, RawJson, SessionId, ToolContext, ToolError, ToolOutput};
use heeler_engine::SystemClock;
use heeler_providers::models;
use heeler_providers::scripted::Scripted;
pub use heeler_script::{Script, ScriptError};
pub use recorded::{Comparison, Recorded, RecordedError, recorded};

use crate::function::object_of;
use crate::{Binding, Client, ClientError};

/// Why a scripted client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ScriptedError {
    /// The script is wrong.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The client is.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// A client of a model that plays this script, TOML or JSON Lines, and checks every request. No
/// network, no key; `docs/guide/scripted-models.md` says what a script may hold.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use heeler_core::Message;
/// use heeler_toolkit::testing::scripted;
///
/// let client = scripted(r#"{"text": "Hello!"}"#)?;
/// assert_eq!(client.ask("", [Message::user("Hi.")]).await?.message.text(), "Hello!");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the script cannot be read; the error says where.
pub fn scripted(script: &str) -> Result<Client, ScriptedError> {
    let model = Scripted::from_script(Script::parse(script)?, Arc::new(SystemClock));
    Ok(Client::new(model, models::SONNET)?)
}

/// One call of a tool without a loop, and all that came of it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use heeler_toolkit::{Object, raw_tool, testing::TestCall};
///
/// let clock = raw_tool("clock", "Tells the time", Object::new(), |context, _| async move {
///     context.progress.send("looking");
///     "noon"
/// });
/// let called = TestCall::new(r#"{}"#).of(&clock).await;
/// assert_eq!(called.text(), "noon");
/// assert_eq!(called.progress, ["looking"]);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TestCall {
    /// What the function is given. Change it as the test needs.
    pub context: ToolContext,
    input: String,
    progress: Arc<Mutex<Vec<String>>>,
}

/// What a call gave.
#[derive(Debug)]
pub struct Called {
    /// The result.
    pub result: Result<ToolOutput, ToolError>,
    /// Images that were attached, in order. A run drops those of a call that failed.
    pub images: Vec<Image>,
    /// What was told on the way, in order.
    pub progress: Vec<String>,
}

impl TestCall {
    /// A call with this input, JSON, in the folder `/`, confined by nothing.
    #[must_use]
    pub fn new(input: impl Into<String>) -> Self {
        let progress = Arc::<Mutex<Vec<String>>>::default();
        let told = Arc::clone(&progress);
        let session = SessionId::mint(heeler_core::Timestamp(0), &Zero);
        let progress_sink = Progress::new(move |text| {
            told.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        });
        let context = ToolContext {
            progress: progress_sink,
            ..ToolContext::new(session, "/", Arc::new(SystemClock))
        };
        Self { context, input: input.into(), progress }
    }

    /// In another folder.
    #[must_use]
    pub fn in_folder(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.context.workspace = workspace.into();
        self
    }

    /// Runs the call. As in a run, an input that is empty or `null` counts as `{}`, and one that is no
    /// JSON is an error. The tool's schema is not looked at.
    pub async fn of(self, binding: &Binding) -> Called {
        let Self { context, input, progress } = self;
        let images = context.images.clone();
        let result = match RawJson::parse(object_of(&input)) {
            Ok(input) => binding.call(context, input).await,
            Err(error) => Err(ToolError::for_model(format!("the input is no JSON: {error}"))),
        };
        let progress =
            std::mem::take(&mut *progress.lock().unwrap_or_else(PoisonError::into_inner));
        Called { result, images: images.take(), progress }
    }
}

impl Called {
    /// What the model would read: the result's text, or the error's. Of a broken tool it is the cause,
    /// which only a log is told.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.result {
            Ok(output) => output.text_content(),
            Err(error) => error.to_string(),
        }
    }

    /// Text for the user.
    #[must_use]
    pub fn for_user(&self) -> &str {
        self.result.as_ref().map_or("", |output| &output.for_user)
    }

    /// Whether the call failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.result.as_ref().map_or(true, |output| output.is_error)
    }
}

/// The same id every time.
struct Zero;

impl heeler_core::Entropy for Zero {
    fn next(&self) -> u64 {
        0
    }
}
