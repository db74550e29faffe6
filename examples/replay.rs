//! What a model said, recorded once and played ever after: `cargo run --bin replay -- sky.jsonl`
//!
//! The first time it asks the model; then it needs neither network nor key, and fails as soon as the
//! program asks anything else. `docs/guide/replay.md` does the same with whole sessions.
use std::path::PathBuf;

use anyhow::Context as _;
use heeler::{Cassette, Client, Message, models};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().context("say where the recording is")?);
    let question = arguments.next().unwrap_or("Why is the sky blue?".into());
    let client = if path.exists() {
        Client::new(Cassette::replay(&path)?, models::SONNET)?
    } else {
        println!("recording");
        Client::from_env()?
            .with_model(models::SONNET)?
            .wrap_provider(|provider| Cassette::record(&path, provider))?
    };
    println!("{}", client.ask("Be brief.", [Message::user(question)]).await?.message.text());
    Ok(())
}
