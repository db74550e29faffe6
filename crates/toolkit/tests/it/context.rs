//! What is sent when a history is too long, and that nothing of it is lost.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use heeler_core::{Block, Message, RawJson, Role, ToolResult, ToolUse, Usage};
use heeler_script::ReplySpec;
use heeler_toolkit::{ContextError, ContextManager, Run, RunErrorKind, Summary};
use proptest::prelude::*;
use serde_json::json;

use crate::door::{client, clients, echo, tools};

/// `u` the user, `a` the model, `c` a call, `r` its result; each message weighs 10 tokens.
fn history(script: &str) -> Vec<Message> {
    let text = "x".repeat(40);
    let message = |(at, kind): (usize, char)| match kind {
        'u' => Message::user(&text),
        'a' => Message::assistant(&text),
        'c' => Message {
            role: Role::Assistant,
            blocks: vec![Block::from(ToolUse {
                id: format!("c{at}"),
                name: "n".repeat(38),
                input: RawJson::empty_object(),
                invalid: None,
                cache: None,
            })],
        },
        _ => Message {
            role: Role::User,
            blocks: vec![Block::from(ToolResult {
                tool_use_id: format!("c{}", at - 1),
                content: vec![Block::text(&text)],
                is_error: false,
                cache: None,
            })],
        },
    };
    script.chars().enumerate().map(message).collect()
}

/// The same letters for what is sent; `s` for a summary, `-` for the note that something is gone.
fn letters(messages: &[Arc<Message>]) -> String {
    let letter = |message: &Arc<Message>| {
        let text = message.text();
        match (message.role, message.blocks.first()) {
            (_, Some(Block::ToolUse(_))) => 'c',
            (_, Some(Block::ToolResult(_))) => 'r',
            (Role::Assistant, _) => 'a',
            _ if text.starts_with("[Earlier") => 's',
            _ if text.starts_with("(Earlier") => '-',
            _ => 'u',
        }
    };
    messages.iter().map(letter).collect()
}

#[tokio::test]
async fn the_first_and_the_newest_stay_and_pairs_are_kept_together() {
    for (script, max, first, recent, sent, fits) in [
        ("", 5, 0, 0, "", true),
        ("uaua", 0, 0, 0, "uaua", true),
        ("uaua", 40, 0, 0, "uaua", true),
        ("uauauauaua", 60, 2, 4, "uauaua", true),
        ("uaua", 39, 0, 1, "-a", true),
        ("uauau", 39, 0, 1, "u", true),
        // Where nothing is said of how many, only what has to go is left out.
        ("uaua", 39, 0, 0, "ua", true),
        ("uauau", 39, 0, 0, "uau", true),
        ("uauauauauauauauauauau", 209, 0, 0, "uauauauauauauauauau", true),
        ("uauauauau", 75, 1, 0, "uauauau", true),
        ("ucrcrcrcr", 65, 1, 0, "ucrcr", true),
        ("ucrcrcrcr", 75, 1, 0, "ucrcrcr", true),
        ("uauau", 39, 1, 1, "uu", true),
        // A cut falls within one long turn, and never between a call and its result.
        ("ucrcrcrcr", 60, 1, 3, "ucrcr", true),
        ("ucrcrcrcr", 60, 2, 3, "ucrcrcr", false),
        ("ucrcrcr", 40, 0, 2, "-cr", true),
        ("uau", 10, 3, 0, "uau", false),
        ("uau", 10, 0, 9, "uau", false),
        ("uuu", 5, 0, 0, "u", false),
    ] {
        let context = ContextManager::new(max).keep_first(first).keep_recent(recent);
        let given = history(script);
        let fitted = context.fit(&given).await.unwrap();
        let seen = (letters(&fitted.messages), fitted.fits);
        assert_eq!(seen, (sent.to_owned(), fits), "{script} {max} {first} {recent}");
        assert_eq!(given, history(script));
    }
}

#[tokio::test]
async fn a_summary_stands_for_what_is_left_out() {
    let context =
        ContextManager::new(60).keep_first(1).keep_recent(2).summarizer(|middle| async move {
            let usage = Usage { input: 7, ..Usage::default() };
            Ok::<_, std::io::Error>(Summary { text: format!("{} messages", middle.len()), usage })
        });
    let fitted = context.fit(&history("uauauauaua")).await.unwrap();
    assert_eq!((letters(&fitted.messages).as_str(), fitted.usage.input), ("usua", 7));
    assert!(fitted.messages[1].text().ends_with("7 messages"));
}

