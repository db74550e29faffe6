//! `batch`: calls that only look, beside each other, each by the rules for its own tool.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use heeler_core::{HookEvent, Mode, Rule, RuleEffect, Tool, ToolOutput};
use heeler_engine::{Parts, Toolset};
use heeler_tools::Batch;
use tokio::sync::Barrier;

use crate::common::{
    Case, TestTool, counting, echo, failing, field, hanging, hook, nothing, shown, tool,
};

/// A reply of a batch of these calls, and a last word.
fn batch_of(calls: &[(&str, &str)]) -> String {
    let one = |(tool, input): &(&str, &str)| format!("{{ tool = \"{tool}\", input = {input} }}");
    let calls: Vec<String> = calls.iter().map(one).collect();
    let calls = calls.join(", ");
    format!(
        "[[reply]]\nblocks = [{{ call = \"batch\", input = {{ calls = [{calls}] }} }}]\n\
         [[reply]]\ntext = \"done\"\n"
    )
}

fn with_batch(parts: &mut Parts, tools: Vec<TestTool>) {
    let tools = tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>);
    parts.tools = Toolset::new(tools.chain([Arc::new(Batch) as _])).unwrap();
}

/// Plays a batch of calls of these tools; shows what the model reads of it.
fn check(
    calls: &[(&str, &str)],
    tools: Vec<TestTool>,
    tune: impl FnOnce(&mut Parts) + 'static,
    expected: Expect,
) {
    let case = Case::new(&batch_of(calls)).calls_only().with(move |parts| {
        with_batch(parts, tools);
        tune(parts);
    });
    let shown = shown(case);
    let result = shown.lines().filter(|line| line.starts_with("result"));
    expected.assert_eq(&result.map(|line| line.replace("\\n", "\n") + "\n").collect::<String>());
}

/// A tool that only looks, and ends once `count` calls look at the same time.
fn meeting(count: usize) -> TestTool {
    let barrier = Arc::new(Barrier::new(count));
    let meet = tool("meet", move |_, input| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Ok(ToolOutput::text(format!("met {}", field(&input, "n"))))
        }
    });
    meet.read_only()
}

