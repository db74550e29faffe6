//! What gateways get a little wrong: no answer is lost for what stands beside it.

use super::*;

const TEXT: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const HI: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#;
const END: &str = r#"{"type":"content_block_stop","index":0}"#;
const CHANGE: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#;

#[test]
fn an_answer_is_whole_whatever_stands_beside_it() {
    let odd = [
        (r#""id":"msg_1""#, vec![r#""id":7"#, r#""id":null"#]),
        (r#""usage":{"#, vec![r#""usage":"many","later":{"#, r#""container":"c","usage":{"#]),
        (r#""output_tokens":5"#, vec![r#""output_tokens_details":"few""#]),
        (r#""message":{"#, vec![r#""message":null,"later":{"#, r#""later":{"#]),
        (r#""stop_reason":"end_turn""#, vec![r#""stop_reason":1"#, r#""container":{}"#]),
        (r#""delta":{"stop_reason""#, vec![r#""delta":"none","later":{"stop_reason""#]),
        (r#""index":0,"#, vec!["", r#""index":null,"#, r#""index":"0","#]),
        (r#","index":0}"#, vec!["}", r#","index":null}"#, r#","index":"0"}"#]),
        (r#""text":""}"#, vec![r#""text":"","citations":{}}"#]),
    ];
    let body = stream(&[START, TEXT, HI, END, CHANGE, STOP]);
    let whole = |body: &str| {
        let (events, error) = decode(&[body.as_bytes()]);
        assert_eq!(error, None, "{body}");
        last_blocks(events)
    };
    assert_eq!(whole(&body), r#"EndTurn text "hi""#);
    for (member, others) in odd {
        for other in others {
            let odd = body.replace(member, other);
            assert_ne!(odd, body);
            assert_eq!(whole(&odd), r#"EndTurn text "hi""#, "{odd}");
        }
    }
}

#[test]
fn a_document_is_whole_whatever_stands_beside_it() {
    let mut out = VecDeque::new();
    let document = r#"{"id":1,"content":[{"type":"text","text":"hi"}],"container":"c","stop_reason":2,"usage":"x"}"#;
    Decoder::new().document(document.as_bytes(), &mut out).unwrap();
    assert_eq!(last_blocks(out.into()), r#"EndTurn text "hi""#);
}

#[test]
fn blocks_without_a_place_follow_one_another() {
    check(
        &stream(&[
            r#"{"type":"content_block_start","content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"{"type":"content_block_stop"}"#,
            r#"{"type":"content_block_start","content_block":{"type":"tool_use","id":7,"name":"n"}}"#,
            r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}"#,
            r#"{"type":"content_block_stop"}"#,
            STOP,
        ]),
        expect![[r#"
            0 thinking "hm"
            0 = thinking "hm" 
            1 call n
            1 input {"a":1}
            1 = call 7 n {"a":1}
            finished ToolUse, in 0 out 0 write 0 read 0 think 0, id none: thinking "hm" ; call 7 n {"a":1}
        "#]],
    );
}

#[test]
fn text_that_fits_no_block_is_not_lost() {
    let thinking =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}"#;
    let call = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"n"}}"#;
    let odd =
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"!"}}"#;
    let unfit =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","text":"?"}}"#;
    check(
        &stream(&[thinking, HI, unfit, END, STOP]),
        expect![[r#"
        0 = thinking "" 
        1 text "hi"
        1 = text "hi"
        finished EndTurn, in 0 out 0 write 0 read 0 think 0, id none: text "hi"
    "#]],
    );
    // The call may have been cut, whatever is said beside it.
    let cut = r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#;
    let stop = r#"{"type":"content_block_stop","index":1}"#;
    check(
        &stream(&[thinking, HI, END, call, odd, stop, cut, STOP]),
        expect![[r#"
        0 = thinking "" 
        1 call n
        1 = call t n {}
        2 text "hi!"
        2 = text "hi!"
        finished MaxTokens, in 0 out 0 write 0 read 0 think 0, id none: text "hi!"; call t n {} invalid: the reply ended before the input was complete
    "#]],
    );
}

/// How the answer stopped, and its blocks.
fn last_blocks(events: Vec<ModelEvent>) -> String {
    let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
    let blocks: Vec<String> = reply.blocks.iter().map(show_block).collect();
    format!("{:?} {}", reply.stop, blocks.join("; "))
}
