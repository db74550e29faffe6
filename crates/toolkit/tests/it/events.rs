//! What the events of a run carry.

use expect_test::expect;
use futures::StreamExt;
use heeler_core::{Image, Message, ToolContext};
use heeler_script::{BlockSpec, ReplySpec};
use heeler_testkit::picture::pixel;
use heeler_toolkit::{AskEvent, Object, Run, RunEvent, raw_tool};
use serde_json::json;

use crate::door::{check, client, echo, tools};

#[tokio::test]
async fn events_of_a_call_carry_what_its_use_and_its_result_do() {
    let calls = ReplySpec::blocks([
        BlockSpec::call("echo", json!({"text": "a"})),
        BlockSpec::call("echo", json!({"txt": []})),
        BlockSpec::call("nothing", json!({})),
    ]);
    let (client, _) = client([calls, ReplySpec::text("done")]);
    let mut events = client.run_stream(Run::say("go").tools(tools([echo()])));
    let (mut started, mut finished, mut results) = (Vec::new(), Vec::new(), Vec::new());
    let mut said = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            RunEvent::Answer(answer) => {
                said.extend(answer.tool_uses().map(|call| call.id.clone()));
            }
            RunEvent::CallStarted { tool_use_id, name, input, .. } => {
                started.push((tool_use_id, name, input.get().to_owned()));
            }
            RunEvent::CallFinished { tool_use_id, name, is_error, .. } => {
                finished.push((tool_use_id, name, is_error));
            }
            RunEvent::ToolResults(all) => {
                results.extend(all.iter().map(|result| result.tool_use_id.clone()));
            }
            _ => {}
        }
    }
    assert_eq!(results, said);
    assert_eq!(started, [(said[0].clone(), "echo".to_owned(), r#"{"text":"a"}"#.to_owned())]);
    finished.sort_by_key(|(id, ..)| said.iter().position(|said| said == id));
    let all = [("echo", false), ("echo", true), ("nothing", true)];
    let expected: Vec<_> = said
        .iter()
        .zip(all)
        .map(|(id, (name, failed))| (id.clone(), name.to_owned(), failed))
        .collect();
    assert_eq!(finished, expected);
}

#[tokio::test]
async fn a_picture_that_nobody_will_see_is_told_of() {
    let broken = || Image::from_bytes("image/png", b"?");
    let history = || {
        let pictures = Message::user_with_images("What differs?", [pixel(), broken()]);
        [Message::user("Hello."), Message::assistant("Hello!"), pictures]
    };
    let draw = raw_tool("draw", "Draws", Object::new(), move |context: ToolContext, _| {
        context.images.attach(broken());
        async { "drawn" }
    });
    check(
        [ReplySpec::call("draw", json!({})), ReplySpec::text("Nothing.")],
        Run::new(history()).tools(tools([draw])),
        expect![[r#"
            Notice("message 3 of the history: [image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]")
            input {}
            answer draw({}) as call_1_0
            call 1.1.0 draw {}
            call 1.1.0 ended
            results [call_1_0: drawn[image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]]
            text Nothing.
            answer Nothing.
            done
              2 rounds, EndTurn, some tokens
              User: Hello.
              Assistant: Hello!
              User: What differs? | image | [image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]
              Assistant: draw({}) as call_1_0
              User: [call_1_0: drawn[image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]]
              Assistant: Nothing.
        "#]],
    )
    .await;
    let (client, _) = client([ReplySpec::text("Nothing."), ReplySpec::text("Nothing.")]);
    let answer = client.ask("", history()).await.unwrap();
    expect!["message 3 of the history: [image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]"].assert_eq(&answer.notices.join("\n"));
    let told = client
        .ask_stream("", history())
        .filter_map(|event| async move { matches!(event, AskEvent::Notice(_)).then_some(event) });
    assert_eq!(told.count().await, 1);
}

#[tokio::test]
async fn a_picture_that_the_provider_refuses_is_told_of() {
    let refused = ReplySpec::error(400, "refused_item", "Could not process image");
    check(
        [refused, ReplySpec::text("I see nothing.")],
        Run::new([Message::user_with_images("What is it?", [pixel()])]),
        expect![[r#"
            reset 1, again after Some(0ns): Could not process image
            Notice("an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without")
            text I see nothing.
            answer I see nothing.
            done
              1 rounds, EndTurn, some tokens
              User: What is it? | [image left out: the provider could not process it]
              Assistant: I see nothing.
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_noticed_is_not_lost_with_a_reader_that_is_behind() {
    let refused = ReplySpec::error(400, "refused_item", "Could not process image");
    // More than is kept for a reader.
    let long = BlockSpec::text("many words ".repeat(1_000_000));
    let long = ReplySpec::blocks([long, BlockSpec::call("echo", json!({"text": "a"}))]);
    let (client, model) = client([refused, long, ReplySpec::text("done")]);
    let run = Run::new([Message::user_with_images("What is it?", [pixel()])]);
    let mut events = client.run_stream(run.tools(tools([echo()])));
    let mut told = Vec::from_iter(events.next().await);
    while model.requests().len() < 3 {
        tokio::task::yield_now().await;
    }
    told.extend(events.collect::<Vec<_>>().await);
    let is_told = |is: fn(&RunEvent) -> bool| told.iter().any(is);
    assert!(is_told(|event| matches!(event, RunEvent::Resync(_))));
    assert!(!is_told(|event| matches!(event, RunEvent::Notice(_))));
    let Some(RunEvent::Finished(Ok(result))) = told.last() else { panic!("{told:?}") };
    let notices = &result.notices;
    expect!["an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without"].assert_eq(&notices.join("\n"));
}
