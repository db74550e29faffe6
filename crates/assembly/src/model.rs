//! Which model answers, and what is known of it.

use std::sync::Arc;

use heeler_core::{ModelSettings, Provider};
use heeler_engine::SystemClock;
use heeler_providers::{NamedModel, catalogue};

use crate::{Environment, SetupError};

/// A request asks for at most this many tokens, whatever the model could write: a longer reply is
/// almost always a runaway, and the rest of the window is the conversation's.
const OUTPUT_TOKENS_MAX: u64 = 32_000;

/// Which model answers.
pub enum ModelChoice {
    /// By name; `None` is what the variables say, else the default, as [`NamedModel::find`] does.
    Named(Option<String>),
    /// One that is at hand, such as the demo's.
    Ready(NamedModel),
}

impl ModelChoice {
    /// Who asks the model, and what is known of it.
    ///
    /// # Errors
    /// When there is no such model, or it cannot be asked: no key, a script that cannot be read.
    pub fn ready(
        self,
        environment: &Environment,
    ) -> Result<(ModelSettings, Arc<dyn Provider>), SetupError> {
        let NamedModel { name, provider } = self.find(environment)?;
        Ok((settings(name), provider))
    }

    fn find(self, environment: &Environment) -> Result<NamedModel, SetupError> {
        let name = match self {
            Self::Ready(model) => return Ok(model),
            Self::Named(name) => name,
        };
        let is_script = name.as_deref().is_some_and(|name| name.starts_with("script:"));
        if !is_script {
            // One that is no text would count as absent.
            NamedModel::variables().try_for_each(|name| environment.get(name).map(drop))?;
        }
        let variable = |name: &str| environment.get(name).ok().flatten().map(str::to_owned);
        NamedModel::find(name.as_deref(), variable, Arc::new(SystemClock))
            .map_err(|error| SetupError::new(error.to_string()))
    }
}

/// What is known of a model, with the limits of an agent.
fn settings(name: String) -> ModelSettings {
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
