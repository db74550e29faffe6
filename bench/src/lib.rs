//! A model's answer read line by line, with nothing kept that a loop does not need.
//!
//! This is what heeler is measured against: no engine, no limits, no recovery, no permission.
//! Nothing else may use it.

#![cfg(feature = "whole")]

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use heeler_http::{HeaderMap, HeaderName, HeaderValue, Options, Target};
use serde_json::Value;

/// The variable that says where the model is.
pub const URL_VARIABLE: &str = "ANTHROPIC_BASE_URL";

/// What a model said.
#[derive(Debug, Default)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// The calls it makes, in order.
    pub calls: Vec<Call>,
}

/// One call.
#[derive(Debug, Default)]
pub struct Call {
    /// The wire's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The input's JSON.
    pub input: String,
}

/// The address of the model, as heeler is told it.
///
/// # Errors
/// When nobody told it.
pub fn url() -> Result<String> {
    let base = std::env::var(URL_VARIABLE).with_context(|| format!("{URL_VARIABLE} is not set"))?;
    Ok(format!("{base}/v1/messages"))
}

/// An HTTP client.
#[derive(Clone)]
pub enum Client {
    /// The same as heeler's.
    Own(heeler_http::Client),
    /// The one that most programs would take.
    Reqwest(reqwest::Client),
}

impl Client {
    /// The same client as heeler's, ready for TLS.
    ///
    /// # Errors
    /// When no certificates can be had.
    pub async fn own() -> Result<Self> {
        let client = heeler_http::Client::new(Options::default());
        client.prepare().await?;
        Ok(Self::Own(client))
    }

    /// The client that most programs would take.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn reqwest() -> Result<Self> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self::Reqwest(reqwest::Client::builder().build()?))
    }

    /// Sends a request.
    ///
    /// # Errors
    /// When the answer is no success.
    pub async fn post(&self, target: &Arc<Target>, body: Vec<u8>) -> Result<Response> {
        let (status, response) = match self {
            Self::Own(client) => {
                let answer = client.post(target, vec![body.into()]).await?;
                (answer.head().status(), Response::Own(answer))
            }
            Self::Reqwest(client) => {
                let request = client.post(url()?).headers(headers()).body(body);
                let response = request.send().await?;
                (response.status().as_u16(), Response::Reqwest(response))
            }
        };
        ensure!((200..300).contains(&status), "the server answers {status}");
        Ok(response)
    }
}

/// An answer as a client gives it.
pub enum Response {
    /// Of the same client as heeler's.
    Own(heeler_http::Answer),
    /// Of the one that most programs would take.
    Reqwest(reqwest::Response),
}

impl Response {
    /// Adds the next bytes; `false` at the end.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn read_to(&mut self, bytes: &mut Vec<u8>) -> Result<bool> {
        match self {
            Self::Own(answer) => {
                let more = answer.next().await?;
                bytes.extend_from_slice(more.unwrap_or_default());
                Ok(more.is_some())
            }
            Self::Reqwest(response) => {
                let more = response.chunk().await?;
                bytes.extend_from_slice(more.as_deref().unwrap_or_default());
                Ok(more.is_some())
            }
        }
    }
}

/// Where the model is, and what it is told with every request.
///
/// # Errors
/// When nobody said where, or it is no address.
pub fn target() -> Result<Arc<Target>> {
    Ok(Arc::new(Target::new(&url()?, &headers())?))
}

fn headers() -> HeaderMap {
    let headers = [
        ("x-api-key", "bench"),
        ("anthropic-version", "2023-06-01"),
        ("content-type", "application/json"),
    ];
    let headers = headers
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    HeaderMap::from_iter(headers)
}

/// Reads an answer to its end.
///
/// # Errors
/// When the connection breaks or a line is no JSON.
pub async fn read(mut response: Response) -> Result<Answer> {
    let mut answer = Answer::default();
    let mut rest: Vec<u8> = Vec::new();
    while response.read_to(&mut rest).await? {
        let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { continue };
        for line in rest[..end].split(|byte| *byte == b'\n') {
            if let Some(data) = line.strip_prefix(b"data: ") {
                answer.take(&serde_json::from_slice(data)?);
            }
        }
        rest.drain(..=end);
    }
    Ok(answer)
}

impl Answer {
    fn take(&mut self, event: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let block = &event["content_block"];
        if block["type"] == "tool_use" {
            let (id, name) = (text(&block["id"]), text(&block["name"]));
            self.calls.push(Call { id, name, input: String::new() });
        }
        let delta = &event["delta"];
        self.text.push_str(delta["text"].as_str().unwrap_or_default());
        if let (Some(part), Some(call)) = (delta["partial_json"].as_str(), self.calls.last_mut()) {
            call.input.push_str(part);
        }
    }
}
