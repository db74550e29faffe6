//! A tool of one's own with everything a tool can have: a typed input, progress, an image, an end to
//! the run, layers around it, and a test without a model. `cargo run --bin own-tool`
use std::time::Duration;

use heeler::layers::{self, Confirmation};
use heeler::{Binding, Image, Message, Run, ToolContext, Toolset, testing::TestCall, tool};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Plot {
    /// The values, from left to right.
    #[schemars(length(min = 1, max = 100))]
    values: Vec<u8>,
}

/// The smallest picture there is: one grey value a pixel.
fn picture(values: &[u8]) -> Vec<u8> {
    [format!("P5 {} 1 255\n", values.len()).as_bytes(), values].concat()
}

fn plot() -> anyhow::Result<Binding> {
    let plot = tool(
        "plot",
        "Draws values as a line of pixels",
        |context: ToolContext, plot: Plot| async move {
            context.progress.send(format!("drawing {} values", plot.values.len()));
            if context.cancel.is_cancelled() {
                return Err("it was stopped");
            }
            let image = Image::from_bytes("image/x-portable-graymap", &picture(&plot.values));
            context.images.attach(image);
            Ok(format!("{} pixels", plot.values.len()))
        },
    )?;
    // A picture is what was wanted: nothing more is asked of the model.
    Ok(plot.terminal())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    // Without a loop: what a test of the tool does.
    let called = TestCall::new(r#"{"values": [0, 128, 255]}"#).of(&plot()?).await;
    println!("{} {:?}, images: {}", called.text(), called.progress, called.images.len());

    // In a run, with layers; the first is outermost.
    let asking = layers::confirmation(|binding, input| async move {
        println!("? {} {}", binding.definition.name, input.get());
        anyhow::Ok(Confirmation::Run)
    });
    let tools = Toolset::new([plot()?])?.wrap(&[
        &layers::logging(),
        &layers::panic_recovery(),
        &asking,
        &layers::timeout(Duration::from_secs(10)),
    ]);
    let run = Run::new([Message::user("Draw a ramp.")]).tools(tools);
    let result = heeler::Client::from_env()?.run(run).await?;
    println!("{} model call, {} messages", result.rounds, result.messages.len());
    Ok(())
}
