//! A value of a Rust type out of a conversation: the model submits it through a tool.

mod nudge;

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::{Block, Message, ToolError, panic_text, truncate_chars};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::schema::first_problem;
use crate::submission::NAME;
use crate::{
    Client, InputSchema, Run, RunError, RunResult, SchemaError, ToolChoiceFor, ToolSource, Toolset,
    ToolsetError, tool,
};
use nudge::Nudge;

/// Model calls of an extraction, unless another number is given.
const ROUNDS: u32 = 8;
/// The most characters of what a model said instead of a value.
const SAID_CHARS_MAX: usize = 300;

/// What is extracted, and from what.
pub struct Extract<T> {
    run: Run,
    tools: Toolset,
    name: String,
    description: String,
    validate: Option<Validate<T>>,
}

type Validate<T> = Arc<dyn Fn(&T) -> Result<(), String> + Send + Sync>;

/// A value, and the run that led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted<T> {
    /// The value.
    pub value: T,
    /// The conversation with the submitting call, and what it cost.
    pub result: RunResult,
}

/// Why there is no value.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The model is not told what to submit.
    #[error("an extraction needs a description of what is to be submitted")]
    NoDescription,
    /// The value's type is not written as an object.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A tool has the name of the one a value is submitted with, or that is no name of a tool.
    #[error(transparent)]
    Tools(#[from] ToolsetError),
    /// The model ended without submitting a value that was accepted, though it was told to.
    #[error("{}", never_submitted(name, refusal.as_deref(), result))]
    NeverSubmitted {
        /// The tool's name.
        name: String,
        /// Why the last value was not accepted, where one was submitted or said.
        refusal: Option<String>,
        /// The conversation, and what it cost.
        result: Box<RunResult>,
    },
    /// The run failed before there was a value.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl ExtractError {
    /// What was done until then, where a run began: the conversation, and what it cost.
    #[must_use]
    pub fn result(&self) -> Option<&RunResult> {
        match self {
            Self::NeverSubmitted { result, .. } => Some(result),
            Self::Run(error) => Some(&error.result),
            Self::NoDescription | Self::Schema(_) | Self::Tools(_) => None,
        }
    }
}

fn never_submitted(name: &str, refusal: Option<&str>, result: &RunResult) -> String {
    let answers = match result.rounds {
        1 => "one answer".to_owned(),
        rounds => format!("{rounds} answers"),
    };
    if let Some(why) = refusal {
        return format!(
            "the model ended without a value that `{name}` accepts, after {answers}; the last \
             was refused: {why}"
        );
    }
    let said = result.final_text();
    let said = match said.trim() {
        "" => String::new(),
        said => format!("; the last it said: {}", truncate_chars(said, SAID_CHARS_MAX)),
    };
    format!("the model ended without calling `{name}`, after {answers}{said}")
}

/// Why the last call of the tool failed.
fn last_refusal(name: &str, result: &RunResult) -> Option<String> {
    let calls = result.new_messages().iter().flat_map(Message::tool_uses);
    let last = calls.filter(|call| call.name == name).last()?;
    let mut blocks = result.new_messages().iter().flat_map(|message| &message.blocks);
    blocks.find_map(|block| match block {
        Block::ToolResult(given) if given.tool_use_id == last.id => {
            Some(truncate_chars(&given.text_content(), SAID_CHARS_MAX).into())
        }
        _ => None,
    })
}

impl<T> Extract<T> {
    /// From this history. The description tells the model what it is to submit.
    pub fn new(history: impl IntoIterator<Item = Message>, description: impl Into<String>) -> Self {
        Self {
            // It ends with a call, so one that is forced on it keeps it from no end.
            run: Run::new(history).rounds(ROUNDS).tool_choice_for(ToolChoiceFor::EachCall),
            tools: Toolset::default(),
            name: NAME.to_owned(),
            description: description.into(),
            validate: None,
        }
    }

    /// With a system prompt.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.run = self.run.system(system);
        self
    }

    /// With tools the model may use before it submits.
    #[must_use]
    pub fn tools(mut self, tools: Toolset) -> Self {
        self.tools = tools;
        self
    }

    /// With another name than `submit` for the tool a value is submitted with.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// With another number of model calls than 8; 0 for no limit.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.run = self.run.rounds(rounds);
        self
    }

    /// With anything else that a run may be given: a token that cancels it, or limits, which stand in
    /// the place of the 8 model calls as well. Of tools a set is taken, beside those of
    /// [`Extract::tools`], and no registry.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(Run) -> Run) -> Self {
        self.run = change(self.run);
        self
    }

    /// Values for which this says no are sent back to the model with the reason.
    #[must_use]
    pub fn validate<E: Display>(
        mut self,
        validate: impl Fn(&T) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        self.validate =
            Some(Arc::new(move |value| validate(value).map_err(|error| error.to_string())));
        self
    }
}

