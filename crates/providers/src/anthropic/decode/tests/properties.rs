//! What holds for any chunking, and for streams with bytes changed.

use std::collections::BTreeMap;

use heeler_core::{Message, ModelRequest, Parameters, Role};
use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn any_chunking_gives_the_same_answer(
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let body = rich_stream();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([body.len()]) {
            chunks.push(&body.as_bytes()[from..cut]);
            from = cut;
        }
        prop_assert_eq!(summary(&chunks), summary(&[body.as_bytes()]));
    }

    #[test]
    fn the_fast_path_means_what_the_parser_means(
        deltas in prop::collection::vec(delta(), 0..10),
        bytes_max in prop_oneof![Just(REPLY_BYTES_MAX), 300..3000usize],
    ) {
        let start = |index: u32, kind: &str| {
            let start = "content_block_start";
            format!(r#"{{"type":"{start}","index":{index},"content_block":{{"type":"{kind}"}}}}"#)
        };
        let mut body = stream(&[&start(0, "text"), &start(1, "thinking"), &start(2, "new")]).into_bytes();
        body.extend(deltas.concat());
        body.extend(stream(&[STOP]).into_bytes());
        // An event that comes in pieces is read by the parser.
        let in_pieces: Vec<&[u8]> = body.chunks(1).collect();
        prop_assert_eq!(summary_within(bytes_max, &[&body]), summary_within(bytes_max, &in_pieces));
    }

    #[test]
    fn an_unknown_block_is_sent_back_byte_for_byte(
        fields in prop::collection::vec(("[a-z_]{1,8}", json()), 0..5),
        gap in "[ \t]{0,2}",
    ) {
        let kind = format!(r#"{gap}"type"{gap}:"server_thing""#);
        let fields = fields.iter().filter(|(name, _)| name != "type");
        let fields = fields.map(|(name, value)| format!(r#""{name}"{gap}:{value}"#));
        let raw = format!("{{{}{gap}}}", [kind].into_iter().chain(fields).collect::<Vec<_>>().join(","));
        let start = format!(r#"{{"type":"content_block_start","index":0,"content_block":{raw}}}"#);
        let body = stream(&[&start, r#"{"type":"content_block_stop","index":0}"#, STOP]);
        prop_assert_eq!(sent_back(&body), raw);
    }

    #[test]
    fn the_input_of_an_unknown_block_is_what_was_streamed(
        input in json(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        before in prop::option::of(json()),
        after in prop::option::of(json()),
    ) {
        let block = |input: &str| {
            let member = |name, value: &Option<String>| {
                value.as_ref().map_or(String::new(), |value| format!(r#","{name}" :{value}"#))
            };
            let (before, after) = (member("a", &before), member("z", &after));
            format!(r#"{{ "type":"server_tool_use"{before}, "input": {input}{after} }}"#)
        };
        let start = block("{}");
        let start = format!(r#"{{"type":"content_block_start","index":0,"content_block":{start}}}"#);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
        cuts.extend([0, input.len()]);
        cuts.retain(|cut| input.is_char_boundary(*cut));
        cuts.sort_unstable();
        let deltas = cuts.windows(2).map(|cut| {
            let delta = serde_json::json!({"type": "input_json_delta", "partial_json": &input[cut[0]..cut[1]]});
            serde_json::json!({"type": "content_block_delta", "index": 0, "delta": delta}).to_string()
        });
        let stop = r#"{"type":"content_block_stop","index":0}"#.to_owned();
        let events: Vec<String> = [start].into_iter().chain(deltas).chain([stop, STOP.to_owned()]).collect();
        let body = stream(&events.iter().map(String::as_str).collect::<Vec<_>>());
        // What is no object is none of an input.
        let is_input = input.starts_with('{');
        prop_assert_eq!(sent_back(&body), block(if is_input { &input } else { "{}" }));
    }

    #[test]
    fn never_panics(
        events in prop::collection::vec((0..8usize, any::<prop::sample::Index>(), any::<u8>()), 0..20),
    ) {
        // Events of a sensible stream, shuffled, repeated, and with a byte changed.
        let body = rich_stream();
        let all: Vec<&str> = body.split_inclusive("\n\n").collect();
        let mut bytes = Vec::new();
        for (pick, at, byte) in events {
            let mut event = all[(pick * 7 + usize::from(byte)) % all.len()].as_bytes().to_vec();
            let at = at.index(event.len());
            if byte < 128 {
                event[at] = byte;
            }
            bytes.extend_from_slice(&event);
        }
        decode(&[&bytes]);
    }
}

/// A few deltas of a text or of reasoning, now and then with a byte changed.
fn delta() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        "[a-z \"\\\\{}]{0,12}",
        any::<String>(),
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    let kind = prop_oneof![Just("text"), Just("thinking"), Just("partial_json")];
    let change = prop::option::weighted(0.3, (any::<prop::sample::Index>(), any::<u8>()));
    (0..3u32, kind, text, change, 1..5usize).prop_map(|(index, kind, text, change, n)| {
        let delta = format!(r#"{{"type":"{kind}_delta","{kind}":"{text}"}}"#);
        let data = format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#);
        let mut event = format!("event: content_block_delta\ndata: {data}\n\n").into_bytes();
        if let Some((at, byte)) = change {
            let at = at.index(event.len());
            event[at] = byte;
        }
        event.repeat(n)
    })
}

/// JSON as somebody else may write it: numbers, escapes and white space of every kind, on one line.
fn json() -> impl Strategy<Value = String> {
    let text = any::<String>().prop_map(|text| serde_json::Value::from(text).to_string());
    let leaf = prop_oneof![
        text,
        prop::sample::select(vec![
            "1.50",
            "-0",
            "1e400",
            "123456789012345678901234567890",
            r#""\u00e9\/""#,
            "null",
            "[ ]",
            "{ }",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let member =
            ("[a-c]", inner.clone()).prop_map(|(name, value)| format!(r#""{name}" : {value}"#));
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(" ,"))),
            prop::collection::vec(member, 0..3)
                .prop_map(|fields| format!("{{{}}}", fields.join(", "))),
        ]
    })
}

/// What the only block of an answer is sent as in the next request, through the JSON that sessions
/// are kept in.
fn sent_back(body: &str) -> String {
    let (events, error) = decode_within(REPLY_BYTES_MAX, &[body.as_bytes()]);
    assert_eq!(error, None);
    let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
    let message = Message { role: Role::Assistant, blocks: reply.blocks.clone() };
    let kept = serde_json::to_string(&message).unwrap();
    let message: Message = serde_json::from_str(&kept).unwrap();
    let request = ModelRequest {
        model: "m".into(),
        system: "".into(),
        tools: [].into(),
        provider_tools: [].into(),
        messages: [message].into_iter().collect(),
        stable: 1,
        output_max: 1,
        parameters: Parameters::default(),
        epoch: 1,
    };
    let sent = String::from_utf8(crate::anthropic::request_body(&request).unwrap()).unwrap();
    let (_, sent) = sent.split_once(r#""messages":[{"role":"assistant","content":["#).unwrap();
    sent.rsplit_once(r#"]}],"max_tokens""#).unwrap().0.to_owned()
}

fn rich_stream() -> String {
    stream(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let me"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":[]}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"fäct 🦀"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"x":1}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ab"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"x\"}"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"later","content":[1]}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"later_delta","content":[2]}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":25}}"#,
        STOP,
    ])
}

/// The texts that grew, by block and kind.
type Grown = BTreeMap<(u32, u8), String>;

/// What does not depend on the chunks: the texts that grew, all other events, and the end.
fn summary(chunks: &[&[u8]]) -> (Grown, Vec<ModelEvent>, Option<String>) {
    summary_within(REPLY_BYTES_MAX, chunks)
}

fn summary_within(bytes_max: usize, chunks: &[&[u8]]) -> (Grown, Vec<ModelEvent>, Option<String>) {
    let (events, error) = decode_within(bytes_max, chunks);
    let (mut grown, mut rest) = (Grown::new(), Vec::new());
    for event in events {
        match event {
            ModelEvent::TextDelta { block, text } => *grown.entry((block, 0)).or_default() += &text,
            ModelEvent::ThinkingDelta { block, text } => {
                *grown.entry((block, 1)).or_default() += &text;
            }
            ModelEvent::ToolInputDelta { block, text } => {
                *grown.entry((block, 2)).or_default() += &text;
            }
            other => rest.push(other),
        }
    }
    (grown, rest, error)
}
