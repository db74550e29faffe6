//! A provider of one's own: all that the client, tools and agents need is one function that gives a
//! stream of events. `cargo run --bin own-provider -- "Hello there"`
use std::time::Duration;

use futures::{StreamExt, stream};
use heeler::{
    Block, Client, EventStream, Message, ModelEvent, ModelRequest, Provider, ProviderError,
    ProviderErrorKind, Reply, Role, StopReason, Usage,
};

const WORDS_MAX: usize = 100;

/// Says what it is told, word by word.
struct Parrot;

impl Provider for Parrot {
    fn stream(&self, request: ModelRequest) -> EventStream {
        let last = request
            .messages
            .iter()
            .map(|sent| &sent.message)
            .rfind(|message| message.role == Role::User);
        let said = last.map(|message| message.text()).unwrap_or_default();
        let words: Vec<String> = said.split_inclusive(' ').map(str::to_owned).collect();
        if words.len() > WORDS_MAX {
            // Kinds decide what is tried again; nobody guesses from an error's words.
            let error = ProviderError::new(ProviderErrorKind::ContextOverflow, "that is too long");
            return stream::iter([Err(error)]).boxed();
        }
        let usage =
            Usage { input: words.len() as u64, output: words.len() as u64, ..Usage::default() };
        let deltas = stream::iter(words).then(|text| async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(ModelEvent::TextDelta { block: 0, text })
        });
        let reply = Reply {
            blocks: vec![Block::text(said)],
            stop: StopReason::EndTurn,
            usage,
            provider_id: None,
        };
        deltas.chain(stream::iter([Ok(ModelEvent::Finished(reply))])).boxed()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let said = std::env::args().nth(1).unwrap_or("Hello".into());
    let answer = Client::new(Parrot, "parrot/green")?.ask("", [Message::user(said)]).await?;
    println!("{} ({} tokens)", answer.message.text(), answer.usage.total());
    Ok(())
}