/// Extracts a value: the model may call the tools it is given, and ends by submitting one. One that
/// ends with a text instead is told so twice, within the limits of the run; a text that is the value
/// as JSON, and nothing else, is taken.
///
/// ```no_run
/// # async fn example(client: heeler_toolkit::Client) -> Result<(), heeler_toolkit::ExtractError> {
/// use heeler_core::Message;
/// use heeler_toolkit::{Extract, extract};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Invoice {
///     /// The sum in cents.
///     cents: u64,
/// }
///
/// let letter = Message::user("Dear customer, we ask you for 12.50 ...");
/// let wanted = Extract::new([letter], "The invoice's figures").validate(|invoice: &Invoice| {
///     if invoice.cents > 0 { Ok(()) } else { Err("an invoice is over some sum") }
/// });
/// let invoice = extract(&client, wanted).await?.value;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When there is no value; a value that was submitted is given even if the run failed afterwards.
pub async fn extract<T>(client: &Client, wanted: Extract<T>) -> Result<Extracted<T>, ExtractError>
where
    T: DeserializeOwned + JsonSchema + Send + 'static,
{
    let Extract { run, tools, name, description, validate } = wanted;
    if description.trim().is_empty() {
        return Err(ExtractError::NoDescription);
    }
    let schema = InputSchema::of_input::<T>()?.0.compile()?;
    let (value, refusal) = (Mutex::default(), Mutex::default());
    let submitted = Arc::new(Submitted { value, refusal, schema, validate });
    let slot = Arc::clone(&submitted);
    let submit = tool(&name, description, move |_, value: T| {
        std::future::ready(slot.take(value).map(|()| "submitted").map_err(ToolError::ForModel))
    })?;
    // It only takes a value, which no policy has to allow.
    let submit = submit.touching(|_, _| Vec::new()).terminal();
    // What `with` gave the run counts, too.
    let tools = match &run.tools {
        ToolSource::Fixed(own) => Toolset::join([own.clone(), tools])?.bind(submit)?,
        ToolSource::Registry(_) => tools.bind(submit)?,
    };
    let slot = Arc::clone(&submitted);
    let mut run = run.tools(tools);
    run.hooks.end = Some(Arc::new(Nudge::new(name.clone(), move |text| slot.missing(text))));
    let outcome = client.run(run).await;
    let value = submitted.value().take();
    match (value, outcome) {
        (Some(value), Ok(result)) => Ok(Extracted { value, result }),
        (Some(value), Err(error)) => Ok(Extracted { value, result: *error.result }),
        (None, Ok(result)) => Err(submitted.never(name, Box::new(result))),
        (None, Err(error)) if error.is_rounds_limit() => Err(submitted.never(name, error.result)),
        (None, Err(error)) => Err(error.into()),
    }
}

/// Where the model's value goes.
struct Submitted<T> {
    value: Mutex<Option<T>>,
    /// Why the last one was refused that fits the schema.
    refusal: Mutex<Option<String>>,
    /// What the tool's inputs are held to before they come here; a text is held to it here.
    schema: heeler_schema::Schema,
    validate: Option<Validate<T>>,
}

impl<T: DeserializeOwned> Submitted<T> {
    /// Takes a value, unless it is refused.
    fn take(&self, value: T) -> Result<(), String> {
        if let Err(why) = self.validated(&value) {
            *locked(&self.refusal) = Some(why.clone());
            return Err(why);
        }
        // The first one counts: a batch may hold several.
        self.value().get_or_insert(value);
        Ok(())
    }

    /// What the caller's own check says of it.
    fn validated(&self, value: &T) -> Result<(), String> {
        let Some(validate) = &self.validate else { return Ok(()) };
        // Also of a text that is the value: there no tool's crash would tell of it.
        let checked = catch_unwind(AssertUnwindSafe(|| validate(value)));
        checked.unwrap_or_else(|panic| {
            Err(format!("the check of the value crashed: {}", panic_text(panic.as_ref())))
        })
    }

    /// The failure of a run that ended without a value.
    fn never(&self, name: String, result: Box<RunResult>) -> ExtractError {
        let refusal = last_refusal(&name, &result).or_else(|| locked(&self.refusal).take());
        ExtractError::NeverSubmitted { name, refusal, result }
    }

    /// Why there is no value, once the model has ended with this text; some write it there.
    fn missing(&self, text: &str) -> Option<String> {
        if self.value().is_some() {
            return None;
        }
        let json = nudge::unfenced(text);
        let given: Value = match serde_json::from_str(json) {
            Ok(given) => given,
            Err(error) if json.starts_with('{') => return Some(error.to_string()),
            Err(_) => return Some("it is no JSON".to_owned()),
        };
        if let Some(problem) = first_problem(&self.schema, &given) {
            return Some(problem);
        }
        let value = serde_json::from_str(json).map_err(|error| error.to_string());
        value.and_then(|value| self.take(value)).err()
    }

    fn value(&self) -> MutexGuard<'_, Option<T>> {
        locked(&self.value)
    }
}

fn locked<V>(held: &Mutex<V>) -> MutexGuard<'_, V> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
