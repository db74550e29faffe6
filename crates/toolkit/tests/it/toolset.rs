//! Tools as plain data: in order, joined, wrapped, and called without a loop.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use heeler_core::{Image, Mode, Policy, RawJson, Tool, ToolContext};
use heeler_toolkit::testing::TestCall;
use heeler_toolkit::{Binding, Json, Object, Run, ToolFunction, Toolset, raw_tool, tool};

use crate::door::{check, echo, fail, tools};

#[test]
fn sets_keep_their_order_and_names_are_distinct() {
    let set = Toolset::join([tools([echo()]), tools([fail()])]).unwrap();
    assert_eq!(set.names().collect::<Vec<_>>(), ["echo", "fail"]);
    assert_eq!((set.len(), set.is_empty(), set.get("none").is_some()), (2, false, false));
    let error = Toolset::join([set.clone(), tools([echo()])]).err().unwrap();
    expect!["two tools are called `echo`; give one of them another name"]
        .assert_eq(&error.to_string());
    assert!(set.clone().bind(fail()).is_err());
    let only = set.filter(|binding| binding.definition.name == "fail");
    assert_eq!(only.names().collect::<Vec<_>>(), ["fail"]);
}

#[test]
fn names_that_providers_refuse_are_no_set() {
    let named = |name: &str| raw_tool(name, "", Object::new(), |_, _| async { "" });
    let refused = |name: &str| Toolset::new([named(name)]).err().map(|error| error.to_string());
    let longest = "x".repeat(64);
    for name in ["a", "A-1_b", "mcp__files__read-text", &longest] {
        assert_eq!(refused(name), None, "{name}");
    }
    for name in ["", "a.b", "a b", "files/read", "größe", "a\n", &format!("{longest}x")] {
        let error = refused(name).unwrap();
        assert!(
            error.starts_with(&format!("no tool can be called `{name}`: a name has")),
            "{error}"
        );
    }
    assert!(tools([echo()]).bind(named("a.b")).is_err());
    // A session's tools are held to the same.
    let tool = Arc::<dyn Tool>::from(named("a.b"));
    let error = heeler_engine::Toolset::new([tool]).unwrap_err();
    assert_eq!(Some(error.to_string()), refused("a.b"));
    let session = heeler_engine::Toolset::from(tools([echo(), fail()]));
    assert_eq!(format!("{session:?}"), r#"["echo", "fail"]"#);
}

#[tokio::test]
async fn the_first_layer_is_the_outermost_and_sees_the_whole_binding() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let layer = |name: &'static str| {
        let order = Arc::clone(&order);
        move |binding: &Binding| -> ToolFunction {
            let (order, inner) = (Arc::clone(&order), Arc::clone(&binding.function));
            let tool = binding.definition.name.clone();
            Arc::new(move |context, input| {
                order.lock().unwrap().push(format!("{name} of {tool}"));
                inner(context, input)
            })
        }
    };
    let set = tools([echo().read_only(), fail()]);
    let (outer, inner) = (layer("outer"), layer("inner"));
    let wrapped = set.wrap(&[&outer, &inner]);
    assert!(wrapped.get("echo").unwrap().metadata.read_only);
    let input = r#"{"text": "x"}"#;
    TestCall::new(input).of(wrapped.get("echo").unwrap()).await;
    assert_eq!(*order.lock().unwrap(), ["outer of echo", "inner of echo"]);
    // The set itself is as it was.
    TestCall::new(input).of(set.get("echo").unwrap()).await;
    let some = set.wrap_where(|binding| !binding.metadata.read_only, &[&outer]);
    TestCall::new(input).of(some.get("echo").unwrap()).await;
    TestCall::new(input).of(some.get("fail").unwrap()).await;
    assert_eq!(order.lock().unwrap()[2..], ["outer of fail"]);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Everything {
    /// How many.
    count: Option<u32>,
}

