//! Models beside the scripted one: one that answers by what it is shown, so that it does not matter
//! how often it is asked, and one that takes its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt, stream};
use heeler_core::{
    Block, Clock, EventStream, ModelEvent, ModelRequest, Provider, RawJson, Reply, Role,
    StopReason, ToolUse, Usage,
};

/// Calls `count` once a turn, then says `done`. Refuses an invalid history by panicking.
#[derive(Clone, Default)]
pub(crate) struct CallOnce {
    pub(crate) requests: Arc<AtomicUsize>,
}

impl Provider for CallOnce {
    fn stream(&self, request: ModelRequest) -> EventStream {
        self.requests.fetch_add(1, Ordering::SeqCst);
        assert_valid(&request);
        let last = request.messages.last().unwrap();
        let is_result = |block: &Block| matches!(block, Block::ToolResult(_));
        let (blocks, stop) = if last.message.blocks.iter().any(is_result) {
            (vec![Block::text("done")], StopReason::EndTurn)
        } else {
            let call = ToolUse {
                id: String::new(),
                name: "count".into(),
                input: RawJson::empty_object(),
                invalid: None,
                cache: None,
            };
            (vec![Block::text("I count"), Block::from(call)], StopReason::ToolUse)
        };
        let text = blocks[0].as_text().unwrap().to_owned();
        let reply = Reply { blocks, stop, usage: Usage::default(), provider_id: None };
        Box::pin(stream::iter([
            Ok(ModelEvent::TextDelta { block: 0, text }),
            Ok(ModelEvent::Finished(reply)),
        ]))
    }
}

/// A model whose answers take time: after each whole block it says nothing for a while.
pub(crate) struct Paced {
    pub(crate) inner: Arc<dyn Provider>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) pause_millis: u64,
}

impl Provider for Paced {
    fn stream(&self, request: ModelRequest) -> EventStream {
        let (clock, pause_millis) = (Arc::clone(&self.clock), self.pause_millis);
        let from = (self.inner.stream(request), false);
        Box::pin(stream::unfold(from, move |(mut steps, pauses)| {
            let clock = Arc::clone(&clock);
            async move {
                if pauses {
                    clock.sleep_until(clock.now().plus(pause_millis)).await;
                }
                let step = steps.next().await?;
                let pauses = matches!(step, Ok(ModelEvent::BlockFinished { .. }));
                Some((step, (steps, pauses)))
            }
        }))
    }
}

/// Roles alternate from the user on, and each call has its result in the next message.
fn assert_valid(request: &ModelRequest) {
    let messages: Vec<_> = request.messages.iter().map(|message| &message.message).collect();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        assert_eq!(message.role, role, "{messages:?}");
        let calls: Vec<&str> = message.tool_uses().map(|call| call.id.as_str()).collect();
        let next = messages.get(at + 1).map(|next| next.blocks.as_slice()).unwrap_or_default();
        let results: Vec<&str> = next
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult(result) => Some(result.tool_use_id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(calls, results, "{messages:?}");
    }
    assert_eq!(messages.last().map(|last| last.role), Some(Role::User));
}
