//! The smallest loop with a tool, from its parts alone: a client, a function with a schema that is
//! built by hand, and a history that is ours. `cargo run --bin tool-loop`
use heeler::{Block, Client, Message, Object, Run, Schema, Toolset, raw_tool};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let schema = Object::new().required("text", Schema::string("The text to count in"));
    let count =
        raw_tool("count_letters", "Counts the letters of a text", schema, |_, input| async move {
            let input: serde_json::Value = serde_json::from_str(input.get())?;
            let text = input["text"].as_str().unwrap_or_default();
            anyhow::Ok(text.chars().filter(|c| c.is_alphabetic()).count().to_string())
        });
    let tools = Toolset::new([count])?;

    let history = [Message::user("How many letters has `Donaudampfschifffahrt`?")];
    let run = Run::new(history).system("Count with the tool.").tools(tools).rounds(10);
    let result = Client::from_env()?.run(run).await?;

    // The history came back longer: our question, the call, its result, the answer.
    for message in &result.messages {
        for block in &message.blocks {
            match block {
                Block::Text(text) => println!("{:?}: {}", message.role, text.text),
                Block::ToolUse(call) => println!("> {} {}", call.name, call.input.get()),
                Block::ToolResult(result) => println!("< {}", result.text_content()),
                _ => {}
            }
        }
    }
    println!("{} model calls", result.rounds);
    Ok(())
}
