//! Brave Search: an index of its own, asked with a key.

use std::sync::Arc;

use heeler_core::{BoxFuture, ToolError};
use serde_json::Value;
use url::Url;

use super::server::{Answered, Refusal, Server, based_at, text_of};
use super::{QUERY_CHARS_MAX, SearchBackend, SearchHit, SearchPage, SearchRequest, text};
use crate::web::Allowed;

const BASE_URL: &str = "https://api.search.brave.com/res/v1";
/// Where it is asked, behind its address.
const PATH: &str = "/web/search";
const TITLE: &str = "Brave Search";
/// Pages that the API gives.
const PAGES_MAX: usize = 10;
const KEY_ADVICE: &str =
    "tell the user to set BRAVE_SEARCH_API_KEY, or to run `heeler login brave`";

/// Searches by the Brave Search API.
pub struct Brave {
    server: Arc<Server>,
    pub(super) address: Url,
}

impl Brave {
    /// With this key.
    ///
    /// # Errors
    /// When it can be no key.
    pub fn new(key: &str) -> Result<Self, String> {
        let (address, _) = based_at(TITLE, BASE_URL, PATH)?;
        Self::at(&address, Allowed::default(), key)
    }

    /// With this key, at another address than the API's own, such as a gateway's. Its host may be of
    /// one's own network.
    ///
    /// # Errors
    /// When it is no address of the web, or can be no key; the text repeats neither.
    pub fn with_base_url(base_url: &str, key: &str) -> Result<Self, String> {
        let (address, allowed) = based_at(TITLE, base_url, PATH)?;
        Self::at(&address, allowed, key)
    }

    pub(super) fn at(address: &Url, allowed: Allowed, key: &str) -> Result<Self, String> {
        let server = Server::new(TITLE, address, allowed);
        let server = server.with_key("x-subscription-token", "", key, KEY_ADVICE)?;
        Ok(Self { server: Arc::new(server), address: address.clone() })
    }
}

impl SearchBackend for Brave {
    fn title(&self) -> &str {
        self.server.title()
    }

    fn host(&self) -> &str {
        self.server.host()
    }

    fn search(&self, request: SearchRequest) -> BoxFuture<Result<SearchPage, ToolError>> {
        let (server, mut address) = (Arc::clone(&self.server), self.address.clone());
        Box::pin(async move {
            if request.page > PAGES_MAX {
                let why = format!("gives {PAGES_MAX} pages; ask in other words");
                return Err(server.failure(&why));
            }
            address
                .query_pairs_mut()
                .append_pair("q", &request.with_operators(QUERY_CHARS_MAX))
                .append_pair("count", &request.count.to_string())
                .append_pair("offset", &(request.page - 1).to_string())
                .append_pair("result_filter", "web")
                .append_pair("text_decorations", "false");
            let body = server.ask(&address, None, refusal).await?;
            // Where nothing was found there is no part for it.
            let results = match &body["web"] {
                Value::Null => &[],
                web => server.list(&web["results"])?,
            };
            Ok(page(&body, results, request.page))
        })
    }
}

/// A wrong key is told as a wrong request, with a code.
fn refusal(answered: &Answered) -> Refusal {
    let code = ["/error/code", "/errors/0/code"].iter();
    let code = code.filter_map(|place| answered.body.pointer(place)?.as_str()).next();
    let is_about_key = code.is_some_and(|code| code.contains("TOKEN"))
        || answered.body.to_string().contains("x-subscription-token");
    match answered.status {
        401 | 403 => Refusal::Key,
        422 if is_about_key => Refusal::Key,
        402 => Refusal::Quota,
        429 if is_used_up(answered) => Refusal::Quota,
        429 => Refusal::TooOften,
        _ => Refusal::Other,
    }
}

/// Whether nothing remains of the longest of the limits, which is told last.
fn is_used_up(answered: &Answered) -> bool {
    let remaining = answered.remaining.as_deref().unwrap_or_default();
    remaining.split(',').map(str::trim).next_back().is_some_and(|last| last == "0")
        && remaining.contains(',')
}

fn page(body: &Value, results: &[Value], page: usize) -> SearchPage {
    let has_more = body["query"]["more_results_available"].as_bool().unwrap_or_default();
    SearchPage {
        hits: results.iter().map(hit).collect(),
        has_more: has_more && page < PAGES_MAX,
        note: String::new(),
    }
}

fn hit(one: &Value) -> SearchHit {
    let published = ["page_age", "age"].into_iter().map(|name| text_of(one, name));
    SearchHit {
        title: text::of_html(&text_of(one, "title")),
        url: text_of(one, "url"),
        snippet: text::of_html(&text_of(one, "description")),
        published: published.into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
    }
}
