//! OpenRouter: Chat Completions with many providers behind them. What it does in its own way on the
//! wire is a row of `presets.toml`; here is what a user can set about it.

use std::time::Duration;

use heeler_core::{ProviderItem, RawJson};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Secret;
use crate::chat::{ChatSettings, Quirks};
use crate::endpoint::{IDLE_TIMEOUT_DEFAULT, SettingsError, Vendor};
use crate::json::merge;
use crate::presets::Preset;

/// The name that OpenRouter's own items carry.
pub const DIALECT: &str = "openrouter";
/// Where requests go when nobody says otherwise.
pub const BASE_URL_DEFAULT: &str = "https://openrouter.ai/api/v1";

const KEY: &str = "OPENROUTER_API_KEY";
const BASE_URL: &str = "OPENROUTER_BASE_URL";
const VENDOR: Vendor = Vendor { name: "OpenRouter", keys: &[KEY], base_url: BASE_URL };

/// How OpenRouter is reached, and whom it asks.
///
/// ```
/// use heeler_providers::Chat;
/// use heeler_providers::openrouter::{OpenRouterSettings, Routing, Sort};
///
/// let mut settings = OpenRouterSettings::with_api_key("sk-or-...");
/// settings.routing = Routing { sort: Some(Sort::Throughput), ..Routing::default() };
/// settings.fallback_models = vec!["deepseek/deepseek-chat".into()];
/// let provider = Chat::new(&settings.chat())?;
/// # Ok::<(), heeler_providers::SettingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRouterSettings {
    /// Who we are, sent as `Authorization: Bearer`.
    pub key: Secret,
    /// Where requests go, without `/chat/completions`.
    pub base_url: String,
    /// Sent with every request, in this order; they win over our own.
    pub headers: Vec<(String, Secret)>,
    /// How long it may be silent, before its answer begins and between its parts.
    pub idle_timeout: Duration,
    /// Which of the providers behind it answer.
    pub routing: Routing,
    /// Models that are asked when the one of a request cannot answer, in this order.
    pub fallback_models: Vec<String>,
    /// Searches before every answer, whether the model wants it or not.
    pub web_plugin: Option<WebSearch>,
    /// The application's address, told as `HTTP-Referer`; nothing is told unless it is set.
    pub app_url: Option<String>,
    /// The application's name, told as `X-Title`; nothing is told unless it is set.
    pub app_title: Option<String>,
}

/// Which of the providers behind OpenRouter answer; what is not set is theirs to choose.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Routing {
    /// These first, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// Nobody but these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Everybody but these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Whether others may answer when those of `order` cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_fallbacks: Option<bool>,
    /// Whether only those answer who know every parameter of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_parameters: Option<bool>,
    /// Whether those may answer who keep what they are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_collection: Option<DataCollection>,
    /// Whether only those answer who keep nothing at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zdr: Option<bool>,
    /// What counts most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<Sort>,
    /// In which precisions the model may run, such as `fp8`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quantizations: Vec<String>,
    /// The most that may be charged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_price: Option<MaxPrice>,
}

/// Whether those may answer who keep what they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DataCollection {
    /// They may.
    Allow,
    /// They may not.
    Deny,
}

/// What counts most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// The lowest price.
    Price,
    /// The most tokens a second.
    Throughput,
    /// The shortest wait for the first.
    Latency,
}

/// The most that may be charged, in dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct MaxPrice {
    /// For what is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<f64>,
    /// For what is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<f64>,
}

/// A search of the web that OpenRouter runs; what is not set is its own to choose.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WebSearch {
    /// Who searches, such as `native`, `exa` or `parallel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The most results of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_results: Option<u32>,
    /// How the results are introduced to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_prompt: Option<String>,
    /// Nothing but these sites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_domains: Vec<String>,
    /// Nothing of these sites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_domains: Vec<String>,
}

