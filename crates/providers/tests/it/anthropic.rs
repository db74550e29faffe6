//! Anthropic over real HTTP: what goes over the wire, and what becomes of answers that drip, break,
//! fall silent or refuse.

use std::fmt::Write;
use std::time::Duration;

use expect_test::{Expect, expect};
use futures::StreamExt;
use heeler_core::{Message, ModelEvent, ModelRequest, Provider, ProviderErrorKind};
use heeler_providers::anthropic::{Key, request_body};
use heeler_providers::{Anthropic, AnthropicSettings, Secret};

use crate::server::{Part, Server};
use crate::wire::{Chunking, head, head_of_close, sized as refusal, stream};

const KEY: &str = "sk-ant-secret";

#[tokio::test]
async fn a_request_has_an_exact_length_and_its_headers() {
    let server = Server::start(vec![answer("hi", Chunking::Whole)]).await;
    let mut settings = settings(&server);
    settings.headers = vec![("X-Team".into(), Secret::new("blue"))];
    let events = play(&settings, request("what?")).await;
    expect![[r#"
        usage 3 1
        0 "hi"
        0 done
        usage 3 7
        finished EndTurn "hi"
    "#]]
    .assert_eq(&events);
    let [request] = &server.requests()[..] else { panic!("one request") };
    let body = String::from_utf8(request.body.clone()).unwrap();
    expect![[r#"
        {"model":"claude-test","messages":[{"role":"user","content":[{"type":"text","text":"what?","cache_control":{"type":"ephemeral"}}]}],"max_tokens":1000,"stream":true}"#]]
    .assert_eq(&body);
    expect![[r#"
        post /v1/messages http/1.1
        accept: text/event-stream
        anthropic-version: 2023-06-01
        content-type: application/json
        user-agent: heeler/0.1.0
        x-api-key: sk-ant-secret
        x-team: blue"#]]
    .assert_eq(&head(&request.head));
    assert!(request.head.contains(&format!("content-length: {}\r\n", body.len())));
}

#[tokio::test]
async fn a_token_is_sent_as_bearer() {
    let server = Server::start(vec![answer("hi", Chunking::Whole)]).await;
    let mut settings = settings(&server);
    settings.key = Key::Bearer(Secret::new("tok"));
    settings.base_url.push_str("/gateway/");
    play(&settings, request("what?")).await;
    expect![[r#"
        post /gateway/v1/messages http/1.1
        accept: text/event-stream
        anthropic-version: 2023-06-01
        authorization: bearer tok
        content-type: application/json
        user-agent: heeler/0.1.0"#]]
    .assert_eq(&head(&server.requests()[0].head));
}

#[tokio::test]
async fn a_long_conversation_is_sent_whole() {
    let server = Server::start(vec![answer("hi", Chunking::Whole)]).await;
    let text = "many words ".repeat(20_000);
    let mut long = request("");
    long.messages = (0..50).map(|_| Message::user(text.as_str())).collect();
    let expected = request_body(&long).unwrap();
    play(&settings(&server), long).await;
    assert!(server.requests()[0].body == expected, "`request_body` is not what is sent");
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    assert_eq!(body["messages"].as_array().unwrap().len(), 50);
    assert_eq!(body["messages"][49]["content"][0]["text"], text);
}

#[tokio::test]
async fn answers_may_come_in_any_chunks() {
    for chunking in [Chunking::Whole, Chunking::Drip, Chunking::Http] {
        let server = Server::start(vec![answer("h\u{e9}llo", chunking)]).await;
        let seen = play(&settings(&server), request("what?")).await;
        let expected =
            "usage 3 1\n0 \"h\u{e9}llo\"\n0 done\nusage 3 7\nfinished EndTurn \"h\u{e9}llo\"\n";
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn text_that_lies_ready_is_handed_on_together() {
    let whole = String::from_utf8(sse("x")).unwrap();
    let delta = whole.split_inclusive("\n\n").nth(2).unwrap();
    // How long the events' texts are when so many deltas come, an HTTP chunk each.
    let lengths = async |n: usize| {
        let body = whole.replace(delta, &delta.repeat(n));
        let chunk = |event| format!("{:x}\r\n{event}\r\n", str::len(event));
        let chunks: String = body.split_inclusive("\n\n").map(chunk).collect();
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let answer = Part::Bytes(format!("{head}{chunks}0\r\n\r\n").into());
        let server = Server::start(vec![vec![answer]]).await;
        let events = Anthropic::new(&settings(&server)).unwrap().stream(request("what?"));
        let lengths = events.filter_map(async |event| match event.unwrap() {
            ModelEvent::TextDelta { text, .. } => Some(text.len()),
            _ => None,
        });
        lengths.collect::<Vec<_>>().await
    };
    // As much as the client reads at first.
    assert_eq!(lengths(20).await, [20]);
    let many = lengths(5000).await;
    assert_eq!(many.iter().sum::<usize>(), 5000);
    // The first may have begun in what was read before, the last ends behind the bound.
    let at_once_max = 64 * 1024 / delta.len() + 2;
    assert!(many.iter().all(|length| *length <= at_once_max), "{many:?}");
}

#[tokio::test]
async fn an_answer_without_its_end_is_an_error() {
    let body = sse("half");
    let cut = body.len() - 60;
    check(vec![head_of_close(), Part::Bytes(body[..cut].into()), Part::Close], expect![[r#"
        usage 3 1
        0 "half"
        0 done
        error Format: Anthropic's answer ended without its end marker: the connection or a proxy cut it
    "#]]).await;
    // The length promised more, so here the connection itself broke.
    let promised = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let parts = vec![Part::Bytes(promised.into()), Part::Bytes(body[..cut].into()), Part::Close];
    check(parts, expect![[r#"
        usage 3 1
        0 "half"
        0 done
        error Network: the connection broke in the middle of the answer: end of file before message length reached
    "#]]).await;
    check(
        vec![Part::Close],
        expect![[r#"
            error Network: 127.0.0.1 was reached, but the connection broke before its answer
        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_error_may_come_in_the_middle() {
    let mut body = sse("half");
    let at = body.windows(19).position(|w| w == b"event: message_stop").unwrap();
    body.truncate(at);
    body.extend_from_slice(
        b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
    );
    check(
        vec![head_of_close(), Part::Bytes(body), Part::Close],
        expect![[r#"
        usage 3 1
        0 "half"
        0 done
        usage 3 7
        error Overloaded: Anthropic is overloaded in the middle of its answer: Overloaded
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_packed_is_said_to_be() {
    let packed = stream(b"\x1f\x8b", Chunking::Whole);
    let packed = packed.into_iter().map(|part| match part {
        Part::Bytes(bytes) => {
            let at = b"HTTP/1.1 200 OK\r\n".len();
            Part::Bytes([&bytes[..at], b"content-encoding: gzip\r\n", &bytes[at..]].concat())
        }
        other => other,
    });
    check(packed.collect(), expect![[r#"
        error InvalidRequest: 127.0.0.1 packed its answer as `gzip`, which was not asked for and is not read. Check the proxy and base URL
    "#]]).await;
}

#[tokio::test]
async fn any_status_of_success_has_an_answer() {
    let server =
        Server::start(vec![refusal("201 Created\r\ncontent-type: text/event-stream", sse("hi"))]);
    let seen = play(&settings(&server.await), request("what?")).await;
    assert!(seen.ends_with("finished EndTurn \"hi\"\n"), "{seen}");
}

#[tokio::test]
async fn a_page_for_people_is_no_answer_and_is_not_asked_for_again() {
    let answered = |body: &str| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: Text/HTML; charset=utf-8\r\ncontent-length: ";
        vec![Part::Bytes(format!("{head}{}\r\n\r\n{body}", body.len()).into_bytes())]
    };
    let server = Server::start(vec![answered("\n<!doctype html><title>Log in</title>")]).await;
    let seen = play(&settings(&server), request("what?")).await;
    let told =
        " answered with a page for people, not as a model does. Check the proxy and base URL";
    assert!(seen.starts_with("error InvalidRequest: http://127.0.0.1:"), "{seen}");
    assert!(seen.trim_end().ends_with(told), "{seen}");
    // What comes before the first bracket may come alone.
    for body in ["\u{feff}<html>Log in</html>", "\n \n<html>Log in</html>"] {
        let mut parts = answered(body);
        let Some(Part::Bytes(bytes)) = parts.pop() else { panic!("no bytes") };
        let server = Server::start(vec![vec![Part::Drip(bytes)]]).await;
        let seen = play(&settings(&server), request("what?")).await;
        assert!(seen.trim_end().ends_with(told), "{seen}");
    }
    // A server that calls all it says HTML.
    let body = String::from_utf8(sse("hi")).unwrap();
    let server = Server::start(vec![answered(&body)]).await;
    let seen = play(&settings(&server), request("what?")).await;
    assert!(seen.ends_with("finished EndTurn \"hi\"\n"), "{seen}");
}

#[tokio::test]
async fn refusals_say_why_and_when() {
    let limited = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    check(refusal("429 Too Many Requests\r\nretry-after: 17", limited), expect![[r#"
        error RateLimit: Anthropic has had too many requests from this account (HTTP 429): slow down 17s
    "#]]).await;
    check(
        refusal("529 Overloaded\r\nretry-after-ms: 1500", ""),
        expect![[r#"
        error Overloaded: Anthropic is overloaded (HTTP 529) 1.5s
    "#]],
    )
    .await;
    check(refusal("503 Busy\r\ndate: Tue, 14 Nov 2023 22:13:20 GMT\r\nretry-after: Tue, 14 Nov 2023 22:13:50 GMT", "busy"), expect![[r#"
        error Server: Anthropic failed (HTTP 503): busy 30s
    "#]]).await;
    let echo = format!(
        r#"{{"type":"error","error":{{"type":"authentication_error","message":"invalid key {KEY}"}}}}"#
    );
    check(
        refusal("401 Unauthorized\r\nrequest-id: req_7", &echo),
        expect![[r#"
        error Auth: Anthropic did not accept the key (HTTP 401, request req_7): invalid key [key]
        Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.
    "#]],
    )
    .await;
    // Cut in the middle of the key.
    let echo = format!("{}{KEY}", "x".repeat(490));
    let shown = format!("{}[key]…", "x".repeat(490));
    let server = Server::start(vec![refusal("401 Unauthorized", &echo)]).await;
    let seen = play(&settings(&server), request("what?")).await;
    assert!(seen.contains(&shown), "{seen}");
    check(
        refusal("429 Busy\r\nretry-after: 3600", "slow"),
        expect![[r#"
        error RateLimit: Anthropic has had too many requests from this account (HTTP 429): slow
        It asks to wait 60 minutes. 3600s
    "#]],
    )
    .await;
    // Where it was asked, without who asks.
    let server = Server::start(vec![refusal("404 Not Found", "404 page not found")]).await;
    let mut known = settings(&server);
    known.base_url = server.url.replace("://", "://somebody:password1@");
    let seen = play(&known, request("what?")).await;
    assert!(seen.ends_with(&format!("The request went to {}/v1/messages\n", server.url)), "{seen}");
    check(
        refusal("307 Moved\r\nlocation: http://127.0.0.1:1/", ""),
        expect![[r#"
            error InvalidRequest: Anthropic refused the request (HTTP 307)
            The address redirects, and keys are not sent elsewhere: correct ANTHROPIC_BASE_URL.
            The request went to SERVER/v1/messages
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_refusal_without_end_is_read_only_so_far() {
    let head = b"HTTP/1.1 500 Oops\r\n\r\n".to_vec();
    let flood = vec![b'x'; 80 * 1024];
    let server = Server::start(vec![vec![Part::Bytes(head), Part::Bytes(flood), Part::Hang]]).await;
    let seen = play(&settings(&server), request("")).await;
    assert!(seen.starts_with("error Server: Anthropic failed (HTTP 500): xxx"), "{seen}");
    server.closed_by_client().await;
}

#[tokio::test]
async fn a_refusal_that_hangs_is_told_by_its_status() {
    let head = b"HTTP/1.1 429 Slow\r\nretry-after: 3\r\n\r\nhalf a".to_vec();
    let server = Server::start(vec![vec![Part::Bytes(head), Part::Hang]]).await;
    let mut settings = settings(&server);
    settings.idle_timeout = Duration::from_millis(50);
    expect![[r#"
        error RateLimit: Anthropic has had too many requests from this account (HTTP 429): half a 3s
    "#]]
    .assert_eq(&play(&settings, request("what?")).await);
    server.closed_by_client().await;
}

#[tokio::test]
async fn what_is_no_stream_is_an_error() {
    let page = "<html>Please log in</html>";
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{page}", page.len());
    check(
        vec![Part::Bytes(answer.into())],
        expect![[r#"
            error Format: Anthropic's answer held no events, but `<html>Please log in</html>`. Check ANTHROPIC_BASE_URL if it is set
        "#]],
    )
    .await;
}

#[tokio::test]
async fn silence_is_an_error() {
    let start = sse("half")[..100].to_vec();
    for parts in [vec![Part::Hang], vec![head_of_close(), Part::Bytes(start), Part::Hang]] {
        let server = Server::start(vec![parts]).await;
        let mut settings = settings(&server);
        settings.idle_timeout = Duration::from_millis(50);
        let seen = play(&settings, request("what?")).await;
        expect![[r#"
            error Network: the provider sent nothing for 0.05 s; the connection was closed
        "#]]
        .assert_eq(&seen);
        server.closed_by_client().await;
    }
}

#[tokio::test]
async fn dropping_a_stream_closes_its_connection() {
    let body = sse("half");
    let parts = vec![head_of_close(), Part::Bytes(body[..body.len() - 60].into()), Part::Hang];
    let server = Server::start(vec![parts]).await;
    let provider = Anthropic::new(&settings(&server)).unwrap();
    let mut stream = provider.stream(request("what?"));
    while !matches!(stream.next().await, Some(Ok(ModelEvent::TextDelta { .. }))) {}
    drop(stream);
    server.closed_by_client().await;
}

#[tokio::test]
async fn a_request_that_is_dropped_while_it_waits_closes_its_connection_too() {
    let server = Server::start(vec![vec![Part::Hang]]).await;
    let provider = Anthropic::new(&settings(&server)).unwrap();
    let mut stream = provider.stream(request("what?"));
    let waits = tokio::time::timeout(Duration::from_millis(200), stream.next()).await;
    assert!(waits.is_err());
    drop(stream);
    server.closed_by_client().await;
}

#[tokio::test]
async fn a_connection_serves_several_requests() {
    let answers = (0..20).map(|i| answer(&i.to_string(), Chunking::Http)).collect();
    let server = Server::start(answers).await;
    let provider = Anthropic::new(&settings(&server)).unwrap();
    provider.prewarm();
    for i in 0..20 {
        let seen = show(provider.stream(request("what?"))).await;
        assert!(seen.ends_with(&format!("finished EndTurn \"{i}\"\n")), "{seen}");
    }
    assert_eq!((server.requests().len(), server.n_connections()), (20, 1));
}

#[tokio::test]
async fn a_connection_that_never_ends_its_answer_is_closed_in_the_end() {
    let whole = Part::Bytes(sse("hi"));
    let server = Server::start(vec![vec![head_of_close(), whole, Part::Hang]]).await;
    let seen = play(&settings(&server), request("what?")).await;
    assert!(seen.ends_with("finished EndTurn \"hi\"\n"), "{seen}");
    server.closed_by_client().await;
}

#[tokio::test]
async fn nobody_listens() {
    let server = Server::start(vec![]).await;
    let settings = settings(&server);
    drop(server);
    // The listener closes with its task.
    tokio::task::yield_now().await;
    let seen = play(&settings, request("what?")).await;
    assert!(seen.starts_with("error Network: http://127.0.0.1:"), "{seen}");
    assert!(seen.contains("Nothing listens there: start the server if it is yours"), "{seen}");
    let mut bad = request("what?");
    bad.parameters.extra_body = Some(heeler_core::RawJson::parse("7").unwrap());
    expect![[r#"
        error InvalidRequest: the extra request body is not a JSON object
    "#]]
    .assert_eq(&play(&settings, bad).await);
}

#[tokio::test]
async fn no_key_is_printed() {
    let server = Server::start(vec![refusal("400 Bad", format!("{KEY} gateway-token blue"))]).await;
    let mut settings = settings(&server);
    settings.headers = vec![
        ("x-gateway".into(), Secret::new("gateway-token")),
        ("x-team".into(), Secret::new("blue")),
    ];
    let provider = Anthropic::new(&settings).unwrap();
    for printed in [format!("{settings:?}"), format!("{provider:?}")] {
        assert!(!printed.contains(KEY) && !printed.contains("gateway-token"), "{printed}");
    }
    expect![[r#"
        error InvalidRequest: Anthropic refused the request (HTTP 400): [key] [key] blue
    "#]]
    .assert_eq(&show(provider.stream(request("what?"))).await);
}

#[tokio::test]
async fn a_password_in_the_address_is_not_printed() {
    let echo = "hunter%402pass hunter@2pass dXNlcjpodW50ZXJAMnBhc3M=";
    let server = Server::start(vec![refusal("400 Bad", echo)]).await;
    let mut settings = settings(&server);
    settings.base_url = settings.base_url.replace("://", "://user:hunter%402pass@");
    expect![[r#"
        error InvalidRequest: Anthropic refused the request (HTTP 400): [key] [key] [key]
    "#]]
    .assert_eq(&play(&settings, request("what?")).await);
}

/// Plays one answer and shows what came of it.
async fn check(answer: Vec<Part>, expected: Expect) {
    let server = Server::start(vec![answer]).await;
    let seen = play(&settings(&server), request("what?")).await;
    expected.assert_eq(&seen.replace(&server.url, "SERVER"));
}

async fn play(settings: &AnthropicSettings, request: ModelRequest) -> String {
    show(Anthropic::new(settings).unwrap().stream(request)).await
}

/// What a stream yields; deltas of a block are joined, since reads may cut them anywhere.
async fn show(mut stream: heeler_core::EventStream) -> String {
    let (mut seen, mut text) = (String::new(), String::new());
    while let Some(event) = stream.next().await {
        if let Ok(ModelEvent::TextDelta { text: more, .. }) = &event {
            text += more;
            continue;
        }
        if !text.is_empty() {
            writeln!(seen, "0 {:?}", std::mem::take(&mut text)).unwrap();
        }
        match event {
            Ok(ModelEvent::Usage(usage)) => {
                writeln!(seen, "usage {} {}", usage.input, usage.output)
            }
            Ok(ModelEvent::BlockFinished { block, .. }) => writeln!(seen, "{block} done"),
            Ok(ModelEvent::Finished(reply)) => {
                let text: String = reply.blocks.iter().filter_map(|b| b.as_text()).collect();
                writeln!(seen, "finished {:?} {text:?}", reply.stop)
            }
            Ok(other) => writeln!(seen, "{other:?}"),
            Err(error) => {
                assert!(!error.message.contains(KEY), "{error}");
                let wait = error.retry_after.map_or(String::new(), |wait| format!(" {wait:?}"));
                let begins = ["127.0.0.1 could not be", "127.0.0.1 was reached, but"];
                let closed = error.kind == ProviderErrorKind::Network
                    && begins.iter().any(|begin| error.message.starts_with(begin));
                // What the operating system calls it differs.
                let message =
                    if closed { error.message.split(": ").next().unwrap() } else { &error.message };
                writeln!(seen, "error {:?}: {message}{wait}", error.kind)
            }
        }
        .unwrap();
    }
    seen
}

fn settings(server: &Server) -> AnthropicSettings {
    AnthropicSettings { base_url: server.url.clone(), ..AnthropicSettings::with_api_key(KEY) }
}

fn sse(text: &str) -> Vec<u8> {
    let text = serde_json::Value::from(text);
    let events = [
        r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":3,"output_tokens":1}}}"#.to_owned(),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#.to_owned(),
        format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{text}}}}}"#),
        r#"{"type":"content_block_stop","index":0}"#.to_owned(),
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}"#.to_owned(),
        r#"{"type":"message_stop"}"#.to_owned(),
    ];
    let named = |event: &String| {
        let kind = event.split('"').nth(3).unwrap();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(named).collect::<String>().into_bytes()
}

fn answer(text: &str, chunking: Chunking) -> Vec<Part> {
    stream(&sse(text), chunking)
}

fn request(text: &str) -> ModelRequest {
    crate::wire::request("claude-test", text)
}
