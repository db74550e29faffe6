//! Properties: what every body is, and what a conversation that grows has in common with itself.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// Messages of a stretch, and a few more.
const LONG_MESSAGES: usize = 80;

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn a_request_starts_with_the_one_before_it(
        messages in prop::collection::vec(message(), 1..LONG_MESSAGES),
        at in any::<prop::sample::Index>(),
        has_head in any::<bool>(),
        output_max in any::<u64>(),
    ) {
        let messages: Vec<_> =
            messages.into_iter().map(|message| Arc::new(RequestMessage::new(message))).collect();
        let n_before = at.index(messages.len());
        let mut before = request(vec![]);
        if has_head {
            before.system = "s".into();
            before.tools = tools();
        }
        let mut after = before.clone();
        before.messages = messages[..n_before].iter().cloned().collect();
        after.messages = messages.into_iter().collect();
        after.output_max = output_max;
        let encoder = Encoder::default();
        let body = |request: &ModelRequest| {
            String::from_utf8(encoder.encode(request, Keeping::Forgets).unwrap().concat()).unwrap()
        };
        let (before_body, after_body) = (body(&before), body(&after));
        for body in [&before_body, &after_body] {
            prop_assert!(serde_json::from_str::<Value>(body).is_ok(), "{}", body);
        }
        let tail = before_body.rfind(r#"],"max_output_tokens""#).unwrap();
        prop_assert!(after_body.starts_with(&before_body[..tail]), "{before_body}\n{after_body}");
        // What was kept is what is made from scratch.
        prop_assert_eq!(&body(&after), &from_scratch(&after));
    }
}

/// The body, message by message, with nothing kept or shared.
fn from_scratch(request: &ModelRequest) -> String {
    let mut body = String::from_utf8(head::encode(request).unwrap()).unwrap();
    let reasoning = Encoder::default().reasoning(&request.model);
    let items = request.messages.iter().map(|message| message::encode(&message.message, reasoning));
    let items = items.filter(|bytes| !bytes.is_empty());
    let items: Vec<String> = items.map(|bytes| String::from_utf8(bytes).unwrap()).collect();
    body.push_str(&items.join(","));
    body.push_str(
        std::str::from_utf8(&tail::encode(request, Keeping::Forgets, reasoning).unwrap()).unwrap(),
    );
    body
}

fn message() -> impl Strategy<Value = Message> {
    let block = ("[a-z\"\\\\]{0,4}", 0u8..9).prop_map(|(text, kind)| match kind {
        0 => Block::from(Thinking { signature: text.clone(), text, raw: None }),
        1 => Block::from(image("image/png", &text)),
        2 => call(&text, &text, "{}", None),
        3 => result(&text, vec![Block::text(&text)], true),
        4 => Block::Opaque(Arc::new(opaque("other", "{}"))),
        5 => Block::Opaque(Arc::new(opaque(DIALECT, r#"{"type":"later"}"#))),
        6 => Block::Document(Arc::new(opaque(DIALECT, r#"{"type":"input_file"}"#))),
        7 => Block::from(Thinking {
            raw: Some(item(r#"{"type":"reasoning"}"#).into()),
            ..Thinking::default()
        }),
        _ => Block::text(text),
    });
    (any::<bool>(), prop::collection::vec(block, 0..4)).prop_map(|(user, blocks)| Message {
        role: if user { Role::User } else { Role::Assistant },
        blocks,
    })
}
