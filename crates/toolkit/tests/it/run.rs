//! Runs: what they tell, what they give, and that a history is valid however they end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use heeler_core::{
    Block, CancellationToken, Limits, Message, Role, ToolContext, ToolOutput, ToolResult,
};
use heeler_script::{BlockSpec, ErrorSpec, ReplySpec};
use heeler_testkit::picture::pixel;
use heeler_toolkit::{ClientError, Object, Run, RunErrorKind, ToolRegistry, raw_tool};
use serde_json::json;

use crate::door::{MODEL, check, client, clients, echo, fail, told, tools};

#[tokio::test]
async fn an_answer_without_tools() {
    check(
        [ReplySpec::text("It scatters.")],
        Run::say("Why is the sky blue?"),
        expect![[r#"
            text It scatters.
            answer It scatters.
            done
              1 rounds, EndTurn, some tokens
              User: Why is the sky blue?
              Assistant: It scatters.
        "#]],
    )
    .await;
}

#[tokio::test]
async fn calls_run_and_their_results_are_told_in_call_order_before_they_are_sent() {
    let calls = [
        BlockSpec::call("echo", json!({"text": "a"})),
        BlockSpec::call("fail", json!({"why": "because"})),
        BlockSpec::call("nothing", json!({})),
        BlockSpec::call("echo", json!({"txt": 1})),
    ];
    let run = Run::say("go").tools(tools([echo(), fail()])).system("Be brief.");
    check(
        [ReplySpec::blocks(calls), ReplySpec::text("done")],
        run,
        expect![[r#"
            input {"text":"a"}
            input {"why":"because"}
            input {}
            input {"txt":1}
            answer echo({"text":"a"}) as call_1_0 | fail({"why":"because"}) as call_1_1 | nothing({}) as call_1_2 | echo({"txt":1}) as call_1_3
            call 1.1.2 failed
            call 1.1.3 failed
            call 1.1.0 echo {"text":"a"}
            call 1.1.1 fail {"why":"because"}
            call 1.1.0 ended
            call 1.1.1 failed
            results [call_1_0: a] | [call_1_1 failed: because] | [call_1_2 failed: there is no tool called `nothing`; the tools are echo, fail] | [call_1_3 failed: invalid input for echo: the input: "text" is a required property. Nothing was run; call it again with a corrected input]
            text done
            answer done
            done
              2 rounds, EndTurn, some tokens
              User: go
              Assistant: echo({"text":"a"}) as call_1_0 | fail({"why":"because"}) as call_1_1 | nothing({}) as call_1_2 | echo({"txt":1}) as call_1_3
              User: [call_1_0: a] | [call_1_1 failed: because] | [call_1_2 failed: there is no tool called `nothing`; the tools are echo, fail] | [call_1_3 failed: invalid input for echo: the input: "text" is a required property. Nothing was run; call it again with a corrected input]
              Assistant: done
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_run_goes_on_from_any_history() {
    let (client, _) =
        client([ReplySpec::call("echo", json!({"text": "one"})), ReplySpec::text("first")]);
    let tools = tools([echo()]);
    let first = client.run(Run::say("go").tools(&tools)).await.unwrap();
    // The caller cut it within a batch, and says something else.
    let mut cut = first.messages[..2].to_vec();
    cut.push(Message::user("never mind"));
    check(
        [ReplySpec::text("second")],
        Run::new(cut).tools(&tools),
        expect![[r#"
        text second
        answer second
        done
          1 rounds, EndTurn, some tokens
          User: go
          Assistant: echo({"text":"one"}) as call_1_0
          User: [call_1_0 failed: The result of this call was lost.] | never mind
          Assistant: second
    "#]],
    )
    .await;
    // It may also end with results: the caller ran the call.
    let mut ran = first.messages[..2].to_vec();
    let tool_use_id = ran[1].tool_uses().next().unwrap().id.clone();
    let content = vec![Block::text("by hand")];
    let result = ToolResult { tool_use_id, content, is_error: false, cache: None };
    ran.push(Message { role: Role::User, blocks: vec![Block::from(result)] });
    check(
        [ReplySpec::text("third")],
        Run::new(ran).tools(&tools),
        expect![[r#"
        text third
        answer third
        done
          1 rounds, EndTurn, some tokens
          User: go
          Assistant: echo({"text":"one"}) as call_1_0
          User: [call_1_0: by hand]
          Assistant: third
    "#]],
    )
    .await;
}

#[tokio::test]
async fn with_nothing_to_answer_nobody_is_asked() {
    check(
        [],
        Run::new([]),
        expect![[r#"
        error: the history ends with nothing to answer; add a message of the user (model call 0)
          0 rounds, EndTurn, no tokens
    "#]],
    )
    .await;
    check(
        [],
        Run::new([Message::user("a"), Message::assistant("b")]),
        expect![[r#"
        error: the history ends with nothing to answer; add a message of the user (model call 0)
          0 rounds, EndTurn, no tokens
          User: a
          Assistant: b
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_failed_request_is_sent_again_and_what_was_streamed_is_void() {
    let notices = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&notices);
    let half = ReplySpec {
        chunks: 2,
        cut: Some(heeler_script::After { bytes: Some(7), ..Default::default() }),
        ..ReplySpec::text("half an answer")
    };
    let busy = ReplySpec::error(529, "overloaded_error", "busy");
    let (client, _) = client([half, busy, ReplySpec::text("whole")]);
    let client = client.on_retry_do(move |notice| {
        seen.lock().unwrap().push((notice.attempt, notice.wait, notice.error.status));
        panic!("nobody minds");
    });
    let told = told(&client, Run::say("go")).await;
    expect![[r#"
        text half an
        reset 1, again after Some(901ms): the answer ended without its end marker
        reset 2, again after Some(1.166s): busy
        text whole
        answer whole
        done
          1 rounds, EndTurn, some tokens
          User: go
          Assistant: whole
    "#]]
    .assert_eq(&told);
    let notices = notices.lock().unwrap();
    assert_eq!(notices.iter().map(|(n, ..)| *n).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(notices[1].2, Some(529));
}

#[tokio::test]
async fn another_client_answers_when_this_one_cannot() {
    let broke = ReplySpec {
        error: Some(ErrorSpec {
            status: Some(402),
            kind: "billing_error".into(),
            message: "no money".into(),
            retry_after: None,
        }),
        ..ReplySpec::default()
    };
    let (asks, _) = client([broke]);
    let (other, model) = client([ReplySpec::text("from the other")]);
    let other = other.with_model("other/one").unwrap();
    let answered = asks.or_else(&other).run(Run::say("go")).await.unwrap();
    assert_eq!(answered.final_text(), "from the other");
    assert_eq!(model.requests()[0].model, "one");
}

#[tokio::test]
async fn the_providers_last_words_are_kept() {
    let busy = || ReplySpec {
        error: Some(ErrorSpec {
            status: Some(429),
            kind: "rate_limit_error".into(),
            message: "slow down".into(),
            retry_after: Some(1),
        }),
        ..ReplySpec::default()
    };
    let (asks, _) = client([busy(), busy(), busy(), busy()]);
    let error = asks.run(Run::say("go")).await.unwrap_err();
    assert!(error.is_retry_exhausted() && !error.is_limit() && !error.is_cancelled());
    let RunErrorKind::Provider { error: last, attempts, .. } = &error.kind else {
        panic!("{error}")
    };
    assert_eq!((last.status, *attempts), (Some(429), 4));
    assert_eq!(last.provider_type.as_deref(), Some("rate_limit_error"));
    assert_eq!(last.retry_after.unwrap().as_secs(), 1);
    assert_eq!(error.result.messages, [Message::user("go")]);

    let (asks, _) = client([busy()]);
    let error = asks.without_retry().run(Run::say("go")).await.unwrap_err();
    assert!(
        !error.is_retry_exhausted() && error.is_provider(heeler_core::ProviderErrorKind::RateLimit)
    );
    expect!["slow down (model call 0)"].assert_eq(&error.to_string());

    let (asks, _) = client([ReplySpec::error(400, "invalid_request_error", "no")]);
    assert!(!asks.run(Run::say("go")).await.unwrap_err().is_retry_exhausted());
}

#[tokio::test]
async fn a_limit_a_cut_and_a_refusal_leave_a_valid_history() {
    let call = || ReplySpec::call("echo", json!({"text": "x"}));
    let run = || Run::say("go").tools(tools([echo()]));
    check(
        [call(), call()],
        run().rounds(2),
        expect![[r#"
            input {"text":"x"}
            answer echo({"text":"x"}) as call_1_0
            call 1.1.0 echo {"text":"x"}
            call 1.1.0 ended
            results [call_1_0: x]
            input {"text":"x"}
            answer echo({"text":"x"}) as call_2_0
            call 1.2.0 echo {"text":"x"}
            call 1.2.0 ended
            results [call_2_0: x]
            error: the run's limit of rounds is reached (model call 1)
              2 rounds, ToolUse, some tokens
              User: go
              Assistant: echo({"text":"x"}) as call_1_0
              User: [call_1_0: x]
              Assistant: echo({"text":"x"}) as call_2_0
              User: [call_2_0: x]
        "#]],
    )
    .await;
    let limits = Limits { calls: 1, ..Limits::default() };
    let two = ReplySpec::blocks([
        BlockSpec::call("echo", json!({"text": "x"})),
        BlockSpec::call("echo", json!({"text": "y"})),
    ]);
    check(
        [two],
        run().limits(limits),
        expect![[r#"
            input {"text":"x"}
            input {"text":"y"}
            answer echo({"text":"x"}) as call_1_0 | echo({"text":"y"}) as call_1_1
            call 1.1.1 failed
            call 1.1.0 echo {"text":"x"}
            call 1.1.0 ended
            results [call_1_0: x] | [call_1_1 failed: Not run: the turn's limit of tool calls is reached.]
            error: the run's limit of tool calls is reached (model call 0)
              1 rounds, ToolUse, some tokens
              User: go
              Assistant: echo({"text":"x"}) as call_1_0 | echo({"text":"y"}) as call_1_1
              User: [call_1_0: x] | [call_1_1 failed: Not run: the turn's limit of tool calls is reached.]
        "#]],
    )
    .await;
    let cut = ReplySpec { stop: Some("max_tokens".into()), ..ReplySpec::text("It is") };
    check(
        [cut],
        run(),
        expect![[r#"
            text It is
            answer It is
            error: the model's answer was cut at its token limit; allow more with Client::output_max (model call 0)
              1 rounds, MaxTokens, some tokens
              User: go
              Assistant: It is
        "#]],
    )
    .await;
    let refusal = ReplySpec { stop: Some("refusal".into()), ..ReplySpec::text("No.") };
    check(
        [refusal],
        run(),
        expect![[r#"
            text No.
            answer No.
            error: the model refused to answer: No. (model call 0)
              1 rounds, Refusal, some tokens
              User: go
              Assistant: No.
        "#]],
    )
    .await;
    // A pause is no end.
    let pause = ReplySpec { stop: Some("pause".into()), ..ReplySpec::text("wait") };
    check(
        [pause, ReplySpec::text("done")],
        run(),
        expect![[r#"
            text wait
            answer wait
            text done
            answer done
            done
              2 rounds, EndTurn, some tokens
              User: go
              Assistant: wait
              Assistant: done
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_terminal_tool_ends_the_run_when_it_worked() {
    let end = || raw_tool("end", "Ends", Object::new(), |_, _| async { "ended" }).terminal();
    let both = ReplySpec::blocks([
        BlockSpec::call("end", json!({})),
        BlockSpec::call("echo", json!({"text": "x"})),
    ]);
    check(
        [both],
        Run::say("go").tools(tools([end(), echo()])),
        expect![[r#"
            input {}
            input {"text":"x"}
            answer end({}) as call_1_0 | echo({"text":"x"}) as call_1_1
            call 1.1.0 end {}
            call 1.1.1 echo {"text":"x"}
            call 1.1.0 ended
            call 1.1.1 ended
            results [call_1_0: ended] | [call_1_1: x]
            done
              1 rounds, ToolUse, some tokens
              User: go
              Assistant: end({}) as call_1_0 | echo({"text":"x"}) as call_1_1
              User: [call_1_0: ended] | [call_1_1: x]
        "#]],
    )
    .await;
    let failing = fail().terminal();
    check(
        [ReplySpec::call("fail", json!({})), ReplySpec::text("well")],
        Run::say("go").tools(tools([failing])),
        expect![[r#"
            input {}
            answer fail({}) as call_1_0
            call 1.1.0 fail {}
            call 1.1.0 failed
            results [call_1_0 failed: no reason]
            text well
            answer well
            done
              2 rounds, EndTurn, some tokens
              User: go
              Assistant: fail({}) as call_1_0
              User: [call_1_0 failed: no reason]
              Assistant: well
        "#]],
    )
    .await;
}

#[tokio::test]
async fn images_progress_and_words_for_the_user_come_from_the_call() {
    let draws =
        raw_tool("draw", "Draws", Object::new(), move |context: ToolContext, input| async move {
            context.progress.send("drawing");
            context.images.attach(pixel());
            match input.value()["fails"].as_bool() {
                Some(true) => Err("no paper"),
                _ => Ok(ToolOutput { for_user: "look".into(), ..ToolOutput::text("drawn") }),
            }
        });
    // One after the other: an image takes a thread, and as long as that takes.
    let call = |input| ReplySpec::blocks([BlockSpec::call("draw", input)]);
    check(
        [call(json!({})), call(json!({"fails": true})), ReplySpec::text("done")],
        Run::say("go").tools(tools([draws])),
        expect![[r#"
            input {}
            answer draw({}) as call_1_0
            call 1.1.0 draw {}
            progress 1.1.0 drawing
            call 1.1.0 ended
            for the user 1.1.0 look
            results [call_1_0: drawn +1 images]
            input {"fails":true}
            answer draw({"fails":true}) as call_2_0
            call 1.2.0 draw {"fails":true}
            progress 1.2.0 drawing
            call 1.2.0 failed
            results [call_2_0 failed: no paper]
            text done
            answer done
            done
              3 rounds, EndTurn, some tokens
              User: go
              Assistant: draw({}) as call_1_0
              User: [call_1_0: drawn +1 images]
              Assistant: draw({"fails":true}) as call_2_0
              User: [call_2_0 failed: no paper]
              Assistant: done
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_cancelled_run_answers_its_calls_and_ends() {
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let hangs = raw_tool("hang", "Hangs", Object::new(), move |_, _| {
        let stop = stop.clone();
        async move {
            stop.cancel();
            std::future::pending::<&'static str>().await
        }
    });
    check(
        [ReplySpec::call("hang", json!({}))],
        Run::say("go").tools(tools([hangs])).cancelled_by(cancel),
        expect![[r#"
            input {}
            answer hang({}) as call_1_0
            call 1.1.0 hang {}
            call 1.1.0 failed
            results [call_1_0 failed: Cancelled before it finished. Anything it had already changed is still changed.]
            error: the run was cancelled (model call 0)
              1 rounds, ToolUse, some tokens
              User: go
              Assistant: hang({}) as call_1_0
              User: [call_1_0 failed: Cancelled before it finished. Anything it had already changed is still changed.]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_dropped_run_stops_what_it_started() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let (started, is_started) = tokio::sync::oneshot::channel();
    let (counts, started) = (Arc::clone(&dropped), Mutex::new(Some(started)));
    let hangs = raw_tool("hang", "Hangs", Object::new(), move |_, _| {
        let guard = Dropped(Arc::clone(&counts));
        started.lock().unwrap().take().unwrap().send(()).unwrap();
        async move {
            let _guard = guard;
            std::future::pending::<&'static str>().await
        }
    });
    let (client, _) = client([ReplySpec::call("hang", json!({}))]);
    let tools = tools([hangs]);
    let run = tokio::spawn(async move { client.run(Run::say("go").tools(tools)).await });
    is_started.await.unwrap();
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    while dropped.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn changed_tools_are_offered_with_the_next_request() {
    let registry = ToolRegistry::new();
    let (grows, more) = (registry.clone(), echo());
    let grow = raw_tool("grow", "Adds a tool", Object::new(), move |_, _| {
        grows.register(more.clone().into());
        async { "there is more now" }
    });
    registry.register(grow.into());
    let (client, model) = clients([
        ReplySpec::call("grow", json!({})),
        ReplySpec::call("echo", json!({"text": "new"})),
        ReplySpec::text("done"),
    ]);
    let result = client.run(Run::say("go").tools(registry)).await.unwrap();
    assert_eq!(result.final_text(), "done");
    let offered: Vec<usize> = model.requests().iter().map(|request| request.tools.len()).collect();
    assert_eq!(offered, [1, 2, 2]);
}

#[tokio::test]
async fn a_policy_that_is_given_is_enforced() {
    let policy = heeler_core::Policy {
        rules: vec![
            heeler_core::Rule::parse("echo", heeler_core::RuleEffect::Deny, "test").unwrap(),
        ],
        ..heeler_core::Policy::default()
    };
    let run = Run::say("go").tools(tools([echo()])).policy(policy);
    check(
        [ReplySpec::call("echo", json!({"text": "x"})), ReplySpec::text("well")],
        run,
        expect![[r#"
            input {"text":"x"}
            answer echo({"text":"x"}) as call_1_0
            call 1.1.0 failed
            results [call_1_0 failed: Not allowed: the rule echo (test) denies it.]
            text well
            answer well
            done
              2 rounds, EndTurn, some tokens
              User: go
              Assistant: echo({"text":"x"}) as call_1_0
              User: [call_1_0 failed: Not allowed: the rule echo (test) denies it.]
              Assistant: well
        "#]],
    )
    .await;
}

#[test]
fn a_client_needs_a_model() {
    let (client, _) = client([]);
    assert_eq!(client.with_model(" ").err(), Some(ClientError::NoModel));
    let other = client.with_model("anthropic/claude-haiku-4-5").unwrap();
    assert_eq!((client.model(), other.model()), (MODEL, "anthropic/claude-haiku-4-5"));
}

#[tokio::test]
async fn clones_run_beside_each_other() {
    let (client, _) = clients((0..50).map(|_| ReplySpec::text("hello")));
    let runs = (0..50).map(|n| {
        let client = client.clone();
        async move { client.run(Run::say(format!("I am {n}"))).await }
    });
    for result in futures::future::join_all(runs).await {
        assert_eq!(result.unwrap().final_text(), "hello");
    }
}
