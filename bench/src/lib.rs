//! A model's answer read line by line, with nothing kept that a loop does not need.
//!
//! This is what heeler is measured against: no engine, no limits, no recovery, no permission.
//! Nothing else may use it.

#![cfg(feature = "whole")]

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use heeler_http::{Client, HeaderMap, HeaderName, HeaderValue, Options, Target};
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

/// The HTTP client, the same as heeler's.
///
/// # Errors
/// When it cannot be built.
pub fn client() -> Result<Client> {
    Ok(Client::new(Options::default())?)
}

/// Where the model is, and what it is told with every request.
///
/// # Errors
/// When nobody said where, or it is no address.
pub fn target() -> Result<Arc<Target>> {
    let headers = [
        ("x-api-key", "bench"),
        ("anthropic-version", "2023-06-01"),
        ("content-type", "application/json"),
    ];
    let headers = headers
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    Ok(Arc::new(Target::new(&url()?, &HeaderMap::from_iter(headers))?))
}

/// Sends a request.
///
/// # Errors
/// When the answer is no success.
pub async fn post(
    client: &Client,
    target: &Arc<Target>,
    body: Vec<u8>,
) -> Result<heeler_http::Answer> {
    let answer = client.post(target, vec![body.into()]).await?;
    let status = answer.head().status();
    ensure!((200..300).contains(&status), "the server answers {status}");
    Ok(answer)
}

/// Reads an answer to its end.
///
/// # Errors
/// When the connection breaks or a line is no JSON.
pub async fn read(mut answer: heeler_http::Answer) -> Result<Answer> {
    let mut read = Answer::default();
    let mut rest: Vec<u8> = Vec::new();
    while let Some(chunk) = answer.next().await? {
        rest.extend_from_slice(chunk);
        let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { continue };
        for line in rest[..end].split(|byte| *byte == b'\n') {
            if let Some(data) = line.strip_prefix(b"data: ") {
                read.take(&serde_json::from_slice(data)?);
            }
        }
        rest.drain(..=end);
    }
    Ok(read)
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
