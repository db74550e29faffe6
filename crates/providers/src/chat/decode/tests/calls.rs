//! Which call a piece belongs to, and what becomes of its input.

use super::super::calls::CALLS_MAX;
use super::*;

#[test]
fn parallel_calls_come_in_order_and_end_as_soon_as_they_are_whole() {
    check(
        &stream(&[
            &delta(
                r#"{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}"#,
            ),
            &delta(r#"{"index":0,"function":{"arguments":"{\"path\":"}}"#),
            &delta(r#"{"index":0,"function":{"arguments":"\"x\"}"}}"#),
            &delta(
                r#"{"index":1,"id":"call_b","type":"function","function":{"name":"list","arguments":""}}"#,
            ),
            &delta(r#"{"index":1,"function":{"arguments":"{}"}}"#),
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            USAGE,
        ]),
        expect![[r#"
            4 call read
            4 input {"path":"x"}
            6 call list
            4 = call call_a read {"path":"x"}
            usage in 9 out 12 write 0 read 0 think 0
            6 input {}
            6 = call call_b list {}
            finished ToolUse, in 9 out 12 write 0 read 0 think 0, id none: call call_a read {"path":"x"}; call call_b list {}
        "#]],
    );
}

#[test]
fn interleaved_calls_keep_their_numbers() {
    check_calls(
        &[
            r#"{"index":1,"id":"b","function":{"name":"second","arguments":"{\"a\""}}"#,
            r#"{"index":0,"id":"a","function":{"name":"first","arguments":"{"}}"#,
            r#"{"index":1,"function":{"arguments":":2}"}}"#,
            r#"{"index":0,"function":{"arguments":"}"}}"#,
        ],
        "stop",
        expect![[r#"ToolUse: call a first {}; call b second {"a":2}"#]],
    );
}

#[test]
fn ids_that_are_empty_missing_or_repeated() {
    check_calls(
        &[
            r#"{"index":0,"id":"","function":{"name":"a","arguments":"{}"}}"#,
            r#"{"index":1,"function":{"name":"b","arguments":"{}"}}"#,
            r#"{"index":2,"id":"same","function":{"name":"c","arguments":"{}"}}"#,
            r#"{"index":3,"id":"same","function":{"name":"d","arguments":"{}"}}"#,
        ],
        "tool_calls",
        expect!["ToolUse: call  a {}; call  b {}; call same c {}; call same d {}"],
    );
}

#[test]
fn whole_calls_without_a_number_or_with_the_same() {
    let mut seen = String::new();
    for number in ["", r#""index":0,"#, r#""index":null,"#] {
        let calls = [("x", "a", r#"{\"n\":1}"#), ("y", "b", "{}"), ("z", "b", "{}")];
        let calls = calls.map(|(id, name, input)| {
            format!(
                r#"{{{number}"id":"{id}","function":{{"name":"{name}","arguments":"{input}"}}}}"#
            )
        });
        // Even without ids.
        let nameless = calls.each_ref().map(|call| call.replace(r#""id":"#, r#""type":"#));
        for calls in [calls, nameless] {
            let calls: Vec<String> = calls.iter().map(|call| delta(call)).collect();
            let chunks = [&*calls[0], &calls[1], &calls[2], STOP, USAGE];
            seen.push_str(&show_reply(&decode(&[stream(&chunks).as_bytes()]).0));
            seen.push('\n');
        }
    }
    expect![[r#"
        ToolUse: call x a {"n":1}; call y b {}; call z b {}
        ToolUse: call  a {"n":1}; call  b {}; call  b {}
        ToolUse: call x a {"n":1}; call y b {}; call z b {}
        ToolUse: call  a {"n":1}; call  b {}; call  b {}
        ToolUse: call x a {"n":1}; call y b {}; call z b {}
        ToolUse: call  a {"n":1}; call  b {}; call  b {}
    "#]]
    .assert_eq(&seen);
}

#[test]
fn a_number_given_twice_before_one_that_follows() {
    check_calls(
        &[
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}"#,
            r#"{"index":0,"id":"y","function":{"name":"b","arguments":"{"}}"#,
            r#"{"index":0,"function":{"arguments":"\"n\":1}"}}"#,
            r#"{"index":1,"id":"z","function":{"name":"c","arguments":"{"}}"#,
            r#"{"index":1,"function":{"arguments":"\"n\":2}"}}"#,
        ],
        "tool_calls",
        expect![[r#"ToolUse: call x a {}; call y b {"n":1}; call z c {"n":2}"#]],
    );
}

#[test]
fn pieces_that_repeat_the_id_and_the_name_or_leave_the_number_out() {
    check_calls(
        &[
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":""}}"#,
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":"{\"n\""}}"#,
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":":1}"}}"#,
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":""}}"#,
            r#"{"id":"y","function":{"name":"b","arguments":"{"}}"#,
            r#"{"function":{"arguments":"}"}}"#,
            r#"{"id":"y","function":{"arguments":" "}}"#,
        ],
        "tool_calls",
        expect![[r#"ToolUse: call x a {"n":1}; call y b {}"#]],
    );
}

#[test]
fn pieces_that_repeat_only_the_name() {
    check_calls(
        &[
            r#"{"id":"x","function":{"name":"a","arguments":"{\"n\""}}"#,
            r#"{"function":{"name":"a","arguments":":1}"}}"#,
        ],
        "tool_calls",
        expect![[r#"ToolUse: call x a {"n":1}"#]],
    );
}

#[test]
fn another_id_is_another_call_though_the_first_has_no_input() {
    check_calls(
        &[
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":""}}"#,
            r#"{"index":0,"id":"y","function":{"name":"a","arguments":"{}"}}"#,
        ],
        "tool_calls",
        expect!["ToolUse: call x a {}; call y a {}"],
    );
}

#[test]
fn a_call_that_is_said_again_is_one_call() {
    let first = r#"{"index":0,"id":"x","function":{"name":"a","arguments":""}}"#;
    let grown = r#"{"index":0,"function":{"arguments":"{\"n\":1}"}}"#;
    let whole = r#"{"index":0,"id":"x","function":{"name":"a","arguments":"{\"n\":1}"}}"#;
    let renumbered = whole.replace(r#""index":0"#, r#""index":1"#);
    let begun = renumbered.replace(r#"{\"n\":1}"#, "");
    let rest = r#"{"index":1,"function":{"arguments":"{\"n\":1}"}}"#;
    let another = r#"{"index":2,"id":"y","function":{"name":"a","arguments":"{\"n\":1}"}}"#;
    let one = || expect![[r#"ToolUse: call x a {"n":1}"#]];
    check_calls(&[first, grown, whole], "tool_calls", one());
    check_calls(&[whole, whole, whole], "tool_calls", one());
    check_calls(&[whole, &renumbered], "tool_calls", one());
    check_calls(&[first, grown, &begun, rest], "tool_calls", one());
    check_calls(
        &[first, grown, &begun, rest, another],
        "tool_calls",
        expect![[r#"ToolUse: call x a {"n":1}; call y a {"n":1}"#]],
    );
    // Nothing is told of the second, and the first ends as soon as it is whole.
    let chunks = [first, grown, &begun, rest, another].map(delta);
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).chain([STOP, USAGE]).collect();
    check(
        &stream(&chunks),
        expect![[r#"
            4 call a
            4 input {"n":1}
            4 = call x a {"n":1}
            8 call a
            8 input {"n":1}
            usage in 9 out 12 write 0 read 0 think 0
            8 = call y a {"n":1}
            finished ToolUse, in 9 out 12 write 0 read 0 think 0, id none: call x a {"n":1}; call y a {"n":1}
        "#]],
    );
    // Another input is another call, though the id is the same.
    let other = renumbered.replace('1', "2");
    check_calls(
        &[whole, &other],
        "tool_calls",
        expect![[r#"ToolUse: call x a {"n":1}; call x a {"n":2}"#]],
    );
}

#[test]
fn inputs() {
    let input = |text: &str| {
        let arguments = serde_json::Value::from(text);
        format!(r#"{{"index":0,"id":"x","function":{{"name":"a","arguments":{arguments}}}}}"#)
    };
    let texts = ["", " ", "null", "{\"a\": 1.50}", "{\"a\":", "[1]", "{}{}", "\"{}\""];
    for (stop, expected) in [
        (
            "tool_calls",
            expect![[r#"
        : ToolUse: call x a {}
         : ToolUse: call x a {}
        null: ToolUse: call x a {}
        {"a": 1.50}: ToolUse: call x a {"a": 1.50}
        {"a":: ToolUse: call x a {} invalid: the input is not valid JSON: EOF while parsing a value at line 1 column 5
        [1]: ToolUse: call x a {} invalid: the input is not a JSON object
        {}{}: ToolUse: call x a {} invalid: the input is not valid JSON: trailing characters at line 1 column 3
        "{}": ToolUse: call x a {} invalid: the input is not a JSON object
    "#]],
        ),
        (
            "length",
            expect![[r#"
        : MaxTokens: call x a {} invalid: the reply ended before the input was complete
         : MaxTokens: call x a {} invalid: the reply ended before the input was complete
        null: MaxTokens: call x a {}
        {"a": 1.50}: MaxTokens: call x a {"a": 1.50}
        {"a":: MaxTokens: call x a {} invalid: the reply ended before the input was complete
        [1]: MaxTokens: call x a {} invalid: the reply ended before the input was complete
        {}{}: MaxTokens: call x a {} invalid: the reply ended before the input was complete
        "{}": MaxTokens: call x a {} invalid: the reply ended before the input was complete
    "#]],
        ),
    ] {
        let seen = texts.map(|text| {
            let (events, _) =
                decode(&[stream(&[&delta(&input(text)), &stopped(stop), USAGE]).as_bytes()]);
            format!("{text}: {}\n", show_reply(&events))
        });
        expected.assert_eq(&seen.concat());
    }
    // Not a string but the object itself.
    check_calls(
        &[r#"{"index":0,"id":"x","function":{"name":"a","arguments":{"n": [1.0]}}}"#],
        "stop",
        expect![[r#"ToolUse: call x a {"n": [1.0]}"#]],
    );
}

#[test]
fn only_the_last_call_can_be_the_one_that_was_cut() {
    check_calls(
        &[
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":""}}"#,
            r#"{"index":1,"id":"y","function":{"name":"b","arguments":""}}"#,
        ],
        "length",
        expect![
            "MaxTokens: call x a {}; call y b {} invalid: the reply ended before the input was complete"
        ],
    );
    // By a filter, too, as Gemini tells it.
    check_calls(
        &[r#"{"index":0,"id":"x","function":{"name":"a","arguments":""}}"#],
        "content_filter: PROHIBITED_CONTENT",
        expect![
            "ContentFilter: call x a {} invalid: the reply ended before the input was complete"
        ],
    );
}

#[test]
fn calls_without_number_id_or_input() {
    let named = |name: &str, rest: &str| format!(r#"{{"function":{{"name":"{name}"{rest}}}}}"#);
    let [empty, object] = [r#","arguments":"""#, r#","arguments":"{}""#];
    let mut seen = String::new();
    for (first, second) in [
        (named("LS", ""), named("Glob", "")),
        (named("LS", ""), named("LS", "")),
        (named("LS", empty), named("LS", object)),
    ] {
        let listed = format!("{first},{second}");
        let document = format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{listed}]}},"finish_reason":"stop"}}]}}"#
        );
        seen += &show_reply(&decode(&[document.as_bytes()]).0);
        seen += "\n";
        seen += &show_reply(&decode(&[stream(&[&delta(&listed), STOP]).as_bytes()]).0);
        seen += "\n";
    }
    let apart = [delta(&named("LS", "")), delta(&named("Glob", ""))];
    seen += &show_reply(&decode(&[stream(&[&apart[0], &apart[1], STOP]).as_bytes()]).0);
    expect![[r#"
        ToolUse: call  LS {}; call  Glob {}
        ToolUse: call  LS {}; call  Glob {}
        ToolUse: call  LS {}; call  LS {}
        ToolUse: call  LS {}; call  LS {}
        ToolUse: call  LS {}; call  LS {}
        ToolUse: call  LS {}; call  LS {}
        ToolUse: call  LS {}; call  Glob {}"#]]
    .assert_eq(&seen);
    // Alone, where a list should be.
    let alone = r#"{"choices":[{"delta":{"tool_calls":{"id":"x","function":{"name":"a"}}}}]}"#;
    let none = r#"{"choices":[{"delta":{"tool_calls":false}}]}"#;
    let (events, _) = decode(&[stream(&[alone, none, STOP]).as_bytes()]);
    expect!["ToolUse: call x a {}"].assert_eq(&show_reply(&events));
}

#[test]
fn the_old_function_call() {
    check(
        &stream(&[
            r#"{"choices":[{"delta":{"content":null,"function_call":{"name":"a","arguments":""}}}]}"#,
            r#"{"choices":[{"delta":{"function_call":{"arguments":"{}"}}}]}"#,
            &stopped("function_call"),
            USAGE,
        ]),
        expect![[r#"
            4 call a
            usage in 9 out 12 write 0 read 0 think 0
            4 input {}
            4 = call  a {}
            finished ToolUse, in 9 out 12 write 0 read 0 think 0, id none: call  a {}
        "#]],
    );
}

#[test]
fn a_call_that_grows_after_its_end_is_an_error() {
    let grown = stream(&[
        &delta(r#"{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}"#),
        &delta(r#"{"index":1,"id":"y","function":{"name":"b","arguments":"{}"}}"#),
        &delta(r#"{"index":0,"function":{"arguments":"{}"}}"#),
    ]);
    check_error(
        &grown,
        expect!["Format: OpenAI's answer could not be read: a call grew after its end"],
    );
}

#[test]
fn there_are_so_many_calls_and_no_more() {
    let whole = |n: u32| format!(r#"{{"id":"{n}","function":{{"name":"a","arguments":"{{}}"}}}}"#);
    let many = |n: u32| -> String {
        let all: Vec<String> = (0..n).map(whole).collect();
        stream(&[&delta(&all.join(",")), &stopped("tool_calls"), USAGE])
    };
    assert_eq!(decode(&[many(CALLS_MAX).as_bytes()]).1, None);
    check_error(
        &many(CALLS_MAX + 1),
        expect!["Format: OpenAI's answer could not be read: more than 2048 calls"],
    );
    let far = delta(r#"{"index":4294967295,"id":"x","function":{"name":"a"}}"#);
    check_error(
        &stream(&[&far]),
        expect!["Format: OpenAI's answer could not be read: more than 2048 calls"],
    );
}

#[test]
fn what_a_piece_costs_grows_neither_with_the_calls_nor_with_what_came_before() {
    let call = |number: usize, id: &str, input: &str| {
        let arguments = serde_json::Value::from(input);
        format!(
            r#"{{"index":{number},"id":"{id}","function":{{"name":"a","arguments":{arguments}}}}}"#
        )
    };
    // Calls that come to an earlier one again, for all that is known, while another grows.
    let waiting = |n_pieces: usize| {
        let different = (0..300).map(|n| call(n, &n.to_string(), "{}"));
        let again = (300..600).map(|n| call(n, "z", if n == 300 { "{}" } else { "{" }));
        let blank = r#"{"index":0,"function":{"arguments":" "}}"#;
        different.chain(again).chain(vec![blank.to_owned(); n_pieces]).collect::<Vec<_>>()
    };
    let few = looked_at(&waiting(0));
    assert!(looked_at(&waiting(3000)) - few < 3 * 3000);
    // One that is said again in pieces, and one whose pieces all name it, and may all be its end.
    let written = format!(r#"{{"n":"{}"}}"#, "}".repeat(3000));
    let pieces = |number: usize| {
        let pieces: Vec<String> = written
            .as_bytes()
            .chunks(4)
            .map(|piece| std::str::from_utf8(piece).unwrap().into())
            .collect();
        pieces.into_iter().map(move |piece| call(number, "x", &piece)).collect::<Vec<_>>()
    };
    let again = [vec![call(0, "x", &written)], pieces(1)].concat();
    assert!(looked_at(&again) < 10 * written.len());
    assert!(looked_at(&pieces(0)) < 10 * written.len());
}

/// How much was looked at besides parsing, in bytes and calls.
fn looked_at(calls: &[String]) -> usize {
    let mut decoder = Decoder::new(&Quirks::default(), VENDOR);
    let chunks: Vec<String> = calls.iter().map(|call| delta(call)).collect();
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
    let body = stream(&chunks);
    let body = body.trim_end().trim_end_matches("data: [DONE]");
    decoder.feed(body.as_bytes(), &mut VecDeque::new()).unwrap();
    decoder.answer.calls.iter_mut().map(|(_, call)| call.input.looked_at()).sum()
}

fn delta(call: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}}}}]}}"#)
}

fn stopped(reason: &str) -> String {
    STOP.replace(r#""stop""#, &format!("{reason:?}"))
}

fn check_calls(deltas: &[&str], stop: &str, expected: Expect) {
    let mut chunks: Vec<String> = deltas.iter().map(|call| delta(call)).collect();
    chunks.extend([stopped(stop), USAGE.to_owned()]);
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
    let (events, error) = decode(&[stream(&chunks).as_bytes()]);
    assert_eq!(error, None);
    expected.assert_eq(&show_reply(&events));
}

fn show_reply(events: &[ModelEvent]) -> String {
    let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
    let blocks: Vec<String> = reply.blocks.iter().map(show_block).collect();
    format!("{:?}: {}", reply.stop, blocks.join("; "))
}
