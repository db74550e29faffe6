//! All layers as one: rules as a union, of everything else the most specific that is trusted.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use heeler_core::{Mode, Rule, RuleEffect};

use crate::error::SettingsError;
use crate::keys::KeyValue;
use crate::layer::{
    Confinement, Example, HookSetting, Layer, ModelSetting, Note, SearchSetting, Setting,
    rule_on_folder,
};
use crate::said::{self, Said};
use crate::source::{Aspect, Context, Source};

/// What all settings say together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loaded {
    /// Every rule that counts, the least specific first.
    pub rules: Vec<Rule>,
    /// What those rules have to match, and what not.
    pub examples: Vec<Example>,
    /// The mask on top of the rules.
    pub mode: Option<Setting<Mode>>,
    /// Where the mode bypass is ruled out.
    pub bypass_ruled_out: Option<String>,
    /// Folders that are read as the workspace is, by rules that are among `rules`; absolute.
    pub folders: Vec<Setting<PathBuf>>,
    /// Commands that run by themselves, the least specific first.
    pub hooks: Vec<HookSetting>,
    /// Where all hooks are switched off; there are none then.
    pub hooks_off: Option<String>,
    /// Variables of commands.
    pub environment: BTreeMap<String, Setting<String>>,
    /// Whether commands are confined; `None` for the default.
    pub confinement: Option<Setting<Confinement>>,
    /// Folders that confined commands may write, beside the workspace; absolute.
    pub writable: Vec<Setting<PathBuf>>,
    /// Whether confined commands reach the network; `None` for the default.
    pub network: Option<Setting<bool>>,
    /// What is known of models, by their full names.
    pub models: BTreeMap<String, Setting<ModelSetting>>,
    /// Who answers, in this order, when the model that was chosen cannot.
    pub fallback: Option<Setting<Vec<String>>>,
    /// Who searches the web; `None` for nobody.
    pub search: Option<Setting<SearchSetting>>,
    /// Where the one is that needs an address.
    pub search_address: Option<Setting<String>>,
    /// Hosts that may be fetched from although they are not of the public internet.
    pub web_hosts: Vec<Setting<String>>,
    /// The keys that are rows of [`KEYS`](crate::KEYS), by their names; see
    /// [`preferences`](Self::preferences).
    pub values: BTreeMap<&'static str, Setting<KeyValue>>,
    /// What a person should know.
    pub notes: Vec<Note>,
    /// What cannot be meant and was passed over, each with its file, line and key.
    pub problems: Vec<SettingsError>,
    /// What could not be read, or cannot be meant and may not be passed over, as [`salvage`] gives
    /// it: while there is any, nothing may run by the rest.
    pub mistakes: Vec<SettingsError>,
    /// Every layer's word on every key, the least specific first.
    pub said: Vec<Said>,
    /// Files of the repository that ask for more than they were trusted with.
    pub untrusted: Vec<UntrustedFile>,
}

/// A file of the repository that asks for more than it was trusted with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedFile {
    /// The file.
    pub path: PathBuf,
    /// What rules and errors call it.
    pub name: String,
    /// What it asks for and was not trusted with.
    pub aspects: BTreeSet<Aspect>,
    /// Its bytes: what would be trusted.
    pub content: Vec<u8>,
}

/// Reads sources and merges them, together with layers that are ready, such as that of the flags.
///
/// # Errors
/// When a source is broken, or says something that cannot be meant; names file, line and next step.
pub fn load(
    sources: &[Source],
    ready: Vec<Layer>,
    context: &Context,
) -> Result<Loaded, SettingsError> {
    let mut loaded = salvage(sources, ready, context)?;
    match loaded.mistakes.is_empty() {
        true => Ok(loaded),
        false => Err(loaded.mistakes.swap_remove(0)),
    }
}

/// Reads what can be read of sources and merges it with the layers that are ready; what is wrong is
/// among [`mistakes`](Loaded::mistakes). For whoever only looks, and for whoever then refuses.
///
/// # Errors
/// When a flag asks for the mode bypass that a file rules out.
pub fn salvage(
    sources: &[Source],
    ready: Vec<Layer>,
    context: &Context,
) -> Result<Loaded, SettingsError> {
    let read = |source| (Layer::salvage(source, context), Some(source));
    let mut layers: Vec<_> = sources.iter().map(read).collect();
    layers.extend(ready.into_iter().map(|layer| (layer, None)));
    merged(layers)
}

/// Merges layers, in whatever order they are given: each knows its place.
///
/// # Errors
/// When a flag asks for the mode bypass that a file rules out.
pub fn merge(layers: Vec<Layer>) -> Result<Loaded, SettingsError> {
    merged(layers.into_iter().map(|layer| (layer, None)).collect())
}

