//! Asking whoever a key is for whether it takes it.

use std::sync::Arc;

use anyhow::{Result, bail};
use futures::StreamExt as _;
use heeler::providers::catalogue;
use heeler::tools::SearchRequest;
use heeler_assembly::{Environment, KeyOwner, ModelChoice, Secret, search_with_key};
use heeler_core::{Message, ModelRequest, Parameters, Provider, ProviderError, ProviderErrorKind};
use heeler_settings::Loaded;

/// The tokens of the answer: enough for models that cannot answer in fewer.
const OUTPUT_TOKENS: u64 = 16;
/// How long a search or an answer may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answered = async { tokio::time::timeout(PATIENCE, answered(&*asked, settings.name)).await };
    let unknown = |why: &str| {
        anyhow::anyhow!(
            "whether {} takes the key is not known; leave out --check: {why}",
            owner.title
        )
    };
    match runtime.block_on(answered) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) if error.kind == ProviderErrorKind::Auth => {
            bail!("the key is not kept: {}", said(&error))
        }
        Ok(Err(error)) => Err(unknown(said(&error))),
        Err(_) => Err(unknown("it does not answer")),
    }
}

/// Asks once for a few words. The provider is asked itself: what a client has beside it, such as tools and
/// tries, is not needed here.
async fn answered(provider: &dyn Provider, model: String) -> Result<(), ProviderError> {
    let mut events = provider.stream(ModelRequest {
        model: model.into(),
        system: "".into(),
        tools: Arc::new([]),
        provider_tools: Arc::new([]),
        messages: std::iter::once(Message::user("Say ok.")).collect(),
        stable: 0,
        output_max: OUTPUT_TOKENS,
        parameters: Parameters::default(),
        epoch: 1,
    });
    while let Some(event) = events.next().await {
        event?;
    }
    Ok(())
}

/// What came of it, without what to do about a key that is set: this one is not.
fn said(error: &ProviderError) -> &str {
    error.message.lines().next().unwrap_or_default()
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
    let found =
        runtime.block_on(async { tokio::time::timeout(PATIENCE, backend.search(request)).await });
    match found {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => bail!("the key is not kept: {error}"),
        Err(_) => bail!("{} does not answer; leave out --check", backend.title()),
    }
}
