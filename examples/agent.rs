//! An agent with two tools, watched while it works: `cargo run --bin agent -- "Umbrella in Oslo?"`
use futures::StreamExt;
use heeler::{Agent, Client, Json, Message, RunEvent, Toolset, layers, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct City {
    /// The city's name, in English.
    name: String,
}

#[derive(Serialize)]
struct Weather {
    sky: &'static str,
    celsius: i32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    // A real one would ask a service; an error's text goes to the model, which may try again.
    let weather = tool("weather", "Tells the weather of a city", |_, city: City| async move {
        match city.name.as_str() {
            "Oslo" => Ok(Json(Weather { sky: "rain", celsius: 7 })),
            "Lisbon" => Ok(Json(Weather { sky: "sun", celsius: 24 })),
            other => Err(format!("no station in {other}")),
        }
    })?
    .read_only();
    let population =
        tool("population", "Tells how many live in a city", |_, city: City| async move {
            match city.name.as_str() {
                "Oslo" => "about 700,000",
                _ => "unknown",
            }
        })?
        .read_only();
    let tools = Toolset::new([weather, population])?.wrap(&[&layers::result_limit(10_000)]);
    let agent = Agent::new(Client::from_env()?).system("Be brief.").tools(tools).rounds(10);

    let question = std::env::args().nth(1).unwrap_or("Do I need an umbrella in Oslo?".into());
    let mut events = agent.step_stream([Message::user(question)]);
    while let Some(event) = events.next().await {
        match event {
            RunEvent::CallStarted { summary, .. } => println!("> {summary}"),
            RunEvent::ToolResults(results) => {
                results.iter().for_each(|result| println!("< {}", result.text_content()));
            }
            RunEvent::Finished(result) => println!("{}", result?.final_text()),
            _ => {}
        }
    }
    Ok(())
}
