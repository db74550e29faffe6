//! Chat Completions over real HTTP: what goes over the wire, what becomes of answers that drip,
//! break, fall silent or refuse, and what servers on this machine tell of themselves.

mod local;

use std::fmt::Write;
use std::time::Duration;

use expect_test::{Expect, expect};
use futures::StreamExt;
use heeler_core::{Message, ModelEvent, ModelRequest, Provider, Reply};
use heeler_providers::chat::{Quirks, request_body};
use heeler_providers::openrouter::OpenRouterSettings;
use heeler_providers::presets::Preset;
use heeler_providers::{Chat, ChatSettings, Secret};

use crate::server::{Part, Server};
use crate::wire::{Chunking, document, head, head_of_close, sized as refusal, stream};

const KEY: &str = "sk-proj-secret";
const WHOLE: &str = r#"{"id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":"héllo"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":1}}}"#;

#[tokio::test]
async fn a_request_has_an_exact_length_and_its_headers() {
    let server = Server::start(vec![answer(Chunking::Whole)]).await;
    let mut settings = settings(&server);
    settings.headers = vec![("X-Team".into(), Secret::new("blue"))];
    let events = play(&settings, request("what?")).await;
    expect![[r#"
        finished EndTurn "héllo", 2+1 7
    "#]]
    .assert_eq(&events);
    let [request] = &server.requests()[..] else { panic!("one request") };
    let body = String::from_utf8(request.body.clone()).unwrap();
    expect![[r#"{"model":"gpt-test","messages":[{"role":"user","content":"what?"}],"max_completion_tokens":1000,"stream":true,"stream_options":{"include_usage":true}}"#]].assert_eq(&body);
    expect![[r#"
        post /v1/chat/completions http/1.1
        accept: text/event-stream
        authorization: bearer sk-proj-secret
        content-type: application/json
        user-agent: heeler/0.1.0
        x-team: blue"#]]
    .assert_eq(&head(&request.head));
    assert!(request.head.contains(&format!("content-length: {}\r\n", body.len())));
}

#[tokio::test]
async fn openrouter_is_told_of_an_application_only_when_it_is_set() {
    let server = Server::start(vec![answer(Chunking::Whole), answer(Chunking::Whole)]).await;
    let mut settings = OpenRouterSettings::with_api_key(KEY);
    settings.base_url = server.url.clone() + "/api/v1";
    play(&settings.chat(), request("what?")).await;
    settings.app_url = Some("https://example.com".into());
    settings.app_title = Some("Example".into());
    play(&settings.chat(), request("what?")).await;
    let heads: Vec<String> = server.requests().iter().map(|request| head(&request.head)).collect();
    expect![[r#"
        post /api/v1/chat/completions http/1.1
        accept: text/event-stream
        authorization: bearer sk-proj-secret
        content-type: application/json
        user-agent: heeler/0.1.0

        post /api/v1/chat/completions http/1.1
        accept: text/event-stream
        authorization: bearer sk-proj-secret
        content-type: application/json
        http-referer: https://example.com
        user-agent: heeler/0.1.0
        x-title: example"#]]
    .assert_eq(&heads.join("\n\n"));
}

#[tokio::test]
async fn a_preset_without_a_key_sends_none() {
    let server = Server::start(vec![answer(Chunking::Whole)]).await;
    let url = server.url.clone() + "/v1";
    let ollama = Preset::named("ollama").unwrap();
    let settings = ollama.settings(|name| (name == "OLLAMA_BASE_URL").then(|| url.clone()));
    play(&settings.unwrap(), request("what?")).await;
    expect![[r#"
        post /v1/chat/completions http/1.1
        accept: text/event-stream
        content-type: application/json
        user-agent: heeler/0.1.0"#]]
    .assert_eq(&head(&server.requests()[0].head));
}

#[tokio::test]
async fn a_long_conversation_is_sent_whole() {
    let server = Server::start(vec![answer(Chunking::Whole)]).await;
    let text = "many words ".repeat(20_000);
    let mut long = request("");
    long.messages = (0..50).map(|_| Message::user(text.as_str())).collect();
    let expected = request_body(&long, &Quirks::default()).unwrap();
    play(&settings(&server), long).await;
    assert!(server.requests()[0].body == expected, "`request_body` is not what is sent");
}

#[tokio::test]
async fn answers_may_come_in_any_chunks_or_as_one_document() {
    let mut whole = None;
    let streams = [Chunking::Whole, Chunking::Drip, Chunking::Http].map(answer);
    for (n, parts) in streams.into_iter().chain([document(WHOLE)]).enumerate() {
        let server = Server::start(vec![parts]).await;
        let provider = Chat::new(&settings(&server)).unwrap();
        let events: Vec<_> = provider.stream(request("what?")).collect().await;
        let Some(Ok(ModelEvent::Finished(reply))) = events.last() else { panic!("{events:?}") };
        let whole: &Reply = whole.get_or_insert_with(|| reply.clone());
        assert_eq!(reply, whole, "answer {n}");
    }
}

#[tokio::test]
async fn an_answer_without_its_end_is_an_error() {
    let body = String::from_utf8(sse()).unwrap();
    let cut = &body[..body.find("\"finish_reason\":\"stop\"").unwrap()];
    check(
        vec![head_of_close(), Part::Bytes(cut.into()), Part::Close],
        expect![[r#"
        after "héllo"
        error Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it
    "#]],
    )
    .await;
    let promised = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let parts = vec![Part::Bytes(promised.into()), Part::Bytes(cut.into()), Part::Close];
    check(parts, expect![[r#"
        after "héllo"
        error Network: the connection broke in the middle of the answer: end of file before message length reached
    "#]]).await;
    let half = WHOLE.as_bytes()[..WHOLE.len() / 2].to_vec();
    check(vec![head_of_close(), Part::Bytes(half), Part::Close], expect![[r#"
        error Format: OpenAI's answer could not be read: EOF while parsing a string at line 1 column 101
    "#]]).await;
}

#[tokio::test]
async fn an_error_may_stand_in_the_place_of_an_answer_or_in_its_middle() {
    let error = r#"{"error":{"code":502,"message":"Provider disconnected"}}"#;
    let mut body = sse();
    body.truncate(body.windows(6).position(|window| window == b"finish").unwrap());
    body.truncate(body.windows(2).rposition(|window| window == b"\n\n").unwrap() + 2);
    body.extend_from_slice(format!("data: {error}\n\n").as_bytes());
    check(
        vec![head_of_close(), Part::Bytes(body), Part::Close],
        expect![[r#"
        after "héllo"
        error Server: OpenAI failed in the middle of its answer: Provider disconnected
    "#]],
    )
    .await;
    check(
        vec![head_of_close(), Part::Bytes(error.into()), Part::Close],
        expect![[r#"
        error Server: OpenAI failed in the middle of its answer: Provider disconnected
    "#]],
    )
    .await;
}

#[tokio::test]
async fn refusals_say_why_and_when_and_show_no_key() {
    let limited =
        r#"{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}"#;
    check(refusal("429 Too Many\r\nretry-after: 17", limited), expect![[r#"
        error RateLimit: OpenAI has had too many requests from this account (HTTP 429): slow down 17s
    "#]]).await;
    let echo =
        format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}","code":"invalid_api_key"}}}}"#);
    check(refusal("401 Unauthorized\r\nx-request-id: req_7", &echo), expect![[r#"
        error Auth: OpenAI did not accept the key (HTTP 401, request req_7): Incorrect API key: [key]
        Check OPENAI_API_KEY.
    "#]]).await;
    let full = r#"{"error":{"message":"maximum context length is 8192","code":"context_length_exceeded"}}"#;
    check(refusal("400 Bad Request", full), expect![[r#"
        error ContextOverflow: OpenAI found the request too long (HTTP 400): maximum context length is 8192
        Compact the conversation or begin a new one.
    "#]]).await;
    check(
        refusal("502 Bad Gateway", "No answer"),
        expect![[r#"
        error Server: OpenAI failed (HTTP 502): No answer
    "#]],
    )
    .await;
    check(
        refusal("307 Moved\r\nlocation: http://127.0.0.1:1/", ""),
        expect![[r#"
            error InvalidRequest: OpenAI refused the request (HTTP 307)
            The address redirects, and keys are not sent elsewhere: correct OPENAI_BASE_URL.
            The request went to SERVER/v1/chat/completions
        "#]],
    )
    .await;
}

#[tokio::test]
async fn silence_is_an_error() {
    let start = sse()[..40].to_vec();
    for parts in [vec![Part::Hang], vec![head_of_close(), Part::Bytes(start), Part::Hang]] {
        let server = Server::start(vec![parts]).await;
        let mut settings = settings(&server);
        settings.idle_timeout = Duration::from_millis(50);
        let seen = play(&settings, request("what?")).await;
        let expected =
            "error Network: the provider sent nothing for 0.05 s; the connection was closed\n";
        assert_eq!(seen, expected);
        server.closed_by_client().await;
    }
}

#[tokio::test]
async fn a_connection_serves_several_requests() {
    let server = Server::start((0..5).map(|_| answer(Chunking::Http)).collect()).await;
    let provider = Chat::new(&settings(&server)).unwrap();
    for _ in 0..5 {
        let seen = show(provider.stream(request("what?"))).await;
        assert!(seen.contains("finished EndTurn"), "{seen}");
    }
    assert_eq!((server.requests().len(), server.n_connections()), (5, 1));
}

#[test]
fn no_key_is_printed() {
    let mut settings = ChatSettings::with_api_key(KEY);
    settings.headers = vec![("x-gateway".into(), Secret::new("gateway-token"))];
    let provider = Chat::new(&settings).unwrap();
    for printed in [format!("{settings:?}"), format!("{provider:?}")] {
        assert!(!printed.contains(KEY) && !printed.contains("gateway-token"), "{printed}");
    }
}

/// Plays one answer and shows what came of it.
async fn check(answer: Vec<Part>, expected: Expect) {
    let server = Server::start(vec![answer]).await;
    let seen = play(&settings(&server), request("what?")).await;
    expected.assert_eq(&seen.replace(&server.url, "SERVER"));
}

async fn play(settings: &ChatSettings, request: ModelRequest) -> String {
    show(Chat::new(settings).unwrap().stream(request)).await
}

/// What a stream yields; deltas are joined, since reads may cut them anywhere.
async fn show(mut stream: heeler_core::EventStream) -> String {
    let (mut seen, mut text) = (String::new(), String::new());
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::TextDelta { text: more, .. }) => text += &more,
            Ok(ModelEvent::Finished(Reply { blocks, stop, usage, .. })) => {
                let whole: String = blocks.iter().filter_map(|block| block.as_text()).collect();
                assert_eq!(whole, text);
                let (input, output) = (usage.input, usage.output);
                writeln!(
                    seen,
                    "finished {stop:?} {whole:?}, {input}+{} {output}",
                    usage.cache_read
                )
                .unwrap();
            }
            Ok(_) => {}
            Err(error) => {
                assert!(!error.message.contains(KEY), "{error}");
                let wait = error.retry_after.map_or(String::new(), |wait| format!(" {wait:?}"));
                writeln!(seen, "after {text:?}").unwrap();
                seen = seen.replace("after \"\"\n", "");
                writeln!(seen, "error {:?}: {}{wait}", error.kind, error.message).unwrap();
            }
        }
    }
    seen
}

fn settings(server: &Server) -> ChatSettings {
    let mut settings = ChatSettings::with_api_key(KEY);
    settings.base_url = server.url.clone() + "/v1";
    settings
}

fn sse() -> Vec<u8> {
    let chunks = [
        r#"{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{"content":"hél"}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{"content":"lo"}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"id":"c1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":1}}}"#,
        "[DONE]",
    ];
    chunks.map(|chunk| format!("data: {chunk}\n\n")).concat().into_bytes()
}

fn answer(chunking: Chunking) -> Vec<Part> {
    stream(&sse(), chunking)
}

fn request(text: &str) -> ModelRequest {
    crate::wire::request("gpt-test", text)
}