/// Merges layers, those of files with what they were read from.
fn merged(mut layers: Vec<(Layer, Option<&Source>)>) -> Result<Loaded, SettingsError> {
    heeler_core::sort_by_key(&mut layers, |(layer, _)| layer.place);
    let mut loaded = Loaded::default();
    let mut limits = Vec::new();
    let mut words = Vec::new();
    for (layer, source) in layers {
        if let Some(source) = source {
            loaded.ask_trust(source, layer.untrusted(&loaded.values));
        }
        // Among those whom the user trusts, the most specific holds.
        if layer.place.is_repository() {
            limits.push((layer.confinement.clone(), layer.network.clone()));
        }
        words.extend(said::words(&layer, &loaded));
        loaded.take(layer);
    }
    for (confinement, network) in limits {
        loaded.narrow(confinement, network);
    }
    loaded.said = words.into_iter().map(|word| word.settle(&loaded)).collect();
    if loaded.hooks_off.is_some() {
        loaded.hooks.clear();
    }
    match (&loaded.bypass_ruled_out, &loaded.mode) {
        (Some(by), Some(Setting { value: Mode::Bypass, source })) => {
            let why = format!("the mode bypass is ruled out by {by}; choose another mode");
            Err(SettingsError::of_file(source, why))
        }
        _ => Ok(loaded),
    }
}

impl Loaded {
    /// Keeps a file that lacks trust in this, if it lacks any.
    fn ask_trust(&mut self, source: &Source, aspects: BTreeSet<Aspect>) {
        if !aspects.is_empty() {
            self.untrusted.push(UntrustedFile {
                path: source.path.clone(),
                name: source.name.clone(),
                aspects,
                content: source.content.clone(),
            });
        }
    }

    /// Takes a layer that is more specific than all before it.
    fn take(&mut self, layer: Layer) {
        let trusts = |aspect| layer.is_trusted(aspect);
        let counts = |rule: &Rule| rule.effect != RuleEffect::Allow || trusts(Aspect::Rules);
        self.rules.extend(layer.rules.iter().filter(|rule| counts(rule)).cloned());
        let examples = layer.examples.iter().filter(|example| counts(&example.rule));
        self.examples.extend(examples.cloned());
        if trusts(Aspect::Mode) {
            replace(&mut self.mode, &layer.mode);
        }
        if self.bypass_ruled_out.is_none() {
            self.bypass_ruled_out.clone_from(&layer.bypass_ruled_out);
        }
        if trusts(Aspect::Folders) {
            self.rules.extend(layer.folders.iter().filter_map(read_rule));
            self.folders.extend(layer.folders.iter().cloned());
        }
        if trusts(Aspect::Hooks) {
            self.hooks.extend(layer.hooks.iter().cloned());
            replace(&mut self.hooks_off, &layer.hooks_off);
        }
        if trusts(Aspect::Environment) {
            self.environment.extend(layer.environment.iter().cloned());
        }
        if trusts(Aspect::Sandbox) {
            replace(&mut self.confinement, &layer.confinement);
            replace(&mut self.network, &layer.network);
            self.writable.extend(layer.writable.iter().cloned());
        }
        if trusts(Aspect::Models) {
            self.models.extend(layer.models.iter().cloned());
            replace(&mut self.fallback, &layer.fallback);
        }
        // Reading leaves these out of a repository's layer; one that was made otherwise is held to
        // the same.
        if !layer.place.is_repository() {
            replace(&mut self.search, &layer.search);
            replace(&mut self.search_address, &layer.search_address);
            self.web_hosts.extend(layer.web_hosts.iter().cloned());
        }
        for (key, setting) in &layer.values {
            if layer.counts(key, &setting.value, &self.values) {
                self.values.insert(key.path, setting.clone());
            }
        }
        self.notes.extend(layer.notes);
        self.problems.extend(layer.problems);
        self.mistakes.extend(layer.mistakes);
    }

    /// What a repository's file that nobody trusts may do: make the box narrower than it is. What
    /// the default is, is not known here, so only the narrowest is sure to be narrower than that.
    fn narrow(
        &mut self,
        confinement: Option<Setting<Confinement>>,
        network: Option<Setting<bool>>,
    ) {
        if let Some(asked) = confinement {
            let narrower = match &self.confinement {
                Some(set) => asked.value > set.value,
                None => asked.value == Confinement::Required,
            };
            if narrower {
                self.confinement = Some(asked);
            }
        }
        if let Some(asked) = network.filter(|asked| !asked.value)
            && self.network.as_ref().is_none_or(|set| set.value)
        {
            self.network = Some(asked);
        }
    }
}

/// The rule that lets a folder be read; a path that is no text cannot be met by any call.
fn read_rule(folder: &Setting<PathBuf>) -> Option<Rule> {
    Some(rule_on_folder(RuleEffect::Allow, "Read", folder.value.to_str()?, &folder.source))
}

fn replace<T: Clone>(setting: &mut Option<T>, by: &Option<T>) {
    if by.is_some() {
        setting.clone_from(by);
    }
}