impl WebSearch {
    /// The tool: the model searches when it wants to. It belongs into a request's provider tools.
    #[must_use]
    pub fn tool(&self) -> ProviderItem {
        let mut tool = json!({"type": "openrouter:web_search"});
        let parameters = object(self);
        if !parameters.is_empty() {
            tool["parameters"] = parameters.into();
        }
        ProviderItem::new(DIALECT, RawJson::from_value(&tool))
    }

    fn plugin(&self) -> Value {
        let mut plugin = json!({"id": "web"});
        merge(&mut plugin, object(self).into());
        plugin
    }
}

impl OpenRouterSettings {
    /// The variables that [`OpenRouterSettings::from_variables`] reads.
    pub const VARIABLES: [&str; 3] = [KEY, BASE_URL, crate::endpoint::EXTRA_HEADERS];

    /// Settings with this key and defaults.
    pub fn with_api_key(key: impl AsRef<str>) -> Self {
        Self {
            key: Secret::new(key),
            base_url: BASE_URL_DEFAULT.to_owned(),
            headers: Vec::new(),
            idle_timeout: IDLE_TIMEOUT_DEFAULT,
            routing: Routing::default(),
            fallback_models: Vec::new(),
            web_plugin: None,
            app_url: None,
            app_title: None,
        }
    }

    /// Settings from variables: `OPENROUTER_API_KEY`, `OPENROUTER_BASE_URL`, and
    /// `HEELER_EXTRA_HEADERS` with a `Name: value` on each line.
    ///
    /// # Errors
    /// When there is no key, or a variable has no usable value.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let chat =
            ChatSettings::from_variables_of(VENDOR, BASE_URL_DEFAULT, Quirks::default(), lookup)?;
        let key = chat.key.ok_or_else(|| SettingsError::missing_key(&VENDOR))?;
        let own = Self::with_api_key(key.expose());
        Ok(Self { base_url: chat.base_url, headers: chat.headers, ..own })
    }

    /// The same as settings of Chat Completions, for [`Chat::new`](crate::Chat::new).
    #[must_use]
    pub fn chat(&self) -> ChatSettings {
        let mut quirks = Preset::named(DIALECT).map(|preset| preset.quirks.clone());
        let quirks = quirks.get_or_insert_default();
        let mut body = quirks.body.as_ref().map_or_else(|| json!({}), RawJson::value);
        merge(&mut body, self.body().into());
        quirks.body = Some(RawJson::from_value(&body));
        let app = [("HTTP-Referer", &self.app_url), ("X-Title", &self.app_title)];
        let app = app
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), Secret::new(value.as_ref()?))));
        ChatSettings {
            key: Some(self.key.clone()),
            base_url: self.base_url.clone(),
            headers: app.chain(self.headers.iter().cloned()).collect(),
            idle_timeout: self.idle_timeout,
            quirks: quirks.clone(),
            vendor: VENDOR,
        }
    }

    /// What every request has besides.
    fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        let routing = object(&self.routing);
        if !routing.is_empty() {
            body.insert("provider".into(), routing.into());
        }
        if !self.fallback_models.is_empty() {
            body.insert("models".into(), json!(self.fallback_models));
        }
        if let Some(search) = &self.web_plugin {
            body.insert("plugins".into(), json!([search.plugin()]));
        }
        body
    }
}

