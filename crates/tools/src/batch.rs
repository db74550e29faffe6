//! `batch`: several calls that only look, beside each other, as one.

use std::sync::Arc;

use futures::{StreamExt as _, stream};
use heeler_core::{
    Block, BoxFuture, Facts, InnerCall, Metadata, RawJson, Tool, ToolContext, ToolDefinition,
    ToolError, ToolOutput, tool_schema, truncate_chars,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most calls of one batch.
pub const BATCH_CALLS_MAX: usize = 20;
/// How many of them run at once.
const AT_ONCE: usize = 8;
/// Characters of an input that are told with its result.
const INPUT_CHARS_MAX: usize = 200;

/// The tool.
#[derive(Debug, Default)]
pub struct Batch;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BatchInput {
    /// At most 20.
    #[schemars(length(min = 1, max = 20))]
    calls: Vec<BatchCall>,
}

/// One call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BatchCall {
    /// The tool.
    tool: String,
    /// Its input.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    input: Box<RawValue>,
}

impl Tool for Batch {
    fn definition(&self) -> ToolDefinition {
        let words = "Runs calls of tools that only look, such as Read and Grep, beside each other and \
                     gives their results in order. One that fails stops no other; one that changes \
                     something or needs permission is not run.";
        ToolDefinition::new("batch", words, tool_schema::<BatchInput>())
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts { replay_safe: true, ..Facts::default() }
    }

    fn inner_calls(&self, input: &RawJson) -> Vec<InnerCall> {
        read(input).unwrap_or_default()
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let calls = read(&input).map_err(ToolError::ForModel)?;
            let play = |call: InnerCall| {
                let playing = context.inner_calls.play(call.clone());
                async move { (call, playing.await) }
            };
            let played = stream::iter(calls).map(play).buffered(AT_ONCE).collect::<Vec<_>>();
            tokio::select! {
                played = played => Ok(together(played)),
                () = context.cancel.cancelled() => {
                    Err(ToolError::for_model("cancelled before all of its calls had ended"))
                }
            }
        })
    }
}

fn read(input: &RawJson) -> Result<Vec<InnerCall>, String> {
    let BatchInput { calls } =
        serde_json::from_str(input.get()).map_err(|error| error.to_string())?;
    if !(1..=BATCH_CALLS_MAX).contains(&calls.len()) {
        return Err(format!("a batch has 1 to {BATCH_CALLS_MAX} calls; this has {}", calls.len()));
    }
    let inner = |BatchCall { tool, input }: BatchCall| {
        let input = RawJson::parse(input.get()).map_err(|error| format!("{tool}: {error}"))?;
        Ok(InnerCall { name: tool, input })
    };
    calls.into_iter().map(inner).collect()
}

/// One result of all, in order, each under its call.
fn together(played: Vec<(InnerCall, ToolOutput)>) -> ToolOutput {
    let mut all = ToolOutput {
        is_error: played.iter().all(|(_, output)| output.is_error),
        ..ToolOutput::default()
    };
    for (index, (call, output)) in played.into_iter().enumerate() {
        let gap = if index == 0 { "" } else { "\n\n" };
        let input = truncate_chars(call.input.get(), INPUT_CHARS_MAX);
        let failed = if output.is_error { " (failed)" } else { "" };
        let head = format!("{gap}[{}] {} {input}{failed}\n", index + 1, call.name);
        all.content.push(Block::text(head));
        all.content.extend(output.content_for_model());
        all.media.extend(output.media);
        all.state.extend(output.state);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_some_calls_and_not_too_many() {
        let of = |count: usize| {
            let calls = vec![r#"{"tool":"Read","input":{"file_path":"a"}}"#; count].join(",");
            read(&RawJson::parse(&format!(r#"{{"calls":[{calls}]}}"#)).unwrap())
        };
        assert_eq!(of(0).unwrap_err(), "a batch has 1 to 20 calls; this has 0");
        assert_eq!(of(21).unwrap_err(), "a batch has 1 to 20 calls; this has 21");
        let calls = of(20).unwrap();
        assert_eq!((calls.len(), calls[0].input.get()), (20, r#"{"file_path":"a"}"#));
    }
}
