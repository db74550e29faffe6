//! Answers in, events out: shapes as the vendors' own pages show them.

mod calls;
mod gateways;
mod properties;

use expect_test::{Expect, expect};
use heeler_core::Text;

use super::*;

const VENDOR: Vendor = Vendor { name: "OpenAI", keys: &[], base_url: "OPENAI_BASE_URL" };
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str =
    r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#;

#[test]
fn text() {
    check(
        &stream(&[
            r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-5.1","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x"}"#,
            r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}],"usage":null}"#,
            r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"lo\n\"\u00e9\""},"finish_reason":null}]}"#,
            STOP,
            r#"{"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":64,"audio_tokens":0,"accepted_prediction_tokens":0}}}"#,
        ]),
        expect![[r#"
            usage in 86 out 300 write 0 read 1920 think 64
            1 text "Hello\n\"é\""
            1 = text "Hello\n\"é\""
            finished EndTurn, in 86 out 300 write 0 read 1920 think 64, id chatcmpl-1: text "Hello\n\"é\""
        "#]],
    );
}

#[test]
fn a_refusal() {
    check(
        &stream(&[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":"I'm sorry, "}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"refusal":"no."}}]}"#,
            STOP,
            USAGE,
        ]),
        expect![[r#"
            usage in 9 out 12 write 0 read 0 think 0
            2 text "I'm sorry, no."
            2 = text "I'm sorry, no."
            finished Refusal, in 9 out 12 write 0 read 0 think 0, id none: text "I'm sorry, no."
        "#]],
    );
}

#[test]
fn a_second_answer_nobody_asked_for_is_left_out() {
    check(
        &stream(&[
            r#"{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}}]}"#,
            STOP,
            USAGE,
        ]),
        expect![[r#"
            usage in 9 out 12 write 0 read 0 think 0
            1 text "yes"
            1 = text "yes"
            finished EndTurn, in 9 out 12 write 0 read 0 think 0, id none: text "yes"
        "#]],
    );
}

#[test]
fn annotations_are_kept() {
    check(
        &stream(&[
            r#"{"choices":[{"index":0,"delta":{"content":"See it."}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":6,"url":"https://example.com","title":"It"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"annotations":[{"type":"url_citation","url_citation":{"url":"https://example.org"}}],"new_thing":{"a":1.50}}}]}"#,
            STOP,
            USAGE,
        ]),
        expect![[r#"
            usage in 9 out 12 write 0 read 0 think 0
            1 text "See it."
            1 = text "See it."
            3 = opaque openai-chat {"annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":6,"url":"https://example.com","title":"It"}},{"type":"url_citation","url_citation":{"url":"https://example.org"}}],"new_thing":{"a":1.50}}
            finished EndTurn, in 9 out 12 write 0 read 0 think 0, id none: text "See it."; opaque openai-chat {"annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":6,"url":"https://example.com","title":"It"}},{"type":"url_citation","url_citation":{"url":"https://example.org"}}],"new_thing":{"a":1.50}}
        "#]],
    );
}

