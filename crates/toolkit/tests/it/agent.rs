//! Agents: steps, hooks, and agents as tools.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use futures::FutureExt as _;
use heeler_core::{Message, ToolContext};
use heeler_script::ReplySpec;
use heeler_testkit::picture::pixel;
use heeler_toolkit::testing::TestCall;
use heeler_toolkit::{Agent, AgentHooks, ContextManager, Object, raw_tool};
use serde_json::json;

use crate::door::{client, clients, echo, ended, tools};

#[tokio::test]
async fn a_step_takes_a_history_and_gives_a_longer_one() {
    let (client, _) = client([
        ReplySpec::call("echo", json!({"text": "a"})),
        ReplySpec::text("one"),
        ReplySpec::text("two"),
    ]);
    let agent = Agent::new(client).system("You echo.").tools(tools([echo()])).rounds(5);
    let first = agent.step([Message::user("go")]).await.unwrap();
    let mut history = first.messages;
    history.push(Message::user("again"));
    let second = agent.step(history).await;
    expect![[r#"
        done
          1 rounds, EndTurn, some tokens
          User: go
          Assistant: echo({"text":"a"}) as call_1_0
          User: [call_1_0: a]
          Assistant: one
          User: again
          Assistant: two"#]]
    .assert_eq(&ended(&second));
    let second = second.unwrap();
    assert_eq!((second.new_messages().len(), second.final_text().as_str()), (1, "two"));
}

#[test]
fn without_a_runtime_a_run_says_what_it_needs() {
    let (client, _) = client([ReplySpec::text("one")]);
    let agent = Agent::new(client);
    let step = agent.step([Message::user("go")]);
    let error = step.now_or_never().unwrap().unwrap_err().to_string();
    assert!(error.contains("a run needs a tokio runtime"), "{error}");
}

#[tokio::test]
async fn hooks_are_told_of_the_step_each_request_and_the_end() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = |told: &Arc<Mutex<Vec<String>>>| {
        let told = Arc::clone(told);
        move |text: String| told.lock().unwrap().push(text)
    };
    let (step, iteration, done) = (tell(&told), tell(&told), tell(&told));
    let hooks = AgentHooks::default()
        .on_step(move |messages| step(format!("step with {}", messages.len())))
        .on_iteration(move |n, messages| {
            iteration(format!("iteration {n} with {}", messages.len()));
            panic!("nobody minds");
        })
        .on_step_done(move |result| done(format!("done {}", result.is_ok())));
    let call = || ReplySpec::call("echo", json!({"text": "a"}));
    let busy = ReplySpec::error(529, "overloaded_error", "busy");
    let (asks, _) = client([call(), busy, ReplySpec::text("one")]);
    let agent = Agent::new(asks).tools(tools([echo()])).hooks(hooks);
    agent.step([Message::user("go")]).await.unwrap();
    assert!(agent.step([Message::user("go")]).await.is_err());
    expect![[r#"
        step with 1
        iteration 0 with 1
        iteration 1 with 3
        done true
        step with 1
        iteration 0 with 1
        done false"#]]
    .assert_eq(&told.lock().unwrap().join("\n"));
}

#[tokio::test]
async fn an_agent_is_a_tool_in_one_call() {
    let (asks, _) = clients([
        ReplySpec::text("found it"),
        ReplySpec::text(" "),
        ReplySpec::call("echo", json!({"text": "a"})),
        ReplySpec::error(401, "authentication_error", "who are you?"),
    ]);
    let agent = Agent::new(asks).tools(tools([echo()]));
    let explore = agent.into_tool("explore", "Looks around").unwrap();
    assert_eq!(explore.definition.name, "explore");
    let mut said = Vec::new();
    for task in ["where?", "what?", "who?"] {
        let called = TestCall::new(json!({ "task": task }).to_string()).of(&explore).await;
        said.push(format!("{} {}", called.is_error(), called.text()));
        said.push(called.for_user().to_owned());
    }
    expect![[r#"
        false found it
        explore: model calls 1, tokens 57, $0.0001
        true the agent ended without saying anything
        explore: model calls 1, tokens 55, $0.0001
        the model replied with nothing; the turn ends here
        true the agent did not finish: its provider failed
        explore: model calls 1, tokens 57, $0.0001; who are you? (model call 1)"#]]
    .assert_eq(&said.join("\n"));
}

#[tokio::test]
async fn what_an_agent_took_as_a_tool_is_not_told_as_free_without_prices() {
    let (asks, _) = clients([ReplySpec::text("one"), ReplySpec::text("two")]);
    let agent = Agent::new(asks.with_model("mine/unheard").unwrap());
    let result = agent.step([Message::user("go")]).await.unwrap();
    assert!(result.cost_is_partial && result.bill().to_string() == "cost not known");
    let explore = agent.into_tool("explore", "Looks around").unwrap();
    let called = TestCall::new(json!({"task": "where?"}).to_string()).of(&explore).await;
    let told = called.for_user();
    assert!(told.starts_with("explore: model calls 1, tokens "), "{told}");
    assert!(told.ends_with(", cost not known"), "{told}");
}

#[tokio::test]
async fn what_an_agent_notices_as_a_tool_is_told_the_user() {
    let refused = ReplySpec::error(400, "refused_item", "Could not process image");
    let (asks, _) =
        clients([ReplySpec::call("draw", json!({})), refused, ReplySpec::text("a map")]);
    let draw = raw_tool("draw", "Draws", Object::new(), |context: ToolContext, _| {
        context.images.attach(pixel());
        async { "drawn" }
    });
    let agent = Agent::new(asks).tools(tools([draw]));
    let look = agent.into_tool("look", "Looks").unwrap();
    let called = TestCall::new(json!({"task": "what?"}).to_string()).of(&look).await;
    assert_eq!(called.text(), "a map");
    expect![[r#"
        look: model calls 2, tokens 116, $0.0003
        an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without"#]].assert_eq(called.for_user());
}

#[tokio::test]
async fn agents_with_other_prompts_hand_over_on_one_scripted_model() {
    let (asks, model) = client([
        ReplySpec::text("a"),
        ReplySpec::text("b"),
        ReplySpec::text("c"),
        ReplySpec::call("explore", json!({"task": "where?"})),
        ReplySpec::text("there"),
        ReplySpec::text("d"),
    ]);
    let polite = Agent::new(asks.clone()).system("Be polite.");
    let brief = Agent::new(asks.clone()).system("Be brief.");
    let explore = brief.clone().into_tool("explore", "Looks around").unwrap();
    let leads = polite.clone().tools(tools([explore]));
    let mut history = vec![Message::user("go")];
    for agent in [&polite, &brief, &polite, &leads] {
        history = agent.step(history).await.unwrap().messages;
        history.push(Message::user("on"));
    }
    assert_eq!((model.requests().len(), model.mismatches()), (6, vec![]));
}

#[tokio::test]
async fn steps_that_trim_anew_share_a_scripted_model_and_a_history_that_was_changed_is_noticed() {
    let say = |n: usize| Message::user(format!("{n} {}", "x".repeat(100)));
    let (asks, model) = client((0..4).map(|n| ReplySpec::text(format!("answer {n}"))));
    let agent = Agent::new(asks).context(ContextManager::new(100).keep_first(1));
    let mut history = vec![say(0)];
    for n in 1..4 {
        history.push(Message::assistant("so"));
        history.push(say(n));
        history.push(Message::assistant("so"));
        history.push(say(n));
        history = agent.step(history).await.unwrap().messages;
    }
    assert_eq!((model.requests().len(), model.mismatches()), (3, vec![]));
    // Both steps sent the same prompt and their whole history, so one has to begin as the other did.
    let (asks, model) = client([ReplySpec::text("a"), ReplySpec::text("b")]);
    let agent = Agent::new(asks).system("Be polite.");
    agent.step([say(0)]).await.unwrap();
    agent.step([say(1)]).await.unwrap_err();
    assert_eq!(model.mismatches().len(), 1);
}
