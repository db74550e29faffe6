//! Asking whoever a key is for whether it takes it.

use anyhow::{Result, bail};
use heeler::providers::catalogue;
use heeler::tools::SearchRequest;
use heeler::{Client, Message, RunError};
use heeler_assembly::{Environment, KeyOwner, ModelChoice, Secret, search_with_key};
use heeler_core::ProviderErrorKind;
use heeler_settings::Loaded;

/// The tokens of the answer: enough for models that cannot answer in fewer.
const OUTPUT_TOKENS: u64 = 16;
/// How long a search may take.
const SEARCH_PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Sends the smallest request there is with this key.
///
/// # Errors
/// When the provider does not take the key, or cannot be asked.
pub(super) fn check(owner: &KeyOwner, key: &Secret, environment: &Environment) -> Result<()> {
    if let Some(backend) = search_with_key(owner, key, environment) {
        return search(backend.map_err(anyhow::Error::msg)?.as_ref());
    }
    let begin = format!("{}/", owner.name);
    let model = catalogue::names().into_iter().find(|name| name.starts_with(&begin));
    let (Some(model), Some(variable)) = (model, owner.variables.first()) else {
        bail!("no model of {} is known to ask; leave out --check", owner.title);
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
            bail!("the key is not kept: {}", said(&error))
        }
        Err(error) => bail!(
            "whether {} takes the key is not known; leave out --check: {}",
            owner.title,
            said(&error)
        ),
    }
}

/// What came of it, without what to do about a key that is set: this one is not.
fn said(error: &RunError) -> String {
    let told = error.provider_error().map(|error| error.message.lines().next().unwrap_or_default());
    told.map_or_else(|| error.kind.to_string(), str::to_owned)
}

/// Searches once, for one result.
fn search(backend: &dyn heeler::tools::SearchBackend) -> Result<()> {
    let request = SearchRequest {
        query: "heeler".to_owned(),
        count: 1,
        page: 1,
        allowed_domains: Vec::new(),
        blocked_domains: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = runtime
        .block_on(async { tokio::time::timeout(SEARCH_PATIENCE, backend.search(request)).await });
    match found {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => bail!("the key is not kept: {error}"),
        Err(_) => bail!("{} does not answer; leave out --check", backend.title()),
    }
}
