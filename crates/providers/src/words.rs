//! What only the words of a failure tell, of whichever dialect: servers and gateways that give it no
//! code, or the code of any bad request.

use heeler_core::ProviderErrorKind;

/// What a message has, in lower case; `*` stands for anything. Gateways pass on another's words, behind
/// or inside of their own.
const IN_WORDS: [(ProviderErrorKind, &[&str]); 4] = [
    (
        ProviderErrorKind::ContextOverflow,
        &[
            // DeepSeek, vLLM, SGLang, Mistral, OpenRouter
            "maximum context length",
            // xAI
            "maximum prompt length",
            // Moonshot
            "exceeded model token limit",
            // Gemini
            "exceeds the maximum number of tokens allowed",
            // OpenAI
            "your input exceeds the context window",
            // llama.cpp: of before its type, and in the middle of an answer, as LM Studio
            "exceeds the available context size",
            "context size has been exceeded",
            // LM Studio
            "greater than the context length",
            "when context the overflows",
            "cannot truncate prompt",
            "reached context length of",
            // vLLM, SGLang, Together
            "the model's context length",
            "longer than the maximum model length",
            "exceeds the maximum allowed length",
            // Ollama
            "prompt too long; exceeded",
            "input length exceeds the context length",
            // Copilot
            "prompt token count of*exceeds the limit",
            // MiniMax
            "context window exceeds limit",
            // DashScope
            "range of input length should be",
            // OpenAI, Groq: one request is more than what a minute may bring.
            "request too large for",
            // text-generation-inference
            "tokens + `max_new_tokens` must be <=",
            // Anthropic
            "prompt is too long",
            "input length and `max_tokens` exceed context limit",
            // Bedrock
            "input is too long for requested model",
        ],
    ),
    (
        ProviderErrorKind::Billing,
        &[
            // Anthropic
            "credit balance is too low",
            "reached your specified api usage limits",
            "reached your specified workspace api usage limits",
        ],
    ),
    (
        ProviderErrorKind::RefusedItem,
        &[
            // LM Studio, Ollama, Together; OpenRouter, as of a model it does not know
            "support image",
            // llama.cpp, Mistral
            "image input is not",
            // Moonshot
            "image input not supported",
            // xAI
            "image inputs are not supported",
            // OpenAI
            "image_url is only supported by certain models",
            // DeepSeek
            "unknown variant `image_url`",
            // vLLM
            "is not a multimodal model",
            "image(s) may be provided",
            // Groq
            "content must be a string",
            "content' : value must be a string",
            // Ollama
            "missing data required for image input",
            // LM Studio of before
            "field that is either 'text' or 'image_url'",
            // GLM
            "messages.content.type",
            // Bedrock
            "doesn't support the image",
        ],
    ),
    (
        ProviderErrorKind::RefusedReasoning,
        &[
            // Anthropic: it is of another account, or what stands before it has changed since.
            "invalid `signature` in `thinking` block",
            "invalid `data` in `redacted_thinking` block",
            "`redacted_thinking` blocks in the latest assistant message cannot",
            // Sessions that an earlier version wrote have such messages.
            "final block in an assistant message cannot be",
            "expected `thinking` or `redacted_thinking`, but found",
            // OpenAI, and whoever passes it on
            "encrypted content*could not be verified",
            "of type 'reasoning' was provided without its required following item",
            "item with id*not found. items are not persisted when",
            // Gemini
            "thought signature is not valid",
            "invalid thought signature",
            "corrupted thought signature",
        ],
    ),
];

/// The kind of a failure that the server names so, if it has a name for it: what its words tell, where
/// the status may mean it, else what it is named. Many failures have one name; only those about keys
/// and money say more than any words.
pub(crate) fn or_name(
    named: Option<ProviderErrorKind>,
    status: Option<u16>,
    message: &str,
) -> Option<ProviderErrorKind> {
    match named {
        Some(ProviderErrorKind::Auth | ProviderErrorKind::Billing) => named,
        _ => in_words(status, message).or(named),
    }
}

