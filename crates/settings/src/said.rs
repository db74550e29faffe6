//! Who says what: every layer's word on every key, and why it counts or does not.

use crate::keys::{Key, Merge, Scope};
use crate::layer::{Confinement, Layer, Setting};
use crate::loaded::Loaded;
use crate::source::{Aspect, Place};

/// What one layer says of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The key.
    pub key: &'static Key,
    /// Its whole name: `env.NAME` where the key is `env`.
    pub name: String,
    /// The value, as TOML; of variables the name alone, since values may be secrets.
    pub value: String,
    /// The file and its line, the variable, or the flag.
    pub source: String,
    /// Where that is.
    pub place: Place,
    /// What becomes of it.
    pub counts: Counts,
}

/// What becomes of what a layer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// It holds.
    Holds,
    /// Something more specific holds.
    Overridden,
    /// Its file is not trusted with this.
    Untrusted(Aspect),
    /// Its file is not trusted with this, and it is higher than what holds without it.
    NotLower(Aspect),
}

impl Counts {
    /// Why, for people.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Holds => "holds".to_owned(),
            Self::Overridden => "overridden by what is more specific".to_owned(),
            Self::Untrusted(aspect) => {
                format!("does not count: the file is not trusted with {}", aspect.words())
            }
            Self::NotLower(aspect) => format!(
                "does not count: the file is not trusted with {}, so it may only make this lower \
                 or narrower",
                aspect.words()
            ),
        }
    }
}

/// What a layer says before it is known what counts.
pub(crate) struct Word {
    said: Said,
    /// Whether it counts where nothing more specific is said.
    counts: bool,
}

impl Word {
    /// What becomes of it, beside all that was said.
    pub(crate) fn settle(self, loaded: &Loaded) -> Said {
        let Self { said, counts } = self;
        let holds = match said.key.merge {
            Merge::All | Merge::Any => counts,
            Merge::MostSpecific | Merge::ByName => {
                winner(loaded, &said).is_some_and(|source| *source == said.source)
            }
        };
        let counts = match said.key.scope {
            _ if holds => Counts::Holds,
            Scope::Trusted(aspect) if !counts => Counts::Untrusted(aspect),
            Scope::Lowers(aspect) if !counts => Counts::NotLower(aspect),
            _ => Counts::Overridden,
        };
        Said { counts, ..said }
    }
}

/// Where what holds of this key stands.
fn winner<'a>(loaded: &'a Loaded, said: &Said) -> Option<&'a String> {
    let bare = || said.name.strip_prefix("env.").unwrap_or(&said.name);
    let source = match said.key.path {
        "permissions.mode" => &loaded.mode.as_ref()?.source,
        "sandbox.mode" => &loaded.confinement.as_ref()?.source,
        "sandbox.network" => &loaded.network.as_ref()?.source,
        "models.fallback" => &loaded.fallback.as_ref()?.source,
        "web_search.backend" => &loaded.search.as_ref()?.source,
        "web_search.address" => &loaded.search_address.as_ref()?.source,
        "env" => &loaded.environment.get(bare())?.source,
        path if path.starts_with("models.") => {
            let model = said.name.strip_prefix("models.\"")?.strip_suffix('"')?;
            &loaded.models.get(model)?.source
        }
        path => &loaded.values.get(path)?.source,
    };
    Some(source)
}

/// All that a layer says, beside what all before it say.
pub(crate) fn words(layer: &Layer, before: &Loaded) -> Vec<Word> {
    let mut words = Words { layer, words: Vec::new() };
    words.permissions();
    words.confinement();
    words.models_and_web();
    for (key, setting) in &layer.values {
        let counts = layer.counts(key, &setting.value, &before.values);
        words.push(key, key.path.to_owned(), key.show(&setting.value), &setting.source, counts);
    }
    words.words
}

struct Words<'a> {
    layer: &'a Layer,
    words: Vec<Word>,
}

