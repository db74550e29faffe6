//! A router with sub-agents: it answers nothing itself, but hands each question to whoever knows.
//! `cargo run --bin router -- "My invoice is wrong and the app crashes."`
use heeler::{Agent, Client, Message, Toolset};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let client = Client::from_env()?;
    // A sub-agent begins with its task alone and may have tools, limits and a model of its own.
    let expert = |system: &str| Agent::new(client.clone()).system(system).rounds(5);
    let billing = expert("You know all about invoices and refunds. Be brief.")
        .into_tool("billing", "Answers questions about invoices and payments")?;
    let technical = expert("You know all about crashes and settings. Be brief.")
        .into_tool("technical", "Answers questions about how the app works")?;
    let router = Agent::new(client)
        .system("Hand each part of a question to the tool that knows, then answer as one person.")
        .tools(Toolset::new([billing, technical])?)
        .rounds(10);

    let question = std::env::args().nth(1).unwrap_or("My invoice is wrong.".into());
    println!("{}", router.step([Message::user(question)]).await?.final_text());
    Ok(())
}
