//! Properties: a conversation that grew gives the bytes that the same messages give from scratch,
//! each request begins with the one before it, and every body is JSON with its calls answered.

use heeler_core::{RequestMessage, RequestMessages};
use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn each_request_begins_with_the_one_before(
        said in prop::collection::vec(message(), 1..90),
        has_system in any::<bool>(),
        (nine, answers_results) in any::<(bool, bool)>(),
    ) {
        let call_ids = if nine { CallIds::Nine } else { CallIds::Any };
        let quirks = Quirks { call_ids, answers_results, ..Quirks::default() };
        let encoder = Encoder::default();
        let mut live = RequestMessages::default();
        let mut before: Option<Vec<u8>> = None;
        for (n, message) in said.into_iter().enumerate() {
            live.push(Arc::new(RequestMessage::new(message)));
            let request = with(live.clone(), has_system, n);
            let chunks = encoder.encode(&request, &quirks).unwrap();
            let tail_bytes = chunks.last().map_or(0, Bytes::len);
            let sent = chunks.concat();
            let fresh: RequestMessages = live.iter().map(|live| (*live.message).clone()).collect();
            prop_assert_eq!(&sent, &body(&with(fresh, has_system, n), &quirks).unwrap());
            let prefix = &sent[..sent.len() - tail_bytes];
            if let Some(before) = &before {
                prop_assert!(prefix.starts_with(before));
            }
            before = Some(prefix.to_vec());
        }
    }

    #[test]
    fn a_body_is_json_and_results_keep_the_ids_of_their_calls(
        ids in prop::collection::vec(".{0,50}", 1..6),
        said in any::<String>(),
        nine in any::<bool>(),
    ) {
        let call_ids = if nine { CallIds::Nine } else { CallIds::AtMost40 };
        let calls = ids.iter().map(|id| call(id, "read", "{}")).collect();
        let mut results: Vec<Block> =
            ids.iter().map(|id| result(id, vec![text(&said)], false)).collect();
        results.push(text(&said));
        let request = request(vec![
            Message::user("go"),
            Message { role: Role::Assistant, blocks: calls },
            Message { role: Role::User, blocks: results },
        ]);
        let quirks = Quirks { call_ids, ..Quirks::default() };
        let body: serde_json::Value =
            serde_json::from_slice(&body(&request, &quirks).unwrap()).unwrap();
        let messages = body["messages"].as_array().unwrap();
        for n in 0..ids.len() {
            prop_assert_eq!(&messages[1]["tool_calls"][n]["id"], &messages[2 + n]["tool_call_id"]);
        }
        let says_more = usize::from(!said.trim().is_empty());
        prop_assert_eq!(messages.len(), 2 + ids.len() + says_more);
    }
}

/// A request whose volatile fields differ from the last one's.
fn with(messages: RequestMessages, has_system: bool, n: usize) -> ModelRequest {
    let mut request = request(vec![]);
    request.messages = messages;
    request.system = if has_system { "s" } else { "" }.into();
    request.output_max = u64::try_from(n).unwrap();
    request
}

fn message() -> impl Strategy<Value = Message> {
    let block = ("[a-z\"]{0,3}", 0u8..6).prop_map(|(said, kind)| match kind {
        0 => Block::from(Thinking { signature: said, ..Thinking::default() }),
        1 => call(&said, &said, "{}"),
        2 => result(&said, vec![text(&said)], said.len() == 1),
        3 => Block::from(Image::from_bytes("image/png", said.as_bytes())),
        _ => text(&said),
    });
    (any::<bool>(), prop::collection::vec(block, 0..4)).prop_map(|(user, blocks)| Message {
        role: if user { Role::User } else { Role::Assistant },
        blocks,
    })
}
