//! A value of a Rust type out of a text: `cargo run --bin extract < invoice.txt`
use heeler::{Client, Extract, Message, extract};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
struct Invoice {
    /// Who wants the money.
    sender: String,
    /// The sum in cents.
    cents: u64,
    items: Vec<Item>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    name: String,
    cents: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let text = std::io::read_to_string(std::io::stdin())?;
    let wanted = Extract::new([Message::user(text)], "What the invoice says").validate(
        // What this refuses goes back to the model, which looks again.
        |invoice: &Invoice| match invoice.items.iter().map(|item| item.cents).sum::<u64>() {
            sum if sum == invoice.cents => Ok(()),
            sum => Err(format!("the items are {sum} cents, but the sum is {}", invoice.cents)),
        },
    );
    let invoice = extract(&Client::from_env()?, wanted).await?.value;
    println!("{} wants {}.{:02}", invoice.sender, invoice.cents / 100, invoice.cents % 100);
    for item in invoice.items {
        println!("- {}: {}.{:02}", item.name, item.cents / 100, item.cents % 100);
    }
    Ok(())
}
