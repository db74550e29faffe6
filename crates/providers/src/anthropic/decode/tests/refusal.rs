//! Why the provider refused to go on.

use expect_test::expect;

use super::*;

#[test]
fn why_it_refused_stands_behind_what_was_said() {
    let text =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Part"}}"#;
    let said = |details: &str, reason: &str| {
        let delta = format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_details":{details}}}}}"#
        );
        stream(&[START, text, &delta, STOP])
    };
    let whole = r#"{"type":"refusal","category":"cyber","explanation":"It is\nabout malware."}"#;
    check(
        &said(whole, "refusal"),
        expect![[r#"
        usage in 10 out 1 write 3 read 4 think 0
        0 text "Part"
        0 = text "Part"
        1 text "[Anthropic refused: It is about malware. (cyber)]"
        1 = text "[Anthropic refused: It is about malware. (cyber)]"
        finished Refusal, in 10 out 1 write 3 read 4 think 0, id msg_1: text "Part"; text "[Anthropic refused: It is about malware. (cyber)]"
    "#]],
    );
    check(
        &said(r#"{"category":"bio","explanation":null}"#, "refusal"),
        expect![[r#"
        usage in 10 out 1 write 3 read 4 think 0
        0 text "Part"
        0 = text "Part"
        1 text "[Anthropic refused: category bio]"
        1 = text "[Anthropic refused: category bio]"
        finished Refusal, in 10 out 1 write 3 read 4 think 0, id msg_1: text "Part"; text "[Anthropic refused: category bio]"
    "#]],
    );
    for (details, reason) in
        [("null", "refusal"), ("7", "refusal"), ("{}", "refusal"), (whole, "end_turn")]
    {
        let (events, error) = decode(&[said(details, reason).as_bytes()]);
        let told = events.iter().any(|event| show(event).contains("[Anthropic"));
        assert!(!told && error.is_none(), "{details} {reason}: {events:?}");
    }
    let document = format!(
        r#"{{"content":[],"stop_reason":"refusal","stop_details":{whole},"usage":{{"input_tokens":1}}}}"#
    );
    let (mut decoder, mut out) = (Decoder::new(), VecDeque::new());
    decoder.document(document.as_bytes(), &mut out).unwrap();
    let seen: String = out.iter().map(|event| format!("{}\n", show(event))).collect();
    expect![[r#"
        usage in 1 out 0 write 0 read 0 think 0
        0 text "[Anthropic refused: It is about malware. (cyber)]"
        0 = text "[Anthropic refused: It is about malware. (cyber)]"
        finished Refusal, in 1 out 0 write 0 read 0 think 0, id none: text "[Anthropic refused: It is about malware. (cyber)]"
    "#]].assert_eq(&seen);
}
