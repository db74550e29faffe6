//! Who searches the web: settings, variables and keys as a backend.

use std::sync::Arc;

use heeler_providers::Secret;
use heeler_settings::{Loaded, SearchSetting};
use heeler_tools::{Brave, SearchBackend, Searxng, Tavily};

use crate::keys::{BRAVE, KeyOwner, TAVILY, fill};
use crate::{Environment, SetupError};

/// Says who searches, instead of the settings.
const BACKEND: &str = "HEELER_WEB_SEARCH";
/// Says where the SearXNG instance is, instead of the settings.
const ADDRESS: &str = "SEARXNG_URL";
/// Where Brave Search and Tavily are, if not where they are for everybody. Variables of whoever starts
/// heeler: no file says where a key goes.
const BRAVE_BASE_URL: &str = "BRAVE_SEARCH_BASE_URL";
const TAVILY_BASE_URL: &str = "TAVILY_BASE_URL";
/// What says that nobody searches, whatever the settings say.
const OFF: &str = "off";

/// Who searches, if anybody is set.
///
/// # Errors
/// When who is set cannot be asked: no key, no address. What somebody set is not passed over.
pub(crate) fn backend(
    environment: &mut Environment,
    loaded: &Loaded,
) -> Result<Option<Arc<dyn SearchBackend>>, SetupError> {
    let Some((chosen, source)) = chosen(environment, loaded)? else { return Ok(None) };
    let refused = |why: String| SetupError::new(format!("{source}: {why}"));
    let made: Arc<dyn SearchBackend> = match chosen {
        SearchSetting::Searxng => {
            let variable = environment.get(ADDRESS)?.map(|address| (address, ADDRESS));
            let set = loaded.search_address.as_ref().map(|set| (&*set.value, &*set.source));
            let (address, place) = variable.or(set).ok_or_else(|| {
                refused(format!(
                    "SearXNG needs the address of an instance; set {ADDRESS}, or \
                     web_search.address in your settings.toml"
                ))
            })?;
            let made = Searxng::new(address);
            Arc::new(made.map_err(|why| SetupError::new(format!("{place}: {why}")))?)
        }
        SearchSetting::Brave => {
            let key = key(environment, &BRAVE, refused)?;
            brave(environment, &key).map_err(refused)?
        }
        SearchSetting::Tavily => {
            let key = key(environment, &TAVILY, refused)?;
            tavily(environment, &key).map_err(refused)?
        }
    };
    Ok(Some(made))
}

/// Somebody who searches with this key, at the address of these variables if they name one; nothing
/// for who is no searcher.
#[must_use]
pub fn search_with_key(
    owner: &KeyOwner,
    key: &Secret,
    environment: &Environment,
) -> Option<Result<Arc<dyn SearchBackend>, String>> {
    match *owner {
        BRAVE => Some(brave(environment, key)),
        TAVILY => Some(tavily(environment, key)),
        _ => None,
    }
}

fn brave(environment: &Environment, key: &Secret) -> Result<Arc<dyn SearchBackend>, String> {
    let Some(base_url) = base_url(environment, BRAVE_BASE_URL)? else {
        return Ok(Arc::new(Brave::new(key.expose())?));
    };
    let made = Brave::with_base_url(base_url, key.expose());
    Ok(Arc::new(made.map_err(|why| format!("{BRAVE_BASE_URL}: {why}"))?))
}

fn tavily(environment: &Environment, key: &Secret) -> Result<Arc<dyn SearchBackend>, String> {
    let Some(base_url) = base_url(environment, TAVILY_BASE_URL)? else {
        return Ok(Arc::new(Tavily::new(key.expose())?));
    };
    let made = Tavily::with_base_url(base_url, key.expose());
    Ok(Arc::new(made.map_err(|why| format!("{TAVILY_BASE_URL}: {why}"))?))
}

fn base_url<'a>(environment: &'a Environment, variable: &str) -> Result<Option<&'a str>, String> {
    environment.get(variable).map_err(|error| error.to_string())
}

/// Who is set, and where.
fn chosen(
    environment: &Environment,
    loaded: &Loaded,
) -> Result<Option<(SearchSetting, String)>, SetupError> {
    match environment.get(BACKEND)?.map(str::trim) {
        Some(OFF) => Ok(None),
        Some(name) => match SearchSetting::named(name) {
            Ok(backend) => Ok(Some((backend, BACKEND.to_owned()))),
            Err(why) => Err(SetupError::new(format!("{BACKEND}: {why}"))),
        },
        None => Ok(loaded.search.as_ref().map(|set| (set.value, set.source.clone()))),
    }
}

fn key(
    environment: &mut Environment,
    owner: &KeyOwner,
    refused: impl Fn(String) -> SetupError,
) -> Result<Secret, SetupError> {
    fill(environment, owner)?;
    for variable in owner.variables {
        if let Some(key) = environment.get(variable)?.filter(|key| !key.trim().is_empty()) {
            return Ok(Secret::new(key));
        }
    }
    let variable = owner.variables.first().unwrap_or(&"");
    Err(refused(format!(
        "there is no key for {}; set {variable}, or keep one with `heeler login {}`",
        owner.title, owner.name
    )))
}

#[cfg(test)]
mod tests {
    use heeler_settings::Setting;