/// Plain values as the object they are.
fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{Message, ModelRequest, Parameters, RequestMessages};

    use super::*;
    use crate::chat::request_body;

    fn check(settings: &OpenRouterSettings, tools: &[ProviderItem], expected: Expect) {
        let messages: RequestMessages = [Message::user("hi")].into_iter().collect();
        let request = ModelRequest {
            model: "deepseek/m".into(),
            system: "".into(),
            tools: [].into(),
            provider_tools: tools.into(),
            messages,
            stable: 0,
            output_max: 9,
            parameters: Parameters::default(),
            epoch: 0,
        };
        let body = request_body(&request, &settings.chat().quirks).unwrap();
        expected.assert_eq(&String::from_utf8(body).unwrap());
    }

    #[test]
    fn its_answers_say_what_they_cost_and_those_of_others_do_not() {
        use crate::chat::{Chat, ChatSettings};
        use heeler_core::Provider;

        let settings = OpenRouterSettings::with_api_key("k").chat();
        assert!(Chat::new(&settings).unwrap().tells_cost());
        assert!(!Chat::new(&ChatSettings::with_api_key("k")).unwrap().tells_cost());
    }

    #[test]
    fn a_request_says_who_may_answer() {
        let mut settings = OpenRouterSettings::with_api_key("k");
        check(
            &settings,
            &[],
            expect![[
                r#"{"model":"deepseek/m","messages":[{"role":"user","content":"hi"}],"usage":{"include":true},"max_tokens":9,"stream":true,"stream_options":{"include_usage":true}}"#
            ]],
        );
        settings.routing = Routing {
            order: vec!["anthropic".into()],
            only: vec!["a".into()],
            ignore: vec!["b".into()],
            allow_fallbacks: Some(false),
            require_parameters: Some(true),
            data_collection: Some(DataCollection::Deny),
            zdr: Some(true),
            sort: Some(Sort::Latency),
            quantizations: vec!["fp8".into()],
            max_price: Some(MaxPrice { prompt: Some(1.0), completion: None }),
        };
        settings.fallback_models = vec!["x/y".into(), "x/z".into()];
        settings.web_plugin = Some(WebSearch { max_results: Some(3), ..WebSearch::default() });
        check(
            &settings,
            &[],
            expect![[
                r#"{"model":"deepseek/m","messages":[{"role":"user","content":"hi"}],"usage":{"include":true},"provider":{"order":["anthropic"],"only":["a"],"ignore":["b"],"allow_fallbacks":false,"require_parameters":true,"data_collection":"deny","zdr":true,"sort":"latency","quantizations":["fp8"],"max_price":{"prompt":1.0}},"models":["x/y","x/z"],"plugins":[{"id":"web","max_results":3}],"max_tokens":9,"stream":true,"stream_options":{"include_usage":true}}"#
            ]],
        );
    }

    #[test]
    fn a_search_is_a_tool_whose_parameters_are_left_out_when_there_are_none() {
        let search = WebSearch {
            engine: Some("exa".into()),
            max_results: Some(3),
            search_prompt: Some("See:".into()),
            allowed_domains: vec!["example.com".into()],
            excluded_domains: vec!["example.org".into()],
        };
        let tools = [WebSearch::default().tool(), search.tool()];
        check(
            &OpenRouterSettings::with_api_key("k"),
            &tools,
            expect![[
                r#"{"model":"deepseek/m","tools":[{"type":"openrouter:web_search"},{"type":"openrouter:web_search","parameters":{"engine":"exa","max_results":3,"search_prompt":"See:","allowed_domains":["example.com"],"excluded_domains":["example.org"]}}],"messages":[{"role":"user","content":"hi"}],"usage":{"include":true},"max_tokens":9,"stream":true,"stream_options":{"include_usage":true}}"#
            ]],
        );
    }

    #[test]
    fn variables_and_headers() {
        let lookup = |name: &str| match name {
            KEY => Some("k".to_owned()),
            BASE_URL => Some("http://127.0.0.1:1/v1".to_owned()),
            _ => None,
        };
        let mut settings = OpenRouterSettings::from_variables(lookup).unwrap();
        let chat = settings.chat();
        assert_eq!((chat.base_url.as_str(), chat.headers.len()), ("http://127.0.0.1:1/v1", 0));
        settings.app_url = Some("https://example.com".into());
        settings.app_title = Some("Example".into());
        settings.headers = vec![("X-Title".into(), Secret::new("Mine"))];
        let names: Vec<_> = settings.chat().headers.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["HTTP-Referer", "X-Title", "X-Title"]);
        let missing = OpenRouterSettings::from_variables(|_| None).unwrap_err();
        assert!(missing.is_missing_key());
        let preset = Preset::named(DIALECT).unwrap();
        assert_eq!((preset.base_url, preset.keys), (BASE_URL_DEFAULT, &[KEY][..]));
        assert_eq!((preset.title, preset.base_url_variable), (VENDOR.name, VENDOR.base_url));
    }
}
