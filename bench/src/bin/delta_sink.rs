//! Readers of one stream, and the library without a surface, for `cargo xtask bench`.
//!
//! `delta-sink discard` reads an answer and throws it away; `delta-sink library` lets a session
//! read it, with a reader of its events; `delta-sink sessions N` runs N sessions at once whose
//! only tool is in this process, each with its journal in memory; `delta-sink runs N` does the same
//! as a user of the toolkit would, whose history is all that is kept.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use futures::future::{Either, select, try_join_all};
use heeler::Run;
use heeler::engine::stores::MemoryStore;
use heeler::engine::{Facts, Input, Parts, Session, Toolset, TurnOutcome};
use heeler::providers::anthropic::{Anthropic, AnthropicSettings};
use heeler::{
    BoxFuture, Provider, RawJson, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput,
};
use heeler_bench::{Client, Response, URL_VARIABLE, target};

/// As `heeler` ships it.
#[global_allocator]
static ALLOCATOR: heeler_allocator::Allocator = heeler_allocator::Allocator;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["discard"] => runtime.block_on(discard()),
        ["library"] => runtime.block_on(sessions(1)),
        ["sessions", n] => runtime.block_on(sessions(n.parse()?)),
        ["runs", n] => runtime.block_on(runs(n.parse()?)),
        _ => bail!("usage: delta-sink discard|library|sessions N|runs N"),
    }
}

/// What a client reads that many use, and that looks at nothing.
async fn discard() -> Result<()> {
    let response = Client::reqwest()?.post(&target()?, b"{}".to_vec()).await?;
    let Response::Reqwest(mut response) = response else { return Ok(()) };
    while response.chunk().await?.is_some() {}
    Ok(())
}

fn provider() -> Result<Anthropic> {
    let settings = AnthropicSettings {
        base_url: std::env::var(URL_VARIABLE)?,
        ..AnthropicSettings::with_api_key("bench")
    };
    Ok(Anthropic::new(&settings)?)
}

async fn runs(n: usize) -> Result<()> {
    let client = heeler::Client::new(provider()?, heeler::models::SONNET)?;
    let tools = heeler::Toolset::new([Arc::new(Wait) as Arc<dyn Tool>])?;
    let run = || client.run(Run::say("go").tools(&tools));
    try_join_all((0..n).map(|_| run())).await?;
    Ok(())
}

async fn sessions(n: usize) -> Result<()> {
    let provider: Arc<dyn Provider> = Arc::new(provider()?);
    // What sessions have in common is made once: their schemas are compiled once, too.
    let tools = Toolset::new([Arc::new(Wait) as Arc<dyn Tool>])?;
    try_join_all((0..n).map(|_| session(Arc::clone(&provider), tools.clone()))).await?;
    Ok(())
}

async fn session(provider: Arc<dyn Provider>, tools: Toolset) -> Result<()> {
    let mut parts = Parts::new(provider, Arc::new(MemoryStore::new()));
    parts.tools = tools;
    parts.settings.model.name = heeler::providers::catalogue::DEFAULT_MODEL.into();
    let session = Session::create(parts, "/").await?;
    let (_, mut cursor) = session.subscribe();
    let mut turn = session.turn(Input::text("go"));
    let outcome = loop {
        let next = pin!(cursor.next());
        match select(next, &mut turn).await {
            Either::Right((outcome, _)) => break outcome,
            Either::Left(_) => {}
        }
    };
    ensure!(outcome == TurnOutcome::Done, "the turn ended with {outcome:?}");
    session.close().await;
    Ok(())
}

/// A tool of this process that waits so many milliseconds.
struct Wait;

#[derive(Default, serde::Deserialize)]
struct WaitInput {
    millis: Option<u64>,
}

impl Tool for Wait {
    fn definition(&self) -> ToolDefinition {
        let schema = r#"{"type":"object","properties":{"millis":{"type":"integer"}}}"#;
        ToolDefinition::new(
            "Wait",
            "Waits.",
            RawJson::from_value(&serde_json::from_str(schema).unwrap_or_default()),
        )
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts::default()
    }

    fn call(
        self: Arc<Self>,
        _: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let input: WaitInput = serde_json::from_str(input.get()).unwrap_or_default();
            match input.millis {
                None | Some(0) => {}
                Some(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
            }
            Ok(ToolOutput::text("done"))
        })
    }
}
