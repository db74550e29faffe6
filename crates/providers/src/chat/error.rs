//! What a failure means: by the code or type that is named, else by HTTP status.
//!
//! OpenAI's shape is `{"error":{"message","type","code"}}`. Others give `error` as a string, the
//! status as the code, the same members without `error`, FastAPI's `detail`, or a list around all.

use std::ops::Range;
use std::time::Duration;

use heeler_core::{ProviderError, ProviderErrorKind, from_json_bytes};
use serde_json::Value;

use crate::endpoint::Vendor;
use crate::failure::{At, Failed, of_status};
use crate::json::failure_in;
use crate::transport::{Refusal, retry_after};
use crate::words;

/// The header with the id of a request.
const ID_HEADER: &str = "x-request-id";

/// Codes that are HTTP statuses.
const STATUSES: Range<u16> = 400..600;

/// Codes and types that say more than a status does, in lower case.
const NAMED: [(ProviderErrorKind, &[&str]); 8] = [
    (
        ProviderErrorKind::Server,
        &[
            // Groq: the model wrote a call that cannot be read, and may write a better one.
            "tool_use_failed",
        ],
    ),
    (
        ProviderErrorKind::RefusedReasoning,
        &[
            // OpenAI, behind gateways
            "invalid_encrypted_content",
        ],
    ),
    (
        ProviderErrorKind::ContextOverflow,
        &[
            "context_length_exceeded",
            // llama.cpp
            "exceed_context_size_error",
            // Azure and GitHub
            "tokens_limit_reached",
            // Copilot
            "model_max_prompt_tokens_exceeded",
            // Mistral
            "3051",
            // GLM
            "1261",
        ],
    ),
    (
        ProviderErrorKind::Billing,
        &[
            "insufficient_quota",
            "billing_hard_limit_reached",
            "billing_not_active",
            // Moonshot
            "exceeded_current_quota_error",
            // GLM
            "1113",
        ],
    ),
    (
        ProviderErrorKind::Overloaded,
        &[
            "overloaded_error",
            "server_overloaded",
            "server_is_overloaded",
            // Moonshot
            "engine_overloaded_error",
            // Gemini
            "unavailable",
            // GLM
            "1305",
        ],
    ),
    (
        ProviderErrorKind::RateLimit,
        &[
            "rate_limit_exceeded",
            "rate_limit_error",
            // Moonshot
            "rate_limit_reached_error",
            // Gemini
            "resource_exhausted",
            // GLM
            "1302",
            "1303",
        ],
    ),
    (
        ProviderErrorKind::Auth,
        &[
            "invalid_api_key",
            "authentication_error",
            "permission_error",
            // Moonshot
            "invalid_authentication_error",
            // Gemini
            "api_key_invalid",
            "unauthenticated",
            "permission_denied",
        ],
    ),
    (
        ProviderErrorKind::UnknownModel,
        &[
            "model_not_found",
            // Mistral
            "invalid_model",
            // Moonshot
            "resource_not_found_error",
            // GLM
            "1211",
        ],
    ),
];

/// Says what an answer means whose status is no success.
pub(super) fn from_refusal(vendor: &Vendor, refusal: &Refusal) -> ProviderError {
    explain(vendor, At::refusal(refusal, ID_HEADER), &refusal.body)
}

/// Says what an error in the place of a chunk, or of an answer with status 200, means.
pub(super) fn in_stream(vendor: &Vendor, data: &str) -> ProviderError {
    explain(vendor, At::Stream, data.as_bytes())
}

/// The failure that is told where no chunk is; anything else there counts for nothing.
pub(super) fn told(vendor: &Vendor, data: &str) -> Result<(), ProviderError> {
    failure_in(data).map_or(Ok(()), |told| Err(in_stream(vendor, &told)))
}

/// What a reason to stop means that is a failure.
pub(super) fn of_finish_reason(vendor: &Vendor, reason: &str) -> Option<ProviderError> {
    let kind = match reason {
        // OpenRouter's, and GLM's.
        "error" | "network_error" => ProviderErrorKind::Server,
        // DeepSeek's.
        "insufficient_system_resource" => ProviderErrorKind::Overloaded,
        // Gemini's, as in `function_call_filter: MALFORMED_FUNCTION_CALL`: another try may do.
        filter if filter.starts_with("function_call_filter") => ProviderErrorKind::Server,
        _ => return None,
    };
    let detail = reason.split_once(':').map_or("", |(_, detail)| detail);
    Some(Failed { vendor, kind, provider_type: reason, detail, at: At::Stream }.error())
}

