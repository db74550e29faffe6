//! What a user can set about OpenAI's Responses, as plain values.

use std::time::Duration;

use heeler_http::Target;
use url::Url;

use super::VENDOR;
use crate::Secret;
use crate::endpoint::{
    EXTRA_HEADERS, Endpoint, IDLE_TIMEOUT_DEFAULT, KeyHeader, SettingsError, parse_headers, value,
};

/// Where requests go when nobody says otherwise.
pub const BASE_URL_DEFAULT: &str = "https://api.openai.com/v1";

/// The variable that asks for answers that outlive their readers.
const BACKGROUND: &str = "OPENAI_BACKGROUND";
/// What an id of an answer may consist of, besides letters and digits: it becomes part of an address.
const ID_PUNCTUATION: [u8; 2] = [b'_', b'-'];

const PATH: &str = "/responses";
/// For an address that is only a host.
const WHOLE_PATH: &str = "/v1/responses";

/// How OpenAI's Responses are reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponsesSettings {
    /// The API key.
    pub key: Secret,
    /// Where requests go: what stands before `/responses`. A host alone means its `/v1`.
    pub base_url: String,
    /// Whose organization pays, where the key may use several.
    pub organization: Option<String>,
    /// Whose project pays, where the key may use several.
    pub project: Option<String>,
    /// Sent with every request, in this order; they win over our own.
    pub headers: Vec<(String, Secret)>,
    /// Whether the provider writes each answer to its end by itself, and keeps it for a while: after
    /// a crash it is read there, and not paid for twice. What is said is stored at the provider then.
    pub background: bool,
    /// How long the provider may be silent, before its answer begins and between its parts.
    pub idle_timeout: Duration,
}

impl ResponsesSettings {
    /// The variables that [`ResponsesSettings::from_variables`] reads.
    pub const VARIABLES: [&str; 6] = [
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        BACKGROUND,
        EXTRA_HEADERS,
    ];

    /// Settings with this API key and defaults.
    pub fn with_api_key(key: impl AsRef<str>) -> Self {
        Self {
            key: Secret::new(key),
            base_url: BASE_URL_DEFAULT.to_owned(),
            organization: None,
            project: None,
            headers: Vec::new(),
            background: false,
            idle_timeout: IDLE_TIMEOUT_DEFAULT,
        }
    }

