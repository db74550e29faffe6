//! Servers on this machine: which models they have, and how much each really reads.

use heeler_providers::KnownProvider;
use heeler_providers::presets::Preset;
use heeler_providers::probe::{LocalModel, ProbeError};

use crate::Environment;

/// What Ollama calls a model without a tag.
const LATEST: &str = ":latest";

/// A server that tells what it has, and the variables that say where it is.
pub(crate) struct LocalServer {
    preset: &'static Preset,
    variables: Vec<(&'static str, String)>,
}

impl LocalServer {
    /// The provider's, if it is one.
    pub(crate) fn of(provider: &KnownProvider, environment: &Environment) -> Option<Self> {
        let preset = Preset::named(provider.name).filter(|preset| preset.probe.is_some())?;
        let value = |name: &&'static str| {
            // One that is no text is told of when the model is asked.
            let value = environment.get(name).ok().flatten()?;
            Some((*name, value.to_owned()))
        };
        Some(Self { preset, variables: provider.variables.iter().filter_map(value).collect() })
    }

    /// Asks it; takes seconds at most.
    pub(crate) async fn models(&self) -> Result<Vec<LocalModel>, ProbeError> {
        let lookup = |name: &str| {
            let found = self.variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| value.clone())
        };
        self.preset.models(lookup).await
    }

    /// How much a model reads and writes together, in tokens, if its server runs and tells.
    pub(crate) async fn window_of(&self, model: &str) -> Option<u64> {
        let models = self.models().await.ok()?;
        let is_it = |name: &str| name == model || name.strip_suffix(LATEST) == Some(model);
        models.iter().find(|found| is_it(&found.name))?.window
    }
}
