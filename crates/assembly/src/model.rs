//! Which model answers, and what is known of it.

use std::sync::Arc;

use heeler_core::{ModelSettings, Parameters, Provider, ThinkingSettings};
use heeler_engine::SystemClock;
use heeler_providers::NamedModel;
use heeler_providers::catalogue::{self, Ability};
use heeler_settings::{Loaded, SettingsError, THINKING};

use crate::{Environment, SetupError, advised, keys};

/// What the name of a scripted model begins with.
const SCRIPT: &str = "script:";
/// A reply has at most one part in so many of a window of which nothing else is known.
const WINDOW_PARTS: u64 = 4;

/// Which model answers.
pub enum ModelChoice {
    /// By name; `None` is what variables and settings say, else the default.
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
        let NamedModel { name, provider } = self.find(environment, loaded)?;
        Ok((settings(name, loaded), provider))
    }

    fn find(
        self,
        environment: &mut Environment,
        loaded: &Loaded,
    ) -> Result<NamedModel, SetupError> {
        let name = match self {
            Self::Ready(model) => return Ok(model),
            Self::Named(name) => name,
        };
        let name = name.unwrap_or_else(|| default_name(loaded));
        if name.starts_with(SCRIPT) {
            return named(&name, environment);
        }
        let Ok((known, _)) = NamedModel::provider_of(&name) else {
            return named(&name, environment);
        };
        // One that is no text would count as absent.
        known.variables.iter().try_for_each(|name| environment.get(name).map(drop))?;
        keys::fill(environment, &keys::KeyOwner::from(&known))?;
        let model = named(&name, environment)?;
        Ok(NamedModel { provider: advised::advised(&known, model.provider), ..model })
    }
}

/// The model when nobody named one: that of variables or settings, which read them in this order.
pub(crate) fn default_name(loaded: &Loaded) -> String {
    let set = loaded.preferences().model.default;
    set.unwrap_or_else(|| NamedModel::default_name(|_| None))
}

fn named(name: &str, environment: &Environment) -> Result<NamedModel, SetupError> {
    NamedModel::find(Some(name), variable(environment), Arc::new(SystemClock))
        .map_err(|error| advised::name_error(&error, name))
}

fn variable(environment: &Environment) -> impl Fn(&str) -> Option<String> {
    |name| environment.get(name).ok().flatten().map(str::to_owned)
}

/// How much the model reasons first, if that is set.
///
/// # Errors
/// When it is known to take no such setting: a request with it would be refused.
pub(crate) fn thinking(
    name: &str,
    output_max: u64,
    loaded: &Loaded,
) -> Result<Option<ThinkingSettings>, SettingsError> {
    let Some(thinking) = loaded.preferences().model.thinking else { return Ok(None) };
    let refused = |why: String| {
        let source = loaded.values.get(THINKING.path).map_or(THINKING.path, |set| &set.source);
        let why = format!("`{}` is not sent to {name}: {why}", THINKING.path);
        Err(SettingsError::of_file(source, why))
    };
    let lacks = |ability| catalogue::lookup(name).is_some_and(|known| !known.can(ability));
    match &thinking {
        ThinkingSettings::Effort(_) if lacks(Ability::Effort) => {
            refused("it is not set by a name there".to_owned())
        }
        ThinkingSettings::Budget(_) if lacks(Ability::Budget) => {
            refused("it is not set by a number of tokens there".to_owned())
        }
        ThinkingSettings::Budget(tokens) if *tokens >= output_max => {
            refused(format!("it has to be less than the {output_max} tokens of a reply"))
        }
        _ => Ok(Some(thinking)),
    }
}

/// What is known of a model, with the limits of an agent. What the settings say wins.
pub(crate) fn settings(name: String, loaded: &Loaded) -> ModelSettings {
    let known = catalogue::lookup(&name);
    let set = loaded.models.get(&name).map(|setting| setting.value).unwrap_or_default();
    let output_max = set.output_max.or(known.as_ref().map(|known| known.output_max));
    let default = ModelSettings::default();
    let preferences = loaded.preferences().model;
    // By default less than most models could write: a longer reply is almost always a runaway, and
    // the rest of the window is the conversation's.
    let output_max = output_max.unwrap_or(default.output_max).min(preferences.output_max);
    let mut model = ModelSettings {
        window: set.window.or(known.as_ref().map(|known| known.window)),
        output_max,
        prices: set.prices.or(known.map(|known| known.prices)),
        parameters: Parameters {
            thinking: thinking(&name, output_max, loaded).unwrap_or_default(),
            ..default.parameters
        },
        name,
    };
    leave_room(&mut model, loaded);
    model
}

/// Where nobody says how long a model's replies may be, a small window is not theirs alone.
pub(crate) fn leave_room(model: &mut ModelSettings, loaded: &Loaded) {
    let set = loaded.models.get(&model.name).and_then(|setting| setting.value.output_max);
    if set.is_some() || catalogue::lookup(&model.name).is_some() {
        return;
    }
    if let Some(window) = model.window {
        model.output_max = model.output_max.min(window / WINDOW_PARTS).max(1);
    }
}

#[cfg(test)]
mod tests {
    use heeler_turn::limits::context_limit;

    use super::*;

    #[test]
    fn a_small_window_is_the_conversations_before_it_is_a_replys() {
        let loaded = Loaded::default();
        for (window, output_max) in [(4096, 1024), (8192, 2048), (12_000, 3000), (128_000, 8192)] {
            let mut model = settings("llamacpp/qwen".to_owned(), &loaded);
            model.window = Some(window);
            leave_room(&mut model, &loaded);
            assert_eq!(model.output_max, output_max, "{window}");
            let settings = heeler_core::Settings { model, ..heeler_core::Settings::default() };
            assert!(context_limit(&settings) >= window / 2, "{window}");
        }
        // What the catalogue knows stays.
        let mut known = settings("anthropic/claude-sonnet-4-5".to_owned(), &loaded);
        let before = known.output_max;
        known.window = Some(8192);
        leave_room(&mut known, &loaded);
        assert_eq!(known.output_max, before);
    }
}
