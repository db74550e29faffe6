//! What a user can set about Anthropic, as plain values.

use std::time::Duration;

use heeler_http::Target;

use super::VENDOR;
use crate::Secret;
use crate::endpoint::{
    EXTRA_HEADERS, Endpoint, IDLE_TIMEOUT_DEFAULT, KeyHeader, SettingsError, parse_headers, value,
};

/// Where requests go when nobody says otherwise.
pub const BASE_URL_DEFAULT: &str = "https://api.anthropic.com";

const PATH: &str = "/v1/messages";
const PATH_BEHIND_VERSION: &str = "/messages";
const HEADERS: [(&str, &str); 3] = [
    ("anthropic-version", "2023-06-01"),
    ("content-type", "application/json"),
    ("accept", "text/event-stream"),
];

/// How Anthropic is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnthropicSettings {
    /// Who we are.
    pub key: Key,
    /// Where requests go, without `/v1/messages`.
    pub base_url: String,
    /// Sent with every request, in this order; they win over our own.
    pub headers: Vec<(String, Secret)>,
    /// How long the provider may be silent, before its answer begins and between its parts.
    pub idle_timeout: Duration,
}

/// Who we are, and how that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// An API key, sent as `x-api-key`.
    Api(Secret),
    /// A token, sent as `Authorization: Bearer`.
    Bearer(Secret),
}

impl AnthropicSettings {
    /// The variables that [`AnthropicSettings::from_variables`] reads.
    pub const VARIABLES: [&str; 4] =
        ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", EXTRA_HEADERS];

    /// Settings with this API key and defaults.
    pub fn with_api_key(key: impl AsRef<str>) -> Self {
        Self {
            key: Key::Api(Secret::new(key)),
            base_url: BASE_URL_DEFAULT.to_owned(),
            headers: Vec::new(),
            idle_timeout: IDLE_TIMEOUT_DEFAULT,
        }
    }

    /// Settings from variables: `ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN`,
    /// `ANTHROPIC_BASE_URL`, and `HEELER_EXTRA_HEADERS` with a `Name: value` on each line. An empty
    /// variable counts as absent.
    ///
    /// # Errors
    /// When there is no key, or a variable has no usable value.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let lookup = |name: &str| {
            debug_assert!(Self::VARIABLES.contains(&name), "{name} is not listed");
            value(&lookup, name)
        };
        let key = match (lookup("ANTHROPIC_API_KEY"), lookup("ANTHROPIC_AUTH_TOKEN")) {
            (Some(key), _) => Key::Api(Secret::new(key)),
            (None, Some(token)) => Key::Bearer(Secret::new(token)),
            (None, None) => return Err(SettingsError::missing_key(&VENDOR)),
        };
        let headers = lookup(EXTRA_HEADERS).unwrap_or_default();
        let settings = Self {
            key,
            base_url: lookup("ANTHROPIC_BASE_URL").unwrap_or_else(|| BASE_URL_DEFAULT.to_owned()),
            headers: parse_headers(&headers)?,
            idle_timeout: IDLE_TIMEOUT_DEFAULT,
        };
        settings.target()?;
        Ok(settings)
    }

    /// Where messages are posted, and the headers they carry.
    pub(super) fn target(&self) -> Result<Target, SettingsError> {
        self.endpoint().target()
    }

    /// What no message may show.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        self.endpoint().secrets()
    }

    fn endpoint(&self) -> Endpoint<'_> {
        Endpoint {
            vendor: &VENDOR,
            base_url: &self.base_url,
            // Some set it as OpenAI's is set.
            path: match self.base_url.trim().trim_end_matches('/').ends_with("/v1") {
                true => PATH_BEHIND_VERSION,
                false => PATH,
            },
            headers: &HEADERS,
            key: Some(self.key.header()),
            extra: &self.headers,
        }
    }
}

