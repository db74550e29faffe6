//! One model call.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use futures::StreamExt;
use heeler_core::{
    EventStream, Message, ModelEvent, ModelRequest, Parameters, Provider, Reply, StopReason,
};
use heeler_script::ReplySpec;
use heeler_toolkit::{AskEvent, Client};
use serde_json::json;

use crate::door::{MODEL, client};

#[tokio::test]
async fn an_answer_is_a_message_with_what_it_cost() {
    let (client, model) = client([ReplySpec::text("Four.")]);
    let history = [Message::user("What is two and two?")];
    let answer = client.ask("", history.clone()).await.unwrap();
    assert_eq!((answer.message.text().as_str(), answer.stop), ("Four.", StopReason::EndTurn));
    assert!(answer.usage.total() > 0 && answer.cost.0 > 0);
    let [request] = model.requests().try_into().ok().unwrap();
    assert!(request.system.is_empty() && request.tools.is_empty());
}

#[tokio::test]
async fn an_answer_that_was_cut_is_one_and_so_is_one_that_calls() {
    let cut = ReplySpec { stop: Some("max_tokens".into()), ..ReplySpec::text("Fo") };
    let (asks, _) = client([cut]);
    let answer = asks.ask("Be brief.", [Message::user("?")]).await.unwrap();
    assert_eq!(answer.stop, StopReason::MaxTokens);
    let (asks, _) = client([ReplySpec::call("none", json!({}))]);
    let answer = asks.ask("", [Message::user("?")]).await.unwrap();
    assert_eq!(answer.message.tool_uses().count(), 1);
}

#[tokio::test]
async fn an_answer_streams_and_begins_anew_when_it_fails() {
    let half = ReplySpec {
        cut: Some(heeler_script::After { events: Some(2), ..Default::default() }),
        ..ReplySpec::text("half")
    };
    let (client, _) = client([half, ReplySpec { chunks: 2, ..ReplySpec::text("whole answer") }]);
    let mut events = client.ask_stream("", [Message::user("?")]);
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        told.push(match event {
            AskEvent::TextDelta(text) => text,
            AskEvent::Reset => "(reset)".to_owned(),
            AskEvent::Finished(answer) => format!("({})", answer.unwrap().message.text()),
            other => format!("{other:?}"),
        });
    }
    expect![[r#"
        (reset)
        whole 
        answer
        (whole answer)"#]]
    .assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn a_failure_is_told() {
    let (client, _) = client([ReplySpec::error(401, "authentication_error", "who are you?")]);
    let error = client.ask("", [Message::user("?")]).await.unwrap_err();
    assert!(error.is_provider(heeler_core::ProviderErrorKind::Auth));
}

#[tokio::test]
async fn parameters_and_the_output_limit_are_sent() {
    struct Hears(Arc<Mutex<Option<ModelRequest>>>);
    impl Provider for Hears {
        fn stream(&self, request: ModelRequest) -> EventStream {
            *self.0.lock().unwrap() = Some(request);
            let reply = Reply {
                blocks: vec![heeler_core::Block::text("yes")],
                stop: StopReason::EndTurn,
                usage: heeler_core::Usage::default(),
                provider_id: None,
            };
            Box::pin(futures::stream::iter([Ok(ModelEvent::Finished(reply))]))
        }
    }
    let heard = Arc::default();
    let client = Client::new(Hears(Arc::clone(&heard)), MODEL).unwrap();
    client.ask("", [Message::user("?")]).await.unwrap();
    let first = heard.lock().unwrap().take().unwrap();
    // What the catalogue says the model can write.
    assert_eq!((first.output_max, first.parameters), (128_000, Parameters::default()));
    let client = client.output_max(77).with_parameters(|parameters| {
        parameters.temperature = Some(0.5);
        parameters.stop = vec!["END".into()];
    });
    client.ask("Be brief.", [Message::user("?")]).await.unwrap();
    let second = heard.lock().unwrap().take().unwrap();
    assert_eq!((second.output_max, second.parameters.temperature), (77, Some(0.5)));
    assert_eq!((&*second.system, second.parameters.stop), ("Be brief.", vec!["END".to_owned()]));
}
