//! Many texts at once, then one answer about all of them: `cargo run --bin pipeline -- FILE...`
use std::path::{Path, PathBuf};

use heeler::{Client, Message, Parallel, parallel};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let files: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let client = Client::from_env()?;
    let steps = files.iter().map(|file| summary(&client, file));
    // Three at a time; one that fails, or panics, fails alone. Results come in the files' order.
    let summaries = parallel(steps, Parallel { at_once: 3, fail_fast: false }).await;

    let mut all = String::new();
    for (file, summary) in files.iter().zip(summaries) {
        match summary {
            Ok(summary) => all += &format!("{}: {summary}\n", file.display()),
            Err(error) => eprintln!("{}: {error}", file.display()),
        }
    }
    anyhow::ensure!(!all.is_empty(), "there is nothing to sum up");
    let answer = client.ask("Say in a sentence what these have in common.", [Message::user(all)]);
    println!("{}", answer.await?.message.text());
    Ok(())
}

async fn summary(client: &Client, file: &Path) -> anyhow::Result<String> {
    let text = tokio::fs::read_to_string(file).await?;
    let answer = client.ask("Sum this up in a sentence.", [Message::user(text)]).await?;
    Ok(answer.message.text())
}
