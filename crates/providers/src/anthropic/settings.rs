//! What a user can set about Anthropic, as plain values.

use std::time::Duration;

use heeler_http::{HeaderMap, HeaderName, HeaderValue, Target};
use url::Url;

use crate::Secret;

/// Where requests go when nobody says otherwise.
pub const BASE_URL_DEFAULT: &str = "https://api.anthropic.com";
/// How long a stream may be silent. The provider sends keep-alives far more often.
pub const IDLE_TIMEOUT_DEFAULT: Duration = Duration::from_secs(300);

const VERSION: &str = "2023-06-01";
/// A shorter header is a word, not a key.
const SECRET_BYTES_MIN: usize = 12;

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

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct SettingsError(#[from] Problem);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error(
        "there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN); \
         `heeler demo` needs none"
    )]
    MissingKey,
    #[error("the key in {0} has characters that no header can carry; set it again")]
    Key(&'static str),
    #[error("`{0}` is no http or https address; correct ANTHROPIC_BASE_URL")]
    BaseUrl(String),
    #[error("extra header {0} cannot be sent; HEELER_EXTRA_HEADERS has one `Name: value` a line")]
    Header(usize),
}

impl SettingsError {
    /// Whether only a key is missing.
    #[must_use]
    pub fn is_missing_key(&self) -> bool {
        self.0 == Problem::MissingKey
    }
}

impl AnthropicSettings {
    /// The variables that [`AnthropicSettings::from_variables`] reads.
    pub const VARIABLES: [&str; 4] =
        ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "HEELER_EXTRA_HEADERS"];

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
            let value: Option<String> = lookup(name);
            value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let key = match (lookup("ANTHROPIC_API_KEY"), lookup("ANTHROPIC_AUTH_TOKEN")) {
            (Some(key), _) => Key::Api(Secret::new(key)),
            (None, Some(token)) => Key::Bearer(Secret::new(token)),
            (None, None) => return Err(Problem::MissingKey.into()),
        };
        let headers = lookup("HEELER_EXTRA_HEADERS").unwrap_or_default();
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
        let bad = |_| Problem::BaseUrl(self.base_url.clone());
        Ok(Target::new(self.url()?.as_str(), &self.header_map()?).map_err(bad)?)
    }

    fn url(&self) -> Result<Url, SettingsError> {
        let bad = || Problem::BaseUrl(self.base_url.clone());
        let base = self.base_url.trim().trim_end_matches('/');
        let (scheme, host) = base.split_once("://").unwrap_or_default();
        let usable = matches!(scheme, "http" | "https") && !host.starts_with('/');
        match Url::parse(base) {
            Ok(url) if usable && url.query().is_none() && url.fragment().is_none() => {
                Ok(Url::parse(&format!("{base}/v1/messages")).map_err(|_| bad())?)
            }
            _ => Err(bad().into()),
        }
    }

    fn header_map(&self) -> Result<HeaderMap, SettingsError> {
        let mut headers = HeaderMap::new();
        let own = [
            ("anthropic-version", VERSION),
            ("content-type", "application/json"),
            ("accept", "text/event-stream"),
        ];
        for (name, value) in own {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let (name, value, variable) = match &self.key {
            Key::Api(key) => ("x-api-key", key.expose().to_owned(), "ANTHROPIC_API_KEY"),
            Key::Bearer(token) => {
                ("authorization", format!("Bearer {}", token.expose()), "ANTHROPIC_AUTH_TOKEN")
            }
        };
        let mut value = HeaderValue::try_from(value).map_err(|_| Problem::Key(variable))?;
        value.set_sensitive(true);
        headers.insert(name, value);
        for (index, (name, value)) in self.headers.iter().enumerate() {
            let bad = || Problem::Header(index + 1);
            let name = HeaderName::try_from(name).map_err(|_| bad())?;
            let mut value = HeaderValue::try_from(value.expose()).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// What no message may show: the key, and headers that are long enough to be one.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let (Key::Api(key) | Key::Bearer(key)) = &self.key;
        let headers = self.headers.iter().map(|(_, value)| value);
        let headers = headers.filter(|value| value.expose().len() >= SECRET_BYTES_MIN);
        std::iter::once(key).chain(headers).cloned().collect()
    }
}

fn parse_headers(text: &str) -> Result<Vec<(String, Secret)>, SettingsError> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .enumerate()
        .map(|(index, line)| {
            // What is not in the form may be all secret: only its number is told.
            let (name, value) = line.split_once(':').ok_or(Problem::Header(index + 1))?;
            Ok((name.trim().to_owned(), Secret::new(value)))
        })
        .collect()
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
                "there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN); `heeler demo` needs none"
            ],
        );
        check(
            &[("ANTHROPIC_API_KEY", ""), ("ANTHROPIC_AUTH_TOKEN", " ")],
            expect![
                "there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN); `heeler demo` needs none"
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
                seen.ends_with("is no http or https address; correct ANTHROPIC_BASE_URL"),
                "{seen}"
            );
        }
        check(
            &[("ANTHROPIC_API_KEY", "k"), ("HEELER_EXTRA_HEADERS", "a: b\nsecret value")],
            expect![
                "extra header 2 cannot be sent; HEELER_EXTRA_HEADERS has one `Name: value` a line"
            ],
        );
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
        let mut seen = settings.url().unwrap().to_string();
        for (name, value) in &settings.header_map().unwrap() {
            seen.push_str(&format!("\n{name}: {}", value.to_str().unwrap()));
        }
        seen
    }
}
