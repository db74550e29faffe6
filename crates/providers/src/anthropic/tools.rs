//! Tools that Anthropic runs itself, and tools it trained its models on, typed: what becomes of one
//! is a [`ProviderItem`]. What is not set is left out, and the provider's default holds.
//!
//! The provider's own go to the tools of the provider; a trained one declares a tool that is run
//! here, under the name it has in the declaration.

use heeler_core::{CacheMarker, ProviderItem};
use serde_json::json;

use super::DIALECT;
use crate::declared::Declared;
pub use crate::declared::UserLocation;

/// What every tool takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Common {
    /// Who may call the tool, such as `direct` and `code_execution_20260521`; empty for the
    /// provider's default. Code waits in its container for the results of its calls, which the
    /// provider gives up after a few minutes.
    pub allowed_callers: Vec<String>,
    /// Whether the tool is only loaded once a search for tools has found it.
    pub defer_loading: Option<bool>,
    /// Whether names and inputs of calls are held to their schema.
    pub strict: Option<bool>,
    /// Asks the provider to cache the prefix up to here.
    pub cache: Option<CacheMarker>,
}

/// Searches the web.
///
/// ```
/// use heeler_core::ProviderItem;
/// use heeler_providers::anthropic::tools::WebSearch;
///
/// let item = ProviderItem::from(WebSearch { max_uses: Some(3), ..WebSearch::default() });
/// assert_eq!(item.json.value()["max_uses"], 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebSearch {
    /// The version, a date; `None` for the newest known here. `20250305` is the one for models
    /// before Claude 4.6 and for other clouds.
    pub version: Option<String>,
    /// The most searches of a request.
    pub max_uses: Option<u32>,
    /// The only domains that are searched; not beside `blocked_domains`.
    pub allowed_domains: Vec<String>,
    /// Domains that are not searched.
    pub blocked_domains: Vec<String>,
    /// About where the user is.
    pub user_location: Option<UserLocation>,
    /// Whether the answer holds what only code read.
    pub inclusion: Option<Inclusion>,
    /// What every tool takes.
    pub common: Common,
}

/// Whether an answer holds the results that only code of a code execution read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inclusion {
    /// It does, the provider's default.
    Full,
    /// It does not.
    Excluded,
}

/// Reads pages of the web.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebFetch {
    /// The version, a date; `None` for the newest known here.
    pub version: Option<String>,
    /// The most pages of a request.
    pub max_uses: Option<u32>,
    /// The only domains that are read; not beside `blocked_domains`.
    pub allowed_domains: Vec<String>,
    /// Domains that are not read.
    pub blocked_domains: Vec<String>,
    /// Whether answers cite what was read.
    pub citations: Option<bool>,
    /// About how many tokens of a page enter the conversation at most.
    pub max_content_tokens: Option<u64>,
    /// Whether a page that the provider has kept will do.
    pub use_cache: Option<bool>,
    /// Whether the answer holds what only code read.
    pub inclusion: Option<Inclusion>,
    /// What every tool takes.
    pub common: Common,
}

/// Runs code in a container of the provider.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeExecution {
    /// The version, a date; `None` for the newest known here.
    pub version: Option<String>,
    /// What every tool takes.
    pub common: Common,
}

/// A shell, as models were trained on it: calls bring a `command`, or `restart`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bash {
    /// What every tool takes.
    pub common: Common,
}

/// An editor, as models were trained on it: calls bring a `command` such as `str_replace`, and a
/// `path`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextEditor {
    /// The most characters of a file that are shown; `None` for all.
    pub max_characters: Option<u64>,
    /// What every tool takes.
    pub common: Common,
}

/// A screen with mouse and keyboard, as models were trained on it. The provider wants the header
/// `anthropic-beta: computer-use-2025-11-24` with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Computer {
    /// The version, a date; `None` for the newest known here.
    pub version: Option<String>,
    /// The screen's width in pixels.
    pub display_width_pixels: u32,
    /// The screen's height in pixels.
    pub display_height_pixels: u32,
    /// The number of the X11 display.
    pub display_number: Option<u32>,
    /// Whether the model may ask for a part of the screen, enlarged.
    pub enable_zoom: Option<bool>,
    /// What every tool takes.
    pub common: Common,
}

impl Bash {
    /// What a tool has to be called that is declared so.
    pub const NAME: &str = "bash";
}

