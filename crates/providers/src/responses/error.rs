//! What a failure means: by the code and type the provider names, and by HTTP status.

use heeler_core::{ProviderError, ProviderErrorKind};
use serde_json::Value;

use super::VENDOR;
use crate::failure::{At, Failed, no_events, of_status};
use crate::json::{failure_in, text, value_in};
use crate::transport::Refusal;
use crate::words;

/// The header with the provider's id of a request.
const REQUEST_ID: &str = "x-request-id";

#[derive(Default)]
struct Detail {
    kind: String,
    code: String,
    message: String,
}

/// Says what an answer means whose status is no success.
pub(super) fn from_refusal(refusal: &Refusal) -> ProviderError {
    explain(At::refusal(refusal, REQUEST_ID), &String::from_utf8_lossy(&refusal.body))
}

/// Says what an `error` event in the middle of a stream means.
pub(super) fn from_event(data: &str) -> ProviderError {
    explain(At::Stream, data)
}

/// Says what an answer means that tells of its own failure.
pub(super) fn from_response(response: &str) -> ProviderError {
    explain(At::Stream, response)
}

/// Says what a body with status 200 means that is no answer.
pub(super) fn from_body(body: &str) -> ProviderError {
    if is_told_by(body) { explain(At::Stream, body) } else { no_events(&VENDOR, body) }
}

/// The failure that is told where no event is; anything else there counts for nothing.
pub(super) fn told(data: &str) -> Result<(), ProviderError> {
    failure_in(data).map_or(Ok(()), |told| Err(from_event(&told)))
}

/// Whether what is no answer tells of a failure.
pub(super) fn is_told_by(body: &str) -> bool {
    let Detail { kind, code, message } = read(body);
    [kind, code, message].iter().any(|told| !told.is_empty())
}

fn explain(at: At<'_>, body: &str) -> ProviderError {
    let detail = read(body);
    let told = words::or_name(specific(&detail), at.status(), &detail.message);
    let kind = told.unwrap_or_else(|| match at {
        At::Refusal { status, .. } => of_status(status),
        At::Stream if detail.kind == "invalid_request_error" => ProviderErrorKind::InvalidRequest,
        At::Stream => ProviderErrorKind::Server,
    });
    // A proxy's page says something, too; what is no event of the provider does not.
    let words = match at {
        At::Refusal { .. } if detail.message.is_empty() => body,
        _ => &detail.message,
    };
    let named = if detail.code.is_empty() { &detail.kind } else { &detail.code };
    Failed { vendor: &VENDOR, kind, provider_type: named, detail: words, at }.error()
}

/// An error stands in an answer, which may stand in an event, or is the event; it may be no more than
/// words.
fn read(body: &str) -> Detail {
    let value = value_in(body);
    let members = [&value["error"], &value["response"]["error"]];
    match members.into_iter().find(|error| error.is_string() || error.is_object()) {
        Some(Value::String(words)) => Detail { message: words.clone(), ..Detail::default() },
        Some(error) => Detail { kind: text(&error["type"]), ..detail(error) },
        // The type of an event is no type of an error.
        None => detail(&value),
    }
}

fn detail(error: &Value) -> Detail {
    let [code, message] = [&error["code"], &error["message"]].map(text);
    Detail { kind: String::new(), code, message }
}

