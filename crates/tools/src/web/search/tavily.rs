//! Tavily: a search made for models, asked with a key.

use std::sync::Arc;

use heeler_core::{BoxFuture, ToolError};
use serde_json::{Value, json};
use url::Url;

use super::server::{Answered, Refusal, Server, based_at, text_of};
use super::{SEARCH_RESULTS_MAX, SearchBackend, SearchHit, SearchPage, SearchRequest};
use crate::web::Allowed;

const BASE_URL: &str = "https://api.tavily.com";
/// Where it is asked, behind its address.
const PATH: &str = "/search";
const TITLE: &str = "Tavily";
const KEY_ADVICE: &str = "tell the user to set TAVILY_API_KEY, or to run `heeler login tavily`";

/// Searches by the Tavily API.
pub struct Tavily {
    server: Arc<Server>,
    address: Url,
}

impl Tavily {
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

    fn at(address: &Url, allowed: Allowed, key: &str) -> Result<Self, String> {
        let server = Server::new(TITLE, address, allowed);
        let server = server.with_key("authorization", "Bearer ", key, KEY_ADVICE)?;
        Ok(Self { server: Arc::new(server), address: address.clone() })
    }
}

impl SearchBackend for Tavily {
    fn title(&self) -> &str {
        self.server.title()
    }

    fn host(&self) -> &str {
        self.server.host()
    }

    /// The API knows no pages: a later one is the end of a longer first.
    fn search(&self, request: SearchRequest) -> BoxFuture<Result<SearchPage, ToolError>> {
        let (server, address) = (Arc::clone(&self.server), self.address.clone());
        Box::pin(async move {
            let before = (request.page - 1).saturating_mul(request.count);
            if before >= SEARCH_RESULTS_MAX {
                let why = format!("gives {SEARCH_RESULTS_MAX} results; ask in other words");
                return Err(server.failure(&why));
            }
            let wanted = (before + request.count).min(SEARCH_RESULTS_MAX);
            let mut body = json!({ "query": request.query, "max_results": wanted });
            if !request.allowed_domains.is_empty() {
                body["include_domains"] = json!(request.allowed_domains);
            }
            if !request.blocked_domains.is_empty() {
                body["exclude_domains"] = json!(request.blocked_domains);
            }
            let answer = server.ask(&address, Some(&body), refusal).await?;
            Ok(page(server.list(&answer["results"])?, before, wanted))
        })
    }
}

fn refusal(answered: &Answered) -> Refusal {
    match answered.status {
        401 | 403 => Refusal::Key,
        402 | 432 | 433 => Refusal::Quota,
        429 => Refusal::TooOften,
        _ => Refusal::Other,
    }
}

fn page(results: &[Value], before: usize, wanted: usize) -> SearchPage {
    SearchPage {
        hits: results.iter().skip(before).map(hit).collect(),
        has_more: results.len() >= wanted && wanted < SEARCH_RESULTS_MAX,
        note: String::new(),
    }
}

fn hit(one: &Value) -> SearchHit {
    SearchHit {
        title: text_of(one, "title"),
        url: text_of(one, "url"),
        snippet: text_of(one, "content"),
        published: text_of(one, "published_date"),
    }
}
