//! Whose keys are kept: providers of models, and those who search the web.

use heeler_providers::KnownProvider;

/// Whose key it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOwner {
    /// The name in commands and files.
    pub name: &'static str,
    /// What it is called in messages.
    pub title: &'static str,
    /// The variables that may hold its key; the first that is set counts.
    pub variables: &'static [&'static str],
    /// Whether it answers nobody without a key.
    pub needs_key: bool,
}

pub(crate) const BRAVE: KeyOwner = KeyOwner {
    name: "brave",
    title: "Brave Search",
    variables: &["BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"],
    needs_key: true,
};
pub(crate) const TAVILY: KeyOwner =
    KeyOwner { name: "tavily", title: "Tavily", variables: &["TAVILY_API_KEY"], needs_key: true };

impl KeyOwner {
    /// Everybody there is: providers first, in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        KnownProvider::all().map(|provider| Self::from(&provider)).chain([BRAVE, TAVILY])
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|owner| owner.name == name)
    }

    /// What its key is filed under. Who shares a variable shares a key: it is the first one's.
    pub(super) fn row(&self) -> &'static str {
        let same = |other: &Self| other.variables.first() == self.variables.first();
        match self.variables {
            [] => self.name,
            _ => Self::all().find(same).map_or(self.name, |first| first.name),
        }
    }
}

impl From<&KnownProvider> for KeyOwner {
    fn from(provider: &KnownProvider) -> Self {
        let KnownProvider { name, title, keys, needs_key, .. } = *provider;
        Self { name, title, variables: keys, needs_key }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nobody_shares_a_name_and_searches_share_no_key_with_models() {
        let names: Vec<_> = KeyOwner::all().map(|owner| owner.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!([BRAVE, TAVILY].iter().all(|owner| owner.row() == owner.name));
        let mut shared = KeyOwner::all().filter(|owner| owner.variables == ["OPENAI_API_KEY"]);
        assert!(shared.all(|owner| owner.row() == "openai"));
    }
}
