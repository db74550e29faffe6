//! Answers of a model as the bytes of an HTTP response, made before anything is measured.

use serde_json::{Value, json};

/// What a delta says; as long as a token is.
const DELTA: &str = "token ";
/// An HTTP chunk of the larger kind.
const CHUNK_BYTES: usize = 16 * 1024;

/// How a response is cut into HTTP chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunks {
    /// One a server-sent event.
    PerEvent,
    /// Of 16 KiB.
    Large,
}

/// A call of a tool.
pub(super) struct Call {
    pub(super) tool: &'static str,
    pub(super) input: Value,
}

/// A whole response that makes these calls; the last answer when there are none.
pub(super) fn answer(number: usize, calls: &[Call]) -> Vec<u8> {
    let mut events = vec![message_start(number)];
    for (index, call) in calls.iter().enumerate() {
        let id = format!("toolu_{number}_{index}");
        let block = json!({"type": "tool_use", "id": id, "name": call.tool, "input": {}});
        let start = "content_block_start";
        let input = json!({"type": "input_json_delta", "partial_json": call.input.to_string()});
        events.push(event(&json!({"type": start, "index": index, "content_block": block})));
        events.push(event(&json!({"type": "content_block_delta", "index": index, "delta": input})));
        events.push(event(&json!({"type": "content_block_stop", "index": index})));
    }
    if calls.is_empty() {
        events.extend(text(1));
    }
    events.extend(message_end(if calls.is_empty() { "end_turn" } else { "tool_use" }, 20));
    respond(&events, Chunks::PerEvent)
}

/// A whole response whose text comes in so many deltas.
pub(super) fn deltas(n: usize, chunks: Chunks) -> Vec<u8> {
    let mut events = vec![message_start(0)];
    events.extend(text(n));
    events.extend(message_end("end_turn", n));
    respond(&events, chunks)
}

fn message_start(number: usize) -> String {
    event(&json!({"type": "message_start", "message": {
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "bench",
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": 1},
    }}))
}

fn text(n: usize) -> Vec<String> {
    let block = json!({"type": "text", "text": ""});
    let delta = json!({"type": "text_delta", "text": DELTA});
    let delta = event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    let mut events =
        vec![event(&json!({"type": "content_block_start", "index": 0, "content_block": block}))];
    events.extend(std::iter::repeat_n(delta, n));
    events.push(event(&json!({"type": "content_block_stop", "index": 0})));
    events
}

fn message_end(stop: &str, output_tokens: usize) -> [String; 2] {
    [
        event(&json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": null},
            "usage": {"output_tokens": output_tokens},
        })),
        event(&json!({"type": "message_stop"})),
    ]
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

fn respond(events: &[String], chunks: Chunks) -> Vec<u8> {
    let mut response = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
        request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n"
        .to_vec();
    match chunks {
        Chunks::PerEvent => events.iter().for_each(|event| chunk(&mut response, event.as_bytes())),
        Chunks::Large => {
            let whole = events.concat();
            whole.as_bytes().chunks(CHUNK_BYTES).for_each(|part| chunk(&mut response, part));
        }
    }
    chunk(&mut response, b"");
    response
}

fn chunk(response: &mut Vec<u8>, bytes: &[u8]) {
    response.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
    response.extend_from_slice(bytes);
    response.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(response: &[u8], expected: Expect) {
        expected.assert_eq(&String::from_utf8_lossy(response).replace('\r', ""));
    }

    #[test]
    fn an_answer_is_a_chunk_an_event() {
        let call = Call { tool: "Bash", input: json!({"command": "true"}) };
        check(
            &answer(3, &[call]),
            expect![[r#"
                HTTP/1.1 200 OK
                content-type: text/event-stream; charset=utf-8
                request-id: req_bench
                transfer-encoding: chunked

                121
                event: message_start
                data: {"type":"message_start","message":{"id":"msg_3","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}


                99
                event: content_block_start
                data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_3_0","name":"Bash","input":{}}}


                97
                event: content_block_delta
                data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"true\"}"}}


                49
                event: content_block_stop
                data: {"type":"content_block_stop","index":0}


                8a
                event: message_delta
                data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}


                33
                event: message_stop
                data: {"type":"message_stop"}


                0

            "#]],
        );
    }

    #[test]
    fn large_chunks_are_of_one_size_and_say_the_same() {
        let (small, large) = (deltas(1000, Chunks::PerEvent), deltas(1000, Chunks::Large));
        let count = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches("\r\n4000\r\n").count();
        assert_eq!((count(&small), count(&large)), (0, 7));
        assert_eq!(String::from_utf8_lossy(&small).matches("text_delta").count(), 1000);
    }
}
