//! What each layer does to a call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::{Expect, expect};
use heeler_core::{ToolContext, ToolError, ToolOutput};
use heeler_secrets::Secrets;
use heeler_testkit::VirtualClock;
use heeler_toolkit::layers::{
    Confirmation, confirmation, logging, panic_recovery, redaction, result_limit, timeout,
};
use heeler_toolkit::testing::{Called, TestCall};
use heeler_toolkit::{Binding, Layer, Object, Run, Schema, Toolset, raw_tool};

async fn through(layer: &dyn Layer, binding: Binding, input: &str) -> Called {
    let mut call = TestCall::new(input);
    call.context.clock = Arc::new(VirtualClock::auto(1, u64::MAX));
    call.of(&binding.wrap(layer)).await
}

fn says(text: impl Into<String>) -> Binding {
    let text = text.into();
    raw_tool("says", "", Object::new(), move |_, _| {
        let text = text.clone();
        async move { text }
    })
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled_and_left_behind() {
    let heard = Arc::new(Mutex::new(None));
    let token = Arc::clone(&heard);
    let hangs = raw_tool("hangs", "", Object::new(), move |context: ToolContext, _| {
        *token.lock().unwrap() = Some(context.cancel.clone());
        std::future::pending::<&'static str>()
    });
    let called = through(&timeout(Duration::from_secs(5)), hangs, "{}").await;
    expect![
        "hangs was stopped after 5s without finishing; what it had already changed is still changed"
    ]
    .assert_eq(&called.text());
    assert!(called.is_error() && heard.lock().unwrap().take().unwrap().is_cancelled());
    // One that heeds it ends by itself.
    let ended = Arc::new(Mutex::new(false));
    let ends = Arc::clone(&ended);
    let heeds = raw_tool("heeds", "", Object::new(), move |context: ToolContext, _| {
        let ends = Arc::clone(&ends);
        async move {
            context.cancel.cancelled().await;
            *ends.lock().unwrap() = true;
            "what there is"
        }
    });
    let called = through(&timeout(Duration::from_secs(5)), heeds, "{}").await;
    assert!(called.is_error() && *ended.lock().unwrap(), "{}", called.text());
    let called = through(&timeout(Duration::from_secs(5)), says("quick"), "{}").await;
    assert_eq!(called.text(), "quick");
    let sleeps = raw_tool("sleeps", "", Object::new(), |context: ToolContext, _| async move {
        context.clock.sleep_until(context.clock.now().plus(4_000)).await;
        "slept"
    });
    let called = through(&timeout(Duration::from_secs(5)), sleeps, "{}").await;
    assert_eq!(called.text(), "slept");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_any_more_ends() {
    let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let hangs = raw_tool("hangs", "", Object::new(), move |context: ToolContext, _| {
        begun.send(context.cancel.clone()).unwrap();
        let held = begun.clone();
        async move {
            std::future::pending::<()>().await;
            drop(held);
            "never"
        }
    });
    let layer = timeout(Duration::from_secs(5));
    let token = {
        let mut call = TestCall::new("{}");
        call.context.clock = Arc::new(VirtualClock::new(1));
        let layered = hangs.wrap(&layer);
        tokio::select! {
            _ = call.of(&layered) => unreachable!("it hangs"),
            token = begins.recv() => token.unwrap(),
        }
    };
    assert!(token.is_cancelled());
    // The last that could speak is gone with the call itself.
    assert!(begins.recv().await.is_none());
}

#[tokio::test]
async fn a_panic_is_an_error() {
    let panics = || {
        raw_tool("panics", "", Object::new(), |_, _| async {
            assert!(std::hint::black_box(false), "oh no");
            "never"
        })
    };
    expect!["the tool panics crashed: oh no"]
        .assert_eq(&through(&panic_recovery(), panics(), "{}").await.text());
    expect!["the tool panics crashed: oh no"]
        .assert_eq(&through(&timeout(Duration::from_secs(1)), panics(), "{}").await.text());
    let early = raw_tool("early", "", Object::new(), |_, _| {
        assert!(std::hint::black_box(false), "before the future");
        async { "never" }
    });
    expect!["the tool early crashed: before the future"]
        .assert_eq(&through(&panic_recovery(), early, "{}").await.text());
}

#[tokio::test]
async fn a_long_result_keeps_its_head_and_its_tail_and_whole_characters() {
    async fn check(text: String, bytes_max: usize, expected: Expect) {
        expected.assert_eq(&through(&result_limit(bytes_max), says(text), "{}").await.text());
    }
    check("short".into(), 5, expect!["short"]).await;
    check(
        "é".repeat(40),
        16,
        expect![[r#"
        éééééé
        [... 64 of 80 bytes left out ...]
        éé"#]],
    )
    .await;
    check(
        "abcdefgh".into(),
        0,
        expect![[r#"

        [... 8 of 8 bytes left out ...]
    "#]],
    )
    .await;
    let failing = raw_tool("fails", "", Object::new(), |_, _| async {
        Err::<String, String>("x".repeat(50))
    });
    assert_eq!(through(&result_limit(4), failing, "{}").await.text().len(), 50);
}

/// What a tool that declares numbers gives within so many bytes.
async fn limited(text: &'static str, bytes_max: usize) -> ToolOutput {
    let numbers = raw_tool("numbers", "", Object::new(), move |_, _| async move { text })
        .with_output_schema(Object::new().required("n", Schema::integer("")))
        .wrap(&result_limit(bytes_max));
    Toolset::new([numbers]).unwrap().execute("numbers", "{}", Run::default()).await
}

#[tokio::test]
async fn what_a_tool_declares_is_held_to_that_before_it_is_cut() {
    let output = limited(r#" {"n": 1, "more": "and more"}"#, 8).await;
    assert_eq!(output.structured.as_ref().map(|json| json.value()["n"].clone()), Some(1.into()));
    assert!(!output.is_error && output.text_content().len() < 60, "{:?}", output.content);
    assert!(limited(r#"{"n": "one", "more": "and more"}"#, 8).await.is_error);
    assert!(limited("no JSON at all, but much of it", 8).await.is_error);
}

#[tokio::test]
async fn what_is_cut_does_not_count_as_shown() {
    let shows = raw_tool("shows", "", Object::new(), |_, _| async {
        ToolOutput::text("0123456789")
            .with_state("made", &1)
            .with_shown("shown", &2, None::<&u8>)
            .with_shown("part", &3, Some(&4))
    });
    for (bytes_max, expected) in [(10, "made=1 shown=2 part=3"), (9, "made=1 part=4")] {
        let called = through(&result_limit(bytes_max), shows.clone(), "{}").await;
        let kept = called.result.unwrap().state;
        let kept: Vec<_> = kept.iter().map(|c| format!("{}={}", c.key, c.value.get())).collect();
        assert_eq!(kept.join(" "), expected);
    }
}

#[tokio::test]
async fn somebody_is_asked_and_a_denial_is_an_error_with_its_reason() {
    let ask = confirmation(|binding: Binding, input| async move {
        match input.value()["say"].as_str() {
            Some("yes") => Ok(Confirmation::Run),
            Some("no") => {
                Ok(Confirmation::Deny { reason: format!("no {}", binding.definition.name) })
            }
            _ => Err("nobody is there"),
        }
    });
    let mut said = Vec::new();
    for input in [r#"{"say": "yes"}"#, r#"{"say": "no"}"#, "{}"] {
        let called = through(&ask, says("ran"), input).await;
        said.push(format!("{} {}", called.is_error(), called.text()));
    }
    expect![[r#"
        false ran
        true says was not run, since it was denied: no says
        true says was not run, since nobody could be asked about it: nobody is there"#]]
    .assert_eq(&said.join("\n"));
}

#[tokio::test]
async fn secrets_are_taken_out_of_results_and_errors() {
    let secret = "hV7kQ2mX9pL4sT8wZ1cR";
    let secrets = Arc::new(Secrets::of_variables([("API_KEY", secret)]));
    let layer = redaction(secrets);
    let called = through(&layer, says(format!("key={secret}")), "{}").await;
    assert!(!called.text().contains(secret), "{}", called.text());
    let fails = raw_tool("fails", "", Object::new(), move |_, _| async move {
        Err::<String, ToolError>(ToolError::Internal(secret.into()))
    });
    let called = through(&layer, fails, "{}").await;
    assert!(called.is_error() && !called.text().contains(secret), "{}", called.text());
}

#[tokio::test]
async fn a_call_is_logged_without_what_it_says() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let subscriber = Lines(Arc::clone(&lines));
    let guard = tracing::subscriber::set_default(subscriber);
    through(&logging(), says("a secret"), r#"{"a": "secret"}"#).await;
    let fails = raw_tool("fails", "", Object::new(), |_, _| async { Err::<String, _>("why") });
    through(&logging(), fails, "{}").await;
    drop(guard);
    expect![[r#"
        INFO message=a call ended tool="says" millis=0 bytes=8
        WARN message=a call failed tool="fails" millis=0 error=why"#]]
    .assert_eq(&lines.lock().unwrap().join("\n"));
}

/// Keeps what is logged as lines.
struct Lines(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("heeler_toolkit")
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!(" {field}={value:?}");
            }
        }
        let mut fields = Fields(event.metadata().level().to_string());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