fn in_words(status: Option<u16>, message: &str) -> Option<ProviderErrorKind> {
    if !matches!(status, None | Some(400 | 404 | 413 | 422 | 429 | 500)) {
        return None;
    }
    let message = message.to_ascii_lowercase();
    let is_said = |words: &&str| words.split('*').all(|part| message.contains(part));
    let told = IN_WORDS.iter().find(|(_, all)| all.iter().any(&is_said));
    told.map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages, and what they mean.
    const TOLD: &[(ProviderErrorKind, &str)] = {
        use ProviderErrorKind::{Billing, ContextOverflow, RefusedItem, RefusedReasoning};
        &[
            (
                ContextOverflow,
                "This model's maximum context length is 65536 tokens. However, you requested 70000",
            ),
            (
                ContextOverflow,
                "This endpoint's maximum context length is 200000 tokens. However, you requested about 210000",
            ),
            (
                ContextOverflow,
                "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            ),
            (
                ContextOverflow,
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            ),
            (ContextOverflow, "Invalid request: Your request exceeded model token limit: 8192"),
            (
                ContextOverflow,
                "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            ),
            (
                ContextOverflow,
                "the request exceeds the available context size. try increasing the context size",
            ),
            (
                ContextOverflow,
                "The number of tokens to keep from the initial prompt is greater than the context length.",
            ),
            (ContextOverflow, "Trying to keep the first 5000 tokens when context the overflows."),
            (
                ContextOverflow,
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193.",
            ),
            (ContextOverflow, "prompt is too long: 210000 tokens > 200000 maximum"),
            (
                ContextOverflow,
                "litellm.BadRequestError: litellm.ContextWindowExceededError: AnthropicException - prompt is \
                 too long: 210000 tokens > 200000 maximum",
            ),
            (
                ContextOverflow,
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            ),
            (
                ContextOverflow,
                "The model returned the following errors: Input is too long for requested model.",
            ),
            (
                ContextOverflow,
                "Your input exceeds the context window of this model. Please adjust your input and try again.",
            ),
            (ContextOverflow, "Context size has been exceeded."),
            (ContextOverflow, "Cannot truncate prompt with n_keep (13575) >= n_ctx (4096)"),
            (
                ContextOverflow,
                "Reached context length of 4096 tokens, but this model does not currently support mid-generation context overflow.",
            ),
            (
                ContextOverflow,
                "You passed 8193 input tokens and requested 2000 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 6192 tokens.",
            ),
            (
                ContextOverflow,
                "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
            ),
            (
                ContextOverflow,
                "Input length (200000 tokens) exceeds the maximum allowed length (131072 tokens).",
            ),
            (
                ContextOverflow,
                "The number of input tokens (9000) exceeds the model's context length (8192)",
            ),
            (ContextOverflow, "prompt too long; exceeded max context length by 1000 tokens"),
            (ContextOverflow, "the input length exceeds the context length"),
            (ContextOverflow, "prompt token count of 138898 exceeds the limit of 64000"),
            (ContextOverflow, "invalid params, context window exceeds limit (2013)"),
            (
                ContextOverflow,
                "InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
            ),
            (
                ContextOverflow,
                "Request too large for gpt-4.1 in organization org-x on tokens per min (TPM): Limit 30000, Requested 35000. The input or output tokens must be reduced in order to run successfully.",
            ),
            (RefusedItem, "Model does not support images. Please use a model that does."),
            (RefusedItem, "No endpoints found that support image input"),
            (
                RefusedItem,
                "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            ),
            (RefusedItem, "Image input is not enabled for this model"),
            (RefusedItem, "Image input not supported for model kimi-k2"),
            (RefusedItem, "Image inputs are not supported by this model."),
            (RefusedItem, "Invalid content type. image_url is only supported by certain models."),
            (
                RefusedItem,
                "Failed to deserialize the JSON body into the target type: messages[3]: unknown variant `image_url`, expected `text` at line 1 column 9000",
            ),
            (RefusedItem, "some-model is not a multimodal model"),
            (RefusedItem, "At most 0 image(s) may be provided in one prompt."),
            (RefusedItem, "messages[3].content must be a string"),
            (
                RefusedItem,
                "'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]",
            ),
            (RefusedItem, "this model is missing data required for image input"),
            (
                RefusedItem,
                "Invalid 'content': 'content' objects must have a 'type' field that is either 'text' or 'image_url'.",
            ),
            (RefusedItem, "messages.content.type: only supports ['text']"),
            (RefusedItem, "This model doesn't support the image content block that you provided."),
            (
                Billing,
                "litellm: AnthropicException - Your credit balance is too low to access the Anthropic API.",
            ),
            (
                Billing,
                "You have reached your specified API usage limits. You will regain access on 2026-12-01 \
                 at 00:00 UTC.",
            ),
            (
                Billing,
                "You have reached your specified workspace API usage limits. You will regain access on \
                 2026-12-01 at 00:00 UTC.",
            ),
            (RefusedReasoning, "messages.1.content.0: Invalid `signature` in `thinking` block"),
            (
                RefusedReasoning,
                "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
                 conversation.",
            ),
            (RefusedReasoning, "messages.5.content.0: Invalid `data` in `redacted_thinking` block"),
            (
                RefusedReasoning,
                "messages.7.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message \
                 cannot be modified. These blocks must remain as they were in the original response.",
            ),
            (
                RefusedReasoning,
                "messages.1: The final block in an assistant message cannot be `thinking`.",
            ),
            (
                RefusedReasoning,
                "Unable to submit request because Thought signature is not valid.. Learn more",
            ),
            (
                RefusedReasoning,
                "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
            ),
            (
                RefusedReasoning,
                "The encrypted content gAAA...wXBV could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
            ),
            (RefusedReasoning, "The encrypted content for item rs_078dd could not be verified."),
            (
                RefusedReasoning,
                "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            ),
            (
                RefusedReasoning,
                "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
            ),
            (RefusedReasoning, "Invalid thought signature."),
            (RefusedReasoning, "Corrupted thought signature."),
        ]
    };

    #[test]
    fn words_are_read_where_the_status_may_mean_it_and_gateways_say_them() {
        for &(kind, message) in TOLD {
            let nested = format!(r#"{{"type":"error","error":{{"message":"{message}"}}}}"#);
            for status in [None, Some(400), Some(404), Some(413), Some(422), Some(429), Some(500)] {
                assert_eq!(in_words(status, message), Some(kind), "{message}");
                assert_eq!(in_words(status, &nested), Some(kind), "{nested}");
            }
            assert_eq!(in_words(Some(403), message), None);
        }
        for (kind, all) in IN_WORDS {
            for words in all {
                let has = |said: &str| {
                    let said = said.to_ascii_lowercase();
                    words.split('*').all(|part| said.contains(part))
                };
                assert!(TOLD.iter().any(|(of, said)| *of == kind && has(said)), "{words}");
            }
        }
        assert_eq!(in_words(Some(400), "messages: text is too long for prompt"), None);
    }

    #[test]
    fn words_say_more_than_a_name_that_is_not_about_keys_or_money() {
        use ProviderErrorKind::{Auth, Billing, ContextOverflow, RateLimit};
        let kind = |named| or_name(named, Some(400), "prompt is too long");
        assert_eq!(kind(None), Some(ContextOverflow));
        assert_eq!(kind(Some(RateLimit)), Some(ContextOverflow));
        for named in [Some(Auth), Some(Billing)] {
            assert_eq!(kind(named), named);
        }
        assert_eq!(or_name(Some(RateLimit), Some(429), "too fast"), Some(RateLimit));
    }
}