#[tokio::test]
async fn a_tool_may_take_nothing_and_give_nothing_or_json() {
    let nothing = tool("nothing", "Does it", |_, ()| async {}).unwrap();
    let value = tool("value", "Tells", |_, ()| async { serde_json::json!({"a": [1]}) }).unwrap();
    let failing = tool("failing", "Fails", |_, ()| async { Err::<(), _>("no") }).unwrap();
    assert_eq!(nothing.definition.input_schema.get(), r#"{"type":"object","properties":{}}"#);
    let set = tools([nothing, value, failing]);
    for (name, input, said) in [
        ("nothing", "{}", "done"),
        ("nothing", "null", "done"),
        ("nothing", r#"{"more": 1}"#, "done"),
        ("value", "{}", r#"{"a":[1]}"#),
        ("failing", "{}", "no"),
    ] {
        let output = set.execute(name, input, Run::default()).await;
        assert!(output.text_content().starts_with(said), "{name} {input}: {output:?}");
        assert_eq!(output.is_error, name == "failing");
    }
}

#[tokio::test]
async fn an_input_that_says_nothing_is_an_empty_object() {
    let count = tool("count", "Counts", |_, input: Everything| async move {
        Json(vec![input.count.unwrap_or(7)])
    })
    .unwrap();
    for (input, said) in [("{}", "[7]"), ("null", "[7]"), (r#"{"count": 1}"#, "[1]")] {
        assert_eq!(TestCall::new(input).of(&count).await.text(), said, "{input}");
    }
    let called = TestCall::new(r#"{"count": "many"}"#).of(&count).await;
    expect![[
        r#"invalid input for count: invalid type: string "many", expected u32 at line 1 column 16"#
    ]]
    .assert_eq(&called.text());
    assert!(called.is_error());
    expect!["the input is no JSON: not valid JSON: EOF while parsing an object at line 1 column 1"]
        .assert_eq(&TestCall::new("{").of(&count).await.text());
    let reply = heeler_script::ReplySpec::blocks([
        heeler_script::BlockSpec::call("count", serde_json::Value::Null),
        heeler_script::BlockSpec::call_raw("count", ""),
    ]);
    let run = Run::say("go").tools(tools([count]));
    check(
        [reply, heeler_script::ReplySpec::text("done")],
        run,
        expect![[r#"
            input null
            answer count({}) as call_1_0 | count({}) as call_1_1
            call 1.1.0 count {}
            call 1.1.1 count {}
            call 1.1.0 ended
            call 1.1.1 ended
            results [call_1_0: [7]] | [call_1_1: [7]]
            text done
            answer done
            done
              2 rounds, EndTurn, some tokens
              User: go
              Assistant: count({}) as call_1_0 | count({}) as call_1_1
              User: [call_1_0: [7]] | [call_1_1: [7]]
              Assistant: done
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_test_sees_all_that_a_call_says() {
    let says = raw_tool("says", "", Object::new(), |context: ToolContext, _| async move {
        context.progress.send("one");
        context.progress.send("two");
        let image = Image { media_type: "image/png".into(), data: "AA".into(), cache: None };
        context.images.attach(image);
        let workspace = context.workspace.display().to_string();
        heeler_core::ToolOutput {
            for_user: "hi".into(),
            ..heeler_core::ToolOutput::text(workspace)
        }
    });
    let called = TestCall::new("{}").in_folder("/space").of(&says).await;
    assert_eq!((called.text().as_str(), called.for_user()), ("/space", "hi"));
    assert_eq!((called.progress.len(), called.images.len(), called.is_error()), (2, 1, false));
}

#[tokio::test]
async fn file_tools_stay_in_their_folder_and_some_only_look() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().canonicalize().unwrap().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("a.txt"), "in").unwrap();
    std::fs::write(outer.path().join("b.txt"), "out").unwrap();
    let all = Toolset::new(heeler_tools::standard().into_iter().map(Binding::from)).unwrap();
    let only_look = all.clone().filter(|binding| binding.metadata.read_only);
    assert_eq!(only_look.names().collect::<Vec<_>>(), ["Read", "Glob", "Grep", "LS"]);
    let policy = Policy {
        mode: Mode::AcceptEdits,
        workspace: inner.to_str().unwrap().to_owned(),
        ..Policy::default()
    };
    let mut said = String::new();
    for (tools, name, input) in [
        (&all, "Read", r#"{"file_path": "a.txt"}"#),
        (&all, "Read", r#"{"file_path": "../b.txt"}"#),
        (&all, "Write", r#"{"file_path": "c.txt", "content": "new"}"#),
        (&all, "Write", r#"{"file_path": "../c.txt", "content": "new"}"#),
        (&only_look, "Read", r#"{"file_path": "a.txt"}"#),
        (&only_look, "Write", r#"{"file_path": "d.txt", "content": "new"}"#),
    ] {
        let run = Run::default().workspace(&inner).policy(policy.clone());
        let output = tools.execute(name, input, run).await;
        let text = output.text_content().replace(outer.path().to_str().unwrap(), "/outer");
        said.push_str(&format!("{name} {} {text}\n", output.is_error));
    }
    expect![[r#"
        Read false      1	in

        Read true Not allowed: it reads /outer/b.txt, and nobody can be asked.
        Write false Created c.txt (1 line)
        Write true Not allowed: it writes /outer/c.txt, and nobody can be asked.
        Read false      1	in

        Write true there is no tool called `Write`; the tools are Read, Glob, Grep, LS
    "#]]
    .assert_eq(&said);
    assert!(inner.join("c.txt").exists() && !inner.join("d.txt").exists());
    assert!(!outer.path().join("c.txt").exists());
}

#[tokio::test]
async fn the_engines_own_tools_are_bindings_too() {
    let grep: Arc<dyn heeler_core::Tool> =
        heeler_tools::standard().into_iter().find(|t| t.definition().name == "LS").unwrap();
    let binding = Binding::from(grep);
    assert!(binding.metadata.read_only);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "").unwrap();
    let input = RawJson::parse(r#"{"path": "."}"#).unwrap();
    let called = TestCall::new(input.get()).in_folder(folder.path()).of(&binding).await;
    assert!(called.text().contains("a.txt"), "{}", called.text());
}