#[test]
fn reasons_to_stop() {
    let reasons = [
        "stop",
        "length",
        "tool_calls",
        "content_filter",
        "function_call",
        "eos",
        "sensitive",
        "model_length",
        "new_reason",
        "error",
        "insufficient_system_resource",
        "content_filter: RECITATION",
        "new_filter: RECITATION",
        "function_call_filter: MALFORMED_FUNCTION_CALL",
    ];
    let seen: String = reasons
        .iter()
        .map(|reason| {
            let text = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
            let stop = STOP.replace(r#""stop""#, &format!("{reason:?}"));
            let (events, error) = decode(&[stream(&[text, &stop, USAGE]).as_bytes()]);
            match events.last() {
                Some(ModelEvent::Finished(reply)) => format!("{reason}: {:?}\n", reply.stop),
                _ => format!("{reason}: {}\n", error.unwrap_or_default()),
            }
        })
        .collect();
    expect![[r#"
        stop: EndTurn
        length: MaxTokens
        tool_calls: EndTurn
        content_filter: ContentFilter
        function_call: EndTurn
        eos: EndTurn
        sensitive: ContentFilter
        model_length: MaxTokens
        new_reason: Other("new_reason")
        error: Server: OpenAI failed in the middle of its answer
        insufficient_system_resource: Overloaded: OpenAI is overloaded in the middle of its answer
        content_filter: RECITATION: ContentFilter
        new_filter: RECITATION: Other("new_filter: RECITATION")
        function_call_filter: MALFORMED_FUNCTION_CALL: Server: OpenAI failed in the middle of its answer: MALFORMED_FUNCTION_CALL
    "#]]
    .assert_eq(&seen);
}

#[test]
fn an_answer_in_one_document_is_the_same_reply() {
    let document = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m",
        "choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"Hm",
        "refusal":null,"annotations":[{"type":"url_citation"}],"tool_calls":[
        {"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"},"extra_content":{"google":{"thought_signature":"c2ln"}}},
        {"id":"call_b","type":"function","function":{"name":"list","arguments":"{}"}}]},
        "logprobs":null,"finish_reason":"tool_calls"}],
        "usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#;
    let stream = stream(&[
        r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"reasoning_content":"H"}}]}"#,
        r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"reasoning_content":"m","content":"H"}}]}"#,
        r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"i","annotations":[{"type":"url_citation"}]}}]}"#,
        r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}}]}"#,
        r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}"#,
        r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}}]}}]}"#,
        r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"list","arguments":""}}]}}]}"#,
        r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        USAGE,
    ]);
    let reply = |body: &str| match decode(&[body.as_bytes()]).0.pop() {
        Some(ModelEvent::Finished(reply)) => reply,
        other => panic!("{other:?}"),
    };
    let whole = reply(document);
    assert_eq!(whole, reply(&stream));
    assert_eq!(whole, reply(&format!("\n \n{document}\n")));
    expect![[r#"finished ToolUse, in 9 out 12 write 0 read 0 think 0, id chatcmpl-1: thinking "Hm"; text "Hi"; opaque openai-chat {"annotations":[{"type":"url_citation"}]}; call call_a read {"path":"x"}; opaque openai-chat {"tool_call":{"extra_content":{"google":{"thought_signature":"c2ln"}}}}; call call_b list {}"#]].assert_eq(&show(&ModelEvent::Finished(whole)));
}

#[test]
fn an_end_that_is_missing() {
    let text = r#"{"choices":[{"delta":{"content":"half"}}]}"#;
    // Everything has come: only the marker is missing.
    let whole = stream(&[text, STOP, USAGE]);
    check(
        whole.trim_end().trim_end_matches("data: [DONE]"),
        expect![[r#"
        usage in 9 out 12 write 0 read 0 think 0
        1 text "half"
        1 = text "half"
        finished EndTurn, in 9 out 12 write 0 read 0 think 0, id none: text "half"
    "#]],
    );
    // A server that tells no usage, or whose usage is lost: the answer is there all the same.
    check(
        stream(&[text, STOP]).trim_end().trim_end_matches("data: [DONE]"),
        expect![[r#"
            1 text "half"
            1 = text "half"
            finished EndTurn, in 0 out 0 write 0 read 0 think 0, id none: text "half"
        "#]],
    );
    check_error(
        stream(&[text, USAGE]).trim_end().trim_end_matches("data: [DONE]"),
        expect![
            "Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it"
        ],
    );
    check_error(
        "",
        expect!["Format: OpenAI's answer held no events. Check OPENAI_BASE_URL if it is set"],
    );
    check_error(
        "<html>502</html>",
        expect![
            "Format: OpenAI's answer held no events, but `<html>502</html>`. Check OPENAI_BASE_URL if it is set"
        ],
    );
    check_error(
        "\n Bad gateway: try it later, the key was sk-1\nmore\n\n",
        expect![
            "Format: OpenAI's answer held no events, but `Bad gateway: try it later, the key was sk-1 more`. Check OPENAI_BASE_URL if it is set"
        ],
    );
    check_error(
        &format!("data: {}", "x".repeat(300)),
        expect![
            "Format: OpenAI's answer held no events, but `data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`. Check OPENAI_BASE_URL if it is set"
        ],
    );
    let listed = r#"[{"error":{"message":"Busy","status":"UNAVAILABLE"}}]"#;
    for body in [format!("data: {listed}\n\n"), format!("{BEGUN}{listed}\n\n")] {
        let told = "Overloaded: OpenAI is overloaded in the middle of its answer: Busy";
        assert_eq!(decode(&[body.as_bytes()]).1.as_deref(), Some(told), "{body}");
    }
    check_error(
        "data: [DONE]\n\n",
        expect!["Format: OpenAI's answer could not be read: it ended before anything was said"],
    );
    check_error(
        "{\"choices\":[",
        expect![
            "Format: OpenAI's answer could not be read: EOF while parsing a list at line 1 column 12"
        ],
    );
    check_error(
        "{\"choices\":[]}",
        expect!["Format: OpenAI's answer could not be read: it has no choices"],
    );
}

#[test]
fn what_cannot_be_read() {
    for bad in ["what", "[1]", r#"{"choices":[{"delta":3}]}"#, r#"{"choices":3}"#] {
        let (_, error) = decode(&[stream(&[bad]).as_bytes()]);
        let error = error.unwrap_or_default();
        assert!(error.starts_with("Format: OpenAI's answer could not be read: "), "{bad}: {error}");
    }
}

#[test]
fn no_answer_is_lost_for_what_stands_beside_it() {
    let beside = [
        r#""error":false"#,
        r#""error":"""#,
        r#""error":{}"#,
        r#""error":{"code":null,"message":""}"#,
        r#""x_groq":{"error":{}}"#,
        r#""usage":{"prompt_tokens":1.5,"cost":1e999,"is_byok":3,"cost_details":[]}"#,
    ];
    let chunk = |beside: &str| {
        format!(r#"{{"choices":[{{"delta":{{"content":"a"}},"error":false}}],{beside}}}"#)
    };
    for beside in beside {
        let (events, error) = decode(&[stream(&["null", &chunk(beside), STOP]).as_bytes()]);
        assert_eq!(error, None, "{beside}");
        assert!(matches!(events.last(), Some(ModelEvent::Finished(_))), "{beside}");
    }
    let failed = [r#""error":true"#, r#""error":{"code":1}"#, r#""error":"x""#];
    for beside in failed {
        assert!(decode(&[stream(&[&chunk(beside), STOP]).as_bytes()]).1.is_some(), "{beside}");
    }
}

#[test]
fn content_that_is_no_text() {
    let contents = [
        "42",
        "-1.50",
        "true",
        r#"{"type":"text","text":"a"}"#,
        r#"["a","b"]"#,
        r#"{"a":1}"#,
        r#"[{"type":"text","text":7},{"type":"thinking","thinking":3},"a"]"#,
    ];
    let seen: String = contents
        .iter()
        .map(|content| {
            let chunk = format!(r#"{{"choices":[{{"delta":{{"content":{content}}}}}]}}"#);
            let (events, error) = decode(&[stream(&[&chunk, STOP, USAGE]).as_bytes()]);
            assert_eq!(error, None, "{content}");
            let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
            let blocks: Vec<String> = reply.blocks.iter().map(show_block).collect();
            format!("{content}: {}\n", blocks.join("; "))
        })
        .collect();
    expect![[r#"
        42: text "42"
        -1.50: text "-1.50"
        true: text "true"
        {"type":"text","text":"a"}: text "a"
        ["a","b"]: text "ab"
        {"a":1}: text "{\"a\":1}"
        [{"type":"text","text":7},{"type":"thinking","thinking":3},"a"]: text "a"; opaque openai-chat {"content":[{"type":"text","text":7}]}
    "#]].assert_eq(&seen);
}

#[test]
fn a_model_that_stopped_is_not_waited_for_long() {
    for quirks in [Quirks::default(), Quirks { asks_for_usage: false, ..Quirks::default() }] {
        let mut decoder = Decoder::new(&quirks, VENDOR);
        let mut settled = Vec::new();
        for data in [r#"{"choices":[{"delta":{"content":"a"}}]}"#, STOP, USAGE] {
            let event = format!("data: {data}\n\n");
            decoder.feed(event.as_bytes(), &mut VecDeque::new()).unwrap();
            settled.push(decoder.is_settled());
        }
        assert_eq!(settled, [false, true, true]);
    }
}

#[test]
fn an_answer_has_a_limit() {
    let long = r#"{"choices":[{"delta":{"content":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}]}"#;
    let body = stream(&[long; 4]);
    let (_, error) = decode_within(200, &Quirks::default(), &[body.as_bytes()]);
    let expected = "InvalidRequest: the answer is longer than 200 bytes, which no model writes";
    assert!(error.as_deref().is_some_and(|error| error.starts_with(expected)), "{error:?}");
}

fn check(body: &str, expected: Expect) {
    check_with(&Quirks::default(), body, expected);
}

fn check_with(quirks: &Quirks, body: &str, expected: Expect) {
    let (events, error) = decode_within(REPLY_BYTES_MAX, quirks, &[body.as_bytes()]);
    let mut seen: String = events.iter().map(|event| format!("{}\n", show(event))).collect();
    if let Some(error) = error {
        seen.push_str(&format!("error {error}\n"));
    }
    expected.assert_eq(&seen);
}

/// An answer that has begun.
const BEGUN: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";

fn check_error(body: &str, expected: Expect) {
    expected.assert_eq(&decode(&[body.as_bytes()]).1.unwrap_or_default());
}

fn decode(chunks: &[&[u8]]) -> (Vec<ModelEvent>, Option<String>) {
    decode_within(REPLY_BYTES_MAX, &Quirks::default(), chunks)
}

fn decode_within(
    bytes_max: usize,
    quirks: &Quirks,
    chunks: &[&[u8]],
) -> (Vec<ModelEvent>, Option<String>) {
    let mut decoder = Decoder::with_limit(quirks, VENDOR, bytes_max);
    let mut out = VecDeque::new();
    let body = chunks.concat();
    let result = if body.trim_ascii_start().starts_with(b"{") {
        decoder.document(&body, &mut out)
    } else {
        let fed = chunks.iter().try_for_each(|chunk| {
            let fed = decoder.feed(chunk, &mut out);
            decoder.publish(&mut out);
            fed
        });
        fed.and_then(|()| decoder.finish(&mut out))
    };
    (out.into(), result.err().map(|error| format!("{:?}: {}", error.kind, error.message)))
}

/// The chunks as a body with its end marker.
fn stream(chunks: &[&str]) -> String {
    let event = |data: &&str| format!("data: {data}\n\n");
    chunks.iter().chain(&[DONE]).map(event).collect()
}

fn show(event: &ModelEvent) -> String {
    match event {
        ModelEvent::TextDelta { block, text } => format!("{block} text {text:?}"),
        ModelEvent::ThinkingDelta { block, text } => format!("{block} thinking {text:?}"),
        ModelEvent::ToolUseStarted { block, name } => format!("{block} call {name}"),
        ModelEvent::ToolInputDelta { block, text } => format!("{block} input {text}"),
        ModelEvent::BlockFinished { block, content } => {
            format!("{block} = {}", show_block(content))
        }
        ModelEvent::Accepted(answer) => format!("accepted {}", answer.id),
        ModelEvent::Usage(usage) => format!("usage {}", show_usage(usage)),
        ModelEvent::Finished(reply) => {
            let blocks: Vec<String> = reply.blocks.iter().map(show_block).collect();
            let usage = show_usage(&reply.usage);
            let id = reply.provider_id.as_deref().unwrap_or("none");
            format!("finished {:?}, {usage}, id {id}: {}", reply.stop, blocks.join("; "))
        }
    }
}

fn show_usage(usage: &Usage) -> String {
    let Usage { input, output, cache_write, cache_read, reasoning, charged, .. } = usage;
    let charged = charged.map_or(String::new(), |cost| format!(" for {cost}"));
    format!(
        "in {input} out {output} write {cache_write} read {cache_read} think {reasoning}{charged}"
    )
}

fn show_block(block: &Block) -> String {
    match block {
        Block::Text(text) => {
            let Text { text, raw, .. } = &**text;
            assert!(raw.is_none());
            format!("text {text:?}")
        }
        Block::Thinking(thinking) => {
            let raw = thinking.raw.as_ref();
            let raw = raw.map(|raw| format!(" raw {} {:?}", raw.provider, raw.json));
            format!("thinking {:?}{}", thinking.text, raw.unwrap_or_default())
        }
        Block::ToolUse(call) => {
            let said = format!("call {} {} {:?}", call.id, call.name, call.input);
            let reason = call.invalid.as_ref().map(|reason| format!(" invalid: {reason}"));
            said + &reason.unwrap_or_default()
        }
        Block::Opaque(opaque) => format!("opaque {} {:?}", opaque.provider, opaque.raw),
        other => format!("{other:?}"),
    }
}
