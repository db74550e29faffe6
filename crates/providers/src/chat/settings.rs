//! What a user can set about a server of Chat Completions, as plain values.

use std::time::Duration;

use heeler_http::Target;

use super::{Quirks, VENDOR};
use crate::Secret;
use crate::endpoint::{
    EXTRA_HEADERS, Endpoint, IDLE_TIMEOUT_DEFAULT, KeyHeader, SettingsError, Vendor, parse_headers,
    value,
};

/// Where requests go when nobody says otherwise.
pub const BASE_URL_DEFAULT: &str = "https://api.openai.com/v1";

const PATH: &str = "/chat/completions";
/// What follows a host alone.
const WHOLE_PATH: &str = "/v1/chat/completions";
const HEADERS: [(&str, &str); 2] =
    [("content-type", "application/json"), ("accept", "text/event-stream")];

/// How a server of Chat Completions is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatSettings {
    /// Who we are, sent as `Authorization: Bearer`; none for a server that asks nobody.
    pub key: Option<Secret>,
    /// Where requests go: what stands before `/chat/completions`. A host alone means its `/v1`.
    pub base_url: String,
    /// Sent with every request, in this order; they win over our own.
    pub headers: Vec<(String, Secret)>,
    /// How long the server may be silent, before its answer begins and between its parts.
    pub idle_timeout: Duration,
    /// What it does in its own way.
    pub quirks: Quirks,
    pub(crate) vendor: Vendor,
}

impl ChatSettings {
    /// The variables that [`ChatSettings::from_variables`] reads.
    pub const VARIABLES: [&str; 3] = ["OPENAI_API_KEY", "OPENAI_BASE_URL", EXTRA_HEADERS];

    /// Settings of OpenAI with this key and defaults.
    pub fn with_api_key(key: impl AsRef<str>) -> Self {
        Self::of(VENDOR, BASE_URL_DEFAULT, Some(Secret::new(key)), Quirks::default())
    }

    /// Settings of a server that asks nobody for a key, at this address, such as
    /// `http://127.0.0.1:8000/v1`.
    pub fn without_key(base_url: impl AsRef<str>, quirks: Quirks) -> Self {
        Self::of(VENDOR, base_url.as_ref(), None, quirks)
    }

    /// Settings of OpenAI from variables: `OPENAI_API_KEY`, `OPENAI_BASE_URL`, and
    /// `HEELER_EXTRA_HEADERS` with a `Name: value` on each line. An empty variable counts as
    /// absent.
    ///
    /// # Errors
    /// When there is no key, or a variable has no usable value.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let lookup = |name: &str| {
            debug_assert!(Self::VARIABLES.contains(&name), "{name} is not listed");
            lookup(name)
        };
        let settings =
            Self::from_variables_of(VENDOR, BASE_URL_DEFAULT, Quirks::default(), lookup)?;
        if settings.key.is_none() {
            return Err(SettingsError::missing_key(&VENDOR));
        }
        Ok(settings)
    }

    /// As [`ChatSettings::from_variables`], of another server, with the key that is found or none.
    pub(crate) fn from_variables_of(
        vendor: Vendor,
        base_url: &str,
        quirks: Quirks,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let key = vendor.keys.iter().find_map(|name| value(&lookup, name)).map(Secret::new);
        let headers = value(&lookup, EXTRA_HEADERS).unwrap_or_default();
        let base_url = value(&lookup, vendor.base_url).unwrap_or_else(|| base_url.to_owned());
        let headers = parse_headers(&headers)?;
        let settings = Self { headers, ..Self::of(vendor, &base_url, key, quirks) };
        settings.target()?;
        Ok(settings)
    }

    fn of(vendor: Vendor, base_url: &str, key: Option<Secret>, quirks: Quirks) -> Self {
        Self {
            key,
            base_url: base_url.to_owned(),
            headers: Vec::new(),
            idle_timeout: IDLE_TIMEOUT_DEFAULT,
            quirks,
            vendor,
        }
    }

    /// Where requests are posted, and the headers they carry.
    pub(super) fn target(&self) -> Result<Target, SettingsError> {
        self.endpoint().target()
    }

    /// What no message may show.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        self.endpoint().secrets()
    }

    fn endpoint(&self) -> Endpoint<'_> {
        let variable = self.vendor.keys.first().copied().unwrap_or_default();
        let key = self.key.as_ref().map(|key| KeyHeader {
            name: "authorization",
            scheme: "Bearer ",
            key,
            variable,
        });
        let base_url = self.base_url.trim().trim_end_matches('/');
        let is_host = base_url.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'));
        Endpoint {
            vendor: &self.vendor,
            base_url: &self.base_url,
            path: if is_host { WHOLE_PATH } else { PATH },
            headers: &HEADERS,
            key,
            extra: &self.headers,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn addresses() {
        let seen = [
            "https://api.openai.com",
            "https://api.openai.com/v1/",
            "http://localhost:11434/",
            "https://api.z.ai/api/paas/v4",
            "localhost",
            "http://a?b=c",
            "http://user:hunter2pass@127.0.0.1:1/x?key=abc",
        ]
        .map(|base_url| {
            let lookup = |name: &str| match name {
                "OPENAI_API_KEY" => Some("k".to_owned()),
                "OPENAI_BASE_URL" => Some(base_url.to_owned()),
                _ => None,
            };
            match ChatSettings::from_variables(lookup) {
                Ok(settings) => format!("{}\n", settings.endpoint().url().unwrap()),
                Err(error) => format!("{error}\n"),
            }
        });
        expect![[r#"
            https://api.openai.com/v1/chat/completions
            https://api.openai.com/v1/chat/completions
            http://localhost:11434/v1/chat/completions
            https://api.z.ai/api/paas/v4/chat/completions
            `localhost` is no http or https address that a path can follow; correct OPENAI_BASE_URL
            `http://a?…` is no http or https address that a path can follow; correct OPENAI_BASE_URL
            `http://…@127.0.0.1:1/x?…` is no http or https address that a path can follow; correct OPENAI_BASE_URL
        "#]]
        .assert_eq(&seen.concat());
    }

    #[test]
    fn what_is_missing_or_cannot_be_sent_is_told_with_its_variable() {
        let missing = ChatSettings::from_variables(|_| None).unwrap_err();
        assert!(missing.is_missing_key());
        assert!(missing.to_string().contains("Set OPENAI_API_KEY"), "{missing}");
        let bad = ChatSettings::from_variables(|_| Some("\u{7f}".into())).unwrap_err();
        assert!(!bad.is_missing_key());
        let without = ChatSettings::without_key("http://localhost:1/v1", Quirks::default());
        assert!(without.target().is_ok() && without.secrets().is_empty());
    }
}