/// The kind of an error whose code or type says more than a status does.
fn specific(error: &Detail) -> Option<ProviderErrorKind> {
    let kind = |name: &str| {
        Some(match name {
            "invalid_api_key"
            | "authentication_error"
            | "permission_error"
            | "invalid_organization"
            | "no_organization"
            | "account_deactivated"
            | "unsupported_country_region_territory" => ProviderErrorKind::Auth,
            "insufficient_quota"
            | "billing_hard_limit_reached"
            | "billing_not_active"
            | "access_terminated" => ProviderErrorKind::Billing,
            "rate_limit_exceeded" | "rate_limit_error" | "tokens" | "requests" => {
                ProviderErrorKind::RateLimit
            }
            "context_length_exceeded" => ProviderErrorKind::ContextOverflow,
            "model_not_found" => ProviderErrorKind::UnknownModel,
            "server_is_overloaded"
            | "overloaded_error"
            | "engine_overloaded"
            | "slow_down"
            | "service_unavailable_error" => ProviderErrorKind::Overloaded,
            // The last is Groq's, of one bad sample.
            "server_error" | "internal_error" | "vector_store_timeout" | "tool_use_failed" => {
                ProviderErrorKind::Server
            }
            "invalid_prompt" | "bio_policy" | "cyber_policy" | "data_residency_mismatch" => {
                ProviderErrorKind::InvalidRequest
            }
            "invalid_encrypted_content" => ProviderErrorKind::RefusedReasoning,
            // A tool of theirs, and no image of the request.
            tool if tool.starts_with("image_generation") => ProviderErrorKind::InvalidRequest,
            // Fourteen documented codes, and whatever comes to them.
            image if image.contains("image") => ProviderErrorKind::RefusedItem,
            _ => return None,
        })
    };
    kind(&error.code).or_else(|| kind(&error.kind))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::failure::DETAIL_CHARS_MAX;

    #[test]
    fn a_code_or_a_type_says_more_than_a_status() {
        let named = |code: &str, kind: &str, message: &str| {
            let error = serde_json::json!({"code": code, "type": kind, "message": message});
            serde_json::json!({"error": error, "param": null}).to_string()
        };
        let refusals = [
            (401, "invalid_api_key", "invalid_request_error"),
            (429, "insufficient_quota", "insufficient_quota"),
            (429, "rate_limit_exceeded", "tokens"),
            (400, "context_length_exceeded", "invalid_request_error"),
            (404, "model_not_found", "invalid_request_error"),
            (400, "model_not_found", "invalid_request_error"),
            (500, "server_error", "server_error"),
            (503, "", "service_unavailable_error"),
            (403, "unsupported_country_region_territory", "request_forbidden"),
            (400, "invalid_image_url", "invalid_request_error"),
            (400, "failed_to_download_image", "invalid_request_error"),
            (400, "image_generation_user_error", "image_generation_user_error"),
            (400, "invalid_encrypted_content", "invalid_request_error"),
            (418, "new_code", "new_error"),
            (500, "", "new_error"),
        ];
        let seen: String = refusals
            .iter()
            .map(|(status, code, kind)| {
                let error = refused(*status, &named(code, kind, "m"));
                let named = error.provider_type.unwrap_or_default();
                format!("{status} {code} {kind}: {:?}, {named}\n", error.kind)
            })
            .collect();
        expect![[r#"
            401 invalid_api_key invalid_request_error: Auth, invalid_api_key
            429 insufficient_quota insufficient_quota: Billing, insufficient_quota
            429 rate_limit_exceeded tokens: RateLimit, rate_limit_exceeded
            400 context_length_exceeded invalid_request_error: ContextOverflow, context_length_exceeded
            404 model_not_found invalid_request_error: UnknownModel, model_not_found
            400 model_not_found invalid_request_error: UnknownModel, model_not_found
            500 server_error server_error: Server, server_error
            503  service_unavailable_error: Overloaded, service_unavailable_error
            403 unsupported_country_region_territory request_forbidden: Auth, unsupported_country_region_territory
            400 invalid_image_url invalid_request_error: RefusedItem, invalid_image_url
            400 failed_to_download_image invalid_request_error: RefusedItem, failed_to_download_image
            400 image_generation_user_error image_generation_user_error: InvalidRequest, image_generation_user_error
            400 invalid_encrypted_content invalid_request_error: RefusedReasoning, invalid_encrypted_content
            418 new_code new_error: InvalidRequest, new_code
            500  new_error: Server, new_error
        "#]].assert_eq(&seen);
        let long = named("", "invalid_request_error", "Your input exceeds the context window of");
        assert_eq!(refused(400, &long).kind, ProviderErrorKind::ContextOverflow);
        let item =
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.";
        let unknown = refused(404, &named("", "invalid_request_error", item));
        assert_eq!(unknown.kind, ProviderErrorKind::RefusedReasoning);
        let gateways = named("invalid_prompt", "", "This endpoint's maximum context length is 9");
        assert_eq!(refused(400, &gateways).kind, ProviderErrorKind::ContextOverflow);
    }

    #[test]
    fn words_of_refusals() {
        check(
            401,
            r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            expect![[r#"
                Auth: OpenAI did not accept the key (HTTP 401, request req_1): Incorrect API key provided
                Check OPENAI_API_KEY."#]],
        );
        check(
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            expect![[r#"
                Billing: OpenAI cannot bill this account (HTTP 429, request req_1): You exceeded your current quota
                Check the account's credit and payment details."#]],
        );
        check(
            404,
            r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
            expect![[r#"
            UnknownModel: OpenAI does not know this model or address (HTTP 404, request req_1): The model `x` does not exist
            Check the model's name, and OPENAI_BASE_URL if set."#]],
        );
        check(
            307,
            "",
            expect![[r#"
            InvalidRequest: OpenAI refused the request (HTTP 307, request req_1)
            The address redirects, and keys are not sent elsewhere: correct OPENAI_BASE_URL."#]],
        );
    }

    #[test]
    fn what_is_in_another_form_is_shown_as_far_as_it_is_harmless() {
        check(
            502,
            "<html>\x1b[31mBad\r\nGateway</html>",
            expect![
                "Server: OpenAI failed (HTTP 502, request req_1): <html> [31mBad  Gateway</html>"
            ],
        );
        check(
            400,
            r#"{"error":"a string"}"#,
            expect![
                "InvalidRequest: OpenAI refused the request (HTTP 400, request req_1): a string"
            ],
        );
        check(
            400,
            r#"{"error":{"code":400,"message":"numbers","type":null}}"#,
            expect![
                "InvalidRequest: OpenAI refused the request (HTTP 400, request req_1): numbers"
            ],
        );
        check(
            422,
            r#"{"detail":[{"msg":"field required"}]}"#,
            expect![[
                r#"InvalidRequest: OpenAI refused the request (HTTP 422, request req_1): {"detail":[{"msg":"field required"}]}"#
            ]],
        );
        check(
            401,
            r#" [{"error":{"message":"Not a key","code":"invalid_api_key"}}, {}]"#,
            expect![[r#"
                Auth: OpenAI did not accept the key (HTTP 401, request req_1): Not a key
                Check OPENAI_API_KEY."#]],
        );
        check(
            400,
            r#"[1]"#,
            expect!["InvalidRequest: OpenAI refused the request (HTTP 400, request req_1): [1]"],
        );
        check(
            400,
            r#"{"code":"x","message":"flat","type":"error"}"#,
            expect!["InvalidRequest: OpenAI refused the request (HTTP 400, request req_1): flat"],
        );
        let long = refused(500, &"x".repeat(10_000));
        assert!(long.message.chars().count() < DETAIL_CHARS_MAX + 100);
    }

    fn check(status: u16, body: &str, expected: Expect) {
        let error = refused(status, body);
        expected.assert_eq(&format!("{:?}: {}", error.kind, error.message));
    }

    fn refused(status: u16, body: &str) -> ProviderError {
        explain(At::Refusal { status, request_id: Some("req_1"), retry_after: None }, body)
    }
}
