//! One question to a server that answers in JSON, and what its refusals mean.

use std::sync::Arc;

use heeler_core::ToolError;
use heeler_http::{Answer, Client, HeaderMap, HeaderName, HeaderValue, Target};
use heeler_secrets::Secret;
use serde_json::Value;
use url::Url;

use super::text;
use crate::web::{Allowed, guarded};

/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of what a server says about an error.
const SAID_BYTES_MAX: usize = 200;

/// A server, and the header that says who asks.
#[derive(Clone)]
pub(super) struct Server {
    client: Client,
    title: &'static str,
    host: String,
    key: Option<Key>,
    /// What a person does about a wrong key.
    key_advice: &'static str,
}

/// A key in its header.
#[derive(Clone)]
struct Key {
    header: HeaderName,
    value: HeaderValue,
    /// What may stand in an answer.
    secret: Secret,
}

/// What went wrong with a request that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The key is not accepted.
    Key,
    /// The plan of the key is used up.
    Quota,
    /// Too many requests in a short time.
    TooOften,
    /// Something the user can put right, in these words.
    User(&'static str),
    /// Anything else.
    Other,
}

/// An answer that was read to its end.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) body: Value,
    /// What remains of each limit, where the server tells.
    pub(super) remaining: Option<String>,
    retry_after: Option<String>,
    location: Option<String>,
}

impl Server {
    /// A server of the public internet, or one that is allowed besides.
    pub(super) fn new(title: &'static str, address: &Url, allowed: Allowed) -> Self {
        let host = address.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        Self { client: guarded(allowed), title, host, key: None, key_advice: "" }
    }

    /// With a key in a header, behind `before`.
    ///
    /// # Errors
    /// When no header can carry the key.
    pub(super) fn with_key(
        mut self,
        header: &'static str,
        before: &str,
        key: &str,
        advice: &'static str,
    ) -> Result<Self, String> {
        let secret = Secret::new(key);
        let mut value = HeaderValue::try_from(format!("{before}{}", secret.expose()))
            .ok()
            .filter(|_| !secret.expose().is_empty())
            .ok_or_else(|| {
                format!("no request can carry the key of {}; copy it alone, and whole", self.title)
            })?;
        value.set_sensitive(true);
        let header = HeaderName::from_static(header);
        self.key = Some(Key { header, value, secret });
        self.key_advice = advice;
        Ok(self)
    }

    pub(super) fn title(&self) -> &'static str {
        self.title
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Asks, with a body or without one.
    pub(super) async fn ask(
        &self,
        address: &Url,
        body: Option<&Value>,
        refusal: impl Fn(&Answered) -> Refusal,
    ) -> Result<Value, ToolError> {
        let mut headers = HeaderMap::new();
        headers.insert("accept", HeaderValue::from_static("application/json"));
        if body.is_some() {
            headers.insert("content-type", HeaderValue::from_static("application/json"));
        }
        if let Some(key) = &self.key {
            headers.insert(key.header.clone(), key.value.clone());
        }
        let target = Target::new(address.as_str(), &headers).map_err(|e| self.unreached(&e))?;
        let target = Arc::new(target);
        let answer = match body {
            Some(body) => self.client.post(&target, vec![body.to_string().into()]).await,
            None => self.client.get(&target).await,
        };
        let mut answer = answer.map_err(|error| self.unreached(&error))?;
        let bytes = self.body(&mut answer).await?;
        let head = answer.head();
        let header = |name| head.header(name).map(str::to_owned);
        let answered = Answered {
            status: head.status(),
            body: serde_json::from_str(&self.hidden(bytes)).unwrap_or(Value::Null),
            remaining: header("x-ratelimit-remaining"),
            retry_after: header("retry-after"),
            location: header("location"),
        };
        match answered.status {
            200..=299 if answered.body.is_object() => Ok(answered.body),
            200..=299 => Err(self.failure(
                "answered with something else than JSON; tell the user to look at its address",
            )),
            _ => Err(self.refused(&answered, refusal(&answered))),
        }
    }

    /// A failure of this server, in words.
    pub(super) fn failure(&self, what: &str) -> ToolError {
        ToolError::for_model(format!("{} ({}) {what}", self.title, self.host))
    }

