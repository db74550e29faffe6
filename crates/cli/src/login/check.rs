//! Asking a provider whether it takes a key.

use anyhow::{Context as _, Result, bail};
use heeler::providers::catalogue;
use heeler::{Client, Message};
use heeler_assembly::{Environment, KnownProvider, ModelChoice, Secret};
use heeler_core::ProviderErrorKind;
use heeler_settings::Loaded;

/// The tokens of the answer: enough for models that cannot answer in fewer.
const OUTPUT_TOKENS: u64 = 16;

/// Sends the smallest request there is with this key.
///
/// # Errors
/// When the provider does not take the key, or cannot be asked.
pub(super) fn check(
    provider: &KnownProvider,
    key: &Secret,
    environment: &Environment,
) -> Result<()> {
    let begin = format!("{}/", provider.name);
    let model = catalogue::names().into_iter().find(|name| name.starts_with(&begin));
    let (Some(model), Some(variable)) = (model, provider.keys.first()) else {
        bail!("no model of {} is known to ask; leave out --check", provider.title);
    };
    let mut environment = environment.clone().with(variable, key.expose());
    let choice = ModelChoice::Named(Some(model));
    let (settings, asked) = choice.ready(&mut environment, &Loaded::default())?;
    let client = Client::shared(asked, settings.name)?.output_max(OUTPUT_TOKENS).without_retry();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(client.ask("", [Message::user("Say ok.")]));
    match answer {
        Ok(_) => Ok(()),
        Err(error) if error.is_provider(ProviderErrorKind::Auth) => {
            Err(error).with_context(|| format!("{} does not take the key", provider.title))
        }
        Err(error) => Err(error).with_context(|| {
            format!("whether {} takes the key is not known; leave out --check", provider.title)
        }),
    }
}
