//! How answers end: well, cut, refused, failed, or not at all.

use super::*;

const REFUSED: &str = r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"refusal","refusal":"I can't."}]}"#;
const HALF_CALL: &str = r#"{"id":"fc_1","type":"function_call","status":"incomplete","arguments":"{\"pa","call_id":"call_1","name":"read"}"#;

#[test]
fn a_delta_that_does_not_say_where_it_belongs_is_told_by_the_end() {
    let response = r#"{"id":"resp_1","status":"completed","output":[{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"Hello","annotations":[]}]}]}"#;
    let delta = r#"{"type":"response.output_text.delta","delta":"Hel"}"#;
    let (events, error) = decode(&[stream(&[delta], response).as_bytes()]);
    assert_eq!(error, None);
    assert_eq!(events.last(), decode(&[response.as_bytes()]).0.last());
}

#[test]
fn a_refusal() {
    check(
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}"#,
            r#"{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"I can't."}"#,
            r#"{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":"I can't."}"#,
            &done(0, REFUSED),
        ],
        &completed(&[REFUSED]),
        expect![[r#"
            0 text "I can't."
            0 = text "I can't." as openai-responses {"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"refusal","refusal":"I can't."}]}
            usage in 40 out 50 write 3 read 32 think 20
            finished Refusal, in 40 out 50 write 3 read 32 think 20, id resp_1: text "I can't." as openai-responses {"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"refusal","refusal":"I can't."}]}
        "#]],
    );
}

#[test]
fn cut_answers() {
    let cut = |items: &[&str], reason: &str| {
        let rest = format!(r#","incomplete_details":{reason}"#);
        let response = response("incomplete", items, &rest);
        let body = stream(&[], &response);
        let last = show(&body).lines().last().unwrap().to_owned();
        assert_eq!(show(&response).lines().last(), Some(last.as_str()));
        last + "\n"
    };
    let empty_call = CALL.replace(r#"{\"path\": \"a.rs\"}"#, "{}");
    let mut seen = cut(&[TEXT], r#"{"reason":"max_output_tokens"}"#);
    seen += &cut(&[TEXT], r#"{"reason":"content_filter"}"#);
    seen += &cut(&[TEXT], r#"{"reason":"later"}"#);
    seen += &cut(&[TEXT], "null");
    seen += &cut(&[CALL, HALF_CALL], r#"{"reason":"max_output_tokens"}"#);
    // Called done with no input: the model never wrote that.
    seen += &cut(&[&empty_call, &empty_call], r#"{"reason":"max_output_tokens"}"#);
    expect![[r#"
        finished MaxTokens, in 40 out 50 write 3 read 32 think 20, id resp_1: text "Done."
        finished ContentFilter, in 40 out 50 write 3 read 32 think 20, id resp_1: text "Done."
        finished Other("later"), in 40 out 50 write 3 read 32 think 20, id resp_1: text "Done."
        finished Other("incomplete"), in 40 out 50 write 3 read 32 think 20, id resp_1: text "Done."
        finished MaxTokens, in 40 out 50 write 3 read 32 think 20, id resp_1: call "call_1" read {"path": "a.rs"}; call "call_1" read {} invalid: the reply ended before the input was complete
        finished MaxTokens, in 40 out 50 write 3 read 32 think 20, id resp_1: call "call_1" read {}; call "call_1" read {} invalid: the reply ended before the input was complete
    "#]].assert_eq(&seen);
}

#[test]
fn what_was_never_done() {
    let events = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","encrypted_content":"gA"}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"Hm."}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"message"}}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"So far"}"#,
        r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"code_interpreter_call","code":""}}"#,
        r#"{"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","call_id":"c","name":"read"}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":3,"delta":"{}"}"#,
    ];
    let rest = r#","incomplete_details":{"reason":"max_output_tokens"}"#;
    expect![[r#"
        0 thinking "Hm."
        1 text "So far"
        3 call read
        3 input {}
        usage in 40 out 50 write 3 read 32 think 20
        0 = thinking "Hm."
        1 = text "So far"
        3 = call "c" read {} invalid: the reply ended before the input was complete
        finished MaxTokens, in 40 out 50 write 3 read 32 think 20, id resp_1: thinking "Hm."; text "So far"; call "c" read {} invalid: the reply ended before the input was complete
    "#]].assert_eq(&show(&stream(&events, &response("incomplete", &[], rest))));
}

#[test]
fn failures() {
    let text =
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}"#;
    let delta = r#"{"type":"response.output_text.delta","output_index":0,"delta":"So"}"#;
    let failed = |error: &str| {
        let response = response("failed", &[], "").replace("null", error);
        let body = stream(&[text, delta], &response);
        let (streamed, called) = (show(&body), show(&response));
        assert_eq!(streamed.lines().last(), called.lines().last());
        streamed
    };
    let mut seen = failed(r#"{"code":"server_error","message":"We broke."}"#);
    seen += &failed(r#"{"code":"rate_limit_exceeded","message":"Slow down."}"#);
    seen += &failed("null");
    let errors = [
        r#"{"type":"error","code":"server_is_overloaded","message":"Busy","param":null,"sequence_number":3}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Too long"}}"#,
        r#"{"type":"response.cancelled","response":{"status":"cancelled","error":null}}"#,
    ];
    for error in errors {
        seen += &show(&(named(text) + &named(delta) + &named(error)));
    }
    expect![[r#"
        0 text "So"
        usage in 40 out 50 write 3 read 32 think 20
        error Server: OpenAI failed in the middle of its answer: We broke.
        0 text "So"
        usage in 40 out 50 write 3 read 32 think 20
        error RateLimit: OpenAI has had too many requests from this account in the middle of its answer: Slow down.
        0 text "So"
        usage in 40 out 50 write 3 read 32 think 20
        error Server: OpenAI failed in the middle of its answer
        0 text "So"
        error Overloaded: OpenAI is overloaded in the middle of its answer: Busy
        0 text "So"
        error ContextOverflow: OpenAI found the request too long in the middle of its answer: Too long
        Compact the conversation or begin a new one.
        0 text "So"
        error Server: OpenAI failed in the middle of its answer
    "#]].assert_eq(&seen);
}

#[test]
fn what_is_no_answer() {
    let begun = stream(&[], &completed(&[]));
    let begun = begun.split_inclusive("\n\n").next().unwrap();
    let bodies = [
        "",
        " \n",
        "<html>Please log in</html>",
        "{\n  \"detail\": \"Not Found\"\n}\n",
        "data: [DONE]\n\n",
        begun,
        &format!("{begun}event: response.completed\ndata: {{\"resp"),
        "{}",
        r#"{"models":[]}"#,
        r#"[{"error":{"message":"Busy","code":"slow_down"}}]"#,
        "data: [{\"error\":{\"message\":\"Busy\",\"code\":\"slow_down\"}}]\n\n",
        "data: {\"error\":{\"message\":\"Busy\",\"code\":\"slow_down\"}}\n\n",
        "event: response.failed\ndata: {\"response\":{\"error\":{\"message\":\"Busy\",\"code\":\"slow_down\"}}}\n",
        "event: ping\n\n[{\"error\":{\"message\":\"Busy\",\"code\":\"slow_down\"}}]\n\n",
        r#"{"output":"#,
        r#"{"error":{"message":"no such thing","type":"invalid_request_error","code":null}}"#,
        r#"{"id":"resp_1","status":"in_progress","output":[]}"#,
    ];
    let seen: String = bodies.iter().map(|body| show(body)).collect();
    expect![[r#"
        error Format: OpenAI's answer held no events. Check OPENAI_BASE_URL if it is set
        error Format: OpenAI's answer held no events. Check OPENAI_BASE_URL if it is set
        error Format: OpenAI's answer held no events, but `<html>Please log in</html>`. Check OPENAI_BASE_URL if it is set
        error Format: OpenAI's answer held no events, but `{ "detail": "Not Found" }`. Check OPENAI_BASE_URL if it is set
        error Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it
        error Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it
        error Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it
        error Format: OpenAI's answer held no events, but `{}`. Check OPENAI_BASE_URL if it is set
        error Format: OpenAI's answer held no events, but `{"models":[]}`. Check OPENAI_BASE_URL if it is set
        error Overloaded: OpenAI is overloaded in the middle of its answer: Busy
        error Overloaded: OpenAI is overloaded in the middle of its answer: Busy
        error Overloaded: OpenAI is overloaded in the middle of its answer: Busy
        error Overloaded: OpenAI is overloaded in the middle of its answer: Busy
        error Overloaded: OpenAI is overloaded in the middle of its answer: Busy
        error Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it
        error InvalidRequest: OpenAI refused the request in the middle of its answer: no such thing
        error Format: OpenAI's answer could not be read: the answer is not whole, but `in_progress`
    "#]]
    .assert_eq(&seen);
}

#[test]
fn events_that_cannot_be_read() {
    let added =
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}"#;
    let twice = done(0, TEXT);
    let streams: [&[&str]; 7] = [
        &[added, added],
        &[&twice, &twice],
        &[r#"{"type":"response.output_text.delta","output_index":1,"delta":"x"}"#],
        &[added, r#"{"type":"response.output_text.delta","output_index":0,"delta":7}"#],
        &[added, r#"{"type":"response.output_text.delta","output_index":-1,"delta":"x"}"#],
        &[r#"{"type":"response.output_item.done","output_index":0,"item":[]}"#],
        &[r#"{"type":"response.completed","response":7}"#],
    ];
    let seen: String = streams
        .iter()
        .map(|events| show(&events.iter().map(|data| named(data)).collect::<String>()))
        .collect();
    expect![[r#"
        error Format: OpenAI's answer could not be read: a bad `response.output_item.added` event: item 0 began twice
        0 text "Done."
        0 = text "Done."
        error Format: OpenAI's answer could not be read: a bad `response.output_item.done` event: item 0 ended twice
        1 text "x"
        error Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it
        error Format: OpenAI's answer could not be read: a bad `response.output_text.delta` event: invalid type: integer `7`, expected a string at line 1 column 63
        error Format: OpenAI's answer ended without its end marker: the connection or a proxy cut it
        error Format: OpenAI's answer could not be read: a bad `response.output_item.done` event: invalid length 0, expected struct Head with 6 elements at line 1 column 2
        error Format: OpenAI's answer could not be read: invalid type: integer `7`, expected struct Response at line 1 column 1
    "#]].assert_eq(&seen);
}

#[test]
fn an_answer_has_a_size_and_a_number_of_items() {
    let items: Vec<&str> = vec![CALL; ITEMS_MAX];
    let whole = completed(&items);
    assert!(decode(&[stream(&[], &whole).as_bytes()]).1.is_none());
    let (_, error) = decode(&[completed(&[items, vec![CALL]].concat()).as_bytes()]);
    assert!(error.unwrap().message.ends_with("more than 4096 items"));

    let small = completed(&[TEXT]);
    assert!(decode_within(small.len(), &[small.as_bytes()]).1.is_none());
    let error = decode_within(small.len() - 1, &[small.as_bytes()]).1.unwrap();
    assert_eq!(error.kind, ProviderErrorKind::InvalidRequest);
    let streamed = stream(&[], &small);
    let data_bytes: usize =
        streamed.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::len).sum();
    assert!(decode_within(data_bytes, &[streamed.as_bytes()]).1.is_none());
    assert!(decode_within(data_bytes - 1, &[streamed.as_bytes()]).1.is_some());
}

#[test]
fn an_item_that_stands_elsewhere_at_the_end_is_not_another() {
    let begun =
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning"}}"#;
    let last = |events: &[&str], items: &[&str]| {
        let shown = show(&stream(events, &completed(items)));
        shown.lines().last().unwrap_or_default().to_owned() + "\n"
    };
    let mut seen = last(&[begun, &done(1, CALL)], &[CALL]);
    seen += &last(&[&done(1, CALL)], &[CALL]);
    // What the stream left out is there.
    seen += &last(&[&done(0, CALL)], &[CALL, CALL_2]);
    expect![[r#"
        finished ToolUse, in 40 out 50 write 3 read 32 think 20, id resp_1: call "call_1" read {"path": "a.rs"}
        finished ToolUse, in 40 out 50 write 3 read 32 think 20, id resp_1: call "call_1" read {"path": "a.rs"}
        finished ToolUse, in 40 out 50 write 3 read 32 think 20, id resp_1: call "call_1" read {"path": "a.rs"}; call "call_2" read {"path":"b.rs"}
    "#]].assert_eq(&seen);
    // Items of one name are as many as they are.
    let same = CALL_2.replace("call_2", "call_1");
    expect![[r#"finished ToolUse, in 40 out 50 write 3 read 32 think 20, id resp_1: call "call_1" read {"path": "a.rs"}; call "call_1" read {"path":"b.rs"}"#]].assert_eq(show(&completed(&[CALL, &same])).lines().last().unwrap());
}

#[test]
fn a_long_word_is_not_repeated_whole() {
    let long = format!(r#""{}""#, "z".repeat(10_000));
    let odd = completed(&[]).replace(r#""completed""#, &long);
    let shown = show(&odd);
    assert!(shown.chars().count() < 700, "{shown}");
}

#[test]
fn half_a_surrogate_pair_loses_no_text() {
    let halved = TEXT.replace("Done.", "D\\ud83done.");
    let call = CALL.replace("a.rs", "\\\\ud83d");
    expect![[r#"
        usage in 40 out 50 write 3 read 32 think 20
        0 text "D�one."
        0 = text "D�one."
        1 call read
        1 = call "call_1" read {} invalid: the input has half a character: a surrogate escape without its other half
        finished ToolUse, in 40 out 50 write 3 read 32 think 20, id resp_1: text "D�one."; call "call_1" read {} invalid: the input has half a character: a surrogate escape without its other half
    "#]].assert_eq(&show(&completed(&[&halved, &call])));
}

#[test]
fn counts_that_are_none() {
    let odd =
        completed(&[TEXT]).replace(":75", ":75.0").replace(":20", ":-1").replace(":50", ":\"50\"");
    expect![[r#"
        usage in 40 out 50 write 3 read 32 think 0
        0 text "Done."
        0 = text "Done."
        finished EndTurn, in 40 out 50 write 3 read 32 think 0, id resp_1: text "Done."
    "#]]
    .assert_eq(&show(&odd));
}