    use super::*;
    use crate::KeepKey;
    use crate::keys::Keys;

    /// Who would search with these variables and this in settings.toml.
    fn check(variables: &[(&str, &str)], set: Option<SearchSetting>, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let variables = variables.iter().copied().chain([("HEELER_HOME", home)]);
        let mut environment: Environment =
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let setting = |value| Setting { value, source: "settings.toml:2".to_owned() };
        let loaded = Loaded {
            search: set.map(setting),
            search_address: Some(Setting {
                value: "http://me:secret@search.lan".to_owned(),
                source: "settings.toml:3".to_owned(),
            }),
            ..Loaded::default()
        };
        let seen = match backend(&mut environment, &loaded) {
            Ok(None) => "nobody".to_owned(),
            Ok(Some(made)) => format!("{} at {}", made.title(), made.host()),
            Err(error) => error.to_string(),
        };
        assert_eq!(seen, expected);
        assert!(!seen.contains("secret"));
    }

    #[test]
    fn who_searches_is_said_by_the_variable_or_the_settings() {
        use SearchSetting::{Brave, Searxng, Tavily};
        let brave = ("BRAVE_API_KEY", "brave-123456");
        check(&[brave], None, "nobody");
        check(&[brave], Some(Brave), "Brave Search at api.search.brave.com");
        check(&[("TAVILY_API_KEY", "t-123")], Some(Tavily), "Tavily at api.tavily.com");
        check(&[], Some(Searxng), "SearXNG at search.lan");
        let gateway = ("BRAVE_SEARCH_BASE_URL", "https://me:secret@search.lan/brave");
        check(&[brave, gateway], Some(Brave), "Brave Search at search.lan");
        let near = ("TAVILY_BASE_URL", "http://127.0.0.1:8080");
        check(&[("TAVILY_API_KEY", "t-123"), near], Some(Tavily), "Tavily at 127.0.0.1");
        check(&[("HEELER_WEB_SEARCH", "off")], Some(Searxng), "nobody");
        check(&[("HEELER_WEB_SEARCH", "searxng")], Some(Brave), "SearXNG at search.lan");
        let here = ("SEARXNG_URL", "http://localhost:8888");
        check(&[here], Some(Searxng), "SearXNG at localhost");
    }

    #[test]
    fn what_settings_set_for_commands_says_not_where_a_key_goes() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let variables = [("HEELER_HOME", home), ("TAVILY_API_KEY", "t-123"), (BACKEND, "tavily")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut environment: Environment = variables.into_iter().collect();
        let value = "https://elsewhere.example".to_owned();
        let setting = Setting { value, source: ".heeler/settings.toml:2".to_owned() };
        let loaded = Loaded {
            environment: [(TAVILY_BASE_URL.to_owned(), setting)].into_iter().collect(),
            ..Loaded::default()
        };
        let made = backend(&mut environment, &loaded).unwrap().unwrap();
        assert_eq!(made.host(), "api.tavily.com");
    }

    #[test]
    fn what_is_set_and_cannot_be_used_says_where_and_what_to_do() {
        use SearchSetting::{Brave, Searxng, Tavily};
        check(
            &[],
            Some(Brave),
            "settings.toml:2: there is no key for Brave Search; set BRAVE_SEARCH_API_KEY, or keep one \
             with `heeler login brave`",
        );
        check(
            &[("HEELER_WEB_SEARCH", "tavily")],
            None,
            "HEELER_WEB_SEARCH: there is no key for Tavily; set TAVILY_API_KEY, or keep one with \
             `heeler login tavily`",
        );
        check(
            &[("HEELER_WEB_SEARCH", "braev")],
            None,
            "HEELER_WEB_SEARCH: `braev` is no search backend; did you mean `brave`?",
        );
        check(
            &[("SEARXNG_URL", "me:secret@here")],
            Some(Searxng),
            "SEARXNG_URL: SearXNG needs an address with http or https and a host",
        );
        check(
            &[("BRAVE_API_KEY", "b-123"), ("BRAVE_SEARCH_BASE_URL", "me:secret@here")],
            Some(Brave),
            "settings.toml:2: BRAVE_SEARCH_BASE_URL: Brave Search needs an address with http or \
             https and a host",
        );
        check(
            &[("TAVILY_API_KEY", "sec\u{7f}ret-1")],
            Some(Tavily),
            "settings.toml:2: no request can carry the key of Tavily; copy it alone, and whole",
        );
    }

    #[test]
    fn a_key_that_was_kept_is_used_and_known_as_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap().to_owned();
        let mut environment: Environment = [("HEELER_HOME".to_owned(), home)].into_iter().collect();
        let key = Secret::new("tvly-0123456789abcdef");
        Keys::of(&environment).unwrap().keep(&TAVILY, &key, KeepKey::InFile).unwrap();
        environment = environment.with(BACKEND, "tavily");
        let made = backend(&mut environment, &Loaded::default()).unwrap().unwrap();
        assert_eq!(made.title(), "Tavily");
        let secrets = heeler_secrets::Secrets::of_variables(environment.iter());
        let text = format!("key {}", key.expose());
        assert_eq!(secrets.redact(&text), "key [redacted: TAVILY_API_KEY]");
    }
}