impl TextEditor {
    /// What a tool has to be called that is declared so.
    pub const NAME: &str = "str_replace_based_edit_tool";
}

impl Computer {
    /// What a tool has to be called that is declared so.
    pub const NAME: &str = "computer";
}

impl From<WebSearch> for ProviderItem {
    fn from(search: WebSearch) -> Self {
        let version = search.version.as_deref().unwrap_or("20260318");
        declared("web_search", version, "web_search")
            .set("max_uses", search.max_uses)
            .set_list("allowed_domains", &search.allowed_domains)
            .set_list("blocked_domains", &search.blocked_domains)
            .set_location(search.user_location.as_ref())
            .set("response_inclusion", search.inclusion.map(inclusion))
            .set_common(&search.common)
            .item(DIALECT)
    }
}

impl From<WebFetch> for ProviderItem {
    fn from(fetch: WebFetch) -> Self {
        let version = fetch.version.as_deref().unwrap_or("20260318");
        declared("web_fetch", version, "web_fetch")
            .set("max_uses", fetch.max_uses)
            .set_list("allowed_domains", &fetch.allowed_domains)
            .set_list("blocked_domains", &fetch.blocked_domains)
            .set("citations", fetch.citations.map(|enabled| json!({"enabled": enabled})))
            .set("max_content_tokens", fetch.max_content_tokens)
            .set("use_cache", fetch.use_cache)
            .set("response_inclusion", fetch.inclusion.map(inclusion))
            .set_common(&fetch.common)
            .item(DIALECT)
    }
}

impl From<CodeExecution> for ProviderItem {
    fn from(execution: CodeExecution) -> Self {
        let version = execution.version.as_deref().unwrap_or("20260521");
        let tool = declared("code_execution", version, "code_execution");
        tool.set_common(&execution.common).item(DIALECT)
    }
}

impl From<Bash> for ProviderItem {
    fn from(bash: Bash) -> Self {
        declared("bash", "20250124", Bash::NAME).set_common(&bash.common).item(DIALECT)
    }
}

impl From<TextEditor> for ProviderItem {
    fn from(editor: TextEditor) -> Self {
        declared("text_editor", "20250728", TextEditor::NAME)
            .set("max_characters", editor.max_characters)
            .set_common(&editor.common)
            .item(DIALECT)
    }
}

impl From<Computer> for ProviderItem {
    fn from(computer: Computer) -> Self {
        let version = computer.version.as_deref().unwrap_or("20251124");
        declared("computer", version, Computer::NAME)
            .set("display_width_px", computer.display_width_pixels)
            .set("display_height_px", computer.display_height_pixels)
            .set("display_number", computer.display_number)
            .set("enable_zoom", computer.enable_zoom)
            .set_common(&computer.common)
            .item(DIALECT)
    }
}

fn declared(kind: &str, version: &str, name: &str) -> Declared {
    Declared::new(&format!("{kind}_{version}")).set("name", name)
}

fn inclusion(inclusion: Inclusion) -> &'static str {
    match inclusion {
        Inclusion::Full => "full",
        Inclusion::Excluded => "excluded",
    }
}

