//! Every reason to stop that a vendor documents, streamed and as one document, and what becomes of it.

use expect_test::expect;
use heeler_core::StopReason;

use crate::conformance::answers::{DOCUMENT, STREAM, one};
use crate::conformance::scenario::{Said, Scenario, all, told};
use crate::conformance::speak::DIALECTS;
use crate::wire::sized as answer;

#[tokio::test]
async fn every_reason_to_stop_is_told_streamed_and_whole() {
    // Dialects that tell the same stand together.
    let mut seen: Vec<(String, String)> = Vec::new();
    for dialect in DIALECTS {
        let mut stops = String::new();
        for word in dialect.stops {
            stops += &format!("{word}:");
            for (what, said) in said() {
                let scenario = Scenario { said, word: Some(word), ..all().remove(0) };
                let streamed = one(dialect, answer(STREAM, (dialect.stream)(&scenario))).await;
                let whole = one(dialect, answer(DOCUMENT, (dialect.document)(&scenario))).await;
                assert_eq!(streamed, whole, "{}: {word} after {what}", dialect.name);
                stops += &format!(" {:?} after {what}", streamed.stop);
            }
            stops.push('\n');
        }
        match seen.iter_mut().find(|(_, same)| *same == stops) {
            Some((names, _)) => *names += &format!(", {}", dialect.name),
            None => seen.push((dialect.name.to_owned(), stops)),
        }
    }
    let seen: String = seen.iter().map(|(names, stops)| format!("== {names}\n{stops}")).collect();
    expect![[r#"
        == anthropic
        end_turn: EndTurn after text EndTurn after a call
        tool_use: ToolUse after text ToolUse after a call
        max_tokens: MaxTokens after text MaxTokens after a call
        model_context_window_exceeded: MaxTokens after text MaxTokens after a call
        stop_sequence: StopSequence after text StopSequence after a call
        pause_turn: Pause after text Pause after a call
        refusal: Refusal after text Refusal after a call
        weather: Other("weather") after text Other("weather") after a call
        == openai-chat, openrouter
        stop: EndTurn after text ToolUse after a call
        tool_calls: EndTurn after text ToolUse after a call
        function_call: EndTurn after text ToolUse after a call
        length: MaxTokens after text MaxTokens after a call
        content_filter: ContentFilter after text ContentFilter after a call
        model_length: MaxTokens after text MaxTokens after a call
        stop_sequence: StopSequence after text StopSequence after a call
        refusal: Refusal after text Refusal after a call
        sensitive: ContentFilter after text ContentFilter after a call
        weather: Other("weather") after text Other("weather") after a call
        == openai-responses
        completed: EndTurn after text ToolUse after a call
        max_output_tokens: MaxTokens after text MaxTokens after a call
        content_filter: ContentFilter after text ContentFilter after a call
        weather: Other("weather") after text Other("weather") after a call
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