    /// Settings from variables: `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_ORG_ID`,
    /// `OPENAI_PROJECT_ID`, `OPENAI_BACKGROUND` (anything but `0` is yes), and `HEELER_EXTRA_HEADERS` with a `Name: value` on each line. An empty
    /// variable counts as absent.
    ///
    /// # Errors
    /// When there is no key, or a variable has no usable value.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let lookup = |name: &str| {
            debug_assert!(Self::VARIABLES.contains(&name), "{name} is not listed");
            value(&lookup, name)
        };
        let key = lookup("OPENAI_API_KEY").ok_or_else(|| SettingsError::missing_key(&VENDOR))?;
        let settings = Self {
            base_url: lookup("OPENAI_BASE_URL").unwrap_or_else(|| BASE_URL_DEFAULT.to_owned()),
            organization: lookup("OPENAI_ORG_ID"),
            project: lookup("OPENAI_PROJECT_ID"),
            background: lookup(BACKGROUND).is_some_and(|value| value != "0"),
            headers: parse_headers(&lookup(EXTRA_HEADERS).unwrap_or_default())?,
            ..Self::with_api_key(key)
        };
        settings.target()?;
        Ok(settings)
    }

    /// Where requests are posted, and the headers they carry.
    pub(super) fn target(&self) -> Result<Target, SettingsError> {
        self.endpoint(&self.own_headers()).target()
    }

    /// A place below that of an answer; `None` for an id that is none.
    pub(super) fn target_of(&self, id: &str, place: &str) -> Option<Target> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || ID_PUNCTUATION.contains(&byte);
        if id.is_empty() || !id.bytes().all(fits) {
            return None;
        }
        let headers = self.own_headers();
        let endpoint = self.endpoint(&headers);
        let path = format!("{}/{id}{place}", endpoint.path);
        Endpoint { path: &path, ..endpoint }.target().ok()
    }

    /// What no message may show.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        self.endpoint(&[]).secrets()
    }

    fn own_headers(&self) -> Vec<(&'static str, &str)> {
        let whose = [
            ("openai-organization", self.organization.as_deref()),
            ("openai-project", self.project.as_deref()),
        ];
        let mut headers =
            vec![("content-type", "application/json"), ("accept", "text/event-stream")];
        headers.extend(whose.into_iter().filter_map(|(name, value)| Some((name, value?))));
        headers
    }

    fn endpoint<'a>(&'a self, headers: &'a [(&'static str, &'a str)]) -> Endpoint<'a> {
        let is_host_alone = Url::parse(self.base_url.trim()).is_ok_and(|url| url.path() == "/");
        Endpoint {
            vendor: &VENDOR,
            base_url: &self.base_url,
            path: if is_host_alone { WHOLE_PATH } else { PATH },
            headers,
            key: Some(KeyHeader {
                name: "authorization",
                scheme: "Bearer ",
                key: &self.key,
                variable: "OPENAI_API_KEY",
            }),
            extra: &self.headers,
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
            &[("OPENAI_API_KEY", "sk-1\n")],
            expect![[r#"
                https://api.openai.com/v1/responses
                content-type: application/json
                accept: text/event-stream
                authorization: Bearer sk-1"#]],
        );
        check(
            &[
                ("OPENAI_API_KEY", "sk-1"),
                ("OPENAI_BASE_URL", "http://127.0.0.1:8080/gateway//"),
                ("OPENAI_ORG_ID", "org-1"),
                ("OPENAI_PROJECT_ID", " proj_1 "),
                ("HEELER_EXTRA_HEADERS", "X-Team: a: b\n\n openai-project:x \n"),
            ],
            expect![[r#"
                http://127.0.0.1:8080/gateway/responses
                content-type: application/json
                accept: text/event-stream
                openai-organization: org-1
                openai-project: x
                authorization: Bearer sk-1
                x-team: a: b"#]],
        );
    }

    #[test]
    fn a_base_address_may_or_may_not_have_its_version() {
        let bases = [
            "https://api.openai.com",
            "https://api.openai.com/",
            "https://api.openai.com/v1",
            "https://api.openai.com/v1/",
            "http://localhost:11434",
            "https://gateway.example/openai/v1",
            "https://gateway.example/team/codex",
        ];
        let seen: String = bases
            .iter()
            .map(|base| {
                let seen = show(&[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)]);
                format!("{base} {}\n", seen.lines().next().unwrap_or_default())
            })
            .collect();
        expect![[r#"
            https://api.openai.com https://api.openai.com/v1/responses
            https://api.openai.com/ https://api.openai.com/v1/responses
            https://api.openai.com/v1 https://api.openai.com/v1/responses
            https://api.openai.com/v1/ https://api.openai.com/v1/responses
            http://localhost:11434 http://localhost:11434/v1/responses
            https://gateway.example/openai/v1 https://gateway.example/openai/v1/responses
            https://gateway.example/team/codex https://gateway.example/team/codex/responses
        "#]]
        .assert_eq(&seen);
    }

    #[test]
    fn variables_that_cannot_be_used() {
        check(&[], expect!["there is no key for OpenAI. Set OPENAI_API_KEY"]);
        check(
            &[("OPENAI_API_KEY", "sk\n1")],
            expect![
                "the key in OPENAI_API_KEY has characters that no header can carry; set it again"
            ],
        );
        for url in ["localhost", "ftp://a", "http://", "http://a?b=c", "http:///v1"] {
            let seen = show(&[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url)]);
            assert!(
                seen.ends_with(
                    "is no http or https address that a path can follow; correct OPENAI_BASE_URL"
                ),
                "{seen}"
            );
        }
        check(
            &[("OPENAI_API_KEY", "k"), ("OPENAI_ORG_ID", "org\u{7f}")],
            expect![
                "the value for the header openai-organization has characters that no header can carry; set it again"
            ],
        );
        check(
            &[("OPENAI_API_KEY", "k"), ("HEELER_EXTRA_HEADERS", "a: b\nsecret value")],
            expect![
                "extra header 2 cannot be sent; HEELER_EXTRA_HEADERS has one `Name: value` a line"
            ],
        );
    }

    fn check(variables: &[(&str, &str)], expected: Expect) {
        expected.assert_eq(&show(variables));
    }

    fn show(variables: &[(&str, &str)]) -> String {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(found.1.to_owned())
        };
        let settings = match ResponsesSettings::from_variables(lookup) {
            Ok(settings) => settings,
            Err(error) => return error.to_string(),
        };
        let headers = settings.own_headers();
        let endpoint = settings.endpoint(&headers);
        let mut seen = endpoint.url().unwrap().to_string();
        for (name, value) in &endpoint.header_map().unwrap() {
            seen.push_str(&format!("\n{name}: {}", value.to_str().unwrap()));
        }
        seen
    }
}