fn explain(vendor: &Vendor, mut at: At<'_>, body: &[u8]) -> ProviderError {
    let told = Told::read(body);
    if let At::Refusal { retry_after, .. } = &mut at {
        *retry_after = retry_after.or(told.retry_after);
    }
    let status = match at {
        At::Refusal { status, .. } => Some(status),
        // OpenRouter's codes in streams are statuses.
        At::Stream => told.code.parse().ok().filter(|code| STATUSES.contains(code)),
    };
    let kind = told.kind(status);
    // A proxy's page says something, too; what is no error of the server does not.
    let whole = String::from_utf8_lossy(body);
    let detail = match at {
        At::Refusal { .. } if told.message.is_empty() => &whole,
        _ => told.message.as_str(),
    };
    Failed { vendor, kind, provider_type: told.name(), detail, at }.error()
}

/// What is told of a failure, whatever its shape. What is not told is empty.
#[derive(Debug, Default)]
struct Told {
    message: String,
    code: String,
    kind: String,
    reason: String,
    /// Gemini's place for what others say in a header.
    retry_after: Option<Duration>,
    /// Whether OpenRouter says why the input may not be sent: it does so with the status of a key.
    is_flagged: bool,
}

impl Told {
    fn read(body: &[u8]) -> Self {
        let value: Value = from_json_bytes(body).unwrap_or_default();
        let value = value.get(0).unwrap_or(&value);
        match &value["error"] {
            Value::Null => Self::of(value),
            Value::String(message) => Self { message: message.clone(), ..Self::of(value) },
            error => Self::of(error),
        }
    }

    fn of(error: &Value) -> Self {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let kind = [&error["type"], &error["status"]].map(text);
        let mut reason = String::new();
        let mut wait = None;
        for detail in error["details"].as_array().into_iter().flatten() {
            if reason.is_empty() {
                reason = text(&detail["reason"]);
            }
            wait = wait.or_else(|| retry_after::of_text(detail["retryDelay"].as_str()?));
        }
        Self {
            message: message(error),
            code: text(&error["code"]),
            kind: kind.into_iter().find(|kind| !kind.is_empty()).unwrap_or_default(),
            reason,
            retry_after: wait,
            is_flagged: error["metadata"]["reasons"].is_array(),
        }
    }

    /// What the server calls it: its code where that is a word, else its type.
    fn name(&self) -> &str {
        let is_word = self.code.bytes().any(|byte| byte.is_ascii_alphabetic());
        let is_status = self.code.parse::<u16>().is_ok_and(|code| STATUSES.contains(&code));
        let has_type = !self.kind.is_empty();
        if is_status || (has_type && !is_word) { &self.kind } else { &self.code }
    }

    fn kind(&self, status: Option<u16>) -> ProviderErrorKind {
        // Groq gives a request that is more than a minute's tokens the code of too many requests.
        if status == Some(413) {
            return ProviderErrorKind::ContextOverflow;
        }
        let told = words::or_name(self.named(), status, &self.message);
        told.unwrap_or(match (status, self.kind.as_str()) {
            _ if self.is_flagged => ProviderErrorKind::InvalidRequest,
            (Some(status), _) => of_status(status),
            (None, "invalid_request_error") => ProviderErrorKind::InvalidRequest,
            (None, _) => ProviderErrorKind::Server,
        })
    }

    fn named(&self) -> Option<ProviderErrorKind> {
        [&self.code, &self.reason, &self.kind].into_iter().find_map(|name| {
            let name = name.to_ascii_lowercase();
            let found = NAMED.iter().find(|(_, names)| names.contains(&name.as_str()));
            let of_image = name.contains("image").then_some(ProviderErrorKind::RefusedItem);
            found.map(|(kind, _)| *kind).or(of_image)
        })
    }
}

