//! What a failure means: by HTTP status, and by the type the provider names.

use heeler_core::{ProviderError, ProviderErrorKind};
use serde_json::Value;

use super::VENDOR;
use crate::failure::{At, Failed, of_status};
use crate::json::{failure_in, text, value_in};
use crate::transport::Refusal;
use crate::words;

#[derive(Default)]
struct ErrorDetail {
    kind: String,
    message: String,
}

impl ErrorDetail {
    /// Of a body, whose error may be no more than words.
    fn read(body: &str) -> Self {
        let value = value_in(body);
        match &value["error"] {
            Value::String(words) => Self { message: words.clone(), ..Self::default() },
            // Bedrock's; the type beside it is no type of an error.
            Value::Null => Self { message: text(&value["message"]), ..Self::default() },
            error => Self { kind: text(&error["type"]), message: text(&error["message"]) },
        }
    }
}

/// Says what an answer means whose status is no success.
pub(super) fn from_refusal(refusal: &Refusal) -> ProviderError {
    explain(At::refusal(refusal, "request-id"), &refusal.body)
}

fn explain(at: At<'_>, body: &[u8]) -> ProviderError {
    let whole = String::from_utf8_lossy(body);
    let error = ErrorDetail::read(&whole);
    // Anthropic's own types are never as wide as others' codes.
    let kind = specific(&error).or_else(|| words::or_name(None, at.status(), &error.message));
    let kind = kind.unwrap_or(match at {
        At::Refusal { status, .. } => of_status(status),
        At::Stream if error.kind == "invalid_request_error" => ProviderErrorKind::InvalidRequest,
        At::Stream => ProviderErrorKind::Server,
    });
    // A proxy's page says something, too; what is no event of the provider does not.
    let detail = match at {
        At::Refusal { .. } if error.message.is_empty() => &whole,
        _ => error.message.as_str(),
    };
    Failed { vendor: &VENDOR, kind, provider_type: &error.kind, detail, at }.error()
}

/// Says what an `error` event in the middle of a stream means.
pub(super) fn from_event(data: &str) -> ProviderError {
    explain(At::Stream, data.as_bytes())
}

/// The failure that is told where no event is; anything else there counts for nothing.
pub(super) fn told(data: &str) -> Result<(), ProviderError> {
    failure_in(data).map_or(Ok(()), |told| Err(from_event(&told)))
}

/// The kind of an error whose type says more than a status does.
fn specific(error: &ErrorDetail) -> Option<ProviderErrorKind> {
    Some(match error.kind.as_str() {
        "authentication_error" | "permission_error" => ProviderErrorKind::Auth,
        "billing_error" => ProviderErrorKind::Billing,
        "not_found_error" => ProviderErrorKind::UnknownModel,
        "overloaded_error" => ProviderErrorKind::Overloaded,
        "rate_limit_error" => ProviderErrorKind::RateLimit,
        "request_too_large" => ProviderErrorKind::ContextOverflow,
        "invalid_request_error" if is_about_an_item(&error.message) => {
            ProviderErrorKind::RefusedItem
        }
        _ => return None,
    })
}

/// Whether an invalid request was one with an image or a document that cannot be processed: the
/// path of its source, or what is said without one. The provider has no type of its own for that.
fn is_about_an_item(message: &str) -> bool {
    let path = message.split_whitespace().next().unwrap_or_default();
    let is_source = path.starts_with("messages.")
        && (path.contains(".image.source") || path.contains(".document.source"));
    is_source
        || message.contains(ITEM_IN_FAILURE)
        || ITEM_REFUSED.iter().any(|words| message.starts_with(words))
}

/// How Anthropic refuses an item in the result of a failed call, after a path or without one.
const ITEM_IN_FAILURE: &str = "all content must be type `text` if `is_error` is true";

