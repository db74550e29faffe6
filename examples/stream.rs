//! An answer as it comes: `cargo run --bin stream -- "Tell me a story."`
use std::io::Write;

use futures::StreamExt;
use heeler::{AskEvent, Client, Message};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().nth(1).unwrap_or("Tell me a very short story.".into());
    let mut answer = Client::from_env()?.ask_stream("", [Message::user(question)]);
    let mut out = std::io::stdout();
    while let Some(event) = answer.next().await {
        match event {
            AskEvent::TextDelta(text) => write!(out, "{text}")?,
            // The connection broke and the request is sent again: what was shown is void.
            AskEvent::Reset => writeln!(out, "\n[once more]")?,
            AskEvent::Finished(answer) => {
                let usage = answer?.usage;
                writeln!(out, "\n[{} tokens in, {} out]", usage.input_total(), usage.output)?;
            }
            _ => {}
        }
        out.flush()?;
    }
    Ok(())
}
