//! Tools that OpenAI runs itself, typed: what becomes of one is a [`ProviderItem`] for the tools of
//! the provider. What is not set is left out, and the provider's default holds.

use heeler_core::{ProviderItem, RawJson};
use serde::Serialize;
use serde_json::{Value, json};

use super::DIALECT;
use crate::declared::Declared;
pub use crate::declared::UserLocation;

/// Searches the web.
///
/// ```
/// use heeler_core::ProviderItem;
/// use heeler_providers::responses::tools::WebSearch;
///
/// let search = WebSearch { allowed_domains: vec!["docs.rs".into()], ..WebSearch::default() };
/// let item = ProviderItem::from(search);
/// assert_eq!(item.json.get(), r#"{"type":"web_search","filters":{"allowed_domains":["docs.rs"]}}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebSearch {
    /// The only domains that are searched, subdomains included; empty for all.
    pub allowed_domains: Vec<String>,
    /// How much of what is found the model reads.
    pub context_size: Option<ContextSize>,
    /// About where the user is.
    pub user_location: Option<UserLocation>,
    /// Whether pages are fetched anew; else only what the provider has of them.
    pub live: Option<bool>,
}

/// How much of what is found the model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextSize {
    /// The least, for quick answers.
    Low,
    /// The provider's default.
    Medium,
    /// The most.
    High,
}

/// Runs Python in a container of the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeInterpreter {
    /// In this container, which was made before.
    Container(String),
    /// In one that the provider makes.
    Auto {
        /// Uploaded files that the code may read, by id.
        file_ids: Vec<String>,
        /// How much memory the container has, such as `4g`.
        memory_limit: Option<String>,
    },
}

/// Searches files that were uploaded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FileSearch {
    /// The stores that are searched, by id.
    pub vector_store_ids: Vec<String>,
    /// The most results, 1 to 50.
    pub max_num_results: Option<u32>,
    /// The least score of a result, 0 to 1.
    pub score_threshold: Option<f64>,
    /// What the attributes of a file must be, in the provider's own form.
    pub filters: Option<RawJson>,
}

/// Makes and changes pictures.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImageGeneration {
    /// The model that makes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether one is made or changed: `generate`, `edit` or `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Such as `1024x1536`, or `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// `low`, `medium`, `high` or `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<String>,
    /// `png`, `webp` or `jpeg`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_format: Option<String>,
    /// How much a `webp` or `jpeg` is compressed, 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_compression: Option<u8>,
    /// `transparent`, `opaque` or `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// How closely a changed picture follows those it is made of: `high` or `low`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_fidelity: Option<String>,
    /// How strictly contents are judged: `auto` or `low`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moderation: Option<String>,
}

impl Default for CodeInterpreter {
    fn default() -> Self {
        Self::Auto { file_ids: Vec::new(), memory_limit: None }
    }
}

impl From<WebSearch> for ProviderItem {
    fn from(search: WebSearch) -> Self {
        let domains = search.allowed_domains;
        let filters = (!domains.is_empty()).then(|| json!({"allowed_domains": domains}));
        Declared::new("web_search")
            .set("filters", filters)
            .set("search_context_size", search.context_size)
            .set_location(search.user_location.as_ref())
            .set("external_web_access", search.live)
            .item(DIALECT)
    }
}

impl From<CodeInterpreter> for ProviderItem {
    fn from(interpreter: CodeInterpreter) -> Self {
        let container = match interpreter {
            CodeInterpreter::Container(id) => Value::from(id),
            CodeInterpreter::Auto { file_ids, memory_limit } => Declared::new("auto")
                .set_list("file_ids", &file_ids)
                .set("memory_limit", memory_limit)
                .value(),
        };
        Declared::new("code_interpreter").set("container", container).item(DIALECT)
    }
}

