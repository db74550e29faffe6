//! Answers that never come to their end, and pages for people that come instead of one.

use std::time::Duration;

use expect_test::{Expect, expect};
use futures::StreamExt as _;
use heeler_core::{ModelEvent, Provider as _, ProviderErrorKind};
use heeler_providers::{Anthropic, AnthropicSettings, Chat, ChatSettings, IDLE_TIMEOUT_DEFAULT};
use tokio::time::Instant;

use crate::server::{Part, Server};
use crate::wire::request;

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const START: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}

"#;
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
/// As `TEXT_BYTES_MAX` in the crate.
const TEXT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How often signs of life come, in time that passes only while everybody waits.
const SIGNS: Duration = Duration::from_secs(30);
const DAY: Duration = Duration::from_secs(24 * 3600);

fn delta(index: u32, kind: &str, member: &str, text: &str) -> String {
    format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":{index},\
         \"delta\":{{\"type\":\"{kind}\",\"{member}\":\"{text}\"}}}}\n\n"
    )
}

/// What comes of an answer: the bytes of text, and the failure. Nobody waits for more than `limit`.
async fn answered(parts: Vec<Part>, limit: Duration) -> (usize, String) {
    let server = Server::start(vec![parts]).await;
    let mut settings = AnthropicSettings::with_api_key("k");
    settings.base_url = server.url.clone();
    let mut stream = Anthropic::new(&settings).unwrap().stream(request("m", "go"));
    let mut text_bytes = 0;
    let reading = async {
        while let Some(event) = stream.next().await {
            match event {
                Ok(ModelEvent::TextDelta { text, .. } | ModelEvent::ThinkingDelta { text, .. }) => {
                    text_bytes += text.len();
                }
                Ok(_) => {}
                Err(error) => {
                    let is_final = if error.kind.is_transient() { "" } else { ", final" };
                    return format!("{:?}{is_final}: {}", error.kind, error.message);
                }
            }
        }
        "done".to_owned()
    };
    let said = tokio::time::timeout(limit, reading).await.unwrap_or_else(|_| "too late".to_owned());
    drop(stream);
    server.closed_by_client().await;
    (text_bytes, said)
}

fn begun(rest: Part) -> Vec<Part> {
    vec![Part::Bytes(HEAD.into()), Part::Bytes(START.into()), rest]
}

