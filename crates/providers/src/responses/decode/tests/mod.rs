//! Answers in, events out. Each answer is read streamed and not, and must be the same.

mod endings;
mod properties;

use expect_test::{Expect, expect};
use heeler_core::ProviderItem;

use super::*;

/// The items of an answer of every kind, as they are when they are done.
const REASONING: &str = r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"**Look**"},{"type":"summary_text","text":"Then read."}],"encrypted_content":"gAAAAA=="}"#;
const SEARCH: &str = r#"{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"rust 1.90"}}"#;
const CITED: &str = r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[{"type":"url_citation","start_index":0,"end_index":5,"url":"https://example.com","title":"T"}],"logprobs":[],"text":"Héllo"}]}"#;
const CALL: &str = r#"{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"path\": \"a.rs\"}","call_id":"call_1","name":"read"}"#;
const CALL_2: &str = r#"{"id":"fc_2","type":"function_call","status":"completed","arguments":"{\"path\":\"b.rs\"}","call_id":"call_2","name":"read"}"#;
const TEXT: &str = r#"{"id":"msg_2","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Done."}]}"#;

#[test]
fn text() {
    check(
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_2","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":2}"#,
            r#"{"type":"response.content_part.added","item_id":"msg_2","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]},"sequence_number":3}"#,
            r#"{"type":"response.output_text.delta","item_id":"msg_2","output_index":0,"content_index":0,"delta":"Do","logprobs":[],"obfuscation":"x9","sequence_number":4}"#,
            r#"{"type":"response.output_text.delta","item_id":"msg_2","output_index":0,"content_index":0,"delta":"ne.","sequence_number":5}"#,
            r#"{"type":"response.output_text.done","item_id":"msg_2","output_index":0,"content_index":0,"text":"Done.","sequence_number":6}"#,
            &done(0, TEXT),
        ],
        &completed(&[TEXT]),
        expect![[r#"
            0 text "Done."
            0 = text "Done."
            usage in 40 out 50 write 3 read 32 think 20
            finished EndTurn, in 40 out 50 write 3 read 32 think 20, id resp_1: text "Done."
        "#]],
    );
}

#[test]
fn reasoning_search_citations_and_calls_in_order() {
    check(
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gA"}}"#,
            r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
            r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"**Look**"}"#,
            r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"Then "}"#,
            r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"read."}"#,
            &done(0, REASONING),
            r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"ws_1","type":"web_search_call","status":"in_progress"}}"#,
            r#"{"type":"response.web_search_call.searching","output_index":1,"item_id":"ws_1"}"#,
            &done(1, SEARCH),
            r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}"#,
            r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":2,"content_index":0,"delta":"H\u00e9llo"}"#,
            r#"{"type":"response.output_text.annotation.added","item_id":"msg_1","output_index":2,"content_index":0,"annotation_index":0,"annotation":{"type":"url_citation"}}"#,
            &done(2, CITED),
            r#"{"type":"response.output_item.added","output_index":3,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"read"}}"#,
            r#"{"type":"response.output_item.added","output_index":4,"item":{"id":"fc_2","type":"function_call","status":"in_progress","arguments":"","call_id":"call_2","name":"read"}}"#,
            r#"{"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":4,"delta":"{\"path\":"}"#,
            r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":3,"delta":"{\"path\": \"a.rs\"}"}"#,
            r#"{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":3,"arguments":"{\"path\": \"a.rs\"}","name":"read"}"#,
            &done(3, CALL),
            r#"{"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":4,"delta":"\"b.rs\"}"}"#,
            &done(4, CALL_2),
        ],
        &completed(&[REASONING, SEARCH, CITED, CALL, CALL_2]),
        expect![[r#"
            0 thinking "**Look**\n\nThen read."
            0 = thinking "**Look**\n\nThen read." as openai-responses {"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"**Look**"},{"type":"summary_text","text":"Then read."}],"encrypted_content":"gAAAAA=="}
            1 = openai-responses {"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"rust 1.90"}}
            2 text "Héllo"
            2 = text "Héllo" as openai-responses {"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[{"type":"url_citation","start_index":0,"end_index":5,"url":"https://example.com","title":"T"}],"logprobs":[],"text":"Héllo"}]}
            3 call read
            4 call read
            3 input {"path": "a.rs"}
            4 input {"path":
            3 = call "call_1" read {"path": "a.rs"}
            4 input "b.rs"}
            4 = call "call_2" read {"path":"b.rs"}
            usage in 40 out 50 write 3 read 32 think 20
            finished ToolUse, in 40 out 50 write 3 read 32 think 20, id resp_1: thinking "**Look**\n\nThen read." as openai-responses {"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"**Look**"},{"type":"summary_text","text":"Then read."}],"encrypted_content":"gAAAAA=="}; openai-responses {"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"rust 1.90"}}; text "Héllo" as openai-responses {"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[{"type":"url_citation","start_index":0,"end_index":5,"url":"https://example.com","title":"T"}],"logprobs":[],"text":"Héllo"}]}; call "call_1" read {"path": "a.rs"}; call "call_2" read {"path":"b.rs"}
        "#]],
    );
}

#[test]
fn an_item_of_another_kind_may_have_anything_under_the_names_of_a_call() {
    let search = r#"{"type":"tool_search_call","id":"tsc_1","execution":"server","call_id":null,"status":["done"],"name":{},"arguments":{"paths":["crm"]}}"#;
    let found = r#"{"type":"tool_search_output","id":7,"call_id":[],"tools":[]}"#;
    let call =
        r#"{"type":"function_call","call_id":"call_1","name":"read","arguments":{"path":"a"}}"#;
    let odd = r#"{"type":"function_call","call_id":"call_2","name":"read","arguments":[1]}"#;
    let bare = r#"{"type":"function_call","call_id":"call_3","name":"read","arguments":null}"#;
    let items = [search, found, call, odd, bare];
    let events: Vec<String> = (0..).zip(items).map(|(at, item)| done(at, item)).collect();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    check(
        &events,
        &completed(&items),
        expect![[r#"
        0 = openai-responses {"type":"tool_search_call","id":"tsc_1","execution":"server","call_id":null,"status":["done"],"name":{},"arguments":{"paths":["crm"]}}
        1 = openai-responses {"type":"tool_search_output","id":7,"call_id":[],"tools":[]}
        2 call read
        2 input {"path":"a"}
        2 = call "call_1" read {"path":"a"}
        3 call read
        3 = call "call_2" read {} invalid: the input is not a JSON object
        4 call read
        4 input {}
        4 = call "call_3" read {}
        usage in 40 out 50 write 3 read 32 think 20
        finished ToolUse, in 40 out 50 write 3 read 32 think 20, id resp_1: openai-responses {"type":"tool_search_call","id":"tsc_1","execution":"server","call_id":null,"status":["done"],"name":{},"arguments":{"paths":["crm"]}}; openai-responses {"type":"tool_search_output","id":7,"call_id":[],"tools":[]}; call "call_1" read {"path":"a"}; call "call_2" read {} invalid: the input is not a JSON object; call "call_3" read {}
    "#]],
    );
}

#[test]
fn raw_reasoning_without_a_summary() {
    let reasoning = r#"{"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm. So."}]}"#;
    // Named, but neither shown nor kept anywhere: nothing to send back.
    let hidden = r#"{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":null}"#;
    let told =
        r#"{"id":"rs_3","type":"reasoning","summary":[{"type":"summary_text","text":"told"}]}"#;
    check(
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
            r#"{"type":"response.reasoning_text.delta","item_id":"rs_1","output_index":0,"content_index":0,"delta":"Hm. "}"#,
            r#"{"type":"response.reasoning_text.delta","item_id":"rs_1","output_index":0,"content_index":0,"delta":"So."}"#,
            &done(0, reasoning),
            &done(1, hidden),
            &done(2, told),
        ],
        &completed(&[reasoning, hidden, told]),
        expect![[r#"
            0 thinking "Hm. So."
            0 = thinking "Hm. So." as openai-responses {"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm. So."}]}
            1 = thinking ""
            2 thinking "told"
            2 = thinking "told"
            usage in 40 out 50 write 3 read 32 think 20
            finished EndTurn, in 40 out 50 write 3 read 32 think 20, id resp_1: thinking "Hm. So." as openai-responses {"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm. So."}]}; thinking "told"
        "#]],
    );
}

#[test]
fn what_is_more_than_text_keeps_its_bytes() {
    let part = r#"{"type":"output_text","text":"a"}"#;
    let messages = [
        format!(r#"{{"type":"message","content":[{part}],"phase":null}}"#),
        format!(r#"{{"type":"message","content":[{part}],"phase":"commentary"}}"#),
        format!(r#"{{"type":"message","content":[{part}, {part}]}}"#),
        r#"{"type":"message","content":[{"type":"output_text","text":"a","logprobs":[{"token":"a"}]}]}"#.to_owned(),
        r#"{"type":"message","content":[{"type":"later","what":1}]}"#.to_owned(),
        r#"{"type":"message","content":[]}"#.to_owned(),
        r#"{"type":"message","content":[{"type":"output_text","text":""}]}"#.to_owned(),
    ];
    let items: Vec<&str> = messages.iter().map(String::as_str).collect();
    check(
        &[],
        &completed(&items),
        expect![[r#"
            usage in 40 out 50 write 3 read 32 think 20
            0 text "a"
            0 = text "a"
            1 text "a"
            1 = text "a" as openai-responses {"type":"message","content":[{"type":"output_text","text":"a"}],"phase":"commentary"}
            2 text "aa"
            2 = text "aa" as openai-responses {"type":"message","content":[{"type":"output_text","text":"a"}, {"type":"output_text","text":"a"}]}
            3 text "a"
            3 = text "a" as openai-responses {"type":"message","content":[{"type":"output_text","text":"a","logprobs":[{"token":"a"}]}]}
            4 = text "" as openai-responses {"type":"message","content":[{"type":"later","what":1}]}
            5 = text ""
            6 = text ""
            finished EndTurn, in 40 out 50 write 3 read 32 think 20, id resp_1: text "a"; text "a" as openai-responses {"type":"message","content":[{"type":"output_text","text":"a"}],"phase":"commentary"}; text "aa" as openai-responses {"type":"message","content":[{"type":"output_text","text":"a"}, {"type":"output_text","text":"a"}]}; text "a" as openai-responses {"type":"message","content":[{"type":"output_text","text":"a","logprobs":[{"token":"a"}]}]}; text "" as openai-responses {"type":"message","content":[{"type":"later","what":1}]}
        "#]],
    );
}

#[test]
fn inputs_of_calls() {
    let call = |arguments: &str, rest: &str| {
        let arguments = serde_json::Value::from(arguments);
        format!(r#"{{"type":"function_call","name":"n","arguments":{arguments}{rest}}}"#)
    };
    let calls = [
        call("", r#","call_id":"c","status":"completed""#),
        call(" ", r#","call_id":"c""#),
        call("null", r#","id":"fc_1""#),
        call(r#"{"a": 1}"#, r#","call_id":"","status":"incomplete""#),
        call(r#"{"a":"#, ""),
        call("[1]", ""),
        call("{} {}", ""),
        call(&"[".repeat(120), ""),
        r#"{"type":"function_call"}"#.to_owned(),
    ];
    let items: Vec<&str> = calls.iter().map(String::as_str).collect();
    check(
        &[],
        &completed(&items),
        expect![[r#"
            usage in 40 out 50 write 3 read 32 think 20
            0 call n
            0 input {}
            0 = call "c" n {}
            1 call n
            1 input {}
            1 = call "c" n {}
            2 call n
            2 input {}
            2 = call "fc_1" n {}
            3 call n
            3 = call "" n {} invalid: the reply ended before the input was complete
            4 call n
            4 = call "" n {} invalid: the input is not valid JSON: EOF while parsing a value at line 1 column 5
            5 call n
            5 = call "" n {} invalid: the input is not a JSON object
            6 call n
            6 = call "" n {} invalid: the input is not valid JSON: trailing characters at line 1 column 4
            7 call n
            7 = call "" n {} invalid: the input is JSON nested deeper than 96 levels
            8 call 
            8 input {}
            8 = call ""  {}
            finished ToolUse, in 40 out 50 write 3 read 32 think 20, id resp_1: call "c" n {}; call "c" n {}; call "fc_1" n {}; call "" n {} invalid: the reply ended before the input was complete; call "" n {} invalid: the input is not valid JSON: EOF while parsing a value at line 1 column 5; call "" n {} invalid: the input is not a JSON object; call "" n {} invalid: the input is not valid JSON: trailing characters at line 1 column 4; call "" n {} invalid: the input is JSON nested deeper than 96 levels; call ""  {}
        "#]],
    );
}

#[test]
fn what_is_done_counts_and_what_comes_late_changes_nothing() {
    check(
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"Other"}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"no text"}"#,
            &done(0, TEXT),
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"late"}"#,
            r#"{"type":"response.later.delta","output_index":7,"delta":1}"#,
        ],
        &completed(&[TEXT]),
        expect![[r#"
            0 text "Other"
            0 = text "Done."
            usage in 40 out 50 write 3 read 32 think 20
            finished EndTurn, in 40 out 50 write 3 read 32 think 20, id resp_1: text "Done."
        "#]],
    );
}

#[test]
fn an_item_whose_end_is_missing_is_taken_from_the_whole() {
    check(
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"Do"}"#,
        ],
        &completed(&[TEXT, CALL]),
        expect![[r#"
            0 text "Do"
            usage in 40 out 50 write 3 read 32 think 20
            0 text "ne."
            0 = text "Done."
            1 call read
            1 input {"path": "a.rs"}
            1 = call "call_1" read {"path": "a.rs"}
            finished ToolUse, in 40 out 50 write 3 read 32 think 20, id resp_1: text "Done."; call "call_1" read {"path": "a.rs"}
        "#]],
    );
}

#[test]
fn some_gateways_leave_names_or_the_output_out() {
    let events = [
        r#"{"type":"response.created","response":{"id":"resp_7"}}"#.to_owned(),
        done(0, TEXT),
        r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#.to_owned(),
    ];
    let body: String = events.iter().map(|data| format!("data: {data}\n\n")).collect();
    expect![[r#"
        0 text "Done."
        0 = text "Done."
        finished EndTurn, in 0 out 0 write 0 read 0 think 0, id resp_7: text "Done."
    "#]]
    .assert_eq(&show(&body));
}

/// Streams the events and then the whole response, shows what comes of it, and compares with what
/// the response alone gives.
#[test]
fn what_came_under_another_number_or_id_is_what_it_says() {
    let message = |id: &str| {
        format!(r#"{{"type":"message"{id},"content":[{{"type":"output_text","text":"hello"}}]}}"#)
    };
    let call = |id: &str, input: &str| {
        format!(r#"{{"type":"function_call"{id},"name":"Bash","arguments":"{input}"}}"#)
    };
    let ls = |id: &str| call(id, r#"{\"command\":\"ls\"}"#);
    let spaced = |id: &str| call(id, r#"{\"command\": \"ls\"}"#);
    let (a, b) = (r#","call_id":"cA""#, r#","call_id":"cB""#);
    let (x, y) = (r#","id":"x""#, r#","id":"y""#);
    let pwd = call("", r#"{\"command\":\"pwd\"}"#);
    let added =
        r#"{"type":"response.output_item.added","output_index":3,"item":{"type":"message"}}"#;
    let more = r#"{"type":"response.output_text.delta","output_index":3,"delta":"hel"}"#;
    let early = more.replace('3', "1");
    let numberless = |item: &str| done(9, item).replace(r#""output_index":9,"#, "");
    let mut seen = String::new();
    for (events, output) in [
        (vec![done(1, &ls(a))], vec![ls(b)]),
        (vec![done(0, &ls(a)), done(1, &call(a, "{}"))], vec![ls(a), call(a, "{}")]),
        (vec![done(1, &ls(a)), done(2, &call(a, "{}"))], vec![ls(a), call(a, "{}")]),
        (vec![done(1, &ls(""))], vec![spaced("")]),
        (vec![done(1, &ls("")), done(2, &ls(""))], vec![ls(""), ls("")]),
        (vec![done(1, &ls(""))], vec![ls(""), ls("")]),
        (vec![done(0, &ls(""))], vec![pwd.clone(), ls("")]),
        (vec![done(1, &ls(""))], vec![ls(""), pwd]),
        (vec![done(1, &message(x))], vec![message(y)]),
        (vec![added.to_owned(), more.to_owned()], vec![message("")]),
        (vec![early], vec![message("")]),
        (vec![numberless(&message(""))], vec![message("")]),
        (vec![added.to_owned(), more.to_owned(), numberless(&message(""))], vec![]),
    ] {
        let output: Vec<&str> = output.iter().map(String::as_str).collect();
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let (events, error) = decode(&[stream(&events, &completed(&output)).as_bytes()]);
        assert_eq!(error, None);
        let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
        let blocks: Vec<String> = reply.blocks.iter().map(words).collect();
        seen += &(blocks.join("; ") + "\n");
    }
    expect![[r#"
        call "cA" Bash {"command":"ls"}
        call "cA" Bash {"command":"ls"}; call "cA" Bash {}
        call "cA" Bash {"command":"ls"}; call "cA" Bash {}
        call "" Bash {"command":"ls"}
        call "" Bash {"command":"ls"}; call "" Bash {"command":"ls"}
        call "" Bash {"command":"ls"}; call "" Bash {"command":"ls"}
        call "" Bash {"command":"ls"}; call "" Bash {"command":"pwd"}
        call "" Bash {"command":"ls"}; call "" Bash {"command":"pwd"}
        text "hello"
        text "hello"
        text "hello"
        text "hello"
        text "hello"
    "#]]
    .assert_eq(&seen);
}

#[test]
fn no_answer_is_lost_for_what_stands_beside_it() {
    let response = |rest: &str, output: &str| {
        format!(r#"{{"status":"completed",{rest},"output":[{output}]}}"#)
    };
    let text = r#"{"type":"message","content":"hello"}"#;
    let summary = r#"{"type":"reasoning","summary":"Hm","content":[7,"So"],"encrypted_content":1}"#;
    for rest in [
        r#""id":7"#,
        r#""usage":[]"#,
        r#""usage":{"output_tokens_details":"x","input_tokens_details":3,"input_tokens":1}"#,
        r#""incomplete_details":"max""#,
    ] {
        let response = response(rest, &format!("{summary},{text}"));
        let delta = r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":null,"delta":"H"}"#;
        for body in [response.clone(), stream(&[delta], &response)] {
            let (events, error) = decode(&[body.as_bytes()]);
            assert_eq!(error, None, "{body}");
            let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
            let [Block::Thinking(thinking), Block::Text(text)] = &reply.blocks[..] else {
                panic!("{reply:?}")
            };
            assert_eq!((&*thinking.text, &*text.text), ("Hm", "hello"));
            assert!(text.raw.is_none());
        }
    }
}

fn check(events: &[&str], response: &str, expected: Expect) {
    let body = stream(events, response);
    expected.assert_eq(&show(&body));
    let streamed = decode(&[body.as_bytes()]).0;
    let called = decode(&[response.as_bytes()]).0;
    let reply = |events: &[ModelEvent]| match events.last() {
        Some(ModelEvent::Finished(reply)) => Some(reply.clone()),
        _ => None,
    };
    assert!(reply(&called).is_some());
    assert_eq!(reply(&streamed), reply(&called));
}

fn done(index: u32, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.done","output_index":{index},"item":{item}}}"#)
}

fn completed(items: &[&str]) -> String {
    response("completed", items, "")
}

fn response(status: &str, items: &[&str], rest: &str) -> String {
    let items = items.join(",");
    let usage = r#"{"input_tokens":75,"input_tokens_details":{"cached_tokens":32,"cache_write_tokens":3},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":125}"#;
    format!(
        r#"{{"id":"resp_1","object":"response","status":"{status}","error":null,"output":[{items}],"usage":{usage}{rest}}}"#
    )
}

/// The events with their names, from the first that a stream begins with to the last.
fn stream(events: &[&str], response: &str) -> String {
    let begun = r#"{"id":"resp_1","status":"in_progress","output":[],"tools":[{"type":"function"}],"usage":null}"#;
    let status = serde_json::from_str::<wire::Response<'_>>(response).unwrap().status.unwrap();
    let kind = format!("response.{status}");
    let created = format!(r#"{{"type":"response.created","response":{begun}}}"#);
    let last = format!(r#"{{"type":"{kind}","response":{response}}}"#);
    let all = [created.as_str()].into_iter().chain(events.iter().copied()).chain([last.as_str()]);
    all.map(named).collect()
}

fn named(data: &str) -> String {
    let kind = serde_json::from_str::<wire::Kind<'_>>(data).unwrap().kind;
    format!("event: {kind}\ndata: {data}\n\n")
}

fn decode(chunks: &[&[u8]]) -> (Vec<ModelEvent>, Option<ProviderError>) {
    decode_within(REPLY_BYTES_MAX, chunks)
}

fn decode_within(bytes_max: usize, chunks: &[&[u8]]) -> (Vec<ModelEvent>, Option<ProviderError>) {
    let (mut decoder, mut out) = (Decoder::with_limit(bytes_max), VecDeque::new());
    let body = chunks.concat();
    // What is one document is read when it is there.
    let begin = body.trim_ascii_start();
    if begin.starts_with(b"{") || begin.starts_with(b"[") {
        let read = decoder.document(&body, &mut out);
        assert_eq!(decoder.is_finished(), read.is_ok());
        return (out.into(), read.err());
    }
    for chunk in chunks {
        let fed = decoder.feed(chunk, &mut out);
        decoder.publish(&mut out);
        if let Err(error) = fed {
            return (out.into(), Some(error));
        }
    }
    let finished = decoder.finish(&mut out);
    assert_eq!(decoder.is_finished(), finished.is_ok());
    (out.into(), finished.err())
}

/// What comes of a body that arrives at once.
fn show(body: &str) -> String {
    let (events, error) = decode(&[body.as_bytes()]);
    let mut seen: String = events.iter().map(|event| format!("{}\n", line(event))).collect();
    if let Some(error) = error {
        seen.push_str(&format!("error {:?}: {error}\n", error.kind));
    }
    seen
}

fn line(event: &ModelEvent) -> String {
    let usage = |usage: &Usage| {
        let Usage { input, output, cache_write, cache_read, reasoning, .. } = usage;
        format!("in {input} out {output} write {cache_write} read {cache_read} think {reasoning}")
    };
    match event {
        ModelEvent::TextDelta { block, text } => format!("{block} text {text:?}"),
        ModelEvent::ThinkingDelta { block, text } => format!("{block} thinking {text:?}"),
        ModelEvent::ToolUseStarted { block, name } => format!("{block} call {name}"),
        ModelEvent::ToolInputDelta { block, text } => format!("{block} input {text}"),
        ModelEvent::BlockFinished { block, content } => format!("{block} = {}", words(content)),
        ModelEvent::Accepted(answer) => format!("accepted {}", answer.id),
        ModelEvent::Usage(spent) => format!("usage {}", usage(spent)),
        ModelEvent::Finished(reply) => {
            let id = reply.provider_id.as_deref().unwrap_or("none");
            let blocks: Vec<String> = reply.blocks.iter().map(words).collect();
            let end = format!("finished {:?}, {}, id {id}", reply.stop, usage(&reply.usage));
            format!("{end}: {}", blocks.join("; "))
        }
    }
}

fn words(block: &Block) -> String {
    let raw = |raw: &Option<Box<ProviderItem>>| match raw {
        Some(item) => format!(" as {} {}", item.provider, item.json.get()),
        None => String::new(),
    };
    match block {
        Block::Text(text) => format!("text {:?}{}", text.text, raw(&text.raw)),
        Block::Thinking(thinking) => {
            assert_eq!(thinking.signature, "");
            format!("thinking {:?}{}", thinking.text, raw(&thinking.raw))
        }
        Block::ToolUse(call) => {
            let invalid = call.invalid.as_ref();
            let invalid = invalid.map_or(String::new(), |why| format!(" invalid: {why}"));
            format!("call {:?} {} {}{invalid}", call.id, call.name, call.input.get())
        }
        Block::Opaque(opaque) => format!("{} {}", opaque.provider, opaque.raw.get()),
        other => panic!("the decoder makes no {other:?}"),
    }
}
