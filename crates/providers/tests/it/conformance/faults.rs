//! The same faults in every dialect, before an answer and in the middle of one, and what each is
//! taken for.

use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use heeler_core::{Provider, ProviderError};
use heeler_providers::IDLE_TIMEOUT_DEFAULT;

use crate::conformance::ask;
use crate::conformance::scenario::{Said, all, told};
use crate::conformance::speak::{DIALECTS, Dialect};
use crate::server::{Part, Server};
use crate::wire::sized as answer;

const STREAM: &str = "200 OK\r\ncontent-type: text/event-stream";
/// How long a server may be silent here.
const PATIENCE: Duration = Duration::from_millis(200);

#[tokio::test]
async fn refusals() {
    let lines = [
        "400 Bad Request",
        "401 Unauthorized",
        "402 Payment Required",
        "403 Forbidden",
        "404 Not Found",
        "408 Request Timeout",
        "413 Content Too Large",
        "429 Too Many Requests",
        "429 Too Many Requests\r\nretry-after: 7",
        "429 Too Many Requests\r\nretry-after-ms: 1500",
        "429 Too Many Requests\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
         retry-after: Sun, 06 Nov 1994 08:49:57 GMT",
        "429 Too Many Requests\r\nretry-after: soon",
        "500 Internal Server Error",
        "503 Service Unavailable\r\nretry-after: 2",
        "529 Overloaded",
        "307 Temporary Redirect\r\nlocation: http://a.test/",
        "401 Unauthorized\r\ncontent-encoding: gzip",
        "429 Too Many Requests\r\ncontent-encoding: br\r\nretry-after: 7",
    ];
    let mut seen = String::new();
    for line in lines {
        let name = line.split("\r\n").collect::<Vec<_>>().join(" | ");
        let refusal = |dialect: Dialect| answer(line, (dialect.refusal)("", "No."));
        seen += &play(&name, refusal).await;
    }
    let page = |_| answer("502 Bad Gateway\r\ncontent-type: text/html", "<html>Bad</html>");
    seen += &play("502, an HTML page", page).await;
    seen += &play("500, nothing", |_| answer("500 Internal Server Error", "")).await;
    check(
        seen,
        expect![[r#"
            400 Bad Request: InvalidRequest, final
            401 Unauthorized: Auth, final
            402 Payment Required: Billing, final
            403 Forbidden: Auth, final
            404 Not Found: UnknownModel, final
            408 Request Timeout: Server
            413 Content Too Large: ContextOverflow, final
            429 Too Many Requests: RateLimit
            429 Too Many Requests | retry-after: 7: RateLimit, wait 7s
            429 Too Many Requests | retry-after-ms: 1500: RateLimit, wait 1.5s
            429 Too Many Requests | date: Sun, 06 Nov 1994 08:49:37 GMT | retry-after: Sun, 06 Nov 1994 08:49:57 GMT: RateLimit, wait 20s
            429 Too Many Requests | retry-after: soon: RateLimit
            500 Internal Server Error: Server
            503 Service Unavailable | retry-after: 2: Server, wait 2s
            529 Overloaded: Overloaded
            307 Temporary Redirect | location: http://a.test/: InvalidRequest, final
            401 Unauthorized | content-encoding: gzip: Auth, final
            429 Too Many Requests | content-encoding: br | retry-after: 7: RateLimit, wait 7s
            502, an HTML page: Server
            500, nothing: Server
        "#]],
    );
}

#[tokio::test]
async fn broken_answers() {
    let close = |bytes: &[u8]| vec![Part::Bytes(bytes.into()), Part::Close];
    let mut seen = play("no byte", |_| vec![Part::Close]).await;
    seen += &play("reset", |_| vec![Part::Reset]).await;
    seen += &play("half a head", |_| close(b"HTTP/1.1 20")).await;
    seen += &play("no HTTP", |_| close(b"SSH-2.0-x\r\n\r\n")).await;
    seen += &play("an empty body", |_| answer(STREAM, "")).await;
    let page = |_| answer("200 OK\r\ncontent-type: text/html", "<html></html>");
    seen += &play("an HTML page", page).await;
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00";
    let gzipped = |_| answer("200 OK\r\ncontent-encoding: gzip", gzip);
    seen += &play("compressed though nobody asked", gzipped).await;
    let garbage = b"\x00\xff\xfe data: \x01{{{\n\n".repeat(50);
    seen += &play("garbage", |_| answer(STREAM, &garbage)).await;
    seen += &play("another document", |_| answer("200 OK", r#"{"status":"ok"}"#)).await;
    let cut = |dialect: Dialect| {
        let document = (dialect.document)(&all()[0]);
        answer("200 OK", &document[..document.len() / 2])
    };
    seen += &play("half a document", cut).await;
    let refusal = |dialect: Dialect| answer("200 OK", (dialect.refusal)("", "No."));
    seen += &play("a document that refuses", refusal).await;
    check(
        seen,
        expect![[r#"
            no byte: Network
            reset: Network
            half a head: Network
            no HTTP: Network
            an empty body: Format
            an HTML page: InvalidRequest, final
            compressed though nobody asked: InvalidRequest, final
            garbage: Format
            another document: Format
            half a document: Format
            a document that refuses: Server
        "#]],
    );
}

#[tokio::test]
async fn answers_that_end_in_the_middle() {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let half = |dialect: Dialect| {
        let stream = (dialect.stream)(&all()[0]);
        let at = stream.match_indices("\n\n").nth(3).unwrap().0;
        stream[..at + 2].to_owned()
    };
    let first = |dialect| Part::Bytes((head.to_owned() + &half(dialect)).into());
    let mut seen = play("closed", |dialect| vec![first(dialect), Part::Close]).await;
    seen += &play("reset", |dialect| vec![first(dialect), Part::Reset]).await;
    seen += &play("silent", |dialect| vec![first(dialect), Part::Hang]).await;
    let overloaded = |dialect: Dialect| answer(STREAM, half(dialect) + dialect.overloaded);
    seen += &play("overloaded", overloaded).await;
    let garbage = |dialect: Dialect| answer(STREAM, half(dialect) + "data: {\"type\":1,\n\n");
    seen += &play("garbage", garbage).await;
    check(
        seen,
        expect![[r#"
            closed: Format
            reset: Network
            silent: Network
            overloaded (anthropic): Overloaded
            overloaded (openai-chat): Overloaded
            overloaded (openrouter): Server
            overloaded (openai-responses): Overloaded
            garbage: Format
        "#]],
    );
}

/// Responses tell the whole answer in their last event, so nothing is left that could be missing.
#[tokio::test]
async fn an_answer_that_is_there_is_kept_however_its_connection_ends() {
    let scenario = &all()[0];
    let end = |dialect: Dialect| {
        let stream = (dialect.stream)(scenario);
        let at = stream.trim_end().rfind("\n\n").unwrap() + 2;
        stream[..at].to_owned()
    };
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    for dialect in DIALECTS.into_iter().filter(|dialect| dialect.name != "openai-responses") {
        let chunk = format!("{chunked}{:x}\r\n{}\r\n", end(dialect).len(), end(dialect));
        for ending in [Part::Close, Part::Hang] {
            let parts = vec![Part::Bytes(chunk.clone().into()), ending];
            let server = Server::start(vec![parts]).await;
            let provider = (dialect.provider)(&server.url, PATIENCE);
            let reply = ask(&provider).await.unwrap();
            assert_eq!(told(&reply), scenario.expected(), "{}", dialect.name);
        }
    }
}

#[tokio::test]
async fn an_event_of_a_megabyte_arrives() {
    let mut scenario = all().remove(0);
    let text: &'static str = Box::leak("wörd ".repeat(200_000).into_boxed_str());
    scenario.said = vec![Said::Text(text)];
    for dialect in DIALECTS {
        // One that begins with all of its text, and one document.
        let document = (dialect.document)(&scenario);
        let server = Server::start(vec![answer("200 OK", document)]).await;
        let provider = (dialect.provider)(&server.url, IDLE_TIMEOUT_DEFAULT);
        let reply = ask(&provider).await.unwrap();
        assert_eq!(told(&reply), scenario.expected(), "{}", dialect.name);
    }
}

/// What a fault is taken for: a line for all dialects, or one for each.
async fn play(name: &str, fault: impl Fn(Dialect) -> Vec<Part>) -> String {
    let mut lines = Vec::new();
    for dialect in DIALECTS {
        let server = Server::start(vec![fault(dialect)]).await;
        let provider: Arc<dyn Provider> = (dialect.provider)(&server.url, PATIENCE);
        lines.push(show(&ask(&provider).await.unwrap_err()));
    }
    if lines.iter().all(|line| *line == lines[0]) {
        return format!("{name}: {}\n", lines[0]);
    }
    let each = DIALECTS.iter().zip(lines);
    each.map(|(dialect, line)| format!("{name} ({}): {line}\n", dialect.name)).collect()
}

fn show(error: &ProviderError) -> String {
    let wait = error.retry_after.map_or(String::new(), |wait| format!(", wait {wait:?}"));
    let again = if error.kind.is_transient() { "" } else { ", final" };
    format!("{:?}{again}{wait}", error.kind)
}

fn check(seen: String, expected: Expect) {
    expected.assert_eq(&seen);
}