#[tokio::test]
async fn an_answer_that_goes_on_and_on_is_left_and_not_asked_for_again() {
    let minute = Duration::from_secs(60);
    let text = "x".repeat(16 * 1024);
    for (index, kind, member) in [(0, "text_delta", "text"), (1, "thinking_delta", "thinking")] {
        let flood = delta(index, kind, member, &text).repeat(16).into_bytes();
        let (text_bytes, said) = answered(begun(Part::Repeat(flood, Duration::ZERO)), minute).await;
        expect!["InvalidRequest, final: the answer is longer than 33554432 bytes, which no model writes, and was left. Look at the server, or at a proxy before it"].assert_eq(&said);
        // And a reading more, at most.
        assert!(
            (TEXT_BYTES_MAX..TEXT_BYTES_MAX + 256 * 1024).contains(&text_bytes),
            "{text_bytes}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn signs_of_life_are_enough_for_a_while_and_not_for_ever() {
    let since = Instant::now();
    let (_, said) = answered(begun(Part::Repeat(PING.into(), SIGNS)), DAY).await;
    expect!["Network: the provider sent signs of life and nothing else for 3600 s; the connection was closed"].assert_eq(&said);
    // Longer than silence is waited for: some models think for long and show nothing of it.
    assert!(since.elapsed() >= IDLE_TIMEOUT_DEFAULT * 12);
    // So are comments, and before anything was said.
    let comments = vec![Part::Bytes(HEAD.into()), Part::Repeat(": wait\n\n".into(), SIGNS)];
    let (_, said) = answered(comments, DAY).await;
    assert!(said.starts_with("Network: the provider sent signs of life"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_slowly_may_take_its_time() {
    let some = format!("{PING}{}", delta(0, "text_delta", "text", "x"));
    let (text_bytes, said) = answered(begun(Part::Repeat(some.into(), SIGNS)), DAY / 10).await;
    assert_eq!(said, "too late");
    assert!(text_bytes > 200, "{text_bytes}");
}

/// What is said of a refusal with this head and body.
async fn refused(head: &str, body: &[u8], expected: Expect) -> ProviderErrorKind {
    let length = body.len();
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n");
    let answer = || vec![Part::Bytes([head.as_bytes(), body].concat())];
    let server = Server::start(vec![answer(), answer()]).await;
    let mut settings = AnthropicSettings::with_api_key("k");
    settings.base_url = server.url.clone();
    let mut stream = Anthropic::new(&settings).unwrap().stream(request("m", "go"));
    let error = stream.next().await.unwrap().unwrap_err();
    let is_final = if error.kind.is_transient() { "" } else { ", final" };
    let told = error.message.replace(&server.url, "SERVER");
    expected.assert_eq(&format!("{:?}{is_final}: {told}", error.kind));
    // It is nothing of a dialect.
    let mut settings = ChatSettings::with_api_key("k");
    settings.base_url = format!("{}/v1", server.url);
    let mut stream = Chat::new(&settings).unwrap().stream(request("m", "go"));
    let other = stream.next().await.unwrap().unwrap_err();
    if !head.contains("location") {
        // But the variable that its key stands in.
        let keys = "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN";
        let other_told = other.message.replace("OPENAI_API_KEY", keys);
        // And the address, where that may be wrong.
        let other_told = other_told.replace("/v1/chat/completions", "/v1/messages");
        assert_eq!((other_told, other.retry_after), (error.message, error.retry_after));
    }
    error.kind
}

#[tokio::test]
async fn a_page_under_a_refusal_is_a_word_about_a_key_only_where_the_status_is() {
    let page = "<!DOCTYPE html>\n<html><head><title>\n Access denied | Gate </title></head><body>secret</body></html>";
    let html = "content-type: text/html; charset=utf-8";
    refused(&format!("403 Forbidden\r\n{html}"), page.as_bytes(), expect!["InvalidRequest, final: SERVER answered HTTP 403 with a page for people, `Access denied | Gate`, not as a model does. It is of something in between, such as a proxy or a firewall: check the proxy, the network and the base URL"]).await;
    // Whatever it is called.
    refused("407 No", page.as_bytes(), expect!["InvalidRequest, final: SERVER answered HTTP 407 with a page for people, `Access denied | Gate`, not as a model does. It is of something in between, such as a proxy or a firewall: check the proxy, the network and the base URL"]).await;
    // Gateways say it so as well.
    refused("401 No", page.as_bytes(), expect![[r#"
        Auth, final: SERVER answered HTTP 401 with a page for people, `Access denied | Gate`, not as a model does. Either the key was not accepted, or it is of something in between, such as a proxy or a firewall: check the proxy, the network and the base URL
        Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN."#]]).await;
    refused(&format!("404 No\r\n{html}"), b"<h1>nginx</h1>", expect![[r#"
        InvalidRequest, final: SERVER answered HTTP 404 with a page for people, not as a model does. It is of something in between, such as a proxy or a firewall: check the proxy, the network and the base URL
        The request went to SERVER/v1/messages"#]]).await;
    refused(&format!("502 Bad\r\n{html}"), b"\n<html>Bad</html>", expect!["Server: SERVER answered HTTP 502 with a page for people, not as a model does. It is of something in between, such as a proxy or a firewall: try again, and check the proxy, the network and the base URL"]).await;
    let kind = refused(&format!("429 Slow\r\nretry-after: 7\r\n{html}"), b"<p>", expect!["RateLimit: SERVER answered HTTP 429 with a page for people, not as a model does. It is of something in between, such as a proxy or a firewall: try again, and check the proxy, the network and the base URL"]).await;
    assert_eq!(kind, ProviderErrorKind::RateLimit);
    // One that is packed cannot be looked at.
    refused(&format!("403 No\r\n{html}\r\ncontent-encoding: gzip"), b"\x1f\x8b", expect!["InvalidRequest, final: SERVER answered HTTP 403 with a page for people, not as a model does. It is of something in between, such as a proxy or a firewall: check the proxy, the network and the base URL"]).await;
    // And what redirects say is the address.
    refused(
        &format!("302 Moved\r\nlocation: /x\r\n{html}"),
        page.as_bytes(),
        expect![[r#"
            InvalidRequest, final: Anthropic refused the request (HTTP 302)
            The address redirects, and keys are not sent elsewhere: correct ANTHROPIC_BASE_URL.
            The request went to SERVER/v1/messages"#]],
    )
    .await;
    // What is no page stays what the provider says.
    let own = br#"{"error":{"message":"no"}}"#;
    refused(
        &format!("403 No\r\nlocation: -\r\n{html}"),
        own,
        expect![[r#"
        Auth, final: Anthropic did not accept the key (HTTP 403): no
        Check what the key in ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN may use."#]],
    )
    .await;
}
