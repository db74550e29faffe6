//! The same answer in every dialect, streamed and whole, in any pieces.

use std::sync::Arc;

use heeler_core::{Block, Provider, Reply, Usage};
use heeler_providers::IDLE_TIMEOUT_DEFAULT;

use crate::conformance::ask;
use crate::conformance::scenario::{Said, Scenario, all, told};
use crate::conformance::speak::{DIALECTS, Dialect};
use crate::server::{Part, Server};
use crate::wire::sized as answer;

pub(crate) const STREAM: &str = "200 OK\r\ncontent-type: text/event-stream";
pub(crate) const DOCUMENT: &str = "200 OK\r\ncontent-type: application/json";

#[tokio::test]
async fn streamed_and_whole_answers_are_the_same() {
    for dialect in DIALECTS {
        for scenario in all() {
            let place = format!("{}: {}", dialect.name, scenario.name);
            let streamed = one(dialect, answer(STREAM, (dialect.stream)(&scenario))).await;
            assert_eq!(told(&streamed), scenario.expected(), "{place}");
            let whole = one(dialect, answer(DOCUMENT, (dialect.document)(&scenario))).await;
            assert_eq!(whole, streamed, "{place}: as one document");
        }
    }
}

#[tokio::test]
async fn pieces_do_not_matter() {
    for dialect in DIALECTS {
        for scenario in all() {
            let stream = (dialect.stream)(&scenario);
            let whole = one(dialect, answer(STREAM, &stream)).await;
            for text in [stream.clone(), stream.replace('\n', "\r\n")] {
                let head = format!("HTTP/1.1 {STREAM}\r\ncontent-length: {}\r\n\r\n", text.len());
                let parts = vec![Part::Bytes(head.into()), Part::Drip(text.into())];
                assert_eq!(one(dialect, parts).await, whole, "{}", dialect.name);
            }
        }
    }
}

#[tokio::test]
async fn a_cut_stream_is_never_taken_for_a_whole_one() {
    let scenario = Scenario {
        name: "cut",
        said: vec![Said::Text("one"), Said::Call { id: "c", name: "n", input: r#"{"a":1}"# }],
        ..all().remove(3)
    };
    for dialect in DIALECTS {
        let stream = (dialect.stream)(&scenario);
        let cuts = (0..stream.len()).map(|at| {
            let head = format!("HTTP/1.1 {STREAM}\r\nconnection: close\r\n\r\n");
            vec![Part::Bytes([head.as_bytes(), &stream.as_bytes()[..at]].concat()), Part::Close]
        });
        let server = Server::start(cuts.collect()).await;
        let provider = (dialect.provider)(&server.url, IDLE_TIMEOUT_DEFAULT);
        for at in 0..stream.len() {
            match ask(&provider).await {
                Err(error) => assert!(error.kind.is_transient(), "{}: {error}", dialect.name),
                // All that was said had come, and why it ended; only the end marker had not, or the
                // usage before it.
                Ok(mut reply) => {
                    if reply.usage == Usage::default() {
                        reply.usage = scenario.usage;
                    }
                    assert_eq!(told(&reply), scenario.expected(), "{} cut at {at}", dialect.name);
                }
            }
        }
    }
}

#[tokio::test]
async fn what_nobody_knows_yet_disturbs_nothing() {
    for dialect in DIALECTS {
        let scenario = &all()[3];
        let stream = (dialect.stream)(scenario);
        let whole = one(dialect, answer(STREAM, &stream)).await;
        for (at, _) in stream.match_indices("\n\n") {
            let (before, after) = stream.split_at(at + 2);
            if after.is_empty() {
                continue;
            }
            let with = format!("{before}: a comment\n\n{}{after}", dialect.unknown);
            assert_eq!(one(dialect, answer(STREAM, with)).await, whole, "{}", dialect.name);
        }
    }
}

/// Nothing is asked of a call's id but that results find their call.
#[tokio::test]
async fn calls_with_empty_or_repeated_ids_can_be_told_apart() {
    for dialect in DIALECTS {
        for id in ["", "same"] {
            let call = |input| Said::Call { id, name: "read", input };
            let scenario =
                Scenario { said: vec![call(r#"{"n":1}"#), call(r#"{"n":2}"#)], ..all().remove(3) };
            let streamed = one(dialect, answer(STREAM, (dialect.stream)(&scenario))).await;
            let whole = one(dialect, answer(DOCUMENT, (dialect.document)(&scenario))).await;
            assert_eq!(streamed, whole, "{}", dialect.name);
            let inputs: Vec<&str> = streamed
                .blocks
                .iter()
                .filter_map(|block| match block {
                    Block::ToolUse(call) => Some(call.input.get()),
                    _ => None,
                })
                .collect();
            assert_eq!(inputs, [r#"{"n":1}"#, r#"{"n":2}"#], "{} {id:?}", dialect.name);
        }
    }
}

pub(crate) async fn one(dialect: Dialect, parts: Vec<Part>) -> Reply {
    let server = Server::start(vec![parts]).await;
    let provider: Arc<dyn Provider> = (dialect.provider)(&server.url, IDLE_TIMEOUT_DEFAULT);
    match ask(&provider).await {
        Ok(reply) => reply,
        Err(error) => panic!("{}: {error}", dialect.name),
    }
}
