//! Calls: whatever a tool does, the model gets one result and goes on.

use expect_test::expect;
use heeler_core::{ToolError, ToolOutput};
use heeler_engine::Toolset;

use crate::common::{
    Case, TestTool, check, echo, failing, one_call, shown, stage_with, tool, toolset, virtually,
};
#[test]
fn an_error_is_a_result_and_the_loop_goes_on() {
    check(
        one_call("fail", r#"{ text = "no such file" }"#).tools([failing()]),
        expect![[r#"
            started 1.1.0 [0] fail {"text":"no such file"}
            failed 1.1.0 [0] fail 0 ms: no such file
            end of turn 1: Done "done"
            result error: no such file
        "#]],
    );
}

#[test]
fn a_broken_tool_says_so_without_stopping_anything() {
    let broken = tool("broken", |_, _| async {
        Err(ToolError::Internal("the disk of the tool is gone".into()))
    });
    check(
        one_call("broken", "{}").tools([broken]),
        expect![[r#"
            started 1.1.0 [0] broken {}
            failed 1.1.0 [0] broken 0 ms: the tool broken failed by a fault of its own, which was logged; try it once mor…
            end of turn 1: Done "done"
            result error: the tool broken failed by a fault of its own, which was logged; try it once more, or go on without it
        "#]],
    );
}

#[test]
fn an_unknown_tool_is_answered_with_the_names_there_are() {
    check(
        one_call("ecko", "{}").tools([echo(), failing()]),
        expect![[r#"
            failed 1.1.0 [0] ecko 0 ms: there is no tool called `ecko`; the tools are echo, fail
            end of turn 1: Done "done"
            result error: there is no tool called `ecko`; the tools are echo, fail
        "#]],
    );
}

#[test]
fn a_call_without_a_name_is_answered_and_the_turn_goes_on() {
    check(
        one_call("", "{}").tools([echo()]),
        expect![[r#"
            failed 1.1.0 [0]  0 ms: there is no tool called ``; the tools are echo
            end of turn 1: Done "done"
            result error: there is no tool called ``; the tools are echo
        "#]],
    );
}

#[test]
fn a_name_that_no_tool_can_have_is_cut_where_the_model_is_told_of_it() {
    let long = "n".repeat(5000);
    let cut = format!("{}\u{2026}", "n".repeat(63));
    let seen = shown(one_call(&long, "{}").tools([echo()]));
    assert!(seen.contains(&format!("no tool called `{cut}`; the tools are echo")), "{seen}");
}

#[test]
fn an_unknown_tool_without_any_tools() {
    check(
        one_call("echo", "{}"),
        expect![[r#"
            failed 1.1.0 [0] echo 0 ms: there is no tool called `echo`; this conversation has no tools
            end of turn 1: Done "done"
            result error: there is no tool called `echo`; this conversation has no tools
        "#]],
    );
}

#[test]
fn an_invalid_input_is_answered_with_path_and_reason() {
    let strict = echo().schema(
        r#"{"type":"object","required":["text"],"additionalProperties":false,
            "properties":{"text":{"type":"string"},"at":{"type":"object",
            "properties":{"line":{"type":"integer","minimum":1}}}}}"#,
    );
    check(
        one_call("echo", r#"{ at = { line = 0 }, more = 1 }"#).tools([strict]),
        expect![[r#"
            failed 1.1.0 [0] echo 0 ms: invalid input for echo: the input: "text" is a required property; `/at/line`: 0…
            end of turn 1: Done "done"
            result error: invalid input for echo: the input: "text" is a required property; `/at/line`: 0 is less than the minimum of 1; the input: Additional properties are not allowed ('more' was unexpected). Nothing was run; call it again with a corrected input
        "#]],
    );
}

#[test]
fn harmless_slips_are_put_right_and_noted() {
    let counted = tool("lines", |_, input| async move { Ok(ToolOutput::text(input.get())) })
        .schema(
            r#"{"type":"object","properties":{"n":{"type":"integer"},"all":{"type":"boolean"},
                "names":{"type":"array","items":{"type":"string"}}}}"#,
        );
    check(
        one_call("lines", r#"{ n = "7", all = "true", names = "[\"a\", 3]" }"#).tools([counted]),
        expect![[r#"
            started 1.1.0 [0] lines {"n":7,"all":true,"names":["a","3"]}
            finished 1.1.0 [0] lines 0 ms: {"n":7,"all":true,"names":["a","3"]}
            end of turn 1: Done "done"
            result ok: {"n":7,"all":true,"names":["a","3"]} \nNote: `/n` was read as an integer. \nNote: `/all` was read as a boolean. \nNote: `/names` was read as an array. \nNote: `/names/1` was read as a string.
        "#]],
    );
}

#[test]
fn what_is_not_harmless_is_not_put_right() {
    let counted = tool("lines", |_, _| async { Ok(ToolOutput::text("ran")) })
        .schema(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#);
    check(
        one_call("lines", r#"{ n = "seven" }"#).tools([counted]),
        expect![[r#"
            failed 1.1.0 [0] lines 0 ms: invalid input for lines: `/n`: "seven" is not of type "integer". Nothing was ru…
            end of turn 1: Done "done"
            result error: invalid input for lines: `/n`: "seven" is not of type "integer". Nothing was run; call it again with a corrected input
        "#]],
    );
}

/// A tool with a property of each type.
fn typed() -> TestTool {
    tool("typed", |_, input| async move { Ok(ToolOutput::text(input.get())) }).schema(
        r#"{"type":"object","properties":{
            "integer":{"type":"integer"},"number":{"type":"number"},"boolean":{"type":"boolean"},
            "array":{"type":"array"},"object":{"type":"object"},"string":{"type":"string"},
            "either":{"type":["boolean","integer"]},"many":{"items":{"type":"integer"}}}}"#,
    )
}

#[test]
fn each_type_is_put_right_as_that_type() {
    let input = r#"{ integer = "7", number = "2", boolean = " false", array = "[]", object = "{}",
        string = 1.5, either = "3", many = ["-7", "18446744073709551615"] }"#;
    check(
        one_call("typed", &input.replace('\n', " ")).tools([typed()]),
        expect![[r#"
            started 1.1.0 [0] typed {"integer":7,"number":2,"boolean":false,"array":[],"object":{},"string":"1.5","either":3,"man…
            finished 1.1.0 [0] typed 0 ms: {"integer":7,"number":2,"boolean":false,"array":[],"object":{},"string":"1.5","…
            end of turn 1: Done "done"
            result ok: {"integer":7,"number":2,"boolean":false,"array":[],"object":{},"string":"1.5","either":3,"many":[-7,18446744073709551615]} \nNote: `/integer` was read as an integer. \nNote: `/number` was read as a number. \nNote: `/boolean` was read as a boolean. \nNote: `/array` was read as an array. \nNote: `/object` was read as an object. \nNote: `/string` was read as a string. \nNote: `/either` was...
        "#]],
    );
}

#[test]
fn a_value_of_another_type_stays_what_it_was() {
    for (given, told_of) in [
        (r#"integer = "1.5""#, r#"`/integer`: "1.5" is not of type "integer""#),
        (r#"integer = "true""#, r#"`/integer`: "true" is not of type "integer""#),
        (r#"number = "[]""#, r#"`/number`: "[]" is not of type "number""#),
        (r#"boolean = "1""#, r#"`/boolean`: "1" is not of type "boolean""#),
        (r#"boolean = 1"#, r#"`/boolean`: 1 is not of type "boolean""#),
        (r#"array = "{}""#, r#"`/array`: "{}" is not of type "array""#),
        (r#"object = "[]""#, r#"`/object`: "[]" is not of type "object""#),
        (r#"string = true"#, r#"`/string`: true is not of type "string""#),
        (r#"either = "1.5""#, r#"`/either`: "1.5" is not of types "boolean", "integer""#),
        (r#"either = "[]""#, r#"`/either`: "[]" is not of types "boolean", "integer""#),
    ] {
        let told = told("typed", &format!("{{ {given} }}"), toolset([typed()]));
        assert_eq!(
            told,
            format!(
                "invalid input for typed: {told_of}. Nothing was run; call it again with a \
                 corrected input"
            )
        );
    }
}

#[test]
fn a_broken_schema_is_the_tools_fault() {
    let broken = echo().schema(r#"{"type":"objekt"}"#);
    check(
        one_call("echo", "{}").tools([broken]),
        expect![[r#"
            failed 1.1.0 [0] echo 0 ms: the tool echo has a broken schema: at `/type`: "objekt" is no type of a JSON va…
            end of turn 1: Done "done"
            result error: the tool echo has a broken schema: at `/type`: "objekt" is no type of a JSON value
        "#]],
    );
}

#[test]
fn an_input_cut_at_the_token_limit_is_never_run() {
    check(
        Case::new(
            r#"
            [[reply]]
            blocks = [{ call = "echo", input_raw = '{"text": "half' }]
            stop = "max_tokens"
            [[reply]]
            expect = { tool_result_is_error = true }
            text = "done"
            "#,
        )
        .calls_only()
        .tools([echo()]),
        expect![[r#"
            failed 1.1.0 [0] echo 0 ms: The call was not run: the input is not valid JSON: EOF while parsing a string a…
            end of turn 1: Done "done"
            result error: The call was not run: the input is not valid JSON: EOF while parsing a string at line 1 column 14. Send the whole input again.
        "#]],
    );
}

#[test]
fn a_panic_is_a_result() {
    let crash = tool("crash", |_, _| async { panic!("out of cheese") });
    check(
        one_call("crash", "{}").tools([crash]),
        expect![[r#"
            started 1.1.0 [0] crash {}
            failed 1.1.0 [0] crash 0 ms: the tool crash crashed: out of cheese
            end of turn 1: Done "done"
            result error: the tool crash crashed: out of cheese
        "#]],
    );
}

#[test]
fn a_panic_before_the_future_is_a_result() {
    let crash = tool("crash", |_, _| -> std::future::Ready<_> { panic!("not even begun") });
    check(
        one_call("crash", "{}").tools([crash]),
        expect![[r#"
            started 1.1.0 [0] crash {}
            failed 1.1.0 [0] crash 0 ms: the tool crash crashed: not even begun
            end of turn 1: Done "done"
            result error: the tool crash crashed: not even begun
        "#]],
    );
}

#[test]
fn a_panic_in_the_facts_is_a_result_and_nothing_runs() {
    check(
        one_call("echo", "{}").tools([echo().panics_in_facts()]),
        expect![[r#"
            failed 1.1.0 [0] echo 0 ms: the tool echo crashed: no facts today
            end of turn 1: Done "done"
            result error: the tool echo crashed: no facts today
        "#]],
    );
}

/// What the model is told of one call, in full.
fn told(name: &str, input: &str, tools: Toolset) -> String {
    virtually(async {
        let script = format!(
            "[[reply]]\nblocks = [{{ call = \"{name}\", input = {input} }}]\n[[reply]]\ntext = \"x\""
        );
        let stage = stage_with(&script, [], |parts| parts.tools = tools).await;
        stage.say("hi").await;
        let last = stage.model.requests().pop().unwrap();
        stage.close().await;
        match &last.messages[2].blocks[0].content {
            heeler_script::Content::ToolResult { text, .. } => text.clone(),
            other => panic!("{other:?}"),
        }
    })
}

fn never_run(name: &str, schema: &str) -> TestTool {
    tool(name, |_, _| async { unreachable!() }).schema(schema)
}

#[test]
fn only_so_many_names_are_listed() {
    let tools = (0..70).map(|n| never_run(&format!("t{n:02}"), r#"{"type":"object"}"#));
    let told = told("no_such_tool", "{}", toolset(tools));
    assert!(told.contains("t00") && told.ends_with("t63"), "{told}");
}

#[test]
fn only_so_many_problems_are_told_and_none_at_length() {
    let flags = never_run("flags", r#"{"type":"object","additionalProperties":{"type":"null"}}"#);
    let values: Vec<String> = (0..9).map(|n| format!("p{n} = \"{}\"", "x".repeat(400))).collect();
    let told = told("flags", &format!("{{ {} }}", values.join(", ")), toolset([flags]));
    assert_eq!(told.matches("`/p").count(), 5, "{told}");
    assert!(told.chars().count() < 5 * 302 + 120, "{} characters", told.chars().count());
}

#[test]
fn only_so_many_slips_are_put_right() {
    let sum = never_run(
        "sum",
        r#"{"type":"object","properties":{"n":{"type":"array","items":{"type":"integer"}}}}"#,
    );
    let numbers = vec!["\"1\""; 17].join(", ");
    let told = told("sum", &format!("{{ n = [{numbers}] }}"), toolset([sum]));
    assert!(told.starts_with("invalid input for sum: `/n/16`: \"1\" is not"), "{told}");
}
