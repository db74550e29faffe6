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

#[tokio::test]
async fn a_run_within_a_call_is_stopped_by_its_own_token_and_by_that_of_the_call() {
    for stops_own in [true, false] {
        let (own, outer) = (CancellationToken::new(), CancellationToken::new());
        let stop = if stops_own { own.clone() } else { outer.clone() };
        let waits = raw_tool("wait", "Waits", Object::new(), move |context: ToolContext, _| {
            stop.cancel();
            async move {
                context.cancel.cancelled().await;
                "stopped"
            }
        });
        let (asks, _) = client([ReplySpec::call("wait", json!({})), ReplySpec::text("never")]);
        let inner = raw_tool("inner", "Runs", Object::new(), move |context: ToolContext, _| {
            let run = Run::say("go").tools(tools([waits.clone()])).cancelled_by(own.clone());
            let (asks, run) = (asks.clone(), run.within(&context));
            async move {
                let error = asks.run(run).await.unwrap_err();
                assert!(error.is_cancelled(), "{error}");
                "it was cancelled"
            }
        });
        let run = Run::default().cancelled_by(outer);
        let output = tools([inner]).execute("inner", "{}", run).await;
        assert_eq!(output.text_content(), "it was cancelled", "own: {stops_own}");
    }
}
