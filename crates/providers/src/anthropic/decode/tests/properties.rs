//! What holds for any chunking, and for streams with bytes changed.

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