impl From<FileSearch> for ProviderItem {
    fn from(search: FileSearch) -> Self {
        let threshold = search.score_threshold.filter(|threshold| threshold.is_finite());
        Declared::new("file_search")
            .set("vector_store_ids", search.vector_store_ids)
            .set("max_num_results", search.max_num_results)
            .set("ranking_options", threshold.map(|score| json!({"score_threshold": score})))
            .set("filters", search.filters.map(|filters| filters.value()))
            .item(DIALECT)
    }
}

impl From<ImageGeneration> for ProviderItem {
    fn from(generation: ImageGeneration) -> Self {
        Declared::new("image_generation").with_all(&generation).item(DIALECT)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn web_search() {
        check(WebSearch::default(), expect![[r#"{"type":"web_search"}"#]]);
        let search = WebSearch {
            allowed_domains: vec!["docs.rs".into(), "rust-lang.org".into()],
            context_size: Some(ContextSize::High),
            user_location: Some(UserLocation {
                city: Some("Graz".into()),
                country: Some("AT".into()),
                region: Some("Styria".into()),
                timezone: Some("Europe/Vienna".into()),
            }),
            live: Some(false),
        };
        check(
            search,
            expect![[
                r#"{"type":"web_search","filters":{"allowed_domains":["docs.rs","rust-lang.org"]},"search_context_size":"high","user_location":{"type":"approximate","city":"Graz","country":"AT","region":"Styria","timezone":"Europe/Vienna"},"external_web_access":false}"#
            ]],
        );
    }

    #[test]
    fn code_interpreter() {
        check(
            CodeInterpreter::default(),
            expect![[r#"{"type":"code_interpreter","container":{"type":"auto"}}"#]],
        );
        check(
            CodeInterpreter::Container("cntr_1".into()),
            expect![[r#"{"type":"code_interpreter","container":"cntr_1"}"#]],
        );
        let auto = CodeInterpreter::Auto {
            file_ids: vec!["file-1".into()],
            memory_limit: Some("4g".into()),
        };
        check(
            auto,
            expect![[
                r#"{"type":"code_interpreter","container":{"type":"auto","file_ids":["file-1"],"memory_limit":"4g"}}"#
            ]],
        );
    }

    #[test]
    fn file_search() {
        let stores = || FileSearch { vector_store_ids: vec!["vs_1".into()], ..Default::default() };
        check(stores(), expect![[r#"{"type":"file_search","vector_store_ids":["vs_1"]}"#]]);
        let filter = r#"{"type":"eq","key":"lang","value":"en"}"#;
        let all = FileSearch {
            max_num_results: Some(5),
            score_threshold: Some(0.5),
            filters: Some(RawJson::parse(filter).unwrap()),
            ..stores()
        };
        check(
            all,
            expect![[
                r#"{"type":"file_search","vector_store_ids":["vs_1"],"max_num_results":5,"ranking_options":{"score_threshold":0.5},"filters":{"type":"eq","key":"lang","value":"en"}}"#
            ]],
        );
        // What is no number has no form in JSON.
        check(
            FileSearch { score_threshold: Some(f64::NAN), ..stores() },
            expect![[r#"{"type":"file_search","vector_store_ids":["vs_1"]}"#]],
        );
    }

    #[test]
    fn image_generation() {
        check(ImageGeneration::default(), expect![[r#"{"type":"image_generation"}"#]]);
        let word = |word: &str| Some(word.to_owned());
        let all = ImageGeneration {
            model: word("gpt-image-1"),
            action: word("generate"),
            size: word("1024x1536"),
            quality: word("high"),
            output_format: word("webp"),
            output_compression: Some(80),
            background: word("transparent"),
            input_fidelity: word("low"),
            moderation: word("auto"),
        };
        check(
            all,
            expect![[
                r#"{"type":"image_generation","model":"gpt-image-1","action":"generate","size":"1024x1536","quality":"high","output_format":"webp","output_compression":80,"background":"transparent","input_fidelity":"low","moderation":"auto"}"#
            ]],
        );
    }

    fn check(tool: impl Into<ProviderItem>, expected: Expect) {
        let item = tool.into();
        assert_eq!(item.provider, "openai-responses");
        expected.assert_eq(item.json.get());
    }
}
