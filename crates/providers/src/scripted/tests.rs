//! Scripts as streams of model events.

use std::sync::Arc;

use expect_test::{Expect, expect};
use futures::StreamExt;
use heeler_core::{
    Block, Clock, EventStream, Message, ModelEvent, ModelRequest, Parameters, Provider,
    ProviderError, RequestMessage, Timestamp, ToolResult,
};
use heeler_script::{ReplySpec, Script};
use heeler_testkit::VirtualClock;

use super::{REQUESTS_KEPT_MAX, Scripted};

fn model(script: &str) -> (Scripted, VirtualClock) {
    let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}"));
    let clock = VirtualClock::auto(0, 60_000);
    (Scripted::from_script(script, Arc::new(clock.clone())), clock)
}

fn request(messages: Vec<Message>) -> ModelRequest {
    let messages = messages.into_iter().map(|m| Arc::new(RequestMessage::new(m)));
    ModelRequest {
        model: "m".into(),
        system: "".into(),
        tools: Arc::new([]),
        provider_tools: [].into(),
        messages: messages.collect(),
        stable: 0,
        output_max: 100,
        parameters: Parameters::default(),
        epoch: 1,
    }
}

fn run(stream: EventStream) -> Vec<Result<ModelEvent, ProviderError>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(stream.collect())
}

fn events(model: &Scripted, messages: Vec<Message>) -> Vec<Result<ModelEvent, ProviderError>> {
    run(model.stream(request(messages)))
}

/// Plays a script's first reply and shows its events, one a line.
#[track_caller]
fn check(script: &str, expected: Expect) {
    let (model, _) = model(script);
    let shown = events(&model, vec![Message::user("hi")]).iter().map(show).collect::<String>();
    expected.assert_eq(&shown);
    assert_eq!(model.streams_open(), 0);
}

fn show(event: &Result<ModelEvent, ProviderError>) -> String {
    let shown = match event {
        Ok(ModelEvent::TextDelta { block, text }) => format!("{block} text {text:?}"),
        Ok(ModelEvent::ThinkingDelta { block, text }) => format!("{block} thinking {text:?}"),
        Ok(ModelEvent::ToolUseStarted { block, name }) => format!("{block} call {name}"),
        Ok(ModelEvent::ToolInputDelta { block, text }) => format!("{block} input {text:?}"),
        Ok(ModelEvent::BlockFinished { block, content }) => format!("{block} is {content:?}"),
        Ok(ModelEvent::Accepted(answer)) => format!("accepted {}", answer.id),
        Ok(ModelEvent::Usage(usage)) => format!("usage {}/{}", usage.input_total(), usage.output),
        Ok(ModelEvent::Finished(reply)) => {
            let usage = reply.usage;
            let n = reply.blocks.len();
            format!(
                "finished {:?}: {n} blocks, {}/{}",
                reply.stop,
                usage.input_total(),
                usage.output
            )
        }
        Err(error) => format!("{:?} after {:?}: {error}", error.kind, error.retry_after),
    };
    format!("{shown}\n")
}

