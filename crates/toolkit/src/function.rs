//! Tools from async functions.

use std::any::Any;
use std::fmt::Display;
use std::sync::Arc;

use heeler_core::{RawJson, ToolContext, ToolDefinition, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Binding, InputSchema, SchemaError};

/// A tool from an async function whose input is a Rust type.
///
/// The schema is derived from the type; `()` takes no input. What the function gives may be a text,
/// [`Json`], nothing, a whole [`ToolOutput`], or a `Result` with one of these; an error's text goes to
/// the model, but for [`ToolError::Internal`], of which only the log is told the cause.
///
/// ```
/// use heeler_toolkit::tool;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City {
///     /// The city's name.
///     name: String,
/// }
///
/// let weather = tool("weather", "Tells the weather of a city", |_, city: City| async move {
///     format!("It is sunny in {}", city.name)
/// })?;
/// # assert_eq!(weather.definition.name, "weather");
/// # Ok::<(), heeler_toolkit::SchemaError>(())
/// ```
///
/// # Errors
/// When the type's schema is not that of an object.
pub fn tool<I, F, Work, R>(
    name: impl Into<String>,
    description: impl Into<String>,
    run: F,
) -> Result<Binding, SchemaError>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(ToolContext, I) -> Work + Send + Sync + 'static,
    Work: Future<Output = R> + Send + 'static,
    R: IntoToolResult + 'static,
{
    let name = name.into();
    let (schema, says_nothing) = InputSchema::of_input::<I>()?;
    let run = Arc::new(run);
    let called = name.clone();
    Ok(raw_tool(name, description, schema, move |context, input| {
        let run = Arc::clone(&run);
        let json = if says_nothing { "null" } else { object_of(input.get()) };
        let read: Result<I, _> = serde_json::from_str(json);
        let read = read
            .map_err(|error| ToolError::for_model(format!("invalid input for {called}: {error}")));
        async move { run(context, read?).await.into_tool_result() }
    }))
}

/// A tool from an async function that reads its input itself, with a schema of the caller's.
///
/// ```
/// use heeler_toolkit::{Object, Schema, raw_tool};
///
/// let schema = Object::new().required("text", Schema::string("What to repeat"));
/// let repeat = raw_tool("repeat", "Repeats a text", schema, |_, input| async move {
///     input.get().to_owned()
/// });
/// # assert_eq!(repeat.definition.name, "repeat");
/// ```
pub fn raw_tool<F, Work, R>(
    name: impl Into<String>,
    description: impl Into<String>,
    schema: impl Into<InputSchema>,
    run: F,
) -> Binding
where
    F: Fn(ToolContext, RawJson) -> Work + Send + Sync + 'static,
    Work: Future<Output = R> + Send + 'static,
    R: IntoToolResult + 'static,
{
    let definition = ToolDefinition::new(name, description, schema.into().into_json());
    let function = move |context, input| -> heeler_core::BoxFuture<_> {
        let work = run(context, input);
        Box::pin(async move { work.await.into_tool_result() })
    };
    Binding::new(definition, Arc::new(function))
}

/// An input that says nothing is an object without properties.
pub(crate) fn object_of(input: &str) -> &str {
    match input.trim() {
        "" | "null" => "{}",
        json => json,
    }
}

/// What a tool's function may give.
#[diagnostic::on_unimplemented(
    message = "a tool's function cannot give `{Self}`",
    note = "it gives a `String`, a `&'static str`, `Json` of a value, `()`, a `ToolOutput`, or a `Result` of \
            one of these whose error can be displayed"
)]
pub trait IntoToolResult {
    /// As the pipeline takes it.
    ///
    /// # Errors
    /// When the call failed.
    fn into_tool_result(self) -> Result<ToolOutput, ToolError>;
}

/// What a call that worked may give.
pub trait IntoToolOutput {
    /// As the pipeline takes it.
    ///
    /// # Errors
    /// When it cannot be written.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

/// A value that the model is given as JSON.
///
/// ```
/// use heeler_toolkit::{Json, Object, raw_tool};
///
/// let size = raw_tool("size", "Tells the size", Object::new(), |_, _| async { Json([80, 24]) });
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let called = heeler_toolkit::testing::TestCall::new("{}").of(&size).await;
/// assert_eq!(called.text(), "[80,24]");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for &'static str {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

/// The model is told that it is done.
impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("done"))
    }
}

/// As [`Json`] of it.
impl IntoToolOutput for serde_json::Value {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Json(self).into_tool_output()
    }
}

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        match serde_json::to_string(&self.0) {
            Ok(json) => Ok(ToolOutput::text(json)),
            Err(error) => Err(ToolError::Internal(Box::new(error))),
        }
    }
}

impl<T: IntoToolOutput> IntoToolResult for T {
    fn into_tool_result(self) -> Result<ToolOutput, ToolError> {
        self.into_tool_output()
    }
}

impl<T: IntoToolOutput, E: Display + 'static> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> Result<ToolOutput, ToolError> {
        match self {
            Ok(output) => output.into_tool_output(),
            Err(error) => Err(as_tool_error(error)),
        }
    }
}

/// A tool's error as it is, any other in its words for the model.
fn as_tool_error<E: Display + 'static>(error: E) -> ToolError {
    let mut error = Some(error);
    let same = (&mut error as &mut dyn Any).downcast_mut::<Option<ToolError>>();
    if let Some(own) = same.and_then(Option::take) {
        return own;
    }
    // With its causes, where the error can tell them.
    ToolError::for_model(error.map_or_else(String::new, |error| format!("{error:#}")))
}
