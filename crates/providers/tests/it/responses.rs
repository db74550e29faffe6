//! OpenAI's Responses over real HTTP: what goes over the wire, and what becomes of answers that
//! drip, break, fall silent or refuse.

use std::fmt::Write;
use std::time::Duration;

use expect_test::{Expect, expect};
use futures::StreamExt;
use heeler_core::{
    AcceptedAnswer, EventStream, Message, ModelEvent, ModelRequest, Provider, Reply,
};
use heeler_providers::responses::request_body;
use heeler_providers::{Responses, ResponsesSettings, Secret};

use crate::server::{Part, Server};
use crate::wire::{Chunking, document, head, head_of_close, sized as refusal, stream};

const KEY: &str = "sk-proj-secret";
const WHOLE: &str = r#"{"id":"resp_1","object":"response","status":"completed","output":[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"héllo"}]}],"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":1},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2}}}"#;

#[tokio::test]
async fn a_request_has_an_exact_length_and_its_headers() {
    let server = Server::start(vec![answer(Chunking::Whole)]).await;
    let mut settings = settings(&server);
    settings.organization = Some("org-1".into());
    settings.project = Some("proj_1".into());
    settings.headers = vec![("X-Team".into(), Secret::new("blue"))];
    let events = play(&settings, request("what?")).await;
    expect![[r#"
        0 "héllo"
        0 done
        usage 2+1 7 (2)
        finished EndTurn Some("héllo")
    "#]]
    .assert_eq(&events);
    let [request] = &server.requests()[..] else { panic!("one request") };
    let body = String::from_utf8(request.body.clone()).unwrap();
    expect![[r#"{"model":"gpt-test","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"what?"}]}],"max_output_tokens":1000,"include":["reasoning.encrypted_content"],"store":false,"stream":true}"#]].assert_eq(&body);
    expect![[r#"
        post /v1/responses http/1.1
        accept: text/event-stream
        authorization: bearer sk-proj-secret
        content-type: application/json
        openai-organization: org-1
        openai-project: proj_1
        user-agent: heeler/0.1.0
        x-team: blue"#]]
    .assert_eq(&head(&request.head));
    assert!(request.head.contains(&format!("content-length: {}\r\n", body.len())));
}

#[tokio::test]
async fn a_long_conversation_is_sent_whole_on_one_connection() {
    let server = Server::start(vec![answer(Chunking::Http), answer(Chunking::Http)]).await;
    let provider = Responses::new(&settings(&server)).unwrap();
    let text = "many words ".repeat(20_000);
    let mut long = request("");
    long.messages = (0..50).map(|_| Message::user(text.as_str())).collect();
    let expected = request_body(&long).unwrap();
    for _ in 0..2 {
        let mut stream = provider.stream(long.clone());
        while stream.next().await.is_some() {}
    }
    assert!(server.requests()[0].body == expected, "`request_body` is not what is sent");
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[1].body).unwrap();
    assert_eq!(body["input"].as_array().unwrap().len(), 50);
    assert_eq!(body["input"][49]["content"][0]["text"], text);
    assert_eq!(server.n_connections(), 1);
}

#[tokio::test]
async fn streamed_or_not_in_any_chunks_it_is_one_answer() {
    let mut replies = Vec::new();
    let streams = [Chunking::Whole, Chunking::Drip, Chunking::Http].map(answer);
    for parts in streams.into_iter().chain([document(WHOLE)]) {
        let server = Server::start(vec![parts]).await;
        let provider = Responses::new(&settings(&server)).unwrap();
        let events: Vec<_> = provider.stream(request("what?")).collect().await;
        let Some(Ok(ModelEvent::Finished(reply))) = events.last() else { panic!("{events:?}") };
        replies.push(reply.clone());
    }
    assert_eq!(replies[0].blocks[0].as_text(), Some("héllo"));
    let first: Reply = replies[0].clone();
    assert!(replies.iter().all(|reply| *reply == first), "{replies:?}");
}

#[tokio::test]
async fn an_answer_without_its_end_is_an_error() {
    let body = sse();
    let cut = body.len() - 60;
    let parts = vec![head_of_close(), Part::Bytes(body[..cut].into()), Part::Close];
    check(
        parts,
        expect![[r#"
        0 "héllo"
        0 done
        error Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it
    "#]],
    )
    .await;
    // The length promised more, so here the connection itself broke.
    let promised = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let parts = vec![Part::Bytes(promised.into()), Part::Bytes(body[..cut].into()), Part::Close];
    check(parts, expect![[r#"
        0 "héllo"
        0 done
        error Network: the connection broke in the middle of the answer: end of file before message length reached
    "#]]).await;
}

#[tokio::test]
async fn refusals_say_why_and_when_and_never_the_key() {
    let limited = r#"{"error":{"type":"tokens","code":"rate_limit_exceeded","message":"slow"}}"#;
    let refused = refusal("429 Too Many Requests\r\nretry-after-ms: 1500", limited);
    check(
        refused,
        expect![[r#"
        error RateLimit: OpenAI has had too many requests from this account (HTTP 429): slow 1.5s
    "#]],
    )
    .await;
    let poor = r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#;
    check(
        refusal("429 Too Many Requests", poor),
        expect![[r#"
        error Billing: OpenAI cannot bill this account (HTTP 429): pay
        Check the account's credit and payment details.
    "#]],
    )
    .await;
    let echo = format!(r#"{{"error":{{"code":"invalid_api_key","message":"bad key {KEY}"}}}}"#);
    let refused = refusal("401 Unauthorized\r\nx-request-id: req_7", &echo);
    check(
        refused,
        expect![[r#"
        error Auth: OpenAI did not accept the key (HTTP 401, request req_7): bad key [key]
        Check OPENAI_API_KEY.
    "#]],
    )
    .await;
    let echo =
        format!("event: error\ndata: {{\"type\":\"error\",\"message\":\"bad key {KEY}\"}}\n\n");
    check(
        vec![head_of_close(), Part::Bytes(echo.into()), Part::Close],
        expect![[r#"
        error Server: OpenAI failed in the middle of its answer: bad key [key]
    "#]],
    )
    .await;
    check(
        refusal("502 Bad Gateway", "oh no"),
        expect![[r#"
        error Server: OpenAI failed (HTTP 502): oh no
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_deployment_that_turns_out_not_to_reason_is_asked_for_none_any_more() {
    let body = r#"{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include","code":null}}"#;
    let refused = refusal("400 Bad Request", body);
    let server = Server::start(vec![refused, answer(Chunking::Http)]).await;
    let provider = Responses::new(&settings(&server)).unwrap();
    let mut seen = show(provider.stream(request("hi"))).await;
    seen += &show(provider.stream(request("hi"))).await;
    expect![[r#"
        error Server: OpenAI refused the request (HTTP 400): Encrypted content is not supported with this model.
        0 "héllo"
        0 done
        usage 2+1 7 (2)
        finished EndTurn Some("héllo")
    "#]].assert_eq(&seen);
    let asks = server.requests().into_iter().map(|request| {
        String::from_utf8(request.body).unwrap().contains("reasoning.encrypted_content")
    });
    assert_eq!(asks.collect::<Vec<_>>(), [true, false]);
}

#[tokio::test]
async fn silence_is_an_error() {
    let start = sse()[..100].to_vec();
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
async fn in_the_background_an_answer_is_told_again_from_its_beginning() {
    let cut = sse().len() - 60;
    let parts = vec![head_of_close(), Part::Bytes(sse()[..cut].into()), Part::Close];
    let server = Server::start(vec![parts, answer(Chunking::Whole)]).await;
    let mut settings = background(&server);
    settings.organization = Some("org-1".into());
    expect![[r#"
        accepted resp_1
        0 "héllo"
        0 done
        error Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it
    "#]]
    .assert_eq(&play(&settings, request("what?")).await);
    let told = Responses::new(&settings).unwrap().resume(request("what?"), accepted("resp_1"));
    expect![[r#"
        0 "héllo"
        0 done
        usage 2+1 7 (2)
        finished EndTurn Some("héllo")
    "#]]
    .assert_eq(&show(told).await);
    let requests = server.requests();
    let body = String::from_utf8(requests[0].body.clone()).unwrap();
    assert!(body.ends_with(r#""background":true,"store":true,"stream":true}"#), "{body}");
    expect![[r#"
        get /v1/responses/resp_1?stream=true&include%5b%5d=reasoning.encrypted_content http/1.1
        accept: text/event-stream
        authorization: bearer sk-proj-secret
        content-type: application/json
        openai-organization: org-1
        user-agent: heeler/0.1.0"#]]
    .assert_eq(&head(&requests[1].head));
}

#[tokio::test]
async fn an_answer_that_cannot_be_had_is_an_error_that_says_whether_to_wait() {
    let told = async |parts: Vec<Part>| {
        let server = Server::start(vec![parts]).await;
        let provider = Responses::new(&background(&server)).unwrap();
        show(provider.resume(request("what?"), accepted("resp_1"))).await
    };
    let gone = r#"{"error":{"message":"Response with id 'resp_1' not found.","code":null}}"#;
    let mut seen = told(refusal("404 Not Found", gone)).await;
    seen += &told(refusal("429 Too Many Requests\r\nretry-after: 3", "")).await;
    seen += &told(refusal("503 Busy", "")).await;
    let failed = r#"{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}"#;
    seen += &told(vec![head_of_close(), Part::Bytes(failed.into()), Part::Close]).await;
    expect![[r#"
        error Server: the answer that was begun could not be read again: OpenAI does not know this model or address (HTTP 404): Response with id 'resp_1' not found.
        error Network: the answer that was begun could not be read again: OpenAI has had too many requests from this account (HTTP 429) 3s
        error Network: the answer that was begun could not be read again: OpenAI failed (HTTP 503)
        error RateLimit: OpenAI has had too many requests from this account in the middle of its answer: slow
    "#]].assert_eq(&seen);
}

#[tokio::test]
async fn what_no_address_can_be_made_of_is_asked_for_anew() {
    let foreign = AcceptedAnswer { dialect: "other".into(), ..accepted("resp_1") };
    for answer_of in [foreign, accepted(""), accepted("../files"), accepted("a?b")] {
        let server = Server::start(vec![answer(Chunking::Whole)]).await;
        let provider = Responses::new(&background(&server)).unwrap();
        let seen = show(provider.resume(request("what?"), answer_of)).await;
        assert!(seen.contains("finished"), "{seen}");
        assert!(server.requests()[0].head.starts_with("post /v1/responses http"));
    }
}

#[tokio::test]
async fn an_answer_that_nobody_wants_any_more_is_stopped() {
    let begun = sse()[..sse().len() - 60].to_vec();
    let hanging = vec![head_of_close(), Part::Bytes(begun), Part::Hang];
    let server = Server::start(vec![hanging, vec![Part::Hang]]).await;
    let mut settings = background(&server);
    settings.idle_timeout = Duration::from_millis(500);
    let mut stream = Responses::new(&settings).unwrap().stream(request("what?"));
    while !matches!(stream.next().await, Some(Ok(ModelEvent::TextDelta { .. }))) {}
    drop(stream);
    server.closed_by_client().await;
    // The one that says so is not waited for long, either.
    server.closed_by_client().await;
    let heads: Vec<String> = server.requests().iter().map(|request| head(&request.head)).collect();
    assert!(heads[1].starts_with("post /v1/responses/resp_1/cancel http/1.1"), "{heads:?}");
    assert_eq!(server.requests()[1].body, b"");
}

#[tokio::test]
async fn what_has_ended_is_not_stopped() {
    let server = Server::start(vec![answer(Chunking::Whole), answer(Chunking::Whole)]).await;
    let provider = Responses::new(&background(&server)).unwrap();
    for _ in 0..2 {
        let mut stream = provider.stream(request("what?"));
        while stream.next().await.is_some() {}
        drop(stream);
    }
    let heads = server.requests();
    assert!(heads.iter().all(|request| request.head.starts_with("post /v1/responses http")));
}

fn background(server: &Server) -> ResponsesSettings {
    ResponsesSettings { background: true, ..settings(server) }
}

fn accepted(id: &str) -> AcceptedAnswer {
    AcceptedAnswer { dialect: "openai-responses".into(), id: id.into() }
}

/// Plays one answer and shows what comes of it.
async fn check(parts: Vec<Part>, expected: Expect) {
    let server = Server::start(vec![parts]).await;
    expected.assert_eq(&play(&settings(&server), request("what?")).await);
}

async fn play(settings: &ResponsesSettings, request: ModelRequest) -> String {
    show(Responses::new(settings).unwrap().stream(request)).await
}

async fn show(mut stream: EventStream) -> String {
    let mut seen = String::new();
    while let Some(event) = stream.next().await {
        let _ = match event {
            Ok(ModelEvent::TextDelta { block, text }) => writeln!(seen, "{block} {text:?}"),
            Ok(ModelEvent::BlockFinished { block, .. }) => writeln!(seen, "{block} done"),
            Ok(ModelEvent::Usage(usage)) => {
                let (fresh, read) = (usage.input, usage.cache_read);
                writeln!(seen, "usage {fresh}+{read} {} ({})", usage.output, usage.reasoning)
            }
            Ok(ModelEvent::Finished(reply)) => {
                writeln!(seen, "finished {:?} {:?}", reply.stop, reply.blocks[0].as_text())
            }
            Ok(ModelEvent::Accepted(answer)) => writeln!(seen, "accepted {}", answer.id),
            Ok(other) => writeln!(seen, "{other:?}"),
            Err(error) => {
                assert!(!format!("{error:?}").contains(KEY), "{error:?}");
                let wait = error.retry_after.map_or(String::new(), |wait| format!(" {wait:?}"));
                writeln!(seen, "error {:?}: {error}{wait}", error.kind)
            }
        };
    }
    seen
}

fn sse() -> Vec<u8> {
    let item = r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"héllo"}]}"#;
    let events = [
        ("response.created", r#""response":{"id":"resp_1"}"#.to_owned()),
        ("response.output_item.added", r#""output_index":0,"item":{"type":"message"}"#.to_owned()),
        ("response.output_text.delta", r#""output_index":0,"delta":"hé"#.to_owned() + "\""),
        ("response.output_text.delta", r#""output_index":0,"delta":"llo"#.to_owned() + "\""),
        ("response.output_item.done", format!(r#""output_index":0,"item":{item}"#)),
        ("response.completed", format!(r#""response":{WHOLE}"#)),
    ];
    let events = events
        .iter()
        .map(|(kind, rest)| format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{rest}}}\n\n"));
    events.collect::<String>().into_bytes()
}

fn settings(server: &Server) -> ResponsesSettings {
    ResponsesSettings { base_url: server.url.clone(), ..ResponsesSettings::with_api_key(KEY) }
}

fn answer(chunking: Chunking) -> Vec<Part> {
    stream(&sse(), chunking)
}

fn request(text: &str) -> ModelRequest {
    crate::wire::request("gpt-test", text)
}
