//! Vectors after the WHATWG rules, and properties over any chunking.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

#[test]
fn fields_and_line_ends() {
    check(
        b"data: one\n\ndata:two\r\n\r\ndata\r\rdata:  three\n\n",
        expect![[r#"
        message "one"
        message "two"
        message ""
        message " three"
    "#]],
    );
}

#[test]
fn data_lines_are_joined() {
    check(
        b"data: a\ndata:\ndata: b: c\r\n\n",
        expect![[r#"
        message "a\n\nb: c"
    "#]],
    );
    check(
        b"data\ndata\n\n",
        expect![[r#"
        message "\n"
    "#]],
    );
}

#[test]
fn comments_and_unknown_fields_are_ignored() {
    check(
        b": keep alive\n:\nfoo: bar\nretry: 10\nretry: soon\n data: x\nDATA: y\ndata: z\n\n",
        expect![[r#"
        message "z"
    "#]],
    );
}

#[test]
fn an_error_that_is_a_field_is_an_event_of_that_kind() {
    check(
        b"error: {\"code\":400}\n\ndata: x\n\nerror\n\nerrors: y\n\ndata: a\nerror: b\n\n",
        expect![[r#"
            error "{\"code\":400}"
            message "x"
            error ""
            error "a\nb"
        "#]],
    );
    check_limit(
        10,
        b"error: 123\nerror: 4\n\n",
        expect![[r#"
        a server-sent event is longer than 10 bytes
    "#]],
    );
}

#[test]
fn lines_of_json_as_they_are_come_without_a_type_and_before_the_event_they_stand_in() {
    check(
        b"data: a\n{\"x\":\r\n 1}\n\nno json\n\n\n[\n]\n\ndata: b\n\n",
        expect![[r#"
             "{\"x\":\n 1}\n"
            message "a"
             "[\n]\n"
            message "b"
        "#]],
    );
    let long = ["[\n".repeat(STRAY_BYTES_MAX), "]\n\n".to_owned()].concat();
    let mut length = 0;
    let fed = Parser::new().feed(long.as_bytes(), |event: Event<'_>| length = event.data.len());
    assert_eq!((fed, length), (Ok(()), STRAY_BYTES_MAX));
}

#[test]
fn what_is_left_over_is_told_with_its_last_line() {
    for (bytes, stray, data) in [
        ("", "\n", "\n"),
        ("data: a\n\n{}\n\n", "\n", "\n"),
        ("[{\n}\n]", "[{\n}\n\n]", "\n"),
        ("data: a\ndata: b\n", "\n", "a\nb\n"),
        ("data: a\ndata: b", "\n", "a\nb"),
        ("{}\nerror: b", "{}\n\n", "\nb"),
    ] {
        let mut parser = Parser::new();
        parser.feed(bytes.as_bytes(), |_: Event<'_>| {}).unwrap();
        assert_eq!(parser.left_over(), [stray, data], "{bytes:?}");
    }
}

#[test]
fn a_type_without_data_is_forgotten() {
    check(
        b"event: lost\n\ndata: x\n\nevent: a\nevent: b\ndata: y\n\nevent: c\nevent\ndata: z\n\n",
        expect![[r#"
        message "x"
        b "y"
        message "z"
    "#]],
    );
}

#[test]
fn an_id_lasts_and_one_with_a_null_does_not_count() {
    check(
        b"id: 7\ndata: a\n\ndata: b\n\nid: 8\x009\ndata: c\n\nid\ndata: d\n\n",
        expect![[r#"
        message "a" 7
        message "b" 7
        message "c" 7
        message "d"
    "#]],
    );
}

#[test]
fn byte_order_marks_are_skipped_at_the_start_only() {
    check(
        b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n",
        expect![[r#"
        message "a"
    "#]],
    );
    check(
        b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n",
        expect![[r#"
            message "a"
            message "b"
        "#]],
    );
    check(
        b"\xef\xbbdata: a\n\ndata: b\n\n",
        expect![[r#"
        message "b"
    "#]],
    );
}

#[test]
fn invalid_utf8_is_replaced() {
    check(
        b"event: \xff\ndata: a\xe2\x82\xffb\xc3\n\ndata: \xe2\x82\xac\n\n",
        expect![[r#"
        � "a��b�"
        message "€"
    "#]],
    );
}

#[test]
fn what_is_cut_at_the_end_is_no_event() {
    check(
        b"data: a\n\ndata: b\n",
        expect![[r#"
        message "a"
    "#]],
    );
    check(b"data: b", expect![""]);
}

#[test]
fn an_event_has_a_limit() {
    check_limit(
        10,
        b"data: 1234\n\ndata: 12345\n\ndata: 6\n\n",
        expect![[r#"
        message "1234"
        a server-sent event is longer than 10 bytes
    "#]],
    );
    check_limit(
        20,
        b"data: 123456\ndata: 123456\ndata: 123456\n\n",
        expect![[r#"
        a server-sent event is longer than 20 bytes
    "#]],
    );
    check_limit(
        10,
        b"::::::::::::::::::",
        expect![[r#"
        a server-sent event is longer than 10 bytes
    "#]],
    );
    let endless = vec![b'a'; EVENT_BYTES_MAX + 1];
    assert!(Parser::new().feed(&endless, |_: Event<'_>| {}).is_err());
    assert!(Parser::new().feed(&endless[1..], |_: Event<'_>| {}).is_ok());
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_events(
        lines in prop::collection::vec(line(), 0..24),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        limit in prop_oneof![Just(EVENT_BYTES_MAX), 8usize..40],
    ) {
        let bytes = lines.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([bytes.len()]) {
            chunks.push(&bytes[from..cut]);
            from = cut;
        }
        prop_assert_eq!(parse(limit, chunks.into_iter()), parse(limit, [bytes.as_slice()].into_iter()));
    }

    #[test]
    fn never_panics(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..8)) {
        let joined = chunks.concat();
        prop_assert_eq!(
            parse(64, chunks.iter().map(Vec::as_slice)),
            parse(64, joined.chunks(1))
        );
    }
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        Just(b"data: hello".to_vec()),
        Just(b"data:".to_vec()),
        Just(b"data".to_vec()),
        Just("data: \u{20ac}\u{1f980}".as_bytes().to_vec()),
        Just(b"data: \xf0\x9f".to_vec()),
        Just(b"event: kind".to_vec()),
        Just(b"error: gone".to_vec()),
        Just(b"{\"error\": 1}".to_vec()),
        Just(b"]".to_vec()),
        Just(b"id: 1".to_vec()),
        Just(b": comment".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        Just(Vec::new()),
        Just(Vec::new()),
    ];
    let end = prop_oneof![Just(&b"\n"[..]), Just(&b"\r"[..]), Just(&b"\r\n"[..])];
    (text, end).prop_map(|(mut text, end)| {
        text.extend_from_slice(end);
        text
    })
}

/// Parses `bytes` whole and byte by byte.
fn check(bytes: &[u8], expected: Expect) {
    check_limit(EVENT_BYTES_MAX, bytes, expected);
}

fn check_limit(limit: usize, bytes: &[u8], expected: Expect) {
    let whole = parse(limit, [bytes].into_iter());
    assert_eq!(parse(limit, bytes.chunks(1)), whole, "byte by byte");
    expected.assert_eq(&whole);
}

fn parse<'a>(limit: usize, chunks: impl Iterator<Item = &'a [u8]>) -> String {
    let mut parser = Parser::with_limit(limit);
    let mut seen = String::new();
    for chunk in chunks {
        let fed = parser.feed(chunk, |event: Event<'_>| {
            let id = if event.id.is_empty() { String::new() } else { format!(" {}", event.id) };
            seen.push_str(&format!("{} {:?}{id}\n", event.kind, event.data));
        });
        if let Err(error) = fed {
            return seen + &format!("{error}\n");
        }
    }
    seen
}