#[test]
fn calls_run_beside_each_other_and_are_told_in_order() {
    check(
        &[("meet", "{ n = 1 }"), ("meet", "{ n = 2 }"), ("meet", "{ n = 3 }")],
        vec![meeting(3)],
        |_| (),
        expect![[r#"
            result ok: [1] meet {"n":1}
             met 1 

            [2] meet {"n":2}
             met 2 

            [3] meet {"n":3}
             met 3
        "#]],
    );
}

#[test]
fn one_that_fails_stops_no_other() {
    let typed = echo()
        .read_only()
        .schema(r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#);
    check(
        &[("fail", r#"{ text = "no luck" }"#), ("echo", "{ }"), ("nobody", "{ }")],
        vec![failing().read_only(), typed],
        |_| (),
        expect![[r#"
            result error: [1] fail {"text":"no luck"} (failed)
             no luck 

            [2] echo {} (failed)
             invalid input for echo: the input: "text" is a required property. Nothing was run; call it again with a corrected input 

            [3] nobody {} (failed)
             there is no tool called `nobody`; the tools are fail, echo, batch
        "#]],
    );
}

#[test]
fn one_that_is_stopped_stops_no_other() {
    let slow = hanging(&Arc::default()).read_only().timeout_millis(50);
    check(
        &[("hang", "{ }"), ("echo", r#"{ text = "here" }"#)],
        vec![echo().read_only(), slow],
        |_| (),
        expect![[r#"
            result ok: [1] hang {} (failed)
             Stopped after 50ms without finishing. The tool ignored being cancelled and was abandoned; it may still change things. 

            [2] echo {"text":"here"}
             here
        "#]],
    );
}

#[test]
fn there_is_no_batch_within_a_batch() {
    let inner = r#"{ calls = [{ tool = "echo", input = { text = "a" } }] }"#;
    check(
        &[("batch", inner)],
        vec![echo().read_only()],
        |_| (),
        expect![[r#"
        result error: [1] batch {"calls":[{"tool":"echo","input":{"text":"a"}}]} (failed)
         batch within a call is not run; name the calls themselves
    "#]],
    );
}

#[test]
fn what_does_more_than_look_or_has_to_be_asked_about_is_not_run() {
    let (changes, asks, denied) = (Arc::default(), Arc::default(), Arc::default());
    let named = |name: &str, count: &Arc<AtomicUsize>| {
        let count = Arc::clone(count);
        let run = tool(name, move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok(ToolOutput::text("ran")) }
        });
        run.read_only()
    };
    let tools = vec![
        counting(&changes),
        named("asks", &asks).touches(heeler_core::Access::Read("/elsewhere/a".into())),
        named("denied", &denied),
    ];
    check(
        &[("count", "{ }"), ("asks", "{ }"), ("denied", "{ }")],
        tools,
        |parts| {
            parts.settings.policy.mode = Mode::Ask;
            parts.settings.policy.interactive = true;
            parts.settings.policy.workspace = "/space".into();
            parts.settings.policy.rules.push(Rule {
                effect: RuleEffect::Deny,
                tool: "denied".into(),
                argument: None,
                source: "a test".into(),
            });
        },
        expect![[r#"
            result error: [1] count {} (failed)
             count does more than look, so it was not run; call it by itself 

            [2] asks {} (failed)
             it was not run, since the user has to be asked (it reads /elsewhere/a); call it by itself 

            [3] denied {} (failed)
             Not allowed: the rule denied (a test) denies it.
        "#]],
    );
    for count in [changes, asks, denied] {
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn what_hooks_want_to_hear_of_is_not_run() {
    check(
        &[("echo", r#"{ text = "a" }"#)],
        vec![echo().read_only()],
        |parts| parts.hooks = Some(hook(HookEvent::PostToolUse, |_| async { nothing() })),
        expect![[r#"
            result error: [1] echo {"text":"a"} (failed)
             hooks hear calls of echo, so it was not run; call it by itself
        "#]],
    );
}

#[test]
fn a_batch_waits_for_what_changes_what_it_looks_at() {
    let written = Arc::new(AtomicUsize::new(0));
    let (writes, reads) = (Arc::clone(&written), written);
    let write = tool("write", move |context, _| {
        let written = Arc::clone(&writes);
        async move {
            context.clock.sleep_until(context.clock.now().plus(1_000)).await;
            written.store(7, Ordering::SeqCst);
            Ok(ToolOutput::text("written"))
        }
    });
    let read = tool("read", move |_, _| {
        let found = reads.load(Ordering::SeqCst);
        async move { Ok(ToolOutput::text(format!("found {found}")).with_state("seen", &found)) }
    });
    let script = r#"
        [[reply]]
        blocks = [{ call = "write", input = {} },
                  { call = "batch", input = { calls = [{ tool = "read", input = {} }] } }]
        [[reply]]
        blocks = [{ call = "state", input = {} }]
        [[reply]]
        text = "done"
    "#;
    let state = tool("state", |context, _| async move {
        Ok(ToolOutput::text(format!("{:?}", context.state.get::<usize>("seen"))))
    });
    let tools = vec![write.locks("file:a"), read.read_only().shares("file:a"), state];
    let case = Case::new(script).calls_only().with(|parts| with_batch(parts, tools));
    expect![[r#"
        started 1.1.0 [0] write {}
        finished 1.1.0 [0] write 1000 ms: written
        started 1.1.1 [1] batch {"calls":[{"tool":"read","input":{}}]}
        finished 1.1.1 [1] batch 0 ms: [1] read {}\nfound 7
        started 1.2.0 [0] state {}
        finished 1.2.0 [0] state 0 ms: Some(7)
        end of turn 1: Done "done"
        result ok: written
        result ok: [1] read {}\n found 7
        result ok: Some(7)
    "#]]
    .assert_eq(&shown(case));
}

/// Two batches of two calls in one reply, then a call alone, under this limit of calls; shows what the
/// model reads and how the turn ends.
fn check_limit(calls_max: u32, expected: Expect) {
    let one = |text: &str| format!(r#"{{ tool = "echo", input = {{ text = "{text}" }} }}"#);
    let batch =
        |a, b| format!(r#"{{ call = "batch", input = {{ calls = [{}, {}] }} }}"#, one(a), one(b));
    let script = format!(
        "[[reply]]\nblocks = [{}, {}]\n\
         [[reply]]\nblocks = [{{ call = \"echo\", input = {{ text = \"e\" }} }}]\n\
         [[reply]]\ntext = \"done\"\n",
        batch("a", "b"),
        batch("c", "d"),
    );
    let case = Case::new(&script).calls_only().with(move |parts| {
        with_batch(parts, vec![echo().read_only()]);
        parts.settings.limits.calls = calls_max;
    });
    let shown = shown(case);
    let wanted = |line: &&str| line.starts_with("result") || line.starts_with("end of turn");
    expected.assert_eq(&shown.lines().filter(wanted).map(|l| format!("{l}\n")).collect::<String>());
}

#[test]
fn a_batch_and_each_call_of_it_count_and_what_is_too_much_is_told() {
    check_limit(
        7,
        expect![[r#"
        end of turn 1: Done "done"
        result ok: [1] echo {"text":"a"}\n a \n\n[2] echo {"text":"b"}\n b
        result ok: [1] echo {"text":"c"}\n c \n\n[2] echo {"text":"d"}\n d
        result ok: e
    "#]],
    );
    check_limit(
        6,
        expect![[r#"
        end of turn 1: Limit { limit: Calls } ""
        result ok: [1] echo {"text":"a"}\n a \n\n[2] echo {"text":"b"}\n b
        result ok: [1] echo {"text":"c"}\n c \n\n[2] echo {"text":"d"}\n d
        result error: Not run: the turn's limit of tool calls is reached.
    "#]],
    );
    check_limit(
        5,
        expect![[r#"
        end of turn 1: Limit { limit: Calls } ""
        result ok: [1] echo {"text":"a"}\n a \n\n[2] echo {"text":"b"}\n b
        result ok: [1] echo {"text":"c"}\n c \n\n[2] echo {"text":"d"} (failed)\n Not run: the turn's limit of tool calls is reached.
    "#]],
    );
    check_limit(
        2,
        expect![[r#"
        end of turn 1: Limit { limit: Calls } ""
        result error: [1] echo {"text":"a"} (failed)\n Not run: the turn's limit of tool calls is reached. \n\n[2] echo {"text":"b"} (failed)\n Not run: the turn's limit of tool calls is reached.
        result error: [1] echo {"text":"c"} (failed)\n Not run: the turn's limit of tool calls is reached. \n\n[2] echo {"text":"d"} (failed)\n Not run: the turn's limit of tool calls is reached.
    "#]],
    );
}
