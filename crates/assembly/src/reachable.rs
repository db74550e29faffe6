//! Which models can be asked here: whose keys there are, and what is known of each model.

use futures::future::join_all;
use heeler_core::Prices;
use heeler_providers::KnownProvider;
use heeler_providers::catalogue::{self, Ability};
use heeler_providers::probe::{LocalModel, ProbeError};
use heeler_settings::Loaded;

use crate::local::LocalServer;
use crate::model::default_name;
use crate::{Environment, KeyOwner, KeyPlace, Keys, SetupError};

/// Everybody who could be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reachable {
    /// The model that answers when nobody names one, by its full name.
    pub default: String,
    /// Every provider, with a key or without.
    pub providers: Vec<ReachableProvider>,
}

/// A provider, and what keeps it from being asked, if anything does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachableProvider {
    /// Before the slash of its models' names.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// Whether it answers nobody without a key.
    pub needs_key: bool,
    /// The variables a key may stand in.
    pub keys: &'static [&'static str],
    /// Where its key is.
    pub key: Option<KeyPlace>,
    /// Its models that are known, by the catalogue, the settings, or the server itself.
    pub models: Vec<ReachableModel>,
    /// Why a server on this machine tells nothing.
    pub silent: Option<String>,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachableModel {
    /// Its full name.
    pub name: String,
    /// Input and output together, in tokens.
    pub window: Option<u64>,
    /// The most it can write in one reply, in tokens.
    pub output_max: Option<u64>,
    /// What it charges.
    pub prices: Option<Prices>,
    /// What else it can do; nothing is known of what only settings name.
    pub abilities: Vec<Ability>,
}

impl Reachable {
    /// What can be asked by whoever has these variables and settings. Nobody is asked anything.
    ///
    /// # Errors
    /// When a variable or the file of keys cannot be used.
    pub fn of(environment: &Environment, loaded: &Loaded) -> Result<Self, SetupError> {
        let default = default_name(loaded);
        let default = catalogue::full_name(&default).unwrap_or(default);
        let keys = Keys::of(environment)?;
        let known = catalogue::names();
        let providers = KnownProvider::all().map(|provider| {
            let names = names_of(provider.name, &known, loaded);
            Ok(ReachableProvider {
                name: provider.name,
                title: provider.title,
                needs_key: provider.needs_key,
                keys: provider.keys,
                key: keys.place(&KeyOwner::from(&provider), environment)?,
                models: names.into_iter().map(|name| model(name, loaded)).collect(),
                silent: None,
            })
        });
        Ok(Self { default, providers: providers.collect::<Result<_, SetupError>>()? })
    }

    /// Asks every server on this machine at once which models it has. It takes seconds at most.
    pub async fn ask_servers(&mut self, environment: &Environment, loaded: &Loaded) {
        let asked = self.providers.iter_mut().filter_map(|provider| {
            let server = LocalServer::of(&KnownProvider::named(provider.name)?, environment)?;
            Some(async move { provider.listen(server.models().await, loaded) })
        });
        join_all(asked).await;
    }
}

impl ReachableProvider {
    fn listen(&mut self, told: Result<Vec<LocalModel>, ProbeError>, loaded: &Loaded) {
        let told = match told {
            Ok(told) => told,
            Err(error) => return self.silent = Some(error.to_string()),
        };
        for LocalModel { name, window, .. } in told {
            let name = format!("{}/{name}", self.name);
            let known = self.models.iter_mut().find(|model| model.name == name);
            let known = match known {
                Some(known) => known,
                None => self.models.push_mut(model(name, loaded)),
            };
            known.window = known.window.or(window);
        }
    }

    /// Whether nothing is missing to ask it.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.key.is_some() || !self.needs_key
    }
}

/// Models of the catalogue first, then those that only the settings know.
fn names_of(provider: &str, known: &[String], loaded: &Loaded) -> Vec<String> {
    let is_own = |name: &&String| name.split_once('/').is_some_and(|(own, _)| own == provider);
    let mut names: Vec<String> = known.iter().filter(is_own).cloned().collect();
    let set = loaded.models.keys().filter(is_own).filter(|name| !known.contains(name));
    names.extend(set.cloned());
    names
}

fn model(name: String, loaded: &Loaded) -> ReachableModel {
    let known = catalogue::lookup(&name);
    let set = loaded.models.get(&name).map(|setting| setting.value).unwrap_or_default();
    ReachableModel {
        window: set.window.or(known.as_ref().map(|known| known.window)),
        output_max: set.output_max.or(known.as_ref().map(|known| known.output_max)),
        prices: set.prices.or(known.as_ref().map(|known| known.prices)),
        abilities: known.map(|known| known.abilities).unwrap_or_default(),
        name,
    }
}
