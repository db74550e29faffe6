//! Which model answers, and what is known of it.

use std::sync::Arc;

use heeler_core::{ModelSettings, Provider};
use heeler_engine::SystemClock;
use heeler_providers::{NamedModel, catalogue};
use heeler_settings::Loaded;

use crate::{Environment, SetupError, keys};

/// What the name of a scripted model begins with.
const SCRIPT: &str = "script:";

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
    /// Who asks the model, and what is known of it, by the catalogue and the settings. A key that is
    /// kept for its provider is in `environment` from then on.
    ///
    /// # Errors
    /// When there is no such model, or it cannot be asked: no key, a script that cannot be read.
    pub fn ready(
        self,
        environment: &mut Environment,
        loaded: &Loaded,
    ) -> Result<(ModelSettings, Arc<dyn Provider>), SetupError> {
        let NamedModel { name, provider } = self.find(environment)?;
        Ok((settings(name, loaded), provider))
    }

    fn find(self, environment: &mut Environment) -> Result<NamedModel, SetupError> {
        let name = match self {
            Self::Ready(model) => return Ok(model),
            Self::Named(name) => name,
        };
        let name = match name {
            Some(name) => name,
            None => default_name(environment)?,
        };
        if name.starts_with(SCRIPT) {
            return named(&name, environment);
        }
        if let Ok((provider, _)) = NamedModel::provider_of(&name) {
            // One that is no text would count as absent.
            provider.variables.iter().try_for_each(|name| environment.get(name).map(drop))?;
            keys::fill(environment, &keys::KeyOwner::from(&provider))?;
        }
        named(&name, environment)
    }
}

/// The model when nobody named one.
///
/// # Errors
/// When a variable that names it is no text.
pub(crate) fn default_name(environment: &Environment) -> Result<String, SetupError> {
    NamedModel::NAME_VARIABLES.iter().try_for_each(|name| environment.get(name).map(drop))?;
    Ok(NamedModel::default_name(variable(environment)))
}

fn named(name: &str, environment: &Environment) -> Result<NamedModel, SetupError> {
    NamedModel::find(Some(name), variable(environment), Arc::new(SystemClock))
        .map_err(|error| SetupError::new(error.to_string()))
}

fn variable(environment: &Environment) -> impl Fn(&str) -> Option<String> {
    |name| environment.get(name).ok().flatten().map(str::to_owned)
}

/// What is known of a model, with the limits of an agent. What the settings say wins.
fn settings(name: String, loaded: &Loaded) -> ModelSettings {
    let known = catalogue::lookup(&name);
    let set = loaded.models.get(&name).map(|setting| setting.value).unwrap_or_default();
    let output_max = set.output_max.or(known.as_ref().map(|known| known.output_max));
    let default = ModelSettings::default();
    ModelSettings {
        window: set.window.or(known.as_ref().map(|known| known.window)),
        output_max: output_max.unwrap_or(default.output_max).min(OUTPUT_TOKENS_MAX),
        prices: set.prices.or(known.map(|known| known.prices)),
        name,
        ..default
    }
}
