//! Properties: chunks change nothing, the same bytes come back, nonsense never panics.

use std::collections::BTreeMap;

use heeler_core::{Message, ModelRequest, Parameters, Role};
use proptest::prelude::*;

use super::*;

/// The texts that grew, by block and kind.
type Grown = BTreeMap<(u32, u8), String>;

#[test]
fn cut_at_every_byte_it_is_the_same() {
    let body = rich_stream();
    let whole = summary(&[body.as_bytes()]);
    assert!(matches!(whole.1.last(), Some(ModelEvent::Finished(_))));
    for at in 0..=body.len() {
        let (head, tail) = body.as_bytes().split_at(at);
        assert_eq!(summary(&[head, tail]), whole, "cut at {at}");
        if at < body.len() - 2 {
            let (_, rest, error) = summary(&[head]);
            assert!(error.is_some(), "ends well at {at}");
            assert!(!rest.iter().any(|event| matches!(event, ModelEvent::Finished(_))));
        }
    }
    let plain = completed(&[REASONING, CITED, CALL]);
    for at in 0..=plain.len() {
        assert_eq!(summary(&[&plain.as_bytes()[..at]]).2.is_some(), at < plain.len(), "{at}");
    }
}

proptest! {
    #[test]
    fn any_chunks_give_the_same(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        let body = rich_stream();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> =
            cuts.windows(2).map(|cut| &body.as_bytes()[cut[0]..cut[1]]).collect();
        prop_assert_eq!(summary(&chunks), summary(&[body.as_bytes()]));
    }

    #[test]
    fn an_item_is_sent_back_byte_for_byte(
        kind in prop_oneof![Just("reasoning"), Just("code_interpreter_call"), Just("later")],
        fields in prop::collection::vec(("[a-z_]{1,8}", json()), 0..5),
        gap in "[ \t]{0,2}",
    ) {
        let known = ["type", "id", "status", "summary", "content", "name", "arguments", "call_id"];
        let fields = fields.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let fields = fields.map(|(name, value)| format!(r#","{name}"{gap}:{value}"#));
        let fields: String = fields.collect();
        let raw = format!(
            r#"{{{gap}"type":"{kind}", "encrypted_content" :"gA\u003d="{fields}{gap}}}"#
        );
        let body = stream(&[&done(0, &raw), &done(1, TEXT)], &completed(&[&raw, TEXT]));
        let text = r#"{"type":"message","role":"assistant","content":"Done."}"#;
        prop_assert_eq!(sent_back(&body), format!("{raw},{text}"));
    }

    #[test]
    fn never_panics(
        events in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..30),
        plain in any::<bool>(),
    ) {
        // Events of a sensible stream, shuffled, repeated, and with a byte changed.
        let body = if plain { completed(&[REASONING, CITED, CALL]) } else { rich_stream() };
        let all: Vec<&str> = body.split_inclusive("\n\n").collect();
        let mut bytes = Vec::new();
        for (pick, at, byte) in events {
            let mut event = all[pick.index(all.len())].as_bytes().to_vec();
            let at = at.index(event.len());
            if byte < 128 {
                event[at] = byte;
            }
            bytes.extend_from_slice(&event);
        }
        decode(&[&bytes]);
    }

    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        decode(&[&bytes]);
        decode(&[b"{", &bytes]);
        decode(&[b"event: response.output_item.done\ndata: ", &bytes, b"\n\n"]);
    }
}

/// JSON as somebody else may write it, on one line.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "1.50",
        "-0",
        "1e400",
        "123456789012345678901234567890",
        r#""\u00e9\/""#,
        "null",
        "[ ]",
        r#"{ "a" :[1 ,2]}"#,
    ]);
    leaf.prop_map(str::to_owned)
}

/// What the items of an answer are sent as in the next request, through the JSON that sessions
/// are kept in.
fn sent_back(body: &str) -> String {
    let (events, error) = decode(&[body.as_bytes()]);
    assert_eq!(error, None);
    let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
    let message = heeler_core::Message { role: Role::Assistant, blocks: reply.blocks.clone() };
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
    let sent = crate::responses::request_body(&request).unwrap();
    let sent = String::from_utf8(sent).unwrap();
    let (_, sent) = sent.split_once(r#""input":["#).unwrap();
    sent.rsplit_once(r#"],"max_output_tokens""#).unwrap().0.to_owned()
}

fn rich_stream() -> String {
    stream(
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","summary":[]}}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"**Look**"}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"Then read."}"#,
            &done(0, REASONING),
            r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"web_search_call"}}"#,
            &done(1, SEARCH),
            r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"message"}}"#,
            r#"{"type":"response.output_text.delta","output_index":2,"delta":"Hé"}"#,
            r#"{"type":"response.output_text.delta","output_index":2,"delta":"llo 🦀"}"#,
            &done(2, CITED),
            r#"{"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","name":"read"}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":3,"delta":"{\"path\": \"a.rs\"}"}"#,
            &done(3, CALL),
        ],
        &completed(&[REASONING, SEARCH, CITED, CALL, CALL_2]),
    )
}

/// What does not depend on the chunks: the texts that grew, all other events, and the end.
fn summary(chunks: &[&[u8]]) -> (Grown, Vec<ModelEvent>, Option<String>) {
    let (events, error) = decode(chunks);
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
    (grown, rest, error.map(|error| error.to_string()))
}
