//! A model's answer read line by line, with nothing kept that a loop does not need.
//!
//! This is what heeler is measured against: no engine, no limits, no recovery, no permission.
//! Nothing else may use it.

#![cfg(feature = "whole")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use reqwest::{Client, Response};
use serde_json::Value;

/// The variable that says where the model is.
pub const URL_VARIABLE: &str = "ANTHROPIC_BASE_URL";
/// How long a bench waits for anything before it gives up.
const PATIENCE: Duration = Duration::from_secs(120);

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

/// The HTTP client, of the same make as heeler's.
///
/// # Errors
/// When it cannot be built.
pub fn client() -> Result<Client> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(Client::builder().read_timeout(PATIENCE).build()?)
}

/// Sends a request.
///
/// # Errors
/// When the answer is no success.
pub async fn post(client: &Client, url: &str, body: Vec<u8>) -> Result<Response> {
    let request = client
        .post(url)
        .header("x-api-key", "bench")
        .header("anthropic-version", "2023-06-01")
        .header("content-type", "application/json");
    let response = request.body(body).send().await?;
    ensure!(response.status().is_success(), "the server answers {}", response.status());
    Ok(response)
}

/// Reads an answer to its end.
///
/// # Errors
/// When the connection breaks or a line is no JSON.
pub async fn read(mut response: Response) -> Result<Answer> {
    let mut answer = Answer::default();
    let mut rest: Vec<u8> = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        rest.extend_from_slice(&chunk);
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