impl Declared {
    fn set_common(self, common: &Common) -> Self {
        let cache = common.cache.map(|marker| match marker {
            CacheMarker::FiveMinutes => json!({"type": "ephemeral"}),
            CacheMarker::OneHour => json!({"type": "ephemeral", "ttl": "1h"}),
        });
        self.set_list("allowed_callers", &common.allowed_callers)
            .set("defer_loading", common.defer_loading)
            .set("strict", common.strict)
            .set("cache_control", cache)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{Message, ModelRequest, Parameters, RawJson, ToolDefinition};

    use super::*;
    use crate::anthropic::request_body;

    #[test]
    fn what_is_not_set_is_left_out() {
        let tools = [
            WebSearch::default().into(),
            WebFetch::default().into(),
            CodeExecution::default().into(),
            Bash::default().into(),
            TextEditor::default().into(),
            Computer::default().into(),
        ];
        check(
            &tools,
            expect![[r#"
            {"type":"web_search_20260318","name":"web_search"}
            {"type":"web_fetch_20260318","name":"web_fetch"}
            {"type":"code_execution_20260521","name":"code_execution"}
            {"type":"bash_20250124","name":"bash"}
            {"type":"text_editor_20250728","name":"str_replace_based_edit_tool"}
            {"type":"computer_20251124","name":"computer","display_width_px":0,"display_height_px":0}
        "#]],
        );
    }

    #[test]
    fn every_option() {
        let domains = |domain: &str| vec![domain.to_owned()];
        let common = || Common {
            allowed_callers: vec!["direct".into()],
            defer_loading: Some(true),
            strict: Some(false),
            cache: Some(CacheMarker::OneHour),
        };
        let search = WebSearch {
            version: Some("20260209".into()),
            max_uses: Some(3),
            allowed_domains: domains("a.org"),
            blocked_domains: domains("b.org"),
            user_location: Some(UserLocation { city: Some("Oslo".into()), ..Default::default() }),
            inclusion: Some(Inclusion::Excluded),
            common: common(),
        };
        let fetch = WebFetch {
            version: Some("20260309".into()),
            max_uses: Some(4),
            allowed_domains: domains("a.org"),
            blocked_domains: domains("b.org"),
            citations: Some(true),
            max_content_tokens: Some(1000),
            use_cache: Some(false),
            inclusion: Some(Inclusion::Full),
            common: Common { cache: Some(CacheMarker::FiveMinutes), ..common() },
        };
        let computer = Computer {
            version: Some("20250124".into()),
            display_width_pixels: 1024,
            display_height_pixels: 768,
            display_number: Some(1),
            enable_zoom: Some(true),
            common: common(),
        };
        let execution = CodeExecution { version: Some("20250825".into()), common: common() };
        let editor = TextEditor { max_characters: Some(10_000), common: common() };
        let tools = [search.into(), fetch.into(), execution.into(), editor.into(), computer.into()];
        check(
            &tools,
            expect![[r#"
            {"type":"web_search_20260209","name":"web_search","max_uses":3,"allowed_domains":["a.org"],"blocked_domains":["b.org"],"user_location":{"type":"approximate","city":"Oslo"},"response_inclusion":"excluded","allowed_callers":["direct"],"defer_loading":true,"strict":false,"cache_control":{"type":"ephemeral","ttl":"1h"}}
            {"type":"web_fetch_20260309","name":"web_fetch","max_uses":4,"allowed_domains":["a.org"],"blocked_domains":["b.org"],"citations":{"enabled":true},"max_content_tokens":1000,"use_cache":false,"response_inclusion":"full","allowed_callers":["direct"],"defer_loading":true,"strict":false,"cache_control":{"type":"ephemeral"}}
            {"type":"code_execution_20250825","name":"code_execution","allowed_callers":["direct"],"defer_loading":true,"strict":false,"cache_control":{"type":"ephemeral","ttl":"1h"}}
            {"type":"text_editor_20250728","name":"str_replace_based_edit_tool","max_characters":10000,"allowed_callers":["direct"],"defer_loading":true,"strict":false,"cache_control":{"type":"ephemeral","ttl":"1h"}}
            {"type":"computer_20250124","name":"computer","display_width_px":1024,"display_height_px":768,"display_number":1,"enable_zoom":true,"allowed_callers":["direct"],"defer_loading":true,"strict":false,"cache_control":{"type":"ephemeral","ttl":"1h"}}
        "#]],
        );
    }

    #[test]
    fn they_are_sent_as_they_are() {
        let own = |name: &str, raw: ProviderItem| ToolDefinition {
            raw: Some(raw),
            ..ToolDefinition::new(name, "", RawJson::empty_object())
        };
        let request = ModelRequest {
            model: "m".into(),
            system: "".into(),
            tools: [own(Bash::NAME, Bash::default().into())].into(),
            provider_tools: [CodeExecution::default().into()].into(),
            messages: [Message::user("hi")].into_iter().collect(),
            stable: 0,
            output_max: 1,
            parameters: Parameters::default(),
            epoch: 0,
        };
        let body = String::from_utf8(request_body(&request).unwrap()).unwrap();
        let tools = r#""tools":[{"type":"bash_20250124","name":"bash"},{"type":"code_execution_20260521","name":"code_execution"}]"#;
        assert!(body.contains(tools), "{body}");
    }

    fn check(tools: &[ProviderItem], expected: Expect) {
        assert!(tools.iter().all(|tool| tool.provider == "anthropic"));
        let lines: String = tools.iter().map(|tool| format!("{}\n", tool.json.get())).collect();
        expected.assert_eq(&lines);
    }
}
