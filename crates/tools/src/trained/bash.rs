//! `bash`: the trained shape of the tool that runs commands.

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, Metadata, RawJson, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput,
    TypedTool, tool_schema,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::declared;
use crate::{Bash, BashInput};

const NAME: &str = "bash";
const KIND: &str = "bash_20250124";

const WORDS: &str = "Runs a command in bash. Each starts anew in the workspace, so chain what \
    belongs together with &&.";

const RESTARTED: &str = "Each command starts anew in the workspace with a fresh environment, so there \
    is nothing to restart.";

const NEITHER: &str = "it says neither what to run nor to restart; give `command` with a command \
    line, or `restart` with true";

/// The tool.
pub struct TrainedBash {
    bash: Arc<Bash>,
    schema: RawJson,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainedBashInput {
    /// Command to run.
    pub command: Option<String>,
    /// Start over; without effect.
    pub restart: Option<bool>,
}

impl TrainedBash {
    /// The shape over this tool.
    #[must_use]
    pub fn new(bash: Bash) -> Self {
        Self { bash: Arc::new(bash), schema: tool_schema::<TrainedBashInput>() }
    }

    /// What the tool beneath is given; `None` for a restart alone.
    fn command(input: &RawJson) -> Result<Option<BashInput>, String> {
        let said = |error: serde_json::Error| error.to_string();
        let input: TrainedBashInput = serde_json::from_str(input.get()).map_err(said)?;
        match (input.command, input.restart) {
            (Some(command), _) => {
                let input = serde_json::json!({"command": command});
                serde_json::from_value(input).map(Some).map_err(said)
            }
            (None, Some(true)) => Ok(None),
            (None, _) => Err(NEITHER.to_owned()),
        }
    }
}

impl Tool for TrainedBash {
    fn definition(&self) -> ToolDefinition {
        declared(NAME, KIND, WORDS, self.schema.clone())
    }

    fn metadata(&self) -> Metadata {
        TypedTool::metadata(&*self.bash)
    }

    fn facts(&self, input: &RawJson, workspace: &str) -> Facts {
        match Self::command(input) {
            Ok(Some(command)) => TypedTool::facts(&*self.bash, &command, workspace),
            // It runs nothing.
            Ok(None) | Err(_) => Facts::default(),
        }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        match Self::command(&input) {
            Ok(Some(command)) => TypedTool::call(Arc::clone(&self.bash), context, command),
            Ok(None) => Box::pin(std::future::ready(Ok(ToolOutput::text(RESTARTED)))),
            Err(error) => {
                let text = format!("invalid input for {NAME}: {error}");
                Box::pin(std::future::ready(Err(ToolError::ForModel(text))))
            }
        }
    }
}
