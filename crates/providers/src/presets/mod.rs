//! Servers that speak Chat Completions, by name: where they are, what key they want, what they do in
//! their own way. The data is `presets.toml` beside this file.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::chat::{self, Chat, ChatSettings, Quirks};
use crate::endpoint::{EXTRA_HEADERS, SettingsError, Vendor};
use crate::named::{KnownProvider, made};

/// A server that speaks Chat Completions.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// What stands before the slash of its models' names.
    pub name: &'static str,
    /// What it is called in messages.
    pub title: &'static str,
    /// Where it is unless [`base_url_variable`](Self::base_url_variable) says otherwise.
    pub base_url: &'static str,
    /// The variable of its address.
    pub base_url_variable: &'static str,
    /// The variables that may hold its key; the first that is set counts.
    pub keys: &'static [&'static str],
    /// Whether it answers nobody without a key.
    pub needs_key: bool,
    /// How it tells which models it has, for one that runs on this machine.
    pub probe: Option<Probe>,
    /// What it does in its own way.
    pub quirks: Quirks,
    variables: &'static [&'static str],
}

/// How a server on this machine tells which models it has, and how much each can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// Ollama's `/api/tags`, `/api/ps` and `/api/show`.
    Ollama,
    /// vLLM's `/v1/models`, which has `max_model_len`.
    Vllm,
    /// llama.cpp's `/v1/models` and `/props`.
    Llamacpp,
    /// LM Studio's `/api/v0/models`.
    Lmstudio,
}

