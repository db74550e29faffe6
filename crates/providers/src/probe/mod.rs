//! What a server on this machine has: its models, and how much each of them really reads. A window
//! that is believed larger than it is makes such a server cut conversations without a word.

mod read;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use heeler_core::ProviderErrorKind;
use heeler_http::Target;
use tokio::time::Instant;

use crate::chat::ChatSettings;
use crate::endpoint::{Endpoint, KeyHeader};
use crate::presets::{Preset, Probe};
use crate::transport::{Failure, Transport};

/// How long a server may take for all that it is asked. It is on this machine, and lists what it has.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The most bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The most models that Ollama is asked about one by one.
const SHOWN_MAX: usize = 64;
const VARIABLE: &str = "the key";

/// A model of a server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModel {
    /// The name the server knows it by.
    pub name: String,
    /// How much it reads and writes together as it is set up, in tokens, if the server tells.
    pub window: Option<u64>,
    /// How much it could if it were set up for that, in tokens, if the server tells.
    pub window_max: Option<u64>,
    /// Whether it is in memory.
    pub is_loaded: bool,
}

/// Why a server does not tell what it has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProbeError(String);

impl Preset {
    /// Asks a server on this machine which models it has, within [`PROBE_TIMEOUT`]. `lookup` gives
    /// the value of a variable, as for [`settings`](Self::settings).
    ///
    /// # Errors
    /// When it does not run, does not answer in time, or is no such server.
    pub async fn models(
        &self,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<LocalModel>, ProbeError> {
        let Some(probe) = self.probe else {
            return Err(ProbeError(format!("{} is not asked for its models", self.title)));
        };
        let settings = self.settings(lookup).map_err(|error| ProbeError(error.to_string()))?;
        // The time for all is what ends it, so that it is told.
        let transport = Transport::new(PROBE_TIMEOUT * 2);
        let deadline = Instant::now() + PROBE_TIMEOUT;
        let asker = Asker { preset: self, settings, transport, deadline };
        let asked = tokio::time::timeout_at(deadline, asker.models(probe)).await;
        asked.unwrap_or_else(|_| {
            let seconds = PROBE_TIMEOUT.as_secs();
            Err(asker.failed(&format!("did not answer within {seconds} s")))
        })
    }
}

struct Asker<'a> {
    preset: &'a Preset,
    settings: ChatSettings,
    transport: Transport,
    deadline: Instant,
}

impl Asker<'_> {
    async fn models(&self, probe: Probe) -> Result<Vec<LocalModel>, ProbeError> {
        match probe {
            Probe::Vllm => {
                let models = self.get("/v1/models").await?;
                read::vllm(&models).ok_or_else(|| self.unclear())
            }
            Probe::Lmstudio => {
                let models = self.get("/api/v0/models").await?;
                read::lmstudio(&models).ok_or_else(|| self.unclear())
            }
            Probe::Llamacpp => {
                let models = self.get("/v1/models").await?;
                // One that serves several models has no properties of its own.
                let properties = self.get("/props").await.unwrap_or_default();
                read::llamacpp(&models, &properties).ok_or_else(|| self.unclear())
            }
            Probe::Ollama => self.ollama().await,
        }
    }

    async fn ollama(&self) -> Result<Vec<LocalModel>, ProbeError> {
        let tags = self.get("/api/tags").await?;
        let mut models = read::ollama_tags(&tags).ok_or_else(|| self.unclear())?;
        let running = self.get("/api/ps").await?;
        read::ollama_running(&running, &mut models);
        for model in models.iter_mut().take(SHOWN_MAX) {
            let question = serde_json::json!({"model": model.name}).to_string();
            // What it does not say of one model stays unknown.
            if let Ok(shown) = self.ask("/api/show", Some(question.into())).await {
                read::ollama_shown(&shown, model);
            }
        }
        Ok(models)
    }

    async fn get(&self, path: &str) -> Result<Vec<u8>, ProbeError> {
        self.ask(path, None).await
    }

    async fn ask(&self, path: &str, body: Option<Bytes>) -> Result<Vec<u8>, ProbeError> {
        let target = self.target(path)?;
        let answer = match body {
            Some(body) => self.transport.post(&target, vec![body]).await,
            None => self.transport.get(&target).await,
        };
        let mut answer = answer.map_err(|failure| match failure {
            Failure::Refused(refusal) => {
                self.failed(&format!("answers {path} with HTTP {}", refusal.head.status()))
            }
            Failure::Unreachable(error) if error.kind == ProviderErrorKind::Network => {
                self.failed("does not run, or is somewhere else")
            }
            Failure::Unreachable(error) => self.failed(&error.message),
        })?;
        let patience = self.deadline.saturating_duration_since(Instant::now());
        Ok(answer.read_at_most(ANSWER_BYTES_MAX, patience).await)
    }

    /// An address of the server's own, beside those of OpenAI's that stand below `/v1`.
    fn target(&self, path: &str) -> Result<Arc<Target>, ProbeError> {
        let base_url = self.settings.base_url.trim().trim_end_matches('/');
        let key = self.settings.key.as_ref().map(|key| KeyHeader {
            name: "authorization",
            scheme: "Bearer ",
            key,
            variable: VARIABLE,
        });
        let endpoint = Endpoint {
            vendor: &self.settings.vendor,
            base_url: base_url.strip_suffix("/v1").unwrap_or(base_url),
            path,
            headers: &[("content-type", "application/json"), ("accept", "application/json")],
            key,
            extra: &self.settings.headers,
        };
        endpoint.target().map(Arc::new).map_err(|error| ProbeError(error.to_string()))
    }

    fn unclear(&self) -> ProbeError {
        self.failed(&format!("does not answer as {} does", self.preset.title))
    }

    fn failed(&self, why: &str) -> ProbeError {
        let Preset { title, base_url_variable, .. } = self.preset;
        let base_url = &self.settings.base_url;
        let key = self.settings.key.as_ref();
        let message = format!("{title} at {base_url} {why}. Start it, or set {base_url_variable}");
        ProbeError(key.map_or_else(|| message.clone(), |key| key.hide_in(&message)))
    }
}
