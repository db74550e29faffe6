//! A recorded session as a regression test: an agent goes through it again, offline.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::{FutureExt, StreamExt, stream};
use heeler_core::{
    Block, EventStream, Journal, Message, ModelEvent, ModelRequest, Parameters, Provider,
    ProviderError, RawJson, Record, Reply, Role, StoreError, ToolOutput, ToolResult,
};
use heeler_providers::cassette::{self, Asked, Exchange, ExchangeEnd};
use heeler_secrets::Secrets;
use heeler_turn::State;

use crate::{Agent, Binding, Cassette, CassetteError, ToolFunction};

/// How a cassette begins, and no journal.
const CASSETTE_START: &str = "{\"cassette\":";

/// Reads a recorded session: a [`Cassette`]'s file, or a journal as `heeler sessions export` prints it.
///
/// ```
/// # use heeler_toolkit::{Agent, Cassette, Client};
/// # use heeler_toolkit::testing::{recorded, scripted};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("session.jsonl");
/// # let script = heeler_toolkit::testing::Script::parse(r#"{"text": "Hello!"}"#)?;
/// # let clock = std::sync::Arc::new(heeler_engine::SystemClock);
/// # let model = heeler_providers::scripted::Scripted::from_script(script, clock);
/// # let client = Client::new(Cassette::record(&path, model)?, "anthropic/claude-sonnet-5-5")?;
/// # let agent = Agent::new(client).system("You are polite.");
/// # agent.step([heeler_core::Message::user("Hi.")]).await?;
/// recorded(&path)?.replay(&agent).await.assert_same();
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the file cannot be read, or no model answered in it.
pub fn recorded(path: impl AsRef<Path>) -> Result<Recorded, RecordedError> {
    let path = path.as_ref().to_owned();
    let is_journal = !begins_as_cassette(&path);
    let (exchanges, last) = match is_journal {
        true => of_journal(&heeler_store::read_journal(&path)?),
        false => (cassette::read(&path)?, Vec::new()),
    };
    if !exchanges.iter().any(|exchange| matches!(exchange.end, ExchangeEnd::Finished(_))) {
        return Err(RecordedError::Empty(path));
    }
    Ok(Recorded { path, exchanges, last, is_journal })
}

/// Why a recorded session cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordedError {
    /// It begins as a cassette, and is none.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// It is no journal.
    #[error(transparent)]
    Journal(#[from] StoreError),
    /// There is nothing to compare with.
    #[error("no model answered in `{}`; record a session in which one does", .0.display())]
    Empty(PathBuf),
}

/// A recorded session.
#[derive(Debug, Clone)]
pub struct Recorded {
    path: PathBuf,
    exchanges: Vec<Exchange>,
    /// The conversation at the end, where it is known.
    last: Vec<Arc<Message>>,
    is_journal: bool,
}

/// Whether an agent went through a recorded session as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a difference that nobody looks at is none"]
pub struct Comparison {
    path: PathBuf,
    difference: Option<String>,
}

impl Recorded {
    /// Goes through the session again with an agent: from each thing the user said, with the recorded
    /// answers and the recorded results of its calls. No provider is asked, no tool runs, nothing waits.
    ///
    /// It is the same when the agent asks for each answer with the request that is recorded: system
    /// prompt, tools, messages; of a cassette also the model, the output limit and the parameters. So
    /// a prompt, a tool's description, a layer or a limit that changed is noticed. What a user said
    /// while a turn ran, and what was summarised, an agent does not say by itself: `heeler replay` plays
    /// such sessions.
    pub async fn replay(&self, agent: &Agent) -> Comparison {
        let stage = Arc::new(Stage::new(self.clone()));
        let results = Arc::clone(&stage);
        let tools = move |_: &Binding| results.function();
        let agent = agent.replaying(Arc::clone(&stage) as Arc<dyn Provider>, &tools);
        let mut ended = None;
        for history in self.beginnings() {
            ended = agent.step(history).await.err();
            if stage.cassette.mismatch().is_some() {
                break;
            }
        }
        let left = stage.cassette.remaining();
        let difference = stage.cassette.mismatch().or_else(|| {
            let (all, why) =
                (self.exchanges.len(), ended.map(|why| format!(", which ended: {why}")));
            let why = why.unwrap_or_default();
            (left > 0)
                .then(|| format!("the agent made {} of {all} recorded requests{why}", all - left))
        });
        Comparison { path: self.path.clone(), difference }
    }

    /// The conversations with which a run began: those that end with something new of the user.
    fn beginnings(&self) -> Vec<Vec<Message>> {
        let mut beginnings: Vec<&Exchange> = Vec::new();
        let mut failed: Vec<&Asked> = Vec::new();
        for exchange in &self.exchanges {
            let asked = &exchange.asked;
            // What failed is asked for again by the same run.
            let again = failed.iter().position(|before| *before == asked);
            if let Some(at) = again {
                failed.remove(at);
            }
            if matches!(exchange.end, ExchangeEnd::Failed(_)) {
                failed.push(asked);
            }
            if again.is_none() && asked.messages.last().is_some_and(|last| is_said(last)) {
                beginnings.push(exchange);
            }
        }
        let history = |exchange: &Exchange| {
            exchange.asked.messages.iter().map(|message| (**message).clone()).collect()
        };
        beginnings.into_iter().map(history).collect()
    }

