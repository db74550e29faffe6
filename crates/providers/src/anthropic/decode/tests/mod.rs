//! Streams in, events out.

mod call_fields;
mod gateways;
mod properties;
mod refusal;
mod server_calls;

use expect_test::{Expect, expect};
use heeler_core::{Block, Usage};

use super::answer::stop_reason;
use super::*;

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

#[test]
fn text() {
    check(
        &stream(&[
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}   }"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo\n\"é\u00e9\""}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":25}}"#,
            STOP,
        ]),
        expect![[r#"
            usage in 10 out 1 write 3 read 4 think 0
            0 text "Hello\n\"éé\""
            0 = text "Hello\n\"éé\""
            usage in 10 out 25 write 3 read 4 think 0
            finished EndTurn, in 10 out 25 write 3 read 4 think 0, id msg_1: text "Hello\n\"éé\""
        "#]],
    );
}

#[test]
fn interleaved_blocks_with_gaps_keep_their_order() {
    check(
        &stream(&[
            r#"{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"a"}}"#,
            r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{\"path\": "}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"b"}}"#,
            r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"\"x\"}"}}"#,
            r#"{"type":"content_block_stop","index":5}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"c"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5,"input_tokens":11,"cache_read_input_tokens":null,"cache_creation_input_tokens":0,"output_tokens_details":{"thinking_tokens":2}}}"#,
            STOP,
        ]),
        expect![[r#"
            5 call read
            2 text "ab"
            5 input {"path": "x"}
            5 = call t read {"path": "x"}
            2 text "c"
            2 = text "abc"
            usage in 11 out 5 write 0 read 0 think 2
            finished ToolUse, in 11 out 5 write 0 read 0 think 2, id none: text "abc"; call t read {"path": "x"}
        "#]],
    );
}

