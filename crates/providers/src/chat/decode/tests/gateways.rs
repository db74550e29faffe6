//! What others make of the format: reasoning, usage, failures, comments.

use super::*;

#[test]
fn a_side_field_of_another_kind_costs_no_answer() {
    let last = |body: &[u8]| match decode(&[body]) {
        (events, None) => show(events.last().unwrap()),
        (_, Some(error)) => error,
    };
    let text = r#"{"id":7,"object":null,"choices":[{"index":"0","delta":{"content":"Hi","reasoning":{"text":"x"},"tool_calls":[{"index":"0","id":8,"function":{"name":"a","arguments":"{}"}}]}}]}"#;
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"prompt_tokens_details":[],"completion_tokens_details":""}}"#;
    let none = r#"{"choices":[],"usage":""}"#;
    assert_eq!(
        last(stream(&[text, STOP, usage, none]).as_bytes()),
        r#"finished ToolUse, in 9 out 12 write 0 read 0 think 0, id 7: text "Hi"; call 8 a {}"#
    );
    // A document with a byte of another encoding.
    let document =
        b"{\"choices\":[{\"message\":{\"content\":\"caf\xe9\"},\"finish_reason\":\"stop\"}]}";
    assert_eq!(
        last(document),
        "finished EndTurn, in 0 out 0 write 0 read 0 think 0, id none: text \"caf\u{fffd}\""
    );
}

