//! `web_search` and `web_fetch`: who searches, and which hosts near this machine may be reached.

use std::net::IpAddr;

use super::fields::{Fields, text, unknown_name};
use super::{Reading, Setting};
use crate::SettingsError;
use crate::document::Node;

/// The most hosts that one file may name.
pub const WEB_HOSTS_MAX: usize = 64;
const BACKENDS: [SearchSetting; 3] =
    [SearchSetting::Searxng, SearchSetting::Brave, SearchSetting::Tavily];
/// Whose file may say where requests go: the user's own.
const NOT_OF_A_REPOSITORY: &str =
    "only counts in your own settings.toml, whatever is trusted: it says where requests go";

/// Who searches the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchSetting {
    /// A SearXNG instance.
    Searxng,
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
}

impl SearchSetting {
    /// What it is called in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// When there is none; the text says which there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let known = BACKENDS.map(Self::name);
        let found = BACKENDS.into_iter().find(|backend| backend.name() == name);
        found.ok_or_else(|| unknown_name(&format!("`{name}`"), "search backend", name, &known))
    }
}

impl<'a> Reading<'a> {
    pub(super) fn web_search(&mut self, mut fields: Fields<'a>) -> Result<(), SettingsError> {
        let line = fields.line();
        self.key(&mut fields, "backend", Self::search_backend);
        self.key(&mut fields, "address", Self::search_address);
        self.layer.mistakes.extend(fields.strangers());
        if self.source.place.is_repository() {
            (self.layer.search, self.layer.search_address) = (None, None);
            self.note(line, format!("`web_search` {NOT_OF_A_REPOSITORY}"));
        }
        Ok(())
    }

    fn search_backend(&mut self, node: &Node) -> Result<(), SettingsError> {
        let name = &self.source.name;
        let given = text(name, "web_search.backend", node)?;
        let value =
            SearchSetting::named(given).map_err(|why| SettingsError::at(name, node.line, why))?;
        self.layer.search = Some(Setting { value, source: self.at(node.line) });
        Ok(())
    }

    fn search_address(&mut self, node: &Node) -> Result<(), SettingsError> {
        let value = text(&self.source.name, "web_search.address", node)?.to_owned();
        self.layer.search_address = Some(Setting { value, source: self.at(node.line) });
        Ok(())
    }

    pub(super) fn web_fetch(&mut self, mut fields: Fields<'_>) -> Result<(), SettingsError> {
        let (name, line) = (&self.source.name, fields.line());
        let nodes = fields.list("allowed_hosts")?;
        if nodes.len() > WEB_HOSTS_MAX {
            let why = format!("`web_fetch.allowed_hosts` has more than {WEB_HOSTS_MAX} hosts");
            return Err(SettingsError::at(name, line, why));
        }
        let mut hosts = Vec::new();
        for node in nodes {
            let host = self.web_host(node);
            hosts.extend(self.keep(host));
        }
        fields.finish(self.unknown())?;
        if self.source.place.is_repository() {
            self.note(line, format!("`web_fetch` {NOT_OF_A_REPOSITORY}"));
        } else {
            self.layer.web_hosts = hosts;
        }
        Ok(())
    }

    fn web_host(&self, node: &Node) -> Result<Setting<String>, SettingsError> {
        let name = &self.source.name;
        let given = text(name, "web_fetch.allowed_hosts", node)?;
        let value = host(given).ok_or_else(|| {
            let why = format!(
                "`web_fetch.allowed_hosts`: `{given}` is no host; write a name or an IP address \
                 alone, such as `wiki.lan` or `127.0.0.1`"
            );
            SettingsError::at(name, node.line, why)
        })?;
        Ok(Setting { value, source: self.at(node.line) })
    }
}

/// A host as it stands in addresses that were read: in lower case, an IP address in its usual form.
fn host(given: &str) -> Option<String> {
    if let Ok(address) = given.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Some(address.to_string());
    }
    let is_name = !given.is_empty()
        && given.split('.').all(|label| {
            !label.is_empty()
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        });
    // What ends with a number is read as an IP address in one of its odd forms.
    let ends_with_number = given
        .rsplit('.')
        .next()
        .is_some_and(|label| label.starts_with(|char: char| char.is_ascii_digit()));
    (is_name && !ends_with_number).then(|| given.to_ascii_lowercase())
}
