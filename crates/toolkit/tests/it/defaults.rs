//! What holds when nothing else is said, and at the edges of what can be said.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use heeler_core::{
    CancellationToken, Clock, Entropy, EventStream, Message, ModelRequest, Provider, ToolChoice,
};
use heeler_providers::anthropic::request_body;
use heeler_providers::scripted::Scripted;
use heeler_script::{BlockSpec, ReplySpec, Script};
use heeler_sessions::MemoryRecorder;
use heeler_testkit::VirtualClock;
use heeler_testkit::picture::pixel;
use heeler_toolkit::testing::TestCall;
use heeler_toolkit::{
    AskEvent, Client, Extract, ExtractError, Object, Run, RunErrorKind, RunEvent, Schema,
    ToolChoiceFor, extract, raw_tool,
};
use serde_json::json;

use crate::door::{MODEL, client, clients, echo, tools};

/// The most chance can give: the longest wait there may be.
struct Longest;

impl Entropy for Longest {
    fn next(&self) -> u64 {
        u64::MAX
    }
}

fn busy() -> ReplySpec {
    ReplySpec::error(529, "overloaded_error", "busy")
}

#[tokio::test]
async fn a_request_is_sent_four_times_with_waits_that_double_up_to_thirty_seconds() {
    async fn waits(change: impl FnOnce(&Client) -> Client) -> Vec<u64> {
        let waits = Arc::<Mutex<Vec<Duration>>>::default();
        let hears = Arc::clone(&waits);
        let (asks, _) = client((0..10).map(|_| busy()));
        let clock = Arc::new(VirtualClock::auto(1_000, u64::MAX));
        let asks = change(&asks)
            .with_time(clock, Arc::new(Longest))
            .on_retry_do(move |notice| hears.lock().unwrap().push(notice.wait));
        assert!(asks.run(Run::say("go")).await.is_err());
        waits.lock().unwrap().iter().map(Duration::as_secs).collect()
    }
    assert_eq!(waits(Client::clone).await, [1, 2, 4]);
    // What is not said stays as it was, and chance adds nothing to the longest wait.
    let patient = |client: &Client| client.with_retry(|retry| retry.attempts_max = 8);
    assert_eq!(waits(patient).await, [1, 2, 4, 8, 16, 30, 30]);
    assert!(waits(Client::without_retry).await.is_empty());
}

