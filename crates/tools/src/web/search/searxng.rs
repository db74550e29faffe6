//! SearXNG: an engine that asks others, on an instance that the user names.

use std::sync::Arc;

use heeler_core::{BoxFuture, ToolError};
use serde_json::Value;
use url::Url;

use super::server::{Answered, Refusal, Server, based_at, text_of};
use super::{QUERY_CHARS_MAX, SearchBackend, SearchHit, SearchPage, SearchRequest};

/// Engines that are named when nothing was found.
const SILENT_ENGINES_MAX: usize = 5;
const NO_JSON: &str = "The instance gives no JSON: tell the user to add `json` to `search.formats` of its settings.yml";
const NO_SUCH_PLACE: &str = "There is no SearXNG at this address: tell the user to correct it";

/// Searches by a SearXNG instance, through its JSON API. Its host may be of one's own network.
pub struct Searxng {
    server: Arc<Server>,
    pub(super) address: Url,
}

impl Searxng {
    /// The instance at this address, such as `http://localhost:8888`. A name and password in it are
    /// sent to the instance and told to nobody.
    ///
    /// # Errors
    /// When it is no address of the web; the text says what to do, and not what it was.
    pub fn new(address: &str) -> Result<Self, String> {
        let (address, allowed) = based_at("SearXNG", address, "/search")?;
        Ok(Self { server: Arc::new(Server::new("SearXNG", &address, allowed)), address })
    }
}

impl SearchBackend for Searxng {
    fn title(&self) -> &str {
        self.server.title()
    }

    fn host(&self) -> &str {
        self.server.host()
    }

    fn search(&self, request: SearchRequest) -> BoxFuture<Result<SearchPage, ToolError>> {
        let (server, mut address) = (Arc::clone(&self.server), self.address.clone());
        address
            .query_pairs_mut()
            .append_pair("q", &request.with_operators(QUERY_CHARS_MAX))
            .append_pair("format", "json")
            .append_pair("pageno", &request.page.to_string());
        Box::pin(async move {
            let body = server.ask(&address, None, refusal).await?;
            Ok(page(&body, server.list(&body["results"])?))
        })
    }
}

fn refusal(answered: &Answered) -> Refusal {
    match answered.status {
        401 => {
            Refusal::User("The instance asks who you are: tell the user to put that in its address")
        }
        403 => Refusal::User(NO_JSON),
        404 | 405 => Refusal::User(NO_SUCH_PLACE),
        429 => Refusal::TooOften,
        _ => Refusal::Other,
    }
}

fn page(body: &Value, results: &[Value]) -> SearchPage {
    let hits: Vec<SearchHit> = results.iter().map(hit).collect();
    let note = if hits.is_empty() { silent_engines(body) } else { String::new() };
    // The instance does not tell; its pages end with one that is empty.
    SearchPage { has_more: !hits.is_empty(), hits, note }
}

fn hit(one: &Value) -> SearchHit {
    SearchHit {
        title: text_of(one, "title"),
        url: text_of(one, "url"),
        snippet: text_of(one, "content"),
        published: text_of(one, "publishedDate"),
    }
}

/// Which engines did not answer, and why: finding nothing is not the same as not having looked.
fn silent_engines(body: &Value) -> String {
    let engines = body["unresponsive_engines"].as_array().into_iter().flatten();
    let shown: Vec<String> = engines
        .filter_map(|pair| match (pair[0].as_str(), pair[1].as_str()) {
            (Some(name), Some(why)) => Some(format!("{name} ({why})")),
            (name, _) => name.map(str::to_owned),
        })
        .take(SILENT_ENGINES_MAX)
        .collect();
    if shown.is_empty() { String::new() } else { format!("Did not answer: {}", shown.join(", ")) }
}
