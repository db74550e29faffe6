//! One question, one answer: `cargo run --bin ask -- "Why is the sky blue?"`
use heeler::{Client, Message};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().nth(1).unwrap_or("Why is the sky blue?".into());
    let answer = Client::from_env()?.ask("Be brief.", [Message::user(question)]).await?;
    println!("{}", answer.message.text());
    Ok(())
}