/// How Anthropic says, without a path, that it cannot process an item.
const ITEM_REFUSED: [&str; 6] = [
    "Could not process image",
    "Could not process PDF",
    "The PDF specified",
    "Unable to download the file",
    "The file format is invalid or unsupported",
    "The image was specified using",
];

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::failure::DETAIL_CHARS_MAX;

    #[test]
    fn a_named_type_says_more_than_a_status() {
        check(
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            expect![[r#"
                Auth: Anthropic did not accept the key (HTTP 401, request req_1): invalid x-api-key
                Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN."#]],
        );
        check(
            400,
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            expect![[r#"
                ContextOverflow: Anthropic found the request too long (HTTP 400, request req_1): prompt is too long: 9 tokens > 8 maximum
                Compact the conversation or begin a new one."#]],
        );
        check(
            400,
            r#"{"error":{"type":"invalid_request_error","message":"messages: text is too long for prompt"}}"#,
            expect![
                "InvalidRequest: Anthropic refused the request (HTTP 400, request req_1): messages: text is too long for prompt"
            ],
        );
        check(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}"#,
            expect![[r#"
                Billing: Anthropic cannot bill this account (HTTP 400, request req_1): Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.
                Check the account's credit and payment details."#]],
        );
        check(
            500,
            r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            expect!["Overloaded: Anthropic is overloaded (HTTP 500, request req_1): Overloaded"],
        );
        check(
            400,
            r#"[{"error":{"type":"billing_error","message":"Pay first"}}]"#,
            expect![[r#"
                Billing: Anthropic cannot bill this account (HTTP 400, request req_1): Pay first
                Check the account's credit and payment details."#]],
        );
        check(
            529,
            r#"{"error":{"type":"api_error","message":"busy"}}"#,
            expect!["Overloaded: Anthropic is overloaded (HTTP 529, request req_1): busy"],
        );
    }

    #[test]
    fn what_only_words_tell_is_told_by_gateways_too() {
        let kind = |body: &str| format!("{:?}", refused(400, body).kind);
        for (body, expected) in [
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Input is too long for requested model."}}"#,
                "ContextOverflow",
            ),
            (r#"{"message":"Input is too long for requested model."}"#, "ContextOverflow"),
            (
                r#"{"error":{"type":null,"message":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}"}}"#,
                "ContextOverflow",
            ),
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}"#,
                "Billing",
            ),
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.3: The final block in an assistant message cannot be `thinking`."}}"#,
                "RefusedReasoning",
            ),
            (
                r#"{"type":"error","error":{"type":"rate_limit_error","message":"prompt is too long"}}"#,
                "RateLimit",
            ),
        ] {
            assert_eq!(kind(body), expected, "{body}");
        }
        let told = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 5 > 4"}}"#;
        assert_eq!(from_event(told).kind, ProviderErrorKind::ContextOverflow);
    }

    #[test]
    fn what_is_not_json_is_shown_as_far_as_it_is_harmless() {
        check(
            502,
            "<html>\x1b[31mBad\r\nGateway</html>",
            expect![
                "Server: Anthropic failed (HTTP 502, request req_1): <html> [31mBad  Gateway</html>"
            ],
        );
        check(
            404,
            "",
            expect![[r#"
            UnknownModel: Anthropic does not know this model or address (HTTP 404, request req_1)
            Check the model's name, and ANTHROPIC_BASE_URL if set."#]],
        );
        check(
            307,
            "",
            expect![[r#"
            InvalidRequest: Anthropic refused the request (HTTP 307, request req_1)
            The address redirects, and keys are not sent elsewhere: correct ANTHROPIC_BASE_URL."#]],
        );
        check(
            500,
            r#"{"error":"a string"}"#,
            expect!["Server: Anthropic failed (HTTP 500, request req_1): a string"],
        );
        check(
            400,
            r#"{"error":{"code":400,"message":"numbers","type":null}}"#,
            expect![
                "InvalidRequest: Anthropic refused the request (HTTP 400, request req_1): numbers"
            ],
        );
        let long = refused(500, &"x".repeat(10_000));
        assert!(long.message.chars().count() < DETAIL_CHARS_MAX + 100);
    }

    #[test]
    fn an_item_that_cannot_be_processed_is_told_from_other_refusals() {
        let kind = |message: &str| {
            let error = serde_json::json!({"type": "invalid_request_error", "message": message});
            refused(400, &serde_json::json!({"type": "error", "error": error}).to_string()).kind
        };
        for message in [
            "Could not process image",
            "messages.7.content.2.image.source.base64.data: At least one of the image dimensions \
             exceed max allowed size: 8000 pixels",
            "messages.8.content.0.tool_result.content.0.image.source.base64: image exceeds 5 MB \
             maximum: 17699328 bytes > 5242880 bytes",
            "messages.0.content.1.document.source.base64.data: The PDF specified was not valid.",
            "The PDF specified is password protected.",
            "Unable to download the file. Please verify the URL and try again.",
            "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true",
        ] {
            assert_eq!(kind(message), ProviderErrorKind::RefusedItem, "{message}");
        }
        for message in [
            "messages.0.content.1.text: image.source must be said elsewhere",
            "messages: at least one message is required",
            "tools.0.image.source: Extra inputs are not permitted",
        ] {
            assert_eq!(kind(message), ProviderErrorKind::InvalidRequest, "{message}");
        }
    }

    #[test]
    fn events() {
        let kinds = [
            "overloaded_error",
            "rate_limit_error",
            "api_error",
            "authentication_error",
            "permission_error",
            "billing_error",
            "invalid_request_error",
            "not_found_error",
            "request_too_large",
            "timeout_error",
            "new_error",
        ];
        let seen: String = kinds
            .iter()
            .map(|kind| {
                let data =
                    format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"}}}}"#);
                format!("{kind}: {:?}\n", from_event(&data).kind)
            })
            .collect();
        expect![[r#"
            overloaded_error: Overloaded
            rate_limit_error: RateLimit
            api_error: Server
            authentication_error: Auth
            permission_error: Auth
            billing_error: Billing
            invalid_request_error: InvalidRequest
            not_found_error: UnknownModel
            request_too_large: ContextOverflow
            timeout_error: Server
            new_error: Server
        "#]]
        .assert_eq(&seen);
        expect!["Anthropic failed in the middle of its answer"]
            .assert_eq(&from_event("what").message);
    }

    fn check(status: u16, body: &str, expected: Expect) {
        let error = refused(status, body);
        expected.assert_eq(&format!("{:?}: {}", error.kind, error.message));
    }

    fn refused(status: u16, body: &str) -> ProviderError {
        let at = At::Refusal { status, request_id: Some("req_1"), retry_after: None };
        explain(at, body.as_bytes())
    }
}
