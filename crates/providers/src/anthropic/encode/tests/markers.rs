//! Whose cache markers are sent, and which requests are refused for them.

use std::sync::Arc;

use heeler_core::CacheMarker::{FiveMinutes, OneHour};
use heeler_core::ModelRequest;

use super::*;

#[test]
fn markers_of_users_come_first_and_ours_take_what_is_left() {
    check_markers(
        &with(&[None; 3]),
        expect![[r#"
        5m after xt","text":"s"
        5m after ype":"object"}
        5m after t","text":"m2"
    "#]],
    );
    check_markers(
        &with(&[Some(FiveMinutes), None, None]),
        expect![[r#"
        5m after xt","text":"s"
        5m after ype":"object"}
        5m after t","text":"m0"
        5m after t","text":"m2"
    "#]],
    );
    check_markers(
        &with(&[None, Some(OneHour), None]),
        expect![[r#"
        1h after xt","text":"s"
        1h after ype":"object"}
        1h after t","text":"m1"
        5m after t","text":"m2"
    "#]],
    );
    check_markers(
        &with(&[None, None, Some(OneHour)]),
        expect![[r#"
        1h after xt","text":"s"
        1h after ype":"object"}
        1h after t","text":"m2"
    "#]],
    );
    check_markers(
        &with(&[Some(FiveMinutes), Some(FiveMinutes), None]),
        expect![[r#"
        5m after xt","text":"s"
        5m after ype":"object"}
        5m after t","text":"m0"
        5m after t","text":"m1"
    "#]],
    );
    check_markers(
        &with(&[Some(OneHour), Some(OneHour), Some(FiveMinutes), Some(FiveMinutes), None]),
        expect![[r#"
            1h after t","text":"m0"
            1h after t","text":"m1"
            5m after t","text":"m2"
            5m after t","text":"m3"
        "#]],
    );
}

#[test]
fn what_a_user_marked_of_the_head_is_marked_once_and_as_long_as_he_said() {
    let mut request = with(&[None]);
    request.parameters.system_cache = Some(OneHour);
    check_markers(
        &request,
        expect![[r#"
        1h after xt","text":"s"
        1h after ype":"object"}
        5m after t","text":"m0"
    "#]],
    );
    mark_tool(&mut request, 1, FiveMinutes);
    request.parameters.system_cache = Some(FiveMinutes);
    check_markers(
        &request,
        expect![[r#"
        5m after xt","text":"s"
        5m after ype":"object"}
        5m after t","text":"m0"
    "#]],
    );
    mark_tool(&mut request, 0, OneHour);
    mark_tool(&mut request, 1, OneHour);
    check_markers(
        &request,
        expect![[r#"
        5m after xt","text":"s"
        1h after ype":"object"}
        1h after ype":"object"}
        5m after t","text":"m0"
    "#]],
    );
    request.system = "".into();
    check_markers(
        &request,
        expect![[r#"
        1h after ype":"object"}
        1h after ype":"object"}
        5m after t","text":"m0"
    "#]],
    );
}

#[test]
fn more_than_four_of_a_user_are_refused_with_the_places_they_have() {
    let mut request = with(&[Some(FiveMinutes); 3]);
    request.parameters.system_cache = Some(FiveMinutes);
    check_markers(
        &request,
        expect![[r#"
        5m after xt","text":"s"
        5m after t","text":"m0"
        5m after t","text":"m1"
        5m after t","text":"m2"
    "#]],
    );
    mark_tool(&mut request, 0, FiveMinutes);
    check_refused(
        &request,
        expect![
            "the request has 5 cache markers (1 on tools, 1 on the system prompt, 3 in messages) and Anthropic takes 4; remove some, the oldest first"
        ],
    );
    check_refused(
        &with(&[Some(OneHour); 6]),
        expect![
            "the request has 6 cache markers (0 on tools, 0 on the system prompt, 6 in messages) and Anthropic takes 4; remove some, the oldest first"
        ],
    );
    // What is not sent has no marker either.
    request.system = "".into();
    check_markers(
        &request,
        expect![[r#"
        5m after ype":"object"}
        5m after t","text":"m0"
        5m after t","text":"m1"
        5m after t","text":"m2"
    "#]],
    );
}

#[test]
fn an_hour_behind_five_minutes_is_refused() {
    let late = expect![
        "a cache marker of one hour follows one of five minutes, which Anthropic refuses; tools come first, then the system prompt, then messages: let those before last an hour too, or this one five minutes"
    ];
    check_refused(&with(&[Some(FiveMinutes), Some(OneHour)]), late);
    let mut request = with(&[Some(OneHour)]);
    request.parameters.system_cache = Some(FiveMinutes);
    assert!(Encoder::default().encode(&request).is_err());
    request.parameters.system_cache = Some(OneHour);
    mark_tool(&mut request, 0, FiveMinutes);
    assert!(Encoder::default().encode(&request).is_err());
    mark_tool(&mut request, 0, OneHour);
    assert!(Encoder::default().encode(&request).is_ok());
}

#[test]
fn markers_within_a_users_own_bytes_count_too() {
    let document = r#"{"type":"document","cache_control":{"type":"ephemeral","ttl":"1h"}}"#;
    let mut request = with(&[None, None]);
    let marked = Message {
        role: Role::User,
        blocks: vec![Block::Document(Arc::new(opaque("anthropic", document))), Block::text("m")],
    };
    let quoted = r#"{"type":"document","title":"cache_control","cache_control":null}"#;
    let unmarked = Message {
        role: Role::User,
        blocks: vec![
            Block::Document(Arc::new(opaque("anthropic", quoted))),
            Block::Document(Arc::new(opaque("other", document))),
        ],
    };
    request.messages = [marked.clone(), unmarked].into_iter().collect();
    request.stable = 2;
    check_markers(
        &request,
        expect![[r#"
            1h after xt","text":"s"
            1h after ype":"object"}
            1h after pe":"document"
        "#]],
    );
    request.messages = vec![marked; 5].into_iter().collect();
    check_refused(
        &request,
        expect![
            "the request has 5 cache markers (0 on tools, 0 on the system prompt, 5 in messages) and Anthropic takes 4; remove some, the oldest first"
        ],
    );
}

proptest! {
    #[test]
    fn whatever_is_sent_has_the_markers_of_the_user_and_four_at_most(
        messages in prop::collection::vec(message(), 1..6),
        has_head in any::<bool>(),
        stable in 0usize..7,
    ) {
        let mut n_own = 0;
        messages.iter().for_each(|message| super::message::markers(message, &mut |_| n_own += 1));
        let alone = messages.iter().map(|message| super::message::encode(message).0).collect::<Vec<_>>();
        let n_written = String::from_utf8(alone.concat()).unwrap().matches("cache_control").count();
        prop_assert_eq!(n_own, n_written);
        let mut request = request(messages);
        request.stable = stable;
        if has_head {
            request.system = "s".into();
            request.tools = tools();
        }
        match Encoder::default().encode(&request) {
            Ok(chunks) => {
                let n = utf8(chunks).matches("cache_control").count();
                prop_assert!(n_own <= n && n <= MARKERS_MAX, "{} of {}", n_own, n);
            }
            Err(error) => {
                prop_assert_eq!(error.kind, ProviderErrorKind::InvalidRequest);
                prop_assert!(n_own > 1);
            }
        }
    }
}

/// A request with a system prompt, two tools and messages with these markers, all of them stable.
fn with(markers: &[Option<CacheMarker>]) -> ModelRequest {
    let messages = markers.iter().enumerate().map(|(i, marker)| marked(i, *marker)).collect();
    let mut request = request(messages);
    request.system = "s".into();
    request.tools = tools();
    request.stable = markers.len();
    request
}

fn mark_tool(request: &mut ModelRequest, index: usize, marker: CacheMarker) {
    let mut tools = request.tools.to_vec();
    tools[index].cache = Some(marker);
    request.tools = tools.into();
}

fn check_refused(request: &ModelRequest, expected: Expect) {
    let error = Encoder::default().encode(request).unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::InvalidRequest);
    expected.assert_eq(&error.message);
}