#[test]
fn an_error_may_stand_in_a_stream_as_it_is() {
    check_error(
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n\
         {\"error\":{\"message\":\"CUDA out of memory\",\"type\":\"server_error\"}}\n\n",
        expect!["Server: OpenAI failed in the middle of its answer: CUDA out of memory"],
    );
}

#[test]
fn reasoning_comes_under_three_names() {
    let deepseek = Quirks { reasoning_back: true, ..Quirks::default() };
    check_with(
        &deepseek,
        &stream(&[
            r#"{"choices":[{"delta":{"role":"assistant","content":null,"reasoning_content":"Let"}}]}"#,
            r#"{"choices":[{"delta":{"content":null,"reasoning_content":" me","reasoning":" me"}}]}"#,
            r#"{"choices":[{"delta":{"content":"Hi","reasoning_content":null}}]}"#,
            r#"{"choices":[{"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36,"completion_tokens_details":{"reasoning_tokens":2}}}"#,
        ]),
        expect![[r#"
            usage in 36 out 5 write 0 read 64 think 2
            0 thinking "Let me"
            1 text "Hi"
            0 = thinking "Let me" raw openai-chat {"reasoning_content":"Let me"}
            1 = text "Hi"
            finished EndTurn, in 36 out 5 write 0 read 64 think 2, id none: thinking "Let me" raw openai-chat {"reasoning_content":"Let me"}; text "Hi"
        "#]],
    );
    // Mistral's parts.
    check(
        &stream(&[
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Let me"}],"closed":true}]}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"H"},{"type":"reference","reference_ids":[1]}]}}]}"#,
            r#"{"choices":[{"delta":{"content":"i"}}]}"#,
            STOP,
            USAGE,
        ]),
        expect![[r#"
            usage in 9 out 12 write 0 read 0 think 0
            0 thinking "Let me"
            1 text "Hi"
            0 = thinking "Let me"
            1 = text "Hi"
            3 = opaque openai-chat {"content":[{"type":"reference","reference_ids":[1]}]}
            finished EndTurn, in 9 out 12 write 0 read 0 think 0, id none: thinking "Let me"; text "Hi"; opaque openai-chat {"content":[{"type":"reference","reference_ids":[1]}]}
        "#]],
    );
}

#[test]
fn openrouter() {
    let quirks = Quirks {
        dialect: "openrouter",
        charges_in_dollars: true,
        members_back: vec!["reasoning_details".into()],
        ..Quirks::default()
    };
    let body = [
        ": OPENROUTER PROCESSING\n\n",
        r#"data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"Let","reasoning_details":[{"type":"reasoning.text","text":"Let","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}"#,
        "\n\n",
        r#"data: {"id":"gen-1","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":" me","reasoning_details":[{"type":"reasoning.text","text":" me","format":"anthropic-claude-v1","index":0}]}}]}"#,
        "\n\n: OPENROUTER PROCESSING\n\n",
        r#"data: {"id":"gen-1","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":null,"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","format":"anthropic-claude-v1","index":0}]}}]}"#,
        "\n\n",
        r#"data: {"id":"gen-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop","native_finish_reason":"end_turn"}]}"#,
        "\n\n",
        r#"data: {"id":"gen-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":1020,"cost":0.0042,"is_byok":false,"prompt_tokens_details":{"cached_tokens":600,"cache_write_tokens":300},"cost_details":{"upstream_inference_cost":null},"completion_tokens_details":{"reasoning_tokens":5}}}"#,
        "\n\ndata: [DONE]\n\n",
    ];
    check_with(
        &quirks,
        &body.concat(),
        expect![[r#"
            usage in 100 out 20 write 300 read 600 think 5 for $0.0042
            0 thinking "Let me"
            1 text "Hi"
            0 = thinking "Let me" raw openrouter {"reasoning_details":[{"type":"reasoning.text","text":"Let me","format":"anthropic-claude-v1","index":0,"signature":"c2ln"}]}
            1 = text "Hi"
            finished EndTurn, in 100 out 20 write 300 read 600 think 5 for $0.0042, id gen-1: thinking "Let me" raw openrouter {"reasoning_details":[{"type":"reasoning.text","text":"Let me","format":"anthropic-claude-v1","index":0,"signature":"c2ln"}]}; text "Hi"
        "#]],
    );
}

#[test]
fn with_ones_own_key_openrouter_tells_what_it_takes_apart() {
    let quirks = Quirks { charges_in_dollars: true, ..Quirks::default() };
    let charged = [
        r#""cost":0.25,"is_byok":true,"cost_details":{"upstream_inference_cost":3.5}"#,
        r#""cost":0.25,"is_byok":true,"cost_details":{"upstream_inference_cost":null}"#,
        r#""cost":0.25,"is_byok":true,"cost_details":null"#,
        r#""cost":0,"is_byok":true"#,
        r#""cost":-5,"is_byok":false"#,
        r#""cost":0.25,"is_byok":false,"cost_details":{"upstream_inference_cost":0.25}"#,
        r#""cost":0.25,"is_byok":"true","cost_details":{"upstream_inference_cost":0.25}"#,
    ]
    .map(|told| {
        let usage: WireUsage = serde_json::from_str(&format!("{{{told}}}")).unwrap();
        usage.usage(&quirks).charged.map(heeler_core::Cost::dollars)
    });
    assert_eq!(charged, [Some(3.75), None, None, None, None, Some(0.25), Some(0.25)]);
}

#[test]
fn usage_stands_in_several_places() {
    let text = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    let usages = [
        // Groq
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"req_1","usage":{"queue_time":0.1,"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}}"#,
        // Moonshot
        r#"{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":19,"completion_tokens":13,"total_tokens":32,"cached_tokens":10}}]}"#,
        // xAI: reasoning stands beside the output
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"prompt_tokens_details":{"text_tokens":32,"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":94},"num_sources_used":0}}"#,
        // more is said to be cached than was read
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9,"cache_write_tokens":9}}}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{}}"#,
        // a cost of another kind, or in no currency we know
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"cost":{"total_cost":0.1}}}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"cost":0.1}}"#,
    ];
    let seen = usages.map(|usage| {
        let (events, error) = decode(&[stream(&[text, usage]).as_bytes()]);
        assert_eq!(error, None);
        let Some(ModelEvent::Finished(reply)) = events.last() else { panic!("{events:?}") };
        format!("{}\n", show_usage(&reply.usage))
    });
    expect![[r#"
        in 9 out 2 write 0 read 0 think 0
        in 9 out 13 write 0 read 10 think 0
        in 26 out 103 write 0 read 6 think 94
        in 0 out 1 write 0 read 3 think 0
        in 0 out 0 write 0 read 0 think 0
        in 0 out 0 write 0 read 0 think 0
        in 0 out 0 write 0 read 0 think 0
    "#]]
    .assert_eq(&seen.concat());
}

#[test]
fn failures_in_the_place_of_an_answer() {
    let bodies = [
        // OpenRouter, in the middle of a stream
        "data: {\"id\":\"gen-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}],\"error\":{\"code\":502,\"message\":\"Provider disconnected\",\"metadata\":{\"provider_name\":\"X\"}}}\n\n",
        "data: {\"id\":\"gen-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"error\":{\"code\":429,\"message\":\"slow down\"}}]}\n\n",
        // OpenRouter, with status 200
        "{\"error\":{\"code\":503,\"message\":\"No instances available\",\"metadata\":{\"raw\":\"busy\"}},\"user_id\":\"u\"}",
        // OpenAI
        "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n",
        "data: {\"error\":{\"message\":\"too long\",\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\"}}\n\n",
        // vLLM
        "data: {\"object\":\"error\",\"message\":\"This model's maximum context length is 4096 tokens.\",\"type\":\"BadRequestError\",\"param\":null,\"code\":400}\n\n",
        // Groq
        "data: {\"x_groq\":{\"error\":\"over_capacity\"},\"choices\":[]}\n\n",
        "event: error\ndata: {\"message\":\"gone\"}\n\n",
        "data: {\"error\":\"a string\"}\n\n",
        // llama.cpp
        "error: {\"code\":400,\"message\":\"the request exceeds the available context size\",\"type\":\"invalid_request_error\"}\n\ndata: [DONE]\n\n",
    ];
    let seen = bodies.map(|body| {
        let (events, error) = decode(&[body.as_bytes()]);
        assert!(events.is_empty(), "{events:?}");
        format!("{}\n", error.unwrap_or_default())
    });
    expect![[r#"
        Server: OpenAI failed in the middle of its answer: Provider disconnected
        Server: OpenAI failed in the middle of its answer
        RateLimit: OpenAI has had too many requests from this account in the middle of its answer: slow down
        Server: OpenAI failed in the middle of its answer: No instances available: busy
        Server: OpenAI failed in the middle of its answer: The server had an error
        ContextOverflow: OpenAI found the request too long in the middle of its answer: too long
        Compact the conversation or begin a new one.
        ContextOverflow: OpenAI found the request too long in the middle of its answer: This model's maximum context length is 4096 tokens.
        Compact the conversation or begin a new one.
        Server: OpenAI failed in the middle of its answer
        Server: OpenAI failed in the middle of its answer: gone
        Server: OpenAI failed in the middle of its answer: a string
        ContextOverflow: OpenAI found the request too long in the middle of its answer: the request exceeds the available context size
        Compact the conversation or begin a new one.
    "#]].assert_eq(&seen.concat());
}

#[test]
fn what_came_before_a_failure_is_told() {
    check(
        &stream(&[
            r#"{"choices":[{"delta":{"content":"half"}}]}"#,
            r#"{"error":{"message":"overloaded","type":"overloaded_error"}}"#,
        ]),
        expect![[r#"
            1 text "half"
            error Overloaded: OpenAI is overloaded in the middle of its answer: overloaded
        "#]],
    );
}
