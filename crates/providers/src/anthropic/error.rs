//! What a failure means: by HTTP status, and by the type the provider names.

use std::fmt::Write;
use std::time::Duration;

use heeler_core::{ProviderError, ProviderErrorKind, truncate_chars};
use serde::Deserialize;

/// The longest text of a provider that is passed on in a message.
const DETAIL_CHARS_MAX: usize = 500;

/// A refusal over HTTP.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusal<'a> {
    pub(super) status: u16,
    /// As much of the body as was read.
    pub(super) body: &'a [u8],
    /// The provider's id of the request, for its support.
    pub(super) request_id: Option<&'a str>,
    pub(super) retry_after: Option<Duration>,
}

#[derive(Deserialize, Default)]
struct ErrorBody {
    #[serde(default)]
    error: ErrorDetail,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ErrorDetail {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

/// Says what an answer other than 200 means.
pub(super) fn from_refusal(refusal: Refusal<'_>) -> ProviderError {
    let body: ErrorBody = serde_json::from_slice(refusal.body).unwrap_or_default();
    let kind = specific(&body.error).unwrap_or_else(|| of_status(refusal.status));
    let detail = if body.error.message.is_empty() {
        clean(&String::from_utf8_lossy(refusal.body))
    } else {
        clean(&body.error.message)
    };
    let mut message = format!("Anthropic {} (HTTP {}", verdict(kind), refusal.status);
    if let Some(id) = refusal.request_id {
        let _ = write!(message, ", request {}", clean(id));
    }
    message.push(')');
    ProviderError {
        status: Some(refusal.status),
        provider_type: named(&body.error.kind),
        retry_after: refusal.retry_after,
        ..finish(kind, message, &detail, next_step(kind, refusal.status))
    }
}

/// Says what an `error` event in the middle of a stream means.
pub(super) fn from_event(data: &str) -> ProviderError {
    let body: ErrorBody = serde_json::from_str(data).unwrap_or_default();
    let kind = specific(&body.error).unwrap_or(match body.error.kind.as_str() {
        "invalid_request_error" => ProviderErrorKind::InvalidRequest,
        _ => ProviderErrorKind::Server,
    });
    let message = format!("Anthropic {} in the middle of its answer", verdict(kind));
    let error = finish(kind, message, &clean(&body.error.message), next_step(kind, 0));
    ProviderError { provider_type: named(&body.error.kind), ..error }
}

/// A type that the provider gave.
fn named(provider_type: &str) -> Option<String> {
    (!provider_type.is_empty()).then(|| clean(provider_type))
}

fn finish(
    kind: ProviderErrorKind,
    mut message: String,
    detail: &str,
    next_step: &str,
) -> ProviderError {
    if !detail.is_empty() {
        let _ = write!(message, ": {detail}");
    }
    if !next_step.is_empty() {
        let _ = write!(message, "\n{next_step}");
    }
    ProviderError::new(kind, message)
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
        "invalid_request_error" if is_context_overflow(&error.message) => {
            ProviderErrorKind::ContextOverflow
        }
        _ => return None,
    })
}

/// Whether an invalid request was one that is too long. The provider has no type of its own for
/// that; these two forms are its documented wire text.
fn is_context_overflow(message: &str) -> bool {
    message.starts_with("prompt is too long")
        || message.starts_with("input length and `max_tokens` exceed context limit")
}

fn of_status(status: u16) -> ProviderErrorKind {
    match status {
        401 | 403 => ProviderErrorKind::Auth,
        402 => ProviderErrorKind::Billing,
        404 => ProviderErrorKind::UnknownModel,
        413 => ProviderErrorKind::ContextOverflow,
        429 => ProviderErrorKind::RateLimit,
        529 => ProviderErrorKind::Overloaded,
        408 | 409 | 425 | 500.. => ProviderErrorKind::Server,
        _ => ProviderErrorKind::InvalidRequest,
    }
}

fn verdict(kind: ProviderErrorKind) -> &'static str {
    match kind {
        ProviderErrorKind::Auth => "did not accept the key",
        ProviderErrorKind::RateLimit => "has had too many requests from this account",
        ProviderErrorKind::Billing => "cannot bill this account",
        ProviderErrorKind::Overloaded => "is overloaded",
        ProviderErrorKind::ContextOverflow => "found the request too long",
        ProviderErrorKind::Network | ProviderErrorKind::Server => "failed",
        ProviderErrorKind::Format => "sent what could not be read",
        ProviderErrorKind::UnknownModel => "does not know this model or address",
        ProviderErrorKind::InvalidRequest => "refused the request",
    }
}

fn next_step(kind: ProviderErrorKind, status: u16) -> &'static str {
    match kind {
        ProviderErrorKind::Auth if status == 403 => {
            "Check what the key in ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN may use."
        }
        ProviderErrorKind::Auth => "Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.",
        ProviderErrorKind::Billing => "Check the account's credit and payment details.",
        ProviderErrorKind::UnknownModel => "Check the model's name, and ANTHROPIC_BASE_URL if set.",
        ProviderErrorKind::InvalidRequest if (300..400).contains(&status) => {
            "The address redirects, and keys are not sent elsewhere: correct ANTHROPIC_BASE_URL."
        }
        ProviderErrorKind::ContextOverflow => "Compact the conversation or begin a new one.",
        _ => "",
    }
}

/// A provider's text, bounded and without characters that would act on a terminal.
fn clean(text: &str) -> String {
    let printable: String =
        text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    truncate_chars(&printable, DETAIL_CHARS_MAX).into()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn statuses() {
        let kinds: String = [
            302, 400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 425, 429, 500, 502, 503, 504,
            529,
        ]
        .iter()
        .map(|status| format!("{status} {:?}\n", of_status(*status)))
        .collect();
        expect![[r#"
            302 InvalidRequest
            400 InvalidRequest
            401 Auth
            402 Billing
            403 Auth
            404 UnknownModel
            408 Server
            409 Server
            413 ContextOverflow
            418 InvalidRequest
            422 InvalidRequest
            425 Server
            429 RateLimit
            500 Server
            502 Server
            503 Server
            504 Server
            529 Overloaded
        "#]]
        .assert_eq(&kinds);
    }

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
            500,
            r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            expect!["Overloaded: Anthropic is overloaded (HTTP 500, request req_1): Overloaded"],
        );
        check(
            529,
            r#"{"error":{"type":"api_error","message":"busy"}}"#,
            expect!["Overloaded: Anthropic is overloaded (HTTP 529, request req_1): busy"],
        );
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
            expect![[
                r#"Server: Anthropic failed (HTTP 500, request req_1): {"error":"a string"}"#
            ]],
        );
        let long = from_refusal(Refusal {
            status: 500,
            body: "x".repeat(10_000).as_bytes(),
            request_id: None,
            retry_after: None,
        });
        assert!(long.message.chars().count() < DETAIL_CHARS_MAX + 100);
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
        let error = from_refusal(Refusal {
            status,
            body: body.as_bytes(),
            request_id: Some("req_1"),
            retry_after: None,
        });
        expected.assert_eq(&format!("{:?}: {}", error.kind, error.message));
    }
}
