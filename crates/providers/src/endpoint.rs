//! Where a vendor is reached, and what every request to it carries: addresses, keys and headers as
//! people set them.

use heeler_http::{HeaderMap, HeaderName, HeaderValue, Target};
use std::time::Duration;
use url::Url;

use crate::Secret;

/// How long a stream may be silent. Providers send keep-alives far more often; one that sends
/// nothing else is left after twelve times as long.
pub const IDLE_TIMEOUT_DEFAULT: Duration = Duration::from_secs(300);
/// The variable with headers for every request, a `Name: value` on each line.
pub(crate) const EXTRA_HEADERS: &str = "HEELER_EXTRA_HEADERS";

/// A shorter header is a word, not a key.
const SECRET_BYTES_MIN: usize = 12;

/// Whose endpoint it is, as messages call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Vendor {
    pub(crate) name: &'static str,
    /// The variables that a key may stand in; none for a server that wants no key.
    pub(crate) keys: &'static [&'static str],
    /// The variable of the address.
    pub(crate) base_url: &'static str,
}

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct SettingsError(#[from] Problem);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("there is no key for {vendor}. Set {keys}")]
    MissingKey { vendor: &'static str, keys: String },
    #[error("the key in {0} has characters that no header can carry; set it again")]
    Key(&'static str),
    #[error("the value for the header {0} has characters that no header can carry; set it again")]
    Value(&'static str),
    #[error("`{url}` is no http or https address that a path can follow; correct {variable}")]
    BaseUrl { url: String, variable: &'static str },
    #[error("extra header {0} cannot be sent; {EXTRA_HEADERS} has one `Name: value` a line")]
    Header(usize),
    #[error(
        "extra header {0} says how long a request is, which is known; remove it from {EXTRA_HEADERS}"
    )]
    Length(usize),
}

impl SettingsError {
    /// That none of the vendor's variables has a key.
    pub(crate) fn missing_key(vendor: &Vendor) -> Self {
        let keys = match vendor.keys {
            [] => String::new(),
            [only] => (*only).to_owned(),
            [first, others @ ..] => format!("{first} (or {})", others.join(", ")),
        };
        Problem::MissingKey { vendor: vendor.name, keys }.into()
    }

    /// Whether only a key is missing.
    #[must_use]
    pub fn is_missing_key(&self) -> bool {
        matches!(self.0, Problem::MissingKey { .. })
    }
}

/// What makes the address and the headers of every request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Endpoint<'a> {
    pub(crate) vendor: &'a Vendor,
    pub(crate) base_url: &'a str,
    /// What follows the base address, from its `/` on.
    pub(crate) path: &'a str,
    /// The dialect's own headers.
    pub(crate) headers: &'a [(&'static str, &'a str)],
    pub(crate) key: Option<KeyHeader<'a>>,
    /// What people add; it wins over our own.
    pub(crate) extra: &'a [(String, Secret)],
}

/// The header that says who we are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyHeader<'a> {
    pub(crate) name: &'static str,
    /// What stands before the key, such as `Bearer `.
    pub(crate) scheme: &'static str,
    pub(crate) key: &'a Secret,
    /// Where it is from.
    pub(crate) variable: &'static str,
}

impl Endpoint<'_> {
    /// Where requests go, and what they carry.
    pub(crate) fn target(&self) -> Result<Target, SettingsError> {
        Ok(Target::new(self.url()?.as_str(), &self.header_map()?).map_err(|_| self.bad_url())?)
    }

    pub(crate) fn url(&self) -> Result<Url, SettingsError> {
        let base = self.base_url.trim().trim_end_matches('/');
        let (scheme, host) = base.split_once("://").unwrap_or_default();
        let usable = matches!(scheme, "http" | "https") && !host.starts_with('/');
        match Url::parse(base) {
            Ok(url) if usable && url.query().is_none() && url.fragment().is_none() => {
                let whole = Url::parse(&format!("{base}{}", self.path));
                Ok(whole.map_err(|_| self.bad_url())?)
            }
            _ => Err(self.bad_url().into()),
        }
    }

    pub(crate) fn header_map(&self) -> Result<HeaderMap, SettingsError> {
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers {
            let value = HeaderValue::try_from(*value).map_err(|_| Problem::Value(name))?;
            headers.insert(*name, value);
        }
        if let Some(header) = self.key {
            let text = format!("{}{}", header.scheme, header.key.expose());
            let value = HeaderValue::try_from(text).map_err(|_| Problem::Key(header.variable))?;
            headers.insert(header.name, sensitive(value));
        }
        for (index, (name, value)) in self.extra.iter().enumerate() {
            let bad = || Problem::Header(index + 1);
            let name = HeaderName::try_from(name).map_err(|_| bad())?;
            if matches!(name.as_str(), "content-length" | "transfer-encoding") {
                return Err(Problem::Length(index + 1).into());
            }
            let value = HeaderValue::try_from(value.expose()).map_err(|_| bad())?;
            // The first of a name takes the place of our own.
            let before = &self.extra[..index];
            if before.iter().any(|(before, _)| name.as_str().eq_ignore_ascii_case(before)) {
                headers.append(name, sensitive(value));
            } else {
                headers.insert(name, sensitive(value));
            }
        }
        Ok(headers)
    }

    /// What no message may show: the key, headers that are long enough to be one, and a password in
    /// the address.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let extra = self.extra.iter().map(|(_, value)| value);
        let extra = extra.filter(|value| value.expose().len() >= SECRET_BYTES_MIN);
        let own = self.key.map(|header| header.key).into_iter().chain(extra).cloned();
        let address = self.target().map(|target| target.secrets()).unwrap_or_default();
        own.chain(address.iter().map(Secret::new)).collect()
    }

    fn bad_url(&self) -> Problem {
        Problem::BaseUrl { url: without_secrets(self.base_url), variable: self.vendor.base_url }
    }
}

/// An address without who asks and what is asked for, either of which may be a key.
fn without_secrets(url: &str) -> String {
    let (url, query) = url.find(['?', '#']).map_or((url, ""), |at| url.split_at(at));
    let query = if query.is_empty() { "" } else { "?…" };
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}{query}"),
        (None, Some((_, host))) => format!("…@{host}{query}"),
        _ => format!("{url}{query}"),
    }
}

/// A variable's value without the white space around it; an empty one counts as absent.
pub(crate) fn value(lookup: impl Fn(&str) -> Option<String>, variable: &str) -> Option<String> {
    let value = lookup(variable)?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// The headers of a text with a `Name: value` on each line.
pub(crate) fn parse_headers(text: &str) -> Result<Vec<(String, Secret)>, SettingsError> {
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

fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}
