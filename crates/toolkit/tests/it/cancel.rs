//! A run's token stops it, read or not.

use std::sync::Arc;

use futures::StreamExt;
use heeler_core::{CancellationToken, ToolContext};
use heeler_script::ReplySpec;
use heeler_toolkit::{Object, Run, RunEvent, raw_tool};
use serde_json::json;
use tokio::sync::Notify;

use crate::door::{client, tools};

#[tokio::test]
async fn a_token_stops_a_run_that_nobody_reads() {
    let (cancel, stopped) = (CancellationToken::new(), Arc::new(Notify::new()));
    let told = Arc::clone(&stopped);
    let waits = raw_tool("wait", "Waits", Object::new(), move |context: ToolContext, _| {
        let told = Arc::clone(&told);
        async move {
            context.cancel.cancelled().await;
            told.notify_one();
            "stopped"
        }
    });
    let (client, model) = client([ReplySpec::call("wait", json!({})), ReplySpec::text("never")]);
    let run = Run::say("go").tools(tools([waits])).cancelled_by(cancel.clone());
    let mut events = client.run_stream(run);
    while let Some(event) = events.next().await {
        if matches!(event, RunEvent::CallStarted { .. }) {
            break;
        }
    }
    cancel.cancel();
    // From here on nobody reads.
    stopped.notified().await;
    assert!(events.finish().await.unwrap_err().is_cancelled());
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_token_that_was_cancelled_before_stops_the_run_at_its_beginning() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let (client, _) = client([ReplySpec::text("never")]);
    let error = client.run(Run::say("go").cancelled_by(cancel)).await.unwrap_err();
    assert!(error.is_cancelled() && error.result.final_text().is_empty(), "{error:?}");
}
