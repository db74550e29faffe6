//! One call without a model, through everything a call of a model goes through.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use futures::StreamExt;
use heeler_core::{
    AllowAll, Block, DenyAll, EventStream, InputOrigin, Message, Mode, ModelEvent, ModelRequest,
    Parameters, Policy, Provider, RawJson, Reply, Rule, RuleEffect, StopReason, ToolChoice,
    ToolContext, ToolError, ToolOutput, ToolUse, Usage,
};
use heeler_engine::SystemClock;
use heeler_providers::scripted::Scripted;
use heeler_script::{ReplySpec, Script};
use heeler_toolkit::{
    Object, Run, Schema, ToolChoiceFor, ToolLoop, ToolLoopEnd, Toolset, raw_tool, tool, tool_loop,
};
use serde_json::json;

use crate::door::{echo, tools};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Count {
    /// How far.
    to: u32,
}

fn some() -> Toolset {
    let counts = tool("count", "Counts", |_, count: Count| async move { format!("{}", count.to) });
    let breaks = raw_tool("break", "Breaks", Object::new(), |_, _| async {
        panic!("in two");
        #[expect(unreachable_code, reason = "says what it would give")]
        ""
    });
    let begins = raw_tool("begin", "Begins", Object::new(), |context: ToolContext, _| async move {
        let chat = context.origin.chat.unwrap_or_default();
        let mut output = ToolOutput::background(format!("begun in {chat}"));
        output.structured = Some(RawJson::parse(r#"{"id": 7}"#).unwrap());
        output.with_artifact("/space/log").with_error("nobody minds")
    });
    tools([echo(), counts.unwrap(), breaks, begins])
}

#[tokio::test]
async fn a_call_without_a_model_is_found_checked_run_and_whatever_happens_answered() {
    let mut said = String::new();
    for (name, input) in [
        ("echo", r#"{"text": "a"}"#),
        ("echo", r"{}"),
        ("echo", "{"),
        ("count", r#"{"to": "3"}"#),
        ("break", ""),
        ("begin", "null"),
        ("gone", "{}"),
    ] {
        let run = Run::default().origin(InputOrigin::chat("matrix", "room 5"));
        let output = some().execute(name, input, run).await;
        writeln!(said, "{}", serde_json::to_string(&output).unwrap()).unwrap();
    }
    expect![[r#"
        {"for_llm":"a"}
        {"for_llm":"invalid input for echo: the input: \"text\" is a required property. Nothing was run; call it again with a corrected input","is_error":true}
        {"for_llm":"the input for echo is no JSON: not valid JSON: EOF while parsing an object at line 1 column 1","is_error":true}
        {"for_llm":[{"text":{"text":"3"}},{"text":{"text":"\nNote: `/to` was read as an integer."}}]}
        {"for_llm":"the tool break crashed: in two","is_error":true}
        {"for_llm":"begun in room 5","artifact_tags":["[file:/space/log]"],"structured":"{\"id\": 7}"}
        {"for_llm":"there is no tool called `gone`; the tools are echo, count, break, begin","is_error":true}
    "#]].assert_eq(&said);
}

#[tokio::test]
async fn what_a_policy_or_an_approver_denies_is_not_run() {
    let ran = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&ran);
    let wipe = raw_tool("wipe", "Wipes", Object::new(), move |_, _| {
        *counted.lock().unwrap() += 1;
        async { "wiped" }
    });
    let tools = tools([wipe]);
    let policy = |effect| {
        let rules = vec![Rule::parse("wipe", effect, "a test").unwrap()];
        Run::default().policy(Policy { mode: Mode::Ask, rules, ..Policy::default() })
    };
    let asks = || policy(RuleEffect::Ask);
    let mut said = String::new();
    for run in [
        Run::default(),
        policy(RuleEffect::Deny),
        asks().approver(Arc::new(DenyAll)),
        asks().approver(Arc::new(AllowAll)),
    ] {
        let output = tools.execute("wipe", "{}", run).await;
        writeln!(said, "{} {}", output.is_error, output.text_content()).unwrap();
    }
    let cancel = heeler_core::CancellationToken::new();
    cancel.cancel();
    let output = tools.execute("wipe", "{}", Run::default().cancelled_by(cancel)).await;
    writeln!(said, "{} {}", output.is_error, output.text_content()).unwrap();
    expect![[r#"
        false wiped
        true Not allowed: the rule wipe (a test) denies it.
        true The user denied this call.
        false wiped
        true wipe was not run: Cancelled
    "#]]
    .assert_eq(&said);
    assert_eq!(*ran.lock().unwrap(), 2);
}

#[test]
fn definitions_are_what_providers_send_and_summaries_are_for_people() {
    let schema = Object::new().required("text", Schema::string("What"));
    let own = heeler_core::ProviderItem::new(
        "anthropic",
        RawJson::parse(r#"{"type":"bash_20250124","name":"bash"}"#).unwrap(),
    );
    let bash = raw_tool("bash", "Runs", Object::new(), |_, _| async { "" }).declared_as(own);
    let tools = tools([raw_tool("say", "Says", schema, |_, _| async { "" }), bash]);
    let all = [tools.openai_definitions(), tools.anthropic_definitions(), tools.summaries()];
    expect![[r#"
        {"type":"function","function":{"name":"say","description":"Says","parameters":{"type":"object","properties":{"text":{"type":"string","description":"What"}},"required":["text"]}}}
        {"type":"function","function":{"name":"bash","description":"Runs","parameters":{"type":"object","properties":{}}}}

        {"name":"say","description":"Says","input_schema":{"type":"object","properties":{"text":{"type":"string","description":"What"}},"required":["text"]}}
        {"type":"bash_20250124","name":"bash"}

        say - Says
        bash - Runs"#]].assert_eq(&all.map(|lines| lines.join("\n")).join("\n\n"));
    assert_eq!((tools.len(), tools.names().collect::<Vec<_>>()), (2, vec!["say", "bash"]));
}

/// A loop over these replies.
fn config(replies: impl IntoIterator<Item = ReplySpec>) -> ToolLoop {
    let provider = Scripted::from_script(Script::of(replies), Arc::new(SystemClock));
    ToolLoop::new(provider, "script/test")
}

#[tokio::test]
async fn the_loop_gives_the_final_text_and_the_rounds() {
    let call = || ReplySpec::call("here", json!({}));
    let here = raw_tool("here", "Tells", Object::new(), |context: ToolContext, _| async move {
        assert_eq!(context.origin, InputOrigin::chat("matrix", ""));
        "there"
    });
    let tools = tools([here]);
    let messages = || [Message::user("go")];
    let origin = || InputOrigin::chat("matrix", "");
    let mut said = String::new();
    for config in [
        config([ReplySpec::text("Hello.")]),
        ToolLoop { tools: Some((&tools).into()), ..config([call(), ReplySpec::text("Done.")]) },
        ToolLoop { tools: Some((&tools).into()), rounds: 2, ..config([call(), call()]) },
        config([call(), ReplySpec::text("There is none.")]),
        config([ReplySpec::text("")]),
    ] {
        let end = tool_loop(config, messages(), origin()).await.unwrap();
        let ToolLoopEnd { text, rounds, reached_limit, notices, .. } = end;
        let end = format!("{text:?}, {rounds} rounds, reached limit: {reached_limit}");
        writeln!(said, "{}", [end].into_iter().chain(notices).collect::<Vec<_>>().join("; "))
            .unwrap();
    }
    expect![[r#"
        "Hello.", 1 rounds, reached limit: false
        "Done.", 2 rounds, reached limit: false
        "", 2 rounds, reached limit: true
        "There is none.", 2 rounds, reached limit: false
        "", 1 rounds, reached limit: false; the model replied with nothing; the turn ends here
    "#]]
    .assert_eq(&said);
    let error = ReplySpec::error(401, "authentication_error", "who are you?");
    let failed = tool_loop(config([error]), messages(), origin()).await.unwrap_err();
    assert_eq!(failed.to_string(), "who are you? (model call 0)");
}

/// A model that says nothing of what it is asked, and keeps it. It calls what it is forced to.
#[derive(Clone, Default)]
struct Sees(Arc<Mutex<Vec<ModelRequest>>>);

impl Provider for Sees {
    fn stream(&self, request: ModelRequest) -> EventStream {
        let (block, stop) = match &request.parameters.tool_choice {
            Some(ToolChoice::Tool(name)) => {
                let (id, name, input) = ("1".into(), name.clone(), RawJson::empty_object());
                let call = ToolUse { id, name, input, invalid: None, cache: None };
                (call.into(), StopReason::ToolUse)
            }
            _ => (Block::text("Seen."), StopReason::EndTurn),
        };
        self.0.lock().unwrap().push(request);
        let usage = Usage::default();
        let reply = Reply { blocks: vec![block], stop, usage, provider_id: None };
        futures::stream::iter([Ok(ModelEvent::Finished(reply))]).boxed()
    }
}

#[tokio::test]
async fn the_loop_sends_its_options() {
    let model = Sees::default();
    let config = ToolLoop {
        system: "Be brief.".into(),
        output_max: 77,
        parameters: Parameters { temperature: Some(0.5), ..Parameters::default() },
        ..ToolLoop::new(model.clone(), "script/test")
    };
    tool_loop(config, [Message::user("hi")], InputOrigin::default()).await.unwrap();
    let [request] = std::mem::take(&mut *model.0.lock().unwrap()).try_into().ok().unwrap();
    assert_eq!((&*request.model, &*request.system), ("test", "Be brief."));
    assert_eq!((request.output_max, request.parameters.temperature), (77, Some(0.5)));
    assert!(request.tools.is_empty());
}

#[tokio::test]
async fn the_loop_forces_a_choice_of_tools_as_often_as_is_said() {
    let here = tools([raw_tool("here", "Tells", Object::new(), |_, _| async { "there" })]);
    let choice = Some(ToolChoice::Tool("here".into()));
    for (tool_choice_for, expected) in
        [(ToolChoiceFor::FirstCall, (2, false)), (ToolChoiceFor::EachCall, (4, true))]
    {
        let config = ToolLoop {
            tools: Some((&here).into()),
            rounds: 4,
            parameters: Parameters { tool_choice: choice.clone(), ..Parameters::default() },
            tool_choice_for,
            ..ToolLoop::new(Sees::default(), "script/test")
        };
        let end = tool_loop(config, [Message::user("hi")], InputOrigin::default()).await.unwrap();
        assert_eq!((end.rounds, end.reached_limit), expected);
    }
}

#[tokio::test]
async fn what_a_tool_declares_to_give_it_gives_or_the_call_failed() {
    let schema = || Object::new().required("n", Schema::integer("How many"));
    let gives = |text: &'static str| {
        raw_tool("it", "", Object::new(), move |_, _| async move { ToolOutput::text(text) })
            .with_output_schema(schema())
    };
    let beside = raw_tool("it", "", Object::new(), |_, _| async {
        let structured = Some(RawJson::parse(r#"{"n": 2}"#).unwrap());
        ToolOutput { structured, ..ToolOutput::text("two") }
    });
    let fails = raw_tool("it", "", Object::new(), |_, _| async { Err::<String, _>("no") });
    let mut said = String::new();
    for binding in [
        gives(r#"{"n": 1.0}"#),
        gives(r#"{"n": "1"}"#),
        gives("one"),
        gives(""),
        beside.clone(),
        beside.with_output_schema(schema()),
        fails.with_output_schema(schema()),
    ] {
        let output = tools([binding]).execute("it", "{}", Run::default()).await;
        writeln!(said, "{}", serde_json::to_string(&output).unwrap()).unwrap();
    }
    expect![[r#"
        {"for_llm":"{\"n\": 1.0}","structured":"{\"n\": 1.0}"}
        {"for_llm":[{"text":{"text":"{\"n\": \"1\"}"}},{"text":{"text":"\nThe tool it ran, but its result does not fit its output schema: `/n`: \"1\" is not of type \"integer\""}}],"is_error":true}
        {"for_llm":[{"text":{"text":"one"}},{"text":{"text":"\nThe tool it ran, but its result is no JSON: not valid JSON: expected value at line 1 column 1"}}],"is_error":true}
        {"for_llm":[{"text":{"text":""}},{"text":{"text":"The tool it ran, but its result is no JSON: not valid JSON: EOF while parsing a value at line 1 column 0"}}],"is_error":true}
        {"for_llm":"two","structured":"{\"n\": 2}"}
        {"for_llm":"two","structured":"{\"n\": 2}"}
        {"for_llm":"no","is_error":true}
    "#]].assert_eq(&said);
}

#[tokio::test]
async fn of_a_broken_tool_the_model_is_told_no_cause() {
    let fails = |error: fn() -> ToolError| {
        raw_tool("it", "", Object::new(), move |_, _| async move { Err::<String, _>(error()) })
    };
    let mut said = String::new();
    for error in [
        || ToolError::for_model("no such table"),
        || ToolError::Internal("postgres://me:secret@db is gone".into()),
    ] {
        let output = tools([fails(error)]).execute("it", "{}", Run::default()).await;
        writeln!(said, "{} {}", output.is_error, output.text_content()).unwrap();
    }
    expect![[r#"
        true no such table
        true the tool it failed by a fault of its own, which was logged; try it once more, or go on without it
    "#]].assert_eq(&said);
}