    /// The results of an answer's calls, in their order.
    fn results(&self, asked: &Asked, reply: &Reply) -> Vec<Option<ToolResult>> {
        let calls = calls(&reply.blocks);
        let n = asked.messages.len();
        let later = self.exchanges.iter().map(|exchange| &exchange.asked.messages);
        let later = later.chain([&self.last]).filter(|messages| {
            messages.len() >= n + 2
                && messages[..n] == asked.messages[..]
                && self::calls(&messages[n].blocks) == calls
        });
        let answered = later.map(|messages| results_of(&messages[n + 1])).next();
        let answered = answered.unwrap_or_default();
        (0..calls.len()).map(|index| answered.get(index).cloned()).collect()
    }
}

impl Comparison {
    /// Whether it was the same.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.difference.is_none()
    }

    /// Where it began to differ; `None` when it was the same.
    #[must_use]
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    /// Fails the test, with what differs, unless it was the same.
    ///
    /// # Panics
    /// When it was not.
    #[track_caller]
    pub fn assert_same(&self) {
        assert!(self.is_same(), "{self}");
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.difference {
            None => write!(f, "`{path}` comes out as it is recorded"),
            Some(difference) => {
                write!(f, "`{path}` does not come out as it is recorded: {difference}")
            }
        }
    }
}

/// What stands in the place of the agent's provider and behind its tools.
struct Stage {
    recorded: Recorded,
    cassette: Cassette,
    /// The results of the calls of the answer that was given last.
    results: Mutex<Vec<Option<ToolResult>>>,
}

impl Stage {
    fn new(mut recorded: Recorded) -> Self {
        for exchange in &mut recorded.exchanges {
            if recorded.is_journal {
                leave_out(&mut exchange.asked.output_max, &mut exchange.asked.parameters);
            }
            if let ExchangeEnd::Failed(error) = &mut exchange.end {
                error.retry_after = None;
            }
        }
        let cassette = Cassette::of(&recorded.path, recorded.exchanges.clone());
        Self { recorded, cassette, results: Mutex::default() }
    }

    /// Gives the recorded result in the place of any tool's.
    fn function(self: &Arc<Self>) -> ToolFunction {
        let stage = Arc::clone(self);
        Arc::new(move |context, _| {
            let results = stage.results.lock().unwrap_or_else(PoisonError::into_inner);
            let result = results.get(context.call.index as usize).cloned().flatten();
            // What no later request tells, as of a call that ends the run, nobody reads either.
            let output = result.map_or_else(ToolOutput::default, |result| ToolOutput {
                content: result.content,
                is_error: result.is_error,
                ..ToolOutput::default()
            });
            std::future::ready(Ok(output)).boxed()
        })
    }
}

impl Provider for Stage {
    fn stream(&self, mut request: ModelRequest) -> EventStream {
        if self.recorded.is_journal {
            leave_out(&mut request.output_max, &mut request.parameters);
        }
        let asked = Asked::new(&request, &Secrets::default());
        let answer = self.cassette.stream(request).collect::<Vec<_>>().now_or_never();
        let steps: Vec<Result<ModelEvent, ProviderError>> = answer.unwrap_or_default();
        if let Some(Ok(ModelEvent::Finished(reply))) = steps.last() {
            // Before anybody sees a call of it.
            *self.results.lock().unwrap_or_else(PoisonError::into_inner) =
                self.recorded.results(&asked, reply);
        }
        stream::iter(steps).boxed()
    }

    fn tells_cost(&self) -> bool {
        self.cassette.tells_cost()
    }
}

/// What the surface of a session decides, and not its agent.
fn leave_out(output_max: &mut u64, parameters: &mut Parameters) {
    (*output_max, *parameters) = (0, Parameters::default());
}

/// Whether a file is meant to be a cassette; of one that cannot be read its reader tells.
fn begins_as_cassette(path: &Path) -> bool {
    let mut start = Vec::new();
    let file = File::open(path).map(|file| BufReader::new(file.take(CASSETTE_START.len() as u64)));
    let read = file.and_then(|mut file| file.read_until(b'\n', &mut start));
    read.is_ok() && start == CASSETTE_START.as_bytes()
}

/// The exchanges of a journal, whose requests are made again, and its conversation at the end.
fn of_journal(journal: &Journal) -> (Vec<Exchange>, Vec<Arc<Message>>) {
    let mut state = State::new();
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut asked = None;
    for entry in &journal.entries {
        state.apply(entry);
        let end = match &entry.record {
            Record::ModelStarted(started) => {
                let request = state.request(started.reserve.output);
                asked = request.map(|request| Asked::new(&request, &Secrets::default()));
                continue;
            }
            Record::ModelReplied(replied) => ExchangeEnd::Finished(Box::new(replied.reply.clone())),
            Record::ModelFailed(failed) => {
                ExchangeEnd::Failed(ProviderError::new(failed.kind, failed.message.as_str()))
            }
            _ => continue,
        };
        if let Some(asked) = asked.take() {
            let number = u32::try_from(exchanges.len() + 1).unwrap_or(u32::MAX);
            exchanges.push(Exchange { number, asked, events: Vec::new(), end });
        }
    }
    let last = state.history.request().iter().map(|said| Arc::clone(&said.message));
    (exchanges, last.collect())
}

fn is_said(message: &Message) -> bool {
    let is_result = |block: &Block| matches!(block, Block::ToolResult(_));
    message.role == Role::User && !message.blocks.iter().any(is_result)
}

/// The calls in some blocks, by what they ask for.
fn calls(blocks: &[Block]) -> Vec<(&str, &RawJson)> {
    let calls = blocks.iter().filter_map(Block::as_tool_use);
    calls.map(|call| (call.name.as_str(), &call.input)).collect()
}

fn results_of(message: &Message) -> Vec<ToolResult> {
    let results = message.blocks.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(ToolResult::clone(result)),
        _ => None,
    });
    results.collect()
}
