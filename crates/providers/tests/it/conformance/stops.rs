//! Every reason to stop that a vendor documents, streamed and as one document, and what becomes of it.

use expect_test::expect;
use heeler_core::StopReason;

use crate::conformance::answers::{DOCUMENT, STREAM, one};
use crate::conformance::scenario::{Said, Scenario, all, told};
use crate::conformance::speak::DIALECTS;
use crate::wire::sized as answer;

#[tokio::test]
async fn every_reason_to_stop_is_told_streamed_and_whole() {
    let mut seen = String::new();
    for dialect in DIALECTS {
        for word in dialect.stops {
            for (what, said) in said() {
                let scenario = Scenario { said, word: Some(word), ..all().remove(0) };
                let streamed = one(dialect, answer(STREAM, (dialect.stream)(&scenario))).await;
                let whole = one(dialect, answer(DOCUMENT, (dialect.document)(&scenario))).await;
                assert_eq!(streamed, whole, "{}: {word} after {what}", dialect.name);
                let name = dialect.name;
                seen += &format!("{name}: {word} after {what}: {:?}\n", streamed.stop);
            }
        }
    }
    expect![[r#"
        anthropic: end_turn after text: EndTurn
        anthropic: end_turn after a call: EndTurn
        anthropic: tool_use after text: ToolUse
        anthropic: tool_use after a call: ToolUse
        anthropic: max_tokens after text: MaxTokens
        anthropic: max_tokens after a call: MaxTokens
        anthropic: model_context_window_exceeded after text: MaxTokens
        anthropic: model_context_window_exceeded after a call: MaxTokens
        anthropic: stop_sequence after text: StopSequence
        anthropic: stop_sequence after a call: StopSequence
        anthropic: pause_turn after text: Pause
        anthropic: pause_turn after a call: Pause
        anthropic: refusal after text: Refusal
        anthropic: refusal after a call: Refusal
        anthropic: weather after text: Other("weather")
        anthropic: weather after a call: Other("weather")
        openai-chat: stop after text: EndTurn
        openai-chat: stop after a call: ToolUse
        openai-chat: tool_calls after text: EndTurn
        openai-chat: tool_calls after a call: ToolUse
        openai-chat: function_call after text: EndTurn
        openai-chat: function_call after a call: ToolUse
        openai-chat: length after text: MaxTokens
        openai-chat: length after a call: MaxTokens
        openai-chat: content_filter after text: ContentFilter
        openai-chat: content_filter after a call: ContentFilter
        openai-chat: model_length after text: MaxTokens
        openai-chat: model_length after a call: MaxTokens
        openai-chat: stop_sequence after text: StopSequence
        openai-chat: stop_sequence after a call: StopSequence
        openai-chat: refusal after text: Refusal
        openai-chat: refusal after a call: Refusal
        openai-chat: sensitive after text: ContentFilter
        openai-chat: sensitive after a call: ContentFilter
        openai-chat: weather after text: Other("weather")
        openai-chat: weather after a call: Other("weather")
        openrouter: stop after text: EndTurn
        openrouter: stop after a call: ToolUse
        openrouter: tool_calls after text: EndTurn
        openrouter: tool_calls after a call: ToolUse
        openrouter: function_call after text: EndTurn
        openrouter: function_call after a call: ToolUse
        openrouter: length after text: MaxTokens
        openrouter: length after a call: MaxTokens
        openrouter: content_filter after text: ContentFilter
        openrouter: content_filter after a call: ContentFilter
        openrouter: model_length after text: MaxTokens
        openrouter: model_length after a call: MaxTokens
        openrouter: stop_sequence after text: StopSequence
        openrouter: stop_sequence after a call: StopSequence
        openrouter: refusal after text: Refusal
        openrouter: refusal after a call: Refusal
        openrouter: sensitive after text: ContentFilter
        openrouter: sensitive after a call: ContentFilter
        openrouter: weather after text: Other("weather")
        openrouter: weather after a call: Other("weather")
        openai-responses: completed after text: EndTurn
        openai-responses: completed after a call: ToolUse
        openai-responses: max_output_tokens after text: MaxTokens
        openai-responses: max_output_tokens after a call: MaxTokens
        openai-responses: content_filter after text: ContentFilter
        openai-responses: content_filter after a call: ContentFilter
        openai-responses: weather after text: Other("weather")
        openai-responses: weather after a call: Other("weather")
    "#]]
    .assert_eq(&seen);
}

#[tokio::test]
async fn a_refusal_is_text_that_says_so_by_its_reason() {
    for dialect in DIALECTS {
        let refusal = Scenario {
            said: vec![Said::Refusal("I will not say how.")],
            stop: StopReason::Refusal,
            // Anthropic alone has a word for it.
            word: (dialect.name == "anthropic").then_some("refusal"),
            ..all().remove(0)
        };
        let streamed = one(dialect, answer(STREAM, (dialect.stream)(&refusal))).await;
        let whole = one(dialect, answer(DOCUMENT, (dialect.document)(&refusal))).await;
        assert_eq!(told(&streamed), refusal.expected(), "{}", dialect.name);
        assert_eq!(streamed, whole, "{}", dialect.name);
    }
}

/// What is stopped after: some words, and a call, which may have been cut.
fn said() -> [(&'static str, Vec<Said>); 2] {
    let call = Said::Call { id: "call_1", name: "read", input: r#"{"path":"a"}"# };
    [("text", vec![Said::Text("It was")]), ("a call", vec![call])]
}
