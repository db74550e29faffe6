//! A failure that a server tells in the middle of its answer, in every form that is seen, is read
//! in every dialect: what is taken for a broken connection is asked again and again.

use std::time::Duration;

use expect_test::expect;

use crate::conformance::ask;
use crate::conformance::scenario::all;
use crate::conformance::speak::{DIALECTS, Dialect};
use crate::server::{Part, Server};
use crate::wire::sized;

const STREAM: &str = "200 OK\r\ncontent-type: text/event-stream";

/// How an answer ends in which a server failed. `FAILURE` stands for an object that says so.
const FORMS: [(&str, &str); 23] = [
    ("an event", "data: FAILURE\n\n"),
    ("an event of that kind", "event: error\ndata: FAILURE\n\n"),
    ("an event, not ended", "data: FAILURE\n"),
    ("an event, its line not ended", "data: FAILURE"),
    ("an event of that kind, not ended", "event: error\r\ndata: FAILURE\r\n"),
    ("a list in an event", "data: [FAILURE]\n\n"),
    ("a field", "error: FAILURE\n\n"),
    ("a field, not ended", "error: FAILURE"),
    ("a line", "FAILURE\n\n"),
    ("a line, not ended by a blank one", "FAILURE\n"),
    ("a line, not ended", "FAILURE"),
    ("a line, and the end", "FAILURE\n\ndata: [DONE]\n\n"),
    ("a line after one of an event", "data: {\"id\"\nFAILURE\n\ndata: [DONE]\n\n"),
    ("a list", "[FAILURE]\n\n"),
    ("a list, not ended", "[FAILURE]"),
    ("a list in lines", "[{\n  \"error\": ERROR\n}\n,\n{}\n]\n\n"),
    ("a list in lines, not ended", "[{\r\n  \"error\": ERROR\r\n}\r\n]"),
    ("an object in lines", "{\n  \"type\": \"error\",\n  \"error\": ERROR,\n  \"x\": [\n  ]\n}\n"),
    ("a comment, and a line", ": hi\n\nFAILURE\n"),
    ("a line behind words", "upstream said:\nFAILURE\n\n"),
    ("a line behind another of JSON", "{\"status\":1}\nFAILURE\n\n"),
    ("a line within a page", "<pre>\n  FAILURE\n</pre>\n\n"),
    ("a line within a page, not ended", "<pre>\nFAILURE\n</pre>"),
];

const TOLD: &str = "InvalidRequest: Vendor refused the request in the middle of its answer: No.";

#[tokio::test]
async fn a_failure_is_told_in_whatever_form_it_comes() {
    let mut seen = String::new();
    for dialect in DIALECTS {
        let error = r#"{"type":"invalid_request_error","message":"No.","code":null}"#;
        for (name, form) in FORMS {
            for failure in ["{\"error\":ERROR}", "{\"type\":\"error\",\"error\":ERROR}"] {
                let form = form.replace("FAILURE", failure).replace("ERROR", error);
                for begun in ["", ": begun\n\n", &half(dialect)] {
                    let told = play(dialect, sized(STREAM, format!("{begun}{form}"))).await;
                    if told != TOLD {
                        seen += &format!("{}, {name} after {begun:?}: {told}\n", dialect.name);
                    }
                }
            }
        }
    }
    assert_eq!(seen, "");
}

#[tokio::test]
async fn a_failure_may_be_no_more_than_words_or_end_with_the_connection() {
    for dialect in DIALECTS {
        let words = r#"{"error":"Out of credits"}"#;
        let begun = half(dialect);
        let cut = format!("HTTP/1.1 {STREAM}\r\ncontent-length: 99999\r\n\r\n{begun}{words}");
        let mut seen = String::new();
        for parts in [
            sized(STREAM, format!("data: {words}\n\n")),
            sized(STREAM, format!("{begun}data: {words}\n\n")),
            sized(STREAM, format!("{begun}{words}")),
            vec![Part::Bytes(cut.into()), Part::Close],
            // Nothing of a failure.
            sized(STREAM, format!("{begun}{{\"error\":null}}\n\n{{\"status\":1}}\n")),
        ] {
            seen += &format!("{}\n", play(dialect, parts).await);
        }
        expect![[r#"
            Server: Vendor failed in the middle of its answer: Out of credits
            Server: Vendor failed in the middle of its answer: Out of credits
            Server: Vendor failed in the middle of its answer: Out of credits
            Server: Vendor failed in the middle of its answer: Out of credits
            Format: Vendor answer ended without its end marker: the connection or a proxy cut it
        "#]]
        .assert_eq(&seen);
    }
}

#[tokio::test]
async fn what_a_gateway_says_of_itself_in_between_is_no_failure() {
    for dialect in DIALECTS {
        let said = "{\"code\":0,\"msg\":\"heartbeat\"}\n\n{\"message\":\"queued\"}\n\n";
        let begun = half(dialect);
        let rest = (dialect.stream)(&all()[0])[begun.len()..].to_owned();
        for stream in [format!("{begun}{said}{rest}"), format!("{begun}{rest}{said}")] {
            let server = Server::start(vec![sized(STREAM, stream)]).await;
            let provider = (dialect.provider)(&server.url, Duration::from_secs(5));
            assert!(ask(&provider).await.is_ok(), "{}", dialect.name);
        }
    }
}

/// An answer that has begun.
fn half(dialect: Dialect) -> String {
    let stream = (dialect.stream)(&all()[0]);
    let at = stream.match_indices("\n\n").nth(3).unwrap().0;
    stream[..at + 2].to_owned()
}

/// What an answer is taken for that ends so, whoever gave it.
async fn play(dialect: Dialect, answer: Vec<Part>) -> String {
    let server = Server::start(vec![answer]).await;
    let provider = (dialect.provider)(&server.url, Duration::from_secs(5));
    let error = ask(&provider).await.unwrap_err();
    let (_, words) = error.message.split_once(' ').unwrap_or_default();
    format!("{:?}: Vendor {}", error.kind, words.lines().next().unwrap_or_default())
}
