//! The first run: what can be done where there is no key of any provider.

use std::path::Path;

use anyhow::Result;
use heeler_assembly::{Environment, KeyOwner, Keys, KnownProvider, Permission, Reachable};

use crate::arguments::LoginArguments;
use crate::login;
use crate::say::{ask, harmless, say};

/// The most models on this machine that are offered.
const LOCAL_MAX: usize = 5;

/// What the person chose.
pub(super) enum First {
    /// This model, which needs no key.
    Model(String),
    /// There is a key now.
    KeyKept,
    /// To watch the demo.
    Demo,
    /// To leave.
    Leave,
}

enum Offer {
    Login,
    Model(String),
    Demo,
}

impl Offer {
    fn words(&self) -> String {
        match self {
            Self::Login => "give a provider's key, and have it kept (heeler login)".to_owned(),
            Self::Model(name) => format!("{name}, which answers on this machine"),
            Self::Demo => "watch the demo: a scripted model mends a failing test".to_owned(),
        }
    }
}

/// Whether no provider's key is anywhere to be found.
pub(super) fn has_no_key(environment: &Environment) -> bool {
    let Ok(keys) = Keys::of(environment) else { return false };
    let is_found = |provider: KnownProvider| {
        // What cannot be read is told of as what it is.
        !matches!(keys.place(&KeyOwner::from(&provider), environment), Ok(None))
    };
    !KnownProvider::all().any(is_found)
}

/// Says what is missing and what can be done about it, and does what is chosen.
pub(super) async fn help(environment: &Environment, workspace: &Path) -> Result<First> {
    let (_, loaded) = Permission::default().settle(environment, workspace)?;
    let mut reachable = Reachable::of(environment, &loaded)?;
    reachable.ask_servers(environment, &loaded).await;
    let answering = reachable
        .providers
        .iter()
        .filter(|provider| !provider.needs_key && provider.silent.is_none());
    let local = answering.flat_map(|provider| &provider.models).take(LOCAL_MAX);
    let mut offers = vec![Offer::Login];
    offers.extend(local.map(|model| Offer::Model(model.name.clone())));
    offers.push(Offer::Demo);
    let answer = ask(&question(&reachable, &offers)).unwrap_or_default();
    let chosen = answer.parse().ok().and_then(|number: usize| offers.get(number.checked_sub(1)?));
    Ok(match chosen {
        None => First::Leave,
        Some(Offer::Demo) => First::Demo,
        Some(Offer::Model(name)) => {
            say(format_args!(
                "`heeler --model {name}`, or `model.default` in the settings, keeps it."
            ));
            First::Model(name.clone())
        }
        Some(Offer::Login) => {
            keep_key(&reachable)?;
            First::KeyKept
        }
    })
}

fn question(reachable: &Reachable, offers: &[Offer]) -> String {
    let mut text = "heeler: there is no key of a provider yet. What now?\n\n".to_owned();
    for (index, offer) in offers.iter().enumerate() {
        text += &format!("  {}  {}\n", index + 1, offer.words());
    }
    let default = reachable.default.split_once('/').map_or("", |(provider, _)| provider);
    let provider = reachable.providers.iter().find(|provider| provider.name == default);
    if let Some(variable) = provider.and_then(|provider| provider.keys.first()) {
        text += &format!("\nOr set {variable}, and start heeler again.\n");
    }
    text += "A number, or Enter to leave:";
    harmless(&text)
}

fn keep_key(reachable: &Reachable) -> Result<()> {
    let names: Vec<&str> = reachable
        .providers
        .iter()
        .filter(|provider| provider.needs_key)
        .map(|provider| provider.name)
        .collect();
    let default = reachable.default.split_once('/').map_or("anthropic", |(provider, _)| provider);
    let answer = ask(&format!("Whose? {} [{default}]", names.join(", "))).unwrap_or_default();
    let name = if answer.is_empty() { default.to_owned() } else { answer };
    login::login(&LoginArguments {
        provider: Some(name),
        misplaced: Vec::new(),
        status: false,
        check: false,
        file: false,
    })
    .map(drop)
}