impl Key {
    fn header(&self) -> KeyHeader<'_> {
        match self {
            Self::Api(key) => {
                KeyHeader { name: "x-api-key", scheme: "", key, variable: "ANTHROPIC_API_KEY" }
            }
            Self::Bearer(key) => KeyHeader {
                name: "authorization",
                scheme: "Bearer ",
                key,
                variable: "ANTHROPIC_AUTH_TOKEN",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn variables() {
        check(
            &[("ANTHROPIC_API_KEY", "sk-1\n")],
            expect![[r#"
            https://api.anthropic.com/v1/messages
            anthropic-version: 2023-06-01
            content-type: application/json
            accept: text/event-stream
            x-api-key: sk-1"#]],
        );
        check(
            &[
                ("ANTHROPIC_API_KEY", " "),
                ("ANTHROPIC_AUTH_TOKEN", "tok"),
                ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080/gateway//"),
                ("HEELER_EXTRA_HEADERS", "X-Team: a: b\n\n anthropic-beta:x \n"),
            ],
            expect![[r#"
                http://127.0.0.1:8080/gateway/v1/messages
                anthropic-version: 2023-06-01
                content-type: application/json
                accept: text/event-stream
                authorization: Bearer tok
                x-team: a: b
                anthropic-beta: x"#]],
        );
        check(
            &[
                ("ANTHROPIC_API_KEY", "k"),
                ("HEELER_EXTRA_HEADERS", "Anthropic-Beta: x\naccept: */*\nanthropic-beta: y"),
            ],
            expect![[r#"
                https://api.anthropic.com/v1/messages
                anthropic-version: 2023-06-01
                content-type: application/json
                accept: */*
                x-api-key: k
                anthropic-beta: x
                anthropic-beta: y"#]],
        );
        let base = |url: &str| {
            let settings = AnthropicSettings::with_api_key("k");
            AnthropicSettings { base_url: url.to_owned(), ..settings }.endpoint().url().unwrap()
        };
        assert_eq!(base("http://a.test/v1/").as_str(), "http://a.test/v1/messages");
        check(
            &[("ANTHROPIC_API_KEY", "a"), ("ANTHROPIC_AUTH_TOKEN", "b")],
            expect![[r#"
            https://api.anthropic.com/v1/messages
            anthropic-version: 2023-06-01
            content-type: application/json
            accept: text/event-stream
            x-api-key: a"#]],
        );
    }

    #[test]
    fn variables_that_cannot_be_used() {
        check(
            &[],
            expect![
                "there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN)"
            ],
        );
        check(
            &[("ANTHROPIC_API_KEY", ""), ("ANTHROPIC_AUTH_TOKEN", " ")],
            expect![
                "there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN)"
            ],
        );
        check(
            &[("ANTHROPIC_API_KEY", "sk\n1")],
            expect![
                "the key in ANTHROPIC_API_KEY has characters that no header can carry; set it again"
            ],
        );
        for url in ["localhost", "ftp://a", "http://", "http://a?b=c", "http:///v1"] {
            let seen = show(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", url)]);
            assert!(
                seen.ends_with(
                    "is no http or https address that a path can follow; correct ANTHROPIC_BASE_URL"
                ),
                "{seen}"
            );
        }
        check(
            &[("ANTHROPIC_API_KEY", "k"), ("HEELER_EXTRA_HEADERS", "a: b\nsecret value")],
            expect![
                "extra header 2 cannot be sent; HEELER_EXTRA_HEADERS has one `Name: value` a line"
            ],
        );
        for name in ["Content-Length", "transfer-encoding"] {
            check(
                &[("ANTHROPIC_API_KEY", "k"), ("HEELER_EXTRA_HEADERS", &format!("{name}: 3"))],
                expect![
                    "extra header 1 says how long a request is, which is known; remove it from HEELER_EXTRA_HEADERS"
                ],
            );
        }
        check(
            &[("ANTHROPIC_API_KEY", "k"), ("HEELER_EXTRA_HEADERS", "a b: c")],
            expect![
                "extra header 1 cannot be sent; HEELER_EXTRA_HEADERS has one `Name: value` a line"
            ],
        );
        check(
            &[("ANTHROPIC_API_KEY", "k"), ("HEELER_EXTRA_HEADERS", "a: secret\u{7f}")],
            expect![
                "extra header 1 cannot be sent; HEELER_EXTRA_HEADERS has one `Name: value` a line"
            ],
        );
    }

    #[test]
    fn only_a_missing_key_is_a_missing_key() {
        let missing = AnthropicSettings::from_variables(|_| None).unwrap_err();
        assert!(missing.is_missing_key());
        let bad = AnthropicSettings::from_variables(|_| Some("\u{7f}".into())).unwrap_err();
        assert!(!bad.is_missing_key());
    }

    fn check(variables: &[(&str, &str)], expected: Expect) {
        expected.assert_eq(&show(variables));
    }

    fn show(variables: &[(&str, &str)]) -> String {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(found.1.to_owned())
        };
        let settings = match AnthropicSettings::from_variables(lookup) {
            Ok(settings) => settings,
            Err(error) => return error.to_string(),
        };
        let mut seen = settings.endpoint().url().unwrap().to_string();
        for (name, value) in &settings.endpoint().header_map().unwrap() {
            seen.push_str(&format!("\n{name}: {}", value.to_str().unwrap()));
        }
        seen
    }
}