#[tokio::test]
async fn the_hook_comes_before_each_wait_and_only_then() {
    let told = Arc::<Mutex<Vec<String>>>::default();
    let (asks, sent) = (Arc::clone(&told), Arc::clone(&told));
    let clock = Arc::new(VirtualClock::auto(1_000, u64::MAX));
    let script = Script::of([ReplySpec::text("one"), busy(), ReplySpec::text("two")]);
    let model = Scripted::from_script(script, clock.clone());
    let time = Arc::clone(&clock);
    let watched = Watched {
        model,
        told: Box::new(move |_| sent.lock().unwrap().push(format!("sent at {}", time.now().0))),
    };
    let time = Arc::clone(&clock);
    let client = Client::new(watched, MODEL).unwrap().with_time(clock, Arc::new(Longest));
    let client = client.on_retry_do(move |notice| {
        asks.lock().unwrap().push(format!("hook {} at {}", notice.attempt, time.now().0));
    });
    for _ in 0..2 {
        client.ask("", [Message::user("?")]).await.unwrap();
    }
    let expected = ["sent at 1000", "sent at 1000", "hook 1 at 1000", "sent at 2000"];
    assert_eq!(*told.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_run_ends_after_fifty_rounds_and_with_0_never() {
    let call = || ReplySpec::call("echo", json!({"text": "x"}));
    let run = || Run::say("go").tools(tools([echo()]));
    let (asks, _) = client((0..60).map(|_| call()));
    let error = asks.run(run()).await.unwrap_err();
    assert!(error.is_rounds_limit() && error.result.rounds == 50, "{error}");
    let (asks, _) = client((0..60).map(|_| call()).chain([ReplySpec::text("done")]));
    assert_eq!(asks.run(run().rounds(0)).await.unwrap().rounds, 61);
}

#[tokio::test]
async fn a_run_that_was_cut_goes_on_with_what_the_user_says_next() {
    let (asks, model) =
        client([ReplySpec::call("echo", json!({"text": "x"})), ReplySpec::text("yes")]);
    let tools = tools([echo()]);
    let error = asks.run(Run::say("go").tools(&tools).rounds(1)).await.unwrap_err();
    let mut history = error.result.messages;
    // Two messages of the user in a row, which are sent as one.
    history.push(Message::user("go on"));
    assert_eq!(asks.run(Run::new(history).tools(&tools)).await.unwrap().final_text(), "yes");
    assert_eq!((model.requests()[1].messages.len(), model.mismatches().len()), (3, 0));
}

#[tokio::test]
async fn an_answer_may_be_as_long_as_the_model_can_write_or_as_was_said() {
    async fn output_max(change: impl FnOnce(Client) -> Client) -> u64 {
        let heard = Arc::<Mutex<Vec<u64>>>::default();
        let hears = Arc::clone(&heard);
        let (_, model) = client([ReplySpec::text("yes")]);
        let told = Box::new(move |request: &ModelRequest| {
            hears.lock().unwrap().push(request.output_max);
        });
        let client = change(Client::new(Watched { model, told }, MODEL).unwrap());
        client.ask("", [Message::user("?")]).await.unwrap();
        let heard = heard.lock().unwrap();
        heard[0]
    }
    let other = |client: Client| client.with_model("anthropic/claude-haiku-4-5").unwrap();
    assert_eq!(output_max(|client| client).await, 128_000);
    assert_eq!(output_max(other).await, 64_000);
    // Nothing is known of this one.
    assert_eq!(output_max(|client| client.with_model("parrot/green").unwrap()).await, 8192);
    assert_eq!(output_max(|client| client.output_max(77)).await, 77);
    assert_eq!(output_max(|client| client.output_max(77).output_max(0)).await, 128_000);
    // What was said holds for another model, too.
    assert_eq!(output_max(|client| other(client.output_max(77))).await, 77);
}

#[tokio::test]
async fn an_image_alone_is_a_message() {
    let bodies = Arc::<Mutex<Vec<String>>>::default();
    let hears = Arc::clone(&bodies);
    let (_, model) = client([ReplySpec::text("a cat")]);
    let told = Box::new(move |request: &ModelRequest| {
        let body = String::from_utf8(request_body(request).unwrap()).unwrap();
        hears.lock().unwrap().push(body);
    });
    let client = Client::new(Watched { model, told }, MODEL).unwrap();
    let image = Message::user_with_images("", [pixel()]);
    let answer = client.ask("", [image]).await.unwrap();
    assert_eq!(answer.message.text(), "a cat");
    let body: serde_json::Value = serde_json::from_str(&bodies.lock().unwrap()[0]).unwrap();
    let content = body["messages"][0]["content"].as_array().unwrap();
    let source = json!({"type": "base64", "media_type": "image/png", "data": pixel().data});
    assert_eq!((content.len(), &content[0]["source"]), (1, &source));
}

#[tokio::test]
async fn a_call_without_an_input_is_given_an_empty_object() {
    let says =
        raw_tool("says", "", Object::new(), |_, input| async move { input.get().to_owned() });
    for input in ["", " \n", "null", " null ", "{}"] {
        assert_eq!(TestCall::new(input).of(&says).await.text(), "{}", "{input:?}");
    }
    assert_eq!(TestCall::new("[null]").of(&says).await.text(), "[null]");
}

#[tokio::test]
async fn a_pattern_that_is_none_is_told_with_each_call() {
    let schema = Object::new().required("name", Schema::string("").pattern("("));
    let greets = raw_tool("greet", "Greets", schema, |_, _| async { "never" });
    let call = ReplySpec::call("greet", json!({"name": "Ada"}));
    let (asks, _) = client([call, ReplySpec::text("done")]);
    let result = asks.run(Run::say("go").tools(tools([greets]))).await.unwrap();
    let told = format!("{:?}", result.messages[2]);
    assert!(told.contains("the tool greet has a broken schema"), "{told}");
}

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    /// In cents.
    cents: u32,
}

fn sum() -> Extract<Sum> {
    Extract::new([Message::user("It costs 12.50.")], "The sum")
}

#[tokio::test]
async fn an_extraction_asks_eight_times_and_counts_them_all() {
    let wrong = |n: u32| ReplySpec::call("submit", json!({"cents": format!("no {n}")}));
    let (asks, model) = client((0..20).map(wrong));
    let error = extract(&asks, sum()).await.unwrap_err();
    let ExtractError::NeverSubmitted { name, result, .. } = error else { panic!("{error}") };
    assert_eq!((name.as_str(), result.rounds, model.requests().len()), ("submit", 8, 8));
    let usage: u64 = result.usage.total();
    let (asks, _) = client([wrong(0)]);
    let once = extract(&asks, sum().rounds(1)).await.unwrap_err();
    let ExtractError::NeverSubmitted { result: once, .. } = once else { panic!("{once}") };
    assert!(usage > 7 * once.usage.total(), "{usage}");
}

#[tokio::test]
async fn a_value_that_was_submitted_is_given_though_the_run_failed_then() {
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let hangs = raw_tool("hang", "Hangs", Object::new(), move |_, _| {
        let stop = stop.clone();
        async move {
            stop.cancel();
            std::future::pending::<&'static str>().await
        }
    });
    let both = ReplySpec::blocks([
        BlockSpec::call("submit", json!({"cents": 1250})),
        BlockSpec::call("hang", json!({})),
    ]);
    let (asks, _) = client([both]);
    let wanted = sum().tools(tools([hangs])).with(|run| run.cancelled_by(cancel));
    let extracted = extract(&asks, wanted).await.unwrap();
    assert_eq!(extracted.value, Sum { cents: 1250 });
    assert!(extracted.result.usage.total() > 0);
    // The submitting call and its result are part of the conversation.
    let [_, answer, results] = &extracted.result.messages[..] else { panic!("{extracted:?}") };
    assert_eq!(answer.tool_uses().next().unwrap().name, "submit");
    assert!(format!("{results:?}").contains("submitted"), "{results:?}");
}

#[tokio::test]
async fn a_stream_that_is_read_to_its_end_is_over() {
    let (asks, _) = clients([ReplySpec::text("one"), ReplySpec::text("two")]);
    let mut events = asks.run_stream(Run::say("go"));
    while events.next().await.is_some() {}
    let error = events.finish().await.unwrap_err();
    assert!(matches!(error.kind, RunErrorKind::Failed(_)), "{error}");
    let answer = asks.ask_stream("", [Message::user("?")]).collect::<Vec<_>>().await;
    assert!(matches!(&answer[..], [AskEvent::TextDelta(_), AskEvent::Finished(Ok(_))]));
    // What is not tried again is void, too.
    let (asks, _) = client([ReplySpec::error(401, "authentication_error", "who?")]);
    let answer = asks.ask_stream("", [Message::user("?")]).collect::<Vec<_>>().await;
    assert!(matches!(&answer[..], [AskEvent::Reset, AskEvent::Finished(Err(_))]), "{answer:?}");
}

#[tokio::test]
async fn a_run_that_waits_for_another_attempt_can_be_cancelled() {
    let clock = Arc::new(VirtualClock::new(1_000));
    let (asks, model) = client([busy(), ReplySpec::text("never")]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let asks = asks.with_time(clock, Arc::new(Longest)).on_retry_do(move |_| stop.cancel());
    let error = asks.run(Run::say("go").cancelled_by(cancel)).await.unwrap_err();
    assert!(error.is_cancelled() && error.result.messages == [Message::user("go")], "{error:?}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_call_has_the_time_that_its_metadata_says() {
    let hangs =
        raw_tool("hang", "Hangs", Object::new(), |_, _| std::future::pending::<&'static str>())
            .with_metadata(|metadata| metadata.timeout = Some(Duration::from_secs(5)));
    let (asks, _) = client([ReplySpec::call("hang", json!({})), ReplySpec::text("done")]);
    let mut took = Vec::new();
    let mut events = asks.run_stream(Run::say("go").tools(tools([hangs])));
    while let Some(event) = events.next().await {
        if let RunEvent::CallFinished { is_error, duration, .. } = event {
            took.push((is_error, duration.as_secs()));
        }
    }
    assert_eq!(took, [(true, 5)]);
}

#[tokio::test]
async fn a_recorder_is_told_until_it_is_taken_away() {
    let recorder = Arc::new(MemoryRecorder::new());
    let (asks, _) = clients([ReplySpec::text("one"), ReplySpec::text("two")]);
    let told = asks.with_recorder(Arc::clone(&recorder)).unwrap();
    told.without_recorder().run(Run::say("go")).await.unwrap();
    assert_eq!(recorder.events().len(), 0);
    told.run(Run::say("go")).await.unwrap();
    assert_eq!(recorder.events().len(), 4);
}

#[tokio::test]
async fn nothing_is_left_out_that_the_caller_did_not_leave_out() {
    let requests = Arc::<Mutex<Vec<usize>>>::default();
    let hears = Arc::clone(&requests);
    let (_, model) = client([ReplySpec::text("long")]);
    let told = Box::new(move |request: &ModelRequest| {
        let texts = request.messages.iter().map(|sent| sent.message.text().len());
        hears.lock().unwrap().push(texts.sum());
    });
    let client = Client::new(Watched { model, told }, "anthropic/claude-haiku-4-5").unwrap();
    // Longer than this model's window by any count; only the provider can say so.
    let turn = || [Message::user("u".repeat(200_000)), Message::assistant("a".repeat(200_000))];
    let history: Vec<Message> =
        (0..5).flat_map(|_| turn()).chain([Message::user("and?")]).collect();
    let result = client.run(Run::new(history.clone())).await.unwrap();
    assert_eq!((result.new_messages().len(), &result.messages[..11]), (1, &history[..]));
    assert_eq!(*requests.lock().unwrap(), [2_000_004]);
}

#[tokio::test]
async fn a_choice_of_tools_is_forced_on_the_first_call_of_a_run_and_none_on_all() {
    async fn choices(
        choice: ToolChoice,
        change: impl FnOnce(Run) -> Run,
    ) -> Vec<Option<ToolChoice>> {
        let call = || ReplySpec::call("echo", json!({"text": "a"}));
        // A request that is sent again is the same call.
        let (client, told) = choosing(choice, [busy(), call(), call(), ReplySpec::text("done")]);
        client.run(change(Run::say("go").tools(tools([echo()])))).await.unwrap();
        std::mem::take(&mut *told.lock().unwrap())
    }
    for forced in [ToolChoice::Any, ToolChoice::Tool("echo".into())] {
        let is = || Some(forced.clone());
        assert_eq!(choices(forced.clone(), |run| run).await, [is(), is(), None, None]);
        let each = |run: Run| run.tool_choice_for(ToolChoiceFor::EachCall);
        assert_eq!(choices(forced.clone(), each).await, [is(), is(), is(), is()]);
    }
    for lasting in [ToolChoice::None, ToolChoice::Auto] {
        assert_eq!(choices(lasting.clone(), |run| run).await, vec![Some(lasting); 4]);
    }
    // An extraction ends with a call, so it is forced until there is one that will do.
    let submit = |cents| ReplySpec::call("submit", json!({ "cents": cents }));
    let (client, told) = choosing(ToolChoice::Any, [submit(-1), submit(1)]);
    assert_eq!(extract(&client, sum()).await.unwrap().value, Sum { cents: 1 });
    assert_eq!(*told.lock().unwrap(), vec![Some(ToolChoice::Any); 2]);
}

type Choices = Arc<Mutex<Vec<Option<ToolChoice>>>>;

/// A client with this choice of tools, and which of them each request had.
fn choosing(choice: ToolChoice, replies: impl IntoIterator<Item = ReplySpec>) -> (Client, Choices) {
    let told = Choices::default();
    let hears = Arc::clone(&told);
    let (_, model) = client(replies);
    let told_of = move |request: &ModelRequest| {
        hears.lock().unwrap().push(request.parameters.tool_choice.clone());
    };
    let client = Client::new(Watched { model, told: Box::new(told_of) }, MODEL).unwrap();
    let clock = Arc::new(VirtualClock::auto(1_000, u64::MAX));
    let client = client.with_time(clock, Arc::new(Longest));
    (client.with_parameters(|parameters| parameters.tool_choice = Some(choice)), told)
}

/// A provider whose requests somebody is told of.
struct Watched {
    model: Scripted,
    told: Box<dyn Fn(&ModelRequest) + Send + Sync>,
}

impl Provider for Watched {
    fn stream(&self, request: ModelRequest) -> EventStream {
        (self.told)(&request);
        self.model.stream(request)
    }
}

#[tokio::test]
async fn what_is_shown_for_debugging_has_names_and_nothing_that_was_said() {
    let (client, _) = client([]);
    let set = tools([echo()]);
    let run = Run::say("a secret").system("another").tools(&set);
    let agent = heeler_toolkit::Agent::new(client.clone()).with(|_| run.clone());
    let shown = format!("{agent:?} {run:?} {set:?} {:?}", client.run_stream(Run::default()));
    assert!(!shown.contains("secret") && !shown.contains("another"), "{shown}");
    assert!(shown.contains("echo") && shown.contains(client.model()), "{shown}");
}

#[tokio::test]
async fn a_timeout_below_a_millisecond_is_one_and_not_the_default() {
    let binding = echo().with_metadata(|it| it.timeout = Some(Duration::from_micros(500)));
    let tool = std::sync::Arc::<dyn heeler_core::Tool>::from(binding);
    assert_eq!(tool.metadata().timeout_millis, 1);
}