#[tokio::test]
async fn a_summary_is_given_room_where_nothing_is_said_of_how_many_stay() {
    let context = ContextManager::new(80).summarizer(|middle| async move {
        Ok::<_, std::io::Error>(Summary { text: middle.len().to_string(), ..Summary::default() })
    });
    let fitted = context.fit(&history("uauauauaua")).await.unwrap();
    assert_eq!((letters(&fitted.messages).as_str(), fitted.fits), ("suaua", true));
}

#[tokio::test]
async fn a_counter_and_a_summarizer_may_fail() {
    let broken = || std::io::Error::other("no tokenizer");
    let counts = ContextManager::new(1).counter(move |_| async move { Err::<u64, _>(broken()) });
    let error = counts.fit(&history("uau")).await.unwrap_err();
    assert!(matches!(&error, ContextError::Counter(_)));
    expect!["its tokens could not be counted: no tokenizer"].assert_eq(&error.to_string());
    let summarises = ContextManager::new(1).summarizer(move |_| async move { Err(broken()) });
    let error = summarises.fit(&history("uauau")).await.unwrap_err();
    assert!(matches!(&error, ContextError::Summarizer(_)));
    expect!["it could not be summarised: no tokenizer"].assert_eq(&error.to_string());
    // A crash is theirs and not the provider's, before they give a future and within it.
    let counts_wrong =
        |_| -> std::future::Ready<Result<u64, std::io::Error>> { panic!("no table") };
    let summarises_wrong =
        |_| async { panic!("no {}", "words") as Result<Summary, std::io::Error> };
    for (context, expected) in [
        (
            ContextManager::new(1).counter(counts_wrong),
            "its tokens could not be counted: the counter's code crashed: no table",
        ),
        (
            ContextManager::new(1).summarizer(summarises_wrong),
            "it could not be summarised: the summarizer's code crashed: no words",
        ),
    ] {
        let (asks, model) = client([]);
        let error = asks.run(Run::new(history("uauau")).context(context)).await.unwrap_err();
        let told = format!("the history could not be trimmed: {expected} (model call 0)");
        assert_eq!((error.to_string(), model.requests().len()), (told, 0));
    }
    let (asks, model) = client([]);
    let done = Arc::new(AtomicUsize::new(0));
    let hears = Arc::clone(&done);
    let hooks = heeler_toolkit::AgentHooks::default().on_step_done(move |_| {
        hears.fetch_add(1, Ordering::SeqCst);
    });
    let run = Run { hooks, ..Run::new(history("uau")).context(counts) };
    let error = asks.run(run).await.unwrap_err();
    assert!(matches!(error.kind, RunErrorKind::Context(_)), "{error}");
    assert_eq!((error.result.messages, model.requests().len()), (history("uau"), 0));
    assert_eq!(done.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_run_sends_what_fits_and_gives_back_all() {
    let counted = Arc::new(AtomicUsize::new(0));
    let made = Arc::clone(&counted);
    let context = ContextManager::new(140).keep_first(1).keep_recent(2).summarizer(move |_| {
        made.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, std::io::Error>(Summary { text: "before".into(), ..Summary::default() }) }
    });
    let sent = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&sent);
    let hooks =
        heeler_toolkit::AgentHooks::default().on_iteration(move |n, messages: &[Message]| {
            let messages: Vec<Arc<Message>> = messages.iter().cloned().map(Arc::new).collect();
            hears.lock().unwrap().push(format!("{n} {}", letters(&messages)));
        });
    let call = || ReplySpec::call("echo", json!({"text": "y".repeat(100)}));
    let (asks, _) = clients([call(), call(), call(), ReplySpec::text("done")]);
    let run = Run { hooks, ..Run::new(history("uauau")).tools(tools([echo()])).context(context) };
    let result = asks.run(run).await.unwrap();
    expect![[r#"
        0 uauau
        1 uauaucr
        2 ucr
        3 ucr"#]]
    .assert_eq(&sent.lock().unwrap().join("\n"));
    // The summaries that still fit were kept.
    assert!(counted.load(Ordering::SeqCst) < 3, "{counted:?}");
    let all: Vec<Arc<Message>> = result.messages.into_iter().map(Arc::new).collect();
    assert_eq!(letters(&all), "uauaucrcrcra");
}

#[tokio::test]
async fn a_run_tells_what_summaries_took_and_that_it_is_still_too_long() {
    let run = async |context: ContextManager, hooks: heeler_toolkit::AgentHooks| {
        let call = ReplySpec::call("echo", json!({"text": "x"}));
        let (asks, _) = clients([call, ReplySpec::text("done")]);
        let run = Run::new(history("uauau")).tools(tools([echo()])).context(context);
        asks.run(Run { hooks, ..run }).await.unwrap()
    };
    let first = Arc::new(Mutex::new(String::new()));
    let hears = Arc::clone(&first);
    let hooks = heeler_toolkit::AgentHooks::default().on_step(move |messages: &[Message]| {
        let messages: Vec<Arc<Message>> = messages.iter().cloned().map(Arc::new).collect();
        *hears.lock().unwrap() = letters(&messages);
    });
    let summarises = ContextManager::new(1).summarizer(|_| async {
        let usage = Usage { input: 1_000_000, ..Usage::default() };
        Ok::<_, std::io::Error>(Summary { text: "before".into(), usage })
    });
    let trimmed = run(summarises, hooks).await;
    // What hooks hear is what is sent: the summary and the last message are one of the user.
    assert_eq!((trimmed.is_over_budget, first.lock().unwrap().as_str()), (true, "s"));
    assert!(trimmed.usage.input >= 1_000_000 && trimmed.cost.dollars() < 0.1, "{trimmed:?}");
    let whole = run(ContextManager::new(0), heeler_toolkit::AgentHooks::default()).await;
    assert!(!whole.is_over_budget && whole.usage.input < 1_000_000, "{whole:?}");
}

#[tokio::test]
async fn a_trimming_that_fails_later_is_told_like_any_other_failure() {
    let counted = Arc::new(AtomicUsize::new(0));
    let counts = ContextManager::new(100).counter(move |_| {
        let n = counted.fetch_add(1, Ordering::SeqCst);
        async move { if n == 0 { Ok(1) } else { Err(std::io::Error::other("no tokenizer")) } }
    });
    let told = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&told);
    let hooks = heeler_toolkit::AgentHooks::default().on_step_done(move |result| {
        let error = result.as_ref().err().map(ToString::to_string);
        hears.lock().unwrap().push(error.unwrap_or_default());
    });
    let (asks, _) = client([ReplySpec::call("echo", json!({"text": "x"}))]);
    let run = Run::say("go").tools(tools([echo()])).context(counts);
    let error = asks.run(Run { hooks, ..run }).await.unwrap_err();
    assert_eq!((error.iteration, error.result.messages.len()), (1, 3));
    let expected = "the history could not be trimmed: its tokens could not be counted: \
                    no tokenizer (model call 1)";
    assert_eq!(*told.lock().unwrap(), [expected]);
}

proptest! {
    #[test]
    fn what_is_sent_is_always_a_valid_conversation(
        turns in prop::collection::vec(prop::sample::select(vec!["u", "a", "cr"]), 1..12),
        max in 1u64..120,
        first in 0usize..5,
        recent in 0usize..5,
        summarises in any::<bool>(),
    ) {
        let given = history(&format!("u{}", turns.concat()));
        let mut context = ContextManager::new(max).keep_first(first).keep_recent(recent);
        if summarises {
            context = context.summarizer(|_| async { Ok::<_, std::io::Error>(Summary::default()) });
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let sent = runtime.block_on(context.fit(&given)).unwrap().messages;
        prop_assert_eq!(sent[0].role, Role::User);
        prop_assert_eq!(sent.last().map(|m| &**m), given.last());
        for (at, message) in sent.iter().enumerate() {
            let calls: Vec<_> = message.tool_uses().map(|call| call.id.clone()).collect();
            let answers = |message: &Message| -> Vec<String> {
                let result = |block: &Block| match block {
                    Block::ToolResult(result) => Some(result.tool_use_id.clone()),
                    _ => None,
                };
                message.blocks.iter().filter_map(result).collect()
            };
            if !calls.is_empty() {
                prop_assert_eq!(&answers(&sent[at + 1]), &calls);
            }
            if !answers(message).is_empty() {
                prop_assert!(at > 0 && sent[at - 1].tool_uses().next().is_some());
            }
        }
    }
}
