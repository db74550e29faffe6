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
        events.extend(text(&[DELTA]));
    }
    events.extend(message_end(if calls.is_empty() { "end_turn" } else { "tool_use" }, 20));
    respond(&events, Chunks::PerEvent)
}

/// A whole response whose text comes in so many deltas.
pub(super) fn deltas(n: usize, chunks: Chunks) -> Vec<u8> {
    said(&vec![DELTA; n], chunks)
}

/// A whole response that says this in deltas of so many characters, an HTTP chunk each.
pub(super) fn streamed(text: &str, chars: usize) -> Vec<u8> {
    let all: Vec<char> = text.chars().collect();
    let deltas: Vec<String> = all.chunks(chars).map(|part| part.iter().collect()).collect();
    said(&deltas, Chunks::PerEvent)
}

fn said(deltas: &[impl AsRef<str>], chunks: Chunks) -> Vec<u8> {
    let mut events = vec![message_start(0)];
    events.extend(text(deltas));
    events.extend(message_end("end_turn", deltas.len()));
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

fn text(deltas: &[impl AsRef<str>]) -> Vec<String> {
    let block = json!({"type": "text", "text": ""});
    let mut events =
        vec![event(&json!({"type": "content_block_start", "index": 0, "content_block": block}))];
    events.extend(deltas.iter().map(|delta| {
        let delta = json!({"type": "text_delta", "text": delta.as_ref()});
        event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
    }));
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
    fn a_text_comes_in_pieces_and_is_whole() {
        let answer = streamed("a \"word\" of 漢字\n", 4);
        let text = String::from_utf8_lossy(&answer);
        let deltas = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let deltas = deltas.map(|data| serde_json::from_str::<Value>(data).unwrap());
        let said: Vec<String> =
            deltas.filter_map(|data| Some(data["delta"]["text"].as_str()?.to_owned())).collect();
        assert_eq!((said.len(), said.concat().as_str()), (4, "a \"word\" of 漢字\n"));
    }

    #[test]
    fn large_chunks_are_of_one_size_and_say_the_same() {
        let (small, large) = (deltas(1000, Chunks::PerEvent), deltas(1000, Chunks::Large));
        let count = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches("\r\n4000\r\n").count();
        assert_eq!((count(&small), count(&large)), (0, 7));
        assert_eq!(String::from_utf8_lossy(&small).matches("text_delta").count(), 1000);
    }
}
