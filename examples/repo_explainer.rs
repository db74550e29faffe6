//! Explains a repository, with tools that only look: `cargo run --bin repo-explainer -- FOLDER`
use std::path::PathBuf;

use anyhow::Context as _;
use futures::StreamExt;
use heeler::{Agent, Client, Message, Mode, Policy, RunEvent, Toolset, layers, tools};

const SYSTEM: &str = "You explain repositories to newcomers. Look at the files before you speak. \
                      Say what it is for, how it is laid out, and where to begin reading.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
    // heeler's own file tools, but for those that write.
    let looking = Toolset::new(tools::standard())?
        .filter(|tool| tool.metadata.read_only)
        .wrap(&[&layers::result_limit(20_000)]);
    // Nobody is asked: what lies in the folder may be read, nothing else.
    let policy = Policy {
        mode: Mode::AllowListed,
        workspace: folder.to_str().context("the folder's name is no text")?.to_owned(),
        ..Policy::default()
    };
    let agent = Agent::new(Client::from_env()?)
        .system(SYSTEM)
        .tools(looking)
        .rounds(30)
        .with(|run| run.workspace(&folder).policy(policy));

    let mut events = agent.step_stream([Message::user("Explain this repository.")]);
    while let Some(event) = events.next().await {
        match event {
            RunEvent::CallStarted { summary, .. } => eprintln!("{summary}"),
            RunEvent::Finished(result) => {
                let result = result?;
                println!("{}", result.final_text());
                eprintln!("{} tokens, {}", result.usage.total(), result.cost);
            }
            _ => {}
        }
    }
    Ok(())
}