/// The message of an error, wherever it stands.
fn message(error: &Value) -> String {
    // OpenRouter passes on what the model's own provider said.
    if let Some(raw) = error["metadata"]["raw"].as_str().filter(|raw| !raw.is_empty()) {
        let message = error["message"].as_str().unwrap_or_default();
        return format!("{message}: {raw}");
    }
    let detail = &error["detail"];
    // Mistral puts FastAPI's list of problems where the message belongs.
    let nested = &error["message"]["detail"];
    let places = [&error["message"], detail, &detail[0]["msg"], &nested[0]["msg"], &error["msg"]];
    places.iter().find_map(|place| place.as_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const VENDOR: Vendor =
        Vendor { name: "Gateway", keys: &["GATEWAY_API_KEY"], base_url: "GATEWAY_BASE_URL" };

    #[test]
    fn shapes() {
        check(
            401,
            r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            expect![[r#"
                Auth invalid_api_key: Gateway did not accept the key (HTTP 401): Incorrect API key provided
                Check GATEWAY_API_KEY."#]],
        );
        check(
            500,
            r#"{"error":"a string"}"#,
            expect!["Server -: Gateway failed (HTTP 500): a string"],
        );
        check(
            400,
            r#"{"error":{"message":"not a valid model ID","code":400},"user_id":"u"}"#,
            expect![
                "InvalidRequest -: Gateway refused the request (HTTP 400): not a valid model ID"
            ],
        );
        check(
            429,
            r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"busy upstream","provider_name":"X"}}}"#,
            expect![
                "RateLimit -: Gateway has had too many requests from this account (HTTP 429): Provider returned error: busy upstream"
            ],
        );
        check(
            404,
            r#"{"detail":"Not Found"}"#,
            expect![[r#"
            UnknownModel -: Gateway does not know this model or address (HTTP 404): Not Found
            Check the model's name, and GATEWAY_BASE_URL if set."#]],
        );
        check(
            422,
            r#"{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]}"#,
            expect!["InvalidRequest -: Gateway refused the request (HTTP 422): Field required"],
        );
        check(
            422,
            r#"{"object":"error","message":{"detail":[{"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error","code":null}"#,
            expect![
                "InvalidRequest invalid_request_error: Gateway refused the request (HTTP 422): Extra inputs are not permitted"
            ],
        );
        check(
            400,
            r#"{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}"#,
            expect![[r#"
                UnknownModel invalid_model: Gateway does not know this model or address (HTTP 400): Invalid model: x
                Check the model's name, and GATEWAY_BASE_URL if set."#]],
        );
        check(
            401,
            r#"{"message":"Unauthorized","request_id":"r"}"#,
            expect![[r#"
            Auth -: Gateway did not accept the key (HTTP 401): Unauthorized
            Check GATEWAY_API_KEY."#]],
        );
        check(
            400,
            r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]"#,
            expect![[r#"
                Auth INVALID_ARGUMENT: Gateway did not accept the key (HTTP 400): API key not valid.
                Check GATEWAY_API_KEY."#]],
        );
        check(
            502,
            "<html>\x1b[31mBad\r\nGateway</html>",
            expect!["Server -: Gateway failed (HTTP 502): <html> [31mBad  Gateway</html>"],
        );
        check(
            404,
            "",
            expect![[r#"
            UnknownModel -: Gateway does not know this model or address (HTTP 404)
            Check the model's name, and GATEWAY_BASE_URL if set."#]],
        );
        check(
            307,
            "",
            expect![[r#"
            InvalidRequest -: Gateway refused the request (HTTP 307)
            The address redirects, and keys are not sent elsewhere: correct GATEWAY_BASE_URL."#]],
        );
        check(
            403,
            r#"{"error":{"code":403,"message":"m/x requires moderation on X. Your input was flagged for \"violence\".","metadata":{"reasons":["violence"],"flagged_input":"...","provider_name":"X","model_slug":"m/x"}}}"#,
            expect![
                "InvalidRequest -: Gateway refused the request (HTTP 403): m/x requires moderation on X. Your input was flagged for \"violence\"."
            ],
        );
        check(400, "3", expect!["InvalidRequest -: Gateway refused the request (HTTP 400): 3"]);
    }

    #[test]
    fn a_wait_that_only_the_body_tells_counts() {
        let body = r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"58.5s"}]}}]"#;
        let wait = |retry_after| {
            let at = At::Refusal { status: 429, request_id: None, retry_after };
            explain(&VENDOR, at, body.as_bytes()).retry_after
        };
        let second = Some(Duration::from_secs(1));
        assert_eq!((wait(None), wait(second)), (Some(Duration::from_millis(58_500)), second));
    }

    #[test]
    fn a_request_that_is_too_long_is_told_by_code_or_type_where_there_is_one() {
        for (status, body) in [
            (400, r#"{"error":{"type":"invalid_request_error","code":"context_length_exceeded"}}"#),
            (400, r#"{"error":{"code":400,"type":"exceed_context_size_error","n_ctx":4096}}"#),
            (413, r#"{"error":{"message":"TPM","type":"tokens","code":"rate_limit_exceeded"}}"#),
            (413, "<html>"),
            (
                429,
                r#"{"error":{"message":"Request too large for m","code":"rate_limit_exceeded"}}"#,
            ),
            (400, r#"{"error":{"code":"1261","message":"Prompt"}}"#),
            (
                400,
                r#"{"object":"error","message":"Prompt","type":"invalid_request_prompt","code":"3051"}"#,
            ),
        ] {
            assert_eq!(kind(status, body), ProviderErrorKind::ContextOverflow, "{body}");
        }
        let failed = r#"{"error":{"code":500,"message":"Context size has been exceeded."}}"#;
        assert_eq!(in_stream(&VENDOR, failed).kind, ProviderErrorKind::ContextOverflow);
    }

    #[test]
    fn a_call_that_groq_cannot_read_may_be_written_better() {
        let failed = r#"{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=Read"},"status_code":400}"#;
        assert!(kind(400, failed).is_transient());
        assert!(in_stream(&VENDOR, failed).kind.is_transient());
    }

    #[test]
    fn an_image_that_cannot_be_processed_is_told_from_other_refusals() {
        for (status, body) in [
            (400, r#"{"error":{"code":"invalid_image_format","type":"invalid_request_error"}}"#),
            (400, r#"{"error":{"code":"image_parse_error","param":null}}"#),
            (
                404,
                r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#,
            ),
            // Mistral's code is that of a prompt that is too long, too.
            (400, r#"{"message":"Image input is not enabled for this model","code":3051}"#),
        ] {
            assert_eq!(kind(status, body), ProviderErrorKind::RefusedItem, "{body}");
        }
        let other =
            r#"{"error":{"message":"image_url: no such field","type":"invalid_request_error"}}"#;
        assert_eq!(kind(400, other), ProviderErrorKind::InvalidRequest);
    }

    #[test]
    fn words_are_read_where_a_server_has_no_code_and_the_status_may_mean_it() {
        let message = "This model's maximum context length is 65536 tokens.";
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        assert_eq!(kind(400, &body), ProviderErrorKind::ContextOverflow);
        assert_eq!(kind(403, &body), ProviderErrorKind::Auth);
        let coded =
            serde_json::json!({"error": {"message": message, "code": "insufficient_quota"}});
        assert_eq!(kind(400, &coded.to_string()), ProviderErrorKind::Billing);
        let spent = r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"message\":\"Your credit balance is too low\"}}"}}}"#;
        assert_eq!(kind(400, spent), ProviderErrorKind::Billing);
        let passed_on = r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"The encrypted content gAAA could not be verified.\",\"code\":null}}"}}}"#;
        assert_eq!(kind(400, passed_on), ProviderErrorKind::RefusedReasoning);
        let unproved = r#"[{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}]"#;
        assert_eq!(kind(400, unproved), ProviderErrorKind::RefusedReasoning);
    }

    #[test]
    fn every_name_means_its_kind_wherever_it_stands() {
        for (expected, names) in NAMED {
            for name in names {
                for member in ["code", "type", "status"] {
                    let body =
                        serde_json::json!({"error": {"message": "m", member: name.to_uppercase()}});
                    assert_eq!(kind(400, &body.to_string()), expected, "{name} as {member}");
                }
            }
        }
    }

    fn kind(status: u16, body: &str) -> ProviderErrorKind {
        explained(status, body).kind
    }

    fn check(status: u16, body: &str, expected: Expect) {
        let error = explained(status, body);
        let named = error.provider_type.as_deref().unwrap_or("-");
        expected.assert_eq(&format!("{:?} {named}: {}", error.kind, error.message));
    }

    fn explained(status: u16, body: &str) -> ProviderError {
        let at = At::Refusal { status, request_id: None, retry_after: None };
        explain(&VENDOR, at, body.as_bytes())
    }
}