#[test]
fn thinking_and_its_signature() {
    check(
        &stream(&[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let me"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ab"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"cd"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"zzz"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            STOP,
        ]),
        expect![[r#"
            0 thinking "let me"
            0 = thinking "let me" abcd
            1 = redacted zzz
            2 = text ""
            finished EndTurn, in 0 out 0 write 0 read 0 think 0, id none: thinking "let me" abcd; redacted zzz
        "#]],
    );
}

#[test]
fn tool_inputs() {
    check_calls(
        "end_turn",
        &[("{}", &[])],
        expect![[r#"
        call t n {}
    "#]],
    );
    check_calls(
        "tool_use",
        &[(r#"{"a":1}"#, &[]), (r#"{"a":1}"#, &[r#"{"b""#, ":2}"])],
        expect![[r#"
        call t n {"a":1}
        call t n {"b":2}
    "#]],
    );
    check_calls(
        "tool_use",
        &[("{}", &[r#"{"b":"#]), ("{}", &["[1]"]), ("{}", &["{} {}"])],
        expect![[r#"
        call t n {} invalid: the input is not valid JSON: EOF while parsing a value at line 1 column 5
        call t n {} invalid: the input is not a JSON object
        call t n {} invalid: the input is not valid JSON: trailing characters at line 1 column 4
    "#]],
    );
    check_calls(
        "tool_use",
        &[("{}", &[" "]), ("null", &[]), ("{}", &["[[[["; 30])],
        expect![[r#"
        call t n {}
        call t n {}
        call t n {} invalid: the input is JSON nested deeper than 96 levels
    "#]],
    );
    // A reply that is cut: the last call may be cut too, even where it ends in good order.
    check_calls(
        "max_tokens",
        &[("{}", &[]), ("{}", &[])],
        expect![[r#"
        call t n {}
        call t n {} invalid: the reply ended before the input was complete
    "#]],
    );
    check_calls(
        "refusal",
        &[("{}", &[r#"{"a":1}"#])],
        expect![[r#"
        call t n {"a":1}
    "#]],
    );
}

#[test]
fn a_block_that_a_token_limit_cuts_is_an_invalid_call() {
    check(
        &stream(&[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"so "}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"write","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":5}}"#,
            STOP,
        ]),
        expect![[r#"
            0 text "so "
            1 call write
            usage in 0 out 5 write 0 read 0 think 0
            1 input {"a":1}
            0 = text "so "
            1 = call t write {} invalid: the reply ended before the input was complete
            finished MaxTokens, in 0 out 5 write 0 read 0 think 0, id none: text "so "; call t write {} invalid: the reply ended before the input was complete
        "#]],
    );
}

#[test]
fn citations_and_unknown_fields_of_text_are_kept_raw() {
    check(
        &stream(&[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"fact"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text": "x", "n":1.0}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"b":2}}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a\"b","citations":null,"new":{"x":[1, 2]}}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            STOP,
        ]),
        expect![[r#"
            0 text "fact"
            0 = text "fact" raw anthropic {"type":"text","text":"fact","citations":[{"cited_text": "x", "n":1.0},{"b":2}]}
            1 text "a\"b"
            1 = text "a\"b" raw anthropic {"type":"text","text":"a\"b","new":{"x":[1, 2]}}
            finished EndTurn, in 0 out 0 write 0 read 0 think 0, id none: text "fact" raw anthropic {"type":"text","text":"fact","citations":[{"cited_text": "x", "n":1.0},{"b":2}]}; text "a\"b" raw anthropic {"type":"text","text":"a\"b","new":{"x":[1, 2]}}
        "#]],
    );
}

#[test]
fn unknown_blocks_are_kept_and_their_deltas_applied() {
    check(
        &stream(&[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"web_search_tool_result", "tool_use_id":"s","content":[1.50]}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\":"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"x\"}"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"compaction","content":null}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"compaction_delta","content":"so "}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"compaction_delta","content":"far","list":[1]}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"t"}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"c":1}}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"odd_delta","text":{"not":"text"}}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            STOP,
        ]),
        expect![[r#"
            0 = opaque anthropic {"type":"web_search_tool_result", "tool_use_id":"s","content":[1.50]}
            1 = opaque anthropic {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}}
            2 = opaque anthropic {"type":"compaction","content":"so far","citations":[{"c":1}],"list":[1],"text":{"not":"text"}}
            finished EndTurn, in 0 out 0 write 0 read 0 think 0, id none: opaque anthropic {"type":"web_search_tool_result", "tool_use_id":"s","content":[1.50]}; opaque anthropic {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}}; opaque anthropic {"type":"compaction","content":"so far","citations":[{"c":1}],"list":[1],"text":{"not":"text"}}
        "#]],
    );
}

#[test]
fn what_is_unknown_is_ignored() {
    check(
        &stream(&[
            r#"{"type":"new_event","x":1}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","text":"zzz"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"zzz"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_stop","index":7}"#,
            STOP,
            r#"{"type":"error","error":{"type":"api_error","message":"too late"}}"#,
        ]),
        expect![[r#"
            0 text "a"
            0 = text "a"
            finished EndTurn, in 0 out 0 write 0 read 0 think 0, id none: text "a"
        "#]],
    );
}

#[test]
fn names_may_stand_in_the_data_only() {
    let named = stream(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#,
        STOP,
    ]);
    let unnamed: String = named
        .lines()
        .filter(|line| !line.starts_with("event:"))
        .flat_map(|line| [line, "\n"])
        .chain(["data: [DONE]\n\n"])
        .collect();
    assert_eq!(decode(&[unnamed.as_bytes()]), decode(&[named.as_bytes()]));
}

#[test]
fn stop_reasons() {
    let reasons = [
        "end_turn",
        "tool_use",
        "max_tokens",
        "stop_sequence",
        "pause_turn",
        "refusal",
        "model_context_window_exceeded",
        "new_reason",
    ];
    let seen: String =
        reasons.iter().map(|reason| format!("{reason}: {:?}\n", stop_reason(reason))).collect();
    expect![[r#"
        end_turn: EndTurn
        tool_use: ToolUse
        max_tokens: MaxTokens
        stop_sequence: StopSequence
        pause_turn: Pause
        refusal: Refusal
        model_context_window_exceeded: MaxTokens
        new_reason: Other("new_reason")
    "#]]
    .assert_eq(&seen);
}

#[test]
fn errors() {
    check(
        &stream(&[
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            STOP,
        ]),
        expect![[r#"
            usage in 10 out 1 write 3 read 4 think 0
            0 text "a"
            error Overloaded: Anthropic is overloaded in the middle of its answer: Overloaded
        "#]],
    );
    check(
        stream(&[START, r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#, STOP])
            .trim_end_matches(&stream(&[STOP])),
        expect![[r#"
            usage in 10 out 1 write 3 read 4 think 0
            finished EndTurn, in 10 out 1 write 3 read 4 think 0, id msg_1: 
        "#]],
    );
    check(
        &stream(&[START]),
        expect![[r#"
        usage in 10 out 1 write 3 read 4 think 0
        error Format: Anthropic's answer ended without its end marker: the connection or a proxy cut it
    "#]],
    );
    check(
        "",
        expect![[r#"
            error Format: Anthropic's answer held no events. Check ANTHROPIC_BASE_URL if it is set
        "#]],
    );
    check(
        "upstream connect error\n",
        expect![[r#"
            error Format: Anthropic's answer held no events, but `upstream connect error`. Check ANTHROPIC_BASE_URL if it is set
        "#]],
    );
    // However a gateway tells of a failure.
    let listed = r#"[{"error":{"type":"overloaded_error","message":"Busy"}}]"#;
    for body in [format!("data: {listed}\n\n"), format!("{listed}\n\n")] {
        let (events, error) = decode(&[body.as_bytes()]);
        let told = "Overloaded: Anthropic is overloaded in the middle of its answer: Busy";
        assert_eq!((events, error.as_deref()), (vec![], Some(told)), "{body}");
    }
    check(
        "event: message_start\ndata: {\n\n",
        expect![[r#"
        error Format: Anthropic's answer could not be read: a bad `message_start` event: EOF while parsing an object at line 1 column 1
    "#]],
    );
    check(
        &stream(&[
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}}"#,
        ]),
        expect![[r#"
        error Format: Anthropic's answer could not be read: a bad `content_block_delta` event: block 3 grew before its start
    "#]],
    );
    check(
        &stream(&[
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":7}}"#,
        ]),
        expect![[r#"
        error Format: Anthropic's answer could not be read: a bad `content_block_delta` event: invalid type: integer `7`, expected a string at line 1 column 77
    "#]],
    );
    let start =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    check(
        &stream(&[start, start]),
        expect![[r#"
        error Format: Anthropic's answer could not be read: a bad `content_block_start` event: block 0 began twice
    "#]],
    );
}

#[test]
fn an_answer_has_limits() {
    let blocks: Vec<String> = (0..=BLOCKS_MAX)
        .map(|i| {
            format!(
                r#"{{"type":"content_block_start","index":{i},"content_block":{{"type":"x"}}}}"#
            )
        })
        .collect();
    let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
    let run = |decoder: &mut Decoder, events: &[&str]| {
        decoder.feed(stream(events).as_bytes(), &mut VecDeque::new()).map_err(|e| e.message)
    };
    assert_eq!(run(&mut Decoder::new(), &blocks[..BLOCKS_MAX]), Ok(()));
    let error = run(&mut Decoder::new(), &blocks).unwrap_err();
    assert!(error.contains("4096 blocks"), "{error}");

    let pings = [r#"{"type":"ping"}"#; 100];
    let mut small = Decoder::with_limit(START.len());
    assert_eq!(run(&mut small, &pings), Ok(()));
    assert_eq!(run(&mut small, &[START]), Ok(()));
    assert!(run(&mut small, &[STOP]).unwrap_err().contains("longer than"));

    let long = format!("data: {}", "x".repeat(sse::EVENT_BYTES_MAX + 1));
    let error = Decoder::new().feed(long.as_bytes(), &mut VecDeque::new()).unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Format);
}

#[test]
fn one_delta_a_block_each_time_somebody_asks() {
    let deltas = (0..1000).map(|i| {
        format!(r#"{{"type":"content_block_delta","index":{},"delta":{{"type":"text_delta","text":"x"}}}}"#, i % 2)
    });
    let starts = (0..2).map(|i| {
        format!(r#"{{"type":"content_block_start","index":{i},"content_block":{{"type":"text","text":""}}}}"#)
    });
    let events: Vec<String> = starts.chain(deltas).collect();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let (mut decoder, mut out) = (Decoder::new(), VecDeque::new());
    for chunk in stream(&events).as_bytes().chunks(300) {
        decoder.feed(chunk, &mut out).unwrap();
    }
    assert!(out.is_empty(), "nobody asked yet");
    decoder.publish(&mut out);
    let text = "x".repeat(500);
    assert_eq!(
        out,
        [
            ModelEvent::TextDelta { block: 0, text: text.clone() },
            ModelEvent::TextDelta { block: 1, text }
        ]
    );
}

#[test]
fn half_a_surrogate_pair_is_replaced_and_no_input() {
    let start = |block: &str| {
        format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#)
    };
    let delta =
        |delta: &str| format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#);
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    check(
        &stream(&[
            &start(r#"{"type":"text","text":""}"#),
            &delta(r#"{"type":"text_delta","text":"a\ud83d"}"#),
            &delta(r#"{"type":"text_delta","text":"\ude00b"}"#),
            stop,
            STOP,
        ]),
        expect![[r#"
            0 text "a��b"
            0 = text "a��b"
            finished EndTurn, in 0 out 0 write 0 read 0 think 0, id none: text "a��b"
        "#]],
    );
    check(
        &stream(&[
            &start(r#"{"type":"later","note":"\ud83d"}"#),
            &delta(r#"{"type":"later_delta","note":"\ud83d\ude00"}"#),
            stop,
            STOP,
        ]),
        expect![[r#"
            0 = opaque anthropic {"type":"later","note":"�😀"}
            finished EndTurn, in 0 out 0 write 0 read 0 think 0, id none: opaque anthropic {"type":"later","note":"�😀"}
        "#]],
    );
    check_calls(
        "tool_use",
        &[("{}", &[r#"{"command":"echo \ud83d"}"#]), ("{}", &[r#"{"command":"echo \\ud83d"}"#])],
        expect![[r#"
            call t n {} invalid: the input has half a character: a surrogate escape without its other half
            call t n {"command":"echo \\ud83d"}
        "#]],
    );
}

#[test]
fn an_odd_count_and_an_odd_place() {
    check(
        &stream(&[
            r#"{"type":"message_start","message":{"usage":{"input_tokens":12.0,"output_tokens":-1}}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":"3"}}"#,
            STOP,
        ]),
        expect![[r#"
            usage in 12 out 0 write 0 read 0 think 0
            usage in 12 out 3 write 0 read 0 think 0
            finished EndTurn, in 12 out 3 write 0 read 0 think 0, id none: 
        "#]],
    );
    let long = "z".repeat(10_000);
    let long = format!(r#"{{"type":"content_block_start","content_block":"{long}"}}"#);
    let (_, error) = decode(&[stream(&[&long]).as_bytes()]);
    let error = error.unwrap_or_default();
    assert!(error.starts_with("Format: Anthropic's answer could not be read: "), "{error}");
    assert!(error.chars().count() < 700, "{error}");
}

fn check_calls(stop: &str, calls: &[(&str, &[&str])], expected: Expect) {
    let mut events = Vec::new();
    for (i, (start, deltas)) in calls.iter().enumerate() {
        events.push(format!(
            r#"{{"type":"content_block_start","index":{i},"content_block":{{"type":"tool_use","id":"t","name":"n","input":{start}}}}}"#
        ));
        for delta in *deltas {
            let text = serde_json::Value::from(*delta);
            events.push(format!(
                r#"{{"type":"content_block_delta","index":{i},"delta":{{"type":"input_json_delta","partial_json":{text}}}}}"#
            ));
        }
        events.push(format!(r#"{{"type":"content_block_stop","index":{i}}}"#));
    }
    events.push(format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{stop}"}}}}"#));
    events.push(STOP.to_owned());
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let (events, error) = decode(&[stream(&events).as_bytes()]);
    assert_eq!(error, None);
    let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
    let seen: String =
        reply.blocks.iter().map(|block| format!("{}\n", show_block(block))).collect();
    expected.assert_eq(&seen);
}

fn check(body: &str, expected: Expect) {
    let (events, error) = decode(&[body.as_bytes()]);
    let mut seen: String = events.iter().map(|event| format!("{}\n", show(event))).collect();
    if let Some(error) = error {
        seen.push_str(&format!("error {error}\n"));
    }
    expected.assert_eq(&seen);
}

fn decode(chunks: &[&[u8]]) -> (Vec<ModelEvent>, Option<String>) {
    decode_within(REPLY_BYTES_MAX, chunks)
}

fn decode_within(bytes_max: usize, chunks: &[&[u8]]) -> (Vec<ModelEvent>, Option<String>) {
    let mut decoder = Decoder::with_limit(bytes_max);
    let mut out = VecDeque::new();
    let fed = chunks.iter().try_for_each(|chunk| {
        let fed = decoder.feed(chunk, &mut out);
        decoder.publish(&mut out);
        fed
    });
    let result = fed.and_then(|()| decoder.finish(&mut out));
    (out.into(), result.err().map(|error| format!("{:?}: {}", error.kind, error.message)))
}

/// The events as a body, each named by its type.
fn stream(events: &[&str]) -> String {
    let event = |data: &&str| {
        let kind: wire::Kind<'_> = serde_json::from_str(data).unwrap();
        format!("event: {}\ndata: {data}\n\n", kind.kind.0)
    };
    events.iter().map(event).collect()
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
    let Usage { input, output, cache_write, cache_read, reasoning, .. } = usage;
    format!("in {input} out {output} write {cache_write} read {cache_read} think {reasoning}")
}

fn show_block(block: &Block) -> String {
    match block {
        Block::Text(text) => match &text.raw {
            None => format!("text {:?}", text.text),
            Some(raw) => format!("text {:?} raw {} {:?}", text.text, raw.provider, raw.json),
        },
        Block::Thinking(thinking) => format!("thinking {:?} {}", thinking.text, thinking.signature),
        Block::RedactedThinking(redacted) => format!("redacted {}", redacted.data),
        Block::ToolUse(call) => {
            let said = format!("call {} {} {:?}", call.id, call.name, call.input);
            let reason = call.invalid.as_ref().map(|reason| format!(" invalid: {reason}"));
            said + &reason.unwrap_or_default()
        }
        Block::Opaque(opaque) => format!("opaque {} {:?}", opaque.provider, opaque.raw),
        other => format!("{other:?}"),
    }
}