#[test]
fn a_reply_streams_its_blocks() {
    check(
        r#"
[[reply]]
chunks = 2
usage = { input = 3, output = 4, cache_read = 5 }
blocks = [
  { thinking = "hm", signature = "s" },
  { redacted = "r" },
  { text = "hello" },
  { opaque = { type = "server_tool_use" } },
  { call = "read", id = "1", input = { path = "a" } },
  { call = "list", id = "" },
]
"#,
        expect![[r#"
            usage 8/0
            0 thinking "h"
            0 thinking "m"
            0 is Thinking(Thinking { text: "hm", signature: "s", raw: None })
            1 is RedactedThinking(RedactedThinking { data: "r" })
            2 text "hel"
            2 text "lo"
            2 is Text(Text { text: "hello", cache: None, raw: None })
            3 is Opaque(Opaque { provider: "scripted", raw: {"type":"server_tool_use"} })
            4 call read
            4 input "{\"path"
            4 input "\":\"a\"}"
            4 is ToolUse(ToolUse { id: "1", name: "read", input: {"path":"a"}, invalid: None, cache: None })
            5 call list
            5 is ToolUse(ToolUse { id: "", name: "list", input: {}, invalid: None, cache: None })
            finished ToolUse: 6 blocks, 8/4
        "#]],
    );
}

#[test]
fn input_that_is_no_object_makes_the_call_invalid() {
    let call = |input: &str, stop: &str| {
        format!(
            "[[reply]]\n{stop}\nblocks = [{{ call = 'read', id = '1', input_raw = '{input}' }}]"
        )
    };
    let invalid = |script: String| {
        let (model, _) = model(&script);
        let last = events(&model, vec![Message::user("hi")]).pop();
        match last {
            Some(Ok(ModelEvent::Finished(reply))) => {
                let call = reply.blocks.iter().find_map(Block::as_tool_use).cloned();
                call.map(|call| (call.input.get().to_owned(), call.invalid.unwrap_or_default()))
            }
            _ => None,
        }
    };
    let broken = |reason: &str| Some(("{}".to_owned(), reason.to_owned()));
    assert_eq!(invalid(call("[1]", "")), broken("the input is not a JSON object"));
    let reason = "the input is not valid JSON: EOF while parsing a value at line 1 column 5";
    assert_eq!(invalid(call("{\"a\":", "")), broken(reason));
    assert_eq!(invalid(call("{\"a\":", "stop = 'max_tokens'")), broken(reason));
    assert_eq!(invalid(call("", "")), broken(""));
    assert_eq!(invalid(call("{\"a\": 1}", "")), Some(("{\"a\": 1}".to_owned(), String::new())));
}

#[test]
fn a_failure_comes_instead_of_the_reply_or_after_its_blocks() {
    check(
        "[[reply]]\nerror = { status = 529, type = 'overloaded_error', message = 'busy', retry_after = 2 }",
        expect![[r#"
            Overloaded after Some(2s): busy
        "#]],
    );
    check(
        "[[reply]]\ntext = 'half'\nerror = { type = 'network' }",
        expect![[r#"
        usage 6/0
        0 text "half"
        0 is Text(Text { text: "half", cache: None, raw: None })
        Network after None: network
    "#]],
    );
    for (status, kind) in [
        (400, "InvalidRequest"),
        (401, "Auth"),
        (402, "Billing"),
        (404, "UnknownModel"),
        (413, "ContextOverflow"),
        (429, "RateLimit"),
        (500, "Server"),
        (529, "Overloaded"),
    ] {
        let (model, _) = model(&format!("[[reply]]\nerror = {{ status = {status} }}"));
        let shown = show(&events(&model, vec![Message::user("hi")])[0]);
        assert!(shown.starts_with(kind), "{status}: {shown}");
    }
}

#[test]
fn a_cut_stream_ends_with_an_error() {
    check(
        "[[reply]]\ntext = 'hello'\ncut = {}\nusage = {}",
        expect![[r#"
        usage 0/0
        0 text "hello"
        0 is Text(Text { text: "hello", cache: None, raw: None })
        Format after None: the answer ended without its end marker
    "#]],
    );
    check(
        "[[reply]]\ntext = 'hello'\nchunks = 5\ncut = { events = 4 }\nusage = {}",
        expect![[r#"
            usage 0/0
            0 text "h"
            0 text "e"
            Format after None: the answer ended without its end marker
        "#]],
    );
    check(
        "[[reply]]\ntext = 'héllo'\nchunks = 2\ncut = { bytes = 6, hard = true }\nusage = {}",
        expect![[r#"
            usage 0/0
            0 text "hél"
            0 text "lo"
            Network after None: the connection broke within the answer
        "#]],
    );
    check(
        "[[reply]]\ntext = 'héllo'\ncut = { bytes = 2 }\nusage = {}",
        expect![[r#"
        usage 0/0
        0 text "h"
        Format after None: the answer ended without its end marker
    "#]],
    );
}

#[test]
fn a_silent_stream_waits_until_it_is_dropped() {
    let (model, _) = model("[[reply]]\ntext = 'hello'\nstall = { events = 2 }\nusage = {}");
    let mut stream = model.stream(request(vec![Message::user("hi")]));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(matches!(stream.poll_next_unpin(&mut context), std::task::Poll::Ready(Some(Ok(_)))));
    for _ in 0..3 {
        assert!(stream.poll_next_unpin(&mut context).is_pending());
    }
    assert_eq!(model.streams_open(), 1);
    drop(stream);
    assert_eq!(model.streams_open(), 0);
}

#[test]
fn a_delay_passes_on_the_clock() {
    let (model, clock) = model("[[reply]]\ntext = 'hello'\ndelay_ms = 30000");
    assert_eq!(events(&model, vec![Message::user("hi")]).len(), 4);
    assert_eq!(clock.now(), Timestamp(30_000));
}

#[test]
fn a_request_that_does_not_pass_is_refused() {
    let (model, _) = model("[script]\nloop = true\n[[reply]]\ntext = 'hello'");
    let orphan =
        ToolResult { tool_use_id: "1".into(), content: vec![], is_error: false, cache: None };
    let mut message = Message::user("hi");
    message.blocks.insert(0, Block::from(orphan));
    let refused = events(&model, vec![message]);
    expect![[r#"
        InvalidRequest after None: request 1 is not valid: messages[0].content[0]: the result of `1` belongs to no call of the message before
    "#]].assert_eq(&refused.iter().map(show).collect::<String>());
    assert_eq!((model.requests().len(), model.mismatches().len()), (1, 1));
}

#[test]
fn a_prefix_is_followed_from_request_to_request() {
    let (model, _) = model("[script]\nloop = true\n[[reply]]\ntext = 'hello'");
    let mut kept = request(vec![Message::user("hi")]);
    let ask = |request: &ModelRequest| {
        let events = run(model.stream(request.clone()));
        events.last().map(show).unwrap_or_default()
    };
    assert!(ask(&kept).starts_with("finished"));
    let more = [Message::assistant("hello"), Message::user("more")];
    let more = more.map(|m| Arc::new(RequestMessage::new(m)));
    kept.messages = kept.messages.iter().cloned().chain(more).collect();
    assert!(ask(&kept).starts_with("finished"));
    // A cache marker may move, anything else may not.
    let mut marked = Message::user("hi");
    if let Block::Text(text) = &mut marked.blocks[0] {
        Arc::make_mut(text).cache = Some(heeler_core::CacheMarker::FiveMinutes);
    }
    let replaced = |request: &ModelRequest, message: Message| {
        let mut messages: Vec<_> = request.messages.iter().cloned().collect();
        messages[0] = Arc::new(RequestMessage::new(message));
        ModelRequest { messages: messages.into_iter().collect(), ..request.clone() }
    };
    assert!(ask(&replaced(&kept, marked)).starts_with("finished"));
    let changed = replaced(&kept, Message::user("HI"));
    assert!(ask(&changed).starts_with("InvalidRequest"));
    assert!(ask(&ModelRequest { epoch: 2, ..changed }).starts_with("finished"));
}

#[test]
fn only_the_newest_requests_are_kept() {
    let script = Script::of([ReplySpec::text("hello")]).repeating();
    let model = Scripted::from_script(script, Arc::new(VirtualClock::new(0)));
    for _ in 0..=REQUESTS_KEPT_MAX {
        drop(model.stream(request(vec![Message::user("hi")])));
    }
    assert_eq!(model.requests().len(), REQUESTS_KEPT_MAX / 2 + 1);
}
