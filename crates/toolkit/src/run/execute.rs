//! One call without a model: the engine plays a turn in which the model is whoever asks for it.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{
    Block, CancellationToken, Clock, EventStream, Message, ModelEvent, ModelRequest, Provider,
    RawJson, Reply, SessionHeader, SessionId, StopReason, ToolOutput, ToolUse, Usage,
};
use heeler_engine::{OsEntropy, Parts, Session, SystemClock};

use super::journal::{RunJournal, Watch};
use super::stream::stop;
use crate::function::object_of;
use crate::{Run, Toolset};

impl Toolset {
    /// Runs one call through the whole pipeline, without a model: the tool is looked up, the input is
    /// checked against its schema and put right, the policy and the approvers of `run` are heard, the
    /// call runs with `run`'s origin in `run`'s folder until it is done, times out or is cancelled,
    /// and its result is bounded. Whatever goes wrong is an output that says so.
    ///
    /// ```
    /// use heeler_core::InputOrigin;
    /// use heeler_toolkit::{Object, Run, Toolset, raw_tool};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), heeler_toolkit::ToolsetError> {
    /// let here = raw_tool("here", "Tells the chat", Object::new(), |context, _| async move {
    ///     context.origin.chat.unwrap_or_default()
    /// });
    /// let tools = Toolset::new([here])?;
    /// let run = || Run::default().origin(InputOrigin::chat("matrix", "room 5"));
    /// assert_eq!(tools.execute("here", "{}", run()).await.text_content(), "room 5");
    /// assert!(tools.execute("there", "{}", run()).await.is_error);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute(&self, name: &str, input: &str, run: Run) -> ToolOutput {
        match RawJson::parse(object_of(input)) {
            Ok(input) => play(name, input, run.tools(self)).await,
            Err(error) => ToolOutput::error(format!("the input for {name} is no JSON: {error}")),
        }
    }
}

async fn play(name: &str, input: RawJson, mut run: Run) -> ToolOutput {
    let call = ToolUse { id: "call".into(), name: name.into(), input, invalid: None, cache: None };
    let created = SystemClock.now();
    let id = SessionId::mint(created, &OsEntropy::default());
    let workspace = match run.workspace_text() {
        Ok(workspace) => workspace,
        Err(why) => return ToolOutput::error(format!("{name} was not run: {why}")),
    };
    let header = SessionHeader { id: id.clone(), created, workspace };
    let watch = Arc::new(Watch::keeping_output());
    let given = vec![Message::user("Call it.")];
    let journal = RunJournal::new(header, given, Arc::clone(&watch));
    let mut parts = Parts::new(Arc::new(Asks(call)), Arc::new(journal));
    parts.settings.model.name = "none/none".into();
    parts.settings.compaction.automatic = false;
    parts.heartbeat_millis = 0;
    run.fill(&mut parts);
    // The call is the first round's; there is nobody to ask for a second.
    parts.settings.limits.rounds = 1;
    let session = match Session::open(parts, id).await {
        Ok(session) => session,
        Err(error) => return ToolOutput::error(format!("{name} was not run: {error}")),
    };
    let turn = session.resume();
    let tokens = std::mem::take(&mut run.cancel);
    let _stop = stop(&session, tokens, &CancellationToken::new()).await;
    let outcome = turn.await;
    let answered = session.state().await.ok().and_then(|state| {
        let last = state.history.messages().last().cloned()?;
        last.blocks.iter().find_map(|block| as_output(block, &watch))
    });
    session.close().await;
    answered.unwrap_or_else(|| ToolOutput::error(format!("{name} was not run: {outcome:?}")))
}

/// What the call gave; of one that never ran, what the model would be told.
fn as_output(block: &Block, watch: &Watch) -> Option<ToolOutput> {
    let Block::ToolResult(result) = block else { return None };
    let Some(mut output) = watch.seen().output.take() else {
        let (is_error, content) = (result.is_error, result.content.clone());
        return Some(ToolOutput { is_error, content, ..ToolOutput::default() });
    };
    // What was put right in the input stands behind what the call itself gave.
    let notes = result.content.iter().skip(output.content_for_model().len());
    output.content.extend(notes.cloned());
    Some(*output)
}

/// A model that asks for one call.
struct Asks(ToolUse);

impl Provider for Asks {
    fn stream(&self, _: ModelRequest) -> EventStream {
        let blocks = vec![Block::from(self.0.clone())];
        let (stop, usage) = (StopReason::ToolUse, Usage::default());
        let reply = Reply { blocks, stop, usage, provider_id: None };
        futures::stream::iter([Ok(ModelEvent::Finished(reply))]).boxed()
    }
}
