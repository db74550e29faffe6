//! Who reads what of an output, and what is written of it.

use expect_test::{Expect, expect};

use super::*;
use crate::ToolError;

fn reference() -> MediaReference {
    "media://a".parse().unwrap()
}

/// An output as JSON, what the model reads of it and what the user is sent.
#[expect(clippy::needless_pass_by_value, reason = "cases read as values")]
fn check(output: ToolOutput, expected: Expect) {
    let json = serde_json::to_string(&output).unwrap();
    let model: Vec<_> = output.content_for_model().iter().map(said).collect();
    let user = output.content_for_user();
    expected.assert_eq(&format!("{json}\nmodel {model:?}\nuser {user:?}\n"));
    let mut written = output;
    let _ = written.take_unwritten();
    let json = serde_json::to_string(&written).unwrap();
    assert_eq!(serde_json::from_str::<ToolOutput>(&json).unwrap(), written);
    let again: Vec<_> = written.content_for_model().iter().map(said).collect();
    assert_eq!(again, model, "the journal tells the model something else");
}

fn said(block: &Block) -> String {
    block.as_text().map_or_else(|| format!("{block:?}"), str::to_owned)
}

#[test]
fn every_kind_of_result_says_who_reads_what() {
    check(
        ToolOutput::default(),
        expect![[r#"
        {"for_llm":[]}
        model []
        user None
    "#]],
    );
    check(
        ToolOutput::text("a"),
        expect![[r#"
        {"for_llm":"a"}
        model ["a"]
        user None
    "#]],
    );
    check(
        ToolOutput::silent("a"),
        expect![[r#"
        {"for_llm":"a","silent":true}
        model ["a"]
        user None
    "#]],
    );
    check(
        ToolOutput { for_user: "b".into(), ..ToolOutput::silent("a") },
        expect![[r#"
        {"for_llm":"a","for_user":"b","silent":true}
        model ["a"]
        user None
    "#]],
    );
    check(
        ToolOutput::user("a"),
        expect![[r#"
        {"for_llm":"a","for_user":"a"}
        model ["a"]
        user Some(("a", []))
    "#]],
    );
    check(
        ToolOutput::error("a"),
        expect![[r#"
        {"for_llm":"a","is_error":true}
        model ["a"]
        user None
    "#]],
    );
    check(
        ToolOutput::background("a"),
        expect![[r#"
        {"for_llm":"a","async":true}
        model ["a"]
        user None
    "#]],
    );
    check(
        ToolOutput::media("a", [reference()]),
        expect![[r#"
        {"for_llm":"a","media":["media://a"]}
        model ["a"]
        user Some(("", [MediaReference("media://a")]))
    "#]],
    );
    check(
        ToolOutput::media("", [reference()]).with_response_handled(),
        expect![[r#"
        {"for_llm":"","media":["media://a"],"response_handled":true}
        model ["\n[The user has this answer already; do not give it again.]"]
        user Some(("", [MediaReference("media://a")]))
    "#]],
    );
    check(
        ToolOutput::text("a").with_artifact("/a").with_artifact("/b"),
        expect![[r#"
        {"for_llm":"a","artifact_tags":["[file:/a]","[file:/b]"]}
        model ["a", "\n[Made here; the user has not been given them:] [file:/a] [file:/b]"]
        user None
    "#]],
    );
}

#[test]
fn an_error_speaks_where_nothing_else_does_and_is_never_written() {
    let disk = || std::io::Error::other("the disk is full");
    check(
        ToolOutput::error("a").with_error(disk()),
        expect![[r#"
        {"for_llm":"a","is_error":true}
        model ["a"]
        user None
    "#]],
    );
    check(
        ToolOutput::error(" \n").with_error(disk()),
        expect![[r#"
        {"for_llm":" \n","is_error":true}
        model ["the disk is full"]
        user None
    "#]],
    );
    check(
        ToolOutput::default().with_error("broken").with_response_handled(),
        expect![[r#"
        {"for_llm":[],"response_handled":true}
        model ["broken", "\n[The user has this answer already; do not give it again.]"]
        user None
    "#]],
    );
    let child = ToolOutput { messages: vec![Message::user("hm")].into(), ..ToolOutput::text("a") };
    check(
        child.clone(),
        expect![[r#"
        {"for_llm":"a"}
        model ["a"]
        user None
    "#]],
    );
    assert_eq!(child.clone().take_unwritten(), (None, child.messages));
}

#[test]
fn what_is_more_than_plain_text_is_written_as_blocks() {
    let two = vec![Block::text("a"), Block::text("b")];
    check(
        ToolOutput { content: two, ..ToolOutput::default() },
        expect![[r#"
        {"for_llm":[{"text":{"text":"a"}},{"text":{"text":"b"}}]}
        model ["a", "b"]
        user None
    "#]],
    );
    let marked = Block::text("a").cached(crate::CacheMarker::OneHour);
    check(
        ToolOutput { content: vec![marked], ..ToolOutput::default() },
        expect![[r#"
        {"for_llm":[{"text":{"text":"a","cache":"one_hour"}}]}
        model ["a"]
        user None
    "#]],
    );
    let refused = serde_json::from_str::<ToolOutput>(r#"{"for_llm":7}"#).unwrap_err();
    assert!(refused.to_string().contains("expected a text or blocks"), "{refused}");
}

#[test]
fn what_the_model_reads_is_kept_without_room_for_more() {
    let handled = ToolOutput::text("a").with_response_handled();
    for output in [
        ToolOutput::text("a"),
        ToolOutput::text("a").with_artifact("/a"),
        handled.clone(),
        handled.with_artifact("/a").with_artifact("/b"),
        ToolOutput::default().with_error("a"),
    ] {
        let content = output.content_for_model();
        assert_eq!(content.capacity(), content.len(), "{content:?}");
    }
}

#[test]
fn a_fault_is_what_it_says_and_keeps_its_cause() {
    let fault = |error: ToolError| ToolOutput::error("a").with_error(error).error.unwrap();
    let broken = || ToolError::Internal(std::io::Error::other("the disk is full").into());
    let [one, same] = [broken(), broken()].map(fault);
    assert_eq!(one, same);
    assert_eq!(one, fault(ToolError::for_model("the tool failed: the disk is full")));
    assert_ne!(one, fault(ToolError::for_model("the disk is full")));
    assert_eq!(one.source().unwrap().to_string(), "the disk is full");
}
