//! One suite for every dialect, over real HTTP: the same answers, streamed and as one document, cut
//! anywhere, in any pieces; the same failures; the vendors' own libraries as judges.

mod answers;
mod faults;
mod oracle;
mod requests;
mod scenario;
mod speak;
mod stops;
mod told;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use heeler_core::{ModelEvent, ModelRequest, Provider, ProviderError, Reply};

/// Asks, and gives the whole answer; what was told on the way has to agree with it.
async fn ask(provider: &Arc<dyn Provider>) -> Result<Reply, ProviderError> {
    let mut stream = provider.stream(request());
    let (mut blocks, mut texts) = (BTreeMap::new(), String::new());
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::TextDelta { text, .. } => texts += &text,
            ModelEvent::BlockFinished { block, content } => {
                assert!(blocks.insert(block, content).is_none(), "block {block} ended twice");
            }
            ModelEvent::Finished(reply) => {
                assert!(stream.next().await.is_none(), "something came after the end");
                let told: Vec<_> = blocks.into_values().collect();
                assert_eq!(told, reply.blocks, "blocks were told otherwise than they are");
                let whole: String =
                    reply.blocks.iter().filter_map(|block| block.as_text()).collect();
                assert_eq!(texts, whole, "text was told otherwise than it is");
                return Ok(reply);
            }
            _ => {}
        }
    }
    panic!("a stream ended with neither a reply nor an error")
}

fn request() -> ModelRequest {
    crate::wire::request("m", "go")
}
