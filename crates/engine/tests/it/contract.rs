//! The contract of a tool: what it is given, what its facts do, and the typed sugar.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use heeler_core::{
    BoxFuture, Facts, Input, InputOrigin, Tool, ToolContext, ToolError, ToolOutput, TypedTool,
};

use crate::common::{Case, check, echo, stage, tool, virtually};

#[test]
fn a_call_sees_the_state_that_earlier_calls_left() {
    let next = tool("next", |context: ToolContext, _| async move {
        let n = context.state.get::<u64>("next.n").unwrap_or(0) + 1;
        Ok(ToolOutput::text(n.to_string()).with_state("next.n", &n))
    });
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "next" }]
            [[reply]]
            blocks = [{ call = "next" }]
            [[reply]]
            text = "done"
            "#,
        )
        .calls_only()
        .tools([next]),
        expect![[r#"
            started 1.1.0 [0] next {}
            finished 1.1.0 [0] next 0 ms: 1
            started 1.2.0 [0] next {}
            finished 1.2.0 [0] next 0 ms: 2
            end of turn 1: Done "done"
            result ok: 1
            result ok: 2
        "#]],
    );
}

#[test]
fn a_terminal_call_ends_the_turn_without_another_request() {
    check(
        Case::new(r#"reply = [{ blocks = [{ call = "echo", input = { text = "bye" } }] }]"#)
            .calls_only()
            .tools([echo().terminal()]),
        expect![[r#"
            started 1.1.0 [0] echo {"text":"bye"}
            finished 1.1.0 [0] echo 0 ms: bye
            end of turn 1: Done ""
            result ok: bye
        "#]],
    );
}

#[test]
fn repeated_and_empty_ids_are_made_unique() {
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "echo", id = "a", input = { text = "1" } },
                      { call = "echo", id = "a", input = { text = "2" } },
                      { call = "echo", id = "", input = { text = "3" } }]
            [[reply]]
            expect = { tool_result_contains = ["1", "2", "3"] }
            text = "done"
            "#,
        )
        .calls_only()
        .tools([echo()]),
        expect![[r#"
            started 1.1.0 [0] echo {"text":"1"}
            started 1.1.1 [1] echo {"text":"2"}
            started 1.1.2 [2] echo {"text":"3"}
            finished 1.1.0 [0] echo 0 ms: 1
            finished 1.1.1 [1] echo 0 ms: 2
            finished 1.1.2 [2] echo 0 ms: 3
            end of turn 1: Done "done"
            result ok: 1
            result ok: 2
            result ok: 3
        "#]],
    );
}

#[test]
fn a_call_is_given_everything_and_keeps_nothing() {
    virtually(async {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = {
            let seen = Arc::clone(&seen);
            tool("record", move |context, _| {
                seen.lock().unwrap().push(context);
                async { Ok(ToolOutput::text("seen")) }
            })
        };
        let script = r#"
            [[reply]]
            blocks = [{ call = "record" }, { call = "record" }]
            [[reply]]
            text = "done"
        "#;
        let stage = stage(script, [record]).await;
        let origin = InputOrigin {
            channel: Some("chat".into()),
            chat: Some("room 5".into()),
            message: Some("77".into()),
            agent: Some("helper".into()),
            session_key: Some("chat:room 5".into()),
            scope: Some([("account".to_owned(), "me".to_owned())].into()),
            ..InputOrigin::default()
        };
        stage.session.turn(Input { origin: origin.clone(), ..Input::text("hi") }).await;
        let contexts = std::mem::take(&mut *seen.lock().unwrap());
        let calls: Vec<String> = contexts.iter().map(|context| context.call.to_string()).collect();
        assert_eq!(calls, ["1.1.0", "1.1.1"]);
        for context in &contexts {
            assert_eq!(context.session.as_str(), "s");
            assert!(context.agent.is_main());
            assert_eq!(context.origin, origin);
            assert_eq!(context.workspace.to_str(), Some("/space"));
            assert!(!context.cancel.is_cancelled(), "a finished call was cancelled");
            assert_eq!(context.clock.now().millis(), 1_000_000);
        }
        drop(contexts);
        stage.close().await;
    });
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    /// What to add.
    numbers: Vec<i64>,
}

struct Add;

impl TypedTool for Add {
    type Input = Sum;

    fn name(&self) -> &'static str {
        "add"
    }

    fn description(&self) -> &'static str {
        "Adds numbers."
    }

    fn facts(&self, _: &Sum, _: &str) -> Facts {
        Facts::default()
    }

    fn call(
        self: Arc<Self>,
        _: ToolContext,
        input: Sum,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        let sum: i64 = input.numbers.iter().sum();
        Box::pin(async move { Ok(ToolOutput::text(sum.to_string())) })
    }
}

#[test]
fn a_typed_tool_is_a_tool() {
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "add", input = { numbers = [1, 2, 39] } },
                      { call = "add", input = { numbers = ["x"] } }]
            [[reply]]
            text = "done"
            "#,
        )
        .calls_only()
        .with(|parts| {
            let tools: [Arc<dyn Tool>; 1] = [Arc::new(Add)];
            parts.tools = heeler_engine::Toolset::new(tools).unwrap();
        }),
        expect![[r#"
            failed 1.1.1 [1] add 0 ms: invalid input for add: `/numbers/0`: "x" is not of type "integer". Nothing was …
            started 1.1.0 [0] add {"numbers":[1,2,39]}
            finished 1.1.0 [0] add 0 ms: 42
            end of turn 1: Done "done"
            result ok: 42
            result error: invalid input for add: `/numbers/0`: "x" is not of type "integer". Nothing was run; call it again with a corrected input
        "#]],
    );
}
