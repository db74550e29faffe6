//! What the events of a run carry.

use futures::StreamExt;
use heeler_script::{BlockSpec, ReplySpec};
use heeler_toolkit::{Run, RunEvent};
use serde_json::json;

use crate::door::{client, echo, tools};

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
