//! Models by name: `anthropic/NAME`, a bare Claude name, `script:PATH`.

use std::sync::Arc;

use heeler_core::{ModelSettings, Provider};
use heeler_engine::SystemClock;
use heeler_providers::anthropic::{Anthropic, AnthropicSettings};
use heeler_providers::catalogue;
use heeler_providers::scripted::Scripted;
use heeler_script::Script;

use crate::{Environment, SetupError};

/// A request asks for at most this many tokens, whatever the model could write: a longer reply is
/// almost always a runaway, and the rest of the window is the conversation's.
const OUTPUT_TOKENS_MAX: u64 = 32_000;

/// Which model answers.
pub enum ModelChoice {
    /// By name; `None` is `HEELER_MODEL`, else `ANTHROPIC_MODEL`, else the default.
    Named(Option<String>),
    /// One that is at hand, such as the demo's.
    Ready(Box<NamedModel>),
}

/// A model that is ready to be asked.
pub struct NamedModel {
    /// Its name, window, limits and prices.
    pub settings: ModelSettings,
    /// Who asks it.
    pub provider: Arc<dyn Provider>,
}

impl NamedModel {
    /// A scripted model.
    #[must_use]
    pub fn scripted(script: Script) -> Self {
        let settings =
            ModelSettings { name: format!("script:{}", script.name), ..ModelSettings::default() };
        Self { settings, provider: Arc::new(Scripted::from_script(script, Arc::new(SystemClock))) }
    }

    /// The model of this name.
    pub(crate) fn find(name: Option<&str>, environment: &Environment) -> Result<Self, SetupError> {
        let name = match name {
            Some(name) => name,
            None => environment
                .get("HEELER_MODEL")?
                .or(environment.get("ANTHROPIC_MODEL")?)
                .unwrap_or(catalogue::DEFAULT_MODEL),
        };
        if let Some(path) = name.strip_prefix("script:") {
            // Absolute, so that a session finds it again from wherever it is continued.
            let path = std::path::absolute(path)
                .map_err(|error| SetupError::new(format!("{name} is no path: {error}")))?;
            let script = Script::load(&path).map_err(|error| SetupError::new(error.to_string()))?;
            return Ok(Self::scripted(script));
        }
        let Some(wire_name) = catalogue::anthropic_name(name) else {
            return Err(SetupError::new(format!(
                "there is no model `{name}`; use anthropic/NAME, a Claude name such as {}, or \
                 script:PATH",
                catalogue::DEFAULT_MODEL
            )));
        };
        for name in AnthropicSettings::VARIABLES {
            environment.get(name)?;
        }
        let variable = |name: &str| environment.get(name).ok().flatten().map(str::to_owned);
        let provider = AnthropicSettings::from_variables(variable)
            .and_then(|settings| Anthropic::new(&settings))
            .map_err(|error| SetupError::new(error.to_string()))?;
        Ok(Self { settings: anthropic_settings(wire_name), provider: Arc::new(provider) })
    }
}

fn anthropic_settings(wire_name: &str) -> ModelSettings {
    let name = format!("anthropic/{wire_name}");
    match catalogue::lookup(&name) {
        Some(entry) => ModelSettings {
            window: Some(entry.window),
            output_max: entry.output_max.min(OUTPUT_TOKENS_MAX),
            prices: Some(entry.prices),
            name,
            ..ModelSettings::default()
        },
        None => ModelSettings { name, ..ModelSettings::default() },
    }
}