    /// A list of an answer.
    ///
    /// # Errors
    /// When there is something else in its place.
    pub(super) fn list<'a>(&self, list: &'a Value) -> Result<&'a [Value], ToolError> {
        list.as_array().map(Vec::as_slice).ok_or_else(|| {
            self.failure("answered without a list of results; tell the user to look at its address")
        })
    }

    /// What was answered as text, without the key, should somebody have echoed it.
    fn hidden(&self, bytes: Vec<u8>) -> String {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        match &self.key {
            Some(key) => key.secret.hide_in(&text),
            None => text,
        }
    }

    fn unreached(&self, error: &heeler_http::Error) -> ToolError {
        match error.refused() {
            Some(refused) => self.failure(&format!(
                "is not asked: {refused}. Searches go to the public internet, or to the address \
                 in the user's own settings"
            )),
            None => self.failure(&format!(
                "cannot be reached: {error}. Try once more, then tell the user to look at the \
                 network"
            )),
        }
    }

    fn refused(&self, answered: &Answered, refusal: Refusal) -> ToolError {
        let status = answered.status;
        let said = text::one_line(said(&answered.body), SAID_BYTES_MAX);
        let said = if said.is_empty() { said } else { format!(", `{said}`") };
        let wait = answered.retry_after.as_ref().filter(|wait| wait.len() <= 40);
        let wait = wait.map_or_else(
            || "a few seconds".to_owned(),
            |wait| format!("as it says, `retry-after: {}`", text::one_line(wait, 40)),
        );
        let advice = match refusal {
            _ if (300..400).contains(&status) => {
                let to = text::one_line(answered.location.as_deref().unwrap_or_default(), 200);
                format!("It leads to `{to}`; tell the user to set that address, if it is right")
            }
            Refusal::Key => format!("Its key is not accepted: {}", self.key_advice),
            Refusal::Quota => "The plan of its key is used up: tell the user, and go on without \
                               searching"
                .to_owned(),
            Refusal::TooOften => format!("These were too many searches: wait {wait}"),
            Refusal::User(advice) => advice.to_owned(),
            Refusal::Other if status >= 500 => "Try once more, then tell the user".to_owned(),
            Refusal::Other => "Ask in other words, or tell the user".to_owned(),
        };
        self.failure(&format!("answered {status}{said}. {advice}"))
    }

    async fn body(&self, answer: &mut Answer) -> Result<Vec<u8>, ToolError> {
        let mut body = Vec::new();
        while let Some(piece) = answer.next().await.map_err(|error| self.unreached(&error))? {
            if body.len() + piece.len() > ANSWER_BYTES_MAX {
                return Err(self.failure(&format!(
                    "answered with more than {ANSWER_BYTES_MAX} bytes; ask for something narrower"
                )));
            }
            body.extend_from_slice(piece);
        }
        Ok(body)
    }
}

/// What a server says about an error, wherever it says it.
fn said(body: &Value) -> &str {
    let places = ["/error/detail", "/errors/0/detail", "/detail/error", "/detail", "/error"];
    places.iter().find_map(|place| body.pointer(place)?.as_str()).unwrap_or_default()
}

/// A place behind an address that a user named, and that its host may be reached. The address itself is
/// not told: a name and password may stand in it.
///
/// # Errors
/// When it is no address of the web.
pub(super) fn based_at(title: &str, base_url: &str, path: &str) -> Result<(Url, Allowed), String> {
    let wrong = || format!("{title} needs an address with http or https and a host");
    let mut address = Url::parse(base_url.trim()).map_err(|_| wrong())?;
    let host = address.host_str().map(|host| host.trim_matches(['[', ']']).to_owned());
    let host = host.filter(|_| matches!(address.scheme(), "http" | "https")).ok_or_else(wrong)?;
    let folder = address.path().trim_end_matches('/');
    let folder = folder.strip_suffix(path).unwrap_or(folder).to_owned();
    address.set_path(&format!("{folder}{path}"));
    address.set_fragment(None);
    Ok((address, Allowed::hosts([host])))
}

/// A text of a result, empty where there is none.
pub(super) fn text_of(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}