impl Preset {
    /// All there are, sorted by name.
    #[must_use]
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Preset>> = OnceLock::new();
        ALL.get_or_init(|| {
            #[expect(clippy::expect_used, reason = "the file is part of the program and tested")]
            let rows: BTreeMap<String, Row> =
                heeler_toml::read(include_str!("presets.toml")).expect("presets.toml");
            rows.into_iter().map(|(name, row)| row.preset(name)).collect()
        })
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|preset| preset.name == name)
    }

    /// Settings from its variables, and `HEELER_EXTRA_HEADERS`.
    ///
    /// # Errors
    /// When there is no key and one is needed, or a variable has no usable value.
    pub fn settings(
        &self,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<ChatSettings, SettingsError> {
        let (title, keys, base_url) = (self.title, self.keys, self.base_url_variable);
        let vendor = Vendor { name: title, keys, base_url };
        let quirks = self.quirks.clone();
        let settings = ChatSettings::from_variables_of(vendor, self.base_url, quirks, lookup)?;
        if self.needs_key && settings.key.is_none() {
            return Err(SettingsError::missing_key(&vendor));
        }
        Ok(settings)
    }

    /// Itself, among all who answer to a model's name.
    pub(crate) fn known(&'static self) -> KnownProvider {
        KnownProvider {
            name: self.name,
            title: self.title,
            keys: self.keys,
            needs_key: self.needs_key,
            variables: self.variables,
            make: |name, lookup| {
                let preset = Self::named(name).ok_or("there is no such server")?;
                made(preset.settings(lookup).and_then(|settings| Chat::new(&settings)))
            },
            body: |name, request| {
                let quirks = Self::named(name).map(|preset| preset.quirks.clone());
                chat::request_body(request, &quirks.unwrap_or_default())
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    title: String,
    base_url: String,
    base_url_variable: String,
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    optional_keys: Vec<String>,
    probe: Option<Probe>,
    quirks: Quirks,
}

impl Row {
    /// Its texts stay as long as the program: there is one table.
    fn preset(self, name: String) -> Preset {
        let name: &'static str = name.leak();
        let needs_key = !self.keys.is_empty();
        let keys = self.keys.into_iter().chain(self.optional_keys);
        let keys: &'static [&'static str] = keys.map(|key| &*key.leak()).collect::<Vec<_>>().leak();
        let base_url_variable: &'static str = self.base_url_variable.leak();
        let variables = keys.iter().copied().chain([base_url_variable, EXTRA_HEADERS]);
        Preset {
            name,
            title: self.title.leak(),
            base_url: self.base_url.leak(),
            base_url_variable,
            keys,
            needs_key,
            probe: self.probe,
            quirks: Quirks { dialect: name, ..self.quirks },
            variables: variables.collect::<Vec<_>>().leak(),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use heeler_core::{Message, ModelRequest, Parameters, RequestMessages, ThinkingSettings};

    use super::*;
    use crate::chat::request_body;

    #[test]
    fn every_row_is_usable() {
        for preset in Preset::all() {
            let found = Preset::named(preset.name).unwrap();
            assert_eq!(found, preset);
            let settings = preset.settings(|name| preset.keys.contains(&name).then(|| "k".into()));
            let settings = settings.unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            assert!(Chat::new(&settings).is_ok());
            assert_eq!(settings.key.is_some(), !preset.keys.is_empty());
            let without = preset.settings(|_| None);
            assert_eq!(without.is_err_and(|error| error.is_missing_key()), preset.needs_key);
            assert_eq!(settings.quirks.dialect, preset.name);
            assert_eq!(preset.probe.is_some(), preset.base_url.starts_with("http://localhost"));
        }
        let names: Vec<_> = Preset::all().iter().map(|preset| preset.name).collect();
        expect!["deepseek gemini glm groq llamacpp lmstudio mistral moonshot ollama openrouter together vllm xai"].assert_eq(&names.join(" "));
        assert!(Preset::named("openai").is_none());
    }

    #[test]
    fn the_page_has_every_row_with_its_variables() {
        let page = include_str!("../../../../docs/servers.md");
        for preset in Preset::all() {
            let begin = format!("| `{}/NAME` | {}", preset.name, preset.title);
            let row = page.lines().find(|line| line.starts_with(&begin));
            let row =
                row.unwrap_or_else(|| panic!("docs/servers.md has no row of {}", preset.name));
            for variable in preset.keys.iter().chain([&preset.base_url_variable]) {
                assert!(row.contains(&format!("`{variable}`")), "{variable} is missing: {row}");
            }
        }
    }

    #[test]
    fn an_address_may_be_another() {
        let ollama = Preset::named("ollama").unwrap();
        let settings = ollama.settings(|name| {
            (name == "OLLAMA_BASE_URL").then(|| "http://10.0.0.1:11434/v1".to_owned())
        });
        assert_eq!(settings.unwrap().base_url, "http://10.0.0.1:11434/v1");
    }

    /// What every server is sent: a quirk that is lost shows here.
    #[test]
    fn bodies() {
        let mut seen = String::new();
        for preset in Preset::all() {
            let messages: RequestMessages = [Message::user("hi")].into_iter().collect();
            let request = ModelRequest {
                model: "anthropic/m".into(),
                system: "s".into(),
                tools: [].into(),
                provider_tools: [].into(),
                messages,
                stable: 0,
                output_max: 9,
                parameters: Parameters {
                    thinking: Some(ThinkingSettings::Effort("high".into())),
                    ..Parameters::default()
                },
                epoch: 0,
            };
            let body = request_body(&request, &preset.quirks).unwrap();
            let body = String::from_utf8(body).unwrap();
            let tail = body.split_once("],").unwrap().1;
            seen.push_str(&format!("{}: {tail}\n", preset.name));
        }
        expect![[r#"
            deepseek: "max_tokens":9,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
            gemini: "max_completion_tokens":9,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
            glm: "max_tokens":9,"thinking":{"type":"enabled"},"stream":true}
            groq: "max_completion_tokens":9,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
            llamacpp: "max_tokens":9,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
            lmstudio: "max_tokens":9,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
            mistral: "max_tokens":9,"reasoning_effort":"high","stream":true}
            moonshot: "max_tokens":9,"thinking":{"type":"enabled"},"stream":true,"stream_options":{"include_usage":true}}
            ollama: "max_tokens":9,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
            openrouter: "usage":{"include":true},"max_tokens":9,"reasoning":{"effort":"high"},"cache_control":{"type":"ephemeral"},"stream":true,"stream_options":{"include_usage":true}}
            together: "max_tokens":9,"reasoning_effort":"high","stream":true}
            vllm: "max_completion_tokens":9,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
            xai: "max_completion_tokens":9,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}
        "#]].assert_eq(&seen);
    }
}
