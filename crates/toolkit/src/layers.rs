//! Layers around a tool's function: each is given the whole binding and returns a new function.
//!
//! ```
//! use std::time::Duration;
//! use heeler_toolkit::layers::{self, Confirmation};
//! use heeler_toolkit::{Object, Toolset, raw_tool, testing::TestCall};
//!
//! let wipe = raw_tool("wipe", "Removes everything", Object::new(), |_, _| async { "gone" });
//! let asking = layers::confirmation(|binding, _| async move {
//!     let reason = format!("nobody may {}", binding.definition.name);
//!     Ok::<_, String>(Confirmation::Deny { reason })
//! });
//! let tools = Toolset::new([wipe])?.wrap(&[
//!     &layers::logging(),
//!     &asking,
//!     &layers::panic_recovery(),
//!     &layers::timeout(Duration::from_secs(30)),
//!     &layers::result_limit(10_000),
//! ]);
//! # let wipe = tools.get("wipe").ok_or("it is there")?;
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let called = TestCall::new("{}").of(wipe).await;
//! assert_eq!(called.text(), "wipe was not run, since it was denied: nobody may wipe");
//! # });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use heeler_core::{Block, RawJson, Text, ToolContext, ToolError, ToolOutput, panic_text};
use heeler_engine::CANCEL_GRACE_MILLIS;
use heeler_secrets::Secrets;

use crate::{Binding, ToolFunction};

/// Something around a tool's function. A closure from a binding to a function is one.
pub trait Layer: Send + Sync {
    /// The function to call instead of the binding's own, which it may call.
    fn wrap(&self, binding: &Binding) -> ToolFunction;
}

impl<F: Fn(&Binding) -> ToolFunction + Send + Sync> Layer for F {
    fn wrap(&self, binding: &Binding) -> ToolFunction {
        self(binding)
    }
}

/// Ends a call after so long: it is cancelled, and what has not ended a quarter of a second later is
/// abandoned. The result is an error that says so.
#[must_use]
pub fn timeout(limit: Duration) -> impl Layer {
    layer(move |inner, binding| {
        let name = binding.definition.name.clone();
        function(move |context, input| {
            let (inner, name) = (Arc::clone(&inner), name.clone());
            async move {
                let cancel = context.cancel.child_token();
                let clock = Arc::clone(&context.clock);
                let context = ToolContext { cancel: cancel.clone(), ..context };
                // A task of its own: one that blocks its thread can only be left behind. It ends with
                // this one, wherever this is dropped.
                let mut calls = tokio::task::JoinSet::new();
                calls.spawn(inner(context, input));
                let stops = cancel.clone().drop_guard();
                let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
                tokio::select! {
                    biased;
                    Some(ended) = calls.join_next() => {
                        // What it left in the background goes on.
                        drop(stops.disarm());
                        ended.unwrap_or_else(|error| Err(crashed(&name, error)))
                    }
                    () = clock.sleep_until(clock.now().plus(millis)) => {
                        cancel.cancel();
                        tokio::select! {
                            biased;
                            _ = calls.join_next() => {}
                            () = clock.sleep_until(clock.now().plus(CANCEL_GRACE_MILLIS)) => {}
                        }
                        Err(ToolError::for_model(format!(
                            "{name} was stopped after {limit:?} without finishing; \
                             what it had already changed is still changed"
                        )))
                    }
                }
            }
        })
    })
}

/// Cuts the text of results to so many bytes: head and tail, with a mark between them that says how
/// much is missing. No character is cut in two. Of a tool that declares what it gives
/// ([`Binding::with_output_schema`], said before this) the whole stays beside the text, as
/// [`ToolOutput::structured`].
#[must_use]
pub fn result_limit(bytes_max: usize) -> impl Layer {
    layer(move |inner, binding| {
        let declares = binding.output.is_some();
        function(move |context, input| {
            let call = inner(context, input);
            async move {
                let mut output = call.await?;
                shorten(&mut output, bytes_max, declares);
                Ok(output)
            }
        })
    })
}

/// Tells `tracing` of each call: its name, how long it took and how long its result is; failures as
/// warnings. Inputs and results are not told.
#[must_use]
pub fn logging() -> impl Layer {
    layer(|inner, binding| {
        let tool = binding.definition.name.clone();
        function(move |context, input| {
            let (clock, tool) = (Arc::clone(&context.clock), tool.clone());
            let started = clock.now();
            let call = inner(context, input);
            async move {
                let result = call.await;
                let millis = clock.now().since(started);
                match &result {
                    Ok(output) if output.is_error => {
                        tracing::warn!(tool, millis, "a call failed");
                    }
                    Ok(output) => {
                        let bytes = text_bytes(output);
                        tracing::info!(tool, millis, bytes, "a call ended");
                    }
                    Err(error) => tracing::warn!(tool, millis, %error, "a call failed"),
                }
                result
            }
        })
    })
}