impl Words<'_> {
    fn add(&mut self, path: &str, name: String, value: String, source: &str) {
        let Some(key) = Key::named(path) else { return };
        let counts = match key.scope {
            Scope::Anybody => true,
            Scope::Lowers(aspect) | Scope::Trusted(aspect) => self.layer.is_trusted(aspect),
            Scope::Own => !self.layer.place.is_repository(),
        };
        self.push(key, name, value, source, counts);
    }

    fn push(&mut self, key: &'static Key, name: String, value: String, source: &str, counts: bool) {
        let (source, place) = (source.to_owned(), self.layer.place);
        let said = Said { key, name, value, source, place, counts: Counts::Holds };
        self.words.push(Word { said, counts });
    }

    fn text(&mut self, path: &str, value: &str, source: &str) {
        self.add(path, path.to_owned(), quoted(value), source);
    }

    fn permissions(&mut self) {
        let layer = self.layer;
        for rule in &layer.rules {
            let path = match rule.effect {
                heeler_core::RuleEffect::Allow => "permissions.allow",
                heeler_core::RuleEffect::Ask => "permissions.ask",
                heeler_core::RuleEffect::Deny => "permissions.deny",
            };
            self.text(path, &rule.to_string(), &rule.source);
        }
        if let Some(Setting { value, source }) = &layer.mode {
            self.text("permissions.mode", &value.to_string(), source);
        }
        if let Some(source) = &layer.bypass_ruled_out {
            self.text("permissions.disableBypassPermissionsMode", "disable", source);
        }
        for Setting { value, source } in &layer.folders {
            let path = "permissions.additionalDirectories";
            self.text(path, &value.to_string_lossy(), source);
        }
        for hook in &layer.hooks {
            let name = format!("hooks.{}", hook.event.name());
            self.add("hooks", name, quoted(&hook.command), &hook.source);
        }
        if let Some(source) = &layer.hooks_off {
            self.add("disableAllHooks", "disableAllHooks".to_owned(), "true".to_owned(), source);
        }
    }

    fn confinement(&mut self) {
        let layer = self.layer;
        for (name, Setting { source, .. }) in &layer.environment {
            self.add("env", format!("env.{name}"), "(not shown)".to_owned(), source);
        }
        if let Some(Setting { value, source }) = &layer.confinement {
            let value = match value {
                Confinement::Off => "off",
                Confinement::On => "on",
                Confinement::Required => "required",
            };
            self.text("sandbox.mode", value, source);
        }
        for Setting { value, source } in &layer.writable {
            self.text("sandbox.writable", &value.to_string_lossy(), source);
        }
        if let Some(Setting { value, source }) = &layer.network {
            self.add("sandbox.network", "sandbox.network".to_owned(), value.to_string(), source);
        }
    }

    fn models_and_web(&mut self) {
        let layer = self.layer;
        for (model, Setting { value, source }) in &layer.models {
            let said = [
                value.window.map(|tokens| format!("window = {tokens}")),
                value.output_max.map(|tokens| format!("output_max = {tokens}")),
                value.prices.map(|_| "prices = ...".to_owned()),
            ];
            let said: Vec<String> = said.into_iter().flatten().collect();
            let value = format!("{{ {} }}", said.join(", "));
            self.add("models.\"PROVIDER/NAME\"", format!("models.{model:?}"), value, source);
        }
        if let Some(Setting { value, source }) = &layer.fallback {
            let list: Vec<String> = value.iter().map(|name| quoted(name)).collect();
            let value = format!("[{}]", list.join(", "));
            self.add("models.fallback", "models.fallback".to_owned(), value, source);
        }
        if let Some(Setting { value, source }) = &layer.search {
            self.text("web_search.backend", value.name(), source);
        }
        if let Some(Setting { source, .. }) = &layer.search_address {
            // A name and a password may stand in it.
            let path = "web_search.address".to_owned();
            self.add("web_search.address", path, "(not shown)".to_owned(), source);
        }
        for Setting { value, source } in &layer.web_hosts {
            self.text("web_fetch.allowed_hosts", value, source);
        }
    }
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    crate::keys::KeyValue::Text(text.to_owned()).to_string()
}
