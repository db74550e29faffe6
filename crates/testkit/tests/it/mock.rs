//! What the mock server sends, checks and notices.

use std::io::Read;

use expect_test::{Expect, expect};
use heeler_script::{BlockSpec, ReplySpec, Script};
use heeler_testkit::{Chunking, MockServer};
use serde_json::json;

use crate::client::{HEADERS, open, post, send};

pub(crate) fn start(script: &str) -> MockServer {
    MockServer::start(Script::parse(script).unwrap_or_else(|error| panic!("{error}")))
}

/// A streaming request of these messages.
pub(crate) fn request(messages: &serde_json::Value) -> String {
    format!(r#"{{"model":"m","max_tokens":5,"stream":true,"messages":{messages}}}"#)
}

pub(crate) fn hello() -> String {
    request(&json!([{"role": "user", "content": "hello"}]))
}

/// The data lines of a stream.
fn data(body: &str) -> String {
    body.lines().filter_map(|line| line.strip_prefix("data: ")).map(|l| format!("{l}\n")).collect()
}

pub(crate) fn or_nothing(text: &str) -> String {
    format!("{}\n", if text.is_empty() { "nothing" } else { text })
}

#[test]
fn a_reply_is_the_providers_stream() {
    let server = start(
        r#"
[[reply]]
text = "héllo"
chunks = 2
usage = { input = 1, output = 2, cache_read = 3, cache_write = 4 }
blocks = [
  { thinking = "hm", signature = "sig" },
  { redacted = "xyz" },
  { opaque = { type = "server_tool_use", id = "s1" } },
  { call = "read", id = "", input = { path = "a" } },
  { call = "list" },
]
"#,
    );
    let response = post(&server, &hello());
    assert_eq!(response.status, 200);
    assert!(response.head.contains("content-type: text/event-stream"));
    assert!(response.body().starts_with("event: message_start\ndata: {"));
    expect![[r#"
        {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":4,"cache_read_input_tokens":3,"output_tokens":1}}}
        {"type":"ping"}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hél"}}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}
        {"type":"content_block_stop","index":0}
        {"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}
        {"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"h"}}
        {"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"m"}}
        {"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"sig"}}
        {"type":"content_block_stop","index":1}
        {"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"xyz"}}
        {"type":"content_block_stop","index":2}
        {"type":"content_block_start","index":3,"content_block":{"type":"server_tool_use","id":"s1"}}
        {"type":"content_block_stop","index":3}
        {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"","name":"read","input":{}}}
        {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"path"}}
        {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"\":\"a\"}"}}
        {"type":"content_block_stop","index":4}
        {"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"call_1_5","name":"list","input":{}}}
        {"type":"content_block_stop","index":5}
        {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":2}}
        {"type":"message_stop"}
    "#]].assert_eq(&data(&response.body()));
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(server.status().finished, 1);
}

#[test]
fn any_chunking_sends_the_same_bytes() {
    let pieces = |chunking| {
        let script = Script::of([ReplySpec::text("a text with an é and more")]);
        let server = MockServer::builder(script).chunking(chunking).start();
        let response = post(&server, &hello());
        assert!(response.is_whole);
        response.pieces
    };
    let whole = pieces(Chunking::Whole);
    assert_eq!(whole.len(), 1);
    let events = pieces(Chunking::PerEvent);
    assert!(events.iter().all(|event| event.ends_with("\n\n")), "{events:?}");
    assert_eq!((events.len(), events.concat()), (7, whole[0].clone()));
    for length in [0, 64] {
        let script = Script::of([ReplySpec::text("a plain text")]);
        let server = MockServer::builder(script).chunking(Chunking::Bytes(length)).start();
        let response = post(&server, &hello());
        let (last, others) = response.pieces.split_last().unwrap();
        assert!(others.iter().all(|piece| piece.len() == length.max(1)));
        assert!(last.len() <= length.max(1));
        assert!(
            response.body().ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
        );
    }
}

#[test]
fn a_failure_has_its_status_and_headers() {
    let server = start(
        r#"
[[reply]]
error = { status = 529, type = "overloaded_error", message = "busy", retry_after = 7 }
headers = { "X-Odd" = "yes", "retry-after-ms" = "1500" }
[[reply]]
text = "half"
error = { type = "overloaded_error", message = "busy" }
[[reply]]
error = { type = "network" }
[[reply]]
text = "half"
error = { type = "network" }
[[reply]]
text = "a"
headers = { "bad name" = "x" }
"#,
    );
    let failed = post(&server, &hello());
    assert_eq!(failed.status, 529);
    for header in ["retry-after: 7", "retry-after-ms: 1500", "x-odd: yes", "request-id: req_1"] {
        assert!(failed.head.contains(header), "{header} in {}", failed.head);
    }
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    assert_eq!(failed.body(), body);
    let in_stream = post(&server, &hello());
    assert_eq!((in_stream.status, in_stream.is_whole), (200, true));
    assert!(in_stream.body().ends_with(&format!("event: error\ndata: {body}\n\n")));
    let closed = post(&server, &hello());
    assert_eq!((closed.status, closed.body().as_str()), (0, ""));
    let broken = post(&server, &hello());
    assert_eq!((broken.status, broken.is_whole), (200, false));
    let unsendable = post(&server, &hello());
    assert_eq!(unsendable.status, 500);
    assert!(unsendable.body().contains("the script's headers cannot be sent"));
}

#[test]
fn a_stream_is_cut_where_the_script_says() {
    let check = |cut: &str, is_whole: bool, expected: Expect| {
        let server = start(&format!("[[reply]]\ntext = \"héllo\"\nchunks = 5\ncut = {cut}"));
        let response = post(&server, &hello());
        assert_eq!(response.is_whole, is_whole);
        let types: Vec<&str> = response.pieces.iter().filter_map(|p| p.lines().next()).collect();
        expected.assert_eq(&or_nothing(&types.join("\n")));
        assert_eq!(server.status().finished, 1);
    };
    check(
        "{}",
        true,
        expect![[r#"
        event: message_start
        event: ping
        event: content_block_start
        event: content_block_delta
        event: content_block_delta
        event: content_block_delta
        event: content_block_delta
        event: content_block_delta
        event: content_block_stop
    "#]],
    );
    check(
        "{ events = 3 }",
        true,
        expect![[r#"
        event: message_start
        event: ping
        event: content_block_start
        event: content_block_delta
    "#]],
    );
    check(
        "{ events = 3, hard = true }",
        false,
        expect![[r#"
        event: message_start
        event: ping
        event: content_block_start
        event: content_block_delta
    "#]],
    );
    check(
        "{ events = 0 }",
        true,
        expect![[r#"
        nothing
    "#]],
    );
    check(
        "{ bytes = 10 }",
        true,
        expect![[r#"
        event: mes
    "#]],
    );
}

#[test]
fn a_reader_who_goes_away_is_noticed() {
    let server = start("[[reply]]\ntext = \"hello\"\nstall = { events = 3 }");
    let mut socket = open(&server, "POST /v1/messages", HEADERS, &hello());
    assert!(server.wait_until(|status| status.stalled == 1));
    let mut some = [0; 1024];
    assert!(socket.read(&mut some).unwrap() > 0);
    assert_eq!((server.status().connections_open, server.status().abandoned), (1, 0));
    drop(socket);
    assert!(server.wait_until(|status| status.abandoned == 1 && status.connections_open == 0));
}

#[test]
fn a_test_on_one_thread_can_wait_too() {
    let server = start("[[reply]]\ntext = \"hello\"\nstall = {}");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _socket = open(&server, "POST /v1/messages", HEADERS, &hello());
    runtime.block_on(server.until(|status| status.stalled == 1));
    assert_eq!(server.status().requests, 1);
}

#[test]
fn a_request_needs_its_path_and_headers() {
    let server = start("[[reply]]\ntext = \"hello\"");
    assert_eq!(send(&server, "GET /v1/models", "a: b", "").status, 404);
    assert_eq!(send(&server, "POST /v1/messages", "a: b", &hello()).status, 401);
    let key = "authorization: Bearer k\r\ncontent-type: application/json";
    assert_eq!(send(&server, "POST /v1/messages", key, &hello()).status, 400);
    let all = format!("{key}\r\nAnthropic-Version: 1");
    assert_eq!(send(&server, "POST /v1/messages?beta=true", &all, &hello()).status, 200);
    assert_eq!(server.violations().len(), 3);
    let recorded = &server.requests()[3];
    assert_eq!(recorded.header("ANTHROPIC-VERSION"), Some("1"));
    assert_eq!(recorded.path, "/v1/messages?beta=true");
    assert_eq!(recorded.json()["model"], "m");
    assert_eq!(server.views().len(), 1);
}

#[test]
fn a_body_is_bounded() {
    let server = start("[[reply]]\ntext = \"hello\"");
    let body = request(&json!([{"role": "user", "content": "x".repeat(32 * 1024 * 1024)}]));
    let response = post(&server, &body);
    // The server need not read what it refuses: the client may see its answer or a broken pipe.
    assert!(matches!(response.status, 413 | 0), "{}", response.status);
    assert!(server.wait_until(|status| status.requests == 1));
    assert_eq!(server.violations(), ["the body is longer than 33554432 bytes"]);
}

#[test]
fn a_request_without_a_stream_gets_one_message() {
    let call = BlockSpec::call("read", json!({"path": "a"})).with_id("1");
    let broken = BlockSpec::call_raw("read", "{\"pa").with_id("2");
    let server = MockServer::builder(Script::of([ReplySpec::blocks([call, broken])]))
        .header("x-server", "mock")
        .start();
    let response = post(&server, &hello().replace("\"stream\":true,", ""));
    assert!(response.head.contains("x-server: mock"));
    expect![[r#"
        {"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"1","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"2","name":"read","input":{}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}}
    "#]].assert_eq(&format!("{}\n", response.body()));
}

#[test]
fn a_dropped_server_is_gone() {
    let server = start("[[reply]]\ntext = \"hello\"\nstall = {}");
    let mut socket = open(&server, "POST /v1/messages", HEADERS, &hello());
    assert!(server.wait_until(|status| status.stalled == 1));
    let address = server.url();
    drop(server);
    // What was sent is still there to be read; then the end, or a reset.
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest);
    assert!(std::net::TcpStream::connect(address.trim_start_matches("http://")).is_err());
}

#[test]
fn a_delay_comes_before_the_reply() {
    let server = start("[[reply]]\ntext = \"hello\"\ndelay_ms = 30");
    let begun = std::time::Instant::now();
    assert_eq!(post(&server, &hello()).status, 200);
    assert!(begun.elapsed().as_millis() >= 30);
}