/// Turns a panic into an error result. A run does so anyway; this is for calls without one, and for
/// layers outside of it that are to see the error.
#[must_use]
pub fn panic_recovery() -> impl Layer {
    layer(|inner, binding| {
        let name = binding.definition.name.clone();
        function(move |context, input| {
            let (inner, name) = (Arc::clone(&inner), name.clone());
            async move {
                // The call may panic before it gives a future, so that happens inside one.
                let call = async move { inner(context, input).await };
                match AssertUnwindSafe(call).catch_unwind().await {
                    Ok(result) => result,
                    Err(panic) => {
                        let text = panic_text(panic.as_ref());
                        Err(ToolError::for_model(format!("the tool {name} crashed: {text}")))
                    }
                }
            }
        })
    })
}

/// What somebody says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirmation {
    /// It runs.
    Run,
    /// It does not run; the model is told why.
    Deny {
        /// Words for the model.
        reason: String,
    },
}

/// Asks before each call. A denial is an error result with its reason; so is a question that fails,
/// since nobody said yes.
#[must_use]
pub fn confirmation<F, Asking, E>(ask: F) -> impl Layer
where
    F: Fn(Binding, RawJson) -> Asking + Send + Sync + 'static,
    Asking: Future<Output = Result<Confirmation, E>> + Send + 'static,
    E: Display + 'static,
{
    let ask = Arc::new(ask);
    layer(move |inner, binding| {
        let (ask, binding) = (Arc::clone(&ask), binding.clone());
        function(move |context, input| {
            let (inner, name) = (Arc::clone(&inner), binding.definition.name.clone());
            let asking = ask(binding.clone(), input.clone());
            async move {
                match asking.await.map_err(|error| error.to_string()) {
                    Ok(Confirmation::Run) => inner(context, input).await,
                    Ok(Confirmation::Deny { reason }) => Err(ToolError::for_model(format!(
                        "{name} was not run, since it was denied: {reason}"
                    ))),
                    Err(error) => Err(ToolError::for_model(format!(
                        "{name} was not run, since nobody could be asked about it: {error}"
                    ))),
                }
            }
        })
    })
}

/// Takes secrets out of results.
#[must_use]
pub fn redaction(secrets: Arc<Secrets>) -> impl Layer {
    layer(move |inner, _| {
        let secrets = Arc::clone(&secrets);
        function(move |context, input| {
            let (call, secrets) = (inner(context, input), Arc::clone(&secrets));
            async move {
                let redacted = |text: &str| secrets.redact(text).into_owned();
                match call.await {
                    Ok(mut output) => {
                        for block in &mut output.content {
                            if let Block::Text(text) = block {
                                *block =
                                    Text { text: redacted(&text.text), ..(**text).clone() }.into();
                            }
                        }
                        output.for_user = redacted(&output.for_user);
                        output.artifact_tags.iter_mut().for_each(|tag| *tag = redacted(tag));
                        let clean = |json: RawJson| RawJson::parse(&redacted(json.get())).ok();
                        output.structured = output.structured.and_then(clean);
                        match output.error.take() {
                            Some(error) => Ok(output.with_error(redacted(&error.to_string()))),
                            None => Ok(output),
                        }
                    }
                    Err(ToolError::ForModel(text)) => Err(ToolError::ForModel(redacted(&text))),
                    Err(ToolError::Internal(error)) => {
                        Err(ToolError::Internal(redacted(&error.to_string()).into()))
                    }
                }
            }
        })
    })
}

fn layer(wrap: impl Fn(ToolFunction, &Binding) -> ToolFunction + Send + Sync) -> impl Layer {
    move |binding: &Binding| wrap(Arc::clone(&binding.function), binding)
}

fn function<Work>(
    call: impl Fn(ToolContext, RawJson) -> Work + Send + Sync + 'static,
) -> ToolFunction
where
    Work: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    Arc::new(move |context, input| Box::pin(call(context, input)))
}

fn crashed(name: &str, error: tokio::task::JoinError) -> ToolError {
    match error.try_into_panic() {
        Ok(panic) => {
            ToolError::for_model(format!("the tool {name} crashed: {}", panic_text(panic.as_ref())))
        }
        Err(_) => ToolError::for_model(format!("{name} was stopped before it finished")),
    }
}

fn text_bytes(output: &ToolOutput) -> usize {
    output.content.iter().filter_map(Block::as_text).map(str::len).sum()
}

/// Cuts the text; what `declares` a schema is JSON, and held to it later, when no text is whole any more.
fn shorten(output: &mut ToolOutput, bytes_max: usize, declares: bool) {
    let bytes = text_bytes(output);
    if bytes <= bytes_max {
        return;
    }
    output.settle_cut();
    let whole = output.text_content();
    if declares && output.structured.is_none() && !output.is_error && !output.is_background {
        output.structured = RawJson::parse(whole.trim()).ok();
    }
    let head = whole.floor_char_boundary(bytes_max / 4 * 3);
    let tail = whole.ceil_char_boundary(bytes - (bytes_max - bytes_max / 4 * 3));
    let (begins, ends) = (&whole[..head], &whole[tail..]);
    let left_out = tail - head;
    let text = format!("{begins}\n[... {left_out} of {bytes} bytes left out ...]\n{ends}");
    output.content.retain(|block| block.as_text().is_none());
    output.content.insert(0, Block::text(text));
}
