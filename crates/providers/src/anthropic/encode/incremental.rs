//! Property: a conversation that grew, was joined, cut and asked for again and again gives the
//! bytes that the same messages give from scratch.

use std::sync::Arc;

use heeler_core::{
    Block, CacheMarker, Message, ModelRequest, Opaque, Parameters, RawJson, RequestMessage,
    RequestMessages, Role, Text, Thinking, ToolResult,
};
use proptest::prelude::*;

use super::super::{DIALECT, server_call};
use super::message::{encode, encode_unfinished};
use super::{Encoder, marker_text, tail};

/// The most markers of a request.
const MARKERS_MAX: usize = 4;

/// What happens to a conversation.
#[derive(Debug, Clone)]
enum Step {
    /// So many messages are said.
    Say(Vec<Message>),
    /// The last message is joined with more.
    Join(Message),
    /// Its beginning is sent alone, as for a summary.
    Prefix(prop::sample::Index),
    /// Its beginning is replaced.
    Compact(prop::sample::Index),
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn what_grew_is_what_is_made_from_scratch(
        steps in prop::collection::vec((step(), 0usize..200), 1..8),
        has_system in any::<bool>(),
    ) {
        let encoder = Encoder::default();
        let mut live = RequestMessages::default();
        for (step, stable) in steps {
            match step {
                Step::Say(said) => {
                    said.into_iter().for_each(|said| live.push(RequestMessage::new(said).into()));
                }
                Step::Join(more) => {
                    // Nothing empty stands in a conversation, and what it begins with stays.
                    let last = live.last().filter(|last| !last.message.blocks.is_empty());
                    let Some(last) = last else { continue };
                    let mut joined = (*last.message).clone();
                    joined.blocks.extend(more.blocks);
                    live.replace_last(Arc::new(RequestMessage::new(joined)));
                }
                Step::Prefix(at) => {
                    let prefix = live.prefix(at.index(live.len() + 1));
                    let request = request(prefix, stable, has_system);
                    prop_assert_eq!(sent(&encoder, &request), from_scratch(&request));
                }
                Step::Compact(at) => {
                    let tail = live.iter().skip(at.index(live.len() + 1)).cloned();
                    let summary = RequestMessage::new(Message::user("summary"));
                    live = std::iter::once(Arc::new(summary)).chain(tail).collect();
                }
            }
            let request = request(live.clone(), stable, has_system);
            prop_assert_eq!(sent(&encoder, &request), from_scratch(&request));
        }
    }
}

fn sent(encoder: &Encoder, request: &ModelRequest) -> Option<String> {
    Some(String::from_utf8(encoder.encode(request).ok()?.concat()).unwrap())
}

/// The body as the rules say it, message by message, with nothing kept or shared; `None` for one
/// that the provider would refuse.
fn from_scratch(request: &ModelRequest) -> Option<String> {
    let messages: Vec<&Message> = request.messages.iter().map(|m| &*m.message).collect();
    let markers: Vec<CacheMarker> = messages.iter().flat_map(|message| own(message)).collect();
    let first = |wanted| markers.iter().position(|marker| *marker == wanted);
    let five_minutes = first(CacheMarker::FiveMinutes).unwrap_or(markers.len());
    let hour_late = markers.iter().skip(five_minutes).any(|m| *m == CacheMarker::OneHour);
    if markers.len() > MARKERS_MAX || hour_late {
        return None;
    }
    let hour_at =
        (0..messages.len()).rfind(|at| own(messages[*at]).contains(&CacheMarker::OneHour));
    let bytes = (1..).zip(&messages).map(|(next, message)| {
        match server_call::is_over(message, messages.get(next).copied()) {
            true => encode(&server_call::answered(message)),
            false => encode_unfinished(message),
        }
    });
    let bytes: Vec<(Vec<u8>, Option<usize>)> = bytes.collect();

    let mut free = MARKERS_MAX - markers.len();
    let kind = |hour_follows: bool| match hour_follows {
        true => CacheMarker::OneHour,
        false => CacheMarker::FiveMinutes,
    };
    let mut body = br#"{"model":"m""#.to_vec();
    if !request.system.is_empty() {
        body.extend_from_slice(br#","system":[{"type":"text","text":"s""#);
        if free > 0 {
            free -= 1;
            body.extend_from_slice(marker_text(kind(hour_at.is_some())));
        }
        body.extend_from_slice(b"}]");
    }
    body.extend_from_slice(br#","messages":["#);
    let is_marked = |at: usize| !own(messages[at]).is_empty();
    let serves = |at: &usize| is_marked(*at) || bytes[*at].1.is_some();
    let stable = (0..request.stable.min(messages.len())).rfind(serves);
    let stable = stable.filter(|at| free > 0 && !is_marked(*at));
    let mut is_first = true;
    for (at, (mut bytes, marker_at)) in bytes.into_iter().enumerate() {
        if bytes.is_empty() {
            continue;
        }
        if let (true, Some(marker_at)) = (stable == Some(at), marker_at) {
            let marker = marker_text(kind(hour_at.is_some_and(|hour| at < hour)));
            bytes.splice(marker_at..marker_at, marker.iter().copied());
        }
        if !is_first {
            body.push(b',');
        }
        is_first = false;
        body.extend_from_slice(&bytes);
    }
    body.extend_from_slice(&tail::encode(request).unwrap());
    Some(String::from_utf8(body).unwrap())
}

fn own(message: &Message) -> Vec<CacheMarker> {
    let cache = |block: &Block| match block {
        Block::Text(text) => text.cache.filter(|_| !text.text.is_empty()),
        _ => None,
    };
    message.blocks.iter().filter_map(cache).collect()
}

fn request(messages: RequestMessages, stable: usize, has_system: bool) -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: if has_system { "s" } else { "" }.into(),
        tools: [].into(),
        provider_tools: [].into(),
        messages,
        stable,
        output_max: 100,
        parameters: Parameters::default(),
        epoch: 0,
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec(message(), 0..80).prop_map(Step::Say),
        1 => message().prop_map(Step::Join),
        1 => any::<prop::sample::Index>().prop_map(Step::Prefix),
        1 => any::<prop::sample::Index>().prop_map(Step::Compact),
    ]
}

/// Mostly plain texts, so that most stretches have no marker.
fn message() -> impl Strategy<Value = Message> {
    let marker = prop_oneof![
        600 => Just(None),
        1 => Just(Some(CacheMarker::FiveMinutes)),
        1 => Just(Some(CacheMarker::OneHour)),
    ];
    let own = |kind: &str, id: &str| {
        let raw = format!(r#"{{"type":"{kind}","id":"{id}","tool_use_id":"{id}"}}"#);
        let raw = RawJson::parse(&raw).unwrap();
        Block::Opaque(Arc::new(Opaque { provider: DIALECT.into(), raw }))
    };
    let block = ("[a-z\"]{0,3}", marker, 0u8..12).prop_map(move |(text, cache, kind)| match kind {
        0 => Block::from(Thinking { signature: text.clone(), text, raw: None }),
        1..3 => own("server_tool_use", if text.len() < 2 { "a" } else { "b" }),
        3 => own("web_search_tool_result", if text.len() < 2 { "a" } else { "b" }),
        4 => Block::from(ToolResult {
            tool_use_id: "t".into(),
            content: vec![],
            is_error: false,
            cache: None,
        }),
        _ => Text { text, cache, raw: None }.into(),
    });
    (any::<bool>(), prop::collection::vec(block, 0..3)).prop_map(|(user, blocks)| Message {
        role: if user { Role::User } else { Role::Assistant },
        blocks,
    })
}
