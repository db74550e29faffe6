//! What holds for any chunking, and for streams with bytes changed.

use proptest::prelude::*;

use super::*;

/// A stream with one of everything.
fn rich_stream() -> String {
    let chunks = stream(&[
        r#"{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"H\u00e9"}}]}"#,
        r#"{"id":"c","choices":[{"index":0,"delta":{"content":"é 🦀","reasoning_details":[{"type":"t","text":"a","index":0}]}}]}"#,
        r#"{"id":"c","choices":[{"index":0,"delta":{"refusal":"no","annotations":[{"a":1}],"reasoning_details":[{"type":"t","text":"b","index":0}]}}]}"#,
        r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{\"é\":"},"extra_content":{"k":1}}]}}]}"#,
        r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}},{"index":1,"id":"y","function":{"name":"b","arguments":""}}]}}]}"#,
        r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"id":"c","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6,"prompt_tokens_details":{"cached_tokens":2}}}"#,
    ]);
    format!(": PROCESSING\n\n{}", chunks.replace("\n\n", "\r\n\r\n"))
}

/// The events with neighbouring deltas of one block joined.
fn summary(chunks: &[&[u8]]) -> String {
    let (events, error) = decode(chunks);
    let mut joined: Vec<ModelEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (
                Some(ModelEvent::TextDelta { block, text }),
                ModelEvent::TextDelta { block: more_of, text: more },
            )
            | (
                Some(ModelEvent::ThinkingDelta { block, text }),
                ModelEvent::ThinkingDelta { block: more_of, text: more },
            )
            | (
                Some(ModelEvent::ToolInputDelta { block, text }),
                ModelEvent::ToolInputDelta { block: more_of, text: more },
            ) if *block == more_of => text.push_str(&more),
            (_, event) => joined.push(event),
        }
    }
    // Texts that grow at the same time are handed on in another order when they are asked for later.
    let finished: Vec<String> = joined
        .iter()
        .filter(|event| matches!(event, ModelEvent::BlockFinished { .. } | ModelEvent::Finished(_)))
        .map(show)
        .collect();
    let mut texts = [const { String::new() }; 9];
    for event in &joined {
        if let ModelEvent::TextDelta { block, text }
        | ModelEvent::ThinkingDelta { block, text }
        | ModelEvent::ToolInputDelta { block, text } = event
        {
            texts[usize::try_from(*block).unwrap()].push_str(text);
        }
    }
    format!("{texts:?}\n{}\n{error:?}", finished.join("\n"))
}

#[test]
fn any_cut_gives_the_same_answer() {
    let body = rich_stream();
    let whole = summary(&[body.as_bytes()]);
    assert!(whole.contains("finished ToolUse") && whole.ends_with("None"), "{whole}");
    for at in 0..body.len() {
        let (before, after) = body.as_bytes().split_at(at);
        assert_eq!(summary(&[before, after]), whole, "cut at {at}");
    }
    let bytes: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
    assert_eq!(summary(&bytes), whole);
}

#[test]
fn a_stream_that_is_cut_short_is_an_error_or_whole() {
    let body = rich_stream();
    let reply = |body: &[u8]| match decode(&[body]) {
        (mut events, None) => Some(show(&events.pop().unwrap())),
        (events, Some(_)) => {
            assert!(!events.iter().any(|event| matches!(event, ModelEvent::Finished(_))));
            None
        }
    };
    let whole = reply(body.as_bytes());
    let n_whole = (0..body.len()).filter(|at| reply(&body.as_bytes()[..*at]) == whole).count();
    // The usage may be lost: it comes when everything is said.
    let said = |reply: &str| reply.split_once(", id ").unwrap().1.to_owned();
    for at in 0..body.len() {
        let cut = reply(&body.as_bytes()[..at]);
        assert!(cut.is_none() || cut.as_deref().map(said) == whole.as_deref().map(said));
    }
    // From the end of the last chunk on nothing but the marker can be missing.
    assert_eq!(n_whole, "data: [DONE]\r\n\r\n".len() + 1);
}

proptest! {
    #[test]
    fn texts_and_inputs_split_anywhere_are_the_same(
        text in any::<String>(),
        input in "[a-z\"\\\\é]{0,20}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let input = serde_json::json!({"text": input}).to_string();
        let pieces = |text: &str| -> Vec<String> {
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            at.extend([0, text.len()]);
            at.retain(|at| text.is_char_boundary(*at));
            at.sort_unstable();
            at.windows(2).map(|cut| text[cut[0]..cut[1]].to_owned()).collect()
        };
        let mut chunks: Vec<String> = Vec::new();
        for piece in pieces(&text) {
            chunks.push(serde_json::json!({"choices": [{"delta": {"content": piece}}]}).to_string());
        }
        for (n, piece) in pieces(&input).into_iter().enumerate() {
            let mut call = serde_json::json!({"index": 0, "function": {"arguments": piece}});
            if n == 0 {
                call["id"] = "x".into();
                call["function"]["name"] = "a".into();
            }
            chunks.push(serde_json::json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string());
        }
        chunks.extend([STOP.to_owned(), USAGE.to_owned()]);
        let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
        let call = serde_json::json!({"id": "x", "function": {"name": "a", "arguments": input}});
        let document = serde_json::json!({
            "choices": [{"message": {"content": text, "tool_calls": [call]}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21},
        });
        let streamed = decode(&[stream(&chunks).as_bytes()]).0.pop();
        let whole = decode(&[document.to_string().as_bytes()]).0.pop();
        prop_assert!(matches!(streamed, Some(ModelEvent::Finished(_))), "{streamed:?}");
        prop_assert_eq!(streamed, whole);
    }

    #[test]
    fn never_panics(
        events in prop::collection::vec((0..8usize, any::<prop::sample::Index>(), any::<u8>()), 0..20),
    ) {
        // Events of a sensible stream, shuffled, repeated, and with a byte changed.
        let body = rich_stream();
        let all: Vec<&str> = body.split_inclusive("\r\n\r\n").collect();
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

    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        decode(&[&bytes]);
        decode(&[b"data: ", &bytes, b"\n\n"]);
        decode(&[b"{", &bytes]);
    }
}
