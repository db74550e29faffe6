//! Clients behind a client: what they are sent, and what is told of their failures.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use futures::StreamExt;
use heeler_core::{
    Block, EventStream, Message, ModelEvent, ModelRequest, Provider, ProviderError,
    ProviderErrorKind, Reply, StopReason, Usage,
};
use heeler_toolkit::{Agent, AgentHooks, Client, ContextManager, Run};

/// A provider that answers each attempt, counted from 1, as a function says.
#[derive(Clone)]
struct Plays<F> {
    play: F,
    requests: Arc<Mutex<Vec<usize>>>,
    attempts: Arc<AtomicU32>,
}

type Answer = Option<Result<&'static str, ProviderErrorKind>>;

impl<F: Fn(u32) -> Answer + Send + Sync + 'static> Provider for Plays<F> {
    fn stream(&self, request: ModelRequest) -> EventStream {
        self.requests.lock().unwrap().push(request.messages.len());
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        let answer = (self.play)(attempt).map(|answer| match answer {
            Ok(text) => Ok(ModelEvent::Finished(Reply {
                blocks: vec![Block::text(text)],
                stop: StopReason::EndTurn,
                usage: Usage::default(),
                provider_id: None,
            })),
            Err(kind) => Err(ProviderError::new(kind, format!("it is {kind:?}"))),
        });
        futures::stream::iter(answer).boxed()
    }
}

/// A client that does not wait, and how many messages it was sent each time.
fn plays(
    model: &str,
    play: impl Fn(u32) -> Answer + Send + Sync + 'static,
) -> (Client, Arc<Mutex<Vec<usize>>>) {
    let requests = Arc::<Mutex<Vec<usize>>>::default();
    let provider = Plays { play, requests: Arc::clone(&requests), attempts: Arc::default() };
    let client = Client::new(provider, model).unwrap();
    (client.with_retry(|retry| (retry.base_millis, retry.cap_millis) = (0, 0)), requests)
}

fn busy(_: u32) -> Answer {
    Some(Err(ProviderErrorKind::Overloaded))
}

async fn said(client: &Client) -> String {
    match client.run(Run::say("hi")).await {
        Ok(result) => result.final_text(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_fallback_is_sent_what_fits_and_hooks_are_told_of_it() {
    let ((first, to_first), (second, to_second)) =
        (plays("a/one", busy), plays("b/two", |_| Some(Ok("ok"))));
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let hooks = AgentHooks::default()
        .on_iteration(move |n, sent| tell.lock().unwrap().push((n, sent.len())));
    let agent = Agent::new(first.or_else(&second))
        .context(ContextManager::new(500).keep_first(1).keep_recent(3))
        .hooks(hooks);
    let old = (0..40).flat_map(|n| {
        [Message::user(format!("{n} {}", "x".repeat(200))), Message::assistant("yes")]
    });
    agent.step(old.chain([Message::user("last")])).await.unwrap();
    assert_eq!(*to_first.lock().unwrap(), [3, 3, 3]);
    assert_eq!(*to_second.lock().unwrap(), [3]);
    assert_eq!(*told.lock().unwrap(), [(0, 3)]);
}

#[tokio::test]
async fn a_failure_is_that_of_the_last_attempt_and_says_whose() {
    let first = || plays("a/one", busy).0;
    let mut text = String::new();
    let wrong_key = plays("b/two", |_| Some(Err(ProviderErrorKind::Auth))).0;
    let error = first().or_else(&wrong_key).run(Run::say("hi")).await.unwrap_err();
    assert!(error.is_provider(ProviderErrorKind::Auth));
    writeln!(text, "{error}").unwrap();
    let panics = plays("b/two", |_| panic!("in two")).0;
    writeln!(text, "{}", said(&first().or_else(&panics)).await).unwrap();
    let then =
        |later: fn() -> Answer| plays("a/one", move |n| if n == 1 { busy(n) } else { later() });
    writeln!(text, "{}", said(&then(|| panic!("later")).0).await).unwrap();
    let notices = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&notices);
    let ends = then(|| None).0.with_retry(|retry| retry.attempts_max = 3);
    let ends = ends.on_retry_do(move |it| tell.lock().unwrap().push(it.error.kind));
    writeln!(text, "{}", said(&ends).await).unwrap();
    assert_eq!(
        *notices.lock().unwrap(),
        [ProviderErrorKind::Overloaded, ProviderErrorKind::Format]
    );
    expect![[r#"
        it is Auth (after 4 attempts, the last of b/two) (model call 0)
        the provider's code crashed: in two (after 4 attempts, the last of b/two) (model call 0)
        the provider's code crashed: later (after 2 attempts) (model call 0)
        the model's answer ended before it was whole (after 3 attempts) (model call 0)
    "#]]
    .assert_eq(&text);
}

#[tokio::test]
async fn one_model_by_two_providers_is_asked_of_both() {
    let (first, to_first) = plays("a/one", busy);
    let second = plays("a/one", |_| Some(Ok("the second"))).0;
    assert_eq!(said(&first.or_else(&second)).await, "the second");
    assert_eq!(to_first.lock().unwrap().len(), 3);
    let both = first.or_else(&plays("a/one", busy).0);
    expect!["it is Overloaded (after 7 attempts, the last of a/one) (model call 0)"]
        .assert_eq(&said(&both).await);
}

#[tokio::test]
async fn those_behind_a_fallback_come_with_it() {
    let third = plays("c/three", |_| Some(Ok("the third"))).0;
    let chain = plays("a/one", busy).0.or_else(&plays("b/two", busy).0.or_else(&third));
    assert_eq!(said(&chain).await, "the third");
}
